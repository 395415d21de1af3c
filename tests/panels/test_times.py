"""Times in the panels: one zone, which is named beside them."""

from datetime import UTC, timedelta, timezone, tzinfo

import pytest

import confkit as ck
from confkit.panels import OccupancyPanel, RoomExplorer, WirePanel
from tests.panels.pressing import LONG

HALF = timezone(timedelta(hours=5, minutes=45))  # what Kathmandu has: in no other panel by chance
KATHMANDU = "Asia/Kathmandu"


def cell(table, column: str) -> object:
    """What stands in this column of the first row."""
    names = [name for name, *_ in table.columns]
    return table.rows[0][1][names.index(column)]


@pytest.mark.parametrize(
    ("tz", "name"),
    [(None, KATHMANDU), (KATHMANDU, KATHMANDU), (HALF, "UTC+05:45"), ("Etc/UTC", "UTC")],
)
def test_all_panels_show_their_times_in_one_zone_and_name_it(
    tz, name, client, sandbox, monkeypatch, tmp_path
):
    """The zone that is given, else this machine's, of which TZ may name another. The values of all
    panels stay in UTC."""
    monkeypatch.setenv("TZ", "America/Lima" if tz else KATHMANDU)
    here: tzinfo = UTC if name == "UTC" else HALF
    room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=4)
    rooms = RoomExplorer(client, [room_id], tz=tz)
    occupancy = OccupancyPanel(client, [room_id], every=0, tz=tz)
    wire = WirePanel(client, every=0, tz=tz)
    try:
        assert rooms.wait(LONG)
        assert occupancy.wait(LONG)
        [read] = rooms.value["read_at"]
        assert f"read at {read.astimezone(here):%H:%M:%S} ({name})" in rooms.table.told
        rooms.select(room_id)
        rooms.check_media_server()
        asked = rooms.selected.media_server_at
        told = f"{asked.astimezone(here):%H:%M:%S} ({name})"
        assert told in rooms._card._media.html

        [read] = occupancy.value["read_at"]
        clock = f"{read.astimezone(here):%H:%M:%S}"
        assert f"read at {clock} ({name})" in occupancy.table.told
        assert cell(occupancy.table, "read_at") == clock
        occupancy.select(room_id)
        assert f"({name})" in occupancy.curve.words.html
        ck.Recorder(tmp_path / "new").record(client, [room_id], every=60, sweeps=1)
        occupancy.recorded.entry.value = str(tmp_path / "new")
        assert occupancy.capacity().attrs["timezone"] == name

        wire.refresh()
        call = wire.choose(-1)
        local = call.time.astimezone(here)
        assert wire.table.told.endswith(f" calls · times in {name}")
        assert cell(wire.table, "time") == f"{local:%H:%M:%S.%f}"[:-3]
        assert f"{local:%Y-%m-%d %H:%M:%S} ({name})" in wire.sent.html
        for times in (rooms.value["read_at"], wire.value["time"]):
            assert str(times.dt.tz) == "UTC"
        for frame in (rooms.value, occupancy.value):
            assert frame.attrs["time"].endswith("+00:00")
    finally:
        occupancy.close()


@pytest.mark.parametrize("made", [RoomExplorer, OccupancyPanel, WirePanel])
@pytest.mark.parametrize("tz", ["Middle/Earth", "", 5])
def test_a_zone_that_there_is_not_is_refused_before_anything_is_sent(made, tz, client, sandbox):
    """The error shows one that there is."""
    with pytest.raises(ck.ConfigError, match="Europe/Berlin"):
        made(client, tz=tz)
    assert sandbox.count() == 0
