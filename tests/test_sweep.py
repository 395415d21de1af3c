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
OCCUPANCY = TYPES[: TYPES.index(", status")] + ", utilisation Float64, error string"
NOT_ASKED = "not asked: the sweep ended early"
FRESH = {**GRANTED, "key": "pair"}


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def types(frame):
    return ", ".join(f"{name} {kind}" for name, kind in frame.dtypes.items())


def rows(frame, *columns):
    """The values of these columns, a row each; what is missing is None."""
    values = frame[list(columns)].astype(object)
    return [tuple(row) for row in values.where(values.notna(), None).to_numpy().tolist()]


def own(query):
    """The room that was asked for."""
    return {"ret": 0, "room_id": query["room_id"]}


def swept(client, count, **options):
    """A sweep of so many rooms for their fields alone, and how many of them were read."""
    sweep = ck.sweep(client, [str(n) for n in range(count)], users=False, **options)
    return sweep, len(sweep.rooms)


def not_asked(sweep):
    """How many rooms say in the frame that they were not asked."""
    return int(sweep.frame().error.eq(NOT_ASKED).sum())


# The frame


@pytest.mark.parametrize("ids", [[], ["a"], ["a", "nowhere"]])
def test_the_frame_is_the_same_for_none_one_and_many(script, tmp_path, ids):
    """Columns and types do not depend on what was read; the service and the time travel with it. It
    can be kept as Parquet and CSV, the sweep as a pickle. No rooms cost no request."""
    service = script(building({"a": ["x"]}))
    sweep = ck.sweep(service.client(name="prod"), ids)
    assert bool(service.requests) is bool(ids)
    failures, requests = ids.count("nowhere"), len(ids) + ids.count("a") + bool(ids)
    assert (sweep.complete, len(sweep.failures)) == (True, failures)
    text = f"<Sweep of {counted(len(ids), 'room')} on prod: {requests} requests, "
    assert repr(sweep).startswith(f"{text}{counted(failures, 'failure')}")
    assert ("; room 'nowhere': get room" in repr(sweep)) is bool(failures)
    sweep = pickle.loads(pickle.dumps(sweep))
    frame, occupancy = sweep.frame(), ck.occupancy_frame(sweep)
    assert (types(frame), types(occupancy)) == (TYPES, OCCUPANCY)
    assert list(frame.index) == list(range(len(ids)))
    assert frame.attrs == occupancy.attrs == {"service": "prod", "time": sweep.time.isoformat()}
    frame.to_parquet(tmp_path / "sweep.parquet")
    kept = pd.read_parquet(tmp_path / "sweep.parquet")
    pd.testing.assert_frame_equal(kept, frame, check_categorical=False)
    frame.to_csv(tmp_path / "sweep.csv", index=False)
    assert list(ck.sweep(service.client(), tmp_path / "sweep.csv").ids) == ids


def test_a_camera_is_not_a_person(client, sandbox):
    """A room with an imported camera has a device and a user, and nobody in it. While the devices
    cannot be read, people and devices are missing, and each row says why."""
    empty, filmed = (ck.create_room(client, topic, "ops") for topic in ("Empty", "Filmed"))
    url = sandbox.camera(size=(160, 96), fps=5)
    ck.import_device(client, filmed, "cam", "Door", url)
    sandbox.join(filmed, "Ada")
    frame = ck.sweep(client, [empty, filmed]).frame()
    assert rows(frame, "users", "people", "devices") == [(0, 0, 0), (2, 1, 1)]
    sandbox.device_service("stopped")
    sweep = ck.sweep(client, [empty, filmed])
    [(room_id, call, error, advice)] = sweep.failures
    assert (room_id, call, type(error), sweep.complete) == (None, "B3", ck.ServiceUnavailable, True)
    assert advice
    columns = ("users", "people", "devices", "ret", "error")
    why = (None, None, error.ret, str(error))
    assert rows(sweep.frame(), *columns) == [(0, *why), (2, *why)]


def test_a_room_asked_by_its_extend_id(script, capfd):
    """Its row has the ID as asked, and its devices are those of its own ID. A user whose ID is a
    device's in another room is a person; a device that A6 does not list is not in the room. A
    function gets the rooms done and their number, and nothing is written."""
    rooms = {"ext-1": room("77", room_extend_id="ext-1")}
    present = {"ext-1": ["cam", "ann"], "b": ["cam"]}
    service, steps = script(building(present, [("77", "cam"), ("b", "away")], rooms=rooms)), []
    progress = lambda *step: steps.append(step)  # noqa: E731
    frame = ck.sweep(service.client(), list(present), progress=progress).frame()
    assert steps == [(1, 2), (2, 2)]
    assert capfd.readouterr() == ("", "")
    columns = ("room_id", "room_extend_id", "people", "devices")
    assert rows(frame, *columns) == [("ext-1", "ext-1", 1, 1), ("b", None, 1, 0)]


