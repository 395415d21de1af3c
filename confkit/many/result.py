"""What a sweep has found: rooms, users, failures, and all of it as a frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..endpoints import A3, A6, B3
from ..errors import ApiError, ConfkitError
from ..frames import integers, room_columns, strings, without_login
from ..records import Room, RoomUser
from ..text import counted
from .reading import as_room

if TYPE_CHECKING:
    import pandas as pd

    from .reading import Part

UTILISATION = "utilisation"  # the column of occupancy_frame that frame() has not
NOT_ASKED = "not asked: the sweep was ended before"


class Failure(NamedTuple):
    """A call of a sweep that failed: of which room (None for all), which call ("A3", "A6" or "B3"),
    why, and what to do."""

    room_id: str | None
    call: str
    error: ConfkitError
    advice: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rooms and their users as they were at one time, in the order in which they were asked for.

    `time` is the true start, in UTC; `seconds` is how long it took, `requests` how many calls it
    cost; `complete` is False when it was ended early. `failures` are the calls that failed: their
    rooms have missing values in `frame()`, never zeros.
    """

    ids: tuple[str, ...]
    service: str
    time: datetime
    seconds: float
    requests: int
    complete: bool
    failures: tuple[Failure, ...]
    _part: Part
    _asked: tuple[bool, bool]  # for rooms, for users
    _columns: pd.DataFrame | None

    def __repr__(self) -> str:
        ended = "" if self.complete else ", ended early"
        why = f"; {self.commonest}" if self.failures else ""
        return (
            f"<Sweep of {len(self.ids)} rooms on {self.service}: {self.requests} requests, "
            f"{counted(len(self.failures), 'failure')}, {self.seconds:.1f} s{ended}{why}>"
        )

    @property
    def commonest(self) -> str:
        """What failed most often, with one of its rooms; empty when nothing did."""
        reasons = Counter(failure.error.said for failure in self.failures)
        if not reasons:
            return ""
        [(why, count)] = reasons.most_common(1)
        one = next(one for one in self.failures if one.error.said == why)
        room = "" if one.room_id is None else f"such as room {one.room_id!r}"
        if count > 1:
            many = ", ".join(filter(None, (f"{count:,}", room)))
            return f"{'mostly' if len(reasons) > 1 else 'all'} ({many}): {why}"
        room = room if len(reasons) > 1 else room.removeprefix("such as ")
        return ": ".join(filter(None, (room, why)))

    @cached_property
    def rooms(self) -> list[Room]:
        """The rooms that were read, as records."""
        rooms = self._part.rooms
        return [as_room(one) for one in rooms if one and not isinstance(one, ConfkitError)]

    @cached_property
    def users(self) -> dict[str, list[RoomUser]]:
        """The users of each room whose users were read; an empty list where nobody is."""
        pairs = zip(self.ids, self._part.users, strict=True)
        return {room_id: users for room_id, users in pairs if isinstance(users, list)}

    def frame(self) -> pd.DataFrame:
        """One row per room that was asked for, in that order.

        `room_id` (as asked), `topic`, `users`, `people` and `devices` (those of the users that are
        external devices), `attendee_max`, the other columns of `rooms_frame`, `ret` and `error`,
        then the further columns of the caller's table. Missing are the users of a room for which
        A6 failed, people and devices where B3 did, the fields where A3 did: `error` says why, `ret`
        is 0 when nothing is missing, the result code otherwise, and missing when no answer came. A
        further column named as one of ours is called "... (given)".
        """
        import pandas as pd

        rooms = [
            room if _is_read(room) else Room(room_id=room_id)
            for room_id, room in zip(self.ids, self._part.rooms, strict=True)
        ]
        columns = room_columns(rooms)
        pairs = zip(self._counts(rooms), self._errors(), strict=True)
        told = [(*counts, _ret(error), str(error) if error else None) for counts, error in pairs]
        users, people, devices, rets, errors = (
            map(list, zip(*told, strict=True)) if told else ([] for _ in range(5))
        )
        columns = {
            "room_id": strings(list(map(without_login, self.ids))),
            "topic": columns.pop("topic"),
            "users": integers(users),
            "people": integers(people),
            "devices": integers(devices),
            "attendee_max": columns.pop("attendee_max"),
            **{name: column for name, column in columns.items() if name != "room_id"},
            "ret": integers(rets),
            "error": strings(errors),
        }
        frame = pd.DataFrame(columns)
        if self._columns is not None:
            names = _names(self._columns.columns, {*columns, UTILISATION})
            further = self._columns.set_axis(names, axis="columns")
            frame = pd.concat([frame, further], axis=1)
        frame.attrs = {"service": self.service, "time": self.time.isoformat()}
        return frame

    def _counts(self, rooms: Sequence[Any]) -> Iterator[tuple[int | None, int | None, int | None]]:
        """For each room its users, the people among them, the devices among them."""
        listed = self._part.devices
        for room_id, room, users in zip(self.ids, rooms, self._part.users, strict=True):
            if not isinstance(users, list):
                yield None, None, None
            elif not isinstance(listed, Mapping):
                yield len(users), None, None
            else:
                known = {*listed.get(room_id, ()), *listed.get(room.room_id, ())}
                devices = sum(user.user_id in known for user in users) if known else 0
                yield len(users), len(users) - devices, devices

    def _errors(self) -> Iterator[ConfkitError | None]:
        """For each room why something is missing: its users before its fields, and those before
        what all rooms lack."""
        ended, lacking = ConfkitError(NOT_ASKED), self._part.devices
        if lacking is None and self._asked[1]:
            lacking = ended
        common = lacking if isinstance(lacking, ConfkitError) else None
        rooms, users = self._asked
        for room, present in zip(self._part.rooms, self._part.users, strict=True):
            if users and not isinstance(present, list):
                yield present or ended
            elif rooms and not _is_read(room):
                yield room if isinstance(room, ConfkitError) else ended
            else:
                yield common


