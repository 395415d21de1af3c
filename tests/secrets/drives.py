"""The table of what makes the library hold secrets: each public name and command, rightly used and
wrongly, with what the names of its parameters ask for.

A new public name is driven by itself; only a parameter whose name is new has to be given here.
"""

import inspect
import io
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import pandas as pd

import confkit as ck
from confkit import course, runbook
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from confkit.sandbox import RoomJoinRefused
from tests.commands import run
from tests.occupancy.made import steady
from tests.panels.pressing import press, recorded, settled, within
from tests.secrets.surfaces import calls, drive
from tests.secrets.worlds import environment


class Drive(NamedTuple):
    """What is done, and where all is well ends so: with an error, or a command's exit status."""

    call: Callable[..., Any]
    due: type | int = type(None)


def table(world, **changes):
    """A table of cameras as people write it, with logins in it."""
    row = {"room_id": world.room(), "user_id": world.new(), "user_name": "Hall"}
    row |= {"user_address": world.address, "login_name": "admin"}
    row |= {"login_password": world["password in an address"], **changes}
    return world.file("cameras.csv", pd.DataFrame([row]).to_csv(index=False))


def swept(world):
    """A sweep that fails in part."""
    return ck.sweep(world.client, [world.room_id, "no-such"], progress=False)


def samples(world):
    """Samples of a recording, made without a service."""
    return steady(range(50), every="5min", room=world.room_id, attendee_max=60, devices=0)


def recording(world):
    """A recording, in a folder of its own."""
    folder = world.folder / world.new()
    ck.save_occupancy(samples(world), folder)
    return str(folder)


GIVEN = {
    "address": lambda w: w.login,
    **dict.fromkeys(("before", "after", "sweep"), swept),
    **dict.fromkeys(("folder", "recording"), recording),
    **dict.fromkeys(("room", "room_id", "topic"), lambda w: w.room_id),
    **dict.fromkeys(("samples", "source"), samples),
    "calls": lambda w: w.client.calls,
    "client": lambda w: w.client,
    "devices": lambda w: ck.list_devices(w.client, w.room_id),
    "frame": lambda w: ck.occupancy_frame(swept(w)),
    "host_password": lambda w: w["host_password"],
    "owner_id": lambda w: "ops",
    "report": lambda w: ck.capacity_report(samples(w)),
    "ret": lambda w: 401,
    "room_ids": lambda w: [w.room_id, "no-such"],
    "rooms": lambda w: ck.get_room(w.client, w.room_id),
    "table": table,
    "timeout": lambda w: 8,
    "url": lambda w: w.with_login,
    "user_id": lambda w: "door",
    "users": lambda w: ck.get_room_users(w.client, w.room_id),
}
# What is given also where it need not be.
ALSO = {"address", "host_password", "room_id", "table", "timeout", "topic", "user_id"}


def called(function, world):
    """What comes of a function with these arguments; all checks of one that yields them."""
    asked = inspect.signature(function).parameters.values()
    needed = [one.name for one in asked if one.default is one.empty or one.name in ALSO]
    result = function(**{name: GIVEN[name](world) for name in needed if name != "options"})
    if inspect.isgenerator(result):
        return (ck.Checklist(result),)  # whatever its verdict is
    return result


def by_name(module, own):
    """How each function of a module is driven, and what else is its `own`, by its name."""
    public = {name: getattr(module, name) for name in module.__all__}
    found = {name: partial(called, one) for name, one in public.items() if inspect.isfunction(one)}
    return {name: Drive(one) for name, one in (found | own).items()}


def driven(world, drives, modes=tuple, strict=True):
    """What must not show, by the name of the drive or of the file that it wrote; with `strict` also
    an end that is not due. `modes` gives IPython's modes in which a traceback is looked at."""
    wrong = {}
    for name, (call, due) in drives.items():
        shown, came = drive(partial(call, world), modes())
        shown |= {*calls(world.client)}
        told = [one for text in shown for one in world.shown(text)]
        failed = isinstance(came, BaseException)
        ended = getattr(came, "returncode", type(came if failed else None))
        ours = not failed or isinstance(came, ck.ConfkitError)
        if strict and not (ended == due if world.sandbox else ours):
            told.append(f"ended with {came!r}")
        if told:
            wrong[name] = told
    for path, text in world.written():
        if told := world.shown(text):
            wrong[path] = told
    return wrong


