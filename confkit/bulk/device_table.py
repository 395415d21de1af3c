"""The devices that a table names, all of them checked before anything is done with one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..devices import address_checked, options_checked, unmasked
from ..diagnosis.device_address import place, place_warnings
from ..endpoints import B1, identity
from ..errors import ParameterError
from ..many.tables import Cells, Problem, read_table
from ..records import Device, login_text
from ..rtsp.address import DEFAULT_PORTS, parse_address
from ..rtsp.places import METADATA_ADDRESS
from ..rtsp.verdicts import VERDICTS
from ..secret import Guarded

_REQUIRED = ("room_id", "user_id", "user_name", "user_address")
_OPTIONAL = ("login_name", "login_password", "user_data", "options")
_TWICE = {
    "user_id": "Row {} has this user_id too. Give each device one of its own.",
    "user_address": "Row {} has this camera in the same room. Leave one out.",
}
_SCHEMES = (*DEFAULT_PORTS, "sip", "h323")
_SHOWN = 20  # lines of problems in a message


class TableError(ParameterError):
    """A table has mistakes, and nothing was sent; `problems` lists row, column and problem."""

    problems: tuple[Problem, ...]


class Row(NamedTuple):
    """A device of a table, and the number of its row."""

    number: int
    device: Device


def device_rows(
    table: object, encoding: str | None = None, login_password: str | None = None
) -> tuple[list[Row], list[Problem]]:
    """The devices of a table, and every problem that it has: with one, import none of them.

    `login_password` is that of rows with a login_name and no password of their own."""
    lines, problems = read_table(table, _REQUIRED, _OPTIONAL, encoding)
    rows = []
    seen: dict[tuple[object, ...], int] = {}
    for number, cells in lines:
        if cells.get("login_name") and not cells.get("login_password"):
            cells["login_password"] = login_password
        found, wrong = checked(cells)
        wrong += _login_problems(found, cells) + _scheme_problems(found)
        for key in _unique(found):
            first = seen.setdefault(key, number)
            if first != number:
                column = str(key[0])
                wrong.append((column, _TWICE[column].format(first)))
        problems += [Problem(number, *item) for item in wrong]
        if not problems:
            rows.append(Row(number, _device(found)))
    return rows, problems


def checked(cells: Cells) -> tuple[Cells, list[tuple[str, str]]]:
    """The cells of a row that are right, as values, and for each other its column and problem."""
    found, wrong = {}, []
    for name, cell in cells.items():
        try:
            found[name] = _value(name, cell)
        except ValueError as error:
            wrong.append((name, _sentence(error)))
    return found, wrong


def table_error(problems: Sequence[Problem]) -> TableError:
    """The error that tells of the first problems of a table and holds all of them."""
    runs = _runs(problems)
    lines = [f"{_place(run)}{run[0].problem}" for run in runs[:_SHOWN]]
    rest = sum(len(run) for run in runs[_SHOWN:])
    if rest:
        lines.append(f"and {rest} more: pandas.DataFrame(error.problems)")
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    error = TableError(
        f"The table has {count}, and nothing was sent",
        "Correct the table and call again.",
        cause="".join(f"\n  {line}" for line in lines) + "\n",
    )
    error.meaning, error.problems = f"The table has {count}.", tuple(problems)
    return error


def _runs(problems: Sequence[Problem]) -> list[list[Problem]]:
    """The problems in their order; those that rows one after the other share are together."""
    runs: list[list[Problem]] = []
    latest: dict[Problem, list[Problem]] = {}
    for problem in problems:
        shared = problem._replace(row=None)
        run = latest.get(shared)
        if run and run[-1].row is not None and problem.row == run[-1].row + 1:
            run.append(problem)
        else:
            latest[shared] = [problem]
            runs.append(latest[shared])
    return runs


def _place(run: Sequence[Problem]) -> str:
    first, last = run[0], run[-1]
    rows = f"row {first.row}" if len(run) == 1 else f"rows {first.row}-{last.row}"
    place = ", ".join(filter(None, ("" if first.row is None else rows, first.column)))
    return f"{place}: " if place else ""


def _value(name: str, cell: Any) -> Any:
    if isinstance(cell, str):
        cell = _text(name, cell)
    if cell is None or cell == "":
        if name in _REQUIRED:
            raise ValueError("The cell is empty.")
        return None
    if name in ("room_id", "user_id"):
        return identity(B1, name, cell)
    if name == "options":
        return _options(cell)
    if not isinstance(cell, str):
        raise ValueError("The cell is not a text. Read the column as text, as with dtype=str.")
    if name == "user_data":
        unmasked(name, cell)
    return _address(cell) if name == "user_address" else cell


def _text(name: str, cell: str) -> str:
    """The cell without white space around it, which in a login may be meant and is refused."""
    bare = cell.strip()
    try:
        cell.encode()
    except UnicodeEncodeError:
        raise ValueError("The cell holds half a character. Write it again.") from None
    if name == "user_data" or bare == cell:
        return cell
    if name in ("login_name", "login_password"):
        raise ValueError("The cell has white space around its text. Take it out.")
    return bare


def _address(cell: str) -> Guarded:
    if is_rtsp(cell):
        try:
            parse_address(cell)
        except ValueError as error:
            raise ValueError(f"{error} {VERDICTS['url_malformed'].advice}") from None
    written = address_checked(B1, cell)
    _no_metadata(written)
    return written


def _no_metadata(address: object) -> None:
    """Refuse addresses that lead to a cloud's metadata service. (A link-local one may work, and is
    told with what became of the device.)"""
    for notice in place_warnings(str(address or "")):
        if notice.key == METADATA_ADDRESS:
            raise ValueError(notice.text)


def is_rtsp(address: str) -> bool:
    """Whether this is a camera's address, which can be tried from here."""
    return address.partition("://")[0].lower() in DEFAULT_PORTS


