"""Clicks in a panel without a browser, and all that a saved notebook would hold of it."""

import ipywidgets

LONG = 10  # seconds that a test waits at most for what takes none


def within(panel):
    """All widgets of a panel."""
    waiting = [panel]
    while waiting:
        widget = waiting.pop()
        waiting += getattr(widget, "children", ())
        yield widget


def named(panel, text):
    """The button, or the input, of this name."""
    (found,) = [one for one in within(panel) if getattr(one, "description", None) == text]
    return found


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


def press(panel, text):
    """Clicks the button with this text, and waits until what it does is done."""
    (button,) = [
        one
        for box in panel.children
        if isinstance(box, ipywidgets.HBox)
        for one in box.children
        if getattr(one, "description", None) == text
    ]
    button.click()
    assert panel.wait(LONG)
