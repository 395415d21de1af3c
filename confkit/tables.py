"""Users' tables: room IDs and device rows from lists, pandas, CSV and text files.

Files are read with `csv`, not pandas: only `csv` knows the line of each row, and detects that an
open quote has swallowed the next one. Problems of a table of devices are returned, as the traceback
of an error raised here would show its passwords.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .errors import ParameterError
from .operations import A3
from .records import parameter_error, parse_id
from .secret import SecretAddress
from .text import counted

Cells = dict[str, Any]  # by column; a missing value is None or empty

_MOST_LINES = 30  # that an error lists
_SAVE_AS = 'Save it as "CSV UTF-8" in the spreadsheet.'
# The beginnings of files that are given for CSV.
_OTHER_FILES = {
    b"PK\x03\x04": "a workbook",  # .xlsx, .ods
    b"\xd0\xcf\x11\xe0": "a workbook",  # .xls
    b"<": "a web page or XML",  # perhaps as .xls
    b"PAR1": "Parquet",
    b"[{": "JSON",
    b'["': "JSON",
    b'{"': "JSON",
}
_FIRST_LINE = re.compile(  # of Excel, and of PowerShell
    r'(?:"?sep=([^\w\r\n "])"?|#TYPE [^\r\n]*)(?:\r\n|\r|\n|\Z)', re.IGNORECASE
)
_ERROR_CELL = re.compile(  # in several languages
    r"""(?x) \# (?: [^\W\d_]/[^\W\d_]!? | NV | YOK | HIÁNYZIK | NENÍ_K_DISPOZICI | NEDOSTUPN[ÉÝ]
    | [¡¿]?[^\W\d]+(?:/0)?[\ \xa0\u202f]?[!?] | \#{2,} ) | (?:Err|Fehler):[0-9]{3}"""
)
# What a login cannot be: an empty cell of a database, a number rounded by a spreadsheet.
_LOST_LOGIN = re.compile(r"NULL|null|<NA>|\\N|[0-9][.,][0-9]+E\+[0-9]+")
# In a list: a comment behind an ID, and blanks at the end of a line.
_LINE_END = re.compile(r"(?m)(?<=\S)[ \t]+#.*|[ \t]+(?=\r?$)")
_NUMBER_CELL = re.compile(  # 1001.0, 1.23E+09, 1,234,567 or 12,34,567, with decimals or without
    r"""(?x) [0-9]+[.,]0+ | [0-9]+(?:[.,][0-9]+)?[eE]\+[0-9]+ | [0-9]+[.,][0-9]+[eE][0-9]+
    | [0-9]{1,3}(?:[.,\ '\u2019\xa0\u202f][0-9]{3})+(?:[.,][0-9]{1,2})?
    | [0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}"""
)
_MISSING = ("NULL", "null", "nan", "NaN", "<NA>", "None", "N/A", "n/a", "-", "\\N")
_TEXT_FORMULA = re.compile(r'\A="(.*)"\Z', re.DOTALL)  # by which exports keep leading zeros


class Problem(NamedTuple):
    """A mistake in a table, with its `row` and `column`, None if it is not in a single one."""

    row: int | None
    column: str | None
    problem: str


class Grid(NamedTuple):
    """The raw cells of a table, with the line or position (from 1) of each row, and its problems;
    `exact` are the columns whose texts no spreadsheet has touched."""

    names: Sequence[Any]
    rows: Sequence[tuple[int, Sequence[Any]]] = ()
    problems: Sequence[Problem] = ()
    exact: Sequence[int] = ()


# Room IDs


