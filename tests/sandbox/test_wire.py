"""What travels: encodings, places of parameters, dialects, JSONP, unknown routes, tokens."""

import json
import re
from urllib.parse import quote

import pytest
import requests

from confkit.operations import OPERATIONS

from .conftest import path

POST = {"create_method": "POST", "list_method": "POST"}


def test_responses_are_compact_json(caller):
    """With a content type that no browser may guess otherwise; a query of 60 kB and bytes that are
    not UTF-8 are answered, too."""
    response = caller.raw(f"{path('A3')}?access_token=%ff%fe&y={'z' * 60_000}")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.text == '{"ret":602,"msg":"access_token incorrect"}'
    bad = f"{path('A2')}?access_token={quote(caller.token)}&owner_id=o&room_mode=1&topic=%ff"
    assert caller.ret(bad) == 407


@pytest.mark.parametrize("port", ["A", "B"])
def test_an_unknown_route_or_method_is_408(caller, port):
    """So is an operation of the other interface; all are counted."""
    wrong = [("/../../etc/passwd", "GET"), (path("A3") + "/", "GET"), (path("A3"), "POST")]
    wrong += [(path("A1"), "DELETE"), (path("B1"), "PUT"), (path("B3"), "POST")]
    wrong += [(row.path, "GET") for row in OPERATIONS.values() if row.interface != port]
    text, before = "msg" if port == "A" else "err", caller.sandbox.count()
    for route, method in wrong:
        response = caller.raw(route, port=port, method=method)
        assert response.status_code == 200
        assert response.json() == {"ret": 408, text: "HTTP request not supported"}
    assert caller.sandbox.count() == before + len(wrong)
    assert caller.sandbox.count(path("A3")) == (port == "A")


def test_a_token_expires(caller, sandbox):
    """After an hour by the sandbox's clock."""
    room_id = caller.room()
    sandbox.advance(3500)
    assert caller.code("A3", room_id=room_id) == 0
    sandbox.advance(200)
    assert caller.code("A3", room_id=room_id) == caller.code("B3") == 602
    assert re.fullmatch(r"token expired 1 min ago", sandbox.refusals[-1].why)


def test_a_token_is_percent_encoded_once(caller):
    token, codes = caller.token, []
    for _ in range(3):
        codes.append(caller.ret(f"{path('B3')}?accessToken={token}"))
        token = quote(token, safe="")
    assert codes == [0, 0, 602]
    assert "encoded twice" in caller.sandbox.refusals[-1].why


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_tokens_come_first_and_then_the_parameters(caller, operation):
    """602 for a missing, empty or wrong token; then 407 in A and 401 in B for each required
    parameter that is missing or empty, and the refusal names it."""
    usual = {"room_mode": "1", "userAddress": "rtsp://127.0.0.1/"}
    values = {name: usual.get(name, "1") for name in operation.required}
    if operation.token:
        for token in (None, "", "wrong", "gültig?"):
            assert caller.ret(operation.path, {operation.token: token}) == 602
        values[operation.token] = caller.token
    for name in operation.required:
        for missing in (None, ""):
            code = 407 if operation.interface == "A" else 401
            assert caller.ret(operation.path, {**values, name: missing}) == code
            assert caller.sandbox.refusals[-1].why.startswith(f"{name} is ")


OTHERS = {
    "token_parameter": "access_tocken",
    "mcu_token_parameter": "token",
    "remove_token_parameter": "accessToken",
}


@pytest.mark.parametrize(
    ("dialect", "spellings"), [({}, ["access_token"] * 3), (OTHERS, list(OTHERS.values()))]
)
def test_only_one_spelling_of_the_token_counts(make, dialect, spellings):
    """Any other is refused with the spelling that is wanted; other names are exact, too."""
    caller = make(dialect)
    query = {"room_id": "x", "roomId": "x", "userId": "x", "userAddress": "rtsp://h/"}
    codes = {"A3": 404, "A5": 404, "B2": 425, "B3": 0}
    for key, wanted in zip(codes, [*spellings, "accessToken"], strict=True):
        assert caller.ret(path(key), {wanted: caller.token, **query}) == codes[key]
        for other in {"access_token", "accessToken", "access_tocken", "token"} - {wanted}:
            assert caller.ret(path(key), {other: caller.token, **query}) == 602
            refusal = str(caller.sandbox.refusals[-1])
            assert refusal.startswith(f"{key} 602: {key} spells it {wanted}, not {other}")
    assert caller.ret(path("A3"), {spellings[0]: caller.token, "Room_ID": "x"}) == 407


