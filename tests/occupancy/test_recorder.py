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
    """Record these rooms; `acts` are done after the first sweeps."""

    def record(sweeps=None, *, acts=(), on_sweep=lambda _: None, **options):
        left = iter(acts)

        def next_act(sweep):
            on_sweep(sweep)
            next(left, lambda: None)()

        options = {"room_ids": rooms, "every": EVERY, "sweeps": sweeps, **options}
        return ck.Recorder(folder).record(client, on_sweep=next_act, **options)

    return record


@pytest.fixture
def recorded(folder, rooms):
    """The samples of a room, the one for five, in these columns over time; None if missing."""

    def recorded(*columns, room=rooms[0]):
        frame = ck.load_occupancy(folder)
        table = frame[frame["room_id"] == room][list(columns)]
        return table.astype(object).where(table.notna(), None).T.to_numpy().tolist()

    return recorded


def test_a_sweep_is_a_row_for_each_room(record, recorded, sandbox, rooms, caplog):
    """All with its start, and a line in the log. IDs may be in any column, and of any letters."""
    caplog.set_level(logging.INFO, "confkit.record")
    done = record(3, acts=[lambda: sandbox.join(rooms[0], "Bo")], every=1)
    assert done == ck.Recorded(sweeps=3, rows=6, failures=0, skipped=0, ended="sweeps")
    assert str(done).startswith("sweeps: 3; rows: 6, 0 of them with a missing value")
    assert recorded("time") == recorded("time", room=rooms[1])
    assert recorded("users", "people", "devices", "attendee_max", "ret", "service") == [
        [1, 2, 2],
        [1, 2, 2],
        [0, 0, 0],
        [5, 5, 5],
        [0, 0, 0],
        ["SANDBOX"] * 3,
    ]
    assert recorded("attendee_max", "ret", room=rooms[1]) == [[None] * 3, [0] * 3]
    table = pd.DataFrame({"floor": 1, "room": ["a b", 'a,"b"', "ü%20", "٣", rooms[0]]})
    record(1, room_ids=table, id_column="room")
    assert recorded("ret", room="ü%20") == recorded("ret", room='a,"b"') == [[404]]
    line = caplog.records[-1].getMessage()
    assert "5 rooms, 4 not read; all (4, such as room 'a b'): get room" in line


def test_failures_are_missing_and_never_zero(record, recorded, sandbox):
    """If A3 or A6 fails users are missing, if B3 fails people and devices, each with the code.
    `on_sweep` gets each sweep once it is on the disk."""
    reports = []
    faults = [
        lambda: sandbox.fault(USERS, ret=700, times=2),
        lambda: sandbox.fault(DEVICES, ret=302, times=1),
        lambda: sandbox.fault(GET, ret=701, times=2),
    ]

    def report(sweep):
        reports.append((len(recorded("ret")[0]), sweep.commonest[:7]))

    assert record(4, acts=faults, on_sweep=report).failures == 6
    assert recorded("users", "people", "devices", "ret", "attendee_max") == [
        [1, None, 1, None],
        [1, None, None, None],
        [0, None, None, None],
        [0, 700, 302, 701],
        [5, 5, 5, None],
    ]
    assert reports == [(1, ""), (2, "all (2,"), (3, "list ex"), (4, "all (2,")]


@pytest.mark.parametrize("lasting", [0.7, 2.5])
def test_turns_do_not_drift_and_late_ones_are_skipped(record, recorded, caplog, lasting):
    done = record(5, acts=[lambda: time.sleep(lasting * EVERY)] * 5)
    first, *_, last = recorded("time")[0]
    # On a busy machine more are skipped than by the sweeps alone.
    assert (last - first) / timedelta(seconds=EVERY) == pytest.approx(4 + done.skipped, abs=0.8)
    assert done.skipped >= 4 * int(lasting)
    assert ("skipped" in caplog.text) == bool(done.skipped)


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("way", ["until", "cancelled", "interrupted"])
def test_the_ways_to_end(record, client, sandbox, way):
    """No sweep starts at `until` or after it; an event and Ctrl-C end it at once."""
    stop = threading.Event()
    until = datetime.fromtimestamp(client.now() + 3600, UTC)
    acts = {
        "until": lambda: sandbox.advance(3600),
        "cancelled": stop.set,
        "interrupted": interrupt,
    }
    done = record(acts=[lambda: None, acts[way]], cancelled=stop, until=until)
    assert (done.sweeps, done.rows, done.ended) == (2, 4, way)


