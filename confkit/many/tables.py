"""Tables as people have them: a DataFrame or a CSV file as rows of cells, and a frame as CSV.

What is wrong with a table comes back as a list and is not raised here: the locals of a traceback
would show the passwords in it.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, and a formula can start
programs and send away what stands beside it. Topics and names are other people's texts. So where a
cell would begin so, an apostrophe stands before it, which is how people write such a text into a
spreadsheet. A semicolon, a tab or a line's end begins a cell too where it separates (a spreadsheet
that is set to German splits at semicolons, whatever quotes there are), so one stands behind those.
`plain` takes exactly these away again: what confkit wrote and reads is the same.
"""

import csv
import difflib
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

Cells = dict[str, Any]  # by column; what is missing is None or empty

_SAVE_AS = 'Save the file as "CSV UTF-8"'
_NEVER_EXPORTED = ("login_name", "login_password", "options")
_IDS = ("room_id", "user_id")
_SPOILT = re.compile(r"[0-9]+[.,]00?|[0-9]+(?:[.,][0-9]+)?[eE]\+[0-9]+")
_ALIKE = 0.7  # of 1; login, password and login_pasword are as near as that to what is meant
_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]"  # the full-width ones, too
_BEGINS = r"(\A|(?<=[;\t\r\n]))"
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_RISKY = re.compile(rf"""{_BEGINS}(?=['"]*{_FORMULA})""")
_DEFUSED = re.compile(rf"""{_BEGINS}'(?=['"]*{_FORMULA})""")


class Problem(NamedTuple):
    """What is wrong in a table: its `row` and `column`, None where it is no single one's."""

    row: int | None
    column: str | None
    problem: str


class Table(NamedTuple):
    """A table as it stands, and what is wrong in it.

    The index of its rows is the line of the file on which each begins, as an editor counts, and the
    position, from 1, in a DataFrame."""

    frame: "pd.DataFrame"
    problems: Sequence[Problem] = ()


def read_table(
    table: object, required: Sequence[str], optional: Sequence[str], encoding: str | None = None
) -> tuple[list[tuple[int, Cells]], list[Problem]]:
    """Return the numbered rows of a table, with the columns asked for that it has, and its
    problems. A file that cannot be opened is an OSError."""
    if isinstance(table, str | os.PathLike | io.TextIOBase):
        read = read_csv(table, encoding)
    else:
        read = _given(table)
    frame, names = read.frame, list(map(str, read.frame))
    problems = list(read.problems)
    if names or not problems:
        problems += _header_problems(names, required, optional)
    columns = {
        name: frame.iloc[:, names.index(name)] for name in (*required, *optional) if name in names
    }
    cells = {name: values_of(column) for name, column in columns.items()}
    problems += [
        Problem(number, name, text)
        for name in _IDS
        if name in columns and not given_by_code(columns[name])
        for number, cell in zip(frame.index, cells[name], strict=True)
        if (text := spoilt_id(cell))
    ]
    rows = zip(frame.index, *cells.values(), strict=True)
    return [(number, dict(zip(cells, row, strict=True))) for number, *row in rows], problems


def read_csv(path: "str | os.PathLike[str] | io.TextIOBase", encoding: str | None = None) -> Table:
    """Return the table in a CSV file, all cells as text; OSError when it cannot be opened."""
    if not isinstance(path, io.TextIOBase) and "\n" in os.fspath(path):
        # An OSError would quote it, passwords and all.
        return _unread("This is a text. Give a DataFrame, or the path of a CSV file.")
    text = _text(path, encoding)
    return _table([], problems=[text]) if isinstance(text, Problem) else _csv(text)


def read_list(path: "str | os.PathLike[str] | io.TextIOBase", name: str) -> Table:
    """Return a text file of one ID a line as a table of the column `name`; empty lines and those
    that begin with # are left out."""
    text = _text(path)
    if isinstance(text, Problem):
        return _table([], problems=[text])
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    rows = [(number, [line]) for number, line in lines if line and not line.startswith("#")]
    tab = "The line holds a tab: is this a table? Name its file .csv."
    return _table(
        [name], rows, [Problem(number, None, tab) for number, [line] in rows if "\t" in line]
    )


def _text(
    path: "str | os.PathLike[str] | io.TextIOBase", encoding: str | None = None
) -> str | Problem:
    """The text in a file, or why it is none; OSError when it cannot be opened."""
    if isinstance(path, io.TextIOBase):
        return path.read()
    raw = Path(path).read_bytes()
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = raw.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        return Problem(None, None, f"There is no encoding {encoding!r}. Name one such as cp1252.")
    except UnicodeDecodeError as error:
        found = (
            f"The line is not {encoding.upper()}. {_SAVE_AS}, or read it with its own encoding: "
            'pandas.read_csv(path, dtype=str, encoding="cp1252") for Excel in Western Europe.'
        )
        return Problem(raw.count(b"\n", 0, error.start) + 1, None, found)
    found = f"The file holds zero bytes, so it is not a CSV file. {_SAVE_AS}."
    return Problem(None, None, found) if "\0" in text else text


