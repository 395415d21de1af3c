"""RoomExplorer in real browsers."""

from .accessibility import violations
from .answers import yes
from .frontends import LAB
from .themes import THEMES, show_in

CELLS = (
    """
import confkit as ck
from confkit.panels import RoomExplorer
client = ck.connect("sandbox")
sandbox = client.sandbox
weekly = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=4)
for name in ("Ada", "Bo", "Cy"):
    sandbox.join(weekly, name)
town = ck.create_room(client, "Town hall", owner_id="board", attendee_max=200)
ck.import_device(client, weekly, "door", "Front door", sandbox.camera())
""",
    """
panel = RoomExplorer(client, [weekly, town, "404404"])
panel
""",
)


def rooms_shown(panel):
    """The table of the rooms, which stands before that of a room's people."""
    return panel.locator(".confkit-table").first.locator("tbody tr")


def test_rooms_are_found_looked_into_created_and_deleted(front, open_notebook):
    """Search, sort, select; the media server is asked for by a button; put off, create, delete,
    each after a question that names it."""
    opened = open_notebook(front, *CELLS)
    panel, kernel, page = opened.panel, opened.kernel, opened.page
    rows = rooms_shown(panel)
    opened.until(lambda: rows.count() == 3)
    rows.filter(has_text="404404").get_by_text("not read").first.wait_for()
    panel.get_by_label("Search").fill("weekly")
    opened.until(lambda: rows.count() == 1)
    assert kernel.run("print(list(panel.value.topic))") == "['Weekly sync']"
    rows.first.click()
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    assert kernel.run("print(sandbox.count('/sdk/get_mcu'))") == "0"
    panel.get_by_role("button", name="Check media server").click()
    panel.get_by_role("status").get_by_text("accepts connections").wait_for()
    panel.get_by_text("Asked on ").wait_for()
    panel.get_by_role("grid", name="People and devices").get_by_text("Ada").click()
    panel.get_by_role("button", name="Force offline").click()
    yes(panel, 'Put "Ada"')
    panel.get_by_role("status").get_by_text("Put ").wait_for()
    assert "Ada" not in kernel.run("print(ck.get_room_users(client, weekly))")
    panel.get_by_role("button", name="New room").click()
    panel.get_by_label("Topic").fill("Stand-up")
    panel.get_by_label("Owner").fill("ops")
    panel.get_by_role("button", name="Create room").click()
    panel.get_by_role("status").get_by_text('Created room "Stand-up"').wait_for()
    opened.until(lambda: rows.count() == 4)
    panel.get_by_role("button", name="Delete room").click()
    yes(panel, 'Delete room "Stand-up"')
    panel.get_by_role("status").get_by_text("Deleted room").wait_for()
    opened.until(lambda: rows.count() == 3)
    panel.get_by_role("button", name="Export CSV").click()
    with page.expect_download() as download:
        panel.get_by_role("link", name="Save rooms.csv").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert len(lines) == 4
    assert lines == kernel.run("print(panel.export())").splitlines()


def test_rooms_are_found_and_deleted_with_the_keyboard_alone(open_notebook):
    """Typing searches, arrows and Enter pick a room, Escape says no, Enter on Delete says yes."""
    opened = open_notebook(LAB, *CELLS)
    panel, keyboard = opened.panel, opened.page.keyboard
    rows = rooms_shown(panel)
    opened.until(lambda: rows.count() == 3)
    opened.tab_to(panel.get_by_label("Search"))
    keyboard.type("town")
    opened.until(lambda: rows.count() == 1)
    opened.tab_to(rows.first)
    keyboard.press("Enter")
    delete = panel.get_by_role("button", name="Delete room")
    opened.tab_to(delete)
    asked = panel.get_by_role("alertdialog")
    keyboard.press("Enter")
    asked.get_by_text('Delete room "Town hall"').wait_for()
    keyboard.press("Escape")
    asked.wait_for(state="hidden")
    opened.tab_to(delete)
    keyboard.press("Enter")
    asked.wait_for()
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    panel.get_by_role("status").get_by_text("Deleted room").wait_for()
    opened.until(lambda: rows.count() == 0)
    assert opened.kernel.run("print('town' in panel.export().lower())") == "False"


