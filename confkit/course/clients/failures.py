"""The rows about what goes wrong: a trial each. Its docstring stands in the contract."""

from __future__ import annotations

import json
import uuid

from ...endpoints import A2, A3, A6, B1
from ...rooms import get_room
from . import judging
from .judging import Wrong
from .stage import GaveUp, Stage
from .trials import AWKWARD, made_room, room_members
from .vectors import chosen

ABSENT = "0404"  # a room that is not there
WAITS = 60.0  # seconds that a service takes which does not answer
PATIENCE = 4.0  # seconds above CONFKIT_TIMEOUT and what the client takes for a call anyway


def signatures(stage: Stage) -> None:
    """`sign` makes digest and token of a random and a key without any call, for each hash and form
    and for keys with + / = % and letters of any script: lines of `confkit course vectors`."""
    for vector in chosen():
        said = stage.ask("sign", environ=vector.environment(), random=vector.random, key=vector.key)
        if said["ret"] != 0:
            raise Wrong(f"it reports {judging.shown(said['error'])}; signing needs no service")
        for name in ("digest", "token"):
            if told := vector.mistake(name, said.get(name)):
                raise Wrong(told)


def wrong_secret(stage: Stage) -> None:
    """A wrong secret key: A answers 401, authentication failed. It is tried once: accounts lock."""
    said = stage.ask("authenticate", environ={"CONFKIT_SECRET_KEY": "not the secret"})
    stage.fails(said, 401)
    _means(said["error"], "authenticat", "A", "authentication failed")
    if (times := stage.sent("A1")) > 1:
        raise Wrong(f"it tried the wrong key {times} times; accounts may lock")


def wrong_parameters(stage: Stage) -> None:
    """B answers 401 without any text: there it means wrong parameters, so the client has a table
    of codes for each interface."""
    stage.sandbox.fault(B1.path, body='{"ret":401}')
    said = stage.ask(
        "import_device", room_id=stage.room(), user_id="cam-3", user_name="Door",
        user_address="rtsp://127.0.0.1:9/door",
    )  # fmt: skip
    stage.fails(said, 401)
    _means(said["error"], "parameter", "B", "wrong parameters")


def _means(error: str, word: str, interface: str, meaning: str) -> None:
    if word not in error.lower():
        raise Wrong(
            f"it calls 401 of interface {interface} {judging.shown(error)}; there it means "
            f"{meaning}"
        )


def unknown_room(stage: Stage) -> None:
    """A room that is not there: 404, never an empty room."""
    stage.fails(stage.ask("get_room_users", room_id=ABSENT), 404, "0 users")


def closed_room(stage: Stage) -> None:
    """A closed room: 416."""
    room_id = stage.room()
    stage.sandbox.close_room(room_id)
    stage.fails(stage.ask("get_mcu", room_id=room_id), 416)


def expired(stage: Stage) -> None:
    """602 once: the client logs in anew and repeats the call, and nobody sees it. 602 again: that
    is the answer, and the client does not go on for ever."""
    room_id = stage.room()
    stage.sandbox.fault(A3.path, ret=602, times=1)
    said = stage.ask("get_room", room_id=room_id)
    if said["ret"] == 602 and stage.sent("A3") == 1:
        raise Wrong("it reports 602; a token may expire at any time: log in anew and ask again")
    stage.succeeds(said, room_id=room_id)
    if stage.sent("A1") < 2:
        raise Wrong("it asked again with the token that was refused; log in anew before")
    stage.sandbox.fault(A3.path, ret=602)
    said = stage.ask("get_room", room_id=room_id)
    stage.fails(said, 602)
    if (times := stage.sent("A3")) != 2:
        raise Wrong(f"it asked {times} times while each answer was 602; twice is what helps")


def html(stage: Stage) -> None:
    """HTML with HTTP status 200 in place of JSON: ret null, never an empty list."""
    stage.sandbox.fault(A6.path, http=200, body="<html><body>Please log in</body></html>")
    said = stage.ask("get_room_users", room_id=stage.room())
    stage.fails(said, None, "0 users")


