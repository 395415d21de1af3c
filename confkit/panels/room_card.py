"""One room in all its parts: read one after another, each with its own error; and its card."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

import ipywidgets

from ..charts.texts import moment
from ..deployment import McuAnswer
from ..devices import list_devices
from ..diagnosis.device_address import bare
from ..errors import ConfkitError, RoomNotFound
from ..frames import ROOM_MODE, ROOM_STATUS, strings, users_frame
from ..occupancy.zones import zone
from ..records import Device, Room, RoomUser
from ..rooms import get_room, get_room_users
from ..text import counted
from . import arranging
from .camera_views import thumbnails_html
from .parts import Column, Mark, Table, View
from .parts.table import Cell, Row

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

T = TypeVar("T")
_CHECK = (
    "Asks the service where it is (A5), and tries a connection to it from here. The service may "
    "assign one by being asked."
)


@dataclass(frozen=True)
class RoomDetails:
    """What is known of one room, part by part: what was read, the error that came instead, or None
    where it was not asked for, or not yet; `complete` says which.

    The media server is no part of a reading: `media_server` is what came of asking for it at
    `media_server_at` (UTC)."""

    room_id: str
    room: Room | ConfkitError | None = None
    users: list[RoomUser] | ConfkitError | None = None
    devices: list[Device] | ConfkitError | None = None
    media_server: McuAnswer | ConfkitError | None = None
    complete: bool = False
    read_at: datetime | None = None  # UTC; of the oldest part that is shown
    stale: ConfkitError | None = None  # why a part could not be read again
    media_server_at: datetime | None = None

    @property
    def topic(self) -> str | None:
        """The room's topic, where it was read and has one."""
        return self.room.topic if isinstance(self.room, Room) else None

    @property
    def name(self) -> str:
        """The room in a sentence, such as `room "Weekly sync" (1047)`."""
        return f'room "{self.topic}" ({self.room_id})' if self.topic else f"room {self.room_id}"

    def user_name(self, user_id: str) -> str:
        """A user in a sentence, such as `"Ada" (5f0c)`, or the ID alone."""
        users = self.users if isinstance(self.users, list) else []
        name = next((user.user_name for user in users if user.user_id == user_id), None)
        return f'"{name}" ({user_id})' if name else f'"{user_id}"'

    @property
    def heads(self) -> str:
        """How many are in the room, such as "3 people and 1 device"; nothing when that is not
        known."""
        if not isinstance(self.users, list):
            return ""
        if not isinstance(self.devices, list):
            return f"{counted(len(self.users), 'user')} (people or devices)"
        kinds = self.people["kind"].tolist()
        people, devices = kinds.count("person"), kinds.count("device")
        said = [f"{people:,} {'person' if people == 1 else 'people'}"] * bool(people)
        return " and ".join(said + [counted(devices, "device")] * bool(devices)) or "nobody"

    @property
    def people(self) -> pd.DataFrame:
        """The frame of its users, with `kind`: "person", "device", or missing where not known."""
        frame = users_frame({self.room_id: self.users if isinstance(self.users, list) else []})
        known = isinstance(self.devices, list)
        seated = {one.user_id for one in self.devices} if isinstance(self.devices, list) else set()
        kinds = ["device" if one in seated else "person" for one in frame["user_id"]]
        frame["kind"] = strings([kind if known else None for kind in kinds])
        return frame


def room_details(client: Client, room_id: str) -> Iterator[RoomDetails]:
    """What is known of a room, again and again with one part more (A3, A6, B3). Of a room that is
    not there nothing more is asked."""
    room = _tried(lambda: get_room(client, room_id))
    found = RoomDetails(room_id, room, read_at=datetime.now(UTC))
    if not isinstance(room, RoomNotFound):
        yield found
        found = replace(found, users=_tried(lambda: get_room_users(client, room_id)))
        yield found
        found = replace(found, devices=_tried(lambda: list_devices(client, room_id)))
    yield replace(found, complete=True)


