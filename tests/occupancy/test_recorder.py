"""The recorder, against a real sandbox, by whose clock it records."""

import signal
import threading
import time
from datetime import timedelta
from functools import partial

import pytest

import confkit as ck
from confkit.operations import A3, A6, B3

EVERY = 0.2


@pytest.fixture
def record(client, sandbox, tmp_path):
    """Records a room for five in which there is Ada; `acts` are done after the first sweeps. Gives
    how it ended, and the samples."""
    room_id = ck.create_room(client, "small", "ops", attendee_max=5)
    sandbox.join(room_id, "Ada", user_id="ada")

    def record(sweeps=None, *, acts=(), **options):
        left = iter(acts)
        options = {"every": EVERY, "sweeps": sweeps, **options}
        options["on_sweep"] = lambda _: next(left, lambda: None)()
        done = ck.Recorder(tmp_path / "new").record(client, [room_id], **options)
        return done, ck.load_occupancy(tmp_path / "new")

    return record


def values(frame, *columns):
    """These columns over time; None where a value is missing."""
    return frame[[*columns]].astype(object).where(frame.notna(), None).T.to_numpy().tolist()


def test_a_sweep_is_a_row_for_each_room(record, client, sandbox):
    def leave():
        sandbox.leave(client.created[0], "ada")

    done, frame = record(3, acts=[leave], every=1)
    assert done == ck.Recorded(sweeps=3, rows=3, failures=0, skipped=0)
    assert values(frame, "users", "service") == [[1, 0, 0], ["SANDBOX"] * 3]


def test_failures_are_missing_and_never_zero(record, sandbox):
    """If A3 or A6 fails users are missing, if B3 fails people and devices, each with the code."""
    faults = [
        lambda: sandbox.fault(A6.path, ret=700, times=1),
        lambda: sandbox.fault(B3.path, ret=302, times=1),
        lambda: sandbox.fault(A3.path, ret=701, times=1),
        sandbox.close,
    ]
    done, frame = record(5, acts=faults)
    assert done.failures == 4
    assert values(frame, "users", "people", "devices", "attendee_max") == [
        [1, None, 1, None, None],
        [1, None, None, None, None],
        [0, None, None, None, None],
        [5, 5, 5, None, None],
    ]
    assert values(frame, "ret")[0][:4] == [0, 700, 302, 701]


@pytest.mark.parametrize("lasting", [0.7, 2.5])
def test_turns_do_not_drift_and_late_ones_are_skipped(record, caplog, lasting):
    done, frame = record(5, acts=[lambda: time.sleep(lasting * EVERY)] * 5)
    lasted = frame["time"].max() - frame["time"].min()
    # On a busy machine more are skipped than by the sweeps alone.
    assert lasted / timedelta(seconds=EVERY) == pytest.approx(4 + done.skipped, abs=0.8)
    assert done.skipped >= 4 * int(lasting)
    assert ("skipped" in caplog.text) == bool(done.skipped)


@pytest.mark.parametrize("way", ["cancelled", "interrupted"])
def test_the_ways_to_end(record, way):
    """An event and Ctrl-C end it at once."""
    stop = threading.Event()
    acts = {"cancelled": stop.set, "interrupted": partial(signal.raise_signal, signal.SIGINT)}
    done, _ = record(acts=[lambda: None, acts[way]], cancelled=stop)
    assert (done.sweeps, done.rows) == (2, 2)


def test_impossible_arguments_are_refused(record):
    with pytest.raises(ValueError, match="every"):
        record(1, every=0)
    with pytest.raises(ValueError, match="sweeps"):
        record(0)


def test_the_first_sweep_raises_if_nothing_can_be_read(tmp_path, sandbox):
    sandbox.fault("/rtc/auth/valid", ret=401)
    with sandbox.connect() as stranger, pytest.raises(ck.AuthenticationFailed):
        ck.Recorder(tmp_path / "new").record(stranger, ["1"], sweeps=1)
    assert not (tmp_path / "new").exists()


def test_a_clock_that_stands_still_loses_no_sample(record, monkeypatch, client):
    """A sweep at the time of an earlier one is a millisecond later."""
    start = client.now()
    monkeypatch.setattr(client, "now", lambda: start)
    _, frame = record(3)
    assert frame["time"].diff().dropna().tolist() == [timedelta(milliseconds=1)] * 2
