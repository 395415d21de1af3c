"""A doctor's checks of what the keys and the token open: the clocks, the login, interfaces A and B,
one room and its media server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..devices import devices_of
from ..endpoints import A3, A5, B2, B3, Endpoint
from ..errors import ApiError, ConfkitError, ProtocolError, TransportError
from ..records import Room, needed
from ..wire import Request, token_parameter
from .case import NO_ROOM, Case, Said, fails, passes, says, skips, unknown
from .inquiry import NOT_SUPPORTED, QUESTIONS, REFUSED, UNKNOWN_ROOM, Found, nobody
from .logins import Candidate, Tried, signatures, slips
from .network import mcu_answers

if TYPE_CHECKING:
    from ..attempt import Attempt

MOST_SKEW = 5.0  # seconds that do no harm; the Date header has whole ones
MCU_SECONDS = 2.0
_NOBODY = (0, 401, 425, *UNKNOWN_ROOM)  # what B2 may answer without a look at the token
_CLOSED = 3  # room_status, as seen in deployments
_GIVE_ROOM = "confkit doctor ROOM."


def clock(case: Case) -> Said:
    """Whether this machine's clock and the service's agree, by the Date header of its answers."""
    if not case.skews:
        return unknown(
            "the service's answers hold no Date header, by which to tell",
            "Compare the clocks by hand (timedatectl) when logins fail or tokens end early.",
        )
    skew = min(case.skews, key=abs)  # the quickest answer tells best
    if abs(skew) <= MOST_SKEW:
        agree = f"this machine and the service agree within {MOST_SKEW:g} s (Date header)"
        return passes(agree)
    return fails(
        f"this machine is {_duration(skew)} {'behind' if skew > 0 else 'ahead of'} the service, by "
        "the Date header; the interface shows no time in its signatures, so it should matter only "
        "for how long a token lives, and for certificates (assumed)",
        "Set the clock that is wrong by a time server (NTP), here or there.",
    )


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
        asked = case.ask(Request(A3, {"room_id": NO_ROOM}), case.held)
        if _accepted(asked):
            case.token = case.held
            return skips(
                "no login was made: this client holds a token that is still accepted, and a login "
                "may end it (where a service keeps one token a key; assumed)",
                "To try the keys too, run it with a client that has not called yet, as confkit "
                "doctor does.",
            )
        if asked.call.ret not in REFUSED:
            held = "no login was made: this client holds a token, which a login may end, and "
            return unknown(*says(asked, f"{held}whether it is still accepted cannot be told: "))
    if case.logins.bound == 0:
        return unknown(
            "no login was made: any login may fail, and max_failed_logins is 0",
            "Allow one: max_failed_logins=1 (--max-failed-logins 1).",
        )
    keys = case.client.access_key, case.client.secret_key
    usual, *others = signatures(*keys, case.client.dialect)
    tried = case.logins.first([usual, *slips(*keys, case.client.dialect), *others])
    for login in tried.logins:
        case.secrets += [login.candidate.digest, login.token or ""]
    last = tried.logins[-1]
    case.token = last.token
    if last.came == "refused":
        return _refused(case, tried)
    if last.came == "unclear":
        before = "A1 says nothing of the keys: "
        if len(tried.logins) > 1:
            before = "A1 refused the keys as they are; asked then with "
            before += f"{_listed([last.candidate])}, "
        silent = isinstance(last.error, TransportError)
        return (unknown if silent else fails)(*says(last, before))
    if last is tried.logins[0]:
        return passes("A1 accepts the keys, with the signature of the dialect")
    return _mended(case, last.candidate)


def _accepted(asked: Attempt) -> bool:
    """Whether what A3 answers shows that the token was accepted."""
    return asked.call.ret in (0, *UNKNOWN_ROOM, 416)


def _mended(case: Case, right: Candidate) -> Said:
    client = case.client
    if right.slip:
        case.settled = True
        settings = ("access_key", "secret_key")
        slipped = [name for name in settings if getattr(right, name) != getattr(client, name)]
        return fails(
            f"A1 refuses the keys as they are, and accepts them without this slip: {right.what}",
            f"Set {' and '.join(slipped)} again, without it{_places(case, slipped)}.",
        )
    names = ("hash", "signature")
    wanted = {name: str(getattr(right.dialect, name)) for name in names}
    changed = {
        name: wanted[name] for name in names if wanted[name] != getattr(client.dialect, name)
    }
    form = "hex text" if right.dialect.signature == "hex" else "raw bytes"
    return case.wrong(
        "your secret is right, but this deployment wants its signature in another way: "
        f"HMAC-{right.dialect.hash.upper()} as {form}",
        **changed,
    )


def _places(case: Case, settings: Sequence[str] = ("access_key", "secret_key")) -> str:
    origins = dict.fromkeys(case.client.origins.get(setting, "") for setting in settings)
    known = ", ".join(filter(None, origins))
    return f" ({known})" if known else ""


def _refused(case: Case, tried: Tried) -> Said:
    error = tried.logins[-1].error
    found = f"A1 refuses the keys ({error.ret if isinstance(error, ApiError) else 'no code'})"
    if len(tried.logins) > 1:
        found += f"; refused as well: {_listed([login.candidate for login in tried.logins[1:]])}"
    if tried.open:
        bound = f"as {case.logins.bound} failed logins are the bound"
        found += f"; not tried, {bound}: {_listed(tried.open)}"
    else:
        found += "; no hash or form of the signature is left, so most likely a key is wrong"
    found += f"; logins that failed: {case.logins.failed}"
    for setting in ("access_key", "secret_key"):
        if not getattr(case.client, setting).isascii():
            found += f"; {setting} holds letters beyond ASCII, which may have been pasted with it"
    skew = min(case.skews, key=abs, default=0.0)
    if abs(skew) > MOST_SKEW:
        found += f"; the clocks are {_duration(skew)} apart, which should not matter (assumed)"
    steps = (
        f"Compare both keys{_places(case)} with those of the provider. See whether access_key and "
        "secret_key have changed places: that was not tried, as it would send the secret in a URL."
    )
    if tried.open:
        steps += (
            " Ask the provider for hash and form of the signature, or allow more logins to fail "
            "(--max-failed-logins), where accounts do not lock."
        )
    return fails(found, steps)


def _listed(candidates: Sequence[Candidate]) -> str:
    return ", ".join(
        f"the keys mended, as {one.what}" if one.slip else one.what for one in candidates
    )


def token_in_a(case: Case) -> Said:
    """Whether interface A accepts the token, and under which name."""
    found = case.find(Request(A3, {"room_id": case.some_room}), case.token)
    ret = found.asked.call.ret
    if found.dialect:
        return _other_name(case, A3, found) or passes("get room (A3) accepts the token")
    if ret is None:
        return fails(*says(found.asked))
    if ret in REFUSED:
        return fails(
            f"A1 made the token, and A3 does not accept it ({ret}) under any known name",
            "Run confkit probe, and ask the operator whether both are the same service: behind a "
            "balancer one may not know the other's tokens.",
        )
    return unknown(*says(found.asked, "whether A3 looked at the token: "))


def _other_name(case: Case, endpoint: Endpoint, found: Found) -> Said | None:
    """The failure where an operation reads the token under another name than the dialect's."""
    setting, used = QUESTIONS[endpoint.key].setting, token_parameter(endpoint, case.dialect)
    name = str(getattr(found.dialect, setting))
    if name == used:
        return None
    refused = f"{endpoint.key} does not take the token as {used} ({found.first.call.ret})"
    return case.wrong(f"{refused}, and takes it as {name}", **{setting: name})