def last_known(new: RoomDetails, old: RoomDetails) -> RoomDetails:
    """The new details; a part that could not be read again, or not yet, is as it was read before,
    with its time and why. Of a room that is not there nothing is kept."""
    kept: dict[str, Any] = {
        "media_server": old.media_server,
        "media_server_at": old.media_server_at,
        "complete": new.complete or old.complete,
    }
    for name in ("room", "users", "devices"):
        now, before = getattr(new, name), getattr(old, name)
        if now is None:
            kept[name] = before
        elif isinstance(now, ConfkitError) and not isinstance(before, ConfkitError | None):
            kept.update({name: before, "stale": now, "read_at": old.read_at})
    return new if isinstance(new.room, RoomNotFound) else replace(new, **kept)


class RoomCard(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """What is known of one room, shown part by part as it is read; `details` is all of it.

    The room that was asked for last is shown: the reading of another one ends at its next part.
    The `buttons` are "close", "delete", "put_off" and "check". Times are shown in the zone `tz`.
    """

    def __init__(self, client: Client, tz: tzinfo, buttons: dict[str, ipywidgets.Button]) -> None:
        super().__init__()
        self.add_class("confkit-room")
        self._client, self._tz = client, tz
        self._lock = threading.Lock()
        self._pictures = ""
        self.details: RoomDetails | None = None
        self._head, self._fields, self._media = (arranging.text() for _ in range(3))
        self.users = Table(
            "People and devices in the room",
            "user_id",
            [
                Column("user_name", "name"),
                Column("kind", "kind", _kind),
                Column("user_id", "user", wide=True, copy=True),
            ],
            what="in the room",
            empty="Nobody is in the room.",
        )
        self.devices = View("Devices")
        self.number = arranging.entry("Room number", hint="to delete a room in use")
        buttons["check"].tooltip = _CHECK
        quiet = arranging.text(f'<div class="confkit-quiet">{_CHECK}</div>')
        server = ipywidgets.VBox([arranging.row(buttons["check"]), quiet, self._media])
        self._put_off = arranging.row(buttons["put_off"])
        inside = ipywidgets.VBox([self.users, self._put_off, self.devices])
        delete = arranging.row(buttons["delete"], self.number)
        self._parts = (server, inside, delete)
        self.children = [
            arranging.row(self._head, buttons["close"]),
            arranging.columns(ipywidgets.VBox([self._fields, server]), inside),
            delete,
        ]
        arranging.shown(self, False)

    @property
    def room_id(self) -> str:
        """The ID of the room that is shown, or an empty text."""
        return "" if self.details is None else self.details.room_id

    @property
    def user_id(self) -> str:
        """The ID of the user that is picked in the room, or an empty text."""
        return str(self.users.chosen)

    def begin(self, room_id: str) -> None:
        """Show this room from now on, and with "" none."""
        with self._lock:
            arranging.shown(self, bool(room_id))
            if not room_id:
                self.details = None
            elif self.room_id != room_id:
                self._pictures = ""
                self._show(RoomDetails(room_id))
                self.wants_number(False)
                self.devices.reveal()

    def read(self, room_id: str) -> None:
        """Read and show all parts of the room, unless another one is to be shown meanwhile."""
        for details in room_details(self._client, room_id):
            if not self._update(room_id, partial(last_known, details)):
                return
        sandbox, devices = self._client.sandbox, details.devices
        if sandbox is not None:
            pictures = thumbnails_html(sandbox, devices if isinstance(devices, list) else [])
            self._update(room_id, lambda known: known, pictures)

    def wants_number(self, whether: bool) -> None:
        """Show the field, empty, in which the number of a room is typed before it is deleted."""
        self.number.value = ""
        arranging.shown(self.number, whether)

    def show_media_server(
        self, room_id: str, found: McuAnswer | ConfkitError, asked: datetime
    ) -> None:
        """Show what came of asking for a room's media server at this time, where that room is the
        one that is shown; it stays until another one is."""
        self._update(
            room_id, lambda known: replace(known, media_server=found, media_server_at=asked)
        )

    def _update(
        self,
        room_id: str,
        change: Callable[[RoomDetails], RoomDetails],
        pictures: str | None = None,
    ) -> bool:
        """Whether this is shown, because the room still is the one to show."""
        with self._lock:
            if self.details is None or self.room_id != room_id:
                return False
            self._pictures = self._pictures if pictures is None else pictures
            self._show(change(self.details))
            return True

    def _show(self, details: RoomDetails) -> None:
        self.details = details
        room, users, devices = details.room, details.users, details.devices
        reading = "" if details.complete else ' <span class="confkit-quiet">reading …</span>'
        name = escape(details.name.removeprefix("room "))
        self._head.html = arranging.heading_html(f"Room {name}{reading}")
        told = arranging.fields(fields_of(room)) if isinstance(room, Room) else problem_html(room)
        self._fields.html = self._stale_html(details) + told
        self._media.html = self._media_html(details)
        for part in self._parts:
            arranging.shown(part, not isinstance(room, RoomNotFound))
        known = isinstance(users, list)
        arranging.shown(self.users, known)
        arranging.shown(self._put_off, known and bool(users))
        if known:
            self.users.show(details.people)
        listed = devices if isinstance(devices, list) else []
        addresses = [(device.user_name or device.user_id, bare(device)) for device in listed]
        told = arranging.fields(addresses) if addresses else ""
        self.devices.html = problem_html(users) + problem_html(devices) + told + self._pictures

    def _stale_html(self, details: RoomDetails) -> str:
        """From when the details are, and why not from now, where a part was not read again."""
        if details.stale is None or details.read_at is None:
            return ""
        return _bad(f"As of {self._time(details.read_at)}, not read since: {details.stale}")

    def _media_html(self, details: RoomDetails) -> str:
        """Where the media server is, whether it answers, and when it was asked for."""
        found, at = details.media_server, details.media_server_at
        if found is None or at is None:
            return ""
        asked = f'<div class="confkit-quiet">{escape(f"Asked on {self._time(at)}.")}</div>'
        if not isinstance(found, McuAnswer):
            return problem_html(found) + asked
        tone, word = ("good", "answers") if found else ("bad", "does not answer")
        badge = f'<span class="confkit-badge confkit-tone-{tone}">{word}</span>'
        why = "" if found else f"<div>{escape(found.reason)}.</div>"
        return f"{escape(found.address)} {badge}{why}{asked}"

    def _time(self, time: datetime) -> str:
        here, name = zone(self._tz)
        local = time.astimezone(here)
        return f"{moment(local)}:{local:%S} ({name})"


def fields_of(room: Room) -> list[tuple[str, Any]]:
    """The fields of a room as they are shown; its host_password is not."""
    status = None if room.room_status is None else str(room.room_status)
    mode = None if room.room_mode is None else str(room.room_mode)
    if isinstance(room.room_status, int):
        status = status_word(ROOM_STATUS.get(room.room_status, f"other ({room.room_status})"))
        status += " (the service says: opening)" * (status == "open")
    if isinstance(room.room_mode, int):
        mode = ROOM_MODE.get(room.room_mode, f"other ({room.room_mode})")
    return [
        ("topic", room.topic),
        ("room_id", room.room_id),
        ("status", status),
        ("mode", mode),
        ("owner_id", room.owner_id),
        ("attendee_max", room.attendee_max),
        ("max_audio", room.max_audio),
        ("max_video", room.max_video),
        ("room_extend_id", room.room_extend_id),
        ("id", room.id),
    ]


def status_word(status: str) -> str:
    """The status in a word that says what it means: the service calls an open room "opening"."""
    return "open" if status == "opening" else status


def problem_html(error: object) -> str:
    """Why a part is missing, in its place; an empty text where it is not."""
    return _bad(str(error)) if isinstance(error, ConfkitError) else ""


def _bad(said: str) -> str:
    return f'<div class="confkit-status confkit-bad">{escape(said)}</div>'


def _kind(row: Row) -> Cell:
    return row["kind"] and Mark(row["kind"], "good" if row["kind"] == "person" else "note")


def _tried(read: Callable[[], T]) -> T | ConfkitError:
    try:
        return read()
    except ConfkitError as error:
        return error
