"""A simulated building: its samples, its rooms in the sandbox, and people who come and go."""

import contextlib
import logging
import threading
import time
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit.errors import ConfigError, ConfkitError
from confkit.sandbox import Sandbox
from confkit.sandbox.building import building, week, week_of
from confkit.sandbox.simulation import events

from .test_interface_b import until as wait_until

MONDAY, BUSY = "2024-02-26 12:00", "2024-02-27 10:10"
TYPES = {
    "time": "datetime64[ms, UTC]",
    "room_id": "string",
    "users": "Int64",
    "people": "Int64",
    "devices": "Int64",
    "attendee_max": "Int64",
    "ret": "Int64",
}


def inside(sandbox):
    """The number of people in each room."""
    return {room_id: len(sandbox.people(room_id)) for room_id in sandbox.room_ids()}


@pytest.fixture
def sandbox(make):
    """A sandbox that repeats."""
    return make(seed=1).sandbox


def test_samples_are_a_row_a_room_and_time(sandbox):
    """The samples lie on a grid that ends at `until`, each with the rooms in their order; with
    days=0 there are rooms and an empty frame of the same types: five thousand of them."""
    frame = sandbox.simulate(30, 2, until=BUSY)
    assert len(frame) == 30 * 2 * 288
    assert list(frame.room_id) == sandbox.room_ids() * (2 * 288)
    times = frame.time.to_numpy().reshape(-1, 30)
    assert (times == times[:, :1]).all()
    assert set(np.diff(times[:, 0])) == {np.timedelta64(300, "s")}
    assert frame.time.iloc[-1] == pd.Timestamp(BUSY, tz="UTC")
    assert (frame.users == frame.people + frame.devices).all()
    assert (frame.users <= frame.attendee_max).fillna(True).all()
    assert (frame.ret == 0).all()
    assert frame.attrs == {"service": "SANDBOX"}
    empty = sandbox.simulate(5000, 0)
    assert len(set(sandbox.room_ids())) == 5030
    for one, rows in ((frame, True), (empty, False)):
        assert {name: str(kind) for name, kind in one.dtypes.items()} == TYPES
        assert one.empty is not rows


def test_a_sample_counts_who_is_there(sandbox):
    """The people of a sample are those who have come and not left, room by room."""
    frame = sandbox.simulate(20, 1, every=1800, until=BUSY, seed=5)
    house = building(20, 5)
    until = pd.Timestamp(BUSY, tz="UTC").timestamp()
    stays = week(house, week_of(house, until))
    people = frame.people.to_numpy(int).reshape(48, 20)
    for place in range(48):
        moment = until - (47 - place) * 1800
        there = (stays.join <= moment) & (moment < stays.leave)
        assert (people[place] == np.bincount(stays.room[there], minlength=20)).all()
    assert people.sum() > 20


def test_a_seed_repeats_everything(make, tmp_path):
    """The same sandbox seed gives the same frames, rooms and people, one building after the other,
    and a look at the last day the same as one at the week; another seed gives others. `seed` gives
    the same meetings in any sandbox. A file that has its rooms already gets further ones."""

    def play(days=7, **settings):
        sandbox = make(**settings).sandbox
        frames = [sandbox.simulate(20, days, until=MONDAY), sandbox.simulate(20, 1, until=BUSY)]
        people = [sandbox.people(room_id) for room_id in sandbox.room_ids()]
        return [*frames, sandbox.simulate(5, 1, until=BUSY, seed="a"), people]

    first, again, other, fresh = play(seed=1), play(seed=1, days=1), play(seed=2), play()
    assert first[0].tail(len(again[0])).reset_index(drop=True).equals(again[0])
    assert first[1].equals(again[1])
    assert first[3] == again[3]
    assert sum(map(len, first[3])) > 3
    for one in (first[0].tail(len(other[1])), other[1], fresh[1]):
        assert not first[1].people.equals(one.people.reset_index(drop=True))
        assert not first[1].room_id.equals(one.room_id.reset_index(drop=True))
    meetings = [one[2].drop(columns="room_id") for one in (first, other, fresh)]
    assert meetings[0].equals(meetings[1])
    assert meetings[0].equals(meetings[2])
    path = tmp_path / "rooms.sqlite"
    for rooms in (5, 10):
        kept = make(seed=1, path=path).sandbox
        kept.simulate(5, 0)
        assert len(set(kept.room_ids())) == rooms
        kept.close()


