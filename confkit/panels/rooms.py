"""RoomExplorer: many rooms in a table, one of them in full, and what can be done with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import ipywidgets

from ..errors import ConfigError, ConfkitError
from ..known import known_rooms
from ..media_server import McuAnswer, mcu_answers
from ..rooms import create_room, delete_room, get_mcu
from ..spreadsheet import as_csv
from ..sweeping.ids import RoomIds
from ..sweeping.ids import room_ids as read_ids
from ..sweeping.result import Sweep
from ..sweeping.sweeps import sweep
from ..users import force_offline
from ..writing import write_whole
from . import arranging
from .filtering import Filter
from .given import check_options, check_source, zone_of
from .panel import Panel
from .room_board import RoomBoard
from .room_card import RoomCard
from .room_details import RoomDetails, delete_question, offline_question
from .room_forms import AddForm, NewRoomForm, automatic, opener
from .room_list import others, outcome, unasked
from .room_parts import RoomParts
from .telling import told
from .waiting import until_cancelled

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client


class RoomExplorer(Panel):
    """Rooms to search, sort and look into, and to create, empty and delete.

    `room_ids` is what `sweep` takes, or a finished Sweep, which is shown as it is; left out, it is
    what `known_rooms` finds. `value` is the frame of the rooms that search and filters leave, of
    all pages, in the order of the table: the columns of `Sweep.frame()` with `utilisation` and
    `read_at`; its `attrs["time"]` is when the oldest of all was read, both in UTC. The panel shows
    times in the zone `tz`, None for this machine's own (ConfigError: there is none so). Of a room
    that could not be read the values are missing, and `error` says why. Whoever reads `value` waits
    for the first reading; where that has found no rooms to ask, its error is raised. Each method
    below does what its button does, blocks until that is done, and raises what goes wrong, which
    stands in the panel, too.
    """

    def __init__(
        self, client: Client, room_ids: Any = None, *, tz: str | tzinfo | None = None
    ) -> None:
        check_source(client, room_ids)
        here = zone_of(tz)
        super().__init__("Rooms", client)
        self.client = client
        finished = room_ids if isinstance(room_ids, Sweep) else unasked(client, RoomIds([]))
        self._board = RoomBoard(finished, self._follow, partial(self.set_trait, "value"), here)
        self.table = self._board.table
        note, asks = self.frame.note, (self._ask_delete, self._ask_offline)
        check = self._check_clicked
        self._card = RoomCard(client, lambda: RoomParts(self.clicked, *asks, check, note, here))
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
            arranging.button("Refresh", self.clicked(self.refresh), "primary"),
            automatic(lambda seconds: self.every(seconds, self.refresh_visible)),
            opener("Add rooms", adding, lambda: AddForm(self.clicked, self.add, self.add_known)),
            opener("New room", making, lambda: NewRoomForm(self.clicked, self.create, note), note),
            arranging.button("Export CSV", self.clicked(self._offer_download)),
        )

    # What is shown

    @property
    def selected(self) -> RoomDetails | None:
        """What is known of the picked room, part by part; None when none is picked."""
        return self._card.details

    @told
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

    @told
    def sort(self, column: str, down: bool | None = None) -> None:
        """Sorts by a column of the table, downwards or upwards; by turns when that is left out."""
        self.table.sort(column, down)

    @told
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

    @told
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
                    f"{fspath(path)} was not written ({error.strerror}); name a file in a "
                    "folder of yours where there is space"
                ) from None
        return text

    # Reading

    def add(self, room_ids: Any, id_column: str | None = None) -> None:
        """Reads more rooms; `room_ids` is what `sweep` takes. What is unknown to the service is a
        row with its error."""
        with self.working("Reading room IDs"):
            given = room_ids if isinstance(room_ids, RoomIds) else read_ids(room_ids, id_column)
            self._board.take(unasked(self.client, others(given, self._board.frame["room_id"])))
            self._read(given.ids, f"Reading {len(given.ids):,} rooms", given.columns)

    def add_known(self) -> None:
        """Reads the rooms that `known_rooms` finds."""
        with self.working("Looking for known rooms") as work:
            known = until_cancelled(lambda: known_rooms(self.client), work.cancelled)
            self.add(known["room_id"])

    def refresh(self) -> None:
        """Reads all rooms again, and the picked one in full."""
        self.wait_for_first()
        ids = self._board.frame["room_id"].tolist()
        self._read(ids, f"Reading {len(ids):,} rooms")
        self._read_picked()

    @told
    def refresh_visible(self) -> None:
        """Reads the rooms on the page again, and the picked one in full, without a word in the
        head unless something fails."""
        ids = [*self.table.visible, *filter(None, [self._card.room_id])]
        found = sweep(self.client, ids, progress=False)
        self.frame.tell(outcome(found, self._board.take(found, renews=True)))
        self._read_picked()

    @told
    def check_media_server(self, room_id: str | None = None) -> McuAnswer:
        """Asks the service for the media server of a room, or of the picked one (A5), and whether
        that accepts a connection from here; the service may assign one by being asked.

        What came of it stands in the picked room, with the time, until another one is picked.
        Errors as of `get_mcu`; a server that does not answer is none."""
        room_id = self._of_panel(room_id)
        there = self._details_of(room_id)
        with self.working("Checking the media server") as work:
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
        self.frame.tell(said, "good" if found else "bad")
        return found

    # Changes

    @told
    def create(self, topic: str, owner_id: str, **options: Any) -> str:
        """The `room_id` of a new room, which is read and picked; `options` are those of
        `create_room`."""
        check_options(options)
        with self.working("Creating a room"):
            room_id = create_room(self.client, topic, owner_id, **options)
            self._read([room_id], "Reading the new room")
            if not (self._board.shown["room_id"] == room_id).any():
                self.filter()
            self.select(room_id)
        self.frame.tell(f'Created room "{topic}" ({room_id}).', "good")
        return room_id

    @told
    def force_offline(self, user_id: str, room_id: str | None = None) -> str:
        """The service's success text, once a user is put off a room, or off the picked one."""
        room_id = self._of_panel(room_id)
        there = self._details_of(room_id)
        with self.working("Putting a user off the room"):
            message = force_offline(self.client, room_id, user_id)
            self._read([room_id], "Reading the room")
            self._read_picked(room_id)
        self.frame.tell(f"Put {there.user_name(user_id)} off {there.name}.", "good")
        return message

    @told
    def delete(self, room_id: str | None = None) -> None:
        """Nothing, once a room, or the picked one, is deleted; its row is gone, too."""
        room_id = self._of_panel(room_id)
        with self.working("Deleting the room"):
            delete_room(self.client, room_id)
            if self._card.room_id == room_id:
                self.select(None)
            self._board.drop(room_id)
        self.frame.tell(f"Deleted room {room_id}.", "good")

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

    def _check_clicked(self, _: object) -> None:
        # The room that is shown now: another one may be picked before this has its turn.
        self.clicked(partial(self.check_media_server, self._card.room_id))()

    def _ask_delete(self) -> None:
        room_id = self._of_panel(None)
        self._ask("Delete", partial(delete_question, self.client, room_id), self.delete, room_id)

    def _ask_offline(self) -> None:
        room_id, parts = self._of_panel(None), self._card.parts
        user_id = "" if parts is None else parts.users.chosen
        if not user_id:
            raise ConfigError("No user is picked; click on one in the room first.")
        question = partial(offline_question, self.client, room_id, user_id)
        self._ask("Put off", question, self.force_offline, user_id, room_id)

    def _ask(self, yes: str, question: Callable[[], str], action: Any, *about: str) -> None:
        with self.working("Looking who is in the room") as work:
            self.ask(yes, until_cancelled(question, work.cancelled), partial(action, *about))

    def _offer_download(self) -> None:
        with self.working("Writing CSV"):
            self._board.offer(self.export())

    def _of_panel(self, room_id: str | None) -> str:
        self.wait_for_first()
        return self._board.known(self._card.room_id if room_id is None else str(room_id))

    def _details_of(self, room_id: str) -> RoomDetails:
        known = self.selected
        return known if known and known.room_id == room_id else RoomDetails(room_id)

    def _read(self, ids: Sequence[str], what: str, columns: pd.DataFrame | None = None) -> None:
        with self.working(what) as work:
            found = sweep(self.client, ids, progress=work.progress, cancelled=work.cancelled)
            self.frame.tell(outcome(found, self._board.take(replace(found, _columns=columns))))

    def _read_picked(self, room_id: str | None = None) -> None:
        picked = self._card.room_id
        if picked and room_id in (None, picked):
            self._card.read(picked)
