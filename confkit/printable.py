"""Texts as a terminal and a log may show them.

Topics, names and what a service or a camera says are other people's texts. A control character
among them could colour a line, rename a window, hide what stands before it or begin a line that
looks like one of ours.
"""

import json
import re
from collections.abc import Callable
from typing import Any

_LINE_ENDS = "\n\t"  # of our own texts
# A joiner between letters that are not ASCII is part of a word (Persian, Hindi) or of an emoji.
_JOINED = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")


def one_line(text: str) -> str:
    """The text on one line; each character that shows nothing, or changes how others show, is a
    space."""
    return _shown(text, "")


def printable(text: str) -> str:
    """The same for a text of our own that may have lines and tabs."""
    return _shown(text, _LINE_ENDS)


def _shown(text: str, kept: str) -> str:
    if text.isprintable():
        return text
    joiners = {found.start() for found in _JOINED.finditer(text)}
    return "".join(
        [
            letter if letter.isprintable() or letter in kept or place in joiners else " "
            for place, letter in enumerate(text)
        ]
    )


def as_json(value: Any, **options: Any) -> str:
    """The value as JSON for people and programs: letters as they are, what is not printable as
    \\uXXXX, so that the value stays the same."""
    text = json.dumps(value, ensure_ascii=False, **options)
    return _each_line(text, _escaped)


def _each_line(text: str, change: Callable[[str], str]) -> str:
    return "\n".join(line if line.isprintable() else change(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    return "".join(letter if letter.isprintable() else _units(letter) for letter in line)


def _units(letter: str) -> str:
    raw = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(raw[::2], raw[1::2], strict=True))
