"""What travels: encodings, places of parameters, dialects, JSONP, unknown routes, tokens."""

import json
import re
import socket
from urllib.parse import quote, urlencode

import pytest

from .conftest import A, B

POST = {"create_method": "POST", "list_method": "POST"}
OPTIONS = {"login_name": "a", "login_password": "b"}


def test_answers_are_compact_json(stranger):
    """An answer is JSON without spaces, as HTTP 200, with its content type; a query of 60 kB and
    bytes that are no UTF-8 are answered, too."""
    answer = stranger.raw(f"{A['get']}?access_token=%ff%fe&y={'z' * 60_000}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.text == '{"ret":602,"msg":"access_token incorrect"}'
    create = {"access_token": stranger.token, "owner_id": "o", "room_mode": 1}
    answer = stranger.raw(f"{A['create']}?{urlencode(create)}&topic=%ff%fe")
    assert answer.json()["ret"] == 407


@pytest.mark.parametrize("port", ["A", "B"])
def test_an_unknown_route_or_method_is_408(stranger, port):
    """Any other path or method is 408 as JSON, HTTP 200; A's operations are not on B's port, nor
    B's on A's. All are counted."""
    wrong = [("/", "GET"), ("/rtc/room", "GET"), ("/docs", "GET"), (A["get"] + "/", "GET")]
    wrong += [(A["get"], "POST"), (A["valid"], "DELETE"), (B["import"], "PUT"), (B["list"], "POST")]
    wrong += [(path, "GET") for path in (B if port == "A" else A).values()]
    token, text = stranger.token, "msg" if port == "A" else "err"
    before = stranger.sandbox.count()
    for path, method in wrong:
        answer = stranger.raw(path, {"access_token": token}, port, method)
        assert answer.status_code == 200
        assert answer.json() == {"ret": 408, text: "HTTP request not supported"}
    assert stranger.sandbox.count() == before + len(wrong)
    assert stranger.sandbox.count(A["get"]) == (port == "A")


def test_a_token_works_on_both_interfaces_and_does_not_wear_out(stranger, sandbox):
    """One token serves A and B, many times, beside another one; the sandbox knows what it granted,
    and its digest."""
    first, second = stranger.fresh_token(), stranger.fresh_token()
    for token in (first, second, first):
        assert stranger.raw(A["get"], {"access_token": token, "room_id": "x"}).json()["ret"] == 404
        assert stranger.raw(B["list"], {"accessToken": token}, "B").json()["ret"] == 0
    texts = [first, stranger.sign(sandbox.access_key), stranger.sign("a:b")]
    assert [sandbox.is_credential(text) for text in texts] == [True, True, False]


@pytest.mark.parametrize("lifetime", [3600, 20])
def test_a_token_expires(make, lifetime):
    """A token works until its lifetime is over (an hour unless told otherwise), then it is 602; by
    the sandbox's clock, which may be given."""
    now = [1000.0]
    settings = {} if lifetime == 3600 else {"token_lifetime": 20, "clock": lambda: now[0]}
    stranger = make(seed=1, **settings)
    room_id = stranger.room()
    stranger.sandbox.advance(lifetime - 1)
    assert stranger.code("get", room_id=room_id) == 0
    if settings:
        now[0] = 1021.0
        assert stranger.sandbox.now() == 1021 + lifetime - 1
    else:
        stranger.sandbox.advance(21)
    assert stranger.code("get", room_id=room_id) == stranger.code("list") == 602
    assert stranger.sandbox.refusals[-1].endswith("token expired 20 s ago")


def test_a_token_is_percent_encoded_once(stranger):
    """As it is or encoded once a token works; encoded twice it is wrong."""
    token, codes = stranger.token, []
    for _ in range(3):
        answer = stranger.raw(f"{B['list']}?accessToken={token}", port="B").json()
        codes.append(answer["ret"])
        token = quote(token, safe="")
    assert codes == [0, 0, 602]
    assert "encoded twice" in stranger.sandbox.refusals[-1]


@pytest.mark.parametrize(
    ("dialect", "wanted"),
    [
        ({}, {"get": "access_token", "mcu": "access_token", "remove": "access_token"}),
        (
            {
                "token_parameter": "access_tocken",
                "mcu_token_parameter": "token",
                "remove_token_parameter": "accessToken",
            },
            {"get": "access_tocken", "mcu": "token", "remove": "accessToken"},
        ),
    ],
)
def test_only_one_spelling_of_the_token_counts(make, dialect, wanted):
    """A and B2 take access_token, B1 and B3 accessToken, where the dialect says nothing else; any
    other is refused with the spelling that was wanted. So are other names: they are exact."""
    stranger = make(dialect)
    query = {"room_id": "x", "roomId": "x", "userId": "x", "userAddress": "rtsp://h/"}
    keys = {"get": "A3", "mcu": "A5", "remove": "B2", "list": "B3"}
    found = {"get": 404, "mcu": 404, "remove": 425, "list": 0}
    for name, spelling in {**wanted, "list": "accessToken"}.items():
        port = keys[name][0]
        path = A[name] if port == "A" else B[name]
        for given in ("access_token", "accessToken", "access_tocken", "token"):
            ret = stranger.raw(path, {given: stranger.token, **query}, port).json()["ret"]
            assert ret == (found[name] if given == spelling else 602)
            if given != spelling:
                told = f"{keys[name]} 602: {keys[name]} spells it {spelling}, not {given}"
                assert stranger.sandbox.refusals[-1] == told
    token = {wanted["get"]: stranger.token}
    assert stranger.raw(A["get"], {**token, "Room_ID": "x"}).json()["ret"] == 407


def test_a_doubled_parameter_is_wrong(stranger):
    """A parameter that comes twice is 407 in A and 401 in B, a token that does is 602; parameters
    in the body of a GET do not count."""
    token, room = ("access_token", stranger.token), ("room_id", "a")
    assert stranger.raw(A["get"], [token, room, room]).json()["ret"] == 407
    assert stranger.raw(A["get"], [token, token, room]).json()["ret"] == 602
    twice = [("accessToken", stranger.token), ("roomId", "a"), ("roomId", "")]
    assert stranger.raw(B["list"], twice, "B").json()["ret"] == 401
    assert stranger.raw(A["get"], data=dict([token, room])).json()["ret"] == 602


@pytest.mark.parametrize("given", ["query", "form", "json"])
@pytest.mark.parametrize("placement", ["query", "form", "json"])
def test_a_post_carries_its_parameters_where_the_dialect_says(make, placement, given):
    """B1 and B3 as POST read the query, a form or a JSON object, and only that one."""
    stranger = make({**POST, "placement": placement})
    url = stranger.sandbox.camera("c", **OPTIONS)
    fields = {"roomId": stranger.room(), "userId": "u", "userName": "n", "userAddress": url}
    fields = {"accessToken": stranger.token, **fields, "options": OPTIONS}
    texts = {**fields, "options": json.dumps(OPTIONS)}
    sent = {"query": {"query": texts}, "form": {"data": texts}, "json": {"json": fields}}[given]
    right = placement == given
    for name in ("import", "list"):
        answer = stranger.raw(B[name], port="B", method="POST", **sent).json()
        assert answer["ret"] == (0 if right else 602)
    if right:
        assert answer["data"]["items"][0]["options"] == OPTIONS
    else:
        assert "parameters belong in the" in stranger.sandbox.refusals[-1]
    assert stranger.raw(B["list"], texts, "B").json()["ret"] == 408


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("list", b"{", 602),
        ("list", b"[]", 602),
        ("list", b"\xff", 602),
        ("list", b'{"accessToken":1}', 602),
        ("list", b"", 602),
        ("list", b"[" * 100_000, 602),
        ("list", b'{"accessToken":"%t","roomId":5}', 401),
        ("list", b'{"accessToken":"%t","roomId":null}', 0),
        ("list", b'{"accessToken":"%t"}', 0),
        ("list", b'{"accessToken":"%t","roomId":"a","roomId":"a"}', 401),
        ("list", b'{"accessToken":"%t","x":NaN}', 602),
        (
            "import",
            b'{"accessToken":"%t","roomId":"r","userId":"u","userName":"n",'
            b'"userAddress":"rtsp://h/","options":"{}"}',
            401,
        ),
    ],
)
def test_odd_json_bodies(make, name, body, code):
    """A body that is no sound JSON object has no token; texts are texts; null is not given; options
    are an object there, and no text."""
    stranger = make({**POST, "placement": "json"})
    body = body.replace(b"%t", stranger.token.encode())
    kind = {"content-type": "application/json; charset=utf-8"}
    answer = stranger.raw(B[name], port="B", method="POST", data=body, headers=kind)
    assert answer.json()["ret"] == code


