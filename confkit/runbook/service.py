"""Is it the keys, is it the media server, and does a deployment do what the interface says?"""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from ..checklist import Check
from ..connect import connect
from ..deployment import mcu_answers, service_answers
from ..deployment.doctor_order import doctor
from ..devices import NotInRoom, import_device, list_devices, remove_device
from ..endpoints import A3, A6, B2, B3
from ..errors import (
    ApiError,
    ConfkitError,
    MediaServerUnavailable,
    OutcomeUnknown,
    ProtocolError,
    RoomClosed,
    RoomNotFound,
    TokenRejected,
    TransportError,
    UserNotFound,
    explain,
)
from ..rooms import (
    create_room,
    delete_room,
    force_offline,
    get_mcu,
    get_room,
    get_room_users,
)
from ..wire import Request
from .inputs import to_set
from .rooms import find_rooms
from .steps import Finding, Steps

if TYPE_CHECKING:
    from ..client import Client

SPACES = "no white space stands around the keys and addresses"
HOLDS = "a token holds for several calls"
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
) -> Iterator[Check]:
    """Is it a rotated secret, white space, the signature, the clock, or tokens that end early?

    `noticed` about the settings by `connected()`; `failed_logins`: how many logins may fail, as
    accounts may lock; `wait`: seconds to let a token lie. With `apply` it logs in while a token is
    in use, which may end the token of a program that is running.
    """
    steps = Steps(client)
    spaces = [told for told in noticed if "white space" in told]
    if spaces:
        yield steps.failed(
            SPACES,
            "; ".join(spaces),
            "Set it again without: printf %s in place of echo, and no line end in the file. Then "
            "start the program that fails again.",
        )
    else:
        yield steps.passed(SPACES, "none was found")
    reader = copy(client)
    reader.read_only = True  # B2 is a change, so the doctor leaves it alone
    works = ["token in B"]
    for check in doctor(reader, max_failed_logins=failed_logins):
        yield steps.add(check)
        if check.verdict == "FAIL" and check.check != "clock":
            works.insert(0, check.check)
        if check.check == "token in B":
            break
    if (yield from steps.ready(HOLDS, works)):
        yield steps.told(HOLDS, _holds(client, wait, sleep))
    if (yield from steps.may_change(apply, SECOND)) and (yield from steps.ready(SECOND, works)):
        yield steps.told(SECOND, _second_login(client))


def _holds(client: Client, wait: float, sleep: Callable[[float], object]) -> Finding:
    """A client authenticates once; a token that ends at once costs a login for every call."""
    before = _logins(client)
    try:
        for pause in (0, wait, 0):
            sleep(pause)
            list_devices(client)
    except ConfkitError as error:
        return (
            "UNKNOWN",
            str(error),
            "Run it again; when it says so again, look at the service's log.",
        )
    logins = _logins(client) - before
    if logins > 1:
        return (
            "FAIL",
            f"3 calls needed {logins} logins",
            "See whether another program logs in with these keys, and ask the provider how long a "
            "token lives; let the program that fails renew it.",
        )
    return "PASS", f"3 calls, {logins} login"


def _logins(client: Client) -> int:
    return sum(call.endpoint == "A1" for call in client.calls)


def _second_login(client: Client) -> Finding:
    """Some services keep one token a key (assumed): two programs end each other's."""
    first = client.lent()  # keeps its token, and makes no other
    try:
        client.token(instead_of=client.token())
        list_devices(first)
    except TokenRejected:
        return (
            "FAIL",
            "the first token is refused after a second login",
            "Give each program an access key of its own, or let one of them hand out the token.",
        )
    except ConfkitError as error:
        return "UNKNOWN", str(error), error.advice
    return "PASS", "both tokens are accepted"


KEYS, ROOMS = "interface A takes the keys", "there are rooms to look at"
ONLINE = "rooms have a media server that is online (A7)"
GIVEN = "rooms are given a media server (A5)"
REACHED = "the media servers accept connections from here"
AFFECTED = "no room is affected"


