"""Changes: checked before sending, never sent twice, and looked up when their answer is lost."""

import pickle
import re

import pytest

import confkit as ck
from tests.scripted import AUTHENTICATE, GET_ROOM, Reply

CREATE = "/rtc/room/create"
DELETE = "/rtc/room/del"
OFFLINE = "/rtc/force_offline_mcu"
USERS = "/rtc/room/get_room_info"
IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
RTSP = "rtsp://192.0.2.7:554/stream1"
CAMERA = {"roomId": "1", "userId": "cam", "userName": "Door", "userAddress": RTSP}
LOST = [Reply(drop=True), Reply("bad gateway", status=502), Reply("<html>"), Reply("")]


def listed(*items):
    return {"ret": 0, "data": {"total": len(items), "items": list(items)}}


@pytest.mark.parametrize("reply", [Reply(drop=True), {"ret": 700}])
def test_an_open_creation_of_somebody_elses_room_is_unknown(script, reply):
    """A room of this ID with another topic is not the one that was to be made, and is named."""
    other = {"ret": 0, "room_id": "mine", "topic": "Another's"}
    service = script({CREATE: reply, GET_ROOM: other})
    with pytest.raises(ck.OutcomeUnknown, match="may or may not") as raised:
        ck.create_room(service.client(), "Weekly sync", "ops", room_extend_id="mine")
    assert "'mine' is there with another topic or owner" in raised.value.advice
    assert "ck.get_room(client, 'mine')" in raised.value.advice


def test_a_lost_creation_without_an_id_of_its_own_is_unknown(script):
    """Without a room_extend_id there is nothing to look up by."""
    service = script({CREATE: Reply(drop=True)})
    with pytest.raises(ck.OutcomeUnknown) as raised:
        ck.create_room(service.client(), "Weekly sync", "ops")
    assert "then with a room_extend_id" in raised.value.advice
    assert service.seen == {AUTHENTICATE: 1, CREATE: 1}


@pytest.mark.parametrize("reply", [{"ret": 405}, {"ret": 407}, Reply("no", status=403)])
def test_a_refused_creation_is_an_error_and_not_unknown(script, reply):
    """A result code or a 4xx says that it did not happen; it is raised as what it is."""
    service = script({CREATE: reply})
    with pytest.raises((ck.ApiError, ck.ProtocolError)):
        ck.create_room(service.client(), "Weekly sync", "ops", room_extend_id="mine")
    assert service.seen == {AUTHENTICATE: 1, CREATE: 1}


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"ret": 0, "room_id": "mine"}, status=404),
        Reply({"ret": 0, "room_id": "mine"}, status=302),
        Reply("", status=303, headers={"Location": "/rtc/room/get"}),
    ],
)
def test_a_success_that_its_status_denies_is_looked_up(script, reply):
    """Result code 0 under a status of failure, and a 303, leave open whether it happened."""
    found = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
    service = script({CREATE: reply, GET_ROOM: [found, {"ret": 404}]})
    client = service.client()
    assert ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine") == "mine"
    with pytest.raises(ck.OutcomeUnknown, match="may or may not"):
        ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine")
    assert service.seen[CREATE] == 2


OPEN = [
    {"ret": 504},
    {"ret": 409},
    {"ret": 310},
    {"ret": 503},
    {"ret": 424},
    {"ret": 70077},
    {"ret": "ok"},
    {"ret": 700},
    {"ret": 805},
    Reply({"ret": 405}, status=500),
    Reply({"ret": 426}, status=503),
]
FOUND = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
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


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("lost", LOST)
def test_a_lost_change_is_looked_up(script, change, lost):
    """Where its effect is seen the change is done, and sent once; where it is not, or cannot be
    read, its outcome is unknown, which the error says with the next step."""
    path, call, look, seen, unseen, _ = CHANGES[change]
    service = script({path: lost, look: [seen, unseen, {"ret": 700}]})
    client = service.client()
    done = call(client)
    assert client.created == (["mine"] if change == "create" else [])
    if change == "import":
        assert (done.room_id, done.user_id, done.user_address) == ("1", "cam", RTSP)
    else:
        assert done == {"create": "mine", "offline": ""}.get(change)
    assert service.seen[path] == 1
    for unread in (False, True):
        with pytest.raises(ck.OutcomeUnknown, match="may or may not") as raised:
            call(client)
        assert "Look with ck." in raised.value.advice
        assert str(raised.value).endswith(raised.value.advice)
        assert ("could not be read" in str(raised.value)) == unread
        assert (raised.value.__cause__ is not None) == unread
    assert service.seen[path] == 3


