"""Changes: checked before sending, never sent twice, and looked up when their answer is lost."""

import pickle
import re

import pytest

import confkit as ck
from tests.ports import quiet_port
from tests.scripted import GET_ROOM, Reply

CREATE, DELETE, OFFLINE = "/rtc/room/create", "/rtc/room/del", "/rtc/force_offline_mcu"
USERS = "/rtc/room/get_room_info"
IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
RTSP = "rtsp://192.0.2.7:554/stream1"
CAMERA = {"roomId": "1", "userId": "cam", "userName": "Door", "userAddress": RTSP}
ELSEWHERE = {**CAMERA, "userAddress": "rtsp://192.0.2.8/x"}
DOOR = ck.Device("1", "cam", "Door", RTSP)
PAGE, DROPPED = Reply("<html>"), Reply(drop=True)
LOST = [DROPPED, Reply("bad gateway", status=502), PAGE, Reply("")]


def listed(*items):
    return {"ret": 0, "data": {"total": len(items), "items": list(items)}}


def status_of(number, ret):
    return Reply({"ret": ret, "room_id": "mine"}, status=number)


OPEN = [
    *({"ret": ret} for ret in (504, 409, 310, 503, 424, 70077, "ok", 700, 805)),
    status_of(500, 405),
    status_of(503, 426),
]
FOUND = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
ANOTHERS = {**FOUND, "topic": "Another's"}
ADA = {"ret": 0, "user_list": [{"user_id": "ada"}]}
# Of each change: its path and call, where it is looked up, the answers with and without its effect,
# and what the error names.
CHANGES = {
    "create": (
        CREATE,
        lambda client: ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine"),
        GET_ROOM, FOUND, {"ret": 404}, "'mine' is there with this topic",
    ),
    "delete": (
        DELETE, lambda client: ck.delete_room(client, "mine"),
        GET_ROOM, {"ret": 404}, FOUND, "no room 'mine' now",
    ),
    "offline": (
        OFFLINE, lambda client: ck.force_offline(client, "1", "ada"),
        USERS, {"ret": 0, "user_list": []}, ADA, "'ada' is not in room '1' now",
    ),
    "import": (
        IMPORT, lambda client: ck.import_device(client, "1", "cam", "Door", RTSP),
        LIST, listed(CAMERA), listed(), "B3 lists 'cam' with this address",
    ),
    "remove": (
        REMOVE, lambda client: ck.remove_device(client, "1", "cam", RTSP),
        LIST, listed(), listed(CAMERA), "B3 does not list 'cam' in room '1' now",
    ),
}  # fmt: skip
each_change = pytest.mark.parametrize("change", CHANGES)


def error_of(kind, call, client, match="."):
    """The error of exactly this class that a change raises, which tells its next step last."""
    with pytest.raises(kind, match=match) as raised:
        call(client)
    assert type(raised.value) is kind
    assert str(raised.value).endswith(raised.value.advice)
    return raised.value


@each_change
@pytest.mark.parametrize("lost", LOST)
def test_a_lost_change_is_looked_up(script, change, lost):
    """Where its effect is seen the change is done, and sent once; where it is not, or cannot be
    read, its outcome is unknown, which the error says with the next step."""
    path, call, look, seen, unseen, _ = CHANGES[change]
    service = script({path: lost, look: [seen, unseen, {"ret": 700}]})
    client = service.client()
    done = call(client)
    assert client.created == (["mine"] if change == "create" else [])
    assert done == {"create": "mine", "offline": "", "import": DOOR}.get(change)
    assert service.seen[path] == 1
    for unread in (False, True):
        error = error_of(ck.OutcomeUnknown, call, client, "may or may not")
        assert "Look with ck." in error.advice
        assert ("could not be read" in str(error)) == unread
        assert (error.__cause__ is not None) == unread
    assert service.seen[path] == 3


