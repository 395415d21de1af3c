"""Read many rooms and their users in one call: records, failures, and a frame."""

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

from .client import Client
from .devices import list_devices
from .errors import Cancelled, ConfigError, ConfkitError, TokenRejected
from .frames import NAME, Kind, frame_of, rooms_frame
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

Progress = Callable[[int, int], None]  # called with the number of rooms done, and of all

NOT_ASKED = "not asked: the sweep ended early"
UTILISATION = "utilisation"  # the column that occupancy_frame adds to frame()
UNANSWERED = 16  # calls in a row (or `concurrency`), after which one room is tried alone
PROBE_DELAY = 1.0  # seconds before that: a lost connection is often back by then
PART, PARTS = 500, 100  # rooms per task of an executor, and tasks that it has at once
POLL = 0.1  # seconds between two checks of `cancelled`
GRACE = 0.5  # seconds for calls under way when a sweep ends early
_FIRST = ("room_id", "topic", "users", "people", "devices", "attendee_max")
_LAST = ("ret", "error")


def sweep(
    client: Client,
    room_ids: Any,
    *,
    users: bool = True,
    concurrency: int = 32,
    max_rate: float | None = None,
    progress: bool | Progress | None = None,
    executor: Executor | None = None,
    id_column: str | None = None,
    cancelled: threading.Event | None = None,
) -> Sweep:
    """Read the rooms (A3) and their users (A6) for every ID, and the external users once (B3);
    with `users=False` the rooms alone.

    `room_ids` is an iterable, a Series, a DataFrame or the path of a CSV file (with `id_column`,
    unless a column is called room_id), or of a .txt file with one ID a line. Each ID is read once,
    in order; if A3 fails, A6 is not called.

    Failures are in `failures` and missing in `frame()`, never zero; an error is raised only if
    nothing can be read: invalid IDs (ParameterError), rejected keys, no connection at all. Reads
    are retried; an expired token costs one authentication. Up to `concurrency` requests run at
    once, and at most `max_rate`, or the client's own, are sent in any second. The sweep ends early,
    and is not `complete`, if `cancelled` is set, if the service stops responding (16 or
    `concurrency` calls in a row, then one room tried alone), if it asks to wait longer than the
    read timeout, or if an expired token cannot be renewed. Ctrl-C raises KeyboardInterrupt.
    `progress`: True shows a bar, a function is called with the number of rooms done and of all;
    the default is a bar in a notebook or terminal.

    `executor`, a ProcessPoolExecutor or Dask's `get_executor()`, reads parts of 500 rooms in other
    processes, with up to `concurrency` requests each; with a rate, all are read in this one. Parts
    that are being read when the sweep ends early go on, and are not in the result. Each part renews
    an expired token by itself, so a service that keeps one token per key may fail its rooms with
    TokenRejected. Sections 4 and 7 of the interface.
    """
    if not isinstance(concurrency, int) or concurrency < 1:
        raise ConfigError(f"concurrency is {concurrency!r}", "Pass a whole number from 1.")
    client.may_send(A3)
    ids, cancelled = tuple(read_ids(room_ids, id_column)), cancelled or threading.Event()
    options = _Options(users, concurrency, max_rate)
    time_started, clock = datetime.fromtimestamp(client.now(), UTC), time.monotonic()
    if max_rate is not None or client.max_rate:  # which holds in one process
        executor = None
    size = 1 if executor is None else PART
    tasks = [ids[at : at + size] for at in range(0, len(ids), size)]
    if users and ids:
        tasks.insert(0, ())  # the external users
    with progress_bar(progress, len(ids), "rooms") as step:
        part = _Reader(client, tasks, options, cancelled, executor).read(step)
    places: dict[str | None, int] = {room_id: place for place, room_id in enumerate(ids)}
    # Several parts may have failed to get a token: that is one failure of the sweep.
    failures = {(failure.room_id, failure.call): failure for failure in part.failures}.values()
    return Sweep(
        ids=ids,
        service=client.name,
        time=time_started,
        seconds=time.monotonic() - clock,
        requests=part.requests,
        complete=part.complete,
        failures=tuple(sorted(failures, key=lambda failure: places.get(failure.room_id, -1))),
        _part=part,
        _options=options,
    )


