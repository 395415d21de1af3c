"""The recorder, against a real sandbox, in a time that is passed in."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime

import pandas as pd
import pytest

import confkit as ck
from confkit.occupancy.folder import reading, save_occupancy
from confkit.occupancy.loading import load_occupancy
from confkit.occupancy.recorder import Recorded, Recorder
from confkit.sandbox import Sandbox
from tests.occupancy.made import sweep

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
GET, USERS = "/rtc/room/get", "/rtc/room/get_room_info"
DEVICES = "/avd/api/outgoing/getOutgoingUsers"


class Time:
    """A clock that stands still but for waits; `plan` does something when so many seconds are
    over."""

    def __init__(self, start: datetime = NOON) -> None:
        self.passed, self.stepped = 0.0, 0.0
        self._start = start.timestamp()
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def plan(self, after: float, act: Callable[[], object]) -> None:
        self._plans.append((after, act))

    def clock(self) -> float:
        return self._start + self.passed + self.stepped

    def ticks(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        due = [plan for plan in self._plans if plan[0] <= self.passed]
        self._plans = [plan for plan in self._plans if plan[0] > self.passed]
        for _, act in due:
            act()


@pytest.fixture
def moments():
    return Time()


@pytest.fixture
def recorder(tmp_path, moments):
    """A recorder into a folder that is not there yet, in that time."""
    return Recorder(
        tmp_path / "new" / "rooms", clock=moments.clock, ticks=moments.ticks, sleep=moments.sleep
    )


@pytest.fixture
def rooms(client, sandbox):
    """A room for five with one person in it, and one without a cap."""
    ids = [
        ck.create_room(client, "small", "ops", attendee_max=5),
        ck.create_room(client, "open", "ops"),
    ]
    sandbox.join(ids[0], "Ada")
    return ids


def one(frame: pd.DataFrame, room_id: str, column: str) -> list[object]:
    """The values of a room over time; None where one is missing."""
    values = frame.loc[frame["room_id"] == room_id, column]
    return [None if pd.isna(value) else value for value in values]


def test_a_row_a_room_and_sweep_at_fixed_times(recorder, client, sandbox, rooms, moments):
    """Each sweep is one row per room, all with its start; the first is at once, the others follow
    every so many seconds."""
    moments.plan(60, lambda: sandbox.join(rooms[0], "Bo"))
    done = recorder.record(client, rooms, every=60, sweeps=3)
    assert done == Recorded(sweeps=3, rows=6, failures=0, skipped=0, ended="sweeps")
    assert str(done) == (
        "sweeps: 3; rows: 6, of which 0 without a value; sweeps skipped: 0; ended: sweeps"
    )
    frame = load_occupancy(recorder.folder)
    assert list(frame["time"].drop_duplicates()) == [
        pd.Timestamp(NOON) + pd.Timedelta(minutes=minute) for minute in range(3)
    ]
    assert one(frame, rooms[0], "users") == [1, 2, 2]
    assert one(frame, rooms[0], "people") == [1, 2, 2]
    assert one(frame, rooms[0], "devices") == [0, 0, 0]
    assert one(frame, rooms[0], "attendee_max") == [5, 5, 5]
    assert one(frame, rooms[1], "attendee_max") == [None, None, None]
    assert set(frame["ret"]) == {0}


def test_a_recording_names_its_services(recorder, client, rooms, tmp_path):
    """Samples and reports of a folder say of which service they are; those of a second service in
    the same folder, saved from elsewhere, name both. Other readers do not see the note."""
    recorder.record(client, rooms, sweeps=1)
    assert load_occupancy(recorder.folder).attrs == {"service": "SANDBOX"}
    assert ck.capacity_report(recorder.folder, "UTC").attrs["service"] == "SANDBOX"
    other = sweep("2026-05-01T10:00Z")
    other.attrs["service"] = "conf/éx:8080"
    save_occupancy(other, recorder.folder)
    assert load_occupancy(recorder.folder).attrs["service"] == "SANDBOX, conf/éx:8080"
    assert len(pd.read_parquet(recorder.folder)) == len(other)


def test_room_fields_are_read_every_so_often_only(recorder, client, rooms):
    """A3 is asked at the first sweep and every `rooms_every` seconds, A6 and B3 at each."""
    before = len(client.calls)
    recorder.record(client, rooms, every=60, sweeps=7, rooms_every=180)
    kinds = [call.endpoint for call in client.calls[before:]]
    assert [kinds.count(kind) for kind in ("A3", "A6", "B3")] == [2 * 3, 2 * 7, 7]


def test_what_cannot_be_read_is_missing_and_never_zero(recorder, client, sandbox, rooms, moments):
    """When A6 fails users are missing, when B3 fails people and devices are, each with the code;
    the cap stays known."""
    moments.plan(1, lambda: sandbox.fault(USERS, ret=700, times=2))
    moments.plan(61, lambda: sandbox.fault(DEVICES, ret=302, times=1))
    done = recorder.record(client, rooms, every=60, sweeps=4)
    frame = load_occupancy(recorder.folder)
    assert one(frame, rooms[0], "users") == [1, None, 1, 1]
    assert one(frame, rooms[0], "people") == [1, None, None, 1]
    assert one(frame, rooms[0], "devices") == [0, None, None, 0]
    assert one(frame, rooms[0], "ret") == [0, 700, 302, 0]
    assert one(frame, rooms[0], "attendee_max") == [5] * 4
    assert done.failures == 4


def test_an_unknown_cap_is_told_until_it_is_read(recorder, client, sandbox, rooms, moments):
    """A room whose cap could not be read has that call's code at every sweep until it is; after
    that a failure leaves the last one known."""
    sandbox.fault(GET, ret=700, times=2)
    recorder.record(client, rooms, every=60, sweeps=4, rooms_every=120)
    moments.sleep(60)
    sandbox.fault(GET, ret=700, times=2)
    recorder.record(client, rooms, every=60, sweeps=1)
    frame = load_occupancy(recorder.folder)
    assert one(frame, rooms[0], "ret") == [700, 700, 0, 0, 700]
    assert one(frame, rooms[0], "attendee_max") == [None, None, 5, 5, None]
    assert one(frame, rooms[0], "users") == [1] * 5


def test_a_cap_that_was_known_survives_a_failure(recorder, client, sandbox, rooms, moments):
    """When A3 fails later the cap that was read last stands."""
    moments.plan(1, lambda: sandbox.fault(GET, ret=700, times=2))
    recorder.record(client, rooms, every=60, sweeps=3, rooms_every=60)
    frame = load_occupancy(recorder.folder)
    assert one(frame, rooms[0], "attendee_max") == [5] * 3
    assert set(frame["ret"]) == {0}


def test_late_sweeps_are_skipped_and_told(recorder, client, rooms, moments, caplog):
    """Sweeps whose time has passed, as when the machine slept, are skipped, counted and logged;
    those that follow are at their times."""
    moments.plan(30, lambda: setattr(moments, "passed", 150.0))
    done = recorder.record(client, rooms, every=60, sweeps=3)
    assert (done.sweeps, done.skipped) == (3, 2)
    assert "skipped 2" in caplog.text
    minutes = load_occupancy(recorder.folder)["time"].drop_duplicates().dt.minute
    assert minutes.tolist() == [0, 3, 4]


def test_the_first_sweep_raises_when_nothing_can_be_asked(recorder, sandbox, rooms):
    """Wrong keys are an error at once and nothing is recorded."""
    stranger = ck.connect(
        base_url=sandbox.base_url,
        outgoing_url=sandbox.outgoing_url,
        access_key="demo_access",
        secret_key="wrong",
    )
    with stranger, pytest.raises(ck.AuthenticationFailed):
        recorder.record(stranger, rooms, sweeps=1)
    assert not recorder.folder.exists()


def test_a_sweep_that_is_cancelled_keeps_what_was_read(tmp_path, client, sandbox, rooms):
    """When a sweep is ended in its midst, the rooms that were read are recorded and the others are
    not, rather than as failed."""
    stop = threading.Event()
    ids = [*rooms, *(ck.create_room(client, "more", "ops") for _ in range(40))]
    sandbox.fault(USERS, delay=0.0, times=10)
    sandbox.fault(USERS, delay=30.0)
    before = sandbox.count(USERS)

    def after_ten() -> None:
        while sandbox.count(USERS) < before + 11:
            time.sleep(0.01)
        stop.set()

    thread = threading.Thread(target=after_ten)
    thread.start()
    done = Recorder(tmp_path).record(client, ids, cancelled=stop, concurrency=1)
    thread.join()
    sandbox.clear_faults()
    assert done.ended == "cancelled"
    frame = load_occupancy(tmp_path)
    assert 0 < len(frame) == done.rows < len(ids)
    assert frame["users"].notna().all()


def test_who_reads_the_folder_holds_up_no_sweep(recorder, client, rooms, moments):
    """While somebody reads, a day that is over waits, and is compacted after a later sweep."""
    moments.passed = 11.9 * 3600
    with ExitStack() as held:

        def told(done):
            if done.sweeps == 1:
                held.enter_context(reading(recorder.folder))
            elif done.sweeps == 4:
                assert not list(recorder.folder.rglob("*.parquet"))
                held.close()

        done = recorder.record(client, rooms, every=600, sweeps=5, told=told)
    assert len(load_occupancy(recorder.folder)) == done.rows == 10
    assert [path.parent.name for path in recorder.folder.rglob("*.parquet")] == ["date=2026-06-01"]


def test_a_compaction_that_fails_does_not_end_the_recording(
    recorder, client, rooms, moments, caplog
):
    """When a day cannot be compacted the log says so, its sweeps stay where they are, and the
    recording goes on."""
    moments.passed = 11.5 * 3600
    recorder.folder.mkdir(parents=True)
    (recorder.folder / "date=2026-06-01").write_text("in the way")
    done = recorder.record(client, rooms, every=1800, sweeps=3)
    assert done.sweeps == 3
    assert "not compacted yet" in caplog.text
    with pytest.warns(UserWarning, match="date=2026-06-01"):
        assert len(load_occupancy(recorder.folder)) == 6


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"every": 0}, "every"),
        ({"every": float("nan")}, "every"),
        ({"rooms_every": -1}, "rooms_every"),
        ({"sweeps": 1.5}, "sweeps"),
        ({"sweeps": True}, "sweeps"),
        ({"until": "soon"}, "until"),
        ({"until": NOON}, "which is over"),
        ({"room_ids": []}, "no room"),
        ({"room_ids": "nowhere.txt"}, "nowhere.txt"),
    ],
)
def test_impossible_arguments_are_refused(recorder, client, rooms, wrong, named):
    """An argument that makes no sense is a ValueError that names it, before anything is asked."""
    with pytest.raises(ValueError, match=named):
        recorder.record(client, **{"room_ids": rooms, "sweeps": 1, **wrong})
    assert not recorder.folder.exists()


def test_who_asks_is_told_after_each_sweep(recorder, client, sandbox, rooms, moments):
    """`told` is called when a sweep is on the disk, with what there is until then, and why most of
    what failed in that sweep did."""
    heard = []
    moments.plan(60, lambda: sandbox.fault(USERS, ret=504))
    moments.plan(120, sandbox.clear_faults)

    def told(now: Recorded) -> None:
        stored = len(load_occupancy(recorder.folder))
        heard.append((now.sweeps, now.rows, stored, now.failures, now.ended, now.why[:7]))

    recorder.record(client, rooms, every=60, sweeps=3, told=told)
    assert heard == [(1, 2, 2, 0, "", ""), (2, 4, 4, 2, "", "all (2,"), (3, 6, 6, 2, "", "")]


def test_a_clock_set_back_by_whole_minutes_doubles_no_sample(recorder, client, rooms, moments):
    """A sweep whose time an earlier one had, as the clock was set back, has a time of its own."""
    moments.plan(130, lambda: setattr(moments, "stepped", -120.0))
    recorder.record(client, rooms, every=60, sweeps=6)
    frame = load_occupancy(recorder.folder)
    assert len(frame) == 12
    assert not frame.duplicated(["time", "room_id"]).any()


def test_when_nothing_can_be_asked_that_is_recorded_too(recorder, moments, caplog):
    """An error of a whole sweep after the first is logged and leaves a row without values for each
    room, with the cap that was known; a code of thirty digits, which fits into no column, too."""
    with Sandbox(seed=2) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "small", "ops", attendee_max=5)

        def refuse() -> None:
            client._token.held = None
            sandbox.fault("/rtc/auth/valid", body=b'{"ret": 1%030d}' % 0)

        moments.plan(1, refuse)
        moments.plan(61, sandbox.close)
        done = recorder.record(client, [room_id], every=60, sweeps=3)
    assert (done.sweeps, done.failures) == (3, 2)
    assert "nothing could be asked: this sandbox is closed" in caplog.text
    frame = load_occupancy(recorder.folder)
    assert one(frame, room_id, "users") == [0, None, None]
    assert one(frame, room_id, "attendee_max") == [5, 5, 5]
    assert one(frame, room_id, "ret") == [0, None, None]


def test_any_table_of_rooms_will_do_and_the_log_says_why_most_failed(
    recorder, client, rooms, caplog
):
    """IDs may stand in any column; one that is there twice has one row, and one with spaces,
    slashes or other letters is asked for as it is. A line of the log names the commonest reason."""
    caplog.set_level(logging.INFO, "confkit.record")
    strange = ["a b", "a/b", "ü%20", "٣"]
    table = pd.DataFrame({"floor": 1, "room": [*rooms, *rooms, *strange]})
    done = recorder.record(client, table, sweeps=1, id_column="room")
    frame = load_occupancy(recorder.folder)
    assert done.rows == len(frame) == 6
    assert sorted(frame["room_id"]) == sorted([*rooms, *strange])
    assert set(frame.set_index("room_id").loc[strange, "ret"]) == {404}
    line = caplog.records[-1].getMessage()
    assert "6 rooms, 4 without a value; mostly (4, such as room 'a b'): get room" in line


@pytest.mark.parametrize("way", ["until", "cancelled", "interrupted"])
def test_what_ends_it(recorder, client, rooms, moments, way):
    """No sweep starts at `until` or after it; an event and Ctrl-C end it within a second, with what
    was done."""
    stop, options = threading.Event(), {}

    def interrupt() -> None:
        raise KeyboardInterrupt

    if way == "until":
        options = {"until": "2026-06-01T12:02Z"}
    else:
        moments.plan(90, stop.set if way == "cancelled" else interrupt)
    done = recorder.record(client, rooms, every=60, cancelled=stop, **options)
    assert (done.sweeps, done.rows, done.ended) == (2, 4, way)
    assert len(load_occupancy(recorder.folder)) == 4
    assert moments.passed < 121


def test_sweeps_do_not_drift_and_days_that_are_over_are_compacted(
    recorder, client, rooms, moments, caplog
):
    """However long a sweep takes, up to the interval, the next begins at its time. Days before
    today are compacted after the first sweep of the day, today's sweeps are not; what is foreign in
    the folder is named in the log."""
    recorder.folder.mkdir(parents=True)
    (recorder.folder / "notes.txt").write_text("mine")
    moments.passed = 11 * 3600
    lasting = iter((0.3, 1799, 0.0, 12.5))
    done = recorder.record(
        client, rooms, every=1800, sweeps=4, told=lambda _: moments.sleep(next(lasting))
    )
    assert (done.sweeps, done.skipped) == (4, 0)
    assert [path.parent.name for path in recorder.folder.rglob("*.parquet")] == ["date=2026-06-01"]
    assert len(list(recorder.folder.glob("_hot/*"))) == 2
    with pytest.warns(UserWarning, match=r"notes\.txt"):
        times = load_occupancy(recorder.folder)["time"].drop_duplicates()
    assert (times.diff()[1:] >= pd.Timedelta("29min")).all()
    assert times.dt.minute.tolist() == [0, 30, 0, 30]
    assert "notes.txt" in caplog.text
