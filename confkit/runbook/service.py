"""Is it the keys, is it the media server, and does a deployment do what the interface says?"""

from __future__ import annotations

import copy
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..checks import Check
from ..connect import connect
from ..deployment import CHECKS, checkup
from ..devices import NotInRoom, import_device, list_devices, remove_device
from ..errors import (
    ApiError,
    ConfkitError,
    MediaServerUnavailable,
    RoomClosed,
    TokenRejected,
    UserNotFound,
)
from ..operations import A3, A6, B2, B3
from ..rooms import force_offline, get_mcu, get_room, get_room_users
from ..sweep import sweep
from ..text import counted
from .inputs import to_set
from .rooms import few, find_rooms, reached, trial_room
from .steps import Checking, Checks, Finding, asked, may_change, said, told

if TYPE_CHECKING:
    from ..client import Client
    from ..records import Room

SECOND = "a second login leaves the first one's token alone"


def connected(**given: Any) -> tuple[Client, list[str]]:
    """Return a client as `ck.connect` does, and what was noticed about its settings."""
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        return connect(**given), [str(one.message) for one in noticed]


def authentication_fails(
    client: Client,
    *,
    noticed: Sequence[str] = (),
    failed_logins: int = 2,
    wait: float = 0.0,
    apply: bool = False,
    sleep: Callable[[float], object] = time.sleep,
) -> Checks:
    """Is it a rotated secret, white space, the signature, the clock, or tokens that end early?

    `noticed` about the settings by `connected()`; `failed_logins`: how many logins may fail, as
    accounts may lock; `wait`: seconds to let a token lie. With `apply` it logs in while a token is
    in use, which may end the token of a program that is running.
    """
    spaces = "; ".join(told for told in noticed if "white space" in told)
    advice = "Set it again without (printf %s, not echo), and start the program that fails again."
    yield told(
        "no white space stands around the keys and addresses",
        ("FAIL", spaces, advice) if spaces else "none was found",
    )
    works = yield from _well(client, max_failed_logins=failed_logins)
    tried = (yield from may_change(client, apply, SECOND)) and works
    if not works:
        return

    def logins() -> int:
        return sum(call.endpoint == "A1" for call in client.calls)

    def held() -> int:
        before = logins()
        for pause in (0, wait, 0):
            sleep(pause)
            list_devices(client)
        return logins() - before

    def second() -> None:
        first = client.token()
        client.token(instead_of=first)
        _, result = client.ask_once(B3, token=first)
        if isinstance(result, ConfkitError):
            raise result

    # A client authenticates once; a token that ends at once costs a login for every call.
    yield from asked("a token holds for several calls", held, _held)
    if tried:  # some services keep one token a key (assumed): two programs end each other's
        alone = "Give each program an access key of its own, or let one of them hand out the token."
        both = "both tokens are accepted"
        yield from asked(SECOND, second, both, fails=TokenRejected, advice=alone)


def _well(client: Client, **options: Any) -> Checking[bool]:
    """The doctor's checks up to the token in B, of which only reads are sent; return whether what
    a call needs is well."""
    works = True
    for check in checkup(_read_only(client), **options):
        yield check
        works &= check.outcome != "FAIL" or check.name == "clock"
        if check.name == "token in B":
            return works and check.outcome == "PASS"
    return False


def _read_only(client: Client) -> Client:
    """Return a client that shares this one's token and session, and sends no change."""
    reader = copy.copy(client)
    reader.read_only = True
    return reader


def _held(logins: int) -> Finding:
    if logins < 2:
        return f"3 calls, {counted(logins, 'login')}"
    return (
        "FAIL",
        f"3 calls needed {logins} logins",
        "See whether another program logs in with these keys, and ask the provider how long a "
        "token lives; let the program that fails renew it.",
    )


ONLINE = "rooms have a media server that is online (A7)"


