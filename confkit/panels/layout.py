"""What the three panels share: their frame, inputs, texts, and work that only the newest needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..errors import ConfigError
from ..secret import redact
from ..text import one_line
from .job import Job
from .refresh import Polling

if TYPE_CHECKING:
    from ..client import Client

READ_ONLY = "Read only: connect with read_only=False to change anything."


class Panel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A box with a head that names the service, the status of what is read, and a `job`."""

    children: tuple[ipywidgets.Widget, ...]
    _polling: Polling | None = None

    def __init__(self, title: str, client: Client, polling: Polling, *, owned: bool = True) -> None:
        self.client, self.job = client, Job()
        self.refused = READ_ONLY if client.read_only else ""
        self._polling, self._owned = polling, owned
        note = f' <span class="confkit-quiet">{self.refused}</span>' if self.refused else ""
        head = f'<b class="confkit-title">{title}</b> · {escape(client.name)}{note}'
        super().__init__([ipywidgets.HTML(head), polling.status])
        self.add_class("confkit-panel")

    def _show(self) -> None:
        """Show what has been read."""
        raise NotImplementedError

    def append(self, *widgets: ipywidgets.Widget) -> None:
        """Put these below what there is."""
        self.children = (*self.children, *widgets)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.client.name}>"

    def close(self) -> None:
        """Close the panel, and end its readings and what is under way, if it can be cancelled."""
        if self._polling:  # else it could not be made
            self.job.cancelled.set()
            self._polling.remove_listener(self._show)
            if self._owned:
                self._polling.close()
        super().close()


class Latest:
    """Calls a function in a thread with the newest argument, and skips those overtaken."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function, self._lock = function, threading.Lock()
        self._waiting: list[Any] = []
        self._running = False

    def __call__(self, argument: Any) -> None:
        """Call the function with this, unless a newer one comes before its turn."""
        with self._lock:
            self._waiting = [argument]
            if self._running:
                return
            self._running = True
        threading.Thread(target=self._run, name="confkit panel", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return
                argument = self._waiting.pop()
            self._function(argument)


def check_client(client: object) -> None:
    """ConfigError unless it is a client."""
    from ..client import Client

    if not isinstance(client, Client):
        raise ConfigError(
            f"client is of type {type(client).__name__}",
            "Give what ck.connect() returns.",
        )


def text_input(label: str, placeholder: str = "", width: str = "16em") -> ipywidgets.Text:
    """Return a field of one line, its label above it."""
    text = ipywidgets.Text(description=label, placeholder=placeholder, layout={"width": width})
    return text.add_class("confkit-input")


def split(master: ipywidgets.Widget, *details: ipywidgets.Widget) -> ipywidgets.HBox:
    """Return two parts beside each other, or below each other where it is narrow."""
    box = ipywidgets.HBox([master, ipywidgets.VBox(details)])
    return box.add_class("confkit-split")


def row(*widgets: ipywidgets.Widget) -> ipywidgets.HBox:
    """Return widgets beside each other, in several lines where it is narrow."""
    return ipywidgets.HBox(widgets).add_class("confkit-row")


def disclosure(text: str, content: ipywidgets.Widget, job: Job) -> ipywidgets.ToggleButton:
    """Return a button that shows the content, which is hidden at first, and hides it again."""
    toggle = ipywidgets.ToggleButton(description=text, tooltip=text)

    def show(_: object) -> None:
        set_visible(content, toggle.value)
        job.clear()  # a message of a form goes with it

    content.add_class("confkit-form")
    set_visible(content, False)
    toggle.observe(show, "value")
    return toggle


def set_visible(widget: ipywidgets.Widget, visible: bool) -> None:
    """Show a widget, or hide it."""
    widget.layout.display = None if visible else "none"


def set_pressable(box: ipywidgets.Box, visible: bool) -> None:
    """Show the buttons in a box, or hide them; what a Job says beside them stays."""
    for child in box.children:
        if isinstance(child, ipywidgets.Button):
            set_visible(child, visible)
        elif "confkit-row" in child._dom_classes:
            set_pressable(child, visible)


def facts_html(facts: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as a list; what is missing is left out."""
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(redact(one_line(str(value))))}</dd>"
        for name, value in facts
        if value is not None and value != ""
    )
    return f"<dl>{rows}</dl>"


def error_html(text: str) -> str:
    """Return a message as an error stands in a panel."""
    return f'<div class="confkit-message confkit-error">{escape(text)}</div>' if text else ""
