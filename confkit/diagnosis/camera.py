"""The camera behind a device: its address, its login, and whether it plays from here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..records import Device
from ..rtsp.address import Address, parse_address
from ..rtsp.preflight import preflight
from ..rtsp.report import Report
from ..secret import Secret, SecretAddress, redact


def can_be_tried(device: Device) -> bool:
    """Return whether a preflight can try a device's address: not sip or h323."""
    scheme = str(device.user_address or "").partition("://")[0].lower()
    return scheme not in ("", "sip", "h323")


def preflight_of(device: Device, **options: Any) -> Report:
    """Return the preflight of a device, with its login; `options` are those of `preflight`."""
    login = (device.login_name, device.login_password)
    return preflight(device.user_address or "", *login, **options)


def address_without_login(device: Device) -> str:
    """Return a device's address without its login, other secrets masked."""
    parts = _parse_address(device)
    return redact(str(SecretAddress(parts.url) if parts else device.user_address or ""))


def login_of(device: Device) -> tuple[str, Secret]:
    """Return name and password of a device's login, from its fields or its address, or ""."""
    parts = _parse_address(device)
    name = device.login_name or (parts and parts.login_name)
    password = device.login_password or (parts and parts.login_password)
    return str(name or ""), Secret(password or "")


def with_login_of(source: Device, device: Device) -> Device:
    """Return the device with the login of the source, or unchanged if that has none."""
    login, parts = login_of(source), _parse_address(device)
    if not any(login):
        return device
    name, password = (new or own for new, own in zip(login, login_of(device), strict=True))
    options = {**device.options, "login_name": name, "login_password": password}
    address = SecretAddress(parts.url) if parts else device.user_address
    return replace(device, user_address=address, options=options)


def camera_key(device: Device) -> tuple[object, ...]:
    """Return a key that is equal for the same camera: without the login, with the default port."""
    parts = _parse_address(device)
    if parts is None:
        return (device.user_address,)
    return parts.scheme, parts.host.lower(), parts.port, parts.path


def at_address(camera: Device, devices: Iterable[Device]) -> list[Device]:
    """Return the devices that are the same camera by its address."""
    key = None if camera.user_address is None else camera_key(camera)
    return [device for device in devices if camera_key(device) == key]


def _parse_address(device: Device) -> Address | None:
    try:
        return parse_address(device.user_address.reveal() if device.user_address else "")
    except ValueError:
        return None
