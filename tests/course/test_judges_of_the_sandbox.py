"""What is said of answers that are looked at in a sandbox: rooms, people, cameras, and functions
that ask for them."""

import re
import uuid
from functools import partial
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course
from confkit.course.material import NAMES
from tests.sandbox.conftest import until


@pytest.fixture
def made(client):
    """Makes a room."""
    return lambda topic="T", **options: ck.create_room(client, topic, owner_id="o", **options)


@pytest.fixture
def heard(client):
    """Hands an answer in, and looks at what is said of it: that it is right, or a hint."""

    def heard(name, answer, told="right", client=client):
        finding = course.check(name, answer, client)
        assert finding.right is (told == "right"), finding.told
        assert told == "right" or told in finding.told
        assert "***" not in finding.told

    return heard


def test_the_first_room(heard, made):
    """Topic and cap are looked at on the sandbox; a number instead of a text is reported."""
    heard("first-room", made("My first room", attendee_max=5))
    heard("first-room", made("my first room"), "topic is another")
    heard("first-room", made("My first room"), "no cap")
    heard("first-room", made("My first room", attendee_max=6), "takes 6")
    heard("first-room", 1234567890, "is a text")
    heard("first-room", "1234567890", "404")


def test_a_number_of_one_s_own(client, heard, made):
    """It has to be sent, to be a UUID, and the room to take three; one that the service chose is
    told from it."""
    own = str(uuid.uuid4())
    made(attendee_max=3, room_extend_id=own)
    heard("own-number", own)
    heard("own-number", uuid.UUID(own))
    named = made(room_extend_id="board", attendee_max=3)
    heard("own-number", named, "no UUID")
    heard("own-number", own.upper(), "letter by letter, capitals too")
    chosen = course.ask(client, "/rtc/room/create", topic="T", owner_id="o", room_mode=1)
    heard("own-number", chosen["room_id"], "service chose")


def test_locked_with_somebody_in_it(sandbox, heard, made):
    """Locked and empty, closed, and simply open are three other things."""
    room_id = made()
    heard("locked-in", room_id, "is 0")
    sandbox.lock(room_id)
    heard("locked-in", room_id, "empty")
    sandbox.unlock(room_id)
    sandbox.join(room_id, "Ada")
    sandbox.lock(room_id)
    heard("locked-in", room_id)
    sandbox.close_room(room_id)
    heard("locked-in", room_id, "closed (3)")


def test_a_full_room(client, sandbox, heard, made):
    """Full by its own cap: not locked, not uncapped, not nearly. Who is in a room is who A6 lists,
    a camera too."""
    room_id = made(attendee_max=2)
    heard("full-room", room_id, "Nobody is in")
    sandbox.join(room_id, "Ada")
    heard("full-room", room_id, "1 of 2")
    ck.import_device(client, room_id, "cam-1", "Camera", sandbox.camera(size=(160, 120), fps=5))
    heard("full-room", room_id)
    sandbox.lock(room_id)
    heard("full-room", room_id, "locked or closed")
    heard("full-room", made(), "no attendee_max")


def put_off(which, how=ck.force_offline, gives=True):
    def function(client, room_id, user_name):
        users = ck.get_room_users(client, room_id)
        found = [user.user_id for user in users if which(user.user_name, user_name)]
        for user_id in found:
            how(client, room_id, user_id)
        return found if gives else []

    return function


def test_put_off_by_name(client, sandbox, heard):
    """Everybody of the name, nobody else, by A7, and their ids; the room of the trial is gone."""
    same = str.__eq__

    def by_hand(client, room_id, user_id):
        client.sandbox.leave(room_id, user_id)

    def last_alone(client, room_id, user_name):
        users = {user.user_name: user.user_id for user in ck.get_room_users(client, room_id)}
        ck.force_offline(client, room_id, users[user_name])
        return [users[user_name]]

    rooms = sandbox.room_ids()
    heard("put-off", put_off(same))
    heard("put-off", put_off(lambda *_: True), "Ada was")
    heard("put-off", put_off(str.startswith), "part of a name")
    heard("put-off", put_off(same, by_hand), "not by A7")
    heard("put-off", last_alone, "one is still in")
    heard("put-off", put_off(same, gives=False), "list of their user ids")
    heard("put-off", put_off(lambda *_: False), "Nobody is gone")
    assert sandbox.room_ids() == rooms


def test_a_token_at_work(client, sandbox, heard):
    """One's own login counts; the client's own token, a wrong one and an expired one do not, and
    the sandbox's reason is reported."""
    with sandbox.connect() as other:
        heard("token-at-work", other.token().reveal())
        heard("token-at-work", quote(other.token().reveal()), "twice")
        sandbox.advance(3700)
        heard("token-at-work", other.token().reveal(), "expired 100 s ago")
    heard("token-at-work", client.token().reveal(), "confkit's client")


def test_a_picture_says_in_words_what_it_shows():
    """Its text is its title too, for who cannot see it; another name is an error with the names."""
    for name in NAMES:
        picture = course.picture(name)
        svg = picture._repr_html_()
        assert len(repr(picture)) > 100
        assert re.search('^<svg[^>]* role="img".*<title>', svg, re.DOTALL)
        assert "#fff" not in re.sub(r"var\([^()]*\)", "", svg), "colours are the theme's"
    with pytest.raises(ck.ConfigError, match="room-life"):
        course.picture("x")


