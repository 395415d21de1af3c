"""The sweep: rooms, users and external users as one frame; who does not answer; an end at any
moment."""

import io
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import nbformat
import pandas as pd
import pytest
from nbclient import execute

import confkit as ck
from confkit.text import counted
from tests.building import DEVICES, ROOM, USERS, building, room, users
from tests.commands import interrupted
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply
from tests.ways import WAYS, by, connected

TYPES = (
    "room_id string, topic string, users Int64, people Int64, devices Int64, attendee_max Int64, "
    "status category, mode category, owner_id string, max_audio Int64, max_video Int64, "
    "room_status Int64, room_mode Int64, id Int64, room_extend_id string, ret Int64, error string"
)
OCCUPANCY = (
    "room_id string, topic string, users Int64, people Int64, devices Int64, attendee_max Int64, "
    "utilisation Float64, error string"
)
NOT_ASKED = "not asked: the sweep was ended before"
FRESH = {**GRANTED, "key": "pair"}


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def types(frame):
    return ", ".join(f"{name} {kind}" for name, kind in frame.dtypes.items())


def column(frame, name):
    """A column as a list; what is missing is None."""
    return [None if pd.isna(value) else value for value in frame[name]]


@pytest.mark.parametrize("ids", [[], ["a"], ["a", "nowhere"]])
def test_the_frame_is_the_same_for_none_one_and_many(script, tmp_path, ids):
    """Its columns, their order and their types do not depend on what was read; the service and the
    time travel with it; as Parquet, pickle and CSV it can be kept, and the sweep as pickle. No
    rooms cost no request, not even a token."""
    service = script(building({"a": ["x"]}))
    sweep = ck.sweep(service.client(name="prod"), ids)
    assert bool(service.requests) is bool(ids)
    assert (sweep.complete, len(sweep.failures)) == (True, ids.count("nowhere"))
    again = pickle.loads(pickle.dumps(sweep))
    frame, shown = again.frame(), ck.occupancy_frame(again)
    assert (types(frame), types(shown)) == (TYPES, OCCUPANCY)
    assert list(frame.index) == list(range(len(ids)))
    assert frame.attrs == shown.attrs == {"service": "prod", "time": sweep.time.isoformat()}
    frame.to_parquet(tmp_path / "sweep.parquet")
    kept = pd.read_parquet(tmp_path / "sweep.parquet")
    pd.testing.assert_frame_equal(kept, frame, check_categorical=False)
    assert kept.attrs == frame.attrs
    frame.to_csv(tmp_path / "sweep.csv", index=False)
    other = ck.sweep(script(building({})).client(), tmp_path / "sweep.csv")
    assert list(other.ids) == ids
    requests = 2 * ids.count("a") + ids.count("nowhere") + bool(ids)
    text = f"<Sweep of {counted(len(ids), 'room')} on prod: {requests} requests, "
    assert repr(sweep).startswith(f"{text}{counted(ids.count('nowhere'), 'failure')}")
    assert ("; room 'nowhere': get room" in repr(sweep)) is ("nowhere" in ids)


def test_a_camera_is_not_a_person(client, sandbox):
    """A room with a real, imported camera has a device and a user, and nobody in it."""
    empty, filmed = (ck.create_room(client, topic, "ops") for topic in ("Empty", "Filmed"))
    url = sandbox.camera(size=(160, 96), fps=5)
    ck.import_device(client, filmed, "cam", "Door", url)
    sandbox.join(filmed, "Ada")
    frame = ck.sweep(client, [empty, filmed]).frame()
    counts = [column(frame, name) for name in ("users", "people", "devices")]
    assert counts == [[0, 2], [0, 1], [0, 1]]
    sandbox.device_service("stopped")
    sweep = ck.sweep(client, [empty, filmed])
    frame = sweep.frame()
    assert column(frame, "users") == [0, 2]
    assert column(frame, "people") == column(frame, "devices") == [None, None]
    [failure] = sweep.failures
    assert (failure.room_id, failure.call) == (None, "B3")
    assert isinstance(failure.error, ck.ServiceUnavailable)
    assert failure.advice
    assert column(frame, "ret") == [failure.error.ret] * 2
    assert column(frame, "error") == [str(failure.error)] * 2
    assert sweep.complete


