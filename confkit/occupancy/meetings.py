"""Meetings: when people were in a room, from the samples of a recording."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .by_room import RoomSamples, by_room, read_samples

_TYPES = {
    "room_id": "string",
    **dict.fromkeys(("start", "end"), "datetime64[ms, UTC]"),
    "peak": "Int64",
    "person_minutes": "Float64",
    "bridged": "Int64",
    "open": "string",
}


def meetings(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return one row per meeting, a time in which people were in a room, by time and room.

    `source` is a recording's folder, which is loaded whole, or what `load_occupancy` returns.
    `start` and `end` (UTC) lie in the middle of the two samples between which somebody came first
    and left last. `open` is "start", "end" or "both" where the record begins or ends while people
    are there; a time in which the room was not read, longer than five of its usual intervals, is
    such an edge, too. `peak` is the most people at once, `person_minutes` are added up, both of
    people without devices. `bridged` samples within it failed: a meeting goes on meanwhile.

    ConfigError: the samples are of several services; others as of `load_occupancy`.
    """
    samples = read_samples(source)
    rows = [meeting for room in by_room(samples) for meeting in _meetings(room)]
    table = pd.DataFrame(rows, columns=[*_TYPES])
    table[["start", "end"]] = table[["start", "end"]].apply(pd.to_datetime, utc=True)
    table = table.astype(_TYPES).sort_values(["start", "room_id"], ignore_index=True)
    table.attrs = samples.attrs
    return table


def _meetings(room: RoomSamples) -> Iterator[dict[str, Any]]:
    """Yield the room's meetings: runs of samples with people, without a pause. What failed is left
    out, so that a short time of it is bridged."""
    read = np.flatnonzero(~np.isnan(room.present))
    time, present, interval = room.time[read], room.present[read], room.interval[read]
    # Of two recorders at once, each second interval is short.
    usual = np.maximum(interval[:-1], interval[1:])
    pause = np.diff(time) / np.timedelta64(1, "m") > 5 * usual
    edge = np.concatenate([[True], pause, [True]])  # before each sample, and at the end
    starts = np.flatnonzero(edge[:-1] | np.diff(present > 0, prepend=False))
    for start, end in pairwise([*starts, len(time)]):
        if not present[start]:
            continue
        before = time[start if edge[start] else start - 1]
        after = time[end - 1 if edge[end] else end]
        # Each sample counts for half the time to the previous and to the next one.
        times = np.concatenate([[before], time[start:end], [after]])
        minutes = (times[2:] - times[:-2]) / np.timedelta64(2, "m")
        yield {
            "room_id": room.room_id,
            "start": before + (times[1] - before) / 2,
            "end": times[-2] + (after - times[-2]) / 2,
            "peak": present[start:end].max(),
            "person_minutes": present[start:end] @ minutes,
            "bridged": read[end - 1] - read[start] - (end - 1 - start),
            "open": ("", "start", "end", "both")[edge[start] + 2 * edge[end]],
        }
