"""The calls that a diagnosis suggests. They run as pasted: secrets are prompted for."""

from __future__ import annotations

from shlex import quote

from ..records import Device
from ..secret import MASK, redact
from .camera import address_without_login, login_of


def name_of(device: Device) -> str:
    """Return how a sentence refers to a device."""
    if device.user_id:
        return f"device {redact(device.user_id)!r}"
    address = address_without_login(device)
    return f"the device at {address}" if address else "any device"


def import_call(device: Device) -> str:
    """Return the call that imports a device."""
    name = _argument(device.user_name or device.user_id or "NAME", "user_name")
    camera = f"{_ids(device)}, {name}, {_address_and_login(device)}"
    return f"ck.import_device(client, {camera}, preflight=True, verify=True)"


def remove_call(device: Device) -> str:
    """Return the call that removes a device from its room."""
    return f"ck.remove_device(client, {_ids(device)})"


def diagnose_call(device: Device) -> str:
    """Return the call that diagnoses a device."""
    return f"ck.diagnose_device(client, {_ids(device)}, {_address_and_login(device)})"


def preflight_line(device: Device) -> str:
    """Return the command that tries a device's camera on another host."""
    name, address = login_of(device)[0], address_without_login(device)
    login = f" --login-name {quote(name)}" if name else ""
    if MASK in address:
        return f'read -rs ADDRESS; confkit preflight "$ADDRESS"{login}'
    return f"confkit preflight {quote(address)}{login}"


def _ids(device: Device) -> str:
    return f"{device.room_id!r}, {_argument(device.user_id or 'USER_ID', 'user_id')}"


def _address_and_login(device: Device) -> str:
    name = login_of(device)[0]
    login = f", login_name={name!r}, login_password=ck.ask_secret()" if name else ""
    return _argument(address_without_login(device) or MASK, "user_address") + login


def _argument(value: str, name: str) -> str:
    masked = redact(value)
    return repr(masked) if MASK not in masked else f"ck.ask_secret('{name}: ').reveal()"
