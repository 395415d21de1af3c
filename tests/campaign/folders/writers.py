"""Everything of confkit that writes a file, each with how to read back what it wrote.

A writer's `write(number)` raises, or says by False, that it failed; `read()` gives the numbers of
what is there, or the number of the one version that is.
"""

import os
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from confkit import profiles
from confkit.checklist import Check, Checklist
from confkit.course import kept
from confkit.occupancy.compaction import compact, save_occupancy
from confkit.occupancy.loading import load_occupancy
from confkit.occupancy.recorder import Recorder
from confkit.rooms import create_room
from confkit.rtsp.picture import encode_loop
from confkit.rtsp.report import Snapshot
from confkit.runbook.report import write_report
from confkit.runbook.running import Run
from confkit.sandbox import Sandbox
from confkit.writing import write_whole

SIZES = 8  # of pictures
BEGIN = datetime(2026, 6, 1, tzinfo=UTC)
STEP = timedelta(minutes=37)  # between two sweeps, so that there are days to compact


@dataclass(frozen=True)
class Writer:
    """What writes to one `place`; with a `cycle` the new takes the place of the old, and of its
    number no more than the rest can be read back."""

    name: str
    place: str
    write: Callable[[int], Any]
    read: Callable[[], Collection[int]]
    cycle: int = 0
    rewrites: bool = False  # writes what is there anew, and nothing else


class Unreadable(Exception):
    """What is in a file is no version that was ever written."""


def writers(folder: Path, store: Path, around: ExitStack) -> list[Writer]:
    """All of them, in a folder that may be closed, and the sandbox's file in one that stays open;
    `around` ends what they need."""
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    os.environ["CONFKIT_COURSE"] = str(folder / "course" / "course.jsonl")
    aside = around.enter_context(Sandbox(seed=1))
    client = around.enter_context(aside.connect())
    rooms = [create_room(client, "T", "o") for _ in range(2)]
    samples = folder / "samples"

    def read() -> list[int]:
        return _times(samples)

    def tidy(_: int) -> None:
        if samples.exists():
            compact(samples, date(2027, 1, 1))

    return [
        Writer("recorder", "samples", lambda n: _recorded(samples, client, rooms, n), read),
        Writer("save", "samples", lambda n: save_occupancy(_frame(n), samples), read),
        Writer("compact", "samples", tidy, read, rewrites=True),
        *_stored(store, around),
        Writer("profile", "profiles", _save_profile, _profiles),
        Writer("course", "course", lambda n: kept.keep(f"e{n}", True), _outcomes),
        _whole(folder / "report.html", "report", lambda path, n: write_report(
            path, _run(n), "r", "s", BEGIN, []
        ), lambda text: int(text.partition(b"found ")[2].partition(b",")[0]), b"</html>\n"),
        _whole(folder / "table.csv", "table", lambda path, n: write_whole(
            path, b"%d\n" % n * 3000), lambda text: int(text.split()[0]), b"\n"),
        _whole(folder / "picture.png", "picture", lambda path, n: _picture(n).save(path),
               lambda text: (int.from_bytes(text[20:24]) - 96) // 8, b"IEND\xaeB`\x82", SIZES),
    ]  # fmt: skip


def _recorded(folder: Path, client: Any, rooms: list[str], number: int) -> bool:
    told: list[int] = []
    Recorder(folder, clock=lambda: _time(number).timestamp()).record(
        client, rooms, sweeps=1, told=lambda done: told.append(done.sweeps)
    )
    return told == [1]


def _time(number: int) -> datetime:
    return BEGIN + STEP * number


def _frame(number: int) -> pd.DataFrame:
    rows: dict[str, Any] = {"time": _time(number), "room_id": ["a", "b"], "users": 1, "people": 1,
                            "devices": 0, "attendee_max": None, "ret": 0}  # fmt: skip
    return pd.DataFrame(rows)


def _times(folder: Path) -> list[int]:
    """The number of each sweep, as often as it is there."""
    if not folder.exists():
        return []
    frame = load_occupancy(folder)
    rooms = frame.groupby(["time", "room_id"]).size().groupby("time").agg(["size", "max"])
    if (rooms["size"] != 2).any():
        raise Unreadable("a sweep of two rooms has another number of them")
    return [round((time - BEGIN) / STEP) for time, n in rooms["max"].items() for _ in range(n)]


def _stored(folder: Path, around: ExitStack) -> list[Writer]:
    folder.mkdir(parents=True, exist_ok=True)
    sandbox = around.enter_context(Sandbox(seed=2, path=folder / "rooms.sqlite"))
    client = around.enter_context(sandbox.connect())

    def create(number: int) -> None:
        create_room(client, "x" * 100, "o" * 3000, room_extend_id=f"r{number}")

    def join(number: int) -> None:
        sandbox.join("r-1", "y" * 3000, user_id=f"u{number}")

    create(-1)

    def rooms() -> list[int]:
        return [int(one[1:]) for one in sandbox.room_ids() if one != "r-1"]

    def people() -> list[int]:
        return [int(one["user_id"][1:]) for one in sandbox.people("r-1")]

    return [
        Writer("sandbox's room", "rooms", create, rooms),
        Writer("sandbox's person", "people", join, people),
    ]


def _save_profile(number: int) -> None:
    profiles.save(f"p{number}", {"base_url": f"http://h{number}", "read_only": True})


def _profiles() -> list[int]:
    return [int(name[1:]) for name in profiles.names() if name != profiles.EMBEDDED]


def _outcomes() -> list[int]:
    return [int(name[1:]) for name in kept.outcomes()]


def _run(number: int) -> Run:
    return Run(Checklist([Check("one", "PASS", f"found {number}, " * 800)]), None)


def _picture(number: int) -> Snapshot:
    """One whose height says which it is."""
    size = (128, 96 + 8 * (number % SIZES))
    loop = encode_loop("T", codec="mjpeg", size=size, fps=1, keyframe_every=1.0)
    return Snapshot.of("mjpeg", loop.frames[0])


def _whole(
    path: Path, name: str, write: Callable[[Path, int], Any], number: Callable[[bytes], int],
    end: bytes, cycle: int = 1 << 30,
) -> Writer:  # fmt: skip
    """A writer of one file that is replaced as a whole."""

    def read() -> list[int]:
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return []
        if not text.endswith(end):
            raise Unreadable(f"{path.name} ends with {text[-20:]!r}")
        return [number(text)]

    return Writer(name, name, lambda one: write(path, one), read, cycle)
