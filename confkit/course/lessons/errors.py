"""The exercises of notebook 05: answers that are read, failures that are told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...client import Client
from ...endpoints import A6
from ...rooms import create_room, delete_room, get_room, get_room_users
from ..records import Exercise, Judged, no, yes
from .answers import PAGE, read

NOTEBOOK = "05-errors"
_FULL = "B1 426: the room is full"


def _again(answer: Any, _: Any) -> Judged:
    words = [str(word).strip().lower() for word in answer]
    if len(words) != len(_FAILURES):
        return no(f"{len(_FAILURES)} words are asked for, one for each failure: {len(words)} came.")
    if unknown := sum(word not in _WORDS for word in words):
        return no(f"{unknown} of them are none of the words to choose from: {', '.join(_WORDS)}.")
    wrong = [
        f"{number}: {why}"
        for number, (word, (right, why)) in enumerate(zip(words, _FAILURES, strict=True), start=1)
        if word != right
    ]
    if wrong:
        return no(f"{len(words) - len(wrong)} of {len(words)} are right. Failure {wrong[0]}.")
    return yes("All eight. Read or change, did it arrive, can waiting help: that is all of it.")


_WORDS = ("again", "look", "login", "no")
_FAILURES = (
    ("again", "A6 is a read, and 504 says that a part of the service was late"),
    ("look", "A2 is a change, and nobody knows whether it has happened"),
    ("again", "nothing listened, so the change certainly never arrived"),
    ("no", "404 stays 404: the room is not there a moment later either"),
    ("login", "602 is about the token, in B too; with a new one the call can work"),
    ("no", "401 of B is about the parameters, and no new login mends these"),
    ("look", "A7 is a change whose answer was lost: ask A6 whether the user is still there"),
    ("no", "401 of A1 is about the keys, and who tries again may get the account locked"),
)


def _count(answer: Any, client: Any) -> Judged:
    if not callable(answer):
        return no("A function is asked for: hand it in by its name, without brackets.")
    sandbox = client.sandbox
    with _rooms(client, "Exercise: two people", "Exercise: nobody") as (two, nobody):
        for name in ("Ada", "Grace"):
            sandbox.join(two, name)
        before = sandbox.count(A6.path)
        if _called(answer, two) != 2:
            return no("There are two people in a room, and your function does not say 2.")
        if sandbox.count(A6.path) == before:
            return no("Your function did not ask for the users of the room (A6).")
        empty = _called(answer, nobody)
        if isinstance(empty, bool) or empty != 0:
            return no("Nobody is in a room, which is known: your function has to say 0 there.")
        if _is_number(_called(answer, "0000000000")):
            return no(f"A room that does not exist (404) was counted. {_LESSON}")
        faults: Sequence[tuple[str, dict[str, Any]]] = (
            ("The database failed (700)", {"ret": 700}),
            ("A proxy answered with HTML", {"body": PAGE}),
            ("JSON without a result code came", {"body": '{"user_list":[]}'}),
            ("The connection was dropped", {"drop": True}),
        )
        for what, fault in faults:
            sandbox.fault(A6.path, **fault)
            try:
                if _is_number(_called(answer, two)):
                    return no(f"{what}, and your function said a number. {_LESSON}")
            finally:
                sandbox.clear_faults()
    return yes("2 is 2, nobody is 0, and what could not be read is not a number.")


_LESSON = "A failed call is never an empty room: None, or an error, says that it is not known."


def _called(function: Callable[[str], object], room_id: str) -> object:
    """What it gives; None where it raises, which says just as well that nothing is known."""
    try:
        return function(room_id)
    except Exception:  # noqa: BLE001  # see above
        return None


def _is_number(found: object) -> bool:
    return isinstance(found, int | float) and found == found  # NaN is missing, not a number


@contextmanager
def _rooms(client: Client, *topics: str) -> Iterator[list[str]]:
    """Rooms of our own, which are gone afterwards."""
    made = [create_room(client, topic, owner_id="course") for topic in topics]
    try:
        yield made
    finally:
        for room_id in made:
            delete_room(client, room_id)


def _full(answer: Any, client: Any) -> Judged:
    if not isinstance(answer, str):
        return no("A room's number is a text.")
    sandbox = client.sandbox
    try:
        cap = get_room(client, answer).attendee_max
        users = len(get_room_users(client, answer))
    except (LookupError, ValueError):
        return no("The sandbox has no room of this number; hand in what create_room gave you.")
    if cap is None:
        return no("This room has no attendee_max, so it is never full. Set it when you create it.")
    if users < cap:
        return no(f"There are {users} users in this room, and {cap} may be. Fill it first.")
    refused = [text for text in sandbox.refusals if text.startswith("B1 426")]
    if not any(text.startswith(_FULL) for text in refused):
        others = [text.partition(": ")[2] for text in refused]
        last = f" The last 426 of B1 had another reason: {others[-1]}." if others else ""
        return no(f"The room is full, but no camera has been refused because of that yet.{last}")
    return yes("426, and the reason is the room, not the camera: no number tells you that.")


EXERCISES = (
    Exercise(
        "errors-read", NOTEBOOK,
        "A function of an answer's HTTP status and its body (bytes) that gives the result code as "
        "an int, or None where this is no answer of the interface. It raises nothing.",
        read,
        """\
import json

def my_read(status, body):
    try:
        answer = json.loads(body)
        code = answer["ret"] if "ret" in answer else answer["result"]
        return int(code)
    except (ValueError, KeyError, TypeError):
        return None
""",
    ),
    Exercise(
        "errors-again", NOTEBOOK,
        "What does a client do after each of the eight failures? A list of eight of the words "
        "again (the same call, after a pause), look (whether it has happened), login (a new "
        "token, then the same call, once) and no.",
        _again,
        """\
my_words = ["again", "look", "again", "no", "login", "no", "look", "no"]
""",
    ),
    Exercise(
        "errors-count", NOTEBOOK,
        "A function of a room's number that gives the number of its users on this sandbox, and "
        "None (or an error) where that is not known. The check makes calls fail meanwhile.",
        _count,
        """\
def my_count(room_id):
    try:
        return len(ck.get_room_users(client, room_id))
    except ck.ConfkitError:
        return None
""",
        needs_client=True,
    ),
    Exercise(
        "errors-full", NOTEBOOK,
        "Make B1 answer 426 because a room is full, not because of the camera or a lock, and hand "
        "in the room's number.",
        _full,
        """\
my_room = ck.create_room(client, "Full", owner_id="course", attendee_max=1)
client.sandbox.join(my_room, "Ada")
try:
    ck.import_device(client, my_room, "cam-full", "Camera", client.sandbox.camera())
except ck.JoinFailed as error:
    print(error.ret, client.sandbox.refusals[-1])
""",
        needs_client=True,
    ),
)  # fmt: skip
