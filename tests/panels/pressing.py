"""Panels used without a browser: buttons pressed, what stands beside them, and what is saved."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from html import unescape
from traceback import TracebackException
from typing import Any

import ipywidgets

LONG = 20  # seconds that a test waits at most


def within(widget: Any) -> Iterator[ipywidgets.Widget]:
    """The widget and all that it holds, as they stand from the top."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from within(child)


def named(panel: Any, text: str) -> Any:
    """The first button, or input, with this name."""
    for widget in within(panel):
        if text in (getattr(widget, "description", None), getattr(widget, "label", None)):
            return widget
    raise LookupError(f"{text!r} is not in the panel")


def beside(panel: Any, text: str) -> Any:
    """Where a Job shows what comes of a button: the end of its row, or around Keep and Cancel."""
    button = named(panel, text)
    [row] = [widget for widget in within(panel) if button in getattr(widget, "children", ())]
    return row if hasattr(row, "ask") else row.children[-1]


def press(panel: Any, text: str) -> str:
    """Press a button that is enabled, and return what stands beside it once its work is done."""
    return _press(named(panel, text), beside(panel, text))


def confirm(panel: Any) -> str:
    """Answer a question with yes, and return what stands in its place then."""
    feedback = beside(panel, "Keep")
    return _press(feedback.children[-2], feedback)


def cancel(panel: Any, text: str, begun: Callable[[], object]) -> str:
    """Press a button, cancel its work once it has begun, and return what stands beside it then."""
    feedback = beside(panel, text)
    named(panel, text).click()
    until(begun)
    return _press(named(feedback, "Cancel"), feedback)


def _press(button: ipywidgets.Button, feedback: Any) -> str:
    assert not button.disabled, f"{button.description!r} cannot be pressed"
    button.click()
    assert feedback._job.wait(LONG)
    return text_of(feedback)


def html_of(widget: Any) -> str:
    """The HTML of a widget and of all that it holds."""
    return " ".join(w.value for w in within(widget) if isinstance(w, ipywidgets.HTML) and w.value)


def text_of(widget: Any) -> str:
    """The same without its tags."""
    return unescape(re.sub("<[^>]+>", "", html_of(widget)))


def buttons(widget: Any) -> list[str]:
    """The texts of the buttons that can be seen."""
    if widget.layout.display == "none":
        return []
    own = [widget.description] if isinstance(widget, ipywidgets.Button) else []
    return own + [text for child in getattr(widget, "children", ()) for text in buttons(child)]


def receive(widget: Any, content: Any) -> None:
    """Have a widget receive a message from its half in the browser."""
    widget._handle_custom_msg(content, [])


def recorded(widget: Any) -> list[Any]:
    """The messages that a widget sends to the page from now on."""
    messages: list[Any] = []
    send = widget.send

    def record(content: Any, *rest: Any) -> None:
        messages.append(content)
        send(content, *rest)

    widget.send = record
    return messages


def rows(table: Any) -> list[list[str]]:
    """The texts of the rows that a table sends first."""
    messages = recorded(table)
    receive(table, {"view": "test", "first": 0})
    return [[text for text, _ in row["cells"]] for row in messages[-1]["rows"]]


def saved(panel: Any) -> str:
    """All that a notebook with saved widget state would hold of the panel, and its reprs."""
    states = [
        {name: value for name, value in widget.get_state().items() if name not in ("_esm", "_css")}
        for widget in within(panel)
    ]
    return f"{states} {[*within(panel)]}"


def page_of(panel: Any) -> Callable[[], str]:
    """Return a function that gives what is saved of the panel, and its messages from now on."""
    messages = [recorded(widget) for widget in within(panel) if hasattr(widget, "_esm")]
    return lambda: f"{saved(panel)} {messages}"


def locals_of(error: BaseException) -> str:
    """What a traceback with locals shows of the functions that the test called."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    shown = TracebackException(type(error), error, trace, capture_locals=True)
    return "".join(shown.format())


def until(condition: Callable[[], object]) -> None:
    """Wait for what comes by itself."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.01)


def settled() -> None:
    """Wait until no panel works in the background."""
    working = re.compile("confkit (panel|refresh)")
    until(lambda: not any(working.match(thread.name) for thread in threading.enumerate()))
