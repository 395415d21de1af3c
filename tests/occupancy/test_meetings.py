"""`meetings`: when people were in a room, and what is not known of it."""

from datetime import timedelta

import pandas as pd
import pytest

import confkit as ck
from tests.occupancy.made import MONDAY, attended, steady


def at(minutes):
    return MONDAY + timedelta(minutes=minutes)


def only(frame):
    """The meeting, which is the only one."""
    found = ck.meetings(frame)
    assert len(found) == 1
    return found.iloc[0]


def test_a_meeting_lies_between_the_samples_that_saw_nobody():
    """Each edge is in the middle of two samples, which are given, too; people are added up over
    the time that they were there."""
    found = only(attended([0, 2, 5, 5, 0, 0], devices=1))
    assert (found["start_from"], found["start"], found["start_to"]) == (at(0), at(0.5), at(1))
    assert (found["end_from"], found["end"], found["end_to"]) == (at(3), at(3.5), at(4))
    assert (found["peak"], found["person_minutes"], found["bridged"]) == (5, 12, 0)
    assert found["open"] == ""


def test_a_sample_that_failed_never_splits_a_meeting():
    """It is bridged and counted; one at an edge makes that edge wider instead."""
    found = only(attended([0, 3, None, None, 3, None, 0]))
    assert (found["bridged"], found["person_minutes"]) == (2, 3 * 4.5)
    assert (found["end_from"], found["end_to"]) == (at(4), at(6))


def test_an_empty_room_is_known_to_be_without_people():
    """Also in a sample in which devices may be counted as people."""
    frame = attended([0, 3, 0, 0])
    frame.loc[2, ["people", "ret"]] = [pd.NA, 310]
    assert (only(frame)["end_to"], only(frame)["bridged"]) == (at(2), 0)


@pytest.mark.parametrize(
    ("people", "edges"),
    [([3, 3, 0], "start"), ([0, 3, 3], "end"), ([3, 3], "both"), ([None, 3, None], "both")],
)
def test_a_meeting_at_the_edge_of_the_record_is_open_there(people, edges):
    """Nobody knows when it began or ended: the outer of the two samples is missing."""
    found = only(attended(people))
    assert found["open"] == edges
    assert pd.isna(found["start_from"]) == (edges != "end")
    assert pd.isna(found["end_to"]) == (edges != "start")
    assert found["start"] == (found["start_to"] if edges != "end" else at(0.5))


def test_meetings_in_two_rooms_and_one_after_the_other_are_told_apart():
    """One sample without anybody is enough; those that follow each other between two are one."""
    two = attended([0, 1, 0, 2, 2, 0, 4, 1, 0], room_id="b")
    found = ck.meetings(pd.concat([two, attended([0, 0, 7, 0], room_id="a")]))
    assert found[["room_id", "peak"]].to_numpy().tolist() == [
        ["b", 1],
        ["a", 7],
        ["b", 2],
        ["b", 4],
    ]


def test_a_time_without_samples_is_an_edge():
    """Of a recorder that stood still nobody knows who was there: the meeting is open at the gap,
    and another one begins behind it."""
    late = attended([3, 3, 0], begin=at(600))
    found = ck.meetings(pd.concat([attended([0, 3, 3, 3]), late]))
    assert [*found["open"]] == ["end", "start"]
    assert found["end"][0] == at(3)


def test_a_room_with_a_camera_alone_has_no_meeting():
    """Devices are no people; where the two could never be told apart all users count."""
    assert ck.meetings(attended([0, 0, 0], devices=2)).empty
    assert only(steady([0, 2, 0], people=None))["peak"] == 2


def test_a_folder_that_is_recorded_is_read(tmp_path):
    """A folder gives what the frame gives, with its service; without a meeting the types stay."""
    frame = attended([0, 2, 5, 0])
    frame.attrs["service"] = "https://one.example"
    ck.save_occupancy(frame, tmp_path / "one")
    found = ck.meetings(tmp_path / "one")
    pd.testing.assert_frame_equal(found, ck.meetings(frame))
    assert found.attrs["service"] == "https://one.example"
    assert [*found.dtypes] == [*ck.meetings(frame.iloc[:1]).dtypes]
    assert [*found.dtypes] == [*ck.meetings(frame.iloc[:0]).dtypes]
