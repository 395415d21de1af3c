"""The exercises of notebook 02: the token by hand."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from ...client import Client
from ...dialect import Dialect
from ...endpoints import A3
from ...sandbox.service.signatures import Kind, Parts, mistakes
from ...signing import sign
from ..asking import ret_with
from ..reading import in_order
from ..records import Exercise, Judged, no, yes

NOTEBOOK = "02-the-token"
# Published with the interface's vectors: no secret of anybody.
MORNING = Parts(
    "demo_access", "demo_secret", random="abc", key="def", earlier=[("123", "456"), ("uvw", "xyz")]
)


def signature(kind: Kind, answer: Any, parts: Parts, dialect: Dialect) -> Judged:
    """Whether the answer is this digest or token; if not, which mistake made it."""
    if not isinstance(answer, str | bytes):
        return no(f"A {kind} is a text, and this is of the type {type(answer).__name__}.")
    found = mistakes(kind, answer, parts, dialect)
    if found is None:
        return no(_stranger(kind, answer, parts))
    if found:
        return no(f"Not yet, but it can be told why: {'; and '.join(found)}.")
    return yes(f"Exactly: base64 of {_form(dialect)}, {len(answer)} characters.")


def _form(dialect: Dialect) -> str:
    return f"the {'lowercase hex text' if dialect.signature == 'hex' else 'raw bytes'} of the HMAC"


def _stranger(kind: Kind, answer: str | bytes, parts: Parts) -> str:
    if answer in (parts.random, parts.key, parts.access_key, parts.secret_key):
        return f"This is one of the parts, not the {kind} that is made of them."
    message = "random:key" if kind == "token" else "the access key"
    return (
        f"No mistake that is known here explains it; it has {len(answer)} characters. "
        f"Look at each step on its own: the message ({message}, nothing more), the HMAC, its "
        "hex digits, their base64."
    )


def _digest(answer: Any, client: Any) -> Judged:
    return _either("digest", answer, client)


def _token(answer: Any, client: Any) -> Judged:
    return _either("token", answer, client)


def _either(kind: Kind, answer: Any, client: Any) -> Judged:
    """Held against the published example, and against the login of a client that is given."""
    judged = signature(kind, answer, MORNING, Dialect())
    if judged.right or not isinstance(client, Client) or not isinstance(answer, str | bytes):
        return judged
    login = client.token()
    own = Parts(client.access_key, client.secret_key, login.random, login.key)
    explained = mistakes(kind, answer, own, client.dialect)
    return judged if explained is None else signature(kind, answer, own, client.dialect)


def _in_url(answer: Any, _: Any) -> Judged:
    if not isinstance(answer, str):
        return no(f"It is a text, and this is of the type {type(answer).__name__}.")
    name, equals, value = answer.strip().rpartition("?")[2].partition("=")
    value = value.partition("&")[0]
    right = sign(MORNING.secret_key, f"{MORNING.random}:{MORNING.key}", Dialect())
    if not equals or name not in _SPELLINGS:
        return no("Begin with the parameter's name and a plain =, as in name=value.")
    if value == right:
        return no(
            "The value is not encoded: its two = have to travel as %3D, else a server may cut it."
        )
    if unquote(unquote(value)) == right and unquote(value) != right:
        return no("The value is encoded twice: %253D arrives as %3D, and that is another token.")
    if unquote(value) != right:
        return no("The value is not the token of this example; solve the exercise token first.")
    if name != "access_token":
        return no(
            f"The value is right. The name is not: interface A spells it access_token ({name} is "
            f"{_SPELLINGS[name]})."
        )
    return yes("Exactly: encoded once, each = as %3D, under the name that interface A gives it.")


_SPELLINGS = {
    "access_token": "interface A's and B2's", "accessToken": "the spelling of B1 and B3",
    "access_tocken": "an older spelling, seen in deployments",
    "token": "the spelling of one SDK, seen in deployments",
}  # fmt: skip


def _at_work(answer: Any, client: Any) -> Judged:
    if not isinstance(answer, str):
        return no(f"A token is a text, and this is of the type {type(answer).__name__}.")
    if answer == client.token():
        return no("This is the token that confkit's client holds. Make a login of your own, by A1.")
    # An unknown room: a token that is taken gets as far as 404.
    if ret_with(client, answer, A3, {"room_id": "0"}) == 602:
        why = client.sandbox.refusals[-1].partition(": ")[2].removeprefix("token: ")
        return no(f"The sandbox refused it with 602. It says why: {why}.")
    return yes("The sandbox took it. With your own code you can now call every operation.")


def _culprits(answer: Any, _: Any) -> Judged:
    listed = in_order(answer)
    if isinstance(listed, Judged):
        return listed
    words = [str(word).strip().lower() for word in listed]
    if len(words) != len(_CULPRITS):
        return no(f"Three words are asked for, one for each token; these are {len(words)}.")
    if unknown := sum(word not in _WORDS for word in words):
        return no(f"{unknown} of them are none of the words to choose from: {', '.join(_WORDS)}.")
    right = sum(word == culprit for word, culprit in zip(words, _CULPRITS, strict=True))
    if right < len(_CULPRITS):
        return no(
            f"{right} of 3 are right. Make each wrong token of the list yourself and compare; the "
            "length alone tells two of them."
        )
    return yes("All three. Length first, then content: that order finds most mistakes.")


_WORDS = ("raw", "newline", "swapped", "sha256", "capitals")
_CULPRITS = ("raw", "sha256", "newline")


EXERCISES = (
    Exercise(
        "digest", NOTEBOOK,
        "The digest that A1 takes, for the access key demo_access and the secret key demo_secret.",
        _digest,
        """\
