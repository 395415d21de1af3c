"""Runbooks about the service: its keys, its media servers, and its acceptance."""

import copy
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from ..checks import Check
from ..client import Client
from ..deployment import CHECKS, checkup
from ..deployment.probe import FAULTS
from ..devices import NotInRoom, import_device, list_devices, remove_device
from ..diagnosis.calls import preflight_line
from ..errors import ApiError, ConfigError, ConfkitError, RoomClosed, TransportError, UserNotFound
from ..occupancy.known import known_rooms
from ..operations import A3, A6, A7, B2, B3, Operation
from ..records import Device
from ..rooms import get_mcu, get_room, get_room_users
from ..secret import SecretAddress
from ..text import counted
from .rooms import ask_media_server, camera_login, media_server, trial_room
from .steps import NO_TOKEN, Checking, Checks, Finding, ask, is_answer, may_change, shorten, split

_DEVIATION = "Tell the provider: programs written to the interface will misread it."
_OWNER = "confkit-acceptance"
_ROOM = {
    "topic": "confkit acceptance test, may be deleted",
    "owner_id": _OWNER,
    "attendee_max": 5,
    "room_mode": 1,
}


def authentication_fails(client: Client) -> Checks:
    """Authentication fails: is it the keys, the signature, the clock, or tokens that end early?

    Run it with the keys of the program that fails. It reads, and lets at most 2 logins fail, as
    accounts may lock.
    """
    if (yield from _token_works(client)):
        yield from ask("Token lifetime", lambda: _tokens_needed(client))


def _token_works(client: Client) -> Checking[bool]:
    """Yield the doctor's checks of addresses, keys and token; return whether calls can be made."""
    reader = copy.copy(client)  # with the same token and session
    reader.read_only = True  # so that the doctor sends no B2
    failed, last = False, "Token in B"
    for check in islice(checkup(reader), CHECKS.index(last) + 1):
        if check.name == last:  # leave out that B2 was skipped
            check = replace(check, detail=check.detail.partition(";")[0])
        yield check
        failed |= check.outcome == "FAIL" and check.name != "Clock"
    return check.outcome == "PASS" and not failed


def _tokens_needed(client: Client) -> str | Finding:
    tokens = []
    for _ in range(3):
        list_devices(client)
        tokens.append(client.token())
    number = len(set(map(id, tokens)))  # as a service may issue the same text again
    detail = f"3 calls needed {counted(number, 'token')}"
    advice = "See whether another program uses these keys; ask the provider how long tokens live."
    return detail if number < 3 else ("FAIL", detail, advice)


def media_server_gone(client: Client, rooms: Sequence[str] = "", *, apply: bool = False) -> Checks:
    """The media server is gone: is it 410, 417 or 428, and which rooms are affected?

    `rooms`: IDs as a list or with commas between them; empty: all with devices. It reads (A5). 417
    and 428 are answers of A7 alone: with `apply` that is sent for a user who does not exist, before
    A5, which may assign a media server (assumed).
    """
    ids = yield from ask("Rooms", lambda: _room_ids(client, rooms), shorten)
    if ids is None:
        return
    if (yield from may_change(client, apply, "Media servers online (A7)")):
        # Not force_offline, which takes a user who is absent after a lost response as removed.
        remove = partial(client.call, A7, user_id=f"nobody-{uuid.uuid4()}")
        yield from _ask_each("Media servers online (A7)", remove, ids)
    addresses = yield from _ask_each("Media servers (A5)", partial(get_mcu, client), ids)
    yield from map(media_server, dict.fromkeys(addresses))


def _room_ids(client: Client, rooms: Sequence[str]) -> list[str]:
    client.token()  # so that wrong keys are refused once, and not for each check
    ids = split(rooms) or list(known_rooms(client).room_id)
    if not ids:
        advice = "Set rooms (-p rooms=...) to room IDs, with commas between them."
        raise ConfigError("no rooms are given, and no room with devices is known", advice)
    return ids


