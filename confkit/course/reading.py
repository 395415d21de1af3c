"""Reads answers that name a room of the sandbox, or that list something in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

from ..errors import RoomNotFound
from ..rooms import get_room
from .records import Judged, no

if TYPE_CHECKING:
    from ..client import Client
    from ..records import Room


def room_of(answer: Any, client: Client) -> Room | Judged:
    """The room whose number the answer is, or what is wrong with the answer."""
    if isinstance(answer, int):
        return no("A room number is a text, also where it has digits only: room_id is a string.")
    if not isinstance(answer, str):
        return no(f"A room number is a text, and this is of the type {type(answer).__name__}.")
    try:
        return get_room(client, answer)
    except RoomNotFound:
        return no("The sandbox knows no such room (404): hand in the room_id that A2 answered, "
                  "letter by letter, capitals too.")  # fmt: skip


def in_order(answer: Any) -> list[Any] | Judged:
    """What the answer lists, in its order, or what is wrong with the answer."""
    if isinstance(answer, Set | Mapping):
        kind = "set" if isinstance(answer, Set) else "dict"
        return no(f"A {kind} has no order: hand in a list.")
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        return no(f"Hand in a list; this is of the type {type(answer).__name__}.")
    return list(answer)
