"""How whatever is public is called: with what the names of its parameters ask for.

A new public name is driven by itself; only a parameter whose name is new has to be given here.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

import confkit as ck
from tests.occupancy.made import steady
from tests.secrets.surfaces import calls, drive


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
    "user": lambda w: "nobody",
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
