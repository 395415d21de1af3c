"""The sweep: rooms, users and external users as one frame, and nothing that was not said."""

import pickle
import subprocess
import sys
import threading
from datetime import UTC, datetime

import pandas as pd
import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from tests.many.building import DEVICES, ROOM, USERS, building, devices, room
from tests.scripted import Reply

TYPES = {
    "room_id": "string", "topic": "string", "users": "Int64", "people": "Int64",
    "devices": "Int64", "attendee_max": "Int64", "status": "category", "mode": "category",
    "owner_id": "string", "max_audio": "Int64", "max_video": "Int64", "room_status": "Int64",
    "room_mode": "Int64", "id": "Int64", "room_extend_id": "string", "ret": "Int64",
    "error": "string",
}  # fmt: skip
OCCUPANCY = {
    "room_id": "string",
    "topic": "string",
    "users": "Int64",
    "people": "Int64",
    "devices": "Int64",
    "attendee_max": "Int64",
    "utilisation": "Float64",
    "error": "string",
}


def types(frame):
    return {name: str(kind) for name, kind in frame.dtypes.items()}


def column(frame, name):
    """A column as a list; what is missing is None."""
    return [None if pd.isna(value) else value for value in frame[name]]


@pytest.fixture(scope="module")
def house():
    """A sandbox with 1,000 rooms in which people are."""
    with Sandbox(seed=3) as running:
        running.simulate(rooms=1000, days=0, until=datetime(2026, 6, 3, 10, 15, tzinfo=UTC))
        yield running


def test_a_thousand_rooms(house):
    """Every room has its row, in the order given, with the people that are in it."""
    ids = house.room_ids()[::-1]
    with house.connect() as client:
        began = datetime.now(UTC)
        sweep = ck.sweep(client, ids)
    assert (sweep.complete, sweep.failures, sweep.requests) == (True, (), 2001)
    assert began <= sweep.time <= datetime.now(UTC)
    assert (sweep.time.tzinfo, sweep.seconds > 0) == (UTC, True)
    frame = sweep.frame()
    assert [one.room_id for one in sweep.rooms] == ids
    assert list(sweep.users) == list(sweep.ids) == list(frame.room_id) == ids
    assert list(ck.rooms_frame(sweep.rooms).room_id) == ids
    expected = [len(house.people(room_id)) for room_id in ids[:300]]
    assert sum(expected) > 0
    assert column(frame, "users")[:300] == column(frame, "people")[:300] == expected
    assert (set(frame.devices), set(frame.ret), set(frame.error.isna())) == ({0}, {0}, {True})
    assert len(ck.users_frame(sweep.users)) == frame.users.sum()


@pytest.mark.parametrize("ids", [[], ["a"], ["a", "nowhere"], ["nowhere"]])
def test_the_frame_is_the_same_for_none_one_and_many(script, tmp_path, ids):
    """Its columns, their order and their types do not depend on what was found; the service and the
    time travel with it; as Parquet, pickle and CSV it can be kept, and the sweep as pickle."""
    sweep = ck.sweep(script(building({"a": ["x"]})).client(name="prod"), ids)
    again = pickle.loads(pickle.dumps(sweep))
    frame, shown = again.frame(), ck.occupancy_frame(again)
    assert list(types(frame).items()) == list(TYPES.items())
    assert list(types(shown).items()) == list(OCCUPANCY.items())
    assert list(frame.index) == list(range(len(ids)))
    assert frame.attrs == shown.attrs == {"service": "prod", "time": sweep.time.isoformat()}
    frame.to_parquet(tmp_path / "sweep.parquet")
    kept = pd.read_parquet(tmp_path / "sweep.parquet")
    pd.testing.assert_frame_equal(kept, frame, check_categorical=False)
    assert kept.attrs == frame.attrs
    frame.to_csv(tmp_path / "sweep.csv", index=False)
    found = ck.sweep(script(building({})).client(), tmp_path / "sweep.csv")
    assert list(found.ids) == ids
    failed = 2 * ids.count("nowhere")
    counted = "1 failure" if failed == 1 else f"{failed} failures"
    requests = 2 * len(ids) + bool(ids)
    assert repr(sweep).startswith(
        f"<Sweep of {len(ids)} rooms on prod: {requests} requests, {counted}"
    )


