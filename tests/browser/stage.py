"""What the notebook of all panels shows; runs in its kernel.

A scene is a function that makes a panel, or a few as `shown`, on a service of its own: its names
are the kernel's once a test has set it.
"""

from typing import Any

import ipywidgets

import confkit as ck
from confkit import panels
from confkit.panels import arranging
from confkit.panels.panel import Panel
from confkit.panels.parts import Field
from confkit.sandbox import Sandbox


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


def occupancy(every: float = 0) -> dict[str, Any]:
    """A full room, an empty one, and a number that is none."""
    client = service()
    full, town = room(client, "Weekly sync", 3, "Ada", "Bo", "Cy"), room(client, "Town hall", 200)
    panel = panels.OccupancyPanel(client, [full, town, "404404"], every=every)
    return locals()


def devices() -> dict[str, Any]:
    """A room, and a camera with a login."""
    client = service()
    room_id = room(client, "Weekly sync", 10)
    camera = client.sandbox.camera(login_name="admin", login_password="open-sesame")
    panel = panels.DevicePanel(client, room_id)
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
    shown = [*tables, tried]
    return locals()


HOSTILE = [
    "<img src=x onerror='window.pwned=1'>",
    "<script>window.pwned=1</script><pwned>",
    "'\" onmouseover=window.pwned=1 autofocus onfocus=window.pwned=1 x='",
    "</td></table><svg onload=window.pwned=1>",
    "$\\frac{a}{b}$ \\(x\\) $\\href{javascript:pwned()}{x}$",
    "[x](javascript:window.pwned=1)",
]


def hostile() -> dict[str, Any]:
    """Rooms, people, a device and reports that are called as scripts and formulas."""
    client = service()
    for number, text in enumerate(HOSTILE):
        ck.create_room(client, text, owner_id=text, attendee_max=2, room_extend_id=text)
        client.sandbox.join(text, HOSTILE[number - 1])
    mark, name, data, *_ = HOSTILE
    ck.import_device(client, mark, name, mark, client.sandbox.camera(), user_data=data)
    rooms, occupancy = panels.RoomExplorer(client, HOSTILE), panels.OccupancyPanel(client, HOSTILE)
    rooms.wait()
    rooms.select(mark)
    shown, output = [rooms, panels.DevicePanel(client, mark), occupancy], ipywidgets.Output()
    for report in (
        ck.Checklist([ck.Check(text, "FAIL", text, text) for text in HOSTILE]),
        ck.preflight(f"rtsp://{mark}", timeout=1),
        ck.diagnose_device(client, mark, HOSTILE[4]),
        ck.explain(HOSTILE[4]),
        ck.occupancy_chart(rooms.value),
    ):
        output.append_display_data(report)
    below = [output]
    return locals()


def secrets() -> dict[str, Any]:
    """All that secrets are typed into, and ipywidgets' own Password, which is saved."""
    client = service()
    room_id = room(client, "Weekly sync", 10)
    fields = {kind: Field(kind, kind) for kind in ("password", "text", "file")}
    box = ipywidgets.VBox([ipywidgets.Password(description="control"), *fields.values()])
    box.add_class("fields")
    devices, rooms = panels.DevicePanel(client, room_id), panels.RoomExplorer(client, [room_id])
    shown, below = [devices, rooms], [box]
    return locals()


SCENES = {
    scene.__name__: scene for scene in (frame, rooms, occupancy, devices, filled, hostile, secrets)
}


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
    """Counts to 300 in half a minute, forgets when it is asked twice, and fails."""

    def __init__(self, client: ck.Client) -> None:
        super().__init__("Counting", client)
        self.value = 0
        forget = self.clicked(
            lambda: self.ask("Forget", f"Forget that it is {self.value}?", self.forget)
        )
        count = arranging.button("Count", self.clicked(self.count), "primary")
        fail = arranging.button("Fail", self.clicked(self.fail))
        self.shows(arranging.row(count, arranging.button("Forget", forget, "danger"), fail))

    def count(self) -> None:
        with self.working("Counting", "count") as work:
            for step in range(1, 301):
                if work.cancelled.wait(0.1):
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


class Stage:
    """A box in the notebook that shows one scene after another."""

    def __init__(self) -> None:
        self.box, self._names = ipywidgets.VBox(), dict[str, Any]()

    def fill(self, scene: str, mark: str, **options: Any) -> dict[str, Any]:
        """The names of a scene that is set anew, once what was shown before is closed."""
        self.box.children = ()
        before = self._names
        for panel in before.get("shown", [before.get("panel")] if before else []):
            panel.close()
            panel.wait(10)
        if before:
            before["client"].close()
            before["client"].sandbox.close()
        made = self._names = SCENES[scene](**options)
        shown = ipywidgets.VBox([*(made.get("shown") or [made["panel"]]), *made.get("below", ())])
        shown.add_class(mark)
        self.box.children = [shown]
        return made
