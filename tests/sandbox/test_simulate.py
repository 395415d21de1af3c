"""A simulated building: its samples, its rooms in the sandbox, and people who come and go."""

import contextlib
import logging
import threading

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError, ConfkitError
from confkit.sandbox import Sandbox
from confkit.sandbox.building import Building
from confkit.sandbox.simulation import events

from .conftest import until as wait_until

MONDAY, BUSY = "2024-02-26 12:00", "2024-02-27 10:10"
TYPES = {"time": "datetime64[ms, UTC]", "room_id": "string", "users": "Int64", "people": "Int64"}
TYPES |= dict.fromkeys(("devices", "attendee_max", "ret"), "Int64")


def inside(sandbox):
    """The number of people in each room."""
    return {room_id: len(sandbox.people(room_id)) for room_id in sandbox.room_ids()}


def everybody(sandbox):
    """The ids of all people."""
    return {one["user_id"] for room in sandbox.room_ids() for one in sandbox.people(room)}


@pytest.fixture
def sandbox(make):
    """A sandbox that repeats."""
    return make(seed=1).sandbox


def test_samples_are_a_row_a_room_and_time(sandbox):
    """The samples lie on a grid that ends at `until`, each with the rooms in their order, and count
    who has come and not left; with days=0 there are rooms, five thousand of them, and an empty
    frame of the same types."""
    frame = sandbox.simulate(30, 2, until=BUSY, seed=5)
    assert list(frame.room_id) == sandbox.room_ids() * (2 * 288)
    times = frame.time.dt.tz_localize(None).to_numpy("M8[s]").reshape(-1, 30)
    grid = pd.date_range(end=BUSY, periods=2 * 288, freq="300s").to_numpy("M8[s]")
    assert (times == grid[:, None]).all()
    assert (frame.users == frame.people + frame.devices).all()
    assert (frame.users <= frame.attendee_max).fillna(True).all()
    assert (frame.ret == 0).all()
    assert frame.attrs == {"service": "SANDBOX"}
    house, people = Building(30, 5), frame.people.to_numpy(int).reshape(-1, 30)
    stays = house.week(house.week_of(pd.Timestamp(BUSY, tz="UTC").timestamp()))
    for place in (-1, -20, -70):
        moment = times[place, 0].astype(int)
        there = stays[(stays.comes <= moment) & (moment < stays.goes)]
        assert (people[place] == np.bincount(there.room, minlength=30)).all()
    empty = sandbox.simulate(5000, 0)
    assert len(set(sandbox.room_ids())) == 5030
    for one, rows in ((frame, 30 * 2 * 288), (empty, 0)):
        assert {name: str(kind) for name, kind in one.dtypes.items()} == TYPES
        assert len(one) == rows


def test_the_sandbox_stands_as_the_last_sample_says(make, sandbox, client):
    """Room by room, users and cap over the wire are those of the last sample; a second building
    adds rooms and leaves the first as it is. Who joins has the same id as without all of them."""
    last = sandbox.simulate(40, 1, until=BUSY).tail(40)
    assert len({ck.get_room(client, room_id).topic for room_id in last.room_id}) == 40
    for row in last.itertuples():
        room = ck.get_room(client, row.room_id)
        assert room.attendee_max == (None if pd.isna(row.attendee_max) else row.attendee_max)
        users = ck.get_room_users(client, row.room_id)
        assert len(users) == row.users == len({user.user_name for user in users})
        assert room.room_status == (1 if row.users else 0)
    assert last.users.sum() > 10
    before = inside(sandbox)
    further = sandbox.simulate(10, 1, until=BUSY)
    assert sandbox.room_ids() == [*last.room_id, *further.room_id.tail(10)]
    assert before.items() <= inside(sandbox).items()
    bare = make(seed=1)
    assert sandbox.join(last.room_id.iloc[0], "Ada") == bare.sandbox.join(bare.room(), "Ada")


def test_a_room_with_a_camera(make):
    """One unused room has a camera, which was taken out at the last midnight; with cameras=True it
    is a real one, imported, and the last sample has it too."""
    for cameras in (False, True):
        stranger = make(seed=1)
        sandbox = stranger.sandbox
        frame = sandbox.simulate(40, 2, until=BUSY, cameras=cameras)
        watched = frame[frame.devices > 0]
        assert watched.room_id.nunique() == 1
        assert (frame[frame.room_id == watched.room_id.iloc[0]].people == 0).all()
        last = BUSY if cameras else "2024-02-26 23:55"
        assert watched.time.max() == pd.Timestamp(last, tz="UTC")
        rooms = [one.room_id for one in sandbox.streams()]
        assert rooms == [watched.room_id.iloc[-1]] * cameras
    assert stranger.users(rooms[0]) == stranger.devices()
    sandbox.device_service("stopped")
    with pytest.raises(ConfkitError, match=r"camera could not be imported: .*stopped"):
        sandbox.simulate(40, 1, cameras=True)


