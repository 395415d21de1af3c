"""Meetings: when people were in a room, from the samples of a recording."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .folder import load_occupancy
from .samples import RoomSamples, Times, by_room, samples_frame, service_of

_TYPES = {
    "room_id": "string",
    **dict.fromkeys(("start", "end"), "datetime64[ms, UTC]"),
    "peak": "Int64",
    "person_minutes": "Float64",
    **dict.fromkeys(("start_from", "start_to", "end_from", "end_to"), "datetime64[ms, UTC]"),
    "bridged": "Int64",
    "open": "string",
}
_UNKNOWN = np.datetime64("NaT", "ms")


def meetings(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return one row per meeting, a time in which people were in a room, by time and room.

    `source` is a recording's folder, which is loaded whole, or what `load_occupancy` returns.
    `start` and `end` (UTC) lie in the middle of the two samples between which somebody came first
    and left last: `start_from` and `start_to`, `end_from` and `end_to`. Where the record begins or
    ends while people are there, the outer one is missing and `open` says which: "start", "end" or
    "both"; a time without any sample of the room, longer than five of its usual intervals, is such
    an edge, too. `peak` is the most people at once, `person_minutes` are added up, both of people
    without devices. `bridged` samples within it failed: a meeting goes on meanwhile. Meetings that
    follow each other between two samples cannot be told apart, and are one.

    ConfigError: the samples are of several services; others as of `load_occupancy`.
    """
    samples = samples_frame(source) if isinstance(source, pd.DataFrame) else load_occupancy(source)
    service = service_of(samples)
    rooms = [_meetings(room) for room in by_room(samples)]
    table = pd.DataFrame(
        {
            name: pd.Series(np.concatenate([room[name] for room in rooms] or [[]]), dtype=dtype)
            for name, dtype in _TYPES.items()
        }
    ).sort_values(["start_to", "room_id"], ignore_index=True)
    if service is not None:
        table.attrs["service"] = service
    return table


def _meetings(room: RoomSamples) -> dict[str, Any]:
    """Return the columns of the room's meetings: runs of samples with people or failed, without a
    pause of the recorder, and with people in at least one."""
    time, present = room.time, room.present
    busy = present != 0  # NaN, a sample that failed, is not 0
    gaps = np.diff(time) / np.timedelta64(1, "m")
    # For each sample, and the end: whether the record begins anew there.
    edge = np.concatenate([[True], gaps > 5 * room.interval, [True]])
    starts = np.flatnonzero(edge[:-1] | np.diff(busy, prepend=False))
    ends = np.append(starts[1:], len(time))
    seen = np.flatnonzero(present > 0)
    run = np.searchsorted(starts, seen, side="right") - 1
    first, last = np.flatnonzero(np.diff(run, prepend=-1)), np.flatnonzero(np.diff(run, append=-1))
    start, end, at = starts[run[first]], ends[run[first]], time[seen]
    arrived, left, begins, ended = at[first], at[last], ~edge[start], ~edge[end]
    before: Times = np.where(begins, time[start - 1], arrived)  # the last empty sample
    after: Times = np.where(ended, time.take(end, mode="clip"), left)
    # Each sample counts for half the time to the previous and to the next one.
    previous, following = np.roll(at, 1), np.roll(at, -1)
    previous[first], following[last] = before, after
    minutes = (following - previous) / np.timedelta64(2, "m")
    return {
        "room_id": [room.room_id] * len(first),
        "start": before + (arrived - before) / 2,
        "end": left + (after - left) / 2,
        "peak": np.maximum.reduceat(present[seen], first),
        "person_minutes": np.add.reduceat(present[seen] * minutes, first),
        "start_from": np.where(begins, before, _UNKNOWN),
        "start_to": arrived,
        "end_from": left,
        "end_to": np.where(ended, after, _UNKNOWN),
        "bridged": seen[last] - seen[first] - (last - first),
        "open": np.where(begins, np.where(ended, "", "end"), np.where(ended, "start", "both")),
    }
