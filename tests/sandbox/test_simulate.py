"""A simulated building: its people, its samples, its rooms in the sandbox, and its clock."""

import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError
from tests.rtsp.scripted import until

BUSY = "2024-02-27 10:10"


def everybody(sandbox):
    """The IDs of all people."""
    with sandbox.connect() as client:
        rooms = sandbox.room_ids()
        return {user.user_id for room in rooms for user in ck.get_room_users(client, room)}


def test_samples_are_a_row_for_each_room_and_time(make):
    """On a grid that ends at `until`. The sandbox is in the state of the last sample, and samples
    are reproducible."""
    sandbox, again = make(seed=1).sandbox, make(seed=1).sandbox
    frame = sandbox.simulate(30, 2, until=BUSY)
    assert frame.equals(again.simulate(30, 2, until=BUSY))
    assert list(frame.room_id) == sandbox.room_ids() * (2 * 288)
    times = pd.date_range(end=BUSY, periods=576, freq="300s", tz="UTC")
    assert list(frame.time[::30]) == list(times)
    assert (frame.users == frame.people + frame.devices).all()
    assert (frame.users <= frame.attendee_max).fillna(True).all()
    last = frame.tail(30)
    with sandbox.connect() as client:
        users = [len(ck.get_room_users(client, room_id)) for room_id in last.room_id]
    assert users == list(last.users)
    assert sum(users) > 10


def test_the_clock_continues_from_until(sandbox):
    """`until` is local; clients show the sandbox's time. Failures are missing values, never 0, with
    the result code in `ret`."""
    nine = pd.Timestamp("2024-02-27T09:00Z")
    frame = sandbox.simulate(40, 5, until="2024-02-27 10:00", tz="Europe/Berlin", failures=0.1)
    assert frame.time.iloc[-1] == nine
    failed = frame.ret != 0
    assert 0.07 < failed.mean() < 0.13
    assert frame[["users", "people", "devices"]].isna().all(axis=1).equals(failed.astype(bool))
    with sandbox.connect() as client:
        swept = ck.sweep(client, sandbox.room_ids(), progress=False).time
    assert 0 <= (swept - nine).total_seconds() < 60


def test_a_camera_is_left_behind(sandbox):
    """With `cameras` it is a real one, in a room of its own."""
    frame = sandbox.simulate(40, 0.1, until=1_709_028_600, cameras=True)
    [stream] = sandbox.streams()
    assert stream.state == "live"
    assert set(frame.room_id[frame.devices == 1]) == {stream.room_id}


def test_a_building_that_cannot_be(sandbox):
    for settings, error in (
        ({"rooms": 5000, "every": 1}, "at most 100,000,000 samples"),
        ({"until": "03.04.2026 10:00"}, "until is '03.04.2026 10:00'"),  # of April, or of March?
        ({"tz": "Mars/Base"}, "tz 'Mars/Base'"),
    ):
        with pytest.raises(ConfigError, match=error):
            sandbox.simulate(**settings)
    assert sandbox.room_ids() == []


def test_people_come_and_go(sandbox, caplog):
    """Live, through weeks, whatever the owner does."""
    sandbox.simulate(20, 0, until=BUSY, live=True, seed=5)
    began = sandbox.now()
    until(lambda: sandbox.now() - began > 60)  # a minute a second
    closed = sandbox.room_ids()[0]
    sandbox.close_room(closed)
    for hours, busy in ((12, False), (12, True), (6 * 24 + 12, False), (12, True)):
        sandbox.advance(hours * 3600)
        until(lambda want=busy: (len(everybody(sandbox)) > 8) is want)
    with sandbox.connect() as client:
        assert ck.get_room_users(client, closed) == []
    assert caplog.records == []