class Failure(NamedTuple):
    """A failed call of a sweep: the room (None for all), the call ("A3", "A6", "B3", or "A1" if the
    token could not be renewed), the error, and the next step."""

    room_id: str | None
    call: str
    error: ConfkitError
    advice: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rooms and their users at one time, in the order of the given IDs.

    `time` is the true start, in UTC; `seconds` the duration, `requests` the number of calls;
    `complete` is False if it ended early. `failures` are the failed calls: their rooms have missing
    values in `frame()`, never zeros.
    """

    ids: tuple[str, ...]
    service: str
    time: datetime
    seconds: float
    requests: int
    complete: bool
    failures: tuple[Failure, ...]
    _part: _Part
    _options: _Options

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
        """The users of each room whose users were read; an empty list for an empty room."""
        read = self._part.users
        return {room_id: read[room_id] for room_id in self.ids if room_id in read}

    @property
    def commonest(self) -> str:
        """The reason of the most failures; empty if there was none."""
        reasons = Counter(failure.error.summary for failure in self.failures)
        return max(reasons, key=reasons.__getitem__, default="")

    def frame(self) -> pd.DataFrame:
        """Return one row per given room ID, in order.

        `room_id` (as given), `topic`, `users`, `people` and `devices` (users that are external
        devices), `attendee_max`, the other columns of `rooms_frame`, `ret` and `error`. The users
        of a room are missing if A6 failed, people and devices if B3 did, the fields if A3 did:
        `error` says why; `ret` is 0 if nothing is missing, otherwise the result code, missing if
        there is none.
        """
        rooms = [self._part.rooms.get(room_id) or Room(room_id=room_id) for room_id in self.ids]
        frame, counts = rooms_frame(rooms), _frame(self._counts(), _COUNTS)
        frame[counts.columns] = counts
        frame = frame[[*_FIRST, *frame.columns.difference([*_FIRST, *_LAST], sort=False), *_LAST]]
        frame.attrs = {"service": self.service, "time": self.time.isoformat()}
        return frame

    def _counts(self) -> Iterator[tuple[object, ...]]:
        """Yield the values of _COUNTS for each room."""
        part, not_asked = self._part, ConfkitError(NOT_ASKED)
        errors = {failure.room_id: failure.error for failure in self.failures}
        for room_id in self.ids:
            users, total, people, devices = part.users.get(room_id), None, None, None
            if users is not None:
                total = len(users)
                if part.devices is not None:
                    devices = sum(part.is_device(room_id, user) for user in users)
                    people = total - devices
            error = None
            if room_id not in part.rooms or (self._options.users and people is None):
                # Its own failure; if only the devices are missing, that of B3.
                error = errors.get(room_id if total is None else None, not_asked)
            ret, message = (0, None) if error is None else (ret_of(error), str(error))
            yield room_id, total, people, devices, ret, message


def ret_of(error: ConfkitError) -> int | None:
    """Return the result code of an error, None if there is none or it fits into no Int64."""
    ret = getattr(error, "ret", None)
    return ret if isinstance(ret, int) and abs(ret) < 2**63 else None


_COUNTS: Mapping[str, Kind] = {
    "room_id": NAME,
    **dict.fromkeys(("users", "people", "devices", "ret"), "Int64"),
    "error": "string",
}


def _frame(rows: Iterable[tuple[object, ...]], kinds: Mapping[str, Kind]) -> pd.DataFrame:
    """Return rows, whose values are in the order of the columns, as a frame."""
    return frame_of((dict(zip(kinds, row, strict=True)) for row in rows), kinds)


def occupancy_frame(sweep: Sweep) -> pd.DataFrame:
    """Return one row per room of a sweep: how full it is.

    `room_id`, `topic`, `users`, `people`, `devices`, `attendee_max`, `utilisation` (users as a
    share of `attendee_max`, `Float64`; missing without a cap or with a cap of 0, and if the users
    could not be read), and `error`. TypeError: not a Sweep.
    """
    _require_sweeps(sweep)
    frame = sweep.frame()
    frame[UTILISATION] = utilisation(frame)
    return frame[[*_FIRST, UTILISATION, "error"]]


def utilisation(frame: pd.DataFrame) -> pd.Series[float]:
    """Return the users of each row as a share of its `attendee_max`; missing without one, or 0."""
    cap = frame["attendee_max"].where(frame["attendee_max"] > 0)
    return (frame["users"] / cap).astype("Float64")


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


def changes(before: Sweep, after: Sweep) -> pd.DataFrame:
    """Return one row per difference between two sweeps of the same service, room by room.

    `time` (of the later sweep, UTC), `room_id`, `topic`, `change`, `user_id` and `user_name` (of a
    user who joined or left), `users` and `attendee_max` (afterwards). A `change` is one of user
    joined, user left, device came, device gone, opened (the first user joined), emptied (the last
    left), became full, no longer full, became unreadable, readable again. Users are compared if
    both sweeps read them; a device counts as a user if neither sweep could read the devices. One
    that was imported during the earlier sweep, which took it for a person, came in the later. A
    room that is not in both sweeps, or was not asked in one that ended early, has no row.
    TypeError: not two Sweeps; ValueError: they are of two services.
    """
    _require_sweeps(before, after)
    if before.service != after.service:
        names = f"{before.service} and {after.service}"
        raise ValueError(f"the sweeps are of two services, {names}, whose rooms differ")
    failed_before, failed_after = (
        {failure.room_id for failure in sweep.failures} for sweep in (before, after)
    )
    rooms = before._part.rooms | after._part.rooms
    rows: list[tuple[object, ...]] = []
    for room_id in after.ids:
        earlier, later = before._part.users.get(room_id), after._part.users.get(room_id)
        differences: list[tuple[str, RoomUser | None]] = []
        if later is not None and room_id in failed_before:
            differences.append(("readable again", None))
        if earlier is not None and room_id in failed_after - failed_before:
            differences.append(("became unreadable", None))
        elif earlier is not None and later is not None:
            differences += _differences(room_id, before._part, after._part)
        for change, user in differences:
            room, total = rooms[room_id], None if later is None else len(later)
            who = (user.user_id, user.user_name) if user else (None, None)
            rows.append((after.time, room_id, room.topic, change, *who, total, room.attendee_max))
    return _frame(rows, _CHANGE)


def _require_sweeps(*sweeps: object) -> None:
    for value in sweeps:
        if not isinstance(value, Sweep):
            kind = type(value).__name__
            raise TypeError(f"expected what sweep(client, room_ids) returns, got {kind}")


def with_last_known(before: Sweep | None, after: Sweep) -> Sweep:
    """Return `after` with what `before` knew of rooms and devices that were not read since, and its
    failures of rooms that were not asked: changes from there to a later sweep miss nothing that
    happened meanwhile."""
    if before is None:
        return after
    old = before._part
    part = _Part({**old.rooms}, {**old.users}, old.devices)
    part.add(after._part)
    failures = {each.room_id: each for each in (*before.failures, *after.failures)}
    unread = [each for room_id, each in failures.items() if room_id not in after._part.users]
    return replace(after, _part=part, failures=tuple(unread))


def _differences(
    room_id: str, before: _Part, after: _Part
) -> Iterator[tuple[str, RoomUser | None]]:
    """Yield the changes among the users of a room, each with its user, if any."""
    earlier, later = before.users[room_id], after.users[room_id]
    ids_before, ids_after = ({user.user_id for user in users} for users in (earlier, later))
    for user in later:
        was, is_now = before.is_device(room_id, user), after.is_device(room_id, user)
        # Devices are read first: one that is imported during a sweep is a person there.
        mistaken = before.devices is not None and is_now and not was
        if user.user_id not in ids_before or mistaken:
            yield "device came" if was or is_now else "user joined", user
    for user in earlier:
        if user.user_id not in ids_after:
            is_device = before.is_device(room_id, user) or after.is_device(room_id, user)
            yield "device gone" if is_device else "user left", user
    if bool(earlier) is not bool(later):
        yield "opened" if later else "emptied", None
    caps = [part.rooms[room_id].attendee_max or 0 for part in (before, after)]
    was_full, is_full = 0 < caps[0] <= len(earlier), 0 < caps[1] <= len(later)
    if was_full is not is_full:
        yield "became full" if is_full else "no longer full", None


# Reading in threads


class _Options(NamedTuple):
    users: bool  # whether they are read
    concurrency: int
    max_rate: float | None = None


@dataclass
class _Part:
    """What was read of some rooms; `devices` are the external users as pairs of room ID and user
    ID, None if they were not read."""

    rooms: dict[str, Room] = field(default_factory=dict)
    users: dict[str, list[RoomUser]] = field(default_factory=dict)
    devices: set[tuple[str, str]] | None = None
    failures: list[Failure] = field(default_factory=list)
    requests: int = 0
    complete: bool = True

    def is_device(self, room_id: str, user: RoomUser) -> bool:
        """Return whether a user of a room is an external device, by either of the room's IDs."""
        ids, devices = (room_id, self.rooms[room_id].room_id), self.devices or ()
        return any((each, user.user_id) in devices for each in ids)

    def add(self, other: _Part) -> None:
        """Merge another part into this one."""
        self.users |= other.users  # first: a room whose users were read is among the rooms
        self.rooms |= other.rooms
        self.devices = self.devices if other.devices is None else other.devices
        self.failures += other.failures
        self.requests += other.requests
        self.complete &= other.complete

    def fail(self, room_id: str | None, call: str, error: ConfkitError) -> None:
        """Record a failed call."""
        error = error.again()  # the frames of its traceback would keep every response in memory
        self.failures.append(Failure(room_id, call, error, error.advice))