def room_ids(source: Any, id_column: str | None = None) -> list[str]:
    """Return the room IDs in an iterable of IDs or `Room` records, a Series, a DataFrame, a CSV
    file, or a .txt file with one ID a line, in which # begins a comment.

    In a table they are the column `id_column`, by default `room_id` or the only column. Of
    duplicates the first row counts. ParameterError, with the line or position, for what is no ID or
    has been damaged by a spreadsheet, such as 1001.0; in a list, and in a column of pandas'
    `string`, such a text is an ID.
    """
    file = ""
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        if not os.path.isfile(path):  # noqa: PTH113  # no error for what is too long for a path
            quoted = str(SecretAddress(str(source)[:200]))
            problem = f"There is no file {quoted!r}, and a single string is read as a path."
            advice = "Check the path, or for one room pass a list with its ID."
            raise parameter_error(A3, problem, advice)
        file, is_list = path.name, path.suffix.lower() == ".txt" and id_column is None
        grid = _read_file(path, is_list=is_list)
    elif hasattr(source, "isna"):  # of pandas, which is loaded then
        import pandas as pd

        if not isinstance(source, pd.DataFrame):  # a Series, an Index, or an array of pandas
            source, id_column = pd.Series(source), "room_id"
            if "room_id" in source.index.names:
                problem = "room_ids is a Series of other values whose index is room_id."
                raise parameter_error(A3, problem, "Pass its index.")
            source = source.to_frame("room_id")
        grid = _read_frame(source)
    elif (
        # An upload would be read as its bytes, a file as its lines.
        isinstance(source, Mapping | bytes | memoryview)
        or hasattr(source, "read")
        or not isinstance(source, Iterable)
    ):
        problem = f"room_ids is of type {type(source).__name__}."
        advice = "Pass a list of IDs, a Series or DataFrame of pandas, or the path of a file."
        raise parameter_error(A3, problem, advice)
    else:
        grid = Grid(["room_id"], [(n, [value]) for n, value in enumerate(source, 1)], exact=[0])
    if grid.problems:
        raise _refusal(grid.problems, file)
    return _unique_ids(grid, _position(grid.names, id_column), file)


def _position(labels: Sequence[Any], id_column: str | None) -> int:
    """Return the position of the column of IDs, which may be the only one. A text with a digit is
    no name for that: it may be the first ID of a table without a header."""
    wanted = "room_id" if id_column is None else str(id_column)
    names = [wanted if _fold(str(label)) == _fold(wanted) else str(label) for label in labels]
    if names.count(wanted) == 1:
        return names.index(wanted)
    has_digit = any(isinstance(label, str) and re.search(r"\d", label) for label in labels)
    if id_column is None and len(names) == 1 and not has_digit:
        return 0
    problem = f"The table has {'two columns' if wanted in names else 'no column'} {wanted!r}."
    advice = "Put room_id above the IDs as their header, or pass the column's name as id_column="
    if has_digit or any("://" in name or "@" in name for name in names):
        advice += " (the first line may be a row)"  # of cells, perhaps with passwords
    else:
        advice += f": {', '.join(map(repr, names)) or 'none'}"
    raise parameter_error(A3, problem, f"{advice}.")


def _unique_ids(grid: Grid, position: int, file: str) -> list[str]:
    """Return the IDs in a column of the grid, each once."""
    ids: list[str] = []
    problems = []
    for number, cells in grid.rows:
        cell, problem, room_id = cells[position], "", ""
        if isinstance(cell, str) and position not in grid.exact:
            cell = cell.strip()
        if cell is None or cell == "":
            problem = "The room ID is missing."
        elif file and any(separator in cell for separator in ";\t|\uff0c\uff1b"):
            problem = "The cell contains a separator. Use the same one in the header and all lines."
        elif file and cell.startswith("# "):
            problem = "The line is a comment, which CSV does not have. Remove it."
        elif position not in grid.exact:
            problem = cell_damage(cell, "room_id")
        try:  # without the line ends that readlines() keeps
            room_id = "" if problem else parse_id(A3, "room_id", cell).rstrip("\r\n")
        except ParameterError as error:
            problem = f"{error.meaning} {error.advice}"
        if "://" in room_id and str(SecretAddress(room_id)) != room_id:
            problem = "The cell contains an address with a login. Is this the column of room IDs?"
        if problem:
            problems.append(Problem(number, None, problem))
        else:
            ids.append(room_id)
    if problems:
        raise _refusal(problems, file)
    return list(dict.fromkeys(ids))