def test_a_room_asked_by_its_extend_id(script, capfd):
    """Its row has the ID as asked, and its devices are found under its own. A user whose ID is a
    device's in another room is a person; a device that A6 does not list is not in the room. A
    function gets the rooms done and their number, and nothing is written."""
    answer = {"ext-1": room("77", room_extend_id="ext-1")}
    there = {"ext-1": ["cam", "ann"], "b": ["cam"]}
    service = script(building(there, [("77", "cam"), ("b", "away")], rooms=answer))
    steps = []
    sweep = ck.sweep(service.client(), list(there), progress=lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]
    assert capfd.readouterr() == ("", "")
    frame = sweep.frame()
    assert column(frame, "room_id") == ["ext-1", "b"]
    assert column(frame, "room_extend_id") == ["ext-1", None]
    assert (column(frame, "people"), column(frame, "devices")) == ([1, 1], [1, 0])


def test_a_failed_room_is_missing_and_never_empty(script):
    """Whatever fails, the rest stands: a room that was read but not its users keeps its fields, and
    A6 is not asked where A3 failed; error, code, failure and advice are there."""
    busy, large = {"ret": 700}, {"ret": 10**30}
    fields = {"code": busy, "dropped": Reply(drop=True), "odd": {"ret": 0, "room_id": ["odd"]}}
    people = {"users": busy, "large": large, "no list": {"ret": 0, "user_list": None}}
    there = dict.fromkeys([*fields, *people, "fine"], ("x", "y"))
    service = script(building(there, rooms=fields, people=people))
    sweep = ck.sweep(service.client(), [*there, "nowhere"])
    frame = sweep.frame()
    read = frame[["topic", "attendee_max", "users", "people", "devices", "ret"]]
    read = read.astype(object).where(read.notna(), None).to_numpy().tolist()
    assert dict(zip(sweep.ids, read, strict=True)) == {
        "code": [None, None, None, None, None, 700],
        "dropped": [None, None, None, None, None, None],
        "odd": [None, None, None, None, None, None],
        "users": ["Topic of users", 10, None, None, None, 700],
        "large": ["Topic of large", 10, None, None, None, None],
        "no list": ["Topic of no list", 10, None, None, None, None],
        "fine": ["Topic of fine", 10, 2, 2, 0, 0],
        "nowhere": [None, None, None, None, None, 404],
    }
    calls = [(failure.room_id, failure.call) for failure in sweep.failures]
    failed = [*((name, "A3") for name in fields), *((name, "A6") for name in people)]
    assert calls == [*failed, ("nowhere", "A3")]
    errors = {failure.room_id: str(failure.error) for failure in sweep.failures}
    assert dict(frame.dropna(subset="error")[["room_id", "error"]].to_numpy()) == errors
    assert all(isinstance(failure.error, ck.ConfkitError) for failure in sweep.failures)
    assert list(sweep.users) == ["fine"]
    assert [room.room_id for room in sweep.rooms] == [*people, "fine"]
    assert sweep.complete
    assert service.seen[USERS] == 4


def test_utilisation(script):
    """Users above the cap are more than 1; without a cap, or with 0, it is missing."""
    caps = {"over": "2", "below": "4", "without": None, "empty": "", "zero": "0"}
    answers = {name: room(name, attendee_max=cap) for name, cap in caps.items()}
    service = script(building(dict.fromkeys(answers, "xyz"), rooms=answers))
    frame = ck.occupancy_frame(ck.sweep(service.client(), list(caps)))
    assert column(frame, "utilisation") == [1.5, 0.75, None, None, None]
    assert column(frame, "users") == [3] * 5
    assert column(frame, "attendee_max") == [2, 4, None, None, 0]
    assert types(frame) == OCCUPANCY


@pytest.mark.parametrize(("rooms", "users"), [(True, False), (False, True), (True, True)])
def test_rooms_or_users_alone(script, rooms, users):
    """Of what is not asked for the values are missing, and nothing is wrong; an ID that is given
    twice costs one call of each kind, the external users one."""
    service = script(building({"a": ["cam", "x"]}, [("a", "cam")]))
    sweep = ck.sweep(service.client(), ["a", "a"], rooms=rooms, users=users)
    seen = (service.seen[ROOM], service.seen[USERS], service.seen[DEVICES])
    assert (seen, sweep.requests) == ((rooms, users, users), rooms + 2 * users)
    frame = sweep.frame()
    assert types(frame) == TYPES
    assert column(frame, "people") == column(frame, "devices") == [1 if users else None]
    assert column(frame, "topic") == ["Topic of a" if rooms else None]
    assert (column(frame, "error"), column(frame, "ret"), sweep.complete) == ([None], [0], True)
    assert ck.occupancy_frame(sweep).utilisation.isna().all() == (not (rooms and users))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rooms": False, "users": False}, "users=False"),
        *(({"concurrency": n}, "concurrency") for n in (0, True, 8.5, None)),
        *(({"max_rate": n}, "max_rate") for n in (0, float("inf"), "5")),
        ({"executor": object()}, r"object.*get_executor\(\)"),
    ],
)
def test_what_makes_no_sense_is_an_error(script, options, match):
    """It is raised and no room's failure, and nothing is sent."""
    service = script(building({"a": []}))
    with pytest.raises(ck.ConfigError, match=match):
        ck.sweep(service.client(), ["a"], **options)
    assert service.requests == []


