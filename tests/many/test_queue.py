"""The course of many requests: one token, a rate, who does not answer, an end at any moment."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import pytest

import confkit as ck
from tests.commands import interrupted
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply
from tests.ways import ROOM, by, connected, raw, rooms

FRESH = {**GRANTED, "key": "pair"}


def own(query):
    """The room that was asked for."""
    return {"ret": 0, "room_id": query["room_id"]}


def ids(found):
    return [outcome["room_id"] for outcome in found]


# The token


def test_a_token_that_expires_in_the_middle_is_renewed_once(script, way):
    """Everybody who meets 602 waits for one A1 and is asked again with its token, once."""
    service = script({AUTHENTICATE: [GRANTED, FRESH]})
    client = by(service.client(), way)
    old = client.token()

    def room(query):
        expired = query["access_token"] == old and service.seen[GET_ROOM] > 100
        return Reply({"ret": 602} if expired else own(query), delay=0.01)

    service.script[GET_ROOM] = room
    found = client.send_many(rooms(*range(300)))
    assert ids(found) == [str(n) for n in range(300)]
    assert service.seen[AUTHENTICATE] == 2
    assert found.complete
    assert found.sent == service.seen[GET_ROOM] <= 300 + 32


def test_keys_that_are_refused_in_the_middle_end_it(script, way):
    """One A1 is refused: what is left fails with that, slow answers included; no second A1."""
    service = script({AUTHENTICATE: [GRANTED, {"ret": 401}]})

    def room(query):
        n = int(query["room_id"])
        return own(query) if n < 50 else Reply({"ret": 602}, delay=0.3 * (n % 2))

    service.script[GET_ROOM] = room
    found = by(service.client(), way).send_many(rooms(*range(200)))
    assert ids(found[:50]) == [str(n) for n in range(50)]
    facts = {(type(one), one.__traceback__, one.__context__) for one in found[50:]}
    assert facts == {(ck.AuthenticationFailed, None, None)}
    assert len({id(outcome) for outcome in found[50:]}) == 150
    assert service.seen[AUTHENTICATE] == 2
    assert service.seen[GET_ROOM] < 50 + 40
    assert found.complete


def test_a_token_that_stays_refused_is_that_rooms_failure(script, way):
    """602 for one room fails that one alone; where every fresh token is refused, that is no answer,
    and few authentications are spent on it."""
    bad = {"7"}
    service = script(
        {GET_ROOM: lambda query: {"ret": 602} if query["room_id"] in bad else own(query)}
    )
    client = by(service.client(), way)
    found = client.send_many(rooms(*range(40)))
    assert type(found.pop(7)) is ck.TokenRejected
    assert [outcome["ret"] for outcome in found] == [0] * 39
    assert service.seen[AUTHENTICATE] == 2
    bad.update(map(str, range(1000)))
    found = client.send_many(rooms(*range(1000)))
    assert not found.complete
    assert {type(outcome) for outcome in found} == {ck.TokenRejected, type(None)}
    assert service.seen[AUTHENTICATE] <= 10
    assert service.seen[GET_ROOM] < 250


# When the next may leave


def test_a_call_takes_as_long_as_its_rate_asks(script, way):
    """The rate holds where requests really leave, and the A1 of a renewal counts as one."""
    service = script({AUTHENTICATE: [GRANTED, FRESH]})
    client = by(service.client(sleep=time.sleep), way)
    old = client.token()
    service.script[GET_ROOM] = lambda query: (
        {"ret": 602} if query["access_token"] == old and service.seen[GET_ROOM] > 2 else own(query)
    )
    service.times.clear()
    began = time.monotonic()
    found = client.send_many(rooms(1, 2, 3, 4), max_rate=8)
    took = time.monotonic() - began
    assert ids(found) == list("1234")
    assert service.seen[AUTHENTICATE] == 2
    assert len(service.times) >= 6
    assert took >= (len(service.times) - 1) / 8


def test_many_reads_wait_as_long_as_the_service_asks(script, way):
    """A room whose service is busy is asked again no sooner than Retry-After says."""
    busy = Reply("busy", status=429, headers={"Retry-After": "1"})
    service = script({GET_ROOM: [busy, ROOM]})
    assert connected(service, way).send_many(rooms(1)) == [ROOM]
    first, second = service.times
    assert second - first >= 1


# Who does not answer


def swept(client, count, **options):
    """A sweep of so many rooms for their fields alone, and how many of them were read."""
    sweep = ck.sweep(client, [str(n) for n in range(count)], users=False, **options)
    return sweep, len(sweep.rooms)


def not_asked(sweep):
    """How many rooms say in the frame that they were not asked."""
    return int(sweep.frame().error.str.startswith("not asked").sum())


def test_a_few_slow_rooms_cost_only_themselves(client, way):
    """Eight calls that are late are made again: all 200 rooms are read, by a complete sweep."""
    ids = [ck.create_room(client, f"R{n}", owner_id="ops") for n in range(200)]
    slow = by(client.sandbox.connect(timeout=(1, 0.5)), way)
    client.sandbox.fault("/rtc/room/get", delay=2, times=8)
    sweep = ck.sweep(slow, ids, users=False)
    assert (len(sweep.rooms), sweep.failures, sweep.complete) == (200, (), True)
    assert sweep.requests >= 208


def test_rooms_that_hang_in_the_middle_are_the_only_failures(script, way):
    """More than there are under way at once, in a row: each is tried three times, all others are
    read."""
    hung = {str(n) for n in range(100, 120)}
    service = script()
    service.script[GET_ROOM] = lambda query: Reply(
        own(query), delay=1 if query["room_id"] in hung else 0
    )
    client = connected(service, way, timeout=(1, 0.5))
    sweep, read = swept(client, 300, concurrency=16)
    assert (read, sweep.complete) == (280, True)
    assert {failure.room_id for failure in sweep.failures} == hung


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply("", delay=2), ck.TransportTimeout),
        (Reply(drop=True), ck.TransportError),
        (Reply("<html>Bad gateway", status=502), ck.ProtocolError),
    ],
    ids=["late", "closed", "502"],
)
def test_a_service_that_went_away_ends_a_sweep(script, way, reply, error):
    """Those that were asked have their own errors, the others say that nobody asked them; neither
    is a room with zero users."""
    service = script()
    service.script[GET_ROOM] = lambda query: reply if service.seen[GET_ROOM] > 40 else own(query)
    client = connected(service, way, timeout=(5, 1))
    sweep, read = swept(client, 500, concurrency=8)
    assert 30 < read <= 40
    assert not sweep.complete
    assert {type(failure.error) for failure in sweep.failures} <= {error}
    assert sweep.requests < 40 + 3 * 16
    assert not_asked(sweep) == 500 - read - len(sweep.failures) > 400
    assert sweep.frame().users.isna().all()


def test_interface_b_does_not_stand_in_for_a(client, sandbox):
    """Where it answers and no room can be read, a sweep ends as well."""
    ids = [ck.create_room(client, f"R{n}", owner_id="ops") for n in range(200)]
    for path in ("/rtc/room/get", "/rtc/room/get_room_info"):
        sandbox.fault(path, drop=True)
    sweep = ck.sweep(client, ids)
    assert (sweep.complete, sweep.rooms, sweep.users) == (False, [], {})
    assert not_asked(sweep) > 100


@pytest.mark.parametrize(
    "reply", [{"ret": 404}, {"ret": 410}, Reply({"ret": 700}, status=503)], ids=str
)
def test_a_result_code_is_an_answer(script, way, reply):
    """However many rooms get one, all are asked."""
    sweep, read = swept(connected(script({GET_ROOM: reply}), way), 200)
    assert (read, len(sweep.failures), sweep.complete) == (0, 200, True)


@pytest.mark.parametrize("lost", ["nothing", "its tokens"])
def test_a_service_that_restarts_costs_few_rooms(script, way, lost):
    """It answers again within a second, without the tokens that it knew: the sweep goes on."""
    service = script({AUTHENTICATE: [GRANTED, FRESH]})
    client = by(service.client(), way)
    old, away = client.token(), []

    def room(query):
        if service.seen[GET_ROOM] > 40:
            away.append(time.monotonic())
            if away[-1] < away[0] + 0.9:
                return Reply(drop=True)
            if lost == "its tokens" and query["access_token"] == old:
                return {"ret": 602}
        return own(query)

    service.script[GET_ROOM] = room
    sweep, read = swept(client, 300)
    assert sweep.complete
    assert read == 300 - len(sweep.failures) > 300 - 50
    assert service.seen[AUTHENTICATE] == (1 if lost == "nothing" else 2)


def test_failures_with_an_answer_between_do_not_end_it(script, way):
    """A service that answers every seventh request is asked for all rooms, three times each."""
    replies = cycle([*[Reply(drop=True)] * 6, ROOM])
    service = script({GET_ROOM: lambda _: next(replies)})
    found = connected(service, way).send_many(rooms(*[1] * 100))
    assert (len(found), found.complete) == (100, True)
    assert found.sent > 200


# A1


@pytest.mark.parametrize("call", ["get_room", "sweep", "threads", "executor"])
@pytest.mark.parametrize(
    "answer",
    [{"ret": 602}, {"ret": 401}, {"ret": 0}, {"ret": 0, "random": "", "key": ""}, Reply("[]")],
    ids=str,
)
def test_whatever_a1_answers_an_error_comes(script, call, answer):
    """602 too, which says of any other call that its token has expired: nobody waits for ever."""
    client = script({AUTHENTICATE: answer}).client()
    with ThreadPoolExecutor(4) as pool:
        calls = {
            "get_room": lambda: ck.get_room(client, "1"),
            "sweep": lambda: ck.sweep(client, ["1", "2"]),
            "threads": lambda: list(pool.map(lambda n: ck.get_room(client, n), "1234")),
            "executor": lambda: ck.sweep(client, ["1", "2"], executor=pool),
        }
        with ThreadPoolExecutor(1) as caller:
            failure = caller.submit(calls[call]).exception(timeout=20)
    assert isinstance(failure, ck.ConfkitError)
    assert "A1" in str(failure)


# The end


PRESSED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
import confkit as ck
from tests.ways import client_of
address, way, hung = sys.argv[1:]
client = client_of(address, way, timeout=60)
if hung == "A1":
    client._token.held = None
with ThreadPoolExecutor(2) if hung == "a part" else nullcontext() as executor:
    ck.sweep(client, [str(n) for n in range(200)], executor=executor)
"""