def test_a_failed_room_is_missing_and_never_empty(script):
    """Whatever fails, the rest stands: a room that was read but not its users keeps its fields, and
    A6 is not asked where A3 failed; error, code, failure and advice are there."""
    busy, large = {"ret": 700}, {"ret": 10**30}
    fields = {"code": busy, "dropped": Reply(drop=True), "odd": {"ret": 0, "room_id": ["odd"]}}
    people = {"users": busy, "large": large, "no list": {"ret": 0, "user_list": None}}
    present = dict.fromkeys([*fields, *people, "fine"], ("x", "y"))
    service = script(building(present, rooms=fields, people=people))
    sweep = ck.sweep(service.client(), [*present, "nowhere"])
    columns = ("room_id", "topic", "attendee_max", "users", "people", "devices", "ret")
    assert rows(sweep.frame(), *columns) == [
        ("code", None, None, None, None, None, 700),
        ("dropped", None, None, None, None, None, None),
        ("odd", None, None, None, None, None, None),
        ("users", "Topic of users", 10, None, None, None, 700),
        ("large", "Topic of large", 10, None, None, None, None),
        ("no list", "Topic of no list", 10, None, None, None, None),
        ("fine", "Topic of fine", 10, 2, 2, 0, 0),
        ("nowhere", None, None, None, None, None, 404),
    ]
    calls = [(failure.room_id, failure.call) for failure in sweep.failures]
    failed = [*((name, "A3") for name in fields), *((name, "A6") for name in people)]
    assert calls == [*failed, ("nowhere", "A3")]
    errors = [(failure.room_id, str(failure.error)) for failure in sweep.failures]
    assert rows(sweep.frame().dropna(subset="error"), "room_id", "error") == errors
    assert list(sweep.users) == ["fine"]
    assert [room.room_id for room in sweep.rooms] == [*people, "fine"]
    assert (sweep.complete, service.seen[USERS]) == (True, 4)


def test_utilisation(script):
    """Users above the cap are more than 1; without a cap, or with 0, it is missing."""
    caps = {"over": "2", "below": "4", "without": None, "empty": "", "zero": "0"}
    answers = {name: room(name, attendee_max=cap) for name, cap in caps.items()}
    service = script(building(dict.fromkeys(answers, "xyz"), rooms=answers))
    frame = ck.occupancy_frame(ck.sweep(service.client(), list(caps)))
    assert rows(frame, "users", "attendee_max", "utilisation") == [
        *((3, 2, 1.5), (3, 4, 0.75), (3, None, None), (3, None, None), (3, 0, None)),
    ]


@pytest.mark.parametrize(("rooms_too", "users_too"), [(True, False), (False, True), (True, True)])
def test_rooms_or_users_alone(script, rooms_too, users_too):
    """Of what is not asked for the values are missing, and nothing is wrong; an ID that is given
    twice costs one call of each kind, the external users one."""
    service = script(building({"a": ["cam", "x"]}, [("a", "cam")]))
    sweep = ck.sweep(service.client(), ["a", "a"], rooms=rooms_too, users=users_too)
    calls = (service.seen[ROOM], service.seen[USERS], service.seen[DEVICES])
    assert calls == (rooms_too, users_too, users_too)
    assert (sum(calls), True) == (sweep.requests, sweep.complete)
    count = 1 if users_too else None
    expected = ("Topic of a" if rooms_too else None, count, count, 0, None)
    assert rows(sweep.frame(), "topic", "people", "devices", "ret", "error") == [expected]
    assert types(sweep.frame()) == TYPES


# What is raised


def raising(done, _):
    if done == 5:
        raise RuntimeError("mine")


AWAY = {"base_url": "http://127.0.0.1:9", "outgoing_url": "http://127.0.0.1:9"}
RAISED = [  # the client's addresses, options of the sweep, what it raises, how much is sent
    *(({}, {"concurrency": n}, ck.ConfigError, 0) for n in (0, True, 8.5, None)),
    *(({}, {"max_rate": n}, ck.ConfigError, 0) for n in (0, float("inf"), "5")),
    (AWAY, {}, ck.TransportError, 0),
    ({}, {"progress": raising}, RuntimeError, 6),
]


@pytest.mark.parametrize(("addresses", "options", "error", "sent"), RAISED)
def test_what_is_raised_and_no_failure_of_each_room(script, addresses, options, error, sent):
    """Options that make no sense, no connection at all, and a bug in the caller's own function."""
    service = script({GET_ROOM: own})
    addresses = {"base_url": service.base_url, "outgoing_url": service.base_url, **addresses}
    client = ck.Client(**addresses, access_key="a", secret_key="b", sleep=lambda _: None)
    with pytest.raises(error):
        swept(client, 30, **options)
    assert (len(service.requests) >= sent) if sent else (service.requests == [])


