"""The camera behind a device: its address, its login, and whether it plays from here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .masking import Secret, mask, mask_address
from .records import Device
from .rtsp.address import parse_address
from .rtsp.report import Report

_UNTRIED = ("sip", "h323")


def can_be_tried(device: Device) -> bool:
    """Return whether a device has an address that a preflight can try: sip and h323 are none."""
    address = device.user_address
    return address is not None and address.partition("://")[0].lower() not in _UNTRIED


def preflight_of(device: Device, **options: Any) -> Report:
    """Return the preflight of a device, with its login; `options` are those of `preflight`."""
    from .rtsp.preflight import preflight

    name, password = (device.options.get(key) for key in ("login_name", "login_password"))
    return preflight(device.user_address or "", _text(name), _text(password), **options)


def _text(value: Any) -> Secret | None:
    """A part of the login as text; some services hand a password back as a number."""
    if value in (None, ""):
        return None
    return Secret(value if isinstance(value, str) else f"{value:d}")


def bare(device: Device) -> str:
    """Return a device's address without the login in it, or an example where there is none."""
    address = str(device.user_address or "rtsp://host:554/path")
    try:
        return mask(parse_address(address).url)
    except ValueError:
        return mask_address(address, broken=True)


def login_name(device: Device) -> str:
    """Return the login name of a device, of its fields or of its address; "" when it has none."""
    if device.login_name:
        return str(device.login_name)
    try:
        return parse_address(str(device.user_address)).login_name or ""
    except ValueError:
        return ""


def of_id(user_id: str, devices: Iterable[Device]) -> Device | None:
    """Return the first of the devices that has this user ID."""
    return next((device for device in devices if device.user_id == user_id), None)


def at_address_of(wanted: Device, devices: Iterable[Device]) -> Device | None:
    """Return the first of the devices that is the same camera by its address."""
    if wanted.user_address is None:
        return None
    return next((device for device in devices if place(device) == place(wanted)), None)


def place(device: Device) -> tuple[object, ...]:
    """Return what makes two addresses one: a login, or a usual port left out, changes nothing."""
    address = str(device.user_address)
    try:
        parts = parse_address(address)
    except ValueError:
        return (address,)
    return parts.scheme, parts.host.lower(), parts.port, parts.path
