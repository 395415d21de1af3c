"""Interface B row by row, against real cameras."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from confkit.errors import ConfkitError

from .conftest import TOKEN_OF_B, B

LOGIN = {"login_name": "admin", "login_password": "geheim77"}


def until(condition, seconds=30.0):
    """Waits for a condition that comes by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.fixture
def silent():
    """The address of something that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"rtsp://127.0.0.1:{server.getsockname()[1]}/x"


def viewers(sandbox, url):
    """How many pull a camera, by the camera's own count."""
    return sandbox._carry(sandbox._cameras.viewers, url)


def test_an_imported_camera_is_a_user_until_it_is_removed(stranger, sandbox):
    """B1 opens the stream; A6, B3 and room_status show the device; B2 lets go of the stream."""
    room_id, url = stranger.room(), sandbox.camera(**LOGIN)
    fields = {"roomId": room_id, "userId": "cam", "userName": "Door", "userAddress": url}
    done = {"ret": 0, "data": {"roomId": room_id, "userId": "cam"}}
    assert stranger.b("import", **fields, options=LOGIN, userData="outgoing") == done
    users = stranger.a("info", room_id=room_id)["user_list"]
    assert users == [{"user_name": "Door", "user_id": "cam"}]
    item = {**fields, "userData": "outgoing", "options": LOGIN}
    assert stranger.b("list", roomId=room_id) == {"ret": 0, "data": {"total": 1, "items": [item]}}
    assert (stranger.status(room_id), viewers(sandbox, url)) == (1, 1)
    assert stranger.b("remove", roomId=room_id, userId="cam", userAddress=url) == done
    until(lambda: viewers(sandbox, url) == 0)
    assert stranger.users(room_id) == stranger.devices() == []
    assert stranger.status(room_id) == 0


@pytest.mark.parametrize("way", ["del", "close", "force"])
def test_the_stream_is_let_go_with_the_room_or_the_user(stranger, sandbox, way):
    """Deleting or closing the room, or forcing the device offline, ends stream and device."""
    room_id, url = stranger.room(), sandbox.camera()
    assert stranger.bring(room_id, url) == 0
    end(stranger, way, room_id)
    until(lambda: viewers(sandbox, url) == 0)
    assert stranger.devices() == []


def end(stranger, way, room_id):
    """Ends a room by A4 or its owner, or takes the device away by A7."""
    if way == "close":
        stranger.sandbox.close_room(room_id)
    else:
        assert stranger.code(way, room_id=room_id, user_id="cam") == 0


def test_the_login_of_a_camera(stranger, sandbox):
    """A camera that refuses the login makes B1 answer 426, and nothing stays behind; a login inside
    userAddress opens it, and B3 gives the address back as it came, with usual values for what was
    not given."""
    room_id, url = stranger.room(), sandbox.camera(**LOGIN)
    for options in ({}, {**LOGIN, "login_password": "wrong"}, {"login_name": "x"}):
        assert stranger.bring(room_id, url, options=options) == 426
        assert stranger.devices() == []
        assert "auth" in sandbox.refusals[-1]
    inside = url.replace("rtsp://", "rtsp://admin:geheim77@")
    assert stranger.bring(room_id, inside) == 0
    item = stranger.b("list")["data"]["items"][0]
    assert (item["userAddress"], item["userData"], item["options"]) == (inside, "", {})


def test_a_silent_camera_is_427(make, stranger, silent):
    """No answer within the dial time makes B1 answer 427, and not before; by default a client that
    waits 5 s, as clients do, sees it."""
    stranger.patience = 5
    for served, least in ((make(dial_timeout=0.3), 0.3), (stranger, 1)):
        began = time.monotonic()
        assert served.bring(served.room(), silent) == 427
        assert time.monotonic() - began >= least
        assert served.devices() == []


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("sip://127.0.0.1:5060/x", 426),
        ("h323://127.0.0.1:5060/x", 426),
        ("http://127.0.0.1:1/", 401),
        ("rtsp://h:0/", 401),
        ("sip://", 401),
    ],
)
def test_an_address_that_cannot_be_dialled(stranger, sandbox, address, code):
    """sip and h323 are 426, and the explanation says that the sandbox cannot dial; 401 where it is
    no address, or its scheme is unknown."""
    assert stranger.bring(stranger.room(), address) == code
    assert "rtsp" in sandbox.refusals[-1] or code == 401


