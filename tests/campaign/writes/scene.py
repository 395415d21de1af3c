"""What every part needs: a service with cameras, its state in plain calls, and what was found."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import confkit as ck
from confkit.sandbox import Sandbox

from ..chaos import FAULTS, SLOW, Chaos

CREATE, DELETE = "/rtc/room/create", "/rtc/room/del"
OFFLINE = "/rtc/force_offline_mcu"
IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LATE = 1.5  # seconds that an answer takes which comes too late
TIMEOUT = (5.0, 1.0)  # of a client: seconds to connect and to read
# How often a call or its answer is lost; the rest of the faults come evenly together, those that
# take LATE seconds seldom. Answers that lie in good form (another room's) are for reads to bear.
LOST = {"lost": 0.12, "reset_before": 0.04, "cut": 0.04, "http_504": 0.03, "http_503": 0.03}
LIES = {"other_room", "duplicate_keys", "not_numbers", "huge_integer", "gzip_bomb",
        "gzip_bomb_twice"}  # fmt: skip
OTHERS, SLOWLY = 0.2, 0.015
TROUBLED = 0.15  # of the calls
HANG = 90.0  # seconds; the longest that a call may take by itself is half of it

T = TypeVar("T")
Place = tuple[str, str, str]  # room, user and address of a device


@dataclass
class Notes:
    """Counts from all threads, and a line in broken.txt about each that must not be."""

    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        (self.folder / "broken.txt").unlink(missing_ok=True)  # of a run before

    def count(self, name: str, number: int = 1) -> None:
        """Counts what may be."""
        with self.lock:
            self.counts[name] += number

    def broken(self, name: str, told: str) -> None:
        """Counts what must not be, and keeps what was expected and what came."""
        with self.lock:
            self.counts[name] += 1
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "broken.txt").open("a", encoding="utf-8") as file:
                file.write(f"{name}: {told}\n")


def small_cameras(sandbox: Sandbox, count: int) -> list[str]:
    """Addresses of cameras that cost next to nothing."""
    return [sandbox.camera(size=(128, 96), fps=1) for _ in range(count)]


def places(client: ck.Client) -> list[Place]:
    """Room, user and address of every device, by B3."""
    return sorted(
        (device.room_id, device.user_id, str(device.user_address))
        for device in ck.list_devices(client)
    )


def rooms(sandbox: Sandbox, client: ck.Client) -> dict[str, list[str]]:
    """The rooms of each topic, every room read by A3."""
    found: dict[str, list[str]] = {}
    for room_id in sandbox.room_ids():
        found.setdefault(str(ck.get_room(client, room_id).topic), []).append(room_id)
    return found


def settled(state: Callable[[], T], quiet: float) -> T:
    """A state once it has stayed the same for so many seconds: what was lost on its way to the
    client may still be under way in the service."""
    before, since = state(), time.monotonic()
    while time.monotonic() < since + quiet:
        time.sleep(min(0.05, quiet))
        now = state()
        if now != before:
            before, since = now, time.monotonic()
    return before


@dataclass(frozen=True)
class Told:
    """What the client told of one call: "done", "failed", "uncertain", "exists" (423) or
    "foreign", for what is no error of confkit."""

    name: str
    value: object
    error: str


def told_by(call: Callable[[], object], notes: Notes) -> Told:
    """What came of a call."""
    began = time.monotonic()
    try:
        told = Told("done", call(), "")
    except ck.OutcomeUnknown as error:
        told = Told("uncertain", None, f"{type(error).__name__}: {error}")
    except ck.UserExists as error:
        told = Told("exists", None, str(error))
    except ck.ConfkitError as error:
        told = Told("failed", error, f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001  # none of these may escape
        told = Told("foreign", error, f"{type(error).__name__}: {error}")
        notes.broken("foreign exceptions", told.error)
    if time.monotonic() - began > HANG:
        notes.broken("hangs", f"{time.monotonic() - began:.0f} s: {told}")
    notes.count(f"told {told.name}")
    return told


def weights() -> dict[str, float]:
    """How likely each fault of the way is, for a client that writes."""
    others = sorted(set(FAULTS) - set(LOST) - set(SLOW) - LIES)
    return {
        **LOST,
        **dict.fromkeys(others, OTHERS / len(others)),
        **dict.fromkeys(sorted(SLOW), SLOWLY / len(SLOW)),
    }


@contextmanager
def lossy(sandbox: Sandbox, chance: random.Random, notes: Notes) -> Iterator[ck.Client]:
    """A client whose calls and answers get lost on their way."""
    seed = str(chance.random())
    with Chaos(
        sandbox.base_url, sandbox.outgoing_url, chance=seed, weights=weights(), late=LATE
    ) as chaos, ck.connect(
        base_url=chaos.base_url, outgoing_url=chaos.outgoing_url, timeout=TIMEOUT,
        access_key=sandbox.access_key, secret_key=str(sandbox.secret_key),
    ) as client:  # fmt: skip
        yield client
    passed = chaos.counts["plain"]
    notes.count("calls passed on as they are", passed)
    notes.count("faults on the way", sum(chaos.counts.values()) - passed)


def trouble(sandbox: Sandbox, chance: random.Random, *paths: str) -> None:
    """Something that a service does wrong with one of the next calls, or all its tokens expire."""
    what = chance.random()
    if what < 0.3:
        sandbox.advance(4000)
        return
    wrong = chance.choice(
        [{"drop": True}, {"ret": 504}, {"ret": 409}, {"ret": 310}, {"ret": 503}, {"http": 502},
         {"delay": LATE}, {"ret": 602}, {"ret": 424}]
    )  # fmt: skip
    after = what < 0.7 and wrong.get("ret") != 602  # a refused token never changed anything
    sandbox.fault(chance.choice(paths), **wrong, after=after, times=1)


def troubled(
    sandbox: Sandbox, work: Callable[[], object], chance: random.Random, *paths: str
) -> Callable[[], object]:
    """The same work, with some trouble before it now and then."""
    own = random.Random(chance.random())

    def done() -> None:
        if own.random() < TROUBLED:
            trouble(sandbox, own, *paths)
        work()

    return done


def side_by_side(work: Sequence[Callable[[], object]], threads: int) -> None:
    """Does all this work, several pieces of it at a time."""
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(one) for one in work]:
            future.result()
