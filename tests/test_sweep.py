"""The sweep: rooms, users and devices as one frame; a service that stops responding; cancelling."""

import threading
import time

import pytest

import confkit as ck
from confkit.sweep import with_last_known
from tests.building import DEVICES, building, room
from tests.commands import interrupted
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply, listed
from tests.ways import WAYS, by, connected

TYPES = (
    "room_id string, topic string, users Int64, people Int64, devices Int64, attendee_max Int64, "
    "status category, mode category, owner_id string, max_audio Int64, max_video Int64, "
    "room_status Int64, room_mode Int64, id Int64, room_extend_id string, ret Int64, error string"
)
OCCUPANCY = TYPES[: TYPES.index(", status")] + ", utilisation Float64, error string"
NOT_ASKED = "not asked: the sweep ended early"
FRESH = {**GRANTED, "key": "pair"}
each_way = pytest.mark.parametrize("way", WAYS)


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


@pytest.mark.parametrize("ids", [[], ["a", "nowhere"]])
def test_the_frame_has_the_same_columns_whatever_was_read(script, ids):
    service = script(building({"a": ["x"]}))
    sweep = ck.sweep(service.client(), ids)
    assert (bool(service.requests), sweep.complete) == (bool(ids), True)
    frame, occupancy = sweep.frame(), ck.occupancy_frame(sweep)
    assert (types(frame), types(occupancy)) == (TYPES, OCCUPANCY)


def test_a_camera_is_not_a_person(client, sandbox):
    """While the devices cannot be read, people and devices are missing, and the row says why."""
    filmed = ck.create_room(client, "Filmed", "ops")
    ck.import_device(client, filmed, "cam", "Door", sandbox.camera(size=(160, 96), fps=5))
    sandbox.join(filmed, "Ada")
    frame = ck.sweep(client, [filmed]).frame()
    assert rows(frame, "users", "people", "devices") == [(2, 1, 1)]
    sandbox.device_service("stopped")
    sweep = ck.sweep(client, [filmed])
    [(room_id, call, error, _)] = sweep.failures
    assert (room_id, call, type(error), sweep.complete) == (None, "B3", ck.ServiceUnavailable, True)
    columns = ("users", "people", "devices", "ret", "error")
    assert rows(sweep.frame(), *columns) == [(2, None, None, error.ret, str(error))]


def test_a_room_asked_by_its_extend_id(script):
    """Its row has the ID as given, its devices are those of its own ID."""
    rooms = {"ext-1": room("77", room_extend_id="ext-1")}
    present = {"ext-1": ["cam", "ann"], "b": ["cam"]}
    service = script(building(present, [("77", "cam"), ("b", "away")], rooms=rooms))
    frame = ck.sweep(service.client(), list(present)).frame()
    columns = ("room_id", "room_extend_id", "people", "devices")
    assert rows(frame, *columns) == [("ext-1", "ext-1", 1, 1), ("b", None, 1, 0)]


def test_utilisation(script):
    """Users above the cap are more than 1; of a cap of 0, which is none, it is missing."""
    due = {"2": 1.5, "4": 0.75, "0": None}
    answers = {cap: room(cap, attendee_max=cap) for cap in due}
    service = script(building(dict.fromkeys(due, "xyz"), rooms=answers))
    frame = ck.occupancy_frame(ck.sweep(service.client(), list(due)))
    assert rows(frame, "room_id", "utilisation") == list(due.items())


@each_way
def test_a_token_that_is_not_renewed_ends_the_sweep(script, way):
    """It is one failure of the sweep; what was not asked says so."""
    service = script({AUTHENTICATE: [GRANTED, {"ret": 401}]})
    client = by(service.client(), way)
    old = client.token()

    def answer(query):
        expired = query["access_token"] == old and int(query["room_id"]) >= 50
        return Reply({"ret": 602} if expired else room_of(query), delay=0.01)

    service.script[GET_ROOM] = answer
    sweep, read, skipped = swept(client, 300, concurrency=8)
    assert {type(failure.error) for failure in sweep.failures} == {ck.AuthenticationFailed}
    assert sweep.failures[0][:2] == (None, "A1")
    assert (service.seen[AUTHENTICATE], read, sweep.complete) == (2, 50, False)
    assert skipped >= 300 - 50 - 8


ENDS = [  # the reply after 40 rooms, the error, whether all rooms are asked
    (Reply(drop=True), ck.TransportError, False),
    ({"ret": 602}, ck.TokenRejected, False),
    ({"ret": 404}, ck.RoomNotFound, True),
]


