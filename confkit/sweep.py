"""Many rooms and their users in one call: records, failures, and a frame."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from .client import Client, SharedToken, checked_rate
from .devices import list_devices
from .errors import ApiError, Cancelled, ConfigError, ConfkitError, TokenRejected
from .frames import NAME, Kind, columns_of, frame_of, room_columns
from .operations import A1, A3, A6, B3
from .records import Room, RoomUser
from .rooms import get_room, get_room_users
from .secret import excerpt
from .tables import room_ids as read_ids
from .text import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    import pandas as pd

    from .calls import Call
    from .dialect import AccessToken

Progress = Callable[[int, int], None]  # called with the rooms done and their number

NOT_ASKED = "not asked: the sweep was ended before"
UTILISATION = "utilisation"  # the column of occupancy_frame that frame() has not
UNANSWERED = 16  # calls in a row, or as many as are under way: then one room is tried alone
PROBE_DELAY = 1.0  # seconds before it: a connection that is lost is often back by then
PART = 500  # rooms that an executor gets at once
LOOK = 0.1  # seconds between two looks at `cancelled`
GRACE = 0.5  # seconds: for what is under way when a sweep ends early
REJECTED = 602  # the result code of an expired token
_FIRST = ("room_id", "topic", "users", "people", "devices", "attendee_max")
_LAST = ("ret", "error")
_COUNTS = {"room_id": NAME, **dict.fromkeys((*_FIRST[2:5], "ret"), "Int64"), "error": "string"}


def sweep(
    client: Client,
    room_ids: Any,
    *,
    rooms: bool = True,
    users: bool = True,
    concurrency: int = 32,
    max_rate: float | None = None,
    progress: bool | Progress | None = None,
    executor: Executor | None = None,
    id_column: str | None = None,
    cancelled: threading.Event | None = None,
) -> Sweep:
    """Read the rooms (A3) and their users (A6) for every ID, and the external users once (B3).

    `room_ids` is an iterable, a Series, a DataFrame or the path of a CSV file (with `id_column`,
    unless a column is called room_id), or of a .txt file with one ID a line; further columns come
    along into `frame()`. Each ID is asked once, the order is kept; where A3 fails, A6 is not asked.

    What fails is in `failures` and missing in `frame()`, never zero; an error is raised only when
    nothing can be asked: bad IDs (ParameterError), rejected keys, no connection at all. Reads are
    retried, one expired token costs one authentication. Up to `concurrency` requests are under way
    at once, and at most `max_rate`, or the client's own, leave in any second. The sweep ends early,
    and is not `complete`, when `cancelled` is set, when nobody answers any more (16 or
    `concurrency` calls in a row, and then one room alone), when the service asks to wait longer
    than the read time-out, and when an expired token cannot be renewed. Ctrl-C raises
    KeyboardInterrupt. `progress`: True shows a bar, a function gets the rooms done and their
    number; by default a bar shows where somebody watches.

    `executor`, any of concurrent.futures or Dask's `get_executor()`, reads parts of 500 rooms
    elsewhere, with up to `concurrency` requests each; with a rate one part after another. In other
    processes each part renews an expired token on its own; if the service keeps one token per key,
    use threads, or rooms may fail with TokenRejected.
    Sections 4 and 7 of the interface.
    """
    if not (rooms or users):
        raise ConfigError(
            "rooms=False and users=False leave nothing to ask", "Leave one of them out."
        )
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise ConfigError(f"concurrency is {concurrency!r}", "Give a whole number from 1.")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ConfigError(
            f"executor is of type {type(executor).__name__}",
            "Give one of concurrent.futures, or get_executor() of a Dask client.",
        )
    if max_rate is not None:
        checked_rate(max_rate)
    table = read_ids(room_ids, id_column)
    ids, cancelled = tuple(table.ids), cancelled or threading.Event()
    if not cancelled.is_set():
        client.check_open()
    when, began = datetime.now(UTC), time.monotonic()
    options = _Options(rooms, users, concurrency, max_rate)
    with progress_bar(progress, len(ids), "rooms") as step:
        if not ids:
            part = _Part()
        elif executor is None:
            part = _Reader(client, ids, options, cancelled, step, devices=users).read()
        else:
            part = _read_spread(client, executor, ids, options, cancelled, step)
    return Sweep(
        ids=ids,
        service=client.name,
        time=when,
        seconds=time.monotonic() - began,
        requests=part.requests,
        complete=part.complete,
        failures=_in_order(part.failures, ids),
        _part=part,
        _options=options,
        _columns=table.columns,
    )


class Failure(NamedTuple):
    """A call of a sweep that failed: of which room (None for all), which call ("A3", "A6", "B3", or
    "A1" where a token could not be renewed), why, and what to do."""

    room_id: str | None
    call: str
    error: ConfkitError
    advice: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rooms and their users as they were at one time, in the order in which they were asked for.

    `time` is the true start, in UTC; `seconds` is how long it took, `requests` how many calls it
    cost; `complete` is False when it ended early. `failures` are the calls that failed: their rooms
    have missing values in `frame()`, never zeros.
    """

    ids: tuple[str, ...]
    service: str
    time: datetime
    seconds: float
    requests: int
    complete: bool
    failures: tuple[Failure, ...]
    _part: _Part = field(repr=False)
    _options: _Options = field(repr=False)
    _columns: pd.DataFrame | None = field(repr=False)

    def __repr__(self) -> str:
        ended = "" if self.complete else ", ended early"
        why = f"; {self.commonest}" if self.failures else ""
        return (
            f"<Sweep of {counted(len(self.ids), 'room')} on {self.service}: "
            f"{counted(self.requests, 'request')}, "
            f"{counted(len(self.failures), 'failure')}, {self.seconds:.1f} s{ended}{why}>"
        )

    @property
    def rooms(self) -> list[Room]:
        """The rooms that were read."""
        read = self._part.rooms
        return [read[room_id] for room_id in self.ids if room_id in read]

    @property
    def users(self) -> dict[str, list[RoomUser]]:
        """The users of each room whose users were read; an empty list where nobody is."""
        read = self._part.users
        return {room_id: read[room_id] for room_id in self.ids if room_id in read}

    def with_rooms_of(self, earlier: Sweep) -> Sweep:
        """Return this sweep with the rooms that an earlier one has read, where it read none."""
        rooms = earlier._part.rooms | self._part.rooms
        return replace(self, _part=replace(self._part, rooms=rooms))

    @property
    def commonest(self) -> str:
        """What failed most often, with one of its rooms; empty when nothing did."""
        return commonest(self.failures)

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

        read = self._part.rooms
        rooms = [read.get(room_id) or Room(room_id=room_id) for room_id in self.ids]
        columns = room_columns(rooms) | columns_of(list(self._rows()), _COUNTS, {})
        others = [name for name in columns if name not in (*_FIRST, *_LAST)]
        frame = pd.DataFrame({name: columns[name] for name in (*_FIRST, *others, *_LAST)})
        if self._columns is not None:
            names = _further(self._columns.columns, {*columns, UTILISATION})
            frame = pd.concat([frame, self._columns.set_axis(names, axis="columns")], axis=1)
        frame.attrs = {"service": self.service, "time": self.time.isoformat()}
        return frame

    def _rows(self) -> Iterator[_Row]:
        """The counts of each room, and why something is missing in its row."""
        part, options = self._part, self._options
        errors = {failure.room_id: failure.error for failure in self.failures}
        not_asked = ConfkitError(NOT_ASKED)
        for room_id in self.ids:
            room, users = part.rooms.get(room_id), part.users.get(room_id)
            error, people, devices = errors.get(room_id), None, None
            if error is None and (
                (options.rooms and room is None) or (options.users and users is None)
            ):
                error = not_asked
            known = part.devices_in(room_id)
            if users is not None and known is not None:
                devices = sum(user.user_id in known for user in users)
                people = len(users) - devices
            elif error is None and options.users:
                error = errors.get(None) or not_asked
            text = None if error is None else str(error)
            count = None if users is None else len(users)
            yield _Row(room_id, count, people, devices, _ret(error), text)


