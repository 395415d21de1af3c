"""Records, and frames of them: numbers that deployments quote, what is absent, what is not a value
at all; the same columns and types for none as for many, and nothing secret unless asked for."""

import json
import math
import re

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.diagnosis import calls
from confkit.records import Device, Room, RoomUser, number, text
from confkit.wire import PreparedRequest


def deep(levels, opening='{"a":', closing="}"):
    return opening * levels + "1" + closing * levels


@given(value=st.integers(-(2**63), 2**63 - 1))
@example(2**63 - 1)
def test_a_number_reads_the_same_quoted_and_unquoted(value):
    """25, "25", " 25 " and "25.0" are the integer 25, to the last digit of 64 bits."""
    for written in (value, f"{value}", f" {value} ", f"{value}.", f"{value}.0", f"{value:+}.000"):
        assert number({"n": written}, "n") == value


NONSENSE = [
    *("1,000", "1.5", "1e3", "²", "1_0", "9" * 5000, str(2**63)),
    *(True, 1.5, math.nan, 2.0**53, [1]),
]


def test_what_is_absent_is_none_and_nonsense_an_error():
    """Never 0, and never some number; a text is a text or a whole number."""
    for fields in ({}, *({"n": value} for value in ("", "  ", "null", None))):
        assert number(fields, "n") is None
    for value in NONSENSE:
        with pytest.raises(ck.ProtocolError, match="field attendee_max"):
            number({"attendee_max": value}, "attendee_max")
    assert [text({"t": value}, "t") for value in ("x", 7, None)] == ["x", "7", None]


def test_a_room_as_the_interface_shows_it():
    """Quoted caps are numbers; without a room_id the ID is that of the question."""
    plain = {"room_id": "0815", "topic": "Weekly", "owner_id": "ops", "host_password": "pw"}
    caps = {"room_status": 1, "attendee_max": 25, "max_audio": 3, "max_video": 2}
    quoted = {name: str(cap) for name, cap in caps.items()}
    assert Room.read({"ret": 0, **plain, **quoted}, "0815") == Room(**plain, **caps)
    assert Room.read({**plain, "max_audio": "", "max_video": None}, "0815") == Room(**plain)
    assert Room.read({"room_id": ""}, "42") == Room(room_id="42")
    assert Room.read({"roomId": "42", "attendeeMax": "9"}, "42") == Room(
        room_id="42", attendee_max=9
    )
    assert Room.read({"room_mode": "mcu"}, "1").room_mode == "mcu"
    with pytest.raises(ck.ProtocolError, match="asked for room '1' and answered with room '0815'"):
        Room.read(plain, "1")
    for wrong, match in (({"data": plain}, "none of a room's fields"), ({"topic": {}}, "topic")):
        with pytest.raises(ck.ProtocolError, match=match):
            Room.read(wrong, "1")


LOGIN = {"login_name": "admin", "login_password": "hunter2"}
RTSP = "rtsp://admin:hunter2@h/x"
CAMEL = {"roomId": "1", "userId": "cam", "userName": "Door", "userAddress": RTSP}
CAMEL |= {"userData": "outgoing", "options": LOGIN}
SNAKE = dict(zip(Device.__dataclass_fields__, CAMEL.values(), strict=True))
NO_OPTIONS = ["[]", 1, '{"a": NaN}', '{"a":' + deep(100_000, "[", "]") + "}"]


def test_a_device_reads_the_same_in_both_spellings():
    """Options are an object or its JSON text; both IDs are needed, a name is not."""
    device = Device.read(CAMEL)
    assert device == Device.read({**SNAKE, "options": json.dumps(LOGIN)}) == Device(**SNAKE)
    assert (device.login_name, device.login_password) == ("admin", "hunter2")
    for options in (None, "", {}, "{}"):
        assert Device.read({**CAMEL, "options": options}).options == {}
    for options in NO_OPTIONS:
        with pytest.raises(ck.ProtocolError, match="options"):
            Device.read({**CAMEL, "options": options})
    with pytest.raises(ck.ProtocolError, match="user_id"):
        RoomUser.read({"user_id": ""})
    twice = {"userList": [{"userId": "a"}, {"userId": "b"}, {"user_id": "a", "user_name": "Ann"}]}
    assert RoomUser.read_all(twice) == [RoomUser("Ann", "a"), RoomUser(None, "b")]
    for name in ("roomId", "userId"):
        with pytest.raises(ck.ProtocolError, match=r"has no (room|user)_id"):
            Device.read({**CAMEL, name: ""})


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


ADDRESS, HIDDEN = "rtsp://a:hunter2@h/x", "rtsp://a:***@h/x"
HELD = {"login_password": 1_000_017, "deep": [{"password": "hunter2"}]}


def test_secrets_show_only_when_asked_for():
    """With secrets=True they are plain texts; without, an address as a topic shows no login."""
    room = ck.Room(room_id=ADDRESS, topic=ADDRESS, host_password="hunter2")
    hidden, shown = ck.rooms_frame([room]), ck.rooms_frame([room], secrets=True)
    assert (hidden.topic[0], hidden.room_id[0]) == (HIDDEN, HIDDEN)
    assert "host_password" not in hidden
    assert (shown.topic[0], shown.host_password[0]) == (ADDRESS, "hunter2")
    named = ck.rooms_frame(ck.Room(room_id="1", room_mode="mcu", room_status=9)).iloc[0]
    assert (named.status, named["mode"], pd.isna(named.room_mode)) == ("other", "other", True)
    device = ck.Device("007", "c", "Door", "rtsp://a:my hunter2@h/x", ADDRESS, HELD)
    assert not re.search("hunter2|1000017", ck.devices_frame([device]).to_json())
    row = ck.devices_frame([device], secrets=True).iloc[0]
    assert row.user_address == "rtsp://a:my hunter2@h/x"
    assert json.loads(row.options) == device.options


def test_a_name_that_is_an_address_tells_no_password():
    """Any other ID shows as it is, as it is compared with others."""
    keys = ["pass=1", "sip:a:b@c"]
    assert list(ck.users_frame([ck.RoomUser(key, key) for key in keys]).user_id) == keys
    user, device = ck.RoomUser(ADDRESS, ADDRESS), ck.Device("1", ADDRESS, ADDRESS, ADDRESS)
    for frame in ck.devices_frame([device]), ck.users_frame([user]), ck.users_frame({"1": [user]}):
        assert list(frame.user_id) == list(frame.user_name) == [HIDDEN]
    assert list(ck.devices_frame([device], secrets=True).user_id) == [ADDRESS]
    for call in (calls.import_call, calls.remove_call, calls.diagnose_call, calls.preflight_line):
        assert not re.search(r"\*\*\*|hunter2", call(device))  # what may not be shown is asked for