def test_no_connection_at_all_is_raised():
    """It is no failure of each room."""
    client = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "b", sleep=lambda _: None)
    with pytest.raises(ck.TransportError):
        ck.sweep(client, ["a"])


def test_a_bug_of_the_callers_own_is_raised(script):
    """An exception out of `progress` ends the sweep and reaches the caller."""

    def broken(done, _):
        if done == 5:
            raise RuntimeError("mine")

    client = script(building(dict.fromkeys(map(str, range(30)), ()))).client()
    with pytest.raises(RuntimeError, match="mine"):
        ck.sweep(client, map(str, range(30)), progress=broken)


WITHOUT = """
import sys
sys.modules |= dict.fromkeys(["pyarrow", "pycurl"])
import confkit as ck
client = ck.Client(*sys.argv[1:3], "demo_access", "demo_secret", sleep=lambda _: None)
found = ck.sweep(client, sys.argv[4:])
assert [room.attendee_max for room in found.rooms] == [10, 25, 10, None]
found.frame().to_pickle(sys.argv[3])
"""


def test_without_the_fast_libraries_the_frame_is_the_same(script, tmp_path):
    """pycurl and pyarrow make a sweep fast and change nothing in it."""
    own = {"q": room("q", attendee_max="25", room_mode="3", topic="Bär 会议"), "o": room("o", id=3)}
    own |= {"s": room("s", topic=None, attendee_max="", room_extend_id="")}
    there = {"a": ["x", "y"], "q": [], "o": [], "s": ["cam"]}
    service, path = script(building(there, [("s", "cam")], rooms=own)), tmp_path / "frame.pickle"
    ids, url = [*there, "nowhere"], service.base_url
    subprocess.run([sys.executable, "-c", WITHOUT, url, url, path, *ids], check=True)
    found, expected = pd.read_pickle(path), ck.sweep(service.client(), ids).frame()
    assert types(found) == types(expected) == TYPES
    found = found.astype(expected.dtypes.to_dict())  # pandas itself keeps texts otherwise then
    pd.testing.assert_frame_equal(found, expected, check_column_type=False)


def test_a_camera_among_the_rooms_tells_no_password(client):
    """Addresses that were taken for room IDs are refused, with their place and no password."""
    with pytest.raises(ck.ParameterError, match="an address with a login") as refused:
        ck.sweep(client, ["1", "rtsp://admin:hunter2@192.0.2.7/x"])
    assert "hunter2" not in str(refused.value)


# The token


def own(query):
    """The room that was asked for."""
    return {"ret": 0, "room_id": query["room_id"]}


def swept(client, count, **options):
    """A sweep of so many rooms for their fields alone, and how many of them were read."""
    sweep = ck.sweep(client, [str(n) for n in range(count)], users=False, **options)
    return sweep, len(sweep.rooms)


def not_asked(sweep):
    """How many rooms say in the frame that they were not asked."""
    return int(sweep.frame().error.str.startswith("not asked").sum())


@pytest.mark.parametrize("renewal", [[FRESH], [Reply(drop=True), FRESH]], ids=["", "dropped"])
def test_a_token_that_expires_in_the_middle_is_renewed_once(script, way, renewal):
    """Everybody who meets 602 waits for one A1, itself a read that is tried again, and is asked
    again with its token, once."""
    service = script({AUTHENTICATE: [GRANTED, *renewal]})
    client = by(service.client(), way)
    old = client.token()

    def answer(query):
        expired = query["access_token"] == old and service.seen[GET_ROOM] > 100
        return Reply({"ret": 602} if expired else own(query), delay=0.01)

    service.script[GET_ROOM] = answer
    sweep, read = swept(client, 300)
    assert (read, sweep.complete, sweep.failures) == (300, True, ())
    assert service.seen[AUTHENTICATE] == 1 + len(renewal)
    assert sweep.requests == service.seen[GET_ROOM] <= 300 + 32


