"""Changes whose calls and answers get lost: what was said of each against what is there then."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox

from .chaos import BOMBS, FAULTS, SLOW
from .piece import Piece
from .proxy import attacked

LATE = 1.5  # seconds that an answer takes which comes too late
PATIENT = {"timeout": (5.0, 1.0), "sleep": time.sleep}  # what is late may still be under way
THREADS, CAMERAS = 6, 8
FLOOR = 0.5  # of the changes are reported as done, however many get lost
# How often a call or its answer is lost. Answers that lie in good form are for reads to bear.
LOST = {"lost": 0.12, "reset_before": 0.04, "cut": 0.04, "http_504": 0.03, "http_503": 0.03}
LIES = {"other_room", "duplicate_keys", "not_numbers", "huge_integer", *BOMBS}
OTHERS = sorted(set(FAULTS) - set(LOST) - SLOW - LIES)
WEIGHTS = {**LOST, **dict.fromkeys(OTHERS, 0.2 / len(OTHERS)), **dict.fromkeys(sorted(SLOW), 0.003)}
TROUBLES = (
    {"drop": True},
    {"ret": 504},
    {"ret": 409},
    {"ret": 310},
    {"ret": 503},
    {"http": 502},
    {"delay": LATE},
    {"ret": 602},
    {"ret": 424},
)
PATHS = [ENDPOINTS[key].path for key in ("A2", "A4", "A7", "B1", "B2")]
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


def told_by(call: Callable[[], object]) -> Told:
    """What is said of a change."""
    try:
        return Told("done", call())
    except ck.OutcomeUnknown as error:
        return Told("uncertain", error)
    except ck.UserExists as error:
        return Told("exists", error)
    except ck.ConfkitError as error:
        return Told("failed", error)
    except Exception as error:  # noqa: BLE001  # none of these may escape
        return Told("foreign", error)


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
    """A change of one thing: the call, whether it brings the thing, and whether it was there."""

    call: Callable[[], object]
    brings: bool = True
    before: bool = False


def room_work(scene: Scene, topic: str, number: int, chance: random.Random) -> Work:
    """A change of the one room with this topic."""
    if chance.random() < 0.25:
        room_id = ck.create_room(scene.plain, topic, "ops")
        return Work(lambda: ck.delete_room(scene.client, room_id), brings=False)
    own = f"own-{number}" if chance.random() < 0.5 else None
    return Work(lambda: ck.create_room(scene.client, topic, "ops", room_extend_id=own))


def user_work(scene: Scene, user_id: str, number: int, chance: random.Random) -> Work:
    """This user leaves a room."""
    room_id = ck.create_room(scene.plain, "People", "ops")
    scene.sandbox.join(room_id, "Ada", user_id=user_id)
    return Work(lambda: ck.force_offline(scene.client, room_id, user_id), brings=False)


def device_work(scene: Scene, user_id: str, number: int, chance: random.Random) -> Work:
    """A change of the device with this user ID."""
    if number % CAMERAS == 0:
        ck.create_room(scene.plain, "Cameras", "ops")
    room_id = scene.sandbox.room_ids()[-1]
    device = ck.Device(room_id, user_id, "Door", scene.cameras[number % CAMERAS])
    kind = chance.choice(["import"] * 3 + ["remove", "reimport"])
    calls: dict[str, Callable[[], object]] = {
        "import": lambda: ck.import_device(scene.client, device),
        "remove": lambda: ck.remove_device(scene.client, device),
        "reimport": lambda: ck.reimport_device(scene.client, device),
    }
    if kind in ("remove", "reimport"):
        ck.import_device(scene.plain, device)
    return Work(calls[kind], brings=kind != "remove", before=kind == "reimport")


def rooms(piece: Piece) -> None:
    """Rooms are made and deleted, and users leave them."""
    _changes(piece, [room_work] * 5 + [user_work])


def devices(piece: Piece) -> None:
    """Devices are imported, removed and imported again."""
    _changes(piece, [device_work])


def _changes(piece: Piece, kinds: Sequence[Callable[..., Work]]) -> None:
    chance = piece.chance()
    with _scene(piece) as scene:
        work = {
            name: chance.choice(kinds)(scene, name, number, chance)
            for number, name in enumerate(f"thing {number}" for number in range(piece.size))
        }

        def done(name: str) -> Told:
            own = piece.chance(name)
            if own.random() < 0.15:
                trouble(scene.sandbox, own)
            return told_by(work[name].call)

        with ThreadPoolExecutor(THREADS) as pool:
            told = dict(zip(work, pool.map(done, work), strict=True))
        scene.sandbox.clear_faults()
        times = settled(lambda: _there(scene))
    for name, one in work.items():
        piece.count("changes")
        # Of a device that is imported again only ReimportFailed says that it is gone.
        gone = told[name].name == "done" or isinstance(told[name].value, ck.ReimportFailed)
        judged(piece, name, one.brings and (gone or not one.before), told[name], times[name])
    piece.floor("told done", "changes", FLOOR)


def _there(scene: Scene) -> Counter[str]:
    """How often each thing is there: a room by its topic, users and devices by their IDs."""
    found = Counter(user_id for _, user_id, _ in places(scene.plain))
    for room_id in scene.sandbox.room_ids():
        found[str(ck.get_room(scene.plain, room_id).topic)] += 1
        found.update(one["user_id"] for one in scene.sandbox.people(room_id))
    return found


@contextmanager
def _scene(piece: Piece) -> Iterator[Scene]:
    with Sandbox() as sandbox, sandbox.connect() as plain:
        cameras = [sandbox.camera(size=(128, 96), fps=1) for _ in range(CAMERAS)]
        with attacked(sandbox, piece, WEIGHTS, ck.Client, **PATIENT) as (_, client):
            yield Scene(sandbox, plain, client, cameras)
