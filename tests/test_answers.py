"""interpret: every strange response becomes its members or one of our errors."""

import json

import pytest

import confkit as ck
from confkit.operations import A3, B1, B3
from confkit.wire import Response, interpret


def read(body, endpoint=A3, status=200, complete=True):
    """The members of a response with this body, or its error, which shows on one line."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    result = interpret(endpoint, Response(status, body, complete))
    assert isinstance(result, dict) or "\n" not in str(result)
    return result


DEEP = [
    '{"ret": 0, "deep": ' + opening * depth + "1" + closing * depth + "}"
    for opening, closing in ("[]", ('{"a":', "}"))
    for depth in (101, 900, 5000, 100_000)
]
NO_CODE = ['""', '" "', "true", "false", "[]", "{}", "[0]", "0.5", "1e400", "null"]
NOT_OURS = {
    "an empty body": [b"", b"\r\n\t "],
    "HTML or XML": [b"<HTML><body>Login</body></html>", b"\n  <!doctype html>", b"<?xml?>"],
    "something that is not a JSON object": [
        b'[{"ret": 0}]', b" [0]", b"{", b'{"ret": 0', b'{"ret": 0,}', b"{'ret': 0}", b'{"ret": 0}}',
        b'{"ret": 0} extra', b'{"ret": 0, "x": "\xff"}', b'{"ret": 0, "x": "\xc3', b'{"ret": NaN}',
        b'{"ret": 0, "x": "\n"}', b'{"ret": 0, "n": ' + b"9" * 5000 + b"}", b"\x1f\x8b\x08\x00",
        b'{"ret": 0, "n": -Infinity}', b"0", b'"ret"', b"null", b"ok", b"callback({})", b"\xff\xfe",
        b'{"ret": 0, "x": "a\xed\xa0\x80"}', b'{"ret": 0, "x": "\xc0\x80"}',
        b'{"ret": 0, "topic\xff": "a"}', *(text.encode() for text in DEEP)],
    "JSON without a result code": [
        b"{}", b'{"Ret": 0}', b'{"data": {"ret": 0}}',
        *(f'{{"ret": {code}, "room_id": "1"}}'.encode() for code in NO_CODE)],
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_OURS)
def test_what_is_no_response_of_the_interface_is_named(kind):
    for body in NOT_OURS[kind]:
        error = read(body)
        assert f"get room (A3) expected JSON, got {kind} (HTTP 200)" in str(error)
        assert "interface A" in error.advice
        assert (type(error), error.status, error.retry) == (ck.ProtocolError, 200, False)


@pytest.mark.parametrize(("endpoint", "name"), [(A3, "ret"), (A3, "result"), (B3, "result")])
def test_a_code_is_the_same_in_any_form_under_either_name(endpoint, name):
    """`ret` wins over `result`, unless it is null; an unknown code is an error that keeps it."""
    for success in (0, "0", " 0 ", "-0", "00", 0.0):
        assert read({name: success, "topic": "x"}, endpoint)["topic"] == "x"
    for failure in (404, "404", " 0404 ", 404.0):
        error = read({name: failure, "topic": "x"}, endpoint)
        assert error.ret == 404
        assert isinstance(error, ck.RoomNotFound) == (endpoint is A3)
    for ret in ("E17", "\u0660", "²", "0x0", 1, -1, 999, 10**19, 10**40, "x" * 50_000):
        error = read({name: ret}, endpoint)
        assert str(error.ret) in str(ret)
        assert str(error.ret) in str(error)
        assert len(str(error)) < 1000
    assert read({"ret": 0, "result": 404})["ret"] == 0
    assert read({"ret": 404, "result": 0}).ret == 404
    assert read({"ret": None, "result": 404}).ret == 404


READ = [  # a body, and the members beside `ret`; of a name that stands twice the last counts
    ('{"ret": 0, "topic": "a", "topic": "b"}', {"topic": "b"}),
    ('{"ret": 404, "ret": 0}', {}),
    ('{"topic": "a", "ret": 0, "\\u0074opic": "b"}', {"topic": "b"}),
    ('{"ret": 0, "data": {"total": 1, "total": 2}}', {"data": {"total": 2}}),
    *(('{"ret": 0, "topic": "Ünï"}'.encode(encoding), {"topic": "Ünï"})
      for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le")),
    # Half a character shows as U+FFFD, in names as in values.
    *((f'{{"ret": 0, "{written}": {{"x": "{written}"}}}}', {letters: {"x": letters}})
      for written, letters in (
        ("\\ud800", "\ufffd"), ("a\\uDFFFb", "a\ufffdb"), ("\\ud83d\\ude00", "\U0001f600"),
        ("\\ude00\\ud83d", "\ufffd\ufffd"), ("\\ud83d\\ud83d\\ude00", "\ufffd\U0001f600"),
        ("\\\\ud800", "\\ud800"), ("\\\\\\ud800", "\\\ufffd"))),
]  # fmt: skip


@pytest.mark.parametrize(("body", "members"), READ)
def test_what_a_body_holds_is_read(body, members):
    assert read(body) == {"ret": 0, **members}


@pytest.mark.parametrize("status", [101, 300, 302, 399, 400, 404, 429, 500, 503])
def test_an_http_error_is_named_with_its_status(status):
    """Result code 0 under it is a contradiction, any other code wins over it; a body that ended
    early is never believed."""
    for body in ("", "<html>Bad</html>", "no", {"ret": 0, "room_id": "1"}):
        error = read(body, status=status)
        assert (type(error), error.status) == (ck.ProtocolError, status)
        assert f"HTTP {status}" in str(error)
        assert error.retry is (status == 429 or status >= 500)
        assert ("Redirects" in str(error)) is (300 <= status < 400)
        assert ("max_rate" in error.advice) is (status == 429)
        assert error.success == ("result code 0 under HTTP" in str(error)) == isinstance(body, dict)
    assert read({"ret": 404}, status=status).retry is (status >= 500)
    assert read({"ret": 0}, status=200 + status % 100)["ret"] == 0
    for body in ("", '{"ret": 0', '{"ret": 0}', '{"ret": 404}', "<html>"):
        error = read(body, complete=False)
        assert f"cut off after {len(body)} bytes" in str(error)
        assert error.retry


def test_what_the_service_says_is_quoted():
    """From msg and from err, short and on one line."""
    for name in ("msg", "err"):
        assert "The service says: disk full." in str(read({"ret": 404, name: "disk full"}))
        for nothing in (None, "", 5, [], {"a": 1}):
            assert "The service says" not in str(read({"ret": 404, name: nothing}))
        shown = str(read({"ret": 404, name: "a\n\t\x00\x1b[31m\u202e\ud800" + "b" * 5000}))
        assert shown.isprintable()
        assert shown.count("b") < 200
    for body in ("x", {"ret": 4242}):
        assert "create external user (B1)" in str(read(body, endpoint=B1))
