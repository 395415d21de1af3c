"""The table of what makes the library hold secrets: each public name, rightly used and wrongly."""

import io
import json
from functools import partial
from unittest import mock

import confkit as ck
from confkit import course, runbook
from confkit.operations import A6
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from confkit.sandbox import RoomJoinRefused
from tests.panels.pressing import press, recorded, settled, within
from tests.secrets.given import Drive, by_name, swept, table


def another(world, **options):
    """Another client of the service."""
    names = ("base_url", "outgoing_url", "access_key", "secret_key")
    given = {name: getattr(world.client, name) for name in names}
    return ck.connect(**{**given, "timeout": (1.0, 3.0), **options})


def asked_for(world):
    """A password that was typed."""
    with mock.patch("sys.stdin", io.StringIO(world["typed password"] + "\n")):
        return ck.ask_secret("password: ")


def described(world):
    """A device as somebody writes it, with a login in each place that can hold one."""
    options = {"login_password": world["login_password"], "assist_address": world.in_query}
    return ck.Device("1", "door", "Front door", world.with_login, world.in_path, options)


CONFKIT = by_name(
    ck,
    {
        "Client": lambda w: w.client,
        "Client.token": lambda w: w.client.token(),
        "Device": described,
        "Recorded": lambda w: ck.Recorder(w.folder / w.new()).record(w.client, w.ids, sweeps=1),
        "Room": lambda w: ck.Room(room_id="1", host_password=w["host_password"]),
        "Sweep": lambda w: [swept(w), swept(w).frame(), *(one.error for one in swept(w).failures)],
        "ask_secret": asked_for,
        "connect": another,
        "delete_room": lambda w: ck.delete_room(w.client, w.room()),
        "import_device": lambda w: w.imported(),
        "remove_device": lambda w: ck.remove_device(w.client, w.imported()),
    },
)
# The errors that no service answers; all others come of what a hostile one says.
MISTAKES = {
    "an address with a login": Drive(
        lambda w: another(w, base_url=f"http://u:{w['password in base_url']}@h"), ck.ConfigError
    ),
    "a key as an address": Drive(lambda w: another(w, base_url=w["secret_key"]), ck.ConfigError),
    "a camera whose login is wrong": Drive(
        lambda w: w.imported(preflight=True, login_password=w["login_password"]),
        ck.PreflightFailed,
    ),
    "a table that lacks a name": Drive(
        lambda w: ck.import_devices(w.client, table(w, user_name="")), ck.TableError
    ),
    "an option that cannot travel": Drive(
        lambda w: w.imported(options={"password": w["login_password"], "zoom": {1}}),
        ck.ParameterError,
    ),
    "a service that is not there": Drive(
        lambda w: ck.get_room(another(w, base_url="http://127.0.0.1:9"), "1"), ck.TransportError
    ),
    "a device with two passwords": Drive(
        lambda w: ck.diagnose_device(
            w.client, w.room_id, "x", w.with_login, login_password=w["login_password"]
        )
    ),
    "cameras that do not play": Drive(
        lambda w: [
            ck.preflight(one, timeout=2) for one in (w.broken, w.login, w.in_path, w.in_query)
        ]
    ),
}
RUNBOOK = by_name(runbook, {})
COURSE = {"course.check": Drive(lambda w: course.check("token", w.client.token().reveal()))}


def missed(world):
    """What is said of a device that does not come into its room."""
    world.sandbox.fault(A6.path, body='{"ret": 0, "user_list": []}')
    try:
        return world.imported(verify=True, patience=0.1)
    finally:
        world.sandbox.clear_faults()


def refused(world):
    """What a sandbox says of a token that another key has made."""
    wrong = world.client.dialect.sign(world["typed password"], "x")
    world.client.ask_once("A3", {"room_id": world.room_id}, wrong)
    return world.sandbox.refusals


SANDBOX = {
    "Sandbox": Drive(lambda w: [w.sandbox, w.sandbox.streams()]),
    "a wrong password of a room": Drive(
        lambda w: w.sandbox.join(w.room_id, "Ada", password=w["typed password"]), RoomJoinRefused
    ),
    "a token of another key": Drive(refused),
    "a device that does not come": Drive(missed, ck.NotInRoom),
}


def looked_at(panel, *steps):
    """The panel after each of these steps, and what came of it."""
    for widget in within(panel):
        if hasattr(widget, "_esm"):
            widget.messages = recorded(widget)
    for step in steps:
        try:
            yield step()
        except ck.ConfkitError as error:
            yield error
        settled()
        yield panel
    panel.close()


def pressed(panel, table, *buttons):
    """What stands beside these buttons once they were pressed, with the first row picked."""
    table.picked = next(iter(table.visible.index), None)
    return [press(panel, text) for text in buttons]


def rooms(world):
    """A room is made, picked and deleted."""
    panel = RoomExplorer(world.client, list(world.ids), every=0)
    password = world["host_password"]
    return looked_at(
        panel,
        *(partial(panel.select, one) for one in world.ids[:4]),
        lambda: pressed(panel, panel.users, "Force offline", "Delete room"),
        lambda: panel.delete(panel.create("Stand-up", "ops", host_password=password)),
    )


def devices(world):
    """A camera is tried, imported and diagnosed, and one whose address is broken."""
    login = {"login_name": "admin", "login_password": world["password in an address"]}
    camera = {"user_name": "Hall", "user_address": world.address, **login}
    options = json.dumps({"assist_address": world.login})
    panel = DevicePanel(world.client, world.room(), every=0)
    return looked_at(
        panel,
        lambda: panel.fill(user_id=world.new(), options=options, **camera),
        panel.preflight,
        panel.import_device,
        lambda: pressed(panel, panel.table, "Check health", "Diagnose", "Remove"),
        lambda: panel.fill(user_id="d", **{**camera, "user_address": world.broken}),
        panel.import_device,
    )


def occupancy(world):
    """Rooms are read, and the samples of one are drawn."""
    folder = world.folder / world.new()
    panel = OccupancyPanel(world.client, list(world.ids), every=0, folder=folder)
    return looked_at(
        panel,
        lambda: ck.Recorder(folder).record(world.client, world.ids, sweeps=1),
        lambda: panel.select(world.room_id),
        panel.capacity,
    )


PANELS = {
    "RoomExplorer": Drive(rooms),
    "DevicePanel": Drive(devices),
    "OccupancyPanel": Drive(occupancy),
}