class _Row(NamedTuple):
    room_id: str
    users: int | None
    people: int | None
    devices: int | None
    ret: int | None
    error: str | None


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


CHANGES = (
    *("user joined", "user left", "device came", "device gone", "opened", "emptied"),
    *("became full", "no longer full", "became unreadable", "readable again"),
)
_CHANGE: Mapping[str, Kind] = {
    "time": "datetime64[us, UTC]",
    **dict.fromkeys(("room_id", "topic"), NAME),
    "change": CHANGES,
    **dict.fromkeys(("user_id", "user_name"), NAME),
    **dict.fromkeys(("users", "attendee_max"), "Int64"),
}


class _Change(NamedTuple):
    time: datetime
    room_id: str
    topic: str | None
    change: str
    user: RoomUser | None = None
    users: int | None = None
    attendee_max: int | None = None


_CHANGE_READERS = {
    "user_id": lambda change: change.user and change.user.user_id,
    "user_name": lambda change: change.user and change.user.user_name,
}


def changes(before: Sweep, after: Sweep) -> pd.DataFrame:
    """One row per difference between two sweeps of the same service, room by room.

    `time` (of the later sweep, UTC), `room_id`, `topic`, `change`, `user_id` and `user_name` (of
    somebody who came or left), `users` and `attendee_max` (afterwards). A `change` is one of user
    joined, user left, device came, device gone, opened (the first user came), emptied (the last
    left), became full, no longer full, became unreadable, readable again. Users are compared where
    both sweeps read them; a cap that only one of them read counts for both. Rooms that one of them
    does not have, or did not ask, have no row.
    """
    unreadable = [{failure.room_id for failure in sweep.failures} for sweep in (before, after)]
    rows = []
    for room_id in after.ids:
        room = after._part.rooms.get(room_id) or before._part.rooms.get(room_id)
        topic, cap = (room.topic, room.attendee_max) if room else (None, None)
        users = after._part.users.get(room_id)
        count = None if users is None else len(users)
        failed, fails = (room_id in rooms for rooms in unreadable)
        if fails and not failed and room_id in before._part.users:
            rows.append(_Change(after.time, room_id, topic, "became unreadable", attendee_max=cap))
        if failed and users is not None:
            rows.append(_Change(after.time, room_id, topic, "readable again", None, count, cap))
        for change, user in _changes_of(room_id, before, after, cap):
            rows.append(_Change(after.time, room_id, topic, change, user, count, cap))
    return frame_of(rows, _CHANGE, _CHANGE_READERS)


