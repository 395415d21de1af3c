"""The diagnosis, step by step: room, list of devices, users, camera, media server."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..client import Client
from ..errors import (
    ConfkitError,
    LicenceError,
    MediaServerUnavailable,
    RoomNotFound,
    TransportError,
)
from ..frames import OTHER, ROOM_STATUS
from ..records import Device
from ..rooms import get_mcu, get_room, get_room_users
from ..rtsp.report import FAILED, Report, Stages
from ..secret import redact
from .calls import import_call, name_of, preflight_line, remove_call
from .camera import (
    address_without_login,
    at_address,
    can_be_tried,
    devices_of,
    login_of,
    with_login_of,
)

_VERDICTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("verdicts.toml").read_text("utf-8")
)
# Verdicts of a camera that allows one connection only, while that is in use.
_BUSY_VERDICTS = frozenset({"busy", "dropped", "refused", "rtsp_silent", "setup_play_failed"})
_SERVICE_PLAYS = (
    "skipped: the service plays this camera, and some cameras allow one connection only; "
    "force=True (--force) tries it anyway"
)
# The caps that a device counts against, and a caveat: a person may be in a room without sending
# video.
_CAPS = {"attendee_max": "", "max_video": ", if each of them sends video (assumed)"}


@dataclass
class Walk:
    """One diagnosis of `device`; `listed` is the same device as the service lists it.

    `try_camera` returns the report of a device's camera; `force` calls it even while the service
    plays the camera; `refused`: an import of the device has just been refused. The methods return
    the problem as a report without subject and stages, or None.
    """

    client: Client
    device: Device
    try_camera: Callable[[Device], Report]
    force: bool = False
    refused: bool = False
    listed: Device | None = None
    camera: Report | None = None
    stages: Stages = field(default_factory=lambda: Stages("room"))
    stages_before_camera: int = 0

    def report(self) -> Report:
        """Return the report of the first problem, which may be an error of the service."""
        try:
            end = self._walk(self.device)
        except RoomNotFound:
            end = self._verdict("room_not_found")
        except ConfkitError as error:
            end = self._service_error(error)
        if self.stages.name and not end.ok:
            self.stages.outcome = FAILED
        stages, at = self.stages.end(), self.stages_before_camera
        subject = f"{name_of(self.device)} in room {self.device.room_id!r} of {self.client.name}"
        return replace(end, subject=subject, stages=(*stages[:at], *end.stages, *stages[at:]))

    def _walk(self, wanted: Device) -> Report:
        stages = self.stages
        self.room = get_room(self.client, wanted.room_id)
        room_id = self.room.room_id  # the given one may be its external ID
        wanted = self.device = replace(wanted, room_id=room_id)
        code = self.room.room_status
        self.status = OTHER if code is None else ROOM_STATUS.get(code, OTHER)
        joinable = self.status in ("scheduled", "opening")  # which sound like "not yet"
        stages.detail = f"open (the service says {self.status!r})" if joinable else self.status
        if self.status == "closed":
            return self._verdict("room_closed")

        stages.begin("device")
        everywhere = devices_of(self.client, [room_id])
        here = [device for device in everywhere if device.room_id == room_id]
        others = [device for device in everywhere if device.room_id != room_id]
        if wanted.user_id:
            listed = [device for device in here if device.user_id == wanted.user_id][:1]
        else:
            listed = here if wanted.user_address is None else at_address(wanted, here)[:1]
        stages.detail = f"{len(here)} in the list"
        if not listed:
            stages.outcome, stages.detail = FAILED, f"not listed, {stages.detail}"
            if taken := self._id_or_address_taken(here, others):
                return taken

        stages.begin("users")
        users = {user.user_id for user in get_room_users(self.client, room_id)}
        self.inside = users | {device.user_id for device in here}
        absent = [device for device in listed if device.user_id not in users]
        stages.detail = f"{len(users)} in the room"
        if absent:
            names = ", ".join(repr(redact(device.user_id)) for device in absent)
            stages.outcome, stages.detail = FAILED, f"{stages.detail}; not among them: {names}"
            # It was in the room before, so its camera is the most likely cause.
            return (
                self._address_differs(wanted, absent[0])
                or self._camera_fails(at_address(absent[0], others))
                or self._no_media_server()
                or self._no_place()
                or self._verdict("service_cannot_reach" if self.camera else "not_joined")
            )
        if listed:
            return self._present(wanted, listed)
        if wanted.user_id in users:
            return self._verdict("user_id_taken")
        refusal = "service_cannot_reach" if can_be_tried(wanted) else "not_joined"
        return (
            self._no_place()
            or self._camera_fails(at_address(wanted, others))
            or self._no_media_server()
            or self._verdict(refusal if self.refused else "not_imported")
        )

    def _id_or_address_taken(self, here: list[Device], others: list[Device]) -> Report | None:
        """Return why an import would be refused with 423; after another refusal the ID is free."""
        duplicates = at_address(self.device, here)
        known = [device for device in others if device.user_id == self.device.user_id]
        if known and not self.refused:
            if self.device.user_address is None:
                self.device = replace(known[0], room_id=self.device.room_id)
            if duplicates or not at_address(self.device, known):
                return self._verdict("user_id_elsewhere", known[0])
            self._adopt_login(known[0])
            return self._verdict("in_another_room", known[0])
        if duplicates:
            self._adopt_login(duplicates[0])
            return self._verdict("duplicate_address", duplicates[0])
        return None

    def _adopt_login(self, device: Device) -> None:
        """Use the login of the device to be removed, if no other is known."""
        if not any(login_of(self.device)):
            self.device = with_login_of(device, self.device)

    def _present(self, wanted: Device, devices: list[Device]) -> Report:
        """Return the report of devices that are in the room; `force` tries their cameras."""
        for device in devices if self.force else devices[:1]:
            end = self._address_differs(wanted, device)
            if end or (self.force and (end := self._camera_fails([device]))):
                return end
        if not self.force:
            self.stages.begin("camera")
            self.stages.skip(_SERVICE_PLAYS)
        if wanted.user_id or wanted.user_address is not None:
            return self._verdict("ok")
        self.device = wanted
        return self._verdict("ok", device="each device")

    def _address_differs(self, wanted: Device, listed: Device) -> Report | None:
        self.listed, self.device = listed, with_login_of(wanted, listed)
        self.stages.begin("listed address")
        self.stages.detail = address_without_login(listed)
        if wanted.user_address is None or at_address(wanted, [listed]):
            return None
        self.device = replace(listed, user_address=wanted.user_address)
        return self._verdict("address_differs", listed)

    def _no_place(self) -> Report | None:
        self.stages.begin("place")
        if self.status == "locked":
            return self._verdict("room_locked")
        taken = len(self.inside - {self.device.user_id})
        for name, sure in _CAPS.items():
            cap = getattr(self.room, name)
            if cap and taken >= cap:
                return self._verdict("room_full", name=name, cap=cap, taken=taken, sure=sure)
        self.stages.end()
        return None

    def _camera_fails(self, holders: list[Device]) -> Report | None:
        """Try the camera; `holders` are devices by which the service may hold its connection."""
        if not can_be_tried(self.device):
            self.stages.begin("camera")
            known = self.device.user_address is not None
            reason = "only rtsp and rtsps addresses can be tried from here"
            self.stages.skip(f"skipped: {reason if known else 'no address is known'}")
            return None
        self.stages_before_camera = len(self.stages.end())
        camera = self.camera = self.try_camera(self.device)
        if camera.ok:
            return None
        if holders and camera.verdict in _BUSY_VERDICTS:
            return self._verdict("busy", holders[0], seen=camera.verdict)
        if self.device is not self.listed:  # also if tried with a login other than the service's
            return camera
        return replace(camera, advice=f"{camera.advice} {self._verdict('listed').advice}")

    def _no_media_server(self) -> Report | None:
        self.stages.begin("media server")
        try:
            self.stages.detail = get_mcu(self.client, self.device.room_id)
        except (LicenceError, MediaServerUnavailable) as error:
            self.stages.detail = error.meaning
            return self._service_error(error)
        except ConfkitError as error:
            self.stages.skip(f"could not be read: {error}")
        self.stages.end()
        return None

    def _verdict(self, verdict: str, other: Device | None = None, **more: object) -> Report:
        """Return a verdict about the device; `other` is the device that blocks it."""
        row, remove, call = _VERDICTS[verdict], remove_call(self.device), import_call(self.device)
        facts = {
            "service": self.client.name,
            "room": repr(self.device.room_id),
            "device": name_of(self.device),
            "address": address_without_login(self.device),
            "line": preflight_line(self.device),
            "call": call if self.listed is None else f"{remove}, then {call}",
            **more,
        }
        if other is not None:
            facts["other"] = f"{name_of(other)} in room {other.room_id!r}"
            facts |= {"listed": address_without_login(other), "remove_other": remove_call(other)}
        ending = row.get("tried" if self.camera else "untried", "")
        if self.device.user_address is None:
            ending = row.get("unknown", ending)
        advice = row["advice"] + ending
        return self._report(verdict, row["cause"].format_map(facts), advice.format_map(facts))

    def _service_error(self, error: ConfkitError) -> Report:
        lost = "The service could not be reached: " if isinstance(error, TransportError) else ""
        advice = error.advice or "Correct that, then repeat the diagnosis."
        return self._report("service_error", f"{lost}{error.summary}.", advice)

    def _report(self, verdict: str, cause: str, advice: str) -> Report:
        """Return a verdict with the facts about the camera."""
        camera = self.camera or Report(subject="", ok=True, verdict="", cause="", advice="")
        cause = cause[:1].upper() + cause[1:]
        ok = verdict == "ok"
        return replace(camera, ok=ok, verdict=verdict, cause=cause, advice=advice)
