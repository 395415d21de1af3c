"""RoomExplorer: many rooms in a table, one of them in full, and what can be done with them."""

from __future__ import annotations

from datetime import tzinfo
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from ..deployment import McuAnswer, mcu_answers
from ..errors import ConfigError, ConfkitError, RoomNotFound
from ..rooms import create_room, delete_room, force_offline, get_mcu
from ..secret import Secret
from ..tables import RoomIds, as_csv
from ..tables import room_ids as read_ids
from ..text import write_atomically
from . import arranging
from .live import RoomsPanel, missing_cell, name_of
from .model import RATE, Filter, valued
from .panel import told, until_cancelled
from .parts import Column, Mark, Table
from .parts.table import Cell, Row
from .room_card import RoomCard, RoomDetails, room_details, status_word, tried
from .room_forms import FilterBar, add_form, new_room_form, opener

if TYPE_CHECKING:
    from ..client import Client

_TONES = {"scheduled": "note", "opening": "good", "locked": "warn", "closed": "quiet"}


class RoomExplorer(RoomsPanel):
    """Rooms to search, sort and look into, and to create, empty and delete.

    `room_ids` is what `sweep` takes, or a finished Sweep, which is shown as it is; left out, it is
    what `known_rooms` finds; a `RoomsModel` is shared with the panels that show it, too. `value` is
    the frame of the rooms that search and filters leave, of all pages, in the order of the table:
    the columns of `Sweep.frame()` with `utilisation` and `read_at`; its `attrs["time"]` is when the
    oldest of all was read, both in UTC. A room that could not be read keeps what was read of it
    last: `read_at` says when that was, and `error` why not since; one that was never read is
    missing. Whoever reads `value` waits for the first reading; where that has found no rooms to
    ask, its error is raised. While automatic refresh is on, the rooms on the page are read so
    often, and between that all others, the oldest first, with at most `background_rate` requests a
    second (0: none). The panel shows times in the zone `tz`, None for this machine's own. Each
    method below does what its button does, blocks until that is done, and raises what goes wrong,
    which stands in the panel, too. ParameterError: `room_ids` are none; ConfigError: there is no
    such zone, or `background_rate` is no number.
    """

    def __init__(
        self,
        client: Client,
        room_ids: Any = None,
        *,
        background_rate: float = RATE,
        tz: str | tzinfo | None = None,
    ) -> None:
        super().__init__("Rooms", client, room_ids, background_rate, tz)
        self._filters = FilterBar(self._shows_rows)
        self.table = Table(
            "Rooms",
            "room_id",
            [
                Column("topic", "topic", name_of),
                Column("room_id", "room", wide=True, copy=True),
                Column("status", "status", _status_cell, wide=True),
                Column("utilisation", "users of max", self._users_cell),
                Column("people", "people", right=True),
                Column("devices", "devices", right=True, wide=True),
                Column("mode", "mode", wide=True),
                Column("owner_id", "owner", wide=True),
            ],
            what="rooms",
            sort=("utilisation", True),
            empty="No room to show. Add rooms by number, or change the search.",
            on_choice=self._choose,
            on_page=lambda: self.draws(self._ordered),
        )
        self._card = RoomCard(
            client,
            self._tz,
            self._button,
            close=lambda: self.select(None),
            check=self.check_media_server,
            put_off=self._ask_offline,
            delete=self._ask_delete,
        )
        adding, making = ipywidgets.VBox(), ipywidgets.VBox()
        add = opener("Add rooms", adding, lambda: add_form(self._button, self.add, self.add_known))
        new = opener(
            "New room", making, lambda: new_room_form(self._button, self.create), self.frame.note
        )
        refresh = self._button("Refresh", self.refresh, "reading", "primary")
        download = self._button("Download CSV", self._download, "export")
        buttons = arranging.row(refresh, self.often, add, new, download)
        self.shows(self._filters, buttons, adding, making, self.table, self._card)
        self._begins()

    # What is shown

    @property
    def selected(self) -> RoomDetails | None:
        """What is known of the picked room, part by part; None when none is picked."""
        return self._card.details

    @told("filter")
    def filter(
        self,
        text: str = "",
        status: str | None = None,
        mode: str | None = None,
        fuller_than: float | None = None,
        failures: bool = False,
    ) -> None:
        """Shows the rooms with every word of `text` in topic, ID, owner or external ID, of this
        `status` and `mode`, over `fuller_than` percent full; with `failures` those not read."""
        self._filters.set(Filter(text, status, mode, fuller_than, failures))

    @told("sort")
    def sort(self, column: str, down: bool | None = None) -> None:
        """Sorts by a column of the table, downwards or upwards; by turns when that is left out."""
        self.table.sort(column, down)

    @told("export")
    def export(self, path: str | PathLike[str] | None = None) -> str:
        """The value as CSV; with a `path` it is written there, too, as UTF-8 that Excel knows.

        A text that a spreadsheet would calculate (=, +, - or @ at its beginning) has an apostrophe
        before it, which confkit takes away when it reads such a file."""
        text = as_csv(self.value)
        if path is not None:
            try:
                write_atomically(path, text.encode("utf-8-sig"))
            except OSError as error:
                raise ConfigError(
                    f"{fspath(path)} was not written ({error.strerror})",
                    "Name a file in a folder of yours where there is space.",
                ) from None
        return text

    # Reading

    def add(self, room_ids: Any, id_column: str | None = None) -> None:
        """Reads more rooms; `room_ids` is what `sweep` takes. What is unknown to the service is a
        row with its error."""
        with self.reads("Reading room IDs") as work:
            given = room_ids if isinstance(room_ids, RoomIds) else read_ids(room_ids, id_column)
            self.model.add(given)
            self._read(work, given.ids)

    def add_known(self) -> None:
        """Reads the rooms that `known_rooms` finds."""
        with self.reads("Looking for known rooms") as work:
            self.add(until_cancelled(self.model.known, work.cancelled)["room_id"])

    def refresh_visible(self) -> None:
        """Reads the rooms on the page again, and the picked one in full, without a word in the
        head unless something fails."""
        self._read_page()

    def check_media_server(self, room_id: str | None = None) -> McuAnswer:
        """Ask the service for the media server of a room, or of the picked one (A5), and whether
        that accepts a connection from here; the service may assign one by being asked.

        The answer stands in the picked room, with the time, until another one is picked. Errors
        as of `get_mcu`; a server that does not answer is none."""
        with self.working("Checking the media server", "media server") as work:
            there = self._details_of(self._of_panel(room_id))

            def ask() -> McuAnswer:
                return mcu_answers(get_mcu(self.client, there.room_id))

            found = tried(lambda: until_cancelled(ask, work.cancelled))
            self._card.show_media_server(there.room_id, found)
            if isinstance(found, ConfkitError):
                raise found
            said = f"The media server of {there.name}: {found.reason}."
            self.tell(said, "good" if found else "bad", "media server")
        return found

    # Changes

    def create(self, topic: str, owner_id: str, **options: Any) -> str:
        """The `room_id` of a new room, which is read and picked; `options` are those of
        `create_room`."""
        if options.get("host_password") is not None:  # a traceback shows the locals
            options["host_password"] = Secret(options["host_password"])
        with self.working("Creating a room", "change"):
            room_id = create_room(self.client, topic, owner_id, **options)
            self.add([room_id])
            if not (self.value["room_id"] == room_id).any():
                self.filter()
            self.select(room_id)
            self.tell(f'Created room "{topic}" ({room_id}).', "good", "change")
        return room_id

    def force_offline(self, user_id: str, room_id: str | None = None) -> str:
        """The service's success text, once a user is removed from a room, or from the picked
        one."""
        with self.working("Removing a user from the room", "change"):
            there = self._details_of(self._of_panel(room_id))
            message = force_offline(self.client, there.room_id, user_id)
            with self.reads("Reading the room") as work:
                self._read(work, [there.room_id])
            self._card.read(there.room_id)
            said = f"Removed {there.user_name(user_id)} from {there.name}."
            self.tell(said, "good", "change")
        return message

    def delete(self, room_id: str | None = None) -> None:
        """Delete a room, or the picked one; its row goes, too."""
        with self.working("Deleting the room", "change"):
            room_id = self._of_panel(room_id)
            delete_room(self.client, room_id)
            self.model.drop(room_id)
            self.tell(f"Deleted room {room_id}.", "good", "change")

    # What the buttons, the table and the model call

    def _draw(self) -> pd.DataFrame:
        self._shows(self._filters.wanted.rows(self.model.frame))
        return self._ordered()

    def _ordered(self) -> pd.DataFrame:
        frame = valued(self.table.ordered)
        frame.index = pd.RangeIndex(len(frame))
        frame.attrs = dict(self.model.frame.attrs)
        return frame

    def _turn_to(self, room_id: str) -> None:
        self._card.begin(room_id)
        self.table.chosen = room_id

    def _show_picked(self) -> None:
        if room_id := self._card.room_id:
            self._card.read(room_id)

    def _ask_delete(self, room_id: str) -> None:
        there = self._now(room_id)
        if there.heads:
            question = f"Delete {there.name} with {there.heads} in it?"
        else:
            question = f"Delete {there.name}? Who is in it could not be read: {there.users}"
        empty = there.heads == "nobody"
        if not empty:
            question += f" Type {there.room_id} beside the button first."
        self._card.wants_number(not empty)

        def delete() -> None:
            if not empty and self._card.number.value.strip() != there.room_id:
                raise ConfigError(
                    f"{there.name} was not deleted: its number was not typed",
                    f"Click Delete again, and type {there.room_id}.",
                )
            self.delete(there.room_id)

        self.ask("Delete", question, delete)

    def _ask_offline(self, picked: tuple[str, str]) -> None:
        room_id, user_id = picked
        if not user_id:
            raise ConfigError("No user is picked", "Click on one in the room first.")
        there = self._now(room_id)
        question = f"Remove {there.user_name(user_id)} from {there.name}?"
        self.ask("Remove", question, partial(self.force_offline, user_id, room_id))

    def _now(self, room_id: str) -> RoomDetails:
        """What is known of a room of the panel now."""
        before = RoomDetails(self._of_panel(room_id))

        def read() -> RoomDetails:
            *_, found = room_details(self.client, before.room_id, before)
            return found

        with self.working("Looking who is in the room", "change") as work:
            found = until_cancelled(read, work.cancelled)
        if isinstance(found.room, RoomNotFound):
            raise found.room
        return found

    def _download(self) -> None:
        with self.working("Writing CSV", "export"):
            self.frame.save("rooms.csv", self.export())

    def _details_of(self, room_id: str) -> RoomDetails:
        known = self.selected
        return known if known and known.room_id == room_id else RoomDetails(room_id)


def _status_cell(row: Row) -> Cell:
    """A room's status, or that it was not read, or not asked for."""
    status = row["status"]
    if status is None:
        return missing_cell(row)
    return Mark(status_word(status), _TONES.get(status, "quiet"))
