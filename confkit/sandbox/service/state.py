"""The state of one sandbox, and the rules of its rooms, which operations and owner share."""

import asyncio
import logging
import math
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ...dialect import AccessToken, Dialect
from ...errors import ConfkitError, RoomNotFound
from ...secret import Secret
from ..cameras.ports import Listener
from .faults import Faults
from .identity import Ids, same
from .room import Person, StoredDevice, StoredRoom
from .streams import Devices

KEPT_REFUSALS = 200
MOST_TOKENS = 10_000
SCHEDULED, OPENING, LOCKED, CLOSED = range(4)  # values of room_status (seen in deployments)

DeviceServiceState = Literal["running", "stopped", "hanging"]
DEVICE_SERVICE_STATES: tuple[str, ...] = get_args(DeviceServiceState)

log = logging.getLogger("confkit.sandbox")


class RoomJoinRefused(ConfkitError):
    """Somebody could not join a room; the text says why: unknown, closed, locked, full, ..."""


class Refused(Exception):
    """A call is answered with this result code, the first argument; the second says more than its
    meaning, for people."""

    def __str__(self) -> str:
        return str(self.args[1])


class Refusal(str):
    """A refused call on one line, such as "A3 602: token expired 20 s ago", and its fields: the
    `call` ("A" or "B" where no operation was found), `ret` (None for a fault on demand) and
    `why`."""

    call: str
    ret: int | None
    why: str

    def __new__(cls, call: str, ret: int | None, why: str) -> "Refusal":
        """Make the line of its fields."""
        made = super().__new__(cls, f"{call}: {why}" if ret is None else f"{call} {ret}: {why}")
        made.call, made.ret, made.why = call, ret, why
        return made


@dataclass
class Licence:
    """What the licence allows: seats over all rooms (`math.inf`: any number), and peer-to-peer."""

    seats: float = math.inf
    expired: bool = False
    peer_to_peer: bool = True


