"""A table that a person wrote, a DataFrame or a CSV file, as rows of cells.

What is wrong with it comes back as a list and is not raised here: the locals of a traceback would
show the passwords in it.
"""

import csv
import difflib
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .spreadsheet import plain

Cells = dict[str, Any]  # by column; what is missing is None or empty

_SAVE_AS = 'Save the file as "CSV UTF-8"'
_NEVER_EXPORTED = ("login_name", "login_password", "options")
_IDS = ("room_id", "user_id")
_SPOILT = re.compile(r"[0-9]+[.,]00?|[0-9]+(?:[.,][0-9]+)?[eE]\+[0-9]+")
_ALIKE = 0.7  # of 1; login, password and login_pasword are as near as that to what is meant


class Problem(NamedTuple):
    """What is wrong in a table: its `row` and `column`, None where it is no single one's."""

    row: int | None
    column: str | None
    problem: str


class Raw(NamedTuple):
    """A table as it stands: its columns, its numbered rows of cells, and what is wrong in it;
    `by_code` names the columns whose texts are none of a spreadsheet's."""

    names: list[str]
    rows: Sequence[tuple[int, Sequence[Any]]] = ()
    problems: Sequence[Problem] = ()
    by_code: Sequence[str] = ()


def spoilt_id(cell: object) -> str:
    """What is wrong with an ID's cell of which a spreadsheet has made a number (1001.0, 1.23E+09);
    empty where nothing is. Cells alone are judged so: in a text that code gives, 2.0 is an ID."""
    if not isinstance(cell, str) or not _SPOILT.fullmatch(cell.strip()):
        return ""
    return (
        f"A spreadsheet has made a number of the ID, maybe a rounded one: {cell.strip()}. Format "
        "the column as text there, enter the IDs again and save the file anew; pandas reads them "
        "as text with dtype=str."
    )


def given_by_code(column: Any) -> bool:
    """Whether a column of pandas holds texts of pandas' own `string`, as all frames of confkit do,
    whose IDs are those of the service, and no cells that pandas has read from a file."""
    import pandas as pd

    return isinstance(column.dtype, pd.StringDtype) and column.dtype.na_value is pd.NA


def read_table(
    table: object, required: Sequence[str], optional: Sequence[str], encoding: str | None = None
) -> tuple[list[tuple[int, Cells]], list[Problem]]:
    """The numbered rows of a table, with the columns asked for that it has, and its problems.

    A row's number is the line of the file on which it begins, as an editor counts; in a DataFrame
    it is the position, from 1. A file that cannot be opened is an OSError.
    """
    if isinstance(table, str | os.PathLike):
        raw = read_csv(table, encoding)
    else:
        raw = _csv(table.read()) if isinstance(table, io.TextIOBase) else _frame(table)
    problems = list(raw.problems)
    if raw.names or not problems:
        problems += _header_problems(raw.names, required, optional)
    wanted = {name: raw.names.index(name) for name in (*required, *optional) if name in raw.names}
    rows = []
    for number, cells in raw.rows:
        # Excel leaves out the empty cells at the end of a line.
        row = {name: cells[at] if at < len(cells) else "" for name, at in wanted.items()}
        rows.append((number, row))
        spoilt = {name: spoilt_id(row.get(name)) for name in _IDS if name not in raw.by_code}
        problems += [Problem(number, name, told) for name, told in spoilt.items() if told]
    return rows, problems


def is_table(given: object) -> bool:
    """Whether this is a DataFrame or the path of a file."""
    return isinstance(given, str | os.PathLike) or hasattr(given, "columns")


def _frame(table: Any) -> Raw:
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        kind = type(table).__name__
        raise TypeError(f"the table is of type {kind}; give a DataFrame or the path of a CSV file")
    columns = []
    for position in range(table.shape[1]):
        column = table.iloc[:, position]
        pairs = zip(column.tolist(), column.isna(), strict=True)
        columns.append([None if missing else cell for cell, missing in pairs])
    names = [str(name).strip() for name in table.columns]
    by_code = [name for at, name in enumerate(names) if given_by_code(table.iloc[:, at])]
    return Raw(names, list(enumerate(zip(*columns, strict=True), 1)), by_code=by_code)


def read_csv(path: "str | os.PathLike[str]", encoding: str | None = None) -> Raw:
    """The table in a CSV file, all cells as text. A file that cannot be opened is an OSError."""
    if "\n" in os.fspath(path):  # an OSError would quote it, passwords and all
        return _unreadable(None, "This is a text. Give a DataFrame, or the path of a CSV file.")
    text = read_text(path, encoding)
    return Raw([], [], [text]) if isinstance(text, Problem) else _csv(text)


def _csv(text: str) -> Raw:
    lines, problems = _lines(text.removeprefix("\ufeff"))
    if not lines:
        return _unreadable(None, "The file is empty. Its first line has to name the columns.")
    names = [plain(name).strip() for name in lines[0][1]]
    problems += [
        Problem(
            number, None, f"The row has {len(cells)} cells and the header {len(names)}. "
            "Put quotes around a cell that holds the separator.",
        )
        for number, cells in lines[1:] if any(cells[len(names) :])
    ]  # fmt: skip
    return Raw(
        names, [(number, _plain_cells(names, cells)) for number, cells in lines[1:]], problems
    )


def _plain_cells(names: list[str], cells: list[str]) -> list[str]:
    """The cells without what an export puts before a formula; logins are in none, and stay."""
    return [
        cell if names[at : at + 1] and names[at] in _NEVER_EXPORTED else plain(cell)
        for at, cell in enumerate(cells)
    ]


def read_text(path: "str | os.PathLike[str]", encoding: str | None = None) -> str | Problem:
    """The text in a file, or why it is none. A file that cannot be opened is an OSError."""
    raw = Path(path).read_bytes()
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return Problem(
            line, None, f"The line is not {encoding.upper()}. {_SAVE_AS}, or read it with its own "
            'encoding: pandas.read_csv(path, dtype=str, encoding="cp1252") for Excel in Western '
            "Europe.",
        )  # fmt: skip
    if "\0" in text:
        return Problem(
            None, None, f"The file holds zero bytes, so it is not a CSV file. {_SAVE_AS}."
        )
    return text


def _unreadable(line: int | None, problem: str) -> Raw:
    return Raw([], [], [Problem(line, None, problem)])


def _lines(text: str) -> tuple[list[tuple[int, list[str]]], list[Problem]]:
    """The lines that hold something, each with its number, and what stopped the reading."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=header.count)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=f"{separator} " in header,
        strict=True,
    )
    lines, begins = [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append((begins, cells))
            begins = reader.line_num + 1
    except csv.Error as error:
        problem = f"The line cannot be read: {error}. Look for a quote that is not closed."
        return lines, [Problem(begins, None, problem)]
    return lines, []


def _header_problems(
    names: Sequence[str], required: Sequence[str], optional: Sequence[str]
) -> list[Problem]:
    others = {_plain(name): name for name in names if name not in (*required, *optional)}
    problems = []
    for name in (*required, *optional):
        if names.count(name) > 1:
            problems.append(Problem(None, name, "The column is there twice. Leave one out."))
        if name in names:
            continue
        close = difflib.get_close_matches(_plain(name), others, 1, _ALIKE)
        like = others[close[0]] if close else None
        if name in required:
            hint = f"Is it {like!r}? Rename that." if like else "Name it in the header."
            problems.append(Problem(None, name, f"The column is missing. {hint}"))
        elif like:
            hint = f"It looks like {name}. Rename it, or leave it out."
            problems.append(Problem(None, like, f"The column is not known. {hint}"))
    return problems


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
