"""The sweep: rooms, users and devices as one frame; a service that stops responding; cancelling."""

import io
import pickle
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


def room_of(query):
    return {"ret": 0, "room_id": query["room_id"]}


def swept(client, count, **options):
    """A sweep of so many rooms for their fields alone; how many were read, and not asked."""
    sweep = ck.sweep(client, [str(n) for n in range(count)], users=False, **options)
    return sweep, len(sweep.rooms), int(sweep.frame().error.eq(NOT_ASKED).sum())


# The frame


@pytest.mark.parametrize("ids", [[], ["a", "nowhere"]])
def test_the_frame_has_the_same_columns_whatever_was_read(script, tmp_path, ids):
    """A sweep survives pickle, its frame Parquet and CSV; no rooms cost no request."""
    service = script(building({"a": ["x"]}))
    sweep = pickle.loads(pickle.dumps(ck.sweep(service.client(name="prod"), ids)))
    assert (bool(service.requests), sweep.complete) == (bool(ids), True)
    assert ("room 'nowhere': get room" in repr(sweep)) is bool(ids)
    frame, occupancy = sweep.frame(), ck.occupancy_frame(sweep)
    assert (types(frame), types(occupancy)) == (TYPES, OCCUPANCY)
    assert frame.attrs == {"service": "prod", "time": sweep.time.isoformat()}
    frame.to_parquet(tmp_path / "sweep.parquet")
    kept = pd.read_parquet(tmp_path / "sweep.parquet")
    pd.testing.assert_frame_equal(kept, frame, check_categorical=False)
    frame.to_csv(tmp_path / "sweep.csv", index=False)
    assert list(ck.sweep(service.client(), tmp_path / "sweep.csv").ids) == ids


def test_a_camera_is_not_a_person(client, sandbox):
    """While the devices cannot be read, people and devices are missing, and each row says why."""
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
    why = (None, None, error.ret, str(error))
    columns = ("users", "people", "devices", "ret", "error")
    assert rows(sweep.frame(), *columns) == [(0, *why), (2, *why)]


def test_a_room_asked_by_its_extend_id(script):
    """Its row has the ID as given, its devices are those of its own ID; a user whose ID is a
    device's in another room is a person."""
    rooms = {"ext-1": room("77", room_extend_id="ext-1")}
    present = {"ext-1": ["cam", "ann"], "b": ["cam"]}
    service, steps = script(building(present, [("77", "cam"), ("b", "away")], rooms=rooms)), []
    frame = ck.sweep(service.client(), list(present), progress=lambda *n: steps.append(n)).frame()
    assert steps == [(1, 2), (2, 2)]
    columns = ("room_id", "room_extend_id", "people", "devices")
    assert rows(frame, *columns) == [("ext-1", "ext-1", 1, 1), ("b", None, 1, 0)]


def test_a_failed_room_is_missing_and_never_empty(script):
    """A room whose users alone failed keeps its fields; A6 is not sent where A3 failed."""
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
    """An ID that is given twice costs one call of each kind, the devices one for all rooms."""
    service = script(building({"a": ["cam", "x"]}, [("a", "cam")]))
    sweep = ck.sweep(service.client(), ["a", "a"], rooms=rooms_too, users=users_too)
    calls = (service.seen[ROOM], service.seen[USERS], service.seen[DEVICES])
    assert calls == (rooms_too, users_too, users_too)
    assert (sum(calls), True) == (sweep.requests, sweep.complete)
    count = 1 if users_too else None
    expected = ("Topic of a" if rooms_too else None, count, count, 0, None)
    assert rows(sweep.frame(), "topic", "people", "devices", "ret", "error") == [expected]
    assert types(sweep.frame()) == TYPES


def raising(done, _):
    if done == 5:
        raise RuntimeError("mine")


AWAY = "http://127.0.0.1:9"
RAISED = [  # the client's address, if another; options; what is raised; how much is sent
    *((None, {"concurrency": n}, ck.ConfigError, 0) for n in (0, True, 8.5)),
    *((None, {"max_rate": n}, ck.ConfigError, 0) for n in (0, float("inf"))),
    (AWAY, {}, ck.TransportError, 0),
    (None, {"progress": raising}, RuntimeError, 6),
]


@pytest.mark.parametrize(("address", "options", "error", "sent"), RAISED)
def test_what_is_raised(script, address, options, error, sent):
    """Invalid options, no connection at all, and a bug in the caller's function."""
    service = script({GET_ROOM: room_of})
    address = address or service.base_url
    with pytest.raises(error):
        swept(ck.Client(address, address, "a", "b", sleep=lambda _: None), 30, **options)
    assert (len(service.requests) >= sent) if sent else (service.requests == [])


# The token and the rate


RENEWALS = {
    "granted": ([FRESH], None),
    "dropped": ([Reply(drop=True), FRESH], None),
    "refused": ([{"ret": 401}], ck.AuthenticationFailed),
    "without a token": ([{"ret": 0}], ck.ProtocolError),
}


