"""The devices of a table, all checked before any of them is used."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..devices import check_address, check_options
from ..diagnosis.camera import camera_key, can_be_tried
from ..errors import ParameterError
from ..operations import B1
from ..records import Device, parse_id
from ..rtsp.address import target
from ..rtsp.errors import RtspError
from ..secret import MASK, Secret, reveal
from ..tables import Cells, Problem, read_table
from ..wire import check_sendable

REQUIRED = ("room_id", "user_id", "user_name", "user_address")
_LOGIN = ("login_name", "login_password")
_MAX_LINES = 20  # of problems in a message


class TableError(ParameterError):
    """A table has mistakes, and nothing was sent; `problems` lists row, column and text."""

    problems: tuple[Problem, ...]


def table_error(problems: Sequence[Problem]) -> TableError:
    """Return the error that quotes the first problems of a table and contains all."""
    text = ""
    for row, column, problem in problems[:_MAX_LINES]:
        # In brackets: after "login_password: " any word would be masked.
        places = ["" if row is None else f"row {row}", f"({column})" if column else ""]
        where = " ".join(filter(None, places))
        text += f"\n  {where}: {problem}" if where else f"\n  {problem}"
    if more := len(problems[_MAX_LINES:]):
        text += f"\n  and {more} more: pandas.DataFrame(error.problems)"
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    advice = "Correct the table and call again."
    error = TableError(f"The table has {count}, and nothing was sent", advice, cause=f"{text}\n")
    error.meaning, error.problems = f"The table has {count}.", tuple(problems)
    return error


def read_devices(
    table: object, encoding: str | None = None, login_password: Secret | None = None
) -> tuple[list[tuple[int, Device]], list[Problem]]:
    """Return the devices of a table with their row numbers, and all problems of the table.

    `login_password` applies to rows with a login_name but no password."""
    rows, problems = read_table(table, REQUIRED, (*_LOGIN, "user_data", "options"), encoding)
    damaged = {(problem.row, problem.column) for problem in problems}
    devices = []
    rows_of: dict[object, int] = {}
    for number, cells in rows:
        if cells.get("login_name") and not cells.get("login_password"):
            cells["login_password"] = login_password
        fields, cell_problems = parse_cells(cells)
        cell_problems = [
            *(cell_problems or _contradictions(fields)),
            *_duplicates(fields, number, rows_of),
        ]
        for column, problem in cell_problems:
            if (number, column) not in damaged:
                problems.append(Problem(number, column, problem))
        if not problems:
            devices.append((number, Device(**fields)))
    return devices, problems


def parse_cells(cells: Cells) -> tuple[Cells, list[tuple[str, str]]]:
    """Return the values of the valid cells, and column and problem of the others."""
    fields, cell_problems = {}, []
    for name, cell in cells.items():
        try:
            fields[name] = _parse(name, cell)
        except ValueError as error:
            cell_problems.append((name, _sentence(error)))
    return fields, cell_problems


def _parse(name: str, cell: Any) -> Any:
    if isinstance(cell, str) and name != "user_data":
        if cell.strip() != cell and name in _LOGIN:  # it may be intended
            raise ValueError("The cell has white space around its text. Remove it.")
        cell = cell.strip()
    if cell is None or cell == "":
        if name in REQUIRED:
            raise ValueError("The cell is empty.")
        return "" if name == "user_data" else None
    if name in ("room_id", "user_id"):
        return parse_id(B1, name, cell)
    if name == "options":
        return _parse_options(cell)
    if not isinstance(cell, str | Secret):
        raise ValueError("The cell is not text. Read the column as text, as with dtype=str.")
    if name == "user_data" and MASK in str(cell):
        raise ValueError(
            f"The cell is masked (it contains {MASK} instead of the secret). Take the text from "
            "devices_frame(devices, secrets=True)."
        )
    if isinstance(cell, str):
        check_sendable(B1, {name: cell})
    return check_address(B1, cell) if name == "user_address" else cell


def _parse_options(cell: object) -> Mapping[str, Any]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            cell = None
    if not isinstance(cell, Mapping):
        raise ValueError('The cell is not a JSON object. Write it as {"name": "value"}.')
    return cell


def _contradictions(fields: Cells) -> Iterator[tuple[str, str]]:
    """Yield contradictions among valid cells, and move the login into the options."""
    login = [fields.pop(name, None) for name in _LOGIN]
    try:
        fields["options"] = check_options(fields.get("options"), *login)
    except ParameterError as error:
        yield "options", _sentence(error)
        return
    device = Device("", "", user_address=fields.get("user_address"), options=fields["options"])
    if not can_be_tried(device):
        return
    name, password = device.login_name, device.login_password or Secret("")
    try:
        address, _ = target(reveal(device.user_address), name, password.reveal())
    except RtspError as refusal:
        yield "user_address", f"{refusal.reason} {refusal.advice}"
        return
    if name and not password and address.login_password is None:
        problem = "The cell is empty, but login_name is not. Fill it in"
        yield "login_password", f"{problem}; write an empty password as rtsp://NAME:@HOST."
    if login[1] and not name and address.login_name is None:
        yield "login_name", "The cell is empty, but login_password is not. Fill it in."


def _duplicates(
    fields: Cells, number: int, rows_of: dict[object, int]
) -> Iterator[tuple[str, str]]:
    """Yield user IDs, and cameras of the same room, that occur in an earlier row."""
    if "user_id" in fields:
        first = rows_of.setdefault(fields["user_id"], number)
        if first != number:
            yield "user_id", f"Row {first} has the same user_id. Give each device its own."
    if "user_address" in fields and "room_id" in fields:
        camera = camera_key(Device(fields["room_id"], "", user_address=fields["user_address"]))
        first = rows_of.setdefault((fields["room_id"], camera), number)
        if first != number:
            yield "user_address", f"Row {first} has this camera in the same room. Remove one."


def _sentence(error: ValueError) -> str:
    return f"{error.meaning} {error.advice}" if isinstance(error, ParameterError) else str(error)
