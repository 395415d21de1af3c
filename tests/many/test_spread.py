"""A sweep on an executor: the same result, and what a worker loses is lost for a reason."""

import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pandas as pd
import pytest

import confkit as ck
from confkit.many import spread
from confkit.sandbox import Sandbox
from tests.many.building import DEVICES, USERS, building, users
from tests.scripted import Reply

SECRETS = ("demo_secret", "demo_access")


@pytest.fixture(scope="module")
def house():
    """A sandbox with three parts of rooms."""
    with Sandbox(seed=3) as running:
        running.simulate(rooms=1100, days=0, until="2026-06-03T10:15Z")
        yield running


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor


def new_processes(count=2):
    # Forked, they would take along the locks of this process's threads.
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def processes():
    with new_processes() as executor:
        yield executor


@pytest.fixture(scope="module")
def cluster():
    """A real cluster of Dask's: two processes of this machine."""
    import dask
    from distributed import Client, LocalCluster

    quiet = {"distributed.scheduler.allowed-failures": 0, "distributed.admin.log-length": 1000}
    with (
        dask.config.set(quiet),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "processes", "dask"])
def executor(request):
    if request.param == "dask":
        return request.getfixturevalue("cluster").get_executor()
    return request.getfixturevalue(request.param)


@pytest.fixture
def small(monkeypatch):
    """Parts of five rooms, so that a few rooms make several."""
    monkeypatch.setattr(spread, "ROOMS", 5)


def rooms(count):
    return [f"r{number}" for number in range(count)]


def test_the_result_is_the_same(house, executor):
    """Rooms, users, devices, failures and their order are those of a sweep without it."""
    ids = [*house.room_ids()[:600], "nowhere", *house.room_ids()[600:]]
    steps = []
    with house.connect() as client:
        here = ck.sweep(client, ids)
        there = ck.sweep(client, ids, executor=executor, progress=lambda *step: steps.append(step))
    pd.testing.assert_frame_equal(there.frame(), here.frame(), check_flags=False)
    assert there.frame().people.sum() > 0
    assert (there.rooms, there.users) == (here.rooms, here.users)
    assert [(one.room_id, one.call, type(one.error), one.advice) for one in there.failures] == [
        (one.room_id, one.call, type(one.error), one.advice) for one in here.failures
    ]
    assert (there.complete, there.requests) == (True, here.requests)
    assert steps == [(done, 2203) for done in range(1, 2204)]


def test_workers_use_the_token_that_is_there(script, executor, small):
    """They need not authenticate: a sweep costs one A1 in all, and B3 once."""
    service = script(building(dict.fromkeys(rooms(12), "x"), [("r0", "x")]))
    sweep = ck.sweep(service.client(), rooms(12), executor=executor)
    assert service.seen["/rtc/auth/valid"] == 1
    assert service.seen[DEVICES] == 1
    assert sweep.requests == 25
    assert list(sweep.frame().devices) == [1] + [0] * 11


def test_a_token_that_expires_is_renewed_once_for_all_parts(script, executor, small):
    """Workers do not authenticate side by side: what they could not read is read again with the one
    new token, even where only the newest is taken, and progress counts every call once."""
    service = script(building(dict.fromkeys(rooms(40), "x")))
    service.script["/rtc/auth/valid"] = lambda _: {
        "ret": 0,
        "random": "abc",
        "key": f"def{service.seen['/rtc/auth/valid']}",
    }
    client = service.client()
    users, first = service.script[USERS], client.token()

    def expiring(query):
        expired = query["access_token"] == first and service.seen[USERS] > 15
        return {"ret": 602} if expired else users(query)

    service.script[USERS] = expiring
    steps = []
    sweep = ck.sweep(
        client, rooms(40), executor=executor, progress=lambda *step: steps.append(step)
    )
    assert service.seen["/rtc/auth/valid"] == 2
    assert sweep.requests == sum(service.seen.values()) - 2
    assert sweep.failures == ()
    assert list(sweep.frame().users) == [1] * 40
    assert steps == [(done, 81) for done in range(1, 82)]


@pytest.mark.parametrize("max_rate", [None, 500])
def test_keys_that_are_refused_in_the_middle_are_tried_once(script, processes, small, max_rate):
    """When the token cannot be renewed, what was read stays and the rest fails: no part tries the
    keys again, and nothing is raised."""
    service = script(building(dict.fromkeys(rooms(40), "x")))
    client = service.client()
    client.token()
    users, granted = service.script[USERS], service.seen["/rtc/auth/valid"]
    service.script["/rtc/auth/valid"] = {"ret": 401}
    service.script[USERS] = lambda query: {"ret": 602} if service.seen[USERS] > 15 else users(query)
    sweep = ck.sweep(client, rooms(40), executor=processes, max_rate=max_rate)
    assert service.seen["/rtc/auth/valid"] == granted + 1
    assert 0 < len(sweep.users) <= 15
    assert len(sweep.users) + len({one.room_id for one in sweep.failures}) == 40


