"""capacity-review: a PASS only where the recording is whole, recent and of this service."""

import pandas as pd
import pytest

import confkit as ck
from tests.runbook.harness import A3, changes, outside, play
from tests.runbook.test_scenes import WHOLE

READ = "the recording can be read"


@pytest.fixture
def past(sandbox):
    """A month of three rooms that are never full, up to the sandbox's now."""
    return sandbox.simulate(rooms=3, days=30, every=3600, seed=3).assign(attendee_max=500)


def test_a_recording_of_another_service_is_not_judged_by_this_one(sandbox, past, tmp_path):
    """The samples name whose they are; another service's are UNKNOWN, and it is old as well."""
    ck.save_occupancy(past, tmp_path)
    with outside(sandbox, read_only=True) as client, changes(sandbox):
        played = play("capacity-review", client, recording=str(tmp_path))
    assert played.wrong == {"it is of this service": "UNKNOWN", "it is recent": "UNKNOWN"}
    assert "SANDBOX" in played["it is of this service"].found


@pytest.mark.parametrize("share", [1.0, 0.5], ids=["never", "half of the time"])
def test_a_limit_that_could_not_be_read_is_no_room_that_was_never_full(
    client, past, tmp_path, share
):
    """Users without their room's limit (A3 failed) say nothing: UNKNOWN, and the room is named."""
    room_id = past.room_id.iloc[0]
    lost = (past.room_id == room_id) & (past.index < share * len(past))
    past.loc[lost, "attendee_max"], past.loc[lost, "ret"] = pd.NA, 700
    ck.save_occupancy(past, tmp_path)
    played = play("capacity-review", client, recording=str(tmp_path))
    assert played.wrong == {WHOLE: "UNKNOWN"}
    assert played[WHOLE].found == f"1 of 3 rooms were not: {room_id} ({1 - share:.0%})"


def test_topics_that_cannot_be_read_leave_the_ids(client, sandbox, past, tmp_path):
    """The report does not depend on the service: without A3 rooms go by their IDs."""
    ck.save_occupancy(past, tmp_path)
    sandbox.fault(A3, ret=700)
    assert play("capacity-review", client, recording=str(tmp_path)).verdict == "PASS"


def test_without_a_recording_nothing_is_known(real, tmp_path):
    """None given, no such folder, and an empty one: UNKNOWN, with the next step."""
    sandbox, client = real
    with changes(sandbox):
        for folder in ("", str(tmp_path / "nowhere"), str(tmp_path)):
            played = play("capacity-review", client, recording=folder)
            assert played.wrong == {READ: "UNKNOWN"}
        assert "no sample" in played[READ].found