def _refusal(problems: Sequence[Problem], file: str) -> ParameterError:
    """Return the error that quotes the first of these problems and says where the others are."""
    row, _, problem = problems[0]
    unit = "line" if file else "position"
    where = ", ".join(filter(None, (file, "" if row is None else f"{unit} {row}")))
    more = ", ".join(str(other.row) for other in problems[1:_MOST_LINES])
    rest = f"{counted(len(problems) - 1, 'more problem')}: {unit} {more}." if more else ""
    return parameter_error(A3, f"{where}: {problem}", rest)


# Rows of devices


def read_table(
    source: object, required: Sequence[str], optional: Sequence[str], encoding: str | None = None
) -> tuple[list[tuple[int, Cells]], list[Problem]]:
    """Return the numbered rows of a DataFrame or a CSV file, with the required and optional columns
    that it has, and its problems. OSError: the file cannot be opened; TypeError: neither."""
    if not isinstance(source, str | os.PathLike):
        grid = _read_frame(source)
    elif "\n" in os.fspath(source):  # an OSError would quote it, including passwords
        problem = "This is text. Pass a DataFrame, or the path of a CSV file."
        grid = Grid([], problems=[Problem(None, None, problem)])
    else:
        grid = _read_file(Path(source).expanduser(), encoding)
    known = {_fold(name): name for name in (*required, *optional)}
    names = [str(name).strip() for name in grid.names]
    for position, name in enumerate(names):
        if known.get(_fold(name), name) not in names:  # beside user_name, username is another
            names[position] = known[_fold(name)]
    problems = list(grid.problems)
    if names or not problems:
        problems += _header_problems(names, required, optional)
    positions = {name: names.index(name) for name in (*required, *optional) if name in names}
    rows = []
    for number, cells in grid.rows:
        rows.append((number, {name: cells[position] for name, position in positions.items()}))
        for name, position in positions.items():
            damage = cell_damage(cells[position], name)
            if damage and position not in grid.exact:
                problems.append(Problem(number, name, damage))
    return rows, problems


def _fold(name: str) -> str:
    """Return a header's letters and digits in lower case: "Room ID" and "roomId" are room_id."""
    return re.sub(r"[\W_]", "", name).lower()


def _header_problems(
    names: Sequence[str], required: Sequence[str], optional: Sequence[str]
) -> list[Problem]:
    import difflib

    others = {_fold(name): name for name in names if name not in (*required, *optional)}
    problems = []
    for name in (*required, *optional):
        close = difflib.get_close_matches(name.replace("_", ""), others, 1, 0.7)
        if names.count(name) > 1:
            problems.append(Problem(None, name, "The column occurs twice. Remove one."))
        elif name not in names and close:
            similar = others[close[0]]
            problem = f"Unknown column {similar!r}; did you mean {name}? Rename it, or remove it."
            problems.append(Problem(None, name if name in required else similar, problem))
        elif name not in names and name in required:
            problems.append(Problem(None, name, "The column is missing. Add it to the header."))
    return problems


def cell_damage(cell: object, column: str) -> str:
    """Return how a cell was damaged on its way, or "": an error such as #REF!, or an ID turned into
    a number such as 1001.0, 1.23E+09 or 1,234,567. In a text from code, 2.0 is an ID."""
    text = cell.strip() if isinstance(cell, str) else ""
    is_lost = column in ("login_name", "login_password") and _LOST_LOGIN.fullmatch(text)
    if is_lost or _ERROR_CELL.fullmatch(text):  # not quoted: it may be a password after all
        return (
            "The cell holds a spreadsheet error, or no value. Correct it; if the text is meant so, "
            "pass a DataFrame whose column is of pandas' type string."
        )
    if not column.endswith("_id"):
        return ""
    if _NUMBER_CELL.fullmatch(text):
        return (
            f"A spreadsheet has turned the ID into a number, possibly rounded: {text}. Format the "
            "column as text there, enter the IDs again and save the file."
        )
    if text in _MISSING:
        return f"The cell contains {text}, so the ID is missing. Fill it in."
    if text == column:
        return "The header is repeated. Remove this line."
    if text.startswith("'") or not text.isprintable():
        return f"The ID has an apostrophe before it or an invisible character: {text!a}."
    return ""


# DataFrames and files