def test_the_sandbox_stands_as_the_last_sample_says(make, sandbox, client):
    """Room by room, users and cap over the wire are those of the last sample; a second building
    adds rooms and leaves the first as it is. Who joins has the same id as without all of them."""
    last = sandbox.simulate(40, 1, until=BUSY).tail(40)
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
    ids = [
        one.join(rooms, "Ada")
        for one, rooms in ((sandbox, last.room_id.iloc[0]), (bare.sandbox, bare.room()))
    ]
    assert ids[0] == ids[1]


def test_by_default_it_is_now(make):
    """Without `until` the last sample is at the sandbox's own time."""
    for sandbox in (make(seed=1).sandbox, make().sandbox):
        before = sandbox.now()
        last = sandbox.simulate(3, 1).time.iloc[-1].timestamp()
        assert before - 0.001 <= last <= sandbox.now() + 0.001


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
        if cameras:
            assert stranger.users(rooms[0]) == stranger.devices()
    sandbox.device_service("stopped")
    with pytest.raises(ConfkitError, match=r"camera could not be imported: .*stopped"):
        sandbox.simulate(40, 1, cameras=True)


@pytest.mark.parametrize(
    "until",
    [
        "2024-02-27 10:00",
        "2024-02-27T09:00Z",
        datetime(2024, 2, 27, 10),
        1709024400,
        datetime(2024, 2, 27, 9, tzinfo=UTC),
        pd.Timestamp("2024-02-27 10:00", tz="Europe/Berlin"),
    ],
)
def test_until_is_a_moment_in_any_form(sandbox, until):
    """Wall-clock times are those of `tz`, others are what they say."""
    frame = sandbox.simulate(3, 0.1, until=until, tz="Europe/Berlin")
    assert frame.time.iloc[-1] == pd.Timestamp("2024-02-27T09:00Z")


def test_failures_are_missing_values(sandbox):
    """A failed call leaves values missing, never 0, and its result code stands in `ret`."""
    frame = sandbox.simulate(40, 5, until=BUSY, failures=0.1)
    lost, ret = frame.ret.isna(), frame.ret.fillna(-1).astype(int)
    assert frame.users.isna().equals(lost | (ret == 504))
    assert frame.people.isna().equals(ret != 0)
    assert frame.people.isna().equals(frame.devices.isna())
    assert 0.03 < lost.mean() < 0.07
    assert 0.03 < (ret == 504).mean() < 0.07
    apart = frame[ret == 310]
    assert 0.04 < len(apart) / len(frame) < 0.15
    assert apart.users.notna().all()
    assert frame.attendee_max.notna().any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rooms": 0}, "rooms is 0"),
        ({"rooms": -1}, "rooms is -1"),
        ({"rooms": True}, "rooms is"),
        ({"rooms": 2.0}, "rooms is"),
        ({"days": -1}, "days is -1"),
        ({"days": "1"}, "days is"),
        ({"days": float("nan")}, "days is nan"),
        ({"every": 0}, "every is 0"),
        ({"every": -5}, "every is -5"),
        ({"every": True}, "every is True"),
        ({"failures": 1.5}, "failures is 1.5"),
        ({"tz": "Nowhere/Land"}, "no known time zone"),
        ({"tz": "../etc"}, "no known time zone"),
        ({"tz": None}, "no known time zone"),
        ({"until": "soon"}, "until is 'soon'"),
        ({"until": []}, "until is"),
        ({"until": True}, "until is True"),
        ({"until": float("nan")}, "until is nan"),
        ({"speed": 0}, "speed is 0"),
        ({"speed": True}, "speed is"),
        ({"speed": "1"}, "speed is"),
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
    sandbox.licence(seats=3)
    with pytest.raises(ConfkitError, match=r"not enough seats .*licence\(seats="):
        sandbox.simulate(40, 1, until=BUSY)
    sandbox.licence(seats=1000, expired=True)
    with pytest.raises(ConfkitError, match=r"licence\(expired=False\)"):
        sandbox.simulate(40, 1, until=BUSY)
    sandbox.licence(expired=False)
    sandbox.stop_mcu()
    with pytest.raises(ConfkitError, match=r"start_mcu\(\)"):
        sandbox.simulate(40, 1, until=BUSY)
    assert sandbox.room_ids() == []
    sandbox.simulate(5, 1, until="2024-02-27 03:00")
    assert len(sandbox.room_ids()) == 5


