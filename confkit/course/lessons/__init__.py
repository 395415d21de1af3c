"""The exercises, in the course's order; each module judges those of one subject."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..judged import Judge
from . import devices, errors, many, own_client, rooms, token
from .values import tried, value


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: its `name`, the stem of its `notebook`, the kind of answer that it `takes`, and
    the `judge` of such answers. With `needs_client` the judge looks at the sandbox through a
    client."""

    name: str
    notebook: str
    takes: str
    judge: Judge = field(repr=False)
    needs_client: bool = False


# name, kind of answer, judge (without one: by its row of answers.toml), whether it needs a client
_ROWS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "01-the-service": (
        ("first-room", "room", rooms.first_room, True),
        ("order-of-calls", "list"),
        ("no-token", "code"),
        ("no-such-call", "set"),
    ),
    "02-the-token": (
        ("digest", "text", token.digest),
        ("token", "text", token.token),
        ("token-in-url", "text", token.in_url),
        ("token-culprits", "list"),
        ("token-at-work", "text", token.at_work, True),
    ),
    "03-rooms-and-people": (
        ("own-number", "room", rooms.own_number, True),
        ("topic-cut", "function", rooms.topic_cut),
        ("quoted-cap", "function"),
        ("locked-in", "room", rooms.locked_in, True),
        ("full-room", "room", rooms.full_room, True),
        ("put-off", "function", rooms.put_off, True),
        ("five-codes", "dict"),
        ("host-and-port", "function"),
    ),
    "04-errors": (
        ("errors-read", "function"),
        ("errors-again", "list"),
        ("errors-count", "function", errors.count, True),
        ("errors-full", "room", errors.full, True),
    ),
    "05-devices": (
        ("devices-options", "text", devices.options),
        ("devices-verdicts", "list", devices.verdicts),
        ("devices-seat", "room", devices.seated, True),
        ("devices-missing", "function", devices.missing, True),
    ),
    "06-many-rooms": (
        ("many-cost", "number"),
        ("many-full", "set", many.full, True),
        ("many-report", "function"),
        ("many-pause", "function", many.pause),
    ),
    "07-your-own-client": (
        ("signature", "function", own_client.signature),
        ("own-client", "list", own_client.command),
        ("reports", "dict"),
    ),
}


def _exercise(notebook: str, name: str, takes: str, *judged: Any) -> Exercise:
    by_row = tried(name) if takes == "function" else value(name)
    return Exercise(name, notebook, takes, *(judged or (by_row,)))


EXERCISES = tuple(_exercise(notebook, *row) for notebook, rows in _ROWS.items() for row in rows)
