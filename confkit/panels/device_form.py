"""The form of one device: its fields, and the device that is typed into them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import ipywidgets

from ..devices import address_checked, options_checked
from ..errors import ConfigError
from ..operations import B1
from ..records import Device, parameter_error, parse_id, require_text
from ..rtsp.address import parse_address
from ..secret import Secret, SecretAddress, reveal
from .arranging import row
from .parts import Field


class DeviceForm(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """The fields of a device by name, as `inputs`; that of the room stands elsewhere."""

    def __init__(self, room_id: str) -> None:
        self.inputs = {
            "room_id": Field("Room", "text", "all rooms", shows=True),
            "user_id": Field("User id", "text", "camera-1", shows=True),
            # Some name a camera by its address.
            "user_name": Field("Name", "text", "Front door", shows=True),
            "user_address": Field("Address", "text", "rtsp://host:554/path", shows=True),
            "login_name": Field("Login name", "text", shows=True),
            "login_password": Field("Login password"),
            "user_data": Field("User data", "text"),
            "options": Field("Options (JSON)", "text", '{"name": "value"}'),
        }
        room, user_id, name, address, *login, data, options = self.inputs.values()
        room.fill(room_id)
        for wide in (name, address, options):
            wide.add_class("confkit-grow")
        super().__init__([row(user_id, name), row(address), row(*login), row(data, options)])
        self.add_class("confkit-form")

    def fill(self, fields: Mapping[str, Any]) -> None:
        """Fill in these fields, None empties one; ConfigError for one that there is not."""
        for name, value in fields.items():
            if name not in self.inputs:
                raise ConfigError(f"a device has no {name}", f"It has {', '.join(self.inputs)}.")
            if name == "options" and not isinstance(value, str | None):
                value = json.dumps(reveal(value))
            if not isinstance(value, Secret):
                value = "" if value is None else str(value)
            self.inputs[name].fill(value)

    def typed(self, name: str) -> str:
        """Return what is typed into a field, without the blanks around it."""
        return Secret(self.inputs[name].text or "").reveal().strip()

    def device(self) -> Device:
        """Return the device to import; ParameterError where something is missing or wrong."""
        device = self.camera()
        parse_id(B1, "room_id", device.room_id)
        parse_id(B1, "user_id", device.user_id)
        require_text(B1, "user_name", device.user_name)
        return device

    def camera(self) -> Device:
        """Return the device as far as a preflight needs it, which is its address and the login;
        ParameterError where these are wrong."""
        self._move_login()
        name, password = self.inputs["login_name"].text, self.inputs["login_password"].text
        return Device(
            self.typed("room_id"),
            self.typed("user_id"),
            self.typed("user_name"),
            address_checked(B1, SecretAddress(self.typed("user_address"))),
            self.typed("user_data"),
            options_checked(self._options(), name.reveal() if name else None, password),
        )

    def _move_login(self) -> None:
        """Move a login that stands in the address into its own fields, where these are empty."""
        with suppress(ValueError):
            parts = parse_address(self.typed("user_address"))
            own = [self.inputs[name].text for name in ("login_name", "login_password", "options")]
            if parts.login_name is not None and not any(own):
                self.fill(
                    {
                        "user_address": parts.url,
                        "login_name": parts.login_name,
                        "login_password": parts.login_password,
                    }
                )

    def _options(self) -> Any:
        given = self.typed("options")
        with suppress(ValueError):
            options = json.loads(given) if given else None
            if options is None or isinstance(options, dict):
                return options
        raise parameter_error(B1, "options is not a JSON object.", 'Write it as {"name": "value"}.')
