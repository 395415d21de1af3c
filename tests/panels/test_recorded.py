"""One room over time: samples of what was read, and how a recording and they are one curve."""

import threading

import confkit as ck
from confkit.panels.model import frame_of
from confkit.panels.recorded import joined, samples_of
from tests.occupancy.made import steady


def test_the_samples_are_those_of_a_recording(client, sandbox):
    """What was read has the columns and types of recorded samples; a failure is a missing value
    with its code, and what was not asked is no sample."""
    room_id = ck.create_room(client, "Weekly", "ops", attendee_max=9)
    sandbox.fault("/rtc/room/get_room_info", ret=700)
    swept = ck.sweep(client, [room_id, "0"])
    samples = samples_of(frame_of(swept), swept.time)
    expected = steady([None], room=room_id, attendee_max=9)
    assert samples.dtypes.equals(expected.dtypes)
    assert samples["ret"].tolist() == [700, 404]
    assert samples["users"].isna().all()
    assert samples_of(frame_of(swept)).empty  # none was ever read
    ended = threading.Event()
    ended.set()
    assert samples_of(frame_of(ck.sweep(client, [room_id], cancelled=ended)), swept.time).empty


def test_readings_fill_what_was_not_recorded():
    """In order of time and without gaps; what a recording says of itself stays."""
    recorded = steady([1] * 3, start="2026-06-01T00:10Z", every="1min")
    recorded.attrs["service"] = "SANDBOX"
    read = steady([2] * 60, start="2026-06-01T00:08Z", every="15s")
    later = steady([2] * 3, start="2026-06-01T00:11Z", every="20s")
    for before, since, users in (
        # Beside the recorded samples stand those read before and after, as far apart as they are.
        (recorded, read, [2, 2, 1, 1, 1, *[2] * 10]),
        # With no folder the curve is of what was read, as often as it was.
        (None, read, [2] * 60),
        # Where a reading comes every 15 s, one in between, by a click, would make gaps of those.
        (None, steady([1, 2, 3, 4, 5, 6], every="5s"), [1, 4]),
        # A recording that went on all the time stays as it is.
        (recorded, later, [1, 1, 1]),
        # A single recorded sample says nothing of intervals.
        (recorded.iloc[:1], later, [1, 2, 2, 2]),
    ):
        both = joined(before, since, every=15)
        assert both["users"].tolist() == users
        assert both["time"].is_monotonic_increasing
        assert both.attrs == ({} if before is None else recorded.attrs)
