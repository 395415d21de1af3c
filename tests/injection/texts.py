"""Texts that somebody with bad intentions would call a room, a user or a camera."""

import tomllib
from pathlib import Path

FORGED = "PASS    forged by a topic"
_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
MARKUP, FORMULAS, MATHS, CONTROLS, PLACES, NUMBERS, LETTERS = map(tuple, _TEXTS.values())
HALVES = ("a\ud800b", "\udfff", "\ude00\ud83d")
ALL = (*MARKUP, *FORMULAS, *MATHS, *CONTROLS, *PLACES, *NUMBERS, *LETTERS)


def sendable(text: str) -> bool:
    """Whether the interface takes it for an ID and for a topic."""
    return bool(text.strip()) and len(text.encode()) < 150
