"""Clicks in a panel without a browser, and all that a saved notebook would hold of it."""

import threading
import time

from confkit.panels.parts import Field

LONG = 10  # seconds that a test waits at most for what takes none
GET, USERS, MCU = "/rtc/room/get", "/rtc/room/get_room_info", "/sdk/get_mcu"
LIST = "/avd/api/outgoing/getOutgoingUsers"


def within(panel):
    """All widgets of a panel, as they stand from the top."""
    waiting = [panel]
    while waiting:
        widget = waiting.pop(0)
        waiting = [*getattr(widget, "children", ()), *waiting]
        yield widget


def named(panel, text):
    """The first button, or input, of this name."""
    return next(one for one in within(panel) if getattr(one, "description", None) == text)


def field(panel, label):
    """The field of this label, whose text is never saved."""
    return next(one for one in within(panel) if isinstance(one, Field) and one.label == label)


def press(panel, text):
    """Clicks a button, as a browser does only while it is enabled; waits until its work is done."""
    button = named(panel, text)
    assert not button.disabled
    button.click()
    assert panel.wait(LONG)


def says(widget, kind, buffers=(), **more):
    """The widget gets such a message from its half in the browser."""
    widget._hear(None, {"kind": kind, **more}, list(buffers))


def heard(panel, kind, **more):
    """Sends the panel what its half in the browser says, and waits for what comes of it."""
    says(panel.frame, kind, **more)
    assert panel.wait(LONG)


def read_out():
    """Waits until no rooms are being read in the background."""
    for thread in threading.enumerate():
        if thread.name == "confkit rooms":
            thread.join(LONG)


def once_asked(sandbox, path, act):
    """Does it, and waits until this is asked for."""
    before = sandbox.count(path)
    act()
    while sandbox.count(path) == before:
        time.sleep(0.01)


def downloads(panel):
    """The texts that the browser is given to save from now on."""
    sent = []
    panel.frame.send = lambda content, *_: "text" in content and sent.append(content["text"])
    return sent


def state(panel):
    """All that a notebook with saved widget state would hold of the panel, and its reprs."""
    return "".join(f"{widget.get_state()} {widget!r}" for widget in {*within(panel)})


def page(panel):
    """All that the page gets of the panel: that, and what goes to it as messages."""
    shown = [
        {name: getattr(widget, name) for name in widget.trait_names(shown=True)}
        for widget in {*within(panel)}
    ]
    return f"{state(panel)} {shown}"
