"""`DevicePanel`: cameras tried, imported into a room, listed and removed; one, or a table."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import ipywidgets

from ..client import Client
from ..devices import NotInRoom, import_device
from ..diagnosis import diagnose_device
from ..diagnosis.device_address import can_be_tried, login_of, preflight_of
from ..endpoints import B1
from ..errors import ApiError, ConfkitError, OutcomeUnknown
from ..records import Device
from ..rtsp.report import RUNNING, Report, Stage
from ..secret import mask_address
from .arranging import block, button, check, columns, row, shown
from .camera_views import listener, report_html, stages_html
from .device_form import DeviceForm
from .device_questions import import_question
from .device_tables import Tables
from .panel import Work, until_cancelled
from .parts import View


class DevicePanel(Tables):
    """A panel that tries cameras, imports them and lists what is there; its `value` is the
    `devices_frame` of the devices listed.

    With a `room_id` those of that room, else of all rooms. `report` is the last preflight or
    diagnosis, `result` what became of the last table. B1, B2 and B3 of the interface.
    """

    def __init__(self, client: Client, room_id: str | None = None) -> None:
        super().__init__(client, room_id)
        self.report: Report | None = None
        self._tried: tuple[Device, Report] | None = None
        self.form = DeviceForm(self.room)
        self.untried = check("Import without a preflight")
        self.verify = check("Look for it afterwards", True)
        self.view = View("What was found out")
        self._preflight = button("Preflight", self.clicked(self.preflight, "camera"))
        self._import = button("Import", self.clicked(self._ask_import, "change"))
        self._why = button("Find out why", self.clicked(self.diagnose, "camera"))
        self.untried.observe(lambda _: self._offer(), "value")
        self._arrange()
        self._offer()
        shown(self._why, False)
        self.first(self.refresh)

    def _arrange(self) -> None:
        clear = button("Clear", lambda _: self.form.clear())
        diagnose = button(
            "Diagnose", self.clicked(self._diagnose, "camera", given=lambda: self.list.picked)
        )
        self.list.offers(diagnose)
        refresh = button("Refresh", self.clicked(self.refresh, "reading"))
        one = columns(
            ipywidgets.VBox(
                [
                    self.form,
                    row(self.untried, self.verify),
                    row(self._preflight, self._import, self._why, clear),
                ]
            ),
            self.view,
        )
        self.shows(
            row(self.room, self.everywhere, refresh),
            ipywidgets.Tab([one, self.many], titles=["One device", "Many devices"]),
            block("Devices", self.list),
        )

    # One device

    def fill(self, **fields: Any) -> None:
        """Fill in the form; the fields are those of `import_device`. TypeError for others."""
        self.tell("", kind="form")
        try:
            self.form.fill(**fields)
        except TypeError as error:
            self.tell(f"{error}.", "bad", "form")
            raise

    def preflight(self, **fields: Any) -> Report:
        """The report of the camera in the form, whose stages the panel shows as they happen; it
        changes nothing on the service. `fields` are filled in first."""
        self.fill(**fields)
        with self.working("Preflight", "camera") as work:
            return self._try(self.form.camera(), work)

    def diagnose(self, user_id: str | None = None, room_id: str | None = None) -> Report:
        """Why a device of the list, or without a `user_id` the one in the form, is not in its
        room."""
        listed = self.select(user_id, room_id) if user_id else None
        with self.working("Looking for the device", "camera"):
            device = listed or self.form.camera()
            return self._diagnose(device)

    def import_device(self, preflight: bool = True, **fields: Any) -> Device:
        """The device in the form, once it has joined the room and, if that is ticked, was seen
        there. `fields` are filled in first; errors as of `import_device`.

        With `preflight` the camera is tried first, unless it has just been found to play.
        """
        self.fill(**fields)
        with self.working("Importing", "change"):
            return self._bring_in(self.form.device(), preflight, self.verify.value)

    # What clicks ask, and what is then done: with the device that the question named.

    def _ask_import(self) -> None:
        with self.working("Reading the room", "change") as work:
            device, preflight = self.form.device(), not self.untried.value
            tried, verify = self._passed(device) is not None, self.verify.value
            question = until_cancelled(
                lambda: import_question(self.client, device, tried, preflight), work.cancelled
            )
        self.ask("Import", question, lambda: self._bring_in(device, preflight, verify))

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
            try:
                found = import_device(self.client, device, preflight=passed or False, verify=verify)
            except (NotInRoom, OutcomeUnknown):
                with suppress(ConfkitError, CancelledError):
                    self._read()  # it may be there
                raise
            seen = ", and seen in it" if verify else ""
            self._told(f"{called} was imported into room {device.room_id}{seen}.", True, "change")
            return found

    def _diagnose(self, device: Device) -> Report:
        called = mask_address(device.user_id)
        with self.working(f"Looking for the reason of {called}", "camera") as work:
            name, password = login_of(device)
            report = diagnose_device(
                self.client, device.room_id, device.user_id or None, device.user_address,
                login_name=name or None, login_password=password or None,
                cancelled=work.cancelled,
            )  # fmt: skip
            self._show(report, work.kind)
            return report

    def _try(self, camera: Device, work: Work) -> Report:
        stages: list[Stage] = []
        self._tried = None
        self._offer()
        shown(self._why, False)
        try:
            listen = listener(self.view.show, stages)
            report = preflight_of(camera, cancelled=work.cancelled, on_stage=listen)
        except CancelledError:
            self.view.show(stages_html(one for one in stages if one.outcome != RUNNING))
            raise
        self._tried = camera, report
        self._offer()
        self._show(report, work.kind)
        return report

    def _passed(self, device: Device) -> Report | None:
        """The report of this camera, with this login, where it was found to play."""
        if self._tried is None:
            return None
        camera, report = self._tried
        same = camera.user_address == device.user_address and login_of(camera) == login_of(device)
        return report if same and report.ok else None

    # What is shown

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong, and what was found out about that."""
        super().fails(error, kind)
        if isinstance(error, ApiError) and error.report:
            self.report = error.report
            self.view.show(report_html(error.report))
        elif isinstance(error, ApiError):
            shown(self._why, error.ret in (426, 427))

    def _show(self, report: Report, kind: str) -> None:
        self.report = report
        self.view.show(report_html(report))
        if report.ok:
            self.tell(" ".join([report.cause, ", ".join(report.facts())]), "good", kind)
        else:
            self.tell(f"{report.verdict}: {report.cause} {report.advice}", "bad", kind)

    def _offer(self) -> None:
        """Offers the import after a preflight that passed, or without one on purpose."""
        ready = self.untried.value or (self._tried is not None and self._tried[1].ok)
        reason = "" if ready else "Make a preflight first, or tick the box to do without."
        self._import.tooltip = self.frame.note or reason or "Import"
        self._import.disabled = self._import.tooltip != "Import"
        self._import.button_style = "" if self._import.disabled else "primary"
        self._preflight.button_style = "primary" if self._import.disabled else ""
