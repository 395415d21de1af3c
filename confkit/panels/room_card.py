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
from ..diagnosis.camera import address_without_login
from ..errors import ConfkitError, RoomNotFound
from ..frames import ROOM_MODE, ROOM_STATUS, users_frame
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
_READ = ("room", "users", "devices", "complete", "read_at", "stale")  # what a reading tells
_CHECK = (
    "Asks the service where it is (A5), and tries a connection to it from here. The service may "
    "assign one by being asked."
)


@dataclass(frozen=True)
class RoomDetails:
    """What is known of one room, part by part: what was read, the error that came instead, or None
    where it was not asked for, or not yet; `complete` says which.

    The media server is no part of a reading: `media_server` is the answer to asking for it at
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
        named = {one.user_id: one.user_name for one in listed(self.users)}
        name = named.get(user_id)
        return f'"{name}" ({user_id})' if name else f'"{user_id}"'

    @property
    def heads(self) -> str:
        """How many are in the room, such as "3 people and 1 device"; nothing when that is not
        known."""
        if not isinstance(self.users, list):
            return ""
        if not isinstance(self.devices, list):
            return f"{counted(len(self.users), 'user')} (people or devices)"
        devices = int((self.people["kind"] == "device").sum())
        people = len(self.users) - devices
        said = [f"{people:,} {'person' if people == 1 else 'people'}"] * bool(people)
        return " and ".join(said + [counted(devices, "device")] * bool(devices)) or "nobody"

    @property
    def people(self) -> pd.DataFrame:
        """The frame of its users, with `kind`: "person", "device", or missing where not known."""
        frame = users_frame({self.room_id: listed(self.users)})
        seated = {one.user_id for one in listed(self.devices)}
        kinds = ["device" if one in seated else "person" for one in frame["user_id"]]
        known = isinstance(self.devices, list)
        frame["kind"] = kinds if known else None
        return frame.astype({"kind": "string"})


def room_details(client: Client, room_id: str, before: RoomDetails) -> Iterator[RoomDetails]:
    """What is known of a room, again and again with one part more (A3, A6, B3).

    A part that could not be read again, or not yet, is as it was `before`, with its time and why.
    Of a room that is not there nothing is kept, and nothing more is asked."""
    found = replace(before, read_at=datetime.fromtimestamp(client.now(), UTC), stale=None)
    reads: dict[str, Any] = {"room": get_room, "users": get_room_users, "devices": list_devices}
    for name, read in reads.items():
        part: Any = tried(partial(read, client, room_id))
        if isinstance(part, RoomNotFound):
            yield RoomDetails(room_id, part, complete=True)
            return
        kept = not isinstance(getattr(before, name), ConfkitError | None)
        if kept and isinstance(part, ConfkitError):
            found = replace(found, stale=part, read_at=before.read_at)
        else:
            found = replace(found, **{name: part})
        yield replace(found, complete=before.complete or name == "devices")


class RoomCard(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """What is known of one room, shown part by part as it is read; `details` is all of it.

    The room that was asked for last is shown: the reading of another one ends at its next part.
    `button` makes one, such as a panel's `_button`, and the functions are called with the room, or
    with the room and the user, that is shown at the click. Times are shown in the zone `tz`.
    """

    def __init__(
        self,
        client: Client,
        tz: tzinfo,
        button: Callable[..., ipywidgets.Button],
        close: Callable[[], object],
        check: Callable[[str], object],
        put_off: Callable[[tuple[str, str]], object],
        delete: Callable[[str], object],
    ) -> None:
        super().__init__()
        self.add_class("confkit-room")
        self._client, self._tz = client, tz
        self._lock = threading.Lock()
        self.details: RoomDetails | None = None
        self._head, self._fields, self._media, self.pictures = (arranging.text() for _ in range(4))
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
        checks = button("Check media server", check, "media server", given=lambda: self.room_id)
        checks.tooltip = _CHECK
        puts_off = button(
            "Force offline",
            put_off,
            "change",
            "danger",
            given=lambda: (self.room_id, str(self.users.chosen)),
            changes=True,
        )
        deletes = button(
            "Delete room", delete, "change", "danger", given=lambda: self.room_id, changes=True
        )
        self._put_off = arranging.row(puts_off)
        server = ipywidgets.VBox([arranging.row(checks), self._media])
        inside = ipywidgets.VBox([self.users, self._put_off, self.devices, self.pictures])
        self._parts = server, inside, arranging.row(deletes, self.number)
        self.children = [
            arranging.row(self._head, arranging.button("Close", lambda _: close())),
            arranging.columns(ipywidgets.VBox([self._fields, server]), inside),
            self._parts[-1],
        ]
        arranging.shown(self, False)

    @property
    def room_id(self) -> str:
        """The ID of the room that is shown, or an empty text."""
        return "" if self.details is None else self.details.room_id

    def begin(self, room_id: str) -> None:
        """Show this room from now on, and with "" none."""
        with self._lock:
            arranging.shown(self, bool(room_id))
            if not room_id:
                self.details = None
            elif self.room_id != room_id:
                self._show(RoomDetails(room_id))
                self.pictures.html = ""
                self.wants_number(False)
                self.devices.reveal()

    def read(self, room_id: str) -> None:
        """Read and show all parts of the room, unless another one is to be shown meanwhile."""
        before = self.details
        if before is None or before.room_id != room_id:
            return
        for found in room_details(self._client, room_id, before):
            if not self._update(room_id, **{name: getattr(found, name) for name in _READ}):
                return
        if (sandbox := self._client.sandbox) is not None:
            pictures = thumbnails_html(sandbox, listed(found.devices))
            with self._lock:
                self.pictures.html = pictures if self.room_id == room_id else ""

    def wants_number(self, whether: bool) -> None:
        """Show the field, empty, in which the number of a room is typed before it is deleted."""
        self.number.value = ""
        arranging.shown(self.number, whether)

    def show_media_server(self, room_id: str, found: McuAnswer | ConfkitError) -> None:
        """Show the answer to asking for a room's media server, where that room is the one that is
        shown; it stays until another one is."""
        now = datetime.fromtimestamp(self._client.now(), UTC)
        self._update(room_id, media_server=found, media_server_at=now)

    def _update(self, room_id: str, **parts: Any) -> bool:
        """Whether this is shown, because the room still is the one to show."""
        with self._lock:
            if self.details is None or self.room_id != room_id:
                return False
            self._show(replace(self.details, **parts))
            return True

    def _show(self, details: RoomDetails) -> None:
        self.details = details
        room, users, devices = details.room, details.users, details.devices
        reading = "" if details.complete else ' <span class="confkit-quiet">reading …</span>'
        name = escape(details.name.removeprefix("room "))
        self._head.html = arranging.heading_html(f"Room {name}{reading}")
        stale = ""
        if details.stale is not None and details.read_at is not None:
            stale = _bad(f"As of {self._time(details.read_at)}, not read since: {details.stale}")
        text = arranging.fields(fields_of(room)) if isinstance(room, Room) else problem_html(room)
        self._fields.html = stale + text
        self._media.html = self._media_html(details.media_server, details.media_server_at)
        for part in self._parts:
            arranging.shown(part, not isinstance(room, RoomNotFound))
        arranging.shown(self.users, isinstance(users, list))
        arranging.shown(self._put_off, bool(listed(users)))
        self.users.show(details.people)
        addresses = [
            (one.user_name or one.user_id, address_without_login(one)) for one in listed(devices)
        ]
        text = arranging.fields(addresses) if addresses else ""
        self.devices.html = problem_html(users) + problem_html(devices) + text

    def _media_html(self, found: McuAnswer | ConfkitError | None, at: datetime | None) -> str:
        """What the check does; and where the media server is, whether it answers, and when it was
        asked for."""
        said = ""
        if isinstance(found, McuAnswer):
            tone, word = ("good", "answers") if found else ("bad", "does not answer")
            said = f'{escape(found.address)} <span class="confkit-badge confkit-tone-{tone}">'
            said += f"{word}</span>" + ("" if found else f"<div>{escape(found.reason)}.</div>")
        asked = f"Asked on {self._time(at)}." if at else ""
        quiet = '<div class="confkit-quiet">'
        return f"{quiet}{_CHECK}</div>{said or problem_html(found)}{quiet}{asked}</div>"

    def _time(self, time: datetime) -> str:
        here, name = zone(self._tz)
        local = time.astimezone(here)
        return f"{moment(local)}:{local:%S} ({name})"


def fields_of(room: Room) -> list[tuple[str, Any]]:
    """The fields of a room as they are shown; its host_password is not."""
    status = status_word(_named(room.room_status, ROOM_STATUS))
    if room.room_status == 1:
        status += " (the service says: opening)"
    own = ("owner_id", "attendee_max", "max_audio", "max_video", "room_extend_id", "id")
    return [
        ("topic", room.topic),
        ("room_id", room.room_id),
        ("status", status),
        ("mode", _named(room.room_mode, ROOM_MODE)),
        *((name, getattr(room, name)) for name in own),
    ]


def _named(number: Any, names: dict[int, str]) -> Any:
    return names.get(number, f"other ({number})") if isinstance(number, int) else number


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


def listed(part: list[T] | ConfkitError | None) -> list[T]:
    """What was read of a part of a room, or nothing."""
    return part if isinstance(part, list) else []


def tried(read: Callable[[], T]) -> T | ConfkitError:
    """What this returns, or the error that came instead."""
    try:
        return read()
    except ConfkitError as error:
        return error
