"""Recorders that are killed while they record, and while they compact the days that are over."""

import os
import re
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

import confkit as ck
from confkit.occupancy.loading import load_occupancy
from confkit.occupancy.recorder import Recorder
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece
from ..processes import Child

# A turn each: the command in its own time, one recorder whose days pass quickly, two of them.
TURNS = ("quick", "quick pair", "quick", "command")
EVERY = 6 * 3600.0
FIRST = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
NOW = pd.Timestamp("2025-01-01", tz="UTC")  # times after this are the command's own
PEOPLE = (0, 1, 2, 3, None)  # in each room; None: the room is unknown
TOLD = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+\+00:00): (\d+) rooms, ")
NEVER = (
    "lost sweeps", "doubled samples", "torn sweeps", "wrong values", "unreadable files",
    "left files", "failed starts", "complaints",
)  # fmt: skip


def run(piece: Piece) -> Counts:
    """So many kills of recorders that record one sandbox into one folder."""
    with Sandbox() as sandbox, sandbox.connect() as client:
        rooms: dict[str, int | None] = {}
        for count in PEOPLE:
            room_id = "unknown" if count is None else ck.create_room(client, f"{count}", "ops")
            for number in range(count or 0):
                sandbox.join(room_id, f"Person {number}")
            rooms[room_id] = count
        keys = {
            "CONFKIT_BASE_URL": sandbox.base_url, "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
            "CONFKIT_ACCESS_KEY": sandbox.access_key, "CONFKIT_SECRET_KEY": str(sandbox.secret_key),
        }  # fmt: skip
        recording = Recording(piece, rooms, keys)
        recording.kills()
        recording.goes_on(client)
    return recording.counts


class Recording:
    """One folder, in which recorders are killed again and again, and what they told of it."""

    def __init__(self, piece: Piece, rooms: dict[str, int | None], keys: dict[str, str]) -> None:
        self.counts: Counter[str] = Counter()
        self._piece, self._rooms, self._keys = piece, rooms, keys
        self._folder = piece.folder / "kept"
        if self._folder.exists():  # of a piece that was stopped
            self._folder.rename(piece.folder / f"kept-before-{time.time_ns()}")
        piece.folder.joinpath("rooms.txt").write_text("\n".join(rooms), "utf-8")
        self._chance = piece.chance("moments")
        self._start = self._last = FIRST  # in quick days, and their last sweep so far
        self._told: Counter[pd.Timestamp] = Counter()  # of the recorders that are dead
        self._at = "the first start"

    def kills(self) -> None:
        """Nothing, once so many were killed and the folder was looked at after each."""
        turn = 0
        while self.counts["kills"] < self._piece.size:
            self._at = f"turn {turn}, {TURNS[turn % len(TURNS)]}"
            pair = min(2, self._piece.size - int(self.counts["kills"]))
            victims = [
                self._recorder(TURNS[turn % len(TURNS)] == "command", self._start + beside * 1800)
                for beside in range(pair if "pair" in TURNS[turn % len(TURNS)] else 1)
            ]
            if None in [victim.line(0) for victim in victims]:
                self._count("failed starts", "no sweep was told; see recorder.log")
            self._watched(victims)
            for victim in victims:
                victim.kill()
                self.counts["kills"] += 1
            for line in (line for victim in victims for line in victim.lines):
                if not TOLD.search(line) and " skipped " not in line:
                    self._count("complaints", line)
            self._told.update(told for victim in victims for told in _told(victim.lines))
            self._check(self._told)
            # The next one goes on in the same day, or after a day without any; never at the time of
            # a sweep that is there, which may be one that nobody was told of.
            self._start = self._last + EVERY * self._chance.choice((0.5, 1, 9))
            turn += 1
        self.counts["sweeps told"] = sum(self._told.values())

    def goes_on(self, client: ck.Client) -> None:
        """Nothing, once a last recorder went on, days later, and what is left was looked at."""
        drafts = [path for path in self._folder.rglob("*") if path.name.endswith(".tmp")]
        self.counts["drafts of the dead"] = len(drafts)
        for path in drafts:  # it goes by the age of the file, which is a day here
            os.utime(path, (time.time() - 90_000,) * 2)
        now = time.time() + 5 * 86_400
        Recorder(self._folder, clock=lambda: now).record(client, list(self._rooms), sweeps=1)
        last = f"{datetime.fromtimestamp(now, UTC):%Y%m%d}"
        for path in [path for path in self._folder.rglob("*") if path.is_file()]:
            expected = path.name.startswith(("part-", "SANDBOX", last, "127.0.0.1"))
            if not expected:
                self._count("left files", str(path.relative_to(self._folder)))
        self._told[pd.Timestamp(now, unit="s", tz="UTC").floor("ms")] += 1
        self._check(self._told)

    def _recorder(self, command: bool, start: float) -> Child:
        folder, rooms = str(self._folder), str(self._piece.folder / "rooms.txt")
        log = self._piece.folder / "recorder.log"
        if command:
            code = "import sys; sys.stderr = sys.stdout; from confkit.cli import main; main()"
            arguments = ["-c", code, "record", folder, "--rooms", rooms, "--every", "0.03"]
            return Child(arguments, log, self._keys)
        script = str(Path(__file__).with_name("recording.py"))
        return Child(["-P", script, folder, rooms, str(start), str(EVERY)], log, self._keys)

    def _watched(self, victims: Sequence[Child]) -> None:
        """Nothing, after a moment of chance in which the recording was read, as people read it."""
        until = time.monotonic() + self._chance.uniform(0, 1.0)
        while time.monotonic() < until:
            told = self._told.copy()
            told.update(told for victim in victims for told in _told(list(victim.lines)))
            self._check(told)
            time.sleep(0.02)

    def _check(self, told: Counter[pd.Timestamp]) -> None:
        """Counts what of these sweeps is missing, twice there, or not as it was."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            frame = load_occupancy(self._folder)
        self.counts["readings"] += 1
        for warning in warned:
            self._count("unreadable files", str(warning.message))
        times = frame["time"].dt.floor("ms")
        rows = frame.groupby(times).size()
        quick = times[times < NOW]
        if len(quick):
            self._last = quick.max().timestamp()
        for when, expected in told.items():
            if rows.get(when, 0) < expected * len(self._rooms):
                self._count("lost sweeps", f"{when}: {rows.get(when, 0)} rows, {expected} told")
        for when in rows[rows % len(self._rooms) != 0].index:
            self._count("torn sweeps", f"{when}: {rows[when]} rows")
        doubled = frame[frame.duplicated(["time", "room_id"])]
        for row in doubled.itertuples():
            self._count("doubled samples", f"{row.time}, {row.room_id}")
        known = frame["room_id"].map(self._rooms).astype("Int64")
        wrong = frame[(known != frame["users"]).fillna(known.isna() != frame["users"].isna())]
        for row in wrong.itertuples():
            self._count("wrong values", f"{row.time}, {row.room_id}: {row.users}, ret {row.ret}")

    def _count(self, name: str, what: str) -> None:
        self.counts[name] += 1
        self._piece.broke(f"{name} after {self._at}: {what}")


def _told(lines: Sequence[str]) -> list[pd.Timestamp]:
    """When the sweeps began that these lines tell."""
    found = [TOLD.search(line) for line in lines]
    return [pd.Timestamp(one[1]) for one in found if one is not None]
