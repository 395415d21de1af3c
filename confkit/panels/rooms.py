"""RoomExplorer: many rooms in a table, one of them in full, and what can be done with them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..deployment import McuAnswer, mcu_answers
from ..errors import ConfigError, ConfkitError
from ..many.ids import RoomIds
from ..many.ids import room_ids as read_ids
from ..many.result import Sweep
from ..many.sweeps import sweep
from ..many.tables import as_csv
from ..occupancy.known import known_rooms
from ..rooms import create_room, delete_room, force_offline, get_mcu
from ..text import write_whole
from . import arranging
from .filtering import Filter
from .given import check_options, check_source
from .live import LivePanel
from .panel import told, until_cancelled
from .room_board import RoomBoard
from .room_card import RoomCard
from .room_details import RoomDetails, delete_question, offline_question
from .room_forms import AddForm, NewRoomForm, opener
from .room_list import others, outcome, unasked
from .room_parts import RoomParts
from .watching import RATE

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client


class RoomExplorer(LivePanel):
    """Rooms to search, sort and look into, and to create, empty and delete.

    `room_ids` is what `sweep` takes, or a finished Sweep, which is shown as it is; left out, it is
    what `known_rooms` finds. `value` is the frame of the rooms that search and filters leave, of
    all pages, in the order of the table: the columns of `Sweep.frame()` with `utilisation` and
    `read_at`; its `attrs["time"]` is when the oldest of all was read, both in UTC. A room that
    could not be read keeps what was read of it last: `read_at` says when that was, and `error` why
    not since; one that was never read is missing. Whoever reads `value` waits for the first
    reading; where that has found no rooms to ask, its error is raised. While automatic refresh is
    on, the rooms on the page are read so often, and between that all others, the oldest first, with
    at most `background_rate` requests a second (0: none). The panel shows times in the zone `tz`,
    None for this machine's own (ConfigError: there is none so). Each method below does what its
    button does, blocks until that is done, and raises what goes wrong, which stands in the panel,
    too.
    """

    def __init__(
        self,
        client: Client,
        room_ids: Any = None,
        *,
        background_rate: float = RATE,
        tz: str | tzinfo | None = None,
    ) -> None:
        check_source(client, room_ids)
        super().__init__("Rooms", client, background_rate, tz)
        self.client = client
        self._found = room_ids is not None  # which rooms to show
        finished = room_ids if isinstance(room_ids, Sweep) else unasked(client, RoomIds([]))
        self._board = RoomBoard(
            finished, self._is_aging, self._follow, partial(self.set_trait, "value"), self._tz
        )
        self.table = self._board.table
        note = self.frame.note
        delete = self.clicked(self._ask_delete, "change", given=self._picked_room)
        offline = self.clicked(self._ask_offline, "change", given=self._picked)
        # The room that is shown at the click: another one may be picked before it has its turn.
        check = self.clicked(self.check_media_server, "media server", given=self._picked_room)
        self._card = RoomCard(client, lambda: RoomParts(delete, offline, check, note, self._tz))
        forms = [ipywidgets.VBox(), ipywidgets.VBox()]
        self.shows(
            self._board.filters.box, self._buttons(*forms),
            ipywidgets.VBox([self._board.download, *forms]), self.table, self._card.box,
        )  # fmt: skip
        if finished is not room_ids:
            self.value = None  # no frame until there is one: none is not the same as no rooms
            self.first(self.add_known if room_ids is None else lambda: self.add(room_ids))

    def _buttons(self, adding: Any, making: Any) -> Any:
        note = self.frame.note
        return arranging.row(
            arranging.button("Refresh", self.clicked(self.refresh, "reading"), "primary"),
            self.often,
            opener("Add rooms", adding, lambda: AddForm(self.clicked, self.add, self.add_known)),
            opener("New room", making, lambda: NewRoomForm(self.clicked, self.create, note), note),
            arranging.button("Export CSV", self.clicked(self._offer_download, "export")),
        )

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
        self._board.filters.set(Filter(text, status, mode, fuller_than, failures))

    @told("sort")
    def sort(self, column: str, down: bool | None = None) -> None:
        """Sorts by a column of the table, downwards or upwards; by turns when that is left out."""
        self.table.sort(column, down)

    @told("pick")
    def select(self, room_id: str | None) -> None:
        """Reads a room of the panel in all its parts and shows it; None shows none. A part that
        fails is told in its place. ConfigError: the room is not among those of the panel."""
        if room_id is None:
            self._board.pick("")
            self._card.close()
            return
        room_id = self._of_panel(room_id)
        self._board.pick(room_id)
        self._card.read(room_id)

    @told("export")
    def export(self, path: str | PathLike[str] | None = None) -> str:
        """The value as CSV; with a `path` it is written there, too, as UTF-8 that Excel knows.

        A text that a spreadsheet would calculate (=, +, - or @ at its beginning) has an apostrophe
        before it, which confkit takes away when it reads such a file."""
        text = as_csv(self.value)
        if path is not None:
            try:
                write_whole(path, text.encode("utf-8-sig"))
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
        with self.working("Reading room IDs", "reading"):
            given = room_ids if isinstance(room_ids, RoomIds) else read_ids(room_ids, id_column)
            self._found = True
            self._board.take(unasked(self.client, others(given, self._board.frame["room_id"])))
            self._read(given.ids, f"Reading {len(given.ids):,} rooms", given.columns)

    def add_known(self) -> None:
        """Reads the rooms that `known_rooms` finds."""
        with self.reads("Looking for known rooms") as work:
            known = until_cancelled(lambda: known_rooms(self.client), work.cancelled)
            self.add(known["room_id"])

    def refresh(self) -> None:
        """Reads all rooms again, and the picked one in full; the known ones where those were to be
        read first, and could not be found."""
        self.wait_for_first()
        if self._seeks:
            self.add_known()
            return
        ids = self._board.frame["room_id"].tolist()
        self._read(ids, f"Reading {len(ids):,} rooms")
        self._read_picked()

    @told("reading")
    def refresh_visible(self) -> None:
        """Reads the rooms on the page again, and the picked one in full, without a word in the
        head unless something fails."""
        with self._hearing():
            found = sweep(self.client, self._page(), progress=False)
        self._tell(found, self._take(found))
        self._read_picked()

    # What goes on by itself

    @property
    def _rows(self) -> pd.DataFrame:
        return self._board.frame

    def _is_aging(self) -> bool:
        return bool(self.frame.every)

    def _page(self) -> list[str]:
        shown = [*self.table.visible, *filter(None, [self._card.room_id])]
        return list(dict.fromkeys(shown))

    @property
    def _seeks(self) -> bool:
        """Whether the rooms that are to be shown have not been found yet."""
        return not self._found

    def _again(self, ids: list[str], cut: threading.Event) -> list[str]:
        if not self._seeks:
            return ids
        found = until_cancelled(lambda: known_rooms(self.client), cut)["room_id"].tolist()
        self._found = True
        self._board.take(unasked(self.client, RoomIds(found)))
        return found

    def _take(
        self, swept: Sweep, columns: pd.DataFrame | None = None, adds: bool = False
    ) -> pd.DataFrame:
        with self._taking:
            new = self._board.take(replace(swept, _columns=columns), renews=not adds)
            self._hear(swept)
        return new

    def _tell(self, swept: Sweep, new: pd.DataFrame) -> None:
        # What goes on by itself leaves it to the rows: they say which of them were not read.
        if self._watch.outage is None and (told := outcome(swept, new)):
            self.tell(told, "bad" if swept.failures else "", "reading")

    def _mark(self, error: ConfkitError) -> None:
        if not self._seeks:  # a value without rooms would say that there are none
            self._board.mark(error)

    def _show(self) -> None:
        if not self._seeks:
            self._board.show()

    def _read_also(self) -> None:
        self._read_picked()

    @told("media server")
    def check_media_server(self, room_id: str | None = None) -> McuAnswer:
        """Asks the service for the media server of a room, or of the picked one (A5), and whether
        that accepts a connection from here; the service may assign one by being asked.

        What came of it stands in the picked room, with the time, until another one is picked.
        Errors as of `get_mcu`; a server that does not answer is none."""
        room_id = self._of_panel(room_id)
        there = self._details_of(room_id)
        with self.working("Checking the media server", "media server") as work:
            asked = datetime.now(UTC)
            try:
                found = until_cancelled(
                    lambda: mcu_answers(get_mcu(self.client, room_id)), work.cancelled
                )
            except ConfkitError as error:
                self._card.show_media_server(room_id, error, asked)
                raise
            self._card.show_media_server(room_id, found, asked)
        said = f"The media server of {there.name}: {found.reason}."
        self.tell(said, "good" if found else "bad", "media server")
        return found

    # Changes

    @told("change")
    def create(self, topic: str, owner_id: str, **options: Any) -> str:
        """The `room_id` of a new room, which is read and picked; `options` are those of
        `create_room`."""
        check_options(options)
        with self.working("Creating a room", "change"):
            room_id = create_room(self.client, topic, owner_id, **options)
            self._read([room_id], "Reading the new room")
            if not (self._board.shown["room_id"] == room_id).any():
                self.filter()
            self.select(room_id)
        self.tell(f'Created room "{topic}" ({room_id}).', "good", "change")
        return room_id

    @told("change")
    def force_offline(self, user_id: str, room_id: str | None = None) -> str:
        """The service's success text, once a user is put off a room, or off the picked one."""
        room_id = self._of_panel(room_id)
        there = self._details_of(room_id)
        with self.working("Putting a user off the room", "change"):
            message = force_offline(self.client, room_id, user_id)
            self._read([room_id], "Reading the room")
            self._read_picked(room_id)
        self.tell(f"Put {there.user_name(user_id)} off {there.name}.", "good", "change")
        return message

    @told("change")
    def delete(self, room_id: str | None = None) -> None:
        """Delete a room, or the picked one; its row goes, too."""
        room_id = self._of_panel(room_id)
        with self.working("Deleting the room", "change"):
            delete_room(self.client, room_id)
            if self._card.room_id == room_id:
                self.select(None)
            self._board.drop(room_id)
        self.tell(f"Deleted room {room_id}.", "good", "change")

    # What the buttons, the table and the methods call

    def wait(self, timeout: float | None = None) -> bool:
        """Whether nothing is under way any more, after at most `timeout` seconds for each."""
        return super().wait(timeout) and self._card.wait(timeout)

    def _follow(self, room_id: str) -> None:
        if room_id:
            self._board.picked = room_id
            self._card.follow(room_id)
        else:
            self._card.close()

    def _picked_room(self) -> str:
        return self._card.room_id

    def _picked(self) -> tuple[str, str]:
        """The IDs of the room that is shown and of the user picked in it; "" for none."""
        parts = self._card.parts
        return self._card.room_id, "" if parts is None else parts.users.chosen

    def _ask_delete(self, room_id: str) -> None:
        room_id = self._of_panel(room_id)
        self._ask("Delete", partial(delete_question, self.client, room_id), self.delete, room_id)

    def _ask_offline(self, picked: tuple[str, str]) -> None:
        room_id, user_id = self._of_panel(picked[0]), picked[1]
        if not user_id:
            raise ConfigError("No user is picked", "Click on one in the room first.")
        question = partial(offline_question, self.client, room_id, user_id)
        self._ask("Put off", question, self.force_offline, user_id, room_id)

    def _ask(self, yes: str, question: Callable[[], str], action: Any, *about: str) -> None:
        with self.working("Looking who is in the room", "change") as work:
            self.ask(yes, until_cancelled(question, work.cancelled), partial(action, *about))

    def _offer_download(self) -> None:
        with self.working("Writing CSV", "export"):
            self._board.offer(self.export())

    def _of_panel(self, room_id: str | None) -> str:
        self.wait_for_first()
        return self._board.known(self._card.room_id if room_id is None else str(room_id))

    def _details_of(self, room_id: str) -> RoomDetails:
        known = self.selected
        return known if known and known.room_id == room_id else RoomDetails(room_id)

    def _read(self, ids: Sequence[str], what: str, columns: pd.DataFrame | None = None) -> None:
        with self.reads(what) as work:
            found = sweep(self.client, ids, progress=work.progress, cancelled=work.cancelled)
            self._tell(found, self._take(found, columns, adds=True))

    def _read_picked(self, room_id: str | None = None) -> None:
        picked = self._card.room_id
        if picked and room_id in (None, picked):
            self._card.read(picked)
