"""capacity-review: a PASS only where the recording is whole and no room was full."""

import pandas as pd
import pytest

import confkit as ck
from tests.runbook.deployment import changes, deployed, outside, wrong
from tests.runbook.harness import play

READ, MONTH, FRESH = "the recording can be read", "it covers 30 days", "it is recent"
OURS, WHOLE = "it is of this service", "every room was read often enough"
SMALL = "no room was full for more than 30 minutes"

SCENES = {
    "healthy": {},
    "one-too-small": {SMALL: "FAIL"},
    "gaps": {WHOLE: "UNKNOWN"},
    "one-room-unread": {WHOLE: "UNKNOWN"},
    "three-days": {MONTH: "UNKNOWN"},
    "old": {FRESH: "UNKNOWN"},
}


@pytest.mark.parametrize(("scene", "expected"), SCENES.items(), ids=SCENES)
def test_what_a_month_shows_is_told_apart(scene, expected):
    """A room that was full is a FAIL; what is missing is UNKNOWN, never a PASS."""
    played = play("capacity-review", scene=scene)
    assert wrong(played) == expected, played
    assert played.verdict == next(iter(expected.values()), "PASS")


def test_the_thresholds_are_inputs():
    """What may be full for longer is no FAIL, and what has gaps is whole for who allows them."""
    assert play("capacity-review", scene="one-too-small", full_minutes=5000).verdict == "PASS"
    assert play("capacity-review", scene="gaps", coverage=0.5).verdict == "PASS"
    assert play("capacity-review", scene="three-days", days=3).verdict == "PASS"


@pytest.fixture
def recording(sandbox, tmp_path):
    """A month of three rooms that are never full, in a folder, up to the sandbox's now."""
    past = sandbox.simulate(rooms=3, days=30, every=3600, seed=3)
    past["attendee_max"] = 500
    ck.save_occupancy(past, tmp_path)
    return tmp_path


def test_a_recording_of_another_service_is_not_judged_by_this_one(sandbox, recording):
    """The samples name whose they are; another service's are UNKNOWN, and it is old as well."""
    with outside(sandbox, read_only=True) as client, changes(sandbox):
        played = play("capacity-review", client, recording=str(recording))
    assert wrong(played) == {OURS: "UNKNOWN", FRESH: "UNKNOWN"}
    assert "SANDBOX" in played[OURS].found
    assert played[SMALL].verdict == "PASS"


@pytest.mark.parametrize("share", [1.0, 0.5], ids=["never", "half of the time"])
def test_a_limit_that_could_not_be_read_is_no_room_that_was_never_full(sandbox, tmp_path, share):
    """Users without their room's limit (A3 failed) say nothing: UNKNOWN, and the room is named."""
    past = sandbox.simulate(rooms=3, days=30, every=3600, seed=3)
    past["attendee_max"] = 500
    room_id = past.room_id.iloc[0]
    lost = (past.room_id == room_id) & (past.index < share * len(past))
    past.loc[lost, "attendee_max"], past.loc[lost, "ret"] = pd.NA, 700
    ck.save_occupancy(past, tmp_path)
    with sandbox.connect() as client:
        played = play("capacity-review", client, recording=str(tmp_path))
    assert wrong(played) == {WHOLE: "UNKNOWN"}
    assert played[WHOLE].found == f"1 of 3 rooms were not: {room_id} ({1 - share:.0%})"


def test_topics_that_cannot_be_read_leave_the_ids(sandbox, recording):
    """The report does not depend on the service: without A3 rooms go by their IDs."""
    with sandbox.connect() as client:
        sandbox.fault("/rtc/room/get", ret=700)
        assert play("capacity-review", client, recording=str(recording)).verdict == "PASS"


def test_without_a_recording_nothing_is_known(tmp_path):
    """None given, no such folder, and an empty one: UNKNOWN, with the next step."""
    with deployed() as (sandbox, client), changes(sandbox):
        for folder in ("", str(tmp_path / "nowhere"), str(tmp_path)):
            played = play("capacity-review", client, recording=folder)
            assert played.verdict == "UNKNOWN", played
            assert wrong(played) == {READ: "UNKNOWN"}
        assert "no sample" in played[READ].found
