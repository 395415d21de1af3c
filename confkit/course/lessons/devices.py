"""The exercises of notebook 06: options as they travel, verdicts, a camera in a room."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Set
from typing import Any
from urllib.parse import unquote, unquote_plus

from ...devices import import_device, list_devices, remove_device
from ...rooms import create_room, delete_room, get_room, get_room_users
from ...rtsp.verdicts import VERDICTS
from ...sandbox.cameras.faults import FAULTS
from ..records import Exercise, Judged, no, yes

NOTEBOOK = "06-devices"
_LOGIN = {"login_name": "admin", "login_password": "50% & more"}
_BARE = re.compile(r"""[^!-~]|[ "<>\\^`{|}]|%(?![0-9A-Fa-f]{2})""")
_NOTICED = 10.0  # seconds in which a service notices that a camera on this machine is gone


def _options(answer: Any, _: Any) -> Judged:
    if not isinstance(answer, str):
        return no(f"It is a text, and this is of the type {type(answer).__name__}.")
    name, equals, value = answer.strip().lstrip("?&").partition("=")
    if equals and name != "options" and name.strip().lower() == "options":
        return no("The parameter's name is spelt options: small letters, no blank.")
    if not equals or name != "options":
        return no("Begin with the parameter's name and a plain =, as in options=value.")
    if "&" in value:
        return no("A bare & ends the parameter half way; & travels as %26.")
    once, twice = unquote_plus(value), unquote(unquote_plus(value))
    if _json(once) == _LOGIN:
        if once == value:
            return no("This is right as JSON, and it is not percent-encoded yet.")
        if _BARE.search(value):
            return no("It is only partly percent-encoded: blanks, quotes, braces and % travel "
                      "encoded too. Leave it to your language's library.")  # fmt: skip
        return yes("Exactly: JSON text, percent-encoded once.")
    if _json(twice) == _LOGIN:
        return no("It is encoded twice: %257B arrives as %7B, which is no JSON.")
    return no(_wrong_options(once))


def _wrong_options(text: str) -> str:
    """Why the text that arrives is not the options."""
    found = _json(text)
    if isinstance(found, str):
        return "A text that holds JSON arrives, not an object: it went through JSON twice."
    if not isinstance(found, dict):
        if text.lstrip().startswith("{'"):
            return "This is Python's way to write a dict. JSON takes double quotes: json.dumps."
        return "What arrives is not the JSON text of an object."
    if {"loginName", "loginPassword"} & set(found):
        return "The keys are login_name and login_password, in snake_case: others are ignored."
    if set(found) != set(_LOGIN):
        return "The object has the keys login_name and login_password, and no others here."
    return "JSON arrives with the right keys, and other values: compare each letter of the login."


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _verdicts(answer: Any, _: Any) -> Judged:
    if isinstance(answer, Set | Mapping):
        return no("A set has no order: hand in a list.")
    words = [str(word).strip().lower() for word in answer]
    if isinstance(answer, str) or len(words) != len(_DIALOGUES):
        return no(f"A list of {len(_DIALOGUES)} verdicts is asked for, one for each dialogue.")
    for number, (word, (right, why)) in enumerate(zip(words, _DIALOGUES, strict=True), start=1):
        if word not in right:
            count = sum(word in right for word, (right, _) in zip(words, _DIALOGUES, strict=True))
            told = _no_verdict(word) or _LOOK_ALIKE.get((number, word), why)
            return no(f"{count} of {len(words)} are right. Dialogue {number}: {told}.")
    return yes("All six: you can read a camera's mind from its status lines.")


def _no_verdict(word: str) -> str:
    """What else a word is that is no verdict; empty where it is one."""
    if word in VERDICTS:
        return ""
    if word in FAULTS:
        return f"{word} is the fault; its verdict is asked for (second column of the zoo)"
    return "this is none of the verdicts (second column of the zoo)"


_LOOK_ALIKE = {
    (2, "auth_locked"): "auth_locked is where the camera says that it has shut the door; here it "
    "says no more than that this login is not taken",
}
_DIALOGUES = (
    (("not_rtsp",), "something answers, and not in RTSP: look at the first word of its answer"),
    (("auth_rejected",), "a login was given and was not taken; auth_required is where none was"),
    (("path_not_found",), "that code after DESCRIBE is what some cameras say instead of 404"),
    (("busy",), "the camera lets nobody else in at the moment; login and path were all right"),
    (("udp_blocked",), "all was accepted, and nothing came over UDP: somebody between the two"),
    (("refused",), "the host is there and says so; at this port nobody listens"),
)


