"""The rooms model, which knows no widgets: one frame into which each reading is put, what a search
and filters leave of it, and what is read again while somebody looks."""

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

import confkit as ck
from confkit.charts.rooms import rooms as charted
from confkit.panels.model import Filter, RoomsModel, Viewer, frame_of, states
from confkit.sweep import _Options, _Part
from confkit.tables import RoomIds
from tests.panels.pressing import GET, LONG, USERS, read_out


@pytest.fixture
def building(client, sandbox) -> list[str]:
    """Four rooms: one full, one without a cap, one that is locked, one that is not there."""
    weekly = ck.create_room(client, "Weekly Sync", "ops", attendee_max=2)
    open_end = ck.create_room(client, "Open end", "sales")
    locked = ck.create_room(client, "Locked", "ops", attendee_max=4, room_extend_id="Sales-7")
    for name in ("Ada", "Bo"):
        sandbox.join(weekly, name)
    sandbox.lock(locked)
    return [weekly, open_end, locked, "0000"]


# Search and filters


def test_a_filter_leaves_the_rooms_that_are_wanted(client, sandbox, building):
    """Every word somewhere in topic, ID, owner or external ID, as it stands and no pattern; what is
    missing is of no status, and fuller than nothing. No rooms can be searched, too. States are
    those of the chart."""
    frame, nothing = frame_of(ck.sweep(client, building)), RoomsModel(client, []).frame
    for wanted, left in (
        (Filter(), "0123"),
        (Filter("SYNC weekly"), "0"),
        (Filter("sync locked"), ""),
        (Filter("sales"), "12"),
        (Filter("000"), "3"),
        (Filter("week.y"), ""),
        (Filter("("), ""),
        (Filter(status="locked"), "2"),
        (Filter(mode="MCU"), "012"),
        (Filter(fuller_than=100), ""),
        (Filter(fuller_than=-1), "02"),
        (Filter("weekly", failures=True), ""),
        (Filter(failures=True), "3"),
        (Filter(state="no cap"), "1"),
        (Filter(state="unread"), "3"),
    ):
        assert wanted.rows(frame)["room_id"].tolist() == [building[int(one)] for one in left]
        assert wanted.rows(nothing).empty
    sandbox.fault(GET, ret=504)  # then it is not known whether a room has a cap
    lost = frame_of(ck.sweep(client, building))
    for one in (frame, lost):
        drawn = {room.room_id: room.state for room in charted(one)}
        assert dict(zip(one["room_id"], states(one), strict=True)) == drawn


# One frame


def test_a_reading_replaces_its_rooms_and_leaves_the_others(client, sandbox, building):
    """The order stays, new rooms come last, and types are those of a whole reading. What comes
    late takes nothing newer back, also of rooms that are gone by then."""
    weekly, open_end, _, absent = building
    model = RoomsModel(client, [weekly, absent])
    early, _ = model.read(model.ids)
    types = model.frame.dtypes
    sandbox.leave(weekly, ck.get_room_users(client, weekly)[0].user_id)
    model.add(RoomIds([open_end, weekly]))
    model.read([open_end, weekly])
    gone = early.failures[0].error  # that the room is not there
    failures = tuple(ck.Failure(room_id, "A3", gone, "") for room_id in early.ids)
    for late in (early, replace(early, failures=failures, _part=_Part())):
        model.take(late)
        assert model.ids == [weekly, absent, open_end]
        assert model.frame["users"].tolist() == [1, pd.NA, 0]
        assert model.frame["ret"].tolist() == [0, 404, 0]
        assert model.frame.dtypes.equals(types)


# What all who look share