def test_until_is_a_moment_in_any_form(sandbox):
    """Wall-clock times are those of `tz`, others are what they say; by default it is now, by the
    sandbox's clock."""
    for until in (
        "2024-02-27 10:00",
        "2024-02-27T09:00Z",
        1709024400,
        pd.Timestamp("2024-02-27 10:00", tz="Europe/Berlin"),
    ):
        frame = sandbox.simulate(3, 0.1, until=until, tz="Europe/Berlin")
        assert frame.time.iloc[-1] == pd.Timestamp("2024-02-27T09:00Z"), until
    sandbox.advance(60)
    assert sandbox.simulate(3, 1).time.iloc[-1].timestamp() == sandbox.now()


def test_failures_are_missing_values(sandbox):
    """A failed call leaves values missing, never 0, and its result code stands in `ret`."""
    frame = sandbox.simulate(40, 5, until=BUSY, failures=0.1)
    lost, ret = frame.ret.isna(), frame.ret.fillna(-1).astype(int)
    assert frame.users.isna().equals(lost | (ret == 504))
    assert frame.people.isna().equals(ret != 0)
    assert frame.people.isna().equals(frame.devices.isna())
    shares = ret.value_counts(normalize=True)
    assert 0.03 < shares[-1] < 0.07
    assert 0.03 < shares[504] < 0.07
    assert 0.04 < shares[310] < 0.15
    assert frame.attendee_max.notna().any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rooms": 0}, "rooms is 0"),
        ({"rooms": True}, "rooms is True"),
        ({"rooms": 2.0}, "rooms is 2.0"),
        ({"days": float("nan")}, "days is nan"),
        ({"every": 0}, "every is 0"),
        ({"failures": 1.5}, "failures is 1.5"),
        ({"tz": "../etc"}, "no known time zone"),
        ({"until": "soon"}, "until is 'soon'"),
        ({"until": True}, "until is True"),
        ({"speed": 0}, "speed is 0"),
        ({"rooms": 5000, "every": 1}, "more than 100,000,000 samples: raise every"),
    ],
)
def test_arguments_that_make_no_sense(sandbox, given, said):
    """Each is a ConfigError that names the argument, and no room is made."""
    with pytest.raises(ConfigError, match=said):
        sandbox.simulate(**given)
    assert sandbox.room_ids() == []


def test_nobody_gets_in_where_nobody_can(sandbox):
    """Too few seats, an expired licence or a stopped media server are errors, and no room is made;
    at night, when nobody is in, there is nothing against it."""
    for hinder, said in (
        (lambda: sandbox.licence(seats=3), r"not enough seats .*licence\(seats="),
        (lambda: sandbox.licence(seats=1000, expired=True), r"licence\(expired=False\)"),
        (lambda: (sandbox.licence(expired=False), sandbox.stop_mcu()), r"start_mcu\(\)"),
    ):
        hinder()
        with pytest.raises(ConfkitError, match=said):
            sandbox.simulate(40, 1, until=BUSY)
    assert sandbox.room_ids() == []
    sandbox.simulate(5, 1, until="2024-02-27 03:00")
    assert len(sandbox.room_ids()) == 5


def test_people_come_and_go(sandbox):
    """Live, the rooms are at each moment as the plan says they stand at some moment; after
    stop_simulation they stay so."""
    sandbox.simulate(30, 0, until="2024-02-27 06:00", live=True, speed=300, seed=5)
    assert len(everybody(sandbox)) < 30
    wait_until(lambda: len(everybody(sandbox)) >= 30)
    sandbox.stop_simulation()
    stands = inside(sandbox)
    house = Building(30, 5)
    night = pd.Timestamp("2024-02-27 06:00", tz="UTC").timestamp()
    stays = house.week(house.week_of(night))
    people, found = [0] * 30, False
    for _, leaves, place in events(stays, night):
        people[stays.room[place]] += -1 if leaves else 1
        found = found or people == list(stands.values())
    assert found
    assert inside(sandbox) == stands


def test_what_the_owner_does_does_not_end_a_simulation(caplog):
    """Those who were there when it went live leave when their meeting ends, and those of the next
    weeks come, also where rooms are deleted and closed and people removed while it runs. When the
    sandbox closes nothing of it is left, no thread and no error."""
    threads = set(threading.enumerate())
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        sandbox.simulate(20, 0, until=BUSY, live=True, speed=2000, seed=5)
        rooms, first = sandbox.room_ids(), everybody(sandbox)
        ck.delete_room(client, rooms[0])
        sandbox.close_room(rooms[1])
        for room_id in rooms[2:10]:
            for person in sandbox.people(room_id):
                with contextlib.suppress(LookupError):
                    ck.force_offline(client, room_id, person["user_id"])
        for _ in range(2):  # days
            wait_until(lambda: not everybody(sandbox))
            wait_until(lambda: len(everybody(sandbox)) > 8)
        assert not everybody(sandbox) & first
        assert sandbox.people(rooms[1]) == []
    assert set(threading.enumerate()) <= threads
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_simulation_that_cannot_go_on_says_so(sandbox, caplog, monkeypatch):
    """When the sandbox itself fails under a simulation, the log says that it ended."""
    with caplog.at_level(logging.ERROR, "confkit.sandbox"):
        sandbox.simulate(20, 0, until="2024-02-27 05:00", live=True, speed=2000)
        monkeypatch.setattr(sandbox._service, "join", lambda *_: {}["gone"])
        wait_until(lambda: "the simulation of 20 rooms ended: 'gone'" in caplog.text)
    sandbox.stop_simulation()
