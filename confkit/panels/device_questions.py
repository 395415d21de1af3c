"""What the device panel asks before it changes something: exactly what will happen."""

from __future__ import annotations

from collections.abc import Sequence

from ..bulk.driver import Fate
from ..client import Client
from ..diagnosis.device_address import bare
from ..errors import ConfkitError
from ..records import Device
from ..rooms import get_room
from ..secret import mask_address


def counted(number: int, what: str) -> str:
    """So many of something: "1 device", "2 devices"."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def import_question(client: Client, device: Device, tried: bool, preflight: bool) -> str:
    """Asks before an import; `tried`: the camera was found to play; `preflight`: it is to be."""
    way = ""
    if not preflight:
        way = " It is not tried from here first: should the service refuse, nobody will know why."
    elif not tried:
        way = " Its address or login is not what was tried, so it is tried again first."
    return f"Import {_named(device)} at {bare(device)} into {_room(client, device)}?{way}"


def removal_question(client: Client, device: Device) -> str:
    """Asks before a device is taken out of its room."""
    return (
        f"Remove {_named(device)} from {_room(client, device)}? "
        "The service lets go of its camera, and the others in the room do not see it any more."
    )


def table_question(client: Client, rows: Sequence[Fate], preflight: bool, rollback: bool) -> str:
    """Asks before the devices of a table are imported."""
    rooms = {row.device.room_id for row in rows}
    how = ["What is in its room already is left alone."]
    if preflight:
        how.append("Each camera is tried first, and one that does not play is not imported.")
    if rollback:
        how.append("The first failure ends it, and what it has imported is removed again.")
    devices, into = counted(len(rows), "device"), counted(len(rooms), "room")
    return f"Import {devices} into {into} of {client.name}? {' '.join(how)}"


def _named(device: Device) -> str:
    called = mask_address(device.user_id)
    return f'"{mask_address(device.user_name)}" ({called})' if device.user_name else called


def _room(client: Client, device: Device) -> str:
    try:
        return f'room "{get_room(client, device.room_id).topic}" ({device.room_id})'
    except ConfkitError as error:
        return f"room {device.room_id}, whose topic could not be read ({error})"
