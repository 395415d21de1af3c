"""What travels: encodings, places of parameters, dialects, JSONP, unknown routes, tokens."""

import json
import re
import socket
from urllib.parse import urlencode

import pytest

from .conftest import A, B


def test_answers_are_compact_json(stranger):
    """An answer is JSON without spaces, as HTTP 200, with its content type."""
    answer = stranger.raw(A["get"])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.text == '{"ret":602,"msg":"access_token incorrect"}'


@pytest.mark.parametrize("port", ["A", "B"])
@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/", "GET"),
        ("/rtc/room", "GET"),
        ("/rtc/room/get/", "GET"),
        ("/rtc/room/get", "POST"),
        ("/avd/api/outgoing/createOutgoingUser", "PUT"),
        ("/avd/api/outgoing/getOutgoingUsers", "POST"),
        ("/rtc/auth/valid", "DELETE"),
        ("/docs", "GET"),
    ],
)
def test_an_unknown_route_or_method_is_408(stranger, port, path, method):
    """Any other path or method is 408 as JSON, HTTP 200, on both ports."""
    answer = stranger.raw(path, {"access_token": stranger.token}, port, method)
    assert answer.status_code == 200
    text = "msg" if port == "A" else "err"
    assert answer.json() == {"ret": 408, text: "HTTP request not supported"}


def test_each_port_has_its_own_operations(stranger):
    """A's operations are not on B's port, nor B's on A's."""
    assert stranger.raw(A["get"], {}, "B").json()["ret"] == 408
    assert stranger.raw(B["list"], {}, "A").json()["ret"] == 408


def test_a_token_works_on_both_interfaces_and_does_not_wear_out(stranger):
    """One token serves A and B, many times, beside another one."""
    first, second = stranger.fresh_token(), stranger.fresh_token()
    for token in (first, second, first):
        assert stranger.raw(A["get"], {"access_token": token, "room_id": "x"}).json()["ret"] == 404
        assert stranger.raw(B["list"], {"accessToken": token}, "B").json()["ret"] == 0


@pytest.mark.parametrize("lifetime", [3600, 20])
def test_a_token_expires(make, lifetime):
    """A token works until its lifetime is over (an hour unless told otherwise), then it is 602."""
    stranger = make(seed=1) if lifetime == 3600 else make(seed=1, token_lifetime=20)
    room_id = stranger.room()
    stranger.sandbox.advance(lifetime - 1)
    assert stranger.a("get", room_id=room_id)["ret"] == 0
    stranger.sandbox.advance(21)
    assert stranger.a("get", room_id=room_id)["ret"] == 602
    assert stranger.b("list")["ret"] == 602
    assert stranger.sandbox.refusals[-1].endswith("token expired 20 s ago")


def test_the_clock_may_be_given(make):
    """Tokens expire by the callable that is given as the clock."""
    now = [1000.0]
    stranger = make(clock=lambda: now[0], token_lifetime=10)
    room_id = stranger.room()
    now[0] = 1011.0
    assert stranger.a("get", room_id=room_id)["ret"] == 602
    assert stranger.sandbox.now() == 1011.0


@pytest.mark.parametrize(("times", "code"), [(0, 0), (1, 0), (2, 602)])
def test_a_token_is_percent_encoded_once(stranger, encoded, times, code):
    """As it is or encoded once a token works; encoded twice it is wrong."""
    token = stranger.token
    for _ in range(times):
        token = encoded(token)
    answer = stranger.raw(f"{B['list']}?accessToken={token}", port="B").json()
    assert answer["ret"] == code
    if code:
        assert "encoded twice" in stranger.sandbox.refusals[-1]


@pytest.mark.parametrize("name", ["access_token", "accessToken", "access_tocken", "token"])
def test_only_the_interfaces_spelling_counts(stranger, name):
    """A and B2 take access_token, B1 and B3 accessToken, and no other spelling."""
    query = {
        name: stranger.token,
        "room_id": "x",
        "roomId": "x",
        "userId": "x",
        "userAddress": "rtsp://h/",
    }
    a = 404 if name == "access_token" else 602
    assert stranger.raw(A["get"], query).json()["ret"] == a
    b2 = 425 if name == "access_token" else 602
    assert stranger.raw(B["remove"], query, "B").json()["ret"] == b2
    b3 = 0 if name == "accessToken" else 602
    assert stranger.raw(B["list"], query, "B").json()["ret"] == b3


