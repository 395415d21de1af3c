"""The recorder, against a real sandbox, by whose clock it records."""

import logging
import threading
import time
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

import confkit as ck
from confkit.sandbox import Sandbox

GET, USERS = "/rtc/room/get", "/rtc/room/get_room_info"
DEVICES = "/avd/api/outgoing/getOutgoingUsers"
EVERY = 0.2


@pytest.fixture
def rooms(client, sandbox):
    """A room for five with one person in it, and one without a cap."""
    small = ck.create_room(client, "small", "ops", attendee_max=5)
    sandbox.join(small, "Ada")
    return [small, ck.create_room(client, "open", "ops")]


@pytest.fixture
def folder(tmp_path):
    """A folder that is not there yet."""
    return tmp_path / "new" / "rooms"


@pytest.fixture
def record(folder, client, rooms):
    """Records these rooms; `acts` are done after the first sweeps."""

    def record(sweeps=None, *, acts=(), on_sweep=lambda _: None, **options):
        left = iter(acts)

        def next_act(sweep):
            on_sweep(sweep)
            next(left, lambda: None)()

        options = {"room_ids": rooms, "every": EVERY, "sweeps": sweeps, **options}
        return ck.Recorder(folder).record(client, on_sweep=next_act, **options)

    return record


@pytest.fixture
def kept(folder, rooms):
    """What was recorded of a room, that for five, in these columns over time; None where it is
    missing."""

    def kept(*columns, room=rooms[0]):
        frame = ck.load_occupancy(folder)
        table = frame[frame["room_id"] == room][list(columns)]
        return table.astype(object).where(table.notna(), None).T.to_numpy().tolist()

    return kept


def test_a_row_a_room_and_sweep(record, kept, sandbox, rooms, caplog):
    """Each sweep is one row per room, all with its start, and a line in the log. IDs may stand in
    any column, and be of any letters."""
    caplog.set_level(logging.INFO, "confkit.record")
    done = record(3, acts=[lambda: sandbox.join(rooms[0], "Bo")], every=1)
    assert done == ck.Recorded(sweeps=3, rows=6, failures=0, skipped=0, ended="sweeps")
    assert str(done) == (
        "sweeps: 3; rows: 6, 0 of them with a missing value; sweeps skipped: 0; ended: sweeps"
    )
    assert kept("time") == kept("time", room=rooms[1])
    assert kept("users", "people", "devices", "attendee_max", "ret", "service") == [
        [1, 2, 2],
        [1, 2, 2],
        [0, 0, 0],
        [5, 5, 5],
        [0, 0, 0],
        ["SANDBOX"] * 3,
    ]
    assert kept("attendee_max", "ret", room=rooms[1]) == [[None] * 3, [0] * 3]
    strange = pd.DataFrame({"floor": 1, "room": ["a b", 'a,"b"', "ü%20", "٣", rooms[0]]})
    record(1, room_ids=strange, id_column="room")
    assert kept("ret", room="ü%20") == kept("ret", room='a,"b"') == [[404]]
    line = caplog.records[-1].getMessage()
    assert "5 rooms, 4 not read; all (4, such as room 'a b'): get room" in line


def test_what_cannot_be_read_is_missing_and_never_zero(record, kept, sandbox):
    """When A3 or A6 fails users are missing, when B3 fails people and devices are, each with the
    code. `on_sweep` gets each sweep when it is on the disk."""
    reports = []
    faults = [
        lambda: sandbox.fault(USERS, ret=700, times=2),
        lambda: sandbox.fault(DEVICES, ret=302, times=1),
        lambda: sandbox.fault(GET, ret=701, times=2),
    ]
    report = lambda sweep: reports.append((len(kept("ret")[0]), sweep.commonest[:7]))  # noqa: E731
    assert record(4, acts=faults, on_sweep=report).failures == 6
    assert kept("users", "people", "devices", "ret", "attendee_max") == [
        [1, None, 1, None],
        [1, None, None, None],
        [0, None, None, None],
        [0, 700, 302, 701],
        [5, 5, 5, None],
    ]
    assert reports == [(1, ""), (2, "all (2,"), (3, "list ex"), (4, "all (2,")]


@pytest.mark.parametrize("lasting", [0.7, 2.5])
def test_turns_do_not_drift_and_late_ones_are_skipped(record, kept, caplog, lasting):
    """However long a sweep takes, up to the interval, the next begins at its time; turns whose time
    passed meanwhile are counted and logged."""
    done = record(5, acts=[lambda: time.sleep(lasting * EVERY)] * 5)
    first, *_, last = kept("time")[0]
    # On a busy machine more are skipped than by the sweeps alone.
    assert (last - first) / timedelta(seconds=EVERY) == pytest.approx(4 + done.skipped, abs=0.8)
    assert done.skipped >= 4 * int(lasting)
    assert ("skipped" in caplog.text) == bool(done.skipped)


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("way", ["until", "cancelled", "interrupted"])
def test_what_ends_it(record, client, sandbox, way):
    """No sweep starts at `until` or after it; an event and Ctrl-C end it at once, with what was
    done."""
    stop = threading.Event()
    until = datetime.fromtimestamp(client.now() + 3600, UTC)
    act = {
        "until": lambda: sandbox.advance(3600),
        "cancelled": stop.set,
        "interrupted": interrupt,
    }[way]
    done = record(acts=[lambda: None, act], cancelled=stop, until=until)
    assert (done.sweeps, done.rows, done.ended) == (2, 4, way)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        *(({"every": seconds}, "every") for seconds in (0, float("nan"))),
        *(({"sweeps": sweeps}, "sweeps") for sweeps in (1.5, True)),
        ({"until": "2020-01-01"}, "which is in the past"),
        ({"room_ids": []}, "no room"),
    ],
)
def test_impossible_arguments_are_refused(record, folder, wrong, named):
    """An argument that makes no sense is a ValueError that names it, before anything is asked."""
    with pytest.raises(ValueError, match=named):
        record(**{"sweeps": 1, **wrong})
    assert not folder.exists()


