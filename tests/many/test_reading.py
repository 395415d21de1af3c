"""Typed reading gives what `interpret` and the records give, or their error.

In a field that nobody reads the decoder passes over two things that `interpret` refuses: bytes that
are no letters, and numbers of thousands of digits.
"""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.endpoints import A3, A6
from confkit.many.reading import as_room, read_room, read_users
from confkit.records import Room, RoomUser
from confkit.wire import Answer, Request, interpret
from tests.nightly.fuzz_answers import MEMBERS

USUAL = ck.Dialect()


def outcome(read, endpoint, answer):
    """What reading gives, with its repr (which hides secrets) and types, or what it raises."""
    try:
        found = read(Request(endpoint, {"room_id": "1"}), answer, USUAL)
    except ck.ConfkitError as error:
        return type(error), str(error), error.retry, getattr(error, "ret", None)
    shown = [found] if isinstance(found, Room) else found
    fields = [[getattr(item, name) for name in item.__dataclass_fields__] for item in shown]
    return found, repr(found), [[(type(value), repr(value)) for value in item] for item in fields]


def agrees(body, status=200, whole=True):
    """What comes for a room and for its users, once the quick way and the tolerant one agree."""
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    answer = Answer(status, "application/json", body, ("hunter2",), whole)
    room = outcome(lambda *given: Room.read(interpret(*given), "1"), A3, answer)
    users = outcome(lambda *given: RoomUser.read_all(interpret(*given)), A6, answer)
    quick_room = outcome(lambda *given: as_room(read_room(*given)), A3, answer)
    quick_users = outcome(read_users, A6, answer)
    if clean(body):
        assert (quick_room, quick_users) == (room, users), body[:300]
    else:
        assert quick_room == room or (isinstance(quick_room[0], Room) and whole)
        assert quick_users == users or (quick_users[0] and isinstance(quick_users[0], list))
    return room[0], users[0]


def clean(body):
    """Whether a body is free of broken letters and of numbers that are too long to read."""
    with suppress(UnicodeDecodeError):
        return not re.search("[0-9]{4000}", body.decode(json.detect_encoding(body)))
    return False


TYPED = [None, False, True, 0, -5, 25, 0.0, -0.0, 0.5, 25.0, 9.1e15, 1e300, [], [1], {}, {"a": 1}]
TYPED += [2**53 - 1, 2**53, 2**53 + 1, -(2**53), 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**30]
TYPED += [404, 602, str(2**53), str(2**63), "9" * 5000]
BLANKS = ["", " ", " 0", " 25 ", "25\n", "\t25"]
QUOTED = """
0 00 0.0 0E0 2e+1 ² 25 25.0 25. 25.5 1e3 +25 -1 -0 00025 0x19 null NULL none true nan inf 1_000 ٢٥
1,000 - 404 E1 Ünï a:b 100% \0 \ud800 部屋 ada@example.com
"""
LOGINS = ["rtsp://admin:hunter2@host/x", "token=hunter2", '{"host_password": "hunter2"}']
ODD = [*TYPED, *BLANKS, *QUOTED.split(), *LOGINS]


@given(
    body=MEMBERS,
    status=st.sampled_from([200, 200, 200, 201, 204, 302, 404, 503]),
    whole=st.sampled_from([True, True, True, False]),
)
def test_any_object_reads_as_the_records_read_it(body, status, whole):
    """Fields of any type, absent, quoted or huge: the same record, or the same error."""
    agrees(body, status, whole)


ROOM = '{"ret": 0, "room_id": "1", "topic": "Weekly sync", "attendee_max": "25"'
PEOPLE = '{"ret": 0, "user_list": [{"user_id": "u", "user_name": "Ada"'
ODD_PART = st.binary(max_size=6).map(lambda odd: b', "x": ' + odd) | st.just(b"")
ENDS = st.sampled_from([b"}", b"}]}", b"", b"}}", b"} x", b"}\0", b"} \r\n", b"}]} ", b"}]}]"])
BEGINS = st.sampled_from([ROOM.encode(), PEOPLE.encode()])


@given(
    body=st.binary(max_size=60)
    | st.text(max_size=60)
    | st.tuples(BEGINS, ODD_PART, ENDS).map(b"".join)
)
@example(b"")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_read_as_the_records_read_them(body):
    """Bytes of any kind are the same error; whatever stands in a field that nobody reads, or behind
    the end, is judged alike."""
    agrees(body)


