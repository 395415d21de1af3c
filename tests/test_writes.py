"""Changes: checked before sending, sent once, and looked up where their outcome is open."""

import json
from dataclasses import replace

import pytest

import confkit as ck
from tests.scripted import GET_ROOM, Reply, listed

CREATE, DELETE, OFFLINE = "/rtc/room/create", "/rtc/room/del", "/rtc/force_offline_mcu"
USERS, MCU = "/rtc/room/get_room_info", "/sdk/get_mcu"
IMPORT, REMOVE, LIST = (
    f"/avd/api/outgoing/{name}"
    for name in ("createOutgoingUser", "destroyOutgoingUser", "getOutgoingUsers")
)
RTSP = "rtsp://192.0.2.7:554/stream1"
CAMERA = {"roomId": "1", "userId": "cam", "userName": "Door", "userAddress": RTSP}
DOOR = ck.Device("1", "cam", "Door", RTSP)
HALF = "a\ud800"


def call_of(name, *arguments, **options):
    """A function of the client that calls this one."""
    return lambda client: getattr(ck, name)(client, *arguments, **options)


own_id = call_of("create_room", "Weekly sync", "ops", room_extend_id="mine")
no_id = call_of("create_room", "Weekly sync", "ops")
delete = call_of("delete_room", "mine")
offline = call_of("force_offline", "1", "ada")
imported = call_of("import_device", "1", "cam", "Door", RTSP)
removed = call_of("remove_device", "1", "cam", RTSP)
ROOM = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
GONE, NOBODY = {"ret": 404}, {"ret": 0, "user_list": []}
ADA = {"ret": 0, "user_list": [{"user_id": "ada"}]}
# Of each change: its path, where it is looked up, what that answers with and without its effect,
# and what the change returns.
CHANGES = {
    own_id: (CREATE, GET_ROOM, ROOM, GONE, "mine"),
    delete: (DELETE, GET_ROOM, GONE, ROOM, None),
    offline: (OFFLINE, USERS, NOBODY, ADA, ""),
    imported: (IMPORT, LIST, listed(CAMERA), listed(), DOOR),
    removed: (REMOVE, LIST, listed(), listed(CAMERA), None),
    no_id: (CREATE, GET_ROOM, ROOM, ROOM, ""),
}
DROPPED = Reply(drop=True)


def code(ret, status=200):
    return Reply({"ret": ret, "room_id": "mine"}, status=status)


def raised_by(kind, call, client, match="."):
    """The error of exactly this class, which is not repeated and ends with its next step."""
    with pytest.raises(kind, match=f"(?s){match}") as raised:
        call(client)
    assert (type(raised.value), raised.value.retry) == (kind, False)
    assert str(raised.value).endswith(raised.value.advice)
    return raised.value


OPEN = [  # answers that leave a change open, and what is raised if its effect is not there
    *((change, DROPPED, ck.OutcomeUnknown) for change in [*CHANGES][:5]),
    *((own_id, answer, ck.OutcomeUnknown) for answer in (Reply("<html>"), code(0, 404))),
    *((own_id, code(ret), ck.ApiError) for ret in (700, 70077)),
    (own_id, code(405, 500), ck.LicenceError),
    (offline, code(423, 500), ck.ApiError),  # "not done" in B; in A nobody knows
    (imported, code(427), ck.ServiceTimeout),
]


@pytest.mark.parametrize(("change", "answer", "kind"), OPEN)
def test_a_change_whose_outcome_is_open_is_looked_up(script, change, answer, kind):
    """With its effect it is done; without, the code's error is raised, and what was lost may be
    under way. A look-up that fails shows nothing: OutcomeUnknown with code, cause, next step."""
    path, look, seen, unseen, done = CHANGES[change]
    service = script({path: answer, look: [seen, unseen, {"ret": 700}]})
    client = service.client()
    ret = None if kind is ck.OutcomeUnknown else answer.body["ret"]
    assert change(client) == done
    assert client.created == (["mine"] if change is own_id else [])
    with pytest.raises(kind) as plain:
        change(client)
    assert (plain.value.ret, "nothing was changed" in str(plain.value)) == (ret, ret is not None)
    error = raised_by(ck.OutcomeUnknown, change, client, r"look-up failed: .*700.*Check with ck\.")
    assert (error.ret, error.lookup_error.ret) == (ret, 700)
    assert service.seen[path] == 3


ELSEWHERE = listed({**CAMERA, "userAddress": "rtsp://192.0.2.8/x"})
CASES = [  # the answer, what the look-up finds (None: nobody looks), and the result or error
    (own_id, DROPPED, {**ROOM, "topic": "x"}, ck.OutcomeUnknown, "another topic.*ck.get_room"),
    (own_id, Reply({"ret": 0}), None, "mine", ""),
    (no_id, DROPPED, None, ck.OutcomeUnknown, "then with a room_extend_id"),
    (no_id, Reply({"ret": 0}), None, ck.OutcomeUnknown, "created the room, .* no room_id"),
    (imported, DROPPED, ELSEWHERE, ck.OutcomeUnknown, "under another address"),
    (imported, code(423), None, ck.UserExists, "423"),
    # Codes that say that nothing was done, under HTTP 5xx too.
    (own_id, code(602, 502), None, ck.TokenRejected, "602"),
    (delete, code(404, 502), None, ck.RoomNotFound, "404"),
    (offline, code(429, 502), None, ck.UserNotFound, "429"),
    (removed, code(425, 502), None, ck.UserNotFound, "425"),
]