def test_the_first_sweep_raises_when_nothing_can_be_asked(folder, sandbox, rooms):
    """Wrong keys are an error at once and nothing is recorded."""
    keys = {"access_key": "demo_access", "secret_key": "wrong"}
    urls = {"base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url}
    with ck.connect(**urls, **keys) as stranger, pytest.raises(ck.AuthenticationFailed):
        ck.Recorder(folder).record(stranger, rooms, sweeps=1)
    assert not folder.exists()


def test_when_nothing_can_be_asked_that_is_recorded_too(folder, kept, caplog):
    """An error of a whole sweep after the first is logged and leaves a row without values for each
    room; a code of thirty digits, which fits into no column, too."""
    with Sandbox(seed=2) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "small", "ops", attendee_max=5)

        def refuse(_: ck.Sweep) -> None:
            client._token.value = None
            sandbox.fault("/rtc/auth/valid", body=b'{"ret": 1%030d}' % 0)
            threading.Timer(1.5, sandbox.close).start()

        options = {"every": 1, "sweeps": 3, "on_sweep": refuse}
        done = ck.Recorder(folder).record(client, [room_id], **options)
    assert (done.sweeps, done.failures) == (3, 2)
    assert "nothing could be read: this sandbox is closed" in caplog.text
    assert kept("users", "attendee_max", "ret", "service", room=room_id) == [
        [0, None, None],
        [5, None, None],
        [0, None, None],
        ["SANDBOX"] * 3,
    ]


def test_a_recording_outlasts_a_service_that_goes_away(record, client, sandbox):
    """A sweep that ends early as nobody answers has a row for each room, asked or not, without
    users: the recording goes on, and the next sweep is whole."""
    ids = [ck.create_room(client, f"R{n}", "ops") for n in range(60)]
    away = lambda: [sandbox.fault(path, drop=True) for path in (GET, USERS, DEVICES)]  # noqa: E731
    done = record(3, room_ids=ids, acts=[away, sandbox.clear_faults])
    assert (done.sweeps, done.rows, done.failures, done.ended) == (3, 180, 60, "sweeps")


def test_a_sweep_that_is_cancelled_keeps_what_was_read(folder, client, sandbox, rooms):
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
    done = ck.Recorder(folder).record(client, ids, cancelled=stop, concurrency=1)
    sandbox.clear_faults()
    assert done.ended == "cancelled"
    frame = ck.load_occupancy(folder)
    assert 0 < len(frame) == done.rows < len(ids)
    assert frame["users"].notna().all()


def test_a_clock_that_is_set_back_doubles_no_sample(record, kept, sandbox, monkeypatch, client):
    """A sweep whose time an earlier one had has a time of its own, a millisecond later; days that
    come again are no others."""
    start = client.now()
    monkeypatch.setattr(client, "now", lambda: start)
    record(3)
    assert [time.timestamp() for time in kept("time")[0]] == pytest.approx(
        [start, start + 0.001, start + 0.002], abs=0.001
    )
    monkeypatch.undo()
    days = [lambda: sandbox.advance(86_400), lambda: sandbox.advance(-86_400)] * 2
    assert record(5, acts=days).sweeps == 5
    assert len(kept("time")[0]) == 3 + 5


def test_several_record_into_one_folder_while_it_is_read(folder, sandbox, rooms):
    """By the sandbox's clock; a day (UTC) that is over becomes Parquet meanwhile. Whoever reads the
    folder sees whole sweeps, and ever more of them."""
    sandbox.simulate(rooms=1, days=0, until="2026-03-12T23:59:59+00:00")
    sweeps, folder_is_there = 25, threading.Event()

    def run(room_id: str) -> None:
        with sandbox.connect() as client:
            options = {"every": 0.1, "sweeps": sweeps, "on_sweep": lambda _: folder_is_there.set()}
            ck.Recorder(folder).record(client, [room_id, "unknown " + room_id], **options)

    others = [threading.Thread(target=run, args=[room_id]) for room_id in rooms]
    for other in others:
        other.start()
    folder_is_there.wait()
    rows = [0]
    while any(other.is_alive() for other in others):
        frame = ck.load_occupancy(folder)
        assert frame.groupby(["time", frame["room_id"].str[-5:]]).size().eq(2).all()
        rows.append(len(frame))
    for other in others:
        other.join()
    assert rows == sorted(rows)
    assert [*ck.load_occupancy(folder).groupby("room_id").size()] == [sweeps] * 4
    assert sorted({path.name[:10] + path.suffix for path in folder.iterdir()}) == [
        "2026-03-12.parquet",
        "2026-03-13.csv",
    ]
