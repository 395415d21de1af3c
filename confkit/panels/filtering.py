"""Which rooms a search and filters leave: of 100,000 in some milliseconds."""

from __future__ import annotations

import sys
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConfigError
from ..frames import OTHER, ROOM_MODE, ROOM_STATUS

if TYPE_CHECKING:
    import pandas as pd

SEARCHED = ("topic", "room_id", "owner_id", "room_extend_id")


class Filter(NamedTuple):
    """What is wanted of rooms: every word of `text` somewhere in topic, ID, owner or external ID,
    in capitals or not; this `status` and `mode`; a utilisation above `fuller_than` percent; with
    `failures` only those of which something could not be read. Left out, all are wanted."""

    text: str = ""
    status: str | None = None
    mode: str | None = None
    fuller_than: float | None = None
    failures: bool = False


class Rooms(NamedTuple):
    """A frame of rooms, and of each the text that a search looks through."""

    frame: pd.DataFrame
    texts: pd.Series[str]


def check(wanted: Filter) -> None:
    """Check that rooms can be looked for with this; ConfigError names what is wrong in it."""
    if not isinstance(wanted.text, str):
        raise ConfigError(f"text is {wanted.text!r}", "Give words to look for, or an empty text.")
    for name, value, names in (
        ("status", wanted.status, ROOM_STATUS), ("mode", wanted.mode, ROOM_MODE),
    ):  # fmt: skip
        if value not in (None, OTHER, *names.values()):
            listed = ", ".join([*names.values(), OTHER])
            raise ConfigError(f"{name} is {value!r}", f"Give one of {listed}, or None for any.")
    full = wanted.fuller_than
    if full is not None and not (
        isinstance(full, Real)
        and not isinstance(full, bool)
        and abs(full) <= sys.float_info.max  # neither nan nor inf
    ):
        raise ConfigError(f"fuller_than is {full!r}", "Give percent, such as 80, or None for any.")
    if not isinstance(wanted.failures, bool):
        raise ConfigError(f"failures is {wanted.failures!r}", "Give True or False.")


def searchable(frame: pd.DataFrame) -> Rooms:
    """The rooms, with what a search needs made beforehand."""
    texts = frame[SEARCHED[0]].fillna("")
    for name in SEARCHED[1:]:
        texts = texts + "\n" + frame[name].fillna("")
    return Rooms(frame, texts.str.lower())


def matching(rooms: Rooms, wanted: Filter) -> pd.DataFrame:
    """The rows of the rooms that are wanted, in their order. What is missing matches nothing: a
    room whose users could not be read is not fuller than 0 percent."""
    import numpy as np

    frame = rooms.frame
    tests: list[Any] = [
        rooms.texts.str.contains(word, regex=False) for word in wanted.text.lower().split()
    ]
    if wanted.status is not None:
        tests.append(frame["status"] == wanted.status)
    if wanted.mode is not None:
        tests.append(frame["mode"] == wanted.mode)
    if wanted.fuller_than is not None:
        tests.append(100 * frame["utilisation"] > wanted.fuller_than)
    if wanted.failures:
        tests.append(frame["error"].notna())
    if not tests:
        return frame
    kept = np.logical_and.reduce([test.to_numpy(bool, na_value=False) for test in tests])
    found: pd.DataFrame = frame.loc[kept]
    return found
