"""Room IDs as people paste them, and those in a file that a browser sends."""

from __future__ import annotations

import re

from ..tables import MAX_QUOTED, RoomIds, parse_csv, room_ids_in_cells, room_ids_in_text

_BETWEEN = re.compile(r"[\s,;|\"'\[\](){}]+")


def pasted_ids(text: str) -> list[str]:
    """Return the room IDs in a text, each once, between spaces, commas, semicolons, quotes,
    brackets or line ends. ParameterError for one of which a spreadsheet has made a number."""
    return room_ids_in_cells(filter(None, _BETWEEN.split(text)))


def ids_in_file(name: str, text: str, id_column: str | None = None) -> RoomIds:
    """Return the room IDs in a file of this name and text, with the further columns of its table:
    as `sweep` reads a path, with the same errors. Nothing is written to disk."""
    return room_ids_in_text(name[-MAX_QUOTED:], text, id_column)


def columns_in_file(name: str, text: str) -> list[str]:
    """Return the names of the columns in a CSV file of this name and text; none of a text file."""
    return [] if name.lower().endswith(".txt") else [name for name in parse_csv(text).names if name]
