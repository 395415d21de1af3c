"""The state of one sandbox, and the rules of its rooms, which operations and owner share."""

import asyncio
import logging
import math
import os
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ...dialect import Dialect
from ...errors import ConfkitError, RoomNotFound
from ...secret import Secret
from ...signing import AccessToken, access_token
from ..cameras.ports import Listener
from .faults import Faults
from .identity import Ids, same
from .store import Person, Store, StoredDevice, StoredRoom
from .streams import Devices

KEPT = 200  # refusals, and remarks
MOST_TOKENS = 10_000
SCHEDULED, OPENING, LOCKED, CLOSED = range(4)  # values of room_status (seen in deployments)

DeviceServiceState = Literal["running", "stopped", "hanging"]
DEVICE_SERVICE_STATES: tuple[str, ...] = get_args(DeviceServiceState)

log = logging.getLogger("confkit.sandbox")


class RoomJoinRefused(ConfkitError):
    """Somebody could not join a room; the text says why: unknown, closed, locked, full, ..."""


class Refused(Exception):
    """A call is answered with this result code; `why` says more than its meaning, for people."""

    def __init__(self, ret: int, why: str) -> None:
        super().__init__(ret, why)
        self.ret = ret
        self.why = why


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

    `now` is its time in epoch seconds, `tokens` are those that A1 has
    given the means for, and when they expire.
    `mcu` is the media server, which takes connections, says nothing and holds them; `path` is the
    file of the `store`. `refusals` and `remarks` keep the last texts of `note`, which are logged
    with `explain`; `counts` are requests by path."""

    dialect: Dialect
    access_key: str
    secret_key: Secret
    path: str | os.PathLike[str] | None
    ids: Ids
    clock: Callable[[], float]
    token_lifetime: float
    devices: Devices
    mcu: Listener
    explain: bool
    ahead: float = 0.0  # seconds, of the clock
    store: Store = field(init=False)
    licence: Licence = field(default_factory=Licence)
    device_service: DeviceServiceState = "running"
    faults: Faults = field(default_factory=Faults)
    tokens: dict[AccessToken, float] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    refusals: deque[Refusal] = field(default_factory=lambda: deque(maxlen=KEPT))
    remarks: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))
    _simulations: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the file and the media server, dial the devices of the file; end all of it after."""
        self.store = Store(self.path)
        try:
            await self.mcu.start()
            for device in self.store.devices():
                self.devices.hold(device)
            yield
        finally:
            await self.stop_simulations()
            await self.devices.release(*self.devices.held)
            await self.mcu.stop()
            self.store.close()

    def now(self) -> float:
        """Return the sandbox's own time in epoch seconds."""
        return self.clock() + self.ahead

    def issue(self) -> AccessToken:
        """Return a token that is expected from now on, made of a fresh `random` and `key` (section
        5). Of very many tokens the oldest are forgotten."""
        token = access_token(self.ids.nonce(), self.ids.nonce(), self.secret_key, self.dialect)
        if len(self.tokens) == MOST_TOKENS:
            del self.tokens[next(iter(self.tokens))]
        self.tokens[token] = self.now() + self.token_lifetime
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

    def note(self, text: str) -> None:
        """Keep what was wrong with a refused call (a Refusal), or odd about one that was taken,
        and log it where that is wanted."""
        told = "taken, but odd:"
        if isinstance(text, Refusal):
            self.refusals.append(text)
            told = "refused"
        else:
            self.remarks.append(text)
        if self.explain:
            log.info("%s %s", told, text)

    # Rooms

    def existing(self, room_id: str) -> StoredRoom:
        """Return the room; RoomNotFound where there is none."""
        room = self.store.room(room_id)
        if room is None:
            raise RoomNotFound(f"The sandbox has no room {room_id!r}: create it first.")
        return room

    def status(self, room: StoredRoom) -> int:
        """Return the room's `room_status`: 0 scheduled, 1 opening, 2 locked, 3 closed."""
        if room.closed or room.locked:
            return CLOSED if room.closed else LOCKED
        return OPENING if room.peopled or self.devices.present(room.room_id) else SCHEDULED

    async def empty(self, room_id: str, delete: bool) -> None:
        """Remove everybody and every device from the room, and close or delete it."""
        gone = [device.user_id for device in self.store.devices(room_id=room_id)]
        self.store.empty(room_id, delete)
        self.devices.cancel_reservations(room_id)
        await self.devices.release(*gone)

    # Who is in a room

    def users(self, room: StoredRoom) -> list[tuple[str, str]]:
        """Return name and id of everybody in the room: its people, then devices that stream."""
        streaming = self.devices.present(room.room_id)
        there: list[Person | StoredDevice] = [*self.store.people(room.room_id)]
        devices = self.store.devices(room_id=room.room_id)
        there += [device for device in devices if device.user_id in streaming]
        return [(user.user_name, user.user_id) for user in there]

    def knows_user(self, room_id: str, user_id: str) -> bool:
        """Return whether the id is taken: by any device, or by a person of this room."""
        return (
            user_id in self.devices.reserved
            or bool(self.store.devices(user_id=user_id))
            or any(person.user_id == user_id for person in self.store.people(room_id))
        )

    def seats_used(self) -> bool:
        """Return whether the licence has no seat left; each person and each device takes one."""
        return self.store.taken() + len(self.devices.reserved) >= self.licence.seats

    def obstacle(self, room: StoredRoom | None, device: bool = False) -> str | None:
        """Return why one more person, or a device, cannot join the room; None when they can.

        People and devices count as users, a device also while its stream is dialled again: its
        place is kept (assumed). max_audio and max_video limit streams: each user has one of both
        as long as there are any, and a person beyond them is in the room without; only a device
        needs its video stream (assumed).
        """
        if room is None:
            return "there is no such room"
        if room.closed or room.locked:
            return f"the room is {'closed' if room.closed else 'locked'}"
        dialled = [one for one in self.devices.reserved.values() if one.room_id == room.room_id]
        taken = self.store.taken(room.room_id) + len(dialled)
        if room.attendee_max and taken >= room.attendee_max:
            return f"the room is full: its attendee_max is {room.attendee_max}"
        if device and room.max_video and taken >= room.max_video:
            return (
                f"the room has no video stream left: its max_video is {room.max_video}, "
                "taken by those who are in it (assumed)"
            )
        if self.seats_used():
            return "all seats of the licence are used"
        return None if self.mcu.up else "no media server is up"

    def join(self, room_id: str, user_name: str, password: str | None, user_id: str | None) -> str:
        """Return the user id of the person who has joined; or raise RoomJoinRefused.

        The room's host_password makes a host, a wrong password is refused, and any password is
        wrong in a room that has none. Nobody new enters a locked room, not even a host (assumed).
        """
        room = self.store.room(room_id)
        obstacle = self.obstacle(room)
        right = (room and room.host_password) or ""
        if not obstacle and self.licence.expired:
            obstacle = "the licence has expired"
        if not obstacle and password and not (right and same(password, right)):
            obstacle = "the host password is wrong"
        if user_id is not None and not obstacle and self.knows_user(room_id, user_id):
            obstacle = f"the user id {user_id!r} is taken"
        if obstacle:
            raise RoomJoinRefused(f"{user_name!r} cannot join room {room_id!r}: {obstacle}.")
        given = user_id
        while user_id is None or (given is None and self.knows_user(room_id, user_id)):
            user_id = self.ids.user_id()  # a seed begins anew, a file does not
        self.store.add((), [(room_id, Person(user_id, user_name, bool(password)))])
        return user_id

    # Devices

    def device_in(self, room_id: str, user_id: str) -> StoredDevice | None:
        """Return the room's device with this id."""
        return next(iter(self.store.devices(room_id=room_id, user_id=user_id)), None)

    async def remove_device(self, user_id: str) -> None:
        """Take the device out of its room and close its stream."""
        self.store.remove_device(user_id)
        await self.devices.release(user_id)
