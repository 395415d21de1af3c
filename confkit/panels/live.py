"""A panel whose rooms are read again by themselves, and that says when nobody answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from ..charts.texts import moment
from ..errors import ConfigError, ConfkitError, ProtocolError, TransportError
from ..many.result import Sweep
from ..many.sweeps import sweep
from ..occupancy.zones import zone
from ..transport import finite
from . import arranging
from .given import zone_of
from .panel import Panel, Work
from .room_list import READ_AT, age, oldest
from .watching import Outage, Watch

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

OFTEN = {"off": 0.0, "every 5 s": 5.0, "every 15 s": 15.0, "every 60 s": 60.0}
SHORTEST, DAY = 0.5, 86_400.0  # seconds from one reading of the page to the next


def check_every(seconds: float) -> float:
    """These seconds; ConfigError unless they are 0, or from 0.5 to a day."""
    if seconds != 0 and not (finite(seconds) and SHORTEST <= seconds <= DAY):
        raise ConfigError(
            f"every is {seconds!r}",
            f"Give seconds from {SHORTEST} to a day ({DAY:g}), or 0 for never.",
        )
    return float(seconds)


def check_rate(rate: float) -> None:
    """Raises ConfigError unless this is 0 or a number of requests a second."""
    if rate != 0 and not finite(rate):
        raise ConfigError(f"background_rate is {rate!r}", "Give requests a second, or 0 for none.")


def outage_told(
    outage: Outage, frame: pd.DataFrame | None, service: str, seconds: float | None, tz: tzinfo
) -> str:
    """An outage in words: since when, how many rooms show old values and how old these are, why,
    and in how many seconds it is tried next (None: not by itself). Times are in the zone `tz`."""
    silent = isinstance(outage.error, TransportError | ProtocolError)
    told = "No answer" if silent else "Nothing has been read"
    told += f" from {service} since {_clock(outage.since, tz)} ({zone(tz)[1]})"
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
        f"{service} has been answering again since {_clock(datetime.now(UTC), tz)} "
        f"({zone(tz)[1]}), after {age(outage.since)}. Rows that have not been read since say how "
        "old they are."
    )


def _clock(time: datetime, tz: tzinfo) -> str:
    local = time.astimezone(tz)
    return f"{local:%H:%M:%S}" if local.date() == datetime.now(tz).date() else moment(local)


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
            also=self._read_also, aged=self._age, rate=rate,
            fails=lambda error: self.fails(error, "reading"),
        )  # fmt: skip

    def close(self) -> None:
        """Ends what is under way, and what goes on by itself."""
        if hasattr(self, "_watch"):  # it was made so far
            self._watch.stop()
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether no click's work, no first reading, and no automatic one of the page, is under way
        any more, after at most `timeout` seconds for each."""
        return super().wait(timeout) and self._watch.wait(timeout)

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
        if self._watch.outage is not None:
            self._tell_outage()

    @property
    def _rows(self) -> pd.DataFrame | None:
        """All rows, with `read_at` and `unread`; None before the first reading."""
        raise NotImplementedError

    @property
    def _seeks(self) -> bool:
        """Whether the rooms that are to be shown have not been found yet."""
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
                self._said = error
            raise

    def _age(self) -> None:
        # As all that changes rows, beside no other work: who observes `value` may begin some.
        with self._working:
            self._show()

    def _reread(self, ids: list[str], rate: float | None, cut: threading.Event) -> Sweep | None:
        """What came of these rooms by itself, once it is shown; None where nothing was asked."""
        if self._first in self._jobs:
            return None
        try:
            if not ids and not self._seeks:
                return None
            asked = self._again(ids, cut)
            swept = sweep(self._client, asked, max_rate=rate, progress=False, cancelled=cut)
        except CancelledError:
            return None
        except ConfkitError as error:
            with self._working:
                self._lost(error, surely=True)
            return None
        with self._working:
            self._take(swept)
        return swept

    def _lost(self, error: ConfkitError, surely: bool = False) -> bool:
        """Whether an error that came in place of a reading is said, as an outage."""
        with self._taking:
            self._hear(error, surely)
            return self._watch.outage is not None and self._watch.outage.error is error

    def _hear(self, came: Sweep | ConfkitError, surely: bool = False) -> None:
        """Takes in what came, and says when nobody answers, and when somebody does again."""
        before = self._watch.outage
        outage = self._watch.heard(came, surely)
        if outage is not None:
            self._mark(outage.error)
            # One that was dismissed comes back when somebody asks.
            told = any(one["kind"] == "service" for one in self.frame.messages)
            if before is None or told or not self._watch.is_here:
                self._tell_outage()
        elif before is not None and self._watch.outage is None:
            told_over = over_told(before, self._client.name, self._tz)
            self.frame.tell(told_over, "good", "service")

    def _tell_outage(self) -> None:
        outage = self._watch.outage
        if outage is not None:
            seconds = self._watch.seconds_left() if self.frame.every else None
            told = outage_told(outage, self._rows, self._client.name, seconds, self._tz)
            self.frame.tell(told, "bad", "service")
