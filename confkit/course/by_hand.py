"""Judges of what a learner makes without a service: signatures, parameters, a topic and a pause.
Each is called as its exercise."""

from __future__ import annotations

import json
import math
import re
import statistics
import time
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote, unquote_plus

from ..client import Client
from ..dialect import Dialect
from ..sandbox.signatures import Kind, Parts, mistakes
from ..text import counted
from .judged import Function, Hints
from .material import vectors

# Published with the interface's vectors: no secret of anybody.
MORNING = Parts(
    "demo_access", "demo_secret", random="abc", key="def", earlier=(("123", "456"), ("uvw", "xyz"))
)
_SPELLINGS = {
    "access_token": "interface A's and B2's",
    "accessToken": "the spelling of B1 and B3",
    "access_tocken": "an older spelling, seen in deployments",
    "token": "the spelling of one SDK, seen in deployments",
}
_LOGIN = {"login_name": "admin", "login_password": "50% & more"}
_BARE = re.compile(r"""[^!-~]|[ "<>\\^`{|}]|%(?![0-9A-Fa-f]{2})""")
_BROKEN = re.compile("[\ufffd\udc80-\udcff]+$")  # what decoding makes of half a character
_TOPICS = (
    "Sync",
    "",
    "x" * 149,
    "\u00e9" * 74,
    "x" * 400,
    "\u00e9" * 200,
    "a" + "\u00e9" * 200,
    "\u4f1a\u8bae" * 60,
    "ab" + "\U0001f3a5" * 60,
)
_DRAWS = 400  # pauses drawn for each attempt
_GROWTH = 1.2  # from one attempt to the next: more than chance does to the middle of so many
_LONGEST = 120.0  # seconds: longer ones are no pause any more
_WAITED = 0.05  # seconds that a function takes which only reckons, at the very most


def _signature(kind: Kind, answer: str, client: Any) -> Hints:
    """Compare it with the published example, then with the login of a client that is given."""
    cases = [(MORNING, Dialect())]
    if isinstance(client, Client):
        login = client.token()
        own = Parts(
            client.access_key,
            client.secret_key.reveal(),
            login.random.reveal(),
            login.key.reveal(),
        )
        cases.append((own, client.dialect))
    explained = [(mistakes(kind, answer, *case), case) for case in cases]
    # The example's, unless the login alone explains it, or explains it as right.
    known = [one for one in explained if one[0] == ()] or [one for one in explained if one[0]]
    found, (parts, dialect) = known[0] if known else (None, cases[0])
    if found:
        yield f"Not yet, but it can be said why: {'; and '.join(found)}."
    if answer in (parts.random, parts.key, parts.access_key, parts.secret_key):
        yield f"This is one of the parts, not the {kind} that is made of them."
    if found is None and len(answer.split()) > 1:
        yield (
            f"Blanks stand in it, and a {kind} has none: base64 is letters, digits, +, / and =. "
            "Hand in what your code makes, and do not copy it piece by piece."
        )
    if found is None:
        message = "random:key" if kind == "token" else "the access key"
        yield (
            "No mistake that is known here explains it; it has "
            f"{counted(len(answer), 'character')}. Look at each step on its own: the message "
            f"({message}, nothing more), the HMAC, its hex digits, their base64."
        )
    form = "lowercase hex text" if dialect.signature == "hex" else "raw bytes"
    return f"Exactly: base64 of the {form} of the HMAC, {len(answer)} characters."


digest, token = partial(_signature, "digest"), partial(_signature, "token")


def token_in_url(answer: str, _: Any) -> Hints:
    """It is the parameter of A3, encoded once."""
    name, equals, value = answer.strip().rpartition("?")[2].partition("=")
    value = value.partition("&")[0]
    right = Dialect().sign(MORNING.secret_key, f"{MORNING.random}:{MORNING.key}")
    if not equals or name not in _SPELLINGS:
        yield "Begin with the parameter's name and a plain =, as in name=value."
    if value == right:
        yield "The value is not encoded: its two = have to travel as %3D, else a server may cut it."
    if unquote(unquote(value)) == right != unquote(value):
        yield "The value is encoded twice: %253D arrives as %3D, and that is another token."
    if unquote(value) != right:
        yield "The value is not the token of this example; solve the exercise token first."
    if name != "access_token":
        yield (
            f"The value is right. The name is not: interface A spells it access_token ({name} is "
            f"{_SPELLINGS[name]})."
        )
    return "Exactly: encoded once, each = as %3D, under the name that interface A gives it."


