"""One part of a sweep: rooms and users of some IDs, as they were read. It runs anywhere."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..decoding import read_room, read_users
from ..devices import devices_of
from ..endpoints import A3, A6, B3
from ..wire import Answer, Request, interpret

if TYPE_CHECKING:
    from ..client import Client
    from ..decoding import RoomFields
    from ..dialect import Dialect
    from ..errors import ConfkitError
    from ..records import Room, RoomUser

Devices = Mapping[str, frozenset[str]]  # the user IDs of the external users, by room


class Part(NamedTuple):
    """What came for some rooms, an entry each in the order asked, and for the external users of all
    rooms: what was read, its error, or None where it was not asked."""

    rooms: Sequence[Room | RoomFields | ConfkitError | None]
    users: Sequence[list[RoomUser] | ConfkitError | None]
    devices: Devices | ConfkitError | None
    requests: int
    complete: bool


class How(NamedTuple):
    """What is asked of each room, how many requests fly at once, and how many leave in a second."""

    rooms: bool
    users: bool
    concurrency: int
    max_rate: float | None


def read_part(
    client: Client,
    ids: Sequence[str],
    how: How,
    devices: bool,
    cancelled: threading.Event | None = None,
    step: Callable[[], object] = lambda: None,
) -> Part:
    """What the service says about these rooms (A3), who is in them (A6), and which external users
    there are in all rooms (B3)."""
    kinds = [kind for kind, wanted in ((A3, how.rooms), (A6, how.users)) if wanted]
    asked = [Request(kind, {"room_id": room_id}) for room_id in ids for kind in kinds]
    first = [Request(B3, {})] if devices else []
    found = client.send_many(
        first + asked,
        concurrency=how.concurrency,
        max_rate=how.max_rate,
        cancelled=cancelled,
        step=step,
        read=_read,
    )
    none = [None] * len(ids)
    begin, each = len(first), max(1, len(kinds))
    return Part(
        rooms=found[begin::each] if how.rooms else none,
        users=found[begin + each - 1 :: each] if how.users else none,
        devices=found[0] if devices else None,
        requests=found.sent,
        complete=found.complete,
    )


def _read(request: Request, answer: Answer, dialect: Dialect) -> Any:
    if request.endpoint is A3:
        return read_room(request, answer, dialect)
    if request.endpoint is A6:
        return read_users(request, answer, dialect)
    found: dict[str, set[str]] = defaultdict(set)
    for device in devices_of(interpret(request.endpoint, answer, dialect)):
        found[device.room_id].add(device.user_id)
    return {room_id: frozenset(users) for room_id, users in found.items()}
