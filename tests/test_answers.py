"""interpret: every strange answer becomes its members or one of our errors, and shows no secret."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.endpoints import A3, B1, B3, ENDPOINTS
from confkit.wire import Answer, Request, interpret
from tests.nightly.fuzz_answers import BODIES, MEMBERS
from tests.scripted import VECTOR_TOKEN as TOKEN

USUAL = ck.Dialect()


def read(body, endpoint=A3, status=200, secrets=(), whole=True, dialect=USUAL):
    """What `interpret` makes of an answer with this body: bytes, text, or an object as JSON."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    answer = Answer(status, "application/json", body, secrets, whole)
    return interpret(Request(endpoint, {}), answer, dialect)


def refused(body, **how):
    """The ProtocolError that an answer raises."""
    with pytest.raises(ck.ProtocolError) as caught:
        read(body, **how)
    return caught.value


def code(body, **how):
    """The ApiError that an answer raises."""
    with pytest.raises(ck.ApiError) as caught:
        read(body, **how)
    return caught.value


@pytest.mark.parametrize("ret", ["0", '"0"', '" 0 "', "0.0", "-0", '"00"'])
@pytest.mark.parametrize("name", ["ret", "result"])
@pytest.mark.parametrize("endpoint", [A3, B3])
def test_success_is_zero_in_any_form_under_either_name(endpoint, name, ret):
    """ret or result, number or text: 0 is success and gives the members as they came."""
    members = read(f'{{"{name}": {ret}, "room_id": "1", "n": [1, {{"x": null}}]}}', endpoint)
    assert members["room_id"] == "1"
    assert members["n"] == [1, {"x": None}]


@pytest.mark.parametrize("ret", ["404", '"404"', '" 404"', "404.0", '"0404"'])
@pytest.mark.parametrize("name", ["ret", "result"])
def test_a_code_is_the_same_code_in_any_form(name, ret):
    """A number, a text or a float: the error has the number and the class of the code."""
    error = code(f'{{"{name}": {ret}}}')
    assert type(error) is ck.RoomNotFound
    assert error.ret == 404
    assert type(error.ret) is int


@pytest.mark.parametrize(
    ("endpoint", "field", "ret"),
    [(B3, "ret", 304), (B3, "result", 310), (A3, "ret", 304), (A3, "result", 304)],
)
def test_where_both_names_are_there_the_dialects_wins(endpoint, field, ret):
    """ret beside result: the dialect's result_field decides in B, and ret does in A."""
    dialect = ck.Dialect(result_field=field)
    error = code({"ret": 304, "result": 310}, endpoint=endpoint, dialect=dialect)
    assert error.ret == ret


def test_a_null_code_leaves_the_word_to_the_other_name():
    """ret null beside result 0 is the result of an older deployment."""
    assert read({"ret": None, "result": 0, "data": {}}, endpoint=B3)["data"] == {}


@pytest.mark.parametrize(
    "ret",
    ["null", '""', '" "', "true", "false", "[]", "[0]", "{}", '{"ret": 0}', "0.5", "1e400"],
)
def test_what_is_no_code_is_never_success(ret):
    """A code that is empty, a truth value or a structure is an answer without a result code."""
    assert "without a result code" in str(refused(f'{{"ret": {ret}, "room_id": "1"}}'))


@pytest.mark.parametrize("ret", ["E17", "no", "\u0660", "²", "0x0", "zero", "O"])
def test_an_unknown_text_is_an_error_that_keeps_it(ret):
    """A code that is no number survives as it came, and is not success."""
    error = code({"ret": ret})
    assert error.ret == ret
    assert ret in str(error)


@pytest.mark.parametrize("ret", [1, -1, 999, 10**18, 10**19, 10**40])
def test_an_unknown_number_survives_as_it_came(ret):
    """A number that nobody knows, however large, is an ApiError with that number."""
    assert code({"ret": ret}).ret == ret


