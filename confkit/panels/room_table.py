"""Shared by the panels of rooms: a table with each room's occupancy as bar and text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..charts.rooms import RoomState, room_state
from ..errors import ConfigError
from .layout import Panel
from .refresh import NO_ROOM, Refresh
from .table import Column, Table

if TYPE_CHECKING:
    from ..client import Client

_STATES = ("full", "nearly full", "in use", "empty", "no cap", "not read")


def state_of(row: Any) -> RoomState:
    """Return a room's occupancy state."""
    if pd.notna(row.ret) and row.ret in NO_ROOM:
        return RoomState("not read", None, "no such room")
    return room_state(row.users, row.attendee_max)


def with_state(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of rooms with the column `state`, used by the filters."""
    return frame.assign(state=[state_of(row).state for row in frame.itertuples()])


def topic_of(frame: pd.DataFrame, room_id: str) -> str | None:
    """Return the topic of a room, or None."""
    topic = frame["topic"].get(room_id)
    return None if pd.isna(topic) else str(topic)


TOPIC = Column("topic", "Topic", 13, lambda row: row.room_id if pd.isna(row.topic) else row.topic)
OCCUPANCY = Column(
    "utilisation",
    "Occupancy",
    10.5,
    lambda row: state_of(row).text,
    lambda row: state_of(row).share,
)
DEVICES = Column("devices", "Devices", 5.5, right=True)
NUMBER = Column("room_id", "Number", 8)


def _in_state(state: str, rooms: pd.DataFrame) -> pd.Series[bool]:
    return rooms["state"] == state


class RoomPanel(Panel):
    """A panel of rooms read by a `Refresh`, the fullest first, one of which can be picked."""

    def __init__(
        self,
        title: str,
        client: Client,
        columns: Sequence[Column],
        room_ids: Any,
        every: float,
        refresh: Refresh | None,
    ) -> None:
        if refresh is not None and room_ids is not None:
            raise ConfigError("both room_ids and refresh", "Pass one of them: refresh has rooms.")
        self.refresh_block = refresh or Refresh(client, room_ids, every)
        super().__init__(title, client, self.refresh_block, owned=refresh is None)
        self.rooms = Table(
            "Rooms",
            columns,
            ("utilisation", True),
            noun="room",
            empty="No rooms.",
            filters={state: partial(_in_state, state) for state in _STATES},
            # If only interface B is down, the users are fresh and just their kind is unknown.
            faded=lambda row: pd.notna(row.error) and pd.isna(row.users) == pd.isna(row.people),
        )

    @property
    def value(self) -> pd.DataFrame:
        """The rooms left by search and filter, in the table's order."""
        return self.rooms.visible.reset_index(drop=True)

    @property
    def selected(self) -> str | None:
        """The ID of the picked room."""
        return self.rooms.picked  # type: ignore[no-any-return]

    def select(self, room_id: str | None) -> None:
        """Pick a room; None clears the selection. ConfigError: it is not in the list."""
        if room_id is not None:
            self._require(room_id)
        self.rooms.picked = room_id

    def _require(self, room_id: str) -> None:
        if room_id not in self.refresh_block.room_ids:
            raise ConfigError(f"room {room_id!r} is not in the list", "Add it first.")

    def refresh(self) -> pd.DataFrame:
        """Read all rooms now, and return the `value`."""
        self.refresh_block.read()
        return self.value

    def _read(self) -> str:
        self.job.show_cancel()
        return self.refresh_block.read(self.job.progress, self.job.cancelled)
