"""What is said of answers that are looked at in a sandbox: rooms, people, cameras, and functions
that ask for them."""

import re
import time
import uuid
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course


def made(client, topic="T", **options):
    return ck.create_room(client, topic, owner_id="o", **options)


def told(name, answer, client):
    """What is said of an answer; of one that is right, that it is."""
    finding = course.check(name, answer, client)
    assert finding.right is not None, finding.told
    return "right" if finding.right else finding.told


def right(name, answer, client):
    assert told(name, answer, client) == "right"


def test_the_first_room(client):
    """Topic and cap are looked at on the sandbox; a number instead of a text is reported."""
    assert told("first-room", made(client, "My first room", attendee_max=5), client) == "right"
    assert "topic is another" in told("first-room", made(client, "my first room"), client)
    assert "no cap" in told("first-room", made(client, "My first room"), client)
    assert "takes 6" in told("first-room", made(client, "My first room", attendee_max=6), client)
    assert "is a text" in told("first-room", 1234567890, client)
    assert "404" in told("first-room", "1234567890", client)


def test_a_number_of_one_s_own(client):
    """It has to be sent, to be a UUID, and the room to take three."""
    own = str(uuid.uuid4())
    made(client, attendee_max=3, room_extend_id=own)
    assert told("own-number", own, client) == "right"
    assert told("own-number", uuid.UUID(own), client) == "right"
    named = made(client, room_extend_id="board", attendee_max=3)
    assert "no UUID" in told("own-number", named, client)
    assert "letter by letter, capitals too" in told("own-number", own.upper(), client)
    uncapped = made(client, room_extend_id=str(uuid.uuid4()))
    assert "has no cap" in told("own-number", uncapped, client)


def test_a_room_whose_number_the_service_chose(client, sandbox):
    """A create without room_extend_id is told from one with it."""
    answer = client.session.get(
        client.base_url + "/rtc/room/create",
        params={"access_token": client.token(), "topic": "T", "owner_id": "o", "room_mode": 1},
        timeout=10,
    )
    assert "service chose" in told("own-number", answer.json()["room_id"], client)


def test_locked_with_somebody_in_it(client, sandbox):
    """Locked and empty, closed, and simply open are three other things."""
    room_id = made(client)
    assert "is 0" in told("locked-in", room_id, client)
    sandbox.lock(room_id)
    assert "empty" in told("locked-in", room_id, client)
    sandbox.unlock(room_id)
    sandbox.join(room_id, "Ada")
    sandbox.lock(room_id)
    assert told("locked-in", room_id, client) == "right"
    sandbox.close_room(room_id)
    assert "closed (3)" in told("locked-in", room_id, client)


def test_a_full_room(client, sandbox):
    """Full by its own cap: not locked, not uncapped, not nearly."""
    room_id = made(client, attendee_max=2)
    assert "Nobody is in" in told("full-room", room_id, client)
    sandbox.join(room_id, "Ada")
    assert "1 of 2" in told("full-room", room_id, client)
    sandbox.join(room_id, "Grace")
    assert told("full-room", room_id, client) == "right"
    sandbox.lock(room_id)
    assert "locked or closed" in told("full-room", room_id, client)
    assert "no attendee_max" in told("full-room", made(client), client)


def test_a_camera_counts_where_people_are_counted(client, sandbox):
    """Who is in a room is who A6 lists, a camera too: it fills a room and is locked in."""
    room_id = made(client, attendee_max=1)
    ck.import_device(client, room_id, "cam-1", "Camera", sandbox.camera(size=(160, 120), fps=5))
    assert told("full-room", room_id, client) == "right"
    sandbox.lock(room_id)
    assert told("locked-in", room_id, client) == "right"


def put_off(which, how=ck.force_offline, gives=True):
    def function(client, room_id, user_name):
        users = ck.get_room_users(client, room_id)
        found = [user.user_id for user in users if which(user.user_name, user_name)]
        for user_id in found:
            how(client, room_id, user_id)
        return found if gives else []

    return function


def test_put_off_by_name(client, sandbox):
    """Everybody of the name, nobody else, by A7, and their ids; the room of the trial is gone."""
    same = str.__eq__

    def by_hand(client, room_id, user_id):
        client.sandbox.leave(room_id, user_id)

    def last_alone(client, room_id, user_name):
        users = {user.user_name: user.user_id for user in ck.get_room_users(client, room_id)}
        ck.force_offline(client, room_id, users[user_name])
        return [users[user_name]]

    rooms = sandbox.room_ids()
    assert told("put-off", put_off(same), client) == "right"
    assert "Ada was" in told("put-off", put_off(lambda *_: True), client)
    assert "part of a name" in told("put-off", put_off(str.startswith), client)
    assert "not by A7" in told("put-off", put_off(same, by_hand), client)
    assert "one is still in" in told("put-off", last_alone, client)
    assert "list of their user ids" in told("put-off", put_off(same, gives=False), client)
    assert "Nobody is gone" in told("put-off", put_off(lambda *_: False), client)
    assert sandbox.room_ids() == rooms