@pytest.mark.parametrize(("renewal", "error"), RENEWALS.values(), ids=RENEWALS)
def test_a_token_that_expires_is_renewed_once_or_ends_the_sweep(script, way, renewal, error):
    """A renewal that fails is one failure of the sweep; the rooms under way have its error too, the
    rest was not asked."""
    service = script({AUTHENTICATE: [GRANTED, *renewal]})
    client = by(service.client(), way)
    old = client.token()

    def answer(query):
        expired = query["access_token"] == old and int(query["room_id"]) >= 50
        return Reply({"ret": 602} if expired else room_of(query), delay=0.01)

    service.script[GET_ROOM] = answer
    sweep, read, skipped = swept(client, 300, concurrency=8)
    assert service.seen[AUTHENTICATE] == 1 + len(renewal)
    assert {type(failure.error) for failure in sweep.failures} == ({error} if error else set())
    calls = [(failure.room_id is None, failure.call) for failure in sweep.failures]
    if error:
        assert (read, sweep.complete, calls[0]) == (50, False, (True, "A1"))
        assert set(calls[1:]) == {(False, "A3")}
        assert skipped == 300 - 50 - len(calls[1:]) >= 300 - 50 - 8
    else:
        assert (read, sweep.complete, calls) == (300, True, [])
        assert sweep.requests == service.seen[GET_ROOM] <= 300 + 8


@pytest.mark.parametrize(("of_client", "of_sweep"), [(8, 20), (None, 8)])
def test_the_lower_rate_of_sweep_and_client_holds(script, way, of_client, of_sweep):
    service = script({GET_ROOM: room_of})
    started = time.monotonic()
    assert swept(by(service.client(max_rate=of_client), way), 5, max_rate=of_sweep)[1] == 5
    assert time.monotonic() - started >= 4 / 8


# A service that stops responding


@pytest.mark.parametrize("late", [1, 3])
def test_slow_rooms_cost_only_themselves(script, way, late):
    """More of them in a row than there are threads: a room that is late once is read, one that is
    late three times is a failure, all others are read."""
    slow = {str(n) for n in range(100, 120)}
    service, tries = script(), Counter()

    def answer(query):
        tries[query["room_id"]] += 1
        is_late = query["room_id"] in slow and tries[query["room_id"]] <= late
        return Reply(room_of(query), delay=2 if is_late else 0)

    service.script[GET_ROOM] = answer
    sweep, read, _ = swept(connected(service, way, timeout=(0.5, 0.5)), 300, concurrency=16)
    assert {failure.room_id for failure in sweep.failures} == (slow if late == 3 else set())
    assert (read, sweep.complete) == (300 - len(sweep.failures), True)
    assert {tries[room_id] for room_id in slow} == {min(late + 1, 3)}


DROP, HOUR = Reply(drop=True), Reply("busy", 429, headers={"Retry-After": "3600"})
ENDS = {  # the replies in turn after 40 rooms, the kinds of error, whether all rooms are asked
    "late": ([Reply("", delay=4)], {ck.TransportTimeout}, False),
    "closed": ([DROP], {ck.TransportError}, False),
    "502": ([Reply("<html>Bad gateway", 502)], {ck.ProtocolError}, False),
    "429 for an hour": ([HOUR], {ck.ProtocolError}, False),
    "602 for every token": ([{"ret": 602}], {ck.TokenRejected}, False),
    "404": ([{"ret": 404}], {ck.RoomNotFound}, True),
    "503 with a code": ([Reply({"ret": 700}, 503)], {ck.ApiError}, True),
    "404, every seventh": ([*[DROP] * 6, {"ret": 404}], {ck.TransportError, ck.RoomNotFound}, True),
}


@pytest.mark.parametrize(("replies", "errors", "complete"), ENDS.values(), ids=ENDS)
def test_a_sweep_ends_where_nothing_responds(script, way, replies, errors, complete):
    """A result code is a response. What was asked has its own error, the rest says "not asked"."""
    service, turn = script(), cycle(replies)
    service.script[GET_ROOM] = lambda q: next(turn) if service.seen[GET_ROOM] > 40 else room_of(q)
    sweep, read, skipped = swept(connected(service, way, timeout=(1, 1)), 200, concurrency=8)
    failures = [failure.error for failure in sweep.failures]
    assert {type(error) for error in failures} == errors
    assert (sweep.complete, read + len(failures) + skipped) == (complete, 200)
    assert 30 < read <= 40
    assert skipped == 0 if complete else skipped > 100
    assert sweep.requests >= 200 if complete else sweep.requests < 40 + 4 * 16
    assert service.seen[AUTHENTICATE] <= 30
    assert sweep.frame().users.isna().all()
    if replies == [HOUR]:
        assert "Wait 3,600 s" in str(failures[0])


def test_a_single_room_that_answers_602_costs_only_itself(script, way):
    service = script()
    service.script[GET_ROOM] = lambda q: {"ret": 602} if q["room_id"] == "7" else room_of(q)
    sweep, read, _ = swept(connected(service, way), 200)
    assert [failure[:2] for failure in sweep.failures] == [("7", "A3")]
    assert (read, sweep.complete) == (199, True)


