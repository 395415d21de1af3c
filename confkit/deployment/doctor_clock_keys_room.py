"""The doctor's checks behind the way: the clocks, the keys, the token, a room, its media server."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..devices import devices_of
from ..endpoints import B3
from ..errors import (
    ApiError,
    ConfkitError,
    ProtocolError,
    TransportError,
)
from ..records import Room, needed
from ..wire import Request, token_parameter
from .doctor_case import NO_ROOM, Case, Said, answered, say
from .login_signatures import Candidate, Tried, signatures
from .media_server import mcu_answers
from .questions import (
    NOT_SUPPORTED,
    REFUSED,
    TOKEN_IN_A,
    TOKEN_IN_A5,
    TOKEN_IN_B2,
    UNKNOWN_ROOM,
    Found,
    Question,
)

MOST_SKEW = 5.0  # seconds that do no harm; the Date header has whole ones
MCU_SECONDS = 2.0
_USUAL_KEY = re.compile(r"[!#-&(-_a-~]+")  # of printable ASCII, without spaces and quotes
_CLOSED = 3  # room_status, as seen in deployments


def clock(case: Case) -> Said:
    """Whether this machine's clock and the service's agree, by the Date header of its answers."""
    if not case.skews:
        return say("clock.unknown")
    if abs(case.skew) <= MOST_SKEW:
        return say("clock.well", most=MOST_SKEW)
    side = "behind" if case.skew > 0 else "ahead of"
    return say("clock.wrong", apart=_duration(case.skew), side=side)


def _duration(seconds: float) -> str:
    size = abs(seconds)
    for length, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if size >= 2 * length:
            return f"{size / length:.0f} {unit}"
    return f"{size:.0f} s"


def authentication(case: Case) -> Said:
    """Whether A1 accepts the keys, and what is wrong with them or with the dialect otherwise.

    A client that holds a token which is still accepted keeps it: some services may keep one token a
    key, and a login would end it for everybody who uses it.
    """
    if case.held is not None:
        asked = case.ask(TOKEN_IN_A.request(NO_ROOM), case.held)
        if asked.call.ret in (0, *UNKNOWN_ROOM, 416):
            case.token = case.held
            return say("login.held")
        if asked.call.ret not in REFUSED:
            held = "no login was made: this client holds a token, which a login may end, and "
            return answered("UNKNOWN", asked, f"{held}whether it is still accepted is not clear: ")
    if case.logins.bound == 0:
        return say("login.none")
    keys = case.client.access_key, case.client.secret_key, case.client.dialect
    tried = case.logins.first(signatures(*keys))
    for login in tried.logins:
        case.secrets += [login.candidate.digest, login.token or ""]
    last = tried.logins[-1]
    case.token, right = last.token, last.candidate
    if last.came == "refused":
        return _refused(case, tried)
    if last.came == "unclear":
        before = "A1 says nothing of the keys: "
        if last is not tried.logins[0]:
            before = f"A1 refused the keys as they are; asked then with {right.what}, "
        silent = isinstance(last.error, TransportError)
        return answered("UNKNOWN" if silent else "FAIL", last, before)
    if last is tried.logins[0]:
        return say("login.well")
    wanted = {"hash": right.dialect.hash, "signature": right.dialect.signature}
    changed = {name: one for name, one in wanted.items() if one != getattr(keys[2], name)}
    told = "your secret is right, but this deployment wants its signature in another way: "
    return case.wrong(told + right.what, **changed)


def _refused(case: Case, tried: Tried) -> Said:
    error, keys = tried.logins[-1].error, ("access_key", "secret_key")
    parts, more = [], ""
    if len(tried.logins) > 1:
        parts.append(f"refused as well: {_listed([one.candidate for one in tried.logins[1:]])}")
    if tried.open:
        bound = f"{case.logins.bound} failed logins are the bound"
        parts.append(f"not tried, as {bound}: {_listed(tried.open)}")
        more = (
            " Ask the provider for hash and form of the signature, or allow more logins to fail "
            "(--max-failed-logins), where accounts do not lock."
        )
    else:
        parts.append("no hash or form of the signature is left, so most likely a key is wrong")
    parts.append(f"logins that failed: {case.logins.failed}")
    odd = [name for name in keys if not _USUAL_KEY.fullmatch(getattr(case.client, name))]
    slip = "holds white space, quotes or letters beyond ASCII, which may be pasted with it"
    parts += [f"{name} {slip}" for name in odd]
    ret = error.ret if isinstance(error, ApiError) else "no code"
    origins = case.origins(*keys)
    return say("login.refused", ret=ret, tried="; ".join(parts), origins=origins, more=more)


def _listed(candidates: Iterable[Candidate]) -> str:
    return ", ".join(one.what for one in candidates)


def token_in_a(case: Case) -> Said:
    """Whether interface A accepts the token, and under which name."""
    return _token(case, TOKEN_IN_A, case.room_id or NO_ROOM)


def token_in_b2(case: Case) -> Said:
    """Whether B2 accepts the token, by the removal of a user who is not there."""
    if case.client.read_only:
        return say("token.readonly")
    return _token(case, TOKEN_IN_B2, case.new_id())


def _token(case: Case, question: Question, room_id: str) -> Said:
    """Whether an operation reads the token, and under which name: the answer is another one
    without it."""
    found = case.find(question, question.request(room_id, case.new_id()), case.token)
    endpoint, ret = question.endpoint, found.asked.call.ret
    if found.dialect:
        name = token_parameter(endpoint, found.dialect)
        other = _other_name(case, question, found)
        return other or say("token.well", title=endpoint.title, key=endpoint.key, name=name)
    if ret is None:
        return answered("FAIL", found.asked)
    if ret == 602 or (ret in REFUSED and endpoint.interface == "A"):
        return say(f"token.{endpoint.key}", ret=ret)
    if question is TOKEN_IN_B2 and ret in (0, 401, 425, *UNKNOWN_ROOM):
        return say("token.nobody", ret=ret)
    unread = f"whether {endpoint.key} looked at the token cannot be known: "
    return answered("UNKNOWN", found.asked, unread)


def _other_name(case: Case, question: Question, found: Found) -> Said | None:
    """The failure where an operation reads the token under another name than the dialect's."""
    used = token_parameter(question.endpoint, case.dialect)
    name = str(getattr(found.dialect, question.setting))
    if name == used:
        return None
    refused = f"{question.endpoint.key} does not take the token as {used} ({found.first.call.ret})"
    return case.wrong(f"{refused}, and takes it as {name}", **{question.setting: name})


