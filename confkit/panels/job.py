"""`Job`: what a panel's buttons do, one action at a time, with its progress, Cancel and message."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

import ipywidgets

from ..errors import (
    Cancelled,
    ConfkitError,
    JoinFailed,
    OutcomeUnknown,
    ParameterError,
    RoomNotFound,
    UserExists,
)
from ..secret import redact
from ..text import printable

T = TypeVar("T")
Action = Callable[[], "str | Question | None"]
log = logging.getLogger("confkit.panels")

LOOK = 0.1  # seconds between two looks at `cancelled`, and between two drawings of a bar
# An advice in terms of functions is no help to who presses buttons.
_BUTTONS = {"diagnose_device": "Diagnose", "import_device": "Import", "remove_device": "Remove"}
_ELSEWHERE = re.compile(r"with ck\.(create_room|force_offline)\b")
_CALL = re.compile(rf"\bck\.({'|'.join(_BUTTONS)})(\((?:[^()]|\([^()]*\))*\))?")
_CODE = re.compile(r"\bck\.|\bclient\b|\w\(|_id\b")
_NEXT_STEPS: tuple[tuple[type[ConfkitError], str], ...] = (
    (RoomNotFound, "Check the room number (leading zeros?) and that this is the right service."),
    (UserExists, "Choose another user ID, or remove the device that has it."),
    (JoinFailed, "Press Diagnose to find out why."),
    (ParameterError, "Correct what you have entered."),
    (OutcomeUnknown, "Refresh and look before you try it again."),
    (ConfkitError, "Refresh and try again; if it stays, ask the operator of the service."),
)


def message(error: BaseException) -> str:
    """Return an error in the words of a panel: what went wrong, and what to do there."""
    if not isinstance(error, ConfkitError):
        if isinstance(error, ValueError | OSError) and str(error):
            return redact(printable(str(error)))
        log.error("unexpected error in a panel", exc_info=error)
        return redact(f"Unexpected error, please report it: {type(error).__name__}: {error}")
    fallback = next(step for kind, step in _NEXT_STEPS if isinstance(error, kind))
    summary = error.summary[:1].upper() + error.summary[1:]
    return redact(f"{summary}. {without_code(printable(error.advice), fallback)}".strip())


def without_code(advice: str, fallback: str = "") -> str:
    """Return an advice with buttons in place of calls, and without what else is code; the
    `fallback` stands for its last sentence where that was."""
    advice = _ELSEWHERE.sub("in the panel of rooms", advice)
    advice = _CALL.sub(lambda call: ("press " if call[2] else "") + _BUTTONS[call[1]], advice)
    sentences = re.split(r"(?<=[.!?])\s+", advice)
    kept = [text for text in sentences if not _CODE.search(text)]
    return " ".join([*kept, fallback] if _CODE.search(sentences[-1]) else kept)


@dataclass(frozen=True)
class Question:
    """What an action returns to be confirmed first: `action` is done when `yes` is pressed.

    Where `typed` is not empty, that text has to be typed before.
    """

    text: str
    action: Action
    yes: str = "Yes"
    typed: str = ""


class Job:
    """The work of a panel: one action at a time, while the buttons are off.

    `row({"Refresh": read, ...})` makes buttons. Beside them stand the action's progress and Cancel,
    and then what it returns, a text or a `Question`, or the error that it raised. An action hands
    `progress` and `cancelled` to functions that take them, and calls what else only reads by
    `wait_for`; what changes the service cannot be cancelled.
    """

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._buttons: list[ipywidgets.Button] = []  # those that may be pressed
        self._feedbacks: list[_Feedback] = []
        self._active: _Feedback | None = None  # of the action under way
        self._overtaken = False  # another row was picked meanwhile
        self._free = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()

    def row(
        self,
        actions: Mapping[str, Action],
        *others: ipywidgets.Widget,
        refused: str = "",
        destructive: Iterable[str] = (),
    ) -> ipywidgets.HBox:
        """Return a row of `others` and a button for each action.

        With `refused`, the reason, they cannot be pressed; `destructive` names those that look so.
        """
        feedback = _Feedback(self)
        self._feedbacks.append(feedback)
        buttons = []
        for text, action in actions.items():
            style = "danger" if text in destructive else ""
            button = ipywidgets.Button(description=text, button_style=style)
            button.disabled, button.tooltip = bool(refused), refused or text
            button.on_click(lambda button, action=action: self.start(action, feedback, button))
            buttons.append(button)
        self._buttons += [] if refused else buttons
        row = ipywidgets.HBox([*others, *buttons, feedback])
        return row.add_class("confkit-row")

    def start(self, action: Action, feedback: _Feedback, button: ipywidgets.Button) -> None:
        """Do the action in a thread; nothing happens while another one is under way."""
        if not self._free.acquire(blocking=False):
            return
        self._idle.clear()
        self.clear()
        for other in self._buttons:
            other.disabled = other is not button  # that one keeps the focus
        self._active, self._overtaken = feedback, False
        feedback.show_work()
        work = (action, feedback, button)
        threading.Thread(target=self._work, args=work, name="confkit panel", daemon=True).start()

    def clear(self) -> None:
        """Take away all messages and questions, as when another row is picked.

        The action under way asks nothing then, and its error says that it is of the row before.
        """
        self._overtaken = True
        for feedback in self._feedbacks:
            if feedback is not self._active:
                feedback.clear()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is under way; return False after `timeout` seconds."""
        return self._idle.wait(timeout)

    def progress(self, done: int, total: int) -> None:
        """Show how far the action is: what `progress=` of confkit's functions takes."""
        if self._active:
            self._active.show_progress(done, total, self.cancelled.set)

    def show_cancel(self) -> None:
        """Offer to cancel the action under way, which looks at `cancelled`."""
        if self._active:
            self._active.show_work(self.cancelled.set)

    def wait_for(self, read: Callable[[], T]) -> T:
        """Return what the function returns; raise Cancelled as soon as Cancel is pressed.

        Its thread goes on then, and its result is dropped: so it must change nothing.
        """
        cancelled, result = self.cancelled, Future[T]()
        self.show_cancel()

        def run() -> None:
            try:
                result.set_result(read())
            except BaseException as error:  # noqa: BLE001  # raised where the result is used
                result.set_exception(error)

        threading.Thread(target=run, name="confkit panel reads", daemon=True).start()
        while not wait([result], LOOK).done:
            if cancelled.is_set():
                raise Cancelled("Cancelled")
        return result.result()

    def _work(self, action: Action, feedback: _Feedback, button: ipywidgets.Button) -> None:
        result: object
        kind = ""
        try:
            result = action()
        except (Cancelled, CancelledError):
            result = "Cancelled."
        except BaseException as error:  # noqa: BLE001  # it would be lost in this thread
            result, kind = message(error), "error"
        if self.cancelled.is_set():
            button.focus()  # Cancel had it
        self._active, self.cancelled = None, threading.Event()
        if isinstance(result, Question) and not self._overtaken:
            feedback.ask(result, button)
        else:  # a function may return anything
            text = result if isinstance(result, str) else ""
            before = "Of the row picked before: " if kind and self._overtaken else ""
            feedback.show_message(before + text, kind)
        for other in self._buttons:
            other.disabled = False
        self._free.release()
        self._idle.set()


