"""What travels: encodings, places of parameters, dialects, JSONP, unknown routes, tokens."""

import json
import re

import pytest
import requests

from confkit.operations import OPERATIONS
from tests.scripted import A3, B3


def test_responses_are_compact_json(caller):
    """A query of 60 kB and bytes that are not UTF-8 are answered, too."""
    response = caller.raw(f"{A3}?access_token=%ff%fe&y={'z' * 60_000}")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.text == '{"ret":602,"msg":"access_token incorrect"}'


@pytest.mark.parametrize("port", ["A", "B"])
def test_an_unknown_route_or_method_is_408(caller, port):
    """All are counted."""
    wrong = [("/../../etc/passwd", "GET"), (A3, "POST"), (B3, "POST")]
    for route, method in wrong:
        response = caller.raw(route, port=port, method=method).json()
        assert response["ret"] == 408
        assert response["msg" if port == "A" else "err"] == "HTTP request not supported"
    assert caller.sandbox.count() == len(wrong)


def test_a_token_expires(caller, sandbox):
    """After an hour by the sandbox's clock."""
    room_id = caller.room()
    sandbox.advance(3500)
    assert caller.code("A3", room_id=room_id) == 0
    sandbox.advance(200)
    assert caller.code("A3", room_id=room_id) == caller.code("B3") == 602
    assert sandbox.refusals[-1].why == "token expired 1 min ago"


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_tokens_come_first_and_then_the_parameters(caller, operation):
    """602 for a missing or wrong token; then 407 in A and 401 in B for each required parameter that
    is missing or empty, and the refusal names it."""
    usual = {"room_mode": "1", "userAddress": "rtsp://127.0.0.1/"}
    values = {name: usual.get(name, "1") for name in operation.required}
    if operation.token:
        for token in (None, "gültig?"):
            refused = caller.raw(operation.path, {operation.token: token}).json()
            assert refused["ret"] == 602
        values[operation.token] = caller.token
    for name in operation.required:
        for missing in (None, ""):
            refused = caller.raw(operation.path, {**values, name: missing}).json()
            assert refused["ret"] == (407 if operation.interface == "A" else 401)
            assert caller.sandbox.refusals[-1].why.startswith(f"{name} is ")


def test_jsonp(caller):
    """callback=NAME makes any response NAME({...}) as JavaScript, and of several the last one
    counts; any other callback is a parameter error as plain JSON, and is not quoted."""
    query = {"access_token": caller.token, "room_id": caller.room(topic="a\u2028b\u2029")}
    response = caller.raw(A3, {**query, "callback": ["1a", "$.b_c"]})
    assert response.headers["content-type"] == "application/javascript"
    assert not {"\u2028", "\u2029"} & set(response.text)
    members = re.fullmatch(r"\$\.b_c\((.*)\)", response.text)[1]
    assert json.loads(members)["topic"] == "a\u2028b\u2029"
    for name in ("", "1a", "alert(1)", "a\n"):
        response = caller.raw(A3, {**query, "callback": name})
        assert response.json() == {"ret": 407, "msg": "parameter error"}
        assert caller.code("B3", callback=name) == 401


def test_a_body_that_is_too_large_is_not_read(caller, sandbox):
    """Its connection is closed after a mebibyte, the reason is kept, and others are served."""
    body = iter([b"x" * 2**20] * 64)
    with pytest.raises(requests.ConnectionError):
        requests.post(sandbox.base_url + A3, data=body, timeout=20)
    assert next(body)
    assert "larger than 1,048,576 bytes" in sandbox.refusals[-1].why
    assert caller.room()
