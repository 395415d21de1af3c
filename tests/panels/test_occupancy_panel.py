"""The panel of occupancy: rooms against their caps, a room over time, changes, and capacity."""

import threading

import pandas as pd
import pytest

import confkit as ck
from confkit.occupancy import folder
from confkit.panels import OccupancyPanel
from tests.occupancy.made import record, steady
from tests.panels import pressing as ui


@pytest.fixture
def panel_of(open_panel, ids):
    return lambda *more, **options: open_panel(OccupancyPanel, [*ids.values(), *more], **options)


def curve(panel, text):
    """Wait until the curve shows a text, or an error in its place."""
    ui.until(lambda: text in panel.curve.value + ui.text_of(panel.curve))


def test_the_fullest_room_is_on_top_and_states_are_filters(panel_of):
    """A room that could not be read is no empty one."""
    panel, rooms = panel_of("0001"), ["2 of 2, full", "4 of 5, nearly full", "1 of 9", "0 of 9"]
    assert [row[1] for row in ui.rows(panel.rooms)] == [*rooms, "1, no cap", "no such room"]
    panel.rooms.filter = "not read"
    assert panel.value["users"].tolist() == [pd.NA]


def test_an_outage_leaves_rows_and_makes_no_samples_of_nobody(panel_of, sandbox, ids):
    """A sample of a room that was not read is missing; rooms are counted once, in one message."""
    panel = panel_of()
    before, refresh = ui.rows(panel.rooms), panel.refresh_block
    sandbox.fault("A6", ret=504)
    assert ui.press(panel, "Refresh") == "5 rooms could not be read."
    assert (refresh.outage, ui.rows(panel.rooms)) == ("", before)
    sandbox.fault("A3", drop=True)
    assert ui.press(panel, "Refresh").startswith("Not read at ")
    assert "closed the connection" in refresh.outage
    assert ui.rows(panel.rooms) == before
    sandbox.clear_faults()
    sandbox.join(ids["used"], "Lee")
    assert (ui.press(panel, "Refresh"), refresh.outage) == ("", "")
    assert panel.samples(ids["used"])["users"].tolist() == [1, pd.NA, 2]


def test_a_picked_room_shows_its_curve_in_a_range(panel_of, sandbox, ids, tmp_path):
    """Of a recording and what was read after it."""
    record(tmp_path, steady([1, 3, 5], room=ids["near"], attendee_max=5))
    panel = panel_of(folder=tmp_path)
    panel.select(ids["full"])
    curve(panel, "full: peak 2 of 2 users")
    panel.select(ids["near"])
    assert "full: peak" not in panel.curve.value
    for panel.range.value, users in (("all", [1, 3, 5, 4]), ("1 h", [4])):
        assert panel.samples(ids["near"])["users"].tolist() == users
        curve(panel, f"near: peak {max(users)} of 5 users")


def test_a_range_that_is_chosen_while_another_loads_is_shown(panel_of, ids, tmp_path, monkeypatch):
    record(tmp_path, steady([1, 3, 5], room=ids["near"], attendee_max=5))
    panel, load = panel_of(folder=tmp_path), folder.load_service
    test, loaded, go = threading.current_thread(), threading.Event(), threading.Event()

    def slow(*arguments):
        samples = load(*arguments)
        if threading.current_thread() is not test:
            loaded.set()
            go.wait(ui.LONG)
        return samples

    monkeypatch.setattr(folder, "load_service", slow)
    panel.select(ids["near"])
    assert loaded.wait(ui.LONG)
    panel.range.value = "all"
    go.set()
    curve(panel, "near: peak 5 of 5 users")


def test_a_recording_of_another_service_is_named_in_place_of_the_curve(panel_of, ids, tmp_path):
    now = pd.Timestamp.now("UTC").floor("h")
    record(tmp_path, steady([1, 2], room=ids["full"], start=now), service="prod")
    panel = panel_of(folder=tmp_path)
    panel.select(ids["full"])
    curve(panel, "recording is of prod, not of SANDBOX")


def test_rooms_that_were_full_come_first_in_the_capacity_report(panel_of, ids, tmp_path):
    """A pick shows the reason whole, with the room's curve."""
    for room_id, cap in ((ids["used"], 500), (ids["full"], 2)):
        record(tmp_path, steady([1, 2] * 35, room=room_id, attendee_max=cap, every="1D"))
    panel = panel_of(folder=tmp_path)
    ui.press(panel, "Capacity report")
    assert [row[0] for row in ui.rows(panel.report)] == ["full", "used"]
    panel.report.picked = ids["full"]
    assert panel.selected == ids["full"]
    reasons = ck.capacity_report(tmp_path, risk=0.1).set_index("room_id")["reason"]
    curve(panel, f"full: {reasons[ids['full']]}")
