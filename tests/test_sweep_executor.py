"""A sweep on an executor: the same result, and what a worker loses is lost for a reason."""

import io
import logging
import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from functools import partial

import distributed
import pandas as pd
import pytest

import confkit as ck
from tests.building import USERS, building, users
from tests.scripted import AUTHENTICATE, GRANTED, Reply


def new_processes(count=2):
    # Forked, they would take along the locks of this process's threads.
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def processes():
    with new_processes() as executor:
        yield executor


@pytest.fixture(scope="module")
def dask():
    """That of a real cluster, in another process of this machine."""
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


def without(secrets, *texts):
    """Whether none of these texts holds a secret."""
    return not [secret for secret in secrets for text in texts if secret in text]


@pytest.mark.parametrize("kind", ["processes", pytest.param("dask", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("max_rate", [None, 500])
def test_the_result_is_the_same_though_the_token_expires(script, request, kind, max_rate):
    """Rooms, users, devices, failures and their order are those of a sweep without it, and progress
    counts every room once. Each part renews the token at most once; with a rate, which holds in one
    process, there is one renewal."""
    service = script(building(dict.fromkeys(rooms(30), ("x", "cam")), [("r7", "cam")]))
    service.script[AUTHENTICATE] = [GRANTED, {**GRANTED, "key": "another"}]
    client, ids, steps = service.client(), [*rooms(20), "nowhere", *rooms(30)], []
    here = ck.sweep(client, ids)
    before = service.seen.total() - service.seen[AUTHENTICATE]
    usual, first = service.script[USERS], client.token()

    def expiring(query):
        expired = query["access_token"] == first and service.seen[USERS] > 30 + 15
        return {"ret": 602} if expired else usual(query)

    service.script[USERS] = expiring
    options = {"executor": request.getfixturevalue(kind), "max_rate": max_rate}
    there = ck.sweep(client, ids, progress=lambda *step: steps.append(step), **options)
    pd.testing.assert_frame_equal(there.frame(), here.frame(), check_flags=False)
    assert there.frame().devices.sum() == 1
    assert (there.rooms, there.users) == (here.rooms, here.users)
    facts = [
        [(room_id, call, str(error), advice) for room_id, call, error, advice in sweep.failures]
        for sweep in (there, here)
    ]
    assert facts[0] == facts[1]
    assert len(facts[0]) == 1
    logins = service.seen[AUTHENTICATE]
    assert 2 <= logins <= (1 + 7 if max_rate is None else 2)
    assert (there.complete, there.requests) == (True, service.seen.total() - logins - before)
    assert steps == [(done, 31) for done in range(1, 32)]


def test_keys_that_are_rejected_in_the_middle_end_the_sweep(script, processes):
    """When the token cannot be renewed, what was read stays, and that is one failure."""
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


def test_without_a_token_nothing_is_given_away(script, processes):
    """Keys that are rejected in the beginning are raised, after one authentication."""
    service = script(building({"a": "x"}) | {AUTHENTICATE: {"ret": 401}})
    with pytest.raises(ck.AuthenticationFailed):
        ck.sweep(service.client(), rooms(40), executor=processes)
    assert service.seen.total() == 1


@pytest.mark.nightly
def test_the_same_sweep_again_is_another(script, dask):
    """Dask keeps what it has computed while somebody holds it; a sweep is never an old one."""
    held, present = [], {"a": "x"}

    def submit(work):
        held.append(dask.submit(work))
        return held[-1]

    client = script(building(present)).client()
    assert list(ck.sweep(client, ["a"], executor=Submitting(submit)).frame().users) == [1]
    present["a"] = "xy"
    assert list(ck.sweep(client, ["a"], executor=Submitting(submit)).frame().users) == [2]


# What a worker loses


def lost(sweep, count):
    """The frame of a sweep in which so many rooms went down with a worker."""
    frame = sweep.frame()
    failed = frame[frame.error.notna()]
    assert len(failed) == count
    assert failed[["users", "ret"]].isna().all(axis=None)
    for failure in sweep.failures:
        assert failure.room_id in set(failed.room_id)
        assert "executor lost" in str(failure.error)
        assert "workers" in failure.advice
    assert sweep.complete
    return frame


@pytest.mark.nightly
def test_a_pool_whose_process_dies(script):
    """Its rooms are failures that say so, those before them stand, and the call returns."""

    def dies(query):
        if query["room_id"] != "r7":
            return users()
        for pid in list(pool._processes):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return Reply(users(), delay=0.5)

    service = script(building(dict.fromkeys(rooms(15), ())) | {USERS: dies})
    with new_processes(1) as pool:
        sweep = ck.sweep(service.client(), rooms(15), executor=pool)
    frame = lost(sweep, 10)
    assert "BrokenProcessPool" in frame.error[7]
    assert list(frame.users[:5]) == [0] * 5


def test_a_part_that_cannot_be_given_away_is_lost(script, processes):
    """What cannot be packed for a worker, or fails in it, is lost, and the error says why, without
    the key and the token that its words may hold."""
    service = script(building(dict.fromkeys(rooms(7), ())))
    client = service.client()
    client.session.auth = lambda request: request
    token = client.token().reveal()
    broken = Future()
    broken.set_exception(RuntimeError(f"key demo_secret, http://h/x?accessToken={token}\nmore"))
    executors = {"pickle": processes, "RuntimeError: key ***": Submitting(lambda _: broken)}
    for reason, executor in executors.items():
        text = lost(ck.sweep(client, rooms(5), executor=executor), 5).error[0]
        assert reason in text
        assert without(("demo_secret", token), text)
    assert service.seen[USERS] == 0


def elsewhere(client, room_id):
    """What a copy of the client reads in another process, and what it shows and logs there."""
    logged = io.StringIO()
    logging.basicConfig(level=logging.DEBUG, stream=logged)
    read = ck.sweep(client, [room_id]).rooms
    client.close()
    return read, client.sandbox, f"{client!r}{client.calls}{client.__dict__}{logged.getvalue()}"


def test_a_copy_in_another_process_reads_and_shows_no_secret(client, processes):
    """A pickled client works there with the token that it has; its log is masked there too; when it
    closes, the sandbox goes on."""
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops")
    read, sandbox, texts = processes.submit(elsewhere, client, room_id).result()
    assert (read, sandbox) == ([ck.get_room(client, room_id)], None)
    assert "access_token=***" in texts
    token = client.token().reveal()
    assert without((client.secret_key.reveal(), token, token.replace("=", "%3D")), texts)


# The end


def test_the_end_waits_for_no_worker_and_calls_none_lost(script):
    """The parts that were read stand, the others were not asked: those that hang, that have not
    begun, and that go down with the end, as when Ctrl-C in a terminal ends a pool's processes."""
    ended, futures = threading.Event(), []

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
            ended.set()

    client = script(building(dict.fromkeys(rooms(40), ()))).client()
    options = {"executor": Submitting(submit), "cancelled": ended, "progress": end}
    sweep = ck.sweep(client, rooms(40), **options)
    frame = sweep.frame()
    assert (sweep.complete, sweep.failures) == (False, ())
    assert list(frame.users[:10]) == [0] * 10
    assert frame.users[10:].isna().all()
    assert set(frame.error[10:]) == {"not asked: the sweep ended early"}
    assert [future.cancelled() for future in futures] == [False] * 4 + [True] * 4


def test_ctrl_c_while_parts_are_handed_out_cancels_them(script):
    """Those that were submitted do not run for a sweep that nobody waits for."""
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