def _options(cell: object) -> Mapping[str, Any]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            cell = None
    if not isinstance(cell, Mapping):
        raise ValueError('The cell is not a JSON object. Write it as {"name": "value"}.')
    _no_metadata(cell.get("assist_address"))
    return cell


def _login_problems(found: Cells, cells: Cells) -> list[tuple[str, str]]:
    """What is wrong with the login in the fields, in the options and in the address together."""
    try:
        found["options"] = _merged(found)
    except ParameterError as error:
        return [("options", _sentence(error))]
    address = found.get("user_address", "")
    if not is_rtsp(address):
        return []
    parts, options = parse_address(address), found["options"]
    for name in ("login_name", "login_password"):
        inside = getattr(parts, name)
        beside = login_text(options.get(name))
        if inside is not None and beside and inside != beside:
            conflict = VERDICTS["credentials_conflict"]
            return [(name, f"{conflict.cause} {conflict.advice}")]
    given = cells.get("login_password") or options.get("login_password")
    if options.get("login_name") and not given and parts.login_password is None:
        problem = "The cell is empty, but login_name is not. Fill it in"
        return [("login_password", f"{problem}; an empty one is written rtsp://NAME:@HOST.")]
    return []


def _scheme_problems(found: Cells) -> list[tuple[str, str]]:
    scheme = found.get("user_address", "rtsp").partition("://")[0]
    if scheme.lower() in _SCHEMES:
        return []
    known = ", ".join(f"{name}://" for name in _SCHEMES)
    return [("user_address", f"No device is behind {scheme}://. Write one of {known}.")]


def _merged(found: Cells) -> dict[str, Any]:
    password = found.get("login_password")
    return options_checked(found.get("options"), found.get("login_name"), password)


def _unique(found: Cells) -> Iterator[tuple[object, ...]]:
    """What may stand in a table only once, with its column: a user ID, and a camera in a room."""
    if "user_id" in found:
        yield "user_id", found["user_id"]
    if "user_address" in found and "room_id" in found:
        device = Device(found["room_id"], "", user_address=found["user_address"])
        yield "user_address", device.room_id, *place(device)


def _device(found: Cells) -> Device:
    names = (*_REQUIRED, "options")
    return Device(user_data=found.get("user_data") or "", **{name: found[name] for name in names})


def _sentence(error: ValueError) -> str:
    if isinstance(error, ParameterError):
        return f"{error.meaning} {error.advice}"
    return str(error)
