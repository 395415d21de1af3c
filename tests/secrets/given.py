"""How whatever is public is called: with what the names of its parameters ask for.

A new public name is driven by itself; only a parameter whose name is new has to be given here.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

import confkit as ck
from confkit.endpoints import A2, A3
from confkit.many.ids import RoomIds
from confkit.panels.model import Viewer
from tests.secrets.names import public
from tests.secrets.worlds import World

Drive = Callable[[World], Any]
_VIEWER = Viewer()


def imported(world: World, **more: Any) -> ck.Device:
    """A device in the room, with each secret that an import can hold."""
    given = {
        "user_data": world.marks.login(),
        "options": {"assist_address": world.marks.login()},
        "login_name": "admin",
        "login_password": world.marks["password in an address"],
        **more,
    }
    number = f"d{world.chance.randrange(10**9)}"
    emptied(world)
    return ck.import_device(
        world.client, world.room_id, number, "Front door", world.address, **given
    )


def emptied(world: World) -> None:
    """Removes the room's devices where all is well: an address is in a room once."""
    for device in ck.list_devices(world.client, world.room_id) if world.well else ():
        ck.remove_device(world.client, device)


def listed(world: World) -> list[ck.Device]:
    """The room's devices, at least one of them where all is well."""
    if world.well and not ck.list_devices(world.client, world.room_id):
        imported(world)
    return ck.list_devices(world.client, world.room_id)


def device(world: World) -> ck.Device:
    """A device of the room, or one as it could be there."""
    return listed(world)[0] if world.well else world.device


def table(world: World, **changes: str) -> str:
    """A table of cameras as people write it, with logins in it."""
    row = {
        "room_id": world.room_id,
        "user_id": f"t{world.chance.randrange(10**9)}",
        "user_name": "Hall",
        "user_address": world.address,
        "login_name": "admin",
        "login_password": world.marks["password in an address"],
        **changes,
    }
    emptied(world)
    return str(world.file("cameras.csv", pd.DataFrame([row]).to_csv(index=False)))


def swept(world: World) -> ck.Sweep:
    """A sweep that fails in part."""
    return ck.sweep(world.client, [world.room_id, "no-such"], progress=False)


def samples(world: World) -> pd.DataFrame:
    """Samples of a recording, made without a service."""
    time = pd.date_range("2026-06-01 08:00", periods=50, freq="5min", tz="UTC")
    frame = pd.DataFrame({"time": time, "room_id": world.room_id, "users": range(50)})
    frame = frame.assign(people=frame.users, devices=0, attendee_max=60, ret=0)
    kinds = dict.fromkeys(["users", "people", "devices", "attendee_max", "ret"], "Int64")
    return frame.astype({**kinds, "room_id": "str"})


def saved(world: World) -> Path:
    """A recording, in a folder of its own."""
    folder = world.folder / f"saved{world.chance.randrange(10**9)}"
    ck.save_occupancy(samples(world), folder)
    return folder


def created(world: World) -> str:
    """A room of its own, with a password."""
    own, password = f"x{world.chance.randrange(10**12)}", world.marks["host_password"]
    client = world.client
    return ck.create_room(client, "Other", "ops", host_password=password, room_extend_id=own)


def fields(world: World) -> dict[str, Any]:
    """What A3, A6 and B3 say of a room, a user and a device."""
    return {
        "room_id": world.room_id,
        "host_password": world.marks["host_password"],
        "user_name": "Ada",
        "user_id": "u1",
        "user_address": world.marks.login(),
        "options": {"login_password": world.marks["login_password"]},
    }


