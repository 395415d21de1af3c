"""Frames: the same columns and types for none as for many, and nothing secret unless asked for."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.bulk.driver import Fate, fate_frame
from confkit.diagnosis import findings
from confkit.endpoints import ENDPOINTS
from confkit.frames import calls_frame
from tests.scripted import GET_ROOM, VECTOR_TOKEN, Reply

ROOM_TYPES = {
    "room_id": "string",
    "topic": "string",
    "status": "category",
    "attendee_max": "Int64",
    "mode": "category",
    "owner_id": "string",
    "max_audio": "Int64",
    "max_video": "Int64",
    "room_status": "Int64",
    "room_mode": "Int64",
    "id": "Int64",
    "room_extend_id": "string",
}
USER_TYPES = {"room_id": "string", "user_id": "string", "user_name": "string"}
DEVICE_TYPES = dict.fromkeys(
    ["room_id", "user_id", "user_name", "user_address", "user_data", "options"], "string"
)
CALL_TYPES = {
    "time": "datetime64[ms, UTC]",
    "call": "string",
    "operation": "string",
    "method": "string",
    "url": "string",
    "seconds": "float64",
    "status": "Int64",
    "ret": "string",
    "meaning": "string",
    "error": "string",
}

LOGIN = "rtsp://admin:hunter2@192.0.2.7/x"
NUMBER = st.none() | st.integers(-(2**63), 2**63 - 1)
TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ID = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
ROOMS = st.builds(
    ck.Room,
    id=NUMBER,
    room_id=ID,
    topic=TEXT,
    room_status=NUMBER | st.integers(0, 4),
    owner_id=TEXT,
    host_password=TEXT,
    attendee_max=NUMBER,
    max_audio=NUMBER,
    max_video=NUMBER,
    room_extend_id=TEXT,
    room_mode=NUMBER | st.integers(0, 5) | TEXT,
)
USERS = st.builds(ck.RoomUser, TEXT, ID)
DEVICES = st.builds(
    ck.Device,
    ID,
    ID,
    TEXT,
    TEXT,
    ID,
    st.dictionaries(ID, TEXT | NUMBER | st.lists(TEXT, max_size=2), max_size=3),
)
CALLS = st.builds(
    ck.Call,
    st.datetimes(
        datetime(2000, 1, 1),
        datetime(2200, 1, 1),
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=5.5))]),
    ),
    st.sampled_from(list(ENDPOINTS)),
    st.sampled_from(["GET", "POST"]),
    ID,
    st.floats(0, 1e6),
    st.none() | st.integers(100, 599),
    st.none() | st.integers(-(2**63), 2**63) | TEXT.filter(bool),
    ID,
    TEXT,
    TEXT,
    st.just({}),
    ID,
    st.just("query"),
    ID,
)


def types(frame):
    """The columns and their types, in order."""
    return {name: str(kind) for name, kind in frame.dtypes.items()}


@given(rooms=st.lists(ROOMS, max_size=6), secrets=st.booleans())
def test_rooms_have_the_same_columns_and_types_for_none_as_for_many(rooms, secrets):
    """Whatever rooms there are: these columns, these types, a row each in the given order."""
    frame = ck.rooms_frame(rooms, secrets=secrets)
    assert types(frame) == ROOM_TYPES | ({"host_password": "string"} if secrets else {})
    assert list(types(frame)) == [*ROOM_TYPES, *(["host_password"] if secrets else [])]
    assert list(frame.room_id) == [room.room_id for room in rooms]
    assert list(frame.index) == list(range(len(rooms)))
    for name in ("attendee_max", "max_audio", "max_video", "id", "room_status", "topic"):
        values = [None if pd.isna(value) else value for value in frame[name]]
        assert values == [getattr(room, name) for room in rooms]
    if secrets:
        values = [None if pd.isna(value) else value for value in frame.host_password]
        assert values == [room.host_password for room in rooms]


@given(users=st.dictionaries(ID, st.lists(USERS, max_size=3), max_size=4))
def test_users_have_the_same_columns_and_types_for_none_as_for_many(users):
    """Users by room give a row each under their room; an empty room gives none."""
    frame = ck.users_frame(users)
    assert types(frame) == USER_TYPES
    rows = [(room, user.user_id) for room, group in users.items() for user in group]
    assert list(zip(frame.room_id, frame.user_id, strict=True)) == rows
    everybody = [user for group in users.values() for user in group]
    plain = ck.users_frame(everybody)
    assert types(plain) == USER_TYPES
    assert plain.room_id.isna().all()
    assert list(plain.user_id) == [user.user_id for user in everybody]


@given(devices=st.lists(DEVICES, max_size=6), secrets=st.booleans())
def test_devices_have_the_same_columns_and_types_for_none_as_for_many(devices, secrets):
    """Whatever devices there are: these columns, these types, options as JSON text."""
    frame = ck.devices_frame(devices, secrets=secrets)
    assert types(frame) == DEVICE_TYPES
    assert list(frame.user_id) == [device.user_id for device in devices]
    for row, device in zip(frame.itertuples(), devices, strict=True):
        options = json.loads(row.options)
        assert set(options) == set(device.options)
        assert not secrets or options == device.options


@pytest.mark.parametrize("convert", [ck.rooms_frame, ck.users_frame, ck.devices_frame])
@pytest.mark.parametrize("none", [list, tuple, dict, lambda: iter(())])
def test_nothing_gives_an_empty_frame_with_a_plain_index(convert, none):
    """An empty list, tuple, mapping or generator is a frame without rows."""
    frame = convert(none())
    assert frame.empty
    assert list(frame.index) == []
    assert isinstance(frame.index, pd.RangeIndex)


def test_one_record_counts_as_a_list_of_one():
    """A Room, a RoomUser or a Device by itself is a frame of one row."""
    assert list(ck.rooms_frame(ck.Room(room_id="1")).room_id) == ["1"]
    assert list(ck.users_frame(ck.RoomUser("Ada", "u")).user_id) == ["u"]
    assert list(ck.devices_frame(ck.Device("1", "cam")).user_id) == ["cam"]
    assert list(ck.users_frame({"1": ck.RoomUser("Ada", "u")}).room_id) == ["1"]


@pytest.mark.parametrize(
    ("convert", "wrong", "maker"),
    [
        (ck.rooms_frame, [ck.RoomUser("Ada", "u")], "get_room"),
        (calls_frame, [1], "client.calls"),
        (ck.users_frame, [ck.Room(room_id="1")], "get_room_users"),
        (ck.users_frame, {"1": ["u"]}, "get_room_users"),
        (ck.devices_frame, [{"room_id": "1"}], "list_devices"),
        (ck.rooms_frame, ["1"], "get_room"),
        (ck.rooms_frame, [None], "get_room"),
    ],
)
def test_something_else_is_refused_with_the_function_that_gives_it(convert, wrong, maker):
    """What is not a record is a TypeError that names where such records come from."""
    with pytest.raises(TypeError, match=maker):
        convert(wrong)


@pytest.mark.parametrize(
    ("status", "name"),
    [(0, "scheduled"), (1, "opening"), (2, "locked"), (3, "closed"), (7, "other"), (-1, "other")],
)
def test_a_status_has_its_name_beside_it(status, name):
    """`status` names room_status; one that nobody knows is "other"."""
    frame = ck.rooms_frame([ck.Room(room_id="1", room_status=status), ck.Room(room_id="2")])
    assert frame.status[0] == name
    assert pd.isna(frame.status[1])
    assert list(frame.status.cat.categories)[:4] == ["scheduled", "opening", "locked", "closed"]


@pytest.mark.parametrize(
    ("mode", "name", "number"),
    [(1, "MCU", 1), (3, "peer-to-peer", 3), (9, "other", 9), ("webinar", "other", None)],
)
def test_a_mode_has_its_name_beside_it_and_may_be_a_text(mode, name, number):
    """`mode` names room_mode; a mode that is a text is "other" and has no number."""
    frame = ck.rooms_frame([ck.Room(room_id="1", room_mode=mode), ck.Room(room_id="2")])
    assert frame["mode"][0] == name
    assert pd.isna(frame["mode"][1])
    assert (None if pd.isna(frame.room_mode[0]) else frame.room_mode[0]) == number


@pytest.mark.parametrize("mode", ["9999999999999999999", 9999999999999999999, "9" * 30])
def test_a_mode_too_large_for_a_column_is_refused_or_shown(mode):
    """A mode beyond 64 bits, as an answer may hold it, is a ProtocolError or a row, not a crash."""
    try:
        room = ck.Room.read({"room_mode": mode}, "1")
    except ck.ProtocolError:
        return
    assert list(ck.rooms_frame(room)["mode"]) == ["other"]


def test_passwords_of_rooms_are_a_column_only_when_asked_for():
    """host_password is left out, and with secrets=True it is there as plain text."""
    room = ck.Room(room_id="1", host_password="hunter2")
    hidden = ck.rooms_frame([room])
    assert "host_password" not in hidden.columns
    assert "hunter2" not in hidden.to_csv() + repr(hidden) + hidden.to_html()
    open_ = ck.rooms_frame([room], secrets=True)
    assert list(open_.host_password) == ["hunter2"]
    assert "hunter2" in open_.to_csv()
    assert "hunter2" in repr(open_)


@pytest.mark.parametrize(
    "device",
    [
        ck.Device("1", "c", "Door", "rtsp://a:hunter2@h/x", "", {"login_password": "hunter2"}),
        ck.Device("1", "c", user_data="rtsp://a:hunter2@h"),
        ck.Device("1", "c", options={"assist_address": "rtsp://a:hunter2@h"}),
        ck.Device("1", "c", options={"deep": [{"password": "hunter2"}]}),
        ck.Device("1", "c", options={"text": '{"login_password": "hunter2"}'}),
        ck.Device("1", "c", options={"login_password": 1_000_017, "hunter": "2"}),
        ck.Device("1", "c", user_address='rtsp://a:"hunter2@h/x'),
        ck.Device("1", "c", user_address="rtsp://a:my hunter2@h/x"),
    ],
)
def test_secrets_of_devices_show_only_when_asked_for(device):
    """Address, data and options are masked; with secrets=True they are what the device has."""
    hidden = ck.devices_frame([device])
    assert "hunter2" not in hidden.to_json()
    assert "1000017" not in hidden.to_json()
    assert "***" in hidden.to_json()
    open_ = ck.devices_frame([device], secrets=True)
    assert json.loads(open_.options[0]) == device.options
    assert open_.user_data[0] == device.user_data
    if device.user_address is not None:
        assert open_.user_address[0] == device.user_address


def test_texts_in_a_frame_are_plain_texts():
    """No cell holds one of our own text types, which would hide its value in a repr."""
    device = ck.Device.read(
        {
            "roomId": "1",
            "userId": "c:1",
            "userName": "a:b",
            "userAddress": "rtsp://a:b@h",
            "userData": "x=1",
        }
    )
    for frame in (ck.devices_frame([device]), ck.devices_frame([device], secrets=True)):
        assert {type(value) for value in frame.iloc[0]} == {str}
    room = ck.Room(room_id="1", host_password="hunter2")
    assert type(ck.rooms_frame([room], secrets=True).host_password[0]) is str


def test_room_numbers_keep_their_zeros():
    """Room numbers are texts: 007 stays 007, also from a mapping whose keys are numbers."""
    assert list(ck.rooms_frame([ck.Room(room_id="007")]).room_id) == ["007"]
    assert list(ck.users_frame({7: [ck.RoomUser("Ada", "u")]}).room_id) == ["7"]


@given(calls=st.lists(CALLS, max_size=6))
def test_calls_have_the_same_columns_and_types_for_none_as_for_many(calls):
    """Whatever calls there are: these columns, these types, times in UTC, a code as it came."""
    frame = calls_frame(calls)
    assert types(frame) == CALL_TYPES
    assert list(frame.call) == [call.endpoint for call in calls]
    assert list(frame.seconds) == [call.seconds for call in calls]
    for row, call in zip(frame.itertuples(), calls, strict=True):
        assert abs(row.time - call.time) < timedelta(milliseconds=1)
        assert (None if pd.isna(row.ret) else row.ret) == (
            None if call.ret is None else str(call.ret)
        )
        assert row.meaning is not pd.NA
        assert row.operation == ENDPOINTS[call.endpoint].title


def test_a_call_is_told_with_its_codes_meaning_in_its_own_interface(script):
    """A code is explained for A or B as it was called; a missing code is no zero, and says why."""
    listing = "/avd/api/outgoing/getOutgoingUsers"
    service = script(
        {
            GET_ROOM: [
                {"ret": 0, "room_id": "1"},
                {"ret": 401},
                {"ret": "odd"},
                {"ret": 99999},
                Reply("<p>Out. Of order.</p>", status=404),
                Reply(drop=True),
            ],
            listing: {"ret": 401},
        }
    )
    client = service.client()
    for _ in range(6):
        with suppress(ck.ConfkitError):
            ck.get_room(client, "1")
    with pytest.raises(ck.ParameterError):
        ck.list_devices(client)
    frame = calls_frame(client.calls)
    assert VECTOR_TOKEN not in frame.to_csv()
    assert list(frame.ret[:6]) == ["0", "0", "401", "odd", "99999", pd.NA]
    unknown = "not a code of the interface, and none seen in other deployments"
    html = "get room (A3) got an HTML or XML page (HTTP 404) instead of the JSON that was due"
    closed = "it closed the connection without an answer"
    assert list(frame.meaning) == [
        "success",
        "success",
        "authentication failed",
        unknown,
        unknown,
        html,
        closed,
        closed,
        closed,
        "wrong parameters",
    ]
    assert list(frame.status[5:9]) == [404, pd.NA, pd.NA, pd.NA]
    assert frame.error.isna().tolist() == [True, True] + [False] * 8
    assert list(frame.operation[:3]) == ["authenticate", "get room", "get room"]


LOGGED = "rtsp://user:geheim@h/x"


def test_a_name_that_is_an_address_tells_no_password():
    """Whatever users and devices are called; with `secrets` devices are called as they are."""
    device = ck.Device("1", LOGGED, LOGGED, "rtsp://h/x", "", {})
    user = ck.RoomUser(LOGGED, LOGGED)
    for frame in (
        ck.devices_frame([device]),
        ck.users_frame([user]),
        ck.users_frame({"1": [user]}),
    ):
        assert list(frame.user_id) == list(frame.user_name) == ["rtsp://user:***@h/x"]
    assert list(ck.devices_frame([device], secrets=True).user_id) == [LOGGED]


@pytest.mark.parametrize("key", ["pass=1", "token:7", "a@b.example", "sip:a:b@c", "http://h/x", ""])
def test_any_other_id_stays_as_it_is(key):
    """An ID is compared with others: only an address with a login is masked."""
    frame = ck.users_frame([ck.RoomUser(key, key)])
    assert list(frame.user_id) == list(frame.user_name) == [key]
    assert list(ck.devices_frame([ck.Device("1", key, key, None, "", {})]).user_id) == [key]


def test_a_room_that_is_called_by_an_address_tells_no_password():
    """Its topic and its IDs are shown without it, unless secrets are asked for."""
    room = ck.Room(room_id=LOGIN, topic=LOGIN, owner_id=LOGIN, room_extend_id=LOGIN)
    assert "hunter2" not in ck.rooms_frame(room).to_csv()
    assert ck.rooms_frame(room).topic[0] == "rtsp://admin:***@192.0.2.7/x"
    assert ck.rooms_frame(room, secrets=True).topic[0] == LOGIN


def test_what_became_of_a_device_tells_no_password():
    """Its ID, its name, and the cause and the advice that quote them."""
    device = ck.Device("1", LOGGED, LOGGED, "rtsp://h/x", "", {})
    fate = Fate(1, device).came("already there", f"as {LOGGED!r}", f"look for {LOGGED!r}")
    frame = fate_frame([fate], ("user_id", "user_name", "cause", "advice"), ())
    for text in frame.iloc[0]:
        assert "***" in text
        assert "geheim" not in text


def test_no_line_to_run_holds_the_password_of_a_device_that_is_called_by_its_address():
    """Each call and command that a report prints."""
    device = ck.Device("1", LOGGED, LOGGED, LOGGED, "", {})
    for told in (
        findings.named(device),
        findings.import_call(device),
        findings.remove_call(device),
        findings.diagnose_call(device),
        findings.diagnose_line("1", LOGGED),
    ):
        assert "***" in told
        assert "geheim" not in told
