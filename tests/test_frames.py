"""Frames: the same columns and types for none as for many, and nothing secret unless asked for."""

import json
import re

import pandas as pd
import pytest

import confkit as ck
from confkit.diagnosis import calls
from confkit.wire import PreparedRequest

NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video", "room_mode"]
TEXTS = ["topic", "owner_id", "room_extend_id"]
ROOMS = [
    ck.Room(room_id="007", **dict.fromkeys(TEXTS, "東\x00\n"), **dict.fromkeys(NUMBERS, 2**63 - 1)),
    ck.Room(room_id="2", **dict.fromkeys([*TEXTS, *NUMBERS])),
]
USERS = [ck.RoomUser("Ada", "u"), ck.RoomUser(None, "v"), ck.RoomUser("", "w")]
DEVICES = [ck.Device("007", "c", None, None, "x=1", {}), ck.Device("2", "d", "", "a", "", {"a": 1})]
SENT = PreparedRequest("GET", "http://h/rtc/room/create", {"topic": "x"}, "query")
CALLS = [
    ck.Call("A2", "GET", 0.5, 200, SENT, 0.0, b"", None, ()),
    ck.Call("A2", "GET", 0.5, None, SENT, 9e9, b"", ck.TransportError("h"), ()),
]
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


def types(frame):
    return ", ".join(f"{name} {kind}" for name, kind in frame.dtypes.items())


def values(column):
    return [None if pd.isna(value) else value for value in column]


@pytest.mark.parametrize("convert", FRAMES)
def test_the_same_columns_and_types_for_none_as_for_many(convert):
    """One record counts as a list of one; what is no record is refused."""
    records, columns, due = FRAMES[convert]
    frame = convert(records[::-1])
    assert types(frame) == due
    for name in columns:
        assert values(frame[name]) == [getattr(record, name) for record in records[::-1]]
    assert (types(convert([])), len(convert([])), len(convert(records[0]))) == (due, 0, 1)
    with pytest.raises(TypeError):
        convert([{"room_id": "1"}])


LOGIN, HIDDEN = "rtsp://a:hunter2@h/x", "rtsp://a:***@h/x"
HELD = {"login_password": 1_000_017, "deep": [{"password": "hunter2"}]}


def test_secrets_show_only_when_asked_for():
    """With secrets=True they are plain texts; without, an address as a topic shows no login."""
    room = ck.Room(room_id=LOGIN, topic=LOGIN, host_password="hunter2")
    hidden, shown = ck.rooms_frame([room]), ck.rooms_frame([room], secrets=True)
    assert (hidden.topic[0], hidden.room_id[0]) == (HIDDEN, HIDDEN)
    assert "host_password" not in hidden
    assert (shown.topic[0], shown.host_password[0]) == (LOGIN, "hunter2")
    named = ck.rooms_frame(ck.Room(room_id="1", room_mode="mcu", room_status=9)).iloc[0]
    assert (named.status, named["mode"], pd.isna(named.room_mode)) == ("other", "other", True)
    device = ck.Device("007", "c", "Door", "rtsp://a:my hunter2@h/x", LOGIN, HELD)
    assert not re.search("hunter2|1000017", ck.devices_frame([device]).to_json())
    row = ck.devices_frame([device], secrets=True).iloc[0]
    assert row.user_address == "rtsp://a:my hunter2@h/x"
    assert json.loads(row.options) == device.options


def test_a_name_that_is_an_address_tells_no_password():
    """Any other ID shows as it is, as it is compared with others."""
    keys = ["pass=1", "sip:a:b@c"]
    assert list(ck.users_frame([ck.RoomUser(key, key) for key in keys]).user_id) == keys
    user, device = ck.RoomUser(LOGIN, LOGIN), ck.Device("1", LOGIN, LOGIN, LOGIN)
    for frame in ck.devices_frame([device]), ck.users_frame([user]), ck.users_frame({"1": [user]}):
        assert list(frame.user_id) == list(frame.user_name) == [HIDDEN]
    assert list(ck.devices_frame([device], secrets=True).user_id) == [LOGIN]
    for call in (calls.import_call, calls.remove_call, calls.diagnose_call, calls.preflight_line):
        assert not re.search(r"\*\*\*|hunter2", call(device))  # what may not be shown is asked for