@pytest.mark.parametrize(
    ("refusal", "error"), [({"ret": 401}, ck.AuthenticationFailed), ({"ret": 0}, ck.ProtocolError)]
)
def test_a_token_that_cannot_be_renewed_ends_the_sweep(script, way, refusal, error):
    """After one A1, with its error, as one failure of the sweep; the rooms that were asked have it
    too, the rest says that it was not asked."""
    service = script({AUTHENTICATE: [GRANTED, refusal]})
    service.script[GET_ROOM] = lambda query: (
        own(query) if int(query["room_id"]) < 50 else {"ret": 602}
    )
    sweep, read = swept(by(service.client(), way), 500, concurrency=8)
    assert (read, sweep.complete) == (50, False)
    assert {type(failure.error) for failure in sweep.failures} == {error}
    calls = [(failure.room_id is None, failure.call) for failure in sweep.failures]
    assert calls == [(True, "A1"), *[(False, "A3")] * (len(calls) - 1)]
    assert service.seen[AUTHENTICATE] == 2
    assert not_asked(sweep) == 500 - 50 - (len(calls) - 1) >= 500 - 50 - 8


def test_a_token_that_stays_rejected_is_that_rooms_failure(script, way):
    """602 for one room fails that one alone; where every fresh token is rejected, that is no
    answer, and few authentications are spent on it."""
    bad = {"7"}
    service = script(
        {GET_ROOM: lambda query: {"ret": 602} if query["room_id"] in bad else own(query)}
    )
    client = by(service.client(), way)
    sweep, read = swept(client, 40)
    [failure] = sweep.failures
    assert (read, failure.room_id, type(failure.error)) == (39, "7", ck.TokenRejected)
    assert service.seen[AUTHENTICATE] == 2
    bad.update(map(str, range(1000)))
    sweep, read = swept(client, 1000, concurrency=8)
    assert (read, sweep.complete) == (0, False)
    assert service.seen[AUTHENTICATE] <= 30
    assert service.seen[GET_ROOM] < 250


# When the next may leave


def test_a_sweep_takes_as_long_as_its_rate_asks(script, way):
    """The lower one of sweep and client holds where requests really leave."""
    for of_client, of_sweep in ((8, 20), (None, 8)):
        service = script({GET_ROOM: own})
        client = by(service.client(max_rate=of_client), way)
        began = time.monotonic()
        assert swept(client, 5, max_rate=of_sweep)[1] == 5
        assert time.monotonic() - began >= 4 / 8


def test_a_sweep_waits_as_long_as_the_service_asks(script, way):
    """A room whose service is busy is asked again no sooner than Retry-After says; a time beyond
    the read time-out ends the sweep, and its error names it."""
    busy = [Reply("busy", 429, headers={"Retry-After": seconds}) for seconds in ("1", "3600")]
    service = script({GET_ROOM: [busy[0], {"ret": 0, "room_id": "0"}]})
    sweep, read = swept(connected(service, way), 1)
    first, second = service.times
    assert (read, sweep.complete) == (1, True)
    assert second - first >= 1
    service.script[GET_ROOM] = busy[1]
    sweep, read = swept(connected(service, way), 100, concurrency=4)
    assert (read, sweep.complete) == (0, False)
    assert "wait 3,600 s" in str(sweep.failures[0].error)
    assert not_asked(sweep) >= 96


# Who does not answer