def test_a_dialects_result_field_and_item_keys(make):
    """Older deployments put the code of B into result, and B3's items into snake_case."""
    stranger = make({"result_field": "result", "item_keys": "snake_case"})
    room_id, url = stranger.room(), stranger.sandbox.camera()
    fields = {"roomId": room_id, "userId": "u", "userName": "n", "userAddress": url}
    assert stranger.b("import", **fields)["result"] == 0
    item = {"room_id": room_id, "user_id": "u", "user_name": "n", "user_address": url}
    items = [{**item, "user_data": "", "options": {}}]
    assert stranger.b("list") == {"result": 0, "data": {"total": 1, "items": items}}
    assert stranger.raw("/x", port="B").json()["result"] == 408
    assert stranger.code("get", room_id=room_id) == 0


@pytest.mark.parametrize("port", ["A", "B"])
@pytest.mark.parametrize("name", ["cb", "$", "_x1", "a.b.c", "jQuery_123"])
def test_jsonp(stranger, port, name):
    """callback=NAME gives NAME({...}) as JavaScript, for every answer."""
    for path in (A["get"], B["list"], "/unknown"):
        answer = stranger.raw(path, {"callback": name}, port)
        assert answer.headers["content-type"] == "application/javascript"
        match = re.fullmatch(rf"{re.escape(name)}\((.*)\)", answer.text)
        assert json.loads(match[1])["ret"] in (408, 602)