def token_in_b(case: Case) -> Said:
    """Whether interface B accepts the token; notes the rooms that it names."""
    asked = case.ask(Request(B3, {}), case.token)
    if asked.members is None:
        said = answered("FAIL", asked)
        if asked.call.ret in (*REFUSED, NOT_SUPPORTED):
            return say("token.B3", cause=said.found)
        return said
    try:
        devices = devices_of(asked.members)
    except ProtocolError as error:
        return say("token.listing", cause=error.said)
    rooms = list(dict.fromkeys(device.room_id for device in devices))[:2]
    case.known_rooms += [(room_id, "which has a device (B3)") for room_id in rooms]
    return say("token.listed", devices=listed_devices(len(devices)))


def listed_devices(count: int) -> str:
    """Return how many devices a listing holds, in words."""
    return f"{count or 'no'} {'device is' if count == 1 else 'devices are'} listed"


def room(case: Case) -> Said:
    """Whether a room can be read: the given one, or one that is known of."""
    rooms = case.known_rooms if case.room_id is None else [(case.room_id, "")]
    for room_id, source in rooms:
        asked = case.ask(TOKEN_IN_A.request(room_id), case.token)
        if asked.call.ret in UNKNOWN_ROOM:
            if not case.room_id:
                continue  # it has gone meanwhile
            step = answered("FAIL", asked).advice
            return say("room.gone", room_id=room_id, ret=asked.call.ret, step=step)
        named = f"room {room_id}{source and ', '}{source}"
        if asked.members is None:
            return answered("FAIL", asked, f"{named}: ")
        try:
            found = Room.read(asked.members, room_id)
        except ConfkitError as error:
            return say("room.unreadable", named=named, cause=error.said, step=error.advice)
        case.read = room_id
        row = "room.closed" if found.room_status == _CLOSED else "room.read"
        return say(row, named=named, topic=found.topic)
    asked = case.ask(TOKEN_IN_A.request(NO_ROOM), case.token)
    if asked.call.ret in UNKNOWN_ROOM:
        return say("room.unknown", ret=asked.call.ret)
    if asked.call.ret == 0:
        return say("room.odd", room_id=NO_ROOM)
    return answered("FAIL", asked, "no room given; to an unknown one: ")


def media_server(case: Case) -> Said:
    """Which media server the room has (A5)."""
    if case.read is None:
        return say("mcu.unasked")
    request = TOKEN_IN_A5.request(case.read)
    asked = case.ask(request, case.token)
    if asked.call.ret in (*REFUSED, 407):
        found = case.find(TOKEN_IN_A5, request, case.token)
        other = _other_name(case, TOKEN_IN_A5, found) if found.dialect else None
        if other:
            case.mcu = str((found.asked.members or {}).get("addr") or "") or None
            return other
    if asked.members is None:
        return answered("FAIL", asked, f"room {case.read}: ")
    try:
        case.mcu = needed(asked.members, "addr", "the media server")
    except ProtocolError as error:
        return Said("FAIL", error.said, error.advice)
    return say("mcu.named", room_id=case.read, address=case.mcu)


def media_server_tcp(case: Case) -> Said:
    """Whether the media server accepts a connection from here."""
    if case.mcu is None:
        return say("mcu.unknown")
    found = mcu_answers(case.mcu, max(0.01, min(MCU_SECONDS, case.patience[0], case.left)))
    return say("mcu.well" if found else "mcu.silent", reason=found.reason)
