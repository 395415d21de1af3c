"""The part of `DevicePanel` with the list: read, picked from, removed from."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

from ..client import Client
from ..devices import list_devices, remove_device
from ..errors import ConfkitError, OutcomeUnknown
from ..records import Device
from ..secret import mask_address
from .arranging import button, check, entry
from .device_list import DeviceList
from .device_questions import removal_question
from .given import check_source
from .panel import Panel, told, until_cancelled

if TYPE_CHECKING:
    import pandas as pd


class Listing(Panel):
    """A panel that lists the devices of a room, or of all rooms; its `value` is their frame."""

    def __init__(self, client: Client, room_id: str | None) -> None:
        check_source(client)
        super().__init__("Devices", client)
        self.client = client
        self.room = entry("Room", "" if room_id is None else str(room_id), "all rooms")
        self.everywhere = check("List all rooms")
        remove = self.clicked(self._ask_removal, "change", given=lambda: self.list.picked)
        self.list = DeviceList(
            button("Remove", remove, "danger", refused=self.frame.note),
            on_page=self.clicked(self._picture, "pictures", "Pictures", again=True),
        )

    @property
    def room_id(self) -> str | None:
        """The room that is typed in; None: all rooms."""
        return self.room.value.strip() or None

    def refresh(self) -> pd.DataFrame:
        """The devices of the room, or of all rooms, as they are now (B3): the new `value`."""
        return self._read()

    @told("pick")
    def select(self, user_id: str, room_id: str | None = None) -> Device:
        """The device of this ID, once it is picked; ConfigError when it is not listed."""
        self.wait_for_first()
        return self.list.pick(user_id, room_id)

    def remove(self, user_id: str, room_id: str | None = None) -> None:
        """Remove the device from its room (B2); errors as of `remove_device`."""
        self._take_out(self.select(user_id, room_id))

    def _ask_removal(self, device: Device) -> None:
        with self.working("Reading the room", "change") as work:
            question = until_cancelled(
                lambda: removal_question(self.client, device), work.cancelled
            )
        self.ask("Remove", question, lambda: self._take_out(device))

    def _take_out(self, device: Device) -> None:
        called = mask_address(device.user_id)
        with self.working(f"Removing {called}", "change"):
            try:
                remove_device(self.client, device)
            except OutcomeUnknown:
                with suppress(ConfkitError, CancelledError):
                    self._read()  # it may be gone
                raise
            self._told(f"{called} was removed from room {device.room_id}.", True, "change")

    def _read(self) -> pd.DataFrame:
        room_id = None if self.everywhere.value else self.room_id
        with self.working("Reading the devices", "reading") as work:
            found = until_cancelled(lambda: list_devices(self.client, room_id), work.cancelled)
            self.value = shown = self.list.show(found)
            self._picture()
            return shown

    def _told(self, text: str, well: bool, kind: str) -> None:
        """Says what was done, once the list is read again; that this failed is told, too."""
        with self.working("Reading the devices", kind) as work:
            work.cancelled = Event()  # what was done is done: only the reading can be cancelled now
            try:
                self._read()
            except CancelledError:
                text = f"{text} The list may be as it was before: reading it was cancelled."
            except ConfkitError as error:
                text = f"{text} The list is as it was before: {error}"
        self.tell(text, "good" if well else "bad", kind)

    def _picture(self) -> None:
        if self.client.sandbox is not None:
            with self.working("Fetching the pictures", "pictures") as work:
                self.list.show_pictures(self.client.sandbox, work.cancelled)
                if work.cancelled.is_set():
                    raise CancelledError