def test_the_last_of_several_callbacks_counts(stranger):
    """A page's own callback stands before that of its library, which waits for the answer: the last
    one is called, for errors too, whatever the others are. Line separators inside texts are
    escaped there."""
    query = {"access_token": stranger.token, "room_id": stranger.room(topic="a\u2028b")}
    for first, last in (("test", "jQuery_1"), ("1a", "f")):
        text = stranger.raw(A["get"], {**query, "callback": [first, last]}).text
        assert "\u2028" not in text
        members = json.loads(re.fullmatch(rf"{last}\((.*)\)", text)[1])
        assert members["topic"] == "a\u2028b"
    for path, port in ((B["list"], "B"), ("/unknown", "A")):
        twice = {"callback": ["test", "jQuery_1"]}
        assert stranger.raw(path, twice, port).text.startswith("jQuery_1(")
    odd = {**query, "callback": ["f", "1a"]}
    assert stranger.raw(A["get"], odd).json() == {"ret": 407, "msg": "parameter error"}


@pytest.mark.parametrize("name", ["", "1a", "a b", "alert(1)", "a-b", "é", "a\n", "a;b", ".a"])
def test_a_callback_that_is_no_name(stranger, name):
    """Any other callback is a parameter error as plain JSON: nothing of it comes back."""
    answer = stranger.a("get", room_id="x", callback=name)
    assert answer == {"ret": 407, "msg": "parameter error"}
    assert stranger.code("list", callback=name) == 401


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