@pytest.mark.parametrize("name", ["import", "remove"])
@pytest.mark.parametrize("left_out", ["roomId", "userId", "userName", "userAddress"])
def test_required_parameters(stranger, name, left_out):
    """B1 and B2 answer 401 with a text in err when a required parameter is missing; B2 has no
    userName, and says that there is no such device."""
    fields = {"roomId": "r", "userId": "u", "userName": "n", "userAddress": "rtsp://h/"}
    del fields[left_out]
    wrong = {"ret": 401, "err": "wrong parameters"}
    if (name, left_out) == ("remove", "userName"):
        wrong = {"ret": 425, "err": "user does not exist"}
    assert stranger.b(name, **fields) == wrong


@pytest.mark.parametrize(
    "options", ["[]", "{", "1", '{"login_name":1}', '{"x":NaN}', '{"x":1e999}', '{"x":"\\ud800"}']
)
def test_options_are_the_text_of_an_object(stranger, options):
    """B1 answers 401 for options that are not a JSON object, or could not be given back."""
    assert stranger.bring(stranger.room(), "rtsp://h/", options=options) == 401


def test_b2_needs_room_user_and_address_of_the_device(stranger, sandbox):
    """B2 answers 425 when room, user or address is not the device's, and the device stays."""
    room_id, url = stranger.room(), sandbox.camera()
    assert stranger.bring(room_id, url) == 0
    right = {"roomId": room_id, "userId": "cam", "userAddress": url}
    for wrong in right:
        assert stranger.code("remove", **{**right, wrong: "rtsp://other/"}) == 425
    assert stranger.devices() == ["cam"]


def test_an_import_is_unique(stranger, sandbox):
    """423: a user id that any device or a person of the room has, an address twice in one room."""
    first, second = stranger.room(), stranger.room()
    one, two = sandbox.camera(), sandbox.camera()
    sandbox.join(first, "Ada", user_id="ada")
    rows = [(first, one), (first, one, "other"), (first, two), (second, two), (first, two, "ada")]
    codes = [stranger.bring(*row) for row in (*rows, (second, one, "other"))]
    assert codes == [0, 423, 423, 423, 423, 0]


@pytest.mark.parametrize("same", ["userId", "userAddress"])
def test_two_imports_at_once_give_one_423(make, silent, same):
    """User id and address are taken before the dial: of two at the same time, one is 423."""
    stranger = make(dial_timeout=0.8)
    room_id = stranger.room()
    pair = ((silent, "cam"), (silent, "cam2") if same == "userAddress" else (silent + "2", "cam"))
    with ThreadPoolExecutor(2) as pool:
        codes = sorted(pool.map(lambda row: stranger.bring(room_id, *row), pair))
    assert codes == [423, 427]
    assert stranger.bring(room_id, silent) == 427


