"""Shared by the three panels: their frame, inputs, texts, and background work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..errors import Cancelled, ConfkitError
from .job import Job
from .refresh import Polling

if TYPE_CHECKING:
    from ..client import Client

READ_ONLY = "Read only: connect with read_only=False to change anything."


class Panel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """A box with a head that names the service, a status line, and a `job`."""

    children: tuple[ipywidgets.Widget, ...]
    _polling: Polling

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

    def _read(self) -> str:
        """Read everything, and return a message."""
        raise NotImplementedError

    def _refresh(self) -> str:
        """Read everything; the banner says why that fails, and only until it succeeds."""
        try:
            return self._read()
        except Cancelled:
            raise
        except ConfkitError:
            return f"Not read at {self._polling.clock()}."

    def append(self, *widgets: ipywidgets.Widget) -> None:
        """Add these at the bottom."""
        self.children = (*self.children, *widgets)

    def __repr__(self) -> str:
        client = getattr(self, "client", None)  # None in a traceback from __init__
        return f"<{type(self).__name__} of {client.name if client else 'no client'}>"

    def close(self) -> None:
        """Close the panel, stop its readings, and cancel the running action if possible."""
        if hasattr(self, "_polling"):  # unless its creation failed
            self.job.cancelled.set()
            self._polling.remove_listener(self._show)
            if self._owned:
                self._polling.close()
        super().close()


class Latest:
    """Calls a function in a thread with the newest argument, and skips outdated ones."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function, self._lock = function, threading.Lock()
        self._waiting: list[Any] = []
        self._running = False

    def __call__(self, argument: Any) -> None:
        """Call the function with this argument, unless a newer one replaces it first."""
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


def text_input(label: str, placeholder: str = "", width: str = "16em") -> ipywidgets.Text:
    """Return a one-line text field with its label above."""
    text = ipywidgets.Text(description=label, placeholder=placeholder, layout={"width": width})
    return text.add_class("confkit-input")


def split(master: ipywidgets.Widget, *details: ipywidgets.Widget) -> ipywidgets.HBox:
    """Return two parts side by side, or stacked on a narrow page."""
    box = ipywidgets.HBox([master, ipywidgets.VBox(details)])
    return box.add_class("confkit-split")


def row(*widgets: ipywidgets.Widget) -> ipywidgets.HBox:
    """Return widgets side by side, wrapped on a narrow page."""
    return ipywidgets.HBox(widgets).add_class("confkit-row")


def disclosure(text: str, content: ipywidgets.Widget, job: Job) -> ipywidgets.ToggleButton:
    """Return a button that toggles the content, which is hidden at first."""
    toggle = ipywidgets.ToggleButton(description=text, tooltip=text)

    def show(_: object) -> None:
        set_visible(content, toggle.value)
        job.clear()  # hide a form's message with it

    content.add_class("confkit-form")
    set_visible(content, False)
    toggle.observe(show, "value")
    return toggle


def set_visible(widget: ipywidgets.Widget, visible: bool) -> None:
    """Show or hide a widget."""
    widget.layout.display = None if visible else "none"


def set_pressable(box: ipywidgets.Box, visible: bool) -> None:
    """Show or hide the buttons in a box, but not a Job's messages beside them."""
    for child in box.children:
        if isinstance(child, ipywidgets.Button):
            set_visible(child, visible)
        elif "confkit-row" in child._dom_classes:
            set_pressable(child, visible)


def error_html(text: str) -> str:
    """Return a message formatted as an error."""
    return f'<div class="confkit-message confkit-error">{escape(text)}</div>' if text else ""