def media_server_gone(
    client: Client, rooms: str = "", *, seconds: float = 2.0, apply: bool = False
) -> Iterator[Check]:
    """Which of 410, 417 and 428 is it, does the media server answer, and which rooms are affected?

    `rooms`: IDs or topics with commas between them, or a file of IDs; empty: all known rooms. It
    only reads (A3, A5, A6). 417 and 428 are answers of A7 alone, which removes a user: with `apply`
    it is sent for a user whom nobody has, before A5, which may give a room a media server.
    """
    steps = Steps(client)
    yield from steps.asked(
        KEYS,
        client.token,
        found="it gives a token",
        advice="Play the runbook authentication-fails first.",
    )
    found = yield from steps.asked(
        ROOMS,
        lambda: find_rooms(client, rooms),
        found=lambda ids: f"{len(ids)} rooms",
        needs=KEYS,
        fails=(),
    )
    room_ids = found or []
    answers: dict[str, ConfkitError] = {}
    if (yield from steps.may_change(apply, ONLINE)) and (yield from steps.ready(ONLINE, ROOMS)):
        answers = _errors(
            lambda one: force_offline(client, one, f"nobody-{uuid.uuid4()}"), room_ids
        )
        yield from _online(steps, answers)
    servers: dict[str, str] = {}
    refusals: dict[str, ConfkitError] = {}
    if (yield from steps.ready(GIVEN, ROOMS)):
        refusals = _errors(lambda one: servers.__setitem__(one, get_mcu(client, one)), room_ids)
        yield from _given(steps, servers, refusals)
    reached = [mcu_answers(address, seconds) for address in sorted(set(servers.values()))]
    silent = [answer for answer in reached if not answer]
    if not reached:
        yield steps.skipped(REACHED, "no address was given")
    elif silent:
        yield steps.unknown(
            REACHED,
            silent[0].reason,
            "Try it from the network of the people who complain, or on the service's own host; "
            "ask the operator whether that media server runs.",
        )
    else:
        yield steps.passed(REACHED, f"{len(reached)} of {len(reached)}")
    if (yield from steps.ready(AFFECTED, ROOMS)):
        closed = sum(isinstance(error, RoomClosed) for error in refusals.values())
        hit = {
            room_id: ", ".join(
                str(one.ret)
                for one in (answers.get(room_id), refusals.get(room_id))
                if isinstance(one, MediaServerUnavailable)
            )
            for room_id in room_ids
        }
        hit = {room_id: codes for room_id, codes in hit.items() if codes}
        if hit:
            yield steps.told(AFFECTED, _affected(client, hit, len(room_ids)))
        elif servers and len(servers) + closed == len(room_ids):
            by = "" if apply else ", by A5 alone"
            yield steps.passed(AFFECTED, f"{len(room_ids)} rooms asked{by}")
        else:
            yield steps.unknown(
                AFFECTED, "not all of them could be asked", "Look at the checks before this one."
            )


def _errors(ask: Callable[[str], object], room_ids: list[str]) -> dict[str, ConfkitError]:
    """The error of each room with which there was one."""
    errors = {}
    for room_id in room_ids:
        try:
            ask(room_id)
        except ConfkitError as error:
            errors[room_id] = error
    return errors


def _online(steps: Steps, answers: Mapping[str, ConfkitError]) -> Iterator[Check]:
    gone = {
        one: error.ret
        for one, error in answers.items()
        if isinstance(error, MediaServerUnavailable)
    }
    expected = (MediaServerUnavailable, UserNotFound, RoomClosed)
    others = [str(error) for error in answers.values() if not isinstance(error, expected)]
    for ret in sorted({ret for ret in gone.values() if ret is not None}):
        ids = [room_id for room_id in gone if gone[room_id] == ret]
        code = explain(ret, "A")
        yield steps.failed(ONLINE, f"{ret}, {code.meaning}: {', '.join(ids)}", code.advice)
    if others:
        yield steps.unknown(ONLINE, others[0], "Look at what the others say, then ask again.")
    if not gone and not others:
        yield steps.passed(ONLINE, f"{len(answers)} rooms asked; none said 417 or 428")


def _given(
    steps: Steps, servers: Mapping[str, str], refusals: Mapping[str, ConfkitError]
) -> Iterator[Check]:
    """A closed room (416) has no media server, and that is no fault."""
    gone = [error for error in refusals.values() if isinstance(error, MediaServerUnavailable)]
    others = {
        one: error
        for one, error in refusals.items()
        if not isinstance(error, MediaServerUnavailable | RoomClosed)
    }
    if gone:
        count = f"{len(gone)} of {len(servers) + len(refusals)} rooms"
        yield steps.failed(GIVEN, f"{gone[0].ret}, {gone[0].meaning}: {count}", gone[0].advice)
    if others:
        room_id, error = next(iter(others.items()))
        found = f"{len(others)} rooms could not be asked, such as {room_id}: {error}"
        yield steps.unknown(GIVEN, found, error.advice)
    if servers and not gone and not others:
        named = ", ".join(sorted(set(servers.values())))
        yield steps.passed(GIVEN, f"{len(servers)} rooms, media servers: {named}")
    if not servers and not gone and not others:
        yield steps.skipped(GIVEN, "all these rooms are closed")