@each_change
def test_a_code_that_leaves_it_open_is_looked_up(script, change):
    """Without an effect nothing happened, and the plain error says so; one that is seen may be
    older, and one that cannot be read may be there: Unsettled, which names what was found."""
    path, call, look, seen, unseen, named = CHANGES[change]
    for reply in OPEN:
        ret = (reply.body if isinstance(reply, Reply) else reply)["ret"]
        service = script({path: reply, look: [seen, unseen, PAGE]})
        client = service.client()
        with pytest.raises(ck.Unsettled, match="may or may not have happened") as raised:
            call(client)
        error = raised.value
        assert isinstance(error, ck.ApiError)
        assert isinstance(error, TimeoutError) == (type(error) is ck.UnsettledTimeout)
        assert named in error.advice
        assert ("under HTTP 50" in str(error)) == isinstance(reply, Reply)
        assert pickle.loads(pickle.dumps(error)).ret == ret
        with pytest.raises(ck.ApiError) as raised:
            call(client)
        plain = raised.value
        assert not isinstance(plain, ck.OutcomeUnknown)
        assert "may or may not" not in str(plain)
        assert plain.advice.startswith("It was looked up, and nothing was changed. ")
        assert str(plain).count("It was looked up") == 1
        assert not re.search("look first|look with|look whether|after a create", str(plain))
        with pytest.raises(ck.Unsettled, match="could not be read") as raised:
            call(client)
        for one in (error, plain, raised.value):
            assert (one.ret, one.retry) == (ret, False)
            assert str(one).endswith(one.advice)
        assert service.seen[path] == 3
        assert client.created == []


OWN_ID = CHANGES["create"][1]


def no_id(client):
    return ck.create_room(client, "Weekly sync", "ops")


def reimported(client):
    return ck.reimport_device(client, DOOR)


IS_THERE = r"423.*'cam' is in room '1'.*nothing is left to do"
RESTORE = r"import_device\(client, error.device\)"
# What a change raises: the answer, what the look finds, the error, and what it says.
SAID = [
    *((OWN_ID, reply, ANOTHERS, kind, "'mine' is there with another topic or owner.*ck.get_room")
      for reply, kind in ((DROPPED, ck.OutcomeUnknown), ({"ret": 700}, ck.Unsettled))),
    *((OWN_ID, reply, {"ret": 404}, ck.OutcomeUnknown, "may or may not")
      for reply in (status_of(404, 0), status_of(302, 0), Reply("", status=303))),
    (OWN_ID, {"ret": 405}, None, ck.LicenceError, "405"),
    (OWN_ID, {"ret": 407}, None, ck.ParameterError, "407"),
    (OWN_ID, Reply("no", status=403), None, ck.ProtocolError, "403"),
    (no_id, DROPPED, None, ck.OutcomeUnknown, "then with a room_extend_id"),
    (no_id, {"ret": 0}, None, ck.OutcomeUnknown, "the room was made, and .* has no room_id"),
    (no_id, {"ret": 700}, None, ck.Unsettled, "Without a room_extend_id"),
    (no_id, {"ret": 504}, None, ck.UnsettledTimeout, "Without a room_extend_id"),
    ("import", DROPPED, listed(ELSEWHERE), ck.OutcomeUnknown, "with another address"),
    ("import", {"ret": 423}, listed(CAMERA), ck.UserExists, IS_THERE),
    ("import", {"ret": 423}, listed(ELSEWHERE), ck.UserExists, "^(?!.*nothing is left to do)"),
    *(("import", status_of(status, 427), look, kind, said) for status in (200, 504)
      for look, kind, said in (
          (listed(), ck.ServiceTimeout, "^(?!.*was looked up.*was looked up).*nothing was changed"),
          (PAGE, ck.UnsettledTimeout, r"could not be read.*ck.list_devices\(client, '1'\)"))),
    # 423 says in B that nothing was done; what it means in A nobody knows.
    ("offline", status_of(500, 423), CHANGES["offline"][3], ck.Unsettled, "423"),
    # B2 has just removed the device: what B3 lists with this address is the import's effect.
    (reimported, {"ret": 426}, None, ck.ReimportFailed, RESTORE),
    (reimported, DROPPED, listed(), ck.ReimportUnknown, f"may or may not be there.*{RESTORE}"),
    *((reimported, {"ret": ret}, look, ck.ReimportUnknown, RESTORE)
      for ret in (700, 503) for look in (PAGE, listed(ELSEWHERE))),
    (reimported, {"ret": 427}, PAGE, ck.ReimportUnknown, RESTORE),
]  # fmt: skip


