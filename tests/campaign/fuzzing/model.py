"""The service as a dictionary: what the interface and the design say must come of each call.

Each question gives every result code that fits what stands in the way, none where nothing does:
which of several obstacles is told is nobody's promise. Nothing here knows the sandbox's code.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Codes = set[int]
MOST = 10**18  # no number of the sandbox reaches it (assumed)


@dataclass
class RoomState:
    """A room: the fields that A2 was given, and what became of it."""

    fields: Mapping[str, Any]
    locked: bool = False
    closed: bool = False
    assigned: bool = False
    people: dict[str, str] = field(default_factory=dict)  # user id to name


@dataclass
class Model:
    """Rooms by their id, devices by their user id, and the machinery behind them."""

    rooms: dict[str, RoomState] = field(default_factory=dict)
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    seats: float = float("inf")
    expired: bool = False
    peer_to_peer: bool = True
    mcu: bool = True
    service: str = "running"

    def of(self, room_id: str) -> list[dict[str, Any]]:
        """The devices of a room."""
        return [device for device in self.devices.values() if device["roomId"] == room_id]

    def users(self, room_id: str) -> list[tuple[str, str]]:
        """Who A6 has to list, as pairs of user id and name, sorted."""
        people = list(self.rooms[room_id].people.items())
        return sorted([*people, *((one["userId"], one["userName"]) for one in self.of(room_id))])

    def used(self) -> int:
        """The seats that people and devices take."""
        return len(self.devices) + sum(len(room.people) for room in self.rooms.values())

    def status(self, room_id: str) -> int:
        """The room's room_status."""
        room = self.rooms[room_id]
        if room.closed:
            return 3
        if room.locked:
            return 2
        return 1 if self.users(room_id) else 0

    def obstacles(self, room_id: str, device: bool = False) -> Iterator[str]:
        """Why no person more, or no device, can join the room."""
        room = self.rooms.get(room_id)
        if room is None:
            yield "unknown"
            return
        if room.closed:
            yield "closed"
        if room.locked:
            yield "locked"
        for cap in ("attendee_max", "max_video") if device else ("attendee_max",):
            if room.fields.get(cap) and len(self.users(room_id)) >= room.fields[cap]:
                yield f"full by {cap}"
        if self.used() >= self.seats:
            yield "no seat"
        if not self.mcu:
            yield "no media server"

    def knows(self, room_id: str, user_id: str) -> bool:
        """Whether a user id is taken: by a device anywhere, or by somebody in the room."""
        room = self.rooms.get(room_id)
        return user_id in self.devices or (room is not None and user_id in room.people)

    def create(self, given: Mapping[str, Any]) -> Codes:
        """A2."""
        codes: Codes = set()
        for name in ("topic", "owner_id", "room_mode"):
            if given.get(name) in (None, ""):
                codes.add(407)
        if len(str(given.get("topic", "")).encode()) >= 150:
            codes.add(407)
        if given.get("room_mode") not in (None, "", 1, 2, 3, 4):
            codes.add(407)
        for cap in ("attendee_max", "max_audio", "max_video"):
            number = given.get(cap)
            if number is not None and not (isinstance(number, int) and 0 <= number < MOST):
                codes.add(407)
        if given.get("room_extend_id") in self.rooms:
            codes.add(407)
        if self.expired:
            codes.add(405)
        if given.get("room_mode") in (3, 4) and not self.peer_to_peer:
            codes.add(701)
        return codes

    def one(self, room_id: str) -> Codes:
        """A3, A4, A6."""
        return set() if room_id in self.rooms else {404}

    def address(self, room_id: str) -> Codes:
        """A5."""
        room = self.rooms.get(room_id)
        if room is None:
            return {404}
        found = {416: room.closed, 405: self.expired, 410: not self.mcu,
                 411: self.used() >= self.seats}  # fmt: skip
        return {code for code, stands in found.items() if stands}

    def offline(self, room_id: str, user_id: str) -> Codes:
        """A7."""
        room = self.rooms.get(room_id)
        if room is None:
            return {404}
        there = user_id in dict(self.users(room_id))
        found = {416: room.closed, 417: not self.mcu, 428: not room.assigned, 429: not there}
        if not room.assigned:  # there is none that could be off
            found[417] = False
        return {code for code, stands in found.items() if stands}

    def device_service(self, stopped: int) -> Codes:
        """What B1, B2 and B3 answer while the service behind them does not run."""
        return {"running": set(), "stopped": {stopped}, "hanging": {310}}[self.service]

    def bring(self, given: Mapping[str, Any], address: str) -> Codes:
        """B1, where the address "plays", "refuses", is "wrong" or of a scheme "unknown" here."""
        codes = self.device_service(302)
        room_id = given.get("roomId", "")
        if address == "wrong" or any(
            given.get(name) in (None, "") for name in ("roomId", "userId", "userName")
        ):
            codes |= {401}
        if self.knows(room_id, given.get("userId", "")):
            codes |= {423}
        if any(one["userAddress"] == given.get("userAddress") for one in self.of(room_id)):
            codes |= {423}
        if address in ("refuses", "unknown") or any(self.obstacles(room_id, device=True)):
            codes |= {426}
        return codes

    def remove(self, room_id: str, user_id: str, address: str) -> Codes:
        """B2."""
        codes = self.device_service(303)
        device = self.devices.get(user_id)
        if device is None or (device["roomId"], device["userAddress"]) != (room_id, address):
            codes |= {425}
        return codes

    def gone(self, room_id: str) -> None:
        """Forgets who is in a room."""
        for device in self.of(room_id):
            del self.devices[device["userId"]]
        self.rooms[room_id].people.clear()
