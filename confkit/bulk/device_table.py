"""The devices that a table names, all of them checked before anything is done with one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..devices import address_checked, options_checked, unmasked
from ..diagnosis.device_address import place
from ..endpoints import B1, identity, whole
from ..errors import ParameterError
from ..many.tables import Cells, Problem, read_table
from ..records import Device, login_text
from ..rtsp.address import DEFAULT_PORTS, parse_address
from ..rtsp.verdicts import VERDICTS
from ..secret import Guarded
from .driver import Fate

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


def device_rows(
    table: object, encoding: str | None = None, login_password: str | None = None
) -> tuple[list[Fate], list[Problem]]:
    """The devices of a table, and every problem that it has: with one, import none of them.

    `login_password` is that of rows with a login_name and no password of their own."""
    lines, problems = read_table(table, _REQUIRED, _OPTIONAL, encoding)
    fates = []
    seen: dict[object, int] = {}
    for number, cells in lines:
        if cells.get("login_name") and not cells.get("login_password"):
            cells["login_password"] = login_password
        found, wrong = checked(cells)
        wrong += _contradictions(found, cells)
        for column, key in _unique(found):
            first = seen.setdefault(key, number)
            if first != number:
                wrong.append((column, _TWICE[column].format(first)))
        problems += [Problem(number, *item) for item in wrong]
        if not problems:
            names = (*_REQUIRED, "user_data", "options")
            fates.append(Fate(number, Device(**{name: found[name] for name in names})))
    return fates, problems


def checked(cells: Cells) -> tuple[Cells, list[tuple[str, str]]]:
    """The cells of a row that are right, as values, and for each other its column and problem."""
    found, wrong = {}, []
    for name, cell in cells.items():
        try:
            found[name] = _value(name, cell)
        except ValueError as error:
            wrong.append((name, _sentence(error)))
    return found, wrong


def _value(name: str, cell: Any) -> Any:
    if isinstance(cell, str) and name != "user_data":
        bare = cell.strip()
        if bare != cell and name in ("login_name", "login_password"):  # there it may be meant
            raise ValueError("The cell has white space around its text. Take it out.")
        cell = bare
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
    return _address(cell) if name == "user_address" else whole(B1, name, cell)


def _address(cell: str) -> Guarded:
    if cell.partition("://")[0].lower() in DEFAULT_PORTS:
        try:
            parse_address(cell)
        except ValueError as error:
            raise ValueError(f"{error} {VERDICTS['url_malformed'].advice}") from None
    return address_checked(B1, whole(B1, "user_address", cell))


def _options(cell: object) -> Mapping[str, Any]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            cell = None
    if not isinstance(cell, Mapping):
        raise ValueError('The cell is not a JSON object. Write it as {"name": "value"}.')
    return cell


def _contradictions(found: Cells, cells: Cells) -> Iterator[tuple[str, str]]:
    """What is wrong with the right cells of a row together; their login goes into the options."""
    found["user_data"] = found.get("user_data") or ""
    name, password = found.get("login_name"), found.get("login_password")
    scheme = found.get("user_address", "rtsp").partition("://")[0].lower()
    try:
        found["options"] = options_checked(found.get("options"), name, password)
    except ParameterError as error:
        yield "options", _sentence(error)
    else:
        if scheme in DEFAULT_PORTS and "user_address" in found:
            yield from _login_problems(found, cells.get("login_password"))
    if scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES)
        yield "user_address", f"No device is behind {scheme}://. Write one of {known}."


def _login_problems(found: Cells, given: object) -> Iterator[tuple[str, str]]:
    """What is wrong with the login in the address and beside it; `given` is its password's cell."""
    address, options = parse_address(found["user_address"]), found["options"]
    for column in ("login_name", "login_password"):
        inside, beside = getattr(address, column), login_text(options.get(column))
        if inside is not None and beside and inside != beside:
            conflict = VERDICTS["credentials_conflict"]
            yield column, f"{conflict.cause} {conflict.advice}"
            return
    password = given or options.get("login_password")
    if options.get("login_name") and not password and address.login_password is None:
        problem = "The cell is empty, but login_name is not. Fill it in"
        yield "login_password", f"{problem}; an empty one is written rtsp://NAME:@HOST."


def _unique(found: Cells) -> Iterator[tuple[str, object]]:
    """What may stand in a table only once, after its column: a user ID, and a camera in a room."""
    if "user_id" in found:
        yield "user_id", found["user_id"]
    if "user_address" in found and "room_id" in found:
        device = Device(found["room_id"], "", user_address=found["user_address"])
        yield "user_address", (device.room_id, *place(device))


def _sentence(error: ValueError) -> str:
    return f"{error.meaning} {error.advice}" if isinstance(error, ParameterError) else str(error)


def table_error(problems: Sequence[Problem]) -> TableError:
    """The error that names the first problems of a table and holds all of them."""
    lines = [f"\n  {_where(problem)}{problem.problem}" for problem in problems[:_SHOWN]]
    if rest := len(problems) - len(lines):
        lines.append(f"\n  and {rest} more: pandas.DataFrame(error.problems)")
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    error = TableError(
        f"The table has {count}, and nothing was sent",
        "Correct the table and call again.",
        cause="".join(lines) + "\n",
    )
    error.meaning, error.problems = f"The table has {count}.", tuple(problems)
    return error


def _where(problem: Problem) -> str:
    row = "" if problem.row is None else f"row {problem.row}"
    where = ", ".join(filter(None, (row, problem.column)))
    return f"{where}: " if where else ""
