"""Clicks in a panel without a browser, and all that a saved notebook would hold of it."""

from confkit.panels.parts import Field

LONG = 10  # seconds that a test waits at most for what takes none


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


def heard(panel, kind, **more):
    """Sends the panel what its half in the browser says, and waits for what comes of it."""
    panel.frame._hear(None, {"kind": kind, **more}, [])
    assert panel.wait(LONG)


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
