"""The exercises of notebook 03: rooms and their lives."""

from __future__ import annotations

import re
import uuid
from typing import Any

from ...rooms import get_room_users
from ..reading import room_of
from ..records import Exercise, Judged, no, yes

NOTEBOOK = "03-rooms"


def _own_number(answer: Any, client: Any) -> Judged:
    room = room_of(str(answer) if isinstance(answer, uuid.UUID) else answer, client)
    if isinstance(room, Judged):
        return room
    if room.room_extend_id is None:
        return no("The service chose this number. Send one of your own as room_extend_id.")
    try:
        uuid.UUID(room.room_id)
    except ValueError:
        return no("The number is your own, but it is no UUID: those are unique without asking.")
    if room.attendee_max != 3:
        cap = "no cap" if room.attendee_max is None else f"attendee_max {room.attendee_max}"
        return no(f"The number is your own UUID. The room has {cap}; three people are asked for.")
    return yes("room_id equals your UUID: after a lost answer you can ask for the room by it.")


def _topic_cut(answer: Any, _: Any) -> Judged:
    if not callable(answer):
        return no(f"Hand in the function itself; this is of the type {type(answer).__name__}.")
    for topic in ("Sync", "", "x" * 149, "\u00e9" * 74):
        cut = answer(topic)
        if not isinstance(cut, str):
            return no(_NO_TOPIC.format(type(cut).__name__))
        if cut != topic:
            return no("It changes a topic that fits: up to 149 bytes have to stay as they are.")
    for topic in ("x" * 400, "\u00e9" * 200, "a" + "\u00e9" * 200, "\u4f1a\u8bae" * 60,
                  "ab" + "\U0001f3a5" * 60):  # fmt: skip
        cut = answer(topic)
        if not isinstance(cut, str):
            return no(_NO_TOPIC.format(type(cut).__name__))
        if not topic.startswith(cut):
            if not topic.startswith(_BROKEN.sub("", cut)):
                return no("What it gives of a long topic is no beginning of the topic.")
            return no("It cuts through a character: what is left of one is none any more.")
        size = len(cut.encode("utf-8", "surrogatepass"))
        if size == 150:
            return no("It leaves 150 bytes. The interface says under 150: at most 149 fit.")
        if size >= 150:
            characters = " It counts characters; count bytes of UTF-8." if len(cut) < 151 else ""
            return no(f"It leaves {size} bytes, and at most 149 fit.{characters}")
        if size + len(topic[len(cut)].encode()) < 150:
            return no("It cuts off too much: one more character of a long topic would fit.")
    return yes("Letters, accents, Chinese and pictures: at most 149 bytes, and none cut in two.")


_NO_TOPIC = "It gives something of the type {}; a topic is a text (bytes: decode them)."
_BROKEN = re.compile("[\ufffd\udc80-\udcff]+$")  # what decoding makes of half a character


def _cap(answer: Any, _: Any) -> Judged:
    if not callable(answer):
        return no(f"Hand in the function itself; this is of the type {type(answer).__name__}.")
    for given, due, told in (
        ("25", 25, "a number in quotes"), (25, 25, "a number without quotes"),
        ("", None, "an empty text, which says that there is no cap"),
        (None, None, "null, which says that there is no cap"), ("0", 0, "a quoted zero"),
    ):  # fmt: skip
        try:
            got = answer(given)
        except Exception as error:  # noqa: BLE001  # the learner's own function
            return no(f"It raises {type(error).__name__} for {told}.")
        if got == due and type(got) is type(due):
            continue
        if due is None and got == 0:
            return no(f"It gives 0 for {told}. Nobody could join a room of 0; say None.")
        kind = type(got).__name__
        return no(f"It gives a wrong {kind} for {told}; {type(due).__name__} is due.")
    return yes("Quoted or not, absent or not: your client reads what deployments send.")


def _locked(answer: Any, client: Any) -> Judged:
    room = room_of(answer, client)
    if isinstance(room, Judged):
        return room
    if room.room_status == 3:
        return no("The room is closed (3), which put everybody off, and nothing opens it again.")
    if room.room_status != 2:
        return no(f"Its room_status is {room.room_status}; a locked one has 2.")
    if not get_room_users(client, room.room_id):
        return no("The room is locked but empty. A lock lets nobody in: somebody joins first.")
    return yes("Locked (2) with somebody in it: who is in stays, and nobody new comes in.")


EXERCISES = (
    Exercise(
        "own-number", NOTEBOOK,
        "Create a room for three people whose room_id is a UUID of your own; hand in the number.",
        _own_number,
        """\
import uuid

my_number = str(uuid.uuid4())
ck.create_room(client, "Three chairs", owner_id="me", attendee_max=3, room_extend_id=my_number)
""",
        needs_client=True,
    ),
    Exercise(
        "topic-cut", NOTEBOOK,
        "A function that takes any topic and gives the longest beginning of it that the service "
        "accepts, without cutting a character in two.",
        _topic_cut,
        """\
def my_cut(topic):
    return topic.encode()[:149].decode(errors="ignore")
""",
    ),
    Exercise(
        "quoted-cap", NOTEBOOK,
        "A function that takes attendee_max as it stands in an answer of A3, quoted or not, and "
        "gives the whole number, or None where the room has no cap.",
        _cap,
        """\
def my_cap(value):
    return None if value in (None, "") else int(value)
""",
    ),
    Exercise(
        "locked-in", NOTEBOOK,
        "Bring a room into room_status 2 with somebody in it, and hand in its number.",
        _locked,
        """\
my_locked = ck.create_room(client, "Board", owner_id="me")
client.sandbox.join(my_locked, "Ada")
client.sandbox.lock(my_locked)
""",
        needs_client=True,
    ),
)  # fmt: skip
