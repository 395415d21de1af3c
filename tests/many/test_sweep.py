"""The sweep: rooms, users and external users as one frame, and nothing that was not said."""

import io
import pickle
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pandas as pd
import pytest
from nbclient import execute

import confkit as ck
from confkit.text import counted
from tests.many.building import DEVICES, ROOM, USERS, building, room, users
from tests.scripted import Reply

TYPES = (
    "room_id string, topic string, users Int64, people Int64, devices Int64, attendee_max Int64, "
    "status category, mode category, owner_id string, max_audio Int64, max_video Int64, "
    "room_status Int64, room_mode Int64, id Int64, room_extend_id string, ret Int64, error string"
)
OCCUPANCY = (
    "room_id string, topic string, users Int64, people Int64, devices Int64, attendee_max Int64, "
    "utilisation Float64, error string"
)


def types(frame):
    return ", ".join(f"{name} {kind}" for name, kind in frame.dtypes.items())


def column(frame, name):
    """A column as a list; what is missing is None."""
    return [None if pd.isna(value) else value for value in frame[name]]


@pytest.mark.parametrize("ids", [[], ["a"], ["a", "nowhere"]])
def test_the_frame_is_the_same_for_none_one_and_many(script, tmp_path, ids):
    """Its columns, their order and their types do not depend on what was found; the service and the
    time travel with it; as Parquet, pickle and CSV it can be kept, and the sweep as pickle. No
    rooms cost no request, not even a token."""
    service = script(building({"a": ["x"]}))
    sweep = ck.sweep(service.client(name="prod"), ids)
    assert bool(service.requests) is bool(ids)
    assert (sweep.complete, len(sweep.failures)) == (True, 2 * ids.count("nowhere"))
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
    found = ck.sweep(script(building({})).client(), tmp_path / "sweep.csv")
    assert list(found.ids) == ids
    shown = f"<Sweep of {counted(len(ids), 'room')} on prod: {2 * len(ids) + bool(ids)} requests, "
    assert repr(sweep).startswith(f"{shown}{2 * ids.count('nowhere')} failures")
    assert ("; such as room 'nowhere': get room" in repr(sweep)) is ("nowhere" in ids)


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
    device's in another room is a person; a device that A6 does not list is not in the room. Who
    wants to be told gets the calls done and their number, and nothing is written."""
    answer = {"ext-1": room("77", room_extend_id="ext-1")}
    there = {"ext-1": ["cam", "ann"], "b": ["cam"]}
    service = script(building(there, [("77", "cam"), ("b", "away")], rooms=answer))
    steps = []
    told = {"progress": lambda *step: steps.append(step)}
    frame = ck.sweep(service.client(), list(there), **told).frame()
    assert steps == [(done, 5) for done in range(1, 6)]
    assert capfd.readouterr() == ("", "")
    assert column(frame, "room_id") == ["ext-1", "b"]
    assert column(frame, "room_extend_id") == ["ext-1", None]
    assert (column(frame, "people"), column(frame, "devices")) == ([1, 1], [1, 0])


def test_a_failed_room_is_missing_and_never_empty(script):
    """Whatever fails, the rest of the room stands: one that was read but not its users keeps its
    fields, users keep their number without fields; error, code, failure and advice are there."""
    busy, large = {"ret": 700}, {"ret": 10**30}
    fields = {"code": busy, "dropped": Reply(drop=True), "odd": {"ret": 0, "room_id": ["odd"]}}
    people = {"users": busy, "large": large, "no list": {"ret": 0, "user_list": None}}
    there = dict.fromkeys([*fields, *people, "fine"], ("x", "y"))
    service = script(building(there, rooms=fields, people=people))
    sweep = ck.sweep(service.client(chance=lambda: 0.0), [*there, "nowhere"])
    frame = sweep.frame()
    read = frame[["topic", "attendee_max", "users", "people", "devices", "ret"]]
    read = read.astype(object).where(read.notna(), None).to_numpy().tolist()
    assert dict(zip(sweep.ids, read, strict=True)) == {
        "code": [None, None, 2, 2, 0, 700],
        "dropped": [None, None, 2, 2, 0, None],
        "odd": [None, None, 2, 2, 0, None],
        "users": ["Topic of users", 10, None, None, None, 700],
        "large": ["Topic of large", 10, None, None, None, None],
        "no list": ["Topic of no list", 10, None, None, None, None],
        "fine": ["Topic of fine", 10, 2, 2, 0, 0],
        "nowhere": [None, None, None, None, None, 404],
    }
    calls = [(one.room_id, one.call) for one in sweep.failures]
    failed = [*((name, "A3") for name in fields), *((name, "A6") for name in people)]
    assert calls == [*failed, ("nowhere", "A3"), ("nowhere", "A6")]
    errors = {one.room_id: str(one.error) for one in sweep.failures}
    assert dict(frame.dropna(subset="error")[["room_id", "error"]].to_numpy()) == errors
    assert all(isinstance(one.error, ck.ConfkitError) for one in sweep.failures)
    assert list(sweep.users) == [*fields, "fine"]
    assert [one.room_id for one in sweep.rooms] == [*people, "fine"]
    assert sweep.complete


def test_utilisation(script):
    """Users above the cap are more than 1; without a cap, or with 0, it is missing."""
    caps = {"over": "2", "below": "4", "without": None, "empty": "", "zero": "0"}
    answers = {name: room(name, attendee_max=cap) for name, cap in caps.items()}
    service = script(building(dict.fromkeys(answers, "xyz"), rooms=answers))
    shown = ck.occupancy_frame(ck.sweep(service.client(), list(caps)))
    assert column(shown, "utilisation") == [1.5, 0.75, None, None, None]
    assert column(shown, "users") == [3] * 5
    assert column(shown, "attendee_max") == [2, 4, None, None, 0]
    assert types(shown) == OCCUPANCY


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
        ({"concurrency": 0, "executor": ThreadPoolExecutor()}, "concurrency"),
        ({"max_rate": 0, "executor": ThreadPoolExecutor()}, "max_rate"),
        ({"executor": object()}, r"object.*get_executor\(\)"),
    ],
)
def test_what_makes_no_sense_is_an_error(script, options, match):
    """It is raised and no room's failure: a sweep that asks nothing, a number that is none, what is
    no executor. So it is when there is no service."""
    service = script(building({"a": []}))
    with pytest.raises(ck.ConfigError, match=match):
        ck.sweep(service.client(), ["a"], **options)
    assert service.requests == []
    client = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "b", sleep=lambda _: None)
    with pytest.raises(ck.TransportError):
        ck.sweep(client, ["a"])


def test_what_was_not_asked_for_in_the_end_is_missing_for_a_reason(script):
    """A sweep that ends while B3 and the users of a room are still due has no people and not those
    users, and each row says why."""
    ended = threading.Event()
    late = {"a": Reply(users("x"), delay=60)}
    service = script(building({"a": ["x"], "b": []}, people=late) | {DEVICES: Reply("", delay=60)})
    sweep = ck.sweep(
        service.client(),
        ["a", "b"],
        cancelled=ended,
        progress=lambda done, _: ended.set() if done == 3 else None,
    )
    frame = sweep.frame()
    assert "ended early" in repr(sweep)
    assert column(frame, "topic") == ["Topic of a", "Topic of b"]
    assert column(frame, "users") == [None, 0]
    assert column(frame, "people") == column(frame, "ret") == [None, None]
    assert set(frame.error) == {"not asked: the sweep was ended before"}


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
    own = {"q": room("q", attendee_max="25", room_mode="3", topic="Bär 会議"), "o": room("o", id=3)}
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
    """Addresses that were taken for room IDs fail, and neither the sweep nor its frame shows the
    password in them."""
    found = ck.sweep(client, ["rtsp://admin:hunter2@192.0.2.7/x"])
    shown = [found, found.failures, found.ids, found.users, found.frame().to_csv()]
    shown.append(ck.occupancy_frame(found).to_csv())
    assert found.failures
    assert "hunter2" not in f"{shown}"
    assert found.ids == ("rtsp://admin:hunter2@192.0.2.7/x",)


# What it says on its way: to a person who watches, and to nobody else

LONG = [str(number) for number in range(501)]  # with two calls each over a thousand
FIRST = re.compile(r"1,002 calls to prod, about [\w ]+")


@pytest.fixture
def service(script):
    return script(building(dict.fromkeys(LONG, ())))


@pytest.mark.parametrize(
    ("rooms", "progress", "terminal", "line", "bar"),
    [
        (501, None, True, True, "0/1003"),
        (500, None, True, False, "0/1001"),
        (49, None, True, False, ""),
        (501, None, False, False, ""),
        (501, True, False, True, "0/1003"),
        (501, False, True, False, ""),
    ],
)
def test_what_is_shown_on_the_way(
    service, monkeypatch, capfd, rooms, progress, terminal, line, bar
):
    """A line first, where there are more than a thousand calls, then a bar, which a few calls do
    not need; on stderr, where somebody watches; nothing on stdout, where results go. No thread of
    the bar stays, as its library would have it."""
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    ck.sweep(service.client(name="prod"), LONG[:rooms], progress=progress)
    told, seen = FIRST.search(stream.getvalue()), stream.getvalue()
    assert (bool(told), bool(seen)) == (line, bool(bar))
    assert bar in seen
    assert not told or told.start() < seen.index("calls:")
    assert capfd.readouterr() == ("", "")
    assert [one for one in threading.enumerate() if type(one).__module__.startswith("tqdm")] == []


@pytest.mark.parametrize(("rate", "told"), [(600, "about 2 s"), (0.5, "about 33 minutes")])
def test_the_guess_keeps_to_the_rate(service, caplog, rate, told):
    """At so many requests a second it takes that long at least, whoever set the rate."""
    ended = threading.Event()
    ended.set()
    caplog.set_level("INFO", "confkit.sweep")
    ck.sweep(service.client(max_rate=rate), LONG, max_rate=1000, cancelled=ended)
    assert told in caplog.text


NOTEBOOK = """
import confkit as ck
client = ck.Client({0!r}, {0!r}, "demo_access", "demo_secret", name="prod")
sweep = ck.sweep(client, map(str, range(501)))
"""


def test_a_notebook_shows_it_unless_it_is_compared(service):
    """A line and a bar are outputs of a cell; where nbval compares it with its stored output, none
    of the sweep's is there."""
    named = "import os\nos.environ['PYTEST_CURRENT_TEST'] = 'a.ipynb::Cell 0'\n"
    code = NOTEBOOK.format(service.base_url)
    cells = [nbformat.v4.new_code_cell(one) for one in (code, named + code)]
    shown, compared = execute(nbformat.v4.new_notebook(cells=cells)).cells
    assert FIRST.search(shown.outputs[0].text)
    assert "1003" in str(shown.outputs[1])
    assert compared.outputs == []
