"""How the panels are driven: their methods, and what a saved notebook would hold of them."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import confkit as ck
from confkit.many.ids import RoomIds
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer, RoomsModel, WirePanel
from confkit.panels.model import Viewer
from confkit.panels.panel import Panel
from tests.panels.pressing import LONG, page
from tests.secrets.drives import Drive, Due, imported, table
from tests.secrets.surfaces import Shown, members
from tests.secrets.worlds import World

Step = Callable[[Any, World], Any]


class Widget:
    """A panel as it shows: all that its widgets hold, and so all that a notebook would save."""

    def __init__(self, panel: Panel, result: object, failures: list[ck.ConfkitError]) -> None:
        self.result, self.failures = result, failures
        shown = Shown()
        members(shown, panel)
        members(shown, result)
        self._told = f"{shown.texts} {page(panel)} {(result, failures)!r} {panel._first!r}"
        self._state = [json.dumps(one, default=repr) for one in _states(panel)]

    def __repr__(self) -> str:
        return f"{self._told} {self._state}"


def _states(panel: Any) -> Iterator[Any]:
    yield panel.get_state()
    for child in getattr(panel, "children", ()):
        yield from _states(child)


def _of(kind: Callable[[World], Panel], *steps: Step) -> Drive:
    """Makes a panel, takes these steps and shows it; a step that fails shows in the panel."""

    def run(world: World) -> Widget:
        panel = kind(world)
        result, failures = None, []
        try:
            for step in steps:
                try:
                    result = step(panel, world)
                except ck.ConfkitError as error:
                    failures.append(error)
            panel.wait(LONG)
            return Widget(panel, result, failures)
        finally:
            panel.close()

    return run


def _devices(world: World) -> Panel:
    return DevicePanel(world.client, world.room_id)


def _rooms(world: World) -> Panel:
    return RoomExplorer(world.client, [world.room_id])


def _occupancy(world: World) -> Panel:
    folder = world.folder / f"panel{world.chance.randrange(10**9)}"
    return OccupancyPanel(world.client, [world.room_id], folder=folder)


def _fill(panel: Any, world: World) -> None:
    panel.fill(
        user_id=f"p{world.chance.randrange(10**9)}",
        user_name="Hall",
        user_address=world.address,
        login_name="admin",
        login_password=world.marks["password in an address"],
        options=json.dumps({"assist_address": world.marks.login()}),
    )


def _listed(panel: Any, world: World) -> str:
    device = imported(world) if world.well else world.device
    panel.refresh()
    return device.user_id


def _within(doing: AbstractContextManager[Any], panel: Any, world: World) -> str:
    with doing:
        return repr(page(panel))


def _somebody(world: World) -> str:
    """A person who is in the room, where there is one."""
    if world.sandbox is None:
        return "nobody"
    password = world.marks["host_password"]
    return str(world.sandbox.join(world.room_id, "Ada", password=password))


def _create(panel: Any, world: World) -> str:
    return panel.create("Stand-up", "ops", host_password=world.marks["host_password"])


_DEVICES = {
    "DevicePanel": (_fill,),
    "DevicePanel.diagnose": (_fill, lambda p, w: p.diagnose()),
    "DevicePanel.clear": (_fill, lambda p, w: p.clear()),
    "DevicePanel.clear_table": (lambda p, w: p.clear_table(),),
    "DevicePanel.fails": (
        lambda p, w: p.fails(ck.ConfkitError(f"at {w.marks.login()}")),
        lambda p, w: p.check_table(table(w, user_name="")),
    ),
    "DevicePanel.list_rooms": (lambda p, w: p.list_rooms(),),
    "DevicePanel.fill": (_fill,),
    "DevicePanel.import_device": (_fill, lambda p, w: p.import_device(preflight=False)),
    "DevicePanel.preflight": (_fill, lambda p, w: p.preflight()),
    "DevicePanel.refresh": (lambda p, w: p.refresh(),),
    "DevicePanel.remove": (lambda p, w: p.remove(_listed(p, w)),),
    "DevicePanel.select": (lambda p, w: p.select(_listed(p, w)),),
    "DevicePanel.check_table": (lambda p, w: p.check_table(table(w)),),
    "DevicePanel.import_table": (lambda p, w: p.import_table(table(w), preflight=False),),
    "DevicePanel.try_again": (
        lambda p, w: p.import_table(table(w), preflight=False),
        lambda p, w: p.try_again(),
    ),
    "Panel.answer": (_fill, lambda p, w: p.answer(False)),
    "Panel.ask": (lambda p, w: p.ask("Yes", "Really?", lambda: None),),
    "Panel.cancel": (lambda p, w: p.cancel(),),
    "Panel.clicked": (lambda p, w: p.clicked(p.refresh)(None),),
    "Panel.close": (lambda p, w: None,),
    "Panel.dismiss": (
        lambda p, w: p.fails(ck.ConfkitError(w.marks.login())),
        lambda p, w: p.dismiss("no such kind"),
    ),
    "Panel.draws": (lambda p, w: p.draws(lambda: None),),
    "Panel.every": (lambda p, w: p.every(0, p.refresh),),
    "Panel.fails": (lambda p, w: Panel.fails(p, ck.ConfkitError(f"{w.marks.login()}")),),
    "Panel.first": (lambda p, w: p.first(p.refresh),),
    "Panel.tell": (lambda p, w: p.tell(f"at {w.marks.login()}", "bad"),),
    "Panel.telling": (lambda p, w: _within(p.telling("reading"), p, w),),
    "Panel.shows": (lambda p, w: p.shows(),),
    "Panel.wait": (lambda p, w: p.wait(LONG),),
    "Panel.wait_for_first": (lambda p, w: p.wait_for_first(),),
    "Panel.working": (lambda p, w: _within(p.working("Waiting"), p, w),),
}
_ROOMS = {
    "RoomExplorer.add": (lambda p, w: p.add(["no-such"]),),
    "RoomExplorer.add_known": (lambda p, w: p.add_known(),),
    "RoomExplorer.check_media_server": (lambda p, w: p.check_media_server(w.room_id),),
    "RoomExplorer.create": (_create,),
    "RoomExplorer.delete": (lambda p, w: p.delete(_create(p, w)),),
    "RoomExplorer.export": (lambda p, w: p.export(),),
    "RoomExplorer.filter": (lambda p, w: p.filter("weekly"),),
    "RoomExplorer.force_offline": (
        lambda p, w: p.select(w.room_id),
        lambda p, w: p.force_offline(_somebody(w)),
    ),
    "RoomExplorer.refresh_visible": (lambda p, w: p.refresh_visible(),),
    "RoomExplorer": (lambda p, w: imported(w), lambda p, w: p.select(w.room_id)),
    "RoomExplorer.sort": (lambda p, w: p.sort("topic"),),
}


def _recorded(panel: Any, world: World) -> None:
    """Samples of the panel's room in its folder."""
    recorder = ck.Recorder(panel.recorded.folder)
    recorder.record(world.client, [world.room_id], every=60, sweeps=1)


