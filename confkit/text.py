"""Texts as a terminal, a log, a file of JSON and a notebook may show them, and without what they
are encoded in.

Topics, names and what a service or a camera says are other people's texts. A control character
among them could colour a line, rename a window, hide what stands before it or begin a line that
looks like one of ours.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

_LINE_ENDS = "\n\t"  # of our own texts
# A joiner between letters that are not ASCII is part of a word (Persian, Hindi) or of an emoji.
_JOINED = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")
_OPEN_MATHS = ("$", "\\(", "\\[", "\\begin")  # where a notebook would look for a formula
_ESCAPES = {
    "%": re.compile(r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+|[&?\s]"),
    "\\": re.compile(
        r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
        r"|\\x[0-9A-Fa-f]{2}|\\.",
        re.DOTALL,
    ),
    "&": re.compile("&(?:quot|amp|lt|gt|#39|#34|#x27);"),
}
_PLAIN = {
    "\\n": "\n", "\\r": "\r", "\\t": "\t", "&quot;": '"', "&#34;": '"', "&#39;": "'",
    "&#x27;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">",
}  # fmt: skip
BORDER = "\x1f"  # between two of them stands what was encoded as one


def one_line(text: str) -> str:
    """The text on one line; each character that shows nothing, or changes how others show, is a
    space."""
    return _shown(text, "")


def printable(text: str) -> str:
    """The same for a text of our own that may have lines and tabs."""
    return _shown(text, _LINE_ENDS)


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


def unwrapped(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The text with one layer of its encoding taken off, for each that there may be: percent-
    encoding, backslashes of JSON and of Python, HTML; and where each piece of it ends, in that
    plain text and in the text itself.

    Where it was percent-encoded a BORDER stands for each blank, `&` and `?` that was not, and at
    the beginning."""
    for mark, escape in _ESCAPES.items():
        if mark not in text:
            continue
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


def outside(place: int, layers: list[list[tuple[int, int]]]) -> int:
    """Where a place within these layers stands in the text around them."""
    for steps in reversed(layers):
        plain, wrapped = steps[bisect_right(steps, place, key=lambda step: step[0]) - 1]
        place = wrapped + place - plain
    return place


def _decoded(escape: str) -> str:
    if escape in "&?" or escape.isspace():
        return BORDER
    if escape.startswith("%"):
        return unquote(escape)
    if escape.startswith("\\u"):
        return str(json.loads(f'"{escape}"')) if escape[2:] else "u"
    if escape.startswith("\\x"):
        return chr(int(escape[2:], 16)) if escape[2:] else "x"
    return _PLAIN.get(escape, escape[1:])


def _shown(text: str, kept: str) -> str:
    if text.isprintable():
        return text
    joiners = {found.start() for found in _JOINED.finditer(text)}
    return "".join(
        letter if letter.isprintable() or letter in kept or place in joiners else " "
        for place, letter in enumerate(text)
    )