def test_people_come_and_go(sandbox):
    """Live, the rooms are at each moment as the plan says they stand at some moment; after
    stop_simulation they stay so."""
    sandbox.simulate(30, 0, until="2024-02-27 06:00", live=True, speed=300, seed=5)
    assert sum(inside(sandbox).values()) < 30
    wait_until(lambda: sum(inside(sandbox).values()) >= 30)
    sandbox.stop_simulation()
    stands = inside(sandbox)
    time.sleep(0.1)
    assert inside(sandbox) == stands

    house = building(30, 5)
    night = pd.Timestamp("2024-02-27 06:00", tz="UTC").timestamp()
    stays = week(house, week_of(house, night))
    people, found = [0] * 30, False
    for _, leaves, place in events(stays, night):
        people[stays.room[place]] += -1 if leaves else 1
        found = found or people == list(stands.values())
    assert found


def test_those_who_were_there_leave(sandbox):
    """People who are in a room when the simulation goes live leave it when their meeting ends, and
    those of the next weeks come."""
    sandbox.simulate(30, 0, until=BUSY, live=True, speed=100_000, seed=5)
    first = {
        person["user_id"] for room_id in sandbox.room_ids() for person in sandbox.people(room_id)
    }

    def now():
        rooms = sandbox.room_ids()
        return {person["user_id"] for room_id in rooms for person in sandbox.people(room_id)}

    wait_until(lambda: not now() & first)
    time.sleep(1)  # weeks
    wait_until(now)


def test_what_the_owner_does_does_not_end_a_simulation(sandbox, client, caplog):
    """Rooms are deleted, closed and locked and people removed while it runs, and others still
    come, also into a second building."""
    sandbox.simulate(20, 0, until=BUSY, live=True, speed=2000, seed=5)
    rooms = sandbox.room_ids()
    ck.delete_room(client, rooms[0])
    sandbox.close_room(rooms[1])
    sandbox.lock(rooms[2])
    for room_id in rooms[3:10]:
        for person in sandbox.people(room_id):
            with contextlib.suppress(LookupError):
                ck.force_offline(client, room_id, person["user_id"])
    sandbox.simulate(10, 0, until=BUSY, live=True, speed=2000, seed=6)
    seen = set()

    def watch():
        seen.update(room_id for room_id, people in inside(sandbox).items() if people)
        return len(seen & set(rooms[3:])) > 8 and len(seen - set(rooms)) > 4

    wait_until(watch)
    for _ in range(3):  # days
        wait_until(lambda: not any(inside(sandbox).values()))
        wait_until(lambda: any(inside(sandbox).values()))
    assert rooms[1] not in seen
    assert "ended" not in caplog.text


def test_close_ends_a_simulation(caplog):
    """Nothing of a live simulation is left after close: no thread, no error."""
    before = set(threading.enumerate())
    with Sandbox(seed=1) as sandbox:
        sandbox.simulate(50, 0, until=BUSY, live=True, speed=50_000)
        wait_until(lambda: sum(inside(sandbox).values()) > 0)
    assert set(threading.enumerate()) <= before
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_simulation_that_cannot_go_on_says_so(make, caplog):
    """When the file fails under a simulation, the log says that it ended."""
    sandbox = make().sandbox
    with caplog.at_level(logging.ERROR, "confkit.sandbox"):
        sandbox.simulate(20, 0, until="2024-02-27 05:00", live=True, speed=2000)
        sandbox._carry(sandbox._service.store._db.execute, "DROP TABLE people")
        wait_until(lambda: "the simulation of 20 rooms ended: no such table" in caplog.text)
    sandbox.stop_simulation()
