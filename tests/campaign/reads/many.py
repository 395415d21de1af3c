"""Sweeps and recordings under chaos: each row is true, or missing with its reason."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import confkit as ck
from confkit.frames import without_login
from tests.ways import by

from ..frame import Counts, Piece
from .judge import FOREIGN, HANG, NAMELESS, WRONG, Judge, left_behind, together
from .world import World, attacked, world

ROOMS = 60
LONGEST = 120.0  # seconds for a sweep of so many rooms, with all its tries, on a busy machine
CALLS = {"users": ("A6",), "people": ("A6", "B3"), "devices": ("A6", "B3")}
FIELDS = ("topic", "attendee_max", "owner_id", "max_audio", "max_video", "room_status", "id")


def sweeps(piece: Piece) -> Counts:
    """Sweeps of all rooms, by libcurl and in threads in turn."""
    return _in_turn(piece, _sweep)


def recordings(piece: Piece) -> Counts:
    """Recordings of all rooms, by libcurl and in threads in turn, and what is read of them."""
    return _in_turn(piece, _recording)


def _in_turn(piece: Piece, act: Callable[..., None]) -> Counts:
    judges: list[Judge] = []
    with (
        left_behind(judges),
        world(piece, ROOMS) as known,
        attacked(known, piece) as (one, by_libcurl),
        attacked(known, piece) as (other, by_threads),
    ):
        judge = Judge(piece, (known.secrets, one.secrets, other.secrets), by_libcurl.timeout)
        judges.append(judge)
        clients = {"libcurl": by_libcurl, "threads": by(by_threads, "threads")}
        expected = _expected(known)
        for turn in itertools.count():
            for way, client in clients.items():
                act(judge, client, expected, piece.folder / f"{turn}-{way}")
            if judge.counts["calls"] >= piece.size:
                break
        judge.end(one, by_libcurl)
        judge.end(other, by_threads)
    return together(judge)


def _expected(known: World) -> dict[str, dict[str, Any]]:
    """For each room what its row says when nothing fails."""
    devices = {(one.room_id, one.user_id) for one in known.truth["list_devices", None]}
    found = {}
    for room_id in known.ids:
        room = known.truth["get_room", room_id]
        users = known.truth["get_room_users", room_id]
        few = sum((room_id, user.user_id) in devices for user in users)
        row = {"users": len(users), "devices": few, "people": len(users) - few}
        found[room_id] = {**row, **{name: getattr(room, name) for name in FIELDS}}
        for name in ("topic", "owner_id"):  # as frames show it: without a camera's password
            found[room_id][name] = without_login(found[room_id][name])
    return found


def _sweep(judge: Judge, client: ck.Client, expected: dict[str, Any], folder: Path) -> None:
    what, ids = folder.name, [*expected, "404"]
    began = time.monotonic()
    try:
        swept = ck.sweep(client, ids, progress=False)
        frame, occupancy = swept.frame(), ck.occupancy_frame(swept)
        ck.rooms_frame(swept.rooms)
        ck.users_frame(swept.users)
    except ck.ConfkitError as error:
        judge.error(what, error)
        judge.count("sweeps that could ask nothing")
        judge.count("calls", 1)
        return
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        judge.note(FOREIGN, what, "a sweep", repr(error))
        judge.count("calls", 1)
        return
    seconds = time.monotonic() - began
    if seconds > LONGEST:
        judge.note(HANG, what, f"at most {LONGEST:g} s", f"{seconds:g} s")
    judge.count("calls", 2 * len(ids) + 1)
    judge.count("sweeps")
    failed = {(one.room_id, one.call) for one in swept.failures}
    for failure in swept.failures:
        judge.count("calls that failed with a name")
        judge.error((what, failure.room_id, failure.call), failure.error)
        if not failure.advice:
            judge.note(NAMELESS, what, "advice", failure)
    if list(frame["room_id"]) != ids or list(occupancy["room_id"]) != ids or not swept.complete:
        judge.note(WRONG, what, ids, list(frame["room_id"]))
    for place, room_id in enumerate(ids):
        _row(judge, frame.iloc[place], room_id, expected.get(room_id), failed, what)
        _occupied(judge, occupancy.iloc[place], frame.iloc[place], what)


def _row(
    judge: Judge, row: Any, room_id: str, truth: dict[str, Any] | None,
    failed: set[tuple[str | None, str]], what: object,
) -> None:  # fmt: skip
    """A row says what is so; what it does not say has failed, and the row says why."""
    lacks = {
        "A3": (room_id, "A3") in failed,
        "A6": (room_id, "A6") in failed,
        "B3": (None, "B3") in failed,
    }
    for name in ("users", "people", "devices", *FIELDS):
        calls = CALLS.get(name, ("A3",))
        value = None if pd.isna(row[name]) else row[name]
        may_lack = any(lacks[call] for call in calls)
        wanted = None if truth is None else truth[name]
        if value is None and may_lack:
            continue
        if value != wanted or (truth is None and not may_lack):
            judge.note(WRONG, (what, room_id, name), wanted, row.to_dict())
    told = not pd.isna(row["error"]), bool(pd.isna(row["ret"]) or row["ret"] != 0)
    if told != (any(lacks.values()),) * 2:
        judge.note(NAMELESS, (what, room_id), f"an error where {lacks}", row.to_dict())


def _occupied(judge: Judge, row: Any, whole: Any, what: object) -> None:
    """A share is that of the row's own numbers, and missing without them."""
    users, cap = whole["users"], whole["attendee_max"]
    share = None if pd.isna(users) or pd.isna(cap) or cap == 0 else users / cap
    came = None if pd.isna(row["utilisation"]) else row["utilisation"]
    if came != share:
        judge.note(WRONG, (what, whole["room_id"], "utilisation"), share, came)


