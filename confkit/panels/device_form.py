"""The form of one device; what may hold a secret is typed into fields that are never saved."""

from __future__ import annotations

import json
from typing import Any

import ipywidgets

from ..devices import address_checked, options_checked
from ..endpoints import B1, identity, needed_text, wrong
from ..records import Device
from ..secret import Guarded, Secret
from .arranging import button, row, shown
from .parts import Field

# The names of `import_device`, which `fill` takes too.
NAMES = ("room_id", "user_id", "user_name", "user_address", "login_name", "login_password",
         "user_data", "options")  # fmt: skip


class DeviceForm(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """The fields of a device; `device` and `camera` read them. `room` is shown elsewhere."""

    def __init__(self, room: ipywidgets.Text) -> None:
        address = Field("Address", "text", "rtsp://host:554/path", shows=True)
        name = Field("Name", "text", "Front door", shows=True)  # some name a camera by its address
        more = Field("User data", "text"), Field("Options (JSON)", "text", '{"name": "value"}')
        self.inputs: dict[str, Any] = dict(zip(NAMES, (
            room, Field("User id", "text", "camera-1", shows=True), name, address,
            Field("Login name", "text"), Field("Login password"), *more,
        ), strict=True))  # fmt: skip
        for field in (address, name, more[1]):
            field.add_class("confkit-grow")
        self._more = row(*more)
        shown(self._more, False)
        super().__init__([
            row(self.inputs["user_id"], self.inputs["user_name"]),
            row(address),
            row(self.inputs["login_name"], self.inputs["login_password"],
                button("More fields", self._unfold)),
            self._more,
        ])  # fmt: skip
        self.add_class("confkit-form")

    def fill(self, **fields: Any) -> None:
        """Put these values into these fields; the others keep theirs, None empties one.

        TypeError for a field that `import_device` has not."""
        for name, value in fields.items():
            if name not in self.inputs:
                raise TypeError(f"a device has no {name}; it has {', '.join(NAMES)}")
            if name == "options" and not isinstance(value, str | None):
                value = json.dumps(value)
            text, field = "" if value is None else str(value), self.inputs[name]
            if isinstance(field, Field):
                field.fill(text)
            else:
                field.value = text
        if fields.get("user_data") or fields.get("options"):
            shown(self._more, True)

    def clear(self) -> None:
        """Empty all fields but the room's, here and in the browser."""
        self.fill(**dict.fromkeys(NAMES[1:]))

    def camera(self) -> Device:
        """What a preflight needs: the address and the login; ParameterError where there is none."""
        address = address_checked(B1, self._text("user_address").strip())
        return Device(
            self._text("room_id").strip(),
            self._text("user_id").strip(),
            self._text("user_name").strip(),
            address,
            self._text("user_data"),
            options_checked(self._options(), *self._login()),
        )

    def device(self) -> Device:
        """The device to import; ParameterError where something is missing or wrong."""
        device = self.camera()
        identity(B1, "room_id", device.room_id)
        identity(B1, "user_id", device.user_id)
        needed_text(B1, "user_name", device.user_name)
        return device

    def _text(self, name: str) -> Guarded:
        field = self.inputs[name]
        return Guarded((field.text or "") if isinstance(field, Field) else field.value)

    def _login(self) -> tuple[str | None, Secret | None]:
        return self.inputs["login_name"].text, self.inputs["login_password"].text

    def _options(self) -> Any:
        text = self._text("options")
        try:
            given = json.loads(text) if text.strip() else None
        except ValueError:
            given = text
        if given is None or isinstance(given, dict):
            return given
        advice = 'Write it as {"name": "value"}.'
        raise wrong(B1, "options is not a JSON object.", advice)

    def _unfold(self, _: Any) -> None:
        shown(self._more, self._more.layout.display == "none")
