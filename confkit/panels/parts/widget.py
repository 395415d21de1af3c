"""The ground of our own widgets: a browser module beside each, and messages that come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget

HERE = Path(__file__).parent


def browser(name: str) -> str:
    """The browser module of this name, after what all of ours share."""
    return "".join((HERE / f"{one}.js").read_text("utf-8") for one in ("common", name))


class Widget(anywidget.AnyWidget):
    """A widget whose browser half sends messages of a `kind`; `_heard` has a function for each.

    Whatever people type or do comes as a message and is no trait: a front end that saves widget
    state saves traits. Only Python sets traits.
    """

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._heard: dict[str, Callable[[Mapping[str, Any], list[bytes]], object]] = {}
        self.on_msg(self._hear)

    def _hear(self, _: Any, content: Any, buffers: list[Any]) -> None:
        kind = content.get("kind") if isinstance(content, Mapping) else None
        if isinstance(kind, str) and kind in self._heard:
            self._heard[kind](content, [bytes(buffer) for buffer in buffers])
