"""Writers of one sandbox, who keep a book of what was answered and what was not."""

import itertools
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event, Thread

import confkit as ck
from confkit.client import Client

THERE, GONE, UNKNOWN = "there", "gone", "unknown"


@dataclass
class Room:
    """A room as its writer knows it; `room_id` is empty while its number is not known."""

    topic: str
    attendee_max: int
    room_id: str = ""
    fate: str = UNKNOWN
    devices: dict[str, "Device"] = field(default_factory=dict)


@dataclass
class Device:
    """A device as its writer knows it."""

    user_id: str
    address: str
    fate: str = UNKNOWN


class Writer:
    """Changes rooms of its own, one after the other, until it is told to stop or a call fails."""

    def __init__(self, name: str, chance: random.Random, cameras: Sequence[str]) -> None:
        self.rooms: list[Room] = []
        self.answered = 0
        self.failed: Exception | None = None
        self._name, self._chance, self._cameras = name, chance, cameras
        self._numbers = itertools.count()

    def start(self, base_url: str, outgoing_url: str, ending: Event) -> None:
        """Nothing, once it writes, in a thread of its own."""
        self.failed = None
        self._thread = Thread(target=self._write, args=(base_url, outgoing_url, ending))
        self._thread.start()

    def join(self) -> None:
        """Nothing, once it has stopped."""
        self._thread.join()

    def settled(self) -> None:
        """Nothing, once what is gone is out of the book."""
        for room in self.rooms:
            room.devices = {k: one for k, one in room.devices.items() if one.fate == THERE}
        self.rooms = [room for room in self.rooms if room.fate == THERE]

    def _write(self, base_url: str, outgoing_url: str, ending: Event) -> None:
        # A lost answer is looked up; with nobody there that should not take the usual seconds.
        with Client(
            base_url, outgoing_url, "demo_access", "demo_secret", sleep=lambda _: None
        ) as client:
            try:
                while not ending.is_set():
                    self._change(client)
                    self.answered += 1
            except Exception as error:  # noqa: BLE001  # whether it may fail, the caller knows
                self.failed = error

    def _change(self, client: Client) -> None:
        chance = self._chance
        rooms = [room for room in self.rooms if room.fate == THERE]
        if not rooms or (len(rooms) < 20 and chance.random() < 0.4):
            self._create(client)
            return
        room = chance.choice(rooms)
        devices = [device for device in room.devices.values() if device.fate == THERE]
        if chance.random() < 0.3:
            self._delete(client, room, devices)
        elif devices:
            self._take_out(client, room, chance.choice(devices))
        else:
            self._import(client, room)

    def _create(self, client: Client) -> None:
        room = Room(f"{self._name} {next(self._numbers)}", self._chance.randrange(2, 500))
        own = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        if self._chance.random() < 0.7:
            room.room_id = own
        self.rooms.append(room)
        room.room_id = ck.create_room(
            client, room.topic, self._name, attendee_max=room.attendee_max,
            room_extend_id=room.room_id or None,
        )  # fmt: skip
        room.fate = THERE

    def _import(self, client: Client, room: Room) -> None:
        user_id = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        device = room.devices[user_id] = Device(user_id, self._chance.choice(self._cameras))
        ck.import_device(client, room.room_id, user_id, "Camera", device.address)
        device.fate = THERE

    def _delete(self, client: Client, room: Room, devices: Sequence[Device]) -> None:
        together: list[Room | Device] = [room, *devices]
        for one in together:
            one.fate = UNKNOWN
        ck.delete_room(client, room.room_id)
        for one in together:
            one.fate = GONE

    def _take_out(self, client: Client, room: Room, device: Device) -> None:
        device.fate = UNKNOWN
        if self._chance.random() < 0.5:
            ck.remove_device(client, room.room_id, device.user_id, device.address)
        else:
            ck.force_offline(client, room.room_id, device.user_id)
        device.fate = GONE
