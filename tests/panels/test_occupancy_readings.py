"""What the panel of occupancy keeps of its readings, and how a recording and they are one curve."""

import threading

import pandas as pd
import pytest

import confkit as ck
from confkit.panels.courses import joined, read_samples
from confkit.panels.readings import asked, rooms_of, taken
from tests.occupancy.made import steady


@pytest.fixture
def ids(client, sandbox) -> list[str]:
    """Three rooms with nobody in them."""
    return [ck.create_room(client, f"room {n}", "ops", attendee_max=9) for n in range(3)]


def nothing(client: ck.Client, ids: list[str]) -> ck.Sweep:
    """A sweep that was ended before it asked for anything."""
    ended = threading.Event()
    ended.set()
    return ck.sweep(client, ids, cancelled=ended)


def test_the_rooms_of_a_table_keep_its_columns(client, ids):
    """Whatever gives IDs comes to a table of them with the further columns, a Sweep too."""
    table = pd.DataFrame({"room_id": ids, "floor": [1, 2, 3]})
    assert asked(iter(ids)).columns.tolist() == ["room_id"]
    assert asked(table)["floor"].tolist() == [1, 2, 3]
    again = asked(ck.sweep(client, table))
    assert again.columns.tolist() == ["room_id", "floor"]
    assert again["room_id"].tolist() == ids
    assert len(asked([])) == 0


def test_a_part_renews_its_own_rows(client, sandbox, ids):
    """After a sweep of some rooms theirs are new, the others what they were, in the old order; the
    frame is as old as its oldest row."""
    first = taken(ck.sweep(client, ids), None)
    for room_id in ids:
        sandbox.join(room_id, "Ada")
    second = taken(ck.sweep(client, ids[1:2]), first, part=True)
    assert second.frame["room_id"].tolist() == ids
    assert second.frame["users"].tolist() == [0, 1, 0]
    assert second.frame.dtypes.equals(first.frame.dtypes)
    assert second.times[1] > second.times[0] == second.times[2]
    assert second.frame.attrs["time"] == first.frame.attrs["time"]


def test_a_sweep_that_comes_late_takes_nothing_newer_back(client, sandbox, ids):
    """What was asked for earlier and comes later leaves a row as it was read since."""
    late = ck.sweep(client, ids)
    sandbox.join(ids[0], "Ada")
    newer = taken(ck.sweep(client, ids), None)
    both = taken(late, newer, part=True)
    assert both.frame["users"].tolist() == [1, 0, 0]
    assert both.times.equals(newer.times)


def test_what_a_sweep_did_not_come_to_is_as_before(client, sandbox, ids):
    """A room that was not asked keeps what was read; one that was never read is missing."""
    first = taken(ck.sweep(client, ids[:2]), None)
    second = taken(nothing(client, ids), first)
    assert second.frame["users"].tolist()[:2] == [0, 0]
    assert pd.isna(second.frame["users"][2])
    assert second.times.isna().tolist() == [False, False, True]
    assert read_samples(second, ids[2]).empty
    assert len(read_samples(second, ids[0])) == 1
    alone = taken(nothing(client, ids), None)
    assert alone.frame["users"].isna().all()


def test_rooms_that_are_gone_from_the_list_go(client, ids):
    """A whole sweep has all the rooms there are; new ones come, others leave."""
    first = taken(ck.sweep(client, ids[:2]), None)
    assert taken(ck.sweep(client, ids[1:]), first).frame["room_id"].tolist() == ids[1:]


def test_the_samples_are_those_of_a_recording(client, sandbox, ids):
    """What was read has the columns and types of recorded samples; a failure is a missing value
    with its code."""
    sandbox.fault("/rtc/room/get_room_info", ret=700)
    reading = taken(ck.sweep(client, [ids[0], "0"]), None)
    samples = read_samples(reading, ids[0])
    expected = steady([None], room=ids[0], attendee_max=9)
    assert samples.dtypes.equals(expected.dtypes)
    assert samples["ret"].tolist() == [700]
    assert samples["users"].isna().all()


def test_samples_are_bounded(client, ids):
    """However long a panel is open, it keeps so many samples, the newest, in few pieces."""
    swept, reading = ck.sweep(client, ids), None
    for _ in range(5):
        reading = taken(swept, reading, most=7)
    assert sum(map(len, reading.samples)) == 7
    assert [len(read_samples(reading, room_id)) for room_id in ids] == [2, 2, 3]
    for _ in range(120):
        reading = taken(swept, reading)
    assert len(reading.samples) <= 100
    assert sum(map(len, reading.samples)) == 7 + 120 * 3


def test_readings_fill_what_was_not_recorded():
    """Beside the recorded samples stand those read before and after, as far apart as they are."""
    recorded = steady([1, 1, 1], start="2026-06-01T00:10Z", every="1min")
    read = steady([2] * 60, start="2026-06-01T00:08Z", every="15s")
    both = joined(recorded, read)
    assert both["time"].is_monotonic_increasing
    assert both["users"].tolist() == [2, 2, 1, 1, 1, *[2] * 14]
    assert both["time"].diff().max() < pd.Timedelta("90s")  # from there on it would be a gap


def test_without_a_recording_the_readings_are_all():
    """With no folder, or none of this room, the curve is of what was read, as often as it was."""
    read = steady([2] * 60, every="15s")
    for nothing in (None, read.iloc[:0]):
        pd.testing.assert_frame_equal(joined(nothing, read), read)


def test_a_reading_between_two_adds_nothing():
    """Where a reading comes every so many seconds, one in between, by a click, is left out: beside
    a short interval the usual ones would be gaps."""
    read = steady([1, 2, 3, 4, 5, 6], every="5s")
    assert joined(None, read, every=15)["users"].tolist() == [1, 3, 5]


def test_a_recording_alone_is_as_it_is():
    """Nothing is added to a recording that went on all the time; what it says of itself stays."""
    recorded = steady([1] * 60, every="1min")
    recorded.attrs["service"] = "SANDBOX"
    pd.testing.assert_frame_equal(joined(recorded, steady([2] * 200, every="15s")), recorded)
    longer = joined(recorded, steady([2], start="2026-06-01T02:00Z"))
    assert (len(longer), longer.attrs) == (61, {"service": "SANDBOX"})


def test_one_recorded_sample_says_nothing_of_intervals():
    """Beside a single recorded sample stand all others."""
    one = steady([1], start="2026-06-01T00:00Z")
    assert len(joined(one, steady([2] * 3, start="2026-06-01T00:01Z", every="1s"))) == 4


def test_further_columns_alone_come_along(client, ids):
    """Of an occupancy frame the rooms and the caller's own columns are what a sweep takes again."""
    frame = ck.occupancy_frame(ck.sweep(client, pd.DataFrame({"room_id": ids, "site": "x"})))
    assert rooms_of(frame).columns.tolist() == ["room_id", "site"]
