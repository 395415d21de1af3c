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

    def __init__(self) -> None:
        self.passed, self.stepped = 0.0, 0.0
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def plan(self, after: float, act: Callable[[], object]) -> None:
        self._plans.append((after, act))

    def clock(self) -> float:
        return NOON.timestamp() + self.passed + self.stepped

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
    folder, ticks = tmp_path / "new" / "rooms", lambda: moments.passed
    return Recorder(folder, clock=moments.clock, ticks=ticks, sleep=moments.sleep)


@pytest.fixture
def rooms(client, sandbox):
    """A room for five with one person in it, and one without a cap."""
    small = ck.create_room(client, "small", "ops", attendee_max=5)
    sandbox.join(small, "Ada")
    return [small, ck.create_room(client, "open", "ops")]


@pytest.fixture
def record(recorder, client, rooms):
    """Records these rooms, every minute."""
    return lambda sweeps=None, **options: recorder.record(
        client, **{"room_ids": rooms, "every": 60, "sweeps": sweeps, **options}
    )


@pytest.fixture
def kept(recorder, rooms):
    """What was recorded of a room, that for five, in these columns over time; None where it is
    missing."""

    def kept(*columns, room=rooms[0]):
        frame = load_occupancy(recorder.folder)
        table = frame[frame["room_id"] == room][list(columns)]
        return table.astype(object).where(table.notna(), None).T.to_numpy().tolist()

    return kept


def test_a_row_a_room_and_sweep_at_fixed_times(
    recorder, record, kept, sandbox, rooms, moments, caplog
):
    """Each sweep is one row per room, all with its start, and a line in the log; the first is at
    once, the others follow every so many seconds. IDs may stand in any column, and be of any
    letters."""
    caplog.set_level(logging.INFO, "confkit.record")
    moments.plan(60, lambda: sandbox.join(rooms[0], "Bo"))
    done = record(3)
    assert done == Recorded(sweeps=3, rows=6, failures=0, skipped=0, ended="sweeps")
    assert str(done) == (
        "sweeps: 3; rows: 6, of which 0 without a value; sweeps skipped: 0; ended: sweeps"
    )
    times = load_occupancy(recorder.folder)["time"].drop_duplicates()
    assert [*times] == [*pd.date_range(NOON, periods=3, freq="min")]
    assert kept("users", "people", "devices", "attendee_max", "ret") == [
        [1, 2, 2],
        [1, 2, 2],
        [0, 0, 0],
        [5, 5, 5],
        [0, 0, 0],
    ]
    assert kept("attendee_max", "ret", room=rooms[1]) == [[None] * 3, [0] * 3]
    strange = pd.DataFrame({"floor": 1, "room": ["a b", "a/b", "ü%20", "٣", rooms[0]]})
    record(1, room_ids=strange, id_column="room")
    assert kept("ret", room="ü%20") == [[404]]
    line = caplog.records[-1].getMessage()
    assert "5 rooms, 4 without a value; all (4, such as room 'a b'): get room" in line


def test_a_recording_names_its_services(recorder, record):
    """Samples and reports of a folder say of which service they are; those of a second service in
    the same folder, saved from elsewhere, name both. Other readers do not see the note."""
    record(1)
    assert load_occupancy(recorder.folder).attrs == {"service": "SANDBOX"}
    assert ck.capacity_report(recorder.folder, "UTC").attrs["service"] == "SANDBOX"
    other = sweep("2026-05-01T10:00Z")
    other.attrs["service"] = "conf/éx:8080"
    save_occupancy(other, recorder.folder)
    assert load_occupancy(recorder.folder).attrs["service"] == "SANDBOX, conf/éx:8080"
    assert len(pd.read_parquet(recorder.folder)) == len(other)


def test_room_fields_are_read_every_so_often_only(record, client):
    """A3 is asked at the first sweep and every `rooms_every` seconds, A6 and B3 at each."""
    before = len(client.calls)
    record(7, rooms_every=180)
    kinds = [call.endpoint for call in client.calls[before:]]
    assert [kinds.count(kind) for kind in ("A3", "A6", "B3")] == [2 * 3, 2 * 7, 7]


