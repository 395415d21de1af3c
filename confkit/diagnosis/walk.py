"""The walk from a room to a camera: room, list, users, camera, media server."""

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
# What a camera that gives one connection answers while somebody holds it.
_HELD = frozenset({"busy", "dropped", "refused", "rtsp_silent", "setup_play_failed"})
_PLAYED = (
    "left out: the service plays this camera, and some cameras give one connection only; "
    "force=True (--force) tries it all the same"
)
# A cap that a device needs a place under, and how sure that is: people may be in a room without a
# video stream, and not every one of them needs to send.
_CAPS = {"attendee_max": "", "max_video": ", if each of them sends video (assumed)"}


@dataclass
class Walk:
    """One walk. It looks at `device`, and `listed` is the same as the service lists it.

    `look` gives the report of a device's camera; `force` asks for it while the service plays the
    camera, too; `refused`: an import of the device has just been refused. The methods return what
    they found, as a report without subject and stages; None is nothing in the way.
    """

    client: Client
    device: Device
    look: Callable[[Device], Report]
    force: bool = False
    refused: bool = False
    listed: Device | None = None
    camera: Report | None = None
    stages: Stages = field(default_factory=lambda: Stages("room"))
    stages_before_camera: int = 0

    def report(self) -> Report:
        """Walk to what keeps the device out, and report it; an error of the service may be that."""
        try:
            end = self._walk(self.device)
        except RoomNotFound:
            end = self._found("room_not_found")
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
        room_id = self.room.room_id  # an application may know it by another ID, too
        wanted = self.device = replace(wanted, room_id=room_id)
        code = self.room.room_status
        self.status = OTHER if code is None else ROOM_STATUS.get(code, OTHER)
        joinable = self.status in ("scheduled", "opening")  # words that sound like "not yet"
        stages.detail = f"open (the service says {self.status!r})" if joinable else self.status
        if self.status == "closed":
            return self._found("room_closed")

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
            # It was in the room before, so its camera is the first that may keep it out.
            return (
                self._address_differs(wanted, absent[0])
                or self._camera_fails(at_address(absent[0], others))
                or self._no_media_server()
                or self._no_place()
                or self._found("service_cannot_reach" if self.camera else "not_joined")
            )
        if listed:
            return self._present(wanted, listed)
        if wanted.user_id in users:
            return self._found("user_id_taken")
        refusal = "service_cannot_reach" if can_be_tried(wanted) else "not_joined"
        return (
            self._no_place()
            or self._camera_fails(at_address(wanted, others))
            or self._no_media_server()
            or self._found(refusal if self.refused else "not_imported")
        )

    def _id_or_address_taken(self, here: list[Device], others: list[Device]) -> Report | None:
        """Why an import would be answered with 423; after another refusal the ID is free."""
        twins = at_address(self.device, here)
        known = [device for device in others if device.user_id == self.device.user_id]
        if known and not self.refused:
            if self.device.user_address is None:
                self.device = replace(known[0], room_id=self.device.room_id)
            if twins or not at_address(self.device, known):
                return self._found("user_id_elsewhere", known[0])
            self._take_login(known[0])
            return self._found("in_another_room", known[0])
        if twins:
            self._take_login(twins[0])
            return self._found("duplicate_address", twins[0])
        return None

    def _take_login(self, device: Device) -> None:
        """Import with the login of what is removed for that, where no other is known."""
        if not any(login_of(self.device)):
            self.device = with_login_of(device, self.device)

    def _present(self, wanted: Device, devices: list[Device]) -> Report:
        """What is in its room is well; `force` tries its camera all the same."""
        for device in devices if self.force else devices[:1]:
            end = self._address_differs(wanted, device)
            if end or (self.force and (end := self._camera_fails([device]))):
                return end
        if not self.force:
            self.stages.begin("camera")
            self.stages.skip(_PLAYED)
        if wanted.user_id or wanted.user_address is not None:
            return self._found("ok")
        self.device = wanted
        return self._found("ok", device="each device")

    def _address_differs(self, wanted: Device, listed: Device) -> Report | None:
        self.listed, self.device = listed, with_login_of(wanted, listed)
        self.stages.begin("listed address")
        self.stages.detail = address_without_login(listed)
        if wanted.user_address is None or at_address(wanted, [listed]):
            return None
        self.device = replace(listed, user_address=wanted.user_address)
        return self._found("address_differs", listed)

    def _no_place(self) -> Report | None:
        self.stages.begin("place")
        if self.status == "locked":
            return self._found("room_locked")
        taken = len(self.inside - {self.device.user_id})
        for name, sure in _CAPS.items():
            cap = getattr(self.room, name)
            if cap and taken >= cap:
                return self._found("room_full", name=name, cap=cap, taken=taken, sure=sure)
        self.stages.end()
        return None

    def _camera_fails(self, holders: list[Device]) -> Report | None:
        """What the camera does; `holders`: as what else the service may hold its connection."""
        if not can_be_tried(self.device):
            self.stages.begin("camera")
            self.stages.skip("left out: only rtsp and rtsps addresses can be tried from here")
            return None
        self.stages_before_camera = len(self.stages.end())
        camera = self.camera = self.look(self.device)
        if camera.ok:
            return None
        if holders and camera.verdict in _HELD:
            return self._found("busy", holders[0], seen=camera.verdict)
        if self.device is not self.listed:  # or it was tried with another login than the service's
            return camera
        return replace(camera, advice=f"{camera.advice} {self._found('listed').advice}")

    def _no_media_server(self) -> Report | None:
        self.stages.begin("media server")
        try:
            self.stages.detail = get_mcu(self.client, self.device.room_id)
        except (LicenceError, MediaServerUnavailable) as error:
            self.stages.detail = error.meaning
            return self._service_error(error)
        except ConfkitError as error:
            self.stages.skip(f"it could not be asked for: {error}")
        self.stages.end()
        return None

    def _found(self, verdict: str, other: Device | None = None, **more: object) -> Report:
        """A verdict about the device; `other` is in its way."""
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
        lost = "The service could not be asked: " if isinstance(error, TransportError) else ""
        advice = error.advice or "Correct that, then diagnose it again."
        return self._report("service_error", f"{lost}{error.summary}.", advice)

    def _report(self, verdict: str, cause: str, advice: str) -> Report:
        """A verdict, with what is known of the camera."""
        camera = self.camera or Report(subject="", ok=True, verdict="", cause="", advice="")
        cause = cause[:1].upper() + cause[1:]
        ok = verdict == "ok"
        return replace(camera, ok=ok, verdict=verdict, cause=cause, advice=advice)
