"""HTML that is shown and never saved: pictures, charts, and what a token is made of."""

from __future__ import annotations

from typing import Any

import traitlets

from .widget import Widget, browser


class View(Widget):
    """Shows HTML, which goes to the browser as a message, so that no saved notebook holds it.

    `html` is what is shown. Whoever shows something escapes what comes from a service.
    """

    _esm = browser("view")
    label = traitlets.Unicode("").tag(sync=True)

    def __init__(self, label: str = "", **traits: Any) -> None:
        super().__init__(label=label, **traits)
        self.html = ""
        self._heard["ready"] = lambda *_: self.send({"kind": "html", "html": self.html})

    def show(self, html: str) -> None:
        """Shows this HTML in place of what was shown."""
        self.html = html
        self.send({"kind": "html", "html": html})

    def reveal(self) -> None:
        """Has the browser bring what this stands in into sight."""
        self.send({"kind": "reveal"})

    def save(self, name: str, text: str) -> None:
        """Has the browser save this text as a file, in UTF-8 that Excel knows."""
        self.send({"kind": "save", "name": name, "text": text})
