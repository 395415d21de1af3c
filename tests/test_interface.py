"""Every row of sections 4 to 7 of the interface, through the client, against the sandbox.

The states and limits of a room (sections 3 and 8), and the codes that they lead to, stand in
tests/sandbox."""

import socket
import time

import pytest

import confkit as ck
from confkit.endpoints import A1, ENDPOINTS
from confkit.sandbox import Sandbox
from tests.codes import SPECIFIED

LOGIN = {"login_name": "admin", "login_password": "p@ss:w/rd#?%&"}


@pytest.fixture
def room_id(client):
    return ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=4)


@pytest.fixture
def camera(sandbox):
    return sandbox.camera("door", size=(160, 120), **LOGIN)


# Section 4, A: success


def test_a1_gives_a_token_that_serves_both_interfaces(client, room_id):
    """A1 answers random and key; the token made from them opens A and B."""
    answer = client.send(
        ck.Request(A1, {"access_key": client.access_key, "digest": _digest(client)})
    )
    assert answer["random"]
    assert answer["key"]
    assert ck.get_room(client, room_id).room_id == room_id
    assert ck.list_devices(client) == []
    assert [call.endpoint for call in client.calls].count("A1") == 2


def _digest(client):
    return ck.signing.digest(client.access_key, client.secret_key, client.dialect)


def test_a2_and_a3_keep_every_field(client):
    """A room is read back with each field that it was created with, as real types."""
    room_id = ck.create_room(
        client, "Größe 東京", "ops", room_mode=3, attendee_max=25, max_audio=6, max_video=4,
        host_password="hunter2", room_extend_id="4b1c9f5e",
    )  # fmt: skip
    assert room_id == "4b1c9f5e"
    room = ck.get_room(client, room_id)
    assert room == ck.Room(
        id=1, room_id=room_id, topic="Größe 東京", room_status=0, owner_id="ops",
        host_password="hunter2", attendee_max=25, max_audio=6, max_video=4,
        room_extend_id="4b1c9f5e", room_mode=3,
    )  # fmt: skip
    assert "hunter2" not in repr(room)


def test_a2_leaves_out_what_was_not_given(client):
    """Caps, password and extend ID that were not given are None."""
    room = ck.get_room(client, ck.create_room(client, "t", "ops"))
    assert (room.attendee_max, room.max_audio, room.max_video) == (None, None, None)
    assert (room.host_password, room.room_extend_id, room.room_mode) == (None, None, 1)


def test_a4_deletes_a_room(client, room_id):
    """A deleted room is not found any more."""
    ck.delete_room(client, room_id)
    with pytest.raises(ck.RoomNotFound):
        ck.get_room(client, room_id)


def test_a5_gives_a_media_server_that_answers(client, room_id):
    """The address is host:port, and something listens there."""
    host, _, port = ck.get_mcu(client, room_id).rpartition(":")
    socket.create_connection((host, int(port)), timeout=5).close()


def test_a6_lists_users_with_name_and_id(client, sandbox, room_id):
    """Nobody at first, then those who joined, in order."""
    assert ck.get_room_users(client, room_id) == []
    ada = sandbox.join(room_id, "Ada")
    bob = sandbox.join(room_id, "Bob")
    assert ck.get_room_users(client, room_id) == [ck.RoomUser("Ada", ada), ck.RoomUser("Bob", bob)]
    sandbox.leave(room_id, ada)
    assert ck.get_room_users(client, room_id) == [ck.RoomUser("Bob", bob)]


def test_a7_puts_a_user_off(client, sandbox, room_id):
    """The service answers with a success text, and the user is gone."""
    ada = sandbox.join(room_id, "Ada")
    assert ck.force_offline(client, room_id, ada)
    assert ck.get_room_users(client, room_id) == []


# Section 4, B: success


def test_b1_to_b3_with_a_real_camera(client, sandbox, room_id, camera):
    """An imported camera is listed, is a user of its room, is watched, and can be removed."""
    device = ck.import_device(client, room_id, "cam", "Door", camera, user_data="x", **LOGIN)
    assert ck.list_devices(client) == ck.list_devices(client, room_id) == [device]
    assert device.login_password == LOGIN["login_password"]
    assert ck.list_devices(client, "another") == []
    assert ck.get_room_users(client, room_id) == [ck.RoomUser("Door", "cam")]
    assert sandbox._cameras.viewers(camera) == 1
    ck.remove_device(client, room_id, "cam")
    assert ck.list_devices(client) == []
    assert ck.get_room_users(client, room_id) == []
    _soon(lambda: sandbox._cameras.viewers(camera) == 0)


def test_a_device_is_imported_again(client, room_id, camera):
    """reimport_device removes and imports, with the login that B3 holds."""
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    [listed] = ck.list_devices(client, room_id)
    assert ck.reimport_device(client, listed) == listed
    assert ck.list_devices(client, room_id) == [listed]


def test_the_same_address_may_be_in_several_rooms(client, room_id, camera):
    """One address once a room; a second room may have it too."""
    other = ck.create_room(client, "Other", "ops")
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    ck.import_device(client, other, "cam-2", "Door", camera, **LOGIN)
    assert len(ck.list_devices(client)) == 2


def _soon(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


# Section 7: the codes. Which state leads to which stands in tests/sandbox, beside the raw answers.


def test_b1_427_when_the_camera_does_not_answer():
    """A camera that accepts the connection and stays silent is 427, after the dialling time."""
    with Sandbox(seed=1, dial_timeout=0.3) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "t", "ops")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"rtsp://127.0.0.1:{silent.getsockname()[1]}/x"
            with pytest.raises(ck.ServiceTimeout) as raised:
                ck.import_device(client, room_id, "cam", "Door", address)
        assert raised.value.ret == 427
        assert ck.list_devices(client) == []


