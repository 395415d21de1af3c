"""Texts as a terminal, a log, JSON and a notebook may show them, and files written atomically.

Topics, names and what a service or a camera says are other people's texts. A control character
among them could colour a line, rename a window, hide what stands before it or begin a line that
looks like one of ours.
"""

import io
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

# A joiner between letters that are not ASCII is part of a word (Persian, Hindi) or of an emoji.
_JOINER = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
_MATHS = ("$", "\\(", "\\[", "\\begin")  # where a notebook would look for a formula


def one_line(text: str) -> str:
    """Return the text on one line, with a space for each character that shows nothing or changes
    how others show."""
    return printable(text, "")


def printable(text: str, kept: str = "\n\t") -> str:
    """Return the same for a text of our own, which may have lines and tabs."""
    if text.isprintable():
        return text
    joiners = {match.start() for match in _JOINER.finditer(text)}
    return "".join(
        letter if letter.isprintable() or letter in kept or place in joiners else " "
        for place, letter in enumerate(text)
    )


def echo(what: object, *, err: bool = False, end: str = "\n") -> None:
    """Print it at once; `err`: to standard error, so that standard output holds the result alone.

    A letter that the stream's encoding does not have becomes a question mark."""
    stream = sys.stderr if err else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")
    print(printable(str(what)), end=end, file=stream, flush=True)


def as_json(value: Any) -> str:
    """Return the value as JSON for people and programs: letters as they are, what is not printable
    as \\uXXXX, so that the value stays the same."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def without_maths(html: str) -> str:
    """Return HTML in which a notebook sets nothing as a formula: a topic may hold two dollars."""
    if not any(mark in html for mark in _MATHS):
        return html
    return f"<div class='tex2jax_ignore mathjax_ignore'>{html}</div>"  # MathJax 3, and 4


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 room" or "1,200 rooms"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def write_atomically(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file as a whole: until that is done, an older one stays as it is.

    A new file gets the usual rights, an older one keeps its own; a `private` one is for its owner
    alone (mode 0600). What is not a plain file, such as /dev/stdout, is written to directly.
    OSError: it cannot be written, and nothing of it is left behind.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    target = target.resolve()  # what a link leads to, not the link, is replaced
    draft = target.with_name(f".draft-{os.urandom(8).hex()}")
    try:
        # tempfile would give it the rights of a private one.
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
