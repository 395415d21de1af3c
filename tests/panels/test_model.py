"""The rooms model, which knows no widgets: one frame into which each reading is put, what a search
and filters leave of it, and what is read again while somebody looks."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest

import confkit as ck
from confkit.charts.rooms import rooms as charted
from confkit.many.ids import RoomIds
from confkit.many.reading import Part
from confkit.many.result import Failure
from confkit.panels.model import (
    Filter,
    Outage,
    RoomsModel,
    Viewer,
    frame_of,
    merged,
    silence,
    states,
    unasked,
)

GET, USERS = "/rtc/room/get", "/rtc/room/get_room_info"


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


@pytest.fixture
def read(client):
    """Reads rooms into a frame, as a model does."""
    return lambda rooms: frame_of(ck.sweep(client, rooms))


# Search and filters


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        (Filter(), "0123"),
        (Filter("SYNC weekly"), "0"),
        (Filter("sync locked"), ""),
        (Filter("ops"), "02"),
        (Filter("sales"), "12"),
        (Filter("000"), "3"),
        *((Filter(text), "") for text in ("(", "\\", ".*", "[a", "week.y")),
        (Filter(status="opening"), "0"),
        (Filter(status="scheduled"), "1"),
        (Filter(status="locked"), "2"),
        (Filter(mode="MCU"), "012"),
        (Filter(mode="peer-to-peer"), ""),
        (Filter(fuller_than=99.5), "0"),
        (Filter(fuller_than=100), ""),
        (Filter(fuller_than=-1), "02"),
        (Filter(failures=True), "3"),
        (Filter("weekly", failures=True), ""),
        (Filter(state="full"), "0"),
        (Filter(state="no cap"), "1"),
        (Filter(state="empty"), "2"),
        (Filter(state="unread"), "3"),
    ],
)
def test_a_filter_leaves_the_rooms_that_are_wanted(read, building, wanted, left):
    """Every word somewhere in topic, ID, owner or external ID, as it stands and no pattern; what is
    missing is of no status, and fuller than nothing."""
    found = wanted.rows(read(building))["room_id"].tolist()
    assert found == [building[int(place)] for place in left]


def test_no_rooms_can_be_searched_too(client):
    """An empty frame has the same columns."""
    frame = RoomsModel(client, []).frame
    left = Filter("x", "opening", "MCU", 80, True, "full").rows(frame)
    assert left.empty
    assert list(left.columns) == list(frame.columns)


def test_utilisation_and_states_are_those_of_frames_and_charts(client, sandbox, building, read):
    """One rule for all."""
    sandbox.fault(GET, ret=504)  # then it is not known whether a room has a cap
    for rooms in (building, building[:1]):
        frame = read(rooms)
        expected = ck.occupancy_frame(ck.sweep(client, rooms))["utilisation"]
        pd.testing.assert_series_equal(frame["utilisation"], expected)
        assert dict(zip(frame["room_id"], states(frame), strict=True)) == {
            one.room_id: one.state for one in charted(frame)
        }
        sandbox.clear_faults()


# One frame


def test_a_reading_replaces_its_rooms_and_leaves_the_others(read, building, client, sandbox):
    """The order stays, new rooms come last, and types are those of a whole reading."""
    weekly, open_end, locked, absent = building
    before = read([weekly, absent, locked])
    sandbox.leave(weekly, ck.get_room_users(client, weekly)[0].user_id)
    after = merged(before, read([open_end, weekly]))
    assert after["room_id"].tolist() == [weekly, absent, locked, open_end]
    assert after["users"].tolist() == [1, pd.NA, 0, 0]
    assert after["ret"].tolist() == [0, 404, 0, 0]
    assert after.dtypes.equals(before.dtypes)


def test_further_columns_of_a_callers_table_stay(read, building):
    """With their types, and though they are called as ours; rooms that came without have none."""
    weekly, open_end, locked, _ = building
    table = pd.DataFrame(
        {
            "room_id": [weekly, locked],
            "floor": [1, 2],
            "read_at": ["a", "b"],
            "read_at (given)": ["c", "d"],
        }
    )
    before = read(table)
    assert before.columns.is_unique
    again = merged(before, read([weekly, locked]))
    assert again.columns.tolist() == before.columns.tolist()
    assert again["floor"].dtype == table["floor"].dtype
    assert again.iloc[:, -2:].to_numpy().tolist() == [["a", "c"], ["b", "d"]]
    assert merged(again, read([locked, open_end]))["floor"].fillna(0).tolist() == [1, 2, 0]


def test_a_reading_of_no_room_changes_none(client, read, building):
    """The rows stay as they are."""
    before, none = read(building), frame_of(unasked(client, RoomIds([])))
    pd.testing.assert_frame_equal(merged(before, none), before)
    pd.testing.assert_frame_equal(merged(none, before), before)


def test_a_sweep_that_comes_late_takes_nothing_newer_back(read, building, client, sandbox):
    """Where two read at once, the values of the one that asked last stay; those of a room that is
    gone by then, too."""
    early = read(building[1:3])
    sandbox.join(building[1], "Ada")
    late = read(building[1:3])
    assert merged(late, early)["users"].tolist() == [1, 0]
    assert merged(early, late)["users"].tolist() == [1, 0]
    assert merged(late, early, [building[1]])["users"].tolist() == [1, 0]


# What all who look share


def test_a_change_is_told_to_all_and_a_pick_to_the_others(client, building):
    """With the rows that were read; who has left is reported nothing."""
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
    assert told == [("other", building[0])]
    told.clear()
    model.read(building[:2])
    assert told == [("one", 2), ("other", 2)]
    model.drop(building[0])
    assert model.picked == ""
    assert building[0] not in model.ids
    model.read(building)  # which was begun before, say
    assert building[0] not in model.ids


def test_known_rooms_come_and_go_and_those_that_were_added_stay(client, building):
    """A later search brings new rooms and takes away those that are known no longer."""
    model = RoomsModel(client)
    assert (model.found, model.ids) == (False, [])
    model.add(RoomIds(["0000"]))
    model.adopt(model.known())
    assert set(model.ids) == set(building)
    ck.delete_room(client, building[0])
    new = ck.create_room(client, "New", "ops")
    model.adopt(model.known())
    assert set(model.ids) == {*building[1:], new}


def test_progress_counts_rooms(client, building):
    """And not calls, of which there are two each."""
    steps = []
    RoomsModel(client, building).read(building, lambda *step: steps.append(step))
    assert steps[-1] == (4, 4)
    assert max(done for done, _ in steps) == 4


def test_a_model_refuses_what_is_none(client, building, sandbox):
    """Before anything is sent."""
    before = sandbox.count()
    for wrong in (-1, float("nan"), "20"):
        with pytest.raises(ck.ConfigError, match="background_rate"):
            RoomsModel(client, ["1047"], background_rate=wrong)
    with pytest.raises(ck.ParameterError, match="place 2"):
        RoomsModel(client, ["1", 2.5])
    with pytest.raises(ck.ConfigError, match="Give the client that connect"):
        RoomsModel(None)
    assert sandbox.count() == before
    other = replace(ck.sweep(client, building), service="BERLIN")
    with pytest.raises(ck.ConfigError, match="is of BERLIN, and the client of SANDBOX"):
        RoomsModel(client, other)


# What is read again while somebody looks


class Rooms(RoomsModel):
    """Rooms whose readings take a time that is set, of a service that may be away."""

    def __init__(self, client: ck.Client, number: int, page: int, every: float = 15.0) -> None:
        self.now, self.seconds = 0.0, 0.0
        self.away, self.broken = False, set()
        self.asked: list[tuple[list[str], float | None]] = []
        self.errors: list[Exception] = []
        self.aged, self.idle = 0, threading.Event()
        super().__init__(client, [f"{n}" for n in range(number)], clock=lambda: self.now)
        self.viewer = Viewer(
            page=lambda: self.ids[:page], changed=self._told, fails=self.errors.append, every=every
        )
        self.watch(self.viewer)

    def _told(self, rows: object) -> None:
        self.aged += rows is None

    def read(self, ids, progress=False, cancelled=None, rate=None):
        self.asked.append((ids, rate))
        self.now += self.seconds
        error = ck.ProtocolError("broken")
        found = [error if self.away or one in self.broken else [] for one in ids]
        part = Part([None] * len(ids), found, {}, len(ids), True)
        lost = tuple(
            Failure(one, "A6", error, "") for one in ids if self.away or one in self.broken
        )
        now = datetime.now(UTC)
        swept = ck.Sweep(tuple(ids), "S", now, 0, 0, True, lost, part, (False, True), None)
        return swept, self.take(swept)

    def _read_pages(self, viewers):
        return self._noted(super()._read_pages(viewers))

    def _read_rest(self):
        return self._noted(super()._read_rest())

    def _noted(self, more):
        if not more:
            self.idle.set()
        return more

    def looked_at(self) -> list[list[str]]:
        """What is read after a tick, until nothing is left to be read."""
        before = len(self.asked)
        self.idle.clear()
        self.tick(self.viewer)
        assert self.idle.wait(20)
        self.hide(self.viewer)
        assert self.wait(20)
        assert not self.errors
        return [ids for ids, _ in self.asked[before:]]


@pytest.fixture
def rooms_of(client) -> Iterator[Rooms]:
    """Makes such rooms."""
    return lambda *given: Rooms(client, *given)


@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_in_an_outage_a_few_rooms_are_tried_less_and_less_often(rooms_of, seconds):
    """After twice as long as usual, then four times, up to a minute, however long a try takes, and
    no other room; each time at the tick that was announced; then all goes on at once."""
    rooms, tries = rooms_of(9, 5), []
    rooms.away, rooms.seconds = True, seconds
    for now in range(0, 300, 15):
        rooms.now = now
        if rooms.looked_at():
            tries.append(now)
            assert rooms.outage.due == pytest.approx(now + (30 if now == 0 else 60), abs=1)
    assert tries == [0, 30, 90, 150, 210, 270]
    assert [len(ids) for ids, _ in rooms.asked] == [5] + [3] * 5
    assert isinstance(rooms.outage, Outage)
    assert rooms.aged == 19
    rooms.away, rooms.now, ids = False, 330, rooms.ids
    assert rooms.looked_at() == [ids[:3], ids[:5], ids[5:]]
    assert rooms.outage is None


def test_the_rest_follows_the_page_at_its_own_rate(rooms_of):
    """The page is read as fast as it can be, the others at most 50 at once with the budget."""
    rooms = rooms_of(120, 20)
    found: list[str] = []
    for rooms.now in (0, 15, 30):
        page, *rest = rooms.looked_at()
        assert page == rooms.ids[:20]
        found += [room_id for ids in rest for room_id in ids]
    assert found[:100] == rooms.ids[20:]
    assert {rate for ids, rate in rooms.asked if ids[0] != "0"} == {20}
    assert {rate for ids, rate in rooms.asked if ids[0] == "0"} == {None}
    assert max(len(ids) for ids, _ in rooms.asked) == 50


def test_two_who_look_have_both_their_pages_read_once(rooms_of):
    """Panels of one model do not read the same room twice; the other's ticks go on."""
    rooms = rooms_of(30, 10)
    other = Viewer(page=lambda: rooms.ids[5:15], every=15.0)
    rooms.watch(other)
    rooms.tick(other)
    assert rooms.wait(20)
    rooms.hide(other)
    assert rooms.wait(20)
    assert rooms.asked[0] == (rooms.ids[5:15], None)
    rooms.now = 15
    with rooms._changed:  # both ticks before either is read
        rooms.tick(other)
        rooms.tick(rooms.viewer)
    assert rooms.wait(20)
    page = [ids for ids, rate in rooms.asked[1:] if rate is None]
    assert sorted(page[0]) == sorted(rooms.ids[:15])


