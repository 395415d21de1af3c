"""Each exercise of notebooks 01 to 04: the usual mistakes are told apart, the right answer is."""

import re
import uuid
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course

TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
VALUES = [  # exercise, answer, what is told of it
    ("order-of-calls", ["A1", "A3", "A6"], "right"),
    ("order-of-calls", "A1 A3", "Hand in a list"),
    ("order-of-calls", {"A1", "A3", "A6"}, "A set has no order: hand in a list."),
    ("order-of-calls", {"A1": 1, "A3": 1, "A6": 1}, "A dict has no order: hand in a list."),
    ("order-of-calls", ("A1", "A3", "A6"), "right"),
    ("order-of-calls", ["A3", "A6"], "Before the first call"),
    ("order-of-calls", ["A1", "A3", "A1", "A6"], "The token is kept"),
    ("order-of-calls", ["A1", "A6", "A3"], "another order"),
    ("no-token", 602, "right"),
    ("no-token", "602", "right"),
    ("no-token", 200, "HTTP status"),
    ("no-token", 404, "good token"),
    ("no-token", 407, "parameter error"),
    ("no-such-call", ["Join", "lock"], "right"),
    ("no-such-call", {"join"}, "not all"),
    ("no-such-call", {"join", "lock", "offline"}, "offline A7"),
    ("token-in-url", f"access_token={TOKEN.replace('=', '%3D')}", "right"),
    ("token-in-url", f"http://h/x?access_token={TOKEN.replace('=', '%3d')}&room_id=1", "right"),
    ("token-in-url", TOKEN.replace("=", "%3D"), "Begin with"),
    ("token-in-url", f"access_token={TOKEN}", "not encoded"),
    ("token-in-url", f"access_token={quote(quote(TOKEN))}", "twice"),
    ("token-in-url", f"accessToken={quote(TOKEN)}", "spelling of B1"),
    ("token-in-url", "access_token=abc", "not the token"),
    ("token-culprits", ["raw", "SHA256", "newline"], "right"),
    ("token-culprits", ["raw", "newline", "sha256"], "1 of 3 are right. Token 2: "),
    ("token-culprits", ["raw"], "A list of 3 words"),
    ("token-culprits", {"raw", "sha256", "newline"}, "A set has no order: hand in a list."),
    ("token-culprits", frozenset({"raw"}), "A set has no order: hand in a list."),
    ("token-culprits", {"raw": 1, "sha256": 2, "newline": 3}, "A dict has no order"),
    ("token-culprits", "raw, sha256, newline", "Hand in a list"),
    ("token-culprits", ["raw", "x", "newline"], "Token 2: this is none of"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="ignore"), "right"),
    ("topic-cut", lambda topic: topic[:149], "Count bytes, not characters"),
    ("topic-cut", lambda topic: topic.encode()[:150].decode(errors="ignore"), "leaves 150 bytes"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="replace"), "cuts through"),
    ("topic-cut", lambda topic: topic.encode()[:146].decode(errors="replace"), "changes a topic"),
    ("topic-cut", lambda topic: topic.encode()[:149], "of the type bytes; a topic is a text"),
    ("topic-cut", lambda topic: topic if len(topic) < 150 else topic.encode()[:149],
     "of the type bytes; a topic is a text"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(errors="surrogateescape"),
     "cuts through"),
    ("topic-cut", lambda topic: topic if len(topic.encode()) < 150 else topic[-9:] + "...",
     "no beginning of the topic"),
    ("topic-cut", lambda topic: None, "is a `return` missing"),
    ("topic-cut", lambda topic: topic.encode()[:149].decode(), "raised UnicodeDecodeError: "),
    ("topic-cut", lambda topic: topic if len(topic.encode()) < 150 else topic[:9], "too much"),
    ("topic-cut", "x" * 149, "the function itself"),
    ("quoted-cap", lambda value: None if value in (None, "") else int(value), "right"),
    ("quoted-cap", int, "For an empty text, which says"),
    ("quoted-cap", lambda value: int(value or 0), "it gives 0. Nobody could join"),
    ("quoted-cap", lambda value: value, "For a number in quotes: it gives a wrong str"),
    ("quoted-cap", lambda value: int(value) if value and int(value) else None, "zero: 0 is"),
    ("five-codes", {"address": 410, "server": 417, "none": "428", "gone": 429, "closed": 416},
     "right"),
    ("five-codes", {"address": 410}, "five names"),
    ("five-codes", dict.fromkeys(["address", "server", "none", "gone", "closed"], 417),
     "address: 417 says: MCU not online"),
    ("host-and-port", lambda a: (a.rpartition(":")[0].strip("[]"), int(a.rpartition(":")[2])),
     "right"),
    ("host-and-port", lambda a: a.rpartition(":")[::2], "still a text"),
    ("host-and-port", lambda a: (a.rpartition(":")[0], int(a.rpartition(":")[2])), "brackets"),
    ("host-and-port", lambda a: {"host": "h", "port": 1}, "a pair (host, port), in this order"),
    ("host-and-port", lambda a: (int(a.rpartition(":")[2]), a.rpartition(":")[0]),
     "in this order. The port came first"),
    ("host-and-port", lambda a: a.split(":"), "still a text"),
    ("host-and-port", lambda a: a, "a pair (host, port), in this order"),
    ("host-and-port", lambda a: (a.split(":")[0], int(a.split(":")[1])), "For an IPv6 address"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "answer", "told"), VALUES)
def test_answers_that_are_values_or_functions(name, answer, told):
    """A right answer is right; each usual mistake is told in its own words."""
    finding = course.check(name, answer)
    if told == "right":
        assert finding.right, finding
    else:
        assert finding.right is False
        assert told in finding.told


def made(client, topic="T", **options):
    return ck.create_room(client, topic, owner_id="o", **options)


def told(name, answer, client):
    finding = course.check(name, answer, client)
    return "right" if finding.right else finding.told


def test_the_first_room(client):
    """Topic and cap are looked at on the sandbox; a number instead of a text is told."""
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
    the sandbox's reason is told."""
    with sandbox.connect() as other:
        assert told("token-at-work", str(other.token()), client) == "right"
        assert "twice" in told("token-at-work", quote(other.token()), client)
        sandbox.advance(3700)
        assert "expired 100 s ago" in told("token-at-work", str(other.token()), client)
    assert "confkit's client" in told("token-at-work", str(client.token()), client)


def test_what_is_told_is_never_masked(client, sandbox):
    """No sentence of a judge looks like a secret to the mask, which would eat its end."""
    for name, answer, _ in VALUES:
        assert "***" not in course.check(name, answer).told
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