def test_parameter_names_are_exact(stranger):
    """room_id is not RoomID, and B's userId is not user_id."""
    assert stranger.a("get", Room_ID="x")["ret"] == 407
    answer = stranger.b("remove", roomId="r", user_id="u", userAddress="rtsp://h/")
    assert answer["ret"] == 401


def test_a_doubled_parameter_is_wrong(stranger):
    """A parameter that comes twice is 407 in A and 401 in B, a token that does is 602."""
    token = ("access_token", stranger.token)
    twice = [token, ("room_id", "a"), ("room_id", "a")]
    assert stranger.raw(A["get"], twice).json()["ret"] == 407
    assert stranger.raw(A["get"], [token, token, ("room_id", "a")]).json()["ret"] == 602
    twice = [("accessToken", stranger.token), ("roomId", "a"), ("roomId", "")]
    assert stranger.raw(B["list"], twice, "B").json()["ret"] == 401


def test_a_get_takes_nothing_from_its_body(stranger):
    """Parameters in the body of a GET do not count."""
    fields = {"access_token": stranger.token, "room_id": "x"}
    assert stranger.raw(A["get"], data=fields).json()["ret"] == 602


@pytest.mark.parametrize("given", ["query", "form", "json"])
@pytest.mark.parametrize("placement", ["query", "form", "json"])
def test_a_post_carries_its_parameters_where_the_dialect_says(make, placement, given):
    """B1 and B3 as POST read the query, a form or a JSON object, and only that one."""
    dialect = {"create_method": "POST", "list_method": "POST", "placement": placement}
    stranger = make(dialect)
    url = stranger.sandbox.camera("c", login_name="a", login_password="b")
    options = {"login_name": "a", "login_password": "b"}
    fields = {
        "accessToken": stranger.token,
        "roomId": stranger.room(),
        "userId": "u",
        "userName": "n",
        "userAddress": url,
        "options": options,
    }
    texts = {**fields, "options": json.dumps(options)}
    sent = {"query": {"query": texts}, "form": {"data": texts}, "json": {"json": fields}}[given]
    right = placement == given
    answer = stranger.raw(B["import"], port="B", method="POST", **sent).json()
    assert answer["ret"] == (0 if right else 602)
    answer = stranger.raw(B["list"], port="B", method="POST", **sent).json()
    assert answer["ret"] == (0 if right else 602)
    if right:
        assert answer["data"]["items"][0]["options"] == options
    else:
        assert "parameters belong in the" in stranger.sandbox.refusals[-1]
    assert stranger.raw(B["list"], texts, "B").json()["ret"] == 408


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", 602),
        (b"[]", 602),
        (b"\xff", 602),
        (b'{"accessToken":1}', 602),
        (b"", 602),
        (b"[" * 100_000, 602),
        (b'{"accessToken":"%t","roomId":5}', 401),
        (b'{"accessToken":"%t","roomId":null}', 0),
        (b'{"accessToken":"%t"}', 0),
        (b'{"accessToken":"%t","roomId":"a","roomId":"a"}', 401),
        (b'{"accessToken":"%t","x":NaN}', 602),
    ],
)
def test_odd_json_bodies(make, body, code):
    """A body that is no sound JSON object has no token; texts are texts; null is not given."""
    stranger = make({"list_method": "POST", "placement": "json"})
    answer = stranger.raw(
        B["list"],
        port="B",
        method="POST",
        data=body.replace(b"%t", stranger.token.encode()),
        headers={"content-type": "application/json; charset=utf-8"},
    )
    assert answer.json()["ret"] == code