def is_table(given: object) -> bool:
    """Whether this is a DataFrame or the path of a file."""
    return isinstance(given, str | os.PathLike) or hasattr(given, "columns")


def values_of(column: Any) -> list[Any]:
    """Return what a Series or an Index holds; whatever says that something is missing is None."""
    pairs = zip(column.tolist(), column.isna(), strict=True)
    return [None if missing else value for value, missing in pairs]


def given_by_code(column: Any) -> bool:
    """Whether a column of pandas holds texts of pandas' own `string`, as all frames of confkit do,
    whose IDs are those of the service, and no cells that pandas has read from a file."""
    import pandas as pd

    return isinstance(column.dtype, pd.StringDtype) and column.dtype.na_value is pd.NA


def spoilt_id(cell: object) -> str:
    """Return what is wrong with an ID's cell of which a spreadsheet has made a number (1001.0,
    1.23E+09), or "". Cells alone are judged so: in a text that code gives, 2.0 is an ID."""
    if not isinstance(cell, str) or not _SPOILT.fullmatch(cell.strip()):
        return ""
    return (
        f"A spreadsheet has made a number of the ID, maybe a rounded one: {cell.strip()}. Format "
        "the column as text there, enter the IDs again and save the file anew; pandas reads them "
        "as text with dtype=str."
    )


def as_csv(frame: "pd.DataFrame") -> str:
    """Return the frame as CSV without its index, in which no text is a formula."""
    import pandas as pd

    written = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column.dtype):
            cells = column.astype("object").map(defused, na_action="ignore")
            written.isetitem(place, cells.to_numpy())
    names = [defused(str(one)) for one in frame.columns]
    # With these line ends a cell with a bare carriage return is quoted, too.
    text: str = written.to_csv(index=False, header=names, lineterminator="\r\n")
    return text


def defused(cell: Any) -> Any:
    """Return the cell, with an apostrophe wherever a spreadsheet would see a formula begin in it.

    What no file of text can hold (zero bytes, half letters) is shown by a mark (U+FFFD)."""
    return _RISKY.sub("'", _UNWRITABLE.sub("\ufffd", cell)) if isinstance(cell, str) else cell


def plain(cell: str) -> str:
    """Return the text of a cell, without the apostrophes of `defused`."""
    return _DEFUSED.sub("", cell) if "'" in cell else cell


def _given(table: Any) -> Table:
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        kind = type(table).__name__
        raise TypeError(f"the table is of type {kind}; give a DataFrame or the path of a CSV file")
    return Table(
        table.rename(columns=lambda name: str(name).strip()).set_axis(range(1, len(table) + 1))
    )


def _csv(text: str) -> Table:
    text = text.removeprefix("\ufeff")
    header = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=header.count)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        skipinitialspace=f"{separator} " in header,
        strict=True,
    )
    names: list[str] = []
    rows, problems, begins = [], [], 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)) and not names:
                names = [plain(name).strip() for name in cells]
            elif any(map(str.strip, cells)):
                # What an export puts before a formula goes; logins are in none, and stay.
                pairs = zip(names, cells, strict=False)
                rows.append((begins, [c if n in _NEVER_EXPORTED else plain(c) for n, c in pairs]))
                if any(cells[len(names) :]):
                    found = f"The row has {len(cells)} cells and the header {len(names)}. "
                    found += "Put quotes around a cell that holds the separator."
                    problems.append(Problem(begins, None, found))
            begins = reader.line_num + 1
    except csv.Error as error:
        found = f"The line cannot be read: {error}. Look for a quote that is not closed."
        problems.insert(0, Problem(begins, None, found))
    if not (names or problems):  # nothing, or separators alone
        return _unread("The file is empty. Its first line has to name the columns.")
    return _table(names, rows, problems)


def _table(
    names: list[str],
    rows: Sequence[tuple[int, list[str]]] = (),
    problems: Sequence[Problem] = (),
) -> Table:
    """A table of texts. Excel leaves out the empty cells at the end of a line."""
    import pandas as pd

    numbers = [number for number, _ in rows]
    full = [row + [""] * (len(names) - len(row)) for _, row in rows]
    return Table(pd.DataFrame(full, numbers, names, dtype="object"), problems)


def _unread(problem: str) -> Table:
    return _table([], problems=[Problem(None, None, problem)])


def _header_problems(
    names: Sequence[str], required: Sequence[str], optional: Sequence[str]
) -> list[Problem]:
    others = {_letters(name): name for name in names if name not in (*required, *optional)}
    problems = []
    for name in (*required, *optional):
        if names.count(name) > 1:
            problems.append(Problem(None, name, "The column is there twice. Leave one out."))
        if name in names:
            continue
        close = difflib.get_close_matches(_letters(name), others, 1, _ALIKE)
        like = others[close[0]] if close else None
        if name in required:
            hint = f"Is it {like!r}? Rename that." if like else "Name it in the header."
            problems.append(Problem(None, name, f"The column is missing. {hint}"))
        elif like:
            hint = f"It looks like {name}. Rename it, or leave it out."
            problems.append(Problem(None, like, f"The column is not known. {hint}"))
    return problems


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
