"""The course of many requests: one token, a rate, politeness, an end at any moment."""

import io
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import pytest

import confkit as ck
from confkit.client import Pace
from confkit.many.politeness import SILENT, START
from confkit.many.queue import Queue
from confkit.transport import no_answer
from confkit.wire import Answer
from tests.scripted import (
    AUTHENTICATE,
    GET_ROOM,
    GRANTED,
    VECTOR_TOKEN,
    Reply,
    interrupted,
)
from tests.ways import ROOM, TOKEN, by, connected, rooms

FRESH = {"ret": 0, "random": "new", "key": "pair"}


def own(query):
    """The room that was asked for."""
    return {"ret": 0, "room_id": query["room_id"]}


def asked_of(service):
    """The rooms that a service was asked for, in order."""
    return [query["room_id"] for _, path, query in service.requests if GET_ROOM in path]


# The token


def test_a_token_that_expires_in_the_middle_is_renewed_once(script, way):
    """Everybody who meets 602 waits for one A1 and is asked again with its token, once."""
    service = script({AUTHENTICATE: [GRANTED, FRESH]})
    client = by(service.client(), way)
    old = client.token()

    def room(query):
        seen = service.seen[GET_ROOM]
        expired = query["access_token"] == old and seen > 100
        return Reply({"ret": 602} if expired else own(query), delay=0.01)

    service.script[GET_ROOM] = room
    found = client.send_many(rooms(*range(300)))
    assert [outcome["room_id"] for outcome in found] == [str(n) for n in range(300)]
    assert service.seen[AUTHENTICATE] == 2
    assert found.complete
    assert found.sent == service.seen[GET_ROOM] <= 300 + 32
    asked = asked_of(service)
    assert max(asked.count(room_id) for room_id in set(asked)) <= 2


def test_keys_that_are_refused_in_the_middle_end_it(script, way):
    """One A1 is refused: what is left fails with that, slow answers included; no second A1."""
    service = script({AUTHENTICATE: [GRANTED, {"ret": 401}]})

    def room(query):
        n = int(query["room_id"])
        return own(query) if n < 50 else Reply({"ret": 602}, delay=0.3 * (n % 2))

    service.script[GET_ROOM] = room
    found = by(service.client(), way).send_many(rooms(*range(500)))
    assert [outcome["room_id"] for outcome in found[:50]] == [str(n) for n in range(50)]
    assert {type(outcome) for outcome in found[50:]} == {ck.AuthenticationFailed}
    assert len({id(outcome) for outcome in found[50:]}) == 450
    assert service.seen[AUTHENTICATE] == 2
    assert service.seen[GET_ROOM] < 50 + 40
    assert found.complete


def test_a_service_that_takes_no_token_is_not_asked_for_ever(script, way):
    """Where every fresh token is refused too, the rest fails after eight failures in a row, each of
    which has cost at most one authentication."""
    service = script({GET_ROOM: {"ret": 602}})
    found = by(service.client(), way).send_many(rooms(*range(1000)))
    assert {type(outcome) for outcome in found} == {ck.TokenRejected}
    assert service.seen[AUTHENTICATE] <= 9
    assert service.seen[GET_ROOM] < 100


def test_a_room_whose_token_stays_refused_fails_alone(script, way):
    """602 for one room is that room's failure; the others are read."""
    script_of = {GET_ROOM: lambda query: {"ret": 602} if query["room_id"] == "7" else own(query)}
    service = script(script_of)
    found = by(service.client(), way).send_many(rooms(*range(40)))
    assert type(found.pop(7)) is ck.TokenRejected
    assert len([outcome for outcome in found if outcome["ret"] == 0]) == 39
    assert service.seen[AUTHENTICATE] == 2


# The rate


@pytest.mark.parametrize(("client_rate", "rate"), [(None, 25), (25, None), (25, 60), (60, 25)])
def test_max_rate_is_a_bound_over_any_second(wire, client_rate, rate):
    """However quick the answers are, no second holds more than the lower of the two rates, and a
    long call holds that many."""
    begun = wire(200, 32, rate, client_rate)
    left = []
    while begun.queue.left:
        if (flight := begun.queue.take()) is None:
            begun.now += begun.queue.wait
        else:
            left.append(begun.now)
            begun.put([flight], after=0.001)
    most = max(sum(0 <= time - start < 1 for time in left) for start in left)
    assert most == 25
    assert left[-1] - left[0] == pytest.approx(199 * 1.02 / 25, rel=0.02)


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
    assert [outcome["ret"] for outcome in found] == [0] * 4
    assert service.seen[AUTHENTICATE] == 2
    assert len(service.times) >= 6
    assert took >= (len(service.times) - 1) / 8


