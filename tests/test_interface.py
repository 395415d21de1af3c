"""Every row of sections 4 to 7 of the interface, through the client, against the sandbox.

The states and limits of a room (sections 3 and 8), and the codes that they lead to, stand in
tests/sandbox."""

import time

import pytest

import confkit as ck
from confkit.endpoints import A1
from confkit.sandbox import Sandbox

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
        client,
        "Größe 東京",
        "ops",
        room_mode=3,
        attendee_max=25,
        max_audio=6,
        max_video=4,
        host_password="hunter2",
        room_extend_id="4b1c9f5e",
    )
    assert room_id == "4b1c9f5e"
    room = ck.get_room(client, room_id)
    assert room == ck.Room(
        id=1,
        room_id=room_id,
        topic="Größe 東京",
        room_status=0,
        owner_id="ops",
        host_password="hunter2",
        attendee_max=25,
        max_audio=6,
        max_video=4,
        room_extend_id="4b1c9f5e",
        room_mode=3,
    )
    assert "hunter2" not in repr(room)


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


def _soon(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


# Section 7: the codes. Which state leads to which stands in tests/sandbox, beside the raw answers.


# Section 5: the token


def test_an_expired_token_is_renewed_unseen(client, sandbox, room_id):
    """After the token's lifetime a call just works, at the cost of one more A1."""
    before = sandbox.count(A1.path)
    sandbox.advance(3601)
    assert ck.get_room(client, room_id).room_id == room_id
    assert sandbox.count(A1.path) == before + 1


DIALECTS = [
    {},
    {"hash": "sha256"},
    {"hash": "sha512", "signature": "raw"},
    {"hash": "md5"},
    {"token_parameter": "access_tocken"},
    {"token_parameter": "access_tocken", "mcu_token_parameter": "token"},
    {"remove_token_parameter": "accessToken"},
    {"result_field": "result", "item_keys": "snake_case"},
    {"create_method": "POST", "placement": "query"},
    {"create_method": "POST", "list_method": "POST", "placement": "form"},
    {"create_method": "POST", "list_method": "POST", "placement": "json", "signature": "raw"},
]


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
        with pytest.raises(ck.RoomNotFound):
            ck.get_room(client, room_id)


@pytest.mark.parametrize("settings", DIALECTS[1:4] + DIALECTS[4:5] + DIALECTS[9:], ids=str)
def test_a_client_of_the_wrong_dialect_is_refused(settings):
    """A sandbox accepts its own dialect only: another client fails loudly."""
    with (
        Sandbox(seed=1, dialect=ck.Dialect(**settings)) as sandbox,
        ck.Client(
            sandbox.base_url, sandbox.outgoing_url, sandbox.access_key, sandbox.secret_key
        ) as client,
        pytest.raises(ck.ApiError),
    ):
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
