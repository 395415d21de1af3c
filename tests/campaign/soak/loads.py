"""What people and programs do to a sandbox all day: each a function that raises what goes wrong."""

import random
import socket
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import confkit as ck
from confkit.client import Client
from confkit.errors import AuthenticationFailed, ConfkitError, JoinFailed
from confkit.sandbox import Sandbox

from .steering import Served


@dataclass
class Turn:
    """What a load has at hand: the service, its rooms, cameras, a client and chance of its own.

    The last camera is free to be brought in; of the held ones the second half may be unplugged.
    """

    served: Served
    yard: Sandbox  # whose cameras they are
    rooms: Sequence[str]
    cameras: Sequence[str]
    held: int
    chance: random.Random
    client: Client
    kept: dict[str, Any] = field(default_factory=dict)

    def user_id(self) -> str:
        """One that nobody has."""
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))


def reads(turn: Turn) -> None:
    """All rooms at once, and one of them by itself."""
    swept = ck.sweep(turn.client, turn.rooms, progress=False)
    if swept.failures or len(swept.rooms) != len(turn.rooms):
        raise AssertionError(f"of {len(turn.rooms)} rooms {len(swept.rooms)} were read")
    ck.get_room_users(turn.client, turn.chance.choice(turn.rooms))
    ck.list_devices(turn.client)


def writes(turn: Turn) -> None:
    """A room is made, asked for, asked for its media server, and deleted."""
    room_id = ck.create_room(
        turn.client, "Standup", "soak", attendee_max=turn.chance.randrange(2, 9)
    )
    ck.get_mcu(turn.client, room_id)
    if ck.get_room(turn.client, room_id).topic != "Standup":
        raise AssertionError("another room came")
    ck.delete_room(turn.client, room_id)


def imports(turn: Turn) -> None:
    """A free camera is brought into a room, and taken out in one of the three ways."""
    room_id = ck.create_room(turn.client, "With a camera", "soak")
    user_id, way = turn.user_id(), turn.chance.randrange(3)
    ck.import_device(turn.client, room_id, user_id, "Free camera", turn.cameras[-1])
    if way == 0:
        ck.remove_device(turn.client, room_id, user_id)
    elif way == 1:
        ck.force_offline(turn.client, room_id, user_id)
    ck.delete_room(turn.client, room_id)


def people(turn: Turn) -> None:
    """Somebody joins a room, and somebody leaves one or is put off it."""
    inside = turn.kept.setdefault("inside", [])
    room_id = turn.chance.choice(turn.rooms)
    inside.append((room_id, turn.served.do("join", room_id, "Somebody")))
    if len(inside) > 40:
        room_id, user_id = inside.pop(turn.chance.randrange(len(inside)))
        if turn.chance.random() < 0.5:
            turn.served.do("leave", room_id, user_id)
        else:
            ck.force_offline(turn.client, room_id, user_id)


def preflights(turn: Turn) -> None:
    """A camera is looked at, and a picture is taken of one that a room holds."""
    report = ck.preflight(turn.chance.choice(turn.cameras[: turn.held // 2]))
    if not report.ok:
        raise AssertionError(f"{report.verdict}: {report.advice}")
    device = turn.chance.choice(turn.kept["steady"])
    turn.served.do("snapshot", *device)


def logins(turn: Turn) -> None:
    """A client comes and goes; another one has the wrong key."""
    with turn.served.client() as client:
        ck.get_room(client, turn.chance.choice(turn.rooms))
    with turn.served.client(secret_key="wrong") as client:
        expects(AuthenticationFailed, lambda: ck.get_room(client, turn.rooms[0]))


def mistakes(turn: Turn) -> None:
    """Calls that are refused: rooms and cameras that are not there."""
    unknown = turn.user_id()
    expects(LookupError, lambda: ck.get_room(turn.client, unknown))
    expects(LookupError, lambda: ck.remove_device(turn.client, turn.rooms[0], unknown))
    nowhere = f"{turn.cameras[0]}-nowhere"
    bring = ck.import_device
    expects(JoinFailed, lambda: bring(turn.client, turn.rooms[0], unknown, "None", nowhere))


def garbage(turn: Turn) -> None:
    """What is no request, is cut off in the middle, is far too long, or is never ended."""
    address = urlsplit(turn.chance.choice([turn.served.base_url, turn.served.outgoing_url]))
    sent = turn.chance.choice([
        turn.chance.randbytes(300), b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"GET /rtc/room/get?room_id=" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /rtc/room/get HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\nhalf",
        b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
    ])  # fmt: skip
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=10) as one:
        try:
            one.sendall(sent)
            one.settimeout(0.2)
            one.recv(1000)
        except OSError:  # nothing came, or it was cut off: both are well
            pass


def unplugged(turn: Turn) -> None:
    """A held camera is taken away, and a moment later it is there again."""
    url = turn.chance.choice(turn.cameras[turn.held // 2 : turn.held])
    turn.yard.unplug(url)
    turn.yard.camera(urlsplit(url).path, size=(160, 120), fps=5)


def expects(error: type[BaseException], call: Callable[[], object]) -> None:
    """Nothing, once the call was refused with this error."""
    try:
        call()
    except error:
        return
    except ConfkitError as other:
        raise AssertionError(f"{error.__name__} was due, {other!r} came") from other
    raise AssertionError(f"{error.__name__} was due, and nothing came")


# Each with the seconds between the end of one and the beginning of the next.
LOADS: dict[str, tuple[float, Callable[[Turn], None]]] = {
    "reads": (0.5, reads), "writes": (0.1, writes), "imports": (0.5, imports),
    "people": (0.1, people), "preflights": (3.0, preflights), "logins": (1.0, logins),
    "mistakes": (0.7, mistakes), "garbage": (0.4, garbage), "unplugged": (7.0, unplugged),
}  # fmt: skip
