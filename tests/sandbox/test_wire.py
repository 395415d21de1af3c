"""What travels: encodings, places of parameters, dialects, JSONP, unknown routes, tokens."""

import json
import re
from urllib.parse import quote

import pytest
import requests

from confkit.operations import OPERATIONS

from .conftest import A, B

POST = {"create_method": "POST", "list_method": "POST"}


def test_answers_are_compact_json(stranger):
    """An answer is JSON without spaces, as HTTP 200, with its content type, which no browser may
    guess otherwise; a query of 60 kB and bytes that are no UTF-8 are answered, too."""
    answer = stranger.raw(f"{A['get']}?access_token=%ff%fe&y={'z' * 60_000}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text == '{"ret":602,"msg":"access_token incorrect"}'
    bad = f"{A['create']}?access_token={quote(stranger.token)}&owner_id=o&room_mode=1&topic=%ff"
    assert stranger.ret(bad) == 407


@pytest.mark.parametrize("port", ["A", "B"])
def test_an_unknown_route_or_method_is_408(stranger, port):
    """Any other path or method is 408 as JSON, HTTP 200; A's operations are not on B's port, nor
    B's on A's. All are counted."""
    wrong = [("/../../etc/passwd", "GET"), (A["get"] + "/", "GET")]
    wrong += [(A["get"], "POST"), (A["valid"], "DELETE"), (B["import"], "PUT"), (B["list"], "POST")]
    wrong += [(path, "GET") for path in (B if port == "A" else A).values()]
    text, before = "msg" if port == "A" else "err", stranger.sandbox.count()
    for path, method in wrong:
        answer = stranger.raw(path, port=port, method=method)
        assert answer.status_code == 200
        assert answer.json() == {"ret": 408, text: "HTTP request not supported"}
    assert stranger.sandbox.count() == before + len(wrong)
    assert stranger.sandbox.count(A["get"]) == (port == "A")


def test_a_token_expires(make):
    """A token works until its lifetime is over (an hour unless set), then it is 602; by the
    sandbox's clock."""
    for settings, lifetime in (({"seed": 1}, 3600), ({"seed": 1, "token_lifetime": 20}, 20)):
        stranger = make(**settings)
        room_id, began = stranger.room(), stranger.sandbox.now()
        stranger.sandbox.advance(lifetime - 1)
        assert stranger.code("get", room_id=room_id) == 0
        stranger.sandbox.advance(21)
        assert stranger.sandbox.now() == began + lifetime + 20
        assert stranger.code("get", room_id=room_id) == stranger.code("list") == 602
        assert stranger.sandbox.refusals[-1].why == "token expired 20 s ago"


def test_a_token_is_percent_encoded_once(stranger):
    """As it is or encoded once a token works; encoded twice it is wrong."""
    token, codes = stranger.token, []
    for _ in range(3):
        codes.append(stranger.ret(f"{B['list']}?accessToken={token}"))
        token = quote(token, safe="")
    assert codes == [0, 0, 602]
    assert "encoded twice" in stranger.sandbox.refusals[-1].why


def test_tokens_come_first_and_then_the_parameters(stranger):
    """602 for a missing, empty or wrong token, before parameters are looked at; 407 in A and 401 in
    B where a required one is missing or empty."""
    for path, spelling, name, text, wrong in (
        (A["get"], "access_token", "room_id", "msg", 407),
        (B["import"], "accessToken", "roomId", "err", 401),
    ):
        for token in (None, "", "wrong", "gültig?"):
            answer = stranger.raw(path, {spelling: token}).json()
            assert answer == {"ret": 602, text: "access_token incorrect"}
        for value in ("", None):
            assert stranger.ret(path, {spelling: stranger.token, name: value}) == wrong


@pytest.mark.parametrize("endpoint", OPERATIONS.values(), ids=OPERATIONS)
def test_a_required_parameter_that_is_missing_is_named(stranger, endpoint):
    """Each required parameter of each operation: 407 in A, 401 in B, and the refusal names it."""
    usual = {"room_mode": "1", "userAddress": "rtsp://127.0.0.1/"}
    values = {name: usual.get(name, "1") for name in endpoint.required}
    for missing in values:
        query = {name: value for name, value in values.items() if name != missing}
        query |= {endpoint.token: stranger.token} if endpoint.token else {}
        assert stranger.ret(endpoint.path, query) == (407 if endpoint.interface == "A" else 401)
        assert stranger.sandbox.refusals[-1].why == f"{missing} is missing"


OTHERS = {
    "token_parameter": "access_tocken",
    "mcu_token_parameter": "token",
    "remove_token_parameter": "accessToken",
}


@pytest.mark.parametrize(
    ("dialect", "spellings"),
    [({}, ["access_token"] * 3), (OTHERS, list(OTHERS.values()))],
)
def test_only_one_spelling_of_the_token_counts(make, dialect, spellings):
    """A and B2 take access_token, B1 and B3 accessToken, where the dialect says nothing else; any
    other is refused with the spelling that was wanted. So are other names: they are exact."""
    stranger = make(dialect)
    query = {"room_id": "x", "roomId": "x", "userId": "x", "userAddress": "rtsp://h/"}
    found = {"A3": 404, "A5": 404, "B2": 425, "B3": 0}
    for key, wanted in zip(found, [*spellings, "accessToken"], strict=True):
        path = OPERATIONS[key].path
        assert stranger.ret(path, {wanted: stranger.token, **query}) == found[key]
        for other in {"access_token", "accessToken", "access_tocken", "token"} - {wanted}:
            assert stranger.ret(path, {other: stranger.token, **query}) == 602
            told = f"{key} 602: {key} spells it {wanted}, not {other}"
            assert str(stranger.sandbox.refusals[-1]).startswith(told)
    assert stranger.ret(A["get"], {spellings[0]: stranger.token, "Room_ID": "x"}) == 407


def test_a_doubled_parameter_is_wrong(stranger):
    """A parameter that comes twice is 407 in A and 401 in B, a token that does is 602; parameters
    in the body of a GET do not count."""
    token, room = ("access_token", stranger.token), ("room_id", "a")
    assert stranger.ret(A["get"], [token, room, room]) == 407
    assert stranger.ret(A["get"], [token, token, room]) == 602
    twice = [("accessToken", stranger.token), ("roomId", "a"), ("roomId", "")]
    assert stranger.ret(B["list"], twice) == 401
    assert stranger.ret(A["get"], data=dict([token, room])) == 602


def test_a_post_carries_its_parameters_where_the_dialect_says(make):
    """B1 and B3 as POST read the query, a form or a JSON object, and only that one."""
    for placement, wrong in (("query", "form"), ("form", "json"), ("json", "query")):
        stranger = make({**POST, "placement": placement})
        texts = {"accessToken": stranger.token, "roomId": "x"}
        sent = {"query": {"query": texts}, "form": {"data": texts}, "json": {"json": texts}}
        for given, code in ((wrong, 602), (placement, 0)):
            assert stranger.ret(B["list"], method="POST", **sent[given]) == code
        assert "parameters belong in the" in stranger.sandbox.refusals[-1].why
        assert stranger.ret(B["list"], texts) == 408


def test_odd_json_bodies(make):
    """A body that is no sound JSON object has no token; texts are texts; null is not given; options
    are an object there, and no text."""
    stranger = make({**POST, "placement": "json"})
    kind = {"content-type": "application/json; charset=utf-8"}
    device = '"roomId":"r","userId":"u","userName":"n","userAddress":"rtsp://h/"'
    for name, body, code in (
        ("list", b"[]", 602),
        ("list", b"\xff", 602),
        ("list", b'{"accessToken":1}', 602),
        ("list", b"", 602),
        ("list", b"[" * 100_000, 602),
        ("list", '{"accessToken":"%t","roomId":5}', 401),
        ("list", '{"accessToken":"%t","roomId":null}', 0),
        ("list", '{"accessToken":"%t","roomId":"a","roomId":"a"}', 401),
        ("list", '{"accessToken":"%t","x":NaN}', 602),
        ("import", f'{{"accessToken":"%t",{device},"options":"{{}}"}}', 401),
    ):
        if isinstance(body, str):
            body = body.replace("%t", stranger.token).encode()
        answer = stranger.raw(B[name], method="POST", data=body, headers=kind)
        assert answer.json()["ret"] == code, body[:99]


def test_jsonp(stranger):
    """callback=NAME gives NAME({...}) as JavaScript, for every answer, and of several the last one
    counts; any other callback is a parameter error as plain JSON: nothing of it comes back."""

    def called(name, path, query, port=""):
        answer = stranger.raw(path, query, port)
        assert answer.headers["content-type"] == "application/javascript"
        assert not {"\u2028", "\u2029"} & set(answer.text)
        return json.loads(re.fullmatch(rf"{re.escape(name)}\((.*)\)", answer.text)[1])

    for name in ("$", "_x1", "a.b.c"):
        for path, port in ((A["get"], "A"), (B["list"], "B"), ("/unknown", "A"), ("/unknown", "B")):
            ret = called(name, path, {"callback": name}, port)["ret"]
            assert ret == (408 if path == "/unknown" else 602)
    query = {"access_token": stranger.token, "room_id": stranger.room(topic="a\u2028b\u2029")}
    for first, last in (("test", "jQuery_1"), ("1a", "f")):
        members = called(last, A["get"], {**query, "callback": [first, last]})
        assert members["topic"] == "a\u2028b\u2029"
    for name in ("", "1a", "alert(1)", "a-b", "é", "a\n", "<b>", ["f", "1a"]):
        answer = stranger.raw(A["get"], {**query, "callback": name})
        assert answer.json() == {"ret": 407, "msg": "parameter error"}
        assert stranger.code("list", callback=name) == 401


def test_a_body_that_is_too_large_is_not_read(stranger, sandbox):
    """Its connection is closed after a mebibyte, whatever it was for, and the reason is kept;
    others are served."""
    for url in (sandbox.base_url + A["get"], sandbox.outgoing_url + "/none"):
        with pytest.raises(requests.ConnectionError):
            requests.post(url, data=iter([b"x" * 2**20] * 64), timeout=20)
        assert "larger than 1,048,576 bytes" in sandbox.refusals[-1].why
    assert requests.post(sandbox.base_url + A["get"], data=b"x" * 2**20, timeout=20).ok
    assert stranger.room()