def another(world, **options):
    """Another client of the service."""
    one = world.client
    given = {"base_url": one.base_url, "outgoing_url": one.outgoing_url, **options}
    keys = {"access_key": one.access_key, "secret_key": world["secret_key"]}
    return ck.connect(**given, **keys, timeout=(1.0, 3.0))


def asked_for(world):
    """A password that was typed."""
    with mock.patch("sys.stdin", io.StringIO(world["typed password"] + "\n")):
        return ck.ask_secret("password: ")


CONFKIT = by_name(
    ck,
    {
        "Client": lambda w: w.client,
        "Client.token": lambda w: w.client.token(),
        "Recorded": lambda w: ck.Recorder(w.folder / w.new()).record(
            w.client, [w.room_id], sweeps=1
        ),
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
    "an option that cannot travel": Drive(
        lambda w: w.imported(options={"password": w["login_password"], "zoom": {1}}),
        ck.ParameterError,
    ),
    "a service that is not there": Drive(
        lambda w: ck.get_room(another(w, base_url="http://127.0.0.1:9"), "1"), ck.TransportError
    ),
    "cameras that do not play": Drive(lambda w: [ck.preflight(one, timeout=2) for one in w.dead]),
}
RUNBOOK = by_name(runbook, {})
COURSE = {"course.check": Drive(lambda w: course.check("token", w.client.token().reveal()))}


SANDBOX = {
    "Sandbox": Drive(lambda w: [w.sandbox, w.sandbox.streams()]),
    "a wrong password of a room": Drive(
        lambda w: w.sandbox.join(w.room_id, "Ada", password=w["typed password"]), RoomJoinRefused
    ),
}


def looked_at(panel, *steps):
    """The panel after each of these steps, and what came of it."""
    for widget in within(panel):
        if hasattr(widget, "_esm"):
            widget.messages = recorded(widget)
    for step in (*steps, settled):
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
    panel = RoomExplorer(world.client, [world.room_id], every=0)
    return looked_at(
        panel,
        lambda: panel.select(world.room_id),
        lambda: pressed(panel, panel.users, "Force offline", "Delete room"),
        lambda: panel.create("Stand-up", "ops", host_password=world["host_password"]),
    )


def devices(world):
    """A camera is tried, imported and diagnosed, and one whose address is broken."""
    login = {"login_name": "admin", "login_password": world["password in an address"]}
    camera = {"user_name": "Hall", "user_address": world.address, **login}
    panel = DevicePanel(world.client, world.room(), every=0)
    return looked_at(
        panel,
        lambda: panel.fill(user_id=world.new(), **camera),
        panel.preflight,
        panel.import_device,
        lambda: pressed(panel, panel.table, "Check health", "Diagnose", "Remove"),
        lambda: panel.fill(user_id="d", **{**camera, "user_address": world.broken}),
        panel.import_device,
    )


PANELS = {
    "RoomExplorer": Drive(rooms),
    "DevicePanel": Drive(devices),
    "OccupancyPanel": Drive(lambda w: looked_at(OccupancyPanel(w.client, [w.room_id], every=0))),
}
# What is typed in a world `w`, and the exit status that is due where all is well: 2 is what click
# says of words that it does not know.
COMMANDS = {
    "diagnose {w.room_id} --timeout 8": 0,
    "diagnose {w.room_id} x --address {w.login} --login-name u": 1,
    "doctor {w.room_id}": 0,
    "doctor {w.room_id} {w.login}": 2,
    "interface {w.login}": 1,
    "lab --rooms {w.login}": 2,
    "preflight {w.with_login} --timeout 5": 0,
    "preflight {w.address} --login-name admin --timeout 5": 1,
    "preflight {w.broken} --timeout 1": 1,
    "probe": 0,
    "profile add x --base-url {w.login} --outgoing-url http://h --access-key k": 1,
    "profile add x --base-url http://h --outgoing-url http://h --access-key k": 0,
    "record {w.folder}/kept --rooms {w.folder}/rooms.txt --sweeps 1": 0,
    "runbook media-server-gone --report {w.folder}/report.html": 0,
    "runbook media-server-gone -p rooms={w.login} --profile sandbox": 1,
    "sandbox --dialect {w.login}": 1,
    "token --secret={w[secret_key]}": 2,
}


def typed(world, words):
    """What comes of the command, in this process."""
    world.file("rooms.txt", world.room_id)
    found = [word.format(w=world) for word in words.split()]
    return run(*found, typed="\n", **environment(world))


TYPED = {words: Drive(partial(typed, words=words), due) for words, due in COMMANDS.items()}
