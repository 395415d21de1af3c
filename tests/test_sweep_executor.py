"""A sweep on an executor: the same result, and what a worker loses is a failure with its reason."""

import logging
import multiprocessing
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor

import distributed
import pandas as pd
import pytest

import confkit as ck
from tests.building import building
from tests.scripted import A1, A6, GRANTED


@pytest.fixture(scope="module")
def processes():
    # Forked, they would take along the locks of this process's threads.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def dask():
    """The executor of a real cluster, in another process of this machine."""
    options = {"n_workers": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.Client(**options) as client:
        yield client.get_executor()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Parts of five rooms, so that a few rooms make several."""
    monkeypatch.setattr(sys.modules["confkit.sweep"], "PART", 5)


def rooms(count):
    return [f"r{number}" for number in range(count)]


@pytest.mark.parametrize("kind", ["processes", pytest.param("dask", marks=pytest.mark.nightly)])
def test_the_result_is_the_same_though_the_token_expires(script, request, kind):
    """Each part renews the token at most once."""
    service = script(building(dict.fromkeys(rooms(30), ("x", "cam")), [("r7", "cam")]))
    service.script[A1] = [GRANTED, {**GRANTED, "key": "another"}]
    client, ids, steps = service.client(), [*rooms(20), "nowhere", *rooms(30)], []
    here = ck.sweep(client, ids)
    usual, first = service.script[A6], client.token()

    def expiring(query):
        expired = query["access_token"] == first and service.seen[A6] > 30 + 15
        return {"ret": 602} if expired else usual(query)

    service.script[A6] = expiring
    executor = request.getfixturevalue(kind)
    there = ck.sweep(client, ids, executor=executor, progress=lambda *step: steps.append(step))
    pd.testing.assert_frame_equal(there.frame(), here.frame(), check_flags=False)
    assert (there.rooms, there.users, there.complete) == (here.rooms, here.users, True)
    assert 2 <= service.seen[A1] <= 1 + 7
    assert steps == [(done, 31) for done in range(1, 32)]
    # A rate holds in one process: nothing is submitted then, which this executor would refuse.
    assert ck.sweep(client, rooms(3), executor=Executor(), max_rate=500).failures == ()


def test_a_part_that_is_lost_is_a_failure_of_each_of_its_rooms(script, processes):
    """What cannot be pickled for a worker, or fails in it; the reason shows no secret."""
    service = script(building(dict.fromkeys(rooms(7), ())))
    client = service.client()
    token = client.token().reveal()
    executor, broken = Executor(), Future()
    broken.set_exception(RuntimeError(f"key demo_secret, http://h/x?accessToken={token}\nmore"))
    executor.submit = lambda *_: broken
    sweep = ck.sweep(client, rooms(5), executor=executor)
    client.session.auth = lambda request: request
    unsent = ck.sweep(client, rooms(5), executor=processes)
    for lost, reason in ((sweep, "RuntimeError: key ***"), (unsent, "pickle")):
        frame = lost.frame()
        assert frame[["users", "ret"]].isna().all(axis=None)
        assert frame.error.str.contains("executor lost").all()
        assert reason in frame.error[0]
        assert not any(secret in frame.error[0] for secret in ("demo_secret", token))
    assert service.seen[A6] == 0
