"""From samples to a decision: which `attendee_max` each room should have."""

from datetime import timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import ConfigError
from ..text import counted
from ..transport import finite
from .counting import find_schedules, samples_database
from .folder import whose
from .risk import check_risk, promises
from .zones import duration, zone

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_MINUTES = {
    "used": "minutes_in_use",
    "near": "minutes_near",
    "at_cap": "minutes_full",
    "refused": "refused_minutes",
}
_TYPES = {
    "room_id": "string",
    "samples": "Int64",
    "coverage": "Float64",
    "attendee_max": "Int64",
    "peak": "Int64",
    **dict.fromkeys(_SHARES, "Int64"),
    **{f"{name}_all": "Int64" for name in _SHARES},
    **dict.fromkeys([*_MINUTES.values()][:3], "Float64"),
    "busiest_hour": "Int64",
    "suggested": "Int64",
    "refused_minutes": "Float64",
    "reason": "string",
}
_BEHIND = {"days_seen": "Int64", "windows": "Int64"}  # with a risk

# The one pass over everything: few rows come of it. A room whose people could never be `told` from
# its devices is judged by all its users; where that failed at times only, those samples are neither
# in use nor idle.
_COUNTS = """
CREATE TABLE seen AS
SELECT room_id, users, nullif(cap, 0) AS cap, if(told, people, users) AS people, hour, n
FROM (
    SELECT room_id, cap, users, people, hour, count(*) AS n
    FROM samples JOIN hours USING (t) WHERE users IS NOT NULL GROUP BY ALL
) JOIN rooms USING (room_id)
"""
_FIGURES = """
SELECT room_id, samples, due, interval / 60000 AS minutes, attendee_max, capped, told, peak,
       used, near, at_cap, busiest_hour
FROM rooms JOIN schedules USING (schedule)
LEFT JOIN (
    SELECT room_id, sum(n) AS samples, max(users) AS peak, sum(n) FILTER (people > 0) AS used,
           sum(n) FILTER (users >= 0.8 * cap) AS near, sum(n) FILTER (users >= cap) AS at_cap
    FROM seen GROUP BY room_id
) USING (room_id)
LEFT JOIN (
    SELECT room_id, first(hour ORDER BY mean DESC, hour) AS busiest_hour
    FROM (
        SELECT room_id, hour, sum(n * people) / sum(n) AS mean
        FROM seen WHERE people IS NOT NULL GROUP BY ALL HAVING sum(people) > 0
    )
    GROUP BY room_id
) USING (room_id)
ORDER BY room_id
"""
# How many samples, and how many of those in use, had so many users.
_SIZES = """
SELECT room_id, users, sum(n) AS n, coalesce(sum(n) FILTER (people > 0), 0) AS used
FROM seen GROUP BY ALL ORDER BY ALL
"""
# All rooms at once: within one interval every schedule has its turn.
_TOGETHER = """
SELECT min(t) AS t, sum(users) AS users, sum(people) AS people
FROM (
    SELECT turn, schedule, min(t) AS t, max(users) AS users, max(people) AS people
    FROM (
        SELECT t, round((t - origin) / usual) AS turn, schedule, sum(users) AS users,
               sum(people) AS people
        FROM samples JOIN rooms USING (room_id), (
            SELECT min(first) AS origin, coalesce(median(interval), 1) AS usual
            FROM rooms JOIN schedules USING (schedule)
        )
        GROUP BY ALL
    )
    GROUP BY ALL
)
GROUP BY turn ORDER BY t
"""


