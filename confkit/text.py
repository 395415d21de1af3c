"""Texts as a terminal, a log, a file of JSON and a notebook may show them, the one place that
writes to the terminal, and files that are written whole.

Topics, names and what a service or a camera says are other people's texts. A control character
among them could colour a line, rename a window, hide what stands before it or begin a line that
looks like one of ours.
"""

import io
import json
import os
import re
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_LINE_ENDS = "\n\t"  # of our own texts
# A joiner between letters that are not ASCII is part of a word (Persian, Hindi) or of an emoji.
_JOINED = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
_OPEN_MATHS = ("$", "\\(", "\\[", "\\begin")  # where a notebook would look for a formula


def one_line(text: str) -> str:
    """The text on one line; each character that shows nothing, or changes how others show, is a
    space."""
    return printable(text, "")


def printable(text: str, kept: str = _LINE_ENDS) -> str:
    """The same for a text of our own that may have lines and tabs."""
    if text.isprintable():
        return text
    joiners = {found.start() for found in _JOINED.finditer(text)}
    return "".join(
        letter if letter.isprintable() or letter in kept or place in joiners else " "
        for place, letter in enumerate(text)
    )


def say(what: object, *, aside: bool = False, end: str = "\n") -> None:
    """Prints it at once; `aside` to standard error, beside a result that is alone there.

    A letter that the stream's encoding does not know is a question mark."""
    stream = sys.stderr if aside else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")
    print(printable(str(what)), end=end, file=stream, flush=True)


def as_json(value: Any, **options: Any) -> str:
    """The value as JSON for people and programs: letters as they are, what is not printable as
    \\uXXXX, so that the value stays the same."""
    text = json.dumps(value, ensure_ascii=False, **options)
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]
        for letter in text
    )


def as_it_is(html: str) -> str:
    """The HTML, of which a notebook sets no part as a formula: a topic may hold two dollars."""
    if not any(opening in html for opening in _OPEN_MATHS):
        return html
    return f"<div class='tex2jax_ignore mathjax_ignore'>{html}</div>"  # MathJax 3, and 4


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as "1 room" or "1,200 rooms"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def write_whole(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file whole; until it is, one that was there stays as it is.

    A new file has the usual rights, one that was there keeps its own; a `private` one is for its
    owner alone (mode 0600). What is no plain file, such as /dev/stdout, is written to as it is.
    OSError: it cannot be written, and nothing of it is left behind.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    target = target.resolve()  # what a link leads to, not the link, is replaced
    draft = target.with_name(f".draft-{secrets.token_hex(8)}")
    try:
        # Whoever makes a file in another way learns its usual rights only by changing them.
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
