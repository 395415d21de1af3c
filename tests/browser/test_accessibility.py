"""axe-core finds nothing in any panel, whatever it shows, in either theme."""

import pytest

from .test_panels import rooms_shown, type_camera


def frame(lab):
    """At rest, in a question, after an error, and with messages of all kinds."""
    panel = lab.fresh("frame")
    yield
    panel.get_by_role("button", name="Forget").click()
    panel.get_by_role("alertdialog").wait_for()
    yield
    asks = panel.get_by_role("alertdialog")
    asks.get_by_role("button", name="Cancel").press("Escape")
    asks.wait_for(state="hidden")
    panel.get_by_role("button", name="Fail").click()
    panel.get_by_role("alert").get_by_text("Ask").wait_for()
    yield
    for name in ("Count", "Forget", "Cancel"):
        panel.get_by_role("button", name=name).click()
    panel.get_by_text("Counted to").wait_for()
    assert panel.get_by_role("button", name="Dismiss").count() == 3
    yield


def rooms(lab):
    """With a room and its media server, then with the forms and a question."""
    panel = lab.fresh("rooms")
    rooms_shown(panel).filter(has_text="Weekly").click()
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    panel.get_by_role("button", name="Check media server").click()
    panel.get_by_text("Asked on ").wait_for()
    yield
    for name in ("Add rooms", "New room", "Delete room"):
        panel.get_by_role("button", name=name).click()
    panel.get_by_role("alertdialog").wait_for()
    yield


def occupancy(lab):
    """With a curve, a failure, a recording's folder and its report."""
    panel = lab.fresh("occupancy")
    lab.kernel.run(
        "panel.wait()\nck.Recorder(folder).record(client, [full, town], every=1, sweeps=2)\n"
        "panel.select(full)\npanel.recorded.entry.value = folder\npanel.capacity()"
    )
    panel.locator("svg[role=img]").first.wait_for()
    panel.get_by_text("It holds samples of 2 rooms").wait_for()
    yield


def devices(lab):
    """With a report, a list and pictures; then with the form of a table."""
    panel = lab.fresh("devices", imported=True)
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    type_camera(lab, panel)
    panel.get_by_role("button", name="Preflight").click()
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    yield
    panel.get_by_role("tab", name="Many").click()
    yield


def wire(lab):
    """With a call and the token's steps."""
    panel = lab.fresh("wire")
    panel.locator("tbody tr").first.click()
    panel.get_by_role("button", name="How the token is made").click()
    panel.get_by_role("button", name="Hide the token").wait_for()
    yield


@pytest.mark.parametrize("states", [frame, rooms, occupancy, devices, wire])
def test_a_panel_breaks_no_rule_of_accessibility(states, lab):
    """axe-core finds nothing in any state of the panel, in either theme."""
    for _ in states(lab):
        assert lab.violations() == []


def test_a_violation_is_found(lab):
    """A button without a name and a text that is hardly there are violations."""
    lab.fresh("frame").locator(".confkit-panel").evaluate("""panel => {
        panel.insertAdjacentHTML('beforeend',
        '<button class="icon"></button><p style="color: #ddd; background: #fff">faint</p>') }""")
    found = [line.split(": ")[1] for line in lab.violations()]
    assert found == ["button-name", "color-contrast"] * 2