def token_in_b(case: Case) -> Said:
    """Whether interface B accepts the token; notes the rooms that it tells of."""
    asked = case.ask(Request(B3, {}), case.token)
    if asked.members is None:
        found, step = says(asked, "list external users (B3): ")
        if asked.call.ret in (*REFUSED, NOT_SUPPORTED):
            step = (
                "A accepted the token, so see that outgoing_url belongs to the same service; then "
                "let confkit probe find out how this deployment takes B3 (method, placement)."
            )
        return fails(found, step)
    try:
        devices = devices_of(asked.members)
    except ProtocolError as error:
        return fails(
            f"B3 accepts the token, and its answer cannot be read: {error}",
            "Run confkit probe: it finds out how this deployment writes its lists.",
        )
    case.room_ids = list(dict.fromkeys(device.room_id for device in devices))
    listed = f"{len(devices) or 'no'} {'device is' if len(devices) == 1 else 'devices are'} listed"
    return passes(f"B3 accepts the token; {listed}")


def token_in_b2(case: Case) -> Said:
    """Whether B2 accepts the token, by the removal of a user who is not there: the answer is
    another one without a token."""
    if case.client.read_only:
        return unknown(
            "not asked: B2 is a change, and this client is read only",
            "Run it with a client that may change something: all that it asks B2 for is to remove "
            "a user who is not there.",
        )
    found = case.find(nobody(case.new_id(), case.new_id()), case.token)
    asked, ret = found.asked, found.asked.call.ret
    if found.dialect:
        name = found.dialect.remove_token_parameter
        well = passes(f"delete external user (B2) takes the token as {name}")
        return _other_name(case, B2, found) or well
    if ret is None:
        return fails(*says(asked))
    if ret == 602:
        return fails(
            f"A accepts the token, and B2 does not ({ret}) under any known name",
            "Where B3 does not accept it either, see that outgoing_url belongs to the same "
            "service; otherwise ask the provider what the token is called in B2 "
            "(destroyOutgoingUser), and set that as remove_token_parameter of the dialect.",
        )
    why, step = says(asked, "whether B2 looked at the token cannot be told: ")
    if ret in _NOBODY:
        step = "Run confkit probe: it asks B2 in a room that it creates, and deletes again."
    return unknown(why, step)


