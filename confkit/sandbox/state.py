"""The state of a sandbox: rooms, which hold their people and devices; tokens, faults, refusals."""

import logging
import math
import random
import socket
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..dialect import AccessToken, Dialect
from ..errors import ConfkitError, lookup
from ..secret import Secret
from .devices import Device, Refused
from .signatures import Parts, mistakes, same

KEPT_REFUSALS = 200
MOST_TOKENS = 10_000
RECENT_LOGINS = 8  # a wrong token is compared with what so many of them should have made
SCHEDULED, OPENING, LOCKED, CLOSED = range(4)  # values of room_status (seen in deployments)

log = logging.getLogger("confkit.sandbox")


class RoomJoinRefused(ConfkitError):
    """Somebody could not join a room; the text says why: unknown, closed, locked, full, ..."""


class Refusal(NamedTuple):
    """Why a call ("A3"; "A" or "B" where there is no such operation, "HTTP" where the request could
    not be read) was refused with a result code, or without (None); its text is a line."""

    call: str
    ret: int | None
    why: str

    def __str__(self) -> str:
        return f"{self.call}{'' if self.ret is None else f' {self.ret}'}: {self.why}"


@dataclass
class Fault:
    """What the next `times` calls of an operation get in place of their response, with `after` once
    they have been carried out; an empty one changes nothing."""

    ret: int | None = None
    http: int | None = None
    body: str | bytes | None = None
    delay: float = 0.0
    drop: bool = False
    after: bool = False
    times: float = math.inf

    @property
    def replaces_response(self) -> bool:
        """Whether the call does not get its own response, be it late."""
        return self.drop or (self.ret, self.http, self.body) != (None, None, None)


class Person(NamedTuple):
    """A person in a room; a `host` has joined with the host's password."""

    user_id: str
    user_name: str
    host: bool = False


