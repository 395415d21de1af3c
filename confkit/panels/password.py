"""`PasswordField`: an input whose text is never saved."""

from __future__ import annotations

import anywidget
import traitlets

from ..secret import Secret, SecretAddress, redact
from .status import HERE, STYLE


class PasswordField(anywidget.AnyWidget):
    """A field whose text is no trait, so that it is never saved with a notebook.

    `text` is the typed text as a `Secret`. With `visible` it is readable while typed, such as a
    camera's address, which may contain a login; only then is a text set from code sent to the
    browser, which otherwise shows "(set)".
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
        """Set the text as if it had been typed."""
        self.text = Secret(text)
        self._show()

    def clear(self) -> None:
        """Clear the text, here and in the browser."""
        self.set("")

    def _receive(self, _: object, content: object, __: object) -> None:
        if isinstance(content, dict) and isinstance(content.get("typed"), str):
            self.text = Secret(content["typed"])
        else:  # a page was opened
            self._show()

    def _show(self) -> None:
        text = self.text.reveal()
        # A login anywhere in the text is never sent back.
        readable = text if self.visible and redact(str(SecretAddress(text))) == text else ""
        self.send({"text": readable, "held": bool(text) and not readable})