def _changes_of(
    room_id: str, before: Sweep, after: Sweep, cap: int | None
) -> Iterator[tuple[str, RoomUser | None]]:
    """What has changed in a room that both have read, and the user whom it is about."""
    was, now = before._part.users.get(room_id), after._part.users.get(room_id)
    if was is None or now is None:
        return
    devices = (before._part.devices_in(room_id) or set()) | (
        after._part.devices_in(room_id) or set()
    )
    for users, others, person, device in (
        (now, was, "user joined", "device came"),
        (was, now, "user left", "device gone"),
    ):
        present = {user.user_id for user in others}
        for user in users:
            if user.user_id not in present:
                yield device if user.user_id in devices else person, user
    if bool(was) is not bool(now):
        yield "opened" if now else "emptied", None
    if cap and (len(was) >= cap) is not (len(now) >= cap):
        yield "became full" if len(now) >= cap else "no longer full", None


def utilisation(frame: pd.DataFrame) -> pd.Series[float]:
    """Return the users of each row as a share of its `attendee_max`; missing without one, or 0."""
    cap = frame["attendee_max"].where(frame["attendee_max"] > 0)
    return (frame["users"] / cap).astype("Float64")


def commonest(failures: Sequence[Failure]) -> str:
    """Return what failed most often, with one of its rooms; empty when nothing did."""
    reasons = Counter(failure.error.summary for failure in failures)
    if not reasons:
        return ""
    [(why, count)] = reasons.most_common(1)
    rooms = [failure.room_id for failure in failures if failure.error.summary == why]
    example = "" if rooms[0] is None else f"room {rooms[0]!r}"
    if count > 1:
        share = "mostly" if len(reasons) > 1 else "all"
        return f"{share} ({count:,}{example and ', such as '}{example}): {why}"
    such_as = "such as " if example and len(reasons) > 1 else ""
    return f"{such_as}{example}{example and ': '}{why}"


