"""Rooms made and deleted, and people put off, while calls and answers get lost."""

import random
from collections.abc import Callable
from functools import partial

import confkit as ck
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece
from .scene import (
    CREATE,
    DELETE,
    LATE,
    OFFLINE,
    Notes,
    Told,
    lossy,
    rooms,
    settled,
    side_by_side,
    told_by,
    troubled,
)

THREADS = 6
Judge = Callable[[dict[str, list[str]]], None]
Work = tuple[Callable[[], object], Judge]


def writes_rooms(piece: Piece) -> Counts:
    """Makes so many calls from several threads, and compares the rooms with what was told."""
    notes, chance = Notes(piece.folder), piece.chance()
    with Sandbox() as sandbox, sandbox.connect() as plain:
        with lossy(sandbox, chance, notes) as client:
            scene = _Scene(sandbox, plain, client, notes)
            work = [scene.any_call(number, chance) for number in range(piece.size)]
            side_by_side(
                [troubled(sandbox, one, chance, CREATE, DELETE, OFFLINE) for one, _ in work],
                THREADS,
            )
        sandbox.clear_faults()
        settled(sandbox.room_ids, LATE)
        there = rooms(sandbox, plain)
        for _, judge in work:
            judge(there)
    notes.count("writes", piece.size)
    return notes.counts


class _Scene:
    """Calls of all kinds, each with a function that compares what was told of it with what is."""

    def __init__(self, sandbox: Sandbox, plain: ck.Client, client: ck.Client, notes: Notes) -> None:
        self._sandbox, self._plain, self._client, self._notes = sandbox, plain, client, notes
        self._told: dict[str, Told] = {}

    def any_call(self, number: int, chance: random.Random) -> Work:
        """A call whose traces are its own: the topic of its room."""
        kinds = [self._create] * 12 + [self._delete] * 4 + [self._put_off] * 3 + [self._refused]
        return chance.choice(kinds)(f"Meeting {number}", chance)

    def _create(self, topic: str, chance: random.Random) -> Work:
        self._notes.count("creates")
        extend_id = f"own-{chance.getrandbits(64):x}" if chance.random() < 0.5 else None
        call = partial(ck.create_room, self._client, topic, "ops", room_extend_id=extend_id)
        return partial(self._call, topic, call), partial(self._created, topic, extend_id)

    def _created(self, topic: str, extend_id: str | None, there: dict[str, list[str]]) -> None:
        told, found = self._told[topic], there.get(topic, [])
        if len(found) > 1:
            self._notes.broken("doubled", f"{topic}: {found}, told {told}")
        if told.name == "done" and told.value not in found:
            self._notes.broken("told done and missing", f"{topic}: {told}, there are {found}")
        if told.name == "failed" and found:
            self._notes.broken("told failed but there", f"{topic}, {extend_id}: {told}")
        if told.name == "uncertain":
            self._notes.count("uncertain and there" if found else "uncertain and not there")

    def _delete(self, topic: str, _: random.Random) -> Work:
        room_id = ck.create_room(self._plain, topic, "ops")
        call = partial(ck.delete_room, self._client, room_id)
        return partial(self._call, topic, call), partial(self._gone, topic)

    def _gone(self, topic: str, there: dict[str, list[str]]) -> None:
        told = self._told[topic]
        if told.name == "done" and topic in there:
            self._notes.broken("told done and still there", f"{topic}: {told}")
        if told.name == "failed" and topic not in there:
            self._notes.broken("told failed but gone", f"{topic}: {told}")

    def _put_off(self, topic: str, _: random.Random) -> Work:
        room_id = ck.create_room(self._plain, topic, "ops")
        user_id = self._sandbox.join(room_id, "Ada")
        call = partial(ck.force_offline, self._client, room_id, user_id)
        return partial(self._call, topic, call), partial(self._off, topic, room_id)

    def _off(self, topic: str, room_id: str, _: dict[str, list[str]]) -> None:
        told, people = self._told[topic], self._sandbox.people(room_id)
        if told.name == "done" and people:
            self._notes.broken("told done and still there", f"{topic}: {told}, {people}")
        if told.name == "failed" and not people:
            self._notes.broken("told failed but gone", f"{topic}: {told}")

    def _refused(self, topic: str, _: random.Random) -> Work:
        def call() -> None:
            with self._sandbox.connect(read_only=True) as reader:
                ck.create_room(reader, topic, "ops")

        return partial(self._call, topic, call), partial(self._never, topic)

    def _never(self, topic: str, there: dict[str, list[str]]) -> None:
        told = self._told[topic]
        if topic in there or not isinstance(told.value, ck.ReadOnlyError):
            self._notes.broken("sent though read only", f"{topic}: {told}")

    def _call(self, topic: str, call: Callable[[], object]) -> None:
        self._told[topic] = told_by(call, self._notes)
