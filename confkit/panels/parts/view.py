"""HTML that is shown and never saved: pictures, charts, words about rooms and people."""

from __future__ import annotations

from typing import Any

from .widget import Widget, browser, shown


class View(Widget):
    """Shows its `html`; whoever sets it escapes what comes from a service."""

    _esm = browser("view")
    label = shown("")
    html = shown("")

    def __init__(self, label: str = "", **traits: Any) -> None:
        super().__init__(label=label, **traits)

    def reveal(self) -> None:
        """Have the browser bring what this stands in into sight."""
        self.send({"kind": "reveal"})