AGAIN = [
    '"topic": "other"',
    '"\\u0074opic": "other"',
    '"topic"\n: "Weekly sync"',
    '"ret": 404',
    '"user_name": "Eve"',
    '"user_list": []',
    '"x": 1, "x": 2',
    '"x": {"y": {"z": 1, "z": 2}}',
    '"user_id": "u:"',
]
DEEP = [b"[" * many + b"]" * many for many in (300, 200_000)]
LONG = [sign + b"9" * 5000 for sign in (b"", b"-", b"0.")]
ODD_JSON = rb"""
"\xff" "a\nb" "\x00" "\q" "\u12" "\ud800" "\ud800\udc00" NaN -Infinity
1. .5 01 +1 1e999 --1 tru nul 'a' [1,] {"a":1,} {a:1}
/**/1 "a""b" [ {"a"} {"a":1,"a":2} {"a"1} {"a":} [,]
""".split()
ODD_BYTES = [b'"\xff"', b'"\xc3"', b'"a\nb"', b'"\x00"', b'"\xed\xa0\x80"', b"", b"\x0b1", b"[1 2]"]
BODIES = {
    "a name that is there already": [
        f"{begin}, {again}{end}"
        for again in AGAIN
        for begin, end in (
            (ROOM, "}"),
            (PEOPLE, "}]}"),
            (PEOPLE + "}]", "}"),
            (PEOPLE + '}, {"user_id": "v:", "user_name": "a:b"', "}]}"),
        )
    ],
    "what is no JSON, or too deep, where nobody reads it": [
        begin.encode() + b', "x": ' + odd + end
        for odd in [*ODD_JSON, *ODD_BYTES, *DEEP, *LONG]
        for begin, end in ((ROOM, b"}"), (PEOPLE, b"}]}"), (PEOPLE + "}]", b"}"))
    ],
    "fields of any type": [
        json.dumps({"ret": 0, "room_id": "1", name: odd}, ensure_ascii=ascii_only)
        for name in [*Room.__dataclass_fields__, "ret", "result", "user_list", "user_id"]
        for odd in ODD
        for ascii_only in (True, False)
    ],
    "users of any type": [
        json.dumps({"ret": 0, "user_list": [{"user_id": "u", "user_name": "Ada"}, user]})
        for odd in ODD
        for user in (odd, {"user_id": odd, "user_name": "Eve"}, {"user_id": "v", "user_name": odd})
    ],
    "other encodings": [
        (ROOM + ', "owner_id": "Ünï"}').encode(encoding)
        for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1")
    ],
    "fields that come twice or not at all": [
        '{"ret": 0, "room_id": "2", "room_id": "1", "topic": "a", "topic": "b"}',
        '{"ret": 404, "ret": 0, "room_id": "1"}',
        '{"ret": null, "result": 0, "room_id": "1"}',
        '{"ret": 0, "room_id": "1", "topic": 5, "topic": "b"}',
        '{"ret": 0, "room_id": "1", "\\u0074opic": "b"}',
        '{"ret": 0, "user_list": [], "user_list": [{"user_id": "a", "user_name": null}]}',
        '{"ret": 0, "user_list": [{"user_id": "a", "user_id": "b", "user_name": "c"}]}',
        '{"ret": 0}',
        "[]",
        '{"ret": 0, "room_id": "7", "room_extend_id": "1"}',
        '{"ret": 0, "room_id": "", "room_extend_id": "1"}',
    ],
}


@pytest.mark.parametrize("kind", BODIES)
def test_odd_answers_read_as_the_records_read_them(kind):
    """A decoder and the records agree on them: the last of two counts, a room under its other
    number is that room, and no list is an error."""
    for body in BODIES[kind]:
        agrees(body)


@pytest.mark.parametrize("name", ["user_list", "\\u0075ser_list"])
def test_of_two_lists_an_empty_one_takes_nobody_out_of_a_room(name):
    """Which of the two is meant nobody knows: that is an error, and no empty room."""
    _, users = agrees(PEOPLE + f'}}], "{name}": []}}')
    assert users is ck.ProtocolError


def test_a_usual_answer_takes_the_quick_way():
    """Its fields come as they should, so that agreeing is no empty word, from the typed decoder:
    what it gives is not a Room yet, and shows no password either."""
    body = ROOM + ', "host_password": "hunter2", "room_mode": 3, "id": ""}'
    found = read_room(Request(A3, {"room_id": "1"}), Answer(200, "", body.encode()), USUAL)
    assert not isinstance(found, Room)
    room, _ = agrees(body)
    assert as_room(found) == room
    assert (room.topic, room.attendee_max, room.host_password) == ("Weekly sync", 25, "hunter2")
    assert (room.room_mode, room.id) == (3, None)
    assert "hunter2" not in f"{found!r}{room!r}"
    assert agrees(PEOPLE + "}]}")[1] == [RoomUser("Ada", "u")]


@pytest.mark.parametrize("name", LOGINS[:2])
def test_a_login_among_names_is_hidden(name):
    """A name, an ID or a topic that holds a secret hides it in a repr, and code can read it."""
    room, _ = agrees(json.dumps({"ret": 0, "room_id": "1", "topic": name}))
    _, users = agrees(json.dumps({"ret": 0, "user_list": [{"user_name": name, "user_id": name}]}))
    assert (room.topic, users) == (name, [RoomUser(name, name)])
    assert "hunter2" not in f"{room!r}{users!r}"
