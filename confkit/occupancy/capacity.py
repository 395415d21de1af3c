"""From samples to a decision: which `attendee_max` each room should have."""

from datetime import timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import ConfigError
from ..text import counted
from ..transport import finite
from .counting import (
    count_samples,
    room_figures,
    room_quantiles,
    room_refusals,
    samples_database,
    together,
)
from .folder import whose
from .risk import check_risk, promises
from .zones import duration, zone

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_MINUTES = ("minutes_in_use", "minutes_near", "minutes_full", "refused_minutes")
_TYPES = {
    "room_id": "string",
    "samples": "Int64",
    "coverage": "Float64",
    "attendee_max": "Int64",
    "peak": "Int64",
    **dict.fromkeys(_SHARES, "Int64"),
    **{f"{name}_all": "Int64" for name in _SHARES},
    **dict.fromkeys(_MINUTES[:3], "Float64"),
    "busiest_hour": "Int64",
    "suggested": "Int64",
    "refused_minutes": "Float64",
    "reason": "string",
}
_BEHIND = {"days_seen": "Int64", "windows": "Int64"}  # with a risk


def capacity_report(
    source: str | Path | pd.DataFrame,
    tz: str | tzinfo | None = None,
    *,
    quantile: float | None = None,
    risk: float | None = None,
    ahead: str | timedelta = "4w",
) -> pd.DataFrame:
    """One row per room, by ID: how full it was, and the `attendee_max` to give it.

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
        figures, everybody = _counted(base, where, quantile, promise)
    report = _report(figures, quantile, promise)
    totals = {"rooms": len(report), **_totals(everybody, where)}
    report.attrs = {"timezone": name, "quantile": quantile, "totals": totals}
    if promise:
        report.attrs.update(risk=promise[0], weeks_ahead=promise[1])
    if service is not None:
        report.attrs["service"] = service
    return report


def _counted(
    base: "DuckDBPyConnection",
    where: tzinfo,
    quantile: float | None,
    promise: tuple[float, int] | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What each room comes to, and all of them together."""
    shares = {**_SHARES, "chosen": 1.0 if quantile is None else quantile}
    count_samples(base, where)
    every = room_quantiles(base, _SHARES, in_use=False).add_suffix("_all")
    figures = room_figures(base).join(room_quantiles(base, shares, in_use=True)).join(every)
    if promise:
        figures = figures.join(promises(base, *promise))
    counts, peak = ["samples", "used", "near", "at_cap"], figures["peak"].astype("Float64")
    figures[counts] = figures[counts].fillna(0)
    chosen = peak
    if quantile is not None:
        chosen = figures["chosen"].astype("Float64").where(figures["at_cap"] == 0, peak)
    known = figures["capped"] & (figures["used"] > 0)
    figures["suggested"] = figures.get("promised", chosen).where(known).astype("Int64")
    figures["refused"] = room_refusals(base, figures["suggested"])
    return figures.fillna({"refused": 0}), together(base)


def _report(
    figures: pd.DataFrame, quantile: float | None, promise: tuple[float, int] | None
) -> pd.DataFrame:
    report = figures.reset_index()
    report["coverage"] = (report["samples"] / report["due"]).clip(upper=1)
    for count, name in zip(("used", "near", "at_cap", "refused"), _MINUTES, strict=True):
        minutes = (report[count] * report["minutes"]).round(1)
        report[name] = minutes.where(report["samples"] > 0)
    unknown = ["minutes_near", "minutes_full"]
    report[unknown] = report[unknown].where(report["capped"])
    report["reason"] = [_reason(row, quantile, promise) for row in report.to_dict("records")]
    types = {**_TYPES, **(_BEHIND if promise else {})}
    return report[list(types)].astype(types)


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


def _totals(everybody: pd.DataFrame, where: tzinfo) -> dict[str, Any]:
    times = pd.to_datetime(everybody["t"], unit="ms", utc=True).dt.tz_convert(where)
    totals: dict[str, Any] = dict.fromkeys(("since", "until"))
    if len(times):
        totals = {"since": times.iloc[0].isoformat(), "until": times.iloc[-1].isoformat()}
    # One base for both: a camera that never sleeps would make every minute of users one in use.
    busy = everybody["people"].fillna(everybody["users"]) > 0
    for name in ("people", "users"):
        counts = everybody[name].dropna()
        in_use = counts[busy.loc[counts.index]]
        totals[f"{name}_peak"] = totals[f"{name}_peak_at"] = None
        if len(counts):
            totals[f"{name}_peak"] = int(counts.max())
            totals[f"{name}_peak_at"] = times.loc[counts.index[int(counts.argmax())]].isoformat()
        for share in ("p95", "p99"):
            rank = in_use.quantile(_SHARES[share], interpolation="higher")
            totals[f"{name}_{share}"] = None if in_use.empty else int(rank)
    return totals
