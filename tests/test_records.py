"""Records: numbers that deployments quote, what is absent, and what is not a value at all."""

import copy
import json
import math
import pickle
from contextlib import suppress
from dataclasses import FrozenInstanceError, asdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.records import Device, Room, RoomUser, number, text
from confkit.secret import reveal

NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video"]
TEXTS = ["topic", "owner_id", "host_password", "room_extend_id", "room_id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


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
        found = number({"n": float(value)}, "n")
        assert (type(found), found) == (int, value)


def test_a_number_may_be_written_as_json_writes_it_and_may_be_absent():
    """ "1e3" is 1000, as it is without quotes; no number is None, never 0."""
    for written, value in {"1e3": 1000, "-2E+1": -20, "1.5e1": 15, "10e-1": 1, "0e0": 0}.items():
        assert number({"n": written}, "n") == number({"n": float(written)}, "n") == value
    for fields in ({}, *({"n": value} for value in ("", "  ", "null", "NULL", None))):
        assert number(fields, "n") is None


NONSENSE = [
    "x", "1,000", "1 000", "1.5", "1.5e0", "1e", "1e-1", "1e99", "0x10", "١٢", "²", "--1", "1-",
    "None", "nan", "∞", "1_0", "9" * 20, "9" * 5000, ".", ".5", "+", True, False, 1.5, math.nan,
    math.inf, 1e300, [], [1], {}, {"n": 1}, 2**63, -(2**63) - 1, str(2**63),
]  # fmt: skip


@pytest.mark.parametrize("value", NONSENSE)
def test_nonsense_is_a_protocol_error(value):
    """What is no whole number of 64 bits is an error that names the field, never some number."""
    with pytest.raises(ck.ProtocolError, match="field attendee_max"):
        number({"attendee_max": value}, "attendee_max")


@given(value=JSON)
@example(9007199254740993.0)
@example(-9007199254740993.0)
@example("9007199254740993.0")
def test_any_json_value_is_a_number_a_text_none_or_an_error(value):
    """As a number: the very number, None for nothing, or a ProtocolError; a large one with a point
    is read exactly or refused. As a text: a text stays, a whole number is written out, null is
    None, and all else is a ProtocolError."""
    with suppress(ck.ProtocolError):
        read = number({"n": value}, "n")
        assert type(read) is int or value in (None, "") or not value.strip()
        assert read is None or float(read) == float(value)
        assert not isinstance(value, float) or abs(value) < 2**53
    if value is None or type(value) in (str, int):
        assert text({"t": value}, "t") == (None if value is None else str(value))
    else:
        with pytest.raises(ck.ProtocolError):
            text({"t": value}, "t")


ANY_ROOM = st.fixed_dictionaries(
    {}, optional=dict.fromkeys([*NUMBERS, *TEXTS, "room_mode", "other"], JSON)
)
ITEM_KEYS = ["roomId", "userId", "userName", "userAddress", "userData", "options", "user_id"]


@given(fields=ANY_ROOM, item=st.dictionaries(st.sampled_from(ITEM_KEYS), JSON))
def test_any_answer_is_a_record_or_a_protocol_error(fields, item):
    """Room.read and Device.read give records of real types or raise ProtocolError, nothing else."""
    with suppress(ck.ProtocolError):
        room = Room.read(fields, "asked")
        assert all(type(getattr(room, name)) in (int, type(None)) for name in NUMBERS)
        assert isinstance(room.room_id, str)
        assert room.room_id
        assert isinstance(room.room_mode, int | str | None)
    with suppress(ck.ProtocolError):
        device = Device.read(item)
        assert device.room_id
        assert device.user_id
        assert isinstance(device.options, dict)


def test_a_room_as_the_interface_shows_it():
    """An answer of A3 with quoted caps gives the room in real types; one without room_id has the ID
    of the question; a mode is a number where it is one."""
    plain = {"room_id": "0815", "topic": "Weekly", "owner_id": "ops"}
    caps = {"room_status": 1, "attendee_max": 25, "max_audio": 3, "max_video": 2}
    quoted = {name: str(cap) for name, cap in caps.items()}
    given = {"host_password": "pw", "room_extend_id": "x"}
    full = Room.read({"ret": 0, "id": 7, **plain, **quoted, **given}, "0815")
    assert full == Room(id=7, **plain, **caps, **given)
    absent = {"host_password": "", "max_audio": "", "max_video": None, "room_extend_id": ""}
    assert Room.read({**plain, **absent}, "0815") == Room(**plain)
    assert Room.read({"ret": 0}, "42") == Room.read({"room_id": ""}, "42") == Room(room_id="42")
    modes = {1: 1, "1": 1, "mcu": "mcu", "": None, None: None, "1.0": 1, "1.": 1}
    for written, mode in modes.items():
        assert Room.read({"room_mode": written}, "1").room_mode == mode


@pytest.mark.parametrize("name", [*TEXTS, "room_mode"])
def test_a_text_of_another_type_is_a_protocol_error(name):
    """A field of a room that holds no text, however deep it is nested, is an error that says so."""
    for value in (True, 1.5, [], {}, [1], *(json.loads(deep(n, "[", "]")) for n in (102, 900))):
        with pytest.raises(ck.ProtocolError, match=name):
            Room.read({name: value}, "1")


LOGIN = {"login_name": "admin", "login_password": "hunter2"}
RTSP = "rtsp://admin:hunter2@h/x"
# Of a device: the interface's name, ours, and a value.
FIELDS = [
    ("roomId", "room_id", "1"),
    ("userId", "user_id", "cam"),
    ("userName", "user_name", "Door"),
    ("userAddress", "user_address", RTSP),
    ("userData", "user_data", "outgoing"),
    ("options", "options", LOGIN),
]
CAMEL = {name: value for name, _, value in FIELDS}


def test_a_device_reads_the_same_in_both_spellings():
    """camelCase and snake_case, options as an object and as JSON text: the same device; without
    options it has an empty object, and neither login name nor password."""
    snake = {name: value for _, name, value in FIELDS}
    device = Device.read(CAMEL)
    assert device == Device.read({**snake, "options": json.dumps(LOGIN)}) == Device(**snake)
    assert (device.login_name, device.login_password) == ("admin", "hunter2")
    for options in (None, "", " ", {}, "{}"):
        device = Device.read({**CAMEL, "options": options})
        assert (device.options, device.login_name, device.login_password) == ({}, None, None)


NO_OPTIONS = [
    "x", "[]", "1", '{"a":', [], 1, True, '{"a":' + "9" * 5000 + "}",
    '{"a":' + deep(100_000, "[", "]") + "}", '{"a": NaN}', *map(deep, (101, 480, 900)),
]  # fmt: skip


@pytest.mark.parametrize("options", NO_OPTIONS, ids=range(len(NO_OPTIONS)))
def test_options_that_are_no_plain_object_are_a_protocol_error(options):
    """Whatever else stands in options, however deep or long, is an error that names the field, and
    advises."""
    with pytest.raises(ck.ProtocolError, match="options") as raised:
        Device.read({**CAMEL, "options": options})
    assert raised.value.advice


def test_ids_are_needed():
    """A device without its room's or its own ID is a ProtocolError; so is a user without one, who
    needs no name."""
    for name in ("roomId", "userId"):
        for value in (None, ""):
            with pytest.raises(ck.ProtocolError, match=r"has no (room|user)_id"):
                Device.read({**CAMEL, name: value})
    assert RoomUser.read({"user_id": 7}) == RoomUser(None, "7")
    for item in ({"user_name": "Ada"}, {"user_id": ""}):
        with pytest.raises(ck.ProtocolError, match="user_id"):
            RoomUser.read(item)


HELD = {**LOGIN, "assist_address": RTSP, "more": [{"password": "hunter2"}]}
SECRETIVE = [
    Room(room_id="1", host_password="hunter2"),
    Room.read({"host_password": 7777777}, "1"),
    Device(*[RTSP] * 5, HELD),
    *(
        Device.read({**CAMEL, **held})
        for held in (
            {"options": json.dumps(LOGIN)},
            {"options": {"login_password": 7777777}},
            {"userAddress": 'rtsp://a:"hunter2"@h/x'},
            {"userAddress": "rtsp://a:my hunter2@h/x"},
        )
    ),
]


@pytest.mark.parametrize("record", SECRETIVE, ids=lambda record: type(record).__name__)
def test_a_repr_shows_no_secret(record):
    """In a repr, of the record, of a copy or of a container, secrets are ***; code that asks for
    them gets them; a record is frozen, and an equal one is the same key."""
    travelled = pickle.loads(pickle.dumps(record))
    told = repr([record, {1: (record,)}, copy.deepcopy(record), travelled])
    assert "hunter2" not in told
    assert "7777777" not in told
    assert told.count("***") >= 4
    values = json.dumps(reveal(asdict(travelled)))
    assert "hunter2" in values or "7777777" in values
    assert {record: 1}[copy.deepcopy(record)] == 1
    with pytest.raises(FrozenInstanceError):
        record.room_id = "x"