@dataclass(eq=False, repr=False)
class Room:
    """A room, and the people and devices in it by their user IDs; `fields` are those of A2."""

    id: int
    room_id: str
    fields: dict[str, Any]
    has_mcu: bool
    locked: bool = False
    closed: bool = False
    people: dict[str, Person] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The `room_status`."""
        if self.closed or self.locked:
            return CLOSED if self.closed else LOCKED
        return OPENING if self.people or self.live_devices() else SCHEDULED

    def live_devices(self) -> list[Device]:
        """Return the devices whose streams flow: only then are they users of the room."""
        return [device for device in self.devices.values() if device.state == "live"]

    def device(self, user_id: str) -> Device | None:
        """Return the device with this ID; None while its camera is dialled for the first time."""
        device = self.devices.get(user_id)
        return device if device and device.opened.done() else None

    def remove_device(self, user_id: str) -> None:
        """Take a device out of the room, and let go of its stream."""
        self.devices.pop(user_id).removed.set()

    def close(self) -> None:
        """Remove everybody and every device, for good."""
        self.closed = True
        self.people.clear()
        for user_id in list(self.devices):
            self.remove_device(user_id)

    def size(self) -> int:
        """Return how many places are taken, also by devices that are being dialled."""
        return len(self.people) + len(self.devices)


class Ids:
    """Room numbers, user IDs and the random values of A1 (forms assumed): unguessable, or repeated
    by a seed; each kind of its own, so that a login more does not change the rooms."""

    def __init__(self, seed: int | str | None = None) -> None:
        self._rooms, self._users, self._nonces = (
            random.SystemRandom() if seed is None else random.Random(f"{seed}/{kind}")  # noqa: S311
            for kind in ("rooms", "users", "nonces")
        )

    def room_id(self) -> str:
        """Return ten digits."""
        return str(self._rooms.randrange(10**9, 10**10))

    def user_id(self) -> str:
        """Return a UUID (section 2)."""
        return str(uuid.UUID(int=self._users.getrandbits(128), version=4))

    def nonce(self) -> str:
        """Return a value for `random` or `key`."""
        return f"{self._nonces.getrandbits(128):032x}"


@dataclass(kw_only=True, eq=False, repr=False)
class Service:
    """Everything that a sandbox holds. `lock` guards it: operations and owner both take it.

    `tokens` are those that A1 has given the parts of, and when they expire. `faults` wait for their
    calls, by path; `counts` are the requests of a path ("" where no operation has it)."""

    dialect: Dialect
    result_field: str  # of interface B
    item_keys: str  # of the items of B3
    access_key: str
    secret_key: str
    address: str  # at which it listens
    ids: Ids
    clock: Callable[[], float]  # in epoch seconds, to which `ahead` is added
    token_lifetime: float
    dial_timeout: float | None
    explain: bool
    ahead: float = 0.0
    stands_still: bool  # until it is moved to a moment
    lock: threading.RLock = field(default_factory=threading.RLock)
    rooms: dict[str, Room] = field(default_factory=dict)  # in the order of their creation
    rooms_created: int = 0
    mcu: socket.socket | None = None  # the media server while it is up: it holds who connects
    mcu_port: int = 0
    device_service: str = "running"
    seats: float = math.inf  # of the licence, for people and devices of all rooms
    expired: bool = False
    peer_to_peer: bool = True
    tokens: dict[str, tuple[AccessToken, float]] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    refusals: deque[Refusal] = field(default_factory=lambda: deque(maxlen=KEPT_REFUSALS))

    def now(self) -> float:
        """Return the sandbox's time in epoch seconds."""
        return self.clock() + self.ahead

    def move_clock(self, moment: float, pace: float) -> None:
        """Go on from this moment, by so many seconds in each second; tokens last as before."""
        began, skipped = time.monotonic(), moment - self.now()
        self.tokens = {key: (token, end + skipped) for key, (token, end) in self.tokens.items()}
        self.clock, self.ahead = lambda: moment + pace * (time.monotonic() - began), 0.0
        self.stands_still = False

    def start_mcu(self) -> None:
        """Start the media server, on the port that it had before."""
        self.mcu = self.mcu or listen(self.address, self.mcu_port)
        self.mcu_port = self.mcu.getsockname()[1]

    def stop_mcu(self) -> None:
        """Stop the media server, and drop who is connected."""
        if self.mcu:
            shut(self.mcu)
        self.mcu = None

    def note(self, call: str, ret: int | None, why: str) -> None:
        """Keep why a call was refused, and log it with `explain`."""
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
        """Count a call of this path, and return its fault, which is then used up by one."""
        self.counts[path] += 1
        waiting = self.faults.get(path) or [Fault()]
        waiting[0].times -= 1
        return waiting[0] if waiting[0].times >= 1 else waiting.pop(0)

    def issue_token(self) -> AccessToken:
        """Return a token that is accepted from now on; of very many the oldest are forgotten."""
        token = self.dialect.access_token(self.ids.nonce(), self.ids.nonce(), self.secret_key)
        if len(self.tokens) == MOST_TOKENS:
            del self.tokens[next(iter(self.tokens))]
        self.tokens[token.reveal()] = token, self.now() + self.token_lifetime
        return token

    def check_token(self, text: str) -> None:
        """Raise Refused where this is no token, or one that has expired."""
        if text in self.tokens:
            late = self.now() - self.tokens[text][1]
            if late >= 0:
                raise Refused(602, f"token expired {late:.0f} s ago")
            return
        for token, _ in list(self.tokens.values())[: -RECENT_LOGINS - 1 : -1]:
            nonces = (token.random.reveal(), token.key.reveal())
            if any(same(text, nonce) for nonce in nonces):
                raise Refused(602, "this is random or key of A1, not the token that they make")
            parts = Parts(self.access_key, self.secret_key, *nonces)
            if wrong := mistakes("token", text, parts, self.dialect, travelled=True):
                raise Refused(602, f"token: {'; '.join(wrong)}")
        raise Refused(602, "the token is unknown: another secret key, or a sandbox started anew")

    def room(self, room_id: str, in_use: bool = False) -> Room:
        """Return a call's room; Refused where there is none, or `in_use` and it is closed."""
        room = self.rooms.get(room_id)
        if room is None:
            raise Refused(404, "there is no such room")
        if in_use and room.closed:
            raise Refused(416, "the room is closed")
        return room

    def add_room(self, fields: dict[str, Any]) -> Room:
        """Keep a new room of these fields of A2, served by the media server if that is up."""
        room_id = fields.get("room_extend_id")
        while not room_id or room_id in self.rooms:
            room_id = self.ids.room_id()
        self.rooms_created += 1
        room = self.rooms[room_id] = Room(self.rooms_created, room_id, fields, self.mcu is not None)
        return room

    def seats_left(self) -> float:
        """Return how many people and devices can still join."""
        if self.seats == math.inf:
            return math.inf
        return self.seats - sum(room.size() for room in self.rooms.values())

    def knows_user(self, room: Room, user_id: str) -> bool:
        """Return whether the ID is taken: by a person of this room, or by a device of any."""
        return user_id in room.people or any(user_id in r.devices for r in self.rooms.values())

    def obstacle(self, room: Room | None, device: bool = False) -> str:
        """Return why nobody, or no device, can join the room; an empty text where they can.

        Devices keep their places while their streams are dialled again (assumed). max_audio and
        max_video limit streams, of which only a device needs its one of video (assumed)."""
        if room is None:
            return "there is no such room"
        cap, streams = room.fields["attendee_max"], room.fields["max_video"]
        if room.closed or room.locked:
            return f"the room is {'closed' if room.closed else 'locked'}"
        if cap and room.size() >= cap:
            return f"the room is full: its attendee_max is {cap}"
        if device and streams and room.size() >= streams:
            taken = "taken by those who are in it (assumed)"
            return f"the room has no video stream left: its max_video is {streams}, {taken}"
        if self.seats_left() <= 0:
            return "all seats of the licence are used"
        return "" if self.mcu else "no media server is up"

    def join(
        self, room_id: str, user_name: str, password: Secret | None, user_id: str | None
    ) -> str:
        """Return the user ID of a person who has joined; RoomJoinRefused. The room's host_password
        makes a host; any password is wrong in a room that has none (assumed)."""
        room = self.rooms.get(room_id)
        why = self.obstacle(room) or ("the licence has expired" if self.expired else "")
        if room and password and not same(password.reveal(), room.fields["host_password"] or ""):
            why = why or "the host password is wrong"
        if room and user_id is not None and self.knows_user(room, user_id):
            why = why or f"the user id {user_id!r} is taken"
        if why or room is None:
            raise RoomJoinRefused(f"{user_name!r} cannot join room {room_id!r}: {why}.")
        user_id = user_id or self.ids.user_id()
        room.people[user_id] = Person(user_id, user_name, bool(password))
        room.has_mcu = True
        return user_id


def listen(address: str, port: int) -> socket.socket:
    """Return a listening socket; ConfkitError where the port is taken. It names its protocol, as
    asyncio sets TCP_NODELAY on no other."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        bound = socket.create_server((address, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfkitError(
            f"The sandbox cannot listen on {address}, port {port}: {reason}. "
            "Give another port, or 0 for any that is free."
        ) from None
    return socket.socket(family, bound.type, socket.IPPROTO_TCP, fileno=bound.detach())


def shut(listener: socket.socket) -> None:
    """Stop listening, also where a forked child holds the socket open."""
    with suppress(OSError):  # not every system can
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()