@pytest.mark.parametrize("hung", ["A1", "A3", "a part", "nothing"])
def test_ctrl_c_reaches_the_caller(script, way, hung):
    """As a KeyboardInterrupt, long before anything that hangs would end."""
    over, asked = threading.Event(), threading.Event()

    def hangs(_):
        asked.set()
        over.wait(60)
        return {"ret": 404}

    def slow(query):
        asked.set()
        return Reply(own(query), delay=0.3)

    answers = {"A1": {AUTHENTICATE: hangs}, "nothing": {GET_ROOM: slow}}
    service = script(answers.get(hung, {GET_ROOM: hangs}))
    began = time.monotonic()
    done = interrupted(PRESSED, service.base_url, way, hung, begun=asked.is_set)
    over.set()
    assert "KeyboardInterrupt" in done.stderr
    assert time.monotonic() - began < 20  # of the 60 for which it hangs


def test_somebody_elses_handler_of_ctrl_c_is_left_alone(script):
    """Where SIGINT has a handler that is not Python's own, it is called and stays."""
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        client = connected(script({GET_ROOM: ROOM}), "libcurl")
        found = client.send_many(rooms(1, 2), step=lambda: signal.raise_signal(signal.SIGINT))
        assert (len(calls), found.complete) == (2, True)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_event_ends_it_from_another_thread(script, way):
    """`cancelled` set before asks nothing, set in the middle ends it, also off the main thread."""
    client = connected(script({GET_ROOM: ROOM}), way)
    cancelled = threading.Event()
    options = {"cancelled": cancelled, "step": cancelled.set}
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(client.send_many, rooms(*range(5000)), **options).result()
    assert not found.complete
    assert 0 < found.count(ROOM) == 5000 - found.count(None) < 5000
    found = client.send_many(rooms(1, 2), cancelled=cancelled)
    assert (found, found.complete, found.sent) == ([None, None], False, 0)


