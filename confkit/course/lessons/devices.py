"""Judges of options as they travel, verdicts, and cameras in and out of a room."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from urllib.parse import unquote, unquote_plus

from ...client import Client
from ...devices import import_device, list_devices, remove_device
from ...records import Room
from ...rooms import get_room_users
from ...rtsp.verdicts import VERDICTS
from ..judged import Function, Hints
from .rooms import trial_rooms
from .values import value

_LOGIN = {"login_name": "admin", "login_password": "50% & more"}
_BARE = re.compile(r"""[^!-~]|[ "<>\\^`{|}]|%(?![0-9A-Fa-f]{2})""")
_NOTICED = 10.0  # seconds in which a service notices that a camera on this machine is gone

verdicts = value("devices-verdicts", words=VERDICTS)


def options(answer: str, _: Any) -> Hints:
    """The parameter brings the login to the service as it is."""
    name, equals, value = answer.strip().lstrip("?&").partition("=")
    if equals and name != "options" and name.strip().lower() == "options":
        yield "The parameter's name is spelt options: small letters, no blank."
    if not equals or name != "options":
        yield "Begin with the parameter's name and a plain =, as in options=value."
    if "&" in value:
        yield "A bare & ends the parameter half way; & travels as %26."
    once = unquote_plus(value)
    found = _json(once)
    if _json(unquote(once)) == _LOGIN != found:
        yield "It is encoded twice: %257B arrives as %7B, which is no JSON."
    if isinstance(found, str):
        yield "A text that holds JSON arrives, not an object: it went through JSON twice."
    if once.lstrip().startswith("{'"):
        yield "This is Python's way to write a dict. JSON takes double quotes: json.dumps."
    if not isinstance(found, dict):
        yield "What arrives is not the JSON text of an object."
    if {"loginName", "loginPassword"} & set(found):
        yield "The keys are login_name and login_password, in snake_case: others are ignored."
    if set(found) != set(_LOGIN):
        yield "The object has the keys login_name and login_password, and no others here."
    if found != _LOGIN:
        yield "The keys are right, and the values are others: compare each letter of the login."
    if once == value:
        yield "This is right as JSON, and it is not percent-encoded yet."
    if _BARE.search(value):
        yield "It is only partly percent-encoded: leave all of it to your language's library."
    return "Exactly: JSON text, percent-encoded once."


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def seated(room: Room, client: Client) -> Hints:
    """A camera with a login is listed in it, is in it, and its stream flows."""
    devices, due = list_devices(client), f"cam-{room.room_id}"
    here = {device.user_id: device for device in devices if device.room_id == room.room_id}
    if not here:
        where = "Those that are listed are in other rooms." if devices else "None is listed at all."
        yield f"No device is listed in this room (B3). {where}"
    if due not in here:
        yield f"The device is there and is called otherwise; the user id {due} is asked for."
    if not all((here[due].options or {}).get(name) for name in _LOGIN):
        yield "The device is there, and was imported without login_name and login_password."
    streams = client.sandbox.streams(room.room_id)
    live = {stream.user_id for stream in streams if stream.state == "live"}
    if due not in live & _present(client, room.room_id):
        yield "It is in the list (B3) and not in the room (A6): its stream is down just now."
    return "In the list, in the room, and its stream flows. Remove it when you are done."


def missing(function: Function, client: Client) -> Hints:
    """Of two cameras it names the one that was unplugged, once it is."""
    with trial_rooms(client, "two cameras") as (room_id,):
        urls = [client.sandbox.camera(size=(160, 120), fps=5) for _ in range(2)]
        here, gone = (
            import_device(client, room_id, f"exercise-{place}", "Camera", url)
            for place, url in enumerate(urls)
        )
        early = _ids(function(room_id))
        if early:
            yield "Both cameras of a room play, and your function misses some."
        client.sandbox.unplug(urls[1])
        deadline = time.monotonic() + _NOTICED
        while gone.user_id in _present(client, room_id):
            if time.monotonic() > deadline:
                yield "The sandbox did not notice in time that a camera went; try again."
            time.sleep(0.05)
        late = _ids(function(room_id))
        for device in (here, gone):
            remove_device(client, device)
        client.sandbox.unplug(urls[0])
    if early is None or late is None:
        yield "User ids are asked for, which are texts: device.user_id, not the whole device."
    elif late == {here.user_id, gone.user_id}:
        yield "It names every device of the list (B3); take away those who are in A6."
    elif gone.user_id not in late:
        yield "A camera was unplugged: B3 still lists it, A6 does not, and it is not named."
    elif late != {gone.user_id}:
        yield "It names others than the camera that was unplugged."
    return "Exactly the camera that was unplugged: in the list, and not in the room."


def _present(client: Client, room_id: str) -> set[str]:
    return {user.user_id for user in get_room_users(client, room_id)}


def _ids(found: Any) -> set[str] | None:
    """Return the user ids that a function gave; None where these are no texts."""
    if found is None or isinstance(found, str):
        return {found} if found else set()
    try:
        ids = set(found)
    except TypeError:
        return None
    return ids if all(isinstance(one, str) for one in ids) else None
