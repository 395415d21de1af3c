"""The devices that a service lists, as a table, with their pictures where a sandbox has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from threading import Event
from typing import TYPE_CHECKING

import ipywidgets

from ..errors import ConfigError
from ..frames import devices_frame
from ..records import Device
from ..secret import mask_address
from .arranging import row, shown
from .camera_views import thumbnails_html
from .device_questions import counted
from .parts import Column, Table, View

if TYPE_CHECKING:
    import pandas as pd

    from ..sandbox import Sandbox

THUMBNAILS = 12  # of the first devices on the page


class DeviceList(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """The devices listed; `picked` is the one that was picked, and what `buttons` are about."""

    def __init__(self, *buttons: ipywidgets.Widget, on_page: Callable[[], object]) -> None:
        self.devices: dict[str, Device] = {}
        self._numbers: dict[tuple[str, str], str] = {}  # keys that tell nothing: pages are saved
        self.table = Table("Devices", "key", [
            Column("user_name", "name"), Column("user_id", "user"), Column("room_id", "room"),
            Column("user_address", "address", wide=True),
        ], empty="No devices here.", sort=("room_id", False), on_page=on_page,
            on_choice=lambda _: self._pick())  # fmt: skip
        self._pictures = View("Pictures of the devices")
        self._buttons = row(*buttons)
        self._pick()
        super().__init__([self.table, self._buttons, self._pictures])

    @property
    def picked(self) -> Device:
        """The device that was picked; ConfigError when none was."""
        if self.table.chosen not in self.devices:
            raise ConfigError("No device is picked", "Pick one in the list.")
        return self.devices[self.table.chosen]

    def show(self, devices: Sequence[Device]) -> pd.DataFrame:
        """The frame of these devices, once they are listed."""
        frame = devices_frame(devices)
        keys = [self._key(device) for device in devices]
        self.devices = dict(zip(keys, devices, strict=True))
        self.table.show(frame.assign(key=keys), counted(len(frame), "device"))
        self._pick()
        return frame

    def show_pictures(self, sandbox: Sandbox, cancelled: Event) -> None:
        """Show the pictures of the first devices on the page, until `cancelled` is set."""
        listed = [self.devices[key] for key in self.table.visible if key in self.devices]
        first = takewhile(lambda _: not cancelled.is_set(), listed[:THUMBNAILS])
        self._pictures.show(thumbnails_html(sandbox, first))

    def pick(self, user_id: str, room_id: str | None = None) -> Device:
        """The device of this ID, once it is picked; ConfigError when it is not in the list."""
        for key, device in self.devices.items():
            if device.user_id == user_id and room_id in (None, device.room_id):
                self.table.choose(key)
                return device
        told = repr(mask_address(str(user_id)))
        raise ConfigError(f"{told} is not in the list", "Refresh it, or list another room.")

    def offers(self, another: ipywidgets.Widget) -> None:
        """Add this button for the device that is picked."""
        self._buttons.children += (another,)

    def _pick(self) -> None:
        shown(self._buttons, self.table.chosen in self.devices)

    def _key(self, device: Device) -> str:
        place = device.room_id, device.user_id
        return self._numbers.setdefault(place, str(len(self._numbers) + 1))
