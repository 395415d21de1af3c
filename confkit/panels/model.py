"""The rooms of panels: what was last read of each, and reading it again while somebody looks.

No widgets here. Panels that are given the same `RoomsModel` show the same rooms: each is read once
for all of them, and one that is picked in one panel is picked in the others.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..charts.looks import STATES
from ..charts.rooms import row_now
from ..errors import ApiError, ConfigError, ConfkitError, RoomNotFound, TokenRejected
from ..frames import OTHER, ROOM_MODE, ROOM_STATUS
from ..occupancy.known import known_rooms
from ..sweep import NOT_ASKED, UTILISATION, Sweep, sweep, utilisation
from ..tables import RoomIds
from ..tables import room_ids as read_ids
from ..transport import is_positive
from .given import check_source

if TYPE_CHECKING:
    from ..client import Client

READ_AT = "read_at"  # when the users of a row were read (UTC)
UNREAD = "_unread"  # whether the last try has not read them
_TEXT = "_text"  # what a search looks through
STATE = "_state"  # its state in the words of the occupancy chart
_HIDDEN = [STATE, _TEXT, UNREAD]  # columns that no `value` has
_USERS = ["users", "people", "devices", READ_AT]  # what is read together (A6)

RATE = 20.0  # requests a second for the rooms that are not on the screen
AT_ONCE = 50  # of these rooms in one reading
LONGEST = 60.0  # seconds between two tries in an outage, unless the panels read less often
TRIED = 3  # rooms of the page in such a try: one of them may fail by itself


# One frame, into which each reading is put


def unasked(client: Client, given: RoomIds) -> Sweep:
    """The sweep of rooms of which nothing has been asked yet."""
    ended = threading.Event()
    ended.set()
    swept = sweep(client, given.ids, cancelled=ended, progress=False)
    return replace(swept, _columns=given.columns)


def frame_of(swept: Sweep) -> pd.DataFrame:
    """The sweep's `frame()` with the `utilisation` of `occupancy_frame` after `attendee_max`,
    `read_at` after `error` (UTC, the sweep's start; missing where the users were not read), and
    columns that no `value` has."""
    frame = swept.frame()
    for ours in (READ_AT, *_HIDDEN):
        given = ours
        while given in frame.columns:
            given += " (given)"
        frame = frame.rename(columns={ours: given})
    lost = frame["users"].isna() & frame["error"].notna()
    if not swept._options.users:
        lost &= frame["topic"].isna()
    time = pd.Series(pd.Timestamp(swept.time), frame.index, "datetime64[us, UTC]")
    frame.insert(6, UTILISATION, None)
    place = list(frame.columns).index("error") + 1
    # Each before those that were inserted there.
    for name, column in ((UNREAD, lost.to_numpy(bool)), (_TEXT, None), (STATE, None)):
        frame.insert(place, name, column)
    frame.insert(place, READ_AT, time.where(~lost))
    return _derived(frame)


def _derived(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with what follows from its other columns."""
    text = frame["topic"].fillna("")
    for name in ("room_id", "owner_id", "room_extend_id"):
        text = text + "\n" + frame[name].fillna("")
    derived = {UTILISATION: utilisation(frame), STATE: states(frame), _TEXT: text.str.lower()}
    return frame.assign(**derived)


def _further(frame: pd.DataFrame) -> list[str]:
    """The columns that a table of rooms brought along."""
    return list(frame.columns[list(frame.columns).index(UNREAD) + 1 :])


def _places(frame: pd.DataFrame, rows: pd.DataFrame) -> npt.NDArray[np.intp]:
    """For each of the rows the place of its room in the frame, or -1."""
    rooms: pd.Index[str] = pd.Index(frame["room_id"])
    return rooms.get_indexer(pd.Index(rows["room_id"]))


def joined(frame: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """The frame with those rooms of the other one that it has not, behind its own, and with the
    further columns of both."""
    if frame.empty or more.empty:
        return frame if more.empty else more
    new = more[_places(frame, more) < 0]
    found = pd.concat([frame, new], ignore_index=True)
    for name in _further(more):
        given = found["room_id"].map(more.set_index("room_id")[name])
        found[name] = given.combine_first(found[name])
    return found


def updated(frame: pd.DataFrame, new: pd.DataFrame, gone: Collection[str] = ()) -> pd.DataFrame:
    """The frame with what was read of its rooms.

    What could not be read of a room stays as it was last read: its users keep the `read_at` of
    their reading, and `error` says why not since. A row that was not asked, or that the frame has
    of a later reading, stays whole. Of rooms that are `gone` nothing is kept.
    """
    at = _places(frame, new)
    new, at = new[at >= 0], at[at >= 0]
    before = frame.iloc[at]
    new = new.set_index(before.index)
    # What was asked for earlier may come later, where two read at once.
    stays = not_asked(new) | (before[READ_AT] > pd.Timestamp(new.attrs["time"]))
    lost = new["error"].notna() & ~new["room_id"].isin(list(gone))
    rows = before.copy()
    for name in frame.columns.drop(["room_id", *_further(frame)]):
        keeps = stays
        if name in _USERS:
            keeps = stays | lost & new[UNREAD]
        elif name not in ("ret", "error", UNREAD):
            keeps = stays | lost & new[name].isna()
        rows[name] = before[name].where(keeps, new[name])
    places = np.arange(len(frame))
    places[at] = len(frame) + np.arange(len(rows))
    both = pd.concat([frame, _derived(rows)], ignore_index=True)
    return both.take(places).reset_index(drop=True)


def not_asked(frame: pd.DataFrame) -> Any:
    """For each row whether a sweep that ended early did not come to it."""
    return (frame["error"] == NOT_ASKED).to_numpy(bool, na_value=False)


def valued(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the rows without the columns that no `value` has."""
    return frame.drop(columns=_HIDDEN)


def states(frame: pd.DataFrame) -> Any:
    """The state of each row in the words of the occupancy chart, by what was last read of it."""
    capped = frame["attendee_max"].notna() | frame["topic"].notna() | frame["error"].isna()
    numbers = (
        frame[name].array.to_numpy(object, na_value=None) for name in ("users", "attendee_max")
    )
    rows = list(zip(*numbers, capped, strict=True))
    of = {one: row_now("", "", *one).state for one in {*rows}}
    return pd.Categorical([of[row] for row in rows], categories=list(STATES))


# Search and filters


_NAMED = {
    "status": [*ROOM_STATUS.values(), OTHER],
    "mode": [*ROOM_MODE.values(), OTHER],
    "state": list(STATES),
}


class Filter(NamedTuple):
    """What is wanted of rooms: every word of `text` somewhere in topic, ID, owner or external ID,
    in capitals or not; this `status` and `mode`; a utilisation above `fuller_than` percent; with
    `failures` only those of which something could not be read; of this `state` in the occupancy
    chart. Left out, all are wanted. ConfigError names what is wrong in it."""

    text: str = ""
    status: str | None = None
    mode: str | None = None
    fuller_than: float | None = None
    failures: bool = False
    state: str | None = None

    def checked(self) -> Filter:
        """This filter; ConfigError where rooms cannot be looked for with it."""
        full = self.fuller_than
        number = isinstance(full, Real) and not isinstance(full, bool) and math.isfinite(full)
        rules = {
            "text": (isinstance(self.text, str), "words to look for"),
            "failures": (isinstance(self.failures, bool), "True or False"),
            "fuller_than": (number or full is None, "percent, such as 80, or None for any"),
        }
        for name, names in _NAMED.items():
            advice = f"one of {', '.join(names)}, or None for any"
            rules[name] = getattr(self, name) in (None, *names), advice
        for name, (right, advice) in rules.items():
            if not right:
                raise ConfigError(f"{name} is {getattr(self, name)!r}", f"Give {advice}.")
        return self

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows that are wanted, in their order. What is missing matches nothing: a room whose
        users could not be read is not fuller than 0 percent."""
        tests: list[Any] = [
            frame[_TEXT].str.contains(word, regex=False) for word in self.text.lower().split()
        ]
        named = {"status": self.status, "mode": self.mode}
        tests += [frame[name] == one for name, one in named.items() if one is not None]
        if self.fuller_than is not None:
            tests.append(100 * frame[UTILISATION] > self.fuller_than)
        if self.failures:
            tests.append(frame["error"].notna())
        if self.state is not None:
            tests.append((frame[STATE] == self.state) | (frame[UNREAD] & (self.state == "unread")))
        wanted = [one.to_numpy(bool, na_value=False) for one in tests]
        return frame.loc[np.logical_and.reduce(wanted)] if wanted else frame


# The model


class Outage(NamedTuple):
    """Since when (UTC) nothing is read, how often it was tried, when it will be tried next (by the
    model's clock), and what came instead of an answer."""

    since: datetime
    tries: int
    due: float
    error: ConfkitError

    @property
    def lasts(self) -> bool:
        """Whether no further try will help: the client is closed, for one."""
        return isinstance(self.error, ConfigError)


@dataclass(eq=False)
class Viewer:
    """A panel of rooms: `page` returns the IDs that are seen now, which are read every `every`
    seconds while `RoomsModel.tick` is called so often; `also` is called after that.

    `changed` is called after each change with the rows that were read, or None; `picked` with the
    ID of a room that was picked elsewhere; `left` with rooms that the service does not have any
    more, and that were left out; `fails` with an error that nobody expects.
    """

    page: Callable[[], list[str]] = list
    changed: Callable[[pd.DataFrame | None], object] = lambda _: None
    picked: Callable[[str], object] = lambda _: None
    left: Callable[[list[str]], object] = lambda _: None
    also: Callable[[], object] = lambda: None
    fails: Callable[[Exception], object] = lambda _: None
    every: float = 0.0


class RoomsModel:
    """Rooms as they were last read, for all panels that are given it.

    `room_ids` is what `sweep` takes, or a finished Sweep, which is shown as it is; None stands for
    what `known_rooms` finds, again with each refresh, and of these a room goes that the service
    does not have any more. `frame` has one row per room: the columns of
    `Sweep.frame()`, `utilisation`, and `read_at` (UTC). While somebody looks, the rows on the
    screen are read again and again, and between that all others, the oldest first, with at most
    `background_rate` requests a second (0: none). While nobody answers (`outage`) a few rooms are
    tried, each time after twice as long. ParameterError: `room_ids` are none; ConfigError: what was
    given is no client, no rate, or the Sweep of another service. Sections 4 and 7 of the interface.
    """

    def __init__(
        self,
        client: Client,
        room_ids: Any = None,
        *,
        background_rate: float = RATE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_source(client, room_ids)
        if background_rate != 0 and not is_positive(background_rate):
            raise ConfigError(
                f"background_rate is {background_rate!r}", "Give requests a second, or 0 for none."
            )
        self.client, self._rate, self._clock = client, background_rate, clock
        self.outage: Outage | None = None
        self.picked = ""
        self.beginning = threading.Lock()  # held by the panel that does the first reading
        self.begun = isinstance(room_ids, Sweep)  # whether the rooms were read once
        self.found = room_ids is not None  # whether it is known which rooms to show
        self._known: set[str] | None = None if self.found else set()
        self._gone: set[str] = set()  # of those that were known
        self._viewers: list[Viewer] = []
        self._changed = threading.Condition()  # guards the frame and the following
        self._thread: threading.Thread | None = None
        self._until: dict[Viewer, float] = {}  # when the next tick of each is late
        self._due: set[Viewer] = set()  # whose pages are to be read
        self._reading: set[Viewer] = set()
        self._cut = threading.Event()  # ends the reading under way: nobody looks any more
        self._round: list[str] = []  # the rooms that this round has not come to
        given = RoomIds([]) if self.begun or not self.found else read_ids(room_ids)
        self._put(frame_of(room_ids if self.begun else unasked(client, given)))

    @property
    def ids(self) -> list[str]:
        """The rooms, in the order in which they came."""
        return list(self.frame["room_id"])

    @property
    def every(self) -> float:
        """Seconds from one reading of the page to the next, while somebody looks."""
        return min((one.every for one in self._viewers if one.every), default=0.0)

    @property
    def looks_for_rooms(self) -> bool:
        """Whether a refresh looks which rooms are known."""
        return self._known is not None

    def watch(self, viewer: Viewer) -> None:
        """Call the viewer's functions from now on."""
        self._viewers.append(viewer)

    def leave(self, viewer: Viewer) -> None:
        """Call them no more."""
        self.hide(viewer)
        self._viewers = [one for one in self._viewers if one is not viewer]

    def pick(self, room_id: str, by: Viewer | None = None) -> None:
        """Pick a room for all who look, or with "" none; `by` knows already."""
        self.picked = room_id
        for viewer in self._viewers:
            if viewer is not by:
                viewer.picked(room_id)

    # Which rooms there are

    def known(self) -> pd.DataFrame:
        """What `known_rooms` finds; an error of that is an outage as long as there is no room."""
        try:
            return known_rooms(self.client)
        except ConfkitError as error:
            if not self.found:
                self._lost(error)
            raise

    def adopt(self, known: pd.DataFrame) -> None:
        """Take these rooms for those that are known now: new ones come, and those go that were
        known and are so no longer."""
        given = read_ids(known[~known["room_id"].isin(self._gone)])
        with self._changed:
            left = (self._known or set()) - set(given.ids)
            self._known = set(given.ids)
            self._remove(left)
        self.add(given)

    def add(self, given: RoomIds) -> None:
        """Add rooms of which nothing is read yet; those that are there stay as they are."""
        with self._changed:
            self.found = True
            self._put(joined(self.frame, frame_of(unasked(self.client, given))))
        self._tell(None)

    def drop(self, room_id: str) -> None:
        """Remove the room."""
        with self._changed:
            self._remove({room_id})
        self._tell(None)

    def _remove(self, ids: set[str]) -> None:
        self._put(self.frame[~self.frame["room_id"].isin(list(ids))].reset_index(drop=True))

    def _put(self, frame: pd.DataFrame) -> None:
        times = frame[READ_AT].dropna()
        time = datetime.fromtimestamp(self.client.now(), UTC) if times.empty else times.min()
        frame.attrs = {"service": self.client.name, "time": time.isoformat()}
        self.frame = frame

    def _tell(self, read: pd.DataFrame | None) -> None:
        # Without the lock, as an observer of a panel's value may begin work.
        if self.found and self.picked and not (self.frame["room_id"] == self.picked).any():
            self.pick("")
        for viewer in self._viewers:
            viewer.changed(read)

    # Reading

    def read(
        self,
        ids: list[str],
        progress: Callable[[int, int], object] | bool = False,
        cancelled: threading.Event | None = None,
        rate: float | None = None,
    ) -> tuple[Sweep, pd.DataFrame]:
        """Read these rooms, and return the sweep with its rows; `progress` is called with how
        many rooms were read, and of how many.

        No room comes back that was removed meanwhile. Errors as of `sweep`: all rows say then why
        they were not read.
        """

        def step(done: int, total: int) -> None:
            if callable(progress):
                progress(done * len(ids) // total, len(ids))

        shown = step if callable(progress) else False
        try:
            swept = sweep(self.client, ids, max_rate=rate, progress=shown, cancelled=cancelled)
        except ConfkitError as error:
            self._lost(error)
            raise
        return swept, self.take(swept)

    def take(self, swept: Sweep) -> pd.DataFrame:
        """Put a sweep's rows in their places, and return them."""
        gone = {str(one.room_id) for one in swept.failures if isinstance(one.error, RoomNotFound)}
        with self._changed:
            leave: set[str] = set()
            if self._known is not None:  # those that somebody has named stay, with their error
                leave = gone & self._known & set(self.ids)
                self._gone |= leave
                self._known -= leave
            self._remove(leave)
            new = frame_of(swept)
            new = new.loc[_places(self.frame, new) >= 0].reset_index(drop=True)
            self.begun = True
            self._put(updated(self.frame, new, gone))
            self.heard(swept)
        self._tell(new)
        for viewer in self._viewers if leave else []:
            viewer.left(sorted(leave))
        return new

    def heard(self, came: Sweep | ConfkitError) -> None:
        """Take in a reading, or the error that came instead: where nobody has answered there is an
        outage, and a later answer to anything that was asked ends one."""
        before, error = self.outage, silence(came)
        if error is None:
            if before and isinstance(came, Sweep) and came.complete and came.time >= before.since:
                self.outage = None
            return
        # Of the rooms in the background too few are asked to tell.
        if before is None and self._reads_by_itself and not self._reading:
            return
        now = datetime.fromtimestamp(self.client.now(), UTC)
        since = came.time if isinstance(came, Sweep) else now
        since, tries = (since, 1) if before is None else (before.since, before.tries + 1)
        wait = min(self.every * 2.0 ** min(tries, 16), max(self.every, LONGEST))
        self.outage = Outage(since, tries, self._clock() + wait, error)
        if self.found:
            lost = self.frame.assign(error=str(error)).astype({"error": "string"})
            self._put(lost.assign(**{UNREAD: True}))

    def seconds_left(self) -> float:
        """How long it is until the next try in an outage."""
        return 0.0 if self.outage is None else max(0.0, self.outage.due - self._clock())

    def _lost(self, error: ConfkitError) -> None:
        with self._changed:
            self.heard(error)
        self._tell(None)

    # What goes on while somebody looks

    def tick(self, viewer: Viewer) -> None:
        """Have the viewer's page read, and the others until its next tick."""
        with self._changed:
            self._until[viewer] = self._clock() + viewer.every
            self._due.add(viewer)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="confkit rooms", daemon=True)
                self._thread.start()

    def hide(self, viewer: Viewer) -> None:
        """Read nothing more for this viewer, until its next tick."""
        with self._changed:
            self._until.pop(viewer, None)
            self._due.discard(viewer)
            if not self._until:
                self._cut.set()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the pages that ticks asked for have been read, and what `hide` ends has ended,
        after at most so many seconds."""

        def over() -> bool:
            ending = self._thread is not None and self._cut.is_set()
            return not (self._due or self._reading or ending)

        with self._changed:
            return self._reads_by_itself or self._changed.wait_for(over, timeout)

    @property
    def _reads_by_itself(self) -> bool:
        return self._thread is threading.current_thread()

    def _run(self) -> None:
        more = True
        while more:
            with self._changed:
                self._reading, self._due = self._due, set()
                if self._until:
                    self._cut.clear()
            try:
                if self._reading:
                    self._read_pages()
                else:
                    more = self._read_rest()
            except Exception as error:  # noqa: BLE001  # it would be lost in this thread
                more = False
                for viewer in self._reading or self._viewers:
                    viewer.fails(error)
            with self._changed:
                self._reading = set()
                more = bool(more or self._due)
                self._thread = self._thread if more else None
                self._changed.notify_all()

    def _read_pages(self) -> None:
        now, outage = self._clock(), self.outage
        page = list(dict.fromkeys(room_id for one in self._reading for room_id in one.page()))
        if outage is not None:
            self._tell(None)  # of the ages
            if outage.lasts or now + self.every / 2 < outage.due:  # no tick comes nearer to it
                return
            self._read_again((page or self.ids)[:TRIED])
        if self.outage is None:
            self._read_again(page)
        if self.outage is None:
            for viewer in self._reading:
                viewer.also()
            if not self._round:
                order = self.frame.sort_values(READ_AT, kind="stable", na_position="first")
                self._round = list(order["room_id"][~order["room_id"].isin(page)])

    def _read_rest(self) -> bool:
        """Read some of the other rooms while somebody looks; return whether there are more."""
        until = max(self._until.values(), default=0.0)
        if self.outage is not None or not self._rate or self._clock() >= until:
            return False
        # So few that the next page need not wait for them; two calls each, and one for all devices.
        most = max(1, min(AT_ONCE, int(self._rate * self.every / 4)))
        ids, self._round = self._round[:most], self._round[most:]
        if ids:
            self._read_again(ids, self._rate)
        return bool(self._round)

    def _read_again(self, ids: list[str], rate: float | None = None) -> None:
        with suppress(ConfkitError):  # which is an outage
            if not self.found:
                self.adopt(self.known())
                ids = self.ids
            if ids or self.outage is not None:
                self.read(ids, cancelled=self._cut, rate=rate)


def silence(came: Sweep | ConfkitError) -> ConfkitError | None:
    """What came in place of any answer about rooms, where none has come for all that was asked."""
    if isinstance(came, ConfkitError):
        return None if _is_answer(came) else came
    lost = [one.error for one in came.failures if one.room_id is not None]
    answered = came.users or came.rooms or any(map(_is_answer, lost))  # rooms take longer
    return None if answered else next(iter(lost), None)


def _is_answer(error: ConfkitError) -> bool:
    """Whether this is what the service says about a room."""
    own = isinstance(error, ApiError) and not isinstance(error, TokenRejected)
    return own and getattr(error, "endpoint", None) != "A1"