def test_a_change_is_told_to_all_and_a_pick_to_the_others(client, building):
    """With the rows that were read, until they leave. A room that is removed is not picked any
    more, and does not come back with a reading that was begun before."""
    model, told = RoomsModel(client, building), []
    one, other, left = (
        Viewer(
            changed=lambda rows, name=name: told.append((name, rows is not None and len(rows))),
            picked=lambda room_id, name=name: told.append((name, room_id)),
        )
        for name in ("one", "other", "left")
    )
    for viewer in (one, other, left):
        model.watch(viewer)
    model.leave(left)
    model.pick(building[0], by=one)
    model.read(building[:2])
    assert told == [("other", building[0]), ("one", 2), ("other", 2)]
    model.drop(building[0])
    model.read(building)
    assert (model.picked, model.ids) == ("", building[1:])


def test_known_rooms_come_and_go_and_those_that_were_added_stay(client, building):
    """A later search brings new rooms and takes away those that are known no longer. Progress
    counts rooms, and not calls, of which there are two each."""
    model = RoomsModel(client)
    assert (model.found, model.ids) == (False, [])
    model.add(RoomIds(["0000"]))
    model.adopt(model.known())
    assert set(model.ids) == set(building)
    ck.delete_room(client, building[0])
    new = ck.create_room(client, "New", "ops")
    model.adopt(model.known())
    assert set(model.ids) == {*building[1:], new}
    steps = []
    model.read(building, lambda *step: steps.append(step))
    assert steps[-1] == (4, 4)
    assert max(done for done, _ in steps) == 4


def test_a_model_refuses_what_it_cannot_show(client, building, sandbox):
    """Before anything is sent."""
    other = replace(ck.sweep(client, building), service="BERLIN")
    before = sandbox.count()
    for rooms, rate, error, why in (
        (["1047"], -1, ck.ConfigError, "background_rate"),
        (["1047"], "20", ck.ConfigError, "background_rate"),
        (["1", 2.5], 20, ck.ParameterError, "position 2"),
        (other, 20, ck.ConfigError, "is of BERLIN, and the client of SANDBOX"),
    ):
        with pytest.raises(error, match=why):
            RoomsModel(client, rooms, background_rate=rate)
    with pytest.raises(ck.ConfigError, match="Give the client that connect"):
        RoomsModel(None)
    assert sandbox.count() == before


# What is read again while somebody looks


class Rooms(RoomsModel):
    """Rooms whose readings take a time that is set, of a service that may be away."""

    def __init__(self, client: ck.Client, number: int, page: int) -> None:
        self.now, self.seconds = 0.0, 0.0
        self.away, self.broken = False, set()
        self.asked: list[tuple[list[str], float | None]] = []
        self.errors: list[Exception] = []
        super().__init__(client, [f"{n}" for n in range(number)], clock=lambda: self.now)
        self.viewer = Viewer(page=lambda: self.ids[:page], fails=self.errors.append, every=15.0)
        self.watch(self.viewer)

    def read(self, ids, progress=False, cancelled=None, rate=None):
        self.asked.append((ids, rate))
        self.now += self.seconds
        error, lost = ck.ProtocolError("broken"), [one for one in ids if one in self.broken]
        lost = ids if self.away else lost
        failures = tuple(ck.Failure(room_id, "A6", error, "") for room_id in lost)
        part = _Part(users={room_id: [] for room_id in ids if room_id not in lost}, devices={})
        now, options = datetime.now(UTC), _Options(False, True, 1, None)
        swept = ck.Sweep(tuple(ids), "S", now, 0, 0, True, failures, part, options, None)
        return swept, self.take(swept)

    def looked_at(self, now: float = 0.0) -> list[list[str]]:
        """What is read after a tick at this time, until nothing is left to be read."""
        before, self.now = len(self.asked), now
        self.tick(self.viewer)
        read_out()
        return [ids for ids, _ in self.asked[before:]]


