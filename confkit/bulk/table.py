"""The devices that a table names, all of them checked before anything is done with one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..devices import address_checked, options_checked
from ..diagnosis.device_address import place
from ..errors import ParameterError
from ..operations import B1
from ..records import Device, parse_id, reject_surrogates
from ..rtsp.address import DEFAULT_PORTS, target
from ..rtsp.refusal import PullRefused
from ..secret import MASK, Secret
from ..tables import Cells, Problem, read_table

REQUIRED = ("room_id", "user_id", "user_name", "user_address")
_LOGIN = ("login_name", "login_password")
_SCHEMES = (*DEFAULT_PORTS, "sip", "h323")
_MAX_LINES = 20  # of problems in a message


class TableError(ParameterError):
    """A table has mistakes, and nothing was sent; `problems` lists row, column and problem."""

    problems: tuple[Problem, ...]


def read_devices(
    table: object, encoding: str | None = None, login_password: Secret | None = None
) -> tuple[list[tuple[int, Device]], list[Problem]]:
    """Return the devices of a table with the numbers of their rows, and every problem that it has.

    `login_password` is that of rows with a login_name and no password of their own."""
    rows, problems = read_table(table, REQUIRED, (*_LOGIN, "user_data", "options"), encoding)
    damaged = {(problem.row, problem.column) for problem in problems}
    devices = []
    seen: dict[object, int] = {}
    for number, cells in rows:
        if cells.get("login_name") and not cells.get("login_password"):
            cells["login_password"] = login_password
        fields, wrong = parse_cells(cells)
        wrong = wrong or [*_contradictions(fields)]
        wrong += _repeated(fields, number, seen)
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
    return cell


def _contradictions(fields: Cells) -> Iterator[tuple[str, str]]:
    """What is wrong with the cells of a row together; their login goes into the options."""
    login = [fields.pop(name, None) for name in _LOGIN]
    address = fields.get("user_address")
    scheme = str(address).partition("://")[0].lower() if address else ""
    if address and scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES)
        yield "user_address", f"No device is behind {scheme}://. Write one of {known}."
    try:
        options = fields["options"] = options_checked(fields.get("options"), *login)
    except ParameterError as error:
        yield "options", _sentence(error)
        return
    if scheme not in DEFAULT_PORTS:
        return
    device = Device("", "", user_address=address, options=options)
    name, password = device.login_name, device.login_password
    try:
        parsed, _ = target(
            address.reveal() if address else "",
            name or None,
            password.reveal() if password else None,
        )
    except PullRefused as refusal:
        yield "user_address", f"{refusal.reason} {refusal.advice}"
        return
    if name and not password and parsed.login_password is None:
        problem = "The cell is empty, but login_name is not. Fill it in"
        yield "login_password", f"{problem}; an empty one is written rtsp://NAME:@HOST."


def _repeated(fields: Cells, number: int, seen: dict[object, int]) -> Iterator[tuple[str, str]]:
    """What may stand in a table once and is in a row before: a user ID, and a camera in a room."""
    if "user_id" in fields:
        first = seen.setdefault(fields["user_id"], number)
        if first != number:
            yield "user_id", f"Row {first} has this user_id too. Give each device one of its own."
    if "user_address" in fields and "room_id" in fields:
        camera = place(Device(fields["room_id"], "", user_address=fields["user_address"]))
        first = seen.setdefault((fields["room_id"], camera), number)
        if first != number:
            yield "user_address", f"Row {first} has this camera in the same room. Leave one out."


def _sentence(error: ValueError) -> str:
    return f"{error.meaning} {error.advice}" if isinstance(error, ParameterError) else str(error)


def table_error(problems: Sequence[Problem]) -> TableError:
    """Return the error that quotes the first problems of a table and holds all of them."""
    lines = []
    for row, column, problem in problems[:_MAX_LINES]:
        where = ", ".join(filter(None, ("" if row is None else f"row {row}", column)))
        lines.append(f"\n  {where}: {problem}" if where else f"\n  {problem}")
    if more := len(problems) - len(lines):
        lines.append(f"\n  and {more} more: pandas.DataFrame(error.problems)")
    count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
    error = TableError(
        f"The table has {count}, and nothing was sent",
        "Correct the table and call again.",
        cause="".join(lines) + "\n",
    )
    error.meaning, error.problems = f"The table has {count}.", tuple(problems)
    return error
