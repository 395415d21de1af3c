"""The rooms of a panel as one frame, into which each reading is put."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from ..charts.texts import lasting, moment
from ..errors import ConfkitError, RoomNotFound
from ..frames import strings
from ..many.ids import RoomIds
from ..many.reading import Part
from ..many.result import NOT_ASKED, UTILISATION, Sweep, utilisation
from ..occupancy.zones import zone

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

READ_AT = "read_at"  # the column that says when a room was read
UNREAD = "unread"  # one that no `value` has: the last try has not read who is in the room
_USERS = ("users", "people", "devices", READ_AT)  # what is read together (A6)


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
    after `error` `read_at` (UTC, the sweep's start; missing where the users were not read) and
    `unread`, which is True of rooms whose users should have been read and were not."""
    import pandas as pd

    frame = sweep.frame()
    for ours in (READ_AT, UNREAD):
        given = ours
        while given in frame.columns:
            given += " (given)"
        frame = frame.rename(columns={ours: given})
    frame.insert(6, UTILISATION, utilisation(frame))
    lost = frame["users"].isna() & frame["error"].notna()
    if not sweep._asked[1]:
        lost &= frame["topic"].isna()
    time = pd.Series(pd.Timestamp(sweep.time), frame.index, "datetime64[us, UTC]")
    place = list(frame.columns).index("error") + 1
    frame.insert(place, READ_AT, time.where(~lost))
    frame.insert(place + 1, UNREAD, lost.to_numpy(bool))
    return frame


def not_there(sweep: Sweep) -> set[str]:
    """The rooms that the service does not have: nothing that was read of them before holds."""
    return {
        one.room_id for one in sweep.failures
        if one.room_id is not None and isinstance(one.error, RoomNotFound)
    }  # fmt: skip


def left_out(sweep: Sweep) -> list[str]:
    """The rooms that a sweep which was ended early has not come to, or not in full."""
    if sweep.complete:
        return []
    unasked = _unasked(sweep.frame())
    return [room_id for room_id, lacks in zip(sweep.ids, unasked, strict=True) if lacks]


def unreachable(frame: pd.DataFrame, error: ConfkitError) -> pd.DataFrame:
    """The rows while the service does not answer: as they were last read, with why not since."""
    return frame.assign(**{"error": strings([str(error)] * len(frame)), UNREAD: True})


def oldest(frame: pd.DataFrame | None) -> list[str]:
    """The rooms, those first that were never read, then those whose reading is longest ago."""
    if frame is None:
        return []
    order = frame[READ_AT].sort_values(kind="stable", na_position="first").index
    return list(frame["room_id"].loc[order])


