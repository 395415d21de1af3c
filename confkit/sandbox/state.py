"""The state of a sandbox: rooms, which hold their people and devices; tokens, faults, refusals."""

import logging
import math
import random
import socket
import threading
import time
import uuid
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..dialect import AccessToken, Dialect
from ..errors import ConfkitError, lookup
from .devices import Device, Refused
from .signatures import Parts, mistakes, same

HOST = "127.0.0.1"  # where a sandbox listens: its keys are published
TOKEN_LIFETIME = 3600.0  # seconds
MOST_TOKENS = 10_000
RECENT_LOGINS = 8  # with whose tokens a wrong token is compared
SCHEDULED, OPENING, LOCKED, CLOSED = range(4)  # values of room_status (seen in deployments)

log = logging.getLogger("confkit.sandbox")


class RoomJoinRefused(ConfkitError):
    """A person could not join a room; the text gives the reason: unknown, closed, full, ..."""


class Refusal(NamedTuple):
    """Why a call was refused: `call` is "A3", "A" or "B" for an unknown operation, or "HTTP" for an
    unreadable request; `ret` the result code or None; `str()` is one line."""

    call: str
    ret: int | None
    why: str

    def __str__(self) -> str:
        return f"{self.call}{'' if self.ret is None else f' {self.ret}'}: {self.why}"


@dataclass
class Fault:
    """What the next `times` calls of an operation get instead of their response, with `after` once
    they have been performed; an empty fault changes nothing."""

    ret: int | None = None
    http: int | None = None
    body: str | bytes | None = None
    delay: float = 0.0
    drop: bool = False
    after: bool = False
    times: float = math.inf


