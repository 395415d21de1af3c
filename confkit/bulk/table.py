"""The devices that a table names, all of them checked before anything is done with one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..devices import address_checked, options_checked
from ..diagnosis.camera import camera_key
from ..errors import ParameterError
from ..operations import B1
from ..records import Device, parse_id, reject_surrogates
from ..rtsp.address import DEFAULT_PORTS, target
from ..rtsp.errors import RtspError
from ..secret import MASK, Secret, reveal
from ..tables import Cells, Problem, read_table

REQUIRED = ("room_id", "user_id", "user_name", "user_address")
_LOGIN = ("login_name", "login_password")
_SCHEMES = (*DEFAULT_PORTS, "sip", "h323")
_MAX_LINES = 20  # of problems in a message


class TableError(ParameterError):
    """A table has mistakes, and nothing was sent; `problems` lists row, column and problem."""

    problems: tuple[Problem, ...]


def table_error(problems: Sequence[Problem]) -> TableError:
    """Return the error that quotes the first problems of a table and holds all of them."""
    text = ""
    for row, column, problem in problems[:_MAX_LINES]:
        where = ", ".join(filter(None, ("" if row is None else f"row {row}", column)))
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
    """Return the devices of a table with the numbers of their rows, and every problem that it has.

    `login_password` is that of rows with a login_name and no password of their own."""
    rows, problems = read_table(table, REQUIRED, (*_LOGIN, "user_data", "options"), encoding)
    damaged = {(problem.row, problem.column) for problem in problems}
    devices = []
    rows_of: dict[object, int] = {}
    for number, cells in rows:
        if cells.get("login_name") and not cells.get("login_password"):
            cells["login_password"] = login_password
        fields, wrong = parse_cells(cells)
        wrong = [*(wrong or _contradictions(fields)), *_repeated(fields, number, rows_of)]
        for column, problem in wrong:
            if (number, column) not in damaged:
                problems.append(Problem(number, column, problem))
        if not problems:
            devices.append((number, Device(**fields)))
    return devices, problems


def parse_cells(cells: Cells) -> tuple[Cells, list[tuple[str, str]]]:
    """Return the values of the cells that are right, and column and problem of each other."""
    fields, wrong = {}, []
    for name, cell in cells.items():
        try:
            fields[name] = _parse(name, cell)
        except ValueError as error:
            wrong.append((name, _sentence(error)))
    return fields, wrong


def _parse(name: str, cell: Any) -> Any:
    if isinstance(cell, str) and name != "user_data":
        if cell.strip() != cell and name in _LOGIN:  # it may be meant
            raise ValueError("The cell has white space around its text. Take it out.")
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
        raise ValueError("The cell is not a text. Read the column as text, as with dtype=str.")
    if name == "user_data" and MASK in str(cell):
        raise ValueError(
            f"The cell is masked ({MASK} stands where its secret was). Take the text from "
            "devices_frame(devices, secrets=True)."
        )
    if isinstance(cell, str):
        reject_surrogates(B1, name, cell)
    return address_checked(B1, cell) if name == "user_address" else cell


def _parse_options(cell: object) -> Mapping[str, Any]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            cell = None
    if not isinstance(cell, Mapping):
        raise ValueError('The cell is not a JSON object. Write it as {"name": "value"}.')
    for name in (*_LOGIN, "assist_address"):
        if not isinstance(cell.get(name) or "", str | Secret):
            raise ValueError(f"{name} in the cell is not a text. Write it between quotes.")
    return cell


def _contradictions(fields: Cells) -> Iterator[tuple[str, str]]:
    """What is wrong among cells that are valid by themselves; the login goes into the options."""
    login = [fields.pop(name, None) for name in _LOGIN]
    scheme = str(fields.get("user_address") or "rtsp").partition("://")[0].lower()
    if scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES)
        yield "user_address", f"No device is behind {scheme}://. Write one of {known}."
    try:
        fields["options"] = options_checked(fields.get("options"), *login)
    except ParameterError as error:
        yield "options", _sentence(error)
        return
    if scheme not in DEFAULT_PORTS or "user_address" not in fields:
        return
    device = Device("", "", user_address=fields["user_address"], options=fields["options"])
    name, password = device.login_name, device.login_password
    try:
        address, _ = target(reveal(device.user_address), name or None, reveal(password) or None)
    except RtspError as refusal:
        yield "user_address", f"{refusal.reason} {refusal.advice}"
        return
    if name and not password and address.login_password is None:
        problem = "The cell is empty, but login_name is not. Fill it in"
        yield "login_password", f"{problem}; an empty one is written rtsp://NAME:@HOST."


def _repeated(fields: Cells, number: int, rows_of: dict[object, int]) -> Iterator[tuple[str, str]]:
    """What may stand in a table once and is in a row before: a user ID, and a camera in a room."""
    if "user_id" in fields:
        first = rows_of.setdefault(fields["user_id"], number)
        if first != number:
            yield "user_id", f"Row {first} has this user_id too. Give each device one of its own."
    if "user_address" in fields and "room_id" in fields:
        camera = camera_key(Device(fields["room_id"], "", user_address=fields["user_address"]))
        first = rows_of.setdefault((fields["room_id"], camera), number)
        if first != number:
            yield "user_address", f"Row {first} has this camera in the same room. Leave one out."


def _sentence(error: ValueError) -> str:
    return f"{error.meaning} {error.advice}" if isinstance(error, ParameterError) else str(error)
