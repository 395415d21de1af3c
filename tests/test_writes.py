"""Changes: checked before sending, sent once, and looked up where their outcome is open."""

import json
import pickle
from dataclasses import replace

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


def listed(*items):
    return {"ret": 0, "data": {"total": len(items), "items": list(items)}}


def call_of(name, *arguments, **options):
    """A change as a function of the client."""
    return lambda client: getattr(ck, name)(client, *arguments, **options)


own_id = call_of("create_room", "Weekly sync", "ops", room_extend_id="mine")
no_id = call_of("create_room", "Weekly sync", "ops")
delete = call_of("delete_room", "mine")
offline = call_of("force_offline", "1", "ada")
imported = call_of("import_device", "1", "cam", "Door", RTSP)
removed = call_of("remove_device", "1", "cam", RTSP)
ROOM = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
ANOTHERS = {**ROOM, "topic": "Another's"}
GONE, NOBODY = {"ret": 404}, {"ret": 0, "user_list": []}
ADA = {"ret": 0, "user_list": [{"user_id": "ada"}]}
HERE, NOT_HERE = listed(CAMERA), listed()
ELSEWHERE = listed({**CAMERA, "userAddress": "rtsp://192.0.2.8/x"})
# Of each change: its path, where it is looked up, what that answers with and without its effect,
# the effect in words, and what the change returns when it is done.
CHANGES = {
    own_id: (CREATE, GET_ROOM, ROOM, GONE, "room 'mine' is there", "mine"),
    delete: (DELETE, GET_ROOM, GONE, ROOM, "room 'mine' is gone", None),
    offline: (OFFLINE, USERS, NOBODY, ADA, "user 'ada' is not in room '1'", ""),
    imported: (IMPORT, LIST, HERE, NOT_HERE, "B3 lists 'cam' with this address", DOOR),
    removed: (REMOVE, LIST, NOT_HERE, HERE, "B3 does not list 'cam' in room '1'", None),
    no_id: (CREATE, GET_ROOM, ROOM, ROOM, "", ""),
}
PAGE, DROPPED = Reply("<html>"), Reply(drop=True)


def code(ret, status=200):
    return Reply({"ret": ret, "room_id": "mine"}, status=status)


def raised_by(kind, call, client, match="."):
    """The error of exactly this class that a change raises: it is not repeated, and ends with its
    next step."""
    with pytest.raises(kind, match=f"(?s){match}") as raised:
        call(client)
    assert (type(raised.value), raised.value.retry) == (kind, False)
    assert str(raised.value).endswith(raised.value.advice)
    return raised.value


LOST = [DROPPED, PAGE, Reply(""), Reply("", status=303), Reply("", status=502), code(0, 404)]
OPEN_A, OPEN_B = (409, 504, 700, 503, 805, 70077, "ok", 424), (310, 424, 503, 700, 70077, 404)
# The answers that leave a change open, and what then is raised where nothing of it is seen.
OPEN = [
    *((change, answer, ck.OutcomeUnknown) for change in [*CHANGES][:5] for answer in LOST[:2]),
    *((own_id, answer, ck.OutcomeUnknown) for answer in LOST[2:]),
    *((change, code(ret), ck.ApiError) for change in (own_id, delete, offline) for ret in OPEN_A),
    *((change, code(ret), ck.ApiError) for change in (imported, removed) for ret in OPEN_B),
    (own_id, code(405, 500), ck.LicenceError),
    (imported, code(426, 503), ck.JoinFailed),
    (offline, code(423, 500), ck.ApiError),  # "not done" in B; in A nobody knows
]


@pytest.mark.parametrize(("change", "answer", "kind"), OPEN)
def test_a_change_whose_outcome_is_open_is_looked_up(script, change, answer, kind):
    """Its effect shows that it is done after a lost answer; after a code it may be older. Without
    it the code's error is raised; what was lost may be under way. A look-up that fails shows
    nothing. Each OutcomeUnknown has the code, the cause and the next step."""
    path, look, seen, unseen, effect, done = CHANGES[change]
    service = script({path: answer, look: [seen, unseen, {"ret": 700}]})
    client = service.client()
    lost, ret = kind is ck.OutcomeUnknown, None
    if lost:
        assert change(client) == done
    else:
        ret = answer.body["ret"]
        error = raised_by(ck.OutcomeUnknown, change, client, f"may or may not .*{effect}, perhaps")
        assert (error.ret, error.__cause__.ret) == (ret, ret)
        assert pickle.loads(pickle.dumps(error)).ret == ret
    assert client.created == (["mine"] if lost and change is own_id else [])
    with pytest.raises(kind) as plain:
        change(client)
    assert (plain.value.ret, isinstance(plain.value, ck.OutcomeUnknown)) == (ret, lost)
    assert ("nothing was changed" in str(plain.value)) != lost
    error = raised_by(ck.OutcomeUnknown, change, client, r"cannot tell: .*700.*Look with ck\.")
    assert (error.ret, error.lookup_error.ret) == (ret, 700)
    assert service.seen[path] == 3


