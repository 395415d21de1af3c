"""A service with rooms, people and devices of many kinds, and what is true of it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import confkit as ck
from confkit.sandbox import Sandbox

from .chaos import BENIGN, BOMBS, FAULTS, SLOW
from .piece import Piece
from .proxy import Chaos

TOPICS = (
    "Weekly sync", "Überblick über alles", "会议室 七", '"ret": 404', '{"ret":602}', "a: b",
    '":x"', "rtsp://admin:geheim@camera/1", "<html>", "back\\slash", "NaN", "\u202eright to left",
    "\U0001f600", "1e400", "token=abc", "null", "25",
)  # fmt: skip
CAPS = (None, 1, 25, 500, 2**31)
PASSWORD = "geheim-Tür/7+=&"
Call = tuple[str, str | None]  # a helper's name, and the room that it is asked about
HELPERS: dict[str, Callable[..., Any]] = {
    "get_room": ck.get_room, "get_mcu": ck.get_mcu, "get_room_users": ck.get_room_users,
    "list_devices": ck.list_devices,
}  # fmt: skip
BENIGN_ALONE = dict.fromkeys(sorted(BENIGN), 0.9 / len(BENIGN))


@dataclass(frozen=True)
class World:
    """A service, its rooms, and for each call what comes of it: a value, or an error's class."""

    sandbox: Sandbox
    ids: list[str]
    truth: Mapping[Call, Any]


def outcome(client: ck.Client, call: Call) -> Any:
    """What a helper gives, or what it raises, an exception that is not ours included."""
    try:
        return HELPERS[call[0]](client, call[1])
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        return error


@contextmanager
def world(piece: Piece, rooms: int) -> Iterator[World]:
    """A sandbox with so many rooms; nothing in it changes."""
    chance = piece.chance("world")
    with Sandbox(seed=piece.number) as sandbox, sandbox.connect() as client:
        ids = []
        for number in range(rooms):
            cap = chance.choice(CAPS)
            room_id = ck.create_room(
                client, TOPICS[number % len(TOPICS)], f"owner-{number % 5}", attendee_max=cap,
                max_audio=chance.choice([None, 16]), max_video=chance.choice([None, 40]),
                host_password=chance.choice([None, PASSWORD]),
                room_extend_id=chance.choice([None, f"Raum {number}/ü"]),
            )  # fmt: skip
            ids.append(room_id)
            for person in range(min(chance.choice([0, 0, 1, 3, 8]), cap or 8)):
                sandbox.join(room_id, f"{TOPICS[person]} {person}")
        url = sandbox.camera(login_name="admin", login_password=PASSWORD)
        for room_id in ids[3:8]:
            if (ck.get_room(client, room_id).attendee_max or 99) > 8:
                ck.import_device(
                    client, room_id, f"camera of {room_id}", "Camera", url, login_name="admin",
                    login_password=PASSWORD, user_data='{"a": "b=c"}',
                )  # fmt: skip
        sandbox.unplug(url)
        sandbox.close_room(ids[-1])
        sandbox.lock(ids[-2])
        calls: list[Call] = [(name, room_id) for name in HELPERS for room_id in [*ids, "404"]]
        truth = {call: outcome(client, call) for call in [*calls, ("list_devices", None)]}
        yield World(sandbox, ids, {
            call: type(one) if isinstance(one, Exception) else one for call, one in truth.items()
        })  # fmt: skip


def hostile(faulty: float) -> dict[str, float]:
    """How likely each fault is: those that take long or much are rare."""
    rare = {**dict.fromkeys(sorted(SLOW), 0.0006), **dict.fromkeys(sorted(BOMBS), 0.0003)}
    others = [name for name in FAULTS if name not in rare]
    return {**rare, **dict.fromkeys(others, faulty / len(others))}


@contextmanager
def attacked(
    sandbox: Sandbox, piece: Piece, weights: Mapping[str, float],
    make: Callable[..., ck.Client], **options: Any,
) -> Iterator[tuple[Chaos, ck.Client]]:  # fmt: skip
    """The proxy before a sandbox, and a client that asks through it without waiting long."""
    chance = f"{piece.seed}/{piece.part}/{piece.number}"
    with (
        Chaos(sandbox.base_url, sandbox.outgoing_url, weights=weights, chance=chance) as chaos,
        make(
            chaos.base_url, chaos.outgoing_url, sandbox.access_key, str(sandbox.secret_key),
            dialect=sandbox.dialect, **{"sleep": lambda _: None, **options},
        ) as client,
    ):  # fmt: skip
        yield chaos, client
    piece.count("requests", sum(chaos.counts.values()))
    piece.count("faults", sum(chaos.counts.values()) - chaos.counts["plain"])