# Retry-After


@pytest.mark.parametrize("status", [429, 503])
def test_many_reads_wait_as_long_as_the_service_asks(script, way, status):
    """A room whose service is busy is asked again no sooner than Retry-After says."""
    busy = Reply("busy", status=status, headers={"Retry-After": "1"})
    service = script({GET_ROOM: [busy, {"ret": 0, "room_id": "1"}]})
    [found] = connected(service, way).send_many(rooms(1))
    assert found["room_id"] == "1"
    first, second = service.times
    assert second - first >= 1


# How many at once


class Wire:
    """A queue on a clock that stands still, whose requests a test answers itself."""

    def __init__(self, client, count, concurrency=32, rate=None, client_rate=None):
        self.now = 1000.0
        pace, own_pace = (
            None if one is None else Pace(one, lambda: self.now, lambda _: None)
            for one in (rate, client_rate)
        )
        context = client._context()._replace(
            clock=lambda: self.now, chance=lambda: 0.5, pace=own_pace
        )
        self.queue = Queue(rooms(*range(count)), context, TOKEN, concurrency, pace, int, None)

    def take(self):
        """All that may leave now."""
        return list(iter(self.queue.take, None))

    def put(self, flights, what=None, after=0.01):
        """An answer to each of these, after so many seconds."""
        self.now += after
        for flight in flights:
            body = json.dumps({"ret": 0, "room_id": flight.request.parameters["room_id"]})
            self.queue.put(flight, what or Answer(200, "", body.encode()))

    def round(self, what=None, after=0.01):
        """How many were under way in one round, all answered alike."""
        flights = self.take()
        self.put(flights, what, after)
        return len(flights)


def answer(body, status=200):
    return Answer(status, "", json.dumps(body).encode())


LATE = no_answer("unanswered", "http://h", (1, 1), ())
DROPPED = no_answer("closed", "http://h", (1, 1), ())
STRAIN = {
    "ret 503": answer({"ret": 503}),
    "ret 504": answer({"ret": 504}),
    "ret 410": answer({"ret": 410}),
    "HTTP 503": answer({"ret": 700}, 503),
    "HTTP 504": Answer(504, "", b"<html>"),
    "HTTP 410": answer({"ret": 404}, 410),
    "time-out": LATE,
    "dropped": DROPPED,
}


@pytest.fixture
def wire():
    """Starts a queue: wire(count, concurrency)."""
    with ck.Client("http://h", "http://h", "a", "s") as client:
        yield lambda *how: Wire(client, *how)


def climbed(wire, count=2000):
    """A queue with all 32 under way, and its flights."""
    begun = wire(count)
    while begun.queue.climb.limit < 32:
        begun.round()
    return begun, begun.take()


CLIMBS = {  # seconds until each round of answers, and how many are under way in it
    "quick answers": ([0.01] * 4, [START, 16, 32, 32]),
    "slow ones": ([0.05, 0.2, 0.2, 0.14, 0.01], [8, 16, 16, 16, 32]),
}


@pytest.mark.parametrize(("seconds", "counts"), CLIMBS.values(), ids=CLIMBS)
def test_each_quick_answer_lets_one_more_leave(wire, seconds, counts):
    """The number under way doubles with each round of quick answers; those that take more than
    three times the quickest, and a tenth of a second, add none."""
    begun = wire(500)
    assert [begun.round(after=after) for after in seconds] == counts


@pytest.mark.parametrize("strain", STRAIN)
def test_strain_halves_it_once_for_all_that_was_under_way(wire, strain):
    """Several 503, 504, 410 or time-outs of one round halve once; the next round halves again."""
    begun, flights = climbed(wire)
    assert len(flights) == 32
    begun.put(flights[:5], STRAIN[strain])
    assert begun.queue.climb.limit == 16
    begun.put(flights[5:])
    flights = begun.take()
    begun.put(flights[:1], STRAIN[strain])
    assert begun.queue.climb.limit < 9
    begun.put(flights[1:])
    counts = [begun.round() for _ in range(6)]  # from now on one more a round
    assert all(0 <= after - before <= 1 for before, after in pairwise(counts))
    assert counts[-1] > counts[0]


