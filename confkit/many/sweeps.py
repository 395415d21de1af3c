"""Many rooms and their users in one call, and what came: records, failures, and a frame."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..client import Client, checked_rate
from ..endpoints import A3, A6, B3
from ..errors import ApiError, ConfigError, ConfkitError
from ..frames import NAME, columns_of, room_columns
from ..records import Room, RoomUser
from ..text import counted
from ..wire import Request
from .ids import room_ids as read_ids
from .progress import Show, progress_shown, told
from .reading import as_room, read
from .sending import check_concurrency
from .spread import send_spread

if TYPE_CHECKING:
    import pandas as pd

FEW = 100  # calls: up to there nobody waits for them
MANY = 1000  # calls: from there on a sweep says first how many there are
UTILISATION = "utilisation"  # the column of occupancy_frame that frame() has not
NOT_ASKED = "not asked: the sweep was ended before"
_FIRST = ("room_id", "topic", "users", "people", "devices", "attendee_max")
_LAST = ("ret", "error")
_TOLD = {"room_id": NAME, **dict.fromkeys((*_FIRST[2:5], "ret"), "Int64"), "error": "string"}
log = logging.getLogger("confkit.sweep")


def sweep(
    client: Client,
    room_ids: Any,
    *,
    rooms: bool = True,
    users: bool = True,
    concurrency: int = 32,
    max_rate: float | None = None,
    progress: bool | Show | None = None,
    executor: Executor | None = None,
    id_column: str | None = None,
    cancelled: threading.Event | None = None,
) -> Sweep:
    """The rooms (A3) and their users (A6) for every ID, and the external users once (B3).

    `room_ids` is an iterable, a Series, a DataFrame or the path of a CSV file (with `id_column`,
    unless a column is called room_id), or of a .txt file with one ID a line; further columns come
    along into `frame()`. Each ID is asked once, the order is kept.

    What fails is in `failures` and missing in `frame()`, never zero; an error is raised only when
    nothing can be asked: bad IDs (ParameterError), refused keys, no connection at all. Reads are
    retried, one expired token costs one authentication. Up to `concurrency` requests are under way
    at once, and at most `max_rate`, or the client's own, leave in any second. `cancelled` ends it
    within a second with what came; Ctrl-C raises KeyboardInterrupt. When nobody answers any more
    (16 or `concurrency` failures in a row, and then one request alone), the rest is not asked, and
    the sweep is not `complete`. Outside a sandbox a sweep of over 1,000 calls first says how long
    it will take.

    `executor`, any of concurrent.futures or Dask's `get_executor()`, reads parts of 1,000 calls
    elsewhere, with up to `concurrency` requests each; with a rate one part after another. In other
    processes each part renews an expired token on its own; if the service keeps one token per key,
    use threads, or rooms may fail with TokenRejected.
    Sections 4 and 7 of the interface.
    """
    if not (rooms or users):
        raise ConfigError(
            "rooms=False and users=False leave nothing to ask", "Leave one of them out."
        )
    if not isinstance(executor, Executor | None):
        raise ConfigError(
            f"executor is of type {type(executor).__name__}",
            "Give one of concurrent.futures, or get_executor() of a Dask client.",
        )
    check_concurrency(concurrency)
    rates = [checked_rate(one) for one in (max_rate, client.max_rate) if one is not None]
    rate = min(rates, default=None)
    given = read_ids(room_ids, id_column)
    kinds = [kind for kind, wanted in ((A3, rooms), (A6, users)) if wanted]
    asked = [Request(kind, {"room_id": room_id}) for room_id in given.ids for kind in kinds]
    if asked and executor is not None:
        client.token()  # one authentication for all parts
    if client.sandbox is None and len(asked) > MANY:
        seconds = len(asked) * client.usual_seconds / concurrency
        seconds = max(seconds, len(asked) / rate if rate else 0.0)
        text = f"{len(asked):,} calls to {client.name}, {_about(seconds)}"
        log.info("%s", text)
        told(progress, text)
    if progress is None and len(asked) < FEW:
        progress = False
    if asked and users:
        asked.insert(0, Request(B3, {}))
    send = client.send_many if executor is None else partial(send_spread, client, executor)
    when, began = datetime.now(UTC), time.monotonic()
    with progress_shown(progress, len(asked), "calls") as step:
        found = send(
            asked,
            concurrency=concurrency,
            max_rate=rate,
            cancelled=cancelled,
            step=step,
            read=read,
        )
    return Sweep(
        ids=tuple(given.ids),
        service=client.name,
        time=when,
        seconds=time.monotonic() - began,
        requests=found.sent,
        complete=found.complete,
        _asked=(rooms, users),
        _found=found,
        _columns=given.columns,
    )


class Failure(NamedTuple):
    """A call of a sweep that failed: of which room (None for all), which call ("A3", "A6" or "B3"),
    why, and what to do."""

    room_id: str | None
    call: str
    error: ConfkitError
    advice: str


class _Row(NamedTuple):
    room_id: str
    users: int | None
    people: int | None
    devices: int | None
    ret: int | None
    error: str | None


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rooms and their users as they were at one time, in the order in which they were asked for.

    `time` is the true start, in UTC; `seconds` is how long it took, `requests` how many calls it
    cost; `complete` is False when it ended early, because it was cancelled or nobody answered.
    `failures` are the calls that failed: their rooms have missing values in `frame()`, never zeros.
    """

    ids: tuple[str, ...]
    service: str
    time: datetime
    seconds: float
    requests: int
    complete: bool
    _asked: tuple[bool, bool]  # for rooms (A3), for users (A6, B3)
    _found: Sequence[Any]  # what came of B3, and of A3 and A6 room by room, those that are asked
    _columns: pd.DataFrame | None

    def __repr__(self) -> str:
        ended = "" if self.complete else ", ended early"
        why = f"; {self.commonest}" if self.failures else ""
        return (
            f"<Sweep of {counted(len(self.ids), 'room')} on {self.service}: "
            f"{counted(self.requests, 'request')}, "
            f"{counted(len(self.failures), 'failure')}, {self.seconds:.1f} s{ended}{why}>"
        )

    @property
    def commonest(self) -> str:
        """What failed most often, with one of its rooms; empty when nothing did."""
        return commonest(self.failures)

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """The calls that failed, that for the devices of all rooms first."""
        calls: list[tuple[str | None, str, object]] = [(None, B3.key, self._devices)]
        for room_id, room, users in self._came():
            calls += [(room_id, A3.key, room), (room_id, A6.key, users)]
        return tuple(
            Failure(room_id, call, error, error.advice)
            for room_id, call, error in calls
            if isinstance(error, ConfkitError)
        )

    @cached_property
    def rooms(self) -> list[Room]:
        """The rooms that were read, as records."""
        return [as_room(room) for _, room, _ in self._came() if _is_read(room)]

    @cached_property
    def users(self) -> dict[str, list[RoomUser]]:
        """The users of each room whose users were read; an empty list where nobody is."""
        return {room_id: users for room_id, _, users in self._came() if isinstance(users, list)}

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
            room if _is_read(room) else Room(room_id=room_id) for room_id, room, _ in self._came()
        ]
        columns = room_columns(rooms) | columns_of(list(self._rows(rooms)), _TOLD, {})
        others = [name for name in columns if name not in (*_FIRST, *_LAST)]
        order = [*_FIRST, *others, *_LAST]
        frame = pd.DataFrame({name: columns[name] for name in order})
        if self._columns is not None:
            names = _names(self._columns.columns, {*columns, UTILISATION})
            frame = pd.concat([frame, self._columns.set_axis(names, axis="columns")], axis=1)
        frame.attrs = {"service": self.service, "time": self.time.isoformat()}
        return frame

    def _rows(self, rooms: Sequence[Any]) -> Iterator[_Row]:
        """What each row says beside the room's fields.

        Why the users are missing comes before why the fields are, and that before what all rows
        lack."""
        fields_asked, users_asked = self._asked
        ended = ConfkitError(NOT_ASKED)
        known, lacking = self._devices, None
        if not isinstance(known, Mapping):
            known, lacking = None, (known or ended) if users_asked else None
        for room, (room_id, came, users) in zip(rooms, self._came(), strict=True):
            error: Any = lacking
            if fields_asked and not _is_read(came):
                error = came or ended
            count = people = devices = None
            if isinstance(users, list):
                count = len(users)
                if known is not None:
                    ids = {*known.get(room_id, ()), *known.get(room.room_id, ())}
                    devices = sum(user.user_id in ids for user in users) if ids else 0
                    people = count - devices
            elif users_asked:
                error = users or ended
            text = None if error is None else str(error)
            yield _Row(room_id, count, people, devices, _ret(error), text)

    @property
    def _devices(self) -> Any:
        return self._found[0] if self._asked[1] and self._found else None

    def _came(self) -> Iterator[tuple[str, Any, Any]]:
        """Give each room's ID with what came of A3 and of A6: what was read, its error, or None
        where that was not asked."""
        rooms, users = self._asked
        each = iter(self._found[users:])
        for room_id in self.ids:
            yield room_id, next(each) if rooms else None, next(each) if users else None