@dataclass(kw_only=True, repr=False, eq=False)
class Service:
    """Everything that a sandbox holds; for its own thread only.

    `now` is its time in epoch seconds, `tokens` are those that A1 has given the means for, and when
    they expire. `rooms` are by their numbers, `devices` hold the streams. `mcu` is the media
    server, which takes connections, says nothing and holds them. `refusals` keep the last of
    `note`, which are logged with `explain`; `counts` are requests by path."""

    dialect: Dialect
    result_field: str  # of interface B
    item_keys: str  # of the items of B3
    access_key: str
    secret_key: str = field(repr=False)
    ids: Ids
    clock: Callable[[], float]
    token_lifetime: float
    devices: Devices
    mcu: Listener
    explain: bool
    ahead: float = 0.0  # seconds, of the clock
    rooms: dict[str, StoredRoom] = field(default_factory=dict)  # in the order in which they came
    _room_count: int = 0  # of all that were ever made
    licence: Licence = field(default_factory=Licence)
    device_service: DeviceServiceState = "running"
    faults: Faults = field(default_factory=Faults)
    tokens: dict[str, tuple[AccessToken, float]] = field(default_factory=dict, repr=False)
    counts: Counter[str] = field(default_factory=Counter)
    refusals: deque[Refusal] = field(default_factory=lambda: deque(maxlen=KEPT_REFUSALS))
    _simulations: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the media server; end it, the simulations and all streams after."""
        try:
            await self.mcu.start()
            yield
        finally:
            await self.stop_simulations()
            await self.devices.release(*self.devices.held)
            await self.mcu.stop()

    def now(self) -> float:
        """Return the sandbox's own time in epoch seconds."""
        return self.clock() + self.ahead

    def issue(self) -> AccessToken:
        """Return a token that is expected from now on, made of a fresh `random` and `key` (section
        5). Of very many tokens the oldest are forgotten."""
        token = self.dialect.access_token(self.ids.nonce(), self.ids.nonce(), self.secret_key)
        if len(self.tokens) == MOST_TOKENS:
            del self.tokens[next(iter(self.tokens))]
        self.tokens[token.reveal()] = token, self.now() + self.token_lifetime
        return token

    def simulate(self, people: Coroutine[Any, Any, None]) -> None:
        """Let people come and go beside all requests, until `stop_simulations`."""
        self._simulations.add(asyncio.create_task(people))

    async def stop_simulations(self) -> None:
        """Let nobody come or go by itself any more; who is in a room stays."""
        ended, self._simulations = self._simulations, set()
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    def note(self, refusal: Refusal) -> None:
        """Keep what was wrong with a refused call, and log it where that is wanted."""
        self.refusals.append(refusal)
        if self.explain:
            log.info("refused %s", refusal)

    # Rooms

    def room(self, room_id: str) -> StoredRoom | None:
        """Return the room with this number."""
        return self.rooms.get(room_id)

    def existing(self, room_id: str) -> StoredRoom:
        """Return the room; RoomNotFound where there is none."""
        room = self.room(room_id)
        if room is None:
            raise RoomNotFound(f"The sandbox has no room {room_id!r}: create it first.")
        return room

    def status(self, room: StoredRoom) -> int:
        """Return the room's `room_status`: 0 scheduled, 1 opening, 2 locked, 3 closed."""
        if room.closed or room.locked:
            return CLOSED if room.closed else LOCKED
        return OPENING if room.people or self.devices.present(room.room_id) else SCHEDULED

    def add_room(self, room_id: str, **fields: Any) -> None:
        """Keep a new room; its number is not taken."""
        self._room_count += 1
        self.rooms[room_id] = StoredRoom(self._room_count, room_id, **fields)

    async def empty(self, room: StoredRoom, delete: bool) -> None:
        """Remove everybody and every device from the room, and close or delete it."""
        room.people.clear()
        room.closed = True
        if delete:
            del self.rooms[room.room_id]
        await self.devices.release(*(one.user_id for one in self.devices.all(room.room_id)))

    # Who is in a room

    def users(self, room: StoredRoom) -> list[Person | StoredDevice]:
        """Return who is in the room: its people, then the devices that stream."""
        return [*room.people.values(), *self.devices.present(room.room_id)]

    def knows_user(self, room_id: str, user_id: str) -> bool:
        """Return whether the id is taken: by any device, or by a person of this room."""
        if user_id in self.devices.held or user_id in self.devices.coming:
            return True
        room = self.room(room_id)
        return room is not None and user_id in room.people

    def seats(self) -> float:
        """Return how many seats are left; each person and each device takes one."""
        people = sum(len(room.people) for room in self.rooms.values())
        return self.licence.seats - people - len(self.devices.all())

    def obstacles(
        self, room: StoredRoom | None, device: StoredDevice | None = None
    ) -> Iterator[tuple[int, str]]:
        """Yield why a device, or one more person, cannot join the room: what B1 answers, and in
        words. The first one counts.

        People and devices count as users, a device also while its stream is dialled again: its
        place is kept (assumed). max_audio and max_video limit streams: each user has one of both
        as long as there are any, and a person beyond them is in the room without; only a device
        needs its video stream (assumed).
        """
        if room is None:
            yield 426, "there is no such room"
            return
        if room.closed:
            yield 426, "the room is closed"
        devices = self.devices.all(room.room_id)
        if device and self.knows_user(room.room_id, device.user_id):
            yield 423, "userId is taken"
        if device and device.user_address in [one.user_address for one in devices]:
            yield 423, "userAddress is in this room already"
        if room.locked:
            yield 426, "the room is locked"
        taken = len(room.people) + len(devices)
        if room.attendee_max and taken >= room.attendee_max:
            yield 426, f"the room is full: its attendee_max is {room.attendee_max}"
        if device and room.max_video and taken >= room.max_video:
            left = "the room has no video stream left: its max_video is"
            yield 426, f"{left} {room.max_video}, taken by those who are in it (assumed)"
        if self.seats() <= 0:
            yield 426, "all seats of the licence are used"
        if not self.mcu.up:
            yield 426, "no media server is up"

    def join(
        self, room_id: str, user_name: str, password: Secret | None, user_id: str | None
    ) -> str:
        """Return the user id of the person who has joined; or raise RoomJoinRefused.

        The room's host_password makes a host, a wrong password is refused, and any password is
        wrong in a room that has none. Nobody new enters a locked room, not even a host (assumed).
        """
        texts = {"user_name": user_name} | ({} if user_id is None else {"user_id": user_id})
        for name, text in texts.items():
            if not (isinstance(text, str) and text.strip()):
                raise ValueError(f"{name} is {text!r}; give a text that is not empty")
        room = self.room(room_id)
        reasons = [why for _, why in self.obstacles(room)]
        right = Secret((room and room.host_password) or "")
        if self.licence.expired:
            reasons.append("the licence has expired")
        if password and not (right and same(password.reveal(), right.reveal())):
            reasons.append("the host password is wrong")
        if user_id is not None and self.knows_user(room_id, user_id):
            reasons.append(f"the user id {user_id!r} is taken")
        if reasons:
            raise RoomJoinRefused(f"{user_name!r} cannot join room {room_id!r}: {reasons[0]}.")
        given = user_id
        while user_id is None or (given is None and self.knows_user(room_id, user_id)):
            user_id = self.ids.user_id()  # the next of a seed may be taken
        self.enter(Person(room_id, user_id, user_name, bool(password)))
        self.rooms[room_id].mcu = True
        return user_id

    def enter(self, person: Person) -> None:
        """Let a person into a room; the user id is not taken there."""
        self.rooms[person.room_id].people[person.user_id] = person

    def leave(self, room_id: str, user_id: str) -> bool:
        """Take a person out of a room; False where there is none."""
        room = self.room(room_id)
        return room is not None and room.people.pop(user_id, None) is not None
