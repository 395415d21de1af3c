"""Changes: checked before sending, never sent twice, and looked up when their answer is lost."""

import json
import pickle
import re
from dataclasses import replace
from itertools import cycle

import pytest

import confkit as ck
from tests.ports import quiet_port
from tests.scripted import GET_ROOM, Reply
from tests.test_records import deep

CREATE, DELETE, OFFLINE = "/rtc/room/create", "/rtc/room/del", "/rtc/force_offline_mcu"
USERS = "/rtc/room/get_room_info"
IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
RTSP = "rtsp://192.0.2.7:554/stream1"
CAMERA = {"roomId": "1", "userId": "cam", "userName": "Door", "userAddress": RTSP}
DOOR = ck.Device("1", "cam", "Door", RTSP)
HALF = "a\ud800"
PAGE, DROPPED = Reply("<html>"), Reply(drop=True)


def listed(*items):
    return {"ret": 0, "data": {"total": len(items), "items": list(items)}}


def status_of(number, ret):
    return Reply({"ret": ret, "room_id": "mine"}, status=number)


def own_id(client):
    return ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine")


def no_id(client):
    return ck.create_room(client, "Weekly sync", "ops")


def delete(client):
    return ck.delete_room(client, "mine")


def offline(client):
    return ck.force_offline(client, "1", "ada")


def imported(client):
    return ck.import_device(client, "1", "cam", "Door", RTSP)


def removed(client):
    return ck.remove_device(client, "1", "cam", RTSP)


FOUND = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
ANOTHERS = {**FOUND, "topic": "Another's"}
GONE, NOBODY = {"ret": 404}, {"ret": 0, "user_list": []}
ADA = {"ret": 0, "user_list": [{"user_id": "ada"}]}
HERE, NOT_HERE = listed(CAMERA), listed()
ELSEWHERE = listed({**CAMERA, "userAddress": "rtsp://192.0.2.8/x"})
# Of each change: its path, where it is looked up, the answers with and without its effect, what the
# error names, and what it gives when it is done.
CHANGES = {
    own_id: (CREATE, GET_ROOM, FOUND, GONE, "'mine' is there with this topic", "mine"),
    delete: (DELETE, GET_ROOM, GONE, FOUND, "no room 'mine' now", None),
    offline: (OFFLINE, USERS, NOBODY, ADA, "'ada' is not in room '1' now", ""),
    imported: (IMPORT, LIST, HERE, NOT_HERE, "B3 lists 'cam' with this address", DOOR),
    removed: (REMOVE, LIST, NOT_HERE, HERE, "B3 does not list 'cam' in room '1' now", None),
}
PLACES = {**{change: row[:2] for change, row in CHANGES.items()}, no_id: (CREATE, GET_ROOM)}
each_change = pytest.mark.parametrize("change", CHANGES)


def error_of(kind, call, client, match="."):
    """The error of exactly this class that a change raises, which tells its next step last."""
    with pytest.raises(kind, match=match) as raised:
        call(client)
    assert type(raised.value) is kind
    assert str(raised.value).endswith(raised.value.advice)
    return raised.value


@each_change
def test_a_lost_change_is_looked_up(script, change):
    """Where its effect is seen the change is done, and sent once; where it is not, or cannot be
    read, its outcome is unknown, which the error says with the next step."""
    path, look, seen, unseen, _, done = CHANGES[change]
    service = script({path: DROPPED, look: [seen, unseen, {"ret": 700}]})
    client = service.client()
    assert change(client) == done
    assert client.created == (["mine"] if change is own_id else [])
    assert service.seen[path] == 1
    for unread in (False, True):
        error = error_of(ck.OutcomeUnknown, change, client, "may or may not")
        assert "Look with ck." in error.advice
        assert ("could not be read" in str(error)) == unread
        assert (error.__cause__ is not None) == unread
    assert service.seen[path] == 3


# Codes that leave open what happened, each in an interface that can answer it.
OPEN = [
    *zip(cycle([own_id, delete, offline]), [504, 409, 424, 70077, "ok", 700, 805]),
    *zip(cycle([imported, removed]), [503, 310, 70077, 700]),
    (own_id, status_of(500, 405)),
    (imported, status_of(503, 426)),
]


