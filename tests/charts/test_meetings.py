"""The week of a room: a bar for each of its meetings."""

import pandas as pd
import pytest

import confkit as ck
from tests.occupancy.made import MONDAY, attended


def test_a_week_of_a_room_is_a_bar_for_each_meeting():
    """The title is the finding; each meeting is a line of the summary and a bar, two where it goes
    past midnight; other weeks are left out."""
    night = attended([0, *[4] * 4, 0], 3600, begin=pd.Timestamp("2026-06-02T21:30Z"))
    week = [
        attended([0, 3, None, 3, 0], 1800),
        night,
        attended([2, 0], begin=MONDAY + pd.Timedelta(days=9)),
    ]
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
    found = ck.meetings(attended([0, 1, 0]))
    empty = ck.meetings_chart(found, "r1", week="2026-01-05", tz="UTC")
    assert "no meeting this week" in empty.summary()
    assert "no meeting" in ck.meetings_chart(found, "other").summary()
    with pytest.raises(ValueError, match="peak"):
        ck.meetings_chart(found.drop(columns="peak"), "r1")


def test_hours_are_those_of_the_zone_on_the_day_that_clocks_change():
    """A night of meetings on 25 October lasts as long as it did, by the clock of that place."""
    night = attended([0, *[2] * 4, 0], 3600, begin=pd.Timestamp("2026-10-24T22:30Z"))
    said = ck.meetings_chart(ck.meetings(night), "r1", tz="Europe/Berlin").summary()
    assert "4 h in use" in said
    assert "Sunday 01:00 to 04:00" in said