@pytest.mark.parametrize(("change", "reply", "look", "kind", "said"), SAID)
def test_what_may_have_happened_is_said(script, change, reply, look, kind, said):
    """A refusal is what it is; of what may have happened it is said what was found, and what to do
    now; nothing is sent twice, and the error of a re-import carries the device."""
    path, call, where, *_ = CHANGES.get(change, (CREATE, change, GET_ROOM))
    if change is reimported:
        path, where = IMPORT, LIST
    service = script({path: reply, where: look or PAGE, REMOVE: {"ret": 0}})
    error = error_of(kind, call, service.client(), f"(?s){said}")
    assert service.seen[path] == 1
    assert bool(service.seen[where]) == (look is not None)
    if not isinstance(error, ck.ParameterError | ck.LicenceError | ck.ReimportFailed):
        assert not error.retry
    if change is reimported:
        assert error.device is DOOR
        assert isinstance(error.__cause__, ck.ConfkitError)


@pytest.mark.parametrize(
    ("call", "reply", "look", "given"),
    [
        (OWN_ID, status_of(404, 0), FOUND, "mine"),
        (OWN_ID, {"ret": 0}, FOUND, "mine"),
        ("import", {"ret": 427}, listed(CAMERA), DOOR),
        *((reimported, {"ret": ret}, listed(CAMERA), DOOR) for ret in (700, 503, 427)),
    ],
)
def test_what_is_found_was_done(script, call, reply, look, given):
    """Where the effect can be of nobody else, its change is done."""
    path, where = (CREATE, GET_ROOM) if call is OWN_ID else (IMPORT, LIST)
    service = script({path: reply, where: look, REMOVE: {"ret": 0}})
    assert CHANGES.get(call, (0, call))[1](service.client()) == given
    assert service.seen[path] == 1


def test_a_reimport_whose_removal_is_open_imports_nothing(script):
    """Removed or not, the error is still that of the code, and says how to restore the device."""
    service = script({REMOVE: {"ret": 700}, LIST: listed()})
    error = error_of(
        ck.Unsettled, reimported, service.client(), r"not imported again: .*import_device"
    )
    assert error.ret == 700
    assert IMPORT not in service.seen


@pytest.mark.parametrize(
    ("change", "ret", "kind"),
    [
        ("create", 407, ck.ParameterError),
        ("create", 602, ck.TokenRejected),
        ("delete", 404, ck.RoomNotFound),
        ("offline", 429, ck.UserNotFound),
        ("import", 401, ck.ParameterError),
        ("remove", 425, ck.UserNotFound),
        ("remove", 408, ck.ApiError),
        ("import", 404, ck.ApiError),
        ("import", 407, ck.ApiError),
        ("import", 602, ck.TokenRejected),
        ("remove", 404, ck.ApiError),
        ("remove", 612, ck.RoomNotFound),
        ("offline", 612, ck.RoomNotFound),
    ],
)
def test_a_code_that_says_that_nothing_was_done_stays_itself_under_5xx(script, change, ret, kind):
    """Whatever the HTTP status is, nothing is looked up; and a change is not to be sent again."""
    path, call, look, *_ = CHANGES[change]
    service = script({path: status_of(502, ret)})
    assert not error_of(kind, call, service.client()).retry
    assert look not in service.seen


@each_change
def test_a_change_that_came_too_often_is_not_to_be_sent_again(script, change):
    """HTTP 429 without a result code: nothing was done, and only reads are retried."""
    path, call, look, *_ = CHANGES[change]
    service = script({path: Reply("slow down", status=429)})
    assert not error_of(ck.ProtocolError, call, service.client(), "429").retry
    assert look not in service.seen