def test_an_option_that_makes_no_sense_is_raised(script, executor, cluster, small):
    """It is no room's failure. Dask's client is a likely mistake for its executor."""
    service = script(building(dict.fromkeys(rooms(12), ())))
    for option in ({"concurrency": 0}, {"max_rate": 0}):
        with pytest.raises(ck.ConfigError, match=next(iter(option))):
            ck.sweep(service.client(), rooms(12), executor=executor, **option)
    with pytest.raises(ck.ConfigError, match=r"Client.*get_executor\(\)"):
        ck.sweep(service.client(), ["a"], executor=cluster)


def test_refused_keys_are_raised_before_anything_is_spread(script, executor):
    """As without an executor: once."""
    service = script(building({}) | {"/rtc/auth/valid": {"ret": 401}})
    with pytest.raises(ck.AuthenticationFailed):
        ck.sweep(service.client(), rooms(1200), executor=executor)
    assert sum(service.seen.values()) == 1


def test_the_same_sweep_again_is_another(script, cluster, small):
    """Dask keeps what it has computed while somebody holds it; a sweep is never an old one."""
    held = []

    class Holding(Executor):
        def submit(self, *args, **kwargs):
            held.append(dask.submit(*args, **kwargs))
            return held[-1]

    dask, present = cluster.get_executor(), dict.fromkeys(rooms(6), "x")
    service = script(building(present))
    client = service.client()
    assert ck.sweep(client, rooms(6), executor=Holding()).frame().users.sum() == 6
    present.update(dict.fromkeys(rooms(6), "xy"))
    assert ck.sweep(client, rooms(6), executor=Holding()).frame().users.sum() == 12


# What a worker loses


def lost(sweep, count):
    """The frame of a sweep in which so many rooms went down with a worker."""
    frame = sweep.frame()
    failed = frame[frame.error.notna()]
    assert len(failed) == count
    assert failed.users.isna().all()
    assert failed.ret.isna().all()
    assert {one.room_id for one in sweep.failures if one.room_id} == set(failed.room_id)
    for one in sweep.failures:
        assert isinstance(one.error, ck.ConfkitError)
        assert "executor lost" in str(one.error)
        assert "workers" in one.advice
    assert sweep.complete
    return frame


@pytest.mark.parametrize("max_rate", [None, 1000])
def test_a_pool_whose_process_dies(script, small, max_rate):
    """Its rooms are failures that say so, those before them stand, and the call returns."""

    def dies(_):
        for pid in list(pool._processes):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return Reply(users(), delay=0.5)

    present = dict.fromkeys(rooms(15), ())
    script_of = building(present)
    usual = script_of[USERS]
    service = script(
        script_of | {USERS: lambda query: (dies if query["room_id"] == "r7" else usual)(query)}
    )
    with new_processes(1) as pool:
        sweep = ck.sweep(service.client(), rooms(15), executor=pool, max_rate=max_rate)
    frame = lost(sweep, 10)
    assert "BrokenProcessPool" in frame.error[7]
    assert list(frame.users[:5]) == [0] * 5


class Login:
    """A login that cannot travel."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, request):
        return request


@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_a_client_that_cannot_travel(script, request, kind, small):
    """A part that cannot be packed for a worker is lost, and the error says what was in the way."""
    executor = request.getfixturevalue("cluster" if kind == "dask" else kind)
    executor = executor.get_executor() if kind == "dask" else executor
    service = script(building(dict.fromkeys(rooms(7), ())))
    client = service.client()
    client.session.auth = Login()
    frame = lost(ck.sweep(client, rooms(7), executor=executor), 7)
    assert "pickle" in frame.error[0] or "serialize" in frame.error[0]
    assert not any(secret in frame.error[0] for secret in (*SECRETS, str(client.token())))
    assert service.seen[USERS] == 0


def test_what_a_worker_tells_is_masked(script):
    """The key and the token in the words of an executor are hidden, as in a worker's traceback."""
    client = script(building({"a": ()})).client()
    text = f"key demo_secret, http://h/x?accessToken={client.token()}\nmore"

    class Telling(Executor):
        def submit(self, *_, **__):
            raise RuntimeError(text)

    error = lost(ck.sweep(client, ["a"], executor=Telling()), 1).error[0]
    assert "RuntimeError: key ***" in error
    assert not any(secret in error for secret in ("demo_secret", str(client.token())))