@pytest.mark.parametrize("change", CHANGES)
def test_a_code_that_leaves_it_open_is_looked_up(script, change):
    """Without an effect nothing happened, and the plain error says so; one that is seen may be
    older, and one that cannot be read may be there: Unsettled, which names what was found."""
    path, call, look, seen, unseen, named = CHANGES[change]
    for reply in OPEN:
        ret = (reply.body if isinstance(reply, Reply) else reply)["ret"]
        service = script({path: reply, look: [seen, unseen, Reply("<html>")]})
        client = service.client()
        with pytest.raises(ck.Unsettled, match="may or may not have happened") as raised:
            call(client)
        error = raised.value
        assert isinstance(error, ck.ApiError)
        assert (error.ret, error.retry) == (ret, False)
        assert isinstance(error, TimeoutError) == (type(error) is ck.UnsettledTimeout)
        assert named in error.advice
        assert error.advice in str(error)
        assert ("under HTTP 50" in str(error)) == isinstance(reply, Reply)
        assert pickle.loads(pickle.dumps(error)).ret == ret
        with pytest.raises(ck.ApiError) as raised:
            call(client)
        plain = raised.value
        assert not isinstance(plain, ck.OutcomeUnknown)
        assert (plain.ret, plain.retry) == (ret, False)
        assert "may or may not" not in str(plain)
        assert plain.advice.startswith("It was looked up, and nothing was changed. ")
        assert str(plain).endswith(plain.advice)
        assert str(plain).count("It was looked up") == 1
        assert not re.search("look first|look with|look whether|after a create", str(plain))
        with pytest.raises(ck.Unsettled, match="could not be read") as raised:
            call(client)
        assert (raised.value.ret, raised.value.retry) == (ret, False)
        assert service.seen[path] == 3
        assert client.created == []


def test_a_meaning_of_the_other_interface_settles_no_change(script):
    """423 says in B that nothing was done; what it means in A nobody knows, so under HTTP 500 a
    change of A is looked up."""
    path, call, look, seen, *_ = CHANGES["offline"]
    service = script({path: Reply({"ret": 423}, status=500), look: seen})
    with pytest.raises(ck.Unsettled):
        call(service.client())
    assert service.seen[look] == 1


@pytest.mark.parametrize("reply", OPEN)
def test_an_open_creation_without_an_id_of_its_own_is_unsettled(script, reply):
    """There is nothing to look it up by, which the error says."""
    service = script({CREATE: reply})
    with pytest.raises(ck.Unsettled, match="Without a room_extend_id") as raised:
        ck.create_room(service.client(), "Weekly sync", "ops")
    assert not raised.value.retry
    assert service.seen == {AUTHENTICATE: 1, CREATE: 1}


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
    service = script({path: Reply({"ret": ret}, status=502)})
    with pytest.raises(kind) as raised:
        call(service.client())
    assert (type(raised.value), raised.value.retry) == (kind, False)
    assert look not in service.seen


def test_an_open_change_keeps_the_record_of_rooms_made(sandbox, client):
    """A room that may be older is not among the client's own; one that is gone is not any more."""
    mine = ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine")
    sandbox.fault(CREATE, ret=700, times=1)
    with pytest.raises(ck.Unsettled):
        ck.create_room(client, "Weekly sync", "ops", room_extend_id=mine)
    assert client.created == [mine]
    sandbox.fault(DELETE, ret=700, times=1)
    with pytest.raises(ck.ApiError) as raised:
        ck.delete_room(client, mine)
    assert not isinstance(raised.value, ck.OutcomeUnknown)
    assert client.created == [mine]
    sandbox.fault(DELETE, ret=700, times=1, after=True)
    with pytest.raises(ck.Unsettled):
        ck.delete_room(client, mine)
    assert client.created == []