def test_an_open_change_keeps_the_record_of_rooms_made(sandbox, client):
    """A room that may be older is not among the client's own; one that is gone is not any more."""
    OWN_ID(client)
    delete = CHANGES["delete"][1]
    for path, call, kind, after, mine in (
        (CREATE, OWN_ID, ck.Unsettled, False, ["mine"]),
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
    error_of(ck.TransportError, OWN_ID, client)


NAMED = ("1", "cam", "Door")
WRONG = [
    *(("create_room", topic, "ops") for topic in ("x" * 150, "ä" * 75, "", None)),
    ("create_room", "t", ""),
    *(("create_room", "t", "ops", more) for more in (
        {"room_mode": None}, {"attendee_max": "many"}, {"attendee_max": 2.5},
        {"max_audio": True}, {"max_video": float("nan")})),
    *(("get_room", room_id) for room_id in ("", None, 1047.0)),
    ("get_room_users", " "), ("get_mcu", None), ("force_offline", "1", ""),
    *(("import_device", *NAMED, address) for address in (
        "192.0.2.7/stream1", "rtsp://", "rtsp://host/a b", None, "rtsp://u:***@192.0.2.7/s")),
    ("import_device", "1", "cam", "", RTSP), ("import_device", "1", None, "Door", RTSP),
    *(("import_device", *NAMED, RTSP, more) for more in (
        {"options": "login"}, {"options": {"a": {1, 2}}}, {"login_password": "***"},
        {"login_name": "a", "options": {"login_name": "b"}})),
    ("remove_device", "1", "cam", "rtsp://u:***@192.0.2.7/s"),
    ("reimport_device", ck.Device(*NAMED, RTSP, options={"login_password": "***"})),
]  # fmt: skip
HALF = "a\ud800"
HALVED = [
    *(("room_id", name, HALF) for name in ("get_room", "list_devices")),
    ("room_id", "diagnose_device", HALF, "cam"), ("room_id", "sweep", [HALF]),
    ("user_id", "remove_device", "1", HALF, RTSP),
    ("user_address", "remove_device", "1", "cam", RTSP + HALF),
    ("topic", "create_room", HALF, "ops"),
    *((name, "create_room", "t", "ops", {name: HALF}) for name in ("room_mode", "host_password")),
    ("user_name", "import_device", "1", "cam", HALF, RTSP),
    ("user_data", "reimport_device", ck.Device(*NAMED, RTSP, user_data=HALF)),
    *((name, "import_device", *NAMED, RTSP, {name: value}) for name, value in (
        ("login_password", HALF), ("options", {"a": [HALF]}), ("options", {HALF: 1}))),
]  # fmt: skip


@pytest.mark.parametrize("row", [*(("", *row) for row in WRONG), *HALVED])
def test_a_wrong_argument_is_refused_before_anything_is_sent(script, row):
    """What breaks a bound of the interface, or is half a character and cannot travel, is a
    ParameterError, a ValueError, that names it, and no request."""
    named, name, *given = row
    more = given.pop() if isinstance(given[-1], dict) else {}
    service = script()
    with pytest.raises(ck.ParameterError, match=named or "Nothing was sent") as raised:
        getattr(ck, name)(service.client(), *given, **more)
    assert isinstance(raised.value, ValueError)
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
    topic = "ä" * 74 + "x"
    assert ck.create_room(client, topic, "ops") == "1047"
    usual = {"topic": topic, "owner_id": "ops", "room_mode": "1"}
    optional = {"attendee_max": 25, "max_audio": 3, "max_video": 2}
    optional |= {"host_password": "pw", "room_extend_id": "x"}
    ck.create_room(client, topic, "ops", **optional)
    plain, full = (service.requests[at][2] for at in (-2, -1))
    for sent, due in ((plain, usual), (full, usual | {k: str(v) for k, v in optional.items()})):
        assert sent.pop("access_token")
        assert sent == due


def test_read_only_refuses_every_change_before_anything_is_sent(script):
    """With read_only=True create, delete, import, remove and force-offline send nothing, whatever
    else is wrong with them."""
    service = script({LIST: listed(CAMERA)})
    client = service.client(read_only=True)
    for call in (
        *(call for _, call, *_ in CHANGES.values()),
        lambda client: ck.remove_device(client, "1", "cam"),
        lambda client: ck.create_room(client, "", ""),
        lambda client: ck.import_device(client, "1", "cam", "Door", "nonsense"),
        reimported,
    ):
        with pytest.raises(ck.ReadOnlyError, match="read only") as raised:
            call(client)
        assert raised.value.advice.startswith("Connect with read_only=False")
    assert not service.requests
    assert ck.list_devices(client)[0].user_id == "cam"


def test_a_device_may_be_given_whole_or_looked_up(script):
    """import_device and remove_device take a Device, and send its fields and its login;
    remove_device without an address takes it from B3, and an unlisted device is UserNotFound."""
    done = {"ret": 0, "data": {}}
    service = script({IMPORT: done, REMOVE: done, LIST: listed(CAMERA)})
    client = service.client()
    device = ck.Device(*NAMED, RTSP, "x", {"login_name": "u", "login_password": "p@ss"})
    ck.import_device(client, device)
    sent = service.requests[-1][2]
    assert sent["options"] == '{"login_name":"u","login_password":"p@ss"}'
    assert (sent["roomId"], sent["userId"], sent["userData"]) == ("1", "cam", "x")
    for given in ([device], ["1", "cam"]):
        ck.remove_device(client, *given)
        sent = service.requests[-1][2]
        assert "accessToken" not in sent
        assert {sent["roomId"], sent["userId"], sent["userAddress"]} == {"1", "cam", RTSP}
    with pytest.raises(ck.UserNotFound, match="B2 was not sent"):
        ck.remove_device(client, "1", "other")
    assert service.seen[REMOVE] == 2


@pytest.mark.parametrize(
    ("path", "members"),
    [
        *((USERS, members) for members in (
            {}, {"user_list": None}, {"user_list": {}}, {"user_list": [1]},
            {"user_list": [{"user_name": "Ada"}]})),
        *((LIST, members) for members in (
            {}, {"data": []}, {"data": {}}, {"data": {"items": None, "total": 0}},
            {"data": {"items": [], "total": 3}})),
    ],
)  # fmt: skip
def test_a_failed_list_is_never_an_empty_list(script, path, members):
    """An answer of A6 or B3 without its list, or with fewer items than its total, is a
    ProtocolError, not nobody."""
    client = script({path: {"ret": 0, **members}}).client()
    with pytest.raises(ck.ProtocolError):
        ck.get_room_users(client, "1") if path is USERS else ck.list_devices(client)


def test_devices_are_read_with_quoted_totals_and_of_all_rooms(script):
    """`total` may be quoted, under `result` too; None or an empty text asks for all rooms by
    sending no roomId."""
    item = {**CAMERA, "options": {"login_name": "u"}}
    service = script({LIST: {"result": "0", "data": {"total": "1", "items": [item]}}})
    for room_id in ("1", "", None):
        [device] = ck.list_devices(service.client(), room_id)
        assert device == ck.Device(*NAMED, RTSP, "", {"login_name": "u"})
        assert service.requests[-1][2].get("roomId") == (room_id or None)


def test_a_user_that_is_called_by_its_address_shows_no_login(script):
    """Some name a camera by its address: what is said of it hides the password in it, and nothing
    in it moves a terminal's cursor."""
    named, quiet = "rtsp://admin:geheim77@192.0.2.7/\x1b[2J", {"ret": 0, "user_list": []}
    service = script(
        {
            IMPORT: [{"ret": 0}, {"ret": 423}, {"ret": 426}],
            USERS: quiet,
            LIST: [listed(), listed({**CAMERA, "userId": named})],
            REMOVE: {"ret": 0},
        }
    )
    client, device = service.client(), ck.Device("1", named, "Door", RTSP)
    calls = {
        ck.NotInRoom: lambda: ck.import_device(client, device, verify=True, patience=0),
        ck.UserExists: lambda: ck.import_device(client, device),
        ck.ReimportFailed: lambda: ck.reimport_device(client, device),
        ck.UserNotFound: lambda: ck.remove_device(client, "2", named),
    }
    for kind, call in calls.items():
        with pytest.raises(kind) as raised:
            call()
        assert "admin" in str(raised.value)
        assert "geheim77" not in str(raised.value)
        assert "\x1b" not in str(raised.value)
