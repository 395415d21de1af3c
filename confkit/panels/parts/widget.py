"""The ground of our own widgets: a browser module beside each, and messages to it and from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anywidget

HERE = Path(__file__).parent


def browser(name: str) -> str:
    """The browser module of this name, after what all of ours share."""
    return "".join((HERE / f"{one}.js").read_text("utf-8") for one in ("common", name))


class Widget(anywidget.AnyWidget):
    """A widget of which no saved notebook holds anything.

    A front end may save what is synchronised. So whatever people type or do comes as a message of a
    `kind`, for which `_heard` has a function, and what is to be seen, the traits tagged `shown`,
    goes as messages, too.
    """

    def __init__(self, **traits: Any) -> None:
        self._sending = threading.RLock()  # what is sent last was set last
        self._together = 0
        self._changed: set[str] = set()
        super().__init__(**traits)
        self._heard: dict[str, Callable[[Mapping[str, Any], list[bytes]], object]] = {
            "ready": lambda *_: self._show(self.trait_names(shown=True), whole=True)
        }
        self.on_msg(self._hear)
        self.observe(self._change, self.trait_names(shown=True))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send what changes meanwhile in one message."""
        with self._sending:
            self._together += 1
        try:
            yield
        finally:
            with self._sending:
                self._together -= 1
                self._send_changed()

    def _change(self, change: Any) -> None:
        with self._sending:
            self._changed.add(change["name"])
            self._send_changed()

    def _send_changed(self) -> None:
        if self._changed and not self._together:
            names, self._changed = sorted(self._changed), set()
            self._show(names)

    def _show(self, names: list[str], whole: bool = False) -> None:
        with self._sending:
            values = {name: getattr(self, name) for name in names}
            self.send({"kind": "shown", "values": values, "whole": whole})

    def _hear(self, _: Any, content: Any, buffers: list[Any]) -> None:
        kind = content.get("kind") if isinstance(content, Mapping) else None
        if isinstance(kind, str) and kind in self._heard:
            self._heard[kind](content, [bytes(buffer) for buffer in buffers])