def test_a_room_that_was_made_without_a_number(script):
    """Success without room_id: the room is there, so it is found by its own ID or unknown."""
    found = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
    client = script({CREATE: {"ret": 0}, GET_ROOM: found}).client()
    assert ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine") == "mine"
    with pytest.raises(ck.OutcomeUnknown, match=r"the room was made, and .* has no room_id"):
        ck.create_room(client, "Weekly sync", "ops")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_came_too_often_is_not_to_be_sent_again(script, change):
    """HTTP 429 without a result code: nothing was done, and only reads are retried."""
    path, call, look, *_ = CHANGES[change]
    service = script({path: Reply("slow down", status=429)})
    with pytest.raises(ck.ProtocolError, match="429") as raised:
        call(service.client())
    assert not raised.value.retry
    assert look not in service.seen


def test_what_was_never_sent_is_not_unknown():
    """A change that met a refused connection is a TransportError: it did not happen."""
    client = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "s", sleep=lambda _: None)
    client._token.held = "known"
    with pytest.raises(ck.TransportError):
        ck.create_room(client, "Weekly sync", "ops", room_extend_id="mine")


def test_an_import_of_another_address_is_unknown(script):
    """A device that B3 lists under this ID with another address may be an older one."""
    other = listed({**CAMERA, "userAddress": "rtsp://192.0.2.8/x"})
    service = script({IMPORT: Reply(drop=True), LIST: other})
    with pytest.raises(ck.OutcomeUnknown, match="with another address"):
        ck.import_device(service.client(), "1", "cam", "Door", RTSP)


@pytest.mark.parametrize("status", [200, 504])
def test_an_import_whose_camera_was_late_is_looked_up(script, status):
    """Listed, it is imported; else 427 says that the camera was late; where B3 cannot be read it
    may be in the room, and the error says that."""
    looks = [listed(CAMERA), listed(), Reply("<html>")]
    service = script({IMPORT: Reply({"ret": 427}, status=status), LIST: looks})
    client = service.client()
    assert ck.import_device(client, "1", "cam", "Door", RTSP).user_id == "cam"
    with pytest.raises(ck.ServiceTimeout) as raised:
        ck.import_device(client, "1", "cam", "Door", RTSP)
    assert not isinstance(raised.value, ck.OutcomeUnknown)
    assert raised.value.advice.startswith("It was looked up, and nothing was changed. ")
    assert str(raised.value).count("It was looked up") == 1
    with pytest.raises(ck.UnsettledTimeout, match="could not be read") as raised:
        ck.import_device(client, "1", "cam", "Door", RTSP)
    assert (raised.value.ret, raised.value.retry) == (427, False)
    assert "ck.list_devices(client, '1')" in raised.value.advice
    assert isinstance(raised.value.__cause__, ck.ProtocolError)
    assert service.seen[IMPORT] == 3


def test_a_second_import_after_a_lost_answer_says_that_it_is_there(script):
    """423 for what B3 lists as it was asked for: nothing has failed, and the error says so; for
    another camera under this ID it does not."""
    other = {**CAMERA, "userAddress": "rtsp://192.0.2.8/x"}
    service = script(
        {IMPORT: [Reply(drop=True), {"ret": 423}], LIST: [listed(), listed(CAMERA), listed(other)]}
    )
    client = service.client()
    with pytest.raises(ck.OutcomeUnknown):
        ck.import_device(client, "1", "cam", "Door", RTSP)
    with pytest.raises(ck.UserExists, match=r"423.*'cam' is in room '1'.*nothing is left to do"):
        ck.import_device(client, "1", "cam", "Door", RTSP)
    with pytest.raises(ck.UserExists) as raised:
        ck.import_device(client, "1", "cam", "Door", RTSP)
    assert "nothing is left to do" not in str(raised.value)


