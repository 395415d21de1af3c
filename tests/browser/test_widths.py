"""Every panel on narrow and on wide screens."""

from .frontends import LAB

CELLS = (
    """
import confkit as ck
from confkit.panels import ConnectPanel, DevicePanel, OccupancyPanel, RoomExplorer, WirePanel
client = ck.connect("sandbox")
client.sandbox.simulate(rooms=60, days=0)
room_ids = [*client.sandbox.room_ids(), "404404"]
camera = client.sandbox.camera()
ck.import_device(client, room_ids[0], "door", "Front door", camera)
rooms = RoomExplorer(client, room_ids)
rooms.wait()
rooms.select(room_ids[0])
rooms
""",
    """
occupancy = OccupancyPanel(client, room_ids, every=0)
occupancy.wait()
occupancy.select(room_ids[0])
occupancy
""",
    """
devices = DevicePanel(client, room_ids[0])
devices.preflight(user_id="gate", user_name="Gate", user_address=camera)
devices
""",
    """
wire = WirePanel(client)
wire.choose(-1)
wire.token_steps()
wire
""",
    """
connect = ConnectPanel()
connect.fill("")
connect.fold(False)
connect
""",
)
OVERFLOWS = """panel => [...panel.querySelectorAll('*')].filter(one => {
    const frame = one.parentElement.closest('.confkit-table-frame, pre');
    return !frame && one.getBoundingClientRect().right > panel.getBoundingClientRect().right + 1;
}).map(one => one.outerHTML.slice(0, 200))"""


def test_nothing_stands_out_of_a_panel(open_notebook):
    """From 480 to 1,600 pixels everything is inside its panel; wide tables move in their frame."""
    opened = open_notebook(LAB, *CELLS)
    opened.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    assert opened.panel.count() == 5
    for width in (480, 800, 1600):
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.wait_for_timeout(500)
        for place in range(5):
            assert opened.panel.nth(place).evaluate(OVERFLOWS) == [], (width, place)
