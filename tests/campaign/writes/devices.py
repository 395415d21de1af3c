"""Devices imported, removed and imported again, while calls and answers get lost."""

import random
from collections.abc import Callable, Sequence
from functools import partial

import confkit as ck
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece
from .scene import (
    IMPORT,
    LATE,
    REMOVE,
    Notes,
    Place,
    Told,
    lossy,
    places,
    settled,
    side_by_side,
    small_cameras,
    told_by,
    troubled,
)

THREADS = 6
CAMERAS = 8
Work = tuple[Callable[[], object], Callable[[Sequence[Place]], None]]


def writes_devices(piece: Piece) -> Counts:
    """Makes so many calls from several threads, and compares the devices with what was told."""
    notes, chance = Notes(piece.folder), piece.chance()
    with Sandbox() as sandbox, sandbox.connect() as plain:
        with lossy(sandbox, chance, notes) as client:
            scene = _Scene(sandbox, plain, client, notes)
            work = [scene.any_call(number, chance) for number in range(piece.size)]
            side_by_side(
                [troubled(sandbox, one, chance, IMPORT, REMOVE) for one, _ in work], THREADS
            )
        sandbox.clear_faults()
        there = settled(lambda: places(plain), LATE)
        for _, judge in work:
            judge(there)
    notes.count("writes", piece.size)
    return notes.counts


class _Scene:
    """Calls of all kinds, each for a user ID and a place in a room that are its own."""

    def __init__(self, sandbox: Sandbox, plain: ck.Client, client: ck.Client, notes: Notes) -> None:
        self._plain, self._client, self._notes = plain, client, notes
        self._cameras = small_cameras(sandbox, CAMERAS)
        self._room_id = ""
        self._told: dict[str, Told] = {}

    def any_call(self, number: int, chance: random.Random) -> Work:
        """A call about a device of its own."""
        if number % CAMERAS == 0:
            self._room_id = ck.create_room(self._plain, f"Room {number}", "ops")
        device = ck.Device(self._room_id, f"cam-{number}", "Door", self._cameras[number % CAMERAS])
        kinds = [self._import] * 12 + [self._seen] * 2 + [self._again] * 3
        kinds += [self._remove] * 4 + [self._reimport] * 4 + [self._refused]
        return chance.choice(kinds)(device)

    def _import(self, device: ck.Device) -> Work:
        self._notes.count("imports")
        call = partial(ck.import_device, self._client, device)
        return self._work(device, call, self._brought)

    def _seen(self, device: ck.Device) -> Work:
        """An import that looks afterwards; one that was not seen says that it was imported."""
        self._notes.count("imports")

        def call() -> None:
            try:
                ck.import_device(self._client, device, verify=True, patience=0.3)
            except ck.NotInRoom:
                self._notes.count("imported and not seen")

        return self._work(device, call, self._brought)

    def _again(self, device: ck.Device) -> Work:
        """An import that is made once more when it was told to be uncertain."""
        self._notes.count("imports")

        def call() -> object:
            try:
                return ck.import_device(self._client, device)
            except ck.OutcomeUnknown:
                self._notes.count("imports")
                return ck.import_device(self._client, device)

        return self._work(device, call, self._brought)

    def _remove(self, device: ck.Device) -> Work:
        ck.import_device(self._plain, device)
        call = partial(ck.remove_device, self._client, device)
        return self._work(device, call, self._taken)

    def _reimport(self, device: ck.Device) -> Work:
        ck.import_device(self._plain, device)
        self._notes.count("imports")
        call = partial(ck.reimport_device, self._client, device)
        return self._work(device, call, self._brought_again)

    def _refused(self, device: ck.Device) -> Work:
        def call() -> None:
            copied = ck.Client(
                self._client.base_url, self._client.outgoing_url, "any", "any", read_only=True
            )
            with copied as reader:
                ck.import_device(reader, device)

        return self._work(device, call, self._never)

    def _work(
        self,
        device: ck.Device,
        call: Callable[[], object],
        judge: Callable[[ck.Device, Told, bool], None],
    ) -> Work:
        def done() -> None:
            self._told[device.user_id] = told_by(call, self._notes)

        def judged(there: Sequence[Place]) -> None:
            known = [place for place in there if place[1] == device.user_id]
            if len(known) > 1 or any(place != place_of(device) for place in known):
                self._notes.broken("doubled", f"{device}: {known}")
            judge(device, self._told[device.user_id], bool(known))

        return done, judged

    def _brought(self, device: ck.Device, told: Told, there: bool) -> None:
        if told.name in ("done", "exists") and not there:
            self._notes.broken("told done and missing", f"{device}: {told}")
        if told.name == "failed" and there:
            self._notes.broken("told failed but there", f"{device}: {told}")
        if told.name == "uncertain":
            self._notes.count("uncertain and there" if there else "uncertain and not there")

    def _taken(self, device: ck.Device, told: Told, there: bool) -> None:
        if told.name == "done" and there:
            self._notes.broken("told done and still there", f"{device}: {told}")
        if told.name in ("failed", "exists") and not there:
            self._notes.broken("told failed but gone", f"{device}: {told}")

    def _brought_again(self, device: ck.Device, told: Told, there: bool) -> None:
        """Removed for certain is said by ReimportFailed alone; other errors leave it there."""
        if (
            told.name == "failed" and isinstance(told.value, ck.ReimportFailed)
        ) or told.name == "done":
            self._brought(device, told, there)
        else:
            self._taken(device, told, there)

    def _never(self, device: ck.Device, told: Told, there: bool) -> None:
        if there or not isinstance(told.value, ck.ReadOnlyError):
            self._notes.broken("sent though read only", f"{device}: {told}")


def place_of(device: ck.Device) -> Place:
    """Room, user and address."""
    return device.room_id, device.user_id, str(device.user_address)
