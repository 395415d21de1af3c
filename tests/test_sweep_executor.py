"""A sweep on an executor: the same result, and what a worker loses is a failure with its reason."""

import io
import logging
import multiprocessing
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial

import distributed
import pandas as pd
import pytest

import confkit as ck
from tests.building import USERS, building
from tests.scripted import AUTHENTICATE, GRANTED


@pytest.fixture(scope="module")
def processes():
    # Forked, they would take along the locks of this process's threads.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def dask():
    """The executor of a real cluster, in another process of this machine."""
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True}
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.Client(**options, **quiet) as client:
        yield client.get_executor()


class Submitting(Executor):
    """An executor of which a test says what becomes of each part."""

    def __init__(self, submit):
        self._submit = submit

    def submit(self, work, *arguments):
        return self._submit(partial(work, *arguments))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Parts of five rooms, so that a few rooms make several."""
    monkeypatch.setattr(sys.modules["confkit.sweep"], "PART", 5)


def rooms(count):
    return [f"r{number}" for number in range(count)]


@pytest.mark.parametrize("kind", ["processes", pytest.param("dask", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("max_rate", [None, 500])
def test_the_result_is_the_same_though_the_token_expires(script, request, kind, max_rate):
    """Each part renews the token at most once; with a rate, which holds in one process, there is
    one renewal. The same sweep again is another: Dask keeps what it has computed."""
    service = script(building(dict.fromkeys(rooms(30), ("x", "cam")), [("r7", "cam")]))
    service.script[AUTHENTICATE] = [GRANTED, {**GRANTED, "key": "another"}]
    client, ids, steps = service.client(), [*rooms(20), "nowhere", *rooms(30)], []
    here = ck.sweep(client, ids)
    usual, first = service.script[USERS], client.token()

    def expiring(query):
        expired = query["access_token"] == first and service.seen[USERS] > 30 + 15
        return {"ret": 602} if expired else usual(query)

    service.script[USERS] = expiring
    options = {"executor": request.getfixturevalue(kind), "max_rate": max_rate}
    there = ck.sweep(client, ids, progress=lambda *step: steps.append(step), **options)
    pd.testing.assert_frame_equal(there.frame(), here.frame(), check_flags=False)
    assert (there.rooms, there.users, there.complete) == (here.rooms, here.users, True)
    assert [(*f[:2], str(f[2])) for f in there.failures] == [
        (*f[:2], str(f[2])) for f in here.failures
    ]
    assert 2 <= service.seen[AUTHENTICATE] <= (1 + 7 if max_rate is None else 2)
    assert steps == [(done, 31) for done in range(1, 32)]
    asked = service.seen[USERS]
    ck.sweep(client, ids, **options)
    assert service.seen[USERS] >= asked + 30


def test_keys_that_are_rejected_in_the_middle_end_the_sweep(script, processes):
    """What was read stays, and the token that cannot be renewed is one failure."""
    service = script(building(dict.fromkeys(rooms(40), "x")))
    client = service.client()
    client.token()
    usual, granted = service.script[USERS], service.seen[AUTHENTICATE]
    service.script[AUTHENTICATE] = {"ret": 401}
    service.script[USERS] = lambda query: {"ret": 602} if service.seen[USERS] > 15 else usual(query)
    sweep = ck.sweep(client, rooms(40), executor=processes)
    assert service.seen[AUTHENTICATE] - granted <= 8
    assert [failure[:2] for failure in sweep.failures if not failure.room_id] == [(None, "A1")]
    assert 0 < len(sweep.users) <= 15
    assert not sweep.complete
    assert sweep.frame().error.notna().sum() == 40 - len(sweep.users)


def test_a_part_that_is_lost_is_a_failure_of_each_of_its_rooms(script, processes):
    """What cannot be pickled for a worker, or fails in it; the reason shows neither key nor token,
    and the other parts stand."""
    service = script(building(dict.fromkeys(rooms(7), ())))
    client = service.client()
    token = client.token().reveal()
    broken = Future()
    broken.set_exception(RuntimeError(f"key demo_secret, http://h/x?accessToken={token}\nmore"))
    sweep = ck.sweep(client, rooms(5), executor=Submitting(lambda _: broken))
    client.session.auth = lambda request: request
    unsent = ck.sweep(client, rooms(5), executor=processes)
    for lost, reason in ((sweep, "RuntimeError: key ***"), (unsent, "pickle")):
        frame = lost.frame()
        assert frame[["users", "ret"]].isna().all(axis=None)
        assert frame.error.str.contains("executor lost").all()
        assert reason in frame.error[0]
        assert not any(secret in frame.error[0] for secret in ("demo_secret", token))
        assert lost.complete
        assert "workers" in lost.failures[0].advice
    assert service.seen[USERS] == 0


def elsewhere(client, room_id):
    """What a copy of the client reads in another process, and what it shows and logs there."""
    logged = io.StringIO()
    logging.basicConfig(level=logging.DEBUG, stream=logged)
    read = ck.sweep(client, [room_id]).rooms
    client.close()
    return read, client.sandbox, f"{client!r}{client.calls}{client.__dict__}{logged.getvalue()}"


def test_a_copy_in_another_process_reads_and_shows_no_secret(client, processes):
    """It uses the token that the client has; when it closes, the sandbox goes on."""
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops")
    read, sandbox, texts = processes.submit(elsewhere, client, room_id).result()
    assert (read, sandbox) == ([ck.get_room(client, room_id)], None)
    assert "access_token=***" in texts
    token = client.token().reveal()
    secrets = (client.secret_key.reveal(), token, token.replace("=", "%3D"))
    assert not any(secret in texts for secret in secrets)


def test_the_end_waits_for_no_worker_and_calls_none_lost(script):
    """What was read stands; what hangs, has not begun, or goes down with the end was not asked."""
    cancelled, futures = threading.Event(), []

    def submit(work):
        futures.append(Future())
        if len(futures) < 5:
            futures[-1].set_running_or_notify_cancel()
        if len(futures) < 3:
            futures[-1].set_result(work())
        return futures[-1]

    def end(done, _):
        if done == 10:
            futures[2].set_exception(OSError())
            cancelled.set()

    client = script(building(dict.fromkeys(rooms(40), ()))).client()
    options = {"executor": Submitting(submit), "cancelled": cancelled, "progress": end}
    sweep = ck.sweep(client, rooms(40), **options)
    frame = sweep.frame()
    assert (sweep.complete, sweep.failures) == (False, ())
    assert list(frame.users[:10]) == [0] * 10
    assert frame.users[10:].isna().all()
    assert set(frame.error[10:]) == {"not asked: the sweep ended early"}
    assert [future.cancelled() for future in futures] == [False] * 4 + [True] * 4


def test_ctrl_c_while_parts_are_submitted_cancels_them(script):
    futures = []

    def submit(_):
        if len(futures) == 2:
            raise KeyboardInterrupt
        futures.append(Future())
        return futures[-1]

    client = script(building(dict.fromkeys(rooms(40), ()))).client()
    with pytest.raises(KeyboardInterrupt):
        ck.sweep(client, rooms(40), executor=Submitting(submit))
    assert [future.cancelled() for future in futures] == [True, True]
