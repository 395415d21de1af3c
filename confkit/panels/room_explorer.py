"""`RoomExplorer`: search rooms, inspect one, and change it."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets
import pandas as pd

from ..deployment.media_server import mcu_answers
from ..devices import list_devices
from ..errors import ConfigError, ConfkitError
from ..frames import users_frame
from ..records import RoomUser
from ..rooms import create_room, delete_room, force_offline, get_mcu, get_room_users
from ..secret import hide, redact
from ..text import counted, one_line
from .job import Question, message, without_code
from .layout import (
    Latest,
    disclosure,
    error_html,
    row,
    set_pressable,
    set_visible,
    split,
    text_input,
)
from .password import PasswordField
from .refresh import NO_ROOM, Refresh
from .room_table import (
    DEVICES,
    NUMBER,
    OCCUPANCY,
    TOPIC,
    RoomPanel,
    state_of,
    topic_of,
    with_state,
)
from .table import Column, Table

if TYPE_CHECKING:
    from ..client import Client

_STATUS = Column("status", "Status", 7, lambda room: _status(room.status))
_USERS = [Column("user_name", "Name", 9), Column("kind", "Kind", 5), Column("user_id", "User", 8)]
_PLAUSIBLE = re.compile("[0-9]{5,}")  # others, such as external IDs, need a confirmation
_BETWEEN_IDS = re.compile(r"[\s,;|\"'\[\](){}]+")


class RoomExplorer(RoomPanel):
    """A panel to search rooms, inspect one, and change it.

    `room_ids` is anything that `sweep` takes, None means `known_rooms(client)`; they are read every
    `every` seconds while the panel is visible (0: never), or by a shared `refresh`. `value` is the
    frame of the rooms left by search and filter, in order: the columns of `Sweep.frame()`,
    `utilisation`, `read_at` (UTC), when the values were read, and `state`, such as "nearly full".
    `selected` is the ID of the picked room, or None. Each button is a method, which raises errors.
    Sections 4 and 7 of the interface.
    """

    def __init__(
        self,
        client: Client,
        room_ids: Any = None,
        every: float = 15,
        *,
        refresh: Refresh | None = None,
    ) -> None:
        columns = [TOPIC, OCCUPANCY, DEVICES, _STATUS, NUMBER]
        super().__init__("Rooms", client, columns, room_ids, every, refresh)
        self.card, self.users = ipywidgets.HTML(), Table("Users", _USERS, searchable=False)
        self._shown_room: str | None = None
        self._read_users = Latest(self._show_users)
        self._buttons = self._actions()
        self.append(*self._forms(), split(self.rooms, self.card, self.users, *self._buttons))
        self.rooms.observe(lambda _: self._show_room(), "picked")
        self.users.observe(self._ask_no_more, "picked")
        self.refresh_block.on_change(self._show)

    def _forms(self) -> list[ipywidgets.Widget]:
        """Return the top row of buttons, and the forms to add and to create rooms, closed."""
        self._pasted = ipywidgets.Textarea(
            description="Room numbers",
            placeholder="1614903140, 1614903141 … with any separators",
            layout={"width": "100%"},
        ).add_class("confkit-input")
        self._fields = {
            "topic": text_input("Topic"),
            "owner_id": text_input("Owner"),
            "attendee_max": text_input("Maximum attendees", "no limit", "11em"),
            "room_extend_id": text_input("External ID", "none", "10em"),
        }
        self._password = PasswordField("Host password", "none")
        adds = self.job.row({"Add": self._ask_add})
        creates = self.job.row({"Create room": self._create}, refused=self.refused)
        add = ipywidgets.VBox([self._pasted, adds])
        new = ipywidgets.VBox([row(*self._fields.values(), self._password), creates])
        openers = disclosure("Add rooms", add, self.job), disclosure("New room", new, self.job)
        return [row(*openers, self.job.row({"Refresh": self._refresh})), add, new]

    def _actions(self) -> list[ipywidgets.Widget]:
        """Return the buttons of the picked room."""
        refused = self.refused
        removes = {"Force offline": self._ask_force_offline}
        deletes = {"Delete room": self._ask_delete}
        others = {"Check media server": self._media_server, "Remove from list": self._take_off}
        return [
            self.job.row(removes, refused=refused, destructive=removes),
            row(self.job.row(others), self.job.row(deletes, refused=refused, destructive=deletes)),
        ]

    # What is shown

    def _show(self) -> None:
        self.rooms.show(with_state(self.refresh_block.frame))
        self._show_room()

    def _show_room(self) -> None:
        """Show the picked room, then read its users."""
        room_id = self.selected
        if room_id != self._shown_room:
            self._shown_room = room_id  # clear the other room, including a question
            self.job.clear()
            self.users.empty = "Reading …"
            self.users.show(_users_table([], None))
        set_visible(self.users, room_id is not None)
        for buttons in self._buttons:
            set_pressable(buttons, room_id is not None)
        if room_id is None:
            self.card.value = "Pick a room to see its users."
        else:
            self._known = self.card.value = _card(self.rooms.frame.loc[room_id])
            self._read_users(room_id)

    def _ask_no_more(self, change: Any) -> None:
        if change.new is not None:  # otherwise the user has left, perhaps by the last action
            self.job.clear()

    def _show_users(self, room_id: str) -> None:
        try:
            users = get_room_users(self.client, room_id)
        except Exception as error:  # noqa: BLE001  # it would be lost in this thread
            if room_id == self.selected:
                self.users.empty = "Not read."
                if "no such room" not in self._known and not self.refresh_block.outage:
                    self.card.value = self._known + error_html(message(error))
            return
        try:
            devices = {device.user_id for device in list_devices(self.client, room_id)}
        except ConfkitError:  # B may be down although A responds: then the kinds are unknown
            devices = None
        if room_id == self.selected:
            self.users.empty = "The room is empty."
            self.users.show(_users_table(users, devices))

    # Reading

    def media_server(self, room_id: str) -> str:
        """Return whether the room's media server accepts connections, as a sentence; the service
        assigns one to a room without (A5)."""
        return mcu_answers(get_mcu(self.client, room_id))[1]

    def _media_server(self) -> str:
        room_id = self._picked()
        answer = self.job.wait_for(partial(self.media_server, room_id))
        return f"Media server of room {room_id}: {answer}."

    # The list

    def add(self, room_ids: Any) -> None:
        """Add rooms to the list: anything that `sweep` takes."""
        self.refresh_block.add(room_ids)

    def take_off(self, room_id: str) -> None:
        """Remove a room from the list; nothing changes on the service. ConfigError: it is not in
        the list."""
        self._require(room_id)
        self.refresh_block.drop(room_id)

    def _ask_add(self) -> str | Question:
        room_ids = list(dict.fromkeys(filter(None, _BETWEEN_IDS.split(self._pasted.value))))
        if not room_ids:
            return "Enter room numbers first."
        odd_ids = [room_id for room_id in room_ids if not _PLAUSIBLE.fullmatch(room_id)]
        if not odd_ids:
            return self._add(room_ids)
        odd = f"{', '.join(odd_ids[:3])}{' …' * (len(odd_ids) > 3)}"
        question = (
            f"These do not look like room numbers: {odd}. Add {counted(len(room_ids), 'room')}?"
        )
        return Question(question, partial(self._add, room_ids), "Add")

    def _add(self, room_ids: list[str]) -> str:
        self.job.show_cancel()
        new = self.refresh_block.add(room_ids, self.job.progress, self.job.cancelled)
        self._pasted.value = ""
        if not new:
            return "Already in the list."
        rooms = self.refresh_block.frame.loc[new]
        missing = rooms["ret"].isin(NO_ROOM).fillna(False)
        text = f"Added {counted(len(new), 'room')}."
        for problem, count in (
            ("Not found", missing.sum()),
            ("Not read", (rooms["users"].isna() & ~missing).sum()),
        ):
            text += f" {problem}: {count:,}." if count else ""
        return text

    def _take_off(self) -> str:
        room_id = self._picked()
        self.take_off(room_id)
        return f"Removed room {room_id} from the list."

    # Changes

    def create(self, topic: str, owner_id: str, **fields: Any) -> str:
        """Create a room (A2; the fields of `create_room`), show it, and return its ID."""
        fields = hide(fields)  # a traceback shows the locals
        room_id = create_room(self.client, topic, owner_id, **fields)
        self.add([room_id])
        self.select(room_id)
        return room_id

    def force_offline(self, room_id: str, user_id: str) -> None:
        """Remove a user from a room (A7)."""
        try:
            force_offline(self.client, room_id, user_id)
        finally:
            self.refresh_block.read_room(room_id)

    def delete(self, room_id: str) -> None:
        """Delete a room (A4), and remove it from the list."""
        delete_room(self.client, room_id)
        self.refresh_block.drop(room_id)

    def _create(self) -> str:
        fields: dict[str, Any] = {name: text.value.strip() for name, text in self._fields.items()}
        for name in ("topic", "owner_id"):
            if not fields[name]:
                return f"Enter the {self._fields[name].description.lower()}. (Nothing was sent.)"
        cap = fields["attendee_max"]
        if cap and not cap.isdecimal():
            return "Maximum attendees must be a whole number, or empty. (Nothing was sent.)"
        fields["attendee_max"] = int(cap) if cap else None
        options = {name: value for name, value in fields.items() if value or name == "topic"}
        if self._password.text:
            options["host_password"] = self._password.text
        room_id = self.create(**options)
        for name in ("topic", "room_extend_id"):  # the rest may be reused for another room
            self._fields[name].value = ""
        self._password.clear()
        return f"Created room {room_id}."

    def _ask_force_offline(self) -> str | Question:
        room_id, user_id = self._picked(), self.users.picked
        if user_id is None:
            return "Pick a user first."
        name = self.users.frame.loc[user_id, "user_name"]
        label = redact(user_id) if pd.isna(name) else f'"{name}" ({redact(user_id)})'

        def act() -> str:
            self.force_offline(room_id, user_id)
            return f"Removed {label}."

        return Question(f"Remove {label} from {self._label(room_id)}?", act, "Remove")

    def _ask_delete(self) -> Question:
        room_id = self._picked()
        users = len(self.job.wait_for(lambda: get_room_users(self.client, room_id)))
        label = self._label(room_id)

        def act() -> str:
            self.delete(room_id)
            return f"Deleted {label}."

        text = f"Delete {label}?"
        if users:
            text = f"{counted(users, 'user')} in {label}. To delete it, type {room_id}."
        return Question(text, act, "Delete", room_id if users else "")

    def _picked(self) -> str:
        if self.selected is None:
            raise ConfigError("Pick a room first.")
        return self.selected

    def _label(self, room_id: str) -> str:
        topic = topic_of(self.rooms.frame, room_id)
        return f"room {room_id}" if topic is None else f'room "{topic}" ({room_id})'


def _status(status: Any) -> str:
    """Return a room's status in plain words: the service calls an open room "opening"."""
    return "" if pd.isna(status) else "open" if status == "opening" else str(status)