def valued(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the rows without the column that no `value` has."""
    return frame.drop(columns=UNREAD)


def last_known(new: pd.DataFrame, old: pd.DataFrame, gone: Collection[str] = ()) -> pd.DataFrame:
    """The new rows; what could not be read of a room stands there as it was last read.

    Its users keep the `read_at` of their reading, and its `error` says why not since. A row that
    the old frame has of a later reading stays as it is there. Rooms that are `gone`, and those of
    which nothing was read before, are as the new frame has them.
    """
    import pandas as pd

    at = pd.Index(old["room_id"]).get_indexer(pd.Index(new["room_id"]))
    there = (at >= 0) & ~new["room_id"].isin(list(gone)).to_numpy(bool)
    if not there.any():
        return new
    before = old.iloc[at].set_axis(new.index)
    own = list(new.columns)[1 : list(new.columns).index(UNREAD) + 1]
    fields = [name for name in own if name not in (*_USERS, UTILISATION, "ret", "error", UNREAD)]
    failed = there & new["error"].notna().to_numpy(bool)
    # What was asked for earlier may come later, where two read at once.
    late = there & (before[READ_AT] > pd.Timestamp(new.attrs["time"])).to_numpy(bool)
    renewed = {
        **dict.fromkeys(own, late),
        **dict.fromkeys(fields, late | (failed & new[fields].isna().to_numpy(bool).all(axis=1))),
        **dict.fromkeys(_USERS, late | (failed & new[UNREAD].to_numpy(bool))),
    }
    new = new.copy(deep=False)
    for name, keeps in renewed.items():
        if keeps.any():
            new[name] = new[name].where(~keeps, before[name])
    new[UTILISATION] = utilisation(new)
    return new


def joined(old: pd.DataFrame, new: pd.DataFrame, gone: Collection[str] = ()) -> pd.DataFrame:
    """The old rows, each replaced by the new one of its room where that was asked, with what could
    not be read as it was last known (`last_known`), and the other new rows behind them. Further
    columns that only the old rows have stay."""
    import numpy as np
    import pandas as pd

    if old.empty or new.empty:
        return old if new.empty else new
    new = last_known(new, old, gone)
    before, after = pd.Index(old["room_id"]), pd.Index(new["room_id"])
    at, places = after.get_indexer(before), np.arange(len(old))
    stays = (at < 0) | _unasked(new)[at]
    added = len(old) + np.flatnonzero(before.get_indexer(after) < 0)
    both = pd.concat([old, new], ignore_index=True)
    frame = both.take(np.append(np.where(stays, places, len(old) + at), added))
    for name in old.columns.difference(new.columns):
        # Where rooms come that lack it, a column of whole numbers can no longer be one.
        column = both[name].take(np.append(places, added)) if len(added) else old[name]
        frame[name] = column.array
    frame = frame.reset_index(drop=True)
    frame.attrs = {**new.attrs, "time": _oldest(frame) or new.attrs["time"]}
    return frame


def known_only(frame: pd.DataFrame, of: pd.DataFrame) -> pd.DataFrame:
    """The rows of rooms that the other frame has, too."""
    import pandas as pd

    there = pd.Index(of["room_id"]).get_indexer(pd.Index(frame["room_id"])) >= 0
    found: pd.DataFrame = frame[there].reset_index(drop=True)
    return found


def without(frame: pd.DataFrame, room_id: str) -> pd.DataFrame:
    """The frame without a room."""
    return frame[frame["room_id"] != room_id].reset_index(drop=True)


def counted(found: int, frame: pd.DataFrame, aging: bool = False, tz: tzinfo | None = None) -> str:
    """How many rooms are shown of how many, how many were not read, when they were read, in the
    zone `tz`, which is named, and (`aging`) how old the oldest is by now."""
    of = rooms_told(len(frame))
    unasked = int(_unasked(frame).sum())
    failed = int(frame["error"].notna().sum()) - unasked
    parts = [of if found == len(frame) else f"{found:,} of {of}"]
    if failed:
        parts.append(f"{failed:,} not read in full")
    if unasked:
        parts.append(f"{unasked:,} not asked")
    if frame[READ_AT].notna().any():
        read, (here, name) = frame[READ_AT], zone(tz)
        times = map(clock(read, here), (read.min(), read.max()))
        parts.append(f"read at {' to '.join(dict.fromkeys(times))} ({name})")
        if aging:
            parts.append(f"the oldest is {age(read.min())} old")
    return " · ".join(parts)


def outcome(sweep: Sweep, frame: pd.DataFrame) -> str:
    """What is to be said of a reading besides its rows, which are those of `frame`; nothing when
    all of these were read."""
    there = {None, *frame["room_id"]}
    lost = {one.room_id: one for one in reversed(sweep.failures) if one.room_id in there}
    # A room counts once, whatever of its calls failed; the external devices are all rooms'.
    rooms = tuple(one for room_id, one in lost.items() if room_id is not None)
    sweep = replace(sweep, failures=rooms or tuple(lost.values()))
    if not sweep.complete:
        unasked = int(_unasked(frame).sum())
        return (
            f"Ended early: {len(frame) - unasked:,} of {len(frame):,} rooms were read; "
            f"{unasked:,} were not asked, and stand as they were before."
        )
    if not sweep.failures:
        return ""
    what = f"{len(rooms):,} of {rooms_told(len(frame))}" if rooms else "The external devices"
    return (
        f"{what} could not be read, {sweep.commonest}. What was read of them before stays, with "
        "its time; the rest is missing, not zero."
    )


def age(time: datetime) -> str:
    """How long ago this was, such as "12 s" or "2 h 5 min"."""
    seconds = max(0.0, (datetime.now(UTC) - time).total_seconds())
    return f"{seconds:.0f} s" if seconds < 60 else lasting(seconds / 60)


def since(time: pd.Timestamp, told: Callable[[pd.Timestamp], str], aging: bool) -> str:
    """How old the last known values of a room are, or when they were read."""
    return f"{age(time)} old" if aging else f"as of {told(time)}"


def clock(times: pd.Series, tz: tzinfo | None = None) -> Callable[[pd.Timestamp], str]:
    """How these times are told: the time of day, with the day where it is not the last one's."""
    here, _ = zone(tz)
    today = times.max().tz_convert(here).date() if times.notna().any() else None

    def told(time: pd.Timestamp) -> str:
        local = time.tz_convert(here)
        return f"{local:%H:%M:%S}" if local.date() == today else moment(local)

    return told


def rooms_told(count: int) -> str:
    """Such as "1 room" or "1,200 rooms"."""
    return f"{count:,} room{'s' * (count != 1)}"


def _unasked(frame: pd.DataFrame) -> Any:
    return (frame["error"] == NOT_ASKED).to_numpy(bool, na_value=False)


def _oldest(frame: pd.DataFrame) -> str | None:
    times = frame[READ_AT].dropna()
    return None if times.empty else times.min().isoformat()
