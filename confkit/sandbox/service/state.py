"""The state of one sandbox, and the rules of its rooms, which operations and owner share."""

import asyncio
import logging
import math
import os
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...dialect import Dialect
from ...errors import ConfkitError, RoomNotFound, UserNotFound
from ...secret import Secret
from ..cameras.ports import stop_accepting
from .faults import Faults
from .identity import SEEDED_MOMENT, Clock, Ids, Tokens, same
from .store import Person, Store, StoredDevice, StoredRoom
from .streams import Devices, DeviceStream

KEPT = 200  # refusals, and remarks
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

    def __getnewargs__(self) -> tuple[str, int | None, str]:  # type: ignore[override]  # str's has one
        return self.call, self.ret, self.why


@dataclass
class Licence:
    """What the licence allows: seats over all rooms (`math.inf`: any number), and peer-to-peer."""

    seats: float = math.inf
    expired: bool = False
    peer_to_peer: bool = True


class MediaServer:
    """The MCU: a TCP listener that takes connections, says nothing and holds them."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._server: asyncio.Server | None = None
        self._held: set[asyncio.BaseTransport] = set()
        self.port = 0

    @property
    def up(self) -> bool:
        """Whether it answers."""
        return self._server is not None

    async def start(self) -> None:
        """Open the listener, on the port that it had before where that is free."""
        if self._server:
            return
        create = asyncio.get_running_loop().create_server
        if self.port:
            with suppress(OSError):
                self._server = await create(lambda: _Line(self._held), self._host, self.port)
        if not self._server:
            self._server = await create(lambda: _Line(self._held), self._host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the listener and every connection to it."""
        server, self._server = self._server, None
        if server:
            await stop_accepting(server)
            server.close()
            for transport in list(self._held):
                transport.close()
            await server.wait_closed()


class _Line(asyncio.Protocol):
    def __init__(self, held: set[asyncio.BaseTransport]) -> None:
        self._held = held

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._held.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        self._held.discard(self._transport)


