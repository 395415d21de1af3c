"""All rooms of a panel, and the table of those that search and filters leave."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Callable
from datetime import tzinfo
from typing import TYPE_CHECKING

from ..errors import ConfigError, ConfkitError
from ..many.result import Sweep
from .filtering import matching, searchable
from .parts import View
from .parts.table import Row
from .room_cells import room_table
from .room_forms import FilterBar
from .room_list import (
    READ_AT,
    UNREAD,
    clock,
    counted,
    frame_of_rooms,
    joined,
    known_only,
    not_there,
    since,
    unreachable,
    valued,
    without,
)

if TYPE_CHECKING:
    import pandas as pd


class RoomBoard:
    """Rooms, which readings put here, and the table of those that search and filters leave.

    `frame` holds all rooms, with `unread`; `shown` is the value of the table's rooms, of all pages,
    in its order: `on_shown` is called with that whenever it changes. `picked` is the ID of the room
    whose row is marked; `aging` says whether rows are shown again and again, so that ages stay
    true.
    """

    def __init__(
        self,
        found: Sweep,
        aging: Callable[[], bool],
        on_choice: Callable[[str], object],
        on_shown: Callable[[pd.DataFrame], object],
        tz: tzinfo | None = None,
    ) -> None:
        # A reading shows its rooms in one thread, while somebody types and sorts in another.
        self._lock = threading.RLock()
        self._on_shown, self._aging, self._tz = on_shown, aging, tz
        self._rooms = searchable(frame_of_rooms(found))
        self.picked = ""
        self.filters = FilterBar(self.show)
        self.download = View("Download")
        self.table = room_table(
            self._old, empty="No room to show. Add rooms by number, or change the search.",
            on_choice=on_choice, on_page=self._order,
        )  # fmt: skip
        self.show()

    @property
    def frame(self) -> pd.DataFrame:
        """All rooms, in the order in which they came."""
        return self._rooms.frame

    def known(self, room_id: str) -> str:
        """The ID, when it is that of a room here; ConfigError says how to pick or add one."""
        if not room_id:
            raise ConfigError("No room is picked", "Give its ID, or click on one first.")
        if not (self.frame["room_id"] == room_id).any():
            raise ConfigError(
                f"Room {room_id!r} is not among those of the panel",
                f"panel.add([{room_id!r}]) adds it.",
            )
        return room_id

    def take(self, found: Sweep, renews: bool = False) -> pd.DataFrame:
        """What a sweep has found, once it stands among the rooms; one that `renews` adds none, so
        that a room which was deleted meanwhile does not come back."""
        new = frame_of_rooms(found)
        with self._lock:
            if renews:
                new = known_only(new, self.frame)
            self._rooms = searchable(joined(self.frame, new, not_there(found)))
            self.show()
        return new

    def mark(self, error: ConfkitError) -> None:
        """Marks all rooms as not read for this reason; what was read of them last stays."""
        with self._lock:
            self._rooms = searchable(unreachable(self.frame, error))
            self.show()

    def drop(self, room_id: str) -> None:
        """Remove the room from the rooms."""
        with self._lock:
            self._rooms = searchable(without(self.frame, room_id))
            self.show()

    def pick(self, room_id: str) -> None:
        """Mark this row and turn to its page, as far as search and filters leave it; an empty ID
        marks none."""
        with self._lock:
            self.picked = self.table.chosen = room_id
            self.table.reveal(room_id)

    def offer(self, text: str) -> None:
        """Offer this CSV for saving from the browser, until other rooms are shown."""
        data = b64encode(text.encode("utf-8-sig")).decode()  # with the mark that Excel looks for
        self.download.show(
            '<a class="confkit-button confkit-link" download="rooms.csv" '
            f'href="data:text/csv;charset=utf-8;base64,{data}">Save rooms.csv</a> '
            f"({len(self.shown):,} rooms)"
        )

    def show(self) -> None:
        """Shows the rooms that search and filters leave, with their ages as they are now."""
        with self._lock:
            found = matching(self._rooms, self.filters.wanted)
            self._clock = clock(self.frame[READ_AT], self._tz)
            self.table.show(found, counted(len(found), self.frame, self._aging(), self._tz))
            self.table.chosen = self.picked
            self._order()

    def _old(self, row: Row) -> str:
        if not row[UNREAD] or row[READ_AT] is None:
            return ""
        return since(row[READ_AT], self._clock, self._aging())

    def _order(self) -> None:
        with self._lock:
            self.shown = valued(self.table.ordered).reset_index(drop=True)
            if self.download.html:
                self.download.show("")
            self._on_shown(self.shown)