def _affected(client: Client, hit: Mapping[str, str], count: int) -> Finding:
    """Name the rooms with their codes, and how many users are in them, where that can be read."""
    users, unread, names = 0, 0, []
    for room_id, codes in hit.items():
        name = room_id
        try:
            name = get_room(client, room_id).topic or room_id
            users += len(get_room_users(client, room_id))
        except ConfkitError:
            unread += 1
        names.append(f"{name} ({codes})")
    missed = f" ({unread} of them could not be read)" if unread else ""
    return (
        "FAIL",
        f"{len(hit)} of {count} rooms, with {users} users in them{missed}: {', '.join(names)}",
        "Tell the people in them, and the operator of the media server.",
    )


TOPIC, OWN = "confkit acceptance test, may be deleted", "confkit-acceptance"
IN_A = "interface A answers and takes the keys (A1)"
IN_B = "interface B answers and takes the token (B3)"
MADE, CHOSEN = "a room is made (A2)", "its ID is the one that was chosen"
BACK, FIELDS = "it is read back (A3)", "its fields are those that were given"
NAMED, SEATED = "its media server is named (A5)", "the camera is imported (B1)"
GONE = "nothing of this test is left (B2, A4)"
WHOLE = "the whole interface was tried"
_OTHER = "Tell the provider; programs written to the interface will misread it."


def deployment_acceptance(
    client: Client,
    *,
    camera: str = "",
    login_name: str = "",
    login_password: str | None = None,
    apply: bool = False,
) -> Iterator[Check]:
    """Does this deployment do what the interface says?

    Without `apply` it only reads, and the verdict is UNKNOWN at best. With it a room is made,
    asked everything that can be asked of a room, and deleted again, whatever happens in between.
    `camera`: the address of one that is imported into that room and removed again.
    """
    steps = Steps(client)
    for name, one in zip((IN_A, IN_B), service_answers(client), strict=True):
        yield steps.add(Check(name, one.verdict, one.found, one.advice))
    yield from _error_codes(steps, client)
    if (yield from steps.may_change(apply, MADE)) and (yield from steps.ready(MADE, IN_A)):
        login: dict[str, Any] = {"login_name": login_name or None, "login_password": login_password}
        yield from _life_of_a_room(steps, client, camera, login)
    optional = () if camera else (SEATED,)
    untried = [
        check
        for check, verdict in steps.verdicts.items()
        if verdict == "SKIP" and check not in optional
    ]
    if steps.verdicts[MADE] != "PASS":
        yield steps.unknown(
            WHOLE,
            "no room was made, so most of it was not",
            f"{to_set('apply', True)}, with a client that may write, once the other checks pass.",
        )
    elif untried:
        yield steps.unknown(
            WHOLE,
            f"these were not: {', '.join(untried)}",
            "Settle the checks that did not pass, then run it again.",
        )
    else:
        yield steps.passed(WHOLE, "with a camera" if camera else "but for a camera")


def _error_codes(steps: Steps, client: Client) -> Iterator[Check]:
    """A program that gets another code, or a success, in place of an error goes wrong later."""
    room, wrong = {"room_id": str(uuid.uuid4())}, "d3Jvbmc="
    unsigned = {**room, client.dialect.token_parameter: wrong}
    for check, request, code, needs in (
        ("an unknown room gives 404 (A3)", Request(A3, room), 404, IN_A),
        ("an unknown room has no users: 404 (A6)", Request(A6, room), 404, IN_A),
        ("a missing parameter gives 407 in A (A3)", Request(A3, {}), 407, IN_A),
        ("a wrong token gives 602 in A (A3)", Request(A3, unsigned), 602, IN_A),
        ("a wrong token gives 602 in B (B3)", Request(B3, {"accessToken": wrong}), 602, IN_B),
    ):
        ask = partial(client.send, request)
        yield from steps.refused(check, ask, code, advice=_OTHER, needs=needs)