def capacity_report(
    source: str | Path | pd.DataFrame,
    tz: str | tzinfo | None = None,
    *,
    quantile: float | None = None,
    risk: float | None = None,
    ahead: str | timedelta = "4w",
) -> pd.DataFrame:
    """Return one row per room, by ID: how full it was, and the `attendee_max` to give it.

    `source` is a recording's folder or what `load_occupancy` gives. A cap binds all users, so
    users are counted here, people and devices; a room is in use while people are in it, and one
    with a camera alone was never used. A sample stands for the room's usual interval.

    `samples` read and `coverage`, their share of those due from the room's first to the end of the
    recording; `attendee_max` as last known, which the interface cannot change; `peak`; `p50`,
    `p95`, `p99` over the minutes in use, and over all (`p50_all`, ...); `minutes_in_use`,
    `minutes_near` (80 % of the cap or more), `minutes_full` (at the cap: who else wanted to come is
    unknown); `busiest_hour`, that with most people on average, 0 to 23;
    `suggested`, missing for a room that was never used or read, or whose cap never was;
    `refused_minutes`, user-minutes that it would have refused; `reason` in words.

    `suggested` is the peak of the whole window, or with `quantile` (such as 0.99) the users that
    were not exceeded in this share of the minutes in use; the peak again where the cap was reached.
    Neither promises anything of the time to come.

    With `risk` (such as 0.10) it is a cap such that, among rooms like those that are given one, at
    most this share exceeds theirs on average in the time `ahead`, which is counted in whole weeks;
    of a single room nothing is promised. It is calibrated on the recording's own last half year by
    rolling conformal prediction over rooms and weeks (Vovk, Gammerman, Shafer: Algorithmic Learning
    in a Random World, 2005). `days_seen` and `windows`, the stretches of the past that it was
    calibrated with, stand behind it. It is missing, and `reason` says why, where less than twice
    the time ahead was seen, or with a gap, where the room stood at its cap, and where its use, or
    that of all rooms, has changed.

    `attrs["timezone"]` names the zone of the hours (`tz`, or else local time);
    `attrs["totals"]` holds people and users of all rooms at once, `people_peak`, `people_peak_at`,
    `people_p95`, ... (percentiles while anybody was there), by which licences are bought. A sample
    that failed counts nowhere, so all of it is "at least". ConfigError: there is no such folder;
    `risk` is not between 0 and 1, `ahead` no time, or the samples are of two services.
    """
    where, name = zone(tz)
    if quantile is not None and not (finite(quantile) and quantile <= 1):
        raise ValueError(f"quantile is {quantile!r}; give a share of the minutes, such as 0.99")
    if quantile is not None and risk is not None:
        raise ConfigError("quantile and risk are two rules", "Give one of them.")
    promise = None if risk is None else (float(risk), check_risk(risk, ahead))
    service = whose(source)
    if promise and service is not None and ", " in service:
        raise ConfigError(
            f"These are samples of {service}", "Give those of one service, or no `risk`."
        )
    with samples_database(source) as base:
        report, sizes, everybody = _counted(base, where)
        if promise:
            report = report.join(promises(base, *promise), on="room_id")
    _suggest(report, sizes, quantile)
    report["coverage"] = (report["samples"] / report["due"]).clip(upper=1)
    for count, minutes in _MINUTES.items():
        report[minutes] = (report[count] * report["minutes"]).round(1)
        known = (report["samples"] > 0) & (report["capped"] | (count not in ("near", "at_cap")))
        report[minutes] = report[minutes].where(known)
    report["reason"] = [_reason(row, quantile, promise) for row in report.to_dict("records")]
    types = {**_TYPES, **(_BEHIND if promise else {})}
    report = report[list(types)].astype(types)
    totals = {"rooms": len(report), **_totals(everybody, where)}
    report.attrs = {"timezone": name, "quantile": quantile, "totals": totals}
    if promise:
        report.attrs.update(risk=promise[0], weeks_ahead=promise[1])
    if service is not None:
        report.attrs["service"] = service
    return report


