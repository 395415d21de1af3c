"""The way from a room to a camera, along which a diagnosis looks for what keeps a device out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .cameras import at_address_of, bare, can_be_tried, of_id, place
from .client import Client
from .errors import ConfkitError, LicenceError, MediaServerUnavailable, RoomNotFound
from .findings import Finding, found, named, of_camera
from .frames import OTHER, ROOM_STATUS
from .listing import list_devices
from .records import Device
from .rooms import get_mcu, get_room
from .rtsp.report import FAILED, Notice, Report
from .rtsp.steps import Steps
from .users import get_room_users

_CAPS = ("attendee_max", "max_video", "max_audio")
# What a camera that gives one connection answers while the service holds it.
_HELD = frozenset({"busy", "dropped", "refused", "rtsp_silent", "setup_play_failed"})
_PLAYED = (
    "left out: the service plays this camera, and some cameras give one connection only; "
    "force=True (--force) tries it all the same"
)
_NOT_RTSP = "left out: only rtsp and rtsps addresses can be tried"


class Chain:
    """One way from a room to a camera; `device` is the one that is looked at just now.

    What B3 lists has been in the room before, so it is judged by its camera. What B3 does not list
    is judged first by what stands in the way of an import. `look` gives the camera's report;
    `force` tries it while the service plays it; `refused`: an import has just been refused.
    """

    def __init__(
        self,
        client: Client,
        wanted: Device,
        look: Callable[[Device], Report],
        *,
        force: bool = False,
        refused: bool = False,
    ) -> None:
        self.client = client
        self.wanted = self.device = wanted
        self.look = look
        self.force = force
        self.refused = refused
        self.steps = Steps("room")
        self.notices: list[Notice] = []

    def report(self) -> Report:
        """Return what was found; an error of the service is part of that."""
        try:
            finding = self._from_the_room()
        except RoomNotFound:
            finding = self._found("room_not_found")
        except ConfkitError as error:
            finding = self._error(error)
        stages = list(self.steps.end())
        ok = finding.verdict == "ok"
        if not ok:
            names = [stage.name for stage in stages]
            at = len(names) - 1 - names[::-1].index(finding.stage or names[-1])
            stages[at] = replace(stages[at], outcome=FAILED)
        known = finding.camera or Report(subject="", ok=ok, verdict="", cause="", advice="")
        return replace(
            known,
            subject=f"{named(self.device)} in room {self.wanted.room_id!r} of {self.client.name}",
            ok=ok,
            verdict=finding.verdict,
            cause=finding.cause,
            advice=finding.advice,
            stages=(*stages, *known.stages),
            warnings=(*known.warnings, *self.notices),
        )

    def _found(self, verdict: str, camera: Report | None = None, **more: object) -> Finding:
        return found(verdict, self.client.name, self.device, camera, **more)

    def _error(self, error: ConfkitError) -> Finding:
        """What the service, or the way to it, answered in place of what was asked."""
        advice = getattr(error, "advice", "") or ""
        cause = str(error).removesuffix(advice).strip()
        advice = advice or "See that the service answers (ck.get_room), then diagnose again."
        return self._found("service_error", error=cause, advice=advice)

    def _from_the_room(self) -> Finding:
        self.room = get_room(self.client, self.wanted.room_id)
        room_id = self.room.room_id  # which an application may know by another ID, too
        self.wanted = self.device = replace(self.wanted, room_id=room_id)
        number = self.room.room_status
        self.status = OTHER if number is None else ROOM_STATUS.get(number, OTHER)
        self.steps.detail = self.status
        if self.status == "closed":
            return self._found("room_closed")
        self.steps.begin("device")
        everything = list_devices(self.client, room_id)
        self.here = [device for device in everything if device.room_id == room_id]
        listed = self._as_wanted()
        named = self.wanted.user_id or self.wanted.user_address is not None
        told = ("listed, " if listed else "not listed, ") if named else ""
        self.steps.detail = f"{told}{len(self.here)} in the list"
        self.steps.begin("users")
        self.users = {user.user_id for user in get_room_users(self.client, room_id)}
        self.steps.detail = f"{len(self.users)} in the room"
        if not named and self.here:
            return self._first_problem()
        return self._listed(listed) if listed else self._unlisted()

    def _as_wanted(self) -> Device | None:
        if self.wanted.user_id:
            return of_id(self.wanted.user_id, self.here)
        return at_address_of(self.wanted, self.here)

    def _first_problem(self) -> Finding:
        """The first device of the room that has one; with `force` each camera is tried."""
        absent = [device for device in self.here if device.user_id not in self.users]
        if not absent and not self.force:
            self._leave_out(_PLAYED)
            return self._found("ok", device=f"each of its {len(self.here)} devices")
        for device in absent or self.here:
            finding = self._listed(device)
            if finding.verdict != "ok":
                break
        if absent and len(self.here) > 1:
            told = f"{len(absent)} of the room's {len(self.here)} devices are not in it; the first"
            return replace(finding, cause=f"{told} is {self.device.user_id!r}: {finding.cause}")
        return finding

    def _listed(self, device: Device) -> Finding:
        """What B3 lists is there, or its camera or the service's own network keeps it out."""
        self.device = replace(device, options={**device.options, **self.wanted.options})
        self.steps.begin("address")
        self.steps.detail = bare(device)
        if self.wanted.user_address is not None and place(self.wanted) != place(device):
            return self._found("address_differs", address=bare(self.wanted), listed=bare(device))
        if device.user_id in self.users:
            return self._live()
        other = self._elsewhere()
        if other is not None:
            told = f"It is in room {other.room_id!r} too, as device {other.user_id!r}."
            self.notices.append(Notice("elsewhere", "warning", told))
        finding = self._tried("service_cannot_reach")
        if other is not None and finding.verdict in _HELD:
            return replace(finding, cause=f"{finding.cause} {told} That may take its only place.")
        return finding

    def _live(self) -> Finding:
        if not self.force:
            self._leave_out(_PLAYED)
            return self._found("ok")
        camera = self._look()
        if camera is None or camera.ok:
            return self._found("ok", camera)
        if camera.verdict in _HELD:
            return self._found("busy", camera, seen=camera.verdict)
        return of_camera(camera)

    def _unlisted(self) -> Finding:
        """What B3 does not list: is it there under another name, or what would stop an import?"""
        self.steps.begin("address")
        given = self.wanted.user_address is not None
        self.steps.detail = bare(self.wanted) if given else "none given"
        twin = at_address_of(self.wanted, self.here)
        if twin is not None:
            return self._found("duplicate_address", other=twin.user_id)
        obstacle = self._obstacle()
        if obstacle is not None:
            return obstacle
        if self.wanted.user_id in self.users:
            return self._found("user_id_taken")
        other = self._elsewhere(by_id=True)
        if other is not None and not self.refused:
            where = other.room_id
            return self._found(
                "in_another_room", other=other.user_id, other_room=where, listed=bare(other)
            )
        return self._tried("service_cannot_reach" if self.refused else "not_imported")

    def _elsewhere(self, by_id: bool = False) -> Device | None:
        """The same camera in another room, or else a device of the same ID."""
        self.steps.begin("elsewhere")
        try:
            everywhere = list_devices(self.client)
        except ConfkitError as error:
            self.steps.skip(f"the other rooms could not be read: {error}")
            return None
        others = [device for device in everywhere if device.room_id != self.wanted.room_id]
        other = at_address_of(self.device, others)
        if other is None and by_id:
            other = of_id(self.device.user_id, others)
        found = other and f"in room {other.room_id!r} as device {other.user_id!r}"
        self.steps.detail = found or "in no other room"
        return other

    def _tried(self, otherwise: str) -> Finding:
        """What the camera says; where it plays, what else keeps it out, or else this verdict."""
        no_server = self._no_server()
        camera = self._look()
        if camera is not None and camera.verdict != "ok":
            return of_camera(camera)
        obstacle = no_server or self._obstacle()
        if obstacle is not None:
            return replace(obstacle, camera=camera)
        untried = camera is None and otherwise == "service_cannot_reach"
        return self._found("not_joined" if untried else otherwise, camera)

    def _look(self) -> Report | None:
        if not can_be_tried(self.device):
            known = self.device.user_address is not None
            self._leave_out(_NOT_RTSP if known else "left out: no address is known")
            return None
        self.steps.begin("camera")
        self.steps.detail = bare(self.device)
        self.steps.end()  # its own stages tell how long it takes
        return self.look(self.device)

    def _leave_out(self, why: str) -> None:
        self.steps.begin("camera")
        self.steps.skip(why)

    def _no_server(self) -> Finding | None:
        """What A5 says where no media server takes anybody up."""
        self.steps.begin("media server")
        try:
            self.steps.detail = get_mcu(self.client, self.wanted.room_id)
        except (LicenceError, MediaServerUnavailable) as error:
            self.steps.end(error.meaning)
            return replace(self._error(error), stage="media server")
        except ConfkitError as error:
            self.steps.skip(f"it could not be asked for: {error}")
        return None

    def _obstacle(self) -> Finding | None:
        """What lets nobody new into the room."""
        if self.status == "locked":
            return self._found("room_locked")
        inside = self.users | {device.user_id for device in self.here}
        taken = len(inside - {self.device.user_id})
        for cap in _CAPS:
            most = getattr(self.room, cap)
            if most and taken >= most:
                return self._found("room_full", cap=cap, most=most, taken=taken)
        return None
