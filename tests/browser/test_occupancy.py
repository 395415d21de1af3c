"""OccupancyPanel in real browsers."""

from .accessibility import violations
from .frontends import LAB
from .themes import THEMES, show_in

CELLS = (
    """
import tempfile
import confkit as ck
from confkit.panels import OccupancyPanel
client = ck.connect("sandbox")
sandbox = client.sandbox
full = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=3)
for name in ("Ada", "Bo", "Cy"):
    sandbox.join(full, name)
town = ck.create_room(client, "Town hall", owner_id="board", attendee_max=200)
folder = tempfile.mkdtemp() + "/occupancy"
""",
    """
panel = OccupancyPanel(client, [full, town, "404404"], every=0)
panel
""",
)


def test_rooms_are_watched_and_recorded(front, open_notebook):
    """Bars with the fullest on top, a failure told as one, a curve, a recording on and off."""
    opened = open_notebook(front, *CELLS)
    panel, kernel = opened.panel, opened.kernel
    rows = panel.get_by_role("grid", name="Rooms").locator("tbody tr")
    rows.first.get_by_text("full").wait_for()
    assert "Weekly sync" in rows.first.inner_text()
    panel.get_by_text("404404").first.wait_for()
    kernel.run('guest = sandbox.join(town, "Dee")')
    panel.get_by_role("button", name="Refresh").click()
    rows.filter(has_text="Town hall").get_by_text("1 of 200").wait_for()
    assert kernel.run("print(panel.value.users.to_json(orient='values'))") == "[3,1,null]"
    rows.first.click()
    panel.locator("img").first.wait_for()
    panel.get_by_label("Folder").fill(kernel.run("print(folder)"))
    panel.get_by_role("button", name="Record").click()
    panel.get_by_role("button", name="Stop").click()
    panel.get_by_role("button", name="Record").wait_for()
    assert kernel.run("print(len(ck.load_occupancy(folder)))") == "3"


def test_rooms_are_watched_with_the_keyboard_alone(open_notebook):
    """Tab comes to the table, Enter picks a room, whose curve stands beside it as text, too."""
    opened = open_notebook(LAB, *CELLS)
    panel, keyboard = opened.panel, opened.page.keyboard
    rows = panel.get_by_role("grid", name="Rooms").locator("tbody tr")
    opened.until(lambda: rows.count() == 3)
    opened.tab_to(panel.get_by_role("button", name="Refresh"))
    keyboard.press("Enter")
    opened.tab_to(rows.first)
    keyboard.press("Enter")
    panel.locator("img").first.wait_for()
    opened.tab_to(panel.get_by_label("As text"))
    keyboard.press("Space")
    panel.locator("pre").get_by_text("Weekly sync").wait_for()


def test_occupancy_breaks_no_rule_of_accessibility(open_notebook, picture):
    """axe-core finds nothing with a curve, a failure and a recording shown, in either theme."""
    opened = open_notebook(LAB, *CELLS)
    panel, kernel = opened.panel, opened.kernel
    kernel.run("panel.wait()\npanel.record(folder)\npanel.select(full)")
    panel.locator("img").first.wait_for()
    panel.get_by_role("button", name="Stop").wait_for()
    for theme in THEMES:
        show_in(opened.page, theme)
        assert violations(opened.page) == []
        picture(opened, f"occupancy {theme}")
    kernel.run("panel.stop_recording()")


def test_rows_in_sight_are_read_again_by_themselves(open_notebook):
    """The panel follows the service while it is seen, and rests while it is not."""
    opened = open_notebook(LAB, CELLS[0], CELLS[1].replace("every=0", "every=0.5"))
    panel, kernel = opened.panel, opened.kernel
    rows = panel.get_by_role("grid", name="Rooms").locator("tbody tr")
    rows.filter(has_text="Town hall").get_by_text("0 of 200").wait_for()
    kernel.run('sandbox.join(town, "Dee")')
    rows.filter(has_text="Town hall").get_by_text("1 of 200").wait_for()
    panel.evaluate("panel => { panel.style.display = 'none' }")
    count = "print(sandbox.count('/rtc/room/get'))"

    def rests():
        before = kernel.run(count)
        opened.page.wait_for_timeout(1500)
        return kernel.run(count) == before

    opened.until(rests)