@each_way
@pytest.mark.parametrize(("reply", "error", "complete"), ENDS)
def test_a_sweep_ends_where_nothing_responds(script, way, reply, error, complete):
    """A result code is a response. What was asked has its own error, the rest says "not asked"."""
    service = script()
    service.script[GET_ROOM] = lambda q: reply if service.seen[GET_ROOM] > 40 else room_of(q)
    sweep, read, skipped = swept(connected(service, way), 200, concurrency=8)
    assert {type(failure.error) for failure in sweep.failures} == {error}
    assert (sweep.complete, read + len(sweep.failures) + skipped) == (complete, 200)
    assert 30 < read <= 40
    assert skipped == 0 if complete else skipped > 100


@each_way
def test_a_service_that_restarts_costs_few_rooms(script, way):
    """It responds again within a second, and has forgotten its tokens."""
    service = script({AUTHENTICATE: [GRANTED, FRESH]})
    client = by(service.client(), way)
    old, away = client.token(), []

    def answer(query):
        if service.seen[GET_ROOM] > 40:
            away.append(time.monotonic())
            if away[-1] < away[0] + 0.9:
                return Reply(drop=True)
            if query["access_token"] == old:
                return {"ret": 602}
        return room_of(query)

    service.script[GET_ROOM] = answer
    sweep, read, _ = swept(client, 300)
    assert sweep.complete
    assert read == 300 - len(sweep.failures) > 300 - 50
    assert service.seen[AUTHENTICATE] == 2


@each_way
def test_an_event_ends_it(script, way):
    service = script({GET_ROOM: room_of})
    client, cancelled = connected(service, way), threading.Event()
    options = {"cancelled": cancelled, "progress": lambda *_: cancelled.set()}
    sweep, read, skipped = swept(client, 5000, **options)
    assert not sweep.complete
    assert 0 < read == 5000 - skipped < 5000


PRESSED = """
import sys
import confkit as ck
from tests.ways import client_of
address, way = sys.argv[1:]
client = client_of(address, way, timeout=60)
ck.sweep(client, [str(n) for n in range(200)])
"""


@each_way
def test_ctrl_c_reaches_the_caller(script, way):
    """Though what it waits for hangs."""
    over = threading.Event()
    service = script({GET_ROOM: lambda _: over.wait(60)})
    done = interrupted(PRESSED, service.base_url, way, begun=lambda: service.seen[GET_ROOM])
    over.set()
    assert "KeyboardInterrupt" in done.stderr


def test_changes_between_two_sweeps(script):
    """What only one of two sweeps has read, or did not ask, is no change."""
    present = {"opens": [], **dict.fromkeys(("empties", "film", "lost", "back"), ("ann",))}
    caps = {name: room(name, attendee_max=2) for name in present}
    people = {"back": {"ret": 700}}
    service = script(building(present, [("film", "cam")], rooms=caps, people=people))
    client = service.client()
    before = ck.sweep(client, [*present, "gone"])
    present |= {"opens": ["ann"], "empties": [], "film": ["ann", "cam"]}
    people.clear()
    people["lost"] = {"ret": 700}
    after = ck.sweep(client, [*present, "new"])
    frame = ck.changes(before, after)
    assert rows(frame, "room_id", "change", "user_id", "users") == [
        ("opens", "user joined", "ann", 1),
        ("opens", "opened", None, 1),
        ("empties", "user left", "ann", 0),
        ("empties", "emptied", None, 0),
        ("film", "device came", "cam", 2),
        ("film", "became full", None, 2),
        ("lost", "became unreadable", None, None),
        ("back", "readable again", None, 1),
    ]
    caps["film"] = room("film", attendee_max=9)
    larger = ck.sweep(client, ["film"])
    assert [*ck.changes(after, larger).change] == ["no longer full"]
    service.script[DEVICES] = listed()
    early = ck.sweep(client, ["film"])  # while its device is being imported
    assert [*ck.changes(early, larger).change] == ["device came"]
    caps["film"] = room("film", attendee_max=-1)  # of a service that means "without a cap"
    assert len(ck.changes(larger, ck.sweep(client, ["film"]))) == 0
    assert "device gone" in set(ck.changes(after, before).change)
    present["lost"], present["back"] = ("ann", "bob"), ()
    people["back"] = {"ret": 700}
    cancelled = threading.Event()
    cancelled.set()
    ended = ck.sweep(client, list(present), cancelled=cancelled)  # no room was asked
    known = with_last_known(with_last_known(before, after), ended)
    people["lost"] = {"ret": 700}
    assert "lost" not in set(ck.changes(known, ck.sweep(client, ["lost"])).room_id)
    people.clear()
    rejoined = ck.changes(known, ck.sweep(client, ["lost", "back"]))
    assert rows(rejoined, "room_id", "change", "user_id", "users") == [
        ("lost", "readable again", None, 2),
        ("lost", "user joined", "bob", 2),
        ("lost", "became full", None, 2),
        ("back", "user left", "ann", 0),
        ("back", "emptied", None, 0),
    ]
    for later in (after, ended):
        assert len(ck.changes(after, later)) == 0