MAIN_CODES = [(e, ret) for e in ENDPOINTS.values() for ret in e.codes if ret]
ALL_CODES = [(ENDPOINTS[f"{interface}3"], ret) for interface, ret in SPECIFIED if ret]


@pytest.mark.parametrize(("endpoint", "ret"), sorted({*MAIN_CODES, *ALL_CODES}), ids=str)
def test_every_code_by_fault(sandbox, client, room_id, camera, endpoint, ret):
    """A fault plays any code of an operation, and the client raises it with its meaning."""
    client._sleep = lambda _: None
    ck.import_device(client, room_id, "there", "Yard", camera, **LOGIN)
    sandbox.fault(endpoint.path, ret=ret)
    client._token.held = None
    call = {
        "A1": client.token, "A2": lambda: ck.create_room(client, "t", "ops"),
        "A3": lambda: ck.get_room(client, room_id), "A4": lambda: ck.delete_room(client, room_id),
        "A5": lambda: ck.get_mcu(client, room_id),
        "A6": lambda: ck.get_room_users(client, room_id),
        "A7": lambda: ck.force_offline(client, room_id, "ada"),
        "B1": lambda: ck.import_device(client, room_id, "cam", "Door", "rtsp://192.0.2.7/x"),
        "B2": lambda: ck.remove_device(client, room_id, "there", camera),
        "B3": lambda: ck.list_devices(client),
    }[endpoint.key]  # fmt: skip
    with pytest.raises(ck.ApiError) as raised:
        call()
    assert raised.value.ret == ret
    assert raised.value.meaning == ck.explain(ret, endpoint.interface).meaning


# Section 5: the token


def test_an_expired_token_is_renewed_unseen(client, sandbox, room_id):
    """After the token's lifetime a call just works, at the cost of one more A1."""
    before = sandbox.count(A1.path)
    sandbox.advance(3601)
    assert ck.get_room(client, room_id).room_id == room_id
    assert sandbox.count(A1.path) == before + 1


def test_a_wrong_secret_is_401_and_no_token(sandbox):
    """With another secret the digest does not fit: AuthenticationFailed, 401 of A."""
    wrong = ck.Client(sandbox.base_url, sandbox.outgoing_url, sandbox.access_key, "other")
    with pytest.raises(ck.AuthenticationFailed) as raised:
        ck.list_devices(wrong)
    assert (raised.value.ret, raised.value.interface) == (401, "A")


DIALECTS = [
    {}, {"hash": "sha256"}, {"hash": "sha512", "signature": "raw"}, {"hash": "md5"},
    {"token_parameter": "access_tocken"}, {"token_parameter": "access_tocken",
                                           "mcu_token_parameter": "token"},
    {"remove_token_parameter": "accessToken"},
    {"result_field": "result", "item_keys": "snake_case"},
    {"create_method": "POST", "placement": "query"},
    {"create_method": "POST", "list_method": "POST", "placement": "form"},
    {"create_method": "POST", "list_method": "POST", "placement": "json", "signature": "raw"},
]  # fmt: skip


@pytest.mark.parametrize("settings", DIALECTS, ids=str)
def test_all_operations_work_in_every_dialect(settings):
    """Whatever the deployment does where the interface is silent, the ten operations work."""
    with Sandbox(seed=1, dialect=ck.Dialect(**settings)) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Größe & 100 % = ?", "ops", host_password="a&b=c")
        room = ck.get_room(client, room_id)
        assert (room.topic, room.host_password) == ("Größe & 100 % = ?", "a&b=c")
        ada = sandbox.join(room_id, "Ada")
        assert ck.get_mcu(client, room_id)
        camera = sandbox.camera(size=(160, 120), **LOGIN)
        device = ck.import_device(client, room_id, "cam", "Door", camera, user_data="ü", **LOGIN)
        assert ck.list_devices(client, room_id) == [device]
        assert len(ck.get_room_users(client, room_id)) == 2
        ck.remove_device(client, device)
        ck.force_offline(client, room_id, ada)
        assert ck.get_room_users(client, room_id) == []
        ck.delete_room(client, room_id)


@pytest.mark.parametrize("settings", DIALECTS[1:4] + DIALECTS[4:5] + DIALECTS[9:], ids=str)
def test_a_client_of_the_wrong_dialect_is_refused(settings):
    """A sandbox accepts its own dialect only: another client fails loudly."""
    with (
        Sandbox(seed=1, dialect=ck.Dialect(**settings)) as sandbox,
        ck.Client(sandbox.base_url, sandbox.outgoing_url, sandbox.access_key,
                  sandbox.secret_key) as client,
        pytest.raises(ck.ApiError),
    ):  # fmt: skip
        ck.list_devices(client)
        ck.get_room(client, "1")


# A lost answer


def test_a_lost_answer_is_looked_up_on_the_sandbox(client, sandbox, room_id, camera):
    """A create and an import that happened although their answers were lost are found."""
    sandbox.fault("/rtc/room/create", drop=True, after=True, times=1)
    assert ck.create_room(client, "Lost", "ops", room_extend_id="lost") == "lost"
    sandbox.fault("/avd/api/outgoing/createOutgoingUser", body="<html>", after=True, times=1)
    device = ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    assert ck.list_devices(client) == [device]