def test_options_in_json_are_an_object(make):
    """Where B1 takes JSON, options as a text are a wrong parameter."""
    stranger = make({"create_method": "POST", "placement": "json"})
    fields = {
        "accessToken": stranger.token,
        "roomId": "r",
        "userId": "u",
        "userName": "n",
        "userAddress": "rtsp://h/",
        "options": "{}",
    }
    assert stranger.raw(B["import"], port="B", method="POST", json=fields).json()["ret"] == 401


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha512", "md5"])
@pytest.mark.parametrize("form", ["hex", "raw"])
def test_every_signature_of_the_dialect(make, name, form):
    """Digest and token are made with the dialect's hash and form, and no other works."""
    stranger = make({"hash": name, "signature": form})
    assert stranger.a("get", room_id="x")["ret"] == 404
    other = make({"hash": "sha1" if name != "sha1" else "md5", "signature": form})
    other.sandbox.dialect = stranger.sandbox.dialect
    assert other.login()["ret"] == 401


def test_the_vectors_of_the_deployments(make):
    """The digest of the demo keys is the published one."""
    digest = "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="
    query = {"access_key": "demo_access", "digest": digest}
    assert make().raw(A["valid"], query).json()["ret"] == 0


def test_a_dialects_token_parameter(make):
    """token_parameter is A's spelling, mcu_token_parameter that of A5; B keeps its own but for B2,
    and a wrong one is refused with the spelling that was wanted."""
    stranger = make(
        {
            "token_parameter": "access_tocken",
            "mcu_token_parameter": "token",
            "remove_token_parameter": "accessToken",
        }
    )
    create = {"topic": "x", "owner_id": "o", "room_mode": 1}
    answer = stranger.raw(A["create"], {"access_tocken": stranger.token, **create}).json()
    room = {"room_id": answer["room_id"]}
    assert stranger.raw(A["get"], {"access_token": stranger.token, **room}).json()["ret"] == 602
    assert stranger.raw(A["mcu"], {"token": stranger.token, **room}).json()["ret"] == 0
    assert stranger.raw(A["mcu"], {"access_tocken": stranger.token, **room}).json()["ret"] == 602
    assert stranger.b("list")["ret"] == 0
    user = {"roomId": room["room_id"], "userId": "u", "userAddress": "rtsp://h/"}
    for served, spelt, other in (
        (stranger, "accessToken", "access_token"),
        (make(), "access_token", "accessToken"),
    ):
        answers = [
            served.raw(B["remove"], {name: served.token, **user}, "B").json()
            for name in (other, spelt)
        ]
        assert [answer["ret"] for answer in answers] == [602, 425]
        assert served.sandbox.refusals[-2] == f"B2 602: B2 spells it {spelt}, not {other}"


def test_a_dialects_result_field_and_item_keys(make):
    """Older deployments put the code of B into result, and B3's items into snake_case."""
    stranger = make({"result_field": "result", "item_keys": "snake_case"})
    room_id, url = stranger.room(), stranger.sandbox.camera()
    fields = {"roomId": room_id, "userId": "u", "userName": "n", "userAddress": url}
    assert stranger.b("import", **fields)["result"] == 0
    answer = stranger.b("list")
    assert answer["result"] == 0
    assert "ret" not in answer
    assert answer["data"]["items"] == [
        {
            "room_id": room_id,
            "user_id": "u",
            "user_name": "n",
            "user_address": url,
            "user_data": "",
            "options": {},
        }
    ]
    assert stranger.raw("/x", port="B").json()["result"] == 408
    assert stranger.a("get", room_id=room_id)["ret"] == 0


@pytest.mark.parametrize("port", ["A", "B"])
@pytest.mark.parametrize("name", ["cb", "$", "_x1", "a.b.c", "jQuery_123"])
def test_jsonp(stranger, port, name):
    """callback=NAME gives NAME({...}) as JavaScript, for every answer."""
    for path in (A["get"], B["list"], "/unknown"):
        answer = stranger.raw(path, {"callback": name}, port)
        assert answer.headers["content-type"].startswith("application/javascript")
        match = re.fullmatch(rf"{re.escape(name)}\((.*)\)", answer.text)
        assert match
        assert json.loads(match[1])["ret"] in (408, 602)


