"""The way from a room to a camera, along which a diagnosis looks for what keeps a device out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..client import Client
from ..devices import list_devices
from ..errors import ConfkitError, RoomNotFound
from ..records import Device
from ..rooms import get_room, get_room_users
from ..rtsp.report import FAILED, Notice, Report
from ..rtsp.steps import Steps
from .device_address import (
    at_address_of,
    bare,
    can_be_tried,
    of_id,
    place,
    place_warnings,
    same_login,
    with_login_of,
)
from .findings import Finding, found, of_camera, of_error, of_other
from .lines import named
from .obstacles import of_media_server, of_room, status_of

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
            finding = of_error(error)
        stages = list(self.steps.end())
        ok = finding.verdict == "ok"
        if not ok and finding.stage != "camera":
            at = max((n for n, s in enumerate(stages) if s.name == finding.stage), default=-1)
            stages[at] = replace(stages[at], outcome=FAILED)
        placed = place_warnings(self.device.user_address)  # told by a camera's report, too
        known = finding.camera or Report(subject="", ok=ok, verdict="", cause="", advice="")
        return replace(
            known,
            subject=f"{named(self.device)} in room {self.wanted.room_id!r} of {self.client.name}",
            ok=ok,
            verdict=finding.verdict,
            cause=finding.cause,
            advice=finding.advice,
            stages=(*stages, *known.stages),
            warnings=tuple(dict.fromkeys((*known.warnings, *placed, *self.notices))),
        )

    def _found(self, verdict: str, camera: Report | None = None, **more: object) -> Finding:
        return found(verdict, self.client.name, self.device, camera, **more)

    def _of_other(self, verdict: str, other: Device) -> Finding:
        return of_other(verdict, self.client.name, self.device, other)

    def _tell(self, told: str, well: bool) -> None:
        """Say what a step brought; one that did not find what it looked for gets no tick."""
        if well:
            self.steps.detail = told
        else:
            self.steps.skip(told)

    def _from_the_room(self) -> Finding:
        self.room = get_room(self.client, self.wanted.room_id)
        room_id = self.room.room_id  # which an application may know by another ID, too
        self.wanted = self.device = replace(self.wanted, room_id=room_id)
        status = status_of(self.room)
        joinable = status in ("scheduled", "opening")  # words that sound like "not yet"
        self.steps.detail = f"open (the service says {status!r})" if joinable else status
        if status == "closed":
            return self._found("room_closed")
        self.steps.begin("device")
        self.here = [d for d in list_devices(self.client, room_id) if d.room_id == room_id]
        user_id = self.wanted.user_id
        listed = of_id(user_id, self.here) if user_id else at_address_of(self.wanted, self.here)
        named = user_id or self.wanted.user_address is not None
        told = ("listed, " if listed else "not listed, ") if named else ""
        self._tell(f"{told}{len(self.here)} in the list", bool(listed if named else self.here))
        self.steps.begin("users")
        self.users = {user.user_id for user in get_room_users(self.client, room_id)}
        sought = {device.user_id for device in self.here}
        if named:
            sought = {(listed or self.wanted).user_id} - {""}
        absent = ", ".join(map(repr, sorted(sought - self.users)))
        missed = f"; not among them: {absent}" if absent else ""
        self._tell(f"{len(self.users)} in the room{missed}", not absent)
        if not named and self.here:
            return self._first_problem()
        return self._listed(listed) if listed else self._unlisted()

    def _first_problem(self) -> Finding:
        """The first device of the room that has one; with `force` each camera is tried."""
        absent = [device for device in self.here if device.user_id not in self.users]
        number = len(self.here)
        if not absent and not self.force:
            self._leave_out(_PLAYED)
            told = "its device" if number == 1 else f"each of its {number} devices"
            return self._found("ok", device=told)
        for device in absent or self.here:
            finding = self._listed(device)
            if finding.verdict != "ok":
                break
        if absent and number > 1:
            told = f"{len(absent)} of the room's {number} devices are not in it; the first"
            return replace(finding, cause=f"{told} is {self.device.user_id!r}: {finding.cause}")
        return finding

    def _listed(self, device: Device) -> Finding:
        """What B3 lists is there, or its camera or the service's own network keeps it out."""
        self.device = with_login_of(self.wanted, device)
        self.steps.begin("listed address")
        self.steps.detail = bare(device)
        if self.wanted.user_address is not None and place(self.wanted) != place(device):
            return self._found("address_differs", address=bare(self.wanted), listed=bare(device))
        if device.user_id in self.users:
            return self._live()
        return self._tried("service_cannot_reach", self._elsewhere(), device)

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
        """What B3 does not list: what would stop an import, a taken ID (423) before the rest?"""
        twin = at_address_of(self.wanted, self.here)
        if twin is not None:
            return self._of_other("duplicate_address", twin)
        if self.wanted.user_id in self.users:
            return self._found("user_id_taken")
        others = self._elsewhere()
        namesake = of_id(self.wanted.user_id, others)
        if namesake is not None and not self.refused:
            self.steps.detail = _whereabouts(namesake)
            same = self.wanted.user_address is None or place(self.wanted) == place(namesake)
            return self._of_other("in_another_room" if same else "user_id_elsewhere", namesake)
        obstacle = self._obstacle()
        if obstacle is not None:
            return obstacle
        return self._tried("service_cannot_reach" if self.refused else "not_imported", others)

    def _elsewhere(self) -> list[Device]:
        """The devices of the other rooms; none where they cannot be read."""
        self.steps.begin("elsewhere")
        try:
            everywhere = list_devices(self.client)
        except ConfkitError as error:
            self.steps.skip(f"the other rooms could not be read: {error}")
            return []
        self.steps.detail = "in no other room"
        return [device for device in everywhere if device.room_id != self.wanted.room_id]

    def _shared(self, others: list[Device]) -> str:
        """Where else the same camera is, which is worth a notice and keeps it out of no room."""
        other = at_address_of(self.device, others)
        if other is None:
            return ""
        self.steps.detail = _whereabouts(other)
        told = f"The camera is also {self.steps.detail}"
        more = f"{told}; one camera may be in several rooms."
        self.notices.append(Notice("elsewhere", "warning", more))
        return told

    def _tried(self, otherwise: str, others: list[Device], listed: Device | None = None) -> Finding:
        """What the camera says; where it plays, what else keeps it out, or else this verdict."""
        shared = self._shared(others)
        no_server = of_media_server(self.client, self.wanted.room_id, self.steps)
        camera = self._look()
        own = listed is None or same_login(self.device, listed)
        if camera is not None and camera.verdict != "ok":
            finding = of_camera(camera, listed if own else None)
            if shared and camera.verdict in _HELD:
                cause = f"{finding.cause} {shared}, which may take its only place."
                return replace(finding, cause=cause)
            return finding
        if camera is not None and camera.authentication != "none" and not own:
            return self._found("login_differs", camera)
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
        self.steps.end()  # the stages of the camera's own report follow
        return self.look(self.device)

    def _leave_out(self, why: str) -> None:
        self.steps.begin("camera")
        self.steps.skip(why)

    def _obstacle(self) -> Finding | None:
        """What lets nobody new into the room."""
        inside = self.users | {device.user_id for device in self.here}
        return of_room(self.room, inside, self.client.name, self.device)


def _whereabouts(device: Device) -> str:
    return f"in room {device.room_id!r} as device {device.user_id!r}"
