"""`DevicePanel`: cameras tried, imported into a room, listed and removed; one, or a table."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import takewhile
from threading import Event
from typing import TYPE_CHECKING, Any, TextIO

import ipywidgets

from ..bulk.device_table import TableError, device_rows, table_error
from ..bulk.driver import Fate
from ..bulk.imports import import_devices
from ..client import Client
from ..devices import (
    NotInRoom,
    address_checked,
    import_device,
    list_devices,
    options_checked,
    remove_device,
)
from ..diagnosis import diagnose_device
from ..diagnosis.device_address import bare, can_be_tried, login_of, preflight_of
from ..endpoints import B1, identity, needed_text, wrong
from ..errors import ApiError, ConfigError, ConfkitError, OutcomeUnknown
from ..frames import devices_frame
from ..many.sweeps import sweep
from ..many.tables import as_csv, is_table
from ..occupancy.known import known_rooms
from ..records import Device
from ..rooms import get_room
from ..rtsp.address import parse_address
from ..rtsp.report import RUNNING, Report, Stage
from ..secret import Guarded, Secret, mask_address
from ..text import counted
from .arranging import block, button, check, columns, entry, fields, row, shown, text
from .camera_views import stages_html, thumbnails_html
from .given import check_source
from .panel import Panel, Work, told, until_cancelled
from .parts import Column, Field, Mark, Table, View

if TYPE_CHECKING:
    import os

    import pandas as pd

    from ..many.tables import Problem

    Given = pd.DataFrame | str | os.PathLike[str] | TextIO

THUMBNAILS = 12  # of the first devices on the page
COLUMNS = (
    "Columns: room_id, user_id, user_name, user_address; where wanted login_name, login_password, "
    "user_data, options (JSON). Separated by commas, semicolons or tabs."
)
_HEADER = "room_id,user_id,user_name,user_address,login_name,login_password,user_data,options\r\n"
_TONES = {
    "imported": "good",
    "already there": "note",
    "not tried": "quiet",
    "rolled back": "quiet",
    "not seen": "warn",
    "unknown": "warn",
}


class DevicePanel(Panel):
    """A panel that tries cameras, imports them and lists what is there; its `value` is the
    `devices_frame` of the devices listed.

    With a `room_id` those of that room, else of all rooms. `report` is the last preflight or
    diagnosis, `result` what became of the last table. B1, B2 and B3 of the interface.
    """

    def __init__(self, client: Client, room_id: str | None = None) -> None:
        check_source(client)
        super().__init__("Devices", client)
        self.client = client
        self.report: Report | None = None
        self.result: pd.DataFrame | None = None
        self._tried: tuple[Device, Report] | None = None
        self._devices: dict[str, Device] = {}  # by the key of its row
        self._keys: dict[tuple[str, str], str] = {}  # which tell nothing: pages are saved
        self._again: Callable[[], pd.DataFrame] | None = None
        self.room = entry("Room", "" if room_id is None else str(room_id), "all rooms")
        self.everywhere = check("List all rooms")
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
        refresh = button("Refresh", self.clicked(self.refresh, "reading"))
        by_topic = button("Rooms by topic", self.clicked(self.list_rooms, "rooms"))
        tabs = ipywidgets.Tab([self._one(), self._many()], titles=["One device", "Many devices"])
        self.shows(
            row(self.room, by_topic, self.everywhere, refresh),
            self.topics,
            tabs,
            block("Devices", *self._list()),
        )
        shown(self.topics, False)
        self._offer()
        self._pick("")
        self.first(self.refresh)

    def _one(self) -> ipywidgets.Widget:
        """The form of one device, and what is found out about it."""
        names = (
            "room_id",
            "user_id",
            "user_name",
            "user_address",
            "login_name",
            "login_password",
            "user_data",
            "options",
        )
        self.inputs: dict[str, Any] = dict(
            zip(
                names,
                (
                    self.room,
                    Field("User id", "text", "camera-1", shows=True),
                    Field(
                        "Name", "text", "Front door", shows=True
                    ),  # some name a camera by its address
                    Field("Address", "text", "rtsp://host:554/path", shows=True),
                    Field("Login name", "text", shows=True),
                    Field("Login password"),
                    Field("User data", "text"),
                    Field("Options (JSON)", "text", '{"name": "value"}'),
                ),
                strict=True,
            )
        )
        _, user_id, name, address, login_name, password, *more = self.inputs.values()
        for field in (name, address, more[1]):
            field.add_class("confkit-grow")
        self.more = row(*more)
        self.untried = check("Import without a preflight")
        self.untried.observe(lambda _: self._offer(), "value")
        self.verify = check("Look for it afterwards", True)
        self.view = View("What was found out")
        self._preflight = button("Preflight", self.clicked(self.preflight, "camera"))
        self._import = button("Import", self.clicked(self._ask_import, "change"))
        self._why = button("Find out why", self.clicked(self.diagnose, "camera"))
        shown(self.more, False)
        shown(self._why, False)
        form = ipywidgets.VBox(
            [
                row(user_id, name),
                row(address),
                row(login_name, password, button("More fields", lambda _: self.unfold())),
                self.more,
                row(self.untried, self.verify),
                row(
                    self._preflight,
                    self._import,
                    self._why,
                    button("Clear", lambda _: self.clear()),
                ),
            ]
        )
        form.add_class("confkit-form")
        return columns(form, self.view)

    def _many(self) -> ipywidgets.Widget:
        """A table that is chosen or pasted, and what became of each of its devices."""
        self.file = Field("CSV file", "file", ".csv,.tsv,.txt")
        self.pasted = Field("or the table as text", "area", "room_id,user_id,user_name,...")
        self.file.add_class("confkit-grow")
        self.pasted.add_class("confkit-grow")
        self.ticks = {
            "preflight": check("Try each camera first", True),
            "verify": check("Look for each afterwards", True),
            "rollback": check("All or none"),
        }
        self.problems = Table(
            "Problems of the table",
            "number",
            [
                Column("row", "row", right=True),
                Column("column", "column"),
                Column("problem", "problem"),
            ],
        )
        self.outcomes = Table(
            "What became of each device",
            "row",
            [
                Column("row", "row", right=True),
                Column("outcome", "outcome", _outcome),
                Column("user_id", "user"),
                Column("room_id", "room"),
                Column("verdict", "preflight"),
                Column("cause", "cause", wide=True),
            ],
            on_choice=self._detail_of,
        )
        self.detail, self.download = View("One device of the table"), View("Result as a file")
        template = View("An empty table")
        template.html = _download("Download a template (CSV)", "devices.csv", _HEADER)
        ask = self.clicked(self._ask_table, "table")
        retry = self.clicked(self.try_again, "table")
        self.retry = button("Try again", retry, refused=self.frame.note)
        self.rows = ipywidgets.VBox([self.outcomes, self.detail, row(self.retry, self.download)])
        many = ipywidgets.VBox(
            [
                row(self.file, self.pasted),
                row(text(f'<div class="confkit-quiet">{COLUMNS}</div>')),
                row(*self.ticks.values()),
                row(
                    button("Check the table", self.clicked(self.check_table, "table")),
                    button("Import the table", ask, "primary", refused=self.frame.note),
                    button("Clear", lambda _: self.clear_table()),
                    template,
                ),
                self.problems,
                self.rows,
            ]
        )
        many.add_class("confkit-form")
        shown(self.problems, False)
        shown(self.rows, False)
        return many

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
            on_page=self.clicked(self._picture, "pictures", "Pictures", again=True),
        )
        diagnose = self.clicked(self._diagnose, "camera", given=lambda: (self.picked, self.found))
        remove = self.clicked(self._ask_removal, "change", given=lambda: self.picked)
        self.of_picked = row(
            button("Remove", remove, "danger", refused=self.frame.note),
            button("Diagnose", diagnose),
        )
        self.found, self.pictures = View("Why it is in its room or not"), View("Pictures")
        return self.table, self.of_picked, self.found, self.pictures

    # The room, and the list

    @property
    def room_id(self) -> str | None:
        """The room that is typed in; None: all rooms."""
        return self.room.value.strip() or None

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
            self.room.value, self.everywhere.value = room_id, False
            shown(self.topics, False)
            self.clicked(self.refresh, "reading", "Refresh", again=True)()

    def refresh(self) -> pd.DataFrame:
        """The devices of the room, or of all rooms, as they are now (B3): the new `value`."""
        room_id = None if self.everywhere.value else self.room_id
        with self.working("Reading the devices", "reading") as work:
            devices = until_cancelled(lambda: list_devices(self.client, room_id), work.cancelled)
            frame = self.show_devices(devices)
            self._picture()
            return frame

    def show_devices(self, devices: Sequence[Device]) -> pd.DataFrame:
        """Show these devices in the list; their frame is the new `value`."""
        frame = devices_frame(devices)
        places = [(device.room_id, device.user_id) for device in devices]
        keys = [self._keys.setdefault(one, str(len(self._keys) + 1)) for one in places]
        self._devices = dict(zip(keys, devices, strict=True))
        self.table.show(frame.assign(key=keys), counted(len(frame), "device"))
        self._pick(self.table.chosen)
        self.value = frame
        return frame

    @property
    def picked(self) -> Device:
        """The device of the list that was picked; ConfigError when none was."""
        if self.table.chosen not in self._devices:
            raise ConfigError("No device is picked", "Pick one in the list.")
        return self._devices[self.table.chosen]

    @told("pick")
    def select(self, user_id: str, room_id: str | None = None) -> Device:
        """The device of this ID, once it is picked; ConfigError when it is not listed."""
        self.wait_for_first()
        for key, device in self._devices.items():
            if device.user_id == user_id and room_id in (None, device.room_id):
                self.table.choose(key)
                return device
        called = repr(mask_address(str(user_id)))
        raise ConfigError(f"{called} is not in the list", "Refresh it, or list another room.")

    def _pick(self, key: str) -> None:
        shown(self.of_picked, key in self._devices)
        self.found.html = ""

    def _picture(self) -> None:
        if self.client.sandbox is None:
            return
        with self.working("Fetching the pictures", "pictures") as work:
            listed = [self._devices[key] for key in self.table.visible if key in self._devices]
            first = takewhile(lambda _: not work.cancelled.is_set(), listed[:THUMBNAILS])
            self.pictures.html = thumbnails_html(self.client.sandbox, first)
            if work.cancelled.is_set():
                raise CancelledError

    def remove(self, user_id: str, room_id: str | None = None) -> None:
        """Remove the device from its room (B2); errors as of `remove_device`."""
        self._take_out(self.select(user_id, room_id))

    def _ask_removal(self, device: Device) -> None:
        self._ask(
            "Remove",
            partial(self._take_out, device),
            lambda: (
                f"Remove {_named(device)} from {self._room_of(device)}? The service lets go of its "
                "camera, and the others in the room do not see it any more."
            ),
        )

    def _take_out(self, device: Device) -> None:
        called = mask_address(device.user_id)
        with self.working(f"Removing {called}", "change"):
            with self._looked_up():
                remove_device(self.client, device)
            self._say_done(f"{called} was removed from room {device.room_id}.", True, "change")

    @contextmanager
    def _looked_up(self) -> Iterator[None]:
        """Reads the list again where a change may have happened."""
        try:
            yield
        except (NotInRoom, OutcomeUnknown):
            with suppress(ConfkitError, CancelledError):
                self.refresh()
            raise

    def _say_done(self, said: str, well: bool, kind: str) -> None:
        """Says what was done, once the list is read again; that this failed is reported, too."""
        with self.working("Reading the devices", kind) as work:
            work.cancelled = Event()  # what was done is done: only the reading can be cancelled now
            try:
                self.refresh()
            except CancelledError:
                said = f"{said} The list may be as it was before: reading it was cancelled."
            except ConfkitError as error:
                said = f"{said} The list is as it was before: {error}"
        self.tell(said, "good" if well else "bad", kind)

    def _ask(self, yes: str, action: Callable[[], object], question: Callable[[], str]) -> None:
        """Asks what is made in reading the room; an import is no reason for a red button."""
        with self.working("Reading the room", "change") as work:
            asked = until_cancelled(question, work.cancelled)
        self.ask(yes, asked, action, grave=yes == "Remove")

    def _room_of(self, device: Device) -> str:
        try:
            topic = get_room(self.client, device.room_id).topic
        except ConfkitError as error:
            return f"room {device.room_id}, whose topic could not be read ({error})"
        return f'room "{topic}" ({device.room_id})'

    # One device

    def fill(self, **fields: Any) -> None:
        """Fill in the form; the fields are those of `import_device`, None empties one, and the
        others keep what they have. TypeError for a field that it has not."""
        self.tell("", kind="form")
        for name, value in fields.items():
            if name not in self.inputs:
                missing = f"a device has no {name}; it has {', '.join(self.inputs)}"
                self.tell(f"{missing}.", "bad", "form")
                raise TypeError(missing)
            if name == "options" and not isinstance(value, str | None):
                value = json.dumps(value)
            self._put(name, "" if value is None else str(value))
        if fields.get("user_data") or fields.get("options"):
            shown(self.more, True)

    def clear(self) -> None:
        """Empty all fields of the form but the room's, here and in the browser."""
        self.fill(**dict.fromkeys(name for name in self.inputs if name != "room_id"))

    def unfold(self) -> None:
        """Show the rarer fields, or hide them again."""
        shown(self.more, self.more.layout.display == "none")

    def _put(self, name: str, value: str) -> None:
        field = self.inputs[name]
        if isinstance(field, Field):
            field.fill(value)
        else:
            field.value = value

    def _typed(self, name: str) -> Guarded:
        field = self.inputs[name]
        return Guarded((field.text or "") if isinstance(field, Field) else field.value)

    def _camera(self) -> Device:
        """What a preflight needs: the address and the login; ParameterError where there is none."""
        self._move_login()
        login = self.inputs["login_name"].text, self.inputs["login_password"].text
        return Device(
            self._typed("room_id").strip(),
            self._typed("user_id").strip(),
            self._typed("user_name").strip(),
            address_checked(B1, self._typed("user_address").strip()),
            self._typed("user_data"),
            options_checked(self._options(), *login),
        )

    def _move_login(self) -> None:
        """Moves a login that stands in the address into its own fields, where these are empty."""
        with suppress(ValueError):
            parts = parse_address(self._typed("user_address"))
            own = [self.inputs[name].text for name in ("login_name", "login_password", "options")]
            if parts.login_name is not None and not any(own):
                self._put("user_address", parts.url)
                self._put("login_name", parts.login_name)
                self._put("login_password", parts.login_password or "")

    def _options(self) -> Any:
        given = self._typed("options")
        try:
            options = json.loads(given) if given.strip() else None
        except ValueError:
            options = given
        if options is None or isinstance(options, dict):
            return options
        advice = 'Write it as {"name": "value"}.'
        raise wrong(B1, "options is not a JSON object.", advice)

    def _device(self) -> Device:
        """The device to import; ParameterError where something is missing or wrong."""
        device = self._camera()
        identity(B1, "room_id", device.room_id)
        identity(B1, "user_id", device.user_id)
        needed_text(B1, "user_name", device.user_name)
        return device

    def preflight(self, **fields: Any) -> Report:
        """The report of the camera in the form, whose stages the panel shows as they happen; it
        changes nothing on the service. `fields` are filled in first."""
        self.fill(**fields)
        with self.working("Preflight", "camera") as work:
            return self._try(self._camera(), work)

    def diagnose(self, user_id: str | None = None, room_id: str | None = None) -> Report:
        """Why a device of the list, or without a `user_id` the one in the form, is not in its
        room; shown beside that one."""
        listed = self.select(user_id, room_id) if user_id else None
        with self.working("Looking for the device", "camera"):
            return self._diagnose((listed or self._camera(), self.found if listed else self.view))

    def import_device(self, preflight: bool = True, **fields: Any) -> Device:
        """The device in the form, once it has joined the room and, if that is ticked, was seen
        there. `fields` are filled in first; errors as of `import_device`.

        With `preflight` the camera is tried first, unless it has just been found to play.
        """
        self.fill(**fields)
        with self.working("Importing", "change"):
            return self._bring_in(self._device(), preflight, self.verify.value)

    def _ask_import(self) -> None:
        # The question names the device and what is ticked, and a yes is to these.
        with self.working("Reading the form", "change"):
            device, preflight = self._device(), not self.untried.value
        way = ""
        if not preflight:
            way = " It is not tried from here first: if the service refuses, nobody knows why."
        elif self._passed(device) is None:
            way = " Its address or login is not what was tried, so it is tried again first."
        action = partial(self._bring_in, device, preflight, self.verify.value)
        self._ask(
            "Import",
            action,
            lambda: f"Import {_named(device)} at {bare(device)} into {self._room_of(device)}?{way}",
        )

    def _bring_in(self, device: Device, preflight: bool, verify: bool) -> Device:
        called = mask_address(device.user_id)
        with self.working(f"Importing {called}", "change") as work:
            self.client.may_send(B1)
            shown(self._why, False)
            passed: Report | None = None
            if preflight and can_be_tried(device):
                passed = self._passed(device) or self._try(device, work)
            if work.cancelled.is_set():
                raise CancelledError
            with self._looked_up():
                found = import_device(self.client, device, preflight=passed or False, verify=verify)
            seen = ", and seen in it" if verify else ""
            if passed is not None:
                done = f"{called} was imported into room {device.room_id}."
                self._show(replace(passed, advice=done), self.view)
            said = f"{called} was imported into room {device.room_id}{seen}."
            self._say_done(said, True, "change")
            return found

    def _diagnose(self, about: tuple[Device, View]) -> Report:
        device, view = about
        called = mask_address(device.user_id)
        with self.working(f"Looking for the reason of {called}", "camera") as work:
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
            return self._say_found(report, view, work)

    def _try(self, camera: Device, work: Work) -> Report:
        stages: list[Stage] = []
        self._tried = None
        self._offer()
        shown(self._why, False)

        def listen(stage: Stage) -> None:
            if stages and stages[-1].outcome == RUNNING:
                stages.pop()
            stages.append(stage)
            self.view.html = stages_html(stages)

        try:
            report = preflight_of(camera, cancelled=work.cancelled, on_stage=listen)
        except CancelledError:
            self.view.html = stages_html(one for one in stages if one.outcome != RUNNING)
            raise
        self._tried = camera, report
        self._offer()
        return self._say_found(report, self.view, work)

    def _passed(self, device: Device) -> Report | None:
        """The report of this camera, with this login, where it was found to play."""
        if self._tried is None:
            return None
        camera, report = self._tried
        same = camera.user_address == device.user_address and login_of(camera) == login_of(device)
        return report if same and report.ok else None

    def _offer(self) -> None:
        """Offers the import after a preflight that passed, or without one on purpose."""
        ready = self.untried.value or (self._tried is not None and self._tried[1].ok)
        needs = "" if ready else "Make a preflight first, or tick the box to do without."
        refused = self.frame.note or needs
        self._import.tooltip, self._import.disabled = refused or "Import", bool(refused)
        self._import.button_style = "" if refused else "primary"
        self._preflight.button_style = "primary" if refused else ""

    def _show(self, report: Report, view: View) -> None:
        self.report = report
        view.html = report._repr_html_()

    def _say_found(self, report: Report, view: View, work: Work) -> Report:
        self._show(report, view)
        if report.ok:
            self.tell(f"{report.cause} {', '.join(report.facts())}", "good", work.kind)
        else:
            self.tell(f"{report.verdict}: {report.cause} {report.advice}", "bad", work.kind)
        return report

    # Many devices

    def clear_table(self) -> None:
        """Empty the fields of the table, here and in the browser."""
        self.file.clear()
        self.pasted.clear()

    def check_table(self, table: Given | None = None) -> int:
        """How many devices a table has, the one in the panel unless another is given; nothing is
        sent. TableError when something is wrong with it."""
        with self.working("Checking the table", "table"):
            number = len(self._checked(self._source(table)))
            said = f"{counted(number, 'device')}, and nothing is wrong with the table."
            self.tell(said, "good", "table")
            return number

    def import_table(
        self,
        table: Given | None = None,
        *,
        preflight: bool | None = None,
        verify: bool | None = None,
        rollback: bool | None = None,
    ) -> pd.DataFrame:
        """One row per device with what became of it, as of `import_devices`; also the `result`.

        What is not given is as the panel has it. ConfigError for what is no table.
        """
        given = {"preflight": preflight, "verify": verify, "rollback": rollback}
        ticked = {name: self._ticked()[name] if one is None else one for name, one in given.items()}
        with self.working("Importing the table", "table"):
            return self._import_rows(self._source(table), ticked)

    @told("table")
    def try_again(self) -> pd.DataFrame:
        """Import the last table again, as it was: what is there already is left alone, the rows
        that failed are tried once more. ConfigError: no table was imported."""
        if self._again is None:
            raise ConfigError("No table was imported yet", "Import one first.")
        return self._again()

    def _ticked(self) -> dict[str, bool]:
        return {name: box.value for name, box in self.ticks.items()}

    def _source(self, table: Given | None) -> Callable[[], Given]:
        """What gives a table, the one in the panel unless another is given, as often as it is
        asked; ConfigError for none."""
        if table is not None and is_table(table):
            return lambda: table
        if isinstance(table, io.TextIOBase):
            whole = Secret(table.read())
        elif table is not None:
            raise ConfigError(
                f"the table is {type(table).__name__}, and no table",
                "Give a DataFrame, a path, or a file that is open for reading.",
            )
        elif self.pasted.text and self.file.text:
            raise ConfigError(
                "A file is chosen and a text is pasted", "Clear, and give one of them."
            )
        elif not (self.pasted.text or self.file.text):
            raise ConfigError("No table is there", "Choose a CSV file, or paste its text.")
        else:
            whole = self.pasted.text or self.file.text
        return lambda: io.StringIO(whole)

    def _checked(self, source: Callable[[], Given]) -> list[Fate]:
        rows, problems = device_rows(source())
        self._show_problems(problems)
        if problems:
            raise table_error(problems)
        return rows

    def _ask_table(self) -> None:
        # What the question says is what is done, whatever is ticked while it stands.
        ticked = self._ticked()
        with self.working("Checking the table", "table"):
            source = self._source(None)
            rows = self._checked(source)
        rooms = {one.device.room_id for one in rows}
        devices, into = counted(len(rows), "device"), counted(len(rooms), "room")
        how = ["What is in its room already is left alone."]
        if ticked["preflight"]:
            how.append("Each camera is tried first, and one that does not play is not imported.")
        if ticked["rollback"]:
            how.append("The first failure ends it, and what it has imported is removed again.")
        question = f"Import {devices} into {into} of {self.client.name}? {' '.join(how)}"
        self.ask("Import", question, lambda: self._import_rows(source, ticked), grave=False)

    def _import_rows(self, source: Callable[[], Given], ticked: Mapping[str, Any]) -> pd.DataFrame:
        with self.working("Importing the table", "table") as work:
            result = self.result = import_devices(
                self.client, source(), progress=work.progress, cancelled=work.cancelled, **ticked
            )
            self._again = partial(self._import_rows, source, ticked)
            well = bool(result.outcome.isin(["imported", "already there"]).all())
            self.outcomes.show(result, counted(len(result), "device"))
            self.outcomes.choose("")
            link = _download("Download the result (CSV)", "imported-devices.csv", as_csv(result))
            self.download.html = link
            shown(self.problems, False)
            shown(self.rows, True)
            shown(self.retry, not well)
            counts = result.outcome.value_counts(sort=False)
            said = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)
            advice = "" if well else " Pick a row to see its cause and the next step."
            said = f"{said}.{advice}" if said else "The table has no devices."
            self._say_done(said, well, "table")
            return result

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        import pandas as pd

        frame = pd.DataFrame(list(problems), columns=["row", "column", "problem"])
        frame["number"] = range(len(frame))
        self.problems.show(frame.astype({"row": "Int64"}), counted(len(frame), "problem"))
        shown(self.problems, bool(problems))
        shown(self.rows, False)

    def _detail_of(self, key: str) -> None:
        result = self.result
        chosen = () if result is None else result[result.row.astype(str) == key].to_dict("records")
        names = ("user_name", "user_address", "cause", "advice")
        self.detail.html = "".join(
            fields([(name.removeprefix("user_"), one[name]) for name in names]) for one in chosen
        )

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong, what was found out about that, and each problem of a
        table in its row."""
        super().fails(error, kind)
        if isinstance(error, TableError):
            self._show_problems(error.problems)
            self.tell(f"{error.meaning} Nothing was sent. {error.advice}", "bad", kind)
        elif isinstance(error, ApiError) and error.report:
            self._show(error.report, self.view)
        elif isinstance(error, ApiError):
            shown(self._why, error.ret in (426, 427))


def _named(device: Device) -> str:
    called = mask_address(device.user_id)
    return f'"{mask_address(device.user_name)}" ({called})' if device.user_name else called


def _download(label: str, name: str, csv: str) -> str:
    """A link that saves this as a file."""
    data = b64encode(csv.encode("utf-8-sig")).decode()
    return (
        f'<a class="confkit-button confkit-link" download="{name}" '
        f'href="data:text/csv;charset=utf-8;base64,{data}">{label}</a>'
    )


def _outcome(one: Mapping[str, Any]) -> Mark:
    return Mark(one["outcome"], _TONES.get(one["outcome"], "bad"))