# The token, and when the next may leave


RENEWALS = {
    "": ([FRESH], None),
    "dropped": ([Reply(drop=True), FRESH], None),
    "refused": ([{"ret": 401}], ck.AuthenticationFailed),
    "without a token": ([{"ret": 0}], ck.ProtocolError),
}


@pytest.mark.parametrize(("renewal", "error"), RENEWALS.values(), ids=RENEWALS)
def test_a_token_that_expires_is_renewed_once_or_ends_the_sweep(script, way, renewal, error):
    """Everybody who meets 602 waits for one A1, itself a read that is tried again. If it is refused
    that is one failure of the sweep; the rooms that were asked have its error too, the rest says
    that it was not asked."""
    service = script({AUTHENTICATE: [GRANTED, *renewal]})
    client = by(service.client(), way)
    old = client.token()

    def answer(query):
        expired = query["access_token"] == old and int(query["room_id"]) >= 50
        return Reply({"ret": 602} if expired else own(query), delay=0.01)

    service.script[GET_ROOM] = answer
    sweep, read = swept(client, 300, concurrency=8)
    assert service.seen[AUTHENTICATE] == 1 + len(renewal)
    assert {type(failure.error) for failure in sweep.failures} == ({error} if error else set())
    calls = [(failure.room_id is None, failure.call) for failure in sweep.failures]
    if error:
        assert (read, sweep.complete, calls[0]) == (50, False, (True, "A1"))
        assert 1 <= len(calls[1:]) <= 8
        assert set(calls[1:]) == {(False, "A3")}
        assert not_asked(sweep) == 300 - 50 - len(calls[1:])
    else:
        assert (read, sweep.complete, calls) == (300, True, [])
        assert sweep.requests == service.seen[GET_ROOM] <= 300 + 8


@pytest.mark.parametrize(("of_client", "of_sweep"), [(8, 20), (None, 8)])
def test_a_sweep_takes_as_long_as_its_rate_asks(script, way, of_client, of_sweep):
    """The lower one of sweep and client holds where requests really leave."""
    service = script({GET_ROOM: own})
    started = time.monotonic()
    assert swept(by(service.client(max_rate=of_client), way), 5, max_rate=of_sweep)[1] == 5
    assert time.monotonic() - started >= 4 / 8


def test_a_sweep_waits_as_long_as_the_service_asks(script, way):
    """A room whose service is busy is asked again no sooner than Retry-After says."""
    busy = Reply("busy", 429, headers={"Retry-After": "1"})
    service = script({GET_ROOM: [busy, {"ret": 0, "room_id": "0"}]})
    sweep, read = swept(connected(service, way), 1)
    first, second = service.times
    assert (read, sweep.complete) == (1, True)
    assert second - first >= 1


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
    assert {failure.room_id for failure in sweep.failures} == (slow if late == 3 else set())
    assert (read, sweep.complete) == (300 - len(sweep.failures), True)
    assert {tries[room_id] for room_id in slow} == {min(late + 1, 3)}


def after_40(*replies):
    """These replies in turn, once 40 rooms were asked."""
    turn = cycle(replies)
    return lambda number, query: next(turn) if number > 40 else own(query)


DROP, CODE_404, CODE_602 = Reply(drop=True), {"ret": 404}, {"ret": 602}
HOUR = Reply("busy", 429, headers={"Retry-After": "3600"})
ANSWERS = {  # the reply by number and query, the kinds of error, whether all rooms are asked
    "late": (after_40(Reply("", delay=4)), {ck.TransportTimeout}, False),
    "closed": (after_40(DROP), {ck.TransportError}, False),
    "502": (after_40(Reply("<html>Bad gateway", 502)), {ck.ProtocolError}, False),
    "429 for an hour": (after_40(HOUR), {ck.ProtocolError}, False),
    "602 for every token": (after_40(CODE_602), {ck.TokenRejected}, False),
    "602 for one room": (
        lambda _, query: CODE_602 if query["room_id"] == "7" else own(query),
        {ck.TokenRejected},
        True,
    ),
    "404": (after_40(CODE_404), {ck.RoomNotFound}, True),
    "503 with a code": (after_40(Reply({"ret": 700}, 503)), {ck.ApiError}, True),
    "404, every seventh": (
        after_40(*[DROP] * 6, CODE_404),
        {ck.TransportError, ck.RoomNotFound},
        True,
    ),
}


