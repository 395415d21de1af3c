"""The exercises of notebook 04: people, and the media server behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...codes import explain
from ...rooms import create_room, delete_room
from ...users import get_room_users
from ..reading import room_of
from ..records import Exercise, Judged, no, yes

NOTEBOOK = "04-people"
FORCE_OFFLINE = "/rtc/force_offline_mcu"


def _full(answer: Any, client: Any) -> Judged:
    room = room_of(answer, client)
    if isinstance(room, Judged):
        return room
    inside = len(get_room_users(client, room.room_id))
    if room.room_status in (2, 3):
        return no("Nobody can join it, but because it is locked or closed; it has to be full.")
    if room.attendee_max is None:
        return no("It has no attendee_max, so it is never full by its own cap.")
    if not inside:
        return no("Nobody is in it. client.sandbox.join plays the people.")
    if inside < room.attendee_max:
        return no(f"{inside} of {room.attendee_max} are in: there is room for more.")
    return yes(f"{inside} of {room.attendee_max} are in, and the next one is refused.")


def _put_off(answer: Any, client: Any) -> Judged:
    if not callable(answer):
        return no(f"Hand in the function itself; this is of the type {type(answer).__name__}.")
    sandbox = client.sandbox
    room_id = create_room(client, "Exercise put-off", owner_id="course")
    try:
        ada = sandbox.join(room_id, "Ada")
        noisy = {sandbox.join(room_id, "Noise") for _ in range(2)}
        sandbox.join(room_id, "Noise reduction")
        before = sandbox.count(FORCE_OFFLINE)
        gave = answer(client, room_id, "Noise")
        asked = sandbox.count(FORCE_OFFLINE) - before
        left = {person["user_id"]: person["user_name"] for person in sandbox.people(room_id)}
        if ada not in left:
            return no("It puts others off too: Ada was in the room and is gone.")
        if "Noise reduction" not in left.values():
            return no("It takes a part of a name for the name: Noise reduction is gone too.")
        if len(noisy & set(left)) == 1:
            return no("Two people had the name Noise, and one is still in: names are not unique.")
        if noisy & set(left):
            return no("Nobody is gone. A7 takes the user_id, which A6 lists beside the name.")
        if asked < len(noisy):
            return no("They are gone, but not by A7: sandbox.leave does not exist elsewhere.")
        if set(gave) != noisy:
            return no("They are gone. The function has to give the list of their user ids.")
        if list(answer(client, room_id, "Nobody")):
            return no("Where nobody has the name it has to give an empty list.")
    finally:
        delete_room(client, room_id)
    return yes("All of that name are gone, by A7 and by their ids, and everybody else is still in.")


_SITUATIONS = {
    "address": (410, "A5 while no media server is up"),
    "server": (417, "A7 while the room's media server is down"),
    "none": (428, "A7 where the room has no media server"),
    "gone": (429, "A7 for a user who is not in the room"),
    "closed": (416, "A5 or A7 for a closed room"),
}


def _codes(answer: Any, _: Any) -> Judged:
    if not isinstance(answer, Mapping):
        return no(f"Hand in a dict with the keys {', '.join(_SITUATIONS)}.")
    for name, (code, situation) in _SITUATIONS.items():
        given = answer.get(name)
        if given in (None, ...):
            return no(f"There is no code under {name} yet: {situation}.")
        if str(given).strip() != str(code):
            known = next((c for c, _ in _SITUATIONS.values() if str(c) == str(given).strip()), None)
            means = f" {known} says: {explain(known, 'A').meaning}." if known else ""
            return no(f"Another code comes under {name} ({situation}).{means}")
    return yes("All five. They are five different faults, and each has another remedy.")


def _split(answer: Any, _: Any) -> Judged:
    if not callable(answer):
        return no(f"Hand in the function itself; this is of the type {type(answer).__name__}.")
    for address, host, port, told in (
        ("127.0.0.1:35000", "127.0.0.1", 35000, "an IPv4 address"),
        ("mcu-2.example.com:8090", "mcu-2.example.com", 8090, "a name"),
        ("[::1]:8090", "::1", 8090, "an IPv6 address in brackets"),
    ):
        try:
            got = answer(address)
        except Exception as error:  # noqa: BLE001  # the learner's own function
            return no(f"For {told} it raises {type(error).__name__}.")
        if not isinstance(got, tuple | list) or len(got) != 2:
            return no(f"{_PAIR} It gives something else for {told}.")
        got_host, got_port = got
        if isinstance(got_host, int):
            return no(f"{_PAIR} The port came first.")
        if isinstance(got_port, str):
            return no("The port is still a text; a socket takes a number.")
        if got_host == f"[{host}]":
            return no("The brackets belong to the writing, not to the address: take them off.")
        if (got_host, got_port) != (host, port):
            hint = " Take the last colon, not the first." if "[" in address else ""
            return no(f"It is wrong for {told}.{hint}")
    return yes("Name, IPv4 and IPv6. The form host:port is seen in deployments, not specified.")


_PAIR = "Hand back a pair (host, port), in this order."


EXERCISES = (
    Exercise(
        "full-room", NOTEBOOK,
        "Make a room that is full by its own attendee_max, and hand in its number.",
        _full,
        """\
my_full = ck.create_room(client, "Two chairs", owner_id="me", attendee_max=2)
for name in ("Ada", "Grace"):
    client.sandbox.join(my_full, name)
""",
        needs_client=True,
    ),
    Exercise(
        "put-off", NOTEBOOK,
        "A function of client, room_id and user_name that forces everybody of exactly this name "
        "offline and gives the list of their user ids. It is tried in a room of its own.",
        _put_off,
        """\
def my_put_off(client, room_id, user_name):
    users = ck.get_room_users(client, room_id)
    found = [user.user_id for user in users if user.user_name == user_name]
    for user_id in found:
        ck.force_offline(client, room_id, user_id)
    return found
""",
        needs_client=True,
    ),
    Exercise(
        "five-codes", NOTEBOOK,
        "Which code comes? address: A5 while no media server is up. server: A7 while the room's "
        "media server is down. none: A7 where the room has none. gone: A7 for a user who is not in "
        "the room. closed: A5 or A7 for a closed room. A dict of the five.",
        _codes,
        """\
my_codes = {"address": 410, "server": 417, "none": 428, "gone": 429, "closed": 416}
""",
    ),
    Exercise(
        "host-and-port", NOTEBOOK,
        "A function that splits the addr of A5 and gives a pair (host, port), in this order: a "
        "text and a number. The host may be a name, an IPv4 address or an IPv6 address in "
        "brackets.",
        _split,
        """\
def my_split(addr):
    host, _, port = addr.rpartition(":")
    return host.strip("[]"), int(port)
""",
    ),
)  # fmt: skip