def _counted(
    base: "DuckDBPyConnection", tz: tzinfo
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return each room's figures, how often it had how many users, and all rooms together."""
    find_schedules(base)
    hours = base.execute("SELECT DISTINCT t FROM turns").df()
    local = pd.to_datetime(hours["t"], unit="ms", utc=True).dt.tz_convert(tz)
    base.register("hours", hours.assign(hour=local.dt.hour))
    base.execute(_COUNTS)
    figures = base.execute(_FIGURES).df()
    counts = ["samples", "used", "near", "at_cap"]
    figures[counts] = figures[counts].fillna(0)
    return figures, base.execute(_SIZES).df(), base.execute(_TOGETHER).df()


def _suggest(report: pd.DataFrame, sizes: pd.DataFrame, quantile: float | None) -> None:
    """Add the percentiles, the cap that is `suggested`, and the users that it would have `refused`,
    summed over samples."""

    def least(share: float, of: str) -> "pd.Series[float]":
        """The smallest number of users that at least this share of the samples does not exceed."""
        there = sizes[sizes[of] > 0]
        counts = there.groupby("room_id")[of]
        reached = counts.cumsum() >= share * counts.transform("sum") - 1e-6
        return report["room_id"].map(there[reached].groupby("room_id")["users"].first())

    for name, share in _SHARES.items():
        report[name], report[f"{name}_all"] = least(share, "used"), least(share, "n")
    chosen = report["peak"]
    if quantile is not None:
        chosen = least(quantile, "used").where(report["at_cap"] == 0, chosen)
    known = report["capped"] & (report["used"] > 0)
    report["suggested"] = report.get("promised", chosen).where(known).astype("Int64")
    above = sizes["users"] - sizes["room_id"].map(report.set_index("room_id")["suggested"])
    refused = (above.clip(lower=0) * sizes["n"]).groupby(sizes["room_id"]).sum()
    report["refused"] = report["room_id"].map(refused).fillna(0)


def _reason(row: dict[Any, Any], quantile: float | None, promise: tuple[float, int] | None) -> str:
    if not row["samples"]:
        return "could not be read"
    unsure = "" if row["told"] else "; people could not be told from devices"
    peak, cap = int(row["peak"]), row["attendee_max"]
    most = f"{counted(peak, 'user')} at the most"
    if not row["used"]:
        return f"never used{'; only devices were in it' if peak else ''}{unsure}"
    if not row["capped"]:
        return f"{most}; its attendee_max could not be read{unsure}"
    long = f" for {duration(row['minutes_full'])}" if pd.notna(row["minutes_full"]) else ""
    unmet = f"at its cap{long}, so true demand is unknown: "
    seen = duration(row["due"] * row["minutes"] if pd.notna(row["minutes"]) else 0)
    if promise:
        risk, ahead = f"{100 * promise[0]:g} %", counted(promise[1], "week")
        if not row["why"]:
            return f"{most} in {seen}; at most {risk} of such caps are exceeded in {ahead}{unsure}"
        return f"{f'{unmet}no promise for {ahead}' if row['at_cap'] else row['why']}{unsure}"
    if row["at_cap"]:
        return f"{unmet}{peak} may be too low{unsure}"
    if row["refused"] and quantile is not None:
        lost = f"{row['refused_minutes']:g} user-minutes"
        return (
            f"{int(row['suggested'])} or fewer in {100 * quantile:g} % of the minutes in use; "
            f"{lost} of a peak of {peak} would have been refused{unsure}"
        )
    of = f"of {int(cap)}" if pd.notna(cap) else "no cap"
    return f"{most} in {seen}, {of}; nothing is promised{unsure}"


def _totals(everybody: pd.DataFrame, tz: tzinfo) -> dict[str, Any]:
    """When the recording began and ended, and how many people and users were there at once."""
    times = pd.to_datetime(everybody["t"], unit="ms", utc=True).dt.tz_convert(tz)
    everybody = everybody.set_index(times)
    edges = [time.isoformat() for time in times.iloc[[0, -1]]] if len(times) else [None, None]
    totals: dict[str, Any] = dict(zip(("since", "until"), edges, strict=True))
    # One base for both: a camera that never sleeps would make every minute of users one in use.
    busy = everybody["people"].fillna(everybody["users"]) > 0
    for name in ("people", "users"):
        counts = everybody[name].dropna()
        totals[f"{name}_peak"] = int(counts.max()) if len(counts) else None
        when: Any = counts.idxmax() if len(counts) else None
        totals[f"{name}_peak_at"] = when and when.isoformat()
        for share in ("p95", "p99"):
            rank = everybody.loc[busy, name].quantile(_SHARES[share], interpolation="higher")
            totals[f"{name}_{share}"] = None if pd.isna(rank) else int(rank)
    return totals
