"""Times in the panels: one zone, which is named beside them."""

from datetime import UTC, timedelta, timezone

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import OccupancyPanel, RoomExplorer
from confkit.panels.live import clock

HALF = timezone(timedelta(hours=5, minutes=45))  # what Kathmandu has: in no other panel by chance
KATHMANDU = "Asia/Kathmandu"


def cell(table, column: str) -> object:
    """What stands in this column of the first row."""
    names = [name for name, *_ in table.columns]
    return table.rows[0][1][names.index(column)]


@pytest.mark.parametrize(("tz", "name"), [(None, KATHMANDU), (HALF, "UTC+05:45")])
def test_all_panels_show_their_times_in_one_zone_and_name_it(
    tz, name, client, monkeypatch, tmp_path
):
    """The zone that is given, else this machine's, of which TZ may name another. The values of all
    panels stay in UTC."""
    monkeypatch.setenv("TZ", "America/Lima" if tz else KATHMANDU)
    room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=4)
    ck.Recorder(tmp_path).record(client, [room_id], every=60, sweeps=1)
    rooms = RoomExplorer(client, [room_id], tz=tz)
    occupancy = OccupancyPanel(client, [room_id], every=0, tz=tz, folder=tmp_path)
    for panel in (rooms, occupancy):
        [read] = panel.value["read_at"]
        told = f"{read.astimezone(HALF):%H:%M:%S}"
        assert f"read at {told} ({name})" in panel.table.told
        assert panel.value.attrs["time"].endswith("+00:00")
    assert cell(occupancy.table, "read_at") == told
    rooms.select(room_id)
    rooms.check_media_server()
    asked = rooms.selected.media_server_at.astimezone(HALF)
    assert f"{asked:%H:%M:%S} ({name})" in rooms._card._media.html
    occupancy.select(room_id)
    assert f"({name})" in occupancy.curve.words.html
    assert occupancy.capacity().attrs["timezone"] == name
    occupancy.close()
    assert str(rooms.value["read_at"].dt.tz) == "UTC"


def test_a_zone_that_there_is_not_is_refused_before_anything_is_sent(client, sandbox):
    """The error shows one that there is."""
    for made, tz in ((RoomExplorer, "Middle/Earth"), (OccupancyPanel, "")):
        with pytest.raises(ck.ConfigError, match="Europe/Berlin"):
            made(client, tz=tz)
    assert sandbox.count() == 0


def test_times_of_another_day_are_told_with_it():
    """The time of day is enough for the newest day; what is older says of which day it is."""
    old, new = (pd.Timestamp(f"2026-03-{day}Z") for day in ("11T23:59:58", "12T00:00:01"))
    assert clock(new, UTC, new) == "00:00:01"
    assert clock(old, UTC, new) == "Wed 11 Mar 2026, 23:59"
