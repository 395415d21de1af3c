"""What was read of some rooms: of each the last, when that was, and the samples so far."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..client import Client
from ..known import known_rooms
from ..occupancy.samples import COLUMNS
from ..sweeping.ids import room_ids
from ..sweeping.result import NOT_ASKED, Sweep, occupancy_frame
from .waiting import until_cancelled

MOST = 200_000  # samples that are kept, some 20 MB; the oldest go first
_PIECES = 100  # of samples, before they are put together


@dataclass(frozen=True)
class Reading:
    """A row a room, as `occupancy_frame` has it, whatever sweep it was last read by.

    `times` is when each row was read (UTC; missing: never), in the frame's order; `samples` is all
    that was read, in pieces with the columns of `load_occupancy`. The frame's `attrs["time"]` is
    the earliest of the times: no row is older.
    """

    frame: pd.DataFrame
    times: pd.Series
    samples: tuple[pd.DataFrame, ...]


def asked(given: Any) -> pd.DataFrame:
    """The rooms of whatever `sweep` takes, or of a Sweep, and further columns, as a table."""
    if isinstance(given, Sweep):
        return rooms_of(occupancy_frame(given))
    ids, columns = room_ids(given)
    table = pd.DataFrame({"room_id": pd.array(ids, dtype="string")})
    return table if columns is None else pd.concat([table, columns], axis=1)


def rooms_now(
    client: Client, rooms: pd.DataFrame | None, cancelled: threading.Event
) -> pd.DataFrame:
    """These rooms; for None all that are known by now, CancelledError as of `until_cancelled`."""
    if rooms is not None:
        return rooms
    return asked(until_cancelled(lambda: known_rooms(client), cancelled))


def rooms_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The rooms of an `occupancy_frame`, with the further columns of the caller's table alone."""
    names = list(frame.columns)
    return frame[["room_id", *names[names.index("error") + 1 :]]]


def taken(swept: Sweep, before: Reading | None, *, part: bool = False, most: int = MOST) -> Reading:
    """The reading after this sweep.

    The sweep's rooms are all there are; where it is a `part`, it only renews its own rows. A room
    that it did not come to keeps what was read of it before. Of the samples the newest `most` stay.
    """
    fresh = occupancy_frame(swept).set_index("room_id")
    reached = fresh["error"].ne(NOT_ASKED).fillna(True)
    times = pd.Series(pd.Timestamp(swept.time), fresh.index).where(reached)
    if before is not None:
        old = before.frame.set_index("room_id")
        order = old.index if part else fresh.index
        keep = old.index.difference(fresh.index[reached]).intersection(order)
        new = fresh.index.difference(keep)
        fresh = pd.concat([fresh.loc[new], old.loc[keep]]).loc[order]
        past = before.times.set_axis(old.index)
        times = pd.concat([times.loc[new], past.loc[keep]]).loc[order]
    frame = fresh.reset_index()
    known = times.min()
    time = swept.time if pd.isna(known) else known
    frame.attrs = {"service": swept.service, "time": time.isoformat()}
    return Reading(frame, times.reset_index(drop=True), _kept(before, _samples(swept), most))


def _samples(swept: Sweep) -> pd.DataFrame:
    frame = swept.frame()
    frame = frame[frame["error"].ne(NOT_ASKED).fillna(True)]
    time = pd.Series(pd.Timestamp(swept.time), frame.index).dt.as_unit("ms")
    return frame.assign(time=time)[list(COLUMNS)]


def _kept(before: Reading | None, new: pd.DataFrame, most: int) -> tuple[pd.DataFrame, ...]:
    pieces = (*(before.samples if before is not None else ()), new)
    if len(pieces) > _PIECES or sum(map(len, pieces)) > most:
        return (pd.concat(pieces, ignore_index=True).tail(most),)
    return pieces
