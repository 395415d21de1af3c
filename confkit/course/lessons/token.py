"""Judges of digests and tokens: which mistake made a wrong one."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import unquote

from ...client import Client
from ...dialect import Dialect
from ...sandbox.service.signatures import Kind, Parts, mistakes
from ...signing import sign
from ..judged import Hints
from ..material import ask

# Published with the interface's vectors: no secret of anybody.
MORNING = Parts(
    "demo_access", "demo_secret", random="abc", key="def", earlier=[("123", "456"), ("uvw", "xyz")]
)
_SPELLINGS = {
    "access_token": "interface A's and B2's",
    "accessToken": "the spelling of B1 and B3",
    "access_tocken": "an older spelling, seen in deployments",
    "token": "the spelling of one SDK, seen in deployments",
}


def _signature(kind: Kind, answer: str, client: Any) -> Hints:
    """Compare it with the published example, then with the login of a client that is given."""
    parts, dialect = MORNING, Dialect()
    found = mistakes(kind, answer, parts, dialect)
    if found != () and isinstance(client, Client):
        login = client.token()
        own = Parts(client.access_key, client.secret_key, login.random, login.key)
        explained = mistakes(kind, answer, own, client.dialect)
        if explained is not None:
            parts, dialect, found = own, client.dialect, explained
    if found:
        yield f"Not yet, but it can be said why: {'; and '.join(found)}."
    if answer in (parts.random, parts.key, parts.access_key, parts.secret_key):
        yield f"This is one of the parts, not the {kind} that is made of them."
    if found is None:
        message = "random:key" if kind == "token" else "the access key"
        yield (
            f"No mistake that is known here explains it; it has {len(answer)} characters. Look at "
            f"each step on its own: the message ({message}, nothing more), the HMAC, its hex "
            "digits, their base64."
        )
    form = "lowercase hex text" if dialect.signature == "hex" else "raw bytes"
    return f"Exactly: base64 of the {form} of the HMAC, {len(answer)} characters."


digest, token = partial(_signature, "digest"), partial(_signature, "token")


def in_url(answer: str, _: Any) -> Hints:
    """It is the parameter of A3, encoded once."""
    name, equals, value = answer.strip().rpartition("?")[2].partition("=")
    value = value.partition("&")[0]
    right = sign(MORNING.secret_key, f"{MORNING.random}:{MORNING.key}", Dialect())
    if not equals or name not in _SPELLINGS:
        yield "Begin with the parameter's name and a plain =, as in name=value."
    if value == right:
        yield "The value is not encoded: its two = have to travel as %3D, else a server may cut it."
    if unquote(unquote(value)) == right and unquote(value) != right:
        yield "The value is encoded twice: %253D arrives as %3D, and that is another token."
    if unquote(value) != right:
        yield "The value is not the token of this example; solve the exercise token first."
    if name != "access_token":
        yield (
            f"The value is right. The name is not: interface A spells it access_token ({name} is "
            f"{_SPELLINGS[name]})."
        )
    return "Exactly: encoded once, each = as %3D, under the name that interface A gives it."


def at_work(answer: str, client: Client) -> Hints:
    """The sandbox takes it now, and it is not the client's own."""
    if answer == client.token():
        yield "This is the token that confkit's client holds. Make a login of your own, by A1."
    fields = {client.dialect.token_parameter: answer, "room_id": "0"}
    # An unknown room: a token that is taken gets as far as 404.
    if ask(client, "/rtc/room/get", **fields)["ret"] == 602:
        why = client.sandbox.refusals[-1].why
        yield f"The sandbox refused it with 602. It says why: {why}."
    return "The sandbox took it. With your own code you can now call every operation."
