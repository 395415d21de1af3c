"""What lets no device into a room although its camera plays: the room itself, or the service."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ..client import Client
from ..errors import ConfkitError, LicenceError, MediaServerUnavailable
from ..frames import OTHER, ROOM_STATUS
from ..records import Device, Room
from ..rooms import get_mcu
from ..rtsp.steps import Steps
from .findings import Finding, found, of_error

# A cap that a device needs a place under, and how sure that is: people may be in a room without a
# video stream, and not every one of them needs to send.
_CAPS = {"attendee_max": "", "max_video": ", if each of them sends video (assumed)"}


def status_of(room: Room) -> str:
    """Return the word for a room's status; "scheduled" and "opening" rooms can be joined."""
    return OTHER if room.room_status is None else ROOM_STATUS.get(room.room_status, OTHER)


def of_room(room: Room, inside: AbstractSet[str], service: str, device: Device) -> Finding | None:
    """Return what keeps a device out of a room in which these users and devices are."""
    if status_of(room) == "locked":
        return found("room_locked", service, device, None)
    taken = len(inside - {device.user_id})
    for cap, sure in _CAPS.items():
        most = getattr(room, cap)
        if most and taken >= most:
            facts = {"cap": cap, "most": most, "taken": taken, "sure": sure}
            return found("room_full", service, device, None, **facts)
    return None


def of_media_server(client: Client, room_id: str, steps: Steps) -> Finding | None:
    """Return what A5 says where no media server takes anybody up."""
    steps.begin("media server")
    try:
        steps.detail = get_mcu(client, room_id)
    except (LicenceError, MediaServerUnavailable) as error:
        steps.end(error.meaning)
        return of_error(error, "media server")
    except ConfkitError as error:
        steps.skip(f"it could not be asked for: {error}")
    return None