WRONG = [
    lambda client: ck.create_room(client, "x" * 150, "ops"),
    lambda client: ck.create_room(client, "ä" * 75, "ops"),
    lambda client: ck.create_room(client, "", "ops"),
    lambda client: ck.create_room(client, None, "ops"),
    lambda client: ck.create_room(client, "\ud800", "ops"),
    lambda client: ck.create_room(client, "t", ""),
    lambda client: ck.create_room(client, "t", "ops", room_mode=None),
    lambda client: ck.create_room(client, "t", "ops", attendee_max="many"),
    lambda client: ck.create_room(client, "t", "ops", attendee_max=2.5),
    lambda client: ck.create_room(client, "t", "ops", max_audio=True),
    lambda client: ck.create_room(client, "t", "ops", max_video=float("nan")),
    lambda client: ck.get_room(client, ""),
    lambda client: ck.get_room(client, None),
    lambda client: ck.get_room(client, 1047.0),
    lambda client: ck.get_room_users(client, " "),
    lambda client: ck.get_mcu(client, None),
    lambda client: ck.force_offline(client, "1", ""),
    lambda client: ck.import_device(client, "1", "cam", "Door", "192.0.2.7/stream1"),
    lambda client: ck.import_device(client, "1", "cam", "Door", "rtsp://"),
    lambda client: ck.import_device(client, "1", "cam", "Door", "rtsp://host/a b"),
    lambda client: ck.import_device(client, "1", "cam", "Door", None),
    lambda client: ck.import_device(client, "1", "cam", "", RTSP),
    lambda client: ck.import_device(client, "1", None, "Door", RTSP),
    lambda client: ck.import_device(client, "1", "cam", "Door", RTSP, options="login"),
    lambda client: ck.import_device(client, "1", "cam", "Door", RTSP, options={"a": {1, 2}}),
    lambda client: ck.import_device(
        client, "1", "cam", "Door", RTSP, login_name="a", options={"login_name": "b"}
    ),
    lambda client: ck.import_device(client, "1", "cam", "Door", "rtsp://u:***@192.0.2.7/s"),
    lambda client: ck.import_device(client, "1", "cam", "Door", RTSP, login_password="***"),
    lambda client: ck.remove_device(client, "1", "cam", "rtsp://u:***@192.0.2.7/s"),
    lambda client: ck.reimport_device(
        client, ck.Device("1", "cam", "Door", RTSP, options={"login_password": "***"})
    ),
]


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_argument_is_refused_before_anything_is_sent(script, call):
    """What breaks a bound of the interface is a ParameterError, a ValueError, and no request."""
    service = script()
    with pytest.raises(ck.ParameterError, match="Nothing was sent") as raised:
        call(service.client())
    assert isinstance(raised.value, ValueError)
    assert not service.requests


def test_a_topic_of_149_bytes_is_sent(script):
    """The bound is on bytes, and 149 of them are under it."""
    service = script({CREATE: {"ret": 0, "room_id": "1"}})
    assert ck.create_room(service.client(), "ä" * 74 + "x", "ops") == "1"


def test_optional_parameters_travel_only_when_given(script):
    """A creation sends what was given, spelt like the interface, and nothing else."""
    service = script({CREATE: {"ret": 0, "room_id": 1047}})
    client = service.client()
    assert ck.create_room(client, "t", "ops") == "1047"
    assert set(service.requests[-1][2]) == {"access_token", "topic", "owner_id", "room_mode"}
    ck.create_room(
        client,
        "t",
        "ops",
        attendee_max=25,
        max_audio=3,
        max_video=2,
        host_password="pw",
        room_extend_id="x",
    )
    sent = service.requests[-1][2]
    del sent["access_token"]
    assert sent == {
        "topic": "t",
        "owner_id": "ops",
        "room_mode": "1",
        "attendee_max": "25",
        "max_audio": "3",
        "max_video": "2",
        "host_password": "pw",
        "room_extend_id": "x",
    }


def test_read_only_refuses_every_change_before_anything_is_sent(script):
    """With read_only=True create, delete, import, remove and force-offline send nothing."""
    service = script({LIST: listed(CAMERA)})
    client = service.client(read_only=True)
    for call in (
        lambda: ck.create_room(client, "t", "ops"),
        lambda: ck.delete_room(client, "1"),
        lambda: ck.import_device(client, "1", "cam", "Door", RTSP),
        lambda: ck.remove_device(client, "1", "cam", RTSP),
        lambda: ck.force_offline(client, "1", "ada"),
    ):
        with pytest.raises(ck.ReadOnlyError, match="read only") as raised:
            call()
        assert raised.value.advice.startswith("Connect with read_only=False")
    for call in (
        lambda: ck.remove_device(client, "1", "cam"),
        lambda: ck.create_room(client, "", ""),
        lambda: ck.import_device(client, "1", "cam", "Door", "nonsense"),
        lambda: ck.reimport_device(client, ck.Device("1", "cam", "Door", RTSP)),
    ):
        with pytest.raises(ck.ReadOnlyError):
            call()
    assert not service.requests
    assert ck.list_devices(client)[0].user_id == "cam"


