"""Interface B row by row, against real cameras; streams that die are in test_streams."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from confkit.errors import ConfkitError
from tests.ports import HERE
from tests.test_records import deep

from .conftest import until

LOGIN = {"login_name": "admin", "login_password": "geheim77"}


@pytest.fixture
def silent():
    """The address of something that takes connections and never says a word."""
    with socket.create_server((HERE, 0)) as server:
        yield f"rtsp://{HERE}:{server.getsockname()[1]}/x"


def viewers(sandbox, url):
    """How many pull a camera, by the camera's own count."""
    return sandbox._carry(sandbox._cameras.viewers, url)


def test_an_imported_camera_is_a_user_until_it_is_removed(stranger, sandbox):
    """B1 opens the stream; A6, B3 and room_status show the device; B2 lets go of the stream."""
    room_id, url = stranger.room(), sandbox.camera(**LOGIN)
    fields = {"roomId": room_id, "userId": "cam", "userName": "Door", "userAddress": url}
    done = {"ret": 0, "data": {"roomId": room_id, "userId": "cam"}}
    assert stranger.ask("import", **fields, options=LOGIN, userData="outgoing") == done
    users = stranger.ask("info", room_id=room_id)["user_list"]
    assert users == [{"user_name": "Door", "user_id": "cam"}]
    item = {**fields, "userData": "outgoing", "options": LOGIN}
    assert stranger.ask("list", roomId=room_id) == {"ret": 0, "data": {"total": 1, "items": [item]}}
    assert (stranger.status(room_id), viewers(sandbox, url)) == (1, 1)
    assert stranger.ask("remove", roomId=room_id, userId="cam", userAddress=url) == done
    until(lambda: viewers(sandbox, url) == 0)
    assert stranger.users(room_id) == stranger.devices() == []
    assert stranger.status(room_id) == 0


def test_the_login_of_a_camera(stranger, sandbox):
    """A camera that refuses the login makes B1 answer 426, and nothing stays behind; a login inside
    userAddress opens it, and B3 gives the address back as it came, with usual values for what was
    not given."""
    room_id, url = stranger.room(), sandbox.camera(**LOGIN)
    for options in ({}, {**LOGIN, "login_password": "wrong"}):
        assert stranger.bring(room_id, url, options=options) == 426
        assert stranger.devices() == []
        assert "auth" in sandbox.refusals[-1]
    inside = url.replace("rtsp://", "rtsp://admin:geheim77@")
    assert stranger.bring(room_id, inside) == 0
    item = stranger.ask("list")["data"]["items"][0]
    assert (item["userAddress"], item["userData"], item["options"]) == (inside, "", {})


def test_an_address_that_cannot_be_dialled(stranger, sandbox):
    """sip and h323 are 426, and the explanation says that the sandbox cannot dial; 401 where it is
    no address, or its scheme is unknown."""
    for address, code in (
        ("sip://127.0.0.1:5060/x", 426),
        ("h323://127.0.0.1:5060/x", 426),
        ("http://127.0.0.1:1/", 401),
        ("rtsp://h:0/", 401),
        ("sip://", 401),
        (" rtsp://h/", 401),
    ):
        assert stranger.bring(stranger.room(), address) == code, address
        assert "rtsp" in sandbox.refusals[-1] or code == 401


def test_options_are_the_text_of_an_object(stranger):
    """B1 answers 401 for options that are not a JSON object, or could not be given back, however
    deep they are nested."""
    odd = ("[]", "{", '{"login_name":1}', '{"x":NaN}', '{"x":"\\ud800"}')
    for options in (*odd, *map(deep, (101, 300, 600, 900))):
        assert stranger.bring("none", "rtsp://h/", options=options) == 401, options


def test_b2_needs_room_user_and_address_of_the_device(stranger, sandbox):
    """B2 answers 425 when room, user or address is not the device's, and the device stays."""
    room_id, url = stranger.room(), sandbox.camera()
    assert stranger.bring(room_id, url) == 0
    right = {"roomId": room_id, "userId": "cam", "userAddress": url}
    for wrong in right:
        assert stranger.code("remove", **{**right, wrong: "rtsp://other/"}) == 425
    assert stranger.devices() == ["cam"]


def test_an_import_is_unique(stranger, sandbox):
    """423: a user id that any device or a person of the room has, an address twice in one room.
    B3 gives one room's devices, all with an empty roomId, none for an unknown room."""
    first, second = stranger.room(), stranger.room()
    one, two = sandbox.camera(), sandbox.camera()
    sandbox.join(first, "Ada", user_id="ada")
    rows = [(first, one), (first, one, "other"), (second, two), (first, two, "ada")]
    codes = [stranger.bring(*row) for row in (*rows, (second, one, "other"))]
    assert codes == [0, 423, 423, 423, 0]
    found = [stranger.devices(room_id) for room_id in (first, second, "", "none")]
    assert found == [["cam"], ["other"], ["cam", "other"], []]


@pytest.mark.parametrize("same", ["userId", "userAddress", "place"])
def test_a_place_is_taken_while_a_camera_is_dialled(make, silent, same):
    """User id, address and the room's last place are taken before the dial: a second import is 423
    or 426 meanwhile; after a failure all of them are free again."""
    stranger = make(dial_timeout=1.0)
    sandbox, room_id = stranger.sandbox, stranger.room(attendee_max=1 if same == "place" else 2)
    other = (silent if same == "userAddress" else silent + "2", "cam" if same == "userId" else "b")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(stranger.bring, room_id, silent)
        until(lambda: sandbox._service.devices.coming)
        assert stranger.bring(room_id, *other) == (426 if same == "place" else 423)
        assert first.result() == 427
    assert stranger.bring(room_id, sandbox.camera()) == 0


def test_a_stream_that_dies_and_comes_back(stranger, sandbox):
    """A dead device leaves A6, stays in B3, keeps its place, and returns by itself, also into a
    room that was locked meanwhile."""
    with pytest.raises(ConfkitError, match="no camera"):
        sandbox.unplug("rtsp://127.0.0.1:1/none")
    room_id, url = stranger.room(attendee_max=1), sandbox.camera("front")
    assert stranger.bring(room_id, url) == 0
    sandbox.unplug(url)
    until(lambda: stranger.users(room_id) == [])
    assert (stranger.devices(room_id), stranger.status(room_id)) == (["cam"], 0)
    assert stranger.bring(room_id, sandbox.camera(), "second") == 426
    sandbox.lock(room_id)
    assert sandbox.camera("front") == url
    until(lambda: stranger.users(room_id) == ["cam"])
