"""The camera behind a device: its address, its login, and whether it plays from here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..records import Device
from ..rtsp.address import Address, parse_address
from ..rtsp.report import Report
from ..secret import Secret, SecretAddress

_UNTRIED = ("sip", "h323")


def can_be_tried(device: Device) -> bool:
    """Return whether a device has an address that a preflight can try: sip and h323 are none."""
    address = device.user_address
    return address is not None and str(address).partition("://")[0].lower() not in _UNTRIED


def preflight_of(device: Device, **options: Any) -> Report:
    """Return the preflight of a device, with its login; `options` are those of `preflight`."""
    from ..rtsp.preflight import preflight

    name, password = device.login_name or None, device.login_password or None
    return preflight(device.user_address or "", name, password, **options)


def _parsed(address: SecretAddress | None) -> Address | None:
    try:
        return parse_address(address.reveal() if address else "")
    except ValueError:
        return None


def host_of(device: Device) -> str:
    """Return the host of an RTSP device, in lower case; "" where its address is none."""
    parts = _parsed(device.user_address)
    return parts.host.lower() if parts else ""


def bare(device: Device) -> str:
    """Return a device's address without the login in it, or an example where there is none."""
    address = device.user_address or SecretAddress("rtsp://host:554/path")
    parts = _parsed(address)
    return str(SecretAddress(parts.url) if parts else address)


def login_of(device: Device) -> tuple[str, Secret]:
    """Return name and password of a device's login, of its fields or of its address; "" is none."""
    parts = _parsed(device.user_address)
    name = device.login_name or (parts and parts.login_name)
    password = device.login_password or (parts and parts.login_password)
    return str(name or ""), Secret(password or "")


def with_login_of(wanted: Device, device: Device) -> Device:
    """Return the device with the login of the wanted one, where that has one, in its fields."""
    given = login_of(wanted)
    if not any(given):
        return device
    name, password = (ours or own for ours, own in zip(given, login_of(device), strict=True))
    parts = _parsed(device.user_address)
    address = device.user_address
    if parts is not None and parts.login_name is not None:
        address = SecretAddress(parts.url)
    options = {**device.options, "login_name": name, "login_password": password}
    return replace(device, user_address=address, options=options)


def same_login(device: Device, listed: Device) -> bool:
    """Return whether both have one login; a password that the service does not give is no other."""
    (name, password), (known, secret) = login_of(device), login_of(listed)
    return name == known and (not secret or password == secret)


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
    parts = _parsed(device.user_address)
    if parts is None:
        return (device.user_address,)
    return parts.scheme, parts.host.lower(), parts.port, parts.path