@pytest.mark.parametrize(("change", "answer", "look", "due", "text"), CASES)
def test_what_an_answer_and_a_look_up_prove(script, change, answer, look, due, text):
    """What is refused is that error at once. Nothing is sent twice, but for a renewed token."""
    path, where = CHANGES[change][:2]
    service = script({path: answer, where: look or Reply("<html>")})
    if isinstance(due, type):
        raised_by(due, change, service.client(), text)
    else:
        assert change(service.client()) == due
    assert service.seen[path] == 1 + (due is ck.TokenRejected)
    assert bool(service.seen[where]) == (look is not None)


USER = {"room_id": "1", "user_id": "cam"}
NEEDED = {  # the IDs and texts that each function needs, none of which may be empty
    "create_room": {"topic": "t", "owner_id": "ops"},
    "import_device": {**USER, "user_name": "Door", "user_address": RTSP},
    "remove_device": {**USER, "user_address": RTSP},
    "force_offline": USER,
    **{name: {"room_id": "1"} for name in ("get_room", "delete_room", "get_mcu", "get_room_users")},
}
MASKED = "rtsp://u:***@192.0.2.7/s"
WRONG = {  # what else is wrong: a bound of the interface, or what cannot travel
    "create_room": {"topic": "ä" * 75, "attendee_max": 2.5, "host_password": HALF},
    "get_room": {"room_id": None},
    "import_device": {"user_address": MASKED, "options": {"a": {1, 2}}, "login_password": "***"},
}


def test_a_wrong_argument_is_refused_before_anything_is_sent(script):
    """A ParameterError that names it: what breaks a bound, is missing, or cannot travel."""
    service = script()
    cases = [(call, *row) for call, names in WRONG.items() for row in names.items()]
    cases += [(call, name, " ") for call, names in NEEDED.items() for name in names]
    for call, name, value in cases:
        more = {"login_name": "admin"} if name == "options" else {}
        with pytest.raises(ck.ParameterError, match=f"(?s){name}.*Nothing was sent"):
            getattr(ck, call)(service.client(), **{**NEEDED[call], **more, name: value})
    assert not service.requests


ROOM_1, OLD = ck.Room(room_id="1"), {"login_name": "u", "login_password": "p@ss"}
WITH_LOGIN = replace(DOOR, user_data="x", options=OLD)
MADE = {"topic": "ä" * 74 + "x", "owner_id": "ops", "room_mode": "1"}
ODD = {"max_token": 5, "login_password": 1234, "pwd": 0.5, "on": True}
REMOVAL = {name: CAMERA[name] for name in ("roomId", "userId", "userAddress")}
# A call, and the parameters with which its request travels. A Room stands for its ID, a Device for
# its fields; a new login takes the place of an old one; numbers stay numbers.
TRAVELS = [
    (call_of("create_room", MADE["topic"], "ops", attendee_max=25, host_password="pw"),
     {**MADE, "attendee_max": "25", "host_password": "pw"}),
    (call_of("get_mcu", ROOM_1), {"room_id": "1"}),
    (call_of("force_offline", ROOM_1, "ada"), {"room_id": "1", "user_id": "ada"}),
    (call_of("import_device", ROOM_1, "cam", "Door", RTSP), CAMERA),
    *((call_of("import_device", WITH_LOGIN, **new), {**CAMERA, "userData": "x", "options": sent})
      for new, sent in (
        ({"options": ODD}, ODD),
        ({"login_password": "new"}, {**OLD, "login_password": "new"}))),
    *((call_of("remove_device", *place), REMOVAL) for place in ([WITH_LOGIN], ["1", "cam"])),
    (call_of("list_devices", ROOM_1), {"roomId": "1"}),
    (call_of("list_devices", ""), {}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sent"), TRAVELS)
def test_what_is_given_is_what_travels(script, call, sent):
    """In the interface's spelling, and nothing else; an omitted address is taken from B3."""
    fine = {"room_id": "1", "addr": "h:1", **listed(CAMERA)}
    service = script(dict.fromkeys((CREATE, OFFLINE, MCU, IMPORT, REMOVE, LIST), fine))
    call(service.client())
    last = dict(service.requests[-1][2])
    assert last.pop("access_token", None) or last.pop("accessToken")
    if "options" in last:
        last["options"] = json.loads(last["options"])
    assert last == sent


def test_read_only_refuses_every_change_before_anything_is_sent(script):
    service = script({LIST: listed(CAMERA)})
    client = service.client(read_only=True)
    for call in (*CHANGES, call_of("remove_device", "1", "cam")):
        raised_by(ck.ReadOnlyError, call, client, "Connect with read_only=False")
    assert not service.requests
    assert ck.list_devices(client)[0].user_id == "cam"


def test_a_failed_list_is_never_an_empty_list(script):
    """Nor one with fewer items than its `total`."""
    service = script()
    for call, path, members in (
        (ck.get_room_users, USERS, {"user_list": None}),
        (ck.list_devices, LIST, {"data": {"items": None, "total": 0}}),
        (ck.list_devices, LIST, {"data": {"items": [], "total": 3}}),
    ):
        service.script[path] = {"ret": 0, **members}
        with pytest.raises(ck.ProtocolError):
            call(service.client(), "1")
