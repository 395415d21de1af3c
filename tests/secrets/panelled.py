"""How the panels are driven: their methods, and what a saved notebook would hold of them."""

import json
from collections.abc import Callable
from typing import Any

import confkit as ck
from confkit import panels
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer, WirePanel
from confkit.panels.panel import Panel
from tests.panels.pressing import LONG, page, within
from tests.secrets.drives import Due
from tests.secrets.given import GIVEN, Drive, called, device, emptied, table
from tests.secrets.names import public
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
        self._state = [json.dumps(one.get_state(), default=repr) for one in within(panel)]

    def __repr__(self) -> str:
        return f"{self._told} {self._state}"


def _filled(panel: Any, world: World) -> None:
    emptied(world)
    panel.fill(
        user_id=f"p{world.chance.randrange(10**9)}",
        user_name="Hall",
        user_address=world.address,
        login_name="admin",
        login_password=world.marks["password in an address"],
        options=json.dumps({"assist_address": world.marks.login()}),
    )


def _listed(panel: Any, world: World) -> str:
    """A device that the panel lists."""
    user_id = device(world).user_id
    panel.refresh()
    return user_id


def _create(panel: Any, world: World) -> str:
    return panel.create("Stand-up", "ops", host_password=world.marks["host_password"])


def _recorded(panel: Any, world: World) -> None:
    """Samples of the panel's room in its folder."""
    recorder = ck.Recorder(panel.recorded.folder)
    recorder.record(world.client, [world.room_id], every=60, sweeps=1)


def _occupancy(world: World) -> Panel:
    folder = world.folder / f"panel{world.chance.randrange(10**9)}"
    return OccupancyPanel(world.client, [world.room_id], folder=folder)


# By the class of a method: how a panel with it is made, and what is done in it first.
MADE: dict[str, tuple[Callable[[World], Panel], Step]] = {
    "DevicePanel": (lambda w: DevicePanel(w.client, w.room_id), _filled),
    "OccupancyPanel": (_occupancy, _recorded),
    "RoomExplorer": (
        lambda w: RoomExplorer(w.client, [w.room_id]),
        lambda p, w: p.select(w.room_id),
    ),
    "WirePanel": (lambda w: WirePanel(w.client, every=0), lambda p, w: p.token_steps()),
}
MADE |= {
    "Panel": MADE["DevicePanel"],
    "RoomsModel": MADE["RoomExplorer"],
    "RoomsPanel": MADE["OccupancyPanel"],
}
# Those of which a call does not tell all.
OWN: dict[str, Step] = {
    "DevicePanel.fails": lambda p, w: p.check_table(table(w, user_name="")),
    "DevicePanel.refresh": _listed,
    "DevicePanel.remove": lambda p, w: p.remove(_listed(p, w)),
    "DevicePanel.select": lambda p, w: p.select(_listed(p, w)),
    "DevicePanel.try_again": lambda p, w: (
        p.import_table(table(w), preflight=False),
        p.try_again(),
    ),
    "OccupancyPanel.close": lambda p, w: None,  # as it does when it was shown
    "Panel.answer": lambda p, w: p.answer(False),
    "Panel.close": lambda p, w: None,
    "Panel.fails": lambda p, w: Panel.fails(p, GIVEN["error"](w)),
    "RoomExplorer.delete": lambda p, w: p.delete(_create(p, w)),
    "RoomsPanel.close": lambda p, w: None,
    "RoomsPanel.refresh_every": lambda p, w: p.refresh_every(0),
}


def _drive(name: str) -> Drive:
    owner, _, member = name.partition(".")
    kind, begins = MADE[owner]

    def taken(panel: Any, world: World) -> Any:
        if name in OWN or not member:
            return OWN.get(name, getattr)(panel, world) if member else None
        thing = panel.model if owner == "RoomsModel" else panel
        return called(world, name, getattr(thing, member))

    def run(world: World) -> Widget:
        panel = kind(world)
        result, failures = None, []
        try:
            for step in (begins, taken):
                try:
                    result = step(panel, world)
                except ck.ConfkitError as error:
                    failures.append(error)
            panel.wait(LONG)
            return Widget(panel, result, failures)
        finally:
            panel.close()

    return run


PANELS = {name: _drive(name) for name in public(panels)}
# What comes of these where all is well, beyond that no step fails: an error in the panel.
DUE: dict[str, Due] = {
    "DevicePanel.diagnose": lambda shown: shown.result.verdict == "not_imported",
    "DevicePanel.fails": lambda shown: [type(one) for one in shown.failures] == [ck.TableError],
    "DevicePanel.import_table": lambda shown: {*shown.result["outcome"]} == {"imported"},
}
# These only arrange what the others show: they are driven nightly.
_ARRANGE = "DevicePanel.clear DevicePanel.clear_table DevicePanel.unfold OccupancyPanel.close"
LIKE_OTHERS = {name for name in PANELS if name.startswith("Panel.")} - {"Panel.fails"}
LIKE_OTHERS |= {*_ARRANGE.split(), "DevicePanel", "WirePanel", "RoomExplorer.sort"}
