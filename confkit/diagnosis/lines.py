"""What a report prints for somebody to run: calls and commands, never with a password."""

from __future__ import annotations

from shlex import quote

from ..records import Device
from ..secret import mask_address
from .device_address import bare, login_of


def named(device: Device) -> str:
    """Return what a device is called in a sentence."""
    if device.user_id:
        return f"device {_user_id(device)!r}"
    return "any device" if device.user_address is None else f"the camera at {bare(device)}"


def import_call(device: Device) -> str:
    """Return the call that imports a device."""
    name = mask_address(device.user_name or "NAME")
    given = (device.room_id, _user_id(device), name, bare(device))
    told = ", ".join(map(repr, given))
    return f"ck.import_device(client, {told}{_login(device)}, preflight=True, verify=True)"


def remove_call(device: Device) -> str:
    """Return the call that takes a device out of its room."""
    return f"ck.remove_device(client, {device.room_id!r}, {_user_id(device)!r})"


def diagnose_call(device: Device) -> str:
    """Return the call that finds out what keeps a device out; dots where its address is unknown."""
    if device.user_address is None:
        told, login = "'rtsp://...'", ", login_name='NAME', login_password=ck.ask_secret()"
    else:
        told, login = repr(bare(device)), _login(device)
    given = f"{device.room_id!r}, {_user_id(device)!r}, {told}"
    return f"ck.diagnose_device(client, {given}{login})"


def diagnose_line(room_id: str, user_id: str | None) -> str:
    """Return the command that does the same for a camera whose address is unknown."""
    told = f"{quote(room_id)} {quote(mask_address(user_id or 'USER_ID'))}"
    return f"confkit diagnose {told} --address rtsp://... [--login-name NAME]"


def preflight_line(device: Device) -> str:
    """Return the command that tries a device's camera on another host."""
    name = login_of(device)[0]
    return f"confkit preflight {quote(bare(device))}" + (
        f" --login-name {quote(name)}" * bool(name)
    )


def _user_id(device: Device) -> str:
    return mask_address(device.user_id or "USER_ID")  # some are called by their address


def _login(device: Device) -> str:
    name = login_of(device)[0]
    return f", login_name={name!r}, login_password=ck.ask_secret()" if name else ""