def test_a_token_at_work(client, sandbox):
    """One's own login counts; the client's own token, a wrong one and an expired one do not, and
    the sandbox's reason is reported."""
    with sandbox.connect() as other:
        assert told("token-at-work", str(other.token()), client) == "right"
        assert "twice" in told("token-at-work", quote(other.token()), client)
        sandbox.advance(3700)
        assert "expired 100 s ago" in told("token-at-work", str(other.token()), client)
    assert "confkit's client" in told("token-at-work", str(client.token()), client)


def test_what_is_told_of_a_token_is_never_masked(client, sandbox):
    """No sentence of a judge looks like a secret to the mask, which would eat its end."""
    with sandbox.connect() as other:
        for answer in ("x", quote(other.token()), str(other.token()), str(client.token())):
            assert "***" not in told("token-at-work", answer, client)


@pytest.mark.parametrize("name", ["service", "calls", "token", "room-life", "rtsp"])
def test_a_picture_says_in_words_what_it_shows(name):
    """Its text is its title too, for who cannot see it; another name is an error with the names."""
    picture = course.picture(name)
    assert len(repr(picture)) > 100
    svg = picture._repr_html_()
    assert svg.startswith("<svg")
    assert 'role="img"' in svg
    assert "<title>" in svg
    assert "#fff" not in re.sub(r"var\([^()]*\)", "", svg), "colours are the theme's"
    with pytest.raises(ck.ConfigError, match="room-life"):
        course.picture("x")


# errors-count


def test_counts_that_call_a_failure_empty(sandbox):
    """A function that gives 0 where the call failed is told so, for each kind of failure."""
    client = sandbox.connect(sleep=lambda seconds: None)

    def caught(kinds, instead=0, gone=None):
        def count(room_id):
            try:
                return len(ck.get_room_users(client, room_id))
            except ck.RoomNotFound:
                return gone
            except kinds:
                return instead

        return count

    right("errors-count", caught(ck.ConfkitError, None), client)
    right("errors-count", caught(ck.ConfkitError, float("nan")), client)
    right("errors-count", lambda room_id: len(ck.get_room_users(client, room_id)), client)
    assert "404" in told("errors-count", caught((), gone=0), client)
    assert "(700)" in told("errors-count", caught(ck.ApiError, -1), client)
    assert "HTML" in told("errors-count", caught(ck.ProtocolError), client)
    assert "dropped" in told("errors-count", caught(ck.TransportError), client)
    assert "never an empty room" in told("errors-count", caught(ck.ConfkitError), client)


def test_counts_that_are_none(client):
    """Numbers out of the air, and an empty room that is taken for unknown, are told apart; no room
    and no fault is left behind."""
    asked = {}

    def unasked(room_id):
        return asked.setdefault(room_id, 2 if not asked else 0)

    assert "does not say 2" in told("errors-count", lambda _: 7, client)
    assert "did not ask" in told("errors-count", unasked, client)
    assert "say 0" in told(
        "errors-count", lambda room_id: len(ck.get_room_users(client, room_id)) or None, client
    )
    assert client.sandbox.room_ids() == []
    kept = ck.create_room(client, "T", owner_id="o")
    assert ck.get_room_users(client, kept) == []


# errors-full


def test_a_camera_that_was_refused_for_another_reason(client):
    """The room has to be full, and that has to be why; each step that lacks is named."""
    sandbox = client.sandbox
    url = sandbox.camera(size=(160, 120), fps=5)
    open_room = ck.create_room(client, "No cap", owner_id="o")
    room_id = ck.create_room(client, "Two", owner_id="o", attendee_max=2)
    assert "no attendee_max" in told("errors-full", open_room, client)
    assert "Nobody is in it, and 2 may be" in told("errors-full", room_id, client)
    assert "no room of this number" in told("errors-full", "0000000000", client)
    assert "text" in told("errors-full", 17, client)
    for name in ("Ada", "Grace"):
        sandbox.join(room_id, name)
    assert "no camera has been refused" in told("errors-full", room_id, client)
    sandbox.lock(open_room)
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, open_room, "cam", "Camera", url)
    assert "another reason: the room is locked" in told("errors-full", room_id, client)
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, room_id, "cam", "Camera", url)
    right("errors-full", room_id, client)


# devices-seat


