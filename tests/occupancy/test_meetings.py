"""`meetings`: when people were in a room, and what is not known of it."""

from datetime import timedelta

import pandas as pd
import pytest

import confkit as ck
from tests.occupancy.made import steady

MONDAY = pd.Timestamp("2026-06-01T08:00Z")


def attended(people, room="a", devices=0, start=MONDAY):
    """A sample a minute; None where it failed."""
    users = [None if number is None else number + devices for number in people]
    frame = steady(users, start=start, room=room, devices=devices)
    return frame.assign(people=pd.array(people, "Int64"))


# People by minute; of each meeting its start and end in minutes, peak, person-minutes, bridged
# samples and open edges.
ROWS = [
    ("0 2 5 5 0 0", [(0.5, 3.5, 5, 12, 0, "")]),
    ("0 3 . . 3 . 0", [(0.5, 5, 3, 13.5, 2, "")]),
    ("3 3 0", [(0, 1.5, 3, 4.5, 0, "start")]),
    ("0 3 3", [(0.5, 2, 3, 4.5, 0, "end")]),
    (". 3 .", [(1, 1, 3, 0, 0, "both")]),
    ("0 1 0 2 2 0", [(0.5, 1.5, 1, 1, 0, ""), (2.5, 4.5, 2, 4, 0, "")]),
    ("0 . 0", []),
]


@pytest.mark.parametrize(("people", "expected"), ROWS)
def test_meetings_of_a_room(people, expected):
    """Edges lie between two samples, failed ones are bridged, and devices are no people."""
    counts = [None if word == "." else int(word) for word in people.split()]
    table = ck.meetings(attended(counts, devices=1))
    minutes = table[["start", "end"]].sub(MONDAY.as_unit("ms")) / timedelta(minutes=1)
    columns = ["start", "end", "peak", "person_minutes", "bridged", "open"]
    assert table.assign(**minutes)[columns].to_numpy().tolist() == [[*row] for row in expected]


def test_an_empty_room_is_known_to_be_without_people():
    """Also in a sample in which devices could not be told from people."""
    frame = attended([0, 3, 0, 0])
    frame.loc[2, ["people", "ret"]] = [pd.NA, 310]
    [meeting] = ck.meetings(frame).to_dict("records")
    assert (meeting["end"], meeting["bridged"]) == (MONDAY + timedelta(minutes=1.5), 0)
    [meeting] = ck.meetings(steady([0, 2, 0], people=None)).to_dict("records")
    assert meeting["peak"] == 2


def test_a_pause_of_the_recorder_is_an_edge():
    late = attended([3, 3, 0], start=MONDAY + timedelta(minutes=10))
    table = ck.meetings(pd.concat([attended([0, 3, 3, 3]), late]))
    assert [*table["open"]] == ["end", "start"]


def test_a_folder_gives_the_meetings_of_its_samples(tmp_path):
    """By time and room, with its service; without a meeting the types stay."""
    frame = pd.concat([attended([0, 2, 0, 1, 0], room="b"), attended([0, 0, 7, 0, 0])])
    frame.attrs["service"] = "https://one.example"
    ck.save_occupancy(frame, tmp_path)
    table = ck.meetings(tmp_path)
    assert [*table["room_id"]] == ["b", "a", "b"]
    pd.testing.assert_frame_equal(table, ck.meetings(frame))
    assert table.attrs["service"] == "https://one.example"
    assert [*table.dtypes] == [*ck.meetings(frame.iloc[:0]).dtypes]
