"""The diagnosis, step by step: room, list of devices, users, camera, media server."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..client import Client
from ..devices import list_devices
from ..errors import (
    ConfkitError,
    LicenceError,
    MediaServerUnavailable,
    RoomNotFound,
)
from ..frames import OTHER, ROOM_STATUS
from ..records import Device, Room
from ..rooms import get_mcu, get_room, get_room_users
from ..rtsp.report import FAILED, Report, Stages
from ..secret import redact
from .calls import import_call, name_of, preflight_line, remove_call
from .camera import (
    address_without_login,
    at_address,
    can_be_tried,
    login_of,
    preflight_of,
    with_login_of,
)

_VERDICTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("verdicts.toml").read_text("utf-8")
)
# Verdicts of a camera that allows one connection only, while that is in use.
_BUSY_VERDICTS = frozenset({"busy", "dropped", "refused", "rtsp_silent", "setup_play_failed"})
_SERVICE_PLAYS = (
    "skipped: the service plays this camera, and some cameras allow one connection only"
)
# The caps that a device counts against, and a caveat: a person may be in a room without sending
# video.
_CAPS = {"attendee_max": "", "max_video": ", if each of them sends video (assumed)"}


def walk(
    client: Client,
    device: Device,
    known: Report | None = None,
    *,
    refused: bool = False,
    **options: Any,
) -> Report:
    """Return the first problem on the way from the room to the camera, or that there is none.

    The camera is tried with these `options` unless its report is `known`; `refused`: an import of
    the device has just been refused."""
    way = _Way(client, device, known, options)
    try:
        end = _walk(way, device, refused)
    except RoomNotFound:
        end = way.verdict("room_not_found")
    except ConfkitError as error:
        end = way.service_error(error)
    if way.stages.name and not end.ok:
        way.stages.outcome = FAILED
    subject = f"{name_of(way.device)} in room {way.device.room_id!r} of {client.name}"
    return replace(end, subject=subject, stages=(*way.stages.end(), *end.stages))


def _walk(way: _Way, wanted: Device, refused: bool) -> Report:
    client, stages = way.client, way.stages
    room = get_room(client, wanted.room_id)
    wanted = way.device = replace(wanted, room_id=room.room_id)  # it may be the external ID
    status = OTHER if room.room_status is None else ROOM_STATUS.get(room.room_status, OTHER)
    stages.detail = f"the service says {status!r}"
    if status == "closed":
        return way.verdict("room_closed")

    stages.begin("device")
    devices = list_devices(client)
    here = [device for device in devices if device.room_id == room.room_id]
    others = [device for device in devices if device.room_id != room.room_id]
    listed = [device for device in here if device.user_id == wanted.user_id][:1]
    if not wanted.user_id:
        listed = here if wanted.user_address is None else at_address(wanted, here)[:1]
    stages.detail = f"{len(here)} in the list"
    if not listed:
        stages.outcome, stages.detail = FAILED, f"not listed, {stages.detail}"
        if conflict := _conflict(way, here, others, refused):
            return conflict

    stages.begin("users")
    users = {user.user_id for user in get_room_users(client, room.room_id)}
    absent = [device for device in listed if device.user_id not in users]
    stages.detail = f"{len(users)} in the room"
    inside = users | {device.user_id for device in here}
    if absent:
        names = ", ".join(repr(redact(device.user_id)) for device in absent)
        stages.outcome, stages.detail = FAILED, f"{stages.detail}; not among them: {names}"
        # It was in the room before, so its camera is the most likely cause.
        return (
            way.address_differs(wanted, absent[0])
            or way.camera_fails(at_address(absent[0], others))
            or way.no_media_server()
            or way.no_place(room, status, inside)
            or way.verdict("service_cannot_reach" if way.camera else "not_joined")
        )
    if listed:
        if problem := way.address_differs(wanted, listed[0]):
            return problem
        stages.begin("camera")
        stages.skip(_SERVICE_PLAYS)
        if wanted.user_id or wanted.user_address is not None:
            return way.verdict("ok")
        way.device = wanted
        return way.verdict("ok", device="each device")
    refusal = "service_cannot_reach" if can_be_tried(wanted) else "not_joined"
    return (
        way.no_place(room, status, inside)
        or way.camera_fails(at_address(wanted, others))
        or way.no_media_server()
        or way.verdict(refusal if refused else "not_imported")
    )


def _conflict(way: _Way, here: list[Device], others: list[Device], refused: bool) -> Report | None:
    """Return why an import would be refused with 423; after another refusal the ID is free."""
    if duplicates := at_address(way.device, here):
        return way.replaces("duplicate_address", duplicates[0])
    known = [device for device in others if device.user_id == way.device.user_id]
    if not known or refused:
        return None
    if way.device.user_address is None:
        way.device = replace(known[0], room_id=way.device.room_id)
    return way.replaces("in_another_room", known[0])


@dataclass
class _Way:
    """What is known so far: the device, its `camera`'s report, and `listed`, the same device as the
    service lists it. The methods return a problem as a report without subject and stages."""

    client: Client
    device: Device
    known: Report | None
    options: dict[str, Any]
    listed: Device | None = None
    camera: Report | None = None
    stages: Stages = field(default_factory=lambda: Stages("room"))

    def replaces(self, verdict: str, other: Device) -> Report:
        """Return a verdict whose advice imports the device in place of another, with the login of
        that if no other is known."""
        if not any(login_of(self.device)):
            self.device = with_login_of(other, self.device)
        return self.verdict(verdict, other)

    def address_differs(self, wanted: Device, listed: Device) -> Report | None:
        """Compare the address that is wanted with the one that is listed."""
        self.listed, self.device = listed, with_login_of(wanted, listed)
        self.stages.begin("listed address")
        self.stages.detail = address_without_login(listed)
        if wanted.user_address is None or at_address(wanted, [listed]):
            return None
        self.device = replace(listed, user_address=wanted.user_address)
        return self.verdict("address_differs", listed)

    def no_place(self, room: Room, status: str, inside: set[str]) -> Report | None:
        """Return whether the room is locked or full."""
        self.stages.begin("place")
        if status == "locked":
            return self.verdict("room_locked")
        taken = len(inside - {self.device.user_id})
        for name, sure in _CAPS.items():
            cap = getattr(room, name)
            if cap and taken >= cap:
                return self.verdict("room_full", name=name, cap=cap, taken=taken, sure=sure)
        self.stages.end()
        return None

    def camera_fails(self, holders: list[Device]) -> Report | None:
        """Try the camera; `holders` are devices by which the service may hold its connection."""
        if not can_be_tried(self.device):
            self.stages.begin("camera")
            self.stages.skip("skipped: no rtsp or rtsps address is known, which could be tried")
            return None
        self.stages.end()
        camera = self.camera = self.known or preflight_of(self.device, **self.options)
        if camera.ok:
            return None
        if holders and camera.verdict in _BUSY_VERDICTS:
            return self.verdict("busy", holders[0], seen=camera.verdict)
        if self.device is not self.listed:  # also if tried with a login other than the service's
            return camera
        return replace(camera, advice=f"{camera.advice} {self.verdict('listed').advice}")

    def no_media_server(self) -> Report | None:
        """Return the error of a room without a media server (A5)."""
        self.stages.begin("media server")
        try:
            self.stages.detail = get_mcu(self.client, self.device.room_id)
        except (LicenceError, MediaServerUnavailable) as error:
            self.stages.detail = error.meaning
            return self.service_error(error)
        except ConfkitError as error:
            self.stages.skip(f"could not be read: {error}")
        self.stages.end()
        return None

    def verdict(self, verdict: str, other: Device | None = None, **more: object) -> Report:
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
        known = self.device.user_address is not None
        advice = row["advice"] + row.get("tried" if self.camera else "untried", "") * known
        return self._report(verdict, row["cause"].format_map(facts), advice.format_map(facts))

    def service_error(self, error: ConfkitError) -> Report:
        """Return an error of the service as a verdict."""
        advice = error.advice or "Correct that, then repeat the diagnosis."
        return self._report("service_error", f"{error.summary}.", advice)

    def _report(self, verdict: str, cause: str, advice: str) -> Report:
        """Return a verdict with the facts about the camera."""
        camera = self.camera or Report(subject="", ok=True, verdict="", cause="", advice="")
        cause = cause[:1].upper() + cause[1:]
        ok = verdict == "ok"
        return replace(camera, ok=ok, verdict=verdict, cause=cause, advice=advice)