def _card(room: Any) -> str:
    """Return the details of a room as HTML."""
    topic = room.room_id if pd.isna(room.topic) else room.topic
    names = {
        "status": "Status",
        "mode": "Mode",
        "owner_id": "Owner",
        "room_extend_id": "External ID",
        "max_audio": "Maximum audio",
        "max_video": "Maximum video",
    }
    values = room.astype(object).where(room.notna(), None)
    values["status"] = _status(room.status)
    facts = {"Number": room.room_id, "Occupancy": state_of(room).text}
    facts |= {label: values.get(name) for name, label in names.items()}
    items = "".join(
        f"<dt>{name}</dt><dd>{escape(redact(one_line(str(value))))}</dd>"
        for name, value in facts.items()
        if value is not None and value != ""
    )
    problem = "" if pd.isna(room.error) else f"Not read: {without_code(room.error)}"
    if pd.notna(room.ret) and room.ret in NO_ROOM:
        problem = "No such room. Check its number (leading zeros?) and the service."
    return f"<b><bdi>{escape(redact(topic))}</bdi></b><dl>{items}</dl>{error_html(problem)}"


def _users_table(users: list[RoomUser], devices: set[str] | None) -> pd.DataFrame:
    """Return users by ID, with their kind: "person", "device", or "" if unknown."""
    unique = {user.user_id: user for user in users}
    kinds = ["" if devices is None else "device" if id_ in devices else "person" for id_ in unique]
    frame = users_frame(list(unique.values())).assign(kind=kinds)
    return frame.set_axis(list(unique), axis="index")