def test_progress_is_a_line_with_the_number_of_sweeps(record, capsys):
    record(5, acts=[lambda: None], progress=True)
    assert "/5 " in capsys.readouterr().err
    record(2)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"every": 0}, "every"),
        ({"sweeps": 1.5}, "sweeps"),
        ({"until": "2020-01-01"}, "which is in the past"),
        ({"room_ids": []}, "no room"),
    ],
)
def test_impossible_arguments_are_refused(record, folder, wrong, message):
    with pytest.raises(ValueError, match=message):
        record(**{"sweeps": 1, **wrong})
    assert not folder.exists()


def test_the_first_sweep_raises_if_nothing_can_be_read(folder, sandbox, rooms):
    keys = {"access_key": "demo_access", "secret_key": "wrong"}
    urls = {"base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url}
    with ck.connect(**urls, **keys) as stranger, pytest.raises(ck.AuthenticationFailed):
        ck.Recorder(folder).record(stranger, rooms, sweeps=1)
    assert not folder.exists()


def test_a_later_sweep_that_reads_nothing_is_a_row_for_each_room(folder, recorded, caplog):
    """Rejected keys, and a service that is closed, are logged and leave missing values."""
    with Sandbox(seed=2) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "small", "ops", attendee_max=5)

        def refuse(_):
            client._token.value = None
            sandbox.fault("/rtc/auth/valid", body=b'{"ret": 1%030d}' % 0)
            threading.Timer(1.5, sandbox.close).start()

        options = {"every": 1, "sweeps": 3, "on_sweep": refuse}
        done = ck.Recorder(folder).record(client, [room_id], **options)
    assert (done.sweeps, done.failures) == (3, 2)
    assert "nothing could be read: this sandbox is closed" in caplog.text
    assert recorded("users", "attendee_max", "service", room=room_id) == [
        [0, None, None],
        [5, None, None],
        ["SANDBOX"] * 3,
    ]


def test_a_recording_outlasts_a_service_that_goes_away(record, client, sandbox):
    """A sweep that ends early has a row for each room, asked or not; the next one is complete."""
    ids = [ck.create_room(client, f"R{n}", "ops") for n in range(60)]

    def away():
        for path in (GET, USERS, DEVICES):
            sandbox.fault(path, drop=True)

    done = record(3, room_ids=ids, acts=[away, sandbox.clear_faults])
    assert (done.sweeps, done.rows, done.failures, done.ended) == (3, 180, 60, "sweeps")


def test_a_cancelled_sweep_keeps_the_rooms_that_were_read(folder, client, sandbox, rooms):
    """The others are left out, rather than recorded as failed."""
    stop = threading.Event()
    ids = [*rooms, *(ck.create_room(client, "more", "ops") for _ in range(40))]
    sandbox.fault(USERS, delay=0.0, times=10)
    sandbox.fault(USERS, delay=30.0)
    before = sandbox.count(USERS)

    def after_ten():
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


def test_a_clock_that_is_set_back_loses_no_sample(record, recorded, sandbox, monkeypatch, client):
    """A sweep at the time of an earlier one is a millisecond later; days may come again."""
    start = client.now()
    monkeypatch.setattr(client, "now", lambda: start)
    record(3)
    assert [time.timestamp() for time in recorded("time")[0]] == pytest.approx(
        [start, start + 0.001, start + 0.002], abs=0.001
    )
    monkeypatch.undo()
    days = [lambda: sandbox.advance(86_400), lambda: sandbox.advance(-86_400)] * 2
    assert record(5, acts=days).sweeps == 5
    assert len(recorded("time")[0]) == 3 + 5


def test_several_record_into_one_folder_while_it_is_read(folder, sandbox, rooms):
    """A day (UTC) becomes Parquet meanwhile. Readers see complete sweeps, and ever more of them."""
    sandbox.simulate(rooms=1, days=0, until="2026-03-12T23:59:59+00:00")
    sweeps, folder_exists = 25, threading.Event()

    def run(room_id):
        with sandbox.connect() as client:
            options = {"every": 0.1, "sweeps": sweeps, "on_sweep": lambda _: folder_exists.set()}
            ck.Recorder(folder).record(client, [room_id, "unknown " + room_id], **options)

    others = [threading.Thread(target=run, args=[room_id]) for room_id in rooms]
    for other in others:
        other.start()
    folder_exists.wait()
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
