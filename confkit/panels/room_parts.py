"""The parts of one room as widgets: its fields, who is in it, its devices and media server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from html import escape

import ipywidgets

from ..diagnosis.device_address import bare
from ..errors import RoomNotFound
from ..records import Device, Room
from . import arranging
from .parts import Column, Mark, Table, View
from .parts.table import Cell, Row
from .room_details import RoomDetails, fields_of, media_server_html, problem_html, stale_html

_CHECK = (
    "Asks the service where it is (A5), and tries a connection to it from here. The service may "
    "assign one by being asked."
)


class RoomParts:
    """What is known of a room, with a button to delete it, one to put the picked user off, and one
    that asks for its media server: `delete`, `put_off` and `check_server` are the handlers of their
    clicks; times are shown in the zone `tz`."""

    def __init__(
        self,
        delete: Callable[..., object],
        put_off: Callable[..., object],
        check_server: Callable[..., object],
        refused: str,
        tz: tzinfo | None = None,
    ) -> None:
        self._tz = tz
        self._head, self._fields = arranging.text(), arranging.text()
        self._stale = arranging.text()
        self._media, self._problem = arranging.text(), arranging.text()
        self.users = Table(
            "People and devices in the room", "user_id",
            [Column("user_name", "name"), Column("kind", "kind", _kind),
             Column("user_id", "user", wide=True)],
            what="in the room", empty="Nobody is in the room.",
            on_choice=lambda _: self._choosable(),
        )  # fmt: skip
        self._devices = View("Devices")
        self._may = not refused
        self._put_off = arranging.button("Force offline", put_off, "danger", refused=refused)
        check = arranging.button("Check media server", check_server)
        check.tooltip = _CHECK
        self._server = arranging.block(
            "Media server", self._media, arranging.row(check),
            arranging.text(f'<div class="confkit-quiet">{_CHECK}</div>'),
        )  # fmt: skip
        self._inside = arranging.block(
            "People and devices",
            self._problem, self.users, arranging.row(self._put_off), self._devices,
        )  # fmt: skip
        fields = ipywidgets.VBox([arranging.block("Fields", self._fields), self._server])
        self._actions = arranging.row(
            arranging.button("Delete room", delete, "danger", refused=refused)
        )
        self.box = ipywidgets.VBox(
            [self._head, self._stale, arranging.columns(fields, self._inside), self._actions]
        )
        self.box.add_class("confkit-room")

    def show(self, details: RoomDetails, pictures: str) -> None:
        """Shows what is known, with these pictures of its devices, as HTML."""
        name = details.name.removeprefix("room ")
        reading = "" if details.complete else ' <span class="confkit-quiet">reading …</span>'
        self._head.value = (
            f'<div class="confkit-heading" role="heading" aria-level="4">Room {escape(name)}'
            f"{reading}</div>"
        )
        room = details.room
        self._fields.value = (
            arranging.fields(fields_of(room)) if isinstance(room, Room) else problem_html(room)
        )
        self._media.value = media_server_html(details, self._tz)
        self._problem.value = problem_html(details.users) + problem_html(details.devices)
        self._stale.value = stale_html(details, self._tz)
        there = not isinstance(room, RoomNotFound)
        for part in (self._server, self._inside, self._actions):
            arranging.shown(part, there)
        known = isinstance(details.users, list)
        arranging.shown(self.users, known)
        arranging.shown(self._put_off, known and bool(details.users))
        if known:
            self.users.show(details.people)
        self._choosable()
        devices = details.devices if isinstance(details.devices, list) else []
        self._devices.show(_addresses(devices) + pictures)

    def _choosable(self) -> None:
        if self._may:
            self._put_off.disabled = not self.users.chosen
            self._put_off.tooltip = "Force offline" if self.users.chosen else "Pick a user first"


def _kind(row: Row) -> Cell:
    return row["kind"] and Mark(row["kind"], "good" if row["kind"] == "person" else "note")


def _addresses(devices: Sequence[Device]) -> str:
    told = [(device.user_name or device.user_id, bare(device)) for device in devices]
    return arranging.fields(told) if told else ""