def test_the_last_of_several_callbacks_counts(stranger, sandbox):
    """A page's own callback stands before that of its library, which waits for the answer: the
    last one is called, in both interfaces, for errors too, whatever the others are."""
    fields = {"topic": "T", "owner_id": "o", "room_mode": "1", "access_token": stranger.token}
    twice = {"callback": ["test", "jQuery_1"]}
    made = stranger.raw(A["create"], {**fields, **twice})
    assert made.headers["content-type"].startswith("application/javascript")
    room_id = json.loads(re.fullmatch(r"jQuery_1\((.*)\)", made.text)[1])["room_id"]
    assert sandbox.room_ids() == [room_id]
    for path, port in ((B["list"], "B"), ("/unknown", "A")):
        assert stranger.raw(path, twice, port).text.startswith("jQuery_1(")
    odd = {"access_token": stranger.token, "room_id": room_id, "callback": ["1a", "f"]}
    assert stranger.raw(A["get"], odd).text.startswith('f({"ret":0')
    odd["callback"] = ["f", "1a"]
    assert stranger.raw(A["get"], odd).json() == {"ret": 407, "msg": "parameter error"}


@pytest.mark.parametrize("name", ["", "1a", "a b", "alert(1)", "a-b", "é", "a\n", "a;b", ".a"])
def test_a_callback_that_is_no_name(stranger, name):
    """Any other callback is a parameter error as plain JSON: nothing of it comes back."""
    answer = stranger.raw(
        A["get"], {"access_token": stranger.token, "room_id": "x", "callback": name}
    )
    assert answer.json() == {"ret": 407, "msg": "parameter error"}
    answer = stranger.raw(B["list"], {"accessToken": stranger.token, "callback": name}, "B")
    assert answer.json()["ret"] == 401


def test_jsonp_is_sound_javascript(stranger):
    """Line separators inside texts are escaped in JSONP."""
    room_id = stranger.room(topic="a\u2028b")
    query = {"access_token": stranger.token, "room_id": room_id, "callback": "f"}
    text = stranger.raw(A["get"], query).text
    assert "\u2028" not in text
    assert json.loads(text[2:-1])["topic"] == "a\u2028b"


def test_bytes_that_are_no_utf8_do_no_harm(stranger):
    """A query that is no UTF-8 is answered like any other wrong value."""
    assert stranger.raw(f"{A['get']}?access_token=%ff%fe").json()["ret"] == 602


@pytest.mark.parametrize("interface", ["base_url", "outgoing_url"])
@pytest.mark.parametrize(
    "line", [b"FOO / HTTP/1.1", b"\x16\x03\x01\x02", b"GET / HTTP/9", b"GET / HTTP/1.1\r\n:"]
)
def test_what_is_no_http_request_is_refused(sandbox, interface, line):
    """What is no HTTP, a TLS greeting for one, gets HTTP 400 on both ports."""
    port = int(getattr(sandbox, interface).rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(line + b"\r\nHost: h\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_a_long_query_is_read(stranger):
    """What a caller may have to say fits: 60 kB of query."""
    query = urlencode({"access_token": stranger.token, "room_id": "x", "y": "z" * 60_000})
    assert stranger.raw(f"{A['get']}?{query}").json()["ret"] == 404


def test_a_topic_that_is_no_utf8_is_refused(stranger):
    """A text of bytes that are no UTF-8 is a wrong parameter, and nothing is stored."""
    query = urlencode({"access_token": stranger.token, "owner_id": "o", "room_mode": 1})
    assert stranger.raw(f"{A['create']}?{query}&topic=%ff%fe").json()["ret"] == 407


def test_requests_are_counted(stranger, sandbox):
    """count gives the requests of a path or of all, refused ones too."""
    before = sandbox.count()
    stranger.raw(A["get"])
    stranger.raw("/unknown")
    assert sandbox.count(A["get"]) == 1
    assert sandbox.count() == before + 2


def test_a_parameter_that_comes_empty_is_remarked(stranger, sandbox):
    """An optional parameter without a value counts as not given, and stands in `remarks`."""
    fields = {"topic": "T", "owner_id": "o", "room_mode": "1"}
    assert stranger.a("create", **fields)["ret"] == 0
    assert sandbox.remarks == []
    assert stranger.a("create", **fields, attendee_max="")["ret"] == 0
    assert sandbox.remarks == ["A2: attendee_max came empty"]


def test_the_sandbox_knows_its_credentials(stranger, sandbox):
    """The digest and a token that was granted are known; another signature is not."""
    assert sandbox.is_credential(stranger.sign(sandbox.access_key))
    assert sandbox.is_credential(stranger.token)
    assert not sandbox.is_credential(stranger.sign("a:b"))
