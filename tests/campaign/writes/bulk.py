"""Tables imported and removed while calls and answers get lost: each row against the service."""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pandas as pd

import confkit as ck
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece
from .scene import (
    IMPORT,
    LATE,
    REMOVE,
    Notes,
    lossy,
    places,
    settled,
    side_by_side,
    small_cameras,
    told_by,
    trouble,
)

ROWS = 12  # of a table
ROUNDS = 8  # of a table, in which it is to be finished
THERE = {"imported", "already there", "left alone"}
GONE = {"removed", "not there", "rolled back"}
ANY = {"unknown", "rollback failed"}  # that is what they say
Reported = list[pd.DataFrame]


def writes_bulk(piece: Piece) -> Counts:
    """Imports so many rows, in tables of which two are under way at once, and removes them."""
    notes, chance = Notes(piece.folder), piece.chance()
    with Sandbox() as sandbox, sandbox.connect() as plain:
        cameras = small_cameras(sandbox, ROWS // 2)
        while notes.counts["rows"] < piece.size:
            first, second = (_table(plain, cameras, notes.counts["rows"] + at) for at in (0, ROWS))
            rivals = chance.random() < 0.3  # two people with one list
            with lossy(sandbox, chance, notes) as client:
                scene = _Scene(sandbox, plain, client, notes, chance)
                tables = (first, first) if rivals else (first, second)
                scene.to_their_end(tables)
                scene.removed(tables if not rivals else (first,))
            notes.count("rows", ROWS if rivals else 2 * ROWS)
            for room_id in sandbox.room_ids():
                ck.delete_room(plain, room_id)
    return notes.counts


def _table(client: ck.Client, cameras: Sequence[str], number: int) -> pd.DataFrame:
    rooms = [ck.create_room(client, f"Table {number}", "ops") for _ in range(2)]
    rows = [
        {"room_id": room_id, "user_id": f"{room_id}-{at}", "user_name": f"Camera {at}",
         "user_address": camera}
        for room_id in rooms
        for at, camera in enumerate(cameras)
    ]  # fmt: skip
    return pd.DataFrame(rows)


class _Scene:
    """Tables on their way into a service and out of it."""

    def __init__(
        self,
        sandbox: Sandbox,
        plain: ck.Client,
        client: ck.Client,
        notes: Notes,
        chance: random.Random,
    ) -> None:
        self._sandbox, self._plain, self._client = sandbox, plain, client
        self._notes, self._chance = notes, chance

    def to_their_end(self, tables: Sequence[pd.DataFrame]) -> None:
        """Imports the tables, again and again, until every row is there."""
        for number in range(ROUNDS):
            last = number == ROUNDS - 1  # without anything lost
            rollback = not last and self._chance.random() < 0.15 and tables[0] is not tables[1]
            options = {"preflight": False, "progress": False, "rollback": rollback}
            client = self._plain if last else self._client
            reported = self._side_by_side(
                partial(ck.import_devices, client, table, **options) for table in tables
            )
            rivals = tables[0] is tables[-1]  # what one has not tried the other may have done
            listed = self._compare(reported, ANY | {"not tried"} if rivals else ANY)
            if all(row in listed for table in tables for row in _keys(table)):
                return
        self._notes.broken("tables not finished", f"{_keys(tables[0])[0]}")

    def removed(self, tables: Sequence[pd.DataFrame]) -> None:
        """Removes what stands in the tables."""
        before = self._listed()
        reported = self._side_by_side(
            partial(ck.remove_devices, self._client, table) for table in tables
        )
        # What was not tried, because nobody answered any more, is still there, as what failed is.
        left = {"not tried": "failed"}
        listed = self._compare(
            [frame.assign(outcome=frame.outcome.astype(str).replace(left)) for frame in reported],
            ANY,
        )
        told = {row for frame in reported for row in _keys(frame)}
        for row in before - listed - told:
            self._notes.broken(
                "told failed but gone", f"{row}: the call said that nothing was sent"
            )

    def _side_by_side(self, calls: Iterable[Callable[[], pd.DataFrame]]) -> Reported:
        reported: Reported = []

        def done(call: Callable[[], pd.DataFrame]) -> None:
            told = told_by(call, self._notes)
            if isinstance(told.value, pd.DataFrame):
                reported.append(told.value)
            elif told.name == "uncertain":  # a table has rows to say so
                self._notes.broken("tables called uncertain", str(told))

        for _ in range(self._chance.randint(0, 6)):
            trouble(self._sandbox, self._chance, IMPORT, REMOVE)
        side_by_side([partial(done, call) for call in calls], 2)
        self._sandbox.clear_faults()
        return reported

    def _compare(self, reported: Reported, open_: set[str]) -> set[tuple[str, str]]:
        """The devices that are there, once each row of each report is compared with them; what is
        said to be open may be either."""
        listed = self._listed()
        rows = [row for frame in reported for row in frame.to_dict("records")]
        for row in rows:
            there, outcome = (row["room_id"], row["user_id"]) in listed, row["outcome"]
            self._notes.count(f"rows {outcome}")
            if outcome in THERE and not there:
                self._notes.broken("told done and missing", str(row))
            elif outcome in GONE and there:
                self._notes.broken("told done and still there", str(row))
            elif outcome == "failed" and not there:  # of a removal
                self._notes.broken("told failed but gone", str(row))
            elif outcome not in THERE | GONE | open_ | {"failed"} and there:
                self._notes.broken("told failed but there", str(row))
        return listed

    def _listed(self) -> set[tuple[str, str]]:
        there = settled(lambda: places(self._plain), LATE)
        cameras = [(room, address) for room, _, address in there]
        if len(set(cameras)) < len(cameras) or len({user for _, user, _ in there}) < len(there):
            self._notes.broken("doubled", str(there))
        return {(room, user) for room, user, _ in there}


def _keys(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table.room_id, table.user_id, strict=True))
