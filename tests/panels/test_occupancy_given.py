"""What the panel of occupancy is given: folders, sweeps and clients that are none."""

import threading
from concurrent.futures import CancelledError

import pytest

import confkit as ck
from confkit.panels import OccupancyPanel
from tests.occupancy.made import steady
from tests.panels.test_occupancy_panel import panel_of, rooms, stranger, until

__all__ = ["panel_of", "rooms", "stranger"]  # fixtures
LIST = "/avd/api/outgoing/getOutgoingUsers"
TOO_LONG = 300 * "x"


@pytest.mark.parametrize("folder", ["~nobody-is-called-so", TOO_LONG])
def test_a_folder_that_can_be_none_is_told_beside_it(panel_of, rooms, folder):
    """While a folder is typed that there cannot be, the panel says so below it, and goes on
    reading; what needs the folder is refused."""
    panel = panel_of(rooms.values(), every=0)
    panel.select(rooms["full"])
    panel.recorded.entry.value = folder
    panel.wait()
    assert "can be no folder" in panel.recorded.state.html
    assert panel.recorded.state.layout.display is None
    assert panel.refresh()["users"].tolist() == [0, 2, 4, 3, 1]
    for action in (panel.capacity, lambda: panel.samples(rooms["full"])):
        with pytest.raises(ck.ConfigError, match="can be no folder"):
            action()
    panel.recorded.entry.value = ""
    panel.wait()
    assert panel.recorded.state.layout.display == "none"


def test_a_folder_of_other_things_is_no_recording(panel_of, rooms, tmp_path):
    """A folder that holds no sample but other things is named with the next step, without any
    warning; its capacity report is not one of no rooms."""
    (tmp_path / "notes.txt").touch()
    panel = panel_of(rooms.values(), every=0, folder=tmp_path)
    panel.select(rooms["full"])
    assert "is no recording: it holds notes.txt" in panel.curve.view.html
    with pytest.raises(ck.ConfigError, match="Give the folder of a recording"):
        panel.capacity()
    assert "is no recording" in panel.frame.text
    assert panel.recorded.report.layout.display == "none"


def test_a_capacity_report_needs_no_service(stranger, sandbox, tmp_path):
    """The report of a folder is shown, with IDs in place of topics, when nothing could be read."""
    ck.save_occupancy(steady([1, 3, 3], room="1047", attendee_max=3), tmp_path)
    sandbox.close()
    panel = OccupancyPanel(stranger, ["1047"], folder=tmp_path)
    assert panel.capacity()["room_id"].tolist() == ["1047"]
    assert panel.recorded.report.rows[0][1][0] == "1047"
    panel.wait()
    panel.close()


def test_looking_for_rooms_is_cancelled(panel_of, client, sandbox):
    """Cancel ends the search for known rooms at once, and the panel says so."""
    panel = panel_of(every=0)
    panel.wait()
    found: list[BaseException] = []

    def run() -> None:
        try:
            panel.refresh()
        except CancelledError as error:
            found.append(error)

    before = sandbox.count(LIST)
    sandbox.fault(LIST, delay=30)
    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: sandbox.count(LIST) > before)
    panel.cancel()
    thread.join(20)
    assert len(found) == 1
    assert panel.frame.text == "Cancelled."
    sandbox.clear_faults()


def test_plain_wrong_arguments_are_told(panel_of, rooms):
    """What is no client and no room is refused with what to give."""
    panel = panel_of(rooms.values(), every=0)
    with pytest.raises(ck.ConfigError, match="connect"):
        OccupancyPanel(None, ["1"])
    for wrong in (None, 5):
        with pytest.raises(ck.ConfigError, match="not in this panel"):
            panel.select(wrong)
