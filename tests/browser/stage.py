"""What the notebook of all panels shows. A scene is a function that runs in its kernel and makes a
panel, or several in `shown`, on a service of its own."""

from typing import Any

import ipywidgets

import confkit as ck
from confkit import panels
from confkit.sandbox import Sandbox

Scene = dict[str, Any]


def blocks() -> Scene:
    """A panel of blocks: what counts for half a minute, asks a question, and fails."""
    client, job, counted = service(), panels.Job(), [7]

    def count() -> str:
        counted[0] = 0
        while counted[0] < 300 and not job.cancelled.wait(0.1):
            counted[0] += 1
            job.progress(counted[0], 300)
        return f"Counted to {counted[0]}."

    def forget() -> str:
        counted[0] = 0
        return "Forgotten."

    def fail() -> str:
        raise ck.ConfigError("The service has moved", "Ask for its new address.")

    rows = [
        job.row({"Count": count, "Fail": fail}),
        job.row({"Forget": lambda: panels.Question(f"Forget {counted[0]}?", forget, "Forget it")}),
    ]
    panel = ipywidgets.VBox([panels.Status(), *rows]).add_class("confkit-panel")
    return locals()


def rooms(every: float = 0) -> Scene:
    """A room with people and a camera, an empty one, and a number that is none."""
    client = service()
    weekly, town = room(client, "Weekly sync", 4, "Ada", "Bo", "Cy"), room(client, "Town hall", 200)
    ck.import_device(client, weekly, "door", "Front door", client.sandbox.camera())
    panel = panels.RoomExplorer(client, [weekly, town, "404404"], every)
    return locals()


def occupancy(every: float = 0) -> Scene:
    """A full room, an empty one, and a number that is none."""
    client = service()
    full, town = room(client, "Weekly sync", 3, "Ada", "Bo", "Cy"), room(client, "Town hall", 200)
    panel = panels.OccupancyPanel(client, [full, town, "404404"], every)
    return locals()


def devices() -> Scene:
    """A room, and a camera with a login."""
    client = service()
    room_id = room(client, "Weekly sync", 10)
    camera = client.sandbox.camera(login_name="admin", login_password="open-sesame")
    panel = panels.DevicePanel(client, room_id, 0)
    return locals()


def filled() -> Scene:
    """Each of our panels with much in it, on one service; the first one twice."""
    client = service()
    client.sandbox.simulate(rooms=300, days=0)
    room_ids = [*client.sandbox.room_ids(), "404404"]
    camera = client.sandbox.camera()
    ck.import_device(client, room_ids[0], "door", "Front door", camera)
    refresh = panels.Refresh(client, room_ids, 0)
    tables = [
        kind(client, refresh=refresh) for kind in (panels.RoomExplorer, panels.OccupancyPanel)
    ]
    for table in tables:
        table.select(room_ids[0])
    tried = panels.DevicePanel(client, room_ids[0], 0)
    tried.preflight(user_id="gate", user_name="Gate", user_address=camera)
    shown = [*tables, tried, tables[0]]
    return locals()


HOSTILE = [
    "<img src=x onerror='window.pwned=1'>",
    "<script>window.pwned=1</script><pwned>",
    "'\" onmouseover=window.pwned=1 autofocus onfocus=window.pwned=1 x='",
    "</td></table><svg onload=window.pwned=1>",
    "$\\frac{a}{b}$ \\(x\\) $\\href{javascript:pwned()}{x}$",
    "[x](javascript:window.pwned=1)",
]


def hostile() -> Scene:
    """Rooms, people, a device and reports that are called as scripts and formulas."""
    client = service()
    for number, text in enumerate(HOSTILE):
        ck.create_room(client, text, owner_id=text, attendee_max=2, room_extend_id=text)
        client.sandbox.join(text, HOSTILE[number - 1])
    mark, name, data, *_ = HOSTILE
    ck.import_device(client, mark, name, mark, client.sandbox.camera(), user_data=data)
    rooms, occupancy = panels.RoomExplorer(client, HOSTILE), panels.OccupancyPanel(client, HOSTILE)
    rooms.select(mark)
    occupancy.select(mark)
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


def secrets() -> Scene:
    """All that secrets are typed into, and ipywidgets' own Password, which is saved."""
    client = service()
    room_id = room(client, "Weekly sync", 10)
    fields = {
        kind: panels.PasswordField(kind, visible=kind == "text") for kind in ("password", "text")
    }
    box = ipywidgets.VBox([ipywidgets.Password(description="control"), *fields.values()])
    box.add_class("fields")
    devices, rooms = panels.DevicePanel(client, room_id, 0), panels.RoomExplorer(client, [room_id])
    shown, below = [devices, rooms], [box]
    return locals()


def service() -> ck.Client:
    """A client of a new sandbox."""
    return Sandbox(seed=1).start().connect()


def room(client: ck.Client, topic: str, seats: int, *people: str) -> str:
    """A new room with these people in it."""
    room_id = ck.create_room(client, topic, owner_id="ops", attendee_max=seats)
    for name in people:
        client.sandbox.join(room_id, name)
    return room_id


class Stage:
    """A box in the notebook that shows one scene after another."""

    def __init__(self) -> None:
        self.box, self._names = ipywidgets.VBox(), Scene()

    def fill(self, scene: str, mark: str, **options: Any) -> Scene:
        """The names of a scene that is set anew, once what was shown before is closed."""
        self.box.children = ()
        for panel in _panels(self._names):
            panel.close()
        if self._names:
            self._names["client"].close()
            self._names["client"].sandbox.close()
        self._names = globals()[scene](**options)
        box = ipywidgets.VBox([*_panels(self._names), *self._names.get("below", ())])
        self.box.children = [box.add_class(mark)]
        return self._names


def _panels(names: Scene) -> list[Any]:
    return names.get("shown") or ([names["panel"]] if names else [])
