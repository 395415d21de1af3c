"""Tables as people have them: room IDs and device rows, from lists, pandas, CSV and text files.

Damage is named with its line before anything is sent. Python's `csv` reads the files, and not
pandas: only `csv` knows the line of each row, and that an open quote has swallowed the next one.
What is wrong with a table of devices is returned and not raised here, as the locals of a traceback
would show its passwords.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import ParameterError
from .operations import A3
from .records import Room, parameter_error, parse_id
from .secret import SecretAddress

if TYPE_CHECKING:
    import pandas as pd

Cells = dict[str, Any]  # by column; what is missing is None or empty

MAX_QUOTED = 200  # characters of a path in a message
_SAVE_AS = 'Save it as "CSV UTF-8" in the spreadsheet.'
_SEPARATOR_LINE = re.compile(r'"?sep=([^\w\r\n "])"?(?:\r\n|\r|\n|\Z)', re.IGNORECASE)  # Excel's
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, .xls
_ERROR_CELL = re.compile(  # in English, French, German and Spanish
    r"#(?:N/[AD]|NV|[¡¿]?(?:NULL!|NULO!|NUL!|DIV/0!|VALUE!|VALOR!|VALEUR!|WERT!|REF!|BEZUG!"
    r"|NAME\?|NOM\?|NOMBRE\?|NUM!|ZAHL!|NOMBRE!|SPILL!|CALC!)|#{2,})|Err:[0-9]{3}"
)
_NUMBER_CELL = re.compile(  # 1001.0, 1.23E+09, 1,234,567
    r"[0-9]+[.,]00?|[0-9]+(?:[.,][0-9]+)?[eE]\+[0-9]+|[0-9]{1,3}(?:[., '\u2019\xa0\u202f][0-9]{3})+"
)


class Problem(NamedTuple):
    """A mistake in a table: its `row` and `column`, None where it is not in a single one."""

    row: int | None
    column: str | None
    problem: str


class Grid(NamedTuple):
    """The cells of a table as they stand, and what is wrong with it.

    A row is numbered by the line of the file on which it begins, as an editor counts, or by its
    position, from 1. `exact` are the columns whose texts no spreadsheet has touched.
    """

    names: Sequence[Any]
    rows: Sequence[tuple[int, Sequence[Any]]] = ()
    problems: Sequence[Problem] = ()
    exact: Iterable[int] = ()


class RoomIds(NamedTuple):
    """Room IDs in order, each once, and the further columns of their table, one row per ID."""

    ids: list[str]
    columns: pd.DataFrame | None = None


# Room IDs


def room_ids(source: Any, id_column: str | None = None) -> RoomIds:
    """Return the room IDs in an iterable of IDs or `Room` records, a Series, a DataFrame, a CSV
    file, or a .txt file with one ID a line (a line that begins with # is a comment).

    Of a table they are the column `id_column`; without that, `room_id` or the only column. They are
    read as text. Of an ID that stands twice the first row counts. ParameterError, with the line or
    position: a float (zeros or digits may be lost), a missing ID, a cell that a spreadsheet has
    damaged (1001.0, 1.23E+09, 1,234,567, #REF!; in a list, or in a column of pandas' `string`, such
    a text is an ID); and for a string that is not a file, or a table whose column of IDs or whose
    header is missing.
    """
    if isinstance(source, str | os.PathLike):
        return _ids_in_path(Path(source), id_column)
    if hasattr(source, "isna"):  # of pandas, which is loaded then
        import pandas as pd

        if isinstance(source, pd.Series | pd.Index):
            source = source.to_frame(name="room_id")
            id_column = None
        if isinstance(source, pd.DataFrame):
            # An index with a name is a column, too: often that of the rooms.
            levels = [name for name in source.index.names if name is not None]
            table = source.reset_index(level=[name for name in levels if name not in source])
            place, first = _unique_ids(_read_frame(table), id_column)
            others = [at for at, name in enumerate(table) if at != place and name != ""]
            columns = table.iloc[list(first.values()), others].reset_index(drop=True)
            return RoomIds(list(first), columns)
    unusable = isinstance(source, Mapping | bytes) or hasattr(source, "columns")
    if unusable or not isinstance(source, Iterable):
        problem = f"room_ids is of type {type(source).__name__}."
        advice = "Pass a list of IDs, a Series or DataFrame of pandas, or the path of a file."
        raise parameter_error(A3, problem, advice)
    values = (item.room_id if isinstance(item, Room) else item for item in source)
    rows = [(number, [value]) for number, value in enumerate(values, 1)]
    return RoomIds(list(_unique_ids(Grid(["room_id"], rows, exact=[0]))[1]))


def _ids_in_text(name: str, text: str, id_column: str | None) -> RoomIds:
    """Return the room IDs in the text of a file of this name."""
    if name.lower().endswith(".txt") and id_column is None:
        lines = [(n, line.strip(" \t\ufeff")) for n, line in enumerate(text.splitlines(), 1)]
        rows = [
            (number, [line])
            for number, line in lines
            if line and (not line.startswith("#") or _ERROR_CELL.fullmatch(line))
        ]
        tab = "The line holds a tab: is this a table? Name its file .csv."
        tabs = [Problem(number, None, tab) for number, [line] in rows if "\t" in line]
        return RoomIds(list(_unique_ids(Grid(["room_id"], rows, tabs), file=name)[1]))
    import pandas as pd

    grid = parse_csv(text)
    rows = [(number, [cell.strip() for cell in cells]) for number, cells in grid.rows]
    place, first = _unique_ids(grid._replace(rows=rows), id_column, name)
    cells = [[cell or None for cell in rows[at][1]] for at in first.values()]
    table = pd.DataFrame(cells, columns=list(grid.names), dtype="string")
    others = [at for at, column in enumerate(grid.names) if at != place and column]
    return RoomIds(list(first), table.iloc[:, others])


def _ids_in_path(path: Path, id_column: str | None) -> RoomIds:
    if not os.path.isfile(path):  # noqa: PTH113  # no error for what is too long for a path
        quoted = str(SecretAddress(str(path)[:MAX_QUOTED]))
        problem = f"There is no file {quoted!r}, and a single string is read as a path."
        raise parameter_error(
            A3, problem, "Check the path, or for one room pass a list with its ID."
        )
    text = _decode(path.read_bytes())
    if isinstance(text, Problem):
        raise _refusal([text], path.name)
    return _ids_in_text(path.name, text, id_column)


def _unique_ids(
    grid: Grid, id_column: str | None = None, file: str = ""
) -> tuple[int, dict[str, int]]:
    """The place of the column of IDs, and these, each with the index of its first row."""
    if grid.problems:
        raise _refusal(grid.problems, file)
    place = _id_place(grid.names, id_column)
    first: dict[str, int] = {}
    problems: list[Problem] = []
    advice = ""
    for index, (number, cells) in enumerate(grid.rows):
        cell = cells[place]
        room_id, problem = "", "The room ID is missing." if cell is None or cell == "" else ""
        if place not in grid.exact:
            problem = problem or spreadsheet_damage(cell, is_id=True)
        try:
            # readlines() leaves the ends of lines.
            room_id = "" if problem else parse_id(A3, "room_id", cell).rstrip("\r\n")
        except ParameterError as error:
            problem = error.meaning
            advice = advice if problems else error.advice
        if "://" in room_id and str(SecretAddress(room_id)) != room_id:
            problem = "The cell holds an address with a login. Is this the column of room IDs?"
        if problem:
            problems.append(Problem(number, None, problem))
            continue
        first.setdefault(room_id, index)
    if problems:
        raise _refusal(problems, file, advice)
    return place, first


def _id_place(labels: Sequence[Any], id_column: str | None) -> int:
    names = [str(label) for label in labels]
    wanted = "room_id" if id_column is None else str(id_column)
    if names.count(wanted) == 1:
        return names.index(wanted)
    problem = f"The column {wanted!r} is {'twice' if wanted in names else 'not'} in the table."
    hint = ""
    if id_column is None and wanted not in names:
        _check_header([label for label in labels if isinstance(label, str)])
        if len(names) == 1:
            return 0
        problem = "The table does not say which column holds the room IDs."
        hint = f"Is it {similar!r}? " if (similar := _most_similar(wanted, names)) else ""
    listed = ", ".join(map(repr, names)) or "none"
    raise parameter_error(
        A3, problem, f"{hint}Name the column with id_column=; the columns are {listed}."
    )


def _check_header(names: Sequence[str]) -> None:
    """Refuse names that seem to be the first row, whose room would be lost."""
    advice = "Write the columns' names as the first line of the file, room_id above the IDs"
    for name in names:
        is_number = name.strip().isdigit()
        if is_number or (len(names) == 1 and any(map(str.isdigit, name))):
            more = "" if is_number else f"; if that is the column's name, pass id_column={name!r}"
            problem = f"A column is called {name!r}, as if the header were missing."
            raise parameter_error(A3, problem, f"{advice}{more}.")


def _refusal(problems: Sequence[Problem], file: str = "", advice: str = "") -> ParameterError:
    """The error that quotes the first of these problems, and counts the others."""
    row, _, problem = problems[0]
    place = "" if row is None else f"{'line' if file else 'position'} {row}"
    where = ", ".join(filter(None, (file, place)))
    more = len(problems) - 1
    rest = f"{more} more {'is' if more == 1 else 'are'} wrong." if more else ""
    return parameter_error(A3, f"{where}: {problem}", f"{advice} {rest}".strip())


# Rows of devices


def read_table(
    source: object, required: Sequence[str], optional: Sequence[str], encoding: str | None = None
) -> tuple[list[tuple[int, Cells]], list[Problem]]:
    """Return the numbered rows of a DataFrame or of the CSV file at a path, with those of the
    required and optional columns that it has, and its problems. OSError: it cannot be opened;
    TypeError: it is neither."""
    if not isinstance(source, str | os.PathLike):
        grid = _read_frame(source)
    elif "\n" in os.fspath(source):  # an OSError would quote it, passwords and all
        grid = _unreadable("This is a text. Pass a DataFrame, or the path of a CSV file.")
    else:
        text = _decode(Path(source).read_bytes(), encoding)
        grid = Grid([], problems=[text]) if isinstance(text, Problem) else parse_csv(text)
    names = [str(name).strip() for name in grid.names]
    problems = list(grid.problems)
    if names or not problems:
        problems += _header_problems(names, required, optional)
    places = {name: names.index(name) for name in (*required, *optional) if name in names}
    rows = []
    for number, cells in grid.rows:
        rows.append((number, {name: cells[place] for name, place in places.items()}))
        for name, place in places.items():
            damage = spreadsheet_damage(cells[place], is_id=name.endswith("_id"))
            if damage and place not in grid.exact:
                problems.append(Problem(number, name, damage))
    return rows, problems


def spreadsheet_damage(cell: object, *, is_id: bool) -> str:
    """Return what a spreadsheet has made of a cell: an error such as #REF!, or of an ID a number
    such as 1001.0, 1.23E+09 or 1,234,567; else "". In a text that code passes, 2.0 is an ID."""
    text = cell.strip() if isinstance(cell, str) else ""
    if _ERROR_CELL.fullmatch(text):
        return f"The cell holds {text}, an error of the spreadsheet. Correct it there."
    if is_id and _NUMBER_CELL.fullmatch(text):
        return (
            f"A spreadsheet has made a number of the ID, perhaps a rounded one: {text}. Format the "
            "column as text there, enter the IDs again and save the file anew."
        )
    return ""


def _read_frame(table: object) -> Grid:
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        kind = type(table).__name__
        raise TypeError(f"the table is of type {kind}; pass a DataFrame or the path of a CSV file")
    values, exact = [], []
    for place in range(table.shape[1]):
        column = table.iloc[:, place]
        pairs = zip(column.tolist(), column.isna(), strict=True)
        values.append([None if missing else value for value, missing in pairs])
        # pandas' own `string`: texts of a service, as in all frames of confkit, and not of a file.
        if isinstance(column.dtype, pd.StringDtype) and column.dtype.na_value is pd.NA:
            exact.append(place)
    return Grid(list(table.columns), list(enumerate(zip(*values, strict=True), 1)), exact=exact)


def _header_problems(
    names: Sequence[str], required: Sequence[str], optional: Sequence[str]
) -> list[Problem]:
    others = [name for name in names if name not in (*required, *optional)]
    problems = []
    for name in (*required, *optional):
        similar = None if name in names else _most_similar(name, others)
        if names.count(name) > 1:
            problems.append(Problem(None, name, "The column is there twice. Leave one out."))
        elif name in required and name not in names:
            hint = f"Is it {similar!r}? Rename that." if similar else "Name it in the header."
            problems.append(Problem(None, name, f"The column is missing. {hint}"))
        elif similar:
            hint = f"It looks like {name}. Rename it, or leave it out."
            problems.append(Problem(None, similar, f"The column is not known. {hint}"))
    return problems


def _most_similar(name: str, others: Iterable[str]) -> str | None:
    by_letters = {re.sub(r"[\W_]", "", other).lower(): other for other in others}
    import difflib

    close = difflib.get_close_matches(name.replace("_", ""), by_letters, 1, 0.7)
    return by_letters[close[0]] if close else None


# CSV files


def _decode(raw: bytes, encoding: str | None = None) -> str | Problem:
    """The text in a file, or why it is not one."""
    if raw.startswith(_WORKBOOKS):
        return Problem(None, None, f"The file is a workbook, not CSV. {_SAVE_AS}")
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = raw.decode(encoding)
    except LookupError:
        return Problem(None, None, f"There is no encoding {encoding!r}. Name one such as cp1252.")
    except UnicodeDecodeError as error:
        problem = (
            f"The line is not {encoding.upper()}. {_SAVE_AS} Or convert it, if it is of Excel in "
            'Western Europe: Path("new.csv").write_text(Path(path).read_text("cp1252"), "utf-8").'
        )
        return Problem(raw.count(b"\n", 0, error.start) + 1, None, problem)
    zeros = f"The file holds zero bytes, so it is not a CSV file. {_SAVE_AS}"
    return Problem(None, None, zeros) if "\0" in text else text


def parse_csv(text: str) -> Grid:
    """Return the cells of CSV text, whatever separates them (, ; tab |), without empty rows."""
    text, offset = text.removeprefix("\ufeff"), 0
    if declared := _SEPARATOR_LINE.match(text):
        text, offset = text[declared.end() :], 1
    header = next((line for line in text.splitlines() if line.strip()), "")
    separator = declared[1] if declared else max(",;\t|", key=header.count)
    spaced = f"{separator} " in header
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=spaced, strict=True)
    rows, problems, start = [], [], offset + 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                rows.append((start, cells))
            start = offset + reader.line_num + 1
    except csv.Error as error:
        problem = f"The line cannot be read: {error}. Look for a quote that is not closed."
        problems.append(Problem(start, None, problem))
    if not rows:  # nothing, or separators alone
        return _unreadable("The file is empty. Its first line has to name the columns.", *problems)
    if all(len(cells) == 1 and separator in cells[0] for _, cells in rows):
        # Each line was quoted as if it were one cell.
        rows = [(line, next(csv.reader(cells, delimiter=separator))) for line, cells in rows]
    (_, header_cells), *rows = rows
    names = [unescape_formulas(name).strip() for name in header_cells]
    for line, cells in rows:
        if any(cells[len(names) :]):
            problem = f"The row has {len(cells)} cells and the header {len(names)}. "
            problem += "Put quotes around a cell that holds the separator."
            problems.append(Problem(line, None, problem))
    return Grid(names, [(line, _row(names, cells)) for line, cells in rows], problems)


def _row(names: Sequence[str], cells: Sequence[str]) -> list[str]:
    """The cells below these names: Excel leaves out empty ones at the end of a line. No login is
    ever exported, so an apostrophe at its beginning is part of it."""
    logins = ("login_name", "login_password", "options")
    pairs = zip(names, [*cells, *[""] * len(names)], strict=False)
    return [cell if name in logins else unescape_formulas(cell) for name, cell in pairs]


def _unreadable(problem: str, *others: Problem) -> Grid:
    return Grid([], problems=others or [Problem(None, None, problem)])


# A spreadsheet takes a cell that begins with =, +, - or @ for a formula, and a formula can start
# programs and send away what stands beside it. Topics and names are other people's texts. So an
# apostrophe is written before such a text, as people do, also behind a semicolon, a tab or a line's
# end: a spreadsheet that is set to German splits at semicolons, whatever quotes there are.
_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]"  # the full-width ones, too
_CELL_START = r"(\A|(?<=[;\t\r\n]))"
_UNESCAPED = re.compile(rf"""{_CELL_START}(?=['"]*{_FORMULA})""")
_ESCAPED = re.compile(rf"""{_CELL_START}'(?=['"]*{_FORMULA})""")
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def as_csv(frame: pd.DataFrame) -> str:
    """Return the frame as CSV without its index, in which no text is a formula."""
    import pandas as pd

    written = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column.dtype):
            cells = column.astype("object").map(escape_formulas, na_action="ignore")
            written.isetitem(place, cells.to_numpy())
    names = [escape_formulas(str(name)) for name in frame.columns]
    # With these line ends a cell with a bare carriage return is quoted, too.
    text: str = written.to_csv(index=False, header=names, lineterminator="\r\n")
    return text


def escape_formulas(cell: Any) -> Any:
    """Return the cell, with an apostrophe wherever a spreadsheet would see a formula begin in it.
    What no text file can hold (zero bytes, lone surrogates) becomes U+FFFD."""
    return _UNESCAPED.sub("'", _UNWRITABLE.sub("\ufffd", cell)) if isinstance(cell, str) else cell


def unescape_formulas(cell: str) -> str:
    """Return the text of a cell without the apostrophes of `escape_formulas`."""
    return _ESCAPED.sub("", cell) if "'" in cell else cell
