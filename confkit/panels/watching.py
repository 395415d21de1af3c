"""When rooms are read again by themselves: the page, then the others; seldom in an outage."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from ..errors import ApiError, ConfkitError, TokenRejected
from ..many.result import Sweep
from .room_list import left_out

RATE = 20.0  # requests a second for the rooms that are not on the screen
AT_ONCE = 50  # of these rooms in one reading
LONGEST = 60.0  # seconds between two tries in an outage, unless `every` is longer
TRIED = 3  # rooms of the page in such a try: one of them may fail by itself


class Outage(NamedTuple):
    """Since when (UTC) the service does not answer, how often it was tried, when it will be tried
    next (by the clock), and what came instead of an answer."""

    since: datetime
    tries: int
    due: float
    error: ConfkitError


class Watch:
    """Reads the rooms of a panel again while ticks come, in a thread of its own.

    Each tick has the page read (`page`), and until the next one the other rooms follow (`rooms`,
    in the order given), at most `rate` requests a second. While the service does not answer, a few
    rooms of the page are tried, each time after twice as long; `aged` is called at the ticks
    between. `read` reads rooms, with this rate until the event is set, and gives the Sweep; what
    came goes to `heard`. `also` is called after each reading of the page; `fails` gets whatever
    these raise.
    """

    def __init__(
        self,
        *,
        page: Callable[[], list[str]],
        rooms: Callable[[], list[str]],
        read: Callable[[list[str], float | None, threading.Event], Sweep | None],
        also: Callable[[], object],
        aged: Callable[[], object],
        fails: Callable[[Exception], object],
        rate: float = RATE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.outage: Outage | None = None
        self.every = 0.0  # seconds from one tick to the next, as far as they come
        self._page, self._rooms, self._read = page, rooms, read
        self._also, self._aged, self._fails = also, aged, fails
        self._rate, self._clock = rate, clock
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._until = -float("inf")  # when the next tick is late
        self._page_due = self._reading_page = False
        self._cut = threading.Event()  # ends the reading under way
        self._may_cut = True  # a tick may: the page goes before the others
        self._round: deque[str] = deque()  # the rooms that this round has not come to
        self._began = -float("inf")

    @property
    def is_here(self) -> bool:
        """Whether this is the thread that reads."""
        return self._thread is threading.current_thread()

    @property
    def decides(self) -> bool:
        """Whether what is read now tells if anybody answers: of the others too few are asked."""
        return self._reading_page or not self.is_here

    def tick(self) -> None:
        """Has the page read, and keeps the others going until the next tick."""
        with self._changed:
            self._until = self._clock() + self.every
            self._page_due = True
            if not self._reading_page and self._may_cut:
                self._cut.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="confkit watch", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def stop(self) -> None:
        """Ends what is being read, until the next tick."""
        with self._changed:
            self._until, self._page_due = -float("inf"), False
            self._cut.set()
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the page that a tick asked for has been read, and what `stop` ends has ended,
        after at most so many seconds."""

        def over() -> bool:
            ending = self._thread is not None and self._cut.is_set()
            return not (self._page_due or self._reading_page or ending)

        with self._changed:
            return self._changed.wait_for(over, timeout)

    def heard(self, came: Sweep | ConfkitError, surely: bool = False) -> Outage | None:
        """Takes in a reading, or the error that came instead, and gives the outage that this shows:
        where nobody has answered, or `surely`. An answer to anything that was asked ends one."""
        before = self.outage
        error = came if surely and isinstance(came, ConfkitError) else silence(came)
        if error is None:
            if before is not None and isinstance(came, Sweep) and _ends(before, came):
                self.outage = None
            return None
        if before is None and not self.decides:
            return None
        if before is None:
            since, tries = came.time if isinstance(came, Sweep) else datetime.now(UTC), 1
        else:
            since, tries = before.since, before.tries + 1
        wait = min(self.every * 2.0 ** min(tries, 16), max(self.every, LONGEST))
        self.outage = Outage(since, tries, self._clock() + wait, error)
        return self.outage

    def seconds_left(self) -> float:
        """How long it is until the next try in an outage."""
        return 0.0 if self.outage is None else max(0.0, self.outage.due - self._clock())

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._page_due and self._clock() >= self._until:
                    self._thread = None
                    self._changed.notify_all()
                    return
                self._reading_page, self._page_due = self._page_due, False
                self._may_cut = True
                self._cut.clear()
            try:
                if not self._reading_page:
                    more = self._read_rest()
                else:
                    self._read_page()
                    more = True  # the others are read for once, however long the page takes
            except Exception as error:  # noqa: BLE001  # nobody would see it raised
                more = False
                self._fails(error)
            with self._changed:
                self._reading_page = False
                self._changed.notify_all()
                if not more:
                    left = max(0.0, self._until - self._clock())
                    self._changed.wait_for(lambda: self._page_due or self._cut.is_set(), left)

    def _read_page(self) -> None:
        now, outage = self._clock(), self.outage
        if outage is not None:
            self._aged()
            if now + self.every / 2 < outage.due:  # no tick comes nearer to it
                return
            self._read((self._page() or self._rooms())[:TRIED], None, self._cut)
        if self.outage is None:
            self._read(self._page(), None, self._cut)
        if self.outage is None:
            self._also()

    def _read_rest(self) -> bool:
        """Whether some of the other rooms were read."""
        now = self._clock()
        if self.outage is not None or not self._rate or now >= self._until:
            return False
        if not self._round and now - self._began >= self.every:
            page = set(self._page())
            self._began = now
            self._round.extend(room_id for room_id in self._rooms() if room_id not in page)
        # So few that a tick seldom cuts them off; two calls each, and one for all devices.
        most = max(1, min(AT_ONCE, int(self._rate * self.every / 4)))
        ids = [self._round.popleft() for _ in range(min(most, len(self._round)))]
        if not ids:
            return False
        self._may_cut = 2 * len(ids) + 1 <= self._rate * self.every
        found = self._read(ids, self._rate, self._cut)
        self._round.extendleft(reversed(ids if found is None else left_out(found)))
        return found is not None  # what could not be asked is not asked again at once


def silence(came: Sweep | ConfkitError) -> ConfkitError | None:
    """What came in place of any answer about rooms, where none has come for all that was asked."""
    if isinstance(came, ConfkitError):
        refused = isinstance(came, TokenRejected) or getattr(came, "endpoint", None) == "A1"
        return came if refused or not isinstance(came, ApiError) else None
    if not came.complete or _is_read(came):
        return None
    found = [silence(one.error) for one in came.failures if one.room_id is not None]
    return found[0] if found and all(found) else None


def _ends(outage: Outage, came: Sweep) -> bool:
    """Whether a reading shows that somebody answers again."""
    silent = [silence(one.error) is not None for one in came.failures if one.room_id is not None]
    if came.time < outage.since and any(silent):
        return False  # it began before the outage, and was answered then
    return not came.ids or _is_read(came) or not all(silent)  # that there are none is an answer


def _is_read(swept: Sweep) -> bool:
    return any(
        not isinstance(one, ConfkitError | None)
        for part in (swept._part.users, swept._part.rooms) for one in part
    )  # fmt: skip
