"""The contract as text, made of the data by which a client is tried."""

from __future__ import annotations

from ...endpoints import ENDPOINTS
from .dialects import PREFIX, SERVICES, VARIABLES, settings, values_of
from .operations import MISSING, OPERATIONS, Operation
from .rows import ROWS
from .running import LIMIT, MOST_BYTES

_RULES = f"""\
# The contract for a client in any language

A client is a command. It is given one operation and its arguments, makes the calls that this takes,
and prints one line of JSON:

    COMMAND get_room room_id=00123

`confkit course check -- COMMAND` starts three services on this machine, asks the command for one
operation after the other, and prints which rows are right, wrong (and why) or missing. An argument
is a word `name=value`; the value is all behind the first `=`, in UTF-8. One that is absent is
optional and is not to be sent, not even empty. `options` is JSON text, an object. Nothing comes on
standard input.

## What it prints

- One line on standard output, a JSON object in UTF-8, and exit status 0, for an error too. What
  else there is to say goes to standard error. Neither may hold the secret key, nor standard error
  a token or the digest.
- Success: `ret` 0 and the members below. Names are in snake_case in both interfaces, what a
  service calls `data` is left out, further members do no harm.
- Numbers are numbers, also where the service puts them into quotes. Ids and room numbers are
  texts: 00123 is not 123. What is absent or empty (`host_password`, `room_extend_id`,
  `attendee_max`, `max_audio`, `max_video`) is null. `options` of a device that has none may be
  null, {{}} or left out.
- The service refuses: `{{"ret":404,"error":"room not found"}}`, its code and a text that says what
  the code means in this interface. 401 means another thing in B than in A.
- No answer of the interface (no connection, a time-out, HTML): `{{"ret":null,"error":"..."}}`. A
  call that failed is never an empty list.
- An operation that the client does not know: exit status {MISSING}. The row is then missing, not
  wrong.

A run begins without a token, so it logs in first. One that does not end within {LIMIT:g} seconds,
or writes more than {MOST_BYTES // 1024} kB, is ended with all that it has started."""


def contract() -> str:
    """What a client in any language has to do so that `check_client` finds it right, as Markdown:
    operations, output, environment and rows, from the data by which it is tried."""
    parts = [_RULES, _operations(), _environment(), _services(), _rows()]
    return "\n\n".join(parts) + "\n"


def _operations() -> str:
    return "\n\n".join(["## Operations", *map(_operation, OPERATIONS.values())])


def _operation(operation: Operation) -> str:
    where = "without any call"
    if operation.row:
        endpoint = ENDPOINTS[operation.row]
        where = f"{endpoint.key}, {endpoint.title}: {endpoint.path}"
    words = [*operation.arguments, *(f"[{name}]" for name in operation.optional)]
    return f"`{' '.join([operation.name, *words])}`  \n{where}\n\n    {operation.answer}"


def _environment() -> str:
    lines = []
    for name, what in VARIABLES.items():
        choices = values_of(name)
        lines.append(f"| {PREFIX}{name} | {what}{': ' * bool(choices)}{', '.join(choices)} |")
    head = "| variable | what it holds |\n|---|---|\n"
    return (
        "## Environment\n\nAll of these are set in every run. From HASH on they tell what "
        "the interface does not show: ask your provider, or `confkit probe`.\n\n"
        + head + "\n".join(lines)
    )  # fmt: skip


def _services() -> str:
    lines = []
    for service in SERVICES:
        usual = settings(SERVICES[0].dialect)
        told = settings(service.dialect)
        others = [
            f"{name.removeprefix(PREFIX)}={value}"
            for name, value in told.items()
            if value != usual[name]
        ]
        lines.append(
            f"- {service.name}: {', '.join(others) or 'as most deployments that were seen'}"
        )
    return "## The three services\n\n" + "\n".join(lines)


def _rows() -> str:
    lines = [
        f"| {row.name} | {row.title} | {row.asks}{' In each service.' * row.everywhere} |"
        for row in ROWS
    ]
    return "## Rows\n\n| row | about | what is asked |\n|---|---|---|\n" + "\n".join(lines)
