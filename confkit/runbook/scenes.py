"""What is wrong on a sandbox, for each runbook: people, cameras and faults, and the inputs then."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..devices import import_device
from ..dialect import Dialect
from ..errors import ConfkitError
from ..rooms import create_room, get_room_users
from ..secret import Secret
from .rooms import find_room
from .service import connected

if TYPE_CHECKING:
    from ..client import Client
    from ..sandbox import Sandbox

Inputs = dict[str, Any]
_ADMIN: dict[str, Any] = {"login_name": "admin", "login_password": Secret("desk-2468")}
_OTHER: dict[str, Any] = {**_ADMIN, "login_password": Secret("desk-1357")}
_SMALL: dict[str, Any] = {"size": (160, 96), "fps": 5}  # quickly encoded


def _nobody_can_join(sandbox: Sandbox, owner: Client, scene: str, _: Inputs) -> Inputs:
    room = create_room(
        owner,
        "Night shift",
        "ops",
        room_mode=3 if scene.startswith("peer-to-peer") else 1,
        attendee_max=2 if scene == "full" else 9,
        max_video=2 if scene == "full-of-video" else None,
    )
    for name in ("Ada", "Grace"):
        sandbox.join(room, name)
    _shut(sandbox, room, scene)
    sandbox.licence(
        expired=scene == "licence-expired",
        seats=2 if scene == "no-seats" else None,
        peer_to_peer=scene != "peer-to-peer-refused",
    )
    return {"room": room}


def _shut(sandbox: Sandbox, room: str, scene: str) -> None:
    if scene == "locked":
        sandbox.lock(room)
    if scene == "closed":
        sandbox.close_room(room)
    if scene == "media-server-gone":
        sandbox.stop_mcu()


def _force_user_offline(sandbox: Sandbox, owner: Client, scene: str, inputs: Inputs) -> Inputs:
    """A room that is given is used with those who are in it."""
    if given := inputs.get("room"):
        try:
            room, user = str(find_room(owner, given)), inputs.get("user", "")
        except ConfkitError:  # the runbook says what is wrong with it
            return {}
        return _back(sandbox, room, user) if scene == "comes-back" else {}
    room = create_room(owner, "Press briefing", "ops")
    if scene == "a-camera":
        import_device(owner, room, "cam-hall", "Hall", sandbox.camera(**_SMALL))
    for name in ("Ada", "Grace", "Guest", "Guest"):
        sandbox.join(room, name)
    names = {"two-of-that-name": "Guest", "a-camera": "Hall", "nobody": "Adda"}
    user = inputs.get("user") or names.get(scene, "Ada")
    again = _back(sandbox, room, user) if scene == "comes-back" else {}
    return {"room": room, "user": user, **again}


def _back(sandbox: Sandbox, room: str, user: str) -> Inputs:
    """A pause in which this user, an ID or a name, joins the room again once they are out."""
    there = sandbox.people(room)
    name = next((one["user_name"] for one in there if user == one["user_id"]), user)
    before = [one["user_name"] for one in there].count(name)

    def sleep(seconds: float) -> None:
        if [one["user_name"] for one in sandbox.people(room)].count(name) < before:
            sandbox.join(room, name)
        time.sleep(min(seconds, 0.1))

    return {"sleep": sleep}


def _authentication_fails(sandbox: Sandbox, owner: Client, scene: str, _: Inputs) -> Inputs:
    keys: Inputs = {
        name: getattr(owner, name)
        for name in ("base_url", "outgoing_url", "access_key", "secret_key")
    }
    changes: dict[str, Inputs] = {
        "rotated-secret": {"secret_key": "yesterdays-secret"},
        "white-space": {"secret_key": owner.secret_key + "\n"},
        "signature": {"dialect": Dialect(hash="sha256")},
    }
    if scene in changes:
        client, noticed = connected(**{**keys, **changes[scene]})
        return {"client": client, "noticed": noticed}
    if scene == "token-refused":
        sandbox.fault("/rtc/room/get", ret=602)
    if scene == "tokens-end":
        return {"sleep": lambda _: sandbox.advance(2 * 3600)}
    return {}


def _media_server_gone(sandbox: Sandbox, owner: Client, scene: str, _: Inputs) -> Inputs:
    topics = ("Weekly sync", "Lobby", "Empty room")
    weekly, lobby, empty = (create_room(owner, topic, owner_id="ops") for topic in topics)
    for room_id, name in ((weekly, "Ada"), (weekly, "Grace"), (lobby, "Alan")):
        sandbox.join(room_id, name)
    if scene == "unassigned":
        sandbox.unassign_mcu(weekly)
    if scene == "stopped":
        sandbox.stop_mcu()
    return {"rooms": ",".join((weekly, lobby, empty))}


def _deployment_acceptance(sandbox: Sandbox, _: Client, scene: str, __: Inputs) -> Inputs:
    if scene == "no-device-service":
        sandbox.device_service("stopped")
    if scene == "licence-expired":
        sandbox.licence(expired=True)
    return {"camera": sandbox.camera()} if scene == "healthy" else {}


def _camera_does_not_appear(sandbox: Sandbox, owner: Client, scene: str, _: Inputs) -> Inputs:
    url = sandbox.camera("front-desk", **_ADMIN, **_SMALL)
    room = create_room(owner, "Front desk", "ops", attendee_max=1 if scene == "full" else 9)
    inputs = {"room": room, "device": "cam-desk"}
    outside = scene in ("not-imported", "locked", "full", "closed", "media-server-gone")
    if outside:
        inputs |= {"address": url, **_ADMIN}
    else:
        import_device(owner, room, "cam-desk", "Front desk camera", url, **_ADMIN)
    if scene in ("reset", "password-changed", "moved"):
        sandbox.unplug(url)
        _until(lambda: not get_room_users(owner, room))
    sandbox.join(room, "Ada")
    if scene == "password-changed":
        sandbox.camera("front-desk", **_OTHER)
    if scene == "moved":
        inputs["address"] = sandbox.camera("front-desk-2", **_ADMIN, **_SMALL)
    _shut(sandbox, room, scene)
    return inputs


def _until(noticed: Callable[[], bool]) -> None:
    while not noticed():
        time.sleep(0.05)


def _bulk_camera_import(sandbox: Sandbox, owner: Client, scene: str, inputs: Inputs) -> Inputs:
    import pandas as pd

    if inputs.get("table"):
        return {}
    places = ["north", "south", "garage", "roof"]
    urls = []
    for place in places:
        other = scene == "one-does-not-play" and place == "garage"
        login = _OTHER if other else _ADMIN
        urls.append(sandbox.camera(place, **login, **_SMALL))
    doors = create_room(
        owner, "Doors", "ops", attendee_max=1 if scene == "a-room-is-too-small" else None
    )
    yard = create_room(owner, "Yard", "ops")
    if scene == "a-room-is-closed":
        sandbox.close_room(yard)
    rows = pd.DataFrame(
        {
            "room_id": [doors, doors, yard, yard],
            "user_id": [f"cam-{place}" for place in places],
            "user_name": [f"Camera {place}" for place in places],
            "user_address": urls,
            "login_name": "admin",
        }
    )
    if scene == "mistakes-in-the-table":
        rows.loc[1, "user_id"] = "cam-north"
        rows.loc[2, "user_address"] = "http://camera/picture.jpg"
    table = Path(tempfile.mkdtemp()) / "cameras.csv"
    rows.to_csv(table, index=False)
    return {"table": table, "login_password": _ADMIN["login_password"]}


def _stray_devices(sandbox: Sandbox, owner: Client, scene: str, _: Inputs) -> Inputs:
    room = create_room(owner, "Car park", "ops")
    for name in ("gate", "ramp", "roof"):
        url = sandbox.camera(name, **_SMALL)
        import_device(owner, room, f"cam-{name}", f"Camera {name}", url)
        if scene != "healthy" and name != "gate":
            sandbox.unplug(url)
    if scene == "healthy":
        return {}
    _until(lambda: len(get_room_users(owner, room)) < 2)
    if scene == "unreadable":
        sandbox.fault("/rtc/room/get", ret=700)
    return {"keep": "cam-roof"}


def _capacity_review(sandbox: Sandbox, _: Client, scene: str, inputs: Inputs) -> Inputs:
    import pandas as pd

    now = pd.Timestamp(sandbox.now(), unit="s", tz="UTC")
    if inputs.get("recording"):
        return {"now": now}
    days = 3 if scene == "three-days" else max(84, inputs.get("days", 30))  # a risk takes weeks
    past = sandbox.simulate(
        rooms=32,
        days=days,
        every=1800,
        until=(now - timedelta(days=40)).isoformat() if scene == "old" else None,
        seed=1,
        tz=inputs.get("tz", "UTC"),
        failures=0.001,
    )
    if scene != "one-too-small":
        full = past[past.users >= past.attendee_max].room_id.unique()
        past = past[~past.room_id.isin(full)]
    if scene == "one-room-unread":
        lost = past.room_id == past.room_id.iloc[0]
        past.loc[lost, ["users", "people", "devices", "attendee_max"]] = pd.NA
        past.loc[lost, "ret"] = 700
    if scene == "gaps":  # the recorder stood still for a week
        past = past[(past.time.dt.day < 10) | (past.time.dt.day > 16)]
    from ..occupancy.folder import save_occupancy  # needs pyarrow

    recording = tempfile.mkdtemp()
    save_occupancy(past, recording)
    return {"recording": recording, "now": now}


Build = Callable[["Sandbox", "Client", str, Inputs], Inputs]
SCENES: dict[str, tuple[Build, str]] = {
    "authentication-fails": (
        _authentication_fails,
        "rotated-secret white-space signature token-refused tokens-end healthy",
    ),
    "bulk-camera-import": (
        _bulk_camera_import,
        "one-does-not-play mistakes-in-the-table a-room-is-closed a-room-is-too-small healthy",
    ),
    "camera-does-not-appear": (
        _camera_does_not_appear,
        "password-changed reset not-imported moved locked full closed media-server-gone healthy",
    ),
    "capacity-review": (
        _capacity_review,
        "one-too-small gaps one-room-unread three-days old healthy",
    ),
    "deployment-acceptance": (_deployment_acceptance, "healthy no-device-service licence-expired"),
    "force-user-offline": (
        _force_user_offline,
        "there comes-back two-of-that-name a-camera nobody",
    ),
    "media-server-gone": (_media_server_gone, "stopped unassigned healthy"),
    "nobody-can-join": (
        _nobody_can_join,
        "full full-of-video locked closed licence-expired no-seats media-server-gone peer-to-peer "
        "peer-to-peer-refused healthy",
    ),
    "stray-devices": (_stray_devices, "strays unreadable healthy"),
}
