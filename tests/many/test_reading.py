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

USUAL = ck.Dialect()
ASKED = Request(A3, {"room_id": "1"})
TEXTS = ["room_id", "topic", "owner_id", "host_password", "room_extend_id"]
NUMBERS = ["id", "room_status", "attendee_max", "max_audio", "max_video", "room_mode"]


def outcome(read, *given):
    """What reading gives, with its repr (which hides secrets) and types, or what it raises."""
    try:
        found = read(*given)
    except ck.ConfkitError as error:
        return type(error), str(error), error.retry, getattr(error, "ret", None)
    shown = [found] if isinstance(found, Room) else found
    fields = [[getattr(item, name) for name in item.__dataclass_fields__] for item in shown]
    return found, repr(found), [[(type(value), repr(value)) for value in item] for item in fields]


def agrees(body, status=200, whole=True):
    """The outcome for a room and for its users, once the quick way and the tolerant one agree."""
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    answer = Answer(status, "application/json", body, ("hunter2",), whole)
    asked = Request(A6, {"room_id": "1"})
    room = outcome(lambda: Room.read(interpret(ASKED, answer, USUAL), "1"))
    users = outcome(lambda: RoomUser.read_all(interpret(asked, answer, USUAL)))
    quick_room = outcome(lambda: as_room(read_room(ASKED, answer, USUAL)))
    quick_users = outcome(read_users, asked, answer, USUAL)
    if clean(body):
        assert (quick_room, quick_users) == (room, users)
    else:
        assert quick_room == room or (isinstance(quick_room[0], Room) and whole)
        assert quick_users == users or (quick_users[0] and isinstance(quick_users[0], list))
    return room[0], users[0]


def clean(body):
    """Whether a body is free of broken letters and of numbers that are too long to read."""
    with suppress(UnicodeDecodeError):
        return not re.search("[0-9]{4000}", body.decode(json.detect_encoding(body)))
    return False


PLAIN_TEXT = st.sampled_from(
    [
        "1",
        "",
        " ",
        "Weekly sync",
        "Ünï 部屋",
        "a:b",
        "rtsp://admin:hunter2@host/x",
        "ada@example.com",
        "token=hunter2",
        '{"host_password": "hunter2"}',
        "100%",
        "\u0000",
        "\ud800",
        "\U0001f600",
        "null",
    ]
) | st.text(max_size=8)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 99),
    st.floats(),
    PLAIN_TEXT,
    st.sampled_from(
        [
            2**53,
            2**53 - 1,
            2**53 + 1,
            -(2**53),
            2**63,
            2**63 - 1,
            -(2**63),
            -(2**63) - 1,
            10**30,
            1.0,
            25.0,
            1e15,
            9.1e15,
            1e300,
            -0.0,
            0.5,
        ]
    ),
    st.sampled_from(
        [
            "25",
            " 25 ",
            "25.0",
            "25.",
            "25.5",
            "1e3",
            "+25",
            "-1",
            "-0",
            "00025",
            "0x19",
            "null",
            "Null",
            "NULL",
            "none",
            "true",
            "false",
            "nan",
            "inf",
            "infinity",
            "25\n",
            "\t25",
            "1_000",
            "٢٥",
            "9" * 19,
            "9" * 20,
            "9" * 5000,
            "1,000",
            "-",
            str(2**53),
            str(2**53 - 1),
            str(2**63 - 1),
            str(2**63),
            str(-(2**63)),
        ]
    ),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
RET = st.sampled_from(
    [
        0,
        0,
        0,
        0,
        "0",
        " 0",
        "00",
        "0.0",
        0.0,
        -0.0,
        False,
        True,
        None,
        "",
        404,
        "404",
        602,
        "E1",
        [],
        {},
        0.5,
        "null",
        1,
    ]
)
USER = st.one_of(
    st.fixed_dictionaries(
        {"user_id": PLAIN_TEXT | ODD}, optional={"user_name": PLAIN_TEXT | ODD, "role": ODD}
    ),
    st.fixed_dictionaries({"user_id": PLAIN_TEXT, "user_name": PLAIN_TEXT}),
    ODD,
)
MEMBERS = st.fixed_dictionaries(
    {"ret": RET},
    optional={
        **dict.fromkeys(TEXTS, PLAIN_TEXT | ODD),
        **dict.fromkeys(NUMBERS, ODD),
        "room_id": st.just("1") | PLAIN_TEXT | ODD,
        "room_extend_id": st.just("1") | PLAIN_TEXT,
        "user_list": st.lists(USER, max_size=3) | ODD,
        "result": RET,
        "msg": ODD,
        "more": ODD,
    },
)
USUAL_ROOM = st.fixed_dictionaries(
    {"ret": st.just(0), "room_id": st.just("1")},
    optional={**dict.fromkeys(TEXTS[1:], PLAIN_TEXT), **dict.fromkeys(NUMBERS, ODD)},
)
USUAL_USERS = st.fixed_dictionaries(
    {
        "ret": st.just(0),
        "user_list": st.lists(
            st.fixed_dictionaries({"user_id": PLAIN_TEXT, "user_name": PLAIN_TEXT | st.none()}),
            max_size=3,
        ),
    }
)


