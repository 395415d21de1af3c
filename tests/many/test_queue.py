"""The course of many requests: one token, a rate, politeness, an end at any moment."""

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
from confkit.many.queue import Queue
from confkit.transport import no_answer
from confkit.wire import Answer
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply
from tests.ways import ROOM, TOKEN, by, connected, raw, rooms

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
    """602 for one room fails that one alone; where every fresh token is refused, the rest fails
    after eight failures in a row, each of which has cost at most one authentication."""
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
    assert {type(outcome) for outcome in found} == {ck.TokenRejected}
    assert service.seen[AUTHENTICATE] <= 10
    assert service.seen[GET_ROOM] < 150


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


class Wire:
    """A queue on a clock that stands still, whose requests a test answers itself."""

    def __init__(self, client, count):
        self.now = 1000.0
        context = client._context()._replace(clock=lambda: self.now, chance=lambda: 0.5)
        self.queue = Queue(rooms(*range(count)), context, TOKEN, 32, None, int, None)

    def take(self):
        """All that may leave now."""
        return list(iter(self.queue.take, None))

    def put(self, flight, what=None):
        """Answers a request so, or well."""
        self.queue.put(flight, what or answer(own(flight.request.parameters)))

    def round(self, what=None, after=0.01, of=32):
        """How many leave; the first of them are answered so after these seconds, others well."""
        self.now += 0.001
        flights = self.take()
        self.now += after
        for place, flight in enumerate(flights):
            self.put(flight, what if place < of else None)
        return len(flights)

    def end(self, what):
        """Answers in rounds until each request has its outcome; gives the failures, and how many
        were under way at most in the last rounds."""
        counts = []
        while self.queue.left:
            counts.append(self.round(what(), after=0.001))
            if not counts[-1]:
                self.now += self.queue.wait
        return [one for one in self.queue.results if isinstance(one, Exception)], max(counts[-9:])


def answer(body, status=200):
    return Answer(status, "", json.dumps(body).encode())


LATE = no_answer("unanswered", "http://h", (1, 1), ())
DROPPED = no_answer("closed", "http://h", (1, 1), ())
BUSY, AWAY = answer({"ret": 410}), answer({"ret": 700}, 503)
STRAIN = [BUSY, AWAY, answer({"ret": 503}), *(answer({"ret": 404}, n) for n in (504, 429)), LATE]
NO_STRAIN = [answer({"ret": 404}), answer({"ret": 700})]


@pytest.fixture
def wire():
    """Starts a queue: wire(count)."""
    with ck.Client("http://h", "http://h", "a", "s") as client:
        yield lambda count=2000: Wire(client, count)


QUICK = (None, 0.01)
HALVED = [8, 16, 32, 32, 17, 10, 11, 12]


@pytest.mark.parametrize(
    ("rounds", "counts"),
    [
        # Each quick answer lets one more leave.
        ([QUICK] * 4, [8, 16, 32, 32]),
        # One that takes more than three times the quickest, and a tenth of a second, adds none.
        ([(None, after) for after in (0.05, 0.2, 0.2, 0.14, 0.01)], [8, 16, 16, 16, 32]),
        # Strain halves it once for all that was under way, then each round adds one.
        *(([*[QUICK] * 3, (one, 0.01, 5), (one, 0.01, 1), *[QUICK] * 3], HALVED) for one in STRAIN),
        # A room that is not there, or another code, is no strain.
        *(([QUICK, QUICK, (one, 0.01), QUICK], [8, 16, 32, 32]) for one in NO_STRAIN),
    ],
)
def test_as_many_are_under_way_as_the_service_can_take(wire, rounds, counts):
    """Round by round, by what the answers of the one before were and how long they took."""
    begun = wire()
    assert [begun.round(*each) for each in rounds] == counts


def test_a_failure_is_tried_again_after_the_pauses_of_send(wire):
    """A drop is tried 0.2 s later, then 0.4 s later, and then it is the outcome."""
    begun, pauses = wire(1), []
    while begun.queue.left:
        if not begun.round(DROPPED, after=0.0):
            pauses.append(begun.queue.wait)
            begun.now += begun.queue.wait
    assert pauses == pytest.approx([0.2, 0.4], abs=0.002)
    assert begun.queue.results == [DROPPED]
    assert begun.queue.results.sent == 3


@pytest.mark.parametrize(
    ("failure", "seconds", "most"), [(BUSY, 2, 20), (AWAY, 2, 20), (DROPPED, 8, 32 + 16)]
)
def test_a_service_that_comes_back_costs_few_rooms(wire, failure, seconds, most):
    """Overloaded for two seconds, or away for eight as while it restarts, it is left in peace: one
    request at a time finds out whether it is over, and then all that is left is asked."""
    begun = wire()
    back = begun.now + seconds
    failures, under_way = begun.end(lambda: failure if begun.now < back else None)
    assert len(failures) <= most
    assert under_way > 8


@pytest.mark.parametrize("failure", [DROPPED, Answer(502, "", b"<html>Bad gateway")])
def test_a_service_that_is_gone_for_ten_seconds_is_given_up(wire, failure):
    """When many in a row fail, one fresh request at a time finds out whether the service is back;
    after ten seconds without a sign of life the rest fails with the last one's error."""
    begun = wire()
    assert [begun.round(), begun.round()] == [8, 16]
    asked, when = begun.queue.results.sent, begun.now
    failures, _ = begun.end(lambda: failure)
    assert 10 <= begun.now - when < 12
    assert begun.queue.results.sent - asked <= 3 * 32 + 3 * 20
    assert len(failures) == 2000 - 8 - 16
    assert len({str(one) for one in failures}) == 1


def test_time_outs_in_a_row_end_it_without_another_try(wire):
    """Who has let eight wait in vain is not waited for again."""
    for count, ends in ((7, False), (8, True)):
        begun = wire()
        begun.round(LATE, of=count)
        assert (begun.queue.left == 0) is ends


def test_failures_with_a_success_between_do_not_end_it(wire):
    """A service that answers every seventh request is asked for all of them."""
    begun, answers = wire(400), cycle([DROPPED] * 6 + [None])
    while begun.queue.left:
        for flight in begun.take():
            begun.now += 0.001
            begun.put(flight, next(answers))
        begun.now += 0.1
    assert begun.queue.results.sent > 700


# The end


@pytest.mark.parametrize("path", [AUTHENTICATE, GET_ROOM])
def test_ctrl_c_gives_what_came(script, way, path):
    """Neither an A1 that hangs nor a room's answer holds it up; what was not asked is None."""
    over = threading.Event()

    def hangs(query):
        if query.get("room_id") == "0":
            return own(query)
        while path == GET_ROOM and len(client.calls) < 2:  # until A1 and the other room have come
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        return over.wait(60) and GRANTED

    service = script({path: hangs})
    client = by(service.client(timeout=90), way)
    found = client.send_many(rooms(0, 1))
    if path == GET_ROOM:
        assert found == [own({"room_id": "0"}), None]
    else:
        assert (found, found.sent) == ([None, None], 0)
    over.set()
    assert not found.complete
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


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
