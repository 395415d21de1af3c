"""The exercises, in the course's order; each module judges those of one subject."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..judged import Judge
from . import devices, errors, many, own_client, rooms, token
from .values import value


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


_ROWS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "01-the-service": (
        ("first-room", "room", rooms.first_room, True),
        ("order-of-calls", "list", value("order-of-calls")),
        ("no-token", "code", value("no-token")),
        ("no-such-call", "set", value("no-such-call")),
    ),
    "02-the-token": (
        ("digest", "text", token.digest),
        ("token", "text", token.token),
        ("token-in-url", "text", token.in_url),
        ("token-culprits", "list", value("token-culprits")),
        ("token-at-work", "text", token.at_work, True),
    ),
    "03-rooms-and-people": (
        ("own-number", "room", rooms.own_number, True),
        ("topic-cut", "function", rooms.topic_cut),
        ("quoted-cap", "function", rooms.quoted_cap),
        ("locked-in", "room", rooms.locked_in, True),
        ("full-room", "room", rooms.full_room, True),
        ("put-off", "function", rooms.put_off, True),
        ("five-codes", "dict", value("five-codes")),
        ("host-and-port", "function", rooms.host_and_port),
    ),
    "05-errors": (
        ("errors-read", "function", errors.read),
        ("errors-again", "list", value("errors-again")),
        ("errors-count", "function", errors.count, True),
        ("errors-full", "room", errors.full, True),
    ),
    "06-devices": (
        ("devices-options", "text", devices.options),
        ("devices-verdicts", "list", devices.verdicts),
        ("devices-seat", "room", devices.seated, True),
        ("devices-missing", "function", devices.missing, True),
    ),
    "07-many-rooms": (
        ("many-cost", "number", value("many-cost")),
        ("many-full", "set", many.full, True),
        ("many-report", "function", many.report),
        ("many-pause", "function", many.pause),
    ),
    "08-your-own-client": (
        ("signature", "function", own_client.signature),
        ("own-client", "list", own_client.command),
        ("reports", "dict", value("reports")),
    ),
}
EXERCISES = tuple(
    Exercise(name, notebook, *row) for notebook, rows in _ROWS.items() for name, *row in rows
)
