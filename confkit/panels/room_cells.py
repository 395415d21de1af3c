"""The table of rooms: its columns, and what stands in their cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..charts.rooms import RoomNow
from ..many.result import NOT_ASKED
from .bars import bar
from .parts import Bar, Column, Mark, Table
from .parts.table import Cell, Row

_TONES = {"scheduled": "note", "opening": "good", "locked": "warn", "closed": "quiet"}


def status_cell(row: Row) -> Cell:
    """A room's status, or that it was not read, or not asked for."""
    if row["status"] is not None:
        return Mark(row["status"], _TONES.get(row["status"], "quiet"))
    return _missing(row)


def users_cell(row: Row, old: str = "") -> Cell:
    """A room's users against its cap, in the states of the occupancy chart, and how `old` they
    are."""
    users, cap, error = row["users"], row["attendee_max"], row["error"]
    if users is None:
        mark = _missing(row)
        return mark if mark is None else Bar(mark.text, None, "unread")
    # A room that was read has a topic: without one, and with an error, its cap is not known.
    capped = cap is not None or row["topic"] is not None or error is None
    now = RoomNow("", row["room_id"], users, cap or None, capped)
    return bar(now, old)


def _missing(row: Row) -> Mark | None:
    if row["error"] is None:
        return None
    asked = row["error"] != NOT_ASKED
    return Mark("not read", "bad") if asked else Mark("not asked", "quiet")


def _name(row: Row) -> Cell:
    name: str = row["topic"] or row["room_id"]
    return name


def room_table(old: Callable[[Row], str], **options: Any) -> Table:
    """The table of rooms, the fullest first until it is sorted otherwise; `old` says of a row how
    old it is. Further columns of the caller's table are in the panel's value and not in it."""
    columns = (
        Column(
            "topic", "topic", lambda row: row["topic"] or row["room_id"]
        ),  # what narrow ones show
        Column("room_id", "room", wide=True),
        Column("status", "status", status_cell, wide=True),
        Column("utilisation", "users of max", lambda row: users_cell(row, old(row))),
        Column("people", "people", right=True, wide=True),
        Column("devices", "devices", right=True, wide=True),
        Column("mode", "mode", wide=True),
        Column("owner_id", "owner", wide=True),
    )
    return Table("Rooms", "room_id", columns, what="rooms", sort=("utilisation", True), **options)