def test_a_device_may_be_given_whole(script):
    """import_device and remove_device take a Device, and send its fields and its login."""
    service = script({IMPORT: {"ret": 0, "data": {}}, REMOVE: {"ret": 0, "data": {}}})
    client = service.client()
    device = ck.Device("1", "cam", "Door", RTSP, "x", {"login_name": "u", "login_password": "p@ss"})
    ck.import_device(client, device)
    sent = service.requests[-1][2]
    assert sent["options"] == '{"login_name":"u","login_password":"p@ss"}'
    assert (sent["roomId"], sent["userId"], sent["userData"]) == ("1", "cam", "x")
    ck.remove_device(client, device)
    sent = service.requests[-1][2]
    assert "accessToken" not in sent
    assert {sent["roomId"], sent["userId"], sent["userAddress"]} == {"1", "cam", RTSP}


def test_an_address_left_out_is_looked_up(script):
    """remove_device without an address takes it from B3; an unlisted device is UserNotFound."""
    service = script({REMOVE: {"ret": 0}, LIST: listed(CAMERA)})
    client = service.client()
    ck.remove_device(client, "1", "cam")
    assert service.requests[-1][2]["userAddress"] == RTSP
    with pytest.raises(ck.UserNotFound, match="B2 was not sent"):
        ck.remove_device(client, "1", "other")
    assert service.seen[REMOVE] == 1


def test_a_reimport_that_fails_says_how_to_restore(script):
    """The error of a failed re-import carries the device, and shows no password."""
    service = script({REMOVE: {"ret": 0}, IMPORT: {"ret": 426}})
    device = ck.Device("1", "cam", "Door", RTSP, options={"login_password": "hunter2"})
    with pytest.raises(ck.ReimportFailed, match=r"import_device\(client, error.device\)") as raised:
        ck.reimport_device(service.client(), device)
    assert raised.value.device is device
    assert isinstance(raised.value.__cause__, ck.JoinFailed)
    assert "hunter2" not in str(raised.value) + repr(device)


@pytest.mark.parametrize(
    ("path", "members"),
    [
        (USERS, {}),
        (USERS, {"user_list": None}),
        (USERS, {"user_list": {}}),
        (USERS, {"user_list": [1]}),
        (USERS, {"user_list": [{"user_name": "Ada"}]}),
        (LIST, {}),
        (LIST, {"data": []}),
        (LIST, {"data": {}}),
        (LIST, {"data": {"items": None, "total": 0}}),
        (LIST, {"data": {"items": [], "total": 3}}),
    ],
)
def test_a_failed_list_is_never_an_empty_list(script, path, members):
    """An answer of A6 or B3 without its list, or with fewer items than its total, is a
    ProtocolError, not nobody."""
    client = script({path: {"ret": 0, **members}}).client()
    with pytest.raises(ck.ProtocolError):
        ck.get_room_users(client, "1") if path is USERS else ck.list_devices(client)


def test_devices_are_read_in_both_spellings_and_with_quoted_totals(script):
    """Items in snake_case give the same records as in camelCase; `total` may be quoted."""
    snake = {
        "room_id": "1",
        "user_id": "cam",
        "user_name": "Door",
        "user_address": RTSP,
        "user_data": "",
        "options": '{"login_name": "u"}',
    }
    camel = {**CAMERA, "userData": "", "options": {"login_name": "u"}}
    for item in (snake, camel):
        service = script({LIST: {"result": "0", "data": {"total": "1", "items": [item]}}})
        [device] = ck.list_devices(service.client(), "1")
        assert device == ck.Device("1", "cam", "Door", RTSP, "", {"login_name": "u"})
        assert service.requests[-1][2]["roomId"] == "1"


def test_all_rooms_are_asked_for_by_leaving_the_room_out(script):
    """list_devices with None or an empty text sends no roomId."""
    service = script({LIST: listed()})
    client = service.client()
    assert ck.list_devices(client) == ck.list_devices(client, "") == []
    assert all("roomId" not in query for _, path, query in service.requests if LIST in path)


