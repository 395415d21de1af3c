"""What the notebook of all panels shows; runs in its kernel.

Each panel has a stage, which a test fills anew: with a panel on a service of its own.
"""

import tempfile
from datetime import UTC, datetime
from typing import Any

import ipywidgets

import confkit as ck
from confkit.panels import (
    ConnectPanel,
    DevicePanel,
    OccupancyPanel,
    RoomExplorer,
    WirePanel,
    arranging,
)
from confkit.panels.panel import Panel
from confkit.records import Room, RoomUser
from confkit.sandbox import Sandbox
from confkit.sweeping.reading import Part
from confkit.sweeping.result import Sweep


def counter() -> dict[str, Any]:
    """A button of ipywidgets' own that counts its clicks."""
    panel = ipywidgets.VBox([
        button := ipywidgets.Button(description="count"), label := ipywidgets.Label("0 clicks")
    ])  # fmt: skip

    def count(_: Any) -> None:
        label.value = f"{int(label.value.split()[0]) + 1} clicks"

    button.on_click(count)
    return {"panel": panel, "label": label}


def frame() -> dict[str, Any]:
    """What every panel has, alone."""
    client = service()
    return {"client": client, "panel": Counting(client)}


def rooms() -> dict[str, Any]:
    """Two rooms, one with three people and a camera, and a number that is none."""
    client = service()
    sandbox = client.sandbox
    weekly = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=4)
    for name in ("Ada", "Bo", "Cy"):
        sandbox.join(weekly, name)
    town = ck.create_room(client, "Town hall", owner_id="board", attendee_max=200)
    ck.import_device(client, weekly, "door", "Front door", sandbox.camera())
    panel = RoomExplorer(client, [weekly, town, "404404"])
    return {"client": client, "sandbox": sandbox, "weekly": weekly, "panel": panel}


def many_rooms() -> dict[str, Any]:
    """A hundred thousand rooms, as if they had been read."""
    ids = tuple(f"{number:06}" for number in range(100_000))
    found = [Room(room_id=room_id, topic=f"Room {room_id}", attendee_max=10) for room_id in ids]
    users = [[RoomUser("Ada", "ada")] * (number % 11) for number in range(len(ids))]
    part = Part(found, users, {}, 200_001, True)
    sweep = Sweep(
        ids, "SANDBOX", datetime(2026, 1, 1, tzinfo=UTC), 60.0, 200_001, True, (), part,
        (True, True), None,
    )  # fmt: skip
    client = service()
    return {"client": client, "panel": RoomExplorer(client, sweep)}


def slow_rooms() -> dict[str, Any]:
    """Three hundred rooms, each of which takes its time from now on."""
    client = service()
    client.sandbox.simulate(rooms=300, days=0)
    panel = RoomExplorer(client, client.sandbox.room_ids())
    panel.wait()
    client.sandbox.fault("/rtc/room/get", delay=0.3)
    return {"client": client, "panel": panel}


def occupancy(every: float = 0) -> dict[str, Any]:
    """A full room, an empty one, a number that is none, and a folder for a recording."""
    client = service()
    full = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=3)
    for name in ("Ada", "Bo", "Cy"):
        client.sandbox.join(full, name)
    town = ck.create_room(client, "Town hall", owner_id="board", attendee_max=200)
    return {
        "client": client, "sandbox": client.sandbox, "full": full, "town": town,
        "folder": f"{tempfile.mkdtemp()}/occupancy",
        "panel": OccupancyPanel(client, [full, town, "404404"], every=every),
    }  # fmt: skip


def devices(imported: bool = False) -> dict[str, Any]:
    """A room, a camera with a login, imported or not, and one that never has a whole picture."""
    client = service()
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops")
    login = {"login_name": "admin", "login_password": "open-sesame"}
    camera, waits = client.sandbox.camera(**login), client.sandbox.camera(fault="no_keyframe")
    if imported:
        ck.import_device(client, room_id, "door", "Front door", camera, **login)
    panel = DevicePanel(client, room_id)
    return {
        "client": client, "room_id": room_id, "camera": camera, "waits": waits, "panel": panel,
    }  # fmt: skip


def wire() -> dict[str, Any]:
    """Four calls: a token, a room that is made and read, and one that is not there."""
    client = service()
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops", host_password="open-sesame")
    ck.get_room(client, room_id)
    try:
        ck.get_room(client, "404404")
    except ck.RoomNotFound:
        panel = WirePanel(client)
    return {"client": client, "room_id": room_id, "panel": panel}


def connect() -> dict[str, Any]:
    """A service to connect to, that no profile knows."""
    client = service()
    return {"client": client, "service": client.sandbox, "panel": ConnectPanel()}


