"""Answers of every endpoint as any JSON that there is: a record, or an error of ours."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

import confkit as ck
from confkit.decoding import as_room, read_room, read_users
from confkit.endpoints import ENDPOINTS
from confkit.listing import devices_of
from confkit.records import Device, Room, RoomUser, needed
from confkit.signing import token_of
from confkit.wire import Answer, Request, interpret

DIALECTS = (ck.Dialect(), ck.Dialect(result_field="result", item_keys="snake_case"))

_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10),
    st.sampled_from([
        0, "0", " 0 ", "0.0", 2**53, 2**63 - 1, 2**63, -(2**63), 10**400, "9" * 19, "9" * 5000,
        "٤٠٤",
        "1e3", "1e99", "null", "nan", "\ud800", "rtsp://a:hunter2@h/x", "rtsp://[::1", "://@:", "@",
        "rtsp://a@b@c:d/e?password=hunter2", '{"login_password": "hunter2"}', "[", "{}",
        '{"a": NaN}',
        '{"a":' * 200 + "1" + "}" * 200, "404", 404, "E_1", 602, 1e308, -0.0, "\0", "=" * 60, "%zz",
    ]),
)  # fmt: skip
_NAMES = st.sampled_from([
    "ret", "result", "msg", "err", "data", "total", "items", "user_list", "random", "key", "addr",
    "id", "room_id", "topic", "room_status", "owner_id", "host_password", "attendee_max",
    "max_audio", "max_video", "room_extend_id", "room_mode", "user_id", "user_name", "roomId",
    "userId", "userName", "userAddress", "userData", "options", "user_address", "user_data",
    "login_name", "login_password", "assist_address", "RoomId", "roomid", "",
]) | st.text(max_size=4)  # fmt: skip
ANY = _LEAVES | st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=6,
)
# What a service answers, of which anything may be replaced.
_USUAL = st.sampled_from([
    {"ret": 0, "random": "abc", "key": "def"},
    *[{"ret": 0, "room_id": "1", "room_status": "1", "id": 7}] * 4,
    {"ret": 0, "room_id": "1", "topic": "Weekly", "attendee_max": "25", "room_mode": 1, "id": 7},
    {"ret": 0, "room_id": "1", "host_password": "hunter2", "max_audio": "", "room_extend_id": ""},
    {"ret": 0, "addr": "192.0.2.7:6601"}, {"ret": 404, "msg": "password=hunter2"}, {},
    {"ret": 0, "user_list": [{"user_id": "u1", "user_name": "Ada"}, {"user_id": "u2"}]},
    {"ret": 0, "result": 0, "data": {"total": 1, "items": [{"roomId": "1", "userId": "cam"}]}},
    {"result": 0, "data": {"items": [{"room_id": "1", "user_id": "c", "options": "{}"}]}},
])  # fmt: skip
_OF_ROOMS = st.sampled_from([
    "id", "room_id", "topic", "room_status", "host_password", "attendee_max", "max_audio",
    "room_extend_id", "room_mode", "user_id", "user_name",
])  # fmt: skip
_CHANGES = st.dictionaries(_NAMES, ANY, max_size=4) | st.dictionaries(
    _OF_ROOMS, st.booleans() | _LEAVES, max_size=2
)


def _changed(usual: dict[str, Any], outer: dict[str, Any], inner: dict[str, Any]) -> str:
    members = {**usual, **outer}
    for name, place in (("user_list", usual), ("items", usual.get("data", {}))):
        if name in place:
            place = members if name == "user_list" else {**place}
            place[name] = [{**item, **inner} for item in usual.get(name, place[name])]
            if name == "items" and "data" not in outer:
                members["data"] = place
    return json.dumps(members)


MEMBERS = st.builds(_changed, _USUAL, _CHANGES, _CHANGES)
BODIES = st.one_of(
    MEMBERS, MEMBERS, MEMBERS, MEMBERS, MEMBERS, ANY.map(json.dumps),
    st.builds(lambda text, end: text[: len(text) * end // 10], MEMBERS, st.integers(0, 9)),
    st.binary(max_size=30).map(lambda raw: raw.decode("latin-1")),
)  # fmt: skip

_READ: dict[str, Callable[[dict[str, Any]], Any]] = {
    "A1": lambda members: token_of(members, "demo_secret", ck.Dialect()),
    "A2": lambda members: needed(members, "room_id", "the new room"),
    "A3": lambda members: Room.read(members, "1"),
    "A4": lambda members: None,
    "A5": lambda members: needed(members, "addr", "the media server"),
    "A6": RoomUser.read_all,
    "A7": lambda members: members.get("msg"),
    "B1": lambda members: None,
    "B2": lambda members: None,
    "B3": devices_of,
}
FRAMES = {Room: ck.rooms_frame, RoomUser: ck.users_frame, Device: ck.devices_frame}


def outcome(read: Callable[[], Any]) -> tuple[Any, ...]:
    """What reading gives, with its repr, or the error of ours that it raises."""
    try:
        found = read()
    except ck.ConfkitError as error:
        assert str(error), "an error without a text"
        assert "hunter2" not in str(error), f"a secret in {error}"
        return type(error), str(error), error.retry, getattr(error, "ret", None)
    return found, repr(found)


def any_answer_is_a_record_or_an_error_of_ours(
    key: str, body: str, status: int, whole: bool, dialect: ck.Dialect
) -> None:
    """An answer of any operation gives what it says or a ConfkitError that quotes no secret, the
    quick reading agrees with the plain one, and the frames take every record."""
    raw = body.encode("utf-8", "surrogatepass")
    answer = Answer(status, "application/json", raw, 0.1, ("hunter2",), whole)
    endpoint = ENDPOINTS[key]

    def plain() -> Any:
        return _READ[key](interpret(endpoint, answer, dialect))

    found = outcome(plain)
    request = Request(endpoint, {"room_id": "1"})
    if key == "A3":
        quick = outcome(lambda: as_room(read_room(request, answer, dialect)))
        assert quick == found, f"quickly {quick}, plainly {found}"
    if key == "A6":
        quick = outcome(lambda: read_users(request, answer, dialect))
        assert quick == found, f"quickly {quick}, plainly {found}"
    records = found[0] if isinstance(found[0], list) else [found[0]]
    for record in records:
        _types_are_right(record)
    for kind, frame in FRAMES.items():
        if mine := [record for record in records if isinstance(record, kind)]:
            _frame_is_total(frame, mine)


def _types_are_right(record: Any) -> None:
    if isinstance(record, Room):
        numbers = (record.id, record.room_status, record.attendee_max, record.max_audio,
                   record.max_video)  # fmt: skip
        assert all(type(number) in (int, type(None)) for number in numbers), record
        assert record.room_id == "1" or record.room_extend_id == "1", record
    if isinstance(record, RoomUser | Device):
        assert isinstance(record.user_id, str), record
        assert record.user_id, record
    if isinstance(record, Device):
        assert isinstance(record.options, dict), record


@cache
def _empty(frame: Callable[..., Any]) -> Any:
    return frame([])


def _frame_is_total(frame: Callable[..., Any], records: list[Any]) -> None:
    empty = _empty(frame)
    for secrets in ({}, {"secrets": True}) if frame is not ck.users_frame else ({},):
        made = frame(records, **secrets)
        assert len(made) == len(records)
        assert [*made.columns][: len(empty.columns)] == [*empty.columns]
        assert [*made.dtypes][: len(empty.dtypes)] == [*empty.dtypes]
        made.to_json(orient="records", default_handler=str)