# Processes, threads, files


@pytest.mark.nightly  # how fast the machine is counts
def test_connections_that_the_service_closes_cost_nothing(script):
    """While one answer is awaited, idle connections that were closed keep nobody busy."""
    body = json.dumps(ROOM).encode()
    closed = raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body, wait=0.1)
    late = Reply(ROOM, delay=1.5)
    service = script({GET_ROOM: lambda query: late if query["room_id"] == "0" else closed})
    client = connected(service, "libcurl")
    began = time.process_time()
    assert client.send_many(rooms(*range(8))) == [ROOM] * 8
    assert time.process_time() - began < 1  # of 1.5 s


PROCESS = """
import os, sys, threading, time
from tests.ways import client_of, rooms
files = lambda: len(os.listdir("/proc/self/fd"))
ended = threading.Event(); ended.set()
client = client_of(*sys.argv[1:])
client.send_many(rooms(*range(20)), concurrency=4)
time.sleep(0.5)
before = files()
for n in range(40):
    client.send_many(rooms(*range(5)), concurrency=4, cancelled=ended if n % 5 == 4 else None)
for _ in range(100):
    if files() <= before + 4 and threading.active_count() == 1: break
    time.sleep(0.05)
assert (files() <= before + 4, threading.active_count()) == (True, 1)
if sys.argv[2] == "libcurl":
    child = os.fork()
    ids = [f"{'child' if child == 0 else 'parent'}-{n}" for n in range(100)]
    right = [one["room_id"] for one in client.send_many(rooms(*ids))] == ids
    if child == 0:
        os._exit(0 if right else 1)
    assert (right, os.waitpid(child, 0)[1]) == (True, 0)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")  # noqa: PTH112
def test_nothing_is_left_open_and_a_forked_process_asks_by_itself(script, way):
    """After forty calls there are as many files and threads as after the first, but for the
    connections that the session keeps. Parent and child of a fork that ask at the same moment each
    get their own rooms."""
    command = [sys.executable, "-c", PROCESS, script({GET_ROOM: own}).base_url, way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