def _ret(error: ConfkitError | None) -> int | None:
    if error is None:
        return 0
    ret = error.ret if isinstance(error, ApiError) else None
    return ret if isinstance(ret, int) and abs(ret) < 2**63 else None


def _in_order(failures: Sequence[Failure], ids: Sequence[str]) -> tuple[Failure, ...]:
    """The failures in the order of the rooms, those of all rooms first."""
    places: dict[str | None, int] = {room_id: place for place, room_id in enumerate(ids)}
    return tuple(sorted(failures, key=lambda failure: places.get(failure.room_id, -1)))


def _further(columns: Iterable[object], ours: set[str]) -> list[str]:
    """The names of the caller's columns, each other than ours and than those before it."""
    taken = dict.fromkeys(ours)
    for name in map(str, columns):
        while name in taken:
            name += " (given)"
        taken[name] = None
    return list(taken)[len(ours) :]


# Reading in threads


class _Options(NamedTuple):
    rooms: bool
    users: bool
    concurrency: int
    max_rate: float | None


@dataclass
class _Part:
    """What was read of some rooms; `devices` are the user IDs of the external users by room, None
    where they were not read."""

    rooms: dict[str, Room] = field(default_factory=dict)
    users: dict[str, list[RoomUser]] = field(default_factory=dict)
    devices: dict[str, set[str]] | None = None
    failures: list[Failure] = field(default_factory=list)
    requests: int = 0
    complete: bool = True

    def devices_in(self, room_id: str) -> set[str] | None:
        """The user IDs of the external users of a room, by either of its IDs; None where they were
        not read."""
        if self.devices is None:
            return None
        own = self.rooms[room_id].room_id if room_id in self.rooms else room_id
        return self.devices.get(room_id, set()) | self.devices.get(own, set())

    def add(self, other: _Part) -> None:
        """Take in what another part brought."""
        self.rooms |= other.rooms
        self.users |= other.users
        self.devices = self.devices if other.devices is None else other.devices
        self.failures += other.failures
        self.requests += other.requests
        self.complete &= other.complete


class _OneRenewal:
    """The token of a sweep: where it cannot be renewed, all threads get the error of one A1."""

    def __init__(self, shared: SharedToken) -> None:
        self._shared, self._lock = shared, threading.Lock()
        self._refusal: ConfkitError | None = None

    @property
    def value(self) -> AccessToken | None:
        return None if self._refusal else self._shared.value

    def get(self, authenticate: Callable[[], AccessToken], instead_of: str | None) -> AccessToken:
        with self._lock:
            if self._refusal is not None:
                raise self._refusal.again()
            try:
                return self._shared.get(authenticate, instead_of)
            except ConfkitError as error:
                self._refusal = error
                raise


