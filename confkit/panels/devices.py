"""`DevicePanel`: cameras tried, imported into a room, listed and removed, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

import ipywidgets
import pandas as pd

from ..client import Client
from ..devices import NotInRoom, import_device, list_devices, remove_device
from ..diagnosis import diagnose_device
from ..diagnosis.camera import address_without_login, can_be_tried, login_of, preflight_of
from ..errors import ApiError, ConfigError, ConfkitError, OutcomeUnknown
from ..frames import devices_frame
from ..occupancy.known import known_rooms
from ..operations import B1
from ..records import Device
from ..rooms import get_room
from ..rtsp.report import RUNNING, Report, Stage
from ..secret import redact
from ..sweep import sweep
from ..text import counted
from .arranging import button, check, columns, heading, row, shown
from .camera_views import stages_html, thumbnails_html
from .device_form import DeviceForm
from .given import check_source
from .panel import Panel, Work, told, until_cancelled
from .parts import Column, Table, View

THUMBNAILS = 12  # of the first devices on the page


class DevicePanel(Panel):
    """A panel that tries cameras, imports them and lists what is there; its `value` is the
    `devices_frame` of the devices listed.

    With a `room_id` those of that room, else of all rooms. `report` is the last preflight or
    diagnosis. For many devices at once use `import_devices`. B1, B2 and B3 of the interface.
    """

    def __init__(self, client: Client, room_id: str | None = None) -> None:
        check_source(client)
        super().__init__("Devices", client)
        self.client = client
        self.report: Report | None = None
        self._played: dict[tuple[object, ...], Report] = {}  # by camera; of the last one tried
        self._devices: dict[str, Device] = {}  # by the key of its row
        self._keys: dict[tuple[str, str], str] = {}  # which tell nothing: an ID may be an address
        self.form = DeviceForm("" if room_id is None else str(room_id))
        self.inputs = self.form.inputs
        self.topics = Table(
            "Rooms by topic",
            "room_id",
            [
                Column("topic", "topic"),
                Column("room_id", "room"),
                Column("users", "users", right=True),
            ],
            empty="No room is known.",
            on_choice=self._enter,
        )
        shown(self.topics, False)
        by_topic = self._button("Rooms by topic", self.list_rooms, "rooms")
        refresh = self._button("Refresh", self.refresh, "reading")
        self.shows(
            row(self.inputs["room_id"], by_topic, refresh),
            self.topics,
            heading("One device"),
            self._one(),
            heading("Devices"),
            *self._list(),
        )
        self._pick("")
        self.first(self.refresh)

    def _one(self) -> ipywidgets.Widget:
        """The form of one device, and what is found out about it."""
        self.untried = check("Import without a preflight")
        self.verify = check("Look for it afterwards", True)
        self.view = View("What was found out")
        buttons = row(
            self._button("Preflight", self.preflight, "camera", "primary"),
            self._button("Import", self._ask_import, "change", "primary", changes=True),
            self._button("Find out why", self.diagnose, "camera"),
            button("Clear", lambda _: self.clear()),
        )
        self.form.children = [*self.form.children, row(self.untried, self.verify), buttons]
        return columns(self.form, self.view)

    def _list(self) -> Sequence[ipywidgets.Widget]:
        """The devices listed, what is done with the one that was picked, and their pictures."""
        self.table = Table(
            "Devices",
            "key",
            [
                Column("user_name", "name"),
                Column("user_id", "user", copy=True),
                Column("room_id", "room", copy=True),
                Column("user_address", "address", wide=True),
            ],
            empty="No devices here.",
            sort=("room_id", False),
            on_choice=self._pick,
            on_page=self.clicked(self._picture, "pictures", "Pictures"),
        )

        def click(name: str, action: Callable[[Device], object], kind: str, **more: Any) -> Any:
            return self._button(name, action, kind, given=lambda: self.picked, **more)

        self.of_picked = row(
            click("Remove", self._ask_removal, "change", style="danger", changes=True),
            click("Diagnose", self._diagnose, "camera"),
        )
        self.found, self.pictures = View("Why it is in its room or not"), View("Pictures")
        return self.table, self.of_picked, self.found, self.pictures

    # The room, and the list

    @property
    def room_id(self) -> str | None:
        """The room that is typed in; None: all rooms."""
        return self.form.typed("room_id") or None

    def list_rooms(self) -> pd.DataFrame:
        """Read the rooms that can be known of (`known_rooms`) with their topics, and offer them to
        be picked."""
        with self.working("Reading the rooms", "rooms") as work:
            known = until_cancelled(lambda: known_rooms(self.client), work.cancelled)
            swept = sweep(self.client, known, progress=work.progress, cancelled=work.cancelled)
            found = swept.frame()
            self.topics.show(found, counted(len(found), "known room"))
            shown(self.topics, True)
            return found

    def _enter(self, room_id: str) -> None:
        if room_id:
            self.inputs["room_id"].fill(room_id)
            shown(self.topics, False)
            self.clicked(self.refresh, "reading", "Refresh")()

    def refresh(self) -> pd.DataFrame:
        """Read the devices of the room, or of all rooms, as they are now (B3): the new `value`."""
        with self.working("Reading the devices", "reading") as work:
            room_id = self.room_id
            devices = until_cancelled(lambda: list_devices(self.client, room_id), work.cancelled)
            self.draws(lambda: self._listed(devices))
            self._picture()
            frame: pd.DataFrame = self.value
            return frame

    def _listed(self, devices: list[Device]) -> pd.DataFrame:
        frame = devices_frame(devices)
        places = [(device.room_id, device.user_id) for device in devices]
        keys = [self._keys.setdefault(one, str(len(self._keys) + 1)) for one in places]
        self._devices = dict(zip(keys, devices, strict=True))
        self.table.show(frame.assign(key=keys), counted(len(frame), "device"))
        self._pick(self.table.chosen)
        return frame

    @property
    def picked(self) -> Device:
        """The device of the list that was picked; ConfigError when none was."""
        if self.table.chosen not in self._devices:
            raise ConfigError("No device is picked", "Pick one in the list.")
        return self._devices[self.table.chosen]

    @told("pick")
    def select(self, user_id: str, room_id: str | None = None) -> Device:
        """Pick the device of this ID, and return it; ConfigError when it is not listed."""
        self.wait_for_first()
        for key, device in self._devices.items():
            if device.user_id == user_id and room_id in (None, device.room_id):
                self.table.choose(key)
                return device
        called = repr(redact(str(user_id)))
        raise ConfigError(f"{called} is not in the list", "Refresh it, or list another room.")

    def _pick(self, key: str) -> None:
        shown(self.of_picked, key in self._devices)
        self.found.html = ""

    def _picture(self) -> None:
        if self.client.sandbox is not None:
            listed = [self._devices[key] for key in self.table.visible if key in self._devices]
            self.pictures.html = thumbnails_html(self.client.sandbox, listed[:THUMBNAILS])

    # What changes the list

    def remove(self, user_id: str, room_id: str | None = None) -> None:
        """Remove the device from its room (B2); errors as of `remove_device`."""
        self._take_out(self.select(user_id, room_id))

    def _ask_removal(self, device: Device) -> None:
        with self.working("Reading the room", "change") as work:
            room = self._room_of(device, work)
        question = (
            f"Remove {_named(device)} from {room}? The service lets go of its camera, and the "
            "others in the room do not see it any more."
        )
        self.ask("Remove", question, partial(self._take_out, device))

    def _take_out(self, device: Device) -> None:
        called = redact(device.user_id)
        done = f"{called} was removed from room {device.room_id}."
        with self._changing(f"Removing {called}", done):
            remove_device(self.client, device)

    @contextmanager
    def _changing(self, doing: str, done: str) -> Iterator[Work]:
        """Work that changes the list, which is read again once it did, or where it may have. What
        was done is said; that the list could not be read, too."""
        with self.working(doing, "change") as work:
            try:
                yield work
            except (NotInRoom, OutcomeUnknown):
                with suppress(ConfkitError, CancelledError):
                    self.refresh()
                raise
            work.cancelled = Event()  # what was done is done: only the reading can be cancelled now
            try:
                self.refresh()
            except (CancelledError, ConfkitError) as error:
                done = f"{done} The list is as it was before: {error or 'it was cancelled'}"
            self.tell(done, "good", work.kind)

    def _room_of(self, device: Device, work: Work) -> str:
        try:
            room = until_cancelled(lambda: get_room(self.client, device.room_id), work.cancelled)
        except ConfkitError as error:
            return f"room {device.room_id}, whose topic could not be read ({error})"
        return f'room "{room.topic}" ({device.room_id})'

    # One device

    @told("form")
    def fill(self, **fields: Any) -> None:
        """Fill in the form; the fields are those of `import_device`, None empties one, and the
        others keep what they have. ConfigError for a field that it has not."""
        self.form.fill(fields)

    def clear(self) -> None:
        """Empty all fields of the form but the room's, here and in the browser."""
        self.fill(**dict.fromkeys([*self.inputs][1:]))

    def preflight(self, **fields: Any) -> Report:
        """Return the report of the camera in the form, whose stages the panel shows as they happen;
        nothing changes on the service. `fields` are filled in first."""
        self.fill(**fields)
        with self.working("Preflight", "camera") as work:
            return self._try(self.form.camera(), work)

    def diagnose(self, user_id: str | None = None, room_id: str | None = None) -> Report:
        """Find out why a device of the list, or without a `user_id` the one in the form, is not in
        its room; the report is shown beside that one."""
        return self._diagnose(self.select(user_id, room_id) if user_id else None)

    def _diagnose(self, listed: Device | None) -> Report:
        with self.working("Looking for the reason", "camera") as work:
            device = listed or self.form.camera()
            name, password = login_of(device)
            report = diagnose_device(
                self.client,
                device.room_id,
                device.user_id or None,
                device.user_address,
                login_name=name or None,
                login_password=password or None,
                cancelled=work.cancelled,
            )
            return self._say_found(report, self.found if listed else self.view, work)

    def import_device(self, preflight: bool = True, **fields: Any) -> Device:
        """Import the device in the form, and return it once it has joined the room and, if that is
        ticked, was seen there. `fields` are filled in first; errors as of `import_device`.

        With `preflight` the camera is tried first, unless it has just been found to play.
        """
        self.fill(**fields)
        with self.working("Importing", "change"):
            return self._bring_in(self.form.device(), preflight, self.verify.value)

    def _ask_import(self) -> None:
        # The question names the device and what is ticked, and a yes is to these.
        with self.working("Reading the form", "change") as work:
            device, preflight = self.form.device(), not self.untried.value
            action = partial(self._bring_in, device, preflight, self.verify.value)
            room = self._room_of(device, work)
        way = ""
        if not preflight:
            way = " It is not tried from here first: if the service refuses, nobody knows why."
        elif _camera(device) not in self._played:
            way = " It is tried from here first."
        question = f"Import {_named(device)} at {address_without_login(device)} into {room}?{way}"
        self.ask("Import", question, action, grave=False)

    def _bring_in(self, device: Device, preflight: bool, verify: bool) -> Device:
        called = redact(device.user_id)
        seen = ", and seen in it" if verify else ""
        done = f"{called} was imported into room {device.room_id}{seen}."
        with self._changing(f"Importing {called}", done) as work:
            self.client.may_send(B1)  # before the camera is tried
            report: Report | None = None
            if preflight and can_be_tried(device):
                report = self._played.get(_camera(device)) or self._try(device, work)
            if work.cancelled.is_set():
                raise CancelledError
            found = import_device(self.client, device, preflight=report or False, verify=verify)
            if report:  # which says: import it
                self._show(replace(report, advice=done), self.view)
            return found

    def _try(self, device: Device, work: Work) -> Report:
        stages: dict[str, Stage] = {}

        def listen(stage: Stage) -> None:
            stages[stage.name] = stage
            self.view.html = stages_html(stages.values())

        self._played = {}
        try:
            report = preflight_of(device, cancelled=work.cancelled, on_stage=listen)
        except CancelledError:
            self.view.html = stages_html(one for one in stages.values() if one.outcome != RUNNING)
            raise
        if report.ok:
            self._played = {_camera(device): report}
        return self._say_found(report, self.view, work)

    def _say_found(self, report: Report, view: View, work: Work) -> Report:
        self._show(report, view)
        text = f"{report.verdict}: {report.cause} {report.advice}"
        if report.ok:
            text = f"{report.cause} {', '.join(report.facts())}"
        self.tell(text, "good" if report.ok else "bad", work.kind)
        return report

    def _show(self, report: Report, view: View) -> None:
        self.report, view.html = report, report._repr_html_()

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong, and show what was found out about that."""
        super().fails(error, kind)
        if isinstance(error, ApiError) and error.report:
            self._show(error.report, self.view)


def _camera(device: Device) -> tuple[object, ...]:
    """What makes two devices one camera that is opened with one login."""
    return device.user_address, login_of(device)


def _named(device: Device) -> str:
    called = redact(device.user_id)
    return f'"{redact(device.user_name)}" ({called})' if device.user_name else called