def test_no_secret_in_the_logs_of_workers(script, cluster):
    """Dask logs a task that fails, older versions with all that it was given."""
    service = script(building({"a": ()}))
    client = service.client()
    with pytest.raises(ck.ConfigError):
        ck.sweep(client, ["a"], executor=cluster.get_executor(), concurrency=0)
    told = repr([cluster.get_worker_logs(), cluster.get_scheduler_logs()])
    assert "Compute Failed" in told
    [given] = spied(client)
    there = pickle.loads(pickle.dumps(given))
    assert there.args[1].token() == client.token()
    for text in (told, repr(given), repr(there), repr(there.args)):
        assert not any(secret in text for secret in ("demo_secret", str(client.token())))


def spied(client):
    """What an executor is given for one room."""
    given = []

    class Spy(Executor):
        def submit(self, work):
            given.append(work)
            return super().submit(work)

    ck.sweep(client, ["a"], executor=Spy())
    return given


# Rate and end


def test_the_rate_holds_over_all_parts(script, small, threads):
    """Between the last request of one part and the first of the next the gap is kept, too."""
    service = script(building(dict.fromkeys(rooms(16), ())))
    client = service.client()
    sweep = ck.sweep(client, rooms(16), executor=threads, rooms=False, max_rate=8)
    assert sweep.frame().error.isna().all()
    sent = sorted(call.time for call in client.calls)[1:]  # without the authentication
    assert len(sent) == 17
    seconds = [
        (later - first).total_seconds() for first, later in zip(sent, sent[8:], strict=False)
    ]
    assert min(seconds) > 0.96


def test_the_rate_of_the_client_holds_in_all_processes(script, small, processes):
    """Two of them together keep to what the client was connected with."""
    service = script(building(dict.fromkeys(rooms(30), ())))
    client = service.client(max_rate=20)
    sweep = ck.sweep(client, rooms(30), executor=processes, rooms=False)
    assert sweep.frame().error.isna().all()
    assert sweep.seconds > 31 / 20 * 0.95


@contextmanager
def held(script):
    """A service that answers for no room from r10 on until the end."""
    gate = threading.Event()
    script_of = building(dict.fromkeys(rooms(40), ()))
    usual = script_of[USERS]

    def late(query):
        if int(query["room_id"][1:]) >= 10:
            gate.wait(20)
        return usual(query)

    try:
        yield script(script_of | {USERS: late})
    finally:
        gate.set()


def test_the_end_comes_soon(script, executor, small):
    """When it is cancelled the parts that were read stand, the others were not asked, and nobody
    waits for a worker."""
    ended = threading.Event()
    with held(script) as service:
        began = time.monotonic()
        sweep = ck.sweep(
            service.client(),
            rooms(40),
            executor=executor,
            cancelled=ended,
            progress=lambda done, _: ended.set() if done == 21 else None,
        )
        took = time.monotonic() - began
    assert took < 12
    frame = sweep.frame()
    assert not sweep.complete
    assert list(frame.users[:10]) == [0] * 10
    assert frame.users[10:].isna().all()
    assert sweep.failures == ()
    assert set(frame.error[10:]) == {"not asked: the sweep was ended before"}


def test_workers_that_go_down_with_the_end_are_no_failure(script, small):
    """Ctrl-C in a terminal ends a pool's processes too: their rooms were not asked, and are not
    called lost."""
    ended, service = threading.Event(), script(building(dict.fromkeys(rooms(7), ())))

    class Dying(Executor):
        def submit(self, work):
            future = Future()
            future.set_running_or_notify_cancel()
            threading.Timer(0.3, lambda: (ended.set(), future.set_exception(OSError()))).start()
            return future

    sweep = ck.sweep(service.client(), rooms(7), executor=Dying(), cancelled=ended)
    assert not sweep.complete
    assert sweep.failures == ()
    assert set(sweep.frame().error) == {"not asked: the sweep was ended before"}


def test_threads_give_what_came_of_their_part(script, small, threads):
    """They are told of the end: what they have read of an unfinished part is kept."""
    ended = threading.Event()
    script_of = building(dict.fromkeys(rooms(5), "x"))
    usual, gate = script_of[USERS], threading.Event()

    def late(query):
        if query["room_id"] == "r4":
            threading.Timer(2.0, ended.set).start()
            gate.wait(20)
        return usual(query)

    service = script(script_of | {USERS: late})
    sweep = ck.sweep(service.client(), rooms(5), executor=threads, cancelled=ended)
    gate.set()
    frame = sweep.frame()
    assert not sweep.complete
    assert list(frame.users[:4]) == [1] * 4
    assert pd.isna(frame.users[4])
