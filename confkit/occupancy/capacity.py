"""From samples to a decision: which `attendee_max` each room should have."""

import math
import re
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import ConfigError
from ..text import counted
from ..transport import is_positive
from .by_room import samples_by_room
from .folder import whose
from .zones import duration, zone

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_MINUTES = {"used": "minutes_in_use", "near": "minutes_near", "full": "minutes_full"}
_TYPES = {
    "room_id": "string",
    "samples": "Int64",
    "coverage": "Float64",
    "attendee_max": "Int64",
    "peak": "Int64",
    **dict.fromkeys(_SHARES, "Int64"),
    **{f"{name}_all": "Int64" for name in _SHARES},
    **dict.fromkeys(_MINUTES.values(), "Float64"),
    "busiest_hour": "Int64",
    "suggested": "Int64",
    "reason": "string",
}
_AHEAD = re.compile(r"(\d{1,4})([wd])")


def capacity_report(
    source: str | Path | pd.DataFrame,
    tz: str | tzinfo | None = None,
    risk: float | None = None,
    ahead: str | timedelta = "4w",
) -> pd.DataFrame:
    """Return one row per room, by ID: how full it was, and the `attendee_max` to give it.

    `source` is a recording's folder, which is loaded whole, or what `load_occupancy` gives. A cap
    binds all users, so users are counted here, people and devices; a room is in use while people
    are in it, and one with a camera alone was never used. A sample stands for the room's usual
    interval, so that each room is to be recorded by one recorder at a time.

    `samples` read and `coverage`, their share of those due from the room's first to the end of the
    recording; `attendee_max` as last known, which the interface cannot change; `peak`; `p50`,
    `p95`, `p99` over the minutes in use, and over all (`p50_all`, ...); `minutes_in_use`,
    `minutes_near` (80 % of the cap or more), `minutes_full` (at the cap: who else wanted to come is
    unknown); `busiest_hour`, that with most people on average, 0 to 23; `suggested`, missing for a
    room that was never used or read, or whose cap never was; `reason` in words.

    `suggested` is the room's peak, which promises nothing about the time to come. With `risk` (such
    as 0.10) it is the peak of the room's last window times a ratio, rounded down, and at least 1.
    Windows are as long as `ahead` ("4w", "10d" or a timedelta), whole, and counted back from the
    last sample; a room's window counts if at least four fifths of the samples due in it were read.
    The ratio is the (1 - risk) quantile of a window's peak by that of the window before, over all
    such pairs of all rooms: of n in order, number ceil((n + 1) * (1 - risk)). Left out are rooms
    that were ever at their cap, were never used or whose cap is unknown, and pairs in whose earlier
    window nobody was present. If windows go on to follow each other as they did, at most this share
    of such caps is expected to be exceeded in the next one; of a single room nothing is promised.
    There is no number, and `reason` says why, for the rooms left out, where the last window does
    not count or nobody was in it, and for all rooms where the pairs are too few for the risk.

    `attrs["timezone"]` names the zone of the hours (`tz`, or else local time);
    `attrs["totals"]` holds people and users of all rooms at once, `people_peak`, `people_peak_at`,
    `people_p95`, ... (percentiles while anybody was there), by which licences are bought. A sample
    that failed counts nowhere, so all of it is "at least". With `risk` there are `attrs["risk"]`,
    `attrs["ahead"]` in words, and `attrs["pairs"]`, the number of pairs. ConfigError: there is no
    such folder; `risk` is not between 0 and 1, `ahead` is not a time, or, with `risk`, the samples
    are of two services.
    """
    hours_zone, name = zone(tz)
    window = 0.0 if risk is None else _window_minutes(risk, ahead)
    service = whose(source)
    if risk is not None and service is not None and ", " in service:
        raise ConfigError(
            f"These are samples of {service}", "Give those of one service, or no `risk`."
        )
    samples = samples_by_room(source)
    report = _figures(samples, hours_zone)
    totals = _totals(samples, report["interval"].median(), hours_zone)
    attrs: dict[Any, Any] = {"timezone": name, "totals": {"rooms": len(report), **totals}}
    report["at_risk"] = ""
    if risk is not None:
        pairs = _apply_risk(samples, report, risk, window)
        attrs |= {"risk": float(risk), "ahead": duration(window), "pairs": pairs}
    report["reason"] = [_reason(row) for row in report.to_dict("records")]
    report = report.rename_axis("room_id").reset_index()[list(_TYPES)].astype(_TYPES)
    report.attrs = attrs if service is None else {**attrs, "service": service}
    return report