def _life_of_a_room(
    steps: Steps, client: Client, camera: str, login: dict[str, Any]
) -> Iterator[Check]:
    """Make a room, read it back, ask it everything, import the camera, and remove both. The ID is
    chosen here, so that the room is found even when the answer to its creation is lost."""
    chosen = room_id = str(uuid.uuid4())
    given: dict[str, Any] = {"topic": TOPIC, "owner_id": OWN, "attendee_max": 5}

    def seat() -> object:
        return import_device(
            client, room_id, OWN, "acceptance camera", camera, verify=True, **login
        )

    try:
        made = yield from steps.asked(
            MADE,
            lambda: create_room(client, **given, room_extend_id=chosen),
            fails=(ApiError, ProtocolError),
        )
        room_id = made or chosen
        if (yield from steps.ready(CHOSEN, MADE)):
            if room_id == chosen:
                yield steps.passed(CHOSEN, "it is")
            else:
                lost = "A room whose creation is not answered is lost."
                yield steps.failed(CHOSEN, f"it is {room_id}", f"{_OTHER} {lost}")
        room = yield from steps.asked(
            BACK,
            lambda: get_room(client, room_id),
            needs=MADE,
            found=lambda room: f"topic {room.topic!r}",
        )
        if (yield from steps.ready(FIELDS, BACK)):
            wanted = {**given, "room_mode": 1}
            other = {
                name: getattr(room, name) for name in wanted if getattr(room, name) != wanted[name]
            }
            if other:
                yield steps.failed(FIELDS, f"other than given: {other}", _OTHER)
            else:
                yield steps.passed(FIELDS, ", ".join(wanted))
        yield from steps.asked(
            "its users are listed (A6)",
            lambda: get_room_users(client, room_id),
            needs=MADE,
            found=lambda users: f"{len(users)} users",
        )
        address = yield from steps.asked(
            NAMED, lambda: get_mcu(client, room_id), needs=MADE, found=str
        )
        reach = "the media server accepts connections from here"
        if (yield from steps.ready(reach, NAMED)) and address:
            answer = mcu_answers(address)
            if answer:
                yield steps.passed(reach, answer.reason)
            else:
                yield steps.unknown(reach, answer.reason, "Try it from the participants' network.")
        yield from steps.refused(
            "removing somebody who is not there is refused (A7)",
            lambda: force_offline(client, room_id, OWN),
            429,
            428,
            advice=_OTHER,
            needs=MADE,
        )
        yield from steps.asked(
            "its devices are listed (B3)",
            lambda: list_devices(client, room_id),
            needs=(MADE, IN_B),
            found=lambda devices: f"{len(devices)} devices",
        )
        yield from steps.refused(
            "a missing parameter gives 401 in B (B2)",
            lambda: client.send(Request(B2, {"roomId": room_id})),
            401,
            advice=_OTHER,
            needs=(MADE, IN_B),
        )
        if camera:
            yield from steps.asked(
                SEATED,
                seat,
                needs=(MADE, IN_B),
                fails=(ApiError, NotInRoom),
                found="it is listed in B3 and A6",
            )
            yield from steps.refused(
                "a second import of it is refused: 423 (B1)", seat, 423, advice=_OTHER, needs=SEATED
            )
            yield from steps.asked(
                "it is removed again (B2)",
                lambda: remove_device(client, room_id, OWN),
                needs=SEATED,
                found="it is no longer listed",
            )
        else:
            yield steps.skipped(
                SEATED, "no camera is given", f"{to_set('camera', 'rtsp://host:554/path')}."
            )
    finally:
        yield _undone(steps, client, room_id, bool(camera))
    yield from steps.refused(
        "a deleted room gives 404 (A3)",
        lambda: get_room(client, room_id),
        404,
        advice=_OTHER,
        needs=(MADE, GONE),
    )


def _undone(steps: Steps, client: Client, room_id: str, camera: bool) -> Check:
    """Remove the camera and delete the room, each whether or not the other works."""
    left: dict[str, ConfkitError] = {}
    made = steps.verdicts.get(MADE) == "PASS"
    # An import that was interrupted left no verdict, and perhaps a camera.
    if made and camera and steps.verdicts[IN_B] == "PASS":
        try:
            for device in list_devices(client, room_id):
                remove_device(client, room_id, device.user_id, device.user_address)
        except ConfkitError as error:
            left["the camera"] = error
    try:
        delete_room(client, room_id)
    except RoomNotFound as error:
        if made:
            left["the room"] = error
    except ConfkitError as error:
        left["the room"] = error
    if not left:
        return steps.passed(GONE, "camera and room" if made else "no room has the ID chosen here")
    silent = all(isinstance(error, TransportError | OutcomeUnknown) for error in left.values())
    found = "; ".join(f"{what}: {error}" for what, error in left.items())
    advice = f"Remove it by hand; the room's ID is {room_id}."
    return (steps.unknown if silent else steps.failed)(GONE, found, advice)