GIVEN: dict[str, Drive] = {
    "action": lambda w: int,
    "answer": lambda w: str(w.client.token()),
    "calls": lambda w: w.client.calls,
    "came": lambda w: ck.TransportError(f"at {w.marks.login()}"),
    "check": lambda w: w.marks.login(),
    "client": lambda w: w.client,
    "column": lambda w: "topic",
    "device": device,
    "draw": lambda w: int,
    "devices": listed,
    "endpoint": lambda w: A2,
    "error": lambda w: ck.ConfkitError(f"at {w.marks.login()}"),
    "fields": fields,
    "folder": saved,
    "found": lambda w: w.marks.login(),
    "frame": lambda w: ck.occupancy_frame(swept(w)),
    "given": lambda w: RoomIds(["no-such"]),
    "host_password": lambda w: w.marks["host_password"],
    "ids": lambda w: [w.room_id],
    "kind": lambda w: "reading",
    "known": lambda w: ck.known_rooms(w.client),
    "language": lambda w: "sh",
    "meetings": lambda w: ck.meetings(samples(w)),
    "members": lambda w: {"user_list": [fields(w)]},
    "n": lambda w: -1,
    "name": lambda w: "token",
    "owner_id": lambda w: "ops",
    "parameters": lambda w: {"topic": "t", "host_password": w.marks["host_password"]},
    "password": lambda w: w.marks["host_password"],
    "preflight": lambda w: False,
    "question": lambda w: "Really?",
    "recording": lambda w: str(saved(w)),
    "report": lambda w: ck.capacity_report(samples(w)),
    "request": lambda w: ck.Request(A3, {"room_id": w.room_id}),
    "requests": lambda w: [ck.Request(A3, {"room_id": one}) for one in (w.room_id, "no-such")],
    "ret": lambda w: 401,
    "room": lambda w: w.room_id,
    "room_id": lambda w: w.room_id,
    "room_ids": lambda w: [w.room_id, "no-such"],
    "rooms": lambda w: ck.get_room(w.client, w.room_id),
    "samples": samples,
    "seconds": lambda w: 1,
    "settings": lambda w: {"hash": "md5"},
    "source": samples,
    "state": lambda w: "running",
    "sweep": swept,
    "sweeps": lambda w: 1,
    "swept": swept,
    "table": table,
    "text": lambda w: f"at {w.marks.login()}",
    "timeout": lambda w: 8,
    "token": lambda w: w.client.token(),
    "topic": lambda w: "Stand-up",
    "url": lambda w: w.with_login,
    "user": lambda w: "nobody",
    "user_id": lambda w: device(w).user_id,
    "user_name": lambda w: "Ada",
    "users": lambda w: [ck.RoomUser("Ada", "u1"), *ck.get_room_users(w.client, w.room_id)],
    "value": lambda w: w.room_id,
    "verdict": lambda w: "FAIL",
    "viewer": lambda w: _VIEWER,
    "what": lambda w: "Waiting",
    "yes": lambda w: "Yes",
}
# What is given beyond what has to be.
ALSO = {
    "Client.ask_once": "token",
    "DevicePanel.check_table": "table",
    "DevicePanel.import_device": "preflight",
    "DevicePanel.import_table": "table preflight",
    "Panel.wait": "timeout",
    "Recorder.record": "sweeps",
    "RoomExplorer.create": "host_password",
    "RoomsModel.wait": "timeout",
    "RoomsPanel.wait": "timeout",
    "Sandbox.join": "password",
    "create_room": "host_password",
    "diagnose_device": "user_id timeout",
    "doctor": "room_id timeout",
    "preflight": "timeout",
    "preflight_device": "timeout",
}


def arguments(world: World, name: str, function: Callable[..., Any]) -> dict[str, Any]:
    """What has to be given to a function, and what is given beyond that."""
    has_to = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    return {one: GIVEN[one](world) for one in [*has_to, *ALSO.get(name, "").split()]}


def called(world: World, name: str, function: Callable[..., Any]) -> Any:
    """What comes of a function with these arguments, or of what it returns to be called, entered or
    gone through."""
    result = function(**arguments(world, name, function))
    if inspect.isgenerator(result):
        return ck.Checklist(result)
    if isinstance(result, AbstractContextManager) and hasattr(result, "gen"):
        with result:
            return None
    return result(None) if inspect.isfunction(result) else result


def by_name(module: ModuleType, things: Mapping[str, Drive]) -> dict[str, Drive]:
    """For each public name of a module how it is driven: a class by the thing of it, where there is
    one, a method by a call of that thing's, and all else by a call."""

    def drive(name: str) -> Drive:
        owner, _, member = name.partition(".")
        if owner in things and not member:
            return things[owner]

        def run(world: World) -> Any:
            thing = things[owner](world) if owner in things else getattr(module, owner)
            return called(world, name, getattr(thing, member) if member else thing)

        return run

    return {name: drive(name) for name in public(module)}
