"""The camera behind a device: its address, its login, and whether it plays from here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..client import Client
from ..devices import list_devices
from ..errors import ProtocolError
from ..records import Device
from ..rtsp.address import Address, parse_address
from ..rtsp.report import Report
from ..secret import Secret, SecretAddress, redact


def can_be_tried(device: Device) -> bool:
    """Return whether a device has an address that a preflight can try: sip and h323 are none."""
    scheme = str(device.user_address or "").partition("://")[0].lower()
    return scheme not in ("", "sip", "h323")


def preflight_of(device: Device, **options: Any) -> Report:
    """Return the preflight of a device, with its login; `options` are those of `preflight`."""
    from ..rtsp.preflight import preflight

    name, password = device.login_name or None, device.login_password or None
    return preflight(device.user_address or "", name, password, **options)


def address_without_login(device: Device) -> str:
    """Return a device's address without its login; other secrets in it show as ***."""
    parts = _parsed(device)
    return redact(str(SecretAddress(parts.url) if parts else device.user_address or ""))


def login_of(device: Device) -> tuple[str, Secret]:
    """Return name and password of a device's login, of its fields or of its address; "" is none."""
    parts = _parsed(device)
    name = device.login_name or (parts and parts.login_name)
    password = device.login_password or (parts and parts.login_password)
    return str(name or ""), Secret(password or "")


def with_login_of(wanted: Device, device: Device) -> Device:
    """Return the device with the login of the wanted one, or itself where that has none."""
    login, parts = login_of(wanted), _parsed(device)
    if not any(login):
        return device
    name, password = (new or own for new, own in zip(login, login_of(device), strict=True))
    options = {**device.options, "login_name": name, "login_password": password}
    address = SecretAddress(parts.url) if parts else device.user_address
    return replace(device, user_address=address, options=options)


def camera_key(device: Device) -> tuple[object, ...]:
    """Return what makes two addresses one: a login, or a usual port left out, changes nothing."""
    parts = _parsed(device)
    if parts is None:
        return (device.user_address,)
    return parts.scheme, parts.host.lower(), parts.port, parts.path


def at_address(wanted: Device, devices: Iterable[Device]) -> list[Device]:
    """Return those of the devices that are the same camera by its address."""
    key = None if wanted.user_address is None else camera_key(wanted)
    return [device for device in devices if camera_key(device) == key]


def devices_of(client: Client, room_ids: Iterable[str]) -> list[Device]:
    """Return the devices of these rooms, and maybe of others (B3): by one call for all of them, or,
    where the service cuts so long a list short, one for each room."""
    rooms = dict.fromkeys(room_ids)
    try:
        return list_devices(client) if rooms else []
    except ProtocolError:
        return [device for room_id in rooms for device in list_devices(client, room_id)]


def _parsed(device: Device) -> Address | None:
    try:
        return parse_address(device.user_address.reveal() if device.user_address else "")
    except ValueError:
        return None