def room(case: Case) -> Said:
    """Whether a room can be read: the given one, or one that is known of."""
    if case.room_id is not None:
        asked = case.ask(Request(A3, {"room_id": case.room_id}), case.token)
        if asked.call.ret in UNKNOWN_ROOM:
            gone = f"the service has no room {case.room_id} ({asked.call.ret})"
            return fails(gone, says(asked)[1])
        return _read(case, case.room_id, asked, "")
    for room_id, source in _known(case):
        asked = case.ask(Request(A3, {"room_id": room_id}), case.token)
        if asked.call.ret not in UNKNOWN_ROOM:  # it may be gone meanwhile
            return _read(case, room_id, asked, f", {source}")
    asked = case.ask(Request(A3, {"room_id": NO_ROOM}), case.token)
    if asked.call.ret in UNKNOWN_ROOM:
        return passes(
            f"no room given; an unknown one is told as {asked.call.ret}",
            f"Give a room, and its media server is looked at too: {_GIVE_ROOM}",
        )
    if asked.call.ret == 0:
        odd = f"no room given, and A3 found one under the made-up number {NO_ROOM}"
        return unknown(odd, f"Give a room: {_GIVE_ROOM}")
    return fails(*says(asked, "no room given; to an unknown one: "))


def _known(case: Case) -> Iterator[tuple[str, str]]:
    """Rooms to try, a few: those of this client, then those with devices."""
    yield from ((room_id, "which this client made") for room_id in case.created[-1:])
    yield from ((room_id, "which has a device (B3)") for room_id in case.room_ids[:2])


def _read(case: Case, room_id: str, asked: Attempt, source: str) -> Said:
    if asked.members is None:
        return fails(*says(asked, f"room {room_id}{source}: "))
    try:
        found = Room.read(asked.members, room_id)
    except ConfkitError as error:
        return fails(f"room {room_id}{source} cannot be read: {error}")
    case.read = room_id
    read = f"room {room_id}{source}, was read: {found.topic!r}"
    if found.room_status != _CLOSED:
        return passes(read)
    return passes(
        f"{read}; it is closed (room_status 3, seen in deployments)",
        "Nobody can join it any more: take another room, or create one.",
    )


def media_server(case: Case) -> Said:
    """Which media server the room has (A5)."""
    if case.read is None:
        why = "because no room is known, and A5 needs one"
        return skips(why, f"Give a room: {_GIVE_ROOM}")
    request = Request(A5, {"room_id": case.read})
    asked = case.ask(request, case.token)
    if asked.call.ret in (*REFUSED, 407):
        found = case.find(request, case.token)
        other = _other_name(case, A5, found) if found.dialect else None
        if other:
            case.mcu = str((found.asked.members or {}).get("addr") or "") or None
            return other
    if asked.members is None:
        return fails(*says(asked, f"room {case.read}: "))
    try:
        case.mcu = needed(asked.members, "addr", "the media server")
    except ProtocolError as error:
        return fails(str(error))
    return passes(f"room {case.read} has the media server {case.mcu} (A5)")


def media_server_tcp(case: Case) -> Said:
    """Whether the media server accepts a connection from here."""
    if case.mcu is None:
        return skips("because no media server's address is known")
    found = mcu_answers(case.mcu, case.waits(MCU_SECONDS))
    if found:
        return passes(found.reason)
    return fails(
        found.reason,
        "Ask the operator whether it runs, whether its address is meant for this network, and "
        "whether it takes media over UDP alone.",
    )
