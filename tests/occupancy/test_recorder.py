"""The recorder, against a real sandbox, by whose clock it records."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

import confkit as ck
from confkit.operations import A3, A6, B3
from confkit.sandbox import Sandbox

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

    def record(sweeps=None, *, acts=(), **options):
        left = iter(acts)
        options = {"room_ids": rooms, "every": EVERY, "sweeps": sweeps, **options}
        return ck.Recorder(folder).record(
            client, on_sweep=lambda _: next(left, lambda: None)(), **options
        )

    return record


@pytest.fixture
def recorded(folder, rooms):
    """The samples of a room, the one for five, in these columns over time; None if missing."""

    def recorded(*columns, room=rooms[0]):
        frame = ck.load_occupancy(folder)
        table = frame[frame["room_id"] == room][list(columns)]
        return table.astype(object).where(table.notna(), None).T.to_numpy().tolist()

    return recorded


def test_a_sweep_is_a_row_for_each_room(record, recorded, sandbox, rooms):
    """All with its start."""
    done = record(3, acts=[lambda: sandbox.join(rooms[0], "Bo")], every=1)
    assert done == ck.Recorded(sweeps=3, rows=6, failures=0, skipped=0, ended="sweeps")
    assert recorded("time") == recorded("time", room=rooms[1])
    assert recorded("users", "attendee_max", "service") == [[1, 2, 2], [5] * 3, ["SANDBOX"] * 3]
    assert recorded("users", "attendee_max", "ret", room=rooms[1]) == [[0] * 3, [None] * 3, [0] * 3]


def test_failures_are_missing_and_never_zero(record, recorded, sandbox):
    """If A3 or A6 fails users are missing, if B3 fails people and devices, each with the code."""
    faults = [
        lambda: sandbox.fault(A6.path, ret=700, times=2),
        lambda: sandbox.fault(B3.path, ret=302, times=1),
        lambda: sandbox.fault(A3.path, ret=701, times=2),
    ]
    assert record(4, acts=faults).failures == 6
    assert recorded("users", "people", "devices", "ret", "attendee_max") == [
        [1, None, 1, None],
        [1, None, None, None],
        [0, None, None, None],
        [0, 700, 302, 701],
        [5, 5, 5, None],
    ]


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
    acts = {"until": lambda: sandbox.advance(3600), "cancelled": stop.set}
    acts["interrupted"] = interrupt
    done = record(acts=[lambda: None, acts[way]], cancelled=stop, until=until)
    assert (done.sweeps, done.rows, done.ended) == (2, 4, way)


def test_the_first_sweep_raises_if_nothing_can_be_read(folder, sandbox, rooms):
    sandbox.fault("/rtc/auth/valid", ret=401)
    with sandbox.connect() as stranger, pytest.raises(ck.AuthenticationFailed):
        ck.Recorder(folder).record(stranger, rooms, sweeps=1)
    assert not folder.exists()


def test_a_later_sweep_that_reads_nothing_is_a_row_for_each_room(folder, recorded):
    """Of a service that is closed the values are missing."""
    with Sandbox(seed=2) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "small", "ops")
        options = {"every": EVERY, "sweeps": 3, "on_sweep": lambda _: sandbox.close()}
        done = ck.Recorder(folder).record(client, [room_id], **options)
    assert (done.sweeps, done.failures) == (3, 2)
    assert recorded("users", room=room_id) == [[0, None, None]]


def test_a_cancelled_sweep_keeps_the_rooms_that_were_read(folder, client, sandbox, rooms):
    """The others are left out, rather than recorded as failed."""
    stop = threading.Event()
    sandbox.fault(A6.path, delay=0.0, times=1)
    sandbox.fault(A6.path, delay=30.0)

    def at_the_second():
        while sandbox.count(A6.path) < 2:
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=at_the_second).start()
    done = ck.Recorder(folder).record(client, rooms, cancelled=stop, concurrency=1)
    sandbox.clear_faults()
    assert (done.ended, done.rows) == ("cancelled", 1)
    assert ck.load_occupancy(folder)["users"].tolist() == [1]


def test_a_clock_that_is_set_back_loses_no_sample(record, recorded, monkeypatch, client):
    """A sweep at the time of an earlier one is a millisecond later."""
    start = client.now()
    monkeypatch.setattr(client, "now", lambda: start)
    record(3)
    assert [time.timestamp() for time in recorded("time")[0]] == pytest.approx(
        [start, start + 0.001, start + 0.002], abs=0.001
    )
