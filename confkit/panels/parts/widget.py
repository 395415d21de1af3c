"""The base of our own widgets: a browser module beside each, and messages to it and from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

HERE = Path(__file__).parent
Content = Mapping[str, Any]  # of a message


def browser(name: str) -> str:
    """The browser module of this name, after what all of ours share."""
    return "".join((HERE / f"{one}.js").read_text("utf-8") for one in ("common", name))


def shown(default: object) -> Any:
    """A trait that the browser gets as a message, and no saved notebook holds."""
    return traitlets.Any(default).tag(shown=True)


class Widget(anywidget.AnyWidget):
    """A widget of which no saved notebook holds anything.

    A front end may save what is synchronised. So whatever people type or do comes as a message of a
    `kind`, for which `hears` names a function, and what is to be seen, the traits that are `shown`,
    goes as messages, too.
    """

    def __init__(self, **traits: Any) -> None:
        self._sending = threading.RLock()  # what is set last is sent last
        self._held = 0
        self._changed: set[str] = set()
        super().__init__(**traits)
        names = self.trait_names(shown=True)
        self._heard: dict[str, Callable[[Content], object]] = {
            "ready": lambda _: self._show(names, whole=True)
        }
        self.on_msg(self._hear)
        self.observe(self._change, names)

    def hears(self, **heard: Callable[[Content], object]) -> None:
        """Call these functions with the messages of their kinds."""
        self._heard.update(heard)

    def put(self, **values: Any) -> None:
        """Set these traits, and send them to the browser in one message, whichever thread sets
        others."""
        with self._sending:
            self._held += 1
            try:
                for name, value in values.items():
                    setattr(self, name, value)
            finally:
                self._held -= 1
                self._send_changed()

    def _change(self, change: Any) -> None:
        with self._sending:
            self._changed.add(change["name"])
            self._send_changed()

    def _send_changed(self) -> None:
        if self._changed and not self._held:
            names, self._changed = sorted(self._changed), set()
            self._show(names)

    def _show(self, names: list[str], whole: bool = False) -> None:
        with self._sending:
            values = {name: getattr(self, name) for name in names}
            self.send({"kind": "shown", "values": values, "whole": whole})

    def _hear(self, _: Any, content: Any, buffers: list[Any]) -> None:
        kind = content.get("kind") if isinstance(content, Mapping) else None
        if isinstance(kind, str) and kind in self._heard:
            self._heard[kind]({**content, "buffers": buffers})
