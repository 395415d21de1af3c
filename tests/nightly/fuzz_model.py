"""The service as a dictionary, and any steps in any order: what comes of each is what it says.

The dictionary knows the interface and the design, and nothing of the sandbox's code. It gives every
result code that fits what stands in the way, none where nothing does: which of several obstacles is
reported is nobody's promise.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import confkit as ck
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.deployment.deployments import combined

from .fuzzing import bounded, watched
from .piece import Piece

MOST = 10**18  # no number of the sandbox reaches it (assumed)
SECONDS = 30  # in which a stream that was lost by a restart has come back
FIELDS = (
    "topic",
    "owner_id",
    "room_mode",
    "host_password",
    "attendee_max",
    "max_audio",
    "max_video",
    "room_extend_id",
)
Codes = set[int]


def those(found: Mapping[int, bool]) -> Codes:
    """The codes whose obstacle stands."""
    return {code for code, stands in found.items() if stands}


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
    """Rooms by their id, devices by their user id, and the machinery behind them."""

    rooms: dict[str, RoomState] = field(default_factory=dict)
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    mcu: bool = True
    service: str = "running"

    def of(self, room_id: str) -> list[dict[str, Any]]:
        return [device for device in self.devices.values() if device["roomId"] == room_id]

    def users(self, room_id: str) -> list[tuple[str, str]]:
        """Who A6 has to list, sorted."""
        people = self.rooms[room_id].people.items()
        return sorted([*people, *((one["userId"], one["userName"]) for one in self.of(room_id))])

    def status(self, room_id: str) -> int:
        room = self.rooms[room_id]
        return 3 if room.closed else 2 if room.locked else int(bool(self.users(room_id)))

    def obstacles(self, room_id: str, device: bool = False) -> Iterator[str]:
        """Why no person more, or no device, can join the room."""
        room = self.rooms.get(room_id)
        if room is None:
            yield "unknown"
            return
        for cap in ("attendee_max", "max_video") if device else ("attendee_max",):
            if room.fields.get(cap) and len(self.users(room_id)) >= room.fields[cap]:
                yield f"full by {cap}"
        found = {"closed": room.closed, "locked": room.locked, "no server": not self.mcu}
        yield from (why for why, stands in found.items() if stands)

    def knows(self, room_id: str, user_id: str) -> bool:
        """Whether a user id is taken: by a device anywhere, or by somebody in the room."""
        room = self.rooms.get(room_id)
        return user_id in self.devices or (room is not None and user_id in room.people)

    def create(self, given: Mapping[str, Any]) -> Codes:
        caps = [given[cap] for cap in ("attendee_max", "max_audio", "max_video")]
        wrong = (
            len(given["topic"].encode()) >= 150
            or not (given["topic"].strip() and given["owner_id"].strip())
            or given["room_mode"] not in (1, 2, 3, 4)
            or any(cap is not None and not 0 <= cap < MOST for cap in caps)
            or given["room_extend_id"] in self.rooms
        )
        return those({407: wrong})

    def one(self, room_id: str) -> Codes:  # A3, A4, A6
        return those({404: room_id not in self.rooms})

    def address(self, room_id: str) -> Codes:
        if (room := self.rooms.get(room_id)) is None:
            return {404}
        return those({416: room.closed, 410: not self.mcu})

    def offline(self, room_id: str, user_id: str) -> Codes:
        if (room := self.rooms.get(room_id)) is None:
            return {404}
        there = user_id in dict(self.users(room_id))
        off = room.assigned and not self.mcu
        return those({416: room.closed, 417: off, 428: not room.assigned, 429: not there})

    def device_service(self, stopped: int) -> Codes:
        """What B1, B2 and B3 answer while the service behind them does not run."""
        return {"running": set(), "stopped": {stopped}, "hanging": {310}}[self.service]

    def bring(self, given: Mapping[str, Any], address: str) -> Codes:
        """B1, where the address "plays", "refuses", is "wrong" or of a scheme "unknown" here."""
        room_id = given["roomId"]
        missing = not given["userName"].strip()
        same = any(one["userAddress"] == given["userAddress"] for one in self.of(room_id))
        full = any(self.obstacles(room_id, device=True))
        return self.device_service(302) | those(
            {
                401: address == "wrong" or missing,
                423: same or self.knows(room_id, given["userId"]),
                426: address in ("refuses", "unknown") or full,
            }
        )

    def remove(self, room_id: str, user_id: str, address: str) -> Codes:
        known = self.devices.get(user_id, {})
        wrong = (known.get("roomId"), known.get("userAddress")) != (room_id, address)
        return self.device_service(303) | those({425: wrong})

    def gone(self, room_id: str) -> None:
        """Forgets who is in a room."""
        for device in self.of(room_id):
            del self.devices[device["userId"]]
        self.rooms[room_id].people.clear()


DIALECTS = (ck.Dialect(), *combined(3, seed=7))
LOGIN = {"login_name": "admin", "login_password": "desk&=%2468"}
USERS = st.sampled_from(["u1", "u2", "u3", "ü=&%41", "0"])
NAMES = st.text(min_size=1, max_size=20)
PLACES = st.integers(0, 9)
EXTEND_IDS = st.sampled_from(["r1", "r2", "Ü 部屋", "a&b=c%20d+e", "r/1?x#y", "\0", "x" * 300])
PASSWORDS = st.sampled_from([None, None, "blue-heron", "a&b=c%41 ü"])
CAPS = st.sampled_from([None, None, 0, 1, 2, 3, 10**18 - 1]) | st.sampled_from([-1, 10**18, 10**40])
ADDRESSES = st.sampled_from(
    ["open 0", "open 1"] * 4 + ["guarded"] * 3 + ["wrong login", "dead", "sip", "http"]
)
MORE = st.sampled_from([{}, {"assist_address": "rtsp://u:p@192.0.2.7/x"}, {"n": [1, {"ü": None}]}])


class Steps(RuleBasedStateMachine):
    """Every step is a call of the client or a turn of the sandbox, and its answer is compared."""

    piece: Piece
    cameras: tuple[str, str, str]  # two that play, and one that wants a login

    @initialize(dialect=st.sampled_from(DIALECTS), seed=st.integers(0, 3))
    def begin(self, dialect: ck.Dialect, seed: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.dialect, self.seed, self.model = dialect, seed, Model()
        self.piece.count("examples")
        self.start()
        # Rooms that fill soon; what only happens in full or guarded rooms is then not rare.
        for number, caps in enumerate(
            ({"attendee_max": 1}, {"max_audio": 2}, {"max_video": 2}, {})
        ):
            given = {
                "topic": "t",
                "owner_id": "o",
                "room_mode": 1,
                "host_password": "blue-heron",
                "room_extend_id": f"begun {number}",
                **caps,
            }
            self.model.rooms[ck.create_room(self.client, **given)] = RoomState(given, True)

    def start(self) -> None:
        self.sandbox = Sandbox(
            seed=self.seed,
            dialect=self.dialect,
            path=Path(self.folder.name) / "rooms.sqlite",
            dial_timeout=SECONDS,
        ).start()
        self.client = self.sandbox.connect(timeout=(SECONDS, SECONDS))

    def stop(self) -> None:
        self.client.close()
        self.sandbox.close()

    def teardown(self) -> None:
        if hasattr(self, "client"):
            self.stop()
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def came(self, wrong: int, call: Any, *given: Any, **more: Any) -> tuple[int, Any]:
        """The result code of a call and what it gave; `wrong` where the client itself refused."""
        self.piece.count("calls")
        try:
            return 0, call(self.client, *given, **more)
        except ck.ApiError as error:
            assert str(error), "an error without a text"
            return wrong if error.ret is None else int(error.ret), None

    def due(self, code: int, codes: Codes, what: str) -> bool:
        """Whether the call went well, as it was due; any other code than those due is wrong."""
        assert code in (codes or {0}), f"{what} answered {code}, due was {sorted(codes) or 0}"
        return code == 0

    def room(self, place: int) -> str:
        """A room that there is, or one that there is not."""
        known = [*self.model.rooms, "no such room"]
        return known[place % len(known)]

    def user(self, room_id: str, place: int) -> str:
        """A user who is in the room, or one who is not."""
        there = self.model.users(room_id) if room_id in self.model.rooms else []
        known = [*(user_id for user_id, _ in there), "nobody"]
        return known[place % len(known)]

    @rule(
        topic=st.text(max_size=50),
        owner_id=NAMES,
        room_mode=st.integers(0, 5),
        attendee_max=CAPS,
        max_audio=CAPS,
        max_video=CAPS,
        host_password=PASSWORDS,
        room_extend_id=st.none() | EXTEND_IDS,
    )
    def create(self, **given: Any) -> None:
        code, room_id = self.came(407, ck.create_room, **given)
        if self.due(code, self.model.create(given), "A2"):
            own = given["room_extend_id"]
            assert room_id == own if own else room_id not in self.model.rooms
            self.model.rooms[room_id] = RoomState(given, assigned=self.model.mcu)
            self.look(len(self.model.rooms) - 1)

    @rule(place=PLACES)
    def look(self, place: int) -> None:
        """Every field of a room, and everybody who is there."""
        room_id = self.room(place)
        code, room = self.came(407, ck.get_room, room_id)
        if self.due(code, self.model.one(room_id), "A3"):
            known = self.model.rooms[room_id].fields
            found = {name: getattr(room, name) for name in FIELDS}
            assert found == {name: known.get(name) for name in FIELDS}
            assert (room.room_id, room.room_status) == (room_id, self.model.status(room_id))
        code, users = self.came(407, ck.get_room_users, room_id)
        if self.due(code, self.model.one(room_id), "A6"):
            found = sorted((user.user_id, user.user_name) for user in users)
            assert found == self.model.users(room_id)

    @rule(place=PLACES)
    def delete(self, place: int) -> None:
        room_id = self.room(place)
        code, _ = self.came(407, ck.delete_room, room_id)
        if self.due(code, self.model.one(room_id), "A4"):
            self.model.gone(room_id)
            del self.model.rooms[room_id]

    @rule(place=PLACES)
    def address(self, place: int) -> None:
        room_id = self.room(place)
        code, address = self.came(407, ck.get_mcu, room_id)
        if self.due(code, self.model.address(room_id), "A5"):
            self.model.rooms[room_id].assigned = True
            assert 0 < int(address.removeprefix("127.0.0.1:")) < 65536

    @rule(place=PLACES, whom=PLACES)
    def offline(self, place: int, whom: int) -> None:
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

    @rule(place=PLACES, name=NAMES, user=st.none() | USERS, password=PASSWORDS)
    def join(self, place: int, name: str, user: str | None, password: str | None) -> None:
        """Somebody joins, as a host with the room's password."""
        room_id, room = self.room(place), self.model.rooms.get(self.room(place))
        other = password and room and room.fields.get("host_password") != password
        taken = user and self.model.knows(room_id, user)
        why = [*self.model.obstacles(room_id), *filter(None, [other, taken])]
        try:
            user_id = self.sandbox.join(room_id, name, password=password, user_id=user)
        except RoomJoinRefused as refused:
            assert why, f"refused without a reason: {refused}"
            return
        assert not why, f"joined in spite of {why}"
        assert user_id == user if user else user_id not in room.people
        room.people[user_id], room.assigned = name, True

    @rule(
        place=PLACES, user=USERS, name=NAMES, which=ADDRESSES, data=st.text(max_size=12), more=MORE
    )
    def bring(
        self, place: int, user: str, name: str, which: str, data: str, more: dict[str, Any]
    ) -> None:
        room_id, (address, kind, login) = self.room(place), self.camera(which)
        options = {**more, **login}
        given = {
            "roomId": room_id,
            "userId": user,
            "userName": name,
            "userAddress": address,
            "userData": data,
            "options": options,
        }
        code, device = self.came(
            401, ck.import_device, room_id, user, name, address, user_data=data, options=options
        )
        if self.due(code, self.model.bring(given, kind), f"B1 of {which}"):
            self.model.devices[user] = given
            self.model.rooms[room_id].assigned = True
            assert device.user_address == address

    def camera(self, which: str) -> tuple[str, str, dict[str, str]]:
        """An address, what it is to the model, and the options that go with it."""
        first, second, guarded = self.cameras
        return {
            "open 0": (first, "plays", {}),
            "open 1": (second, "plays", {}),
            "guarded": (guarded, "plays", LOGIN),
            "wrong login": (guarded, "refuses", {**LOGIN, "login_password": "other"}),
            "dead": (f"{first}-dead", "refuses", {}),
            "sip": ("sip://192.0.2.7:5060/x", "unknown", {}),
            "http": ("http://192.0.2.7/x", "wrong", {}),
        }[which]

    @precondition(lambda self: self.model.devices)
    @rule(place=PLACES, elsewhere=PLACES, other=st.booleans())
    def remove(self, place: int, elsewhere: int, other: bool) -> None:
        """A device where it is or where it is not, by its address or by another one."""
        device = [*self.model.devices.values()][place % len(self.model.devices)]
        room_id = self.room(elsewhere) if elsewhere < 3 else device["roomId"]
        address = "rtsp://192.0.2.7/other" if other else device["userAddress"]
        codes = self.model.remove(room_id, device["userId"], address)
        code, _ = self.came(401, ck.remove_device, room_id, device["userId"], address)
        if self.due(code, codes, "B2"):
            del self.model.devices[device["userId"]]

    @rule(up=st.sampled_from([True, True, False]))
    def media_server(self, up: bool) -> None:
        (self.sandbox.start_mcu if up else self.sandbox.stop_mcu)()
        self.model.mcu = up

    @rule(state=st.sampled_from(["running"] * 4 + ["stopped", "hanging"]))
    def device_service(self, state: str) -> None:
        self.sandbox.device_service(state)
        self.model.service = state

    @rule()
    def restart(self) -> None:
        """The service starts anew on its file: rooms, people and devices are those of before."""
        self.stop()
        self.start()
        self.model.mcu, self.model.service = True, "running"
        until = time.monotonic() + SECONDS
        while any(stream.state != "live" for stream in self.sandbox.streams()):
            assert time.monotonic() < until, f"not back: {self.sandbox.streams()}"
            time.sleep(0.02)
        for place in range(len(self.model.rooms)):
            self.look(place)

    @invariant()
    def the_lists_are_right(self) -> None:
        """B3 lists every device as it was brought, and the rooms are these and no others."""
        if not hasattr(self, "model"):
            return
        assert self.sandbox.room_ids() == list(self.model.rooms)
        code, devices = self.came(401, ck.list_devices)
        if self.due(code, self.model.device_service(304), "B3"):
            found = [
                (
                    one.room_id,
                    one.user_id,
                    one.user_name,
                    one.user_address,
                    one.user_data,
                    dict(one.options),
                )
                for one in devices
            ]
            assert found == [tuple(one.values()) for one in self.model.devices.values()]


def model(piece: Piece) -> None:
    """Examples of some thirty steps each, compared with the dictionary."""
    small = {"size": (160, 120), "fps": 2}
    with Sandbox(seed=piece.number) as sandbox:
        cameras = (
            sandbox.camera(**small),
            sandbox.camera(**small),
            sandbox.camera(**LOGIN, **small),
        )
        machine = type("Service", (Steps,), {"cameras": cameras, "piece": piece})
        seeded = hypothesis.seed(piece.chance().getrandbits(64))(machine)
        # What breaks in a short piece is reported at once: to make it smaller takes minutes.
        settings = bounded(piece.size, shrink=piece.size > 50, stateful_step_count=30)
        watched(
            piece,
            "steps",
            lambda: hypothesis.stateful.run_state_machine_as_test(seeded, settings=settings),
        )