@pytest.mark.parametrize("outcome", [answer({"ret": 404}), answer({"ret": 700})])
def test_what_is_no_strain_does_not_slow_it(wire, outcome):
    """A room that is not there, or another code, leaves the number under way as it was."""
    begun, flights = climbed(wire)
    begun.put(flights, outcome)
    assert begun.queue.climb.limit == 32


def test_one_request_is_always_under_way(wire):
    """However much strain there is, one request at a time finds out whether it is over."""
    begun, counts = wire(100), []
    for _ in range(4):
        begun.now += 1
        counts.append(begun.round(STRAIN["ret 410"]))
    assert counts == [8, 1, 1, 1]


def test_a_failure_is_tried_again_after_the_pauses_of_send(wire):
    """A drop is tried 0.2 s later, then 0.4 s later, and then it is the outcome."""
    begun = wire(1)
    pauses = []
    while begun.queue.left:
        if flights := begun.take():
            begun.put(flights, DROPPED, after=0.0)
        else:
            pauses.append(begun.queue.wait)
            begun.now += begun.queue.wait
    assert pauses == pytest.approx([0.2, 0.4])
    assert begun.queue.results == [DROPPED]
    assert begun.queue.results.sent == 3


@pytest.mark.parametrize("strain", sorted(set(STRAIN) - {"time-out"}))  # which takes its time
def test_a_spell_of_strain_costs_few_rooms(wire, strain):
    """A service that is overloaded for two seconds, and says so at once, is left in peace."""
    begun = wire(2000)
    over = begun.now + 2
    while begun.queue.left:
        if not begun.round(STRAIN[strain] if begun.now < over else None, after=0.001):
            begun.now += begun.queue.wait
    failures = [outcome for outcome in begun.queue.results if isinstance(outcome, Exception)]
    assert len(failures) <= 20


@pytest.mark.parametrize("outcome", [DROPPED, Answer(502, "", b"<html>Bad gateway")])
def test_a_service_that_is_gone_for_ten_seconds_is_given_up(wire, outcome):
    """When many in a row fail, one fresh request at a time finds out whether the service is back;
    after ten seconds without a sign of life the rest fails with the last one's error."""
    begun, flights = climbed(wire)
    asked, when = begun.queue.results.sent, begun.now
    begun.put(flights, outcome)
    while begun.queue.left:
        if not begun.round(outcome):
            begun.now += begun.queue.wait
    assert 10 <= begun.now - when < 12
    assert begun.queue.results.sent - asked <= 2 * 32 + 3 * 20
    failures = [outcome for outcome in begun.queue.results if isinstance(outcome, Exception)]
    assert len(failures) > 1800
    assert len({str(failure) for failure in failures}) == 1


def test_an_outage_of_some_seconds_costs_few_rooms(wire):
    """A service that restarts within ten seconds is asked for all that is left, at full speed."""
    begun, flights = climbed(wire)
    begun.put(flights, DROPPED)
    back = begun.now + 8
    while begun.now < back:
        if not begun.round(DROPPED):
            begun.now += begun.queue.wait
    while begun.queue.left:
        if not begun.round():
            begun.now += begun.queue.wait
    failures = [outcome for outcome in begun.queue.results if isinstance(outcome, Exception)]
    assert len(failures) <= 32 + 16
    assert begun.queue.climb.limit > 8


def test_time_outs_in_a_row_end_it_without_another_try(wire):
    """Who has let so many wait in vain is not waited for again."""
    begun, flights = climbed(wire)
    begun.put(flights[: SILENT - 1], LATE)
    assert begun.queue.left > 1000
    begun.put(flights[SILENT - 1 :], LATE)
    assert begun.queue.left <= 32
    for _ in range(3):
        begun.now += 5
        begun.round(LATE)
    assert begun.queue.left == 0


def test_failures_with_a_success_between_do_not_end_it(wire):
    """A service that answers every eighth request is asked for all of them."""
    begun = wire(400)
    turns = 0
    while begun.queue.left:
        for flight in begun.take():
            turns += 1
            begun.put([flight], None if turns % 7 == 0 else DROPPED, after=0.001)
        begun.now += 0.1
    assert begun.queue.results.sent > 700