@pytest.mark.parametrize(("change", "reply"), OPEN)
def test_a_code_that_leaves_it_open_is_looked_up(script, change, reply):
    """Without an effect nothing happened, and the plain error says so; one that is seen may be
    older, and one that cannot be read may be there: Unsettled, which names what was found."""
    path, look, seen, unseen, named, _ = CHANGES[change]
    answer = reply if isinstance(reply, Reply) else Reply({"ret": reply})
    service = script({path: answer, look: [seen, unseen, PAGE]})
    client = service.client()
    with pytest.raises(ck.Unsettled, match="may or may not have happened") as raised:
        change(client)
    error = raised.value
    assert type(error) is (ck.UnsettledTimeout if reply in (504, 409, 310) else ck.Unsettled)
    assert named in error.advice
    assert ("under HTTP 50" in str(error)) == (answer is reply)
    assert pickle.loads(pickle.dumps(error)).ret == error.ret
    with pytest.raises(ck.ApiError, match="It was looked up, and nothing was changed") as raised:
        change(client)
    plain = raised.value
    assert not isinstance(plain, ck.OutcomeUnknown)
    assert str(plain).count("It was looked up") == 1
    assert not re.search("may or may not|look (first|with|whether)|after a create", str(plain))
    with pytest.raises(ck.Unsettled, match="could not be read") as raised:
        change(client)
    for one in (error, plain, raised.value):
        assert (one.ret, one.retry) == (answer.body["ret"], False)
        assert str(one).endswith(one.advice)
    assert service.seen[path] == 3
    assert client.created == []


IS_THERE = r"423.*'cam' is in room '1'.*nothing is left to do"
NOT_MADE = "^(?!.*was looked up.*was looked up).*nothing was changed"
# The answer to a change, what the look finds (None: nobody looks), what comes of it, and what the
# error says.
OUTCOMES = [
    (own_id, DROPPED, ANOTHERS, ck.OutcomeUnknown, "with another topic or owner.*ck.get_room"),
    (own_id, {"ret": 700}, ANOTHERS, ck.Unsettled, "with another topic or owner.*ck.get_room"),
    *((own_id, reply, GONE, ck.OutcomeUnknown, "may or may not") for reply in (
        status_of(404, 0), status_of(302, 0), Reply("", status=303), Reply("", status=502),
        PAGE, Reply(""))),
    (own_id, status_of(404, 0), FOUND, "mine", ""),
    (own_id, {"ret": 0}, FOUND, "mine", ""),
    (own_id, {"ret": 405}, None, ck.LicenceError, "405"),
    (own_id, Reply("no", status=403), None, ck.ProtocolError, "403"),
    (delete, Reply("slow down", status=429), None, ck.ProtocolError, "429"),
    (no_id, DROPPED, None, ck.OutcomeUnknown, "then with a room_extend_id"),
    (no_id, {"ret": 0}, None, ck.OutcomeUnknown, "the room was made, and .* has no room_id"),
    (no_id, {"ret": 700}, None, ck.Unsettled, "Without a room_extend_id"),
    (imported, DROPPED, ELSEWHERE, ck.OutcomeUnknown, "with another address"),
    (imported, {"ret": 423}, HERE, ck.UserExists, IS_THERE),
    (imported, {"ret": 423}, ELSEWHERE, ck.UserExists, "^(?!.*nothing is left to do)"),
    (imported, {"ret": 427}, HERE, DOOR, ""),
    *((imported, status_of(status, 427), NOT_HERE, ck.ServiceTimeout, NOT_MADE)
      for status in (200, 504)),
    (imported, {"ret": 427}, PAGE, ck.UnsettledTimeout, "could not be read.*ck.list_devices"),
    # 423 says in B that nothing was done; what it means in A nobody knows.
    (offline, status_of(500, 423), ADA | {"user_list": []}, ck.Unsettled, "423"),
]  # fmt: skip


# Codes that say that nothing was done.
NOT_DONE = [
    (own_id, 407, ck.ParameterError),
    (own_id, 602, ck.TokenRejected),
    (delete, 404, ck.RoomNotFound),
    (offline, 429, ck.UserNotFound),
    (offline, 612, ck.RoomNotFound),
    (imported, 401, ck.ParameterError),
    (imported, 602, ck.TokenRejected),
    (removed, 425, ck.UserNotFound),
    (removed, 612, ck.RoomNotFound),
    *((removed, ret, ck.ApiError) for ret in (404, 407, 408)),
]


@pytest.mark.parametrize(
    ("change", "reply", "look", "due", "said"),
    [*OUTCOMES, *((one, status_of(502, ret), None, due, str(ret)) for one, ret, due in NOT_DONE)],
)
def test_what_may_have_happened_is_said(script, change, reply, look, due, said):
    """A refusal is what it is, under HTTP 5xx too; of what may have happened it is said what was
    found, and what to do now; where the effect can be of nobody else the change is done. Nothing is
    sent twice."""
    path, where = PLACES[change]
    service = script({path: reply, where: look or PAGE})
    if not isinstance(due, type):
        assert change(service.client()) == due
    else:
        error = error_of(due, change, service.client(), f"(?s){said}")
        assert not error.retry
    assert service.seen[path] == 1 + (due is ck.TokenRejected)
    assert bool(service.seen[where]) == (look is not None)