class _Reader:
    """Reads rooms in threads, which take them from one iterator; `devices`: B3 comes first.

    The threads are daemons: after Ctrl-C nobody waits for the responses that are still due.
    """

    def __init__(
        self,
        client: Client,
        ids: Sequence[str],
        options: _Options,
        cancelled: threading.Event,
        step: Callable[[], object],
        devices: bool,
    ) -> None:
        self._client = client.derived(self._wait, self._observe, options.max_rate)
        self._client._token = _OneRenewal(client._token)
        self._options, self._cancelled, self._step = options, cancelled, step
        self._left = iter([*([None] if devices else []), *ids])
        self._count = len(ids) + devices
        self._part = _Part()
        self._over = threading.Event()  # nothing more is sent
        self._finished: SimpleQueue[str | None] = SimpleQueue()
        self._error: BaseException | None = None
        self._began = False  # there is a token
        self._unanswered, self._tolerated = 0, max(UNANSWERED, options.concurrency)
        self._last_answered = ids[-1] if ids else ""
        self._lock, self._probing = threading.Lock(), threading.RLock()

    def read(self) -> _Part:
        """Return what was read, once all rooms are done or the sweep is over."""
        finished = 0
        threads = [
            threading.Thread(target=self._work, name="confkit sweep", daemon=True)
            for _ in range(min(self._options.concurrency, self._count))
            if not self._cancelled.is_set()
        ]
        try:
            for thread in threads:
                thread.start()
            while finished < self._count:
                if self._cancelled.is_set() or self._over.is_set():
                    break
                with suppress(Empty):
                    room_id = self._finished.get(timeout=LOOK)
                    finished += 1
                    if room_id is not None:
                        self._step()
        finally:
            self._over.set()
        late = time.monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, late - time.monotonic()))
        with self._lock:
            part, self._part = self._part, _Part()  # what still comes is not looked at
        if self._error is not None:
            raise self._error
        part.complete = finished == self._count
        return part

    def _work(self) -> None:
        try:
            if not self._began:
                self._client.token()  # without it no room can be read: that is raised
                self._began = True
            while self._is_answered():
                try:
                    with self._lock:
                        room_id = next(self._left)
                except StopIteration:
                    return
                self._read(room_id)
                self._finished.put(room_id)
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001  # raised by `read`, in the caller's thread
            self._error = error
            self._over.set()

    def _read(self, room_id: str | None) -> None:
        """Read a room, or the devices of all rooms (None), and keep what it is or why not."""
        client, options, call = self._client, self._options, B3.key
        try:
            if room_id is None:
                devices: dict[str, set[str]] = {}
                for device in list_devices(client):
                    devices.setdefault(device.room_id, set()).add(device.user_id)
                with self._lock:
                    self._part.devices = devices
                return
            if options.rooms:
                call = A3.key
                room = get_room(client, room_id)
                with self._lock:
                    self._part.rooms[room_id] = room
            if options.users:
                call = A6.key
                users = get_room_users(client, room_id)
                with self._lock:
                    self._part.users[room_id] = users
            self._last_answered = room_id
        except Cancelled:
            raise
        except ConfkitError as error:
            failure = error.again()  # the frames of a traceback would keep every response in memory
            failures = [Failure(room_id, call, failure, failure.advice)]
            if not client.authenticated:  # the token could not be renewed
                failures.append(Failure(None, A1.key, failure, failure.advice))
                self._over.set()
            with self._lock:
                self._part.failures += failures
                # A fresh token that is rejected is no answer: each costs an authentication.
                self._unanswered += isinstance(error, TokenRejected)
            if (error.retry_after or 0.0) > client.timeout[1]:
                self._over.set()

    def _observe(self, call: Call) -> None:
        """Count a call, and whether it was answered: with a result code, or any page but 5xx."""
        with self._lock:
            self._part.requests += call.endpoint != A1.key
            if call.endpoint not in (A3.key, A6.key) or call.ret == REJECTED:
                return  # B may answer where no room can be read
            page = call.status is not None and call.status < 500
            self._unanswered = 0 if call.ret is not None or page else self._unanswered + 1

    def _wait(self, seconds: float) -> bool:
        """Wait before something is sent; True where nothing is to be sent any more."""
        return self._over.wait(seconds) or not self._is_answered()

    def _is_answered(self) -> bool:
        """Return whether anybody still answers: after too many failures in a row one room is tried
        alone, the last that was read, else the list's last."""
        with self._probing:
            if self._unanswered >= self._tolerated and not self._over.is_set():
                self._unanswered = 0
                self._over.wait(PROBE_DELAY)
                operation = A3 if self._options.rooms else A6
                for _ in range(2):  # the second time with a new token
                    token = self._client.token()
                    _, result = self._client.ask_once(
                        operation, {"room_id": self._last_answered}, token
                    )
                    if not isinstance(result, TokenRejected):
                        break
                    self._client.token(instead_of=token)
                if self._unanswered or isinstance(result, TokenRejected):
                    self._over.set()
        return not self._over.is_set()


# Reading on an executor


