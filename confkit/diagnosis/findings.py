"""What can keep a device out of its room, besides its camera: verdicts, causes, next steps."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ConfkitError, TransportError
from ..records import Device
from ..rtsp.report import Report
from ..rtsp.verdicts import Verdict
from .device_address import bare
from .lines import diagnose_call, import_call, named, preflight_line, remove_call

# The names are for code and stay as they are; the sentences are for people and may change.
# {room}, {device} and so on are filled in from what was found.
VERDICTS = {
    "ok": Verdict(
        "{device} is in room {room}, and the service lists it.",
        "{next}",
    ),
    "room_not_found": Verdict(
        "{service} has no room {room}.",
        "Compare the number, kept as text, with the one that ck.create_room returned, and check "
        "that this is the service that you mean.",
    ),
    "room_closed": Verdict(
        "Room {room} is closed, so nothing can join it any more.",
        "Create another room with ck.create_room and import the device there.",
    ),
    "room_locked": Verdict(
        "Room {room} is locked: who is in it stays, and nobody new can join.",
        "Have a host of the room unlock it, then import the device.",
    ),
    "room_full": Verdict(
        "Room {room} is full: it holds {taken} of {most} (people and devices) by its {cap}{sure}.",
        "Take somebody out with ck.force_offline or ck.remove_device, or create a room with a "
        "larger {cap}; then import the device.",
    ),
    "not_imported": Verdict(
        "The service does not list {device} in room {room}.",
        "{next}",
    ),
    "user_id_taken": Verdict(
        "A user of room {room} who is no device has the ID of {device}.",
        "Import the device under another user ID, which no person and no device has.",
    ),
    "user_id_elsewhere": Verdict(
        "The ID {other!r} belongs to another device: {listed} in room {other_room!r}.",
        "Choose another user ID, or remove that device: {remove_other}",
    ),
    "address_differs": Verdict(
        "{device} was imported with another address: {listed}, not {address}.",
        "If the address listed is wrong, take the device out with ck.remove_device and import it "
        "with the right one; otherwise diagnose it again without an address.",
    ),
    "duplicate_address": Verdict(
        "The same address is in room {room} already, as device {other!r}.",
        "Use {other!r}, or take it out with {remove_other} and import the address under the ID "
        "that you want; until then an import answers 423.",
    ),
    "in_another_room": Verdict(
        "{device} is not in room {room} but in room {other_room!r}, as {other!r} at {listed}.",
        "Take it out there with {remove_other}, then import it here; to have the camera in both "
        "rooms, import it here under an ID of its own.",
    ),
    "login_differs": Verdict(
        "The camera plays with this login, but the service has another one, or none, for {device}.",
        "Put the right one in: {remove}, then {call}",
    ),
    "not_joined": Verdict(
        "The service lists {device}, but it is not among the users of room {room}, and its address "
        "cannot be tried from here: only rtsp and rtsps can.",
        "Check on the device that it is on and accepts calls, then take it out with "
        "ck.remove_device and import it again.",
    ),
    "service_cannot_reach": Verdict(
        "The camera plays from here, but the service does not bring {device} into room {room}.",
        "Wait half a minute, as services dial again; if it stays away, run this on the service's "
        "own host, which dials the camera from its own network: {line}",
    ),
    "busy": Verdict(
        "The service holds the camera, as {device} in room {room}, and the camera gave no second "
        "connection ({seen}).",
        "Watch it in the room; to try the camera from here, take it out first with "
        "ck.remove_device, or use another of its streams.",
    ),
}

# The next step where it depends on whether a camera's report says more.
NEXT = {
    ("ok", True): "Nothing is to be done here; whoever does not see it should check their own "
    "connection.",
    ("ok", False): "If its picture still stalls or is missing, try the camera as well, with "
    "force=True (--force).",
    ("not_imported", True): "Import it: {call} -- if that answers 426 or 427, the service cannot "
    "reach the camera; then run this on its own host: {line}",
    ("not_imported", False): "Import it: {call}",
}
SAY_WHICH = "Say which camera, and it is tried too: {diagnose}"

# What follows on the camera's advice where the service lists the device, and so goes on dialling.
_WRONG_LOGIN = (
    "The service goes on trying this login: take the device out first with {remove}, then import "
    "it with the right one."
)
_AGAIN = "The service dials again by itself when the camera is back."
LISTED = {
    "auth_rejected": _WRONG_LOGIN,
    "auth_locked": _WRONG_LOGIN,
    "auth_required": "The service has no login for it: take the device out with {remove}, then "
    "import it with one.",
    "path_not_found": "The service listed this device, so the path was right before: look whether "
    f"the camera was replaced or reset. {_AGAIN}",
    **dict.fromkeys(("url_malformed", "credentials_conflict", "redirected"), ""),
}

# Where each of them shows: the stage that is marked as failed; the camera marks its own.
STAGES = {
    "room_not_found": "room", "room_closed": "room", "room_locked": "room", "room_full": "users",
    "not_imported": "device", "user_id_taken": "users", "user_id_elsewhere": "elsewhere",
    "address_differs": "listed address", "duplicate_address": "device",
    "in_another_room": "elsewhere", "login_differs": "users", "not_joined": "users",
    "service_cannot_reach": "users", "busy": "camera",
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A verdict with its sentences, the stage at which it shows, and the camera's own report."""

    verdict: str
    cause: str
    advice: str
    stage: str
    camera: Report | None = None


def found(
    verdict: str, service: str, device: Device, camera: Report | None, /, **more: object
) -> Finding:
    """Return a finding of this module about a device, its sentences filled in; `more` adds to what
    they are filled with."""
    facts = {
        "service": service,
        "room": repr(device.room_id),
        "device": named(device),
        "line": preflight_line(device),
        "call": import_call(device),
        "remove": remove_call(device),
        "diagnose": diagnose_call(device),
        **more,
    }
    if verdict == "not_imported" and device.user_address is None:
        facts["next"] = SAY_WHICH.format_map(facts)
    else:
        facts["next"] = NEXT.get((verdict, camera is not None), "").format_map(facts)
    cause, advice = (text.format_map(facts) for text in VERDICTS[verdict])
    cause = cause[:1].upper() + cause[1:]
    return Finding(verdict, cause, advice, STAGES.get(verdict, ""), camera)


def of_other(verdict: str, service: str, device: Device, other: Device) -> Finding:
    """Return a finding about a device in whose way another one is."""
    facts = {"other": other.user_id, "other_room": other.room_id, "listed": bare(other)}
    return found(verdict, service, device, None, remove_other=remove_call(other), **facts)


def of_camera(camera: Report, listed: Device | None = None) -> Finding:
    """Return what the camera's own report says; `listed` is a device with whose address and login
    the service goes on dialling."""
    advice = camera.advice
    if listed is not None:
        more = LISTED.get(camera.verdict, _AGAIN).format(remove=remove_call(listed))
        advice = f"{advice} {more}".strip()
    return Finding(camera.verdict, camera.cause, advice, "camera", camera)


def of_error(error: ConfkitError, stage: str = "") -> Finding:
    """Return what the service, or the way to it, answered in place of what was asked; without
    a `stage` it shows at the last one."""
    cause, advice = f"{error.said}.", error.advice or "Correct that, then diagnose it again."
    if isinstance(error, TransportError):
        cause = f"The service could not be asked: {cause}"
    return Finding("service_error", cause[:1].upper() + cause[1:], advice, stage)
