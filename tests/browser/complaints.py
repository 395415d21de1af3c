"""What a page complained of: errors in its console, and tracebacks and warnings in its outputs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_CORE = r"http://127\.0\.0\.1:\d+/static/notebook/notebook_core\.[^\s)]+"
_STACK = (
    rf"(\n    at (async )?(Promise\.all \(index \d+\)|(\S+ \()?{_CORE}\)?))+"  # all Notebook 7's
)
_SCHEMA = r"Cannot read properties of undefined \(reading 'schema'\)"
_COMMAND = r"Command 'filebrowser:open-path' not registered\."
_EXTENSION = "/voila/labextensions/@jupyter-notebook/lab-extension/static/remoteEntry"
# The whole of what front ends say by themselves, and in which of them.
KNOWN = (
    # Its plug-in of shortcuts hears of others' settings before it has read its own.
    ("Notebook 7", rf"{_SCHEMA}\nTypeError: {_SCHEMA}{_STACK}"),
    # It would show the notebook in a file browser, which is on another page of it.
    ("Notebook 7", rf"{_COMMAND}\nError: {_COMMAND}{_STACK}"),
    # It loads an extension of Notebook 7's, which wants what Voila has not.
    (
        "Voila",
        r"Error: The getter for the shared module is not a function\.[^\n]*#RUNTIME-012"
        rf'\nargs: {{"shareKey":"@jupyterlab/docregistry"}}\n[^\n]*\n    at \S+{_EXTENSION}.*',
    ),
)
FONT_AWESOME = "https://cdn.jsdelivr.net/npm/@fortawesome/"  # Voila's template links to it
TRACEBACKS = ", ".join(
    f'[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in ("error", "stderr")
)


@dataclass
class Heard:
    """What a page, in this front end, complained of in its console."""

    front: str
    errors: list[str] = field(default_factory=list)

    def complaints(self, texts: Iterable[str]) -> list[str]:
        """Those of the texts that are not known to be the front end's own."""
        return [text for text in texts if not self._known(text.strip())]

    def _known(self, text: str) -> bool:
        return any(
            front == self.front and re.fullmatch(known, text, re.DOTALL) for front, known in KNOWN
        )


def heard(page: Any, front: str) -> Heard:
    """What the page says from now on. Nothing but this machine is reached: a page that wants more
    finds no answer, and that is an error in its console."""
    told = Heard(front)

    def read(message: Any) -> None:
        if message.type == "error":
            told.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def answer(route: Any) -> None:
        if route.request.url.startswith(FONT_AWESOME):
            route.fulfill(body="", content_type="text/css")
        else:
            route.abort()

    page.on("console", read)
    page.on("pageerror", lambda error: told.errors.append(f"{error.message}\n{error.stack}"))
    page.route(lambda url: url.startswith("http") and "//127.0.0.1:" not in url, answer)
    return told
