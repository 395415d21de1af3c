"""Texts as a terminal, a log, a file of JSON and a notebook may show them, what is encoded in a
text, the one place that writes to the terminal, and files that are written whole.

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
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

_LINE_ENDS = "\n\t"  # of our own texts
# A joiner between letters that are not ASCII is part of a word (Persian, Hindi) or of an emoji.
_JOINED = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
BORDER = "\x1f"  # between two of them stands what was percent-encoded as one

# What a character may be encoded as: percent-encoded, with a backslash as in JSON and in Python, or
# as in HTML. A text that is percent-encoded holds no blank, & and ? but between such texts.
_ESCAPES = {
    "%": re.compile(r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+|[&?\s]"),
    "\\": re.compile(
        r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
        r"|\\x[0-9A-Fa-f]{2}|\\.",
        re.DOTALL,
    ),
    "&": re.compile("&(?:quot|amp|lt|gt|#39|#34|#x27);"),
}
_OPEN_MATHS = ("$", "\\(", "\\[", "\\begin")  # where a notebook would look for a formula


def one_line(text: str) -> str:
    """Return the text on one line, with a space for each character that shows nothing or changes
    how others show."""
    return printable(text, "")


def printable(text: str, kept: str = _LINE_ENDS) -> str:
    """Return the same for a text of our own, which may have lines and tabs."""
    if text.isprintable():
        return text
    joiners = {found.start() for found in _JOINED.finditer(text)}
    return "".join(
        letter if letter.isprintable() or letter in kept or place in joiners else " "
        for place, letter in enumerate(text)
    )


def say(what: object, *, aside: bool = False, end: str = "\n") -> None:
    """Print it at once; `aside` to standard error, which keeps a result on standard output alone.

    A letter that the stream's encoding does not know becomes a question mark."""
    stream = sys.stderr if aside else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")
    print(printable(str(what)), end=end, file=stream, flush=True)


def as_json(value: Any) -> str:
    """Return the value as JSON for people and programs: letters as they are, what is not printable
    as \\uXXXX, so that the value stays the same."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def as_it_is(html: str) -> str:
    """Return HTML in which a notebook sets nothing as a formula: a topic may hold two dollars."""
    if not any(opening in html for opening in _OPEN_MATHS):
        return html
    return f"<div class='tex2jax_ignore mathjax_ignore'>{html}</div>"  # MathJax 3, and 4


def unwrapped(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Give the text with one layer of its encoding taken off, for each that there may be: percent-
    encoding, backslashes, HTML; and the steps for `outside`.

    Where it was percent-encoded a BORDER stands at the beginning, and for each blank, `&` and `?`
    that was not."""
    for mark, escape in _ESCAPES.items():
        if mark in text:
            first = BORDER if mark == "%" else ""
            parts, steps, at, size = [first], [(0, 0), (len(first), 0)], 0, len(first)
            for found in escape.finditer(text):
                plain = _decoded(found.group())
                parts += [text[at : found.start()], plain]
                size += found.start() - at + len(plain)
                at = found.end()
                steps.append((size, at))
            if at:
                yield "".join([*parts, text[at:]]), steps


def outside(place: int, steps: list[tuple[int, int]]) -> int:
    """Return where a place in the unwrapped text stands in the text around it."""
    plain, wrapped = steps[bisect_right(steps, place, key=lambda step: step[0]) - 1]
    return wrapped + place - plain


def _decoded(escape: str) -> str:
    if escape in "&?" or escape.isspace():
        return BORDER
    if not escape.startswith("\\"):
        return unquote(escape) if escape.startswith("%") else unescape(escape)
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:  # Python writes more with a backslash than JSON does
        return chr(int(escape[2:], 16)) if escape[1] == "x" and escape[2:] else escape[1:]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 room" or "1,200 rooms"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def write_whole(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file whole: until that is done, an older one stays as it is.

    A new file gets the usual rights, an older one keeps its own; a `private` one is for its owner
    alone (mode 0600). What is no plain file, such as /dev/stdout, is written to directly. OSError:
    it cannot be written, and nothing of it is left behind.
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
