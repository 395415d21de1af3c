"""What the notebook of all panels shows; runs in its kernel.

A scene is a function that makes a panel, or a few as `shown`, on a service of its own: its names
are the kernel's once a test has set it. Each panel has a stage in the notebook.
"""

import tempfile
from datetime import UTC, datetime
from typing import Any

import ipywidgets

import confkit as ck
from confkit import panels
from confkit.many.reading import Part
from confkit.many.result import Sweep
from confkit.panels import arranging
from confkit.panels.panel import Panel
from confkit.records import Room, RoomUser
from confkit.sandbox import Sandbox

LOGIN = {"login_name": "admin", "login_password": "open-sesame"}


def counter() -> dict[str, Any]:
    """A button of ipywidgets' own that counts its clicks."""
    button, label = ipywidgets.Button(description="count"), ipywidgets.Label("0 clicks")

    def count(_: Any) -> None:
        label.value = f"{int(label.value.split()[0]) + 1} clicks"

    button.on_click(count)
    panel = ipywidgets.VBox([button, label])
    return locals()


def frame() -> dict[str, Any]:
    """What every panel has, alone."""
    client = service()
    panel = Counting(client)
    return locals()


def rooms() -> dict[str, Any]:
    """A room with people and a camera, an empty one, and a number that is none."""
    client = service()
    weekly, town = room(client, "Weekly sync", 4, "Ada", "Bo", "Cy"), room(client, "Town hall", 200)
    ck.import_device(client, weekly, "door", "Front door", client.sandbox.camera())
    panel = panels.RoomExplorer(client, [weekly, town, "404404"])
    return locals()


def many_rooms() -> dict[str, Any]:
    """A hundred thousand rooms, as if they had been read."""
    ids = tuple(f"{number:06}" for number in range(100_000))
    found = [Room(room_id=room_id, topic=f"Room {room_id}", attendee_max=10) for room_id in ids]
    users = [[RoomUser("Ada", "ada")] * (number % 11) for number in range(len(ids))]
    part, time = Part(found, users, {}, 200_001, True), datetime(2026, 1, 1, tzinfo=UTC)
    client = service()
    sweep = Sweep(ids, "SANDBOX", time, 60.0, 200_001, True, (), part, (True, True), None)
    panel = panels.RoomExplorer(client, sweep)
    return locals()


def slow_rooms() -> dict[str, Any]:
    """Three hundred rooms, each of which takes its time from now on."""
    client = service()
    client.sandbox.simulate(rooms=300, days=0)
    panel = panels.RoomExplorer(client, client.sandbox.room_ids())
    panel.wait()
    client.sandbox.fault("/rtc/room/get", delay=0.3)
    return locals()


def occupancy(every: float = 0) -> dict[str, Any]:
    """A full room, an empty one, a number that is none, and a folder for a recording."""
    client, folder = service(), f"{tempfile.mkdtemp()}/occupancy"
    full, town = room(client, "Weekly sync", 3, "Ada", "Bo", "Cy"), room(client, "Town hall", 200)
    panel = panels.OccupancyPanel(client, [full, town, "404404"], every=every)
    return locals()


def devices(imported: bool = False) -> dict[str, Any]:
    """A room, a camera with a login, imported or not, and one that never has a whole picture."""
    client = service()
    room_id = room(client, "Weekly sync", 10)
    camera = client.sandbox.camera(**LOGIN)
    waits = client.sandbox.camera(fault="no_keyframe")
    if imported:
        ck.import_device(client, room_id, "door", "Front door", camera, **LOGIN)
    panel = panels.DevicePanel(client, room_id)
    return locals()


def wire() -> dict[str, Any]:
    """Four calls: a token, a room that is made and read, and one that is not there."""
    client = service()
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops", host_password="open-sesame")
    ck.get_room(client, room_id)
    try:
        ck.get_room(client, "404404")
    except ck.RoomNotFound:
        panel = panels.WirePanel(client)
    return locals()