def filled() -> dict[str, Any]:
    """Each of our panels with much in it, on one service."""
    client = service()
    client.sandbox.simulate(rooms=60, days=0)
    room_ids = [*client.sandbox.room_ids(), "404404"]
    camera = client.sandbox.camera()
    ck.import_device(client, room_ids[0], "door", "Front door", camera)
    shown = [RoomExplorer(client, room_ids), OccupancyPanel(client, room_ids, every=0)]
    for panel in shown:
        panel.wait()
        panel.select(room_ids[0])
    shown.append(DevicePanel(client, room_ids[0]))
    shown[-1].preflight(user_id="gate", user_name="Gate", user_address=camera)
    shown.append(WirePanel(client))
    shown[-1].choose(-1)
    shown[-1].token_steps()
    shown.append(ConnectPanel())
    shown[-1].fill("")
    shown[-1].fold(False)
    return {"client": client, "panels": shown}


def outage(port: int, outgoing_port: int) -> dict[str, Any]:
    """Three panels on a service that can go, and come back at the same ports with what it knew."""
    place = {
        "path": f"{tempfile.mkdtemp()}/rooms.sqlite", "port": port, "outgoing_port": outgoing_port,
    }  # fmt: skip
    sandbox = Sandbox(seed=1, **place).start()
    client = ck.connect(
        base_url=sandbox.base_url, outgoing_url=sandbox.outgoing_url,
        access_key=sandbox.access_key, secret_key=sandbox.secret_key,
    )  # fmt: skip
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=10)
    sandbox.join(room_id, "Ada")
    shown = [
        RoomExplorer(client, [room_id]), OccupancyPanel(client, [room_id], every=0),
        DevicePanel(client, room_id),
    ]  # fmt: skip
    for panel in shown:
        panel.wait()
    return {
        "client": client, "sandbox": sandbox, "place": place, "room_id": room_id, "panels": shown,
    }  # fmt: skip


PANELS = (counter, frame, rooms, occupancy, devices, wire, connect)  # each in a cell of its own
SCENES = (*PANELS, many_rooms, slow_rooms, filled, outage)


def service() -> ck.Client:
    """A client of a new sandbox."""
    return Sandbox(seed=1).start().connect()


class Counting(Panel):
    """Counts slowly, forgets when it is asked twice, and fails."""

    def __init__(self, client: ck.Client) -> None:
        super().__init__("Counting", client)
        self.value, self.runs = 0, 0
        self.shows(arranging.row(
            arranging.button("Count", self.clicked(self.count), "primary"),
            arranging.button("Forget", self.asks("Forget", self.question, self.forget), "danger"),
            arranging.button("Fail", self.clicked(self.fail)),
        ))  # fmt: skip

    def count(self) -> None:
        """Counts to 300 in six seconds, or until it is cancelled."""
        self.runs += 1
        with self.working("Counting", "count") as work:
            for step in range(1, 301):
                if work.cancelled.wait(0.02):
                    break
                work.progress(step, 300)
                self.value = step
        self.tell(f"Counted to {self.value}.", "good", "count")

    def question(self) -> str:
        """What is asked before it forgets."""
        return f"Forget that it is {self.value}?"

    def forget(self) -> None:
        """Begins at 0 again."""
        self.value = 0
        self.tell("Forgotten.", kind="change")

    def fail(self) -> None:
        """Raises an error with a next step."""
        with self.working("Failing", "fail"):
            raise ck.ConfigError("The service has moved. Ask for its new address.")


class Stages:
    """A box for each panel of the notebook, and one for all other scenes."""

    def __init__(self) -> None:
        self._boxes: dict[str, ipywidgets.VBox] = {}
        self._there: dict[str, dict[str, Any]] = {}  # what a box shows

    def place(self, name: str) -> ipywidgets.VBox:
        """The box of this name: with its panel, unless it is for others."""
        self._boxes[name] = ipywidgets.VBox()
        if name in {scene.__name__ for scene in PANELS}:
            self.fill(name)
        return self._boxes[name]

    def fill(self, name: str, mark: str = "as-opened", **options: Any) -> dict[str, Any]:
        """The scene's names, once it is set anew, and all is closed that the box showed before."""
        place = name if name in self._boxes else "others"
        box = self._boxes[place]
        box.children = ()
        before = self._there.pop(place, {})
        for panel in before.pop("panels", [before.pop("panel", None)]):
            if isinstance(panel, Panel):
                panel.close()
                panel.wait(10)
        for one in before.values():
            if isinstance(one, ck.Client | Sandbox):
                one.close()
        [scene] = [scene for scene in SCENES if scene.__name__ == name]
        made = self._there[place] = scene(**options)
        box.children = (ipywidgets.VBox(made.get("panels") or [made["panel"]]),)
        box.children[0].add_class(mark)
        return made
