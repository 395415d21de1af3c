"""A service with rooms, people and devices of many kinds, and what it says when nothing fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import confkit as ck
from confkit.sandbox import Sandbox

from ..chaos import FAULTS, SLOW, Chaos
from ..frame import Piece

TOPICS = (
    "Weekly sync", "", "Überblick über alles", "会议室 七", '"ret": 404', '{"ret":602}', "a: b",
    '":x"', "rtsp://admin:geheim@camera/1", "<html>", "back\\slash", "NaN", "\u202eright to left",
    "\U0001f600", "1e400", "token=abc", "null", "  ", "25",
)  # fmt: skip
CAPS = (None, 0, 1, 25, 500, 2**31)
PASSWORD = "geheim-Tür/7+=&"
BOMBS = frozenset({"gzip_bomb", "gzip_bomb_twice"})
Call = tuple[str, str | None]  # a helper's name, and the room that it is asked about
HELPERS: dict[str, Callable[..., Any]] = {
    "get_room": ck.get_room, "get_mcu": ck.get_mcu, "get_room_users": ck.get_room_users,
    "list_devices": ck.list_devices,
}  # fmt: skip


@dataclass(frozen=True)
class World:
    """A service, its rooms, and for each call what comes of it: a value, or the error's class."""

    sandbox: Sandbox
    ids: list[str]
    truth: dict[Call, Any]
    secrets: set[str] = field(repr=False)

    def calls(self, name: str) -> list[Call]:
        """The calls of one helper."""
        return [call for call in self.truth if call[0] == name]


def weights(faulty: float) -> dict[str, float]:
    """How likely each fault is: those that take long or much are rare."""
    rare = {**dict.fromkeys(sorted(SLOW), 0.0006), **dict.fromkeys(sorted(BOMBS), 0.0003)}
    others = [name for name in FAULTS if name not in rare]
    return {**rare, **dict.fromkeys(others, (faulty - sum(rare.values())) / len(others))}


def outcome(client: ck.Client, call: Call) -> Any:
    """What a helper gives, or what it raises, an exception that is not ours included."""
    name, room_id = call
    try:
        return HELPERS[name](client, room_id)
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        return error


@contextmanager
def world(piece: Piece, rooms: int) -> Iterator[World]:
    """A sandbox with so many rooms; nothing in it changes."""
    chance = piece.chance("world")
    with Sandbox(seed=piece.number) as sandbox, sandbox.connect() as client:
        ids = []
        for number in range(rooms):
            topic = TOPICS[number % len(TOPICS)].strip() or f"Room {number}"
            cap = chance.choice(CAPS)
            room_id = ck.create_room(
                client, topic, owner_id=f"owner-{number % 5}", attendee_max=cap or None,
                max_audio=chance.choice([None, 16]), max_video=chance.choice([None, 40]),
                host_password=chance.choice([None, PASSWORD]),
                room_extend_id=chance.choice([None, f"Raum {number}/ü"]),
            )  # fmt: skip
            ids.append(room_id)
            for person in range(min(chance.choice([0, 0, 1, 3, 8]), cap or 8)):
                sandbox.join(room_id, f"{TOPICS[person] or 'Ada'} {person}")
        url = sandbox.camera(login_name="admin", login_password=PASSWORD)
        for number, room_id in enumerate(ids[3:8]):
            if (ck.get_room(client, room_id).attendee_max or 99) > 8:
                ck.import_device(
                    client, room_id, f"camera-{number}", f"Camera {number}", url,
                    login_name="admin", login_password=PASSWORD, user_data='{"a": "b=c"}',
                )  # fmt: skip
        sandbox.unplug(url)
        sandbox.close_room(ids[-1])
        sandbox.lock(ids[-2])
        asked: list[Call] = [(name, room_id) for name in HELPERS for room_id in [*ids, "404"]]
        asked.append(("list_devices", None))
        truth = {call: outcome(client, call) for call in asked}
        for call, found in truth.items():
            if isinstance(found, Exception):
                truth[call] = type(found)
        secrets = {PASSWORD, str(sandbox.secret_key)}
        yield World(sandbox, ids, truth, secrets)


@contextmanager
def attacked(world: World, piece: Piece, faulty: float = 0.4) -> Iterator[tuple[Chaos, ck.Client]]:
    """The proxy before a world, and a client of ours that asks through it."""
    sandbox = world.sandbox
    with (
        Chaos(
            sandbox.base_url, sandbox.outgoing_url, weights=weights(faulty),
            chance=f"{piece.seed}/{piece.part}/{piece.number}",
        ) as chaos,
        ck.Client(
            chaos.base_url, chaos.outgoing_url, sandbox.access_key, sandbox.secret_key,
            dialect=sandbox.dialect, timeout=(0.5, 0.4), sleep=lambda _: None,
            chance=lambda: -0.49,
        ) as client,
    ):  # fmt: skip
        yield chaos, client