class _Reader:
    """Reads tasks in threads: rooms by ID, or the external users of all rooms for a task without
    IDs. An executor reads rooms in other processes, whose threads then wait for it here.

    The threads are daemons, so that Ctrl-C does not wait for pending responses.
    """

    def __init__(
        self,
        client: Client,
        tasks: Sequence[tuple[str, ...]],
        options: _Options,
        cancelled: threading.Event,
        executor: Executor | None = None,
    ) -> None:
        self._tasks, self._options, self._cancelled = tasks, options, cancelled
        self._executor = executor
        self._futures: list[Future[_Part]] = []  # of the executor
        self._stop = threading.Event()  # nothing is sent any more
        self._client = client.derive(self._stop, self._wait, self._count, options.max_rate)
        self._remaining = iter(tasks)  # shared by all threads
        concurrency = options.concurrency if executor is None else PARTS
        self._threads = [
            threading.Thread(target=self._work, name="confkit sweep", daemon=True)
            for _ in range(min(concurrency, len(tasks)))
        ]
        self._done: SimpleQueue[tuple[str, ...] | BaseException] = SimpleQueue()
        self._part = _Part()
        self._unanswered = self._rejected = 0  # calls in a row; rooms, despite a fresh token
        self._limit = max(UNANSWERED, options.concurrency)
        self._probe = tasks[-1][-1] if tasks else ""  # the room to try alone: the last one read
        self._counting, self._probing = threading.Lock(), threading.RLock()

    def read(self, step: Callable[[], object] = lambda: None) -> _Part:
        """Return what was read, once all rooms are done or the sweep ends; call `step` after each
        room."""
        if self._cancelled.is_set() or not self._tasks:
            return _Part(complete=not self._tasks)
        with suppress(Cancelled):
            self._client.token()  # without a token no room can be read: raise that
        pending = len(self._tasks)
        try:
            for thread in self._threads:
                thread.start()
            while pending and not (self._cancelled.is_set() or self._stop.is_set()):
                with suppress(Empty):
                    ids = self._done.get(timeout=POLL)
                    if isinstance(ids, BaseException):
                        raise ids
                    pending -= 1
                    for _ in ids:
                        step()
            part = _Part(complete=not (pending or self._stop.is_set()))
        finally:
            self._stop.set()
            for future in self._futures:
                future.cancel()
        deadline = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        part.add(self._part)  # a copy, which late responses do not change
        if self._client._refusal is not None:
            part.fail(None, A1.key, self._client._refusal)
        return part

    def _work(self) -> None:
        try:
            for ids in self._remaining:
                if not self._service_responds():
                    return
                if self._executor is not None and ids:
                    self._read_on(self._executor, ids)
                else:
                    self._read(*ids)
                self._done.put(ids)
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001  # raised by `read`, in the caller's thread
            self._done.put(error)

    def _read_on(self, executor: Executor, ids: tuple[str, ...]) -> None:
        """Read rooms on the executor, whose workers get a copy of the client."""
        from concurrent.futures import CancelledError

        unique = os.urandom(16)  # keeps Dask from returning a cached result of an earlier sweep
        future = executor.submit(_read_part, self._client, ids, self._options, unique)
        self._futures.append(future)
        part = _Part()
        try:
            part = future.result()
        except CancelledError:
            return
        except Exception as error:  # noqa: BLE001  # from a worker or its network
            if not isinstance(error, ConfkitError):
                why = f"{type(error).__name__}: {excerpt(str(error), (self._client.secret_key,))}"
                error = ConfkitError(
                    f"the executor lost a part of the sweep ({why})",
                    "Check that the executor is running, and that its workers have confkit "
                    "installed and can reach the service.",
                )
            for room_id in ids:
                part.fail(room_id, A3.key, error)
        with self._counting:
            self._part.add(part)
        if not part.complete:
            self._stop.set()

    def _read(self, room_id: str | None = None) -> None:
        """Read a room, or the devices of all rooms (None), and record the result or failure."""
        client, part, call = self._client, self._part, B3.key
        try:
            if room_id is None:
                devices = list_devices(client)
                part.devices = {(device.room_id, device.user_id) for device in devices}
                return
            call = A3.key
            part.rooms[room_id] = get_room(client, room_id)
            if self._options.users:
                call = A6.key
                part.users[room_id] = get_room_users(client, room_id)
            self._probe, self._rejected = room_id, 0
        except Cancelled:
            raise
        except ConfkitError as error:
            part.fail(room_id, call, error)
            self._rejected += isinstance(error, TokenRejected)  # each costs an authentication
            if self._rejected >= self._limit or (error.retry_after or 0) > client.timeout[1]:
                self._stop.set()

    def _service_responds(self) -> bool:
        """Return whether the service still responds: after too many failures in a row one room is
        tried alone, once, while the other threads wait. That uses the present token: another thread
        may be about to renew it, and even 602 is a response."""
        with self._probing:
            if self._unanswered >= self._limit and not self._stop.wait(PROBE_DELAY):
                self._unanswered = 0
                token = self._client._token.value
                self._client.ask_once(A3, {"room_id": self._probe}, token)
                if self._unanswered:
                    self._stop.set()
        return not self._stop.is_set()

    def _wait(self, seconds: float) -> bool:
        """Wait before a request; return True if nothing may be sent any more."""
        return self._stop.wait(seconds) or self._cancelled.is_set() or not self._service_responds()

    def _count(self, call: Call) -> None:
        """Count a call; it is answered by a result code, or any HTTP status below 500."""
        answered = call.ret is not None or (call.status is not None and call.status < 500)
        with self._counting:
            self._part.requests += call.endpoint != A1.key
            if call.endpoint in (A3.key, A6.key):  # B may respond although no room can be read
                self._unanswered = 0 if answered else self._unanswered + 1