def dropped(stage: Stage) -> None:
    """A connection that breaks while a room is read: ret null."""
    stage.sandbox.fault(A3.path, drop=True)
    stage.fails(stage.ask("get_room", room_id=stage.room()), None)


def slow(stage: Stage) -> None:
    """A service that does not answer: ret null after CONFKIT_TIMEOUT seconds."""
    room_id = stage.room()
    stage.succeeds(stage.ask("get_room", room_id=room_id))
    usual = stage.seconds
    stage.sandbox.fault(A3.path, delay=WAITS)
    try:
        said = stage.ask("get_room", room_id=room_id, timeout=1)
    except GaveUp:
        raise
    except Wrong as wrong:
        raise Wrong(f"{wrong}; CONFKIT_TIMEOUT was 1") from None
    stage.fails(said, None)
    if stage.seconds > usual + 1 + PATIENCE:
        raise Wrong(f"CONFKIT_TIMEOUT was 1, and it waited for more than {PATIENCE:g} seconds")


def quoted(stage: Stage) -> None:
    """Numbers in quotes, ret among them, and JSON with blanks, lines and \\u escapes: all is read
    as if it had come as the interface says."""
    room_id = stage.room("Café 🚀", room_extend_id="00123", attendee_max=25)
    room = get_room(stage.client, room_id)
    wanted = room_members(room)
    body = {"ret": "0", **{name: "" if value is None else str(value)
                           for name, value in wanted.items()}}  # fmt: skip
    stage.sandbox.fault(A3.path, body=json.dumps(body, indent=1))
    stage.succeeds(stage.ask("get_room", room_id=room_id), **wanted)


def unicode(stage: Stage) -> None:
    """A topic with letters of any script, quotes, a backslash and all that a URL gives a meaning,
    written and read."""
    said = stage.ask("create_room", topic=AWKWARD, owner_id="ops", room_mode="1")
    stage.succeeds(said)
    room_id = said.get("room_id")
    if not isinstance(room_id, str):
        raise Wrong(f"room_id is {judging.shown(room_id)}, not a text")
    if told := judging.arrived("topic", AWKWARD, made_room(stage, room_id).topic):
        raise Wrong(told)
    stage.succeeds(stage.ask("get_room", room_id=room_id), topic=AWKWARD)


def long_topic(stage: Stage) -> None:
    """A topic of 149 bytes is taken, one of 150 is 407 (bytes of UTF-8, not characters)."""
    said = stage.ask("create_room", topic="é" * 74 + "e", owner_id="ops", room_mode="1")
    stage.succeeds(said)
    said = stage.ask("create_room", topic="é" * 75, owner_id="ops", room_mode="1")
    stage.fails(said, 407)


def lost(stage: Stage) -> None:
    """A room is made and the answer is lost. With a room_extend_id the client looks the room up and
    gives its number; without one it says ret null. It never sends the create again, and neither
    does its HTTP library, of which many repeat a GET by themselves."""
    room_extend_id = str(uuid.UUID(int=7))
    stage.sandbox.fault(A2.path, drop=True, after=True, times=1)
    said = stage.ask(
        "create_room", topic="Lost", owner_id="ops", room_mode="1", room_extend_id=room_extend_id
    )
    _once(stage)
    if said["ret"] is None:
        raise Wrong(
            "it reports no answer, and could know: get_room of the room_extend_id says whether "
            "the room was made"
        )
    stage.succeeds(said, room_id=room_extend_id)
    stage.sandbox.fault(A2.path, drop=True, after=True, times=1)
    said = stage.ask("create_room", topic="Lost", owner_id="ops", room_mode="1")
    _once(stage)
    stage.fails(said, None)


def _once(stage: Stage) -> None:
    if (times := stage.sent("A2")) > 1:
        rooms = len(stage.sandbox.room_ids())
        there = "there is one room" if rooms == 1 else f"there are {rooms} rooms"
        raise Wrong(
            f"it sent the create {times} times, as the answer was lost, and {there} now; perhaps "
            "its HTTP library did"
        )
