"""HTML that is shown and never saved: pictures, charts, words about rooms and people."""

from __future__ import annotations

from typing import Any

import traitlets

from .widget import Widget, browser


class View(Widget):
    """Shows its `html`; whoever sets it escapes what comes from a service."""

    _esm = browser("view")
    label = traitlets.Unicode("").tag(shown=True)
    html = traitlets.Unicode("").tag(shown=True)

    def __init__(self, label: str = "", **traits: Any) -> None:
        super().__init__(label=label, **traits)

    def reveal(self) -> None:
        """Has the browser bring what this stands in into sight."""
        self.send({"kind": "reveal"})