# The change, its answer, what the look-up finds (None: nobody looks), and what it returns, or the
# error and its text.
CASES = [
    (own_id, DROPPED, ANOTHERS, ck.OutcomeUnknown, "another topic or owner.*ck.get_room"),
    (own_id, code(700), ANOTHERS, ck.OutcomeUnknown, "700.*another topic or owner"),
    (own_id, code(405), None, ck.LicenceError, "405"),
    (own_id, Reply({"ret": 0}), None, "mine", ""),
    (own_id, Reply("no", status=403), None, ck.ProtocolError, "403"),
    (delete, Reply("slow down", status=429), None, ck.ProtocolError, "429"),
    *((no_id, answer, None, ck.OutcomeUnknown, "then with a room_extend_id")
      for answer in (DROPPED, code(700))),
    (no_id, Reply({"ret": 0}), None, ck.OutcomeUnknown, "created the room, .* no room_id"),
    (imported, DROPPED, ELSEWHERE, ck.OutcomeUnknown, "with another address"),
    (imported, code(423), None, ck.UserExists, "423"),
    # A device that was there before would have been 423.
    (imported, code(427), HERE, DOOR, ""),
    *((imported, code(427, status), NOT_HERE, ck.ServiceTimeout, "427.*nothing was changed")
      for status in (200, 504)),
    (imported, code(427), PAGE, ck.OutcomeUnknown, "cannot tell.*ck.list_devices"),
    # Codes that say that nothing was done, under HTTP 5xx too.
    *((change, code(ret, 502), None, kind, str(ret)) for change, ret, kind in (
        (own_id, 407, ck.ParameterError), (own_id, 602, ck.TokenRejected),
        (delete, 404, ck.RoomNotFound), (offline, 429, ck.UserNotFound),
        (offline, 612, ck.RoomNotFound), (imported, 401, ck.ParameterError),
        (imported, 602, ck.TokenRejected), (removed, 425, ck.UserNotFound))),
]  # fmt: skip


@pytest.mark.parametrize(("change", "answer", "look", "due", "text"), CASES)
def test_what_an_answer_and_a_look_up_prove(script, change, answer, look, due, text):
    """What is refused is that error at once; what can be no older change is done. Nothing is sent
    twice, but for a token that is renewed."""
    path, where = CHANGES[change][:2]
    service = script({path: answer, where: look or PAGE})
    if isinstance(due, type):
        raised_by(due, change, service.client(), text)
    else:
        assert change(service.client()) == due
    assert service.seen[path] == 1 + (due is ck.TokenRejected)
    assert bool(service.seen[where]) == (look is not None)


def test_a_client_knows_the_rooms_that_it_made(sandbox, client):
    """A room that may be older is not among them; one that is gone is not any more."""
    own_id(client)
    for path, call, kind, after, mine in (
        (CREATE, own_id, ck.OutcomeUnknown, False, ["mine"]),
        (DELETE, delete, ck.ApiError, False, ["mine"]),
        (DELETE, delete, ck.OutcomeUnknown, True, []),
    ):
        sandbox.fault(path, ret=700, times=1, after=after)
        raised_by(kind, call, client)
        assert client.created == mine
    own_id(client)
    ck.delete_room(sandbox.connect(), "mine")
    raised_by(ck.RoomNotFound, delete, client)
    assert client.created == []


def test_what_was_never_sent_is_not_unknown():
    """A change that met a refused connection is a TransportError: it did not happen."""
    nowhere = f"http://127.0.0.1:{quiet_port()}"
    client = ck.Client(nowhere, nowhere, "a", "s", sleep=lambda _: None)
    client._token.value = "known"
    with pytest.raises(ck.TransportError):
        own_id(client)


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
    with pytest.raises(
        ck.ParameterError, match=f"{name} holds something that JSON and UTF-8 cannot"
    ):
        ck.connect(base_url="http://127.0.0.1:1", outgoing_url="http://127.0.0.1:2", **keys)