def failures(ids: Sequence[str], part: Part) -> tuple[Failure, ...]:
    """Return the calls that failed, that for the devices of all rooms first."""
    found: list[tuple[str | None, str, object]] = [(None, B3.key, part.devices)]
    for room_id, room, users in zip(ids, part.rooms, part.users, strict=True):
        found += [(room_id, A3.key, room), (room_id, A6.key, users)]
    return tuple(
        Failure(room_id, call, outcome, outcome.advice)
        for room_id, call, outcome in found
        if isinstance(outcome, ConfkitError)
    )


def _is_read(outcome: object) -> bool:
    return outcome is not None and not isinstance(outcome, ConfkitError)


def _ret(error: ConfkitError | None) -> int | None:
    if error is None:
        return 0
    ret = error.ret if isinstance(error, ApiError) else None
    return ret if isinstance(ret, int) and abs(ret) < 2**63 else None


def _names(given: Iterable[object], ours: set[str]) -> list[str]:
    """The names of the caller's columns, each other than ours and than those before it."""
    names, taken = [], set(ours)
    for name in map(str, given):
        while name in taken:
            name += " (given)"
        names.append(name)
        taken.add(name)
    return names


def utilisation(frame: pd.DataFrame) -> pd.Series[float]:
    """The users of each row as a share of its `attendee_max`; missing without one, or with 0."""
    cap = frame["attendee_max"].where(frame["attendee_max"] > 0)
    return (frame["users"] / cap).astype("Float64")


def occupancy_frame(sweep: Sweep) -> pd.DataFrame:
    """One row per room of a sweep: how full it is.

    `room_id`, `topic`, `users`, `people`, `devices`, `attendee_max`, `utilisation` (users as a
    share of `attendee_max`, `Float64`; missing without a cap, a cap of 0 among them, and where the
    users could not be read), `error`, and the further columns of the caller's table.
    """
    frame = sweep.frame()
    frame.insert(6, UTILISATION, utilisation(frame))
    own = list(frame.columns).index("error")
    shown = [*range(7), *range(own, len(frame.columns))]
    return frame.iloc[:, shown]