NOT_OURS = {
    "an empty answer": [b"", b" ", b"\r\n\t "],
    "an HTML or XML page": [
        b"<html><body>Login</body></html>", b"<!DOCTYPE html>", b"\n  <!doctype html>",
        b"<?xml version='1.0'?>", b"<HTML>",
    ],
    "a JSON array": [b"[]", b'[{"ret": 0}]', b" [0]"],
    "JSON that is cut off or broken": [
        b"{", b'{"ret": 0', b'{"ret": 0,}', b"{'ret': 0}", b'{"ret": 0}}', b'{"ret": 0} extra',
        b'{"ret": 0, "x": "\xff"}', b'{"ret": 0, "x": "\xc3', b'{"ret": NaN}',
        b'{"ret": 0, "n": NaN}', b'{"ret": 0, "x": "\n"}', b'{"ret": 0, "n": ' + b"9" * 5000 + b"}",
        b'{"ret": 0, "n": -Infinity}',
    ],
    "something that is not a JSON object": [
        b"0", b'"ret"', b"null", b"true", b"ok", b"callback({})", b"\x00\x01\x02", b"\xff\xfe",
        b"\x1f\x8b\x08\x00", b"1e5", b"NaN",
    ],
    "JSON without a result code": [
        b"{}", b'{"room_id": "1"}', b'{"Ret": 0}', b'{"data": {"ret": 0}}',
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("came", "body"), [(came, body) for came, bodies in NOT_OURS.items() for body in bodies]
)
def test_what_is_not_an_answer_is_told_by_its_kind(came, body):
    """Each thing that is no answer of the interface is a ProtocolError that says what came."""
    error = refused(body)
    told = str(error)
    assert f"get room (A3) got {came} (HTTP 200)" in told
    assert "interface A" in told
    assert "\n" not in told
    assert error.status == 200
    assert not error.retry


@pytest.mark.parametrize(
    ("body", "due"),
    [
        ('{"ret": 0, "topic": "a", "topic": "b"}', {"topic": "b"}),
        ('{"ret": 404, "ret": 0}', {}),
        ('{"topic": "a", "ret": 0, "\\u0074opic": "b"}', {"topic": "b"}),
        ('{"ret": 0, "data": {"total": 1, "total": 2}}', {"data": {"total": 2}}),
    ],
)
def test_of_a_name_that_stands_twice_the_last_counts(body, due):
    """As all the usual parsers have it, in objects within it too: a failure behind a success is a
    failure."""
    assert read(body) == {"ret": 0, **due}
    assert code('{"ret": 0, "ret": 404}').ret == 404


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


@pytest.mark.parametrize("broken", [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80"])
def test_bytes_that_are_no_letters_are_no_answer(broken):
    """Neither in a value nor in a name: that would be the name of something else then."""
    refused(b'{"ret": 0, "topic": "a%b"}' % broken)
    refused(b'{"ret": 0, "topic%b": "a"}' % broken)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_json_in_any_unicode_encoding_is_read(encoding):
    """A byte order mark or another Unicode encoding does not matter."""
    assert read('{"ret": 0, "topic": "Ünï"}'.encode(encoding))["topic"] == "Ünï"


@pytest.mark.parametrize("depth", [10, 100, 300, 500, 700, 900, 990, 1100, 5000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_read_or_refused(opening, closing, depth):
    """However deep an answer is nested, it gives its members or a ProtocolError."""
    try:
        members = read('{"ret": 0, "deep": ' + opening * depth + "1" + closing * depth + "}")
    except ck.ProtocolError:
        assert depth > 100
    else:
        assert members["ret"] == 0


@pytest.mark.parametrize("status", [300, 301, 302, 307, 400, 401, 404, 429, 500, 502, 503, 504])
def test_an_http_error_without_json_is_told_with_its_status(status):
    """A status other than 2xx without JSON is a ProtocolError; 5xx and 429 are worth a try more."""
    for body in (b"", b"<html>Bad</html>", b"no"):
        error = refused(body, status=status)
        assert error.status == status
        assert f"HTTP {status}" in str(error)
        assert error.retry is (status == 429 or status >= 500)
        assert ("redirect" in str(error)) is (300 <= status < 400)
        assert ("max_rate" in error.advice) is (status == 429)


@pytest.mark.parametrize("status", [101, 300, 302, 400, 404, 500, 503])
def test_success_with_an_http_error_is_believed_by_nobody(status):
    """Result code 0 under a status other than 2xx is a contradiction, hence a ProtocolError; any
    other code wins over the status, which makes it worth another try where it is 5xx."""
    told = str(refused({"ret": 0, "room_id": "1"}, status=status))
    assert f"HTTP status {status} with result code 0" in told
    error = code({"ret": 404}, status=status)
    assert type(error) is ck.RoomNotFound
    assert error.retry is (status >= 500)
    for fine in (200, 201, 204, 206):
        assert read({"ret": 0}, status=fine)["ret"] == 0


@pytest.mark.parametrize("body", [b"", b'{"ret": 0', b'{"ret": 0}', b'{"ret": 404}', b"<html>"])
def test_a_body_that_ended_early_is_never_believed(body):
    """When the connection ended before the body, even JSON that looks whole is refused."""
    error = refused(body, whole=False)
    assert f"cut off after {len(body)} bytes" in str(error)
    assert error.retry


@pytest.mark.parametrize(("name", "endpoint"), [("msg", A3), ("err", B1), ("msg", B1), ("err", A3)])
def test_what_the_service_says_is_quoted(name, endpoint):
    """The service's own text stands in the error, from msg and from err; what is no text
    does not."""
    error = code({"ret": 700, name: "disk full"}, endpoint=endpoint)
    assert "The service says: disk full." in str(error)
    for said in (None, "", 5, True, [], {}, {"a": 1}):
        assert "The service says" not in str(code({"ret": 404, name: said}, endpoint=endpoint))


def test_a_long_or_unprintable_text_is_quoted_short_and_in_one_line():
    """Of what a service says at most 120 characters are quoted, none of them unprintable; a result
    code of thousands of characters does not fill the screen either."""
    assert len(str(code({"ret": "x" * 50_000}))) < 1000
    told = str(code({"ret": 404, "msg": "a\n\t\x00\x1b[31m\u202e\ud800" + "b" * 5000}))
    assert told.isprintable()
    assert told.count("b") < 200


@pytest.mark.parametrize("key", ENDPOINTS)
def test_each_operation_is_named_in_its_errors(key):
    """Number and name of the operation stand in both kinds of error."""
    endpoint = ENDPOINTS[key]
    for error in (refused(b"x", endpoint=endpoint), code({"ret": 4242}, endpoint=endpoint)):
        assert f"{endpoint.title} ({key})" in str(error)


SPILLS = {
    "a page that quotes the URL": f"<html>cannot GET /rtc/room/get?access_token={TOKEN}</html>",
    "the URL encoded": f"<html>/x?access_token={TOKEN.replace('=', '%3D')}</html>",
    "the URL encoded in small letters": f"<html>bad {TOKEN.replace('=', '%3d')}</html>",
    "the URL inside a URL": f"<a href='/?next=%2Fx%3Faccess_token%3D{TOKEN[:-2]}%253D%253D'>",
    "the token twice": f"token {TOKEN} is not {TOKEN}",
    "the token many times": TOKEN * 70,
    "a broken object": f'{{"access_token": "{TOKEN}", "host_password": "hunter2", ',
    "a cut-off password": '{"host_password": "hunter2',
    "a device": '{"items": [{"userAddress": "rtsp://admin:hunter2@h/x"}]',
    "a login": '{"items": [{"options": {"login_password": "hunter2", "login_name": "a"}}]',
    "a cut-off address": '{"ret": 0, "items": [{"userAddress": "rtsp://admin:hunter2',
    "a cut-off address with a point": '{"ret": 0, "items": [{"userAddress": "rtsp://admin:hunter2.x',
    "a cut-off encoded address": "<a href='/x?userAddress=rtsp%3A%2F%2Fadmin%3Ahunter2",
    "an array": f'["{TOKEN}"]',
    "options as text": '{"options": "{\\"login_password\\": \\"hunter2\\"}", ',
}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("spill", SPILLS)
def test_an_answer_that_spills_a_secret_is_quoted_without_it(spill, whole):
    """What an error shows of an answer holds neither the call's secrets nor any others."""
    told = str(refused(SPILLS[spill], endpoint=B3, secrets=(TOKEN,), whole=whole))
    assert TOKEN[:12] not in told
    assert TOKEN[-16:-2] not in told
    assert "hunter2" not in told


@pytest.mark.parametrize("name", ["msg", "err", "ret"])
@pytest.mark.parametrize(
    "said",
    [
        f"bad access_token={TOKEN}",
        f"bad {TOKEN}",
        "rtsp://admin:hunter2@h/x does not answer",
        '{"login_password": "hunter2"}',
    ],
)
def test_a_service_that_says_a_secret_is_quoted_without_it(name, said):
    """In the text of an error a secret is ***, whether it came as message or as result code."""
    told = str(code({"ret": 700, name: said}, endpoint=B1, secrets=(TOKEN,)))
    assert TOKEN[:12] not in told
    assert "hunter2" not in told


def test_members_show_no_secret_in_a_repr_and_give_it_to_code():
    """Passwords and addresses among the members are themselves to code and *** to people; the
    answer itself shows neither what came nor what is to be hidden."""
    device = {"userAddress": "rtsp://a:hunter2@h", "options": {"login_password": "hunter2"}}
    sent = {"ret": 0, "host_password": "hunter2", "data": {"items": [device]}}
    members = read(sent)
    assert members == sent
    assert "hunter2" not in repr(members)
    assert "hunter2" not in repr(Answer(200, "text/html", b"hunter2", ("hunter2",)))


def believable(body, status=200, whole=True, endpoint=A3):
    """Members with a code of 0, or an error of ours: what any answer has to come to."""
    try:
        members = read(body, endpoint=endpoint, status=status, whole=whole)
    except (ck.ApiError, ck.ProtocolError) as error:
        told = str(error)
    else:
        told = ""
    assert told.isprintable()
    assert len(told) < 1500
    if told:
        return
    assert isinstance(members, dict)
    assert whole
    assert 200 <= status < 300
    assert float(members["ret"] if members.get("ret") is not None else members["result"]) == 0


@given(
    body=st.binary(max_size=200) | BODIES.map(lambda text: text.encode("utf-8", "surrogatepass")),
    status=st.integers(200, 599) | st.just(200),
    whole=st.booleans(),
    key=st.sampled_from("AB"),
)
@example(b"", 204, True, "A")
def test_any_bytes_give_members_or_an_error_of_ours(body, status, whole, key):
    """Whatever comes, with whatever status: members of a success, or a ConfkitError."""
    believable(body, status, whole, ENDPOINTS[f"{key}3"])


@given(text=MEMBERS, share=st.floats(0, 0.99))
def test_an_object_cut_off_anywhere_is_an_error(text, share):
    """An answer that ends before its last brace is never read as one."""
    body = text.encode("utf-8", "surrogatepass")
    refused(body[: int(share * len(body))])