@given(
    members=MEMBERS | USUAL_ROOM | USUAL_USERS,
    ascii_only=st.booleans(),
    status=st.sampled_from([200, 200, 200, 201, 204, 302, 404, 503]),
    whole=st.sampled_from([True, True, True, False]),
)
def test_any_object_reads_as_the_records_read_it(members, ascii_only, status, whole):
    """Fields of any type, absent, quoted or huge: the same record, or the same error."""
    agrees(json.dumps(members, ensure_ascii=ascii_only), status, whole)


@given(body=st.binary(max_size=60) | st.text(max_size=60))
@example(b"")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_read_as_the_records_read_them(body):
    """Bytes of any kind are the same error."""
    agrees(body)


ROOM = '{"ret": 0, "room_id": "1", "topic": "Weekly sync", "attendee_max": "25"'
PEOPLE = '{"ret": 0, "user_list": [{"user_id": "u", "user_name": "Ada"'


@given(
    begin=st.sampled_from([ROOM, PEOPLE]),
    middle=st.sampled_from(["", ', "x": ']).flatmap(
        lambda name: (st.binary(max_size=6) if name else st.just(b"")).map(
            lambda odd: name.encode() + odd
        )
    ),
    end=st.sampled_from(["}", "}]}", "", "}}", "} x", "}\0", "} \r\n", "}]} ", "}]}]"]),
)
def test_bodies_with_an_odd_part_read_as_the_records_read_them(begin, middle, end):
    """Whatever stands in a field that nobody reads, or behind the end, is judged alike."""
    agrees(begin.encode() + middle + end.encode())


@pytest.mark.parametrize(
    "again",
    [
        '"topic": "other"',
        '"\\u0074opic": "other"',
        '"topic" : "other"',
        '"topic"\n: "Weekly sync"',
        '"attendee_max": 25',
        '"ret": 0',
        '"ret": 404',
        '"user_name": "Eve"',
        '"user_list": []',
        '"x": 1, "x": 2',
        '"x": {"y": {"z": 1, "z": 2}}',
        '"x": ":", "y": [[[]]]',
        '"user_id": "u:"',
    ],
)
@pytest.mark.parametrize("end", ["}", "}]}", "}, "])
def test_names_that_stand_twice_are_judged_alike(again, end):
    """A name that is there already, with the same value or another, anywhere in an answer."""
    agrees(ROOM + ", " + again + "}")
    agrees(PEOPLE + ", " + again + "}]}")
    agrees(PEOPLE + "}], " + again + "}")
    agrees(PEOPLE + '}, {"user_id": "v:", "user_name": "a:b", ' + again + end)


@pytest.mark.parametrize(
    "odd",
    [
        b'"\xff"',
        b'"\xc3"',
        b'"a\nb"',
        b'"\x00"',
        b'"\\q"',
        b'"\\u12"',
        b'"\\ud800"',
        b'"\xed\xa0\x80"',
        b"NaN",
        b"-Infinity",
        b"1.",
        b".5",
        b"01",
        b"+1",
        b"1e999",
        b"--1",
        b"9" * 5000,
        b"-" + b"9" * 5000,
        b"0." + b"9" * 5000,
        b"[" * 300 + b"]" * 300,
        b"[" * 200_000 + b"]" * 200_000,
        b"tru",
        b"nul",
        b"'a'",
        b"[1,]",
        b'{"a":1,}',
        b"{a:1}",
        b"/**/1",
        b"1 //",
        b'"a" "b"',
        b"",
        b"[",
        b'{"a"}',
        b'{"a":1,"a":2}',
        b'"\\ud800\\udc00"',
        b"[1 2]",
        b'{"a" 1}',
        b'{"a":}',
        b"[,]",
        b"\x0b1",
    ],
)
@pytest.mark.parametrize(("begin", "end"), [(ROOM, "}"), (PEOPLE, "}]}"), (PEOPLE + "}]", "}")])
def test_what_stands_in_a_field_that_nobody_reads_is_judged_alike(begin, odd, end):
    """What is no JSON, or too deep, is no answer, wherever it stands; other fields are as sent."""
    agrees(begin.encode() + b', "x": ' + odd + end.encode())