def test_a_doubled_parameter_is_wrong(caller):
    """407, 401, or 602 for a token; parameters in the body of a GET do not count."""
    token, room = ("access_token", caller.token), ("room_id", "a")
    assert caller.ret(path("A3"), [token, room, room]) == 407
    assert caller.ret(path("A3"), [token, token, room]) == 602
    twice = [("accessToken", caller.token), ("roomId", "a"), ("roomId", "")]
    assert caller.ret(path("B3"), twice) == 401
    assert caller.ret(path("A3"), data=dict([token, room])) == 602


def test_a_post_carries_its_parameters_where_the_dialect_says(make):
    """In the query, a form or a JSON object, and only there."""
    for placement, other in (("query", "form"), ("form", "json"), ("json", "query")):
        caller = make({**POST, "placement": placement})
        texts = {"accessToken": caller.token, "roomId": "x"}
        sent = {"query": {"query": texts}, "form": {"data": texts}, "json": {"json": texts}}
        for place, code in ((other, 602), (placement, 0)):
            assert caller.ret(path("B3"), method="POST", **sent[place]) == code
        assert "parameters belong in the" in caller.sandbox.refusals[-1].why
        assert caller.ret(path("B3"), texts) == 408


def test_odd_json_bodies(make):
    """A body that is no JSON object has no token; null is missing; options are an object."""
    caller = make({**POST, "placement": "json"})
    kind = {"content-type": "application/json; charset=utf-8"}
    device = '"roomId":"r","userId":"u","userName":"n","userAddress":"rtsp://h/"'
    for key, body, code in (
        ("B3", b"[]", 602),
        ("B3", b"\xff", 602),
        ("B3", b'{"accessToken":1}', 602),
        ("B3", b"[" * 100_000, 602),
        ("B3", '{"accessToken":"%t","roomId":5}', 401),
        ("B3", '{"accessToken":"%t","roomId":null}', 0),
        ("B3", '{"accessToken":"%t","roomId":"a","roomId":"a"}', 401),
        ("B3", '{"accessToken":"%t","x":NaN}', 602),
        ("B1", f'{{"accessToken":"%t",{device},"options":"{{}}"}}', 401),
    ):
        if isinstance(body, str):
            body = body.replace("%t", caller.token).encode()
        response = caller.raw(path(key), method="POST", data=body, headers=kind)
        assert response.json()["ret"] == code, body[:99]


def test_jsonp(caller):
    """callback=NAME makes any response NAME({...}) as JavaScript, and of several the last one
    counts; any other callback is a parameter error as plain JSON, and is not quoted."""

    def called(name, path, query, port=""):
        response = caller.raw(path, query, port)
        assert response.headers["content-type"] == "application/javascript"
        assert not {"\u2028", "\u2029"} & set(response.text)
        return json.loads(re.fullmatch(rf"{re.escape(name)}\((.*)\)", response.text)[1])

    for name in ("$", "_x1", "a.b.c"):
        assert called(name, path("B3"), {"callback": name})["ret"] == 602
        assert called(name, "/unknown", {"callback": name}, "B")["ret"] == 408
    query = {"access_token": caller.token, "room_id": caller.room(topic="a\u2028b\u2029")}
    for first, last in (("test", "jQuery_1"), ("1a", "f")):
        members = called(last, path("A3"), {**query, "callback": [first, last]})
        assert members["topic"] == "a\u2028b\u2029"
    for name in ("", "1a", "alert(1)", "a-b", "é", "a\n", "<b>", ["f", "1a"]):
        response = caller.raw(path("A3"), {**query, "callback": name})
        assert response.json() == {"ret": 407, "msg": "parameter error"}
        assert caller.code("B3", callback=name) == 401


def test_a_body_that_is_too_large_is_not_read(caller, sandbox):
    """Its connection is closed after a mebibyte, the reason is kept, and others are served."""
    for url in (sandbox.base_url + path("A3"), sandbox.outgoing_url + "/none"):
        body = iter([b"x" * 2**20] * 64)
        with pytest.raises(requests.ConnectionError):
            requests.post(url, data=body, timeout=20)
        assert next(body)
        assert "larger than 1,048,576 bytes" in sandbox.refusals[-1].why
    assert requests.post(sandbox.base_url + path("A3"), data=b"x" * 2**20, timeout=20).ok
    assert caller.room()
