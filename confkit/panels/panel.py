"""What every panel is: a box with a head, one `value`, and work that never freezes it."""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..errors import ConfigError, ConfkitError
from .parts import Frame
from .parts.frame import Tone
from .waiting import Awaited

if TYPE_CHECKING:
    from ..client import Client

READ_ONLY = "Read only: nothing on the service can be changed (connect with read_only=False)."
log = logging.getLogger("confkit.panels")


class Work:
    """A piece of work under way: `progress` is told the steps done and their number; the work ends
    early when `cancelled` is set. What it says is a message of this `kind`."""

    def __init__(self, progress: Callable[[int, int], None], kind: str) -> None:
        self.progress, self.kind = progress, kind
        self.cancelled = threading.Event()
        self.thread = threading.get_ident()


@dataclass(frozen=True)
class _Job:
    """What a panel's thread does: the click of a `button`, the first reading, or `by_itself` what
    the clock asks for. `again`: a click while it is under way is another job."""

    action: Callable[[], object]
    name: str
    button: object
    kind: str
    again: bool = False
    by_itself: bool = False
    after: Callable[[], object] = lambda: None


class Panel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A widget with one `value`, and a public method for everything that it can do.

    A method blocks until it is done, says in the panel what went wrong, and raises it; a click does
    the same in a thread, so that nothing freezes, and raises nothing. One piece of work is under
    way at a time: clicks meanwhile wait for their turn, in their order, and the head names them; a
    second click of the same button does not count twice. A message stays until it is dismissed or
    the next work of its kind begins; automatic work takes back only what such work has said.
    """

    value = Awaited()

    def __init__(self, title: str, client: Client | None) -> None:
        self._first = threading.Event()
        self._first.set()
        self._thread: threading.Thread | None = None
        self._failed: BaseException | None = None
        self._said: BaseException | None = None  # in words of its own
        self.first_error: Exception | None = None
        self._working = threading.RLock()
        self._now: _Job | None = None  # under way in the panel's thread
        self._queue: deque[_Job] = deque()  # what was clicked meanwhile
        self._turn = threading.Lock()
        self._by_itself: dict[str, str] = {}  # what automatic work has said last, by kind
        self._work: Work | None = None
        self._answer: Callable[[], object] | None = None
        self._tick: Callable[[], object] = lambda: None
        self.frame = Frame(title, self._heard)
        super().__init__([self.frame])
        self.add_class("confkit-panel")
        if client is not None:
            inside, note = client.sandbox is not None, READ_ONLY if client.read_only else ""
            self.frame.put(service=client.name, sandbox=inside, note=note)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.frame.service or 'no service yet'}>"

    def shows(self, *children: ipywidgets.Widget) -> None:
        """Put these below the panel's head."""
        self.children = [self.frame, *children]

    # Work

    @contextmanager
    def working(self, what: str, kind: str = "work") -> Iterator[Work]:
        """Says in the head what is being done; what goes wrong is told in the panel, as a message
        of this kind, and raised.

        Work of others begins after the first reading, and one after the other. Work inside other
        work is a part of it, and leaves it to that to tell what went wrong."""
        self.wait_for_first()
        with self._working, self.telling(kind):
            outer, before = self._work, self.frame.busy
            work = self._work = outer or Work(self._progress, kind)
            self.frame.put(busy=what, done=0, total=0)
            try:
                yield work
            finally:
                self._work, self.frame.busy = outer, before

    @contextmanager
    def telling(self, kind: str) -> Iterator[None]:
        """Takes away the message of this kind that was there before; what goes wrong is told as a
        new one, and raised. Inside work of the panel, and around automatic work, messages stay."""
        work = self._work
        if work is not None and work.thread == threading.get_ident():
            yield
            return
        if not self._alone:
            self.tell("", kind=kind)
        try:
            yield
        except BaseException as error:
            if error is not self._said:
                self.fails(error, kind)
            raise

    def tell(self, text: str, tone: Tone = "", kind: str = "work") -> None:
        """Says this in place of the message of this kind; with an empty text takes that back.

        Automatic work takes back only what such work has said, and does not say again what it has
        said already: that may have been dismissed."""
        if not self._alone:
            self._by_itself.pop(kind, None)
        elif text and self._by_itself.get(kind) != text:
            self._by_itself[kind] = text
        elif text or self._by_itself.pop(kind, None) is None:
            return
        self.frame.tell(text, tone, kind)

    def dismiss(self, kind: str | None = None) -> None:
        """Remove the message of this kind, or all messages."""
        kinds = [one["kind"] for one in self.frame.messages] if kind is None else [kind]
        for one in kinds:
            self.frame.tell("", kind=one)

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong, in a message of this kind."""
        self._failed = error
        if isinstance(error, CancelledError):
            self.tell("Cancelled.", kind=kind)
        elif isinstance(error, ConfkitError | ValueError | OSError):
            self.tell(str(error), "bad", kind)
        elif isinstance(error, KeyboardInterrupt):
            self.tell("Interrupted.", "bad", kind)
        else:
            log.error("a panel met what it does not expect", exc_info=error)
            told = f"{type(error).__name__}: {error}"
            self.tell(f"Unexpected, please report it: {told}", "bad", kind)

    def cancel(self) -> None:
        """Ask the work under way to end, and drop the clicks that wait; the panel names them."""
        if dropped := self._dropped():
            self.tell(f"Cancelled while waiting, and not done: {dropped}.", kind="queue")
        work = self._work
        if work is not None:
            work.cancelled.set()
            self.frame.busy = "Cancelling"

    def wait(self, timeout: float | None = None) -> bool:
        """Whether no click's work, and no first reading, is under way or waits any more, after at
        most `timeout` seconds."""
        if not self._first.wait(timeout):
            return False
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        return self._now is None

    def wait_for_first(self) -> None:
        """Wait until the first reading is over; return at once in the thread that reads."""
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
        self._start(_Job(read, "The first reading", read, "reading", after=self._first.set))

    def clicked(
        self,
        action: Callable[..., object],
        kind: str = "work",
        name: str = "",
        *,
        given: Callable[[], Any] | None = None,
        again: bool = False,
    ) -> Callable[..., None]:
        """The handler of a click that does this in a thread, after what is under way.

        An error that the action does not tell is a message of this kind; `name` is what a button
        without a text is called. With `given` the action gets what that gives at the click, and not
        what it would give when its turn comes. `again`: a click while its own work is under way
        counts, too, as for the pages of a table.
        """

        def handle(*clicked: Any) -> None:
            button = clicked[0] if clicked else action
            called = name or getattr(button, "description", "") or "A click"
            try:
                job = action if given is None else partial(action, given())
            except ConfkitError as error:
                self.fails(error, kind)
            else:
                self._start(_Job(job, called, button, kind, again))

        return handle

    def _start(self, job: _Job) -> None:
        with self._turn:
            if self._now is not None:
                if not job.by_itself:
                    self._enqueue(job, self._now)
                return
            self._now = job
        self._thread = threading.Thread(
            target=self._run, args=(job,), name="confkit panel", daemon=True
        )
        self._thread.start()

    def _enqueue(self, job: _Job, now: _Job) -> None:
        if any(one.button == job.button for one in self._queue):
            self._say_queue(f"Already waiting: {job.name}.")
        elif now.button == job.button and not job.again:
            self._say_queue(f"Already under way: {job.name}.")
        else:
            self._queue.append(job)
            self._say_queue()

    def _say_queue(self, more: str = "") -> None:
        names = ", ".join(job.name for job in self._queue)
        self.frame.waiting = " ".join(filter(None, [names and f"Waiting: {names}.", more]))

    def _dropped(self) -> str:
        """The names of the clicks that waited and do so no longer."""
        with self._turn:
            names = ", ".join(job.name for job in self._queue)
            self._queue.clear()
            self._say_queue()
        return names

    def _run(self, first: _Job) -> None:
        job: _Job | None = first
        while job is not None:
            try:
                job.action()
            except BaseException as error:  # noqa: BLE001  # nobody would see it raised
                if error is not self._failed:
                    self.fails(error, job.kind)
            after = job.after
            with self._turn:
                self._now = job = self._queue.popleft() if self._queue else None
                self.frame.busy = ""
                self._say_queue()
            after()

    @property
    def _alone(self) -> bool:
        """Whether this thread does automatic work."""
        now = self._now
        return now is not None and now.by_itself and self._thread is threading.current_thread()

    def _progress(self, done: int, total: int) -> None:
        # At most some hundred messages, however many steps there are.
        if done == total or done % max(1, total // 100) == 0:
            self.frame.put(done=done, total=total)

    # Questions

    def ask(self, yes: str, question: str, action: Callable[[], object]) -> None:
        """Ask this in the panel; `answer` answers it. What was asked before and not answered is not
        done, which the panel says."""
        with self._turn:
            before, self._answer = self.frame.question, action
            self.frame.put(question=question, yes=yes)
        if before and before != self.frame.question:
            self.tell(f"Not answered, and not done: {before}", kind="question")

    def answer(self, yes: bool) -> None:
        """Do what was asked, or leave it."""
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
        """Do this every so many seconds from now on, while somebody sees the panel; 0 ends that."""
        if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise ConfigError(f"every is {seconds!r}", "Give seconds, or 0 for never.")
        job = _Job(action, "An automatic reading", action, "reading", by_itself=True)
        self._tick = lambda: self._start(job)
        self.frame.every = float(seconds)

    def close(self) -> None:
        """Ends the work under way, the clock and the widget."""
        if hasattr(self, "frame"):  # it was made to its end
            self.frame.every = 0.0
            self._dropped()
            self.cancel()
        super().close()

    def _heard(self, content: Mapping[str, Any]) -> None:
        kind = content["kind"]
        if kind == "tick":
            self._tick()
        elif kind == "hidden":
            self._hidden()
        elif kind == "cancel":
            self.cancel()
        elif kind == "dismiss":
            self._dismissed(content.get("message"), content.get("text"))
        # An answer that was on its way when another question came up answers none.
        elif content.get("question", self.frame.question) == self.frame.question:
            name, action = self.frame.yes, self._answered()
            if kind == "yes" and action is not None:
                self._start(_Job(action, name, object(), "work"))  # each answer counts

    def _hidden(self) -> None:
        """Called when nobody sees the panel any more."""

    def _dismissed(self, kind: object, text: object) -> None:
        # Of what was said since the click nobody has read anything.
        if any((one["kind"], one["text"]) == (kind, text) for one in self.frame.messages):
            self.dismiss(str(kind))
