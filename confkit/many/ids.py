"""Room IDs as people have them: in a list, a column, a table or a file."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..endpoints import A3, identity, wrong
from ..errors import ParameterError
from ..secret import Guarded, mask_address
from .tables import given_by_code, read_csv, read_list, spoilt_id, values_of

if TYPE_CHECKING:
    import pandas as pd

USUAL = "room_id"
log = logging.getLogger("confkit.sweep")
LONGEST = 200  # characters of what was given for a path, in a message


class RoomIds(NamedTuple):
    """IDs in their order, each once, and the further columns of their table, one row per ID."""

    ids: list[str]
    columns: pd.DataFrame | None = None


def room_ids(given: Any, id_column: str | None = None) -> RoomIds:
    """Return the room IDs in an iterable, a Series, a DataFrame, a CSV file, or a .txt file with
    one per line.

    Of a table they are the column `id_column`; without that, `room_id` or the only column. They are
    read as text. Doubles are left out, the first one counts. ParameterError: a float (its zeros and
    digits may be lost), a cell of which a spreadsheet has made a number (1001.0, 1.23E+09; in a
    list, or in a column of pandas' `string`, such a text is an ID), a missing ID, a text that is no
    file, a table in which no column is named, or whose header is missing.
    """
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if not os.path.isfile(path):  # noqa: PTH113  # no error for what is too long for a path
            shown = mask_address(str(path)[:LONGEST], broken=True)
            raise _wrong(
                f"There is no file {shown!r}, and a lone text is taken for a path.",
                "Look at the path; or for one room give a list of one.",
            )
        return file_ids(path.name, path, id_column)
    if hasattr(given, "columns") or hasattr(given, "isna"):
        import pandas as pd  # which is loaded, when this is one of its things

        if isinstance(given, pd.DataFrame):
            # An index with a name is a column, too: that of the rooms, more often than not.
            levels = [one for one in given.index.names if one is not None and one not in given]
            table = given.reset_index(level=levels) if levels else given
            return RoomIds(*_chosen(table, range(1, len(table) + 1), id_column))
        if isinstance(given, pd.Series | pd.Index):
            cells = not given_by_code(given)
            return RoomIds(list(_once(enumerate(values_of(given), 1), cells=cells)))
    refused = isinstance(given, Mapping | bytes) or hasattr(given, "columns")
    if refused or not isinstance(given, Iterable):
        raise _wrong(
            f"room_ids is of type {type(given).__name__}.",
            "Give a list of IDs, a Series or DataFrame of pandas, or the path of a file.",
        )
    return RoomIds(list(_once(enumerate(given, 1))))


def cell_ids(cells: Iterable[str]) -> list[str]:
    """Return the room IDs in cells as a spreadsheet shows them, each once; errors as of
    `room_ids`."""
    return list(_once(enumerate(cells, 1), cells=True))


def file_ids(name: str, file: Path | io.TextIOBase, id_column: str | None = None) -> RoomIds:
    """Return the room IDs in a file of this name, as `room_ids` does."""
    listed = name.lower().endswith(".txt") and id_column is None
    table, problems = read_list(file, USUAL) if listed else read_csv(file)
    if problems:
        lines = ["" if one.row is None else f", line {one.row}" for one in problems]
        pairs = zip(lines, problems, strict=True)
        raise _refused([f"{name}{line}: {one.problem}" for line, one in pairs])
    cells = table.map(lambda cell: cell.strip() or None)
    ids, others = _chosen(cells, list(table.index), id_column, f"{name}, line")
    return RoomIds(ids, others.astype("string"))


def _chosen(
    table: pd.DataFrame, numbers: Sequence[int], id_column: str | None, where: str = "At place"
) -> tuple[list[str], pd.DataFrame]:
    """The IDs of a table with the columns beside them, the first row of each."""
    place = _place(list(table.columns), id_column)
    column = table.iloc[:, place]
    given = zip(numbers, values_of(column), strict=True)
    found = _once(given, where, cells=not given_by_code(column))
    shown = [at for at, name in enumerate(table) if at != place and name != ""]
    others = table.iloc[list(found.values()), shown].reset_index(drop=True)
    if len(table) > len(found) and shown:
        log.warning(
            "rows of the table that are left out: %d, as their rooms stand in rows before them, "
            "whose further columns count",
            len(table) - len(found),
        )
    return list(found), others


def _once(
    given: Iterable[tuple[int, Any]], where: str = "At place", cells: bool = False
) -> dict[str, int]:
    """The IDs without doubles, each with the position at which it stands first.

    Each comes with the number of its place or line. Of `cells`, none is a number that a spreadsheet
    has made."""
    found: dict[str, int] = {}
    refused: list[str] = []
    advice = ""
    for position, (number, value) in enumerate(given):
        try:
            written = _identity(value, cells).rstrip("\r\n")  # as readlines() leaves them
        except ParameterError as error:
            advice = advice if refused else error.advice
            refused.append(f"{where} {number}: {error.meaning}")
            continue
        if "@" in written and "://" in written:  # a camera's address: the wrong column, mostly
            written = Guarded(written)
        found.setdefault(written, position)
    if refused:
        raise _refused(refused, advice)
    return found


def _identity(value: Any, cell: bool) -> str:
    """An ID as text; ParameterError for what is none."""
    if value is None:
        raise _wrong("The room ID is missing.", "")
    if cell and (spoilt := spoilt_id(value)):
        raise _wrong(spoilt, "")
    return identity(A3, USUAL, value)


def _refused(problems: Sequence[str], advice: str = "") -> ParameterError:
    """The error that names the first of these problems, and how many more there are."""
    more = len(problems) - 1
    text = f"{more} more {'is' if more == 1 else 'are'} wrong." if more else ""
    return _wrong(problems[0], f"{advice} {text}".strip())


def _wrong(problem: str, advice: str) -> ParameterError:
    return wrong(A3, problem, advice)


def _place(labels: Sequence[Any], id_column: str | None) -> int:
    """The place of the column with the IDs."""
    names = [str(label) for label in labels]
    if id_column is None and USUAL not in names:
        _check_header(labels)
        if len(names) == 1:
            return 0
        problem = "The table does not say which column holds the room IDs."
    else:
        wanted = USUAL if id_column is None else str(id_column)
        if names.count(wanted) == 1:
            return names.index(wanted)
        problem = f"The column {wanted!r} is {'twice' if wanted in names else 'not'} in the table."
    listed = ", ".join(map(repr, names)) or "none"
    raise _wrong(problem, f"Name the column with id_column=; the columns are {listed}.")


def _check_header(labels: Sequence[Any]) -> None:
    """Refuse names of columns that seem to be the first row: its room would be lost."""
    names = [label for label in labels if isinstance(label, str)]
    if numbers := [name for name in names if name.strip().isdigit()]:
        raise _wrong(
            f"A column is called {numbers[0]!r}, as if the header were missing.",
            "Write the columns' names as the first line of the file, room_id above the IDs.",
        )
    if len(labels) == 1 and names and any(map(str.isdigit, names[0])):
        raise _wrong(
            f"The only column is called {names[0]!r}, as if the header were missing.",
            "Write room_id as the first line of the file, or name the file .txt; where that is "
            f"the column's name, give id_column={names[0]!r}.",
        )
