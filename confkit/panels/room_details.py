"""One room in all its parts: read one after another, each with its own error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from ..charts.texts import moment
from ..deployment import McuAnswer
from ..devices import list_devices
from ..errors import ConfkitError, RoomNotFound
from ..frames import ROOM_MODE, ROOM_STATUS, strings, users_frame
from ..occupancy.zones import zone
from ..records import Device, Room, RoomUser
from ..rooms import get_room
from ..users import get_room_users

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

T = TypeVar("T")


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
        devices = self._device_ids
        if devices is None:
            return f"{_many(len(self.users), 'user', 'users')} (people or devices)"
        people = sum(user.user_id not in devices for user in self.users)
        seated = len(self.users) - people
        told = [_many(people, "person", "people")] * bool(people)
        return " and ".join(told + [_many(seated, "device", "devices")] * bool(seated)) or "nobody"

    @property
    def people(self) -> pd.DataFrame:
        """The frame of its users, with `kind`: "person", "device", or missing where not known."""
        frame = users_frame({self.room_id: self.users if isinstance(self.users, list) else []})
        devices = self._device_ids
        kinds = [
            None if devices is None else "device" if user_id in devices else "person"
            for user_id in frame["user_id"]
        ]
        frame["kind"] = strings(kinds)
        return frame

    @property
    def _device_ids(self) -> set[str] | None:
        if not isinstance(self.devices, list):
            return None
        return {device.user_id for device in self.devices}


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


def delete_question(client: Client, room_id: str) -> str:
    """What to ask before a room is deleted; who is in it is read now, or said not to be known.
    RoomNotFound."""
    there = _who_is_there(client, room_id)
    if there.heads:
        return f"Delete {there.name} with {there.heads} in it?"
    return f"Delete {there.name}? Who is in it could not be read: {there.users}"


def offline_question(client: Client, room_id: str, user_id: str) -> str:
    """What to ask before a user is put off a room. RoomNotFound."""
    there = _who_is_there(client, room_id)
    return f"Put {there.user_name(user_id)} off {there.name}?"


def room_details(client: Client, room_id: str) -> Iterator[RoomDetails]:
    """What is known of a room, again and again with one part more (A3, A6, B3). Of a room that is
    not there nothing more is asked."""
    found = RoomDetails(room_id, _tried(lambda: get_room(client, room_id)))
    yield found
    if not isinstance(found.room, RoomNotFound):
        found = replace(found, users=_tried(lambda: get_room_users(client, room_id)))
        found = replace(found, devices=_tried(lambda: list_devices(client, room_id)))
    yield replace(found, complete=True)


def fields_of(room: Room) -> list[tuple[str, Any]]:
    """The fields of a room as they are shown; its host_password is not."""
    return [
        ("topic", room.topic),
        ("room_id", room.room_id),
        ("status", _named(room.room_status, ROOM_STATUS)),
        ("mode", _named(room.room_mode, ROOM_MODE)),
        ("owner_id", room.owner_id),
        ("attendee_max", room.attendee_max),
        ("max_audio", room.max_audio),
        ("max_video", room.max_video),
        ("room_extend_id", room.room_extend_id),
        ("id", room.id),
    ]


def problem_html(error: object) -> str:
    """Why a part is missing, in its place; nothing where it is not."""
    if not isinstance(error, ConfkitError):
        return ""
    return f'<div class="confkit-status confkit-bad">{escape(str(error))}</div>'


def stale_html(details: RoomDetails, tz: tzinfo | None) -> str:
    """From when the details are, and why not from now, where a part could not be read again."""
    if details.stale is None or details.read_at is None:
        return ""
    here, name = zone(tz)
    told = f"As of {moment(details.read_at.astimezone(here))} ({name}), not read since: "
    return f'<div class="confkit-status confkit-bad">{escape(told + str(details.stale))}</div>'


def media_server_html(details: RoomDetails, tz: tzinfo | None) -> str:
    """Where the media server is, whether it answers, and when it was asked for; nothing where it
    was not."""
    found, at = details.media_server, details.media_server_at
    if found is None or at is None:
        return ""
    here, zone_name = zone(tz)
    local = at.astimezone(here)
    asked = escape(f"Asked on {moment(local)}:{local:%S} ({zone_name}).")
    if not isinstance(found, McuAnswer):
        return f'{problem_html(found)}<div class="confkit-quiet">{asked}</div>'
    tone, word = ("good", "answers") if found else ("bad", "does not answer")
    why = "" if found else f"{escape(found.reason)}. "
    return (
        f"{escape(found.address)} "
        f'<span class="confkit-badge confkit-tone-{tone}" title="{escape(found.reason)}">{word}'
        f'</span><div class="confkit-quiet">{why}{asked}</div>'
    )


def _who_is_there(client: Client, room_id: str) -> RoomDetails:
    room = _tried(lambda: get_room(client, room_id))
    if isinstance(room, RoomNotFound):
        raise room
    users = _tried(lambda: get_room_users(client, room_id))
    return RoomDetails(room_id, room, users, _tried(lambda: list_devices(client, room_id)))


def _tried(read: Callable[[], T]) -> T | ConfkitError:
    try:
        return read()
    except ConfkitError as error:
        return error


def _named(value: object, names: Mapping[int, str]) -> str | None:
    if not isinstance(value, int):
        return None if value is None else str(value)
    return names.get(value, f"other ({value})")


def _many(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