def _window_minutes(risk: float, ahead: str | timedelta) -> float:
    """Return the length of a window; ConfigError: `ahead` is not a positive time, or `risk` not
    between 0 and 1."""
    if not (is_positive(risk) and risk < 1):
        raise ConfigError(f"risk is {risk!r}", "Give a share between 0 and 1, such as 0.10.")
    window = ahead
    if match := _AHEAD.fullmatch(str(ahead)):
        window = timedelta(days=int(match[1]) * (7 if match[2] == "w" else 1))
    if not isinstance(window, timedelta) or not window > timedelta(0):
        raise ConfigError(f"ahead is {ahead!r}", "Give a time such as '4w' or '10d'.")
    return window / timedelta(minutes=1)


def _figures(samples: pd.DataFrame, tz: tzinfo) -> pd.DataFrame:
    """Return a row for each room with the report's figures, the peak as `suggested`, the usual
    `interval` in minutes, and how many samples were `used`, `near` the cap and `full`."""
    read = samples[samples["users"].notna()]
    cap = read["cap"].where(read["cap"] > 0)
    read = read.assign(
        used=read["present"] > 0,
        near=5 * read["users"] >= 4 * cap,
        full=read["users"] >= cap,
        hour=read["time"].dt.tz_convert(tz).dt.hour,
    )
    rooms = read.groupby("room", observed=False)
    report = _schedules(samples)
    report["samples"], report["peak"] = rooms["users"].size(), rooms["users"].max()
    report[list(_MINUTES)] = rooms[list(_MINUTES)].sum()
    sizes = (
        read.groupby(["room", "users"], observed=True)
        .agg(samples=("used", "size"), used=("used", "sum"))
        .reset_index("users")
    )
    for name, share in _SHARES.items():
        report[name] = _least(sizes, "used", share)
        report[f"{name}_all"] = _least(sizes, "samples", share)
    hours = read.groupby(["room", "hour"], observed=True)["present"].mean().reset_index("hour")
    hours = hours[hours["present"] > 0].sort_values("present", ascending=False, kind="stable")
    report["busiest_hour"] = hours.groupby("room", observed=True)["hour"].first()
    report["coverage"] = (report["samples"] / report["due"]).clip(upper=1)
    for state, minutes in _MINUTES.items():
        known = (report["samples"] > 0) & (report["capped"] | (state == "used"))
        report[minutes] = (report[state] * report["interval"]).round(1).where(known)
    report["suggested"] = report["peak"].where(report["capped"] & (report["used"] > 0))
    return report


def _schedules(samples: pd.DataFrame) -> pd.DataFrame:
    """Return for each room its usual `interval` in minutes, how many samples were `due`, its last
    known cap, whether any was (`capped`), and whether people were ever `people_known`."""
    rooms = samples.groupby("room", observed=False)
    interval = rooms["gap"].median()
    interval = interval.fillna(interval.median())
    minutes = (samples["time"].max() - rooms["time"].min()).dt.total_seconds() / 60
    cap = rooms["cap"].last()
    return pd.DataFrame(
        {
            "interval": interval,
            # A sweep may come a tenth of its interval early.
            "due": (minutes / interval + 0.1).fillna(0) // 1 + 1,
            "attendee_max": cap.where(cap > 0),
            "capped": cap.notna(),
            "people_known": rooms["people_known"].first(),
        }
    )


def _least(sizes: pd.DataFrame, count: str, share: float) -> "pd.Series[float]":
    """Return the smallest number of users that at least this share of a room's samples does not
    exceed, by one of the counts of samples: of all, or of those in use."""
    sizes = sizes[sizes[count] > 0]
    counts = sizes.groupby("room", observed=True)[count]
    reached = counts.cumsum() >= share * counts.transform("sum") - 1e-6
    return sizes[reached].groupby("room", observed=True)["users"].first()


