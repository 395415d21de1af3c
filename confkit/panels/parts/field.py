"""A field whose text never becomes part of a widget's state.

What is typed into ipywidgets' own fields is synchronised, and a front end that saves widget state
writes it into the notebook. This one has no trait for it: the text comes to the kernel as a message
and stays in the browser's field alone until it is cleared.
"""

from __future__ import annotations

from typing import Any, Literal

import traitlets

from ...secret import Secret, mask_address
from .widget import Widget, browser


class Field(Widget):
    """A field for what must not be saved: a password, an address that may hold one, a file.

    `text` is what was typed, or what the chosen file holds; None when that is nothing. `kind` is
    "password", "text", "area" (several lines) or "file", whose `name` is then the file's. What code
    fills in is not shown, unless the field `shows` it: in the page alone, and never a login.
    """

    _esm = browser("field")
    label = traitlets.Unicode("").tag(shown=True)
    kind = traitlets.Unicode("password").tag(shown=True)
    hint = traitlets.Unicode("").tag(shown=True)
    held = traitlets.Unicode("").tag(
        shown=True
    )  # shown in an empty field whose text the kernel has
    disabled = traitlets.Bool(False).tag(shown=True)

    def __init__(
        self,
        label: str,
        kind: Literal["password", "text", "area", "file"] = "password",
        hint: str = "",
        shows: bool = False,
        **traits: Any,
    ) -> None:
        super().__init__(label=label, kind=kind, hint=hint, **traits)
        self._shows = shows
        self._text: Secret | None = None
        self.name = ""
        self._heard["typed"] = lambda content, _: self._take(str(content.get("text", "")))
        self._heard["filled"] = lambda *_: self._show_text()
        self._heard["file"] = lambda content, buffers: self._read(content, buffers)

    @property
    def text(self) -> Secret | None:
        """What was typed; None when the field is empty."""
        return self._text

    def fill(self, text: str | None) -> None:
        """Takes a text as if it had been typed; the browser learns that there is one, no more,
        unless this field shows it."""
        self.clear()
        self._take(text or "")
        self._show_text()

    def clear(self) -> None:
        """Forgets the text, here and in the browser."""
        self._take("")
        self.name = ""
        self.send({"kind": "clear"})

    def _take(self, text: str) -> None:
        self._text = Secret(text) if text else None
        self.held = "given" if text else ""

    def _show_text(self) -> None:
        text = self._text
        if self._shows and text is not None and mask_address(text) == text:
            self.send({"kind": "fill", "text": text})

    def _read(self, content: Any, buffers: list[bytes]) -> None:
        self.name = str(content.get("name", ""))
        whole = buffers[0] if buffers else b""
        try:
            text = whole.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = whole.decode("cp1252", "replace")  # what spreadsheets write otherwise
        self._take(text)
