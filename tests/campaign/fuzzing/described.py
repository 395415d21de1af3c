"""The sandbox asked by its own OpenAPI description: schemathesis makes the calls of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hypothesis import strategies as st

from confkit import openapi
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox
from tests.openapi.described import Described

from .garbage import code_in

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
DIALECTS = (
    (Dialect(), ""),
    (Dialect(create_method="POST", list_method="POST", placement="json"), JSON),
    (Dialect(create_method="POST", list_method="POST", placement="form", result_field="result",
             item_keys="snake_case", hash="sha256", signature="raw"), FORM),
)  # fmt: skip
_ID = {"access_token": "token", "accessToken": "token", "room_id": "room", "roomId": "room",
       "user_id": "user", "userId": "user", "userAddress": "camera"}  # fmt: skip

_ALL = frozenset(_ID.values())
REAL = [*[_ALL] * 4, *(_ALL - {kind} for kind in sorted(_ALL)), frozenset[str]()]


class Deployment(NamedTuple):
    """A sandbox with a room, somebody in it and a camera, whoever knows what it may answer, and
    what is known of it: the values that lead somewhere."""

    sandbox: Sandbox
    by: Described
    body: str
    known: dict[str, str]


@contextmanager
def deployment(dialect: Dialect, body: str, seed: int) -> Iterator[Deployment]:
    """A deployment in this dialect, whose bodies are of this type."""
    # The cameras of an imported device play at once; one that does not exist refuses at once.
    with Sandbox(seed=seed, dialect=dialect, dial_timeout=5.0) as sandbox:
        with sandbox.connect() as client:
            from confkit import create_room

            room = create_room(client, "Weekly", "ops", room_extend_id="0815")
            known = {"token": str(client.token()), "room": room}
        known["user"] = sandbox.join(room, "Ada")
        known["camera"] = sandbox.camera(size=(160, 120), fps=2)
        by = Described(base_url=sandbox.base_url, outgoing_url=sandbox.outgoing_url)
        try:
            yield Deployment(sandbox, by, body, known)
        finally:
            by.close()


def cases(where: Deployment) -> st.SearchStrategy[Any]:
    """Calls of every operation that this dialect has, as described and otherwise."""
    import schemathesis  # takes a while: when it is used

    document = openapi.document()
    schema = schemathesis.openapi.from_dict(document)
    found = []
    for path, item in document["paths"].items():
        by_post = where.body and "post" in item
        operation = schema[path]["POST" if by_post else "GET"]
        found += [
            operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode
        ]
    return st.one_of(found)


def any_call_is_answered_as_described(
    where: Deployment, case: Any, real: frozenset[str], wrong: str
) -> None:
    """A call gets a status below 500 and JSON with a result code, as the description has it; some
    of its IDs are `real`, so that it comes further than the token."""
    values = case.body if case.method == "POST" and isinstance(case.body, dict) else case.query
    if isinstance(values, dict):
        for name in values:
            kind = _ID.get(name, "")
            if kind in real:
                values[name] = where.known[kind]
            elif name == "userAddress":  # nobody else's camera is dialled
                values[name] = wrong
    interface = "B" if case.path.startswith("/avd") else "A"
    address = where.sandbox.base_url if interface == "A" else where.sandbox.outgoing_url
    try:
        reply = case.call(base_url=address, timeout=20)
    except (ValueError, TypeError) as error:  # it cannot be written as a request at all
        assert type(error).__module__.startswith(("requests", "urllib3", "builtins")), repr(error)
        return
    assert reply.status_code < 500, f"{reply.status_code}: {reply.content[:200]!r}"
    try:
        code_in(interface, where.sandbox.dialect.result_field, reply.content)
    except (ValueError, KeyError, TypeError) as error:
        raise AssertionError(f"no code ({error}): {reply.content[:200]!r}") from None
    answer = reply.json() if reply.content.startswith(b"{") else None
    name = case.operation.definition.raw["operationId"]
    if answer is not None:
        assert where.by.says(name, answer), f"{name} answered {answer}, which is not described"