@pytest.mark.parametrize(("answer", "errors", "complete"), ANSWERS.values(), ids=ANSWERS)
def test_a_sweep_ends_where_nobody_answers(script, way, answer, errors, complete):
    """A result code is an answer, and so is one now and then. Those that were asked have their own
    errors, the others say that nobody asked them; neither is a room with zero users. Few
    authentications are spent on tokens that are rejected."""
    service = script()
    service.script[GET_ROOM] = lambda query: answer(service.seen[GET_ROOM], query)
    sweep, read = swept(connected(service, way, timeout=(1, 1)), 200, concurrency=8)
    failures = [failure.error for failure in sweep.failures]
    assert {type(error) for error in failures} == errors
    assert (sweep.complete, read + len(failures) + not_asked(sweep)) == (complete, 200)
    assert 30 < read <= 40 or (read, len(failures)) == (199, 1)
    assert not_asked(sweep) == 0 if complete else not_asked(sweep) > 100
    assert sweep.requests >= 200 if complete else sweep.requests < 40 + 4 * 16
    assert service.seen[AUTHENTICATE] <= 30
    assert sweep.frame().users.isna().all()
    if ck.ProtocolError in errors and failures[0].status == 429:
        assert "Wait 3,600 s" in str(failures[0])


def test_interface_b_does_not_stand_in_for_a(client, sandbox):
    """Where it answers and no room can be read, a sweep ends as well."""
    ids = [ck.create_room(client, f"R{n}", owner_id="ops") for n in range(200)]
    for path in ("/rtc/room/get", "/rtc/room/get_room_info"):
        sandbox.fault(path, drop=True)
    sweep = ck.sweep(client, ids)
    assert (sweep.complete, sweep.rooms, sweep.users) == (False, [], {})
    assert not_asked(sweep) > 100


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
    assert "ended early" in repr(sweep)
    assert rows(sweep.frame(), "topic", "users", "people", "ret", "error") == [
        ("Topic of a", None, None, None, NOT_ASKED),
        ("Topic of b", 0, None, None, NOT_ASKED),
    ]


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
import confkit as ck
from tests.ways import client_of
address, way, hung = sys.argv[1:]
client = client_of(address, way, timeout=60)
if hung == "A1":
    client._token.value = None
ck.sweep(client, [str(n) for n in range(200)])
"""


@pytest.mark.parametrize("hung", ["A1", "A3", "nothing"])
def test_ctrl_c_reaches_the_caller(script, way, hung):
    """As a KeyboardInterrupt, long before anything that hangs would end."""
    over, asked = threading.Event(), threading.Event()

    def answer(query):
        asked.set()
        over.wait(0.3 if hung == "nothing" else 60)
        return own(query)

    service = script({AUTHENTICATE if hung == "A1" else GET_ROOM: answer})
    started = time.monotonic()
    done = interrupted(PRESSED, service.base_url, way, hung, begun=asked.is_set)
    over.set()
    assert "KeyboardInterrupt" in done.stderr
    assert time.monotonic() - started < 20  # of the 60 for which it hangs


PROCESS = """
import os, sys, threading, time
import confkit as ck
from tests.ways import client_of
files = lambda: len(os.listdir("/proc/self/fd"))
ended = threading.Event(); ended.set()
client, ids = client_of(*sys.argv[1:]), [str(n) for n in range(20)]
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
    """On stderr; nothing on stdout, where results go."""
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    service = script({GET_ROOM: lambda query: Reply(own(query), delay=0.05)})
    swept(service.client(), 30, concurrency=1, progress=progress)
    assert ("/30" in stream.getvalue()) is shows
    assert capfd.readouterr() == ("", "")


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
    ann = ["ann"]
    present = {"full": ann, "free": ["ann", "bob"], "opens": [], "empties": ann, "film": ann}
    present |= {"lost": ann, "back": ann, "same": ann}
    caps = {name: room(name, attendee_max=2) for name in present}
    people = {"back": {"ret": 700}}
    service = script(building(present, [("film", "cam")], rooms=caps, people=people))
    client = service.client()
    before = ck.sweep(client, [*present, "gone"])
    present |= {"full": ["ann", "bob"], "free": ann, "opens": ann, "empties": []}
    present |= {"film": ["ann", "cam"]}
    people.clear()
    people["lost"] = {"ret": 700}
    after = ck.sweep(client, [*present, "new"])
    frame = ck.changes(before, after)
    assert rows(frame, "room_id", "change", "user_id", "users") == [
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
    assert "device gone" in set(ck.changes(after, before).change)
    assert types(ck.changes(after, after)) == types(frame)
    ended = threading.Event()
    ended.set()
    for later in (after, ck.sweep(client, list(present), cancelled=ended)):
        assert len(ck.changes(after, later)) == 0
