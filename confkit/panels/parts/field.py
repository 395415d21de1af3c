"""A field whose text never becomes part of a widget's state.

What is typed into ipywidgets' own fields is synchronised, and a front end that saves widget state
writes it into the notebook. This one has no trait for it: the text comes to the kernel as a message
and stays in the browser's field alone until it is cleared.
"""

from __future__ import annotations

from typing import Literal

from ...secret import Secret, SecretAddress
from .widget import Content, Widget, browser, shown


class Field(Widget):
    """A field for what must not be saved: a password, an address that may hold one, a file.

    `text` is what was typed, or what the chosen file holds; None when that is nothing. `kind` is
    "password", "text" or "file", whose `name` is then the file's. What code fills in is not shown,
    unless the field `shows` it: in the page alone, and never a login.
    """

    _esm = browser("field")
    label = shown("")
    kind = shown("password")
    hint = shown("")
    held = shown("")  # shown in an empty field whose text the kernel has

    def __init__(
        self,
        label: str,
        kind: Literal["password", "text", "file"] = "password",
        hint: str = "",
        shows: bool = False,
    ) -> None:
        super().__init__(label=label, kind=kind, hint=hint)
        self._shows = shows
        self.text: Secret | None = None
        self.name = ""
        self.hears(
            typed=lambda one: self._take(Secret(str(one.get("text", "")))),
            filled=lambda _: self._show_text(),
            file=self._read,
        )

    def fill(self, text: str | Secret | None) -> None:
        """Take a text as if it had been typed; the browser learns that there is one, no more,
        unless this field shows it."""
        self.clear()
        self._take(Secret(text or ""))
        self._show_text()

    def clear(self) -> None:
        """Forget the text, here and in the browser."""
        self._take(Secret(""))
        self.name = ""
        self.send({"kind": "clear"})

    def _take(self, text: Secret) -> None:
        self.text = text or None
        self.held = "given" if text else ""

    def _show_text(self) -> None:
        if self._shows and self.text is not None and str(SecretAddress(self.text)) == self.text:
            self.send({"kind": "fill", "text": self.text.reveal()})

    def _read(self, file: Content) -> None:
        self.name = str(file.get("name", ""))
        whole = b"".join(map(bytes, file["buffers"]))
        try:
            text = whole.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = whole.decode("cp1252", "replace")  # what spreadsheets write otherwise
        self._take(Secret(text))
