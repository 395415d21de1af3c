"""Records: numbers that deployments quote, what is absent, and what is not a value at all."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.records import Device, Room, RoomUser, number, text


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
SNAKE = {"room_id": "1", "user_id": "cam", "user_name": "Door", "user_address": RTSP}
SNAKE |= {"user_data": "outgoing", "options": LOGIN}
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