def test_an_open_change_keeps_the_record_of_rooms_made(sandbox, client):
    """A room that may be older is not among the client's own; one that is gone is not any more."""
    own_id(client)
    for path, call, kind, after, mine in (
        (CREATE, own_id, ck.Unsettled, False, ["mine"]),
        (DELETE, delete, ck.ApiError, False, ["mine"]),
        (DELETE, delete, ck.Unsettled, True, []),
    ):
        sandbox.fault(path, ret=700, times=1, after=after)
        error_of(kind, call, client)
        assert client.created == mine


def test_what_was_never_sent_is_not_unknown():
    """A change that met a refused connection is a TransportError: it did not happen."""
    nowhere = f"http://127.0.0.1:{quiet_port()}"
    client = ck.Client(nowhere, nowhere, "a", "s", sleep=lambda _: None)
    client._token.held = "known"
    error_of(ck.TransportError, own_id, client)


ROOM_ID, USER = {"room_id": "1"}, {"room_id": "1", "user_id": "cam"}
NAMED = {**USER, "user_name": "Door", "user_address": RTSP}
# Of each function the IDs and texts that it needs, none of which may be empty.
NEEDED = {
    "create_room": {"topic": "t", "owner_id": "ops"},
    "import_device": NAMED,
    "remove_device": {**USER, "user_address": RTSP},
    **dict.fromkeys(("force_offline", "diagnose_device"), USER),
    **dict.fromkeys(("get_room", "delete_room", "get_mcu", "get_room_users"), ROOM_ID),
}
MASKED = "rtsp://u:***@192.0.2.7/s"
WITHIN: dict[str, object] = {}
WITHIN["a"] = [WITHIN, WITHIN]
# What else is wrong: a bound of the interface, or what cannot travel.
WRONG = {
    ("create_room", "topic"): ["x" * 150, "ä" * 75],
    ("create_room", "room_mode"): [None, HALF],
    ("create_room", "attendee_max"): ["many", 2.5],
    ("create_room", "max_audio"): [True],
    ("create_room", "max_video"): [float("nan")],
    ("create_room", "host_password"): [HALF],
    ("create_room", "room_extend_id"): [HALF, " "],
    ("get_room", "room_id"): [None, 1047.0],
    ("import_device", "user_address"): [
        "192.0.2.7/stream1", "rtsp://", "rtsp://host/a b", None, MASKED, f"rtsp://host/{HALF}"],
    ("import_device", "options"): [
        "login", {"a": {1, 2}}, {"a": [HALF]}, {HALF: 1}, {"login_name": "b"},
        json.loads(deep(400)), WITHIN, {"a": float("nan")}, {"a": float("inf")}],
    ("import_device", "user_data"): [HALF],
    ("import_device", "login_name"): [HALF, 7],
    ("import_device", "login_password"): [HALF, "***"],
    ("remove_device", "user_address"): [MASKED],
}  # fmt: skip
WRONG_ONES = [(*where, value) for where, values in WRONG.items() for value in values]
WRONG_ONES += [
    (function, name, value)
    for function, needed in NEEDED.items()
    for name in needed
    for value in ("", " ", HALF)
]


def test_a_wrong_argument_is_refused_before_anything_is_sent(script):
    """What breaks a bound of the interface, is missing, or is half a character and cannot travel,
    is a ParameterError, a ValueError, that names it, and no request."""
    service = script()
    client = service.client()
    for function, name, value in WRONG_ONES:
        given = {"login_name": "admin"} if name == "options" else {}
        with pytest.raises(ck.ParameterError, match="Nothing was sent") as raised:
            getattr(ck, function)(client, **{**NEEDED[function], **given, name: value})
        assert isinstance(raised.value, ValueError)
        assert (raised.value.ret, raised.value.endpoint is None) == (None, False)
        assert name in str(raised.value)
    assert not service.requests


@pytest.mark.parametrize("name", ["access_key", "secret_key"])
def test_half_a_character_in_a_key_is_named(name):
    """A key of such a text, as from an environment in another encoding, makes no client."""
    keys = {"access_key": "a", "secret_key": "s", name: HALF}
    with pytest.raises(ck.ParameterError, match=f"{name} holds half a character"):
        ck.connect(base_url="http://127.0.0.1:1", outgoing_url="http://127.0.0.1:2", **keys)


