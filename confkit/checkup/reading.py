"""What the token opens: interface A, interface B, one room and its media server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ..devices import devices_of
from ..endpoints import A3, A5, B3
from ..errors import ConfkitError, ProtocolError
from ..media_server import mcu_answers
from ..probing.interface_a import spelling as found_spelling
from ..probing.interface_b import nobody
from ..probing.logins import REFUSED
from ..records import Room, needed
from ..wire import Request
from .authentication import token_accepted
from .case import Heard
from .mending import set_dialect, told
from .speaking import NO_ROOM

if TYPE_CHECKING:
    from ..checklist import Check
    from ..dialect import Dialect
    from .case import Case

_SPELLINGS = ("access_token", "access_tocken", "token")  # specified, and seen
_NO_ROOM = (404, 612)
_NOBODY = (0, 401, 425, *_NO_ROOM)  # what B2 may answer without a look at the token
_WRONG_TOKEN = 602
MCU_SECONDS = 2.0
_CLOSED = 3  # room_status, as seen in deployments


def token_in_a(case: Case, name: str) -> Check:
    """Whether interface A accepts the token."""
    request = Request(A3, {"room_id": case.room_id or NO_ROOM})
    heard = case.ask(request, case.token)
    accepted = token_accepted(heard)
    if accepted:
        return case.check(name, "PASS", "get room (A3) accepts the token")
    if accepted is None and heard.ret is None:
        return case.check(name, "FAIL", heard.told, heard.advice)
    usual = case.client.dialect.token_parameter
    for spelling in _SPELLINGS:
        dialect = replace(case.client.dialect, token_parameter=spelling)
        if spelling != usual and token_accepted(case.ask(request, case.token, dialect)):
            changed = {"token_parameter": spelling}
            return case.check(
                name, "FAIL",
                f"A3 does not take the token as {usual} ({heard.ret}), and takes it as {spelling} "
                f"({told(changed)})",
                set_dialect(case, changed),
            )  # fmt: skip
    if accepted is None:
        return case.check(name, "UNKNOWN", f"whether A3 looked at the token: {heard.told}",
                          heard.advice)  # fmt: skip
    return case.check(
        name, "FAIL",
        f"A1 made the token, and A3 does not accept it ({heard.ret}) under any known name",
        "Run confkit probe, and ask the operator whether both are the same service: behind a "
        "balancer one may not know the other's tokens.",
    )  # fmt: skip


def token_in_b(case: Case, name: str) -> Check:
    """Whether interface B accepts the token; notes the rooms that it tells of."""
    heard = case.ask(Request(B3, {}), case.token)
    if heard.members is None:
        advice = heard.advice
        if heard.ret in (401, *REFUSED, 408):
            advice = (
                "A accepted the token, so see that outgoing_url belongs to the same service; then "
                "let confkit probe find out how this deployment takes B3 (method, placement)."
            )
        return case.check(name, "FAIL", f"list external users (B3): {heard.told}", advice)
    try:
        devices = devices_of(heard.members)
    except ProtocolError as error:
        return case.check(
            name, "FAIL", f"B3 accepts the token, and its answer cannot be read: {error}",
            "Run confkit probe: it finds out how this deployment writes its lists.",
        )  # fmt: skip
    case.room_ids = list(dict.fromkeys(device.room_id for device in devices))
    listed = f"{len(devices) or 'no'} {'device is' if len(devices) == 1 else 'devices are'} listed"
    return case.check(name, "PASS", f"B3 accepts the token; {listed}")


def token_in_b2(case: Case, name: str) -> Check:
    """Whether B2 accepts the token, by the removal of a user who is not there: the answer is
    another one without a token."""
    if case.client.read_only:
        return case.check(
            name, "UNKNOWN", "not asked: B2 is a change, and this client is read only",
            "Run it with a client that may change something: all that it asks B2 for is to remove "
            "a user who is not there.",
        )  # fmt: skip
    used = case.client.dialect.remove_token_parameter
    request = nobody(case.new_id(), case.new_id())
    taken, asked = found_spelling(case.asked, case.client.dialect, request, case.token)
    heard = Heard(asked.answer, {}, asked.members, asked.error)
    if taken == used:
        return case.check(name, "PASS", f"delete external user (B2) takes the token as {used}")
    if taken is not None:
        changed = {"remove_token_parameter": taken}
        return case.check(
            name, "FAIL",
            f"B2 does not take the token as {used}, and takes it as {taken} ({told(changed)})",
            set_dialect(case, changed),
        )  # fmt: skip
    if heard.ret is None:
        return case.check(name, "FAIL", heard.told, heard.advice)
    if heard.ret == _WRONG_TOKEN:
        return case.check(
            name, "FAIL",
            f"A accepts the token, and B2 does not ({heard.ret}) under any known name",
            "Where B3 does not accept it either, see that outgoing_url belongs to the same "
            "service; otherwise ask the provider what the token is called in B2 "
            "(destroyOutgoingUser), and set that as remove_token_parameter of the dialect.",
        )  # fmt: skip
    advice = heard.advice
    if heard.ret in _NOBODY:
        advice = "Run confkit probe: it asks B2 in a room that it creates, and deletes again."
    return case.check(
        name, "UNKNOWN", f"whether B2 looked at the token cannot be told: {heard.told}", advice
    )


def room(case: Case, name: str) -> Check:
    """Whether a room can be read: the given one, or one that is known of."""
    if case.room_id is not None:
        heard = case.ask(Request(A3, {"room_id": case.room_id}), case.token)
        return _given(case, name, case.room_id, heard)
    for room_id, source in _known(case):
        heard = case.ask(Request(A3, {"room_id": room_id}), case.token)
        if heard.ret not in _NO_ROOM:  # it may be gone meanwhile
            return _read(case, name, room_id, heard, f", {source}")
    heard = case.ask(Request(A3, {"room_id": NO_ROOM}), case.token)
    if heard.ret in _NO_ROOM:
        return case.check(
            name, "PASS", f"no room given; an unknown one is told as {heard.ret}",
            "Give a room, and its media server is looked at too: confkit doctor ROOM.",
        )  # fmt: skip
    if heard.ret == 0:
        return case.check(
            name, "UNKNOWN", f"no room given, and A3 found one under the made-up number {NO_ROOM}",
            "Give a room: confkit doctor ROOM.",
        )  # fmt: skip
    return case.check(name, "FAIL", f"no room given; to an unknown one: {heard.told}", heard.advice)


def _known(case: Case) -> Iterator[tuple[str, str]]:
    """Rooms to try, a few: those of this client, then those with devices."""
    yield from ((room_id, "which this client made") for room_id in case.created[-1:])
    yield from ((room_id, "which has a device (B3)") for room_id in case.room_ids[:2])


def _given(case: Case, name: str, room_id: str, heard: Heard) -> Check:
    if heard.ret in _NO_ROOM:
        return case.check(
            name, "FAIL", f"the service has no room {room_id} ({heard.ret})", heard.advice
        )
    return _read(case, name, room_id, heard, "")


def _read(case: Case, name: str, room_id: str, heard: Heard, source: str) -> Check:
    if heard.members is None:
        return case.check(name, "FAIL", f"room {room_id}{source}: {heard.told}", heard.advice)
    try:
        found = Room.read(heard.members, room_id)
    except ConfkitError as error:
        return case.check(name, "FAIL", f"room {room_id}{source} cannot be read: {error}")
    case.read = room_id
    read = f"room {room_id}{source}, was read: {found.topic!r}"
    if found.room_status == _CLOSED:
        return case.check(
            name, "PASS", f"{read}; it is closed (room_status 3, seen in deployments)",
            "Nobody can join it any more: take another room, or create one.",
        )  # fmt: skip
    return case.check(name, "PASS", read)


def media_server(case: Case, name: str) -> Check:
    """Which media server the room has."""
    if case.read is None:
        return case.check(
            name, "SKIP", "because no room is known, and A5 needs one",
            "Give a room: confkit doctor ROOM.",
        )  # fmt: skip
    request = Request(A5, {"room_id": case.read})
    heard = case.ask(request, case.token)
    if heard.ret in (*REFUSED, 407):
        other = _other_name(case, request)
        if other is not None:
            spelling, read = other
            changed = {"mcu_token_parameter": spelling}
            with suppress(ProtocolError):
                case.mcu = needed(read.members or {}, "addr", "the media server")
            return case.check(
                name, "FAIL",
                f"A5 does not take the token under the name that A3 takes ({heard.ret}), and takes "
                f"it as {spelling} ({told(changed)})",
                set_dialect(case, changed),
            )  # fmt: skip
    if heard.members is None:
        return case.check(name, "FAIL", f"room {case.read}: {heard.told}", heard.advice)
    try:
        case.mcu = needed(heard.members, "addr", "the media server")
    except ProtocolError as error:
        return case.check(name, "FAIL", str(error))
    return case.check(name, "PASS", f"room {case.read} has the media server {case.mcu} (A5)")


def _other_name(case: Case, request: Request) -> tuple[str, Heard] | None:
    dialect = case.client.dialect
    used = dialect.mcu_token_parameter or dialect.token_parameter
    for spelling in _SPELLINGS:
        tried: Dialect = replace(dialect, mcu_token_parameter=spelling)
        if spelling != used:
            heard = case.ask(request, case.token, tried)
            if heard.ret is not None and heard.ret not in (*REFUSED, 407):
                return spelling, heard
    return None


def media_server_tcp(case: Case, name: str) -> Check:
    """Whether the media server accepts a connection from here."""
    if case.mcu is None:
        return case.check(name, "SKIP", "because no media server's address is known")
    found = mcu_answers(case.mcu, case.patience(MCU_SECONDS))
    if found:
        return case.check(name, "PASS", found.reason)
    return case.check(
        name, "FAIL", found.reason,
        "Ask the operator whether it runs, whether its address is meant for this network, and "
        "whether it takes media over UDP alone.",
    )  # fmt: skip
