"""Many rooms and their users in one call: records, failures, and a frame."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from operator import itemgetter
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from .client import Client, checked_rate
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
    from concurrent.futures import Executor

    import pandas as pd

    from .calls import Call

Progress = Callable[[int, int], None]  # called with the rooms done and their number

NOT_ASKED = "not asked: the sweep was ended before"
UTILISATION = "utilisation"  # the column of occupancy_frame that frame() has not
UNANSWERED = 16  # calls in a row, or as many as are under way: then one room is tried alone
PROBE_DELAY = 1.0  # seconds before it: a connection that is lost is often back by then
PART = 500  # rooms that an executor gets at once
LOOK = 0.1  # seconds between two looks at `cancelled`
GRACE = 0.5  # seconds: for what is under way when a sweep ends early
_FIRST = ("room_id", "topic", "users", "people", "devices", "attendee_max")
_LAST = ("ret", "error")


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
        client.may_send(A3)
    time_started, clock = datetime.fromtimestamp(client.now(), UTC), time.monotonic()
    options = _Options(rooms, users, concurrency, max_rate)
    with progress_bar(progress, len(ids), "rooms") as step:
        if not ids:
            part = _Part()
        elif executor is None:
            part = _Reader(client, ids, options, cancelled, devices=users).read(step)
        else:
            part = _read_on(executor, client, ids, options, cancelled, step)
    places: dict[str | None, int] = {room_id: place for place, room_id in enumerate(ids)}
    # Several parts may have been refused a token: that is one failure of the sweep.
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

        rooms = [self._part.rooms.get(room_id) or Room(room_id=room_id) for room_id in self.ids]
        frame, counts = rooms_frame(rooms), _frame(self._counts(), _COUNTS)
        frame[counts.columns] = counts
        frame = frame[[*_FIRST, *frame.columns.difference([*_FIRST, *_LAST], sort=False), *_LAST]]
        if self._columns is not None:
            taken = [UTILISATION, *frame.columns]
            for name in map(str, self._columns.columns):
                while name in taken:
                    name += " (given)"
                taken.append(name)
            names = taken[1 + frame.shape[1] :]
            frame = pd.concat([frame, self._columns.set_axis(names, axis="columns")], axis=1)
        frame.attrs = {"service": self.service, "time": self.time.isoformat()}
        return frame

    def _counts(self) -> Iterator[tuple[object, ...]]:
        """The values of _COUNTS for each room."""
        part, options = self._part, self._options
        errors = {failure.room_id: failure.error for failure in self.failures}
        not_asked = ConfkitError(NOT_ASKED)
        for room_id in self.ids:
            users, cameras = part.users.get(room_id), part.devices_in(room_id)
            total = people = devices = None
            if users is not None:
                total = len(users)
                if cameras is not None:
                    devices = sum(user.user_id in cameras for user in users)
                    people = total - devices
            error = errors.get(room_id)
            if error is None and options.rooms and room_id not in part.rooms:
                error = not_asked
            if error is None and options.users and people is None:
                error = not_asked if total is None else errors.get(None, not_asked)
            ret = 0 if error is None else getattr(error, "ret", None)
            ret = ret if isinstance(ret, int) and abs(ret) < 2**63 else None
            yield room_id, total, people, devices, ret, None if error is None else str(error)


_COUNTS: Mapping[str, Kind] = {
    "room_id": NAME,
    **dict.fromkeys(("users", "people", "devices", "ret"), "Int64"),
    "error": "string",
}


def _frame(rows: Iterable[tuple[object, ...]], kinds: Mapping[str, Kind]) -> pd.DataFrame:
    """Return rows whose values are in the order of the columns as a frame."""
    return frame_of(rows, kinds, {name: itemgetter(n) for n, name in enumerate(kinds)})


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


def utilisation(frame: pd.DataFrame) -> pd.Series[float]:
    """Return the users of each row as a share of its `attendee_max`; missing without one, or 0."""
    cap = frame["attendee_max"].where(frame["attendee_max"] > 0)
    return (frame["users"] / cap).astype("Float64")


def commonest(failures: Sequence[Failure]) -> str:
    """Return what failed most often, with one of its rooms; empty when nothing did."""
    reasons = Counter(failure.error.summary for failure in failures)
    if not reasons:
        return ""
    [(why, number)] = reasons.most_common(1)
    room_id = next(each.room_id for each in failures if each.error.summary == why)
    if number == 1:
        return why if room_id is None else f"room {room_id!r}: {why}"
    share = "mostly" if len(reasons) > 1 else "all"
    example = "" if room_id is None else f", such as room {room_id!r}"
    return f"{share} ({number:,}{example}): {why}"


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
    """One row per difference between two sweeps of the same service, room by room.

    `time` (of the later sweep, UTC), `room_id`, `topic`, `change`, `user_id` and `user_name` (of
    somebody who came or left), `users` and `attendee_max` (afterwards). A `change` is one of user
    joined, user left, device came, device gone, opened (the first user came), emptied (the last
    left), became full, no longer full, became unreadable, readable again. Users are compared where
    both sweeps read them; a cap that only one of them read counts for both. Rooms that one of them
    does not have, or did not ask, have no row.
    """
    failed_before, failed_after = (
        {failure.room_id for failure in sweep.failures} for sweep in (before, after)
    )
    newly_failed = failed_after - failed_before
    rooms = before._part.rooms | after._part.rooms
    rows: list[tuple[object, ...]] = []
    for room_id in after.ids:
        room = rooms.get(room_id) or Room(room_id=room_id)
        was, now = before._part.users.get(room_id), after._part.users.get(room_id)
        differences: list[tuple[str, RoomUser | None]] = []
        if was is not None and room_id in newly_failed:
            differences.append(("became unreadable", None))
        if now is not None and room_id in failed_before:
            differences.append(("readable again", None))
        if was is not None and now is not None:
            devices = [sweep._part.devices_in(room_id) or set() for sweep in (before, after)]
            differences += _differences(was, now, set().union(*devices), room.attendee_max)
        users = None if now is None else len(now)
        for change, user in differences:
            user_id, user_name = (user.user_id, user.user_name) if user else (None, None)
            values = (after.time, room_id, room.topic, change, user_id, user_name)
            rows.append((*values, users, room.attendee_max))
    return _frame(rows, _CHANGE)


def _differences(
    was: list[RoomUser], now: list[RoomUser], devices: set[str], cap: int | None
) -> Iterator[tuple[str, RoomUser | None]]:
    """What has changed among the users of a room, and the user whom it is about."""
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
        """Add what another part has read."""
        self.rooms |= other.rooms
        self.users |= other.users
        self.devices = self.devices if other.devices is None else other.devices
        self.failures += other.failures
        self.requests += other.requests
        self.complete &= other.complete

    def fail(self, room_id: str | None, call: str, error: ConfkitError) -> None:
        """Add the failure of a call."""
        error = error.again()  # the frames of a traceback would keep every response in memory
        self.failures.append(Failure(room_id, call, error, error.advice))


class _Reader:
    """Reads rooms in threads, and with `devices` the external users first.

    The threads are daemons: after Ctrl-C nobody waits for the responses that are still due.
    """

    def __init__(
        self,
        client: Client,
        ids: Sequence[str],
        options: _Options,
        cancelled: threading.Event,
        *,
        devices: bool,
    ) -> None:
        self._options, self._cancelled = options, cancelled
        self._over = threading.Event()  # nothing is sent any more
        self._client = client.derived(self._over, self._wait, self._count, options.max_rate)
        self._tasks: list[str | None] = [*([None] if devices else []), *ids]
        self._left = iter(self._tasks)  # all threads take from it; None are the devices
        self._done: SimpleQueue[str | BaseException | None] = SimpleQueue()
        self._part = _Part()
        self._unanswered = self._rejected = 0  # calls in a row; rooms, with a fresh token
        self._tolerated = max(UNANSWERED, options.concurrency)
        self._probe = ids[-1] if ids else ""  # the room to try alone: the last that was read
        self._counting, self._probing = threading.Lock(), threading.RLock()

    def read(self, step: Callable[[], object] = lambda: None) -> _Part:
        """Return what was read, once all rooms are done or the sweep is over; `step` is called
        after each room."""
        if self._cancelled.is_set():
            return _Part(complete=False)
        try:
            self._client.token()  # without it no room can be read: that is raised
        except ConfkitError:
            if self._cancelled.is_set():
                return _Part(complete=False)
            raise
        total, done = len(self._tasks), 0
        threads = [
            threading.Thread(target=self._work, name="confkit sweep", daemon=True)
            for _ in range(min(self._options.concurrency, total))
        ]
        try:
            for thread in threads:
                thread.start()
            while done < total and not (self._cancelled.is_set() or self._over.is_set()):
                with suppress(Empty):
                    room_id = self._done.get(timeout=LOOK)
                    if isinstance(room_id, BaseException):
                        raise room_id
                    done += 1
                    if room_id is not None:
                        step()
            part = _Part(complete=done == total and not self._over.is_set())
        finally:
            self._over.set()
        late = time.monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, late - time.monotonic()))
        part.add(self._part)  # a copy: what is still due changes nothing in it
        if self._client._refusal is not None:
            part.fail(None, A1.key, self._client._refusal)
        return part

    def _work(self) -> None:
        try:
            for room_id in self._left:
                if not self._is_answered():
                    return
                self._read(room_id)
                self._done.put(room_id)
        except Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001  # raised by `read`, in the caller's thread
            self._done.put(error)

    def _read(self, room_id: str | None) -> None:
        """Read a room, or the devices of all rooms (None), and keep what it is or why not."""
        client, part, call = self._client, self._part, B3.key
        try:
            if room_id is None:
                devices: dict[str, set[str]] = {}
                for device in list_devices(client):
                    devices.setdefault(device.room_id, set()).add(device.user_id)
                part.devices = devices
                return
            if self._options.rooms:
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
            with self._counting:  # each fresh token costs an authentication
                self._rejected += isinstance(error, TokenRejected)
            if self._rejected >= self._tolerated or (error.retry_after or 0) > client.timeout[1]:
                self._over.set()

    def _is_answered(self) -> bool:
        """Return whether anybody still answers: after too many failures in a row one room is tried
        alone, once, while the other threads wait. It is asked for with the token that there is: one
        of them may be about to renew it, and even 602 is an answer."""
        with self._probing:
            if self._unanswered >= self._tolerated and not self._over.wait(PROBE_DELAY):
                self._unanswered = 0
                operation = A3 if self._options.rooms else A6
                token = self._client._token.value
                self._client.ask_once(operation, {"room_id": self._probe}, token)
                if self._unanswered:
                    self._over.set()
        return not self._over.is_set()

    def _wait(self, seconds: float) -> bool:
        """Wait before something is sent; True where nothing is to be sent any more."""
        stopped = self._over.wait(seconds) or self._cancelled.is_set()
        return stopped or not self._is_answered()

    def _count(self, call: Call) -> None:
        """Count a call, and whether it was answered: with a result code, or any page but 5xx."""
        answered = call.ret is not None or (call.status is not None and call.status < 500)
        with self._counting:
            self._part.requests += call.endpoint != A1.key
            if call.endpoint in (A3.key, A6.key):  # B may answer where no room can be read
                self._unanswered = 0 if answered else self._unanswered + 1


# Reading on an executor


def _read_on(
    executor: Executor,
    client: Client,
    ids: Sequence[str],
    options: _Options,
    cancelled: threading.Event,
    step: Callable[[], object],
) -> _Part:
    """Read the rooms in parts on the executor.

    Thread pools share the client; other executors get a copy, which renews its own token. With a
    rate parts run one after another.
    """
    from concurrent.futures import Future, ThreadPoolExecutor, wait

    # Here, too, one authentication for all parts.
    total = _Reader(client, (), options, cancelled, devices=options.users).read()
    parts = [ids[at : at + PART] for at in range(0, len(ids), PART)]
    ahead = 1 if options.max_rate or client.max_rate else len(parts)
    over = threading.Event()
    shared = over if isinstance(executor, ThreadPoolExecutor) else None  # no other can be sent
    sweep_id = os.urandom(16)  # keeps Dask from returning a cached result of an earlier sweep
    futures: list[Future[_Part]] = []
    done, refused = 0, False
    try:
        while done < len(parts) and not (refused or cancelled.is_set()):
            for part in parts[len(futures) : done + ahead]:
                try:
                    future = executor.submit(_read_part, sweep_id, client, part, options, shared)
                except Exception as error:  # noqa: BLE001  # the executor is broken
                    future = Future()
                    future.set_exception(error)
                futures.append(future)
            wait([futures[done]], LOOK)
            if futures[done].done():
                try:
                    total.add(futures[done].result())
                except Exception as error:  # noqa: BLE001  # whatever a worker or its network raises
                    for room_id in parts[done]:
                        total.fail(room_id, A3.key, _lost(error, client))
                for _ in parts[done]:
                    step()
                done += 1
                refused = any(failure.call == A1.key for failure in total.failures)
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
    sweep_id: bytes,  # noqa: ARG001  # makes it differ from the same part of another sweep
    client: Client,
    ids: Sequence[str],
    options: _Options,
    over: threading.Event | None,
) -> _Part:
    if options.max_rate is not None:
        time.sleep(1 / options.max_rate)  # the part before may have sent its last request just now
    return _Reader(client, ids, options, over or threading.Event(), devices=False).read()


def _lost(error: Exception, client: Client) -> ConfkitError:
    """Return why the rooms of a part were not read, without the key that a text may hold."""
    if isinstance(error, ConfkitError):
        return error
    why = f"{type(error).__name__}: {excerpt(str(error), (client.secret_key,))}"
    return ConfkitError(
        f"the executor lost a part of the sweep ({why})",
        "Check that the executor is running, and that its workers have confkit installed and "
        "can reach the service.",
    )


# Progress


@contextmanager
def progress_bar(
    progress: bool | Progress | None, total: int, unit: str
) -> Iterator[Callable[[], object]]:
    """Give the function to call after each of `total` steps.

    `progress` is called with the steps done and their number; True shows a bar, None shows it where
    somebody watches (a notebook, a terminal), False does not. Nothing of it stays in the cell.
    """
    in_notebook = _in_notebook()
    if progress is None and in_notebook:
        progress = _is_watched()
    elif progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if callable(progress):
        steps = count(1)
        yield lambda: progress(next(steps), total)
    elif progress:
        from tqdm import tqdm

        class Bar(tqdm):  # type: ignore[type-arg]  # of nothing: its steps are counted
            monitor_interval = 0  # else tqdm would leave a thread behind

        file: Any = _CellLine() if in_notebook else None
        with Bar(total=total, unit=f" {unit}", leave=False, delay=0.5, ncols=79, file=file) as bar:
            yield bar.update
    else:
        yield lambda: None


@contextmanager
def status_line() -> Iterator[Callable[[str], object]]:
    """Give the function that shows a text in a notebook's cell, each over the one before.

    An empty line is there from the beginning to the end, so that the saved cell is the same under
    nbval. Elsewhere nothing shows.
    """
    if not _in_notebook():
        yield lambda _: None
        return
    line = _CellLine()
    line.begin()
    try:
        yield line.write
    finally:
        line.write("")


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules and type(sys.stdout).__module__[:9] == "ipykernel"


def _is_watched() -> bool:
    """Return whether a person looks at the notebook, and not nbval, which compares outputs."""
    return ".ipynb::" not in os.environ.get("PYTEST_CURRENT_TEST", "")


class _CellLine:
    """A line of a notebook's cell, which is written over, and is empty in the end."""

    _display: Any = None

    def begin(self) -> None:
        """Have the line there, still empty."""
        from IPython.display import display

        self._display = display({"text/plain": ""}, raw=True, display_id=True)

    def write(self, text: str) -> None:
        from IPython.display import display

        line = {"text/plain": text.strip("\r\n ")}
        if self._display is not None:
            self._display.update(line, raw=True)
        elif line["text/plain"]:
            self._display = display(line, raw=True, display_id=True)

    def flush(self) -> None:
        """Do nothing: what is written shows at once."""