# The end


def test_ctrl_c_while_the_service_authenticates_ends_it_too(script, way):
    """An A1 that hangs does not hold Ctrl-C up; nothing came, and nothing was asked."""
    over = threading.Event()
    service = script({AUTHENTICATE: lambda _: over.wait(60) and GRANTED})
    client = by(service.client(timeout=90), way)
    with interrupted(service, AUTHENTICATE):
        found = client.send_many(rooms(1, 2))
    over.set()
    assert (found, found.complete, found.sent) == ([None, None], False, 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_somebody_elses_handler_of_ctrl_c_is_left_alone(script):
    """Where SIGINT has a handler that is not Python's own, it is called and stays."""
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        client = connected(script({GET_ROOM: Reply(ROOM, delay=0.05)}), "libcurl")
        found = client.send_many(rooms(1, 2), step=lambda: signal.raise_signal(signal.SIGINT))
        assert len(calls) == 2
        assert found.complete
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_event_ends_it_from_another_thread(script, way):
    """`cancelled` set before asks nothing, set in the middle ends it, also off the main thread."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.02)})
    client = connected(service, way)
    cancelled = threading.Event()
    cancelled.set()
    found = client.send_many(rooms(1, 2), cancelled=cancelled)
    assert (found, found.complete) == ([None, None], False)
    cancelled.clear()
    outcomes = []

    def call():
        outcomes.append(client.send_many(rooms(*range(5000)), cancelled=cancelled))

    thread = threading.Thread(target=call)
    thread.start()
    while service.seen[GET_ROOM] < 200 and thread.is_alive():  # more than are ever in flight
        time.sleep(0.01)
    cancelled.set()
    thread.join(60)
    (found,) = outcomes
    assert not found.complete
    assert {json.dumps(outcome) for outcome in found} == {json.dumps(ROOM), "null"}
    assert service.seen[GET_ROOM] < 5000


# The record, and what nobody may see


def test_the_last_calls_are_kept(script, way):
    """`client.calls` holds the last 200, those that failed too, in the order of their ends, which
    is that of their requests where one at a time is under way."""
    bad = {"210", "290", "299"}
    service = script({GET_ROOM: lambda q: {"ret": 404} if q["room_id"] in bad else own(q)})
    client = connected(service, way)
    client.send_many(rooms(*range(300)), concurrency=1)
    calls = [(call.endpoint, call.url.rpartition("room_id=")[2], call.ret) for call in client.calls]
    rets = [(str(n), 404 if str(n) in bad else 0) for n in range(100, 300)]
    assert calls == [("A3", *pair) for pair in rets]
    assert all(call.status == 200 and call.seconds >= 0 for call in client.calls)
    assert all("access_token=***" in call.url for call in client.calls)


SECRETS = ("demo_secret", VECTOR_TOKEN, VECTOR_TOKEN.replace("=", "%3D"), "hunter2")


def test_no_secret_shows_anywhere(script, caplog, way):
    """Neither token, key nor password stands in a log at DEBUG, an error, a record or a repr."""
    pages = [
        {**ROOM, "host_password": "hunter2"},
        {"ret": 700, "msg": f"bad token {VECTOR_TOKEN}"},
        Reply(f"<html>cannot GET /x?access_token={VECTOR_TOKEN}"),
        Reply(drop=True),
        Reply(f'{{"access_token": "{VECTOR_TOKEN}', length=999),
        {"ret": 602},
    ]
    service = script({GET_ROOM: lambda query: pages[int(query["room_id"]) % len(pages)]})
    with caplog.at_level(logging.DEBUG):
        client = by(service.client(chance=lambda: -0.45), way)
        found = client.send_many(rooms(*range(12)))
    shown = [repr(found), repr(client.calls), repr(client), caplog.text]
    for outcome in found:
        if isinstance(outcome, Exception):
            shown += [str(outcome), *traceback.format_exception(outcome)]
            assert outcome.__context__ is None
            assert outcome.__traceback__ is None
    shown += [call.answer + call.as_curl() + str(call.error) for call in client.calls]
    assert caplog.text.count("A3 GET") >= 12
    assert found[0]["host_password"] == "hunter2"
    for secret in SECRETS:
        assert not [text for text in shown if secret in text]


# Processes, threads, files


def test_threads_may_ask_at_the_same_time(script):
    """Several calls of send_many beside one another, from threads, each get their own answers."""
    client = connected(script({GET_ROOM: own}), "libcurl")
    found = {}

    def call(begin):
        found[begin] = client.send_many(rooms(*range(begin, begin + 100)))

    threads = [threading.Thread(target=call, args=(1000 * n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for begin, outcomes in found.items():
        assert [o["room_id"] for o in outcomes] == [str(begin + n) for n in range(100)]


def test_connections_that_the_service_closes_cost_nothing(script):
    """While one answer is awaited, idle connections that were closed keep nobody busy."""

    def closed_later(peer):
        body = json.dumps(ROOM).encode()
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        time.sleep(0.1)

    service = script(
        {
            GET_ROOM: lambda query: (
                Reply(ROOM, delay=1.5) if query["room_id"] == "0" else Reply(raw=closed_later)
            )
        }
    )
    client = connected(service, "libcurl")
    began = time.process_time()
    assert client.send_many(rooms(*range(8))) == [ROOM] * 8
    assert time.process_time() - began < 1  # of 1.5 s


LEFT = """
import os, sys, threading, time
import confkit as ck
from tests.ways import TOKEN, by, rooms
files = lambda: len(os.listdir("/proc/self/fd"))
ended = threading.Event(); ended.set()
client = by(ck.Client(sys.argv[2], sys.argv[2], "a", "s"), sys.argv[1])
client._token.held = TOKEN
client.send_many(rooms(*range(20)), concurrency=4)
time.sleep(0.5)
before = files()
for n in range(40):
    client.send_many(rooms(*range(5)), concurrency=4, cancelled=ended if n % 5 == 4 else None)
for _ in range(100):
    if files() <= before + 4 and threading.active_count() == 1: break
    time.sleep(0.05)
print(files() - before, threading.active_count())
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")  # noqa: PTH112
def test_nothing_is_left_open(script, way):
    """After forty calls there are as many files and threads as after the first, but for the
    connections that the session keeps."""
    command = [sys.executable, "-c", LEFT, way, script({GET_ROOM: ROOM}).base_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.stderr == ""
    files, threads = map(int, done.stdout.split())
    assert (files <= 4, threads) == (True, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_asks_by_itself(way):
    """Parent and child of a fork that ask at the same moment each get their own rooms."""
    code = """
import os, sys, warnings
warnings.simplefilter("ignore")
from tests.scripted import GET_ROOM, scripted
from tests.many.test_queue import own
from tests.ways import by, rooms
with scripted({GET_ROOM: own}) as service:
    client = by(service.client(), sys.argv[1])
    client.send_many(rooms(*range(20)))
    child = os.fork()
    ids = [f"{'child' if child == 0 else 'parent'}-{n}" for n in range(100)]
    right = [outcome["room_id"] for outcome in client.send_many(rooms(*ids))] == ids
    if child == 0:
        os._exit(0 if right else 1)
    sys.exit(not right or os.waitpid(child, 0)[1])
"""
    assert subprocess.run([sys.executable, "-c", code, way], timeout=60).returncode == 0


def elsewhere(client, room_id):
    """What a copy of the client reads in another process, and what it shows and logs there."""
    logged = io.StringIO()
    logging.basicConfig(level=logging.DEBUG, stream=logged)
    ck.get_room(client, room_id)
    found = client.send_many(rooms(room_id))
    shown = repr(client) + repr(client.calls) + repr(client.__dict__) + logged.getvalue()
    client.close()
    return [outcome["room_id"] for outcome in found], client.sandbox is None, shown


def test_a_copy_in_another_process_reads_and_shows_no_secret(sandbox):
    """A pickled client works in a process pool with the token that it has; its log is masked there
    too; when it closes, the sandbox goes on."""
    client = sandbox.connect()
    room_id = ck.create_room(client, "Weekly sync", owner_id="ops")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found, apart, shown = pool.submit(elsewhere, client, room_id).result()
    assert (found, apart) == ([room_id], True)
    assert "access_token=***" in shown
    for secret in (client.secret_key, client.token(), client.token().replace("=", "%3D")):
        assert str(secret) not in shown
    assert ck.get_room(client, room_id).room_id == room_id