def test_counts_that_call_a_failure_empty(sandbox, heard):
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

    count_is = partial(heard, "errors-count", client=client)
    count_is(caught(ck.ConfkitError, None))
    count_is(caught(ck.ConfkitError, float("nan")))
    count_is(lambda room_id: len(ck.get_room_users(client, room_id)))
    count_is(caught((), gone=0), "404")
    count_is(caught(ck.ApiError, -1), "(700)")
    count_is(caught(ck.ProtocolError), "HTML")
    count_is(caught(ck.TransportError), "dropped")
    count_is(caught(ck.ConfkitError), "never an empty room")


def test_counts_that_are_none(client, heard, made):
    """Numbers out of the air, and an empty room that is taken for unknown, are told apart; no room
    and no fault is left behind."""
    asked = {}

    def unasked(room_id):
        return asked.setdefault(room_id, 2 if not asked else 0)

    heard("errors-count", lambda _: 7, "does not say 2")
    heard("errors-count", unasked, "did not ask")
    heard("errors-count", lambda room_id: len(ck.get_room_users(client, room_id)) or None, "say 0")
    assert client.sandbox.room_ids() == []
    kept = made("T")
    assert ck.get_room_users(client, kept) == []


def test_a_camera_that_was_refused_for_another_reason(client, heard, made):
    """The room has to be full, and that has to be why; each step that lacks is named."""
    sandbox = client.sandbox
    url = sandbox.camera(size=(160, 120), fps=5)
    open_room = made("No cap")
    room_id = made("Two", attendee_max=2)
    for name in ("Ada", "Grace"):
        sandbox.join(room_id, name)
    heard("errors-full", room_id, "no camera has been refused")
    sandbox.lock(open_room)
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, open_room, "cam", "Camera", url)
    heard("errors-full", room_id, "another reason: the room is locked")
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, room_id, "cam", "Camera", url)
    heard("errors-full", room_id)


def test_a_camera_that_is_not_quite_seated(client, heard, made):
    """Nowhere, in another room, under another user id, without a login, and unplugged are five
    different answers."""
    sandbox = client.sandbox
    room_id, other = (made(topic) for topic in "ab")
    login = {"login_name": "u", "login_password": "p-2468"}
    bare, locked = (sandbox.camera(size=(160, 120), fps=5, **given) for given in ({}, login))
    heard("devices-seat", room_id, "None is listed at all")
    device = ck.import_device(client, other, f"cam-{other}", "Exam", bare)
    heard("devices-seat", room_id, "in other rooms")
    heard("devices-seat", other, "without login_name")
    ck.remove_device(client, device)
    device = ck.import_device(client, room_id, "cam-other", "Exam", locked, **login)
    due = f"called otherwise; the user id cam-{room_id} is asked for"
    heard("devices-seat", room_id, due)
    ck.remove_device(client, device)
    ck.import_device(client, room_id, f"cam-{room_id}", "Exam", locked, **login)
    heard("devices-seat", room_id)
    sandbox.unplug(locked)
    until(lambda: ck.get_room_users(client, room_id) == [])
    heard("devices-seat", room_id, "stream is down")


def test_devices_that_are_missed_or_not(client, heard):
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

    heard("devices-missing", lambda room_id: listed(room_id) - present(room_id))
    heard("devices-missing", lambda room_id: [*(listed(room_id) - present(room_id))])
    heard("devices-missing", listed, "misses some")
    heard("devices-missing", lambda r: second_time(r, listed), "take away")
    heard("devices-missing", lambda r: second_time(r, present), "not named")
    heard("devices-missing", lambda _: [], "not named")
    heard("devices-missing", lambda r: second_time(r, one_more), "names others")
    heard("devices-missing", lambda room_id: ck.list_devices(client, room_id), "not the whole")
    heard("devices-missing", lambda room_id: 7, "User ids are asked for")
    assert client.sandbox.room_ids() == []
    assert ck.list_devices(client) == []


def test_rooms_that_are_taken_for_full(client, heard, made):
    """Rooms without a cap, with a free place, unknown ones and numbers are told apart."""
    sandbox = client.sandbox
    heard("many-full", [], "Run the notebook from its top")
    caps = {"00451": 1, "00452": 1, "00453": 2, "00454": None}
    for room_id, cap in caps.items():
        made("T", attendee_max=cap, room_extend_id=room_id)
        sandbox.join(room_id, "Ada")
    heard("many-full", ["00452", "00451"])
    heard("many-full", [451, 452], "leading zeros")
    heard("many-full", ["00451", "00452", "00454"], "no cap")
    heard("many-full", ["00451", "00453"], "1 of these have a free place")
    heard("many-full", ["00451", "9"], "are no rooms")
    heard("many-full", ["00451"], "1 that are full are missing")


def test_a_call_by_hand_carries_the_token_under_its_name(client, sandbox):
    """B1 and B3 get accessToken, all others access_token; one that is given stays alone. The
    sandbox's refusal has the call, its code and the reason as fields."""
    paths = ["/rtc/room/get", "/avd/api/outgoing/getOutgoingUsers"]
    assert [course.ask(client, path, room_id="0")["ret"] for path in paths] == [404, 0]
    leave = "/avd/api/outgoing/destroyOutgoingUser"
    gone = {"roomId": "0", "userId": "u", "userAddress": "rtsp://127.0.0.1/"}
    assert course.ask(client, leave, **gone)["ret"] == 425
    assert course.ask(client, leave, accessToken=client.token().reveal(), **gone)["ret"] == 602
    refused = sandbox.refusals[-1]
    assert (refused.call, refused.ret) == ("B2", 602)
    assert str(refused) == f"B2 602: {refused.why}"