def test_the_rooms_break_no_rule_of_accessibility(open_notebook, picture):
    """axe-core finds nothing with a room, the forms and a question shown, in either theme."""
    opened = open_notebook(LAB, *CELLS)
    panel = opened.panel
    rooms_shown(panel).filter(has_text="Weekly").click()
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    panel.get_by_role("button", name="Check media server").click()
    panel.get_by_text("Asked on ").wait_for()
    for theme in THEMES:
        show_in(opened.page, theme)
        assert violations(opened.page) == []
        picture(opened, f"rooms {theme}")
    for name in ("Add rooms", "New room", "Delete room"):
        panel.get_by_role("button", name=name).click()
    panel.get_by_role("alertdialog").wait_for()
    assert violations(opened.page) == []


MANY = """
from datetime import UTC, datetime
from confkit.records import Room, RoomUser
from confkit.many.reading import Part
from confkit.many.result import Sweep
import confkit as ck
from confkit.panels import RoomExplorer
ids = tuple(f"{number:06}" for number in range(100_000))
rooms = [Room(room_id=room_id, topic=f"Room {room_id}", attendee_max=10) for room_id in ids]
users = [[RoomUser("Ada", "ada")] * (number % 11) for number in range(len(ids))]
sweep = Sweep(ids, "SANDBOX", datetime(2026, 1, 1, tzinfo=UTC), 60.0, 200_001, True, (),
              Part(rooms, users, {}, 200_001, True), (True, True), None)
panel = RoomExplorer(ck.connect("sandbox"), sweep)
panel
"""


def test_a_hundred_thousand_rooms_are_a_page_in_the_browser(open_notebook):
    """First rows, search, sort and the last page come; the page holds fifty rows at any time."""
    opened = open_notebook(LAB, MANY)
    panel, kernel = opened.panel, opened.kernel
    rows = rooms_shown(panel)
    panel.get_by_text("100,000 rooms").wait_for()
    assert rows.count() == 50
    panel.get_by_label("Search").fill("room 099123")
    panel.get_by_text("1 of 100,000 rooms").wait_for()
    panel.get_by_label("Search").fill("")
    panel.get_by_text("page 1 of 2,000").wait_for()
    panel.get_by_role("button", name="topic").click()
    rows.first.get_by_text("Room 000000").wait_for()
    panel.get_by_role("button", name="last page").click()
    rows.last.get_by_text("Room 099999").wait_for()
    assert rows.count() == 50
    assert panel.locator("*").count() < 1_500
    assert kernel.run("print(len(panel.value))") == "100000"


SLOW = """
import confkit as ck
from confkit.panels import RoomExplorer
client = ck.connect("sandbox")
client.sandbox.simulate(rooms=300, days=0)
panel = RoomExplorer(client, client.sandbox.room_ids())
panel.wait()
panel
"""


def test_a_sweep_is_cancelled(open_notebook):
    """Cancel ends a slow reading; what came stands, the rest is said to be as before."""
    opened = open_notebook(LAB, SLOW)
    panel, kernel = opened.panel, opened.kernel
    panel.get_by_text("300 rooms").first.wait_for()
    kernel.run('client.sandbox.fault("/rtc/room/get", delay=0.3)')
    panel.get_by_role("button", name="Refresh").click()
    opened.until(lambda: " of " in panel.locator(".confkit-what").inner_text())
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_role("status").get_by_text("Ended early").wait_for()
    assert kernel.run("print(len(panel.value))") == "300"
    assert int(kernel.run("print(client.sandbox.count('/rtc/room/get'))")) < 600
