"""interpret: every strange response becomes its members or one of our errors."""

import json

import pytest

import confkit as ck
from confkit.operations import A3, B3
from confkit.wire import Response, interpret


def read(body, endpoint=A3, status=200, complete=True):
    """The members of a response with this body, or its error, which shows on one line."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    result = interpret(endpoint, Response(status, body, complete))
    assert isinstance(result, dict) or "\n" not in str(result)
    return result


DEEP = '{"ret": 0, "deep": ' + "[" * 100_000 + "]" * 100_000 + "}"
NOT_OURS = {
    "an empty body": ["", "\r\n\t "],
    "HTML or XML": ["<HTML><body>Login</body></html>", "<?xml?>"],
    "something that is not a JSON object": ['[{"ret": 0}]', "callback({})"],
    "invalid JSON": [
        *('{"ret": 0', '{"ret": 0}}', '{"ret": NaN}', DEEP),
        *(b'{"ret": 0, "n": ' + b"9" * 5000 + b"}", b'{"ret": 0, "x": "\xff"}'),
    ],
    "JSON without a result code": ['{"data": {"ret": 0}}', '{"ret": ""}', '{"ret": false}'],
}


@pytest.mark.parametrize("kind", NOT_OURS)
def test_what_is_no_response_of_the_interface_is_named(kind):
    for body in NOT_OURS[kind]:
        error = read(body)
        assert f"get room (A3) expected JSON, got {kind} (HTTP 200)" in str(error)
        assert (type(error), error.status, error.retry) == (ck.ProtocolError, 200, False)


@pytest.mark.parametrize(("endpoint", "name"), [(A3, "ret"), (A3, "result"), (B3, "result")])
def test_a_code_is_the_same_in_any_form_under_either_name(endpoint, name):
    """`ret` wins over `result`, unless it is null; an unknown code is an error that keeps it."""
    for success in (0, " 0 ", 0.0):
        assert read({name: success, "topic": "x"}, endpoint)["topic"] == "x"
    for failure in (404, " 0404 ", 404.0):
        error = read({name: failure, "topic": "x"}, endpoint)
        assert (error.ret, isinstance(error, ck.RoomNotFound)) == (404, endpoint is A3)
    for ret in ("E17", "\u0660", 10**40, "x" * 50_000):
        error = read({name: ret}, endpoint)
        assert str(error.ret) in str(ret)
        assert len(str(error)) < 1000
    assert read({"ret": 0, "result": 404})["ret"] == 0
    assert read({"ret": None, "result": 404}).ret == 404


def test_what_a_body_holds_is_read():
    """Of a name that stands twice the last counts; half a character shows as U+FFFD."""
    assert read('{"ret": 404, "ret": 0}') == {"ret": 0}
    assert read('{"ret": 0, "topic": "Ünï"}'.encode("utf-16"))["topic"] == "Ünï"
    assert read('{"ret": 0, "topic": "a\\uDFFFb"}')["topic"] == "a\ufffdb"


@pytest.mark.parametrize("status", [302, 404, 429, 503])
def test_an_http_error_is_named_with_its_status(status):
    """Result code 0 under it is a contradiction, any other code wins over it; a body that ended
    early is never believed."""
    for body in ("", "<html>Bad</html>", {"ret": 0, "room_id": "1"}):
        error = read(body, status=status)
        assert (type(error), error.status) == (ck.ProtocolError, status)
        assert f"HTTP {status}" in str(error)
        assert error.retry is (status == 429 or status >= 500)
        assert error.success == isinstance(body, dict)
    assert read({"ret": 404}, status=status).retry is (status >= 500)
    error = read('{"ret": 0}', complete=False)
    assert "cut off, or not decodable, after 10 bytes" in str(error)
    assert error.retry