def test_what_cannot_be_read_is_missing_and_never_zero(record, kept, sandbox, moments):
    """When A6 fails users are missing, when B3 fails people and devices are, each with the code;
    the cap stays known. `on_sweep` gets each sweep when it is on the disk, with why most of what
    failed in it did."""
    moments.plan(1, lambda: sandbox.fault(USERS, ret=700, times=2))
    moments.plan(61, lambda: sandbox.fault(DEVICES, ret=302, times=1))
    heard = []

    def on_sweep(sweep: ck.Sweep) -> None:
        heard.append((len(kept("ret")[0]), sweep.commonest[:7]))

    assert record(4, on_sweep=on_sweep).failures == 4
    assert kept("users", "people", "devices", "ret", "attendee_max") == [
        [1, None, 1, 1],
        [1, None, None, 1],
        [0, None, None, 0],
        [0, 700, 302, 0],
        [5] * 4,
    ]
    whys = ["", "all (2,", "list ex", ""]
    assert heard == [(n + 1, whys[n]) for n in range(4)]


def test_a_cap_that_was_known_survives_a_failure(record, kept, sandbox, moments):
    """A room whose cap could not be read has that call's code at every sweep until it is; when A3
    fails later the cap that was read last stands. Another recording begins anew."""
    sandbox.fault(GET, ret=700, times=2)
    moments.plan(200, lambda: sandbox.fault(GET, ret=700, times=2))
    record(5, rooms_every=120)
    moments.sleep(60)
    sandbox.fault(GET, ret=700, times=2)
    record(1)
    assert kept("ret", "attendee_max", "users") == [
        [700, 700, 0, 0, 0, 700],
        [None, None, 5, 5, 5, None],
        [1] * 6,
    ]


def test_late_sweeps_are_skipped_and_told(record, recorder, moments, caplog):
    """Sweeps whose time has passed, as when the machine slept, are skipped, counted and logged;
    those that follow are at their times."""
    moments.plan(30, lambda: setattr(moments, "passed", 150.0))
    done = record(3)
    assert (done.sweeps, done.skipped) == (3, 2)
    assert "skipped 2" in caplog.text
    minutes = load_occupancy(recorder.folder)["time"].drop_duplicates().dt.minute
    assert minutes.tolist() == [0, 3, 4]


def test_the_first_sweep_raises_when_nothing_can_be_asked(recorder, sandbox, rooms):
    """Wrong keys are an error at once and nothing is recorded."""
    keys = {"access_key": "demo_access", "secret_key": "wrong"}
    urls = {"base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url}
    with ck.connect(**urls, **keys) as stranger, pytest.raises(ck.AuthenticationFailed):
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

    threading.Thread(target=after_ten).start()
    done = Recorder(tmp_path).record(client, ids, cancelled=stop, concurrency=1)
    sandbox.clear_faults()
    assert done.ended == "cancelled"
    frame = load_occupancy(tmp_path)
    assert 0 < len(frame) == done.rows < len(ids)
    assert frame["users"].notna().all()


def test_a_recording_outlasts_a_service_that_goes_away(record, client, sandbox, moments):
    """A sweep that ends early as nobody answers has a row for each room, asked or not, without
    users: the recording goes on, and the next sweep is whole."""
    ids = [ck.create_room(client, f"R{n}", "ops") for n in range(60)]
    moments.plan(30, lambda: [sandbox.fault(path, drop=True) for path in (GET, USERS, DEVICES)])
    moments.plan(90, sandbox.clear_faults)
    done = record(3, room_ids=ids)
    assert (done.sweeps, done.rows, done.failures, done.ended) == (3, 180, 60, "sweeps")


def test_who_reads_the_folder_holds_up_no_sweep(record, recorder, moments):
    """While somebody reads, a day that is over waits, and is compacted after a later sweep."""
    moments.passed, sweeps = 11.9 * 3600, []
    with ExitStack() as held:

        def on_sweep(sweep):
            sweeps.append(sweep)
            if len(sweeps) == 1:
                held.enter_context(reading(recorder.folder))
            elif len(sweeps) == 4:
                assert not list(recorder.folder.rglob("*.parquet"))
                held.close()

        done = record(5, every=600, on_sweep=on_sweep)
    assert len(load_occupancy(recorder.folder)) == done.rows == 10
    assert [path.parent.name for path in recorder.folder.rglob("*.parquet")] == ["date=2026-06-01"]


def test_a_compaction_that_fails_does_not_end_the_recording(record, recorder, moments, caplog):
    """When a day cannot be compacted the log says so, its sweeps stay where they are, and the
    recording goes on."""
    moments.passed = 11.5 * 3600
    recorder.folder.mkdir(parents=True)
    (recorder.folder / "date=2026-06-01").write_text("in the way")
    assert record(2, every=1800).sweeps == 2
    assert "not compacted yet" in caplog.text
    with pytest.warns(UserWarning, match="date=2026-06-01"):
        assert len(load_occupancy(recorder.folder)) == 4


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        *(({"every": seconds}, "every") for seconds in (0, float("nan"))),
        ({"rooms_every": -1}, "rooms_every"),
        *(({"sweeps": sweeps}, "sweeps") for sweeps in (1.5, True)),
        ({"until": NOON}, "which is over"),
        ({"room_ids": []}, "no room"),
    ],
)
def test_impossible_arguments_are_refused(record, recorder, wrong, named):
    """An argument that makes no sense is a ValueError that names it, before anything is asked."""
    with pytest.raises(ValueError, match=named):
        record(**{"sweeps": 1, **wrong})
    assert not recorder.folder.exists()


