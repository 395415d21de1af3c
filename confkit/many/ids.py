"""Room IDs as people have them: in a list, a column, a table or a file."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arguments import identity, wrong
from ..endpoints import A3
from ..errors import ParameterError
from ..frames import strings
from ..masking import Guarded, mask_address
from ..tables import Problem, Raw, given_by_code, read_csv, read_text, spoilt_id

if TYPE_CHECKING:
    import pandas as pd

USUAL = "room_id"
log = logging.getLogger("confkit.sweep")
LONGEST = 200  # characters of what was given for a path, in a message


class RoomIds(NamedTuple):
    """IDs in their order, each once, and the further columns of their table, a row an ID."""

    ids: list[str]
    columns: pd.DataFrame | None = None


def room_ids(given: Any, id_column: str | None = None) -> RoomIds:
    """The room IDs in an iterable, a Series, a DataFrame, a CSV file, or a .txt file with one a
    line.

    Of a table they are the column `id_column`; without that, `room_id` or the only column. They are
    read as text. Doubles are left out, the first one counts. ParameterError: a float (its zeros and
    digits may be lost), a cell of which a spreadsheet has made a number (1001.0, 1.23E+09; in a
    list, or in a column of pandas' `string`, such a text is an ID), a missing ID, a text that is no
    file, a table in which no column is named, or whose header is missing.
    """
    if isinstance(given, str | os.PathLike):
        return _file(Path(given), id_column)
    if hasattr(given, "columns") or hasattr(given, "isna"):
        import pandas as pd  # which is loaded, when this is one of its things

        if isinstance(given, pd.DataFrame):
            return _table(given, id_column)
        if isinstance(given, pd.Series | pd.Index):
            return RoomIds(_once(_values(given), cells=not given_by_code(given))[0])
    refused = isinstance(given, Mapping | bytes) or hasattr(given, "columns")
    if refused or not isinstance(given, Iterable):
        raise _wrong(
            f"room_ids is of type {type(given).__name__}.",
            "Give a list of IDs, a Series or DataFrame of pandas, or the path of a file.",
        )
    return RoomIds(_once(given)[0])


def _wrong(problem: str, advice: str) -> ParameterError:
    return wrong(A3, problem, advice)


def cell_ids(cells: Iterable[str]) -> list[str]:
    """The room IDs in cells as a spreadsheet shows them, each once; errors as of `room_ids`."""
    return _once(cells, cells=True)[0]


def _once(given: Iterable[Any], cells: bool = False) -> tuple[list[str], list[int]]:
    """The IDs without doubles, and at which places they stand; of `cells`, none is a number that a
    spreadsheet has made."""
    found: dict[str, int] = {}
    for place, value in enumerate(given):
        try:
            written = identity(A3, USUAL, value).rstrip("\r\n")  # as readlines() leaves them
        except ParameterError as error:
            meaning = "The room ID is missing." if value is None else error.meaning
            raise _wrong(f"At place {place + 1}: {meaning}", error.advice) from None
        spoilt = spoilt_id(written) if cells else ""
        if spoilt:
            raise _wrong(f"At place {place + 1}: {spoilt}", "")
        if "@" in written and "://" in written:  # a camera's address: the wrong column, mostly
            written = Guarded(written)
        found.setdefault(written, place)
    return list(found), list(found.values())


def _values(column: Any) -> list[Any]:
    """What a Series or an Index holds; whatever says there that something is missing is None."""
    pairs = zip(column.tolist(), column.isna(), strict=True)
    return [None if missing else value for value, missing in pairs]


def _table(table: pd.DataFrame, id_column: str | None) -> RoomIds:
    # An index with a name is a column, too: that of the rooms, more often than not.
    named = [name for name in table.index.names if name is not None and name not in table.columns]
    if named:
        table = table.reset_index(level=named)
    place = _column(list(table.columns), id_column)
    column = table.iloc[:, place]
    ids, places = _once(_values(column), cells=not given_by_code(column))
    others = table.iloc[places, [at for at in range(table.shape[1]) if at != place]]
    _tell_doubles(len(table) - len(ids), others)
    return RoomIds(ids, others.reset_index(drop=True))


def _column(labels: Sequence[Any], id_column: str | None) -> int:
    """The place of the column with the IDs."""
    names = [str(label) for label in labels]
    if id_column is None and USUAL not in names and len(names) == 1:
        # A file without a header begins with an ID, and that must not be lost for a name.
        if not (isinstance(labels[0], str) and any(map(str.isdigit, names[0]))):
            return 0
        problem = f"The only column is called {names[0]!r}, as if the header were missing."
    elif id_column is None and USUAL not in names:
        problem = "The table does not say which column holds the room IDs."
    else:
        wanted = USUAL if id_column is None else str(id_column)
        if names.count(wanted) == 1:
            return names.index(wanted)
        problem = f"The column {wanted!r} is {'twice' if wanted in names else 'not'} in the table."
    listed = ", ".join(map(repr, names)) or "none"
    raise _wrong(problem, f"Name the column with id_column=; the columns are {listed}.")


def _file(path: Path, id_column: str | None) -> RoomIds:
    if not _is_file(path):
        given = mask_address(str(path)[:LONGEST], broken=True)
        raise _wrong(
            f"There is no file {given!r}, and a lone text is taken for a path.",
            "Look at the path; or for one room give a list of one.",
        )
    if path.suffix.lower() == ".txt" and id_column is None:
        return RoomIds(_once(listed_ids(path))[0])
    table = read_csv(path)
    problems = list(table.problems)
    if not problems:
        at = _column(table.names, id_column)
        cells = [row[at].strip() if at < len(row) else "" for _, row in table.rows]
        problems = [
            Problem(line, None, "The room ID is missing.")
            for (line, _), cell in zip(table.rows, cells, strict=True) if not cell
        ]  # fmt: skip
        problems += [
            Problem(line, None, spoilt_id(cell))
            for (line, _), cell in zip(table.rows, cells, strict=True) if spoilt_id(cell)
        ]  # fmt: skip
    if problems:
        raise _unreadable(path, problems)
    ids, places = _once(cells)
    others = _others(table, at, places)
    _tell_doubles(len(cells) - len(ids), others)
    return RoomIds(ids, others)


def _tell_doubles(rows: int, others: pd.DataFrame | None) -> None:
    """Tells of rows that are left out, when something else may stand in them."""
    if rows and others is not None and len(others.columns):
        log.warning(
            "rows of the table that are left out: %d, as their rooms stand in rows before them, "
            "whose further columns count", rows,
        )  # fmt: skip


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # it is too long for a path
        return False


def _unreadable(path: Path, problems: Sequence[Problem]) -> ParameterError:
    first, more = problems[0], len(problems) - 1
    where = path.name if first.row is None else f"{path.name}, line {first.row}"
    return _wrong(f"{where}: {first.problem}", f"{more} more lines are wrong." if more else "")


def _others(table: Raw, at: int, places: Sequence[int]) -> pd.DataFrame:
    """The further columns, as text; an empty cell is missing."""
    import pandas as pd

    rows = [table.rows[place][1] for place in places]
    shown = [n for n, name in enumerate(table.names) if n != at and name]
    columns = {n: strings([row[n] if n < len(row) else "" for row in rows], False) for n in shown}
    return pd.DataFrame(columns).set_axis([table.names[n] for n in shown], axis="columns")


def listed_ids(path: str | os.PathLike[str]) -> list[str]:
    """The room IDs in a plain-text file: one a line; empty lines and those after # are left out."""
    text = read_text(path)
    if isinstance(text, Problem):
        raise _unreadable(Path(path), [text])
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    ids = [(number, line) for number, line in lines if line and not line.startswith("#")]
    tabs = [Problem(number, None, "The line holds a tab: is this a table? Name its file .csv.")
            for number, line in ids if "\t" in line]  # fmt: skip
    wrong = tabs or [
        Problem(number, None, spoilt_id(line)) for number, line in ids if spoilt_id(line)
    ]
    if wrong:
        raise _unreadable(Path(path), wrong)
    return [line for _, line in ids]