def test_a_camera_that_is_not_quite_seated(client):
    """Nowhere, in another room, under another user id, without a login, and unplugged are five
    different answers."""
    sandbox = client.sandbox
    room_id, other = (ck.create_room(client, topic, owner_id="o") for topic in "ab")
    login = {"login_name": "u", "login_password": "p-2468"}
    bare, locked = (sandbox.camera(size=(160, 120), fps=5, **given) for given in ({}, login))
    assert "number is a text" in told("devices-seat", 17, client)
    assert "None is listed at all" in told("devices-seat", room_id, client)
    device = ck.import_device(client, other, f"cam-{other}", "Exam", bare)
    assert "in other rooms" in told("devices-seat", room_id, client)
    assert "without login_name" in told("devices-seat", other, client)
    ck.remove_device(client, device)
    device = ck.import_device(client, room_id, "cam-other", "Exam", locked, **login)
    due = f"called otherwise; the user id cam-{room_id} is asked for"
    assert due in told("devices-seat", room_id, client)
    ck.remove_device(client, device)
    ck.import_device(client, room_id, f"cam-{room_id}", "Exam", locked, **login)
    right("devices-seat", room_id, client)
    sandbox.unplug(locked)
    until(lambda: ck.get_room_users(client, room_id) == [])
    assert "stream is down" in told("devices-seat", room_id, client)
    assert "no room" in told("devices-seat", "0000000000", client)


def until(done):
    """Waits for what the sandbox does by itself."""
    deadline = time.monotonic() + 10
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# devices-missing


def test_devices_that_are_missed_or_not(client):
    """All that are listed, none, those that are there, and the right one are told apart; what the
    check has made is gone afterwards."""

    def listed(room_id):
        return {device.user_id for device in ck.list_devices(client, room_id)}

    def present(room_id):
        return {user.user_id for user in ck.get_room_users(client, room_id)}

    calls = []

    def second_time(room_id, found):
        calls.append(room_id)
        return found(room_id) if calls.count(room_id) == 2 else set()

    def one_more(room_id):
        return {*(listed(room_id) - present(room_id)), "cam-of-nobody"}

    right("devices-missing", lambda room_id: listed(room_id) - present(room_id), client)
    right("devices-missing", lambda room_id: [*(listed(room_id) - present(room_id))], client)
    assert "misses some" in told("devices-missing", listed, client)
    assert "take away" in told("devices-missing", lambda r: second_time(r, listed), client)
    assert "not named" in told("devices-missing", lambda r: second_time(r, present), client)
    assert "not named" in told("devices-missing", lambda _: [], client)
    assert "names others" in told("devices-missing", lambda r: second_time(r, one_more), client)
    assert "not the whole device" in told(
        "devices-missing", lambda room_id: ck.list_devices(client, room_id), client
    )
    assert "User ids are asked for" in told("devices-missing", lambda room_id: 7, client)
    assert "by its name" in told("devices-missing", ["cam"], client)
    assert client.sandbox.room_ids() == []
    assert ck.list_devices(client) == []


# many-full


def test_rooms_that_are_taken_for_full(client):
    """Rooms without a cap, with a free place, unknown ones and numbers are told apart."""
    sandbox = client.sandbox
    assert "Run the notebook from its top" in told("many-full", [], client)
    caps = {"00451": 1, "00452": 1, "00453": 2, "00454": None}
    for room_id, cap in caps.items():
        ck.create_room(client, "T", owner_id="o", attendee_max=cap, room_extend_id=room_id)
        sandbox.join(room_id, "Ada")
    right("many-full", ["00452", "00451"], client)
    right("many-full", {"00452", "00451"}, client)
    assert "leading zeros" in told("many-full", [451, 452], client)
    assert "no cap" in told("many-full", ["00451", "00452", "00454"], client)
    assert "1 of these have a free place" in told("many-full", ["00451", "00453"], client)
    assert "are no rooms" in told("many-full", ["00451", "9"], client)
    assert "1 that are full are missing" in told("many-full", ["00451"], client)
    assert "Hand in a list" in told("many-full", "00451", client)


# many-cost


def test_the_cost_is_what_a_sweep_really_sends(client):
    """Two calls a room, the devices once, and one login: so says the sandbox's counter."""
    room_ids = [ck.create_room(client, "T", owner_id="o") for _ in range(5)]
    with client.sandbox.connect() as fresh:
        before = client.sandbox.count()
        ck.sweep(fresh, room_ids)
        assert client.sandbox.count() - before == 5 * 2 + 1 + 1


def test_a_call_by_hand_carries_the_token_under_its_name(client, sandbox):
    """B1 and B3 get accessToken, all others access_token; one that is given stays alone. The
    sandbox's refusal has the call, its code and the reason as fields."""
    paths = ["/rtc/room/get", "/avd/api/outgoing/getOutgoingUsers"]
    assert [course.ask(client, path, room_id="0")["ret"] for path in paths] == [404, 0]
    leave = "/avd/api/outgoing/destroyOutgoingUser"
    gone = {"roomId": "0", "userId": "u", "userAddress": "rtsp://127.0.0.1/"}
    assert course.ask(client, leave, **gone)["ret"] == 425
    assert course.ask(client, leave, accessToken=str(client.token()), **gone)["ret"] == 602
    refused = sandbox.refusals[-1]
    assert (refused.call, refused.ret) == ("B2", 602)
    assert refused == f"B2 602: {refused.why}"