def test_the_rooms_read_longest_ago_come_first(rooms_of, client, building):
    """Those that were never read before all."""
    rooms = rooms_of(4, 0)
    rooms.take(replace(rooms.read(["0", "1", "2"])[0], time=datetime(2026, 1, 1, tzinfo=UTC)))
    rooms.asked.clear()
    assert rooms.looked_at()[-1] == ["3", "0", "1", "2"]


def test_one_broken_room_is_no_outage(rooms_of):
    """Neither does the room that fails by itself begin one, alone in the background, nor does it
    keep one going, on top of the page."""
    rooms = rooms_of(6, 5)
    rooms.broken = {"5"}
    for rooms.now in (0, 15, 30):
        rooms.looked_at()
        assert rooms.outage is None
    rooms.broken, rooms.away = {"0"}, True
    rooms.now = 45
    rooms.looked_at()
    assert rooms.outage is not None
    rooms.away, rooms.now = False, 100
    rooms.looked_at()
    assert rooms.outage is None


def test_what_a_reading_raises_ends_no_watch(rooms_of):
    """It is reported, and the next tick reads again."""
    rooms = rooms_of(3, 3)
    rooms.viewer.also = lambda: 1 / 0
    rooms.tick(rooms.viewer)
    assert rooms.wait(20)
    rooms.hide(rooms.viewer)
    assert rooms.wait(20)
    assert isinstance(rooms.errors.pop(), ZeroDivisionError)
    rooms.viewer.also = lambda: None
    assert rooms.looked_at() == [rooms.ids]


def test_what_is_an_outage(client, sandbox, building):
    """Silence of all that was asked is one; a code of the service about its rooms is none."""
    ids = building[:3]
    assert silence(ck.sweep(client, ids)) is None
    assert silence(ck.sweep(client, ["0"])) is None
    sandbox.fault(USERS, ret=700)
    sandbox.fault(GET, ret=700)
    assert silence(ck.sweep(client, ids)) is None
    sandbox.clear_faults()
    sandbox.fault(GET, http=502, body="<h1>Bad gateway</h1>")
    assert silence(ck.sweep(client, ids)) is None  # their users were read
    sandbox.fault(USERS, http=502, body="<h1>Bad gateway</h1>")
    assert isinstance(silence(ck.sweep(client, ids)), ck.ProtocolError)


def test_a_reading_that_began_before_an_outage_does_not_end_it(client, building):
    """Half of it was answered before the service went; a later answer does, whatever it says."""
    model, error = RoomsModel(client, building), ck.TransportError("refused")
    early = ck.sweep(client, building[:3])
    model.heard(error)
    model.heard(replace(early, failures=(Failure(building[0], "A6", error, ""),)))
    assert model.outage is not None
    model.heard(ck.sweep(client, ["0000000001"]))
    assert model.outage is None
