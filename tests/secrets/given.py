"""How whatever is public is called: with what the names of its parameters ask for.

A new public name is driven by itself; only a parameter whose name is new has to be given here.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

import confkit as ck
from tests.secrets.names import functions
from tests.secrets.surfaces import calls, drive
from tests.secrets.worlds import World

Call = Callable[[World], Any]


class Drive(NamedTuple):
    """A call, and what is due where all is well: the class of an error, or a command's exit status.
    It works where none is."""

    call: Call
    due: type | int = type(None)


def new(world: World) -> str:
    """A name that nothing has."""
    return f"x{world.chance.randrange(10**12)}"


def imported(world: World, **more: Any) -> ck.Device:
    """A device in the room, with each secret that an import can hold."""
    login = {"login_name": "admin", "login_password": world["password in an address"]}
    held = {"user_data": world.login, "options": {"assist_address": world.login}}
    emptied(world)
    given = (world.room_id, new(world), "Front door", world.address)
    return ck.import_device(world.client, *given, **{**held, **login, **more})


def emptied(world: World) -> None:
    """Removes the room's devices where all is well: an address is in a room once."""
    for one in ck.list_devices(world.client, world.room_id) if world.sandbox else ():
        ck.remove_device(world.client, one)


def listed(world: World) -> list[ck.Device]:
    """The room's devices, at least one of them where all is well."""
    if world.sandbox and not ck.list_devices(world.client, world.room_id):
        imported(world)
    return ck.list_devices(world.client, world.room_id)


def device(world: World) -> ck.Device:
    """A device of the room, or one as it could be there."""
    return listed(world)[0] if world.sandbox else world.device


def table(world: World, **changes: str) -> str:
    """A table of cameras as people write it, with logins in it."""
    row = {"room_id": world.room_id, "user_id": new(world), "user_name": "Hall"}
    row |= {"user_address": world.address, "login_name": "admin"}
    row |= {"login_password": world["password in an address"], **changes}
    emptied(world)
    return str(world.file("cameras.csv", pd.DataFrame([row]).to_csv(index=False)))


def swept(world: World) -> ck.Sweep:
    """A sweep that fails in part."""
    return ck.sweep(world.client, [*world.ids, "no-such"], progress=False)


def samples(world: World) -> pd.DataFrame:
    """Samples of a recording, made without a service."""
    time = pd.date_range("2026-06-01 08:00", periods=50, freq="5min", tz="UTC")
    frame = pd.DataFrame({"time": time, "room_id": world.room_id, "users": range(50)})
    frame = frame.assign(people=frame.users, devices=0, attendee_max=60, ret=0)
    return frame.astype({**dict.fromkeys(frame.columns[2:], "Int64"), "room_id": "str"})


def saved(world: World) -> Path:
    """A recording, in a folder of its own."""
    folder = world.folder / new(world)
    ck.save_occupancy(samples(world), folder)
    return folder


GIVEN: dict[str, Call] = {
    **dict.fromkeys(("room", "room_id", "value"), lambda w: w.room_id),
    **dict.fromkeys(("owner_id", "service", "topic"), lambda w: w.ids[-1]),
    "address": lambda w: w.login,
    "host_password": lambda w: w["host_password"],
    **dict.fromkeys(("samples", "source"), samples),
    "sweep": swept,
    "calls": lambda w: w.client.calls,
    "client": lambda w: w.client,
    "device": device,
    "devices": listed,
    "folder": saved,
    "frame": lambda w: ck.occupancy_frame(swept(w)),
    "meetings": lambda w: ck.meetings(samples(w)),
    "name": lambda w: "token",
    "recording": lambda w: str(saved(w)),
    "report": lambda w: ck.capacity_report(samples(w)),
    "ret": lambda w: 401,
    "room_ids": lambda w: [*w.ids, "no-such"],
    "rooms": lambda w: ck.get_room(w.client, w.room_id),
    "table": table,
    "timeout": lambda w: 8,
    "url": lambda w: w.with_login,
    "user": lambda w: "nobody",
    "user_id": lambda w: device(w).user_id,
    "users": lambda w: [ck.RoomUser("Ada", "u1"), *ck.get_room_users(w.client, w.room_id)],
}
# What is given also where it need not be.
ALSO = {"address", "host_password", "room_id", "service", "table", "timeout", "topic"}


def called(function: Callable[..., Any], world: World) -> Any:
    """What comes of a function with these arguments; all checks of one that yields them."""
    asked = inspect.signature(function).parameters.values()
    result = function(
        **{
            one.name: GIVEN[one.name](world)
            for one in asked
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
            and (one.default is one.empty or one.name in ALSO)
        }
    )
    if inspect.isgenerator(result):
        return (ck.Checklist(result),)  # whatever its verdict is
    return result


def by_name(module: ModuleType, own: Mapping[str, Call | Drive]) -> dict[str, Drive]:
    """How each function of a module is driven, and what else is its `own`, by its name."""
    found = {name: partial(called, getattr(module, name)) for name in functions(module)} | own
    return {name: one if isinstance(one, Drive) else Drive(one) for name, one in found.items()}


def driven(
    world: World,
    drives: Mapping[str, Drive],
    modes: Callable[[], Iterable[str]] = tuple,
    also: Callable[[BaseException | None], str] = lambda failure: "",
    strict: bool = True,
) -> dict[str, object]:
    """What is wrong, by the name of the drive or of the file that it wrote: what must not show, and
    an end that is not due where all is well, and no error of ours elsewhere. `modes` gives the
    modes of IPython in which a traceback is looked at, `also` what others recorded of a drive and
    of its failure. Without `strict`, as where drives come in any order, the end does not count."""
    wrong: dict[str, object] = {}
    for name, (call, due) in drives.items():
        shown, came = drive(partial(call, world), modes())
        failure = came if isinstance(came, BaseException) else None
        shown |= {*calls(world.client, world.client.calls[-4:]), ("raw", also(failure))}
        told = [one for read, text in shown for one in world.shown(text, read)]
        ended = getattr(came, "returncode", type(failure))
        ours = failure is None or isinstance(failure, ck.ConfkitError)
        if strict and not (ended == due if world.sandbox else ours):
            told.append(f"ended with {came!r}")
        if told:
            wrong[name] = told
    kept = {path: world.shown(text) for path, text in world.written().items()}
    return wrong | {path: told for path, told in kept.items() if told}