@pytest.mark.parametrize("name", [*NUMBERS, "topic", "ret"])
@pytest.mark.parametrize(
    "odd", ["1e3", "0E0", "2e+1", "null", "NULL", " 25", "25.0", "+25", "-0", "", "0x1", "1_0", "²"]
)
def test_numbers_in_quotes_are_judged_alike(name, odd):
    """What a decoder may take for a number in quotes, or for none, is what the records say."""
    agrees(json.dumps({"ret": 0, "room_id": "1", name: odd}))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings_are_judged_alike(encoding):
    """A byte order mark and other Unicode are read, others are not."""
    agrees((ROOM + ', "owner_id": "Ünï"}').encode(encoding))


@pytest.mark.parametrize(
    "body",
    [
        '{"ret": 0, "room_id": "2", "room_id": "1", "topic": "a", "topic": "b"}',
        '{"ret": 0, "ret": 404, "room_id": "1"}',
        '{"ret": 404, "ret": 0, "room_id": "1"}',
        '{"ret": 0, "result": 404, "room_id": "1"}',
        '{"ret": null, "result": 0, "room_id": "1"}',
        '{"ret": 0, "room_id": "1", "topic": 5, "topic": "b"}',
        '{"ret": 0, "room_id": "1", "\\u0074opic": "b"}',
        '{"ret": 0, "user_list": null}',
        '{"ret": 0, "user_list": [], "user_list": [{"user_id": "a", "user_name": null}]}',
        '{"ret": 0, "user_list": [{"user_id": "a", "user_id": "b", "user_name": "c"}]}',
        '{"ret": 0, "user_list": {}}',
        '{"ret": 0}',
        "[]",
        '{"ret": 0, "room_id": "1"} ',
        '{"ret": 0, "room_id": "7", "room_extend_id": "1"}',
        '{"ret": 0, "room_id": 1}',
        '{"ret": 0, "room_id": "", "room_extend_id": "1"}',
        '{"ret": 0, "room_id": "other"}',
    ],
)
def test_fields_that_come_twice_or_not_at_all_are_judged_alike(body):
    """The last of two counts; a room under its other number is that room; no list is an error."""
    agrees(body)


@pytest.mark.parametrize("name", ["user_list", "\\u0075ser_list"])
def test_of_two_lists_an_empty_one_takes_nobody_out_of_a_room(name):
    """Which of the two is meant nobody knows: that is an error, and no empty room."""
    body = f'{{"ret": 0, "user_list": [{{"user_id": "7", "user_name": "Ada"}}], "{name}": []}}'
    _, users = agrees(body)
    assert users is ck.ProtocolError


def test_a_plain_answer_is_read():
    """The fields of a usual answer come as they should, so that agreeing is no empty word."""
    room, _ = agrees(ROOM + ', "host_password": "hunter2", "room_mode": 3, "id": ""}')
    assert (room.topic, room.attendee_max, room.host_password, room.room_mode, room.id) == (
        "Weekly sync",
        25,
        "hunter2",
        3,
        None,
    )
    assert "hunter2" not in repr(room)
    _, users = agrees(PEOPLE + "}]}")
    assert users == [RoomUser("Ada", "u")]


@pytest.mark.parametrize("name", ["rtsp://admin:hunter2@host/x", "token=hunter2"])
def test_a_login_among_names_is_hidden(name):
    """A name, an ID or a topic that holds a secret hides it in a repr, and code can read it."""
    room, _ = agrees(json.dumps({"ret": 0, "room_id": "1", "topic": name}))
    _, users = agrees(json.dumps({"ret": 0, "user_list": [{"user_name": name, "user_id": name}]}))
    assert (room.topic, users) == (name, [RoomUser(name, name)])
    assert "hunter2" not in f"{room!r}{users!r}"


def test_plain_answers_take_the_quick_way():
    """A usual answer is read by the typed decoder: what comes is not a Room yet."""
    answer = Answer(200, "", (ROOM + "}").encode())
    found = read_room(ASKED, answer, USUAL)
    assert not isinstance(found, Room)
    assert as_room(found) == Room(room_id="1", topic="Weekly sync", attendee_max=25)
    guarded = Answer(200, "", (ROOM + ', "host_password": "hunter2"}').encode())
    assert "hunter2" not in repr(read_room(ASKED, guarded, USUAL))