class _Feedback(ipywidgets.HBox):  # type: ignore[misc]  # ipywidgets brings no types
    """Where a Job shows progress, message and question: beside the button that was pressed."""

    children: tuple[ipywidgets.Widget, ...]

    def __init__(self, job: Job) -> None:
        self._job, self._drawn = job, 0.0
        self._bar = ipywidgets.IntProgress(layout={"width": "8em"})
        self._text = ipywidgets.HTML()
        super().__init__()
        self.add_class("confkit-place")

    def clear(self) -> None:
        """Show nothing."""
        self.children = ()

    def show_work(self, cancel: Callable[[], object] | None = None) -> None:
        """Show that the action is at work, with Cancel where it can be cancelled."""
        self._set_text("Working …", "working")
        self.children = (self._text, *([_button("Cancel", cancel)] if cancel else []))

    def show_progress(self, done: int, total: int, cancel: Callable[[], object]) -> None:
        """Show a bar, drawn at most ten times a second."""
        if done == total or time.monotonic() - self._drawn > LOOK:
            self._drawn = time.monotonic()
            self._bar.max, self._bar.value = total, done
            if self._bar not in self.children:
                self.children = (self._bar, _button("Cancel", cancel))

    def show_message(self, text: str, kind: str = "") -> None:
        """Show a text; of the kind "error" it is an alert."""
        self._set_text(text, kind)
        self.children = (self._text,) if text else ()

    def ask(self, question: Question, button: ipywidgets.Button) -> None:
        """Show a question with its two buttons; the focus is on the one that changes nothing."""

        def confirm() -> None:
            if yes in self.children:  # else it was pressed twice
                button.focus()
                self._job.start(question.action, self, button)

        def keep() -> None:
            button.focus()
            self.clear()

        yes, no = _button(question.yes, confirm, "danger"), _button("Keep", keep)
        no.add_class("confkit-no")
        typed = ipywidgets.Text(placeholder=f"Type {question.typed}", layout={"width": "11em"})
        yes.disabled = bool(question.typed)

        def check(_: Any) -> None:
            yes.disabled = typed.value.strip() != question.typed

        typed.observe(check, "value")
        self._set_text(question.text, "question")
        self.children = (self._text, *([typed] if question.typed else []), yes, no)
        no.focus()

    def _set_text(self, text: str, kind: str = "") -> None:
        role = "alert" if kind == "error" else "status"
        text = escape(redact(printable(text)))
        classes = f"confkit-message confkit-{kind or 'note'}"
        self._text.value = f'<span role="{role}" class="{classes}">{text}</span>'


def _button(text: str, action: Callable[[], object], style: str = "") -> ipywidgets.Button:
    button = ipywidgets.Button(description=text, button_style=style)
    button.on_click(lambda _: action())
    return button