ROOM_1, OLD = ck.Room(room_id="1"), {"login_name": "u", "login_password": "p@ss"}
WITH_LOGIN = replace(DOOR, user_data="x", options=OLD)
FULL = {"attendee_max": 25, "max_audio": 3, "max_video": 2, "host_password": "pw"}
MADE = {"topic": "ä" * 74 + "x", "owner_id": "ops", "room_mode": "1"}
IN_ROOM = {"room_id": "1"}
REMOVAL = {name: CAMERA[name] for name in ("roomId", "userId", "userAddress")}
# A call, and the parameters with which its request travels. 149 bytes are a topic; a Room stands
# for its ID, a Device for its fields; a new login takes the place of an old one; numbers stay.
TRAVELS = [
    (call_of("create_room", MADE["topic"], "ops"), MADE),
    (call_of("create_room", MADE["topic"], "ops", **{**FULL, "max_video": 2.0}, room_extend_id="x"),
     MADE | {name: str(value) for name, value in FULL.items()} | {"room_extend_id": "x"}),
    *((call_of(name, ROOM_1), IN_ROOM)
      for name in ("get_room", "get_room_users", "delete_room", "get_mcu")),
    (call_of("force_offline", ROOM_1, "ada"), {**IN_ROOM, "user_id": "ada"}),
    (call_of("import_device", ROOM_1, "cam", "Door", RTSP), CAMERA),
    *((call_of("import_device", WITH_LOGIN, **new), {**CAMERA, "userData": "x", "options": sent})
      for new, sent in (
        ({}, OLD),
        ({"login_password": "new"}, {**OLD, "login_password": "new"}),
        ({"login_name": "v", "options": {"x": 0.5}}, {"x": 0.5, "login_name": "v"}),
        *(({"options": options}, options) for options in (
            {"max_token": 5, "login_password": 1234, "pwd": 0.5, "on": True},)))),
    *((call_of("remove_device", *given), REMOVAL)
      for given in ([WITH_LOGIN], ["1", "cam", RTSP], ["1", "cam"], [ROOM_1, "cam"])),
    *((call_of("list_devices", *room), {"roomId": "1"} if room in (["1"], [ROOM_1]) else {})
      for room in (["1"], [ROOM_1], [""], [])),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sent"), TRAVELS)
def test_what_is_given_is_what_travels(script, call, sent):
    """In the interface's spelling, and nothing else; the address of a device to remove is taken
    from B3 where it is left out."""
    fine = {"ret": 0, "room_id": "1", "addr": "h:1", "data": HERE["data"], "user_list": []}
    service = script(
        dict.fromkeys((CREATE, GET_ROOM, USERS, DELETE, OFFLINE, "/sdk/get_mcu"), fine)
    )
    service.script |= dict.fromkeys((IMPORT, REMOVE, LIST), fine)
    call(service.client())
    last = dict(service.requests[-1][2])
    assert last.pop("access_token", None) or last.pop("accessToken")
    if "options" in last:
        last["options"] = json.loads(last["options"])
    assert last == sent


def test_a_device_that_is_not_listed_was_not_refused(script):
    """UserNotFound without a code, as the service was not asked to remove it."""
    service = script({LIST: HERE})
    error = raised_by(ck.UserNotFound, call_of("remove_device", "1", "x"), service.client())
    assert (error.ret, error.endpoint, service.seen[REMOVE]) == (None, "B2", 0)


def test_read_only_refuses_every_change_before_anything_is_sent(script):
    """With read_only=True create, delete, import, remove and force-offline send nothing, whatever
    else is wrong with them."""
    service = script({LIST: HERE})
    client = service.client(read_only=True)
    for call in (
        *CHANGES,
        call_of("remove_device", "1", "cam"),
        call_of("create_room", "", ""),
        call_of("import_device", "1", "cam", "Door", "nonsense"),
    ):
        error = raised_by(ck.ReadOnlyError, call, client, "read only")
        assert error.advice.startswith("Connect with read_only=False")
    assert not service.requests
    assert ck.list_devices(client)[0].user_id == "cam"


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


def test_devices_are_read_with_quoted_totals(script):
    """`total` may be quoted, under `result` too."""
    item = {**CAMERA, "options": {"login_name": "u"}}
    service = script({LIST: {"result": "0", "data": {"total": "1", "items": [item]}}})
    assert ck.list_devices(service.client()) == [replace(DOOR, options={"login_name": "u"})]


def test_a_user_that_is_called_by_its_address_shows_no_login(script):
    """Some name a camera by its address: what is said of it hides the password in it, and nothing
    in it moves a terminal's cursor."""
    named = "rtsp://admin:geheim77@192.0.2.7/\x1b[2J"
    client = script({IMPORT: [{"ret": 0}, DROPPED], USERS: NOBODY, LIST: NOT_HERE}).client()
    device = replace(DOOR, user_id=named)
    for kind, call in (
        (ck.NotInRoom, call_of("import_device", device, verify=True, patience=0)),
        (ck.UserNotFound, call_of("remove_device", "2", named)),
    ):
        with pytest.raises(kind, match="admin") as raised:
            call(client)
        assert "geheim77" not in str(raised.value)
        assert "\x1b" not in str(raised.value)
