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

NUMBER = st.none() | st.integers(-(2**63), 2**63 - 1)
LETTERS = st.characters(exclude_categories=["Cs"])
TEXT, ID = st.none() | st.text(LETTERS, max_size=8), st.text(LETTERS, min_size=1, max_size=8)
TIMES = st.datetimes(
    datetime(2000, 1, 1),
    datetime(2200, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5.5))]),
)
OPTIONS = st.dictionaries(ID, TEXT | NUMBER | st.lists(TEXT, max_size=2), max_size=3)
ROOM_NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video"]
ROOM_TEXTS = ["topic", "owner_id", "host_password", "room_extend_id"]
ROOMS = st.builds(
    ck.Room,
    room_id=ID,
    room_mode=NUMBER | st.integers(0, 5) | TEXT,
    **dict.fromkeys(ROOM_NUMBERS, NUMBER | st.integers(0, 4)),
    **dict.fromkeys(ROOM_TEXTS, TEXT),
)
USERS = st.builds(ck.RoomUser, TEXT, ID)
DEVICES = st.builds(ck.Device, ID, ID, TEXT, TEXT, ID, OPTIONS)
CALLS = st.builds(
    ck.Call,
    time=TIMES,
    endpoint=st.sampled_from(list(ENDPOINTS)),
    seconds=st.floats(0, 1e6),
    status=st.none() | st.integers(100, 599),
    ret=st.none() | st.integers(-(2**63), 2**63) | TEXT.filter(bool),
    error=TEXT,
    **dict.fromkeys(
        ["method", "url", "answer", "token", "fields", "address", "placement", "meaning"], ID
    ),
)
# Of each converter: records of it, what of them is the last column of their IDs, and the types.
FRAMES = {
    ck.rooms_frame: (ROOMS, "room_id", (
        "room_id string, topic string, status category, attendee_max Int64, mode category, "
        "owner_id string, max_audio Int64, max_video Int64, room_status Int64, room_mode Int64, "
        "id Int64, room_extend_id string")),
    ck.users_frame: (USERS, "user_id", "room_id string, user_id string, user_name string"),
    ck.devices_frame: (DEVICES, "user_id", (
        "room_id string, user_id string, user_name string, user_address string, "
        "user_data string, options string")),
    calls_frame: (CALLS, "seconds", (
        "time datetime64[ms, UTC], call string, operation string, method string, url string, "
        "seconds float64, status Int64, ret string, meaning string, error string")),
}  # fmt: skip
each = pytest.mark.parametrize("convert", FRAMES)


def types(frame):
    """The columns and their types, in order."""
    return ", ".join(f"{name} {kind}" for name, kind in frame.dtypes.items())


def values(column):
    return [None if pd.isna(value) else value for value in column]


@each
@given(data=st.data())
def test_the_same_columns_and_types_for_none_as_for_many(convert, data):
    """Whatever records there are: these columns, these types, a row each in the given order; one
    record counts as a list of one, and nothing of any kind has no rows."""
    records, key, due = FRAMES[convert]
    given = data.draw(st.lists(records, max_size=6))
    frame = convert(given)
    assert types(frame) == due
    assert list(frame[key]) == [getattr(one, key) for one in given]
    assert isinstance(frame.index, pd.RangeIndex)
    for one in given[:1]:
        assert len(convert(one)) == 1
    for nothing in ([], (), {}, iter(())):
        assert types(convert(nothing)) == due
        assert convert(nothing).empty


@given(rooms=st.lists(ROOMS, max_size=6), devices=st.lists(DEVICES, max_size=6))
def test_values_are_those_of_the_records(rooms, devices):
    """Numbers and texts of rooms as they are, a password only when asked for; options as JSON."""
    frame = ck.rooms_frame(rooms, secrets=True)
    assert list(frame)[-1] == "host_password"
    for name in {*ROOM_NUMBERS, "topic", "host_password"}:
        assert values(frame[name]) == [getattr(room, name) for room in rooms]
    for secrets in (False, True):
        frame = ck.devices_frame(devices, secrets=secrets)
        for text, device in zip(frame.options, devices, strict=True):
            assert set(json.loads(text)) == set(device.options)
            assert not secrets or json.loads(text) == device.options


