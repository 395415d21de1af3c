"""A simulated building: its people, its samples, its rooms in the sandbox, and its clock."""

import contextlib
import logging
import threading
import time

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError, ConfkitError
from confkit.sandbox import Sandbox
from confkit.sandbox.building import DAY, HOUR, MONDAY, WEEK, Building

from .conftest import wait_until

WEEK_NUMBER = 2829  # of 2024-03-25, when New York is 4 hours behind
BUSY = "2024-02-27 10:10"
TYPES = {"time": "datetime64[ms, UTC]", "room_id": "string"}
TYPES |= dict.fromkeys(("users", "people", "devices", "attendee_max", "ret"), "Int64")


def everybody(sandbox):
    """The IDs of all people."""
    return {each["user_id"] for room in sandbox.room_ids() for each in sandbox.people(room)}


def test_people_meet_in_working_hours():
    """At local times, also in summer; no room holds more than its cap, which a full one reaches."""
    building, abroad = Building(1000, 3), Building(1000, 3, "America/New_York")
    stays, local = (place.week(WEEK_NUMBER) for place in (building, abroad))
    day, second = np.divmod(stays.comes - MONDAY - WEEK_NUMBER * WEEK, DAY)
    assert 0 < np.mean(day >= 5) < 0.03
    assert second.between(7 * HOUR - 180, 21 * HOUR).all()
    assert (local.comes - stays.comes == 4 * HOUR).all()
    both = stays.assign(at=stays.goes, step=-1), stays.assign(at=stays.comes, step=1)
    people = pd.concat(both, ignore_index=True).sort_values("at", kind="stable")
    peak = people.groupby("room").step.cumsum().groupby(people.room).max()
    peak = peak.reindex(range(1000), fill_value=0).to_numpy()
    assert (peak <= building.caps)[building.caps > 0].all()
    assert (peak == building.caps)[building.full].all()
    assert ((peak > 0) == (building.used > 0)).all()
    kinds = building.full, building.used == 0, building.caps == 0
    assert [kind.sum() for kind in kinds] == [50, 50, 120]
    assert (Building(4, 1).full.sum(), Building(4, 1).camera_room) == (1, None)


def test_samples_are_a_row_for_each_room_and_time(make):
    """On a grid that ends at `until`. The sandbox is in the state of the last sample, room by room,
    and a second building leaves the first as it is; samples are reproducible."""
    sandbox, again = make(seed=1).sandbox, make(seed=1).sandbox
    frame = sandbox.simulate(30, 2, until=BUSY)
    assert frame.equals(again.simulate(30, 2, until=BUSY))
    assert list(frame.room_id) == sandbox.room_ids() * (2 * 288)
    times = frame.time.dt.tz_localize(None).to_numpy("M8[s]").reshape(-1, 30)
    assert (times == pd.date_range(end=BUSY, periods=576, freq="300s").to_numpy()[:, None]).all()
    assert (frame.users == frame.people + frame.devices).all()
    assert (frame.users <= frame.attendee_max).fillna(True).all()
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == TYPES
    assert (frame.attrs, set(frame.ret)) == ({"service": "SANDBOX"}, {0})
    with sandbox.connect() as client:
        for row in frame.tail(30).itertuples():
            room, users = ck.get_room(client, row.room_id), ck.get_room_users(client, row.room_id)
            assert room.attendee_max == (None if pd.isna(row.attendee_max) else row.attendee_max)
            assert len(users) == row.users == len({user.user_name for user in users})
    assert frame.users.tail(30).sum() > 10
    people = everybody(sandbox)
    empty = sandbox.simulate(500, 0)
    assert len(set(sandbox.room_ids())) == 530
    assert (len(empty), everybody(sandbox) >= people) == (0, True)
    assert {name: str(kind) for name, kind in empty.dtypes.items()} == TYPES


def test_a_room_with_a_camera(make):
    """One unused room has a camera, which was removed at the last midnight; with cameras=True it is
    a real one, imported, and in the last sample."""
    for cameras, last in ((False, "2024-02-26 23:55"), (True, BUSY)):
        sandbox = make(seed=1).sandbox
        frame = sandbox.simulate(40, 2, until=BUSY, cameras=cameras)
        watched = frame[frame.devices > 0]
        assert watched.room_id.nunique() == 1
        assert watched.time.max() == pd.Timestamp(last, tz="UTC")
        rooms = [each.room_id for each in sandbox.streams()]
        assert rooms == [watched.room_id.iloc[-1]] * cameras
    sandbox.device_service("stopped")
    with pytest.raises(ConfkitError, match=r"camera could not be imported: .*stopped"):
        sandbox.simulate(40, 1, cameras=True)


