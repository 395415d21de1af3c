"""One room in all its parts: read one after another, each with its own error; and its card."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
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
    found = RoomDetails(
        room_id, _tried(lambda: get_room(client, room_id)), read_at=datetime.now(UTC)
    )
    yield found
    if not isinstance(found.room, RoomNotFound):
        found = replace(found, users=_tried(lambda: get_room_users(client, room_id)))
        found = replace(found, devices=_tried(lambda: list_devices(client, room_id)))
    yield replace(found, complete=True)


def details_now(client: Client, room_id: str) -> RoomDetails:
    """All that is known of a room, read now. RoomNotFound."""
    *_, found = room_details(client, room_id)
    if isinstance(found.room, RoomNotFound):
        raise found.room
    return found


def last_known(new: RoomDetails, old: RoomDetails | None) -> RoomDetails:
    """The new details; a part that could not be read again is as it was read before, with its time
    and why. Of a room that is not there nothing is kept."""
    if old is None or old.room_id != new.room_id or isinstance(new.room, RoomNotFound):
        return new
    kept: dict[str, Any] = {}
    for name in ("room", "users", "devices"):
        now, before = getattr(new, name), getattr(old, name)
        if isinstance(now, ConfkitError) and not isinstance(before, ConfkitError | None):
            kept.update({name: before, "stale": now, "read_at": old.read_at})
    return replace(new, **kept)


class RoomCard(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """What is known of one room, shown part by part as it is read; `details` is all of it.

    The room that was asked for last is shown: the reading of another one ends at its next part.
    `delete`, `put_off`, `check_server` and `close` are the handlers of the clicks; `refused` says
    why nothing may be changed. Times are shown in the zone `tz`. The widgets are made for the first
    room: a panel is quicker without them.
    """

    def __init__(
        self,
        client: Client,
        tz: tzinfo,
        refused: str,
        **handlers: Callable[..., object],
    ) -> None:
        super().__init__()
        self.add_class("confkit-room")
        arranging.shown(self, False)
        self._client, self._tz, self._refused, self._handlers = client, tz, refused, handlers
        self._lock = threading.Lock()
        self._reading = 0  # the number of the newest reading; older ones show nothing any more
        self._pictures = ""
        self.details: RoomDetails | None = None

    @property
    def room_id(self) -> str:
        """The ID of the room that is shown, or an empty text."""
        return "" if self.details is None else self.details.room_id

    @property
    def user_id(self) -> str:
        """The ID of the user that is picked in the room, or an empty text."""
        return str(self.users.chosen) if self.children else ""

    def begin(self, room_id: str) -> int:
        """Show this room from now on, and with "" none; returns the number of its reading."""
        with self._lock:
            self._reading += 1
            if not room_id:
                self.details = None
                arranging.shown(self, False)
            elif self.room_id != room_id:
                self._pictures = ""
                self._show(RoomDetails(room_id))
                self.wants_number(False)
                self.devices.reveal()
            return self._reading

    def read(self, room_id: str, number: int) -> None:
        """Read and show all parts of the room, unless another one is to be shown meanwhile."""
        before = self.details
        again = before is not None and before.complete
        for details in room_details(self._client, room_id):
            # A room that is shown in full is not taken apart while it is read again.
            if (details.complete or not again) and not self._shown(details, before, number):
                return
        devices = details.devices if isinstance(details.devices, list) else []
        sandbox = self._client.sandbox
        pictures = "" if sandbox is None else thumbnails_html(sandbox, devices)
        self._shown(details, before, number, pictures)

    def wants_number(self, whether: bool) -> None:
        """Show the field, empty, in which the number of a room is typed before it is deleted."""
        self.number.value = ""
        arranging.shown(self.number, whether)

    def show_media_server(
        self, room_id: str, found: McuAnswer | ConfkitError, asked: datetime
    ) -> None:
        """Show what came of asking for a room's media server at this time, where that room is the
        one that is shown; it stays until another one is."""
        with self._lock:
            if self.details is not None and self.room_id == room_id:
                self._show(replace(self.details, media_server=found, media_server_at=asked))

    def _shown(
        self, new: RoomDetails, old: RoomDetails | None, number: int, pictures: str | None = None
    ) -> bool:
        """Whether this is shown, because no newer reading has begun; without `pictures` those
        that are shown stay."""
        with self._lock:
            now = self.details
            if number != self._reading or now is None:
                return False
            self._pictures = self._pictures if pictures is None else pictures
            new = replace(new, media_server=now.media_server, media_server_at=now.media_server_at)
            self._show(last_known(new, old))
            return True

    def _arrange(self) -> None:
        handlers, refused = self._handlers, self._refused
        self._head, self._stale, self._fields = (arranging.text() for _ in range(3))
        self._media, self._problem = arranging.text(), arranging.text()
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
            on_choice=lambda _: self._choosable(),
        )
        self.devices = View("Devices")
        self._put_off = arranging.button(
            "Force offline", handlers["put_off"], "danger", refused=refused
        )
        delete = arranging.button("Delete room", handlers["delete"], "danger", refused=refused)
        close = arranging.button("Close", handlers["close"])
        check = arranging.button("Check media server", handlers["check_server"])
        check.tooltip = _CHECK
        quiet = arranging.text(f'<div class="confkit-quiet">{_CHECK}</div>')
        server = ipywidgets.VBox([arranging.row(check), quiet, self._media])
        inside = ipywidgets.VBox(
            [self._problem, self.users, arranging.row(self._put_off), self.devices]
        )
        self.number = arranging.entry("Room number", hint="to delete a room in use")
        self._parts = (server, inside, arranging.row(delete, self.number))
        fields = ipywidgets.VBox([self._fields, server])
        self.children = [
            arranging.row(self._head, close),
            self._stale,
            arranging.columns(fields, inside),
            self._parts[2],
        ]

    def _show(self, details: RoomDetails) -> None:
        self.details = details
        if not self.children:
            self._arrange()
        room = details.room
        reading = "" if details.complete else ' <span class="confkit-quiet">reading …</span>'
        self._head.html = (
            '<div class="confkit-heading" role="heading" aria-level="4">Room '
            f"{escape(details.name.removeprefix('room '))}{reading}</div>"
        )
        self._fields.html = (
            arranging.fields(fields_of(room)) if isinstance(room, Room) else problem_html(room)
        )
        self._media.html = self._media_html(details)
        self._problem.html = problem_html(details.users) + problem_html(details.devices)
        self._stale.html = self._stale_html(details)
        for part in self._parts:
            arranging.shown(part, not isinstance(room, RoomNotFound))
        known = isinstance(details.users, list)
        arranging.shown(self.users, known)
        arranging.shown(self._put_off, known and bool(details.users))
        if known:
            self.users.show(details.people)
        self._choosable()
        devices = details.devices if isinstance(details.devices, list) else []
        addresses = [(device.user_name or device.user_id, bare(device)) for device in devices]
        self.devices.html = (arranging.fields(addresses) if addresses else "") + self._pictures
        arranging.shown(self, True)

    def _choosable(self) -> None:
        if not self._refused:
            self._put_off.disabled = not self.users.chosen
            self._put_off.tooltip = "Force offline" if self.users.chosen else "Pick a user first"

    def _stale_html(self, details: RoomDetails) -> str:
        """From when the details are, and why not from now, where a part was not read again."""
        if details.stale is None or details.read_at is None:
            return ""
        said = f"As of {self._time(details.read_at)}, not read since: {details.stale}"
        return f'<div class="confkit-status confkit-bad">{escape(said)}</div>'

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
    if not isinstance(error, ConfkitError):
        return ""
    return f'<div class="confkit-status confkit-bad">{escape(str(error))}</div>'


def _kind(row: Row) -> Cell:
    return row["kind"] and Mark(row["kind"], "good" if row["kind"] == "person" else "note")


def _tried(read: Callable[[], T]) -> T | ConfkitError:
    try:
        return read()
    except ConfkitError as error:
        return error