@given(users=st.dictionaries(ID, st.lists(USERS, max_size=3), max_size=4))
def test_users_by_room_stand_under_their_room(users):
    """A row each under their room; an empty room gives none, and users by themselves have none."""
    frame = ck.users_frame(users)
    rows = [(room, user.user_id) for room, group in users.items() for user in group]
    assert list(zip(frame.room_id, frame.user_id, strict=True)) == rows
    everybody = [user for group in users.values() for user in group]
    assert ck.users_frame(everybody).room_id.isna().all()


@given(calls=st.lists(CALLS, max_size=6))
def test_calls_are_told_with_their_time_and_code(calls):
    """Times in UTC, a code as it came, and what the operation is."""
    for row, call in zip(calls_frame(calls).itertuples(), calls, strict=True):
        assert abs(row.time - call.time) < timedelta(milliseconds=1)
        assert row.ret is pd.NA if call.ret is None else row.ret == str(call.ret)
        assert row.meaning is not pd.NA
        assert row.operation == ENDPOINTS[call.endpoint].title


USER = ck.RoomUser("Ada", "u")


@pytest.mark.parametrize(
    ("convert", "wrong", "maker"),
    [
        (ck.rooms_frame, [USER], "get_room"),
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


NAMES = ["scheduled", "opening", "locked", "closed"]


@pytest.mark.parametrize(
    ("field", "number", "name"),
    [
        *(("status", number, name) for number, name in enumerate(NAMES)),
        *(("status", number, "other") for number in (7, -1)),
        ("mode", 1, "MCU"),
        ("mode", 3, "peer-to-peer"),
        ("mode", 9, "other"),
        ("mode", "webinar", "other"),
    ],
)
def test_a_status_or_mode_has_its_name_beside_it(field, number, name):
    """`status` names room_status, `mode` room_mode; what nobody knows is "other", and a mode that
    is a text has no number."""
    rooms = [ck.Room(room_id="1", **{f"room_{field}": number}), ck.Room(room_id="2")]
    frame = ck.rooms_frame(rooms)
    assert values(frame[field]) == [name, None]
    assert values(frame[f"room_{field}"]) == [None if number == "webinar" else number, None]
    assert list(frame.status.cat.categories)[:4] == NAMES


@pytest.mark.parametrize("mode", ["9999999999999999999", 9999999999999999999, "9" * 30])
def test_a_mode_too_large_for_a_column_is_refused_or_shown(mode):
    """A mode beyond 64 bits, as an answer may hold it, is a ProtocolError or a row, not a crash."""
    with suppress(ck.ProtocolError):
        room = ck.Room.read({"room_mode": mode}, "1")
        assert list(ck.rooms_frame(room)["mode"]) == ["other"]


LOGIN, HIDDEN = "rtsp://a:hunter2@h/x", "rtsp://a:***@h/x"


@pytest.mark.parametrize(
    "device",
    [
        ck.Device("1", "c", "Door", LOGIN, "", {"login_password": "hunter2"}),
        ck.Device("1", "c", user_data=LOGIN),
        ck.Device("1", "c", options={"assist_address": LOGIN}),
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
    open_ = ck.devices_frame([device], secrets=True).iloc[0]
    assert json.loads(open_.options) == device.options
    assert open_.user_data == device.user_data
    assert values([open_.user_address]) == [device.user_address]


def test_secrets_of_rooms_show_only_when_asked_for():
    """A password, and the login in a room that is called by an address."""
    named = dict.fromkeys(["room_id", "topic", "owner_id", "room_extend_id"], LOGIN)
    room = ck.Room(**named, host_password="hunter2")
    hidden, open_ = ck.rooms_frame([room]), ck.rooms_frame([room], secrets=True)
    assert "hunter2" not in hidden.to_csv() + repr(hidden) + hidden.to_html()
    assert hidden.topic[0] == HIDDEN
    assert open_.topic[0] == LOGIN
    assert "hunter2" in repr(open_.host_password)


def test_texts_in_a_frame_are_plain_texts():
    """No cell holds one of our own text types, which would hide its value in a repr; room numbers
    are texts: 007 stays 007, also from a mapping whose keys are numbers."""
    fields = {"roomId": "007", "userId": "c:1", "userName": "a:b", "userAddress": LOGIN}
    device = ck.Device.read({**fields, "userData": "x=1"})
    for secrets in (False, True):
        row = ck.devices_frame([device], secrets=secrets).iloc[0]
        assert {type(value) for value in row} == {str}
        assert row.room_id == "007"
    room = ck.Room(room_id="1", host_password="hunter2")
    assert type(ck.rooms_frame([room], secrets=True).host_password[0]) is str
    assert list(ck.users_frame({7: USER}).room_id) == ["7"]


def test_a_call_is_told_with_its_codes_meaning_in_its_own_interface(script):
    """A code is explained for A or B as it was called; a missing code is no zero, and says why."""
    out = Reply("<p>Out. Of order.</p>", status=404)
    codes = [{"ret": ret} for ret in (401, "odd", 99999)]
    rooms = [{"ret": 0, "room_id": "1"}, *codes, out, Reply(drop=True)]
    service = script({GET_ROOM: rooms, ENDPOINTS["B3"].path: {"ret": 401}})
    client = service.client()
    for _ in range(6):
        with suppress(ck.ConfkitError):
            ck.get_room(client, "1")
    with pytest.raises(ck.ParameterError):
        ck.list_devices(client)
    frame = calls_frame(client.calls)
    assert VECTOR_TOKEN not in frame.to_csv()
    assert values(frame.ret) == ["0", "0", "401", "odd", "99999", *[None] * 4, "401"]
    unknown = "not a code of the interface, and none seen in other deployments"
    html = "get room (A3) got an HTML or XML page (HTTP 404) instead of the JSON that was due"
    closed = "it closed the connection without an answer"
    assert list(frame.meaning) == [
        *["success", "success", "authentication failed", unknown, unknown, html],
        *[closed] * 3,
        "wrong parameters",
    ]
    assert values(frame.status[5:9]) == [404, None, None, None]
    assert frame.error.isna().tolist() == [True, True] + [False] * 8
    assert list(frame.operation[:3]) == ["authenticate", "get room", "get room"]


NAMED = ck.Device("1", LOGIN, LOGIN, LOGIN)


def test_a_name_that_is_an_address_tells_no_password():
    """Whatever users and devices are called; with `secrets` devices are called as they are."""
    user = ck.RoomUser(LOGIN, LOGIN)
    frames = ck.devices_frame([NAMED]), ck.users_frame([user]), ck.users_frame({"1": [user]})
    for frame in frames:
        assert list(frame.user_id) == list(frame.user_name) == [HIDDEN]
    assert list(ck.devices_frame([NAMED], secrets=True).user_id) == [LOGIN]


@pytest.mark.parametrize("key", ["pass=1", "token:7", "a@b.example", "sip:a:b@c", "http://h/x", ""])
def test_any_other_id_stays_as_it_is(key):
    """An ID is compared with others: only an address with a login is masked."""
    frame = ck.users_frame([ck.RoomUser(key, key)])
    assert list(frame.user_id) == list(frame.user_name) == [key]
    assert list(ck.devices_frame([ck.Device("1", key)]).user_id) == [key]


def test_what_is_told_of_a_device_that_is_called_by_its_address_holds_no_password():
    """What became of it, and each call and command that a report prints."""
    fate = Fate(1, NAMED).came("already there", f"as {LOGIN!r}", f"look for {LOGIN!r}")
    frame = fate_frame([fate], ("user_id", "user_name", "cause", "advice"), ())
    calls = (findings.named, findings.import_call, findings.remove_call, findings.diagnose_call)
    line = findings.diagnose_line("1", LOGIN)
    for told in (*frame.iloc[0], *(call(NAMED) for call in calls), line):
        assert "***" in told
        assert "hunter2" not in told
