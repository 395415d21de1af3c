"""From samples to a decision: which `attendee_max` each room should have."""

import math
import re
from datetime import timedelta, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..client import is_positive
from ..errors import ConfigError
from ..text import counted
from .by_room import Floats, RoomSamples, by_room, read_samples
from .times import duration, time_zone

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_TYPES = {
    "room_id": "string",
    "samples": "Int64",
    "coverage": "Float64",
    **dict.fromkeys(("attendee_max", "peak", *_SHARES), "Int64"),
    **dict.fromkeys(("minutes_in_use", "minutes_full"), "Float64"),
    "suggested": "Int64",
    "reason": "string",
}
_MINUTE = np.timedelta64(1, "m")


def capacity_report(
    source: str | Path | pd.DataFrame,
    tz: str | tzinfo | None = None,
    risk: float | None = None,
    ahead: str | timedelta = "4w",
) -> pd.DataFrame:
    """Return one row per room, by ID: how full it was, and the `attendee_max` to give it.

    `source` is a recording's folder, which is loaded whole, or what `load_occupancy` returns. A cap
    binds all users, so users are counted, people and devices; a room is in use while people are in
    it. A sample stands for the room's usual interval: one recorder at a time is to record a room.

    Columns: `samples` read and `coverage`, their share of those due from the room's first to the
    end of the recording; `attendee_max` as last known; `peak`, and `p50`, `p95`, `p99` over the
    minutes in use; `minutes_in_use`; `minutes_full`, at the cap, when nobody knows who else wanted
    to come in (of a room with a single sample both are missing); `suggested`, missing for a room
    that was never used or read; `reason` in words.

    `suggested` is the room's peak, which promises nothing about the time to come. With `risk` (such
    as 0.10) it is the peak of the room's last window times a ratio, rounded down, and at least 1.
    Windows are as long as `ahead` ("4w", "10d" or a timedelta), counted back from the last sample;
    one counts if four fifths of the samples due in it were read. The ratio is the (1 - risk)
    quantile of a window's peak by that of the window before, over all such pairs of all rooms: of n
    in order, number ceil((n + 1) * (1 - risk)). Rooms that were ever at their cap are left out. If
    windows go on to follow each other as they did, at most this share of such caps is expected to
    be exceeded in the next one; of a single room nothing is promised. Where there is no number,
    `reason` says why: the room was at its cap, its last window does not count or was empty, or the
    pairs are too few for the risk.

    `attrs` has the `service`, the `timezone` (`tz`, or else local time), `since` and `until`; with
    `risk` also `risk`, `ahead` in words, and the number of `pairs`. ConfigError: `risk` is not
    between 0 and 1, `ahead` is no time, or the samples are of several services; others as of
    `load_occupancy`.
    """
    zone, zone_name = time_zone(tz)
    window = None if risk is None else _check_window(risk, ahead)
    samples = read_samples(source)
    attrs, edges, rows = samples.attrs | {"timezone": zone_name}, None, []
    if len(samples):
        span = samples["time"].agg(["min", "max"])
        local = [time.isoformat() for time in span.dt.tz_convert(zone)]
        attrs |= dict(zip(("since", "until"), local, strict=True))
        since, until = span.dt.tz_convert(None)
        if window:  # the first begins before the recording
            edges = pd.date_range(end=until, periods=(until - since) // window + 2, freq=window)
        rows = [_room_row(room, until, edges) for room in by_room(samples)]
    if risk is not None and window:
        words = duration(window / timedelta(minutes=1))
        pairs = _apply_risk(rows, risk, words)
        attrs |= {"risk": float(risk), "ahead": words, "pairs": pairs}
    for row in rows:
        row["reason"] += row["note"]
    report = pd.DataFrame(rows, columns=[*_TYPES]).astype(_TYPES)
    report.attrs = attrs
    return report


def _check_window(risk: float, ahead: str | timedelta) -> timedelta:
    if not (is_positive(risk) and risk < 1):
        raise ConfigError(f"risk is {risk!r}", "Pass a share between 0 and 1, such as 0.10.")
    window = ahead
    if match := re.fullmatch(r"(\d{1,4})([wd])", str(ahead)):
        window = timedelta(days=int(match[1]) * (7 if match[2] == "w" else 1))
    if not isinstance(window, timedelta) or not window > timedelta(0):
        raise ConfigError(f"ahead is {ahead!r}", "Pass a duration such as '4w' or '10d'.")
    return window


def _room_row(
    room: RoomSamples, until: pd.Timestamp, edges: pd.DatetimeIndex | None
) -> dict[str, Any]:
    """Return the room's row of the report; of one in use also its `peaks` between the edges, and
    how long it was `at_cap` in words."""
    interval, read, present = room.interval, ~np.isnan(room.users), room.present > 0
    used, minutes_read = room.users[present], interval[read].sum()
    at_cap = (room.users >= room.cap) & (room.cap > 0)
    coverage = minutes_read / ((until - room.time[0]) / _MINUTE + interval[-1])
    if len(room.time) == 1:  # whose interval is not known
        coverage = read[0] * float(until == room.time[0])
    unknown = interval[np.isnan(room.present) & (room.users > 0)].sum()
    note = f"; the devices were not read for {duration(unknown)}" if unknown else ""
    row: dict[str, Any] = {
        "room_id": room.room_id,
        "note": note if room.people_known else "; devices may be counted as people",
        "samples": read.sum(),
        "coverage": min(1.0, coverage),
    }
    if not read.any():
        return row | {"reason": "could not be read"}
    peak, cap = np.nanmax(room.users), room.cap[read | ~np.isnan(room.cap)][-1]
    row |= {
        "peak": peak,
        "attendee_max": cap if cap > 0 else None,
        "minutes_in_use": round(interval[present].sum(), 1),
        "minutes_full": round(interval[at_cap].sum(), 1),
    }
    if not len(used):
        unused = "never used; only devices were present" if peak else "never used"
        return row | {"reason": "not known whether people were present" if note else unused}
    order = np.argsort(used, kind="stable")
    lasting = np.cumsum(interval[present][order])
    for name, share in _SHARES.items():
        row[name] = used[order[np.searchsorted(lasting, share * lasting[-1] - 1e-6)]]
    row |= {"suggested": peak, "peaks": [] if edges is None else _peaks(room, edges), "at_cap": ""}
    if at_cap.any():
        former = room.cap[at_cap].max()
        name = "its cap" if former == cap else f"a former cap of {former:.0f}"
        time = "" if np.isnan(interval[-1]) else f" for {duration(row['minutes_full'])}"
        row["at_cap"] = f"at {name}{time}, so true demand is unknown: "
        row["reason"] = f"{row['at_cap']}{peak:.0f} may be too low"
    else:
        recorded = duration(np.nan_to_num(minutes_read))
        cap_text = f"cap {cap:.0f}" if cap > 0 else "no cap"
        row["reason"] = f"peak {peak:.0f} in {recorded}, {cap_text}; no forecast"
    return row


def _peaks(room: RoomSamples, edges: pd.DatetimeIndex) -> Floats:
    """Return the most users in each window while people were present, 0 for an empty window, and
    NaN for one that was not read often enough to count."""
    length = (edges[1] - edges[0]) / _MINUTE
    users = np.where(room.present == 0, 0, room.users)
    minutes = np.where(np.isnan(users), 0, room.interval)
    samples = pd.DataFrame({"users": users, "minutes": minutes})
    windows = samples.groupby(edges.searchsorted(room.time))
    peaks = windows["users"].max().where(windows["minutes"].sum() >= 0.8 * length)
    return peaks.reindex(range(1, len(edges))).to_numpy()


def _apply_risk(rows: list[dict[str, Any]], risk: float, words: str) -> int:
    """Replace the suggested caps and reasons of rooms in use by those for this risk, and return the
    number of pairs of windows. See `capacity_report` for the rule."""
    used = [row for row in rows if "peaks" in row]
    pairs = [pair for row in used if not row["at_cap"] for pair in pairwise(row["peaks"])]
    ratios = sorted(later / before for before, later in pairs if before > 0 and later >= 0)
    rank = max(1, math.ceil((len(ratios) + 1) * (1 - risk) - 1e-9))
    percent = f"{100 * risk:g} %"
    for row in used:
        row["suggested"], peak = None, row["peaks"][-1]
        if row["at_cap"]:
            row["reason"] = f"{row['at_cap']}no cap is suggested"
        elif rank > len(ratios):
            least = math.ceil((1 - risk) / risk - 1e-9)  # for which the rank exists
            row["reason"] = (
                f"only {counted(len(ratios), 'pair')} of consecutive windows of {words}; a risk "
                f"of {percent} needs {least:,}: record longer, or pass a shorter ahead="
            )
        elif np.isnan(peak):
            row["reason"] = f"read for less than four fifths of the last {words}"
        elif not peak:
            row["reason"] = f"empty in the last {words}"
        else:
            ratio = ratios[rank - 1]
            row["suggested"] = max(1, math.floor(peak * ratio + 1e-9))
            row["reason"] = (
                f"peak {peak:.0f} in the last {words}, times {ratio:.2f} for a risk of {percent}"
            )
    return len(ratios)
