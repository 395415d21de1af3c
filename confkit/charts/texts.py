"""What charts call rooms and times: one line, short, in English, and no two rooms alike."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

import pandas as pd

from ..occupancy.zones import moment as parsed
from ..occupancy.zones import zone

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LONGEST = 34  # columns; a wide letter (Chinese, Japanese, Korean) takes two


def names(room_ids: Iterable[Any], topics: Iterable[Any]) -> list[str]:
    """A name a room: its topic, shortened; its ID where it has none or another is called alike."""
    ids = [clean(room_id) for room_id in room_ids]
    whole = [clean(topic).strip() for topic in topics]
    first = [short(topic or room_id) for topic, room_id in zip(whole, ids, strict=True)]
    alike = Counter(first)
    told = [
        _with_id(topic, room_id) if alike[name] > 1 else name
        for name, topic, room_id in zip(first, whole, ids, strict=True)
    ]
    still = Counter(told)
    return [room_id if still[name] > 1 else name for name, room_id in zip(told, ids, strict=True)]


def _with_id(topic: str, room_id: str) -> str:
    told = middle(room_id, 16)
    return f"{short(topic, LONGEST - 3 - len(told))} · {told}" if topic else told


def called(name: str, room_id: str) -> str:
    """The name with the whole ID, in a text in which both have place."""
    return room_id if name == room_id else f"{name.removesuffix(f' · {room_id}')} ({room_id})"


def clean(text: Any) -> str:
    """The text on one line and without what no font shows; nothing for a missing value."""
    if pd.isna(text):
        return ""
    told = str(text)
    if told.isprintable():  # nearly all are, and there may be many
        return told
    return "".join(letter if letter.isprintable() else " " for letter in told)


def width(text: str) -> int:
    """Columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def short(text: str, longest: int = LONGEST) -> str:
    """The text, cut at its end where it is longer than so many columns."""
    if width(text) <= longest:
        return text
    kept = text
    while width(kept) > longest - 1:
        kept = kept[: max(1, min(len(kept) - 1, longest))]
    return kept.rstrip() + "…"


def middle(text: str, longest: int) -> str:
    """The text, cut in its middle: IDs often differ at their ends only."""
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts "Room 2" before "Room 10"."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part.casefold())
        for part in re.split(r"(\d+)", name)
    ]


def wrapped(text: str, columns: int, lines: int = 3) -> str:
    """The text in at most so many lines of at most so many columns."""
    found = [""]
    for word in text.split(" "):
        joined = f"{found[-1]} {word}" if found[-1] else word
        if width(joined) <= columns:
            found[-1] = joined
        else:
            found.append(short(word, columns))
    found = [line for line in found if line]
    if len(found) > lines:
        found = [*found[: lines - 1], short(f"{found[lines - 1]} {found[lines]}", columns)]
    return "\n".join(found)


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
    return f"{DAYS[time.weekday()][:3]} {day(time)}, {time:%H:%M}"


def day(time: datetime) -> str:
    """Such as "21 Nov 2026"."""
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}"


def span(first: datetime, last: datetime) -> str:
    """From when to when, in days; with the hours where it is one day."""
    if first.date() == last.date():
        return f"{moment(first)} to {last:%H:%M}"
    return f"{day(first)} to {day(last)}"


def lasting(minutes: float) -> str:
    """Such as "45 min", "2 h 15 min" or "38 h"; whole minutes, and hours from a day on."""
    whole = round(minutes)
    if whole < 60:
        return f"{whole} min" if whole or not minutes else "under 1 min"
    hours, rest = divmod(whole, 60)
    if hours >= 24:
        return f"{round(whole / 60):,} h"
    return f"{hours} h {rest} min" if rest else f"{hours} h"