def _read_part(client: Client, ids: Sequence[str], options: _Options, _: bytes) -> _Part:
    tasks = [(room_id,) for room_id in ids]
    return _Reader(client, tasks, options, threading.Event()).read()


# Progress


@contextmanager
def progress_bar(
    progress: bool | Progress | None, total: int | None, unit: str
) -> Iterator[Callable[[], object]]:
    """Yield the function to call after each of `total` steps, None if there is no end.

    `progress` is called with the number of steps done and of all; True shows a bar, None shows it
    in a notebook or a terminal, False does not. It disappears from the cell at the end.
    """
    in_notebook = type(sys.stdout).__module__.startswith("ipykernel")
    if progress is None:  # nbval compares outputs
        is_compared = ".ipynb::" in os.environ.get("PYTEST_CURRENT_TEST", "")
        in_terminal = sys.stderr is not None and sys.stderr.isatty()
        progress = in_terminal or (in_notebook and not is_compared)
    if callable(progress):
        steps = count(1)
        yield lambda: progress(next(steps), total or 0)
    elif progress:
        from tqdm import tqdm

        file: Any = _CellLine() if in_notebook else None
        with tqdm(total=total, unit=f" {unit}", leave=False, delay=0.5, ncols=79, file=file) as bar:
            yield bar.update
    else:
        yield lambda: None


class _CellLine:
    """A stream that shows its last text in a notebook's cell; the widget of tqdm.notebook would
    stay there, broken once the page is loaded again."""

    _display: Any = None

    def write(self, text: str) -> None:
        from IPython.display import display

        line = {"text/plain": text.strip()}
        if self._display is None:
            self._display = display(line, raw=True, display_id=True)
        else:
            self._display.update(line, raw=True)
