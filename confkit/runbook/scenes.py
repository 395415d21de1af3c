"""What is wrong on a sandbox, for each runbook (`scenes.toml`), and the inputs then."""

from __future__ import annotations

import tempfile
import time
import tomllib
from collections.abc import Callable
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..devices import import_device
from ..errors import ConfigError
from ..rooms import create_room
from .service import connected

if TYPE_CHECKING:
    from ..client import Client
    from ..sandbox import Sandbox

Inputs = dict[str, Any]
_SMALL: Inputs = {"size": (160, 96), "fps": 5}  # quickly encoded


def scenes(name: str) -> Inputs:
    """The scenes of the runbook of this name, each with what is in all of them."""
    text = files(__package__).joinpath("scenes.toml").read_text("utf-8")
    row = tomllib.loads(text)[name]
    return {scene: _merged(row, changes) for scene, changes in row["scenes"].items()}


def _merged(one: Inputs, other: Inputs) -> Inputs:
    both = {k: _merged(one.get(k, {}), v) if isinstance(v, dict) else v for k, v in other.items()}
    return one | both


def build(name: str, sandbox: Sandbox, scene: str, tz: str) -> Inputs:
    """Build a scene of the runbook of this name, and return its inputs. `tz`: of its recording.

    ConfigError: there is no such scene."""
    there = scenes(name)
    if scene not in there:
        raise ConfigError(f"scene is {scene!r}", f"There are {', '.join(there)}.")
    row, made = there[scene], Inputs()
    with sandbox.connect() as owner:
        known = _rooms_and_cameras(sandbox, owner, row)
    for how, options in row.get("steer", {}).items():
        getattr(sandbox, how)(**_filled(options, known))
    if "table" in row:
        known["table"] = Path(tempfile.mkdtemp()) / "cameras.csv"
        known["table"].write_text(row["table"].strip().format(**known))
    if "recording" in row:
        known["recording"], made["now"] = _recorded(sandbox, tz, **row["recording"])
    if "settings" in row:
        names = ("base_url", "outgoing_url", "access_key", "secret_key")
        keys = {name: getattr(sandbox, name) for name in names}
        made["client"], made["noticed"] = connected(**keys | _filled(row["settings"], keys))
    if "hours_pass" in row:
        made["sleep"] = lambda _: sandbox.advance(row["hours_pass"] * 3600)
    if "comes_back" in row:
        made["sleep"] = _coming_back(sandbox)
    return made | _filled(row.get("inputs", {}), known)


def _filled(values: Inputs, known: Inputs) -> Inputs:
    return {k: v.format(**known) if isinstance(v, str) else v for k, v in values.items()}


def _rooms_and_cameras(sandbox: Sandbox, owner: Client, row: Inputs) -> Inputs:
    """Make them, and return the rooms' IDs and the cameras' addresses by their names."""
    known: Inputs = {}
    for name, room in row.get("rooms", {}).items():
        people = room.pop("people", ())
        known[name] = create_room(owner, owner_id="ops", **room)
        for person in people:
            sandbox.join(known[name], person)
    for name, camera in row.get("cameras", {}).items():
        room = known.get(camera.pop("listed", ""))
        known[name] = sandbox.camera(name, **camera, **_SMALL)
        if room:
            import_device(owner, room, f"cam-{name}", f"Camera {name}", known[name], **camera)
    for name in row.get("unplugged", ()):
        sandbox.unplug(known[name])
        while any(it.user_id == f"cam-{name}" and it.state == "live" for it in sandbox.streams()):
            time.sleep(0.05)
    for name, camera in row.get("instead", {}).items():
        known[name] = sandbox.camera(name, **camera, **_SMALL)
    return known


def _coming_back(sandbox: Sandbox) -> Callable[[float], None]:
    """A pause in which whoever was removed joins their room again, under a new ID."""
    before = {room: sandbox.people(room) for room in sandbox.room_ids()}

    def sleep(seconds: float) -> None:
        for room, people in before.items():
            now = sandbox.people(room)
            for one in people:
                if one not in now and len(now) < len(people):
                    sandbox.join(room, one["user_name"])
        time.sleep(min(seconds, 0.1))

    return sleep


def _recorded(
    sandbox: Sandbox, tz: str, *, days: int, ended: int, full: bool, gap: int
) -> tuple[str, Any]:
    """The folder of a recording of 32 rooms, and the moment at which it is looked at."""
    import pandas as pd

    from ..occupancy.folder import save_occupancy  # needs pyarrow

    now = pd.Timestamp("2024-01-01 09:00", tz="UTC")  # always the same, so that a notebook repeats
    until = now - timedelta(days=ended)
    past = sandbox.simulate(
        rooms=32,
        days=days,
        every=1800,
        until=until.isoformat(),
        seed=1,
        tz=tz,
        failures=0.001,
    )
    if not full:
        at_cap = past[past.users >= past.attendee_max].room_id
        past = past[~past.room_id.isin(at_cap)]
    age = until - past.time
    # The recorder stood still for so many days, half a month ago.
    stood = (age > timedelta(days=14)) & (age < timedelta(days=14 + gap))
    folder = tempfile.mkdtemp()
    save_occupancy(past[~stood], folder)
    return folder, now
