"""How the public names of confkit, sandbox, runbook and course are driven beyond a call of them,
and how they are used wrongly."""

import inspect
import io
import json
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest import mock

import confkit as ck
from confkit import course, runbook
from confkit.operations import A2, A6, B3, Operation
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer, Table
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.panels.pressing import press, recorded, settled, within
from tests.secrets.given import (
    Call,
    Drive,
    by_name,
    device,
    emptied,
    imported,
    listed,
    new,
    swept,
    table,
)
from tests.secrets.names import functions
from tests.secrets.worlds import World

NOBODY = {"body": '{"ret": 0, "user_list": []}'}  # of A6


def another(world: World, **options: Any) -> ck.Client:
    """Another client of the service."""
    return ck.connect(**{**world.keys, **options})


def probed(world: World) -> ck.Dialect:
    """The service's dialect, or the error of a service that accepts no login."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what stays open
        return ck.probe_dialect(another(world))


def diagnosed(world: World, user_id: str, **more: str) -> ck.Report:
    """Why a device with this address is not in the room."""
    given = (world.room_id, user_id, world.with_login)
    return ck.diagnose_device(world.client, *given, timeout=8, **more)


def created(world: World) -> str:
    """A room of its own, with a password."""
    given = {"host_password": world["host_password"], "room_extend_id": new(world)}
    return ck.create_room(world.client, "Other", "ops", **given)


def _asked(world: World) -> Any:
    with mock.patch("sys.stdin", io.StringIO(world["typed password"] + "\n")):
        return ck.ask_secret("password: ")


def faulty(act: Call, endpoint: Operation, **fault: Any) -> Call:
    """What is done while there is a device, and the real service has this fault."""

    def run(world: World) -> Any:
        device(world)
        if not world.sandbox:
            return act(world)
        world.sandbox.fault(endpoint.path, **fault)
        try:
            return act(world)
        finally:
            world.sandbox.clear_faults()

    return run


# Things that are there, or come of a call.
THINGS: dict[str, Call] = {
    "Client": lambda w: w.client,
    "Device": lambda w: w.device,
    "Recorded": lambda w: ck.Recorder(w.folder / new(w)).record(w.client, w.ids, sweeps=1),
    "Room": lambda w: ck.Room(room_id="1", host_password=w["host_password"]),
    "Sweep": lambda w: [swept(w), swept(w).frame(), *(one.error for one in swept(w).failures)],
}


# Errors that no service answers; all others come of what a hostile one says.
ERRORS: dict[type[ck.ConfkitError], Call] = {
    ck.ConfigError: lambda w: another(w, base_url=f"http://u:{w['password in base_url']}@h"),
    ck.NotInRoom: faulty(lambda w: imported(w, verify=True, patience=0.1), A6, **NOBODY),
    ck.OutcomeUnknown: faulty(created, A2, drop=True),
    ck.PreflightFailed: lambda w: imported(w, preflight=True, login_password=w["login_password"]),
    ck.ProtocolError: faulty(listed, B3, body="<html>login_password=x"),
    ck.TableError: lambda w: ck.import_devices(w.client, table(w, user_name="")),
    ck.TransportError: lambda w: ck.get_room(another(w, base_url="http://127.0.0.1:9"), "1"),
}
MISTAKES: dict[str, Drive] = {
    "a key as an address": Drive(lambda w: another(w, base_url=w["secret_key"]), ck.ConfigError),
    "a password given twice": Drive(
        lambda w: imported(w, options={"login_password": w["login_password"]}),
        ck.ParameterError,
    ),
    "an option that cannot travel": Drive(
        lambda w: imported(w, options={"password": w["login_password"], "zoom": {1}}),
        ck.ParameterError,
    ),
    "a preflight of no address": Drive(lambda w: ck.preflight(w.broken, timeout=2)),
    "a device with two passwords": Drive(
        lambda w: diagnosed(w, "x", login_name="admin", login_password=w["login_password"])
    ),
    "a device that is not there": Drive(lambda w: diagnosed(w, "nobody")),
    "a table whose login fails": Drive(
        lambda w: ck.import_devices(w.client, table(w, login_password=w["login_password"]))
    ),
}
# What raises a builtin error, in any world.
SENSELESS: dict[str, Drive] = {
    "an option of preflight": Drive(lambda w: ck.preflight(w.broken, transport="x"), ValueError),
    "devices in place of a table": Drive(
        lambda w: ck.import_devices(w.client, [ck.Device("1", "cam", "Cam", w.broken)]), TypeError
    ),
}
CONFKIT = by_name(
    ck,
    {
        **THINGS,
        **{kind.__name__: Drive(raised, kind) for kind, raised in ERRORS.items()},
        "Client.call": lambda w: w.client.call("A3", room_id=w.ids[0]),
        "Client.ask_once": lambda w: w.client.ask_once(
            "A3", {"room_id": w.ids[0]}, w.client.token()
        ),
        "Client.token": lambda w: w.client.token(),
        "ask_secret": _asked,
        "changes": lambda w: ck.changes(swept(w), swept(w)),
        "connect": another,
        "delete_room": lambda w: ck.delete_room(w.client, created(w) if w.sandbox else "1"),
        "diagnose_device": lambda w: ck.diagnose_device(w.client, w.room_id, device(w).user_id),
        "import_device": imported,
        "list_devices": listed,
        "probe_dialect": probed,
        "remove_device": lambda w: ck.remove_device(w.client, w.room_id, device(w).user_id),
        "stray_devices": faulty(lambda w: ck.stray_devices(w.client), A6, **NOBODY),
    },
)
# What a service that says back what it hears can show more of.
_BY_A_CLIENT = [
    name
    for name in sorted(functions(ck))
    if "client" in inspect.signature(getattr(ck, name)).parameters
]
_OTHERS = ("Client.ask_once", "Client.call", "Client.token", "Room", "probe_dialect")
HOSTILE_DRIVES = {name: CONFKIT[name] for name in (*_BY_A_CLIENT, *_OTHERS)} | MISTAKES


def other(world: World, **options: Any) -> Sandbox:
    """Another sandbox, with a marked key."""
    return Sandbox(seed=1, secret_key=world["profile's key"], **options)


def joined(world: World, password: str = "host_password") -> str:
    """Somebody in the room."""
    return world.sandbox.join(world.room_id, "Ada", password=world[password])


SANDBOX = {
    "Sandbox": Drive(lambda w: w.sandbox),
    "RoomJoinRefused": Drive(lambda w: joined(w, "typed password"), RoomJoinRefused),
    "what a room holds": Drive(lambda w: [(w.sandbox.streams(), joined(w)) for _ in listed(w)]),
    "a sandbox that cannot be": Drive(lambda w: other(w, item_keys="none"), ck.ConfigError),
    "a key beyond loopback": Drive(lambda w: other(w, host="192.0.2.1").start(), ck.ConfigError),
}


RUNBOOK = by_name(runbook, {})


COURSE = {"course.check": Drive(lambda w: course.check("token", w.client.token().reveal()))}


def looked_at(make: Call, world: World, *steps: Call) -> Iterator[Any]:
    """The panel after each of these steps, and what came of it."""
    try:
        panel = make(world)
    except ck.ConfkitError as error:  # nothing can be read
        yield error
        return
    for widget in within(panel):
        if hasattr(widget, "_esm"):
            widget.messages = recorded(widget)
    for step in steps:
        try:
            yield step(panel)
        except ck.ConfkitError as error:
            yield error
        settled()
        yield panel
    panel.close()


def asked(panel: Any, table: Table, *buttons: str) -> list[str]:
    """What stands beside these buttons once they were pressed, with the first row picked."""
    table.picked = next(iter(table.visible.index), None)
    return [press(panel, text) for text in buttons]


def rooms(world: World) -> Iterator[Any]:
    """A room is made, picked and deleted."""
    password = world["host_password"]
    return looked_at(
        lambda world: RoomExplorer(world.client, list(world.ids), every=0),
        world,
        *(partial(RoomExplorer.select, room_id=one) for one in world.ids[:4]),
        lambda panel: asked(panel, panel.users, "Force offline", "Delete room"),
        lambda panel: panel.media_server(world.room_id),
        lambda panel: panel.delete(panel.create("Stand-up", "ops", host_password=password)),
    )


def devices(world: World) -> Iterator[Any]:
    """A camera is tried, imported and diagnosed, and one whose address is broken."""
    login = {"login_name": "admin", "login_password": world["password in an address"]}
    options = json.dumps({"assist_address": world.login})
    camera = {"user_name": "Hall", "user_address": world.address, "options": options, **login}
    emptied(world)
    return looked_at(
        lambda world: DevicePanel(world.client, world.room_id, every=0),
        world,
        lambda panel: panel.fill(user_id=new(world), **camera),
        lambda panel: panel.preflight(),
        lambda panel: panel.import_device(),
        lambda panel: asked(panel, panel.table, "Check health", "Diagnose", "Remove"),
        lambda panel: panel.fill(user_id="d", **{**camera, "user_address": world.broken}),
        lambda panel: panel.import_device(),
    )


def occupancy(world: World) -> Iterator[Any]:
    """Rooms are read, and the samples of one are drawn."""
    folder = world.folder / new(world)
    return looked_at(
        lambda world: OccupancyPanel(world.client, list(world.ids), every=0, folder=folder),
        world,
        lambda panel: ck.Recorder(folder).record(world.client, world.ids, sweeps=1),
        lambda panel: panel.select(world.room_id),
        lambda panel: panel.refresh(),
        lambda panel: panel.capacity(),
    )


PANELS = {
    kind.__name__: Drive(driven)
    for kind, driven in {
        RoomExplorer: rooms,
        DevicePanel: devices,
        OccupancyPanel: occupancy,
    }.items()
}
