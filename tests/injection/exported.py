"""What an export and a recording leave on the disk."""

import csv
import io
from pathlib import Path

import pandas as pd

from confkit.many.tables import as_csv, read_csv


def astray(outer: Path) -> list[str]:
    """The files of recordings that stand outside their folders, or are called by a text."""
    found = []
    for path in outer.rglob("*"):
        name = path.name
        ours = name.startswith(("occupancy-", "broken")) or name == "cells.csv"
        if not ours and "occupancy-" not in str(path):
            found.append(repr(path))
        if not (name.isascii() and name.isprintable()) or set(name) & set(" '\"<>;&$`"):
            found.append(repr(path))
    return found


def changed(some: list[str], folder: Path) -> list[str]:
    """The cells that are another text when an export of them is read again."""
    frame = pd.DataFrame({"room_id": some, "topic": [*some[1:], some[0]]}, dtype="str")
    path = folder / "cells.csv"
    path.write_text(as_csv(frame), "utf-8-sig", newline="")
    if any("\0" in text for text in some):  # which no CSV file holds: U+FFFD stands for it
        frame = frame.replace("\0", "\ufffd", regex=True)
    found = read_csv(path)
    rows = [cells for _, cells in found.rows]
    wanted = frame.to_numpy().tolist()
    plain = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    if len(plain) != len(wanted) + 1:
        return [f"{len(plain)} lines for {len(wanted)} rows"]
    if found.problems or rows != wanted:
        differing = [pair for pair in zip(rows, wanted, strict=False) if pair[0] != pair[1]]
        return [f"{found.problems!r} {differing!r}"]
    return []