def _seated(answer: Any, client: Any) -> Judged:
    if not isinstance(answer, str):
        return no("A room's number is a text.")
    sandbox = client.sandbox
    try:
        get_room(client, answer)
    except (LookupError, ValueError):
        return no("The sandbox has no room of this number; hand in what create_room gave you.")
    listed = list_devices(client)
    here = [device for device in listed if device.room_id == answer]
    if not here:
        where = "Those that are listed are in other rooms." if listed else "None is listed at all."
        return no(f"No device is listed in this room (B3). {where}")
    due = f"cam-{answer}"
    if due not in {device.user_id for device in here}:
        return no(f"The device is there and is called otherwise; the user id {due} is asked for.")
    known = {device.user_id for device in here if _has_login(device.options or {})}
    if due not in known:
        return no("The device is there, and was imported without login_name and login_password.")
    live = {stream.user_id for stream in sandbox.streams(answer) if stream.state == "live"}
    present = {user.user_id for user in get_room_users(client, answer)}
    if due not in known & live & present:
        return no("It is in the list (B3) and not in the room (A6): its stream is down just now.")
    return yes("In the list, in the room, and its stream flows. Remove it when you are done.")


def _has_login(options: Mapping[str, Any]) -> bool:
    return bool(options.get("login_name") and options.get("login_password"))


def _missing(answer: Any, client: Any) -> Judged:
    if not callable(answer):
        return no("A function is asked for: hand it in by its name, without brackets.")
    sandbox = client.sandbox
    room_id = create_room(client, "Exercise: two cameras", owner_id="course")
    try:
        urls = [sandbox.camera(size=(160, 120), fps=5) for _ in range(2)]
        both = [
            import_device(client, room_id, f"exercise-{place}", "Camera", url)
            for place, url in enumerate(urls)
        ]
        early = answer(room_id)
        if not _are_texts(early):
            return no(_TEXTS)
        if _ids(early):
            return no("Both cameras of a room play, and your function misses some.")
        sandbox.unplug(urls[1])
        gone, deadline = both[1].user_id, time.monotonic() + _NOTICED
        while gone in {user.user_id for user in get_room_users(client, room_id)}:
            if time.monotonic() > deadline:
                return no("The sandbox did not notice in time that a camera went; try again.")
            time.sleep(0.05)
        late = answer(room_id)
        for device in both:
            remove_device(client, device)
        sandbox.unplug(urls[0])
    finally:
        delete_room(client, room_id)
    if not _are_texts(late):
        return no(_TEXTS)
    found = _ids(late)
    if found == {gone}:
        return yes("Exactly the camera that was unplugged: in the list, and not in the room.")
    if found == {device.user_id for device in both}:
        return no("It names every device of the list (B3); take away those who are in A6.")
    if gone not in found:
        return no("A camera was unplugged: B3 still lists it, A6 does not, and it is not named.")
    return no("It names others than the camera that was unplugged.")


_TEXTS = "User ids are asked for, which are texts: device.user_id, not the whole device."


def _are_texts(found: Any) -> bool:
    if found is None or isinstance(found, str):
        return True
    return isinstance(found, Iterable) and all(isinstance(one, str) for one in found)


def _ids(found: Any) -> set[str]:
    return {found} if isinstance(found, str) else set(found or ())


EXERCISES = (
    Exercise(
        "devices-options", NOTEBOOK,
        "The parameter options as it stands in the URL of B1 (options=...), for the login name "
        "admin and the password 50% & more.",
        _options,
        """\
import json
from urllib.parse import quote

text = json.dumps({"login_name": "admin", "login_password": "50% & more"})
my_options = "options=" + quote(text, safe="")
""",
    ),
    Exercise(
        "devices-verdicts", NOTEBOOK,
        "Which verdict has each of the six dialogues? A list of six names, as the column verdict "
        "of the fault zoo calls them.",
        _verdicts,
        """\
my_verdicts = [
    "not_rtsp", "auth_rejected", "path_not_found", "busy", "udp_blocked", "refused",
]
""",
    ),
    Exercise(
        "devices-seat", NOTEBOOK,
        "Make a camera that wants a login, seat it in a room of yours with the user id cam-NUMBER "
        "(the room's number), and hand in the number. The check looks at B3, at A6 and at the "
        "stream.",
        _seated,
        """\
login = {"login_name": "viewer", "login_password": "see-1357"}
url = client.sandbox.camera(**login)
my_seat = ck.create_room(client, "Exam", owner_id="course")
ck.import_device(client, my_seat, "cam-" + my_seat, "Exam", url, **login)  # the id is unique
""",
        needs_client=True,
    ),
    Exercise(
        "devices-missing", NOTEBOOK,
        "A function of a room's number that gives the user ids of the devices that are listed in "
        "it (B3) and are not in the room (A6). The check unplugs a camera meanwhile.",
        _missing,
        """\
def my_missing(room_id):
    listed = {device.user_id for device in ck.list_devices(client, room_id)}
    present = {user.user_id for user in ck.get_room_users(client, room_id)}
    return listed - present
""",
        needs_client=True,
    ),
)  # fmt: skip
