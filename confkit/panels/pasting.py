"""Room IDs as people paste them, and those in a file that a browser sends."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ..many.ids import RoomIds, cell_ids, room_ids
from ..many.tables import read_csv

_BETWEEN = re.compile(r"[\s,;|\"'\[\](){}]+")
_NAME_BYTES = 200  # file systems take 255
T = TypeVar("T")


def pasted_ids(text: str) -> list[str]:
    """The room IDs in a text, each once, between spaces, commas, semicolons, quotes, brackets or
    line ends. ParameterError for one of which a spreadsheet has made a number."""
    return cell_ids(filter(None, _BETWEEN.split(text)))


def ids_in_file(name: str, text: str, id_column: str | None = None) -> RoomIds:
    """The room IDs in a file of this name and text, with the further columns of its table: as
    `sweep` reads a path, with the same errors."""
    return _as_file(name, text, lambda path: room_ids(path, id_column))


def columns_in_file(name: str, text: str) -> list[str]:
    """The names of the columns in a CSV file of this name and text; none of a text file."""
    if name.lower().endswith(".txt"):
        return []
    return _as_file(name, text, lambda path: [one for one in read_csv(path).names if one])


def _as_file(name: str, text: str, read: Callable[[Path], T]) -> T:
    # What reads files knows encodings, separators and spreadsheets, and names the line in errors.
    with TemporaryDirectory() as folder:
        path = Path(folder, _file_name(name))
        path.write_text(text, "utf-8", newline="")
        return read(path)


def _file_name(name: str) -> str:
    """A name that a file may have here; of a longer one the end, which says what kind it is."""
    found = Path(name.replace("\0", "")).name
    whole = found.encode("utf-8", "replace")[-_NAME_BYTES:].decode("utf-8", "ignore")
    return "rooms.csv" if whole in ("", "..") else whole