def test_in_an_outage_a_few_rooms_are_tried_less_and_less_often(client):
    """After twice as long as usual, then four times, up to a minute, however long a try takes, and
    no other room; each time at the tick that was announced; ages are told at each tick; then all
    goes on at once."""
    rooms, tries, aged = Rooms(client, 9, 5), [], []
    rooms.viewer.changed = lambda rows: aged.append(rows) if rows is None else None
    rooms.away, rooms.seconds = True, 0.4
    for now in range(0, 300, 15):
        if rooms.looked_at(now):
            tries.append(now)
            assert rooms.outage.due == pytest.approx(now + (30 if now == 0 else 60), abs=1)
    assert tries == [0, 30, 90, 150, 210, 270]
    assert [len(ids) for ids, _ in rooms.asked] == [5] + [3] * 5
    assert len(aged) == 19
    rooms.away, ids = False, rooms.ids
    assert rooms.looked_at(330) == [ids[:3], ids[:5], ids[5:]]
    assert rooms.outage is None


def test_the_rest_follows_the_page_at_its_own_rate(client):
    """The page is read as fast as it can be, the others at most 50 at once with the budget, those
    that were never read, or longest ago, first; until the next tick is late, and in no outage."""
    rooms = Rooms(client, 120, 20)
    for now in (0, 15):
        assert rooms.looked_at(now) == [rooms.ids[:20], rooms.ids[20:70], rooms.ids[70:]]
    assert {rate for ids, rate in rooms.asked if ids[0] != "0"} == {20}
    assert {rate for ids, rate in rooms.asked if ids[0] == "0"} == {None}
    rooms.seconds = 10.0
    assert rooms.looked_at(30) == [rooms.ids[:20], rooms.ids[20:70]]
    rooms.away = True
    assert rooms.looked_at(45) == [rooms.ids[:20]]
    rooms = Rooms(client, 4, 0)
    rooms.take(replace(rooms.read(["0", "1", "2"])[0], time=datetime(2026, 1, 1, tzinfo=UTC)))
    assert rooms.looked_at() == [["3", "0", "1", "2"]]


def test_two_who_look_have_both_their_pages_read_once(client):
    """Panels of one model do not read the same room twice; one that is hidden is not read for."""
    rooms = Rooms(client, 30, 10)
    other = Viewer(page=lambda: rooms.ids[5:15], every=15.0)
    with rooms._changed:  # both ticks before either is read
        rooms.tick(other)
        rooms.tick(rooms.viewer)
    assert rooms.wait(LONG)
    assert sorted(rooms.asked[0][0]) == sorted(rooms.ids[:15])
    rooms.hide(other)
    assert rooms.wait(LONG)
    assert rooms.looked_at(30)[0] == rooms.ids[:10]


def test_what_a_reading_raises_ends_no_watch(client):
    """It is reported, and the next tick reads again."""
    rooms = Rooms(client, 3, 3)
    rooms.viewer.also = lambda: 1 / 0
    rooms.looked_at()
    assert isinstance(rooms.errors.pop(), ZeroDivisionError)
    rooms.viewer.also = lambda: None
    assert rooms.looked_at(15) == [rooms.ids]
    assert not rooms.errors


def test_what_is_an_outage(client, sandbox, building):
    """Silence of all that was asked is one; a code of the service about its rooms is none. What
    began before one does not end it, but a later answer does, whatever it says."""
    model, ids, gone = RoomsModel(client, building), building[:3], {"http": 502, "body": "<h1>"}
    early = ck.sweep(client, ids)
    for users, rooms, lasts in (
        ({"ret": 700}, {"ret": 700}, False),
        (None, gone, True),
        (gone, gone, True),
    ):
        for path, fault in ((USERS, users), (GET, rooms)):
            if fault:
                sandbox.fault(path, **fault)
        model.heard(ck.sweep(client, ids))
        assert (model.outage is not None) == lasts
        sandbox.clear_faults()
    model.heard(early)
    assert isinstance(model.outage.error, ck.ProtocolError)
    model.heard(ck.sweep(client, ["0000000001"]))
    assert model.outage is None