def filled() -> dict[str, Any]:
    """Each of our panels with much in it, on one service."""
    client = service()
    client.sandbox.simulate(rooms=60, days=0)
    room_ids = [*client.sandbox.room_ids(), "404404"]
    camera = client.sandbox.camera()
    ck.import_device(client, room_ids[0], "door", "Front door", camera)
    tables = panels.RoomExplorer(client, room_ids), panels.OccupancyPanel(client, room_ids, every=0)
    for panel in tables:
        panel.wait()
        panel.select(room_ids[0])
    tried = panels.DevicePanel(client, room_ids[0])
    tried.preflight(user_id="gate", user_name="Gate", user_address=camera)
    calls = panels.WirePanel(client)
    calls.choose(-1)
    calls.token_steps()
    shown = [*tables, tried, calls]
    return locals()


def outage(**place: Any) -> dict[str, Any]:
    """Three panels on a service that can go, and come back at the same ports with what it knew."""
    place["path"] = f"{tempfile.mkdtemp()}/rooms.sqlite"
    sandbox = Sandbox(seed=1, **place).start()
    names = ("base_url", "outgoing_url", "access_key", "secret_key")
    client = ck.connect(**{name: getattr(sandbox, name) for name in names})
    room_id = room(client, "Weekly sync", 10)
    sandbox.join(room_id, "Ada")
    live = panels.RoomExplorer(client, [room_id]), panels.OccupancyPanel(client, [room_id], every=0)
    shown = [*live, panels.DevicePanel(client, room_id)]
    for panel in shown:
        panel.wait()
    return locals()


PANELS = (counter, frame, rooms, occupancy, devices, wire)  # each has a stage of its own
SCENES = {scene.__name__: scene for scene in (*PANELS, many_rooms, slow_rooms, filled, outage)}


def service() -> ck.Client:
    """A client of a new sandbox."""
    return Sandbox(seed=1).start().connect()


def room(client: ck.Client, topic: str, seats: int, *people: str) -> str:
    """A new room with these people in it."""
    room_id = ck.create_room(client, topic, owner_id="ops", attendee_max=seats)
    for name in people:
        client.sandbox.join(room_id, name)
    return room_id


class Counting(Panel):
    """Counts to 300 in six seconds, forgets when it is asked twice, and fails."""

    def __init__(self, client: ck.Client) -> None:
        super().__init__("Counting", client)
        self.value, self.runs = 0, 0
        forget = self.clicked(
            lambda: self.ask("Forget", f"Forget that it is {self.value}?", self.forget)
        )
        count = arranging.button("Count", self.clicked(self.count), "primary")
        fail = arranging.button("Fail", self.clicked(self.fail))
        self.shows(arranging.row(count, arranging.button("Forget", forget, "danger"), fail))

    def count(self) -> None:
        self.runs += 1
        with self.working("Counting", "count") as work:
            for step in range(1, 301):
                if work.cancelled.wait(0.02):
                    break
                work.progress(step, 300)
                self.value = step
        self.tell(f"Counted to {self.value}.", "good", "count")

    def forget(self) -> None:
        self.value = 0
        self.tell("Forgotten.", kind="change")

    def fail(self) -> None:
        with self.working("Failing", "fail"):
            raise ck.ConfigError("The service has moved. Ask for its new address.")


class Stages:
    """A box for each panel of the notebook, and one for all other scenes."""

    def __init__(self) -> None:
        self._set: dict[str, dict[str, Any]] = {}
        self.boxes = {"others": ipywidgets.VBox()}
        for scene in PANELS:
            self.boxes[scene.__name__] = ipywidgets.VBox()
            self.fill(scene.__name__)

    def fill(self, name: str, mark: str = "as-opened", **options: Any) -> dict[str, Any]:
        """The names of a scene that is set anew, once what its box showed before is closed."""
        place = name if name in self.boxes else "others"
        self.boxes[place].children = ()
        before = self._set.pop(place, {})
        for panel in before.get("shown", [before.get("panel")]):
            if isinstance(panel, Panel):
                panel.close()
                panel.wait(10)
        for one in before.values():
            if isinstance(one, ck.Client | Sandbox):
                one.close()
        made = self._set[place] = SCENES[name](**options)
        box = ipywidgets.VBox(made.get("shown") or [made["panel"]])
        box.add_class(mark)
        self.boxes[place].children = (box,)
        return made