def _recording(judge: Judge, client: ck.Client, expected: dict[str, Any], folder: Path) -> None:
    what, ids = folder.name, list(expected)
    ticks = [0.0]

    def wait(seconds: float) -> None:
        ticks[0] += seconds

    recorder = ck.Recorder(
        folder, clock=lambda: 1.8e9 + ticks[0], ticks=lambda: ticks[0], sleep=wait
    )
    began = time.monotonic()
    try:
        done = recorder.record(client, ids, every=60, sweeps=4, rooms_every=120)
        samples = ck.load_occupancy(folder)
        ck.capacity_report(samples)
    except ck.ConfkitError as error:
        judge.error(what, error)
        judge.count("recordings that could ask nothing")
        judge.count("calls", 1)
        return
    except Exception as error:  # noqa: BLE001  # what is not ours is what we look for
        judge.note(FOREIGN, what, "a recording", repr(error))
        judge.count("calls", 1)
        return
    if time.monotonic() - began > 4 * LONGEST:
        judge.note(HANG, what, f"at most {4 * LONGEST:g} s", time.monotonic() - began)
    judge.count("calls", 6 * len(ids) + 4)  # users four times, fields twice
    judge.count("recordings")
    if len(samples) != 4 * len(ids) or done.rows != len(samples):
        judge.note(WRONG, what, f"{4 * len(ids)} rows", (len(samples), done))
    lacking = 0
    for row in samples.to_dict("records"):
        truth = expected[row["room_id"]]
        values = {name: None if pd.isna(row[name]) else row[name] for name in row}
        for name in ("users", "people", "devices"):
            if values[name] is not None and values[name] != truth[name]:
                judge.note(WRONG, (what, row["room_id"], name), truth[name], values)
        lacks = any(values[name] is None for name in ("users", "people", "devices"))
        if lacks and values["ret"] == 0:
            judge.note(NAMELESS, (what, row["room_id"]), "a ret other than 0", values)
        cap = values["attendee_max"]
        if cap != truth["attendee_max"] and not (cap is None and values["ret"] != 0):
            judge.note(WRONG, (what, row["room_id"], "attendee_max"), truth["attendee_max"], values)
        lacking += lacks or values["ret"] != 0
        judge.count("samples without a value", int(lacks))
    if lacking != done.failures or (done.why == "" and lacks):
        judge.note(NAMELESS, what, f"{lacking} failures and why", done)
