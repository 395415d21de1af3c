"""DevicePanel in real browsers, with real cameras."""

from .accessibility import violations
from .answers import yes
from .frontends import LAB
from .themes import THEMES, show_in

CELLS = (
    """
import confkit as ck
from confkit.panels import DevicePanel
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops")
camera = client.sandbox.camera(login_name="admin", login_password="open-sesame")
""",
    """
panel = DevicePanel(client, room_id)
panel
""",
)


def filled(opened, password="open-sesame"):
    """Types in the camera of the notebook, as a person would."""
    panel = opened.panel
    panel.get_by_label("User id").fill("door")
    panel.get_by_label("Name", exact=True).fill("Front door")
    panel.get_by_label("Address").fill(opened.kernel.run("print(camera)"))
    panel.get_by_label("Login name").fill("admin")
    panel.get_by_label("Login password").fill(password)


def test_a_camera_is_tried_imported_and_removed(front, open_notebook):
    """Preflight shows stages and picture; Import seats it and Remove takes it out when asked."""
    opened = open_notebook(front, *CELLS)
    panel, kernel = opened.panel, opened.kernel
    filled(opened)
    assert panel.get_by_role("button", name="Import", exact=True).is_disabled()
    panel.get_by_role("button", name="Preflight").click()
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    assert panel.get_by_alt_text("The first picture").is_visible()
    panel.get_by_role("button", name="Import", exact=True).click()
    yes(panel, 'Import "Front door" (door) at')
    panel.get_by_role("status").get_by_text("was imported").wait_for()
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    assert kernel.run("print(list(panel.value.user_id))") == "['door']"
    panel.locator("tbody tr").get_by_text("Front door").click()
    panel.get_by_role("button", name="Remove").click()
    yes(panel, 'Remove "Front door" (door) from room "Weekly sync"')
    panel.get_by_text("No devices here").wait_for()
    assert kernel.run("print(ck.list_devices(client))") == "[]"
    assert "open-sesame" not in panel.inner_html()


def test_a_camera_is_tried_and_imported_with_the_keyboard_alone(open_notebook):
    """Tab comes to each field and button, Enter presses, the question takes the focus."""
    opened = open_notebook(LAB, *CELLS)
    panel, keyboard = opened.panel, opened.page.keyboard
    for label, text in {
        "User id": "door",
        "Name": "Front door",
        "Address": opened.kernel.run("print(camera)"),
        "Login name": "admin",
        "Login password": "open-sesame",
    }.items():
        opened.tab_to(panel.get_by_label(label, exact=True))
        keyboard.type(text)
    opened.tab_to(panel.get_by_role("button", name="Preflight"))
    keyboard.press("Enter")
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    opened.tab_to(panel.get_by_role("button", name="Import", exact=True))
    keyboard.press("Enter")
    panel.get_by_role("alertdialog").wait_for()
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    panel.get_by_role("status").get_by_text("was imported").wait_for()
    opened.tab_to(panel.locator("tbody tr[data-key]").first)
    keyboard.press("Enter")
    opened.tab_to(panel.get_by_role("button", name="Remove"))


def test_an_import_that_the_service_refuses_is_explained(open_notebook):
    """426 stands in the panel with its meaning; why it came is found out with a click."""
    opened = open_notebook(LAB, *CELLS)
    panel = opened.panel
    filled(opened, password="wrong")
    panel.get_by_label("Import without a preflight").check()
    panel.get_by_role("button", name="Import", exact=True).click()
    yes(panel, "It is not tried from here first")
    panel.get_by_role("alert").get_by_text("426").wait_for()
    panel.get_by_role("button", name="Find out why").click()
    panel.get_by_text("auth_rejected").first.wait_for()
    panel.locator(".confkit-next").wait_for()
    assert opened.kernel.run("print(len(panel.value))") == "0"


def test_a_camera_that_is_unplugged_in_the_middle_is_told(open_notebook):
    """Cut off during the preflight it gives a verdict; cut off in its room it has no picture."""
    opened = open_notebook(
        LAB,
        CELLS[0],
        'waits = client.sandbox.camera(fault="no_keyframe")\n'
        'ck.import_device(client, room_id, "door", "Front door", camera,\n'
        '                 login_name="admin", login_password="open-sesame")',
        CELLS[1],
    )
    panel, kernel = opened.panel, opened.kernel
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    panel.get_by_label("Address").fill(kernel.run("print(waits)"))
    panel.get_by_role("button", name="Preflight").click()
    panel.get_by_label("under way").wait_for()
    panel.get_by_role("button", name="Preflight").click()  # a second click does nothing
    opened.until(lambda: "keyframe" in panel.get_by_role("table", name="Stages").inner_text())
    kernel.run("client.sandbox.unplug(waits); client.sandbox.unplug(camera)")
    panel.get_by_text("dropped").first.wait_for()
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_text("No picture").wait_for()
    assert kernel.run("print(panel.report.verdict)") == "dropped"


def test_a_table_of_devices_is_checked_and_imported(open_notebook):
    """What is wrong is told by row before anything is sent; the result has a row a device."""
    opened = open_notebook(LAB, *CELLS)
    panel, kernel = opened.panel, opened.kernel
    row = kernel.run("print(f'{room_id},{{}},Camera,{client.sandbox.camera()},,')")
    last = kernel.run("print(f'{room_id},gate,Gate,{camera},admin,open-sesame')")
    head = "room_id,user_id,user_name,user_address,login_name,login_password"
    panel.get_by_role("tab", name="Many").click()
    table = panel.get_by_label("table as text")
    table.fill("\n".join([head, row.format("front"), row.format("")]))
    panel.get_by_role("button", name="Check the table").click()
    panel.get_by_role("alert").wait_for()
    panel.get_by_role("grid", name="Problems").locator("tbody tr").first.wait_for()
    table.fill("\n".join([head, row.format("front"), last]))
    panel.get_by_role("button", name="Import the table").click()
    yes(panel, "Import 2 devices into 1 room of SANDBOX?")
    panel.get_by_role("status").get_by_text("2 imported").wait_for()
    assert kernel.run("print(list(panel.result.outcome))") == "['imported', 'imported']"
    assert kernel.run("print(sorted(panel.value.user_id))") == "['front', 'gate']"


def test_the_devices_break_no_rule_of_accessibility(open_notebook, picture):
    """axe-core finds nothing with a report, a list and pictures shown, in either theme."""
    opened = open_notebook(LAB, *CELLS)
    panel = opened.panel
    opened.kernel.run('ck.import_device(client, room_id, "gate", "Gate", client.sandbox.camera())')
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_alt_text("The newest picture of Gate").wait_for()
    filled(opened)
    panel.get_by_role("button", name="Preflight").click()
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    for theme in THEMES:
        show_in(opened.page, theme)
        assert violations(opened.page) == []
        picture(opened, f"devices {theme}")
    panel.get_by_role("tab", name="Many").click()
    assert violations(opened.page) == []
