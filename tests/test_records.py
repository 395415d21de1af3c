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
from confkit.records import Device, Room, RoomUser, number, shown, text

ROOM_NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video"]
ROOM_TEXTS = ["topic", "owner_id", "host_password", "room_extend_id"]
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
    for written in (value, str(value), f" {value} ", f"{value}.", f"{value}.0", f"{value}.000"):
        assert number({"n": written}, "n") == value
    if value >= 0:
        assert number({"n": f"+{value}"}, "n") == value
    if abs(value) < 2**53:
        assert type(number({"n": float(value)}, "n")) is int
        assert number({"n": float(value)}, "n") == value


@pytest.mark.parametrize(
    ("written", "value"), [("1e3", 1000), ("-2E+1", -20), ("1.5e1", 15), ("10e-1", 1), ("0e0", 0)]
)
def test_a_quoted_number_may_be_written_as_json_writes_numbers(written, value):
    """ "1e3" is 1000, as it is without quotes."""
    assert number({"n": written}, "n") == number({"n": float(written)}, "n") == value


@pytest.mark.parametrize(
    "fields", [{}, {"n": None}, {"n": ""}, {"n": "  "}, {"m": 1}, {"n": "null"}, {"n": "NULL"}]
)
def test_what_is_absent_null_or_empty_is_none(fields):
    """No number is None, never 0."""
    assert number(fields, "n") is None


NONSENSE = [
    "x", "1,000", "1 000", "1.5", "1.5e0", "1e", "1e-1", "1e99", "0x10", "١٢", "²", "--1", "1-",
    "None", "nan", "∞", "1_0", "9" * 20, "9" * 5000, ".", ".5", "+", True, False, 1.5, math.nan,
    math.inf, -math.inf, 1e300, [], [1], {}, {"n": 1}, 2**63, -(2**63) - 1, 10**30, str(2**63),
]  # fmt: skip


@pytest.mark.parametrize("value", NONSENSE)
def test_nonsense_is_a_protocol_error(value):
    """What is no whole number of 64 bits is an error that names the field, never some number."""
    with pytest.raises(ck.ProtocolError, match="field attendee_max"):
        number({"attendee_max": value}, "attendee_max")


@pytest.mark.parametrize("written", ["9007199254740993.0", "-9007199254740993.0"])
def test_a_number_that_a_float_cannot_hold_is_not_rounded(written):
    """A large number written with a point is read exactly or refused, never off by one."""
    with suppress(ck.ProtocolError):
        assert number({"n": json.loads(written)}, "n") == int(written[:-2])


@given(value=JSON)
def test_any_json_value_is_a_number_a_text_none_or_an_error(value):
    """As a number: the very number, None for nothing, or a ProtocolError. As a text: a text stays,
    a whole number is written out, null is None, and all else is a ProtocolError."""
    with suppress(ck.ProtocolError):
        read = number({"n": value}, "n")
        if read is None:
            assert value is None or value.strip() == ""
        else:
            assert type(read) is int
            assert float(read) == float(value)
    try:
        read = text({"t": value}, "t")
    except ck.ProtocolError:
        assert not isinstance(value, str)
        return
    assert read == (None if value is None else str(value))
    assert value is None or type(value) in (str, int)


ANY_ROOM = st.fixed_dictionaries(
    {}, optional=dict.fromkeys([*ROOM_NUMBERS, *ROOM_TEXTS, "room_id", "room_mode", "other"], JSON)
)
ITEM_KEYS = ["roomId", "userId", "userName", "userAddress", "userData", "options", "user_id"]


