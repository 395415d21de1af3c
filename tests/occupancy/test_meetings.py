"""`meetings` and `meetings_chart`: when people were in a room, and what is not known of it."""

from datetime import timedelta

import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError
from confkit.occupancy.folder import save_occupancy

BEGIN = pd.Timestamp("2026-06-01T08:00Z")  # a Monday
NUMBERS = dict.fromkeys(("users", "people", "devices", "attendee_max", "ret"), "Int64")


def samples(people, every=60, room_id="r1", devices=0, begin=BEGIN):
    """A sample each `every` seconds; None where it failed."""
    times = [begin + timedelta(seconds=every * place) for place in range(len(people))]
    users = [None if number is None else number + devices for number in people]
    table = {"time": times, "room_id": room_id, "users": users, "people": people}
    ret = [0 if number is not None else 601 for number in people]
    frame = pd.DataFrame(table).assign(devices=devices, attendee_max=20, ret=ret)
    return frame.astype({**NUMBERS, "room_id": "string"})


def at(minutes):
    return BEGIN + timedelta(minutes=minutes)


def only(frame):
    """The meeting, which is the only one."""
    found = ck.meetings(frame)
    assert len(found) == 1
    return found.iloc[0]


def test_a_meeting_lies_between_the_samples_that_saw_nobody():
    """Each edge is in the middle of two samples, which are given, too; people are added up over
    the time that they were there."""
    found = only(samples([0, 2, 5, 5, 0, 0], devices=1))
    assert (found["start_from"], found["start"], found["start_to"]) == (at(0), at(0.5), at(1))
    assert (found["end_from"], found["end"], found["end_to"]) == (at(3), at(3.5), at(4))
    assert (found["peak"], found["person_minutes"], found["bridged"]) == (5, 12, 0)
    assert found["open"] == ""


def test_a_sample_that_failed_never_splits_a_meeting():
    """It is bridged and counted; one at an edge makes that edge wider instead."""
    found = only(samples([0, 3, None, None, 3, None, 0]))
    assert (found["bridged"], found["person_minutes"]) == (2, 3 * 4.5)
    assert (found["end_from"], found["end_to"]) == (at(4), at(6))


@pytest.mark.parametrize(
    ("people", "edges"),
    [([3, 3, 0], "start"), ([0, 3, 3], "end"), ([3, 3], "both"), ([None, 3, None], "both")],
)
def test_a_meeting_at_the_edge_of_the_record_is_open_there(people, edges):
    """Nobody knows when it began or ended: the outer of the two samples is missing."""
    found = only(samples(people))
    assert found["open"] == edges
    assert pd.isna(found["start_from"]) == (edges != "end")
    assert pd.isna(found["end_to"]) == (edges != "start")
    assert found["start"] == (found["start_to"] if edges != "end" else at(0.5))


def test_meetings_in_two_rooms_and_one_after_the_other_are_told_apart():
    """One sample without anybody is enough; those that follow each other between two are one."""
    two = samples([0, 1, 0, 2, 2, 0, 4, 1, 0], room_id="b")
    found = ck.meetings(pd.concat([two, samples([0, 0, 7, 0], room_id="a")]))
    assert list(zip(found["room_id"], found["peak"], strict=True)) == [
        ("b", 1),
        ("a", 7),
        ("b", 2),
        ("b", 4),
    ]


def test_a_time_without_samples_is_an_edge():
    """Of a recorder that stood still nobody knows who was there: the meeting is open at the gap,
    and another one begins behind it."""
    late = samples([3, 3, 0], begin=at(600))
    found = ck.meetings(pd.concat([samples([0, 3, 3, 3]), late]))
    assert [*found["open"]] == ["end", "start"]
    assert found["end"][0] == at(3)


def test_a_room_with_a_camera_alone_has_no_meeting():
    """Devices are no people; where the two could never be told apart all users count."""
    assert ck.meetings(samples([0, 0, 0], devices=2)).empty
    unknown = samples([0, 2, 0]).assign(people=pd.NA, devices=pd.NA)
    assert only(unknown.astype(NUMBERS))["peak"] == 2


def test_columns_have_their_types_when_there_is_no_meeting():
    """An empty frame can be used like any other."""
    full, empty = ck.meetings(samples([0, 1, 0])), ck.meetings(samples([0, 0]))
    assert [*full.dtypes] == [*empty.dtypes]
    assert str(full["start"].dtype) == "datetime64[ms, UTC]"


def test_a_folder_that_is_recorded_is_read(tmp_path):
    """A folder gives what the frame gives, with its service; one that is none, and one of two
    services, say so."""
    frame = samples([0, 2, 5, 0])
    frame.attrs["service"] = "https://one.example"
    save_occupancy(frame, tmp_path / "one")
    found = ck.meetings(tmp_path / "one")
    pd.testing.assert_frame_equal(found, ck.meetings(frame))
    assert found.attrs["service"] == "https://one.example"
    with pytest.raises(ConfigError, match="none"):
        ck.meetings(tmp_path / "none")
    mixed = frame.copy()
    mixed.attrs["service"] = "https://one.example, https://two.example"
    with pytest.raises(ConfigError, match="one service"):
        ck.meetings(mixed)


def test_a_week_of_a_room_is_a_bar_for_each_meeting():
    """The title is the finding; each meeting is a line of the summary and a bar, two where it goes
    past midnight; other weeks are left out."""
    night = samples([0, *[4] * 4, 0], 3600, begin=pd.Timestamp("2026-06-02T21:30Z"))
    week = [samples([0, 3, None, 3, 0], 1800), night, samples([2, 0], begin=at(9 * 1440))]
    found = ck.meetings(pd.concat(week))
    chart = ck.meetings_chart(found, "r1", week="2026-06-03", topic="Daily", tz="UTC")
    assert chart.summary().splitlines() == [
        "Daily (r1): 2 meetings, 5 h 30 min in use, at most 4 people",
        "Monday 08:15 to 09:45: 3 people, 1 sample failed",
        "Tuesday 22:00 to 02:00: 4 people",
    ]
    assert [round(bar.get_width(), 2) for bar in chart.axes[0].patches] == [1.5, 2, 2]
    last = ck.meetings_chart(found, "r1", tz="UTC").summary()
    assert last.splitlines()[1] == "Wednesday 08:00 to 08:00: 2 people, open at its start"


def test_a_week_and_a_room_without_meetings_say_so():
    """There is a chart all the same; a frame that is none of meetings is refused."""
    found = ck.meetings(samples([0, 1, 0]))
    empty = ck.meetings_chart(found, "r1", week="2026-01-05", tz="UTC")
    assert "no meeting this week" in empty.summary()
    assert "no meeting" in ck.meetings_chart(found, "other").summary()
    with pytest.raises((ConfigError, ValueError), match="peak"):
        ck.meetings_chart(found.drop(columns="peak"), "r1")


def test_hours_are_those_of_the_zone_on_the_day_that_clocks_change():
    """A night of meetings on 25 October lasts as long as it did, by the clock of that place."""
    night = samples([0, *[2] * 4, 0], 3600, begin=pd.Timestamp("2026-10-24T22:30Z"))
    said = ck.meetings_chart(ck.meetings(night), "r1", tz="Europe/Berlin").summary()
    assert "4 h in use" in said
    assert "Sunday 01:00 to 04:00" in said
