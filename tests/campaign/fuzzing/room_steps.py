"""Steps with rooms and people: A2 to A7, and what moderators and participants do."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import RoomJoinRefused
from confkit.wire import Request

from .beginning import NAMES, PLACES, USERS, Beginning
from .model import RoomState

EXTEND_IDS = st.sampled_from(
    ["r1", "r2", "0815", "Ü 部屋", "a&b=c%20d+e", "r/1?x#y", "\0", "x" * 300]
)
PASSWORDS = st.sampled_from([None, None, "blue-heron", "a&b=c%41 ü"])
CAPS = st.sampled_from([None, None, 0, 1, 2, 3, 10**18 - 1]) | st.sampled_from([-1, 10**18, 10**40])
ODD = st.sampled_from(
    ["", " x", "-1", "1.0", "1e3", "٣", "5", "0", "abc", "\0", "9" * 18, "9" * 19]
)


class RoomSteps(Beginning):
    """Every step is a call of the client or a turn of the sandbox, and its answer is compared."""

    @rule(topic=st.text(max_size=50), owner=NAMES, mode=st.sampled_from([1, 1, 2, 3, 4, 0, 5]),
          people=CAPS, audio=CAPS, video=CAPS, password=PASSWORDS,
          extend=st.none() | EXTEND_IDS)  # fmt: skip
    def create(self, topic: str, owner: str, mode: int, people: int | None, audio: int | None,
               video: int | None, password: str | None, extend: str | None) -> None:  # fmt: skip
        """A2 with all its parameters."""
        given = {
            "topic": topic, "owner_id": owner, "room_mode": mode, "attendee_max": people,
            "max_audio": audio, "max_video": video, "host_password": password,
            "room_extend_id": extend,
        }  # fmt: skip
        codes = self.model.create(given)
        if not topic.strip() or not owner.strip():  # the client takes white space for nothing
            codes.add(407)
        code, room_id = self.came(
            407, ck.create_room, topic, owner, room_mode=mode, attendee_max=people,
            max_audio=audio, max_video=video, host_password=password, room_extend_id=extend,
        )  # fmt: skip
        if self.due(code, codes, "A2"):
            assert room_id == extend if extend else room_id not in self.model.rooms
            self.model.rooms[room_id] = RoomState(given, assigned=self.model.mcu)
            self.look(len(self.model.rooms) - 1)

    @rule(name=st.sampled_from(["topic", "owner_id", "room_mode", "attendee_max", "max_audio",
                                "max_video"]), odd=st.none() | ODD)  # fmt: skip
    def create_oddly(self, name: str, odd: str | None) -> None:
        """A2 with a parameter that is missing, or holds anything, as another client sends it."""
        given = {"topic": "t", "owner_id": "o", "room_mode": "1", name: odd}
        given = {key: value for key, value in given.items() if value is not None}
        meant: dict[str, Any] = {**given, "room_mode": _number(given.get("room_mode"))}
        meant |= {cap: _number(given[cap]) for cap in given if cap.endswith(("max", "io", "eo"))}
        code, answer = self.came(407, lambda c: c.send(Request(ENDPOINTS["A2"], given)))
        if self.due(code, self.model.create(meant), f"A2 with {name}={odd!r}"):
            self.model.rooms[answer["room_id"]] = RoomState(meant, assigned=self.model.mcu)

    @rule(place=PLACES)
    def look(self, place: int) -> None:
        """A3 and A6: every field, and everybody who is there."""
        room_id = self.room(place)
        code, room = self.came(407, ck.get_room, room_id)
        if self.due(code, self.model.one(room_id), "A3"):
            known = self.model.rooms[room_id].fields
            for name in ("topic", "owner_id", "room_mode", "host_password", "attendee_max",
                         "max_audio", "max_video", "room_extend_id"):  # fmt: skip
                right = known.get(name)
                assert getattr(room, name) == right, f"{name}: {getattr(room, name)!r}, {right!r}"
            assert room.room_id == room_id
            assert room.room_status == self.model.status(room_id), f"status {room.room_status}"
        code, users = self.came(407, ck.get_room_users, room_id)
        if self.due(code, self.model.one(room_id), "A6"):
            found = sorted((user.user_id, user.user_name) for user in users)
            assert found == self.model.users(room_id)

    @rule(place=PLACES)
    def delete(self, place: int) -> None:
        """A4: the room is gone, and everybody with it."""
        room_id = self.room(place)
        code, _ = self.came(407, ck.delete_room, room_id)
        if self.due(code, self.model.one(room_id), "A4"):
            self.model.gone(room_id)
            del self.model.rooms[room_id]

    @rule(place=PLACES)
    def mcu(self, place: int) -> None:
        """A5: an address, and a media server for the room."""
        room_id = self.room(place)
        code, address = self.came(407, ck.get_mcu, room_id)
        if self.due(code, self.model.address(room_id), "A5"):
            self.model.rooms[room_id].assigned = True
            host, _, port = address.rpartition(":")
            assert host == "127.0.0.1"
            assert 0 < int(port) < 65536

    @rule(place=PLACES, whom=PLACES)
    def offline(self, place: int, whom: int) -> None:
        """A7: a person or a device is put off."""
        room_id = self.room(place)
        user_id = self.user(room_id, whom)
        code, _ = self.came(407, ck.force_offline, room_id, user_id)
        if self.due(code, self.model.offline(room_id, user_id), "A7"):
            self.model.devices.pop(user_id, None)
            self.model.rooms[room_id].people.pop(user_id, None)

    @precondition(lambda self: self.model.rooms)
    @rule(place=PLACES, turn=st.sampled_from(["lock", "unlock", "unlock", "close", "unassign"]))
    def turn(self, place: int, turn: str) -> None:
        """A moderator locks, unlocks or closes a room, or it loses its media server."""
        room_id = [*self.model.rooms][place % len(self.model.rooms)]
        room = self.model.rooms[room_id]
        if turn == "close":
            self.sandbox.close_room(room_id)
            room.closed = True
            self.model.gone(room_id)
        elif turn == "unassign":
            self.sandbox.unassign_mcu(room_id)
            room.assigned = False
        else:
            getattr(self.sandbox, turn)(room_id)
            room.locked = turn == "lock"

    # People

    @rule(place=PLACES, name=NAMES, user=st.none() | USERS, password=PASSWORDS)
    def join(self, place: int, name: str, user: str | None, password: str | None) -> None:
        """Somebody joins, as a host with the room's password."""
        room_id = self.room(place)
        why = [*self.model.obstacles(room_id), *["expired"] * self.model.expired]
        room = self.model.rooms.get(room_id)
        if password and room and room.fields.get("host_password") != password:
            why.append("password")
        if user and self.model.knows(room_id, user):
            why.append("taken")
        try:
            user_id = self.sandbox.join(room_id, name, password=password, user_id=user)
        except RoomJoinRefused as refused:
            assert why, f"refused without a reason: {refused}"
            return
        assert not why, f"joined in spite of {why}"
        assert room is not None
        assert user_id == user if user else user_id not in room.people
        room.people[user_id] = name
        room.assigned = True
        hosts = {one["user_id"]: one["host"] for one in self.sandbox.people(room_id)}
        assert hosts[user_id] is bool(password)

    @rule(place=PLACES, whom=PLACES)
    def leave(self, place: int, whom: int) -> None:
        """Somebody leaves; a device does not leave so."""
        room_id = self.room(place)
        user_id = self.user(room_id, whom)
        room = self.model.rooms.get(room_id)
        try:
            self.sandbox.leave(room_id, user_id)
        except (ck.RoomNotFound, ck.UserNotFound):
            assert room is None or user_id not in room.people
            return
        assert room is not None
        del room.people[user_id]


def _number(written: str | None) -> Any:
    """What a text means to the model: a number, nothing, or no number."""
    if written is None or written == "":
        return None
    return int(written) if written.isascii() and written.isdigit() else written