def test_a_place_is_taken_while_a_camera_is_dialled(make, silent):
    """A device that is being dialled counts: nobody else gets the room's last place; after a
    failure user id, address and seat are free again."""
    stranger = make(dial_timeout=2)
    sandbox, room_id = stranger.sandbox, stranger.room(attendee_max=1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(stranger.bring, room_id, silent)
        until(lambda: sandbox._service.devices.reserved)
        assert stranger.bring(room_id, "rtsp://127.0.0.1:9/y", "other") == 426
        assert "full" in sandbox.refusals[-1]
        assert first.result() == 427
    assert stranger.bring(room_id, sandbox.camera()) == 0


@pytest.mark.parametrize("way", ["del", "close"])
def test_a_room_that_goes_while_its_camera_is_slow(stranger, sandbox, way):
    """A camera that answers when its room is gone is hung up, B1 answers 426, and the room's
    successor gets no device."""
    room_id, url = stranger.room(room_extend_id="e"), sandbox.camera()
    port = int(url.split(":")[2].split("/")[0])
    with socket.create_server(("127.0.0.1", 0)) as slow, ThreadPoolExecutor(1) as pool:
        address = url.replace(str(port), str(slow.getsockname()[1]))
        first = pool.submit(stranger.bring, room_id, address)
        near, _ = slow.accept()
        end(stranger, way, room_id)
        if way == "del":
            stranger.room(room_extend_id="e")
        far = socket.create_connection(("127.0.0.1", port))
        for ends in ((near, far), (far, near)):
            threading.Thread(target=pipe, args=ends, daemon=True).start()
        assert first.result() == 426
        assert "while the camera was dialled" in sandbox.refusals[-1]
        until(lambda: viewers(sandbox, url) == 0)
    assert stranger.devices() == []
    near.close()
    far.close()


def pipe(source, target):
    """Carries bytes from one socket to another until it ends."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(
    ("cap", "code", "told"),
    [
        ("attendee_max", 426, "attendee_max is 1"),
        ("max_video", 426, "max_video is 1"),
        ("max_audio", 0, ""),
    ],
)
@pytest.mark.parametrize("first", ["a device", "a person"])
def test_a_device_needs_a_place_and_a_video_stream(stranger, sandbox, cap, code, told, first):
    """426 where whoever came before has taken the room's last place or its last video stream,
    which is assumed and said so; it needs no audio stream."""
    room_id = stranger.room(**{cap: 1})
    if first == "a person":
        sandbox.join(room_id, "Ada")
    else:
        assert stranger.bring(room_id, sandbox.camera()) == 0
    assert stranger.bring(room_id, sandbox.camera(), "second") == code
    if told:
        assert told in sandbox.refusals[-1]
        assert ("(assumed)" in sandbox.refusals[-1]) == (cap == "max_video")


@pytest.mark.parametrize("cap", ["max_audio", "max_video"])
def test_stream_caps_keep_no_person_out(stranger, sandbox, cap):
    """People beyond max_audio or max_video are in the room; a device that is in keeps its place,
    and one that is not gets in as soon as a video stream is free."""
    room_id = stranger.room(**{cap: 2})
    assert stranger.bring(room_id, sandbox.camera()) == 0
    people = [sandbox.join(room_id, name) for name in ("Ada", "Bob", "Eve")]
    assert sorted(stranger.users(room_id)) == sorted([*people, "cam"])
    for user_id in people:
        sandbox.leave(room_id, user_id)
    assert stranger.bring(room_id, sandbox.camera(), "second") == 0


def test_where_a_device_cannot_join(stranger, sandbox):
    """Unknown and locked rooms, used-up seats and a stopped media server are 426."""
    room_id, url = stranger.room(), sandbox.camera()
    codes = [stranger.bring("none", url)]
    for hinder, allow in (
        (lambda: sandbox.lock(room_id), lambda: sandbox.unlock(room_id)),
        (lambda: sandbox.licence(seats=0), lambda: sandbox.licence(seats=5)),
        (sandbox.stop_mcu, sandbox.start_mcu),
    ):
        hinder()
        codes.append(stranger.bring(room_id, url))
        allow()
    assert [*codes, stranger.bring(room_id, url)] == [426, 426, 426, 426, 0]


@pytest.mark.parametrize(
    ("state", "codes"),
    [("stopped", [302, 303, 304]), ("hanging", [310, 310, 310]), ("running", [426, 425, 0])],
)
def test_the_device_service_is_down(stranger, sandbox, state, codes):
    """Stopped it is 302, 303 and 304; hanging it is 310; running again it works."""
    fields = {"userId": "u", "userAddress": "rtsp://127.0.0.1:9/", "userName": "n", "roomId": "r"}
    sandbox.device_service("stopped")
    sandbox.device_service(state)
    assert [stranger.code(name, **fields) for name in B] == codes
    with pytest.raises(ValueError, match="hanging"):
        sandbox.device_service("tired")


@pytest.mark.parametrize("name", B)
def test_a_wrong_token_is_602_in_b_too(stranger, name):
    """B1 to B3 answer 602 for a missing or wrong token, before they look at parameters."""
    for token in (None, "wrong"):
        answer = stranger.raw(B[name], {TOKEN_OF_B[name]: token}, "B").json()
        assert answer == {"ret": 602, "err": "access_token incorrect"}


def test_b3_lists_a_room_or_all(stranger, sandbox):
    """B3 gives one room's devices, all without or with an empty roomId, none for an unknown."""
    first, second = stranger.room(), stranger.room()
    assert stranger.bring(first, sandbox.camera(), "one") == 0
    assert stranger.bring(second, sandbox.camera(), "two") == 0
    assert [stranger.devices(room) for room in (first, "")] == [["one"], ["one", "two"]]
    assert stranger.b("list")["data"]["total"] == 2
    assert stranger.b("list", roomId="none") == {"ret": 0, "data": {"total": 0, "items": []}}


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


def test_devices_are_dialled_again_by_the_next_sandbox(stranger, make, tmp_path):
    """A device in the file is there in B3 at once, and in A6 when its stream is open."""
    url = stranger.sandbox.camera(**LOGIN)
    first = make(path=tmp_path / "rooms.sqlite")
    room_id = first.room()
    assert first.bring(room_id, url, options=LOGIN, userData="d") == 0
    item = first.b("list")["data"]["items"]
    first.sandbox.close()
    second = make(path=tmp_path / "rooms.sqlite")
    assert second.b("list")["data"]["items"] == item
    until(lambda: second.users(room_id) == ["cam"])