def _ask_each(name: str, question: Callable[..., Any], ids: list[str]) -> Checking[list[Any]]:
    """Ask for each room, until the service cannot be reached; return the answers. A closed room
    (416), which has no media server, and an absent user (A7) are no fault."""
    answers, errors = list[Any](), dict[str, ConfkitError]()
    for room_id in ids:
        try:
            answers.append(question(room_id=room_id))
        except UserNotFound:
            answers.append(None)
        except RoomClosed:
            continue
        except ConfkitError as error:
            errors[room_id] = error
            if isinstance(error.__cause__ or error, (TransportError, *NO_TOKEN)):
                break
    if errors:
        advice = {error.summary: error.advice for error in errors.values()}
        count = f"{len(errors)} of {counted(len(ids), 'room')}"
        detail = f"{'; '.join(advice)} ({count}: {shorten(errors)})"
        if rest := ids[ids.index(room_id) + 1 :]:
            detail += f"; {counted(len(rest), 'room')} not asked"
        failed = any(map(is_answer, errors.values()))
        yield Check(name, "FAIL" if failed else "UNKNOWN", detail, " ".join(advice.values()))
    elif answers:
        yield Check(name, "PASS", f"none is missing in {counted(len(answers), 'room')}")
    else:
        yield Check(name, "UNKNOWN", "all rooms are closed", "Set rooms to one that is open.")
    return answers


def deployment_acceptance(
    client: Client, *, camera: str = "", login_name: str = "", apply: bool = False
) -> Checks:
    """Acceptance of a deployment: does it do what the interface says?

    It reads, and its verdict is UNKNOWN at best; with `apply` it creates a room, asks what can be
    asked of one, and deletes it. `camera`: an address that is imported into that room and removed;
    the password for its `login_name` is taken from CONFKIT_CAMERA_PASSWORD, or asked for.
    """
    if not (yield from _token_works(client)):
        return
    room = {"room_id": str(uuid.uuid4())}
    wrong = "d3Jvbmc="
    unsigned = {**room, client.dialect.token_parameter: wrong}
    # A service may check token, parameters and room in any order.
    yield from _ask_refused(client, "Unknown room (A3)", A3, room, 404)
    yield from _ask_refused(client, "Users of an unknown room (A6)", A6, room, 404)
    yield from _ask_refused(client, "Missing parameter (A3)", A3, {}, 407, 404)
    yield from _ask_refused(client, "Wrong token (A3)", A3, unsigned, 602, 404)
    yield from _ask_refused(client, "Wrong token (B3)", B3, {"accessToken": wrong}, 602)
    login = camera_login(login_name)
    steps = partial(_ask_about_room, client, camera=camera, login=login)
    if (yield from may_change(client, apply, "New room (A2)", "UNKNOWN")):
        yield from trial_room(client, steps, **_ROOM)


def _ask_refused(
    client: Client, name: str, operation: Operation, parameters: dict[str, str], *codes: int
) -> Checks:
    """Yield PASS where this is answered with one of these codes, FAIL for another answer, and
    UNKNOWN where the service could not look."""

    def refusal() -> str | Finding:
        try:
            client.call(operation, **parameters)
            summary = "success"
        except ApiError as error:
            summary = error.summary
            if error.ret in codes:
                return summary
            if error.ret in FAULTS:
                raise
        return "FAIL", f"{summary}, expected {' or '.join(map(str, codes))}", _DEVIATION

    yield from ask(name, refusal)


def _ask_about_room(client: Client, room_id: str, camera: str, login: dict[str, Any]) -> Checks:
    def compare() -> str | Finding:
        room = get_room(client, room_id)
        values = {name: getattr(room, name) for name in _ROOM}
        if values == _ROOM:
            return "as created"
        return "FAIL", f"not as created: {values}", _DEVIATION

    yield from ask("Room (A3)", compare)
    yield from ask_media_server(client, "Media server (A5)", room_id)
    yield from ask("Users (A6)", lambda: counted(len(get_room_users(client, room_id)), "user"))
    absent = {"room_id": room_id, "user_id": _OWNER}
    yield from _ask_refused(client, "Removal of an absent user (A7)", A7, absent, 429, 428)
    yield from _ask_refused(client, "Missing parameter (B2)", B2, {"roomId": room_id}, 401, 425)
    if not camera:
        advice = "Set camera (-p camera=rtsp://host/path) to try one."
        yield Check("Camera import (B1)", "SKIP", "no camera is given", advice)
        return
    device = Device(room_id, _OWNER, "a camera", SecretAddress(camera), options=login)
    yield from ask(
        "Camera import (B1)",
        partial(import_device, client, device, verify=True),
        lambda _: "listed by B3 and A6",
        # The error's own may name the room, which is gone when it is read.
        advice=f"See whether the camera plays from here: {preflight_line(device)}",
        fails=(ApiError, NotInRoom),
    )
    yield from ask("Camera removal (B2)", lambda: _remove_all(client, room_id))


def _remove_all(client: Client, room_id: str) -> str:
    for device in list_devices(client, room_id):
        remove_device(client, device)
    return "no device is left"