import base64, hashlib, hmac

mac = hmac.new(b"demo_secret", b"demo_access", hashlib.sha1)
my_digest = base64.b64encode(mac.hexdigest().encode()).decode()
""",
    ),
    Exercise(
        "token", NOTEBOOK,
        "The access token for the secret key demo_secret, when A1 has answered with the random abc "
        "and the key def. (An earlier login, now expired, had answered with 123 and 456.)",
        _token,
        """\
import base64, hashlib, hmac

mac = hmac.new(b"demo_secret", b"abc:def", hashlib.sha1)
my_token = base64.b64encode(mac.hexdigest().encode()).decode()
""",
    ),
    Exercise(
        "token-in-url", NOTEBOOK,
        "The token of the exercise before, as it stands in the URL of room get (A3): the "
        "parameter's name, a plain =, and the value.",
        _in_url,
        """\
from urllib.parse import quote

token = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
my_parameter = "access_token=" + quote(token, safe="")
""",
    ),
    Exercise(
        "token-culprits", NOTEBOOK,
        "Three clients signed abc:def under demo_secret, and each was refused with 602. They sent "
        "SLAETk6ytPpbzvflqQsSso6mK3g= and "
        "OWRjZTE0ZWIxMGMyNTFmYjIyMjRkOTlhMjJkY2VkODYzZWVjZWQxOTExYzJlYzVmY2Y1OTU2YzA2ZTdlY2EwMQ== "
        "and MmYxOTA1ZDdjMTZjMjM4OWY5ZGViNWM5MWZkYzhiZWQyMzQ1NDVlZQ==. What did each do wrong? A "
        "list of three of the words raw, newline, swapped, sha256, capitals.",
        _culprits,
        """\
# 28 characters are base64 of 20 bytes, 88 of 64 characters, 56 of 40 as they should be.
my_culprits = ["raw", "sha256", "newline"]
""",
    ),
    Exercise(
        "token-at-work", NOTEBOOK,
        "A token that works on this sandbox now: log in with requests alone, make the token of "
        "what A1 answers, and hand it in.",
        _at_work,
        """\
import base64, hashlib, hmac

def signed(message):
    mac = hmac.new(b"demo_secret", message.encode(), hashlib.sha1)
    return base64.b64encode(mac.hexdigest().encode()).decode()

fields = {"access_key": "demo_access", "digest": signed("demo_access")}
answer = web.get(client.base_url + "/rtc/auth/valid", params=fields, timeout=10).json()
my_login = signed(answer["random"] + ":" + answer["key"])
""",
        needs_client=True,
    ),
)  # fmt: skip