def devices_options(answer: str, _: Any) -> Hints:
    """The parameter brings the login to the service as it is."""
    name, _equals, value = answer.strip().lstrip("?&").partition("=")
    if name != "options":
        yield "Begin with the parameter's name, spelt options, and a plain =, as in options=value."
    if "&" in value:
        yield "A bare & ends the parameter half way; & travels as %26."
    once = unquote_plus(value)
    found = _json(once)
    if _json(unquote(once)) == _LOGIN != found:
        yield "It is encoded twice: %257B arrives as %7B, which is no JSON."
    if isinstance(found, str):
        yield "A text that holds JSON arrives, not an object: it went through JSON twice."
    if once.lstrip().startswith("{'"):
        yield "This is Python's way to write a dict. JSON takes double quotes: json.dumps."
    if not isinstance(found, dict):
        yield "What arrives is not the JSON text of an object."
    if set(found) != set(_LOGIN):
        yield (
            "The object has the keys login_name and login_password, in snake_case, and no others "
            "here: a service ignores what it does not know."
        )
    if found != _LOGIN:
        yield "The keys are right, and the values are others: compare each letter of the login."
    if once == value:
        yield "This is right as JSON, and it is not percent-encoded yet."
    if _BARE.search(value):
        yield "It is only partly percent-encoded: leave all of it to your language's library."
    return "Exactly: JSON text, percent-encoded once."


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def topic_cut(function: Function, _: Any) -> Hints:
    """Of a long topic it leaves as much as fits into 149 bytes, of whole characters."""
    for topic in _TOPICS:
        cut, fits = function(topic), len(topic.encode()) < 150
        if not isinstance(cut, str):
            kind = type(cut).__name__
            yield f"It gives something of the type {kind}; a topic is a text (bytes: decode them)."
        if fits and cut != topic:
            yield "It changes a topic that fits: up to 149 bytes have to stay as they are."
        if not topic.startswith(_BROKEN.sub("", cut)):
            yield "What it gives of a long topic is no beginning of the topic."
        if not topic.startswith(cut):
            yield "It cuts through a character: what is left of one is none any more."
        size = len(cut.encode())
        if size == 150:
            yield "It leaves 150 bytes. The interface says under 150: at most 149 fit."
        if size > 150:
            yield f"It leaves {size} bytes, and 149 fit at most. Count bytes, not characters."
        if not fits and size + len(topic[len(cut)].encode()) < 150:
            yield "It cuts off too much: one more character of a long topic would fit."
    return "Letters, accents, Chinese and pictures: at most 149 bytes, and none cut in two."


def many_pause(function: Function, _: Any) -> Hints:
    """Its pauses grow, differ by chance, and have a bound."""
    if not _is_pause(function(1)):
        yield "It gives seconds to wait: a number from 0 on."
    if min(_took(function) for _ in range(3)) > _WAITED:  # a busy machine is no wait
        yield "It waits by itself. Let it give the seconds, and the caller wait."
    drawn = {at: [function(at) for _ in range(_DRAWS)] for at in (1, 2, 3, 30)}
    if not all(_is_pause(seconds) for pauses in drawn.values() for seconds in pauses):
        yield "It has to give a number of seconds from 0 on, after each of 30 attempts."
    if any(len(set(pauses)) < 3 for pauses in (drawn[1], drawn[2])):
        yield "There is no chance in it: calls that failed together come back together."
    first, second, third, _last = map(statistics.median, drawn.values())
    if second < _GROWTH * first or third < _GROWTH * second:
        yield "It does not grow: after each further failure the service needs more time."
    if max(drawn[30]) > _LONGEST:
        yield f"It has no bound: after 30 failures it is over {_LONGEST:.0f} seconds."
    if first < 0.01:
        yield "The first pause is next to nothing: that is no pause for a service in trouble."
    return "It grows, it has a part by chance, and it has a bound."


def _took(function: Function) -> float:
    began = time.monotonic()
    function(1)
    return time.monotonic() - began


def _is_pause(seconds: Any) -> bool:
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return number and math.isfinite(seconds) and seconds >= 0


def signature(function: Function, _: Any) -> Hints:
    """It makes digest and token of every vector."""
    known = vectors()["vectors"]
    for number, vector in enumerate(known):
        messages = {
            "digest": vector["access_key"],
            "token": f"{vector['random']}:{vector['key']}",
        }
        for kind in ("digest", "token"):
            made = function(
                vector["secret_key"], messages[kind], vector["hash"], vector["signature"]
            )
            if made != vector[kind]:
                why = _mistake(vector, kind, made)
                yield f"Right in {number} of {len(known)} vectors, then: {why}."
    return (
        f"Digest and token are right in all {len(known)} vectors. In another language, do the "
        "same before you send the first request."
    )


def _mistake(vector: Mapping[str, str], kind: Kind, made: Any) -> str:
    """Return why this is not the digest or token of a vector."""
    parts = Parts(vector["access_key"], vector["secret_key"], vector["random"], vector["key"])
    dialect = Dialect(hash=vector["hash"], signature=vector["signature"])
    reasons = (
        mistakes(kind, made, parts, dialect) if isinstance(made, str) else ["it is not a text"]
    )
    why = "; and ".join(reasons or ["no known mistake explains it"])
    return f"{kind}, {dialect.hash} and {dialect.signature}: {why}"