def commonest(failures: Sequence[Failure]) -> str:
    """Return what failed most often, with one of its rooms; empty when nothing did."""
    reasons = Counter(failure.error.said for failure in failures)
    if not reasons:
        return ""
    [(why, count)] = reasons.most_common(1)
    one = next(one for one in failures if one.error.said == why)
    room = "" if one.room_id is None else f"such as room {one.room_id!r}"
    if count > 1:
        many = ", ".join(filter(None, (f"{count:,}", room)))
        return f"{'mostly' if len(reasons) > 1 else 'all'} ({many}): {why}"
    room = room if len(reasons) > 1 else room.removeprefix("such as ")
    return ": ".join(filter(None, (room, why)))


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
    frame.insert(len(_FIRST), UTILISATION, utilisation(frame))
    own = list(frame.columns).index("error")
    return frame.iloc[:, [*range(len(_FIRST) + 1), *range(own, frame.shape[1])]]


def _is_read(outcome: object) -> bool:
    return outcome is not None and not isinstance(outcome, ConfkitError)


def _ret(error: ConfkitError | None) -> int | None:
    if error is None:
        return 0
    ret = error.ret if isinstance(error, ApiError) else None
    return ret if isinstance(ret, int) and abs(ret) < 2**63 else None


def _names(given: Iterable[object], ours: set[str]) -> list[str]:
    """The names of the caller's columns, each other than ours and than those before it."""
    taken = dict.fromkeys(ours)
    for name in map(str, given):
        while name in taken:
            name += " (given)"
        taken[name] = None
    return list(taken)[len(ours) :]


def _about(seconds: float) -> str:
    if seconds < 1:
        return "about a second"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    if seconds < 6000:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3600:.0f} h"
