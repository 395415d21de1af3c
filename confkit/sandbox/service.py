"""The state of one sandbox as the operations and the steering methods share it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..dialect import Dialect
from ..errors import RoomNotFound, UserNotFound
from ..secret import Secret
from .devices import Devices
from .holding import DeviceStream
from .identity import Clock, Ids, Tokens
from .machinery import DeviceServiceState, Licence, MediaServer
from .store import Store, StoredDevice, StoredRoom

SCHEDULED, OPENING, LOCKED, CLOSED = range(4)  # values of room_status (seen in deployments)

LOCAL = "(local)"  # among an operation's values: the address under which the caller reached us

Values = Mapping[str, Any]
Members = dict[str, Any]

log = logging.getLogger("confkit.sandbox")


class Refused(Exception):
    """A call is answered with this result code; `why` says more than its meaning, for people."""

    def __init__(self, ret: int, why: str) -> None:
        super().__init__(ret, why)
        self.ret = ret
        self.why = why


@dataclass
class Service:
    """Everything that a sandbox holds; for its own thread only."""

    dialect: Dialect
    access_key: str
    secret_key: Secret = field(repr=False)
    clock: Clock
    ids: Ids
    tokens: Tokens
    store: Store
    devices: Devices
    mcu: MediaServer
    refusals: deque[str]
    remarks: deque[str]
    explain: bool = False
    licence: Licence = field(default_factory=Licence)
    device_service: DeviceServiceState = "running"
    simulations: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Opens the media server and dials the devices that the file remembers."""
        await self.mcu.start()
        for device in self.store.devices():
            self.devices.hold(device)

    async def close(self) -> None:
        """Ends the simulations, and lets go of every stream and connection."""
        await self.stop_simulations()
        await self.devices.close()
        await self.mcu.stop()

    async def simulate(self, people: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Lets people come and go beside all requests, until `stop_simulations`."""
        self.simulations.add(asyncio.create_task(people()))

    async def stop_simulations(self) -> None:
        """Nobody comes or goes by itself any more; who is in a room stays."""
        ended, self.simulations = self.simulations, set()
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    def note(self, text: str) -> None:
        """Keeps what was wrong with a refused call, and logs it where that is wanted."""
        self.refusals.append(text)
        if self.explain:
            log.info("refused %s", text)

    def remark(self, text: str) -> None:
        """Keeps what was odd about a call that was taken, and logs it where that is wanted."""
        self.remarks.append(text)
        if self.explain:
            log.info("taken, but odd: %s", text)

    def existing(self, room_id: str) -> StoredRoom:
        """The room, for a steering method: RoomNotFound where there is none."""
        room = self.store.room(room_id)
        if room is None:
            raise RoomNotFound(f"The sandbox has no room {room_id!r}: create it first.")
        return room

    def status(self, room: StoredRoom) -> int:
        """The room's `room_status`: 0 scheduled, 1 opening, 2 locked, 3 closed."""
        if room.closed:
            return CLOSED
        if room.locked:
            return LOCKED
        present = room.peopled or self.devices.room_has_stream(room.room_id)
        return OPENING if present else SCHEDULED

    def users(self, room: StoredRoom) -> list[tuple[str, str]]:
        """Name and id of everybody in the room: its people, then the devices that stream."""
        people = [(person.user_name, person.user_id) for person in self.store.people(room.room_id)]
        devices = self.store.devices(room.room_id)
        return people + [
            (device.user_name, device.user_id)
            for device in devices
            if self.devices.present(device.user_id)
        ]

    def knows_user(self, room_id: str, user_id: str) -> bool:
        """Whether the id is taken: by any device, or by a person of this room."""
        return (
            user_id in self.devices.reserved
            or self.store.device(user_id) is not None
            or any(person.user_id == user_id for person in self.store.people(room_id))
        )

    def seats_used(self) -> bool:
        """Whether the licence has no seat left; each person and each device takes one."""
        return self.store.taken() + len(self.devices.reserved) >= self.licence.seats

    def obstacle(self, room: StoredRoom, device: bool = False) -> str | None:
        """Why one more person, or a device, cannot join the room; None when nothing is in the way.

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

    def device_in(self, room_id: str, user_id: str) -> StoredDevice | None:
        """The room's device with this id."""
        device = self.store.device(user_id)
        return device if device and device.room_id == room_id else None

    async def keyframe(self, room_id: str, user_id: str) -> tuple[str, bytes]:
        """Codec and newest keyframe of a device; UserNotFound where the room has no such one."""
        self.existing(room_id)
        held = self.devices.held.get(user_id)
        if held is None or held.device.room_id != room_id:
            raise UserNotFound(
                f"Room {room_id!r} has no device {user_id!r}; streams() says which there are."
            )
        return await held.keyframe()

    def streams(self, room_id: str | None) -> list[DeviceStream]:
        """How the streams of a room's devices fare, or those of all."""
        held = self.devices.held.values()
        return [one.status() for one in held if room_id in (None, one.device.room_id)]

    async def remove_device(self, user_id: str) -> None:
        """Takes the device out of its room and closes its stream."""
        self.store.remove_device(user_id)
        await self.devices.release(user_id)

    async def empty(self, room_id: str, delete: bool) -> None:
        """Puts everybody and every device off the room, then closes or deletes it."""
        gone = [device.user_id for device in self.store.devices(room_id)]
        if delete:
            self.store.delete_room(room_id)
        else:
            self.store.close_room(room_id)
        self.devices.cancel_reservations(room_id)
        await self.devices.release(*gone)