def _apply_risk(samples: pd.DataFrame, report: pd.DataFrame, risk: float, window: float) -> int:
    """Replace the suggested caps by those for this risk, with their reasons in `at_risk`, and
    return how many pairs of windows they rest on. `capacity_report` states the rule."""
    windows = _windows(samples, report, window)
    before = windows.groupby("room", observed=True)[["number", "peak", "present"]].shift(-1)
    pairs = (before["number"] == windows["number"] + 1) & (before["present"] != 0)
    ratios = (windows["peak"] / before["peak"])[pairs].sort_values().to_numpy()
    rank = max(1, math.ceil((len(ratios) + 1) * (1 - risk) - 1e-9))
    ratio = ratios[rank - 1] if rank <= len(ratios) else np.nan
    last = windows[windows["number"] == 0].reindex(report.index)
    nobody = last["present"] == 0
    caps = np.floor(last["peak"] * ratio + 1e-9).clip(lower=1)
    report["suggested"] = caps.mask(nobody)
    words, percent = duration(window), f"{100 * risk:g} %"
    report["at_risk"] = [
        f"peak {peak:.0f} in the last {words}, times {ratio:.2f} for a risk of {percent}"
        for peak in last["peak"]
    ]
    report.loc[nobody, "at_risk"] = f"nobody was in it in the last {words}"
    unread = f"read for less than four fifths of the last {words}"
    report.loc[last["peak"].isna(), "at_risk"] = unread
    if rank > len(ratios):
        least = np.ceil((1 - risk) / risk - 1e-9)  # as many as make the rank one of theirs
        report["at_risk"] = (
            f"only {counted(len(ratios), 'pair')} of consecutive windows of {words}; a risk of "
            f"{percent} needs {least:,.0f}"
        )
    return len(ratios)


def _windows(samples: pd.DataFrame, report: pd.DataFrame, window: float) -> pd.DataFrame:
    """Return a row for each room and window that counts, by room, the last window first (`number`
    0): its peak, and the most people that were `present`."""
    age = samples["time"].max() - samples["time"]
    number = (age // timedelta(minutes=window)).rename("number")
    recorded = age.max() / timedelta(minutes=1) + 1.1 * report["interval"].median()
    whole = (number + 1) * window <= recorded
    windows: pd.DataFrame = (
        samples[samples["users"].notna() & whole]
        .groupby(["room", number], observed=True)
        .agg(read=("users", "size"), peak=("users", "max"), present=("present", "max"))
        .reset_index("number")
        .join(report[["interval", "capped", "used", "full"]])
    )
    alike = windows["capped"] & (windows["used"] > 0) & (windows["full"] == 0)
    return windows.loc[alike & (windows["read"] >= 0.8 * window / windows["interval"])]


def _reason(row: dict[Any, Any]) -> str:
    if not row["samples"]:
        return "could not be read"
    caveat = "" if row["people_known"] else "; people could not be told apart from devices"
    peak = int(row["peak"])
    if not row["used"]:
        return f"never used{'; only devices were in it' if peak else ''}{caveat}"
    if not row["capped"]:
        return f"peak {peak}; its attendee_max could not be read{caveat}"
    if row["full"]:
        long = f" for {duration(row['minutes_full'])}" if pd.notna(row["minutes_full"]) else ""
        advice = "no cap is suggested" if row["at_risk"] else f"{peak} may be too low"
        return f"at its cap{long}, so true demand is unknown: {advice}{caveat}"
    if row["at_risk"]:
        return f"{row['at_risk']}{caveat}"
    seen = duration(row["due"] * row["interval"] if pd.notna(row["interval"]) else 0)
    cap = "no cap" if pd.isna(row["attendee_max"]) else f"cap {row['attendee_max']:.0f}"
    return f"peak {peak} in {seen}, {cap}; nothing is promised{caveat}"


def _totals(samples: pd.DataFrame, usual: float, tz: tzinfo) -> dict[str, Any]:
    """When the recording began and ended, and how many people and users were there at once: within
    one turn of the `usual` minutes each room counts once, by its last sample that was read."""
    times = samples["time"].dt.tz_convert(tz)
    since, until = times.min(), times.max()
    totals: dict[str, Any] = {
        "since": None if samples.empty else since.isoformat(),
        "until": None if samples.empty else until.isoformat(),
    }
    minutes = (times - since).dt.total_seconds() / 60
    turn = (minutes / (usual if usual > 0 else 1) + 0.5).astype("int64")
    table = samples[["room", "users", "people"]].assign(time=times, turn=turn)
    table = table[table["users"].notna()]
    following = table[["room", "turn"]].shift(-1)
    last = (table["turn"] != following["turn"]) | (table["room"] != following["room"])
    turns = table[last].groupby("turn")
    together = turns[["people", "users"]].sum(min_count=1).set_index(turns["time"].min())
    # The same turns for both: a camera that never sleeps would put all nights into those of users.
    busy = together["people"].fillna(together["users"]) > 0
    for name in ("people", "users"):
        counts = together[name].dropna()
        when: Any = counts.idxmax() if len(counts) else None
        totals[f"{name}_peak"] = int(counts.max()) if len(counts) else None
        totals[f"{name}_peak_at"] = when and when.isoformat()
        for share in ("p95", "p99"):
            rank = together.loc[busy, name].quantile(_SHARES[share], interpolation="higher")
            totals[f"{name}_{share}"] = None if pd.isna(rank) else int(rank)
    return totals
