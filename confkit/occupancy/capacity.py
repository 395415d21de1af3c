"""From samples to a decision: which `attendee_max` each room should have."""

import math
import re
from datetime import timedelta, tzinfo
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..client import is_positive
from ..errors import ConfigError
from ..text import counted
from .folder import load_occupancy
from .samples import RoomSamples, Times, by_room, samples_frame, service_of
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
_MAX_BINS = 1e7  # for counting people, some 80 MB
_MINUTE = np.timedelta64(1, "m")
_NEVER = np.datetime64(0, "ms")
_AHEAD = re.compile(r"(\d{1,4})([wd])")


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

    `samples` read and `coverage`, their share of those due from the room's first to the end of the
    recording; `attendee_max` as last known; `peak`, and `p50`, `p95`, `p99` over the minutes in
    use; `minutes_in_use`; `minutes_full`, at the cap, when nobody knows who else wanted to come in;
    `suggested`, missing for a room that was never used or read; `reason` in words.

    `suggested` is the room's peak, which promises nothing about the time to come. With `risk` (such
    as 0.10) it is the peak of the room's last window times a ratio, rounded down, and at least 1.
    Windows are as long as `ahead` ("4w", "10d" or a timedelta), whole, and counted back from the
    last sample; a room's window counts if at least four fifths of the samples due in it were read.
    The ratio is the (1 - risk) quantile of a window's peak by that of the window before, over all
    such pairs of all rooms: of n in order, number ceil((n + 1) * (1 - risk)). Left out are rooms
    that were ever at their cap or never used, and pairs in whose earlier window nobody was present.
    If windows go on to follow each other as they did, at most this share of such caps is expected
    to be exceeded in the next one; of a single room nothing is promised. There is no number, and
    `reason` says why, for the rooms left out, where the last window does not count or nobody was in
    it, and for all rooms where the pairs are too few for the risk.

    `attrs["totals"]` holds the number of `rooms`, `since`, `until`, and the most people in all
    rooms at once, `people_peak` and `people_peak_at`, in the zone `attrs["timezone"]` (`tz`, or
    else local time). What failed counts nowhere, so all of it is "at least". With `risk` there are
    `attrs["risk"]`, `attrs["ahead"]` in words, and `attrs["pairs"]`, their number. ConfigError:
    `risk` is not between 0 and 1, `ahead` is no time, or the samples are of several services;
    others as of `load_occupancy`.
    """
    zone, zone_name = time_zone(tz)
    window = None if risk is None else _check_window(risk, ahead)
    samples = samples_frame(source) if isinstance(source, pd.DataFrame) else load_occupancy(source)
    service, rooms = service_of(samples), by_room(samples)
    # A single sample has no interval of its own: use that of the other rooms.
    intervals = [room.interval for room in rooms if len(room.time) > 1]
    default_interval = float(np.median(intervals)) if intervals else np.nan
    since = min((room.time[0] for room in rooms), default=_NEVER)
    until = max((room.time[-1] for room in rooms), default=_NEVER)
    rows = [_room_row(room, default_interval, until) for room in rooms]
    totals = {"rooms": len(rooms), **_totals(rooms, default_interval, since, until, zone)}
    attrs: dict[Any, Any] = {"timezone": zone_name, "totals": totals}
    if risk is not None and window is not None:
        words = duration(window / timedelta(minutes=1))
        pairs = _apply_risk(
            rooms, rows, risk, _edges(since, until, default_interval, window), words
        )
        attrs |= {"risk": float(risk), "ahead": words, "pairs": pairs}
    report = pd.DataFrame(rows, columns=[*_TYPES]).astype(_TYPES)
    report["reason"] = pd.array([_reason(row) for row in rows], "string")
    report.attrs = attrs if service is None else {**attrs, "service": service}
    return report


def _check_window(risk: float, ahead: str | timedelta) -> timedelta:
    """Return the length of a window. ConfigError: `ahead` is not a positive duration, or `risk` is
    not between 0 and 1."""
    if not (is_positive(risk) and risk < 1):
        raise ConfigError(f"risk is {risk!r}", "Pass a share between 0 and 1, such as 0.10.")
    window = ahead
    if match := _AHEAD.fullmatch(str(ahead)):
        window = timedelta(days=int(match[1]) * (7 if match[2] == "w" else 1))
    if not isinstance(window, timedelta) or not window > timedelta(0):
        raise ConfigError(f"ahead is {ahead!r}", "Pass a duration such as '4w' or '10d'.")
    return window


def _room_row(room: RoomSamples, default_interval: float, until: np.datetime64) -> dict[str, Any]:
    """Return the room's row of the report, and the facts that its reason uses."""
    interval = room.interval if len(room.time) > 1 else default_interval
    # A sweep may be early by a tenth of its interval.
    sweeps = (until - room.time[0]) / _MINUTE / interval + 0.1
    due = 1 if np.isnan(sweeps) else math.floor(sweeps) + 1
    read, used = np.flatnonzero(~np.isnan(room.users)), np.sort(room.users[room.present > 0])
    full = int(((room.users >= room.cap) & (room.cap > 0)).sum())
    row = {
        "room_id": room.room_id,
        "samples": len(read),
        "coverage": min(1.0, len(read) / due),
        "used": len(used),
        "full": full,
        "interval": interval,
        "recorded": due * interval,
        "people_known": room.people_known,
        "at_risk": "",
    }
    if len(read):
        cap = room.cap[read[-1]]
        row["attendee_max"] = cap if cap > 0 else None
        row["peak"] = np.nanmax(room.users)
        row["minutes_in_use"] = round(len(used) * interval, 1)
        row["minutes_full"] = round(full * interval, 1)
    if len(used):
        row["suggested"] = row["peak"]
        for name, share in _SHARES.items():
            row[name] = used[math.ceil(share * len(used) - 1e-6) - 1]
    return row


