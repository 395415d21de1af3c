"""What charts call rooms and times: one line, short, in English, and no two rooms alike."""

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

import pandas as pd

from ..occupancy.zones import moment as parsed
from ..occupancy.zones import zone
from ..text import one_line

LONGEST = 34  # columns; a wide letter (Chinese, Japanese, Korean) takes two


def names(room_ids: Iterable[Any], topics: Iterable[Any]) -> list[str]:
    """A name for each room: its topic, shortened, with its ID where another is called alike; its ID
    where it has none."""
    pairs = [(clean(one), clean(topic)) for one, topic in zip(room_ids, topics, strict=True)]
    alike = Counter(short(topic) for _, topic in pairs)
    return [
        f"{short(topic, max(6, LONGEST - 3 - len(room_id)))} · {room_id}"
        if topic and alike[short(topic)] > 1
        else short(topic) or room_id
        for room_id, topic in pairs
    ]


def called(name: str, room_id: str) -> str:
    """The name with the whole ID, in a text in which both have place."""
    return room_id if name == room_id else f"{name.removesuffix(f' · {room_id}')} ({room_id})"


def clean(text: Any) -> str:
    """The text on one line and without what no font shows; nothing for a missing value."""
    return "" if pd.isna(text) else one_line(str(text)).strip()


def width(text: str) -> int:
    """Columns that a text takes."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def short(text: str, longest: int = LONGEST) -> str:
    """The text, cut at its end where it is longer than so many columns."""
    if width(text) <= longest:
        return text
    kept = text[:longest]
    while width(kept) >= longest:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts "Room 2" before "Room 10"."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part.casefold())
        for part in re.split(r"(\d+)", name)
    ]


def wrapped(text: str, columns: int) -> str:
    """The text in at most three lines of at most so many columns."""
    letters = columns * len(text) // max(1, width(text))
    return "\n".join(textwrap.wrap(text, max(1, letters), max_lines=3, placeholder="…"))


def listed(texts: Iterable[str], most: int) -> str:
    """The first of them, and how many more there are."""
    every = list(texts)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def at(time: str | datetime | None, tz: str | tzinfo | None) -> str:
    """The time with its zone, of ISO text too; nothing where there is none. ValueError for others.

    Without an offset it is local."""
    if not time:
        return ""
    here, name = zone(tz)
    return f"{moment(parsed(time, 'time').astimezone(here))} ({name})"


def moment(time: datetime) -> str:
    """Such as "Sat 21 Nov 2026, 15:47"."""
    return f"{time:%a} {day(time)}, {time:%H:%M}"


def day(time: datetime) -> str:
    """Such as "21 Nov 2026"."""
    return f"{time.day} {time:%b %Y}"


def span(first: datetime, last: datetime) -> str:
    """From when to when, in days; with the hours where it is one day."""
    if first.date() == last.date():
        return f"{moment(first)} to {last:%H:%M}"
    return f"{day(first)} to {day(last)}"


def lasting(minutes: float) -> str:
    """Such as "45 min", "2 h 15 min" or "38 h"; whole minutes, and hours from a day on."""
    hours, rest = divmod(round(minutes), 60)
    if not hours:
        return f"{rest} min" if rest or not minutes else "under 1 min"
    if hours >= 24:
        return f"{round(minutes / 60):,} h"
    return f"{hours} h {rest} min" if rest else f"{hours} h"
