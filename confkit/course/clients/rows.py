"""The rows of the contract as data: what is asked of a client, and what has to come of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from ...client import Client
from ...devices import list_devices
from ...errors import ConfigError
from ...rooms import get_mcu, get_room
from .vectors import Vector, all_vectors

Members = Mapping[str, Any]

ROOM, NEW = "00123", "0045"  # a room that is there where a row's scene has one; one to be made
USER = "c0ffee00-0000-4000-8000-000000000007"  # Ada's
# In the place of their addresses, and of the number of the one room that there is.
CAMERA, LOCKED, MADE = "camera without a login", "camera with a login", "room that was made"
LOGIN = {"login_name": "admin", "login_password": 'p"w\\&+=%41 #'}
AWKWARD = 'Café 会议 🚀 "q" \\ 50% + a&b=c %41 #1'


_NONE: Members = {}


class Ask(NamedTuple):
    """One run of the client: an `operation` with its arguments, and what has to come of it.

    `answer` holds the members of a success (or takes them from the service), is the result code of
    a failure, or None where no answer comes. Meanwhile the service has the `fault` in this
    operation; `environ` replaces variables. `leaves` is what the service holds then. `sent` says
    how many requests a row of the interface gets (least, most), and what another number is;
    `means` is a word of the client's error, `vector` the signatures that it makes. `advice` is for
    who gets it wrong.
    """

    operation: str
    given: Mapping[str, str] = _NONE
    answer: Members | Callable[[Client], Members] | int | None = _NONE
    advice: str = ""
    fault: Members = _NONE
    environ: Mapping[str, str] = _NONE
    leaves: Members = _NONE
    sent: tuple[tuple[str, int, int, str], ...] = ()
    means: str = ""
    vector: Vector | None = None


class Row(NamedTuple):
    """A row by its name: what it is about, what is asked, and what of "room", "people", "device"
    and "closed" is there before."""

    name: str
    title: str
    asks: tuple[Ask, ...]
    scene: tuple[str, ...] = ()


def members(record: Any) -> dict[str, Any]:
    """Return a record as a client prints it: what is absent is None."""
    return {name: None if value == "" else value for name, value in asdict(record).items()}


def _room(client: Client) -> Members:
    return members(get_room(client, ROOM))


def _address(client: Client) -> Members:
    return {"addr": get_mcu(client, ROOM)}


def _signed(vector: Vector) -> Ask:
    variables = ("access_key", "secret_key", "hash", "signature")
    return Ask(
        "sign",
        {"random": vector.random, "key": vector.key},
        advice="Signing needs no service; confkit course vectors prints what is wanted.",
        environ={f"CONFKIT_{name.upper()}": getattr(vector, name) for name in variables},
        vector=vector,
    )


_IN_ROOM = {"room_id": ROOM}
_TOPIC = {"topic": "Weekly sync", "owner_id": "ops", "room_mode": "1"}
_PEOPLE = [{"user_name": "Ada", "user_id": USER}, {"user_name": AWKWARD}]
_DEVICE = {"room_id": ROOM, "user_id": "cam 1/a"}
_LISTED = {
    "total": 1,
    "items": [
        {
            **_DEVICE,
            "user_name": AWKWARD,
            "user_address": LOCKED,
            "options": {"login_name": LOGIN["login_name"]},
        }
    ],
}
_QUOTED = {
    "id": 7,
    "room_id": ROOM,
    "topic": "Café 🚀",
    "room_status": 0,
    "owner_id": "ops",
    "host_password": None,
    "attendee_max": 25,
    "max_audio": None,
    "max_video": None,
    "room_extend_id": ROOM,
    "room_mode": 1,
}
_QUOTES = {name: "" if value is None else str(value) for name, value in _QUOTED.items()}
_ALL_OF_A2 = {
    **_TOPIC,
    "host_password": "h&1=+",
    "max_video": "4",
    "max_audio": "9",
    "attendee_max": "25",
}
_ONCE = (("A2", 1, 1, "it sent the create {}, as the answer was lost"),)
_LIBRARY = "A create is a change and is not sent again; perhaps the HTTP library did it by itself."
_MOST_BYTES = "The limit is 149 bytes of UTF-8, not characters."

# In every service.
EVERYWHERE = (
    Row("A1", "authenticate", (Ask("authenticate"),)),
    Row("A2", "create room", (
        Ask("create_room", {**_ALL_OF_A2, "room_extend_id": NEW}, {"room_id": NEW}, leaves={
            "rooms": [{"room_id": NEW, "topic": "Weekly sync", "owner_id": "ops", "room_mode": 1,
                       "host_password": "h&1=+", "max_video": 4, "max_audio": 9,
                       "attendee_max": 25}]}),
    )),
    Row("A3", "get room", (Ask("get_room", _IN_ROOM, _room),), ("room",)),
    Row("A4", "delete room", (
        Ask("delete_room", _IN_ROOM, _IN_ROOM, leaves={"rooms": []}),
    ), ("room",)),
    Row("A5", "get media-server address", (Ask("get_mcu", _IN_ROOM, _address),), ("room",)),
    Row("A6", "get room users", (
        Ask("get_room_users", _IN_ROOM, {"user_list": _PEOPLE}),
    ), ("room", "people")),
    Row("A7", "force a user offline", (
        Ask("force_offline", {**_IN_ROOM, "user_id": USER}, {"msg": "success"},
            leaves={"people": _PEOPLE[1:]}),
    ), ("room", "people")),
    Row("B1", "create external user", (
        Ask("import_device", {**_DEVICE, "user_name": AWKWARD, "user_address": CAMERA,
                              "user_data": "a=b&c"}, _DEVICE,
            leaves={"devices": [{**_DEVICE, "user_name": AWKWARD, "user_data": "a=b&c"}]}),
    ), ("room",)),
    Row("options", "login of an external user", (
        Ask("import_device", {**_DEVICE, "user_name": "Door", "user_address": LOCKED,
                              "options": json.dumps(LOGIN, separators=(",", ":"))}, _DEVICE,
            "options is an object: JSON text in a query or a form, an object in a JSON body.",
            leaves={"devices": [_DEVICE]}),
    ), ("room",)),
    Row("B2", "delete external user", (
        Ask("remove_device", {**_DEVICE, "user_address": LOCKED}, _DEVICE, leaves={"devices": []}),
    ), ("room", "device")),
    Row("B3", "list external users", (
        Ask("list_devices", _IN_ROOM, _LISTED), Ask("list_devices", {}, _LISTED),
    ), ("room", "device")),
)  # fmt: skip

# In the usual service alone.
ONCE = (
    # Each hash and each form, with easy and with awkward keys.
    Row("sign", "digest and token", tuple(_signed(all_vectors()[n]) for n in (0, 10, 14, 21))),
    Row("401-A", "authentication failed", (
        Ask("authenticate", {}, 401, "Accounts may lock: try a key once.",
            environ={"CONFKIT_SECRET_KEY": "not the secret"}, means="authenticat",
            sent=(("A1", 1, 1, "it tried the wrong key {}"),)),
    )),
    Row("401-B", "wrong parameters", (
        Ask("import_device", {**_DEVICE, "user_name": "Door",
                              "user_address": "rtsp://127.0.0.1:9/door"}, 401,
            "Each interface has its own table of codes.", {"body": '{"ret":401}'},
            means="parameter"),
    ), ("room",)),
    Row("404", "room not found", (
        Ask("get_room_users", {"room_id": "0404"}, 404,
            "A call that failed is never an empty list."),
    )),
    Row("416", "room closed", (Ask("get_mcu", _IN_ROOM, 416),), ("room", "closed")),
    Row("602", "token expired", (
        Ask("get_room", _IN_ROOM, _IN_ROOM,
            "A token may expire at any time: log in anew and ask again, once.",
            {"ret": 602, "times": 1},
            sent=(("A3", 2, 9, "it asked {} where the first answer was 602"),
                  ("A1", 2, 9, "it logged in {}: it asked with the token that was refused"))),
        Ask("get_room", _IN_ROOM, 602, "Log in anew and ask again once: twice is what helps.",
            {"ret": 602}, sent=(("A3", 2, 2, "it asked {} while each answer was 602"),)),
    ), ("room",)),
    Row("html", "no JSON", (
        Ask("get_room_users", _IN_ROOM, None, "A call that failed is never an empty list.",
            {"http": 200, "body": "<html><body>Please log in</body></html>"}),
    ), ("room",)),
    Row("dropped", "no answer", (
        Ask("get_room", _IN_ROOM, None, fault={"drop": True}),
    ), ("room",)),
    Row("timeout", "an answer too late", (
        Ask("get_room", _IN_ROOM, _IN_ROOM),
        Ask("get_room", _IN_ROOM, None, "CONFKIT_TIMEOUT was 1.", {"delay": 60.0},
            {"CONFKIT_TIMEOUT": "1"}),
    ), ("room",)),
    Row("quoted", "numbers as text", (
        Ask("get_room", _IN_ROOM, _QUOTED,
            fault={"body": json.dumps({"ret": "0", **_QUOTES}, indent=1)}),
    ), ("room",)),
    Row("unicode", "texts of any script", (
        Ask("create_room", {**_TOPIC, "topic": AWKWARD}, {"room_id": MADE},
            leaves={"rooms": [{"topic": AWKWARD}]}),
        Ask("get_room", {"room_id": MADE}, {"topic": AWKWARD}),
    )),
    Row("topic", "limit of the topic", (
        Ask("create_room", {**_TOPIC, "topic": "é" * 74 + "e"}, {}, _MOST_BYTES),
        Ask("create_room", {**_TOPIC, "topic": "é" * 75}, 407, _MOST_BYTES),
    )),
    Row("lost", "a lost answer", (
        Ask("create_room", {**_TOPIC, "room_extend_id": USER}, {"room_id": USER},
            f"Look it up: get_room of the room_extend_id says whether it was made. {_LIBRARY}",
            {"drop": True, "after": True, "times": 1}, sent=_ONCE),
        Ask("create_room", _TOPIC, None, _LIBRARY, {"drop": True, "after": True, "times": 1},
            sent=_ONCE),
    )),
)  # fmt: skip
ROWS = EVERYWHERE + ONCE


def chosen(names: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the rows of these names, all where none is given. ConfigError: an unknown name."""
    known = {row.name.lower() for row in ROWS}
    wanted = {name.lower() for name in names}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        raise ConfigError(
            f"no row is called {', '.join(unknown)}",
            f"There are {', '.join(row.name for row in ROWS)}.",
        )
    return tuple(row for row in ROWS if not wanted or row.name.lower() in wanted)


def held(client: Client, rooms: list[str], people: Callable[[str], list[Any]]) -> dict[str, Any]:
    """Return what a service holds: its rooms, and the people and devices that are in them."""
    return {
        "rooms": [members(get_room(client, room)) for room in rooms],
        "people": [person for room in rooms for person in people(room)],
        "devices": [members(device) for device in list_devices(client)],
    }