@given(fields=ANY_ROOM, item=st.dictionaries(st.sampled_from(ITEM_KEYS), JSON))
def test_any_answer_is_a_record_or_a_protocol_error(fields, item):
    """Room.read and Device.read give records of real types or raise ProtocolError, nothing else."""
    with suppress(ck.ProtocolError):
        room = Room.read(fields, "asked")
        assert all(type(getattr(room, name)) in (int, type(None)) for name in ROOM_NUMBERS)
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
    of the question."""
    plain = {"room_id": "0815", "topic": "Weekly", "owner_id": "ops"}
    quoted = {"room_status": "1", "attendee_max": "25", "room_mode": "1"}
    absent = {"host_password": "", "max_audio": "", "max_video": None, "room_extend_id": ""}
    room = Room.read({"ret": 0, "id": 7, **plain, **quoted, **absent}, "0815")
    assert room == Room(id=7, **plain, room_status=1, attendee_max=25, room_mode=1)
    assert Room.read({"ret": 0}, "42") == Room.read({"room_id": ""}, "42") == Room(room_id="42")


@pytest.mark.parametrize(
    ("written", "mode"),
    [(1, 1), ("1", 1), ("3", 3), ("mcu", "mcu"), ("", None), (None, None), ("1.0", 1), ("1.", 1)],
)
def test_a_room_mode_is_a_number_where_it_is_one(written, mode):
    """A quoted mode is a number, with nothing behind its point too; another text stays."""
    assert Room.read({"room_mode": written}, "1").room_mode == mode


@pytest.mark.parametrize("value", [True, 1.5, [], {}, [1]])
@pytest.mark.parametrize("name", [*ROOM_TEXTS, "room_id", "room_mode"])
def test_a_text_of_another_type_is_a_protocol_error(name, value):
    """A field of a room that holds no text is an error that names it."""
    with pytest.raises(ck.ProtocolError, match=name):
        Room.read({name: value}, "1")


@pytest.mark.parametrize("levels", [102, 900])
@pytest.mark.parametrize("name", ["id", "topic", "attendee_max"])
def test_a_value_that_is_nested_deep_is_told_in_words(name, levels):
    """A field that holds lists in lists is the error of a field of another type."""
    with pytest.raises(ck.ProtocolError, match="nested too deep"):
        Room.read({name: json.loads(deep(levels, "[", "]"))}, "1")


CAMEL = {
    "roomId": "1",
    "userId": "cam",
    "userName": "Door",
    "userAddress": "rtsp://h:554/x",
    "userData": "outgoing",
    "options": {"login_name": "admin", "login_password": "hunter2"},
}


def test_a_device_reads_the_same_in_both_spellings():
    """camelCase and snake_case, options as an object and as JSON text: the same device."""
    snake = {
        "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name): value
        for name, value in CAMEL.items()
    }
    device = Device.read(CAMEL)
    assert device == Device.read({**snake, "options": json.dumps(CAMEL["options"])})
    assert device == Device(*CAMEL.values())
    assert (device.login_name, device.login_password) == ("admin", "hunter2")


@pytest.mark.parametrize("options", [None, "", " ", {}, "{}"])
def test_options_may_be_missing_or_empty(options):
    """A device without options has an empty object, and neither login name nor password."""
    device = Device.read({**CAMEL, "options": options})
    assert (device.options, device.login_name, device.login_password) == ({}, None, None)


NO_OPTIONS = [
    "x", "[]", "1", '"a"', '{"a":', [], 1, True, "{" * 20, '{"a":' + "9" * 5000 + "}",
    '{"a":' + deep(100_000, "[", "]") + "}", '{"a": NaN}', "[1]", *map(deep, (101, 480, 600, 900)),
]  # fmt: skip


@pytest.mark.parametrize("options", NO_OPTIONS, ids=range(len(NO_OPTIONS)))
def test_options_that_are_no_plain_object_are_a_protocol_error(options):
    """Whatever else stands in options, however deep or long, is an error that names the field, and
    advises."""
    with pytest.raises(ck.ProtocolError, match="options") as raised:
        Device.read({**CAMEL, "options": options})
    assert raised.value.advice
    assert str(raised.value).endswith(raised.value.advice)


def test_ids_are_needed():
    """A device without its room's or its own ID is a ProtocolError; so is a user without one, who
    needs no name."""
    for name in ("roomId", "userId"):
        for value in (None, ""):
            with pytest.raises(ck.ProtocolError, match="item_keys"):
                Device.read({**CAMEL, name: value})
    assert RoomUser.read({"user_id": 7}) == RoomUser(None, "7")
    for item in ({"user_name": "Ada"}, {"user_id": ""}, {"user_id": None}):
        with pytest.raises(ck.ProtocolError, match="user_id"):
            RoomUser.read(item)


LOGIN = "rtsp://admin:hunter2@h/x"
HELD = {"login_password": "hunter2", "assist_address": LOGIN, "more": [{"password": "hunter2"}]}
SECRETIVE = [
    Room(room_id="1", host_password="hunter2"),
    Room.read({"host_password": 7777777}, "1"),
    Device("1", "2", "Door", LOGIN, LOGIN, HELD),
    Device(*[LOGIN] * 4),
    *(Device.read({**CAMEL, "options": options})
      for options in ('{"login_password": "hunter2"}', {"login_password": 7777777})),
    *(Device.read({**CAMEL, "userAddress": f"rtsp://a:{password}@h/x"})
      for password in ('"hunter2"', "my hunter2")),
]  # fmt: skip


@pytest.mark.parametrize("record", SECRETIVE, ids=lambda record: type(record).__name__)
def test_a_repr_shows_no_secret(record):
    """In a repr, of the record, of a copy or of a container, secrets are ***; code that asks for
    them gets them; a record is frozen, and an equal one is the same key."""
    travelled = pickle.loads(pickle.dumps(record))
    for held in (
        record,
        [record],
        {1: (record,)},
        copy.deepcopy(record),
        asdict(record),
        travelled,
    ):
        assert "hunter2" not in repr(held)
        assert "7777777" not in repr(held)
        assert "***" in repr(held)
    values = asdict(travelled)
    assert "hunter2" in json.dumps(values) or "7777777" in json.dumps(values)
    assert {record: 1}[copy.deepcopy(record)] == 1
    with pytest.raises(FrozenInstanceError):
        record.room_id = "x"


@pytest.mark.parametrize(
    "value",
    [LOGIN, {"login_password": "hunter2"}, [LOGIN], (LOGIN,), LOGIN.encode(), {LOGIN: 1},
     {"password": ("hunter2",)}],
)  # fmt: skip
def test_what_an_error_quotes_of_a_value_is_short_and_masked(value):
    """A wrong value is quoted in at most 60 characters without its secrets, of any type."""
    assert "hunter2" not in shown(value)
    assert len(shown([value] * 30)) <= 60
