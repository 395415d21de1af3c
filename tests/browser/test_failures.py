"""What goes wrong around a panel: an expired token, a service that is gone, a busy kernel."""

from tests.ports import quiet_port

from .frontends import LAB

CELLS = (
    """
import confkit as ck
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from confkit.sandbox import Sandbox
from tempfile import mkdtemp
file = mkdtemp() + "/rooms.sqlite"
service = Sandbox(seed=1, path=file, port=PORT, outgoing_port=OUTGOING).start()
client = ck.connect(base_url=service.base_url, outgoing_url=service.outgoing_url,
                    access_key=service.access_key, secret_key=service.secret_key)
room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=10)
service.join(room_id, "Ada")
rooms = RoomExplorer(client, [room_id])
""",
    "rooms",
    "occupancy = OccupancyPanel(client, [room_id], every=0)\noccupancy",
    """
devices = DevicePanel(client, room_id)
devices
""",
)


def ports() -> str:
    """The cell that says where the service is, also when it comes back."""
    return f"PORT, OUTGOING = {quiet_port()}, {quiet_port()}"


def test_a_token_expires_and_the_service_stops(open_notebook):
    """An expired token is renewed without a word. A service that is gone is told in each panel,
    with the next step; rooms keep what was read of them, with its age, while the panel tries again
    by itself, and says so when the service is back."""
    opened = open_notebook(LAB, ports(), *CELLS)
    kernel = opened.kernel
    kernel.run("for panel in (rooms, occupancy, devices): panel.wait()")
    refresh = [opened.panel.nth(place).get_by_role("button", name="Refresh") for place in range(3)]
    kernel.run("service.advance(10**6); service.join(room_id, 'Bo')")
    for button in refresh:
        button.click()
    for place in range(2):
        opened.panel.nth(place).get_by_text("2 of 10").wait_for()
    kernel.run("for panel in (rooms, occupancy, devices): panel.wait()")
    assert opened.page.get_by_role("alert").filter(has_text="602").count() == 0
    kernel.run("service.close()")
    for button in refresh:
        button.click()
    for place in range(3):
        opened.panel.nth(place).get_by_text("refused").first.wait_for()
    for name in ("rooms", "occupancy"):
        known = kernel.run(f"print({name}.value.users.to_json(orient='values'))")
        assert known == "[2]"
    for place in range(2):
        panel = opened.panel.nth(place)
        panel.get_by_label("Automatic refresh").select_option("every 5 s")
        panel.get_by_text(" s old").first.wait_for()
        panel.get_by_role("alert").get_by_text("1 room keeps its last known values").wait_for()
    kernel.run("service = Sandbox(seed=1, path=file, port=PORT, outgoing_port=OUTGOING).start()")
    for place in range(2):
        opened.panel.nth(place).scroll_into_view_if_needed()
        opened.panel.nth(place).get_by_text("has been answering again since").wait_for(
            timeout=60_000
        )
    kernel.run("service.close()")


def test_a_click_while_the_kernel_is_busy_takes_effect_once(front, open_notebook):
    """A button that is clicked while a cell runs does what it does, once."""
    opened = open_notebook(front, ports(), CELLS[0], CELLS[-1])
    kernel = opened.kernel
    kernel.run("devices.wait(); before = service.count()")
    kernel.start("import time; time.sleep(2); done = True")
    opened.panel.get_by_role("button", name="Refresh").click()
    assert kernel.run("print(done)") == "True"
    count = "devices.wait(); print(service.count() - before)"
    opened.until(lambda: kernel.run(count) != "0")
    opened.page.wait_for_timeout(300)
    assert kernel.run(count) == "1"
