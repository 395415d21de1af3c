"""`Job`: runs the actions of a panel's buttons one at a time, with progress, Cancel and message."""

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

POLL = 0.1  # seconds between two checks of `cancelled`, and between two updates of a bar
# Advice in terms of functions is replaced by buttons.
_BUTTONS = {"diagnose_device": "Diagnose", "import_device": "Import", "remove_device": "Remove"}
_ELSEWHERE = re.compile(r"with ck\.(create_room|force_offline)\b")
_CALL = re.compile(rf"\bck\.({'|'.join(_BUTTONS)})(\((?:[^()]|\([^()]*\))*\))?")
_CODE = re.compile(r"\bck\.|\bclient\b|\w\(|_id\b")
_NEXT_STEPS: tuple[tuple[type[ConfkitError], str], ...] = (
    (RoomNotFound, "Check the room number (leading zeros?) and that this is the right service."),
    (UserExists, "Choose another user ID, or remove the device that has it."),
    (JoinFailed, "Press Diagnose to find out why."),
    (ParameterError, "Correct your input."),
    (OutcomeUnknown, "Refresh and check before you try again."),
    (ConfkitError, "Refresh and try again. If it persists, ask the operator of the service."),
)


def message(error: BaseException) -> str:
    """Return an error as a panel shows it: what went wrong, and what to do in the panel."""
    if not isinstance(error, ConfkitError):
        if isinstance(error, ValueError | OSError) and str(error):
            return redact(printable(str(error)))
        log.error("unexpected error in a panel", exc_info=error)
        return redact(f"Unexpected error, please report it: {type(error).__name__}: {error}")
    fallback = next(step for kind, step in _NEXT_STEPS if isinstance(error, kind))
    summary = error.summary[:1].upper() + error.summary[1:]
    return redact(f"{summary}. {without_code(printable(error.advice), fallback)}".strip())


def without_code(advice: str, fallback: str = "") -> str:
    """Return advice with buttons in place of calls, and without sentences that contain other code;
    the `fallback` replaces its last sentence if that is one."""
    advice = _ELSEWHERE.sub("in the panel of rooms", advice)
    advice = _CALL.sub(lambda call: ("press " if call[2] else "") + _BUTTONS[call[1]], advice)
    sentences = re.split(r"(?<=[.!?])\s+", advice)
    plain = [text for text in sentences if not _CODE.search(text)]
    return " ".join([*plain, fallback] if _CODE.search(sentences[-1]) else plain)


@dataclass(frozen=True)
class Question:
    """An action's request for confirmation: pressing `yes` runs `action`.

    If `typed` is not empty, that text must be typed first.
    """

    text: str
    action: Action
    yes: str = "Yes"
    typed: str = ""


class Job:
    """The work of a panel: one action at a time, with the buttons disabled meanwhile.

    `row({"Refresh": read, ...})` makes buttons. Beside them appear the action's progress and
    Cancel, then its result, a text or a `Question`, or its error. An action passes `progress` and
    `cancelled` to functions that accept them, and runs other reads through `wait_for`; changes of
    the service cannot be cancelled.
    """

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._buttons: list[ipywidgets.Button] = []  # without those that are refused
        self._feedbacks: list[_Feedback] = []
        self._active: _Feedback | None = None  # of the running action
        self._selection_changed = False  # since the running action began
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

        With `refused`, a reason, they are disabled; `destructive` names those to be styled so.
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
        """Run the action in a thread; do nothing while another one is running."""
        if not self._free.acquire(blocking=False):
            return
        self._idle.clear()
        self.clear()
        for other in self._buttons:
            other.disabled = other is not button  # the pressed button keeps the focus
        self._active, self._selection_changed = feedback, False
        feedback.show_work()
        work = (action, feedback, button)
        threading.Thread(target=self._work, args=work, name="confkit panel", daemon=True).start()

    def clear(self) -> None:
        """Clear all messages and questions, such as when another row is picked.

        A running action then asks nothing, and its error is marked as that of a previous action.
        """
        self._selection_changed = True
        for feedback in self._feedbacks:
            if feedback is not self._active:
                feedback.clear()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no action is running; return False after `timeout` seconds."""
        return self._idle.wait(timeout)

    def progress(self, done: int, total: int) -> None:
        """Show the progress of the running action; to be passed as `progress=`."""
        if self._active:
            self._active.show_progress(done, total, self.cancelled.set)

    def show_cancel(self) -> None:
        """Show Cancel for the running action, which must check `cancelled`."""
        if self._active:
            self._active.show_work(self.cancelled.set)

    def wait_for(self, read: Callable[[], T]) -> T:
        """Return the function's result; raise Cancelled as soon as Cancel is pressed.

        Then its thread continues and the result is dropped, so it must not change anything.
        """
        cancelled, result = self.cancelled, Future[T]()
        self.show_cancel()

        def run() -> None:
            try:
                result.set_result(read())
            except BaseException as error:  # noqa: BLE001  # raised where the result is used
                result.set_exception(error)

        threading.Thread(target=run, name="confkit panel reads", daemon=True).start()
        while not wait([result], POLL).done:
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
            button.focus()  # instead of Cancel
        self._active, self.cancelled = None, threading.Event()
        if isinstance(result, Question) and not self._selection_changed:
            feedback.ask(result, button)
        else:  # a function may return anything
            text = result if isinstance(result, str) else ""
            before = "Previous action: " if kind and self._selection_changed else ""
            feedback.show_message(before + text, kind)
        for other in self._buttons:
            other.disabled = False
        self._free.release()
        self._idle.set()


class _Feedback(ipywidgets.HBox):  # type: ignore[misc]  # ipywidgets brings no types
    """Shows a Job's progress, messages and questions beside the pressed button."""

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
        """Show that the action is running, with Cancel if it can be cancelled."""
        self._set_text("Working …", "working")
        self.children = (self._text, *([_button("Cancel", cancel)] if cancel else []))

    def show_progress(self, done: int, total: int, cancel: Callable[[], object]) -> None:
        """Show a bar, drawn at most ten times a second."""
        if done == total or time.monotonic() - self._drawn > POLL:
            self._drawn = time.monotonic()
            self._bar.max, self._bar.value = total, done
            if self._bar not in self.children:
                self.children = (self._bar, _button("Cancel", cancel))

    def show_message(self, text: str, kind: str = "") -> None:
        """Show a text, as an alert if `kind` is "error"."""
        self._set_text(text, kind)
        self.children = (self._text,) if text else ()

    def ask(self, question: Question, button: ipywidgets.Button) -> None:
        """Show a question with two buttons, the focus on the one that changes nothing."""

        def confirm() -> None:
            if yes in self.children:  # otherwise it was pressed twice
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
        text = re.sub("&quot;(.*?)&quot;", r"&quot;<bdi>\1</bdi>&quot;", text)  # such as Arabic
        classes = f"confkit-message confkit-{kind or 'note'}"
        self._text.value = f'<span role="{role}" class="{classes}">{text}</span>'


def _button(text: str, action: Callable[[], object], style: str = "") -> ipywidgets.Button:
    button = ipywidgets.Button(description=text, button_style=style)
    button.on_click(lambda _: action())
    return button
