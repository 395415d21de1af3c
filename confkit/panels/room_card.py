"""The picked room: read part by part, and shown below the table."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import ipywidgets

from . import arranging
from .camera_views import thumbnails_html
from .room_details import RoomDetails, last_known, room_details
from .room_parts import RoomParts

if TYPE_CHECKING:
    from ..client import Client
    from ..deployment import McuAnswer
    from ..errors import ConfkitError


class RoomCard:
    """What is known of one room, shown in `box` part by part as it is read; `details` is all of it.

    The room that was asked for last is shown: the reading of another one ends at its next part.
    `parts` are made for the first room, as a panel is quicker without them.
    """

    def __init__(self, client: Client, make: Callable[[], RoomParts]) -> None:
        self._client, self._make = client, make
        self._lock = threading.Lock()
        self._reading = 0  # the number of the newest reading; older ones show nothing any more
        self._threads: list[threading.Thread] = []
        self._pictures = ""
        self._server: McuAnswer | ConfkitError | None = None
        self._asked: datetime | None = None
        self.details: RoomDetails | None = None
        self.parts: RoomParts | None = None
        self.box = ipywidgets.VBox()

    @property
    def room_id(self) -> str:
        """The ID of the room that is shown, or nothing."""
        return "" if self.details is None else self.details.room_id

    def read(self, room_id: str) -> None:
        """Read and show all parts of the room, unless another one is to be shown meanwhile."""
        self._read(room_id, self._begin(room_id))

    def follow(self, room_id: str) -> None:
        """Begins to read a room in a thread."""
        number = self._begin(room_id)
        thread = threading.Thread(
            target=self._read, args=(room_id, number), name="confkit room", daemon=True
        )
        self._threads = [*filter(threading.Thread.is_alive, self._threads), thread]
        thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether no reading in a thread is under way, after at most so many seconds for each."""
        for thread in self._threads:
            thread.join(timeout)
        return not any(thread.is_alive() for thread in self._threads)

    def show_media_server(
        self, room_id: str, found: McuAnswer | ConfkitError, asked: datetime
    ) -> None:
        """Shows what came of asking for a room's media server at this time, where that room is the
        one that is shown; it stays until another one is."""
        with self._lock:
            if self.details is not None and self.room_id == room_id:
                self._server, self._asked = found, asked
                self._show(self.details)

    def close(self) -> None:
        """Show no room any more."""
        with self._lock:
            self._reading += 1
            self.details = None
            arranging.shown(self.box, False)

    def _begin(self, room_id: str) -> int:
        with self._lock:
            self._reading += 1
            if self.room_id != room_id:
                self._pictures, self._server, self._asked = "", None, None
                self._show(RoomDetails(room_id))
            return self._reading

    def _read(self, room_id: str, number: int) -> None:
        before, began = self.details, datetime.now(UTC)
        again = before is not None and before.complete
        for details in room_details(self._client, room_id):
            details = last_known(replace(details, read_at=began), before)
            # A room that is shown in full is not taken apart while it is read again.
            if (details.complete or not again) and not self._shown(details, number):
                return
        devices = details.devices if isinstance(details.devices, list) else []
        sandbox = self._client.sandbox
        pictures = "" if sandbox is None else thumbnails_html(sandbox, devices)
        self._shown(details, number, pictures)

    def _shown(self, details: RoomDetails, number: int, pictures: str | None = None) -> bool:
        """Whether this is shown, because no newer reading has begun; without `pictures` those
        that are shown stay."""
        with self._lock:
            if number == self._reading:
                self._pictures = self._pictures if pictures is None else pictures
                self._show(details)
            return number == self._reading

    def _show(self, details: RoomDetails) -> None:
        details = replace(details, media_server=self._server, media_server_at=self._asked)
        self.details = details
        if self.parts is None:
            self.parts = self._make()
            self.box.children = [self.parts.box]
        self.parts.show(details, self._pictures)
        arranging.shown(self.box, True)
