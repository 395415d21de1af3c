"""`meetings`: when people were in a room, and what is not known of it."""

from datetime import timedelta

import pandas as pd
import pytest

import confkit as ck
from tests.occupancy.made import steady

MONDAY = pd.Timestamp("2026-06-01T08:00Z")


def attended(people, start=MONDAY):
    """A sample a minute, with a device; None where it failed."""
    users = [None if number is None else number + 1 for number in people]
    return steady(users, start=start, devices=1).assign(people=pd.array(people, "Int64"))


# People by minute; of each meeting its start and end in minutes, peak, person-minutes, bridged
# samples and open edges.
ROWS = [
    ([0, 2, 5, 5, 0, 0], [[0.5, 3.5, 5, 12, 0, ""]]),
    ([0, 3, None, None, 3, None, 0], [[0.5, 5, 3, 13.5, 2, ""]]),
    ([0, 1, 0, 2, 2, 0], [[0.5, 1.5, 1, 1, 0, ""], [2.5, 4.5, 2, 4, 0, ""]]),
]


@pytest.mark.parametrize(("people", "expected"), ROWS)
def test_meetings_of_a_room(people, expected):
    """Edges lie between two samples, failed ones are bridged, and devices are no people."""
    table = ck.meetings(attended(people))
    minutes = table[["start", "end"]].sub(MONDAY.as_unit("ms")) / timedelta(minutes=1)
    columns = ["start", "end", "peak", "person_minutes", "bridged", "open"]
    assert table.assign(**minutes)[columns].to_numpy().tolist() == expected


def test_two_recorders_see_one_meeting():
    rows = attended([0, *[2] * 9, 0])
    rows = pd.concat([rows, rows.assign(time=rows["time"] + timedelta(seconds=5))])
    assert [*ck.meetings(rows)["open"]] == [""]


@pytest.mark.parametrize("failed", [[], [None] * 6])
def test_a_pause_of_the_recorder_or_service_is_an_edge(failed):
    late = attended([3, 3, 0], MONDAY + timedelta(minutes=10))
    table = ck.meetings(pd.concat([attended([0, 3, 3, 3, *failed]), late]))
    assert [*table["open"]] == ["end", "start"]