def test_interface_b_does_not_stand_in_for_a(client, sandbox):
    """If B responds and no room can be read, the sweep ends as well."""
    ids = [ck.create_room(client, f"R{n}", owner_id="ops") for n in range(200)]
    for path in (ROOM, USERS):
        sandbox.fault(path, drop=True)
    sweep = ck.sweep(client, ids)
    assert (sweep.complete, sweep.rooms, sweep.users) == (False, [], {})
    assert sweep.frame().error.eq(NOT_ASKED).sum() > 100


@pytest.mark.parametrize("lost", ["nothing", "its tokens"])
def test_a_service_that_restarts_costs_few_rooms(script, way, lost):
    """It responds again within a second, and may have forgotten its tokens."""
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
        return room_of(query)

    service.script[GET_ROOM] = answer
    sweep, read, _ = swept(client, 300)
    assert sweep.complete
    assert read == 300 - len(sweep.failures) > 300 - 50
    assert service.seen[AUTHENTICATE] == (1 if lost == "nothing" else 2)


# Cancelling


def test_what_was_not_asked_in_the_end_is_missing_for_a_reason(script):
    """Cancelled while B3 and the users of a room are still due."""
    cancelled = threading.Event()
    late = {"a": Reply(users("x"), delay=60)}
    service = script(building({"a": ["x"], "b": []}, people=late) | {DEVICES: Reply("", delay=60)})
    client, end = service.client(timeout=(1, 3)), lambda *_: cancelled.set()
    sweep = ck.sweep(client, ["a", "b"], cancelled=cancelled, progress=end)
    assert "ended early" in repr(sweep)
    assert rows(sweep.frame(), "topic", "users", "people", "ret", "error") == [
        ("Topic of a", None, None, None, NOT_ASKED),
        ("Topic of b", 0, None, None, NOT_ASKED),
    ]


def test_an_event_ends_it_from_another_thread(script, way):
    """Set in the middle, before, and while a token is due, which is then not asked for again."""
    service = script({GET_ROOM: room_of})
    client, cancelled = connected(service, way), threading.Event()
    options = {"cancelled": cancelled, "progress": lambda *_: cancelled.set()}
    with ThreadPoolExecutor(1) as pool:
        sweep, read, skipped = pool.submit(swept, client, 5000, **options).result()
    assert not sweep.complete
    assert 0 < read == 5000 - skipped < 5000
    sweep, *counts = swept(client, 2, cancelled=cancelled)
    assert (sweep.complete, counts) == (False, [0, 2])
    service = script({AUTHENTICATE: lambda _: cancelled.set() or Reply(GRANTED, delay=3)})
    cancelled.clear()
    sweep, *counts = swept(service.client(timeout=(0.5, 0.5)), 2, cancelled=cancelled)
    assert (sweep.complete, counts, sweep.failures) == (False, [0, 2], ())
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
        return room_of(query)

    service = script({AUTHENTICATE if hung == "A1" else GET_ROOM: answer})
    started = time.monotonic()
    done = interrupted(PRESSED, service.base_url, way, hung, begun=asked.is_set)
    over.set()
    assert "KeyboardInterrupt" in done.stderr
    assert time.monotonic() - started < 20  # of the 60 for which it hangs


# Progress


@pytest.mark.parametrize(
    ("progress", "terminal", "visible"),
    [(None, True, True), (None, False, False), (True, False, True), (False, True, False)],
)
def test_a_bar_on_stderr(script, monkeypatch, capfd, progress, terminal, visible):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    service = script({GET_ROOM: lambda query: Reply(room_of(query), delay=0.05)})
    swept(service.client(), 30, concurrency=1, progress=progress)
    assert ("/30" in stream.getvalue()) is visible
    assert capfd.readouterr() == ("", "")


NOTEBOOK = """
import confkit as ck
client = ck.Client({0!r}, {0!r}, "demo_access", "demo_secret", name="prod")
sweep = ck.sweep(client, map(str, range(30)), users=False, concurrency=1)
"""


def test_nothing_of_a_bar_stays_in_a_notebook(script):
    """Where nbval compares the cell with its stored output, there is none at all."""
    service = script({GET_ROOM: lambda query: Reply(room_of(query), delay=0.05)})
    named = "import os\nos.environ['PYTEST_CURRENT_TEST'] = 'a.ipynb::Cell 0'\n"
    code = NOTEBOOK.format(service.base_url)
    cells = [nbformat.v4.new_code_cell(source) for source in (code, named + code)]
    first, compared = execute(nbformat.v4.new_notebook(cells=cells)).cells
    assert "30" not in str(first.outputs)
    assert compared.outputs == []


# Changes


def test_changes_between_two_sweeps(script):
    """What only one of two sweeps has read, or did not ask, is no change."""
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
    cancelled = threading.Event()
    cancelled.set()
    for later in (after, ck.sweep(client, list(present), cancelled=cancelled)):
        assert len(ck.changes(after, later)) == 0