@dataclass(eq=False, repr=False)
class Room:
    """A room, the names of the people and the devices in it by their user IDs; `fields` are those
    of A2."""

    id: int
    room_id: str
    fields: dict[str, Any]
    has_mcu: bool
    locked: bool = False
    closed: bool = False
    people: dict[str, str] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The `room_status`."""
        if self.closed or self.locked:
            return CLOSED if self.closed else LOCKED
        return OPENING if self.people or self.live_devices() else SCHEDULED

    def live_devices(self) -> list[Device]:
        """Return the devices with a live stream: only these are users of the room."""
        return [device for device in self.devices.values() if device.state == "live"]

    def device(self, user_id: str) -> Device | None:
        """Return the device with this ID; None during the first dial of its camera."""
        device = self.devices.get(user_id)
        return device if device and device.opened.done() else None

    def remove_device(self, user_id: str) -> None:
        """Remove a device from the room, and end its stream."""
        self.devices.pop(user_id).removed.set()

    def close(self) -> None:
        """Close the room for good, and remove all people and devices."""
        self.closed = True
        self.people.clear()
        for user_id in list(self.devices):
            self.remove_device(user_id)

    def size(self) -> int:
        """Return the number of places taken, including devices being dialled."""
        return len(self.people) + len(self.devices)


class Ids:
    """Room numbers, user IDs and the random values of A1 (formats assumed): unguessable, or
    reproducible by a seed; independent of each other, so that a login does not change rooms."""

    def __init__(self, seed: int | str | None = None) -> None:
        self.rooms, self._users, self._nonces = (
            random.SystemRandom() if seed is None else random.Random(f"{seed}/{kind}")  # noqa: S311
            for kind in ("rooms", "users", "nonces")
        )

    def user_id(self) -> str:
        """Return a UUID (section 2)."""
        return str(uuid.UUID(int=self._users.getrandbits(128), version=4))

    def nonce(self) -> str:
        """Return a value for `random` or `key`."""
        return f"{self._nonces.getrandbits(128):032x}"


@dataclass(eq=False, repr=False)
class Service:
    """The state of a sandbox. `lock` guards it, for operations and owner alike.

    `tokens` are those issued by A1, with their expiry. `faults` are pending, by path; `counts` are
    the requests by path ("" for unknown paths)."""

    access_key: str
    secret_key: str
    ids: Ids
    dialect: Dialect
    result_field: str  # of interface B
    item_keys: str  # of the items of B3
    dial_timeout: float | None
    explain: bool
    moment: float = 0.0  # the time of the clock at
    since: float = 0.0  # this machine's time, from which on it runs at the
    pace: float = 1.0
    lock: threading.RLock = field(default_factory=threading.RLock)
    rooms: dict[str, Room] = field(default_factory=dict)  # in the order of their creation
    rooms_created: int = 0
    mcu: socket.socket | None = None  # the listening media server, if up
    mcu_port: int = 0
    device_service: str = "running"
    seats: float = math.inf  # of the licence, for people and devices of all rooms
    expired: bool = False
    peer_to_peer: bool = True
    tokens: dict[str, tuple[AccessToken, float]] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    refusals: deque[Refusal] = field(default_factory=lambda: deque(maxlen=200))

    def now(self) -> float:
        """Return the sandbox's time in epoch seconds."""
        return self.moment + self.pace * (time.time() - self.since)

    def move_clock(self, moment: float, pace: float) -> None:
        """Continue from this moment, at `pace` seconds per second; tokens keep their lifetime."""
        skipped = moment - self.now()
        self.tokens = {key: (token, end + skipped) for key, (token, end) in self.tokens.items()}
        self.moment, self.since, self.pace = moment, time.time(), pace

    def start_mcu(self) -> None:
        """Start the media server, on its former port."""
        self.mcu = self.mcu or listen(self.mcu_port)
        self.mcu_port = self.mcu.getsockname()[1]

    def stop_mcu(self) -> None:
        """Stop the media server."""
        if self.mcu:
            close_listener(self.mcu)
        self.mcu = None

    def note_refusal(self, call: str, ret: int | None, why: str) -> None:
        """Record why a call was refused, and log it with `explain`."""
        refusal = Refusal(call, ret, why)
        self.refusals.append(refusal)
        if self.explain:
            log.info("refused %s", refusal)

    def error(self, interface: str, ret: int) -> dict[str, Any]:
        """Return the members of a response with this result code."""
        code, text = (self.result_field, "err") if interface == "B" else ("ret", "msg")
        meaning = next((known.meaning for known in lookup(ret, interface)), f"error {ret}")
        return {code: ret} if ret == 0 else {code: ret, text: meaning}

    def take_fault(self, path: str) -> Fault:
        """Return the fault of a call of this path; its `times` decrease by one."""
        waiting = self.faults.get(path) or [Fault()]
        waiting[0].times -= 1
        return waiting[0] if waiting[0].times >= 1 else waiting.pop(0)

    def issue_token(self) -> AccessToken:
        """Return a token that is accepted from now on; drop the oldest if there are too many."""
        token = self.dialect.access_token(self.ids.nonce(), self.ids.nonce(), self.secret_key)
        if len(self.tokens) == MOST_TOKENS:
            del self.tokens[next(iter(self.tokens))]
        self.tokens[token.reveal()] = token, self.now() + TOKEN_LIFETIME
        return token

    def check_token(self, text: str) -> None:
        """Raise Refused if this is not a token, or has expired."""
        if text in self.tokens:
            late = self.now() - self.tokens[text][1]
            if late >= 0:
                raise Refused(602, f"token expired {int(late / 60)} min ago")
            return
        for token, _ in [*self.tokens.values()][-RECENT_LOGINS:]:
            nonces = (token.random.reveal(), token.key.reveal())
            if any(same(text, nonce) for nonce in nonces):
                raise Refused(602, "this is random or key of A1, not the token that they make")
            parts = Parts(self.access_key, self.secret_key, *nonces)
            if reasons := mistakes("token", text, parts, self.dialect, travelled=True):
                raise Refused(602, f"token: {'; '.join(reasons)}")
        why = "another secret key, another rule, or a sandbox that was started anew"
        raise Refused(602, f"the token is unknown: {why}")

    def room(self, room_id: str, in_use: bool = False) -> Room:
        """Return a room; Refused if it does not exist, or is closed and has to be `in_use`."""
        room = self.rooms.get(room_id)
        if room is None:
            raise Refused(404, "there is no such room")
        if in_use and room.closed:
            raise Refused(416, "the room is closed")
        return room

    def devices(self, room_id: str | None = None) -> list[Device]:
        """Return the devices of a room, or of all, those included that are not yet opened."""
        rooms = [room for room in self.rooms.values() if room_id in (None, room.room_id)]
        return [device for room in rooms for device in room.devices.values()]

    def add_room(self, fields: dict[str, Any]) -> Room:
        """Add a room with these fields of A2, served by the media server if that is up."""
        room_id = fields.get("room_extend_id")
        while not room_id or room_id in self.rooms:
            room_id = str(self.ids.rooms.randrange(10**9, 10**10))
        self.rooms_created += 1
        room = self.rooms[room_id] = Room(self.rooms_created, room_id, fields, self.mcu is not None)
        return room

    def is_full(self) -> bool:
        """Return whether all seats of the licence are used."""
        # Adding up would make large buildings slow.
        return self.seats < math.inf and sum(r.size() for r in self.rooms.values()) >= self.seats

    def knows_user(self, room: Room, user_id: str) -> bool:
        """Return whether the ID is taken: by a person in this room, or a device in any room."""
        return user_id in room.people or any(user_id in r.devices for r in self.rooms.values())

    def obstacle(self, room: Room | None, device: bool = False) -> str:
        """Return why nobody, or no device, can join the room, or "".

        Devices keep their places while they are redialled (assumed). max_audio and max_video limit
        streams; only a device needs a video stream (assumed)."""
        if room is None:
            return "there is no such room"
        cap, streams = room.fields["attendee_max"], room.fields["max_video"]
        if room.closed or room.locked:
            return f"the room is {'closed' if room.closed else 'locked'}"
        if cap and room.size() >= cap:
            return f"the room is full: its attendee_max is {cap}"
        if device and streams and room.size() >= streams:
            return f"its max_video is {streams}, taken by those who are in the room (assumed)"
        if self.is_full():
            return "all seats of the licence are used"
        return "" if self.mcu else "no media server is up"


def listen(port: int) -> socket.socket:
    """Return a listening socket; ConfkitError: the port is taken. The protocol is explicit, as
    asyncio sets TCP_NODELAY only then."""
    try:
        bound = socket.create_server((HOST, port), backlog=2048)
    except OSError as error:
        raise ConfkitError(
            f"The sandbox cannot listen on port {port}: {error.strerror}. Use another port, or 0 "
            "for any free one."
        ) from None
    return socket.socket(bound.family, bound.type, socket.IPPROTO_TCP, fileno=bound.detach())


def close_listener(listener: socket.socket) -> None:
    """Stop listening, even if a forked child holds the socket open."""
    with suppress(OSError):  # not every system can
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()
