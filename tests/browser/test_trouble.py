"""What goes wrong around a panel: services that are gone, tokens that expire, cameras that fail."""

from tests.ports import quiet_port

from .opened import yes
from .test_panels import type_camera


def test_an_error_in_a_callback_is_heard(lab):
    """An error that only the kernel's log would show is among what is complained of."""
    shown = lab.fresh("counter")
    lab.kernel.run("label.value = 'no number'")
    shown.get_by_role("button", name="count").click()
    [complaint] = lab.until(lab.complaints)
    assert "invalid literal" in complaint


def test_an_error_in_the_page_is_heard(visit):
    """No script's error passes for one that the front end is known for, not even in its words."""
    visit.page.evaluate("setTimeout(() => { undefined.schema })")
    [complaint] = visit.until(visit.complaints)
    assert "schema" in complaint


def test_a_message_to_a_widget_that_is_gone_is_heard(visit):
    """The kernel may say so of the page's question for all widgets, and of nothing else."""
    [question, *_] = visit.until(lambda: visit.heard.questions)
    warn = "import logging; logging.getLogger('comm').warning('No such comm: {}')"
    visit.kernel.run(warn.format(question))
    visit.kernel.run(warn.format("7"))
    assert visit.complaints() == ["No such comm: 7\n"]


def test_a_token_expires_and_the_service_stops(lab):
    """An expired token is renewed without a word. A service that is gone is reported in each panel,
    with the next step; rooms keep what was read of them, with its age, while the panel tries again
    by itself, and says so when the service is back."""
    stage = lab.fresh("outage", port=quiet_port(), outgoing_port=quiet_port())
    kernel, shown = lab.kernel, stage.locator(".confkit-panel")
    refresh = [shown.nth(place).get_by_role("button", name="Refresh") for place in range(3)]
    kernel.run("sandbox.advance(10**6); sandbox.join(room_id, 'Bo')")
    for button in refresh:
        button.click()
    for place in range(2):
        shown.nth(place).get_by_text("2 of 10").wait_for()
    kernel.run("for panel in shown: panel.wait()")
    assert stage.get_by_role("alert").filter(has_text="602").count() == 0
    kernel.run("sandbox.close()")
    for button in refresh:
        button.click()
    for place in range(3):
        shown.nth(place).get_by_text("refused").first.wait_for()
    for place in range(2):
        known = kernel.run(f"print(shown[{place}].value.users.to_json(orient='values'))")
        assert known == "[2]"
        panel = shown.nth(place)
        panel.get_by_label("Automatic refresh").select_option("every 5 s")
        panel.get_by_text(" s old").first.wait_for()
        panel.get_by_role("alert").get_by_text("1 room keeps its last known values").wait_for()
    kernel.run("from confkit.sandbox import Sandbox; back = Sandbox(seed=1, **place).start()")
    for place in range(2):
        shown.nth(place).scroll_into_view_if_needed()
        shown.nth(place).get_by_text("has been answering again since").wait_for(timeout=60_000)
    kernel.run("back.close()")


def test_a_token_that_has_expired_is_told_and_renewed(lab):
    """The wire shows 602 with its meaning, the new authentication, and the call again."""
    panel = lab.fresh("wire")
    lab.kernel.run("client.sandbox.advance(10**6); ck.get_room(client, room_id)")
    rows = panel.locator("tbody tr")
    rows.nth(2).get_by_text("602").wait_for()
    assert "A1" in rows.nth(1).inner_text()
    assert "A3" in rows.nth(0).inner_text()


def test_an_import_that_the_service_refuses_is_explained(lab):
    """426 stands in the panel with its meaning; why it came is found out with a click."""
    panel = lab.fresh("devices")
    type_camera(lab, panel, password="wrong")
    panel.get_by_label("Import without a preflight").check()
    panel.get_by_role("button", name="Import", exact=True).click()
    yes(panel, "It is not tried from here first")
    panel.get_by_role("alert").get_by_text("426").wait_for()
    panel.get_by_role("button", name="Find out why").click()
    panel.get_by_text("auth_rejected").first.wait_for()
    panel.get_by_text("→").first.wait_for()
    assert lab.kernel.run("print(len(panel.value))") == "0"


def test_a_camera_that_is_unplugged_in_the_middle_is_told(lab):
    """Cut off during the preflight it gives a verdict; cut off in its room it has no picture."""
    panel, kernel = lab.fresh("devices", imported=True), lab.kernel
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    panel.get_by_label("Address").fill(kernel.run("print(waits)"))
    panel.get_by_role("button", name="Preflight").click()
    panel.get_by_text("running", exact=True).wait_for()
    panel.get_by_role("button", name="Preflight").click()  # a second click does nothing
    lab.until(lambda: "keyframe" in panel.locator("table").filter(has_text="DESCRIBE").inner_text())
    kernel.run("client.sandbox.unplug(waits); client.sandbox.unplug(camera)")
    panel.get_by_text("dropped").first.wait_for()
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_text("No picture").wait_for()
    assert kernel.run("print(panel.report.verdict)") == "dropped"
