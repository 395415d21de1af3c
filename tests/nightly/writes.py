"""Changes whose calls and answers get lost: what was said of each against what is there then."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox

from .chaos import BOMBS, FAULTS, SLOW
from .piece import Piece
from .proxy import attacked

LATE = 1.5  # seconds that an answer takes which comes too late
PATIENT = {"timeout": (5.0, 1.0), "sleep": time.sleep}  # what is late may still be under way
THREADS, CAMERAS = 6, 8
FLOOR = 0.5  # of the changes are reported as done, however many get lost
# How often a call or its answer is lost. Answers that lie in good form are for reads to bear.
LOST = {"a reset": 0.13, "cut": 0.04, "busy": 0.06}
LIES = {"other_room", "not_numbers", "huge_integer", *BOMBS}
OTHERS = sorted(set(FAULTS) - set(LOST) - SLOW - LIES)
WEIGHTS = {**LOST, **dict.fromkeys(OTHERS, 0.2 / len(OTHERS)), **dict.fromkeys(sorted(SLOW), 0.003)}
RETS = (504, 409, 310, 503, 602, 424)
TROUBLES = ({"drop": True}, {"http": 502}, {"delay": LATE}, *({"ret": ret} for ret in RETS))
PATHS = [OPERATIONS[key].path for key in ("A2", "A4", "A7", "B1", "B2")]
# What was reported, whether the change brings something, and whether that is there.
WRONG = {
    ("done", True, False): "told done and missing",
    ("exists", True, False): "told done and missing",
    ("done", False, True): "told done and still there",
    ("failed", True, True): "told failed but there",
    ("failed", False, False): "told failed but gone",
}


class Told(NamedTuple):
    """What was said of a change: "done", "failed", "uncertain", "exists" (423) or "foreign"."""

    name: str
    value: Any = None


def judged(piece: Piece, what: object, brings: bool, told: Told, times: int) -> None:
    """Judges what was said of a change by how often its thing is there."""
    piece.count(f"told {told.name}")
    wrong = "doubled" if times > 1 else WRONG.get((told.name, brings, bool(times)))
    if wrong or told.name == "foreign":
        piece.broke(wrong or "foreign exceptions", what, repr(told), f"{times} there")


SAID = {ck.OutcomeUnknown: "uncertain", ck.UserExists: "exists", ck.ConfkitError: "failed"}


def told_by(call: Callable[[], object]) -> Told:
    """What is said of a change."""
    try:
        return Told("done", call())
    except Exception as error:  # noqa: BLE001  # none but ours may escape
        name = next((name for kind, name in SAID.items() if isinstance(error, kind)), "foreign")
        return Told(name, error)


def settled(state: Callable[[], Any], quiet: float = LATE) -> Any:
    """A state once it has stayed the same for so many seconds: what was lost on its way to the
    client may still be under way in the service."""
    before, since = state(), time.monotonic()
    while time.monotonic() < since + quiet:
        time.sleep(0.05)
        if (now := state()) != before:
            before, since = now, time.monotonic()
    return before


def places(client: ck.Client) -> list[tuple[str, str, str]]:
    """Room, user and address of every device, by B3."""
    listed = ck.list_devices(client)
    return sorted((one.room_id, one.user_id, str(one.user_address)) for one in listed)


def trouble(sandbox: Sandbox, chance: random.Random) -> None:
    """Something that a service does wrong with one of the next calls, before the change or behind
    it, or all its tokens expire."""
    if chance.random() < 0.3:
        sandbox.advance(4000)
        return
    wrong = chance.choice(TROUBLES)
    after = chance.random() < 0.5 and wrong.get("ret") != 602  # which never changed anything
    sandbox.fault(chance.choice(PATHS), **wrong, after=after, times=1)


class Scene(NamedTuple):
    """A service, a client that loses nothing, and one whose calls and answers get lost."""

    sandbox: Sandbox
    plain: ck.Client
    client: ck.Client
    cameras: Sequence[str]


class Work(NamedTuple):
    """A change of one thing: the call, and whether it brings the thing."""

    call: Callable[[], object]
    brings: bool = True


def room_work(scene: Scene, topic: str, number: int, chance: random.Random) -> Work:
    """A change of the one room with this topic, or of the one user with this ID."""
    sandbox, plain, client, _ = scene
    kind = chance.choice(["create", "create", "create own", "create own", "delete", "leave"])
    if kind == "delete":
        room_id = ck.create_room(plain, topic, "ops")
        return Work(lambda: ck.delete_room(client, room_id), brings=False)
    if kind == "leave":
        room_id = ck.create_room(plain, "People", "ops")
        sandbox.join(room_id, "Ada", user_id=topic)
        return Work(lambda: ck.force_offline(client, room_id, topic), brings=False)
    own = f"own-{number}" if kind == "create own" else None
    return Work(lambda: ck.create_room(client, topic, "ops", room_extend_id=own))


def device_work(scene: Scene, user_id: str, number: int, chance: random.Random) -> Work:
    """A change of the device with this user ID."""
    sandbox, plain, client, cameras = scene
    if number % CAMERAS == 0:
        ck.create_room(plain, "Cameras", "ops")
    device = ck.Device(sandbox.room_ids()[-1], user_id, "Door", cameras[number % CAMERAS])
    change = chance.choice([ck.import_device] * 3 + [ck.remove_device])
    brings = change is ck.import_device
    if not brings:
        ck.import_device(plain, device)
    return Work(lambda: change(client, device), brings)


def changes(piece: Piece, kind: Callable[..., Work]) -> None:
    """Changes of one kind, many at once."""
    chance = piece.chance()
    with Sandbox() as sandbox, sandbox.connect() as plain:
        cameras = [sandbox.camera(size=(128, 96), fps=1) for _ in range(CAMERAS)]
        with attacked(piece, sandbox, WEIGHTS, **PATIENT) as (_, client):
            scene = Scene(sandbox, plain, client, cameras)
            names = enumerate(f"thing {number}" for number in range(piece.size))
            work = {name: kind(scene, name, number, chance) for number, name in names}

            def done(name: str) -> Told:
                own = piece.chance(name)
                if own.random() < 0.15:
                    trouble(sandbox, own)
                return told_by(work[name].call)

            with ThreadPoolExecutor(THREADS) as pool:
                told = dict(zip(work, pool.map(done, work), strict=True))
            sandbox.clear_faults()
            times = settled(lambda: _there(scene))
    for name, one in work.items():
        piece.count("changes")
        judged(piece, name, one.brings, told[name], times[name])
    piece.floor("told done", "changes", FLOOR)


def _there(scene: Scene) -> Counter[str]:
    """How often each thing is there: a room by its topic, users and devices by their IDs."""
    found = Counter(user_id for _, user_id, _ in places(scene.plain))
    for room_id in scene.sandbox.room_ids():
        found[str(ck.get_room(scene.plain, room_id).topic)] += 1
        found.update([*scene.sandbox._service.rooms[room_id].people])
    return found