def test_failures_are_missing_values(sandbox):
    """Never 0, and the result code is in `ret`."""
    frame = sandbox.simulate(40, 5, until=BUSY, failures=0.1)
    failed = frame.ret != 0
    assert 0.07 < failed.mean() < 0.13
    assert frame[["users", "people", "devices"]].isna().all(axis=1).equals(failed.astype(bool))


def test_the_clock_continues_from_until(sandbox, tmp_path):
    """`until` is a moment in any form, by default now; clients show the sandbox's time, and tokens
    keep their lifetime."""
    assert abs(sandbox.now() - time.time()) < 5
    nine = pd.Timestamp("2024-02-27T09:00Z")
    with sandbox.connect() as client:
        ck.create_room(client, "Lab", "ops")
        for until in ("2024-02-27 10:00", "2024-02-27T09:00Z", 1709024400, nine.to_pydatetime()):
            frame = sandbox.simulate(3, 28, every=3600, until=until, tz="Europe/Berlin")
            assert frame.time.iloc[-1] == nine, until
            assert 0 <= sandbox.now() - nine.timestamp() < 5
        now = ck.sweep(client, sandbox.room_ids(), progress=False)
        folder = tmp_path / "recording"
        ck.Recorder(folder).record(client, sandbox.room_ids(), sweeps=1)
        for moment in (now.time, ck.load_occupancy(folder).time.iloc[0]):
            assert 0 <= (moment - nine).total_seconds() < 60
    assert sandbox.count("A1") == 1
    sandbox.advance(3600)
    assert abs(sandbox.simulate(3, 1).time.iloc[-1].timestamp() - sandbox.now()) < 5
    assert sandbox.now() - nine.timestamp() >= 3600


def test_a_time_that_the_clock_skips_is_a_moment(sandbox):
    frame = sandbox.simulate(3, 1, until="2026-03-29 02:30", tz="Europe/Berlin")
    assert frame.time.iloc[-1] == pd.Timestamp("2026-03-29T01:30Z")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"rooms": 0}, "0 rooms"),
        ({"rooms": 10**6, "days": 0}, "1 to 20,000 rooms"),
        ({"every": 0}, "every 0 s"),
        ({"rooms": 5000, "every": 1}, "at most 100,000,000 samples"),
        ({"tz": "../etc"}, "time zone '../etc'"),
        ({"until": "soon"}, "until is 'soon'"),
        ({"until": "03.04.2026 10:00"}, "until is '03.04.2026 10:00'"),  # of April, or of March?
    ],
)
def test_a_building_that_cannot_be(sandbox, settings, error):
    with pytest.raises(ConfigError, match=error):
        sandbox.simulate(**settings)
    assert sandbox.room_ids() == []


def test_people_come_and_go(caplog):
    """Live, by a clock of a minute a second, through weeks, whatever the owner does; nothing is
    left when the sandbox closes."""
    threads = set(threading.enumerate())
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        sandbox.simulate(20, 0, until=BUSY, live=True, seed=5)
        began = sandbox.now()
        time.sleep(0.2)
        assert 6 < sandbox.now() - began < 300
        rooms, first = sandbox.room_ids(), everybody(sandbox)
        ck.delete_room(client, rooms[0])
        sandbox.close_room(rooms[1])
        for room_id in rooms[2:10]:
            for person in sandbox.people(room_id):
                with contextlib.suppress(LookupError):
                    sandbox.leave(room_id, person["user_id"])
        for hours, busy in ((12, False), (12, True), (6 * 24 + 12, False), (12, True)):
            sandbox.advance(hours * HOUR)
            wait_until(lambda want=busy: (len(everybody(sandbox)) > 8) is want)
        assert not everybody(sandbox) & first
        assert sandbox.people(rooms[1]) == []
    wait_until(lambda: set(threading.enumerate()) <= threads)
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
