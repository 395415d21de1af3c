"""What the panels' own buttons do while others are at work, and which messages they leave."""

import time

import pytest

import confkit as ck
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from tests.panels.pressing import LONG, heard, named, press

USERS = "/rtc/room/get_room_info"
UNKNOWN = "0000000001"


@pytest.fixture
def weekly(client):
    return ck.create_room(client, "Weekly", "ops")


@pytest.fixture
def explorer(client, weekly):
    """The panel of two rooms."""
    panel = RoomExplorer(client, [weekly, ck.create_room(client, "Desk", "ops")])
    assert panel.wait(LONG)
    yield panel
    assert panel.wait(LONG)


def refresh_slowly(panel, sandbox):
    """Clicks on Refresh, whose reading is under way for a second."""
    before = sandbox.count(USERS)
    sandbox.fault(USERS, delay=1.0, times=2)
    named(panel, "Refresh").click()
    while sandbox.count(USERS) == before:
        time.sleep(0.01)


@pytest.mark.parametrize("later", ["", "Stand-up"])
def test_create_during_a_refresh_makes_the_room_once_and_then_empties_the_form(
    explorer, sandbox, later
):
    """It makes what stood in the form at the click; a double click makes no second room; a form
    that is filled in anew meanwhile keeps that."""
    press(explorer, "New room")
    named(explorer, "Topic").value, named(explorer, "Owner").value = "Review", "ops"
    refresh_slowly(explorer, sandbox)
    named(explorer, "Create room").click()
    named(explorer, "Create room").click()
    assert explorer.frame.waiting.startswith("Waiting: Create room.")
    assert named(explorer, "Topic").value == "Review"
    if later:
        named(explorer, "Topic").value = later
    assert explorer.wait(LONG)
    assert sandbox.count("/rtc/room/create") == 3
    assert sorted(explorer.value["topic"]) == ["Desk", "Review", "Weekly"]
    assert named(explorer, "Topic").value == later


def test_delete_asks_about_the_room_that_was_shown_when_it_was_clicked(explorer, sandbox, weekly):
    """Though another room is picked before it has its turn; so does the media server's check."""
    explorer.select(weekly)
    refresh_slowly(explorer, sandbox)
    named(explorer, "Delete room").click()
    named(explorer, "Check media server").click()
    explorer.select(explorer.model.ids[1])
    assert explorer.wait(LONG)
    assert explorer.frame.question == f'Delete room "Weekly" ({weekly}) with nobody in it?'
    [asked] = [call for call in explorer.client.calls if call.endpoint == "A5"]
    assert weekly in asked.url
    assert explorer.selected.media_server is None


def test_export_and_an_automatic_refresh_leave_the_warning_of_refresh(client, weekly):
    """It names rooms that could not be read, until the next Refresh, or until it is dismissed."""
    panel = RoomExplorer(client, [weekly, UNKNOWN])
    panel.filter("weekly")  # the rows on the screen can all be read
    press(panel, "Refresh")
    warning = panel.frame.text
    assert "1 of 2 rooms could not be read" in warning
    panel.every(60, panel.refresh_visible)
    press(panel, "Download CSV")
    heard(panel, "tick")
    panel.create("Review", "ops")
    assert [one["kind"] for one in panel.frame.messages] == ["reading", "change"]
    assert panel.frame.messages[0]["text"] == warning


def test_a_reading_leaves_what_a_report_or_an_import_has_said(client, weekly):
    """The operator reads it whenever they look."""
    occupancy, devices = OccupancyPanel(client, [weekly]), DevicePanel(client, weekly)
    press(occupancy, "Capacity report")
    heard(occupancy, "tick")
    assert "no folder is given" in occupancy.frame.text
    occupancy.close()
    with pytest.raises(ck.ConfkitError):
        devices.import_device()
    wrong = devices.frame.text
    devices.refresh()
    assert (devices.frame.text, devices.frame.tone) == (wrong, "bad")
