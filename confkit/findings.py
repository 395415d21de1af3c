"""What can keep a device out of its room, besides its camera: verdicts, causes, next steps."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from .cameras import bare, login_name
from .records import Device
from .rtsp.report import Report
from .rtsp.verdicts import Verdict

# The names are for code and stay as they are; the sentences are for people and may change.
# {room}, {device} and so on are filled in from what was found.
VERDICTS = {
    "ok": Verdict(
        "{device} is in room {room}, and the service plays it.",
        "Nothing is to be done here; whoever does not see it should check their own connection.",
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
        "Room {room} is full: its {cap} is {most}, and {taken} are in it, devices that the service "
        "lists included.",
        "Take somebody out with ck.force_offline or ck.remove_device, or create a room with a "
        "larger {cap}; then import the device.",
    ),
    "not_imported": Verdict(
        "The service does not list {device} in room {room}.",
        "Import it: {call}{afterwards}",
    ),
    "user_id_taken": Verdict(
        "A user of room {room} who is no device has the ID of {device}.",
        "Import the device under another user ID, which no person and no device has.",
    ),
    "address_differs": Verdict(
        "{device} was imported with another address: {listed}, not {address}.",
        "If the address listed is wrong, take the device out with ck.remove_device and import it "
        "with the right one; otherwise diagnose it again without an address.",
    ),
    "duplicate_address": Verdict(
        "The same address is in room {room} already, as device {other!r}.",
        "Use {other!r}, or take it out with ck.remove_device(client, {room}, {other!r}) and import "
        "the address under the ID that you want; until then an import answers 423.",
    ),
    "in_another_room": Verdict(
        "{device} is not in room {room} but in room {other_room!r}, as {other!r} at {listed}.",
        "Take it out there with ck.remove_device(client, {other_room!r}, {other!r}), then import "
        "it here; to have the camera in both rooms, import it here under an ID of its own.",
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
    "service_error": Verdict("{error}", "{advice}"),  # in the error's own words
}

# What follows on "not_imported" where the camera plays from here.
AFTERWARDS = (
    " -- if that answers 426 or 427, the service cannot reach the camera; then run this on its own "
    "host: {line}"
)

# Where each of them shows: the stage that is marked as failed.
STAGES = {
    "room_not_found": "room", "room_closed": "room", "room_locked": "room", "room_full": "users",
    "not_imported": "device", "user_id_taken": "users", "address_differs": "address",
    "duplicate_address": "address", "in_another_room": "elsewhere", "not_joined": "users",
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
    line = preflight_line(device)
    facts = {
        "service": service,
        "room": repr(device.room_id),
        "device": named(device),
        "line": line,
        "call": import_call(device),
        "afterwards": AFTERWARDS.format(line=line) if camera else "",
        **more,
    }
    cause, advice = (text.format_map(facts) for text in VERDICTS[verdict])
    cause = cause[:1].upper() + cause[1:]
    return Finding(verdict, cause, advice, STAGES.get(verdict, ""), camera)


def of_camera(camera: Report) -> Finding:
    """Return what the camera's own report says."""
    return Finding(camera.verdict, camera.cause, camera.advice, "camera", camera)


def named(device: Device) -> str:
    """Return what a device is called in a sentence."""
    if device.user_id:
        return f"device {device.user_id!r}"
    return "any device" if device.user_address is None else f"the camera at {bare(device)}"


def import_call(device: Device) -> str:
    """Return the line that imports a device, without its password."""
    given = [device.room_id, device.user_id or "USER_ID", device.user_name or "NAME"]
    given.append(bare(device))
    name = login_name(device)
    login = f"login_name={name!r}, login_password=ck.ask_secret(), " if name else ""
    told = ", ".join(map(repr, given))
    return f"ck.import_device(client, {told}, {login}preflight=True, verify=True)"


def preflight_line(device: Device) -> str:
    """Return the command that tries a device's camera on another host, without its password."""
    name = login_name(device)
    return f"confkit preflight {quote(bare(device))}" + (
        f" --login-name {quote(name)}" * bool(name)
    )
