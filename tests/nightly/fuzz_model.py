"""The service as a dictionary, and any steps in any order: what comes of each is what it says.

It gives every result code that fits what stands in the way, and none where nothing does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import confkit as ck
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.deployment.services import dialects

from .fuzzing import bounded, watched
from .piece import Piece

MOST = 10**18  # no number of the sandbox reaches it (assumed)
SECONDS = 30  # that a camera or an answer may take
CAPS = ("attendee_max", "max_audio", "max_video")
FIELDS = ("topic", "owner_id", "room_mode", "host_password", "room_extend_id", *CAPS)
Codes = set[int]


@dataclass
class RoomState:
    """A room: the fields that A2 was given, and what became of it."""

    fields: Mapping[str, Any]
    assigned: bool
    locked: bool = False
    closed: bool = False
    people: dict[str, str] = field(default_factory=dict)  # user id to name


@dataclass
class Model:
    """Rooms by their id, devices by their user id as B3 lists them, and the machinery behind."""

    rooms: dict[str, RoomState] = field(default_factory=dict)
    devices: dict[str, ck.Device] = field(default_factory=dict)
    mcu: bool = True
    service: str = "running"

    def of(self, room_id: str) -> list[ck.Device]:
        """The devices of a room."""
        return [one for one in self.devices.values() if one.room_id == room_id]

    def users(self, room_id: str) -> dict[str, str]:
        """Who A6 has to list: user id to name."""
        room = self.rooms.get(room_id)
        there = {one.user_id: str(one.user_name) for one in self.of(room_id)}
        return {**(room.people if room else {}), **there}

    def status(self, room_id: str) -> int:
        room = self.rooms[room_id]
        return 3 if room.closed else 2 if room.locked else int(bool(self.users(room_id)))

    def obstacles(self, room_id: str, *caps: str) -> list[str]:
        """Why nobody more, whom these caps count, can join the room."""
        if (room := self.rooms.get(room_id)) is None:
            return ["unknown"]
        found = {"closed": room.closed, "locked": room.locked, "no server": not self.mcu}
        users = len(self.users(room_id))
        found |= {f"full by {cap}": 0 < (room.fields.get(cap) or 0) <= users for cap in caps}
        return [why for why, stands in found.items() if stands]

    def taken(self, room_id: str, user_id: str) -> bool:
        """Whether a user id is taken: by a device anywhere, or by somebody in the room."""
        return user_id in self.devices or user_id in self.users(room_id)

    def no_room(self, given: Mapping[str, Any]) -> bool:
        """Whether A2 has to refuse these fields."""
        return (
            len(given["topic"].encode()) >= 150
            or not (given["topic"].strip() and given["owner_id"].strip())
            or given["room_mode"] not in (1, 2, 3, 4)
            or any(given[cap] is not None and not 0 <= given[cap] < MOST for cap in CAPS)
            or given["room_extend_id"] in self.rooms
        )

    def codes(self, key: str, room_id: str, user_id: str) -> Codes:
        """What A3 to A7 may answer, 0 where nothing stands in the way."""
        if (room := self.rooms.get(room_id)) is None:
            return {404}
        if key not in ("A5", "A7"):
            return {0}
        off = {417: room.assigned and not self.mcu, 428: not room.assigned}
        more = (
            {410: not self.mcu} if key == "A5" else {**off, 429: user_id not in self.users(room_id)}
        )
        return {code for code, stands in {416: room.closed, **more}.items() if stands} or {0}

    def stopped(self, code: int) -> Codes:
        """What B1, B2 and B3 answer while the service behind them does not run."""
        return {"running": set(), "stopped": {code}, "hanging": {310}}[self.service]

    def gone(self, room_id: str) -> None:
        """Forgets who is in a room."""
        self.rooms[room_id].people.clear()
        for one in self.of(room_id):
            del self.devices[one.user_id]


DIALECTS = (ck.Dialect(), *dialects(seed=7, count=3)[-3:])
LOGIN = {"login_name": "admin", "login_password": "desk&=%2468"}
USERS = st.sampled_from(["u1", "u2", "u3", "ü=&%41", "0"])
NAMES = st.text(min_size=1, max_size=20)
PLACES = st.integers(0, 9)
EXTEND_IDS = st.sampled_from(["r1", "r2", "Ü 部屋", "a&b=c%20d+e", "r/1?x#y", "\0", "x" * 300])
PASSWORDS = st.sampled_from([None, None, "blue-heron", "a&b=c%41 ü"])
A_CAP = st.sampled_from([None, None, 0, 1, 2, 3, MOST - 1, -1, MOST, 10**40])
ADDRESSES = ["open 0", "open 1"] * 4 + ["guarded"] * 3 + ["wrong login", "dead", "sip", "http"]
MORE = st.sampled_from([{}, {"assist_address": "rtsp://u:p@192.0.2.7/x"}, {"n": [1, {"ü": None}]}])
TURNS = ["lock", "unlock", "unlock", "close_room", "unassign_mcu"]
ROOM_CALLS = {
    "A3": ck.get_room,
    "A4": ck.delete_room,
    "A5": ck.get_mcu,
    "A6": ck.get_room_users,
    "A7": ck.force_offline,
}


class Steps(RuleBasedStateMachine):
    """Every step is a call of the client or a turn of the sandbox, and its answer is compared."""

    piece: Piece
    cameras: tuple[str, str, str]  # two that play, and one that wants a login

    @initialize(dialect=st.sampled_from(DIALECTS), seed=st.integers(0, 3))
    def begin(self, dialect: ck.Dialect, seed: int) -> None:
        self.model = Model()
        self.piece.count("examples")
        self.sandbox = Sandbox(seed=seed, dialect=dialect, dial_timeout=SECONDS).start()
        self.client = self.sandbox.connect(timeout=(SECONDS, SECONDS))
        # Rooms that fill soon; what only happens in full or guarded rooms is then not rare.
        for number, caps in enumerate(
            [{"attendee_max": 1}, {"max_audio": 2}, {"max_video": 2}, {}]
        ):
            given = {"topic": "t", "owner_id": "o", "room_mode": 1, "host_password": "blue-heron"}
            given |= {"room_extend_id": f"begun {number}", **caps}
            self.model.rooms[ck.create_room(self.client, **given)] = RoomState(given, True)

    def teardown(self) -> None:
        if hasattr(self, "client"):
            self.client.close()
            self.sandbox.close()

    def came(
        self, codes: Codes, wrong: int, call: Any, *given: Any, **more: Any
    ) -> tuple[bool, Any]:
        """Whether a call went well, as it was due, and what it gave; any code but those due is
        wrong, which `wrong` stands for where the client itself refused."""
        self.piece.count("calls")
        code, found = 0, None
        try:
            found = call(self.client, *given, **more)
        except (ck.ApiError, ck.OutcomeUnknown) as error:
            assert str(error), "an error without a text"
            code = wrong if error.ret is None else int(error.ret)
        due = codes or {0}
        assert code in due, f"{call.__name__} answered {code}, due was {sorted(due)}"
        return code == 0, found

    def room(self, place: int) -> str:
        """A room that there is, or one that there is not."""
        known = [*self.model.rooms, "no such room"]
        return known[place % len(known)]

    @rule(
        room_extend_id=st.none() | EXTEND_IDS,
        topic=st.text(max_size=50),
        owner_id=NAMES,
        room_mode=st.integers(0, 5),
        host_password=PASSWORDS,
        **dict.fromkeys(CAPS, A_CAP),
    )
    def create(self, **given: Any) -> None:
        codes = {407} if self.model.no_room(given) else {0}
        done, room_id = self.came(codes, 407, ck.create_room, **given)
        if done:
            own = given["room_extend_id"]
            assert room_id == own if own else room_id not in self.model.rooms
            self.model.rooms[room_id] = RoomState(given, assigned=self.model.mcu)
            self.ask("A3", len(self.model.rooms) - 1, 0)

    @rule(key=st.sampled_from([*ROOM_CALLS, "A3", "A6"]), place=PLACES, whom=PLACES)
    def ask(self, key: str, place: int, whom: int) -> None:
        """Every field of a room, everybody who is there, or a change of these."""
        model, room_id = self.model, self.room(place)
        there = [*model.users(room_id), "nobody"]
        user_id = there[whom % len(there)]
        given = (room_id, user_id) if key == "A7" else (room_id,)
        done, found = self.came(model.codes(key, room_id, user_id), 407, ROOM_CALLS[key], *given)
        if not done:
            return
        room = model.rooms[room_id]
        if key == "A3":
            wanted = {name: room.fields.get(name) for name in FIELDS}
            wanted |= {"room_id": room_id, "room_status": model.status(room_id)}
            assert {name: getattr(found, name) for name in wanted} == wanted
        elif key == "A4":
            model.gone(room_id)
            del model.rooms[room_id]
        elif key == "A5":
            room.assigned = True
            assert 0 < int(found.rpartition(":")[2]) < 65536
        elif key == "A6":
            users = model.users(room_id).items()
            assert sorted((user.user_id, user.user_name) for user in found) == sorted(users)
        else:
            model.devices.pop(user_id, None)
            room.people.pop(user_id, None)

    @precondition(lambda self: self.model.rooms)
    @rule(place=PLACES, turn=st.sampled_from(TURNS))
    def turn(self, place: int, turn: str) -> None:
        """A moderator locks, unlocks or closes a room, or it loses its media server."""
        room_id = [*self.model.rooms][place % len(self.model.rooms)]
        room = self.model.rooms[room_id]
        getattr(self.sandbox, turn)(room_id)
        if turn == "close_room":
            room.closed = True
            self.model.gone(room_id)
        elif turn == "unassign_mcu":
            room.assigned = False
        else:
            room.locked = turn == "lock"

    @rule(place=PLACES, name=NAMES.filter(str.strip), user=st.none() | USERS, password=PASSWORDS)
    def join(self, place: int, name: str, user: str | None, password: str | None) -> None:
        """Somebody joins, as a host with the room's password."""
        room_id = self.room(place)
        room = self.model.rooms.get(room_id)
        other = password and room and room.fields.get("host_password") != password
        taken = user and self.model.taken(room_id, user)
        why = [*self.model.obstacles(room_id, "attendee_max"), *filter(None, [other, taken])]
        try:
            user_id = self.sandbox.join(room_id, name, password=password, user_id=user)
        except RoomJoinRefused as refused:
            assert why, f"refused without a reason: {refused}"
            return
        assert not why, f"joined in spite of {why}"
        assert user_id == user if user else user_id not in room.people
        room.people[user_id], room.assigned = name, True

    @rule(
        place=PLACES,
        user=USERS,
        name=NAMES,
        which=st.sampled_from(ADDRESSES),
        data=st.text(max_size=12),
        more=MORE,
    )
    def bring(
        self, place: int, user: str, name: str, which: str, data: str, more: dict[str, Any]
    ) -> None:
        model, room_id, (first, second, guarded) = self.model, self.room(place), self.cameras
        address, refusal, login = {
            "open 0": (first, set(), {}),
            "open 1": (second, set(), {}),
            "guarded": (guarded, set(), LOGIN),
            "wrong login": (guarded, {426}, {**LOGIN, "login_password": "other"}),
            "dead": (f"{first}-dead", {426}, {}),
            "sip": ("sip://192.0.2.7:5060/x", {426}, {}),
            "http": ("http://192.0.2.7/x", {401}, {}),
        }[which]
        device = ck.Device(room_id, user, name, address, data, {**more, **login})
        codes = model.stopped(302) | refusal | ({401} if not name.strip() else set())
        if model.obstacles(room_id, "attendee_max", "max_video"):
            codes |= {426}
        if model.taken(room_id, user) or address in [one.user_address for one in model.of(room_id)]:
            codes |= {423}
        done, found = self.came(codes, 401, ck.import_device, device)
        if done:
            model.devices[user] = device
            model.rooms[room_id].assigned = True
            assert found.user_address == address

    @precondition(lambda self: self.model.devices)
    @rule(place=PLACES, elsewhere=PLACES, other=st.booleans())
    def remove(self, place: int, elsewhere: int, other: bool) -> None:
        """A device where it is or where it is not, by its address or by another one."""
        device = [*self.model.devices.values()][place % len(self.model.devices)]
        room_id = self.room(elsewhere) if elsewhere < 3 else device.room_id
        address = "rtsp://192.0.2.7/other" if other else device.user_address
        wrong = (device.room_id, device.user_address) != (room_id, address)
        codes = self.model.stopped(303) | ({425} if wrong else set())
        done, _ = self.came(codes, 401, ck.remove_device, room_id, device.user_id, address)
        if done:
            del self.model.devices[device.user_id]

    @rule(up=st.sampled_from([True, True, False]))
    def media_server(self, up: bool) -> None:
        (self.sandbox.start_mcu if up else self.sandbox.stop_mcu)()
        self.model.mcu = up

    @rule(state=st.sampled_from(["running"] * 4 + ["stopped", "hanging"]))
    def device_service(self, state: str) -> None:
        self.sandbox.device_service(state)
        self.model.service = state

    @invariant()
    def the_lists_are_right(self) -> None:
        """B3 lists every device as it was brought, and the rooms are these and no others."""
        if hasattr(self, "model"):
            assert self.sandbox.room_ids() == list(self.model.rooms)
            done, devices = self.came(self.model.stopped(304), 401, ck.list_devices)
            by_room = [device for room_id in self.model.rooms for device in self.model.of(room_id)]
        assert not done or devices == by_room


def model(piece: Piece) -> None:
    """Examples of some thirty steps each, compared with the dictionary."""
    small = {"size": (160, 120), "fps": 2}
    with Sandbox(seed=piece.number) as sandbox:
        cameras = tuple(sandbox.camera(**login, **small) for login in ({}, {}, LOGIN))
        machine = type("Service", (Steps,), {"cameras": cameras, "piece": piece})
        seeded = hypothesis.seed(piece.chance().getrandbits(64))(machine)
        # What breaks in a short piece is reported at once: to make it smaller takes minutes.
        settings = bounded(piece.size, shrink=piece.size > 50, stateful_step_count=30)
        runs = hypothesis.stateful.run_state_machine_as_test
        watched(piece, "steps", lambda: runs(seeded, settings=settings))
