"""interpret: every strange response becomes its members or one of our errors. That none of these
shows a secret, tests/secrets and tests/test_excerpts.py test."""

import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.operations import A3, B1, B3
from confkit.wire import Response, interpret
from tests.nightly.fuzz_answers import BODIES, MEMBERS


def read(body, endpoint=A3, status=200, complete=True):
    """The members of a response with this body (bytes, text, or an object as JSON); its error is
    raised."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    result = interpret(endpoint, Response(status, body, complete))
    if isinstance(result, Exception):
        raise result
    return result


def error_of(body, kind=ck.ProtocolError, **how):
    """The error of this class that an answer raises."""
    with pytest.raises(kind) as caught:
        read(body, **how)
    return caught.value


@pytest.mark.parametrize(("endpoint", "name"), [(A3, "ret"), (A3, "result"), (B3, "result")])
def test_a_code_is_the_same_in_any_form_under_either_name(endpoint, name):
    """ret or result, number or text: 0 is success and gives the members as they came; another code
    is that number, in an error of its class."""
    for ret in ("0", '"0"', '" 0 "', "0.0", "-0", '"00"'):
        members = read(f'{{"{name}": {ret}, "room_id": "1", "n": [1, {{"x": null}}]}}', endpoint)
        assert (members["room_id"], members["n"]) == ("1", [1, {"x": None}])
    for ret in ("404", '"404"', '" 404"', "404.0", '"0404"'):
        error = error_of(f'{{"{name}": {ret}}}', ck.ApiError, endpoint=endpoint)
        assert (error.ret, type(error.ret)) == (404, int)


def test_where_both_names_are_there_ret_wins():
    """ret null leaves the word to the result of an older deployment."""
    for endpoint in (A3, B3):
        assert error_of({"ret": 304, "result": 310}, ck.ApiError, endpoint=endpoint).ret == 304
    assert read({"ret": None, "result": 0, "data": {}}, endpoint=B3)["data"] == {}


@pytest.mark.parametrize(
    "ret",
    ["null", '""', '" "', "true", "false", "[0]", '{"ret": 0}', "0.5", "1e400"],
)
def test_what_is_no_code_is_never_success(ret):
    """A code that is empty, a truth value or a structure is an answer without a result code."""
    assert "without a result code" in str(error_of(f'{{"ret": {ret}, "room_id": "1"}}'))


@pytest.mark.parametrize(
    "ret",
    ["E17", "\u0660", "²", "0x0", 1, -1, 999, 10**19, 10**40],
)
def test_an_unknown_code_is_an_error_that_keeps_it(ret):
    """A text that is no number, or a number that nobody knows, however large, is not success."""
    error = error_of({"ret": ret}, ck.ApiError)
    assert error.ret == ret
    assert str(ret) in str(error)


NOT_OURS = {
    "an empty body": [b"", b"\r\n\t "],
    "HTML or XML": [b"<HTML><body>Login</body></html>", b"\n  <!doctype html>", b"<?xml?>"],
    "a JSON array": [b'[{"ret": 0}]', b" [0]"],
    "broken JSON": [
        b"{", b'{"ret": 0', b'{"ret": 0,}', b"{'ret': 0}", b'{"ret": 0}}', b'{"ret": 0} extra',
        b'{"ret": 0, "x": "\xff"}', b'{"ret": 0, "x": "\xc3', b'{"ret": NaN}',
        b'{"ret": 0, "x": "\n"}', b'{"ret": 0, "n": ' + b"9" * 5000 + b"}",
        b'{"ret": 0, "n": -Infinity}',
    ],
    "something that is not a JSON object": [
        b"0", b'"ret"', b"null", b"ok", b"callback({})", b"\xff\xfe", b"\x1f\x8b\x08\x00", b"NaN",
    ],
    "JSON without a result code": [b"{}", b'{"Ret": 0}', b'{"data": {"ret": 0}}'],
}  # fmt: skip


@pytest.mark.parametrize("came", NOT_OURS)
def test_what_is_not_an_answer_is_told_by_its_kind(came):
    """Each thing that is no answer of the interface is a ProtocolError that says what came."""
    for body in NOT_OURS[came]:
        error = error_of(body)
        assert f"get room (A3) expected JSON, got {came} (HTTP 200)" in str(error)
        assert "interface A" in str(error)
        assert "\n" not in str(error)
        assert (error.status, error.retry) == (200, False)


def test_of_a_name_that_stands_twice_the_last_counts():
    """As all the usual parsers have it, in objects within it too: a failure behind a success is a
    failure."""
    for body, due in (
        ('{"ret": 0, "topic": "a", "topic": "b"}', {"topic": "b"}),
        ('{"ret": 404, "ret": 0}', {}),
        ('{"topic": "a", "ret": 0, "\\u0074opic": "b"}', {"topic": "b"}),
        ('{"ret": 0, "data": {"total": 1, "total": 2}}', {"data": {"total": 2}}),
    ):
        assert read(body) == {"ret": 0, **due}
    error_of('{"ret": 0, "ret": 404}', ck.RoomNotFound)


@pytest.mark.parametrize(
    ("written", "letters"),
    [
        ("\\ud800", "\ufffd"),
        ("a\\uDFFFb", "a\ufffdb"),
        ("\\ud83d\\ude00", "\U0001f600"),
        ("\\ude00\\ud83d", "\ufffd\ufffd"),
        ("\\ud83d\\ud83d\\ude00", "\ufffd\U0001f600"),
        ("\\\\ud800", "\\ud800"),
        ("\\\\\\ud800", "\\\ufffd"),
        ("\\ud83d\\\\ude00", "\ufffd\\ude00"),
    ],
)
def test_half_a_letter_shows_as_a_mark(written, letters):
    """What a text lost that was cut between two halves shows as U+FFFD, in names as in values."""
    members = read(f'{{"ret": 0, "{written}": {{"x": "{written}"}}}}')
    assert members[letters] == {"x": letters}


def test_letters_are_read_in_any_unicode_encoding_and_bytes_that_are_none_are_refused():
    """A byte order mark or another encoding does not matter; what is no letter is no answer, in a
    value or in a name, which would be the name of something else then."""
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"):
        assert read('{"ret": 0, "topic": "Ünï"}'.encode(encoding))["topic"] == "Ünï"
    for broken in (b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"):
        error_of(b'{"ret": 0, "topic": "a%b"}' % broken)
        error_of(b'{"ret": 0, "topic%b": "a"}' % broken)


@pytest.mark.parametrize("depth", [10, 100, 300, 500, 700, 900, 990, 1100, 5000, 100_000])
def test_deep_nesting_is_read_or_refused(depth):
    """However deep an answer is nested, it gives its members or a ProtocolError."""
    for opening, closing in ("[]", ('{"a":', "}")):
        try:
            members = read('{"ret": 0, "deep": ' + opening * depth + "1" + closing * depth + "}")
        except ck.ProtocolError:
            assert depth >= 100
        else:
            assert members["ret"] == 0


@pytest.mark.parametrize("status", [101, 300, 302, 399, 400, 404, 429, 500, 503])
def test_an_http_error_is_told_with_its_status(status):
    """A status other than 2xx without JSON is a ProtocolError; 5xx and 429 are worth a try more."""
    for body in ("", "<html>Bad</html>", "no"):
        error = error_of(body, status=status)
        assert error.status == status
        assert f"HTTP {status}" in str(error)
        assert error.retry is (status == 429 or status >= 500)
        assert ("redirect" in str(error)) is (300 <= status < 400)
        assert ("max_rate" in error.advice) is (status == 429)


@pytest.mark.parametrize("status", [101, 300, 404, 500])
def test_success_with_an_http_error_is_believed_by_nobody(status):
    """Result code 0 under a status other than 2xx is a contradiction, hence a ProtocolError; any
    other code wins over the status, which makes it worth another try where it is 5xx."""
    told = str(error_of({"ret": 0, "room_id": "1"}, status=status))
    assert f"result code 0 under HTTP status {status}" in told
    assert error_of({"ret": 404}, ck.RoomNotFound, status=status).retry is (status >= 500)
    for fine in (200, 204, 299):
        assert read({"ret": 0}, status=fine)["ret"] == 0


@pytest.mark.parametrize("body", ["", '{"ret": 0', '{"ret": 0}', '{"ret": 404}', "<html>"])
def test_a_body_that_ended_early_is_never_believed(body):
    """When the connection ended before the body, even JSON that looks whole is refused."""
    error = error_of(body, complete=False)
    assert f"cut off after {len(body)} bytes" in str(error)
    assert error.retry


@pytest.mark.parametrize("name", ["msg", "err"])
def test_what_the_service_says_is_quoted(name):
    """The service's own text stands in the error, from msg and from err, short and in one line;
    what is no text does not, and a code of thousands of letters does not fill the screen either."""

    def told(said):
        return str(error_of({"ret": 404, name: said}, ck.RoomNotFound))

    assert "The service says: disk full." in told("disk full")
    for said in (None, "", 5, [], {"a": 1}):
        assert "The service says" not in told(said)
    shown = told("a\n\t\x00\x1b[31m\u202e\ud800" + "b" * 5000)
    assert shown.isprintable()
    assert shown.count("b") < 200
    assert len(str(error_of({"ret": "x" * 50_000}, ck.ApiError))) < 1000


def test_each_operation_is_named_in_its_errors():
    """Number and name of the operation stand in both kinds of error."""
    for body, kind in (("x", ck.ProtocolError), ({"ret": 4242}, ck.ApiError)):
        error = error_of(body, kind, endpoint=B1)
        assert "create external user (B1)" in str(error)


@given(
    body=st.binary(max_size=200) | BODIES.map(lambda text: text.encode("utf-8", "surrogatepass")),
    status=st.integers(200, 599) | st.just(200),
    whole=st.booleans(),
)
@example(b"", 204, True)
def test_any_bytes_give_members_or_an_error_of_ours(body, status, whole):
    """Whatever comes, with whatever status: members of a success, or a ConfkitError."""
    with suppress(ck.ApiError, ck.ProtocolError):
        members = read(body, status=status, complete=whole)
        assert whole
        assert 200 <= status < 300
        assert {"ret", "result"} & {*members}


@given(text=MEMBERS, share=st.floats(0, 0.99))
def test_an_object_cut_off_anywhere_is_an_error(text, share):
    """An answer that ends before its last brace is never read as one."""
    body = text.encode("utf-8", "surrogatepass")
    error_of(body[: int(share * len(body))])
