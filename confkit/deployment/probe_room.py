"""One room of the probe's own, which is gone again afterwards, whatever happens meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..endpoints import A2, A4
from ..errors import ConfkitError, TransportError
from ..wire import Request
from .questions import REFUSED, UNKNOWN_ROOM, Inquiry, Unasked, answer

if TYPE_CHECKING:
    from ..attempt import Attempt
    from ..secret import Secret

TOPIC = "confkit probe: a room of a test, gone in a moment; safe to delete"
OWNER = "confkit-probe"
REMOVALS = 4  # tries to delete it, each also for a login where the token has been let go


@dataclass
class OwnRoom:
    """A room that this probe creates: `asked` is the creation, None where a Ctrl-C came before it
    was answered, `room_id` what the service calls it, and `left` says what could not be removed."""

    room_id: str
    asked: Attempt | None = None
    left: list[str] = field(default_factory=list)


@contextmanager
def created_room(
    inquiry: Inquiry, extend_id: str, token: Callable[[Secret | None], Secret]
) -> Iterator[OwnRoom]:
    """The room, while it is there. It is deleted at the end, also after an error or Ctrl-C, which
    then carries a note where that failed.

    `token` gives the token, and another in place of one that is refused. A creation that was
    refused or whose answer was lost is followed by the deletion too: its ID is known beforehand, as
    room_id equals room_extend_id (section 2), and a refusal can come of a room that is there.
    """
    room = OwnRoom(extend_id)
    if inquiry.remaining <= 2 * REMOVALS:
        raise Unasked("not asked: too few calls are left to remove a room again (max_calls)")
    inquiry.kept = 2 * REMOVALS
    people = {"owner_id": OWNER, "room_mode": 1, "attendee_max": 2}
    creation = Request(A2, {"topic": TOPIC, **people, "room_extend_id": extend_id})
    before = inquiry.calls
    interrupt: KeyboardInterrupt | None = None
    try:
        room.asked = inquiry.ask(creation, token(None))
        room.room_id = str((room.asked.members or {}).get("room_id") or extend_id)
        yield room
    finally:
        error = room.asked.error if room.asked else None
        unsent = isinstance(error, TransportError) and not error.sent
        if inquiry.calls > before and not unsent:
            interrupt = _remove(inquiry, room, token)
        inquiry.kept = 0
        ended_by = interrupt or sys.exc_info()[1]
        if ended_by:
            for what in room.left:
                ended_by.add_note(f"LEFT: {what}")
        if interrupt:
            raise interrupt


def _remove(
    inquiry: Inquiry, room: OwnRoom, token: Callable[[Secret | None], Secret]
) -> KeyboardInterrupt | None:
    """Delete the room; a Ctrl-C meanwhile, which is returned, has to wait until that is done."""
    settled = bool(room.asked and room.asked.call.ret is not None)  # the service said yes or no
    named = f"room {room.room_id!r} (topic {TOPIC!r})"
    interrupt: KeyboardInterrupt | None = None
    held: Secret | None = None
    why, missing = "interrupted", False
    for attempt in range(REMOVALS):
        try:
            if attempt:
                inquiry.client._sleep(0.2 * attempt)
            held = held or token(None)
            asked = inquiry.ask(Request(A4, {"room_id": room.room_id}), held, anyway=True)
            why, gone = answer(asked), asked.call.ret in UNKNOWN_ROOM
            if asked.members is not None or (gone and (settled or missing)):
                break
            missing = gone  # one more look: the creation may be under way yet
            if asked.call.ret in REFUSED:
                held = token(held)
        except KeyboardInterrupt as error:
            interrupt = error
        except (Unasked, ConfkitError) as error:
            why = str(error)
    else:
        room.left.append(
            f"{named} may still be there, as it could not be deleted: {why}. "
            f"Delete it: ck.delete_room(client, {room.room_id!r})"
        )
        return interrupt
    if not settled and asked.members is None:
        room.left.append(
            f"the answer to the creation of {named} was lost; the service has no such room now. "
            "If it appears later, delete it."
        )
    return interrupt