def test_a_reimport_whose_answer_was_lost_is_unknown(script):
    """When the second half's fate is not known, the error says so and still carries the device."""
    service = script({REMOVE: {"ret": 0}, IMPORT: Reply(drop=True), LIST: listed()})
    device = ck.Device("1", "cam", "Door", RTSP)
    with pytest.raises(ck.OutcomeUnknown, match="may or may not be there again") as raised:
        ck.reimport_device(service.client(), device)
    assert isinstance(raised.value, ck.ReimportFailed)
    assert raised.value.device is device
    assert "import_device(client, error.device)" in raised.value.advice


@pytest.mark.parametrize("ret", [700, 503, 427])
def test_a_reimport_whose_import_is_open_is_looked_up(script, ret):
    """B2 has just removed the device, so what B3 lists with this address is the import's effect;
    another address, or none that can be read, leaves it open."""
    other = {**CAMERA, "userAddress": "rtsp://192.0.2.8/x"}
    looks = [listed(CAMERA), Reply("<html>"), *([listed(other)] if ret != 427 else [])]
    service = script({REMOVE: {"ret": 0}, IMPORT: {"ret": ret}, LIST: looks})
    client, device = service.client(), ck.Device("1", "cam", "Door", RTSP)
    assert ck.reimport_device(client, device) == device
    for _ in range(1 if ret == 427 else 2):
        with pytest.raises(ck.ReimportUnknown) as raised:
            ck.reimport_device(client, device)
        assert raised.value.device is device
        assert service.seen[IMPORT] == service.seen[REMOVE]


def test_a_reimport_whose_removal_is_open_imports_nothing(script):
    """Removed or not, the error is still that of the code, and says how to restore the device."""
    service = script({REMOVE: {"ret": 700}, LIST: listed()})
    with pytest.raises(ck.Unsettled, match=r"not imported again: .*import_device") as raised:
        ck.reimport_device(service.client(), ck.Device("1", "cam", "Door", RTSP))
    assert raised.value.ret == 700
    assert IMPORT not in service.seen


HALF = "a\ud800"
HALVED = {
    "room_id": [
        lambda client: ck.get_room(client, HALF),
        lambda client: ck.list_devices(client, HALF),
        lambda client: ck.diagnose_device(client, HALF, "cam"),
        lambda client: ck.sweep(client, [HALF]),
    ],
    "user_id": [lambda client: ck.remove_device(client, "1", HALF, RTSP)],
    "user_address": [lambda client: ck.remove_device(client, "1", "cam", RTSP + HALF)],
    "topic": [lambda client: ck.create_room(client, HALF, "ops")],
    "room_mode": [lambda client: ck.create_room(client, "t", "ops", room_mode=HALF)],
    "host_password": [lambda client: ck.create_room(client, "t", "ops", host_password=HALF)],
    "user_name": [lambda client: ck.import_device(client, "1", "cam", HALF, RTSP)],
    "user_data": [
        lambda client: ck.reimport_device(
            client, ck.Device("1", "cam", "Door", RTSP, user_data=HALF)
        )
    ],
    "login_password": [
        lambda client: ck.import_device(client, "1", "cam", "Door", RTSP, login_password=HALF)
    ],
    "options": [
        lambda client: ck.import_device(client, "1", "c", "D", RTSP, options={"a": [HALF]}),
        lambda client: ck.import_device(client, "1", "c", "D", RTSP, options={HALF: 1}),
    ],
}


@pytest.mark.parametrize("name", ["access_key", "secret_key"])
def test_half_a_character_in_a_key_is_named(name):
    """A key of such a text, as from an environment in another encoding, makes no client."""
    keys = {"access_key": "a", "secret_key": "s", name: HALF}
    with pytest.raises(ck.ParameterError, match=f"{name} holds half a character"):
        ck.connect(base_url="http://127.0.0.1:1", outgoing_url="http://127.0.0.1:2", **keys)


@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name, calls in HALVED.items() for call in calls]
)
def test_half_a_character_is_named_before_anything_is_sent(script, name, call):
    """A lone surrogate cannot travel: in any text argument it is an error that names it."""
    service = script()
    with pytest.raises(ck.ParameterError, match=name):
        call(service.client())
    assert not service.requests


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
