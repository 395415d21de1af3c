"""What was read of some rooms: of each the last, when that was, and the samples so far."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..client import Client
from ..many.ids import room_ids
from ..many.result import NOT_ASKED, Sweep, occupancy_frame
from ..occupancy.known import known_rooms
from ..occupancy.samples import COLUMNS
from .panel import until_cancelled
from .room_list import READ_AT, UNREAD, frame_of_rooms, joined, known_only, not_there

MOST = 200_000  # samples that are kept, some 20 MB; the oldest go first
_PIECES = 100  # of samples, before they are put together


@dataclass(frozen=True)
class Reading:
    """A row a room, as `occupancy_frame` has it, whatever sweep it was last read by.

    `read_at` in it says when the users of a row were read (UTC; missing: never), `error` why not
    since, and `unread`, which no `value` has, whether the last try has failed; `samples` is all
    that was read, in pieces with the columns of `load_occupancy`. The frame's `attrs["time"]` is
    the earliest `read_at`: no row is older.
    """

    frame: pd.DataFrame
    samples: tuple[pd.DataFrame, ...]

    @property
    def times(self) -> pd.Series:
        """When each row was read."""
        return self.frame[READ_AT]


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
    """The rooms of a reading's frame, or of an `occupancy_frame`, with the further columns of the
    caller's table alone."""
    names = list(frame.columns)
    own = names.index(UNREAD if UNREAD in names else "error") + 1
    return frame[["room_id", *names[own:]]]


def taken(swept: Sweep, before: Reading | None, *, part: bool = False, most: int = MOST) -> Reading:
    """The reading after this sweep.

    The sweep's rooms are all there are; where it is a `part`, it only renews its own rows. What it
    could not read of a room, or did not come to, stays as it was read before. Of the samples the
    newest `most` stay.
    """
    whole = frame_of_rooms(swept)
    samples = _kept(before, _samples(whole, swept), most)
    names = list(whole.columns)
    fresh = whole.iloc[:, [*range(7), *range(names.index("error"), len(names))]]
    if before is None:
        frame = fresh
    elif part:
        frame = joined(before.frame, known_only(fresh, before.frame), not_there(swept))
    else:
        old = known_only(before.frame, fresh)
        both = joined(old, fresh, not_there(swept)).set_index("room_id")
        frame = both.loc[fresh["room_id"]].reset_index()[list(fresh.columns)]
    known_at = frame[READ_AT].min()
    time = swept.time if pd.isna(known_at) else known_at
    frame.attrs = {"service": swept.service, "time": time.isoformat()}
    return Reading(frame, samples)


def _samples(whole: pd.DataFrame, swept: Sweep) -> pd.DataFrame:
    frame = whole[whole["error"].ne(NOT_ASKED).fillna(True)]
    time = pd.Series(pd.Timestamp(swept.time), frame.index).dt.as_unit("ms")
    return frame.assign(time=time)[list(COLUMNS)]


def _kept(before: Reading | None, new: pd.DataFrame, most: int) -> tuple[pd.DataFrame, ...]:
    pieces = (*(before.samples if before is not None else ()), new)
    if len(pieces) > _PIECES or sum(map(len, pieces)) > most:
        return (pd.concat(pieces, ignore_index=True).tail(most),)
    return pieces