def _read_frame(table: object) -> Grid:
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        kind = type(table).__name__
        raise TypeError(f"the table is of type {kind}; pass a DataFrame or the path of a CSV file")
    # A named index, often that of the rooms, is read as columns, too.
    named = [name for name in table.index.names if name not in (None, *table)]
    frame = table.reset_index(level=named)
    columns = [frame.iloc[:, position] for position in range(frame.shape[1])]
    values = [column.astype(object).where(column.notna(), None).tolist() for column in columns]
    # pandas' own `string`: texts of a service, as in all frames of confkit, not of a file.
    text = pd.StringDtype(na_value=pd.NA)
    exact = [position for position, column in enumerate(columns) if column.dtype == text]
    return Grid(list(frame.columns), list(enumerate(zip(*values, strict=True), 1)), exact=exact)


def _read_file(path: Path, encoding: str | None = None, *, is_list: bool = False) -> Grid:
    """Return the cells of a CSV file, or of a list with one room ID a line, if it holds no tab."""
    raw, line, text, problem = path.read_bytes(), None, "", ""
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    start = b"".join(raw[:64].split())  # JSON may be indented
    kind = next((kind for mark, kind in _OTHER_FILES.items() if start.startswith(mark)), "")
    if kind or (encoding == "utf-8" and b"\0" in raw):
        problem = f"The file is {kind or 'binary'}, not CSV. {_SAVE_AS} "
        problem += "Or read it with pandas, and pass the DataFrame."
    try:
        text = raw.decode(encoding)
    except LookupError:
        problem = f"No such encoding: {encoding!r}. Use one such as cp1252."
    except UnicodeDecodeError as error:
        line = None if problem else raw.count(b"\n", 0, error.start) + 1
        problem = problem or (
            f"The line is not {encoding.upper()}. {_SAVE_AS} Or convert it, if Excel in Western "
            'Europe wrote it: Path("new.csv").write_text(Path(path).read_text("cp1252"), "utf-8").'
        )
    if problem:
        return Grid([], problems=[Problem(line, None, problem)])
    text = text.removeprefix("\ufeff")
    if is_list:
        text = _LINE_END.sub("", text)
    if not is_list or "\t" in text:
        return parse_csv(text)
    rows = [
        (number, [line])
        for number, line in enumerate(map(str.strip, text.splitlines()), 1)
        if line and (line[0] != "#" or _ERROR_CELL.fullmatch(line))
    ]
    return Grid(["room_id"], rows)


def parse_csv(text: str) -> Grid:
    """Return the cells of CSV text, with any separator (, ; tab |), without empty rows."""
    if first := _FIRST_LINE.match(text):
        text = "\n" + text[first.end() :]  # each line keeps its number
    header = next(filter(str.strip, text.splitlines()), "")
    # A quoted name may contain separators and line ends.
    bare = next(filter(None, map(str.strip, re.sub('"[^"]*"', "", text).splitlines())), header)
    separator = (first and first[1]) or max(",;\t|", key=bare.count)
    spaced = f"{separator} " in header
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=spaced, strict=True)
    rows, problems, start = [], [], 1
    try:
        for cells in reader:
            if len(cells) == 1 and separator in cells[0] and separator in bare:
                cells = next(csv.reader(cells, delimiter=separator))  # the line was quoted whole
            if any(map(str.strip, cells)):
                rows.append((start, [_TEXT_FORMULA.sub(r"\1", cell) for cell in cells]))
            start = reader.line_num + 1
    except csv.Error as error:
        problem = f"The line cannot be read: {error}. Look for an unclosed quote."
        problems.append(Problem(start, None, problem))
    if not rows:  # nothing, or only separators
        empty = Problem(None, None, "The file is empty. Its first line must name the columns.")
        return Grid([], problems=problems or [empty])
    names, padded = [name.strip() for name in rows[0][1]], []
    width = len(names)
    for line, cells in rows[1:]:
        if any(cells[width:]):
            problem = f"The row has {len(cells)} cells and the header {width}. "
            problem += "Put quotes around a cell that contains the separator."
            problems.append(Problem(line, None, problem))
        else:  # Excel omits empty cells at the end of a line
            padded.append((line, [*cells, *[""] * width][:width]))
    # Where there are too many, they have shifted, and a password may stand under any header.
    return Grid(names, padded, problems)