_OCCUPANCY = {
    "OccupancyPanel": (lambda p, w: p.value,),
    "OccupancyPanel.capacity": (_recorded, lambda p, w: p.capacity()),
    "OccupancyPanel.close": (lambda p, w: None,),
    "OccupancyPanel.refresh_page": (lambda p, w: p.refresh_page(),),
    "OccupancyPanel.samples": (_recorded, lambda p, w: p.samples(w.room_id)),
    "OccupancyPanel.filter": (lambda p, w: p.filter("weekly", "full"),),
    "RoomsPanel.close": (lambda p, w: None,),
    "RoomsPanel.reads": (lambda p, w: _within(p.reads("Reading"), p, w),),
    "RoomsPanel.refresh": (lambda p, w: p.refresh(),),
    "RoomsPanel.refresh_every": (lambda p, w: p.refresh_every(0),),
    "RoomsPanel.select": (lambda p, w: p.select(w.room_id),),
    "RoomsPanel.wait": (lambda p, w: p.wait(LONG),),
}
_VIEWER = Viewer()
_MODEL = {
    "RoomsModel": (lambda p, w: RoomsModel(w.client, [w.room_id]),),
    "RoomsModel.add": (lambda p, w: p.model.add(RoomIds(["no-such"])),),
    "RoomsModel.adopt": (lambda p, w: p.model.adopt(p.model.known()),),
    "RoomsModel.drop": (lambda p, w: p.model.drop(w.room_id),),
    "RoomsModel.heard": (lambda p, w: p.model.heard(ck.TransportError(f"at {w.marks.login()}")),),
    "RoomsModel.hide": (lambda p, w: p.model.hide(_VIEWER),),
    "RoomsModel.known": (lambda p, w: p.model.known(),),
    "RoomsModel.leave": (lambda p, w: p.model.watch(_VIEWER), lambda p, w: p.model.leave(_VIEWER)),
    "RoomsModel.pick": (lambda p, w: p.model.pick(w.room_id),),
    "RoomsModel.read": (lambda p, w: p.model.read([w.room_id]),),
    "RoomsModel.seconds_left": (lambda p, w: p.model.seconds_left(),),
    "RoomsModel.take": (
        lambda p, w: p.model.take(ck.sweep(w.client, [w.room_id], progress=False)),
    ),
    "RoomsModel.tick": (lambda p, w: p.model.tick(_VIEWER),),
    "RoomsModel.wait": (lambda p, w: p.model.wait(LONG),),
    "RoomsModel.watch": (lambda p, w: p.model.watch(_VIEWER),),
}
_WIRE = {
    "WirePanel": (lambda p, w: p.refresh(),),
    "WirePanel.choose": (lambda p, w: p.choose(-1),),
    "WirePanel.filter": (lambda p, w: p.filter(errors=True),),
    "WirePanel.hide_token_steps": (lambda p, w: p.token_steps(), lambda p, w: p.hide_token_steps()),
    "WirePanel.refresh": (lambda p, w: p.refresh(),),
    "WirePanel.token_steps": (lambda p, w: p.token_steps(),),
}
PANELS: dict[str, Drive] = {
    name: _of(kind, *steps)
    for kind, all_steps in (
        (_devices, _DEVICES),
        (_rooms, _ROOMS),
        (_rooms, _MODEL),
        (_occupancy, _OCCUPANCY),
        (lambda w: WirePanel(w.client, every=0), _WIRE),
    )
    for name, steps in all_steps.items()
}
# What comes of these where all is well, beyond that no step fails: an error in the panel.
DUE: dict[str, Due] = {
    "DevicePanel.diagnose": lambda shown: shown.result.verdict == "not_imported",
    "DevicePanel.fails": lambda shown: [type(one) for one in shown.failures] == [ck.TableError],
    "DevicePanel.import_table": lambda shown: {*shown.result["outcome"]} == {"imported"},
}
# These only arrange what the others show: they are driven nightly.
LIKE_OTHERS = {name for name in PANELS if name.startswith(("Panel.", "LivePanel."))} - {
    "Panel.fails"
} | {
    "OccupancyPanel.wait",
    "OccupancyPanel.close",
    "RoomExplorer.wait",
    "RoomExplorer.sort",
    "DevicePanel.clear",
    "DevicePanel.clear_table",
    "RoomExplorer.filter",
    "WirePanel",
    "DevicePanel",
}
