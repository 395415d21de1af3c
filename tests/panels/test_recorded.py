"""One room over time: samples of what was read, and how a recording and they are one curve."""

import threading

import pandas as pd

import confkit as ck
from confkit.panels.model import frame_of
from confkit.panels.recorded import joined, kept, samples_of
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
    assert samples["ret"].tolist() == [700, 700]
    assert samples["users"].isna().all()
    assert samples_of(frame_of(swept)).empty  # none was ever read
    ended = threading.Event()
    ended.set()
    assert samples_of(frame_of(ck.sweep(client, [room_id], cancelled=ended)), swept.time).empty


def test_samples_are_bounded():
    """However long a panel is open, it keeps so many samples, the newest, in few pieces."""
    piece = pd.concat([steady([1], room=room) for room in "abc"])
    pieces: tuple[pd.DataFrame, ...] = ()
    for _ in range(5):
        pieces = kept(pieces, piece, most=7)
    assert pd.concat(pieces)["room_id"].tolist() == ["c", *"abc" * 2]
    for _ in range(120):
        pieces = kept(pieces, piece)
    assert len(pieces) <= 100
    assert sum(map(len, pieces)) == 7 + 120 * 3


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
