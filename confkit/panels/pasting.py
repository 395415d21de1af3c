"""Room IDs as people paste them, and those in a file that a browser sends."""

from __future__ import annotations

import io
import re

from ..many.ids import LONGEST, RoomIds, cell_ids, file_ids
from ..many.tables import read_csv

_BETWEEN = re.compile(r"[\s,;|\"'\[\](){}]+")


def pasted_ids(text: str) -> list[str]:
    """Return the room IDs in a text, each once, between spaces, commas, semicolons, quotes,
    brackets or line ends. ParameterError for one of which a spreadsheet has made a number."""
    return cell_ids(filter(None, _BETWEEN.split(text)))


def ids_in_file(name: str, text: str, id_column: str | None = None) -> RoomIds:
    """Return the room IDs in a file of this name and text, with the further columns of its table:
    as `sweep` reads a path, with the same errors. Nothing is written to disk."""
    return file_ids(name[-LONGEST:], io.StringIO(text), id_column)


def columns_in_file(name: str, text: str) -> list[str]:
    """Return the names of the columns in a CSV file of this name and text; none of a text file."""
    if name.lower().endswith(".txt"):
        return []
    return [one for one in map(str, read_csv(io.StringIO(text)).frame) if one]