def test_a_clock_set_back_by_whole_minutes_doubles_no_sample(record, recorder, moments):
    """A sweep whose time an earlier one had, as the clock was set back, has a time of its own."""
    moments.plan(130, lambda: setattr(moments, "stepped", -120.0))
    record(6)
    frame = load_occupancy(recorder.folder)
    assert len(frame) == 12
    assert not frame.duplicated(["time", "room_id"]).any()


def test_when_nothing_can_be_asked_that_is_recorded_too(recorder, kept, moments, caplog):
    """An error of a whole sweep after the first is logged and leaves a row without values for each
    room, with the cap that was known; a code of thirty digits, which fits into no column, too."""
    with Sandbox(seed=2) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "small", "ops", attendee_max=5)

        def refuse() -> None:
            client._token.value = None
            sandbox.fault("/rtc/auth/valid", body=b'{"ret": 1%030d}' % 0)

        moments.plan(1, refuse)
        moments.plan(61, sandbox.close)
        done = recorder.record(client, [room_id], every=60, sweeps=3)
    assert (done.sweeps, done.failures) == (3, 2)
    assert "nothing could be asked: this sandbox is closed" in caplog.text
    assert kept("users", "attendee_max", "ret", room=room_id) == [
        [0, None, None],
        [5] * 3,
        [0, None, None],
    ]


@pytest.mark.parametrize("way", ["until", "cancelled", "interrupted"])
def test_what_ends_it(record, moments, way):
    """No sweep starts at `until` or after it; an event and Ctrl-C end it within a second, with what
    was done."""
    stop, options = threading.Event(), {}

    def interrupt() -> None:
        raise KeyboardInterrupt

    if way == "until":
        options = {"until": "2026-06-01T12:02Z"}
    else:
        moments.plan(90, stop.set if way == "cancelled" else interrupt)
    done = record(cancelled=stop, **options)
    assert (done.sweeps, done.rows, done.ended) == (2, 4, way)
    assert moments.passed < 121


def test_sweeps_do_not_drift_and_days_that_are_over_are_compacted(
    record, recorder, moments, caplog
):
    """However long a sweep takes, up to the interval, the next begins at its time. Days before
    today are compacted after the first sweep of the day, today's sweeps are not; what is foreign in
    the folder is named in the log."""
    recorder.folder.mkdir(parents=True)
    (recorder.folder / "notes.txt").write_text("mine")
    moments.passed = 11 * 3600
    lasting = iter((0.3, 1799, 0.0, 12.5))
    done = record(4, every=1800, on_sweep=lambda _: moments.sleep(next(lasting)))
    assert (done.sweeps, done.skipped) == (4, 0)
    assert [path.parent.name for path in recorder.folder.rglob("*.parquet")] == ["date=2026-06-01"]
    assert len(list(recorder.folder.glob("_hot/*"))) == 2
    with pytest.warns(UserWarning, match=r"notes\.txt"):
        times = load_occupancy(recorder.folder)["time"].drop_duplicates()
    assert (times.diff()[1:] >= pd.Timedelta("29min")).all()
    assert times.dt.minute.tolist() == [0, 30, 0, 30]
    assert "notes.txt" in caplog.text
