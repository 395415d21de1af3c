"""The rooms of a panel as one frame, into which each reading is put."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from ..charts.times import zone
from ..sweeping.ids import RoomIds
from ..sweeping.reading import Part
from ..sweeping.result import NOT_ASKED, UTILISATION, Sweep
from .bars import clock

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

READ_AT = "read_at"  # the column that says when a room was read


def unasked(client: Client, given: RoomIds) -> Sweep:
    """The sweep of rooms of which nothing has been asked yet."""
    nothing = [None] * len(given.ids)
    return Sweep(
        ids=tuple(given.ids), service=client.name, time=datetime.now(UTC), seconds=0.0, requests=0,
        complete=False, failures=(), _part=Part(nothing, nothing, None, 0, complete=False),
        _asked=(True, True), _columns=given.columns,
    )  # fmt: skip


def others(given: RoomIds, known: Iterable[str]) -> RoomIds:
    """Those of the given IDs that are not known, with their further columns."""
    have = set(known)
    places = [place for place, room_id in enumerate(given.ids) if room_id not in have]
    columns = None if given.columns is None else given.columns.iloc[places].reset_index(drop=True)
    return RoomIds([given.ids[place] for place in places], columns)


def frame_of_rooms(sweep: Sweep) -> pd.DataFrame:
    """The sweep's `frame()` with the `utilisation` of `occupancy_frame` after `attendee_max`, and
    `read_at` (UTC, the sweep's start; missing: not asked) after `error`."""
    import pandas as pd

    frame, given = sweep.frame(), READ_AT
    while given in frame.columns:
        given += " (given)"
    frame = frame.rename(columns={READ_AT: given})
    cap = frame["attendee_max"].where(frame["attendee_max"] > 0)
    frame.insert(6, UTILISATION, (frame["users"] / cap).astype("Float64"))
    time = pd.Series(pd.Timestamp(sweep.time), frame.index, "datetime64[us, UTC]")
    read = time.where(~_unasked(frame))
    frame.insert(list(frame.columns).index("error") + 1, READ_AT, read)
    return frame


def joined(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The old rows, each replaced by the new one of its room where that was asked, and the other
    new rows behind them. Further columns that only the old rows have stay."""
    import numpy as np
    import pandas as pd

    if old.empty or new.empty:
        return old if new.empty else new
    before, after = pd.Index(old["room_id"]), pd.Index(new["room_id"])
    at, places = after.get_indexer(before), np.arange(len(old))
    stays = (at < 0) | _unasked(new)[at]
    added = len(old) + np.flatnonzero(before.get_indexer(after) < 0)
    both = pd.concat([old, new], ignore_index=True)
    frame = both.take(np.append(np.where(stays, places, len(old) + at), added))
    for name in old.columns.difference(new.columns):
        frame[name] = both[name].take(np.append(places, added)).array
    frame = frame.reset_index(drop=True)
    frame.attrs = {**new.attrs, "time": _oldest(frame) or new.attrs["time"]}
    return frame


def without(frame: pd.DataFrame, room_id: str) -> pd.DataFrame:
    """The frame without a room."""
    return frame[frame["room_id"] != room_id].reset_index(drop=True)


def counted(found: int, frame: pd.DataFrame, tz: tzinfo | None = None) -> str:
    """How many rooms are shown of how many, how many were not read, and when they were read, in the
    zone `tz`, which is named."""
    of = f"{len(frame):,} room{'s' * (len(frame) != 1)}"
    unasked = int(_unasked(frame).sum())
    failed = int(frame["error"].notna().sum()) - unasked
    parts = [of if found == len(frame) else f"{found:,} of {of}"]
    if failed:
        parts.append(f"{failed:,} not read in full")
    if unasked:
        parts.append(f"{unasked:,} not asked")
    if unasked < len(frame):
        read, (here, name) = frame[READ_AT], zone(tz)
        times = map(clock(read, here), (read.min(), read.max()))
        parts.append(f"read at {' to '.join(dict.fromkeys(times))} ({name})")
    return " · ".join(parts)


def outcome(sweep: Sweep, frame: pd.DataFrame) -> str:
    """What is to be said of a reading besides its rows, which are those of `frame`; nothing when
    all of these was read."""
    there = {None, *frame["room_id"]}
    told = tuple(one for one in sweep.failures if one.room_id in there)
    sweep = replace(sweep, failures=told)
    if not sweep.complete:
        unasked = int(_unasked(frame).sum())
        return (
            f"Ended early: {len(frame) - unasked:,} of {len(frame):,} rooms were read; "
            f"{unasked:,} were not asked, and stand as they were before."
        )
    if not sweep.failures:
        return ""
    rooms = len({one.room_id for one in sweep.failures if one.room_id is not None})
    what = f"{rooms:,} of {len(frame):,} rooms" if rooms else "The external devices"
    return f"{what} could not be read, {sweep.commonest}. Their values are missing, not zero."


def _unasked(frame: pd.DataFrame) -> Any:
    return (frame["error"] == NOT_ASKED).to_numpy(bool, na_value=False)


def _oldest(frame: pd.DataFrame) -> str | None:
    times = frame[READ_AT].dropna()
    return None if times.empty else times.min().isoformat()
