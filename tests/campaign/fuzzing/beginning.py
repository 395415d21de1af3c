"""A client, a sandbox and the dictionary that says what has to come, before any step."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

import confkit as ck
from confkit.sandbox import Sandbox

from .model import Codes, Model, RoomState

SECONDS = 30  # a stream that was lost by a restart has come back, on a machine however busy

DIALECTS = (
    ck.Dialect(),
    ck.Dialect(hash="sha256", signature="raw", result_field="result", item_keys="snake_case",
               token_parameter="access_tocken", mcu_token_parameter="token",
               remove_token_parameter="accessToken"),
    ck.Dialect(create_method="POST", list_method="POST", placement="json"),
    ck.Dialect(create_method="POST", list_method="POST", placement="form", result_field="result"),
)  # fmt: skip


class Cameras(NamedTuple):
    """The cameras of all examples: those that play, one that wants a login, and a dead address."""

    open: tuple[str, ...]
    guarded: str
    dead: str


LOGIN = {"login_name": "admin", "login_password": "desk&=%2468"}
USERS = st.sampled_from(["u1", "u2", "u3", "ü=&%41", "0"])
NAMES = st.text(min_size=1, max_size=20)
PLACES = st.integers(0, 9)


class Beginning(RuleBasedStateMachine):
    """Where every example begins and ends, and how an answer is compared."""

    cameras: Cameras
    done: Counter[str]

    @initialize(dialect=st.sampled_from(DIALECTS), seed=st.integers(0, 3))
    def begin(self, dialect: ck.Dialect, seed: int) -> None:
        """A sandbox on an empty file, in one of the dialects."""
        self.folder = tempfile.TemporaryDirectory()
        self.dialect, self.seed = dialect, seed
        self.model = Model()
        self.client: ck.Client | None = None
        self.done["examples"] += 1
        self.start()
        # Rooms that fill soon; what only happens in full or guarded rooms is then not rare.
        for number, caps in enumerate(
            ({"attendee_max": 1}, {"max_audio": 2}, {"max_video": 2}, {})
        ):
            given = {"topic": "t", "owner_id": "o", "room_mode": 1, "host_password": "blue-heron",
                     "room_extend_id": f"begun {number}", **caps}  # fmt: skip
            self.model.rooms[ck.create_room(self.client, **given)] = RoomState(given, assigned=True)

    def start(self) -> None:
        """A sandbox on the file that there is, and a client of it."""
        self.sandbox = Sandbox(
            seed=self.seed, dialect=self.dialect, path=Path(self.folder.name) / "rooms.sqlite",
            dial_timeout=SECONDS,
        ).start()  # fmt: skip
        self.client = self.sandbox.connect(timeout=(SECONDS, SECONDS))

    def stop(self) -> None:
        """Ends both."""
        if self.client:
            self.done["calls"] += self.sandbox.count()
            self.client.close()
            self.sandbox.close()

    def teardown(self) -> None:
        """Lets go of everything."""
        if hasattr(self, "folder"):
            self.stop()
            self.folder.cleanup()

    # What came, and what had to

    def came(self, wrong: int, call: Any, *given: Any, **more: Any) -> tuple[int, Any]:
        """The result code of a call and what it gave; `wrong` where the client itself refused."""
        try:
            return 0, call(self.client, *given, **more)
        except ck.ApiError as error:
            assert str(error), "an error without a text"
            return wrong if error.ret is None else int(error.ret), None

    def due(self, code: int, codes: Codes, what: str) -> bool:
        """Whether the call went well, as it was due; any other code than those due is wrong."""
        told = f"{what} answered {code}, due was {sorted(codes) or 0}"
        assert code in (codes or {0}), told
        self.done["refusals"] += bool(code)
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
