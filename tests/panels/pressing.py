"""Panels used without a browser: buttons pressed, what stands beside them, and what is saved."""

import re
import threading
from html import unescape

import ipywidgets

from tests.rtsp.scripted import until

LONG = 20  # seconds that a test waits at most


def within(widget):
    """The widget and all that it holds, as they stand from the top."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from within(child)


def named(panel, text):
    """The first button, or input, with this name."""
    for widget in within(panel):
        if text in (getattr(widget, "description", None), getattr(widget, "label", None)):
            return widget
    raise LookupError(f"{text!r} is not in the panel")


def feedback(panel, text):
    """Where a Job answers a button: the end of its row, or around Keep and Cancel."""
    button = named(panel, text)
    [row] = [widget for widget in within(panel) if button in getattr(widget, "children", ())]
    return row if hasattr(row, "ask") else row.children[-1]


def press(panel, text):
    """Press a button that is enabled, and return what stands beside it once its work is done."""
    button, place = named(panel, text), feedback(panel, text)
    assert not button.disabled, f"{text!r} cannot be pressed"
    button.click()
    assert place._job.wait(LONG)
    return text_of(place)


def confirm(panel):
    """Answer a question with yes, and return what stands in its place then."""
    place = feedback(panel, "Keep")
    return press(place, place.children[-2].description)


def text_of(widget):
    """The text of a widget and of all that it holds, without tags."""
    html = " ".join(w.value for w in within(widget) if isinstance(w, ipywidgets.HTML) and w.value)
    return unescape(re.sub("<[^>]+>", "", html))


def receive(widget, content):
    """Have a widget receive a message from its half in the browser."""
    widget._handle_custom_msg(content, [])


def recorded(widget):
    """The messages that a widget sends to the page from now on."""
    messages, send = [], widget.send
    widget.send = lambda content, *rest: (messages.append(content), send(content, *rest))
    return messages


def rows(table):
    """The texts of the rows that a table sends first."""
    messages = recorded(table)
    receive(table, {"view": "test", "first": 0})
    return [[text for text, _ in row["cells"]] for row in messages[-1]["rows"]]


def saved(panel):
    """All that a notebook with saved widget state would hold of the panel, and its reprs."""
    return f"{[widget.get_state() for widget in within(panel)]} {[*within(panel)]}"


def begin(sandbox, operation, act):
    """Do something, and wait until the service is asked for what this operation reads."""
    before = sandbox.count(operation)
    act()
    until(lambda: sandbox.count(operation) > before)


def settled():
    """Wait until no panel works in the background."""
    working = re.compile("confkit (panel|refresh)")
    until(lambda: not any(working.match(thread.name) for thread in threading.enumerate()))