@pytest.mark.parametrize("late", [1, 3])
def test_slow_rooms_cost_only_themselves(script, way, late):
    """More than there are under way at once, in a row, whose first calls are late: what is late
    once is read, what is late three times is a failure, all others are read."""
    slow = {str(n) for n in range(100, 120)}
    service, tries = script(), Counter()

    def answer(query):
        tries[query["room_id"]] += 1
        is_late = query["room_id"] in slow and tries[query["room_id"]] <= late
        return Reply(own(query), delay=2 if is_late else 0)

    service.script[GET_ROOM] = answer
    client = connected(service, way, timeout=(0.5, 0.5))
    sweep, read = swept(client, 300, concurrency=16)
    assert sweep.complete
    assert {failure.room_id for failure in sweep.failures} == (slow if late == 3 else set())
    assert read == 300 - len(sweep.failures)
    assert {tries[room_id] for room_id in slow} == {min(late + 1, 3)}


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply("", delay=4), ck.TransportTimeout),
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
    client = connected(service, way, timeout=(1, 1))
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
    "replies",
    [
        [{"ret": 404}],
        [{"ret": 410}],
        [Reply({"ret": 700}, status=503)],
        [*[Reply(drop=True)] * 6, {"ret": 404}],
    ],
    ids=["404", "410", "503 with a code", "every seventh"],
)
def test_a_service_that_answers_is_asked_for_all_rooms(script, way, replies):
    """A result code is an answer, and so is one now and then: each room is tried three times."""
    turn = cycle(replies)
    sweep, read = swept(connected(script({GET_ROOM: lambda _: next(turn)}), way), 40)
    assert (read, len(sweep.failures), sweep.complete) == (0, 40, True)
    assert sweep.requests > (90 if len(replies) > 1 else 39)


@pytest.mark.parametrize("lost", ["nothing", "its tokens"])
def test_a_service_that_restarts_costs_few_rooms(script, way, lost):
    """It answers again within a second, without the tokens that it knew: the sweep goes on."""
    service = script({AUTHENTICATE: [GRANTED, FRESH]})
    client = by(service.client(), way)
    old, away = client.token(), []

    def answer(query):
        if service.seen[GET_ROOM] > 40:
            away.append(time.monotonic())
            if away[-1] < away[0] + 0.9:
                return Reply(drop=True)
            if lost == "its tokens" and query["access_token"] == old:
                return {"ret": 602}
        return own(query)

    service.script[GET_ROOM] = answer
    sweep, read = swept(client, 300)
    assert sweep.complete
    assert read == 300 - len(sweep.failures) > 300 - 50
    assert service.seen[AUTHENTICATE] == (1 if lost == "nothing" else 2)


# The end


def test_what_was_not_asked_in_the_end_is_missing_for_a_reason(script):
    """A sweep that ends while B3 and the users of a room are still due has no people and not those
    users, and each row says why."""
    ended = threading.Event()
    late = {"a": Reply(users("x"), delay=60)}
    service = script(building({"a": ["x"], "b": []}, people=late) | {DEVICES: Reply("", delay=60)})
    client, end = service.client(timeout=(1, 3)), lambda *_: ended.set()
    sweep = ck.sweep(client, ["a", "b"], cancelled=ended, progress=end)
    frame = sweep.frame()
    assert "ended early" in repr(sweep)
    assert column(frame, "topic") == ["Topic of a", "Topic of b"]
    assert column(frame, "users") == [None, 0]
    assert column(frame, "people") == column(frame, "ret") == [None, None]
    assert set(frame.error) == {NOT_ASKED}


def test_an_event_ends_it_from_another_thread(script, way):
    """`cancelled` set before asks nothing, set in the middle ends it, also off the main thread; set
    while a token is due, it is asked for no second time, and nothing is raised."""
    service = script({GET_ROOM: own})
    client, cancelled = connected(service, way), threading.Event()
    options = {"cancelled": cancelled, "progress": lambda *_: cancelled.set()}
    with ThreadPoolExecutor(1) as pool:
        sweep, read = pool.submit(swept, client, 5000, **options).result()
    assert not sweep.complete
    assert 0 < read == 5000 - not_asked(sweep) < 5000
    sweep, read = swept(client, 2, cancelled=cancelled)
    assert (read, sweep.complete, not_asked(sweep)) == (0, False, 2)
    service = script({AUTHENTICATE: lambda _: cancelled.set() or Reply(GRANTED, delay=3)})
    cancelled.clear()
    sweep, read = swept(service.client(timeout=(0.5, 0.5)), 2, cancelled=cancelled)
    assert (read, sweep.complete, not_asked(sweep), sweep.failures) == (0, False, 2, ())
    assert service.seen.total() == 1


PRESSED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
import confkit as ck
from tests.ways import client_of
address, way, hung = sys.argv[1:]
client = client_of(address, way, timeout=60)
if hung == "A1":
    client._token.value = None
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