def test_nothing_is_asked_for_no_rooms(script):
    """An empty list costs no request, not even a token, and is a whole sweep."""
    service = script(building({}))
    sweep = ck.sweep(service.client(), [])
    assert service.requests == []
    assert (sweep.complete, sweep.requests, sweep.failures) == (True, 0, ())
    assert (sweep.rooms, sweep.users) == ([], {})
    assert ck.users_frame(sweep.users).empty
    assert ck.rooms_frame(sweep.rooms).empty


def test_a_camera_is_not_a_person(client, sandbox):
    """A room with a real, imported camera has a device and a user, and nobody in it."""
    empty, filmed = (ck.create_room(client, topic, "ops") for topic in ("Empty", "Filmed"))
    url = sandbox.camera(size=(160, 96), fps=5)
    ck.import_device(client, filmed, "cam", "Door", url)
    sandbox.join(filmed, "Ada")
    frame = ck.sweep(client, [empty, filmed]).frame()
    assert column(frame, "users") == [0, 2]
    assert column(frame, "people") == [0, 1]
    assert column(frame, "devices") == [0, 1]
    sandbox.device_service("stopped")
    sweep = ck.sweep(client, [empty, filmed])
    frame = sweep.frame()
    assert column(frame, "users") == [0, 2]
    assert column(frame, "people") == column(frame, "devices") == [None, None]
    assert column(frame, "attendee_max") == [None, None]
    [failure] = sweep.failures
    assert (failure.room_id, failure.call) == (None, "B3")
    assert isinstance(failure.error, ck.ServiceUnavailable)
    assert failure.advice
    assert column(frame, "ret") == [failure.error.ret] * 2
    assert column(frame, "error") == [str(failure.error)] * 2
    assert sweep.complete


def test_external_users_count_in_their_own_room_alone(script):
    """A user whose ID is a device's in another room is a person here; a device that B3 lists and
    A6 does not is not in the room."""
    service = script(
        building({"a": ["cam", "ann"], "b": ["cam"], "c": []}, [("b", "cam"), ("c", "away")])
    )
    frame = ck.sweep(service.client(), ["a", "b", "c"]).frame()
    assert column(frame, "people") == [2, 0, 0]
    assert column(frame, "devices") == [0, 1, 0]


def test_a_room_asked_by_its_extend_id(script):
    """Its row has the ID as asked, and its devices are found under its own."""
    answer = {"ext-1": room("77", room_extend_id="ext-1")}
    service = script(building({"ext-1": ["cam", "ann"]}, [("77", "cam")], rooms=answer))
    frame = ck.sweep(service.client(), ["ext-1"]).frame()
    assert column(frame, "room_id") == column(frame, "room_extend_id") == ["ext-1"]
    assert column(frame, "people") == column(frame, "devices") == [1]


def test_a_failed_room_is_missing_and_never_empty(client, sandbox):
    """Its row has its error and missing values; the others are as they are."""
    there = ck.create_room(client, "There", "ops")
    sandbox.join(there, "Ada")
    sweep = ck.sweep(client, ["nowhere", there])
    frame = sweep.frame()
    assert column(frame, "users") == column(frame, "people") == [None, 1]
    assert column(frame, "topic") == [None, "There"]
    assert column(frame, "status") == [None, "opening"]
    assert column(frame, "ret") == [404, 0]
    assert [(one.room_id, one.call) for one in sweep.failures] == [
        ("nowhere", "A3"),
        ("nowhere", "A6"),
    ]
    assert all(isinstance(one.error, ck.RoomNotFound) for one in sweep.failures)
    assert "404" in frame.error[0]
    assert list(sweep.users) == [one.room_id for one in sweep.rooms] == [there]
    assert ck.occupancy_frame(sweep).utilisation.isna().all()


FAILURES = {
    "a result code": ({"ret": 700}, 700),
    "a result code that no number holds": ({"ret": 10**30}, None),
    "an error page": (Reply("<html>Bad gateway", 502, "text/html"), None),
    "half an answer": ('{"ret": 0, "user', None),
    "no answer": (Reply(drop=True), None),
    "another room": (room("b"), None),
    "an answer without its parts": ({"ret": 0, "user_list": None}, None),
}


