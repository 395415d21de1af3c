"""What every panel is: a box with a head, one `value`, and work that never freezes it."""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import ipywidgets
import traitlets

from ..errors import ConfigError, ConfkitError
from .arranging import button
from .parts import Frame
from .parts.frame import Tone
from .parts.widget import Content

if TYPE_CHECKING:
    from ..client import Client

READ_ONLY = "Read only: nothing on the service can be changed (connect with read_only=False)."
Method = TypeVar("Method", bound=Callable[..., Any])
T = TypeVar("T")
log = logging.getLogger("confkit.panels")

_GLANCE = 0.1  # seconds between two looks at `cancelled`


def told(kind: str) -> Callable[[Method], Method]:
    """Make a method of a panel say its error there, as a message of this kind, before it is
    raised, wherever it arises: `working` says only what goes wrong inside it."""

    def telling(method: Method) -> Method:
        @wraps(method)
        def tells(panel: Panel, *given: Any, **named: Any) -> Any:
            with panel.telling(kind):
                return method(panel, *given, **named)

        return cast(Method, tells)

    return telling


def until_cancelled(action: Callable[[], T], cancelled: threading.Event) -> T:
    """Return what the action returns; raise CancelledError as soon as `cancelled` is set.

    A request that waits for a service cannot be ended: its thread goes on, and its result is
    dropped.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001  # raised where the result is used
            future.set_exception(error)

    threading.Thread(target=run, name="confkit panel waits", daemon=True).start()
    while not cancelled.is_set():
        if wait([future], _GLANCE).done:
            return future.result()
    raise CancelledError


@dataclass
class Work:
    """Work under way: call `progress` with the steps done and their number, and end early when
    `cancelled` is set. Its messages are of this `kind`."""

    progress: Callable[[int, int], None]
    kind: str
    cancelled: threading.Event
    thread: int


@dataclass(eq=False)
class _Job:
    """What a panel's worker does: the click of a `button`, the first reading, or `by_itself` what
    the clock asks for. Its messages stand at this `place`, which is a class of the button."""

    action: Callable[[], object]
    name: str
    kind: str
    button: ipywidgets.Button | None = None
    place: str = ""
    by_itself: bool = False
    error: BaseException | None = None

    def show(self, at_work: bool) -> None:
        """Show on its button whether it waits or is under way."""
        if self.button is not None:
            change = self.button.add_class if at_work else self.button.remove_class
            change("confkit-at-work")


class _Awaited(traitlets.Any):
    """A value for which readers wait while the first reading is under way, or while what belongs
    to it is drawn; where that reading failed and left none, its error is raised."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        """Return the value, once there is one."""
        obj.wait_for_first()
        with obj._drawing:
            value = super().get(obj, cls) if obj._newest is None else obj._newest
        error = obj._first and obj._first.error
        if value is None and error is not None:
            raise error.again() if isinstance(error, ConfkitError) else error
        return value


class Panel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A widget with one `value`, and a public method for everything that it can do.

    A method blocks until it is done, says in the panel what went wrong, and raises it. A click is a
    job for the panel's worker, a thread that does one after the other, so that nothing freezes, and
    raises nothing. The head names the clicks that wait, and their buttons are marked; a second
    click of the same button does not count twice. A message stays until it is dismissed or the next
    work of its kind begins; automatic work takes none away.
    """

    value = _Awaited()

    def __init__(self, title: str, client: Client | None) -> None:
        self._jobs: deque[_Job] = deque()  # the first of them is under way
        self._turn = threading.Condition()  # guards the jobs and the question; told of each end
        self._worker: threading.Thread | None = None
        self._first: _Job | None = None
        self._working = threading.RLock()  # held by work of the worker, or of a method's caller
        self._work: Work | None = None
        self._said: BaseException | None = None  # the error that was said last
        self._answer: Callable[[], object] | None = None
        self._tick: Callable[[], object] = lambda: None
        self._drawing = threading.RLock()
        self._newest: Any = None  # the value of what was drawn last
        self.frame = Frame(title=title)
        self.frame.hears(
            tick=lambda _: self._tick(),
            hidden=lambda _: self._hidden(),
            cancel=lambda _: self.cancel(),
            dismiss=self._dismissed,
            yes=self._answers,
            no=self._answers,
        )
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

    def draws(self, draw: Callable[[], Any]) -> None:
        """Have this show what there is now, whichever thread has changed it; what it returns is the
        value from then on."""
        with self._drawing:
            self._newest = draw()
        # Without the lock, as an observer of the value may begin work: then a newer one is there.
        while self._trait_values.get("value") is not self._newest:
            self.value = self._newest

    # Work, and what it says

    @contextmanager
    def working(self, what: str, kind: str = "work") -> Iterator[Work]:
        """Say in the head what is being done; what goes wrong is reported in the panel, as a
        message of this kind, and raised.

        Other work begins after the first reading, and one after the other. Work inside other work
        is a part of it, which reports what went wrong."""
        self.wait_for_first()
        with self._working, self.telling(kind):
            outer, before = self._work, self.frame.busy
            self._work = outer or Work(
                self._progress, kind, threading.Event(), threading.get_ident()
            )
            self.frame.put(busy=what, done=0, total=0)
            try:
                yield self._work
            finally:
                self._work = outer
                self.frame.busy = before if outer else ""

    @contextmanager
    def telling(self, kind: str) -> Iterator[None]:
        """Take away the message of this kind that was there before; what goes wrong is reported as
        a new one, and raised. Inside work of the panel this does nothing, and automatic work takes
        no message away."""
        work, job = self._work, self._job
        if work is not None and work.thread == threading.get_ident():
            yield
            return
        if job is None or not job.by_itself:
            self.tell("", kind=kind)
        try:
            yield
        except BaseException as error:
            if error is not self._said:
                self.fails(error, kind)
            raise

    def tell(self, text: str, tone: Tone = "", kind: str = "work") -> None:
        """Say this in place of the message of this kind; an empty text takes that away."""
        self.frame.tell(text, tone, kind, self._job.place if self._job else "")

    def dismiss(self, kind: str | None = None) -> None:
        """Remove the message of this kind, or all messages."""
        for one in self.frame.messages:
            if kind in (None, one["kind"]):
                self.frame.tell("", kind=one["kind"])

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong, in a message of this kind."""
        self._said = error
        said = str(error)
        tone: Tone = "bad"
        if isinstance(error, CancelledError):
            said, tone = "Cancelled.", ""
        elif isinstance(error, KeyboardInterrupt):
            said = "Interrupted."
        elif not isinstance(error, ConfkitError | ValueError | OSError):
            log.error("a panel met what it does not expect", exc_info=error)
            said = f"Unexpected, please report it: {type(error).__name__}: {error}"
        self.tell(said, tone, kind)

    def cancel(self) -> None:
        """End the work under way, and drop the clicks that wait; the panel names them."""
        if dropped := self._dropped():
            self.tell(f"Cancelled while waiting, and not done: {dropped}.", kind="queue")
        if self._work is not None:
            self._work.cancelled.set()
            self.frame.busy = "Cancelling"

    def _progress(self, done: int, total: int) -> None:
        # At most some hundred messages, however many steps there are.
        if done == total or done % max(1, total // 100) == 0:
            self.frame.put(done=done, total=total)

    # The queue: what was clicked, done by one thread

    def wait(self, timeout: float | None = None) -> bool:
        """Whether no click's work, and no first reading, is under way or waits any more, after at
        most `timeout` seconds."""
        with self._turn:
            return self._turn.wait_for(lambda: not self._jobs, 0 if self._job else timeout)

    def wait_for_first(self) -> None:
        """Wait until the first reading is over; return at once in the thread that reads."""
        with self._turn:
            self._turn.wait_for(lambda: self._job or self._first not in self._jobs)

    def first(self, action: Callable[[], object]) -> None:
        """Start the first reading: readers of `value` wait for it, and get its error."""
        self._first = _Job(action, "The first reading", "reading")
        self._add(self._first)

    def clicked(
        self,
        action: Callable[..., object],
        kind: str = "work",
        name: str = "A click",
        *,
        given: Callable[[], Any] | None = None,
    ) -> Callable[..., None]:
        """The handler of a click that has the worker do this, after what is under way.

        A second click of a button whose first one is not done yet does not count. An error that the
        action does not say is a message of this kind; `name` is for what is no button. With `given`
        the action gets what that returns at the click, and not when its turn comes.
        """

        def handle(*clicked: Any) -> None:
            job = _Job(action, name, kind)
            if clicked and isinstance(pressed := clicked[0], ipywidgets.Button):
                job.name, job.button = pressed.description, pressed
                job.place = f"confkit-{pressed.model_id}"
                pressed.add_class(job.place)
            try:
                if given is not None:
                    job.action = partial(action, given())
            except ConfkitError as error:
                self.fails(error, kind)
            else:
                self._add(job)

        return handle

    def _button(
        self,
        text: str,
        action: Callable[..., object],
        kind: str = "work",
        style: Literal["", "primary", "danger"] = "",
        *,
        given: Callable[[], Any] | None = None,
        changes: bool = False,
    ) -> ipywidgets.Button:
        """A button whose click the worker does; `changes`: a read-only client disables it."""
        refused = self.frame.note if changes else ""
        return button(text, self.clicked(action, kind, given=given), style, refused=refused)

    def _add(self, job: _Job) -> None:
        with self._turn:
            if job.by_itself and self._jobs:
                return
            for same in self._jobs:
                if job.button is not None and same.button is job.button:
                    state = "under way" if same is self._jobs[0] else "waiting"
                    self._name_waiting(f"Already {state}: {job.name}.")
                    return
            self._jobs.append(job)
            job.show(True)
            self._name_waiting()
            if len(self._jobs) == 1:
                self._worker = threading.Thread(
                    target=self._run, args=(job,), name="confkit panel", daemon=True
                )
                self._worker.start()

    def _run(self, job: _Job | None) -> None:
        while job is not None:
            try:
                job.action()
            except BaseException as error:  # noqa: BLE001  # it would be lost in this thread
                job.error = error
                if error is not self._said:
                    self.fails(error, job.kind)
            with self._turn:
                self._jobs.popleft().show(False)
                job = self._jobs[0] if self._jobs else None
                self._name_waiting()
                self._turn.notify_all()

    @property
    def _job(self) -> _Job | None:
        """What this thread does as the panel's worker; None in all other threads."""
        mine = threading.current_thread() is self._worker and self._jobs
        return self._jobs[0] if mine else None

    def _name_waiting(self, more: str = "") -> None:
        names = ", ".join(job.name for job in list(self._jobs)[1:])
        self.frame.waiting = " ".join(filter(None, [names and f"Waiting: {names}.", more]))

    def _dropped(self) -> str:
        """The names of the clicks that waited and do so no longer."""
        with self._turn:
            dropped = [self._jobs.pop() for _ in range(1, len(self._jobs))]
            for job in dropped:
                job.show(False)
            self._name_waiting()
        return ", ".join(job.name for job in reversed(dropped))

    # Questions, the clock, and what the browser says

    def ask(
        self, yes: str, question: str, action: Callable[[], object], grave: bool = True
    ) -> None:
        """Ask this in the panel; `answer` answers it. What was asked before and not answered is not
        done, which the panel says. `grave`: what is asked takes something away."""
        with self._turn:
            before, self._answer = self.frame.question, action
            place = self._job.place if self._job else ""
            self.frame.put(question=question, yes=yes, grave=grave, place=place)
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

    def _answers(self, content: Content) -> None:
        # An answer that was on its way when another question came up answers none.
        if content.get("question", self.frame.question) == self.frame.question:
            name, action = self.frame.yes, self._answered()
            if content["kind"] == "yes" and action is not None:
                # Each answer counts, and its result stands where the question stood.
                self._add(_Job(action, name, "work", place=self.frame.place))

    def every(self, seconds: float, action: Callable[[], object]) -> None:
        """Do this every so many seconds from now on, while the panel is seen; 0 ends that."""
        if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise ConfigError(f"every is {seconds!r}", "Give seconds, or 0 for never.")
        self._tick = lambda: self._add(
            _Job(action, "An automatic reading", "reading", by_itself=True)
        )
        self.frame.every = float(seconds)

    def close(self) -> None:
        """End the work under way, the clock and the widget."""
        if hasattr(self, "frame"):  # it was made to its end
            self.frame.every = 0.0
            if dropped := self._dropped():  # the panel can show no message any more
                log.warning("the panel was closed, and not done were: %s", dropped)
            self.cancel()
        super().close()

    def _dismissed(self, content: Content) -> None:
        # Of what was said since the click nobody has read anything.
        said = content.get("message"), content.get("text")
        if any((one["kind"], one["text"]) == said for one in self.frame.messages):
            self.dismiss(str(said[0]))

    def _hidden(self) -> None:
        """Called when the panel can be seen no more."""