def media_server_gone(
    client: Client, rooms: str = "", *, seconds: float = 2.0, apply: bool = False
) -> Checks:
    """Which of 410, 417 and 428 is it, does the media server answer, and which rooms are affected?

    `rooms`: IDs or topics with commas between them, or a file of IDs; empty: all known rooms. It
    only reads (A3, A5, A6). 417 and 428 are answers of A7 alone, which removes a user: with `apply`
    it is sent for a user whom nobody has, before A5, which may give a room a media server.
    """
    advice = "Play the runbook authentication-fails first."
    if (
        yield from asked(
            "interface A takes the keys", client.token, "it gives a token", advice=advice
        )
    ) is None:
        return
    room_ids = yield from asked(
        "there are rooms to look at",
        lambda: find_rooms(client, rooms),
        lambda ids: counted(len(ids), "room"),
        fails=(),
    )
    hit: dict[str, ConfkitError] = {}
    servers: dict[str, None] = {}
    if not room_ids:
        return
    if (yield from may_change(client, apply, ONLINE)):
        remove = partial(force_offline, client, user_id=f"nobody-{uuid.uuid4()}")
        none = "none said 417 or 428"
        hit |= yield from _of_each(ONLINE, remove, room_ids, lambda: none, UserNotFound, RoomClosed)
    hit |= yield from _of_each(
        "rooms are given a media server (A5)",
        lambda room_id: servers.setdefault(get_mcu(client, room_id)),
        room_ids,
        lambda: f"media servers: {', '.join(servers) or 'none, all are closed'}",
        RoomClosed,  # which has none, and that is no fault
    )
    if servers:
        yield reached(servers, seconds)
    if hit:
        yield _affected(client, hit, len(room_ids))


def _of_each(
    check: str,
    ask: Callable[[str], object],
    room_ids: list[str],
    found: Callable[[], str],
    *fine: type[ConfkitError],
) -> Checking[dict[str, ConfkitError]]:
    """Ask this of each room; return what rooms without a media server answered."""
    gone: dict[str, ConfkitError] = {}
    others: dict[str, ConfkitError] = {}
    for room_id in room_ids:
        try:
            ask(room_id)
        except fine:
            pass
        except ConfkitError as error:
            (gone if isinstance(error, MediaServerUnavailable) else others)[room_id] = error
    amiss = gone or others
    count = f"{len(amiss) or len(room_ids)} of {counted(len(room_ids), 'room')}"
    if not amiss:
        yield Check(check, "PASS", f"{count} asked; {found()}")
        return gone
    answers = {said(error): error.advice for error in amiss.values()}
    text = f"{'; '.join(answers)}: {count}, {few(amiss)}"
    yield Check(check, "FAIL" if gone else "UNKNOWN", text, " ".join(answers.values()))
    return gone


def _affected(client: Client, hit: dict[str, ConfkitError], count: int) -> Check:
    """Name the rooms with their codes, and how many users are in them, where that can be read."""
    read = sweep(client, list(hit), progress=False).frame()
    users = read.users.astype("string").fillna("not known")
    rows = zip(read.topic.fillna(read.room_id), hit.values(), users, strict=True)
    named = few(f"{topic} ({getattr(why, 'ret', '')}, users: {n})" for topic, why, n in rows)
    found = f"{len(hit)} of {counted(count, 'room')}: {named}"
    return Check(
        "no room is affected",
        "FAIL",
        found,
        "Tell the people in them, and the media server's operator.",
    )


TOPIC, OWN = "confkit acceptance test, may be deleted", "confkit-acceptance"
MADE = "a room is made (A2)"
SEATED = "the camera is imported (B1)"
_OTHER = "Tell the provider; programs written to the interface will misread it."