def _edges(since: Any, until: Any, default_interval: float, window: timedelta) -> Times:
    """Return the edges of the complete windows; if there are none, those of one."""
    length = np.timedelta64(window)
    # The last sweep counts for its interval, too, and may be early by a tenth of it.
    lasting = np.timedelta64(round(66_000 * np.nan_to_num(default_interval)), "ms")
    number = max(1, int((until - since + lasting) // length))
    edges: Times = until - length * np.arange(number, -1, -1)
    return edges


def _apply_risk(
    rooms: list[RoomSamples], rows: list[dict[str, Any]], risk: float, edges: Times, words: str
) -> int:
    """Replace the suggested caps by those for this risk, with the reasons in `at_risk`, and return
    the number of pairs of windows. See `capacity_report` for the rule."""
    windows = [
        _windows(room, row["interval"], edges) if row["used"] and not row["full"] else [None]
        for room, row in zip(rooms, rows, strict=True)
    ]
    ratios = sorted(
        later.peak / before.peak
        for own in windows
        for before, later in pairwise(own)
        if before and later and before.people != 0
    )
    rank = max(1, math.ceil((len(ratios) + 1) * (1 - risk) - 1e-9))
    percent = f"{100 * risk:g} %"
    for row, (*_, last) in zip(rows, windows, strict=True):
        row["suggested"] = None
        if rank > len(ratios):
            least = math.ceil((1 - risk) / risk - 1e-9)  # for which the rank exists
            row["at_risk"] = (
                f"only {counted(len(ratios), 'pair')} of consecutive windows of {words}; a risk "
                f"of {percent} needs {least:,}"
            )
        elif last is None:
            row["at_risk"] = f"read for less than four fifths of the last {words}"
        elif last.people == 0:
            row["at_risk"] = f"empty in the last {words}"
        else:
            ratio = ratios[rank - 1]
            row["suggested"] = max(1, math.floor(last.peak * ratio + 1e-9))
            row["at_risk"] = (
                f"peak {last.peak:.0f} in the last {words}, times {ratio:.2f} for a risk of "
                f"{percent}"
            )
    return len(ratios)


class _Window(NamedTuple):
    """The most users in a window, and the most people; NaN if unknown."""

    peak: float
    people: float


def _windows(room: RoomSamples, interval: float, edges: Times) -> list[_Window | None]:
    """Return the room's windows, None for a window that was not read often enough to count."""
    due = (edges[1] - edges[0]) / _MINUTE / interval
    windows: list[_Window | None] = []
    for first, end in pairwise(np.searchsorted(room.time, edges, side="right")):
        users, present = room.users[first:end], room.present[first:end]
        read = np.count_nonzero(~np.isnan(users))
        counts = read and read >= 0.8 * due
        windows.append(_Window(np.nanmax(users), np.fmax.reduce(present)) if counts else None)
    return windows


def _reason(row: dict[str, Any]) -> str:
    if not row["samples"]:
        return "could not be read"
    caveat = "" if row["people_known"] else "; devices may be counted as people"
    peak = f"{row['peak']:.0f}"
    if not row["used"]:
        return f"never used{'; only devices were present' if row['peak'] else ''}{caveat}"
    if row["full"]:
        time = "" if np.isnan(row["interval"]) else f" for {duration(row['minutes_full'])}"
        advice = "no cap is suggested" if row["at_risk"] else f"{peak} may be too low"
        return f"at its cap{time}, so true demand is unknown: {advice}{caveat}"
    if row["at_risk"]:
        return f"{row['at_risk']}{caveat}"
    recorded = duration(0 if np.isnan(row["interval"]) else row["recorded"])
    cap = f"cap {row['attendee_max']:.0f}" if row["attendee_max"] else "no cap"
    return f"peak {peak} in {recorded}, {cap}; no forecast{caveat}"


def _totals(
    rooms: list[RoomSamples], default_interval: float, since: Any, until: Any, zone: tzinfo
) -> dict[str, Any]:
    """Return the recording's start and end, and the most people in all rooms at once, with its
    time: within `default_interval` minutes each room counts once, by its last sample."""

    def format_time(time: np.datetime64) -> str:
        return pd.Timestamp(time).tz_localize("UTC").tz_convert(zone).isoformat()

    totals: dict[str, Any] = dict.fromkeys(("since", "until", "people_peak", "people_peak_at"))
    if rooms:
        totals |= {"since": format_time(since), "until": format_time(until)}
    span = (until - since) / _MINUTE
    bin_size = np.timedelta64(
        math.ceil(60_000 * np.nanmax([default_interval, span / _MAX_BINS, 1e-3])), "ms"
    )
    people = np.zeros(int((until - since) / bin_size + 0.5) + 1)
    known = [room for room in rooms if room.people_known and not np.isnan(room.people).all()]
    for room in known:
        own = np.zeros(len(people))
        own[((room.time - since) / bin_size + 0.5).astype("int64")] = np.nan_to_num(room.people)
        people += own
    if known:
        begin = since + bin_size * (people.argmax() - 0.5)
        later = [room.time[room.time >= begin][:1] for room in rooms]
        totals["people_peak"] = int(people.max())
        totals["people_peak_at"] = format_time(np.concatenate(later).min())
    return totals