def test_optional_parameters_travel_only_when_given(script):
    """A creation sends what was given, spelt like the interface, and nothing else; 149 bytes are a
    topic."""
    service = script({CREATE: {"ret": 0, "room_id": 1047}})
    client = service.client()
    due = {"topic": "ä" * 74 + "x", "owner_id": "ops", "room_mode": "1"}
    optional = {"attendee_max": 25, "max_audio": 3, "max_video": 2.0}
    optional |= {"host_password": "pw", "room_extend_id": "x"}
    for more in ({}, optional):
        assert ck.create_room(client, due["topic"], "ops", **more) == "1047"
        sent = service.requests[-1][2]
        assert sent.pop("access_token")
        due |= {name: str(value).removesuffix(".0") for name, value in more.items()}
        assert sent == due


def test_read_only_refuses_every_change_before_anything_is_sent(script):
    """With read_only=True create, delete, import, remove and force-offline send nothing, whatever
    else is wrong with them."""
    service = script({LIST: HERE})
    client = service.client(read_only=True)
    for call in (
        *PLACES,
        lambda client: ck.remove_device(client, "1", "cam"),
        lambda client: ck.create_room(client, "", ""),
        lambda client: ck.import_device(client, "1", "cam", "Door", "nonsense"),
    ):
        error = error_of(ck.ReadOnlyError, call, client, "read only")
        assert error.advice.startswith("Connect with read_only=False")
    assert not service.requests
    assert ck.list_devices(client)[0].user_id == "cam"


def test_a_device_may_be_given_whole_or_looked_up(script):
    """import_device and remove_device take a Device, and send its fields and its login;
    remove_device without an address takes it from B3, and an unlisted device is UserNotFound."""
    done = {"ret": 0, "data": {}}
    service = script({IMPORT: done, REMOVE: done, LIST: HERE})
    client = service.client()
    device = replace(DOOR, user_data="x", options={"login_name": "u", "login_password": "p@ss"})
    ck.import_device(client, device)
    sent = service.requests[-1][2]
    assert sent["options"] == '{"login_name":"u","login_password":"p@ss"}'
    assert (sent["roomId"], sent["userId"], sent["userData"]) == ("1", "cam", "x")
    for given in ([device], ["1", "cam"]):
        ck.remove_device(client, *given)
        assert CAMERA.items() - {("userName", "Door")} <= service.requests[-1][2].items()
    with pytest.raises(ck.UserNotFound, match="B2 was not sent") as raised:
        ck.remove_device(client, "1", "other")
    assert (raised.value.ret, raised.value.endpoint) == (425, "B2")
    assert service.seen[REMOVE] == 2


NO_LIST = [
    *((ck.get_room_users, USERS, {"user_list": one}) for one in (None, {}, [1], [{}])),
    *((ck.list_devices, LIST, {"data": one}) for one in (
        None, [], {}, {"items": None, "total": 0}, {"items": [], "total": 3})),
]  # fmt: skip


def test_a_failed_list_is_never_an_empty_list(script):
    """An answer of A6 or B3 without its list, or with fewer items than its total, is a
    ProtocolError, not nobody."""
    service = script()
    for call, path, members in NO_LIST:
        service.script[path] = {"ret": 0, **members}
        with pytest.raises(ck.ProtocolError):
            call(service.client(), "1")


def test_devices_are_read_with_quoted_totals_and_of_all_rooms(script):
    """`total` may be quoted, under `result` too; None or an empty text asks for all rooms by
    sending no roomId."""
    item = {**CAMERA, "options": {"login_name": "u"}}
    service = script({LIST: {"result": "0", "data": {"total": "1", "items": [item]}}})
    for room_id in ("1", "", None):
        [device] = ck.list_devices(service.client(), room_id)
        assert device == replace(DOOR, options={"login_name": "u"})
        assert service.requests[-1][2].get("roomId") == (room_id or None)


def test_a_user_that_is_called_by_its_address_shows_no_login(script):
    """Some name a camera by its address: what is said of it hides the password in it, and nothing
    in it moves a terminal's cursor."""
    named = "rtsp://admin:geheim77@192.0.2.7/\x1b[2J"
    there = listed({**CAMERA, "userId": named})
    imports = [{"ret": 0}, {"ret": 423}]
    looks = {USERS: NOBODY, LIST: [NOT_HERE, there]}
    client = script({IMPORT: imports, **looks}).client()
    device = replace(DOOR, user_id=named)
    for kind, call in (
        (ck.NotInRoom, lambda: ck.import_device(client, device, verify=True, patience=0)),
        (ck.UserExists, lambda: ck.import_device(client, device)),
        (ck.UserNotFound, lambda: ck.remove_device(client, "2", named)),
    ):
        with pytest.raises(kind, match="admin") as raised:
            call()
        assert "geheim77" not in str(raised.value)
        assert "\x1b" not in str(raised.value)