def deployment_acceptance(
    client: Client,
    *,
    camera: str = "",
    login_name: str = "",
    login_password: str | None = None,
    apply: bool = False,
) -> Checks:
    """Does this deployment do what the interface says?

    Without `apply` it only reads, and the verdict is UNKNOWN at best. With it a room is made,
    asked everything that can be asked of a room, and deleted again, whatever happens in between.
    `camera`: the address of one that is imported into that room and removed again.
    """
    if not (yield from _well(client)):
        return
    room, wrong = {"room_id": str(uuid.uuid4())}, "d3Jvbmc="
    unsigned = {**room, client.dialect.token_parameter: wrong}
    for check, operation, parameters, code in (
        ("an unknown room gives 404 (A3)", A3, room, 404),
        ("an unknown room has no users: 404 (A6)", A6, room, 404),
        ("a missing parameter gives 407 in A (A3)", A3, {}, 407),
        ("a wrong token gives 602 in A (A3)", A3, unsigned, 602),
        ("a wrong token gives 602 in B (B3)", B3, {"accessToken": wrong}, 602),
    ):
        yield from _refused(check, partial(client.call, operation, **parameters), code)
    given: dict[str, Any] = {"topic": TOPIC, "owner_id": OWN, "attendee_max": 5, "room_mode": 1}
    login: dict[str, Any] = {"login_name": login_name or None, "login_password": login_password}

    def inside(room_id: str, chosen: str) -> Checks:
        yield from _life_of_a_room(client, room_id, {**given, "room_id": chosen})
        if camera:
            seat = partial(import_device, client, room_id, OWN, "a camera", camera, verify=True)
            yield from _life_of_a_camera(client, room_id, partial(seat, **login))
        else:
            yield Check(SEATED, "SKIP", "none is given", f"{to_set('camera', 'rtsp://host/path')}.")

    if (yield from may_change(client, apply, MADE, "UNKNOWN")):
        yield from trial_room(client, MADE, "nothing of this test is left (A4)", inside, **given)


def _refused(check: str, ask: Callable[[], object], *codes: int) -> Checks:
    """PASS where this is answered with one of these codes, UNKNOWN where no answer came. A program
    that gets another code, or a success, in place of an error goes wrong later."""
    due = f"where {' or '.join(map(str, codes))} is due"

    def refusal() -> Finding:
        try:
            ask()
        except ApiError as error:
            if error.ret in codes:
                return said(error)
            return "FAIL", f"{said(error)} {due}", _OTHER
        return "FAIL", f"it succeeded, {due}", _OTHER

    yield from asked(check, refusal, lambda finding: finding)


def _life_of_a_room(client: Client, room_id: str, given: dict[str, Any]) -> Checks:
    """Its own checks, and the doctor's that come after the token in B."""

    def same(room: Room) -> Finding:
        other = {name: it for name in given if (it := getattr(room, name)) != given[name]}
        return ("FAIL", f"other than given: {other}", _OTHER) if other else f"topic {room.topic!r}"

    yield from asked(
        "it is read back as it was given (A3)", lambda: get_room(client, room_id), same
    )
    checks = checkup(_read_only(client), room_id)
    yield from islice(checks, CHECKS.index("room"), CHECKS.index("finding"))
    yield from asked(
        "its users are listed (A6)",
        lambda: get_room_users(client, room_id),
        lambda users: counted(len(users), "user"),
    )
    nobody = "removing somebody who is not there is refused (A7)"
    yield from _refused(nobody, lambda: force_offline(client, room_id, OWN), 429, 428)
    incomplete = partial(client.call, B2, roomId=room_id)
    yield from _refused("a missing parameter gives 401 in B (B2)", incomplete, 401)


def _life_of_a_camera(client: Client, room_id: str, seat: Callable[[], object]) -> Checks:
    def unseat() -> None:
        for device in list_devices(client, room_id):
            remove_device(client, device)

    try:
        found = "it is listed in B3 and A6"
        if (yield from asked(SEATED, seat, found, fails=(ApiError, NotInRoom))) is not None:
            yield from _refused("a second import of it is refused: 423 (B1)", seat, 423)
    finally:
        yield from asked("it is removed again (B2)", unseat, "no device is listed")
