"""What every panel is: a box with a head, one `value`, and work that never freezes it."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..errors import ConfigError, ConfkitError
from .parts import Frame
from .waiting import Awaited

if TYPE_CHECKING:
    from ..client import Client

READ_ONLY = "Read only: nothing on the service can be changed (connect with read_only=False)."
log = logging.getLogger("confkit.panels")


class Work:
    """A piece of work under way: `progress` is told the steps done and their number; the work ends
    early when `cancelled` is set."""

    def __init__(self, progress: Callable[[int, int], None]) -> None:
        self.progress = progress
        self.cancelled = threading.Event()


class Panel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A widget with one `value`, and a public method for everything that it can do.

    A method blocks until it is done, says in the panel what went wrong, and raises it; a click does
    the same in a thread, so that nothing freezes, and raises nothing. One piece of work is under
    way at a time: a click during that of another click does nothing, and one during work that
    nobody clicked for, the first reading or an automatic one, takes effect after it.
    """

    value = Awaited()

    def __init__(self, title: str, client: Client | None) -> None:
        self._first = threading.Event()
        self._first.set()
        self._thread: threading.Thread | None = None
        self._failed: BaseException | None = None
        self.first_error: Exception | None = None
        self._working = threading.RLock()
        self._clicked = threading.Event()  # work is under way, and not that of a method's caller
        self._by_itself = False  # nobody clicked for it
        self._next: Callable[[], object] | None = None  # what was clicked meanwhile
        self._turn = threading.Lock()
        self._work: Work | None = None
        self._answer: Callable[[], object] | None = None
        self._tick: Callable[[], object] = lambda: None
        self.frame = Frame(title, self._heard)
        super().__init__([self.frame])
        self.add_class("confkit-panel")
        self.names(client)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.frame.service or 'no service yet'}>"

    def names(self, client: Client | None) -> None:
        """Nothing, once the head names this client's service."""
        with self.frame.hold_sync():
            self.frame.service = "" if client is None else client.name
            self.frame.sandbox = client is not None and client.sandbox is not None
            self.frame.note = READ_ONLY if client is not None and client.read_only else ""

    def shows(self, *children: ipywidgets.Widget) -> None:
        """Nothing, once the panel has these below its head."""
        self.children = [self.frame, *children]

    # Work

    @contextmanager
    def working(self, what: str) -> Iterator[Work]:
        """Says in the head what is being done; what goes wrong is told in the panel and raised.

        Work of others begins after the first reading, and one after the other."""
        self.wait_for_first()
        with self._working:
            outer, before = self._work, self.frame.busy
            work = self._work = outer or Work(self._progress)
            if outer is None:
                self.frame.tell("")
            with self.frame.hold_sync():
                self.frame.busy, self.frame.done, self.frame.total = what, 0, 0
            try:
                yield work
            except BaseException as error:
                self.fails(error)
                raise
            finally:
                self._work, self.frame.busy = outer, before

    def fails(self, error: BaseException) -> None:
        """Nothing, once the panel says what went wrong."""
        self._failed = error
        if isinstance(error, CancelledError):
            self.frame.tell("Cancelled.")
        elif isinstance(error, ConfkitError | ValueError | OSError):
            self.frame.tell(str(error), "bad")
        elif isinstance(error, KeyboardInterrupt):
            self.frame.tell("Interrupted.", "bad")
        else:
            log.error("a panel met what it does not expect", exc_info=error)
            told = f"{type(error).__name__}: {error}"
            self.frame.tell(f"Unexpected, please report it: {told}", "bad")

    def cancel(self) -> None:
        """Nothing, once the work under way was asked to end."""
        work = self._work
        if work is not None:
            work.cancelled.set()
            self.frame.busy = "Cancelling"

    def wait(self, timeout: float | None = None) -> bool:
        """Whether no click's work, and no first reading, is under way any more, after at most
        `timeout` seconds."""
        if not self._first.wait(timeout):
            return False
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        return not self._clicked.is_set()

    def wait_for_first(self) -> None:
        """Nothing, once the first reading is over; at once for the thread that reads."""
        if self._thread is not threading.current_thread():
            self._first.wait()

    def first(self, action: Callable[[], object]) -> None:
        """Starts the first reading; who asks for `value` waits for it, and gets its error."""

        def read() -> None:
            try:
                action()
            except Exception as error:
                self.first_error = error
                raise

        self._first.clear()
        self._start(read, self._first.set, by_itself=True)

    def clicked(self, action: Callable[..., object]) -> Callable[..., None]:
        """The handler of a click that does this in a thread: nothing while another click's work is
        under way, and after what the panel does by itself."""
        return lambda *_: self._start(action)

    def _start(
        self,
        action: Callable[[], object],
        after: Callable[[], object] = lambda: None,
        by_itself: bool = False,
        surely: bool = False,
    ) -> None:
        with self._turn:
            if self._clicked.is_set():
                if surely or (self._by_itself and not by_itself):
                    self._next = action if surely else self._next or action
                    self.frame.busy = self.frame.busy or "Waiting for what is being read"
                return
            self._clicked.set()
            self._by_itself = by_itself

        def run() -> None:
            job: Callable[[], object] | None = action
            while job is not None:
                try:
                    job()
                except BaseException as error:  # noqa: BLE001  # nobody would see it raised
                    if error is not self._failed:
                        self.fails(error)
                with self._turn:
                    job, self._next, self._by_itself = self._next, None, False
                    self.frame.busy = ""
                    if job is None:
                        self._clicked.clear()
                after()

        self._thread = threading.Thread(target=run, name="confkit panel", daemon=True)
        self._thread.start()

    def _progress(self, done: int, total: int) -> None:
        # At most some hundred messages, however many steps there are.
        if done == total or done % max(1, total // 100) == 0:
            with self.frame.hold_sync():
                self.frame.done, self.frame.total = done, total

    # Questions

    def asks(self, yes: str, question: Callable[[], str], action: Callable[[], object]) -> Any:
        """The handler of a click that asks this first and does it when `yes` was clicked."""
        return self.clicked(lambda: self.ask(yes, question(), action))

    def ask(self, yes: str, question: str, action: Callable[[], object]) -> None:
        """Nothing, once the panel asks this; `answer` answers it."""
        self._answer = action
        with self.frame.hold_sync():
            self.frame.question, self.frame.yes = question, yes

    def answer(self, yes: bool) -> None:
        """Nothing, once what was asked is done, or is not to be done."""
        action = self._answered()
        if yes and action is not None:
            action()

    def _answered(self) -> Callable[[], object] | None:
        """What was asked for; it is answered now, whatever else is under way, and only once."""
        with self._turn:
            action, self._answer = self._answer, None
            self.frame.question = ""
        return action

    # The clock

    def every(self, seconds: float, action: Callable[[], object]) -> None:
        """Nothing; from now on this is done every so many seconds, while somebody sees the panel;
        0 ends that."""
        if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise ConfigError(f"every is {seconds!r}; give seconds, or 0 for never.")
        self._tick = lambda: self._start(action, by_itself=True)
        self.frame.every = float(seconds)

    def close(self) -> None:
        """Ends the work under way, the clock and the widget."""
        if hasattr(self, "frame"):  # it was made to its end
            self.frame.every = 0.0
            self.cancel()
        super().close()

    def _heard(self, content: Mapping[str, Any]) -> None:
        kind = content["kind"]
        if kind == "tick":
            self._tick()
        elif kind == "cancel":
            self.cancel()
        # An answer that was on its way when another question came up answers none.
        elif content.get("question", self.frame.question) == self.frame.question:
            action = self._answered()
            if kind == "yes" and action is not None:
                self._start(action, surely=True)
