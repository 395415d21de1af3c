"""Records: numbers that deployments quote, what is absent, and what is not a value at all."""

import copy
import json
import math
import pickle
from contextlib import suppress
from dataclasses import FrozenInstanceError, asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.records import Device, Room, RoomUser, number, shown, text

INTEGERS = st.integers(-(2**63), 2**63 - 1)
ROOM_NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video"]
ROOM_TEXTS = ["topic", "owner_id", "host_password", "room_extend_id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(value=INTEGERS)
def test_a_number_reads_the_same_quoted_and_unquoted(value):
    """25, "25", " 25 " and "25.0" are the integer 25, to the last digit."""
    for written in (value, str(value), f" {value} ", f"{value}.", f"{value}.0", f"{value}.000"):
        assert number({"n": written}, "n") == value
    if value >= 0:
        assert number({"n": f"+{value}"}, "n") == value


@given(value=st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_float_that_is_whole_is_a_number(value):
    """25.0 is the integer 25, of the type int."""
    read = number({"n": float(value)}, "n")
    assert read == value
    assert type(read) is int


@pytest.mark.parametrize(
    ("written", "value"), [("1e3", 1000), ("-2E+1", -20), ("1.5e1", 15), ("10e-1", 1), ("0e0", 0)]
)
def test_a_quoted_number_may_be_written_as_json_writes_numbers(written, value):
    """ "1e3" is 1000, as it is without quotes."""
    assert number({"n": written}, "n") == value
    assert number({"n": float(written)}, "n") == value


@pytest.mark.parametrize(
    "fields", [{}, {"n": None}, {"n": ""}, {"n": "  "}, {"m": 1}, {"n": "null"}, {"n": "NULL"}]
)
def test_what_is_absent_null_or_empty_is_none(fields):
    """No number is None, never 0."""
    assert number(fields, "n") is None


@pytest.mark.parametrize(
    ("value", "fits"),
    [(2**63 - 1, True), (-(2**63), True), (2**63, False), (-(2**63) - 1, False), (10**30, False)],
)
def test_numbers_have_64_bits(value, fits):
    """The largest and the smallest 64-bit number are read; one more is a ProtocolError."""
    for written in (value, str(value)):
        if fits:
            assert number({"n": written}, "n") == value
        else:
            with pytest.raises(ck.ProtocolError, match="field n"):
                number({"n": written}, "n")


@pytest.mark.parametrize(
    "value",
    [
        "x",
        "1,000",
        "1 000",
        "1.5",
        "1.5e0",
        "1e",
        "1e-1",
        "1e99",
        "0x10",
        "١٢",
        "²",
        "--1",
        "1-",
        "None",
        "nan",
        "∞",
        "1_0",
        "9" * 20,
        "9" * 5000,
        ".",
        ".5",
        "+",
        True,
        False,
        1.5,
        math.nan,
        math.inf,
        -math.inf,
        1e300,
        [],
        [1],
        {},
        {"n": 1},
    ],
)
def test_nonsense_is_a_protocol_error(value):
    """What is no whole number is an error that names the field, never some number."""
    with pytest.raises(ck.ProtocolError, match="field attendee_max"):
        number({"attendee_max": value}, "attendee_max")


@pytest.mark.parametrize("written", ["9007199254740993.0", "-9007199254740993.0"])
def test_a_number_that_a_float_cannot_hold_is_not_rounded(written):
    """A large number written with a point is read exactly or refused, never off by one."""
    with suppress(ck.ProtocolError):
        assert number({"n": json.loads(written)}, "n") == int(written[:-2])


@given(value=JSON)
def test_any_json_value_is_a_number_none_or_an_error(value):
    """Whatever a deployment puts there: the very number, None for nothing, or a ProtocolError."""
    try:
        read = number({"n": value}, "n")
    except ck.ProtocolError:
        return
    if read is None:
        assert value is None or value.strip() == ""
    else:
        assert type(read) is int
        assert float(read) == float(value)


@given(value=JSON)
def test_any_json_value_is_a_text_none_or_an_error(value):
    """A text stays, a whole number is written out, null is None, all else is a ProtocolError."""
    try:
        read = text({"t": value}, "t")
    except ck.ProtocolError:
        assert not isinstance(value, str)
        return
    assert read == (None if value is None else str(value))
    assert value is None or isinstance(value, str | int)
    assert not isinstance(value, bool)


ROOM_FIELDS = [*ROOM_NUMBERS, *ROOM_TEXTS, "room_id", "room_mode", "other"]


@given(fields=st.fixed_dictionaries({}, optional=dict.fromkeys(ROOM_FIELDS, JSON)))
def test_any_answer_is_a_room_or_a_protocol_error(fields):
    """Room.read gives a room of real types or raises ProtocolError, nothing else."""
    try:
        room = Room.read(fields, "asked")
    except ck.ProtocolError:
        return
    assert all(type(getattr(room, name)) in (int, type(None)) for name in ROOM_NUMBERS)
    assert isinstance(room.room_id, str)
    assert room.room_id
    assert isinstance(room.room_mode, int | str | None)


@given(
    item=st.dictionaries(
        st.sampled_from(
            ["roomId", "userId", "userName", "userAddress", "userData", "options", "user_id"]
        ),
        JSON,
    )
)
def test_any_item_is_a_device_or_a_protocol_error(item):
    """Device.read gives a device with both IDs or raises ProtocolError, nothing else."""
    try:
        device = Device.read(item)
    except ck.ProtocolError:
        return
    assert device.room_id
    assert device.user_id
    assert isinstance(device.options, dict)


def test_a_room_as_the_interface_shows_it():
    """An answer of A3 with quoted caps gives the room in real types."""
    room = Room.read(
        {
            "ret": 0,
            "id": 7,
            "room_id": "0815",
            "topic": "Weekly",
            "room_status": "1",
            "owner_id": "ops",
            "host_password": "",
            "attendee_max": "25",
            "max_audio": "",
            "max_video": None,
            "room_extend_id": "",
            "room_mode": "1",
        },
        "0815",
    )
    assert room == Room(
        id=7,
        room_id="0815",
        topic="Weekly",
        room_status=1,
        owner_id="ops",
        attendee_max=25,
        room_mode=1,
    )


def test_a_room_that_does_not_say_its_number_has_the_one_that_was_asked_for():
    """Without room_id in the answer the room has the ID of the question."""
    assert Room.read({"ret": 0}, "42") == Room(room_id="42")
    assert Room.read({"room_id": ""}, "42").room_id == "42"


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


def test_a_user_needs_an_id_but_no_name():
    """A room user without a name is one; without an ID it is a ProtocolError."""
    assert RoomUser.read({"user_id": "u1"}) == RoomUser(None, "u1")
    assert RoomUser.read({"user_id": 7, "user_name": "Ada"}) == RoomUser("Ada", "7")
    for item in ({"user_name": "Ada"}, {"user_id": ""}, {"user_id": None}):
        with pytest.raises(ck.ProtocolError, match="user_id"):
            RoomUser.read(item)


CAMEL = {
    "roomId": "1",
    "userId": "cam",
    "userName": "Door",
    "userAddress": "rtsp://h:554/x",
    "userData": "outgoing",
    "options": {"login_name": "admin", "login_password": "hunter2"},
}
SNAKE = {
    "room_id": "1",
    "user_id": "cam",
    "user_name": "Door",
    "user_address": "rtsp://h:554/x",
    "user_data": "outgoing",
    "options": '{"login_name":"admin","login_password":"hunter2"}',
}


def test_a_device_reads_the_same_in_both_spellings():
    """camelCase and snake_case, options as an object and as JSON text: the same device."""
    device = Device.read(CAMEL)
    assert device == Device.read(SNAKE)
    assert device == Device(
        "1",
        "cam",
        "Door",
        "rtsp://h:554/x",
        "outgoing",
        {"login_name": "admin", "login_password": "hunter2"},
    )
    assert (device.login_name, device.login_password) == ("admin", "hunter2")


@pytest.mark.parametrize("options", ['{"a":' * 480 + "1" + "}" * 480, '{"a": NaN}', "[1]"])
def test_options_that_are_no_plain_json_are_refused(options):
    """Options as text are held to what is asked of an answer, however deep; the error advises."""
    with pytest.raises(ck.ProtocolError) as raised:
        Device.read({**CAMEL, "options": options})
    assert raised.value.advice
    assert str(raised.value).endswith(raised.value.advice)


@pytest.mark.parametrize("options", [None, "", " ", {}, "{}"])
def test_options_may_be_missing_or_empty(options):
    """A device without options has an empty object, and neither login name nor password."""
    device = Device.read({**CAMEL, "options": options})
    assert device.options == {}
    assert device.login_name is None
    assert device.login_password is None


@pytest.mark.parametrize(
    "options",
    [
        "x",
        "[]",
        "1",
        '"a"',
        '{"a":',
        [],
        1,
        True,
        "{" * 20,
        '{"a":' + "9" * 5000 + "}",
        '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_options_that_are_no_object_are_a_protocol_error(options):
    """Whatever else stands in options, however deep or long, is an error that names the field."""
    with pytest.raises(ck.ProtocolError, match="options"):
        Device.read({**CAMEL, "options": options})


@pytest.mark.parametrize("name", ["roomId", "userId"])
@pytest.mark.parametrize("value", [None, ""])
def test_a_device_needs_both_ids(name, value):
    """A device without its room's or its own ID is a ProtocolError."""
    with pytest.raises(ck.ProtocolError, match="item_keys"):
        Device.read({**CAMEL, name: value})


def secretive():
    """A room and a device full of secrets, each called hunter2."""
    yield Room(room_id="1", host_password="hunter2")
    yield Room.read({"host_password": 7777777}, "1")
    yield Device(
        "1",
        "2",
        "Door",
        "rtsp://admin:hunter2@h/x",
        "rtsp://u:hunter2@h",
        {
            "login_password": "hunter2",
            "assist_address": "rtsp://a:hunter2@h/y",
            "more": [{"password": "hunter2"}],
        },
    )
    yield Device.read({**CAMEL, "options": '{"login_password": "hunter2"}'})
    yield Device.read({**CAMEL, "options": {"login_password": 7777777}})
    yield Device.read({**CAMEL, "userAddress": 'rtsp://a:"hunter2"@h/x'})
    yield Device.read({**CAMEL, "userAddress": "rtsp://a:my hunter2@h/x"})
    yield Device(*["rtsp://a:hunter2@h/x"] * 4)


@pytest.mark.parametrize("record", list(secretive()), ids=lambda record: type(record).__name__)
def test_a_repr_shows_no_secret(record):
    """In a repr, of the record, of a copy or of a container, secrets are ***."""
    for held in (
        record,
        [record],
        {1: (record,)},
        copy.deepcopy(record),
        asdict(record),
        pickle.loads(pickle.dumps(record)),
    ):
        assert "hunter2" not in repr(held)
        assert "7777777" not in repr(held)
        assert "***" in repr(held)


def test_code_that_asks_for_a_secret_gets_it():
    """Attributes give the values as they came."""
    assert Room(room_id="1", host_password="hunter2").host_password == "hunter2"
    device = Device("1", "2", None, "rtsp://a:b@h", "", {"login_password": "hunter2"})
    assert device.user_address == "rtsp://a:b@h"
    assert device.login_password == "hunter2"
    assert Room(room_id="1").host_password is None


@pytest.mark.parametrize(
    "value",
    [
        "rtsp://a:hunter2@h/x",
        {"login_password": "hunter2"},
        ["rtsp://a:hunter2@h/x"],
        ("rtsp://a:hunter2@h/x",),
        b"rtsp://a:hunter2@h/x",
        {"rtsp://a:hunter2@h/x": 1},
        {"password": ("hunter2",)},
    ],
)
def test_what_an_error_quotes_of_a_value_is_short_and_masked(value):
    """A wrong value is quoted in at most 60 characters without its secrets, of any type."""
    assert "hunter2" not in shown(value)
    assert len(shown([value] * 30)) <= 60


def test_records_do_not_change():
    """Room, RoomUser and Device are frozen; equal ones are equal, and can be keys."""
    for record, name in (
        (Room(room_id="1"), "room_id"),
        (RoomUser("Ada", "u"), "user_id"),
        (Device("1", "2", options={"a": 1}), "room_id"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, "x")
        assert {record: 1}[copy.deepcopy(record)] == 1
