"""Whatever a service answers is a record that fits into its frame, or an error of ours that quotes
no secret."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

import confkit as ck
from confkit.devices import devices_of
from confkit.operations import OPERATIONS
from confkit.records import Device, Room, RoomUser, require_field
from confkit.wire import Response, interpret

from .fuzzing import explore
from .piece import Piece

_TEXTS = (
    "0 0.0 ٤٠٤ 1e3 1e99 null nan \ud800 rtsp://a:hunter2@h/x rtsp://[::1 ://@: @ [ {} 404 E_1 \0"
)
_ODD = [
    " 0 ",
    "9" * 19,
    "9" * 5000,
    "rtsp://a@b@c:d/e?password=hunter2",
    '{"a": NaN}',
    '{"login_password": "hunter2"}',
    '{"a":' * 200 + "1" + "}" * 200,
    0,
    2**53,
    2**63 - 1,
    2**63,
    -(2**63),
    10**400,
    602,
    1e308,
    -0.0,
]
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=10),
    st.sampled_from([*_TEXTS.split(), *_ODD]),
)
_WORDS = """
ret result msg err data total items user_list random key addr id room_id topic room_status owner_id
host_password attendee_max max_audio max_video room_extend_id room_mode user_id user_name roomId
userId userName userAddress userData options user_address user_data login_name login_password
assist_address RoomId roomid
"""
_NAMES = st.sampled_from(["", *_WORDS.split()]) | st.text(max_size=4)
ANY = _LEAVES | st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=6,
)
# What a service answers, of which anything may be replaced: in the answer, and in a list's items.
_USUAL = st.sampled_from(
    [
        {"ret": 0, "random": "abc", "key": "def"},
        {"ret": 0, "addr": "192.0.2.7:6601"},
        {},
        {"ret": 0, "room_id": "1", "room_status": "1", "id": 7, "attendee_max": "25", "topic": "W"},
        {"ret": 0, "room_id": "1", "host_password": "hunter2", "max_audio": ""},
        {"ret": 0, "user_list": [{"user_id": "u1", "user_name": "Ada"}]},
        {"ret": 0, "result": 0, "data": {"total": 1, "items": [{"roomId": "1", "userId": "cam"}]}},
        {"result": 0, "data": {"items": [{"room_id": "1", "user_id": "c", "options": "{}"}]}},
        {"ret": 404, "msg": "password=hunter2"},
    ]
)
_CHANGES = st.dictionaries(_NAMES, ANY, max_size=4)


def _changed(usual: dict[str, Any], outer: dict[str, Any], inner: dict[str, Any]) -> str:
    members = json.loads(json.dumps(usual))
    for items in (members.get("user_list", []), members.get("data", {}).get("items", [])):
        for item in items:
            item.update(inner)
    return json.dumps(members | outer)


MEMBERS = st.builds(_changed, _USUAL, _CHANGES, _CHANGES)
BODIES = st.one_of(
    MEMBERS,
    MEMBERS,
    MEMBERS,
    ANY.map(json.dumps),
    MEMBERS.map(lambda text: text[:40]),
    st.binary(max_size=30).map(lambda raw: raw.decode("latin-1")),
)
_READ: dict[str, Callable[[dict[str, Any]], Any]] = {
    "A1": lambda members: ck.Dialect().token_of(members, "demo_secret"),
    "A2": lambda members: require_field(members, "room_id", "the new room"),
    "A3": lambda members: Room.read(members, "1"),
    "A5": lambda members: require_field(members, "addr", "the media server"),
    "A6": RoomUser.read_all,
    "B3": devices_of,
}
FRAMES = {Room: ck.rooms_frame, RoomUser: ck.users_frame, Device: ck.devices_frame}


def any_answer_is_a_record_or_an_error_of_ours(
    key: str, body: str, status: int, complete: bool
) -> None:
    """An answer of any operation gives what it says, or a ConfkitError that quotes no secret."""
    raw = body.encode("utf-8", "surrogatepass")
    found: Any = interpret(OPERATIONS[key], Response(status, raw, complete), ("hunter2",))
    try:
        if isinstance(found, dict):
            found = _READ.get(key, lambda members: None)(found)
    except ck.ConfkitError as error:
        found = error
    told = ""
    if isinstance(found, ck.ConfkitError):
        told, found = str(found) or "hunter2, as an error without a text is none", None
    assert "hunter2" not in told, told
    for record in found if isinstance(found, list) else [found]:
        assert "hunter2" not in repr(record)
        if isinstance(record, Room):
            numbers = (record.id, record.room_status, record.attendee_max, record.max_audio)
            assert all(type(one) in (int, type(None)) for one in numbers), record
            assert "1" in (record.room_id, record.room_extend_id), record
        if frame := FRAMES.get(type(record)):
            made, empty = frame([record]), frame([])
            assert [*made.dtypes][: len(empty.columns)] == [*empty.dtypes]
            made.to_json(orient="records", default_handler=str)


def answers(piece: Piece) -> None:
    """Examples of answers that hold anything."""
    explore(
        piece,
        piece.size,
        any_answer_is_a_record_or_an_error_of_ours,
        key=st.sampled_from([*OPERATIONS, *["A3"] * 6, *["A6", "B3"] * 3]),
        body=BODIES,
        status=st.sampled_from([200] * 9 + [201, 302, 503]),
        complete=st.sampled_from([True] * 9 + [False]),
    )
