"""Texts made safe for a terminal, a log, JSON and a notebook, and files written atomically.

Topics, names and messages of a service or a camera are other people's texts. A control character in
them could colour a line, rename a window, hide the text before it or fake a line of ours.
"""

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path

_JOINERS = "\u200c\u200d"  # parts of words (Persian, Hindi) and of emoji
DRAFT = ".draft-"  # begins the name of a file that is being written
_MATHS = ("$", "\\(", "\\[", "\\begin")  # a notebook takes these for a formula


def one_line(text: str) -> str:
    """Return the text on one line, with a space for each unprintable or control character."""
    return printable(text, "")


def printable(text: str, allowed: str = "\n\t") -> str:
    """Return the text with a space for each unprintable character; line ends and tabs are kept."""
    kept = allowed + _JOINERS
    return "".join(letter if letter.isprintable() or letter in kept else " " for letter in text)


def echo(
    value: object, *, err: bool = False, end: str = "\n", style: Callable[[str], str] = str
) -> None:
    """Print a value at once, with a question mark for what the stream's encoding lacks; `err`: to
    standard error. `style` may colour the text, once it holds no control characters."""
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")
    print(style(printable(str(value))), end=end, file=stream, flush=True)


def without_maths(html: str) -> str:
    """Return HTML that a notebook does not search for formulas: a topic may contain two dollars."""
    if not any(mark in html for mark in _MATHS):
        return html
    return f"<div class='tex2jax_ignore mathjax_ignore'>{html}</div>"  # MathJax 3, and 4


def html_or_image(classes: str, html: str, image: str, alt: str, width: float) -> str:
    """Return HTML in which a trusted notebook shows `html`, and an untrusted one the image (a data
    URL): JupyterLab strips styles and SVG from it. The last of the CSS classes has to be unique."""
    name = classes.split()[-1]
    return (
        f'<div class="{classes}"><style>.{name} > [hidden] {{ display: block }} '
        f'.{name} > img {{ display: none }}</style><div hidden="hidden">{html}</div>'
        f'<img width="{width:g}" alt="{escape(alt)}" src="{image}"></div>'
    )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 room" or "1,200 rooms"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def write_atomically(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file atomically: an existing file stays intact until the new one is complete.

    A new file gets the default permissions, an existing one keeps its own; with `private` only the
    owner may read it (mode 0600). OSError: it cannot be written; no partial file is left behind.
    """
    target = Path(path).resolve()  # replace the target of a link, not the link
    draft = target.with_name(f"{DRAFT}{os.urandom(8).hex()}")
    try:
        # tempfile would create it with mode 0600.
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if not private and target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
