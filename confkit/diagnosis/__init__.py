"""Why is a device not in its room? And: does the camera of a device play from here?"""

from __future__ import annotations

from typing import Any

from ..client import Client
from ..devices import listed_device, unmasked
from ..endpoints import A3, B1, identity, needed_text
from ..records import Device
from ..rtsp.report import Report
from ..secret import Guarded, GuardedAddress, Secret
from .chain import Chain
from .device_address import preflight_of


def diagnose_device(
    client: Client,
    room_id: str,
    user_id: str | None = None,
    user_address: str | None = None,
    *,
    login_name: str | None = None,
    login_password: str | None = None,
    force: bool = False,
    timeout: float = 20.0,
    **options: Any,
) -> Report:
    """Why a device is not in its room: one verdict, its cause, and the next step.

    The device is named by its user ID, its address, or both; without them the first of the room's
    devices that has a problem is looked at. The camera is tried from here, with the login of B3
    where none is given, unless the service plays it: some cameras give one connection only.
    `force` tries it all the same. `timeout` (seconds) and `options` are those of `preflight`. What
    the service answers is part of the report; only a wrong argument is raised (ParameterError).
    """
    login_password = Secret(login_password) if login_password is not None else None
    if user_address is not None:
        user_address = (
            GuardedAddress(user_address) if isinstance(user_address, str) else user_address
        )
        user_address = Guarded(needed_text(B1, "user_address", user_address))
        unmasked("user_address", user_address)
    login = {"login_name": login_name, "login_password": login_password}
    wanted = Device(
        identity(A3, "room_id", room_id),
        "" if user_id is None else identity(B1, "user_id", user_id),
        user_address=user_address,
        options={name: value for name, value in login.items() if value is not None},
    )

    def look(device: Device) -> Report:
        return preflight_of(device, timeout=timeout, **options)

    return Chain(client, wanted, look, force=force).report()


def preflight_device(client: Client, room_id: str, user_id: str, **options: Any) -> Report:
    """The preflight of a device, with the address and the login that B3 holds.

    `options` are those of `preflight`. UserNotFound when the service lists no such device. A camera
    that gives one connection only will refuse while the service plays it.
    """
    return preflight_of(listed_device(client, room_id, user_id), **options)
