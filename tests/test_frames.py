"""Frames: the same columns and types for none as for many, and nothing secret unless asked for."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pytest

import confkit as ck
from confkit.diagnosis import calls
from confkit.errors import api_error
from confkit.operations import OPERATIONS
from confkit.wire import PreparedRequest, Response
from tests.scripted import GET_ROOM, VECTOR_TOKEN, Reply

LARGEST, SMALLEST = 2**63 - 1, -(2**63)
NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video", "room_mode"]
TEXTS = ["topic", "owner_id", "room_extend_id"]
ROOMS = [
    ck.Room(room_id="007", **dict.fromkeys(TEXTS, "東\x00\n"), **dict.fromkeys(NUMBERS, LARGEST)),
    ck.Room(room_id="2", **dict.fromkeys([*TEXTS, *NUMBERS])),
    ck.Room(room_id="3", **dict.fromkeys(NUMBERS, SMALLEST)),
]
USERS = [ck.RoomUser("Ada", "u"), ck.RoomUser(None, "v"), ck.RoomUser("", "w")]
DEVICES = [ck.Device("007", "c", None, None, "x=1", {}), ck.Device("2", "d", "", "a", "", {"a": 1})]
SENT = PreparedRequest("GET", "http://h/rtc/room/create", {"topic": "x"}, "query", "access_token")
INDIA = timezone(timedelta(hours=5.5))
OUTCOMES = [
    (datetime(2000, 1, 1, tzinfo=INDIA), Response(200, b""), None),
    (datetime(2200, 1, 1, tzinfo=UTC), None, ck.TransportError("h")),
    (
        datetime(2026, 1, 1, tzinfo=UTC),
        Response(599, b""),
        api_error("odd", "A", "A2", "create room"),
    ),
]
CALLS = [ck.Call(OPERATIONS["A2"], SENT, t.timestamp(), 0.5, *rest, ()) for t, *rest in OUTCOMES]
# Of each converter: records of it, the columns that are as they are in them, and the types of all.
FRAMES = {
    ck.rooms_frame: (ROOMS, ["room_id", *TEXTS, *NUMBERS], (
        "room_id string, topic string, status category, attendee_max Int64, mode category, "
        "owner_id string, max_audio Int64, max_video Int64, room_status Int64, room_mode Int64, "
        "id Int64, room_extend_id string")),
    ck.users_frame: (
        USERS, ["user_id", "user_name"], "room_id string, user_id string, user_name string"),
    ck.devices_frame: (DEVICES, ["room_id", "user_id", "user_name", "user_address", "user_data"], (
        "room_id string, user_id string, user_name string, user_address string, "
        "user_data string, options string")),
    ck.calls_frame: (CALLS, ["time", "seconds", "status", "method", "url", "meaning", "error"], (
        "time datetime64[ms, UTC], call string, operation string, method string, url string, "
        "seconds float64, status Int64, ret string, meaning string, error string")),
}  # fmt: skip

MAKERS = dict(
    zip(FRAMES, ("get_room", "get_room_users", "list_devices", "client.calls"), strict=True)
)


def types(frame):
    return ", ".join(f"{name} {kind}" for name, kind in frame.dtypes.items())


def values(column):
    return [None if pd.isna(value) else value for value in column]


@pytest.mark.parametrize("convert", FRAMES)
def test_the_same_columns_and_types_for_none_as_for_many(convert):
    """One record counts as a list of one; what is no record is refused with where to get some."""
    records, columns, due = FRAMES[convert]
    frame = convert(records[::-1])
    assert types(frame) == due
    for name in columns:
        assert values(frame[name]) == [getattr(record, name) for record in records[::-1]]
    assert isinstance(frame.index, pd.RangeIndex)
    for source, rows in ((records[0], 1), ([], 0), ({}, 0), (iter(()), 0)):
        assert (types(convert(source)), len(convert(source))) == (due, rows)
    with pytest.raises(TypeError, match=MAKERS[convert]):
        convert([{"room_id": "1"}])


def test_users_stand_under_their_room():
    frame = ck.users_frame({7: USERS[:1], "8": [], "9": USERS[1:]})
    rows = list(zip(frame.room_id, frame.user_id, strict=True))
    assert rows == [("7", "u"), ("9", "v"), ("9", "w")]
    assert ck.users_frame(USERS).room_id.isna().all()


def test_a_status_or_mode_has_its_name_beside_it():
    """What nobody knows is "other"; a mode that is a text has no number."""
    names = ["scheduled", "opening", "locked", "closed"]
    status = {**dict(enumerate(names)), 7: "other", -1: "other", None: None}
    mode = {1: "MCU", 3: "peer-to-peer", 9: "other", "webinar": "other", None: None}
    for field, known in (("status", status), ("mode", mode)):
        rooms = [ck.Room(room_id="1", **{f"room_{field}": number}) for number in known]
        frame = ck.rooms_frame(rooms)
        assert values(frame[field]) == [*known.values()]
        assert values(frame[f"room_{field}"]) == [None if n == "webinar" else n for n in known]
    assert list(ck.rooms_frame([]).status.cat.categories) == [*names, "other"]


LOGIN, HIDDEN = "rtsp://a:hunter2@h/x", "rtsp://a:***@h/x"
HELD = {
    "login_password": 1_000_017,
    "deep": [{"password": "hunter2"}],
    "text": '{"pwd": "hunter2"}',
}


def test_secrets_show_only_when_asked_for():
    """With secrets=True they are plain texts; without, an address as a topic shows no login."""
    room = ck.Room(room_id=LOGIN, topic=LOGIN, host_password="hunter2")
    hidden, shown = ck.rooms_frame([room]), ck.rooms_frame([room], secrets=True)
    assert (hidden.topic[0], hidden.room_id[0], "host_password" in hidden) == (
        HIDDEN,
        HIDDEN,
        False,
    )
    assert (shown.topic[0], type(shown.host_password[0])) == (LOGIN, str)
    for address in (LOGIN, 'rtsp://a:"hunter2@h/x', "rtsp://a:my hunter2@h/x"):
        device = ck.Device("007", "c", "Door", address, LOGIN, HELD)
        hidden = ck.devices_frame([device])
        assert not re.search("hunter2|1000017", hidden.to_json())
        row = ck.devices_frame([device], secrets=True).iloc[0]
        assert (row.user_address, row.user_data) == (address, LOGIN)
        assert json.loads(row.options) == device.options
        assert {type(value) for value in (*row, *hidden.iloc[0])} == {str}


def test_a_name_that_is_an_address_tells_no_password():
    """Any other ID shows as it is, as it is compared with others."""
    keys = ["pass=1", "token:7", "sip:a:b@c", "http://h/x", "", "https://h/x, or ask a@h"]
    frame = ck.users_frame([ck.RoomUser(key, key) for key in keys])
    assert list(frame.user_id) == list(frame.user_name) == keys
    user, device = ck.RoomUser(LOGIN, LOGIN), ck.Device("1", LOGIN, LOGIN, LOGIN)
    for frame in ck.devices_frame([device]), ck.users_frame([user]), ck.users_frame({"1": [user]}):
        assert list(frame.user_id) == list(frame.user_name) == [HIDDEN]
    assert list(ck.devices_frame([device], secrets=True).user_id) == [LOGIN]
    assert "***" in calls.name_of(device)
    for call in (calls.import_call, calls.remove_call, calls.diagnose_call, calls.preflight_line):
        assert not re.search(r"\*\*\*|hunter2", call(device))  # what may not be shown is asked for


def test_a_call_has_its_codes_meaning_in_its_own_interface(script):
    """A missing code is no zero, and says why."""
    rooms = [{"ret": 401}, {"ret": "odd"}, Reply("<p>Out of order", status=404), Reply(drop=True)]
    service = script({GET_ROOM: rooms, OPERATIONS["B3"].path: {"ret": 401}})
    client = service.client()
    for call in [ck.get_room] * 4 + [ck.list_devices]:
        with pytest.raises(ck.ConfkitError):
            call(client, "1")
    frame = ck.calls_frame(client.calls)
    assert VECTOR_TOKEN not in frame.to_csv()
    closed = "the server closed the connection without a response"
    columns = (frame.call, values(frame.ret), values(frame.status), frame.meaning)
    assert list(zip(*columns, strict=True))[:5] == [
        ("A1", "0", 200, "success"),
        ("A3", "401", 200, "authentication failed"),
        ("A3", "odd", 200, "not a code of the interface, and none seen in other deployments"),
        ("A3", None, 404, "get room (A3) expected JSON, got HTML or XML (HTTP 404)"),
        ("A3", None, None, closed),
    ]
    assert (frame.ret.iloc[-1], frame.meaning.iloc[-1]) == ("401", "wrong parameters")
    assert frame.error.isna().tolist() == [True] + [False] * 7
    assert list(frame.operation[:2]) == ["authenticate", "get room"]