class Service:
    """Everything that a sandbox holds; for its own thread only. `address` is the media server's.

    With a `seed` ids repeat, and the clock stands still unless one is given."""

    def __init__(
        self,
        dialect: Dialect,
        access_key: str,
        secret_key: Secret,
        *,
        address: str,
        path: str | os.PathLike[str] | None,
        seed: int | str | None,
        clock: Callable[[], float] | None,
        token_lifetime: float,
        dial_timeout: float | None,
        explain: bool,
    ) -> None:
        self.dialect = dialect
        self.access_key = access_key
        self.secret_key = secret_key
        self.ids = Ids(seed)
        self.clock = Clock(clock or (time.time if seed is None else lambda: SEEDED_MOMENT))
        self.tokens = Tokens(secret_key, dialect, token_lifetime, self.clock, self.ids)
        self.devices = Devices(dial_timeout, self.ids.chance)
        self.mcu = MediaServer(address)
        self.licence = Licence()
        self.device_service: DeviceServiceState = "running"
        self.faults = Faults()
        self.counts: Counter[str] = Counter()  # requests, by path
        self.refusals: deque[Refusal] = deque(maxlen=KEPT)
        self.remarks: deque[str] = deque(maxlen=KEPT)
        self.store: Store
        self._path = path
        self._explain = explain
        self._simulations: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the file and the media server, dial the devices of the file; end all of it after."""
        self.store = Store(self._path)
        try:
            await self.mcu.start()
            for device in self.store.devices():
                self.devices.hold(device)
            yield
        finally:
            await self.stop_simulations()
            await self.devices.close()
            await self.mcu.stop()
            self.store.close()

    async def simulate(self, people: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Let people come and go beside all requests, until `stop_simulations`."""
        self._simulations.add(asyncio.create_task(people()))

    async def stop_simulations(self) -> None:
        """Let nobody come or go by itself any more; who is in a room stays."""
        ended, self._simulations = self._simulations, set()
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    def note(self, refusal: Refusal) -> None:
        """Keep what was wrong with a refused call, and log it where that is wanted."""
        self.refusals.append(refusal)
        if self._explain:
            log.info("refused %s", refusal)

    def remark(self, text: str) -> None:
        """Keep what was odd about a call that was taken, and log it where that is wanted."""
        self.remarks.append(text)
        if self._explain:
            log.info("taken, but odd: %s", text)

    # Rooms

    def existing(self, room_id: str) -> StoredRoom:
        """Return the room; RoomNotFound where there is none."""
        room = self.store.room(room_id)
        if room is None:
            raise RoomNotFound(f"The sandbox has no room {room_id!r}: create it first.")
        return room

    def status(self, room: StoredRoom) -> int:
        """Return the room's `room_status`: 0 scheduled, 1 opening, 2 locked, 3 closed."""
        if room.closed:
            return CLOSED
        if room.locked:
            return LOCKED
        present = room.peopled or self.devices.room_has_stream(room.room_id)
        return OPENING if present else SCHEDULED

    def lock(self, room_id: str, locked: bool) -> None:
        """Lock or unlock a room."""
        self.existing(room_id)
        self.store.lock_room(room_id, locked)

    def unassign_mcu(self, room_id: str) -> None:
        """Take the media server from a room."""
        self.existing(room_id)
        self.store.assign_mcu(room_id, False)

    async def close_room(self, room_id: str) -> None:
        """Close a room, and remove everybody and every device from it."""
        self.existing(room_id)
        await self.empty(room_id, delete=False)

    async def empty(self, room_id: str, delete: bool) -> None:
        """Remove everybody and every device from the room, and close or delete it."""
        gone = [device.user_id for device in self.store.devices(room_id)]
        if delete:
            self.store.delete_room(room_id)
        else:
            self.store.close_room(room_id)
        self.devices.cancel_reservations(room_id)
        await self.devices.release(*gone)

    # Who is in a room

    def users(self, room: StoredRoom) -> list[tuple[str, str]]:
        """Return name and id of everybody in the room: its people, then devices that stream."""
        people = [(person.user_name, person.user_id) for person in self.store.people(room.room_id)]
        devices = self.store.devices(room.room_id)
        return people + [
            (device.user_name, device.user_id)
            for device in devices
            if self.devices.present(device.user_id)
        ]

    def knows_user(self, room_id: str, user_id: str) -> bool:
        """Return whether the id is taken: by any device, or by a person of this room."""
        return (
            user_id in self.devices.reserved
            or self.store.device(user_id) is not None
            or any(person.user_id == user_id for person in self.store.people(room_id))
        )

    def seats_used(self) -> bool:
        """Return whether the licence has no seat left; each person and each device takes one."""
        return self.store.taken() + len(self.devices.reserved) >= self.licence.seats

    def obstacle(self, room: StoredRoom, device: bool = False) -> str | None:
        """Return why one more person, or a device, cannot join the room; None when they can.

        People and devices count as users, a device also while its stream is dialled again: its
        place is kept (assumed). max_audio and max_video limit streams: each user has one of both
        as long as there are any, and a person beyond them is in the room without; only a device
        needs its video stream (assumed).
        """
        if room.closed:
            return "the room is closed"
        if room.locked:
            return "the room is locked"
        taken = self.store.taken(room.room_id) + sum(
            reserved.room_id == room.room_id for reserved in self.devices.reserved.values()
        )
        if room.attendee_max and taken >= room.attendee_max:
            return f"the room is full: its attendee_max is {room.attendee_max}"
        if device and room.max_video and taken >= room.max_video:
            return (
                f"the room has no video stream left: its max_video is {room.max_video}, "
                "taken by those who are in it (assumed)"
            )
        if self.seats_used():
            return "all seats of the licence are used"
        if not self.mcu.up:
            return "no media server is up"
        return None

    def join(self, room_id: str, user_name: str, password: str | None, user_id: str | None) -> str:
        """Return the user id of the person who has joined; or raise RoomJoinRefused.

        The room's host_password makes a host, a wrong password is refused, and any password is
        wrong in a room that has none. Nobody new enters a locked room, not even a host (assumed).
        """
        room = self.store.room(room_id)
        obstacle = self.obstacle(room) if room else "there is no such room"
        if obstacle is None and self.licence.expired:
            obstacle = "the licence has expired"
        right = Secret(room.host_password) if room and room.host_password else None
        if obstacle is None and password and not (right and same(password, right)):
            obstacle = "the host password is wrong"
        if user_id is None:
            user_id = self.ids.user_id()
            while self.knows_user(room_id, user_id):  # a seed begins anew, a file does not
                user_id = self.ids.user_id()
        elif obstacle is None and self.knows_user(room_id, user_id):
            obstacle = f"the user id {user_id!r} is taken"
        if obstacle:
            raise RoomJoinRefused(f"{user_name!r} cannot join room {room_id!r}: {obstacle}.")
        self.store.add_person(room_id, Person(user_id, user_name, bool(password)))
        return user_id

    def leave(self, room_id: str, user_id: str) -> None:
        """Take a person out of a room; UserNotFound where there is none of this id."""
        self.existing(room_id)
        if not self.store.remove_person(room_id, user_id):
            raise UserNotFound(
                f"No person {user_id!r} is in room {room_id!r}; people() says who is, "
                "and a device leaves by B2."
            )

    def people(self, room_id: str) -> list[dict[str, Any]]:
        """Return the people of a room, each with user_id, user_name and host."""
        self.existing(room_id)
        return [person._asdict() for person in self.store.people(room_id)]

    # Devices

    def device_in(self, room_id: str, user_id: str) -> StoredDevice | None:
        """Return the room's device with this id."""
        device = self.store.device(user_id)
        return device if device and device.room_id == room_id else None

    async def remove_device(self, user_id: str) -> None:
        """Take the device out of its room and close its stream."""
        self.store.remove_device(user_id)
        await self.devices.release(user_id)

    async def keyframe(self, room_id: str, user_id: str) -> tuple[str, bytes]:
        """Return codec and newest keyframe of a device; UserNotFound: the room has no such one."""
        self.existing(room_id)
        held = self.devices.held.get(user_id)
        if held is None or held.device.room_id != room_id:
            raise UserNotFound(
                f"Room {room_id!r} has no device {user_id!r}; streams() says which there are."
            )
        return await held.keyframe()

    def streams(self, room_id: str | None) -> list[DeviceStream]:
        """Return how the streams of a room's devices are, or those of all."""
        held = self.devices.held.values()
        return [one.status() for one in held if room_id in (None, one.device.room_id)]
