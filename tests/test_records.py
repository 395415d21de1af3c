"""Records: numbers that deployments quote, what is absent, and what is not a value at all."""

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError, asdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.records import Device, Room, RoomUser, number, text
from confkit.secret import reveal


def deep(levels, opening='{"a":', closing="}"):
    return opening * levels + "1" + closing * levels


@given(value=st.integers(-(2**63), 2**63 - 1))
@example(2**63 - 1)
@example(-(2**63))
def test_a_number_reads_the_same_quoted_and_unquoted(value):
    """25, "25", " 25 " and "25.0" are the integer 25, to the last digit of 64 bits."""
    for written in (value, f"{value}", f" {value} ", f"{value}.", f"{value}.0", f"{value:+}.000"):
        assert number({"n": written}, "n") == value
    if abs(value) < 2**53:
        assert repr(number({"n": float(value)}, "n")) == str(value)


NONSENSE = [
    *("x", "1,000", "1.5", "1e3", "0x10", "١٢", "²", "--1", "None", "nan", "1_0", "9" * 5000, "."),
    *(True, False, 1.5, math.nan, math.inf, 1e300, 2.0**53, [], [1], {}, 2**63, str(2**63)),
]


def test_what_is_absent_is_none_and_nonsense_an_error():
    """Never 0, and never some number; a text is a text or a whole number."""
    for fields in ({}, *({"n": value} for value in ("", "  ", "null", None))):
        assert number(fields, "n") is None
    for value in NONSENSE:
        with pytest.raises(ck.ProtocolError, match="field attendee_max"):
            number({"attendee_max": value}, "attendee_max")
    assert number({"n": "9007199254740993.0"}, "n") == 9007199254740993
    assert [text({"t": value}, "t") for value in ("x", 7, None)] == ["x", "7", None]


def test_a_room_as_the_interface_shows_it():
    """Quoted caps are numbers; without a room_id the ID is that of the question."""
    plain = {"room_id": "0815", "topic": "Weekly", "owner_id": "ops"}
    caps = {"room_status": 1, "attendee_max": 25, "max_audio": 3, "max_video": 2}
    quoted = {name: str(cap) for name, cap in caps.items()}
    more = {"host_password": "pw", "room_extend_id": "x"}
    full = Room.read({"ret": 0, "id": 7, **plain, **quoted, **more}, "0815")
    assert full == Room(id=7, **plain, **caps, **more) == Room.read({**asdict(full)}, "x")
    absent = {"host_password": "", "max_audio": "", "max_video": None, "room_extend_id": ""}
    assert Room.read({**plain, **absent}, "0815") == Room(**plain)
    assert Room.read({"ret": 0}, "42") == Room.read({"room_id": ""}, "42") == Room(room_id="42")
    for written, mode in {1: 1, "1": 1, "mcu": "mcu", "": None, None: None, "1.0": 1}.items():
        assert Room.read({"room_mode": written}, "1").room_mode == mode
    with pytest.raises(ck.ProtocolError, match="asked for room '1' and answered with room '0815'"):
        Room.read(plain, "1")
    for value in (True, 1.5, [], {}, *(json.loads(deep(n, "[", "]")) for n in (102, 900))):
        for name in (
            "topic",
            "owner_id",
            "host_password",
            "room_extend_id",
            "room_id",
            "room_mode",
        ):
            with pytest.raises(ck.ProtocolError, match=name):
                Room.read({name: value}, "1")


LOGIN = {"login_name": "admin", "login_password": "hunter2"}
RTSP = "rtsp://admin:hunter2@h/x"
VALUES = ["1", "cam", "Door", RTSP, "outgoing", LOGIN]
SNAKES = ["room_id", "user_id", "user_name", "user_address", "user_data", "options"]
CAMELS = ["roomId", "userId", "userName", "userAddress", "userData", "options"]
SNAKE, CAMEL = dict(zip(SNAKES, VALUES, strict=True)), dict(zip(CAMELS, VALUES, strict=True))
NO_OPTIONS = [
    *("x", "[]", "1", '{"a":', [], 1, True, '{"a":' + "9" * 5000 + "}", '{"a": NaN}'),
    *('{"a":' + deep(100_000, "[", "]") + "}", *map(deep, (101, 900))),
]


def test_a_device_reads_the_same_in_both_spellings():
    """Options are an object or its JSON text; both IDs are needed, a name is not."""
    device = Device.read(CAMEL)
    assert device == Device.read({**SNAKE, "options": json.dumps(LOGIN)}) == Device(**SNAKE)
    assert (device.login_name, device.login_password) == ("admin", "hunter2")
    for options in (None, "", " ", {}, "{}"):
        device = Device.read({**CAMEL, "options": options})
        assert (device.options, device.login_name, device.login_password) == ({}, None, None)
    for options in NO_OPTIONS:
        with pytest.raises(ck.ProtocolError, match="options"):
            Device.read({**CAMEL, "options": options})
    assert RoomUser.read({"user_id": 7}) == RoomUser(None, "7")
    for empty in (None, ""):
        with pytest.raises(ck.ProtocolError, match="user_id"):
            RoomUser.read({"user_id": empty})
        for name in ("roomId", "userId"):
            with pytest.raises(ck.ProtocolError, match=r"has no (room|user)_id"):
                Device.read({**CAMEL, name: empty})


SECRETIVE = [
    Room(room_id="1", host_password="hunter2"),
    Room.read({"host_password": 7777777}, "1"),
    Device(*[RTSP] * 5, {**LOGIN, "assist_address": RTSP, "more": [{"password": "hunter2"}]}),
    Device.read({**CAMEL, "options": {"login_password": 7777777}}),
    Device.read({**CAMEL, "userAddress": "rtsp://a:my hunter2@h/x"}),
]


@pytest.mark.parametrize("record", SECRETIVE, ids=lambda record: type(record).__name__)
def test_a_repr_shows_no_secret(record):
    """Nor a copy's or a container's. A record is frozen, and an equal one is the same key."""
    pickled = pickle.loads(pickle.dumps(record))
    text = repr([record, {1: (record,)}, copy.deepcopy(record), pickled])
    assert not any(secret in text for secret in ("hunter2", "7777777"))
    assert text.count("***") >= 4
    values = json.dumps(reveal(asdict(pickled)))
    assert "hunter2" in values or "7777777" in values
    assert {record: 1}[copy.deepcopy(record)] == 1
    with pytest.raises(FrozenInstanceError):
        record.room_id = "x"