def _read_spread(
    client: Client,
    executor: Executor,
    ids: Sequence[str],
    options: _Options,
    cancelled: threading.Event,
    step: Callable[[], object],
) -> _Part:
    """Read the rooms in parts on the executor.

    Thread pools share the client; other executors get a copy, which renews its own token. With a
    rate parts run one after another.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    over = threading.Event()
    shared = over if isinstance(executor, ThreadPoolExecutor) else None  # no other can be sent
    total = _Part()
    client.token()  # one authentication for all parts
    if options.users:
        total.add(_Reader(client, (), options, cancelled, lambda: None, devices=True).read())
    parts = [ids[at : at + PART] for at in range(0, len(ids), PART)]
    ahead = 1 if options.max_rate or client.max_rate else len(parts)
    sweep_id = os.urandom(16).hex()  # keeps Dask from returning a cached result of an earlier sweep
    futures: list[Future[_Part]] = []
    done = 0
    try:
        while done < len(parts) and not cancelled.is_set():
            while len(futures) < min(done + ahead, len(parts)):
                arguments = (sweep_id, client, parts[len(futures)], options, shared)
                futures.append(_submit(executor, arguments))
            wait([futures[done]], LOOK)
            if futures[done].done():
                total.add(_result(futures[done], parts[done], client))
                for _ in parts[done]:
                    step()
                done += 1
    finally:
        over.set()
        for future in futures:
            future.cancel()
    total.complete &= done == len(parts)
    wait(futures[done:], 2 * GRACE)
    for future in futures[done:]:
        # Whoever cancels may end the workers, too: that is no failure of their rooms.
        if future.done() and not (future.cancelled() or future.exception()):
            total.add(future.result())
    return total


def _read_part(
    sweep_id: str,  # noqa: ARG001  # makes it differ from the same part of another sweep
    client: Client,
    ids: Sequence[str],
    options: _Options,
    over: threading.Event | None,
) -> _Part:
    over = over or threading.Event()
    if options.max_rate is not None:
        time.sleep(1 / options.max_rate)  # the part before may have sent its last request just now
    return _Reader(client, ids, options, over, lambda: None, devices=False).read()


def _submit(executor: Executor, arguments: tuple[Any, ...]) -> Future[_Part]:
    """Return the future of a part; one that has failed already where the executor is broken."""
    try:
        return executor.submit(_read_part, *arguments)
    except Exception as error:  # noqa: BLE001  # raised again by `result`
        from concurrent.futures import Future

        failed: Future[_Part] = Future()
        failed.set_exception(error)
        return failed


def _result(future: Future[_Part], ids: Sequence[str], client: Client) -> _Part:
    """Return what a part read, or for each of its rooms why it was lost."""
    failure: ConfkitError
    try:
        return future.result()
    except ConfkitError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # whatever a worker or its network can raise
        why = f"{type(error).__name__}: {excerpt(str(error), (client.secret_key,))}"
        failure = ConfkitError(
            f"the executor lost a part of the sweep ({why})",
            "Check that the executor is running, and that its workers have confkit installed and "
            "can reach the service.",
        )
    return _Part(failures=[Failure(room_id, A3.key, failure, failure.advice) for room_id in ids])


# Progress


@contextmanager
def progress_bar(
    progress: bool | Progress | None, total: int, unit: str
) -> Iterator[Callable[[], object]]:
    """Give the function to call after each of `total` steps.

    `progress` is called with the steps done and their number; True shows a bar, None shows it where
    somebody watches (a notebook, a terminal), False does not. Nothing of it stays in the cell.
    """
    if callable(progress):
        steps = count(1)
        yield lambda: progress(next(steps), total)
        return
    if progress is False or (progress is None and not _is_watched()):
        yield lambda: None
        return
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]  # of nothing: its steps are counted
        monitor_interval = 0  # else tqdm would leave a thread behind

    file: Any = _CellLine() if _in_notebook() else None
    with Bar(total=total, unit=f" {unit}", leave=False, delay=0.5, ncols=79, file=file) as bar:
        yield bar.update


class _CellLine:
    """A line of a notebook's cell, which is written over, and is empty in the end."""

    _display: Any = None

    def write(self, text: str) -> None:
        from IPython.display import display

        line = {"text/plain": text.strip("\r\n ")}
        if self._display is not None:
            self._display.update(line, raw=True)
        elif line["text/plain"]:
            self._display = display(line, raw=True, display_id=True)

    def flush(self) -> None:
        """Do nothing: what is written shows at once."""


def _is_watched() -> bool:
    """Return whether somebody sees a bar: in a terminal, or in a notebook that no test compares."""
    if _in_notebook():
        return ".ipynb::" not in os.environ.get("PYTEST_CURRENT_TEST", "")
    return sys.stderr is not None and sys.stderr.isatty()


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules and type(sys.stdout).__module__.startswith("ipykernel")