@pytest.mark.parametrize("answer", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("call", ["A3", "A6"])
def test_whatever_fails_the_rest_of_the_room_stands(script, answer, call):
    """A room that was read but not its users keeps its fields, users keep their number without
    fields; error, result code, failure and advice are there."""
    reply, ret = answer
    if call == "A3" and isinstance(reply, dict) and "user_list" in reply:
        reply = {"ret": 0, "room_id": ["a"]}
    if call == "A6" and isinstance(reply, dict) and "topic" in reply:
        reply = {"ret": 0, "user_list": [{"user_name": "no ID"}]}
    own = {"rooms" if call == "A3" else "people": {"a": reply}}
    service = script(building({"a": ["x", "y"], "b": []}, **own))
    sweep = ck.sweep(service.client(chance=lambda: 0.0), ["a", "b"])
    frame = sweep.frame()
    fields = [None if call == "A3" else "Topic of a", "Topic of b"]
    assert column(frame, "topic") == fields
    assert column(frame, "attendee_max") == [None if call == "A3" else 10, 10]
    assert column(frame, "users") == column(frame, "people") == [2 if call == "A3" else None, 0]
    assert column(frame, "devices") == [0 if call == "A3" else None, 0]
    [failure] = sweep.failures
    assert (failure.room_id, failure.call) == ("a", call)
    assert isinstance(failure.error, ck.ConfkitError)
    assert column(frame, "error") == [str(failure.error), None]
    assert column(frame, "ret") == [ret, 0]
    assert sweep.complete


CAPS = {"4": 0.75, "2": 1.5, 3: 1.0, None: None, "": None, "0": None, 0: None}


@pytest.mark.parametrize(("cap", "expected"), CAPS.items(), ids=map(repr, CAPS))
def test_utilisation(script, cap, expected):
    """Users above the cap are more than 1; without a cap, or with 0, it is missing."""
    service = script(building({"a": "xyz"}, rooms={"a": room("a", attendee_max=cap)}))
    shown = ck.occupancy_frame(ck.sweep(service.client(), ["a"]))
    assert column(shown, "utilisation") == [expected]
    assert column(shown, "users") == [3]
    assert column(shown, "attendee_max") == [int(cap) if cap not in (None, "") else None]
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


def test_neither_is_an_error(script):
    """A sweep that asks nothing is a mistake; without a service there is none."""
    service = script(building({"a": []}))
    with pytest.raises(ck.ConfigError, match="users=False"):
        ck.sweep(service.client(), ["a"], rooms=False, users=False)
    assert service.requests == []
    client = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "b", sleep=lambda _: None)
    with pytest.raises(ck.TransportError):
        ck.sweep(client, ["a"])


# When nothing can be asked, or no longer


def test_external_users_that_were_not_asked_for_are_missing_for_a_reason(script):
    """A sweep that ends while B3 is still due has no people, and each row says why."""
    ended, there = threading.Event(), {str(number): [] for number in range(20)}
    service = script(building(there) | {DEVICES: Reply(devices(), delay=3)})
    sweep = ck.sweep(
        service.client(),
        list(there),
        cancelled=ended,
        progress=lambda done, _: ended.set() if done == 40 else None,
    )
    frame = sweep.frame()
    assert not sweep.complete
    assert column(frame, "users") == [0] * 20
    assert column(frame, "people") == [None] * 20
    assert set(frame.ret.isna()) == {True}
    assert set(frame.error.str.contains("ended")) == {True}


# The result as a thing


WITHOUT = """
import sys

class Without:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in sys.argv[4].split(","):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Without())
import confkit as ck
client = ck.Client(*sys.argv[1:3], "demo_access", "demo_secret", sleep=lambda _: None)
found = ck.sweep(client, sys.argv[3].split(","))
assert [room.attendee_max for room in found.rooms] == [10, 25, 10, None]
found.frame().to_pickle(sys.argv[5])
"""


@pytest.mark.parametrize("missing", ["pyarrow", "pycurl", "pyarrow,pycurl"])
def test_without_the_fast_libraries_the_frame_is_the_same(script, tmp_path, missing):
    """pycurl and pyarrow make a sweep fast and change nothing in it."""
    own = {"q": room("q", attendee_max="25", room_mode="3", topic="Bär 会議"), "o": room("o", id=3)}
    own |= {"s": room("s", topic=None, attendee_max="", room_extend_id="")}
    there = {"a": ["x", "y"], "q": [], "o": [], "s": ["cam"]}
    service = script(building(there, [("s", "cam")], rooms=own))
    ids = [*there, "nowhere"]
    path = tmp_path / "frame.pickle"
    subprocess.run(
        [
            sys.executable,
            "-c",
            WITHOUT,
            service.base_url,
            service.base_url,
            ",".join(ids),
            missing,
            path,
        ],
        check=True,
    )
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
