"""The way from a room to a camera, along which a diagnosis looks for what keeps a device out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..client import Client
from ..devices import list_devices
from ..errors import ConfkitError, LicenceError, MediaServerUnavailable, RoomNotFound
from ..frames import OTHER, ROOM_STATUS
from ..records import Device
from ..rooms import get_mcu, get_room, get_room_users
from ..rtsp.report import FAILED, OK, SKIPPED, Notice, Report
from ..rtsp.steps import Steps
from .device_address import (
    at_address_of,
    bare,
    can_be_tried,
    of_id,
    place,
    same_login,
    with_login_of,
)
from .findings import Found, found, named, of_camera, of_error, remove_call

# What a camera that gives one connection answers while the service holds it.
_HELD = frozenset({"busy", "dropped", "refused", "rtsp_silent", "setup_play_failed"})
_PLAYED = (
    "left out: the service plays this camera, and some cameras give one connection only; "
    "force=True (--force) tries it all the same"
)
# A cap that a device needs a place under, and how sure that is: people may be in a room without a
# video stream, and not every one of them needs to send.
_CAPS = {"attendee_max": "", "max_video": ", if each of them sends video (assumed)"}


class Chain:
    """One way from a room to a camera; `device` is the one that is looked at just now, and `camera`
    what its camera was found to do.

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
        self.camera: Report | None = None

    def report(self) -> Report:
        """Return what was found; an error of the service is part of that."""
        try:
            end = self._found("ok", device=self._walk())
        except Found as why:
            end = why.with_traceback(None)  # which would keep this frame, and all in it
        except RoomNotFound:
            end = self._found("room_not_found")
        except ConfkitError as error:
            end = of_error(error)
        stages = list(self.steps.end())
        ok = end.verdict == "ok"
        if not ok and end.stage != "camera":  # which marks its own
            at = max((n for n, s in enumerate(stages) if s.name == end.stage), default=-1)
            stages[at] = replace(stages[at], outcome=FAILED)
        known = self.camera or Report(subject="", ok=ok, verdict="", cause="", advice="")
        return replace(
            known,
            subject=f"{named(self.device)} in room {self.wanted.room_id!r} of {self.client.name}",
            ok=ok,
            verdict=end.verdict,
            cause=end.cause,
            advice=end.advice,
            stages=(*stages, *known.stages),
            warnings=(*known.warnings, *self.notices),
        )

    def _walk(self) -> str:
        """Go the whole way, and return what is in its room; Found where something keeps it out."""
        self._room_is_open()
        listed = self._device_in_the_list()
        self._read_users(listed)
        if listed is not None:
            return self._is_there(listed)
        if self.here and not self._is_named():
            return self._all_are_there()
        self._id_and_address_are_free()
        others = self._elsewhere()
        self._id_is_free_elsewhere(others)
        self._room_has_a_place()
        self._camera_plays(others)
        raise self._found("service_cannot_reach" if self.refused else "not_imported")

    def _is_named(self) -> bool:
        return bool(self.wanted.user_id) or self.wanted.user_address is not None

    def _room_is_open(self) -> None:
        self.room = get_room(self.client, self.wanted.room_id)
        room_id = self.room.room_id  # which an application may know by another ID, too
        self.wanted = self.device = replace(self.wanted, room_id=room_id)
        code = self.room.room_status
        self.status = OTHER if code is None else ROOM_STATUS.get(code, OTHER)
        joinable = self.status in ("scheduled", "opening")  # words that sound like "not yet"
        self.steps.detail = f"open (the service says {self.status!r})" if joinable else self.status
        if self.status == "closed":
            raise self._found("room_closed")

    def _device_in_the_list(self) -> Device | None:
        """The device that is wanted, as B3 lists it in the room."""
        self.steps.begin("device")
        room_id, user_id = self.wanted.room_id, self.wanted.user_id
        self.here = [d for d in list_devices(self.client, room_id) if d.room_id == room_id]
        listed = of_id(user_id, self.here) if user_id else at_address_of(self.wanted, self.here)
        count = f"{len(self.here)} in the list"
        if self._is_named():
            self._tell(f"{'listed' if listed else 'not listed'}, {count}", listed is not None)
        else:
            self._tell(count, bool(self.here))
        return listed

    def _read_users(self, listed: Device | None) -> None:
        self.steps.begin("users")
        self.users = {user.user_id for user in get_room_users(self.client, self.wanted.room_id)}
        sought = {device.user_id for device in self.here}
        if self._is_named():
            sought = {(listed or self.wanted).user_id} - {""}
        absent = ", ".join(map(repr, sorted(sought - self.users)))
        missed = f"; not among them: {absent}" if absent else ""
        self._tell(f"{len(self.users)} in the room{missed}", not absent)

    def _all_are_there(self) -> str:
        """The first device of the room that has a problem; with `force` each camera is tried."""
        absent = [device for device in self.here if device.user_id not in self.users]
        number = len(self.here)
        every = "its device" if number == 1 else f"each of its {number} devices"
        if not absent and not self.force:
            self._leave_out(_PLAYED)
            return every
        for device in absent or self.here:
            try:
                every = self._is_there(device)
            except Found as end:
                if absent and number > 1:
                    first = f"the first is {device.user_id!r}: {end.cause}"
                    text = f"{len(absent)} of the room's {number} devices are not in it"
                    end.cause = f"{text}; {first}"
                raise
        return every

    def _is_there(self, device: Device) -> str:
        """What B3 lists is there, or its camera or the service's own network keeps it out."""
        self.device, self.camera = with_login_of(self.wanted, device), None
        self.steps.begin("listed address")
        self.steps.detail = bare(device)
        if self.wanted.user_address is not None and place(self.wanted) != place(device):
            meant = bare(self.wanted)
            raise self._found("address_differs", address=meant, listed=bare(device))
        if device.user_id in self.users:
            self._camera_still_plays()
            return named(self.device)
        self._camera_plays(self._elsewhere(), device)
        self._room_has_a_place()
        raise self._found("service_cannot_reach" if self.camera else "not_joined")

    def _camera_still_plays(self) -> None:
        """The camera of a device that is in its room."""
        if not self.force:
            self._leave_out(_PLAYED)
            return
        self._look()
        if self.camera is not None and not self.camera.ok:
            if self.camera.verdict in _HELD:
                raise self._found("busy", seen=self.camera.verdict)
            raise of_camera(self.camera)

    def _id_and_address_are_free(self) -> None:
        """Whether the room has the address already, or somebody of this ID (423)."""
        twin = at_address_of(self.wanted, self.here)
        if twin is not None:
            raise self._other("duplicate_address", twin)
        if self.wanted.user_id in self.users:
            raise self._found("user_id_taken")

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

    def _id_is_free_elsewhere(self, others: list[Device]) -> None:
        """Whether the ID is a device's of another room (423)."""
        namesake = of_id(self.wanted.user_id, others)
        if namesake is not None and not self.refused:
            self.steps.detail = _whereabouts(namesake)
            same = self.wanted.user_address is None or place(self.wanted) == place(namesake)
            raise self._other("in_another_room" if same else "user_id_elsewhere", namesake)

    def _room_has_a_place(self) -> None:
        """Whether the room lets anybody new in."""
        if self.status == "locked":
            raise self._found("room_locked")
        inside = self.users | {device.user_id for device in self.here}
        taken = len(inside - {self.device.user_id})
        for cap, sure in _CAPS.items():
            most = getattr(self.room, cap)
            if most and taken >= most:
                raise self._found("room_full", cap=cap, most=most, taken=taken, sure=sure)

    def _camera_plays(self, others: list[Device], listed: Device | None = None) -> None:
        """Whether the camera plays, with a login that the service has, and a media server is there.

        That the camera is in another room, too, is worth a notice and keeps it out of no room.
        """
        other = at_address_of(self.device, others)
        also = ""
        if other is not None:
            self.steps.detail = _whereabouts(other)
            also = f"The camera is also {self.steps.detail}"
            text = f"{also}; one camera may be in several rooms."
            self.notices.append(Notice("elsewhere", "warning", text))
        no_server = self._media_server()
        self._look()
        own = listed is None or same_login(self.device, listed)
        if self.camera is not None and self.camera.verdict != "ok":
            end = of_camera(self.camera, listed if own else None)
            if also and end.verdict in _HELD:
                end.cause += f" {also}, which may take its only place."
            raise end
        if self.camera is not None and self.camera.authentication != "none" and not own:
            raise self._found("login_differs")
        if no_server is not None:
            raise no_server

    def _media_server(self) -> Found | None:
        """What A5 says where no media server takes anybody up; the camera is looked at first."""
        self.steps.begin("media server")
        try:
            self.steps.detail = get_mcu(self.client, self.wanted.room_id)
        except (LicenceError, MediaServerUnavailable) as error:
            self.steps.end(error.meaning)
            return of_error(error, "media server")
        except ConfkitError as error:
            self.steps.skip(f"it could not be asked for: {error}")
        return None

    def _look(self) -> None:
        if can_be_tried(self.device):
            self.steps.end()  # the stages of the camera's own report follow
            self.camera = self.look(self.device)
        else:
            known = self.device.user_address is not None
            why = "only rtsp and rtsps addresses can be tried" if known else "no address is known"
            self._leave_out(f"left out: {why}")

    def _leave_out(self, why: str) -> None:
        self.steps.begin("camera")
        self.steps.skip(why)

    def _tell(self, told: str, well: bool) -> None:
        """Say what a step brought; one that did not find what it looked for gets no tick."""
        self.steps.detail, self.steps.outcome = told, OK if well else SKIPPED

    def _found(self, verdict: str, **more: object) -> Found:
        tried = self.camera is not None
        return found(verdict, self.client.name, self.device, tried, **more)

    def _other(self, verdict: str, other: Device) -> Found:
        """A finding about a device in whose way another one is."""
        facts = {"other": other.user_id, "other_room": other.room_id, "listed": bare(other)}
        return self._found(verdict, remove_other=remove_call(other), **facts)


def _whereabouts(device: Device) -> str:
    return f"in room {device.room_id!r} as device {device.user_id!r}"
