"""`DevicePanel`: try cameras, import them into a room, list and remove them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from ..bulk.devices import stray_devices
from ..checks import outcome_table
from ..devices import check_address, check_options, import_device, list_devices, remove_device
from ..diagnosis import diagnose_device
from ..diagnosis.camera import address_without_login, can_be_tried, login_of, preflight_of
from ..errors import ApiError, Cancelled, ConfigError, ConfkitError
from ..frames import devices_frame
from ..occupancy.known import known_rooms
from ..operations import B1
from ..records import Device, parse_id, require_text
from ..rooms import get_room
from ..rtsp.address import parse_address
from ..rtsp.report import Report, Stage
from ..secret import Secret, SecretAddress, hide, redact
from ..sweep import sweep
from ..text import counted
from .job import Question, without_code
from .layout import Panel, row, set_pressable, set_visible, split, text_input
from .password import PasswordField
from .refresh import Polling
from .room_table import NUMBER, TOPIC
from .table import Column, Table

if TYPE_CHECKING:
    from ..client import Client

_DEVICES = [
    Column("user_name", "Name", 8),
    Column("user_id", "User ID", 6),
    Column("room_id", "Room", 7),
    Column("user_address", "Address", 10),
    Column("health", "Health", 9),
]
_ROOMS = [TOPIC, NUMBER, Column("users", "Users", 5, right=True)]
_PLAYS, _NOT_KNOWN = "plays", "not known"  # health


class DevicePanel(Panel):
    """A panel to try cameras, import them into a room, and list and remove imported devices.

    It lists the devices of the room `room_id`, or of all rooms; the list is read every `every`
    seconds while the panel is visible (0: never). `value` is their `devices_frame` with `health`,
    filled by `check_health`; `selected` is the picked `Device`, or None; `report` is the last
    preflight or diagnosis. Each button is a method, which raises errors. For many devices at once
    use `import_devices`. B1, B2 and B3 of the interface.
    """

    def __init__(self, client: Client, room_id: str | None = None, every: float = 15) -> None:
        self.room = text_input("Room", "all rooms", "12em")
        self.room.value = "" if room_id is None else str(room_id)
        self.room.continuous_update = False
        self.devices = _Devices(client, every, lambda: self.room_id)
        super().__init__("Devices", client, self.devices)
        self.add_class("confkit-devices")
        self.report: Report | None = None
        self.fields = {
            "user_id": PasswordField("User ID", "such as cam-1", visible=True),
            "user_name": PasswordField("Name", "such as Front door", visible=True),
            "user_address": PasswordField("Address", "such as rtsp://host/path", visible=True),
            "login_name": PasswordField("Login name", "none", visible=True),
            "login_password": PasswordField("Login password", "none"),
            "user_data": PasswordField("User data", "none", visible=True),
        }
        self.try_first = ipywidgets.Checkbox(
            True, description="Try the camera before the import", indent=False
        )
        self.topics = Table("Rooms by topic", _ROOMS, ("topic", False), noun="room")
        self.table = Table("Devices", _DEVICES, noun="device", empty="No devices.")
        self.view = ipywidgets.HTML()
        self._arrange()
        self._show_topics(False)
        self.table.observe(lambda _: self._show_picked(), "picked")
        self.devices.on_change(self._show)
        self._show_picked()

    def _arrange(self) -> None:
        add_row, refused = self.job.row, self.refused
        clear = ipywidgets.Button(description="Clear")
        clear.on_click(lambda _: self.clear())
        imports = add_row({"Import": self._ask_import}, self.try_first, refused=refused)
        health = add_row({"Check health": self._check_health})
        removes = add_row({"Remove": self._ask_removal}, refused=refused, destructive=["Remove"])
        self._picked_buttons = row(add_row({"Diagnose": self._diagnose}), removes)
        self._topic_buttons = add_row({"Use this room": self._enter_room})
        reads = {"List devices": self._refresh, "Find a room by topic": self._list_rooms}
        self.append(
            add_row(reads, self.room),
            self.topics,
            self._topic_buttons,
            row(*self.fields.values()),
            row(add_row({"Preflight": self._preflight}), imports, clear),
            split(ipywidgets.VBox([self.table, row(health, self._picked_buttons)]), self.view),
        )

    # The list

    @property
    def room_id(self) -> str | None:
        """The room in the form; None: all rooms."""
        return self.room.value.strip() or None

    @property
    def value(self) -> pd.DataFrame:
        """The devices listed."""
        return self.devices.frame.reset_index(drop=True)

    @property
    def selected(self) -> Device | None:
        """The picked device."""
        return self.devices.by_key.get(self.table.picked)

    def select(self, user_id: str, room_id: str | None = None) -> Device:
        """Pick and return a device. ConfigError: it is not listed."""
        for key, device in self.devices.by_key.items():
            if device.user_id == user_id and room_id in (None, device.room_id):
                self.table.picked = key
                return device
        raise ConfigError(f"{redact(str(user_id))!r} is not listed", "List the devices again.")

    def refresh(self) -> pd.DataFrame:
        """Read the devices now (B3), and return the `value`."""
        self.devices.read()
        return self.value

    def _read(self) -> str:
        return self.job.wait_for(self.devices.read)

    def check_health(self) -> pd.DataFrame:
        """Check which of the listed devices are in their rooms (A3 and A6, once per room), and
        return the `value`: `health` is "plays at ...", "down since ..." or "not known"."""
        self.devices.check_health()
        return self.value

    def _check_health(self) -> str:
        self.job.wait_for(self.devices.check_health)
        health = self.value["health"]
        plays, unknown = health.str.startswith(_PLAYS).sum(), (health == _NOT_KNOWN).sum()
        text = f"In their rooms: {plays:,} of {counted(len(health), 'device')}"
        return f"{text}; {unknown:,} not known." if unknown else f"{text}."

    def _show(self) -> None:
        self.table.show(self.devices.frame)

    def _show_picked(self) -> None:
        set_pressable(self._picked_buttons, self.table.picked is not None)
        self.view.value = ""  # of the previous device
        self.job.clear()

    # Rooms by topic

    def list_rooms(self) -> pd.DataFrame:
        """Read the known rooms (`known_rooms`) with their topics, and list them."""
        known = known_rooms(self.client)
        result = sweep(self.client, known, progress=self.job.progress, cancelled=self.job.cancelled)
        frame = result.frame()
        self.topics.show(frame.set_index("room_id", drop=False).rename_axis(None))
        self._show_topics(True)
        return frame

    def _list_rooms(self) -> str:
        rooms = len(self.list_rooms())
        return f"Pick one of {counted(rooms, 'known room')}." if rooms else "No room is known."

    def _show_topics(self, visible: bool) -> None:
        set_visible(self.topics, visible)
        set_pressable(self._topic_buttons, visible)

    def _enter_room(self) -> str:
        if self.topics.picked is None:
            return "Pick a room first."
        self.room.value = self.topics.picked
        self._show_topics(False)
        self.devices.read()
        return f"Selected room {self.room_id}."

    # The form

    def fill(self, **fields: Any) -> None:
        """Fill in the form with arguments of `import_device`; None clears a field, and fields not
        given are kept. ConfigError: no such field."""
        fields = hide(fields)  # a traceback shows the locals
        for name, value in fields.items():
            if name == "room_id":
                self.room.value = "" if value is None else str(value)
            elif name not in self.fields:
                raise ConfigError(f"a device has no {name}", f"It has {', '.join(self.fields)}.")
            elif not isinstance(value, str | int | Secret | None):
                raise ConfigError(f"{name} is not text")
            else:
                self.fields[name].set("" if value is None else Secret(value))

    def clear(self) -> None:
        """Clear the form, here and in the browser, and the report."""
        self.view.value = ""
        self.job.clear()
        for field in self.fields.values():
            field.clear()

    def _typed(self, name: str) -> str:
        return self.fields[name].text.reveal().strip()

    def _camera(self) -> Device:
        """Return the device in the form as far as a preflight needs it."""
        address = SecretAddress(self._typed("user_address"))
        name, password = self._typed("login_name"), self.fields["login_password"].text
        with suppress(ValueError):  # move a login from the address to its own fields
            parts = parse_address(address.reveal())
            if parts.login_name is not None and not (name or password):
                address, name = SecretAddress(parts.url), parts.login_name
                password = Secret(parts.login_password or "")
                self.fill(user_address=address, login_name=name, login_password=password)
        return Device(
            self.room_id or "",
            self._typed("user_id"),
            self._typed("user_name"),
            check_address(B1, address),
            self._typed("user_data"),
            check_options({}, name or None, password or None),
        )

    def _device(self) -> Device:
        """Return the device in the form; ParameterError if a field is missing or invalid."""
        device = self._camera()
        parse_id(B1, "room_id", device.room_id)
        parse_id(B1, "user_id", device.user_id)
        require_text(B1, "user_name", device.user_name)
        return device

    def _missing(self, *names: str) -> str:
        """Return a message that names the empty fields, or ""."""
        empty = [self.fields[name].label for name in names if not self._typed(name)]
        if names[1:] and not self.room_id:
            empty.insert(0, "Room")
        return f"Enter {', '.join(empty)}. (Nothing was sent.)" if empty else ""

    # Actions

    def preflight(self, **fields: Any) -> Report:
        """Try the camera in the form, and return the report; the panel shows the stages as they
        run. Nothing changes on the service. `fields` are filled in first."""
        fields = hide(fields)  # a traceback shows the locals
        self.fill(**fields)
        return self._try(self._camera())

    def import_device(self, preflight: bool = True, verify: bool = True, **fields: Any) -> Device:
        """Import the device in the form, and return it; errors as of `import_device`.

        With `preflight` the camera is tried first.
        """
        fields = hide(fields)  # a traceback shows the locals
        self.fill(**fields)
        return self._import(self._device(), preflight, verify)

    def diagnose(self, user_id: str, room_id: str | None = None) -> Report:
        """Find out why a listed device is not in its room, and show the report."""
        device = self.select(user_id, room_id)
        name, password = login_of(device)
        self.job.show_cancel()
        report = diagnose_device(
            self.client,
            device.room_id,
            device.user_id,
            device.user_address,
            login_name=name or None,
            login_password=password or None,
            cancelled=self.job.cancelled,
        )
        return self._show_report(report)

    def remove(self, user_id: str, room_id: str | None = None) -> None:
        """Remove a listed device from its room (B2); errors as of `remove_device`."""
        device = self.select(user_id, room_id)
        try:
            remove_device(self.client, device)
        finally:
            self._list_again()

    def _preflight(self) -> str:
        return self._missing("user_address") or _summary(self.preflight())

    def _ask_import(self) -> str | Question:
        if missing := self._missing("user_id", "user_name", "user_address"):
            return missing
        device, preflight = self._device(), self.try_first.value

        def act() -> str:
            self._import(device, preflight, True)
            return f"Imported {_label(device)}."

        untried = "" if preflight else " The camera is not tried first."
        return Question(
            f"Import {_label(device)} at {address_without_login(device)} into "
            f"{self._room_label(device)}?{untried}",
            act,
            "Import",
        )

    def _ask_removal(self) -> Question:
        device = self._picked()

        def act() -> str:
            self.remove(device.user_id, device.room_id)
            return f"Removed {_label(device)}."

        return Question(f"Remove {_label(device)} from {self._room_label(device)}?", act, "Remove")

    def _diagnose(self) -> str:
        device = self._picked()
        return _summary(self.diagnose(device.user_id, device.room_id))

    def _try(self, device: Device) -> Report:
        stages: dict[str, Stage] = {}

        def show_stage(stage: Stage) -> None:
            stages[stage.name] = stage
            self.view.value = _stages_html(stages.values())

        self.job.show_cancel()
        try:
            report = preflight_of(device, cancelled=self.job.cancelled, on_stage=show_stage)
        except CancelledError:
            self.view.value = ""
            raise
        return self._show_report(report)

    def _import(self, device: Device, preflight: bool, verify: bool) -> Device:
        self.client.may_send(B1)  # before the camera is tried
        report: Report | None = None
        if preflight and can_be_tried(device):
            report = self._try(device)
        if self.job.cancelled.is_set():
            raise Cancelled("Cancelled")
        try:
            imported = import_device(self.client, device, preflight=report or False, verify=verify)
        except ApiError as error:
            if error.report:
                self._show_report(error.report)
            raise
        finally:
            self._list_again()
        if report:  # whose advice is to import it
            self._show_report(replace(report, advice="Imported."))
        return imported

    def _list_again(self) -> None:
        """List the devices after a change, whose outcome may be unknown."""
        with suppress(ConfkitError):  # the panel shows the outage
            self.devices.read()

    def _show_report(self, report: Report) -> Report:
        self.report = report
        displayed = replace(report, advice=without_code(report.advice))
        self.view.value = f"<p>At {self.devices.clock()}:</p>{displayed._repr_html_()}"
        return report

    def _picked(self) -> Device:
        if self.selected is None:
            raise ConfigError("Pick a device first.")
        return self.selected

    def _room_label(self, device: Device) -> str:
        try:
            room = self.job.wait_for(partial(get_room, self.client, device.room_id))
        except Cancelled:
            raise
        except ConfkitError:
            return f"room {device.room_id}"
        return f'room "{room.topic}" ({device.room_id})'


class _Devices(Polling):
    """The devices of a room, or of all, with their health; `by_key` has them by the frame's index.

    A key is a number, as a device's ID may be an address with a login.
    """

    def __init__(self, client: Client, every: float, room_id: Callable[[], str | None]) -> None:
        super().__init__(client, every)
        self._room_id = room_id
        self._keys: dict[tuple[str, str], int] = {}
        self._health: dict[int, str] = {}
        self.by_key: dict[int, Device] = {}
        self.read()

    @property
    def frame(self) -> pd.DataFrame:
        """The devices as a frame, with `health`."""
        devices = self.by_key
        health = pd.Series([self._health.get(key, "") for key in devices], dtype="string")
        frame = devices_frame(list(devices.values())).assign(health=health)
        return frame.set_axis(list(devices), axis="index")

    def check_health(self) -> None:
        """Check which devices are in their rooms."""
        frame = self.frame
        strays = stray_devices(self.client, frame["room_id"].unique())
        reasons = {
            (stray.room_id, stray.user_id): str(stray.reason) for stray in strays.itertuples()
        }
        with self._lock:
            for key, *name in frame[["room_id", "user_id"]].itertuples():
                reason = reasons.get(tuple(name))
                if reason is None:
                    self._health[key] = f"{_PLAYS} at {self.clock()}"
                elif reason == _NOT_KNOWN:
                    self._health[key] = _NOT_KNOWN
                elif not self._health.get(key, "").startswith("down"):
                    self._health[key] = f"down since {self.clock()}"
            self._notify()

    def _read(self, _: Any, __: threading.Event) -> str:
        devices = list_devices(self.client, self._room_id())
        keys = [
            self._keys.setdefault((device.room_id, device.user_id), len(self._keys))
            for device in devices
        ]
        self.by_key = dict(zip(keys, devices, strict=True))
        return ""


def _label(device: Device) -> str:
    user_id = redact(device.user_id)
    return f'"{redact(device.user_name)}" ({user_id})' if device.user_name else user_id


def _summary(report: Report) -> str:
    """Return a report's cause, and its advice if it failed."""
    return report.cause if report.ok else f"{report.cause} {without_code(report.advice)}"


def _stages_html(stages: Iterable[Stage]) -> str:
    """Return the stages of a running preflight as HTML."""
    badges = {"ok": "PASS", "failed": "FAIL", "skipped": "SKIP"}
    rows = []
    for stage in stages:
        milliseconds = f"{1000 * stage.seconds:,.1f} ms" if stage.seconds else ""
        rows.append((badges.get(stage.outcome, stage.outcome), stage.name, milliseconds))
    return outcome_table(("outcome", "stage", "time"), rows)