PROCESS = """
import os, sys, threading, time
import confkit as ck
from tests.ways import client_of
files = lambda: len(os.listdir("/proc/self/fd"))
ended = threading.Event(); ended.set()
client = client_of(*sys.argv[1:])
ids = [str(n) for n in range(20)]
ck.sweep(client, ids, users=False, concurrency=4)
time.sleep(0.5)
before = files()
for n in range(40):
    cancelled = ended if n % 5 == 4 else None
    ck.sweep(client, ids[:5], users=False, concurrency=4, cancelled=cancelled)
for _ in range(100):
    if files() <= before + 4 and threading.active_count() == 1: break
    time.sleep(0.05)
assert (files() <= before + 4, threading.active_count()) == (True, 1)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")  # noqa: PTH112
def test_nothing_is_left_open(script, way):
    """After forty sweeps there are as many files and threads as after the first, but for the
    connections that the session keeps."""
    command = [sys.executable, "-c", PROCESS, script({GET_ROOM: own}).base_url, way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


# What shows on its way: to a person who watches, and to nobody else


@pytest.mark.parametrize(
    ("progress", "terminal", "shows"),
    [(None, True, True), (None, False, False), (True, False, True), (False, True, False)],
)
def test_a_bar_shows_where_somebody_watches(script, monkeypatch, capfd, progress, terminal, shows):
    """On stderr; nothing on stdout, where results go. No thread of the bar stays."""
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    service = script({GET_ROOM: lambda query: Reply(own(query), delay=0.05)})
    swept(service.client(), 30, concurrency=1, progress=progress)
    assert ("/30" in stream.getvalue()) is shows
    assert capfd.readouterr() == ("", "")
    assert [each for each in threading.enumerate() if type(each).__module__[:4] == "tqdm"] == []


NOTEBOOK = """
import confkit as ck
client = ck.Client({0!r}, {0!r}, "demo_access", "demo_secret", name="prod")
sweep = ck.sweep(client, map(str, range(30)), users=False, concurrency=1)
"""


def test_nothing_of_a_bar_stays_in_a_notebook(script):
    """Where nbval compares the cell with its stored output, there is none at all."""
    service = script({GET_ROOM: lambda query: Reply(own(query), delay=0.05)})
    named = "import os\nos.environ['PYTEST_CURRENT_TEST'] = 'a.ipynb::Cell 0'\n"
    code = NOTEBOOK.format(service.base_url)
    cells = [nbformat.v4.new_code_cell(source) for source in (code, named + code)]
    shown, compared = execute(nbformat.v4.new_notebook(cells=cells)).cells
    assert "30" not in str(shown.outputs)
    assert compared.outputs == []


# What has changed


def test_changes_between_two_sweeps(script):
    """Who came and left, which rooms opened, emptied, filled and became unreadable, each with its
    row; what only one of them has read, or did not ask, is no change."""
    there = {
        "full": ["ann"], "free": ["ann", "bob"], "opens": [], "empties": ["ann"], "film": ["ann"],
        "lost": ["ann"], "back": ["ann"], "same": ["ann"],
    }  # fmt: skip
    caps = {name: room(name, attendee_max=2) for name in there}
    people, devices = {"back": {"ret": 700}}, [("film", "cam")]
    service = script(building(there, devices, rooms=caps, people=people))
    client = service.client()
    before = ck.sweep(client, [*there, "gone"])
    there |= {"full": ["ann", "bob"], "free": ["ann"], "opens": ["ann"], "empties": []}
    there |= {"film": ["ann", "cam"]}
    people.clear()
    people["lost"] = {"ret": 700}
    after = ck.sweep(client, [*there, "new"])
    frame = ck.changes(before, after)
    rows = frame[["room_id", "change", "user_id", "users"]].astype(object)
    assert [tuple(row) for row in rows.where(rows.notna(), None).to_numpy()] == [
        ("full", "user joined", "bob", 2),
        ("full", "became full", None, 2),
        ("free", "user left", "bob", 1),
        ("free", "no longer full", None, 1),
        ("opens", "user joined", "ann", 1),
        ("opens", "opened", None, 1),
        ("empties", "user left", "ann", 0),
        ("empties", "emptied", None, 0),
        ("film", "device came", "cam", 2),
        ("film", "became full", None, 2),
        ("lost", "became unreadable", None, None),
        ("back", "readable again", None, 1),
    ]
    assert set(frame.time) == {pd.Timestamp(after.time)}
    back = ck.changes(after, before)
    assert "device gone" in set(back.change)
    assert types(ck.changes(after, after)) == types(frame)
    assert len(ck.changes(after, after)) == 0
    ended = threading.Event()
    ended.set()
    assert len(ck.changes(before, ck.sweep(client, list(there), cancelled=ended))) == 0
