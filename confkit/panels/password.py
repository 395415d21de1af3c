"""`PasswordField`: a text that no front end saves."""

from __future__ import annotations

import anywidget
import traitlets

from ..secret import Secret, SecretAddress, redact
from .status import HERE, STYLE


class PasswordField(anywidget.AnyWidget):
    """A field whose text stands in no trait, so that no notebook is saved with it.

    `text` is what is typed, as a `Secret`. With `visible` it can be read while it is typed, such as
    a camera's address, which may hold a login; one that is set by code is sent to the browser only
    then, and else stands there as "(set)".
    """

    _esm = HERE / "password.js"
    _css = STYLE
    label = traitlets.Unicode().tag(sync=True)
    placeholder = traitlets.Unicode().tag(sync=True)
    visible = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, label: str = "Password", placeholder: str = "", visible: bool = False
    ) -> None:
        super().__init__(label=label, placeholder=placeholder, visible=visible)
        self.text = Secret("")
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        return f"PasswordField({self.label!r})"

    def set(self, text: str | Secret) -> None:
        """Put a text there, as if it had been typed."""
        self.text = Secret(text)
        self._show()

    def clear(self) -> None:
        """Forget the text, here and in the browser."""
        self.set("")

    def _receive(self, _: object, content: object, __: object) -> None:
        if isinstance(content, dict) and isinstance(content.get("typed"), str):
            self.text = Secret(content["typed"])
        else:  # a page that has just been opened
            self._show()

    def _show(self) -> None:
        text = self.text.reveal()
        # A login is never sent back, wherever it stands.
        readable = text if self.visible and redact(str(SecretAddress(text))) == text else ""
        self.send({"text": readable, "held": bool(text) and not readable})
