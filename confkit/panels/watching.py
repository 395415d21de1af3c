"""Rooms that are read again by themselves: the page, then the others, less often in an outage."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ApiError, AuthenticationFailed, ConfigError, ConfkitError, TokenRejected
from ..pace import finite
from ..sweeping.result import Sweep
from ..sweeping.sweeps import sweep
from . import arranging
from .given import zone_of
from .panel import Panel, Work
from .room_list import READ_AT, age, left_out, oldest

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

OFTEN = {"off": 0.0, "every 5 s": 5.0, "every 15 s": 15.0, "every 60 s": 60.0}
SHORTEST, DAY = 0.5, 86_400.0  # seconds from one reading of the page to the next
RATE = 20.0  # requests a second for the rooms that are not on the screen
AT_ONCE = 50  # of these rooms in one reading
LONGEST = 60.0  # seconds between two tries in an outage, unless `every` is longer
log = logging.getLogger("confkit.panels")


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
    in the order given), at most `rate` requests a second. While the service does not answer, one
    room of the page is tried, each time after twice as long; `aged` is called at the ticks between.
    `read` reads rooms and gives the Sweep, which it hands to `heard`, too; `also` is called after
    each reading of the page.
    """

    def __init__(
        self,
        *,
        page: Callable[[], list[str]],
        rooms: Callable[[], list[str]],
        read: Callable[[list[str], float | None, threading.Event], Sweep | None],
        also: Callable[[], object],
        aged: Callable[[], object],
        rate: float = RATE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.outage: Outage | None = None
        self.every = 0.0  # seconds from one tick to the next, as far as they come
        self._page, self._rooms, self._read, self._aged = page, rooms, read, aged
        self._also = also
        self._rate, self._clock = rate, clock
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._until = 0.0  # the page was seen last, and a tick more
        self._page_due = self._reading_page = False
        self._cut = threading.Event()  # ends the reading under way
        self._round: deque[str] = deque()  # the rooms that this round has not come to
        self._began = -float("inf")
        self._page_seconds = 0.0

    # What the panel says

    def tick(self) -> None:
        """Has the page read, and keeps the others going until the next tick."""
        with self._changed:
            self._until = self._clock() + self.every
            self._page_due = True
            # The page goes before the others, unless it takes so long that they would never come.
            if not self._reading_page and self._page_seconds < self.every / 2:
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

    def heard(self, came: Sweep | ConfkitError) -> ConfkitError | None:
        """Takes in a reading, or the error that came instead; gives the error where the service
        does not answer at all, and `outage` says more."""
        error = silence(came)
        if error is None:
            if not isinstance(came, Sweep) or _is_answered(came):
                self.outage = None
            return None
        before = self.outage
        tries = 1 if before is None else before.tries + 1
        since = datetime.now(UTC) if before is None else before.since
        if before is None and isinstance(came, Sweep):
            since = came.time
        wait = min(self.every * 2.0 ** min(tries, 16), max(self.every, LONGEST))
        self.outage = Outage(since, tries, self._clock() + wait, error)
        return error

    def seconds_left(self) -> float:
        """How long it is until the next try in an outage."""
        return 0.0 if self.outage is None else max(0.0, self.outage.due - self._clock())

    # The thread

    def _run(self) -> None:
        try:
            while self._goes_on():
                with self._changed:
                    page, self._page_due, self._reading_page = self._page_due, False, self._page_due
                    self._cut.clear()
                if page:
                    self._read_page()
                    self._read_rest()  # once at least, however long the page takes
                elif not self._read_rest():
                    with self._changed:
                        self._changed.wait_for(
                            lambda: self._page_due or self._cut.is_set(),
                            max(0.0, self._until - self._clock()),
                        )
        finally:
            with self._changed:
                self._reading_page = self._page_due = False
                self._thread = None
                self._changed.notify_all()

    def _goes_on(self) -> bool:
        with self._changed:
            return self._page_due or self._clock() < self._until

    def _read_page(self) -> None:
        began = self._clock()
        try:
            if self.outage is not None:
                self._aged()
                if began < self.outage.due:
                    return
                self._read(self._page()[:1], None, self._cut)
            if self.outage is None:
                self._read(self._page(), None, self._cut)
            if self.outage is None:
                self._also()
        finally:
            with self._changed:
                self._page_seconds = self._clock() - began
                self._reading_page = False
                self._changed.notify_all()

    def _read_rest(self) -> bool:
        """Whether some of the other rooms were read."""
        if self.outage is not None or not self._rate or not self._goes_on():
            return False
        now = self._clock()
        if not self._round and now - self._began >= self.every:
            page = set(self._page())
            self._began = now
            self._round.extend(room_id for room_id in self._rooms() if room_id not in page)
        ids = [self._round.popleft() for _ in range(min(AT_ONCE, len(self._round)))]
        if not ids:
            return False
        found = self._read(ids, self._rate, self._cut)
        self._round.extendleft(reversed(ids if found is None else left_out(found)))
        return found is not None  # what could not be asked is not asked again at once


def check_every(seconds: float) -> float:
    """These seconds; ConfigError unless they are 0, or from 0.5 to a day."""
    if seconds != 0 and not (finite(seconds) and SHORTEST <= seconds <= DAY):
        raise ConfigError(
            f"every is {seconds!r}; give seconds from {SHORTEST} to a day ({DAY:g}), or 0 for never"
        )
    return float(seconds)


def check_rate(rate: float) -> None:
    """Raises ConfigError unless this is 0 or a number of requests a second."""
    if rate != 0 and not finite(rate):
        raise ConfigError(f"background_rate is {rate!r}; give requests a second, or 0 for none")


def silence(came: Sweep | ConfkitError) -> ConfkitError | None:
    """What came in place of any answer, where nobody has answered; None where somebody has."""
    if isinstance(came, ConfkitError):
        refused = isinstance(came, TokenRejected | AuthenticationFailed)
        return came if refused or not isinstance(came, ApiError) else None
    if _is_answered(came):
        return None
    errors = [one.error for one in came.failures if one.room_id is not None]
    found = [silence(error) for error in errors]
    return found[0] if found and all(found) else None


def _is_answered(swept: Sweep) -> bool:
    return any(
        not isinstance(one, ConfkitError | None)
        for part in (swept._part.users, swept._part.rooms) for one in part
    )  # fmt: skip


def outage_told(
    outage: Outage, frame: pd.DataFrame | None, service: str, seconds: float | None, tz: tzinfo
) -> str:
    """An outage in words: since when, how many rooms show old values and how old these are, why,
    and in how many seconds it is tried next (None: not by itself)."""
    # Without a client, or the sandbox that it asks, nobody was asked.
    closed = isinstance(outage.error, ConfigError)
    told = "Nothing was read" if closed else "No answer"
    told += f" from {service} since {_clock(outage.since, tz)}"
    known = None if frame is None else frame[READ_AT].dropna()
    if known is None or known.empty:
        told += ": no room has been read yet"
    else:
        rooms = "1 room keeps its" if len(known) == 1 else f"{len(known):,} rooms keep their"
        told += f": {rooms} last known values, up to {age(known.min())} old"
    again = "Refresh tries again"
    if seconds is not None:
        again = f"next try at {_clock(datetime.now(UTC) + timedelta(seconds=seconds), tz)}"
    return f"{told}; {again}. {outage.error}"


def over_told(outage: Outage, service: str, tz: tzinfo) -> str:
    """That an outage is over, in words."""
    return (
        f"{service} answers again since {_clock(datetime.now(UTC), tz)}; there was no answer for "
        f"{age(outage.since)}. Rows that have not been read since say how old they are."
    )


def _clock(time: datetime, tz: tzinfo) -> str:
    return f"{time.astimezone(tz):%H:%M:%S}"


class LivePanel(Panel):
    """A panel whose rooms are read again by themselves, and that says when nobody answers."""

    def __init__(self, title: str, client: Client, rate: float, tz: str | tzinfo | None) -> None:
        check_rate(rate)
        self._tz = zone_of(tz)
        super().__init__(title, client)
        self._client = client
        self.often = arranging.choice("Automatic refresh", list(OFTEN.items()), "short")
        self.often.observe(lambda change: self._follow_every(change["new"]), "value")
        self._taking = threading.RLock()  # a click's reading, and one that comes by itself
        self._watch = Watch(
            page=self._page, rooms=lambda: oldest(self._rows), read=self._reread,
            also=self._read_also, aged=self._show, rate=rate,
        )  # fmt: skip

    def close(self) -> None:
        """Ends what is under way, and what goes on by itself."""
        if hasattr(self, "_watch"):  # it was made so far
            self._watch.stop()
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether no click's work, no first reading, and no automatic one of the page, is under way
        any more, after at most `timeout` seconds for each."""
        return self._watch.wait(timeout) and super().wait(timeout)

    def _hidden(self) -> None:
        self._watch.stop()

    def refresh_every(self, seconds: float) -> None:
        """Has the page read every so many seconds while somebody sees the panel, and all other
        rooms in between; 0 ends that. ConfigError: it is no number of seconds from 0.5 to a day."""
        seconds = check_every(seconds)
        if seconds not in OFTEN.values():
            self.often.options = [*OFTEN.items(), (f"every {seconds:g} s", seconds)]
        self.often.value = seconds

    def _follow_every(self, seconds: float) -> None:
        self._watch.every = seconds
        self.every(seconds, self._watch.tick)
        if not seconds:
            self._watch.stop()

    @property
    def _rows(self) -> pd.DataFrame | None:
        """All rows, with `read_at` and `unread`; None before the first reading."""
        raise NotImplementedError

    def _page(self) -> list[str]:
        """The rooms that are seen now."""
        raise NotImplementedError

    def _again(self, ids: list[str], cut: threading.Event) -> Any:
        """What `sweep` takes for these rooms; CancelledError when `cut` is set."""
        raise NotImplementedError

    def _take(self, swept: Sweep) -> pd.DataFrame:
        """Puts a reading of some of the rooms among the rows, and shows them."""
        raise NotImplementedError

    def _mark(self, error: ConfkitError) -> None:
        """Marks all rows as not read for this reason, and shows them."""
        raise NotImplementedError

    def _show(self) -> None:
        """Shows the rows as they are, with their ages."""
        raise NotImplementedError

    def _read_also(self) -> None:
        """Reads what is read again beside the page."""

    @contextmanager
    def reads(self, what: str) -> Iterator[Work]:
        """Work in which rooms are read; where nobody answers that is said once, as an outage."""
        with self.working(what, kind="reading") as work, self._hearing():
            yield work

    @contextmanager
    def _hearing(self) -> Iterator[None]:
        try:
            yield
        except ConfkitError as error:
            if self._lost(error):
                self._failed = self._said = error
            raise

    def _reread(self, ids: list[str], rate: float | None, cut: threading.Event) -> Sweep | None:
        if not self._first.is_set():
            return None
        try:
            asked = self._again(ids, cut)
            swept = sweep(self._client, asked, max_rate=rate, progress=False, cancelled=cut)
            self._take(swept)
        except CancelledError:
            return None
        except ConfkitError as error:
            if not self._lost(error):
                self.fails(error, "reading")
            return None
        except Exception as error:  # noqa: BLE001  # nobody would see it raised
            self.fails(error, "reading")
            return None
        return swept

    def _lost(self, error: ConfkitError) -> bool:
        """Whether an error that came in place of a reading is said, as an outage."""
        with self._taking:
            if silence(error) is None:
                return False
            self._hear(error)
            return True

    def _hear(self, came: Sweep | ConfkitError) -> None:
        """Takes in what came, and says when nobody answers, and when somebody does again."""
        before, error = self._watch.outage, self._watch.heard(came)
        if error is not None:
            self._mark(error)
        outage = self._watch.outage
        if outage is not None and outage is not before:
            seconds = self._watch.seconds_left() if self.frame.every else None
            told = outage_told(outage, self._rows, self._client.name, seconds, self._tz)
            self.tell(told, "bad", "service")
        elif outage is None and before is not None:
            self.tell(over_told(before, self._client.name, self._tz), "good", "service")
