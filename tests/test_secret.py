"""Masking: no secret survives in a text that people read, and nothing else is lost."""

import ast
import copy
import json
import pickle
import time
import tomllib
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, quote, quote_plus, urlencode, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.client import base_address
from confkit.devices import address_checked
from confkit.endpoints import B1
from confkit.secret import MASK, Guarded, Secret, guard, mask, masked

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NAMES = TEXTS["names"]
# A password whose two halves can be looked for, whatever stands between them is written as.
AROUND = ['"{}', '{}"', "{}\\", "@{}@", "{}%"]
PASSWORDS = [f"Left7{special}Right9" for special in TEXTS["specials"]]
PASSWORDS += [pattern.format("Left7Right9") for pattern in AROUND]


def each(name, rows):
    """A test of each row of this table."""
    return pytest.mark.parametrize(name, TEXTS[rows])


def _fields(name, value):
    return {"first": 1, name: value, "kept": "here"}


def _query(quoting=quote_plus, **fields):
    return "http://h:8080/p?" + urlencode(fields, quote_via=quoting)


def _json(name, value):
    return json.dumps(_fields(name, value))


def _compact(name, value):
    return json.dumps(_fields(name, value), separators=(",", ":"), ensure_ascii=False)


# How a member and its value are written down.
WRITTEN = {
    "JSON": _json,
    "compact JSON": _compact,
    "JSON in JSON": lambda *pair: json.dumps(_fields("options", _json(*pair))),
    "JSON in JSON in JSON": lambda *pair: json.dumps(json.dumps(_fields("x", _json(*pair)))),
    "repr": lambda *pair: repr(_fields(*pair)),
    "repr of JSON": lambda *pair: repr(_fields("options", _json(*pair))),
    "repr of bytes": lambda *pair: repr(_compact(*pair).encode()),
    "query": lambda *pair: _query(**_fields(*pair)),
    "percent query": lambda *pair: _query(quote, **_fields(*pair)),
    "encoded twice": lambda name, value: _query(quote, **_fields(name, quote(value, safe=""))),
    "query in a query": lambda *pair: _query(next=_query(quote, **_fields(*pair)), kept="here"),
    "first of an inner query": lambda name, value: _query(
        next=_query(**{name: value, "first": 1}), kept="here"
    ),
    "first of an innermost query": lambda name, value: _query(
        back=_query(next=_query(**{name: value, "first": 1})), kept="here"
    ),
    "JSON in a query": lambda *pair: _query(quote, options=_compact(*pair), kept="here"),
    "spaced JSON in a query": lambda *pair: _query(options=_json(*pair), kept="here"),
    "JSON in a query in a query": lambda *pair: _query(
        next=_query(quote, options=_compact(*pair)), kept="here"
    ),
}
written = pytest.mark.parametrize("written", WRITTEN)
# In a repr of JSON, and in an address as it is, this cannot be told from the end of the text.
AMBIGUOUS = 'Left7","Right9'


def leaks(shown):
    """The halves of a password that can still be read."""
    return [half for half in ("Left7", "Right9") if half in shown]


def leaking(show, *kept, passwords=PASSWORDS):
    """What is shown of each password that does not hide it, or does not keep all else."""
    return {
        password: shown
        for password in passwords
        if leaks(shown := show(password)) or not all(one in shown for one in kept)
    }


@written
def test_a_secret_is_found_by_its_name_wherever_it_is_written(written):
    """Whatever characters a password holds, it shows as *** under each name of the interface, and
    all else stays."""
    write = WRITTEN[written]
    sure = [one for one in PASSWORDS if one != AMBIGUOUS or not written.startswith("repr of")]
    show = lambda password: mask(write("login_password", password))  # noqa: E731
    assert not leaking(show, "here", "login_password", passwords=sure)
    for name in NAMES:
        shown = mask(write(name, "Left7Right9"))
        assert not leaks(shown)
        assert MASK in shown
        assert name in shown


@pytest.mark.parametrize("encoded", [True, False], ids=["percent-encoded", "raw"])
@written
def test_a_login_in_an_address_is_found_wherever_the_address_is_written(written, encoded):
    """The password inside rtsp://user:password@host shows as ***, and its host is still there."""

    def show(password):
        login = quote(password, safe="") if encoded else password
        return mask(WRITTEN[written]("userAddress", f"rtsp://admin:{login}@192.0.2.7:554/stream1"))

    sure = [one for one in PASSWORDS if encoded or one != AMBIGUOUS]
    assert not leaking(show, "192.0.2.7", "here", passwords=sure)


def test_an_address_by_itself_never_shows_its_password():
    """An address by itself hides whatever stands between its login name and its host; so does one
    of any scheme in a text, without a user name too."""
    address = "rtsp://admin:{}@192.0.2.7:554/stream1".format
    assert not leaking(lambda password: repr(Guarded(address(password))), "192.0.2.7")
    assert not leaking(lambda password: masked(address(password), "user_address"), "192.0.2.7")
    for scheme in ("rtsp", "RTSP", "rtsps", "sip", "h323", "http", "https"):
        for user in ("admin", ""):
            told = mask(f"to {scheme}://{user}:hunter2@host/x")
            assert told == f"to {scheme}://{user}:***@host/x"


@pytest.mark.parametrize("name", NAMES)
def test_every_secret_name_is_known_in_a_structure(name):
    """Its value shows as *** in the repr of a guarded answer, and is gone from a masked one, also
    where it came as a number."""
    for value in ("Left7Right9", 777777, 777777.5, ["Left7Right9", 777777]):
        answer = {"data": {name: value}}
        for shown in (repr(guard(answer)), repr(masked(answer))):
            assert not leaks(shown)
            assert "777777" not in shown
            assert MASK in shown
    assert repr(guard({"data": {name: "x"}})) == repr({"data": {name: MASK}})
    assert masked({"data": {name: "x"}}) == {"data": {name: MASK}}


@each("given", "refused")
def test_an_address_that_is_refused_is_not_quoted_with_its_password(given):
    """The error about a wrong address, of a device or of a service, does not show its password."""
    for check in (partial(address_checked, B1), lambda url: base_address(url, "base_url")):
        with pytest.raises(ck.ConfkitError) as caught:
            check(given)
        assert "ter2" not in str(caught.value)


def _small(value):
    return "".join(
        chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"%{byte:02x}"
        for byte in value.encode()
    )


ENCODINGS = {
    "plain": str,
    "percent-encoded": lambda value: quote(value, safe=""),
    "percent-encoded, slashes kept": quote,
    "percent-encoded in lower case": _small,
    "percent-encoded twice": lambda value: quote(quote(value, safe=""), safe=""),
    "form-encoded": quote_plus,
    "HTML": escape,
    "JSON": lambda value: json.dumps(value)[1:-1],
    "JSON with its letters": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "JSON with escaped slashes": lambda value: json.dumps(value)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda value: json.dumps(json.dumps(value))[3:-3],
    "JSON in a query": lambda value: quote(json.dumps(value)[1:-1], safe=""),
    "repr": lambda value: repr(value)[1:-1],
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_known_value_is_hidden_in_each_of_its_usual_encodings(encoding):
    """A value that is named as secret shows nowhere, although no name stands beside it."""

    def show(password):
        return mask(f"the device said {ENCODINGS[encoding](password)} is wrong", password)

    assert not leaking(show, "the device said ", MASK)


EXACTLY = [
    # Of two secrets, one of them the beginning of the other, nothing is left over.
    *(("it said hunter2secret and hunter", "it said *** and ***", values)
      for values in (("hunter", "hunter2secret"), ("hunter2secret", "hunter"))),
    # A value of one or two letters is not searched for, and is still hidden by its name.
    ("a cat, login_password=ca", "a cat, login_password=***", ("ca", "", "a")),
    # What a shell puts in place of the token may be reported; what stands behind it is looked at.
    ("export CONFKIT_TOKEN=$(confkit token) access_token=abcd",
     "export CONFKIT_TOKEN=$(confkit token) access_token=***", ()),
    # What stands behind a secret is not lost with it.
    ("f(login_password=ask(), more=1)", "f(login_password=***, more=1)", ()),
    ("secret_key=Left7Right9, and", "secret_key=***, and", ()),
    # Of an authorization header only the scheme is left.
    *((f"{name}: Basic dXNlcjpwdw==\r\nHost: h", f"{name}: Basic ***\r\nHost: h", ())
      for name in ("Authorization", "authorization", "Proxy-Authorization")),
    *((json.dumps({"a": 1, "host_password": value, "kept": "here"}),
       '{"a": 1, "host_password": ***, "kept": "here"}', ())
      for value in ({"value": "Left7Right9", "more": ["Left7"]}, ["Left7", {"x": "Right9"}])),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown", "values"), EXACTLY)
def test_a_secret_goes_and_all_else_stays(text, shown, values):
    """What is masked, and what stands around it."""
    assert mask(text, *values) == shown
    assert not leaks(mask(text[:-30], *values))


def test_the_authorization_header_is_hidden_in_any_form():
    """In a dict, and one of many fields."""
    assert "dXNl" not in mask(repr({"Authorization": "Basic dXNlcjpwdw=="}))
    assert "0123abcd" not in mask('Authorization: Digest username="u", response="0123abcd"')


def test_a_text_that_is_cut_off_inside_a_secret_is_masked_to_its_end():
    """Where an answer ends in the middle of a secret, its beginning does not show; nor does a
    secret behind a name whose letters were spoilt."""
    whole = json.dumps({"kept": "here", "host_password": "Left7Right9"})
    for text in (whole, json.dumps({"kept": "here", "options": whole})):
        for end in range(text.index("Left7") + 1, len(text)):
            assert "Lef" not in mask(text[:end])
    body = b'{"host_password\xff\xfe": "Left7Right9", "topic": "here"}'
    shown = mask(body.decode("utf-8", "replace"))
    assert not leaks(shown)
    assert "here" in shown


@each("text", "code")
def test_a_secret_is_found_in_code_settings_and_pages(text):
    """An argument of a call, a line of a profile, a number and a member in HTML are masked too."""
    shown = mask(text)
    assert not leaks(shown)
    assert "7777" not in shown


@each("text", "plain")
def test_a_text_without_secrets_stays_as_it_is(text):
    """Masking changes nothing where nothing is secret."""
    assert mask(text) == text


SAID = {
    "plain": str,
    "HTML": lambda text: f"<td>{escape(text)}</td>",
    "a sentence": lambda text: f"the topic '{text}' is taken: choose another",
    **{
        name: partial(write, "topic")
        for name, write in WRITTEN.items()
        if name not in ("repr of bytes", "JSON in JSON in JSON")  # which tear letters beyond ASCII
    },
}


@pytest.mark.parametrize("said", SAID)
@each("text", "headings")
def test_a_heading_that_somebody_wrote_stays_as_it_is(said, text):
    """A word that is also a secret's name, with a colon and words behind it, is a text of people's
    and is not spoilt, however it is written down."""
    assert mask(SAID[said](text)) == SAID[said](text)


@each("text", "hidden")
def test_what_is_no_text_behind_a_name_is_hidden(text):
    """Behind the same words stays hidden whatever may be a secret: what holds a digit among its
    letters or is long, a password, and all behind an equals sign, a quote or a name that is no
    word of English."""
    shown = mask(text)
    assert not leaks(shown)
    assert MASK in shown
    for secret in ("swordfish", "mwfj", "902817", "deadbeef", "4839", "1234", "5678", "qlzx"):
        assert secret not in shown.lower()


def test_a_topic_stays_as_it_is_wherever_a_room_is_shown(sandbox):
    """Such a topic is not spoilt in the record, the frames, the calls, their curl line and code."""
    client, topic = sandbox.connect(), "Token: weekly sync"
    room_id = ck.create_room(client, topic, "ops", host_password="Left7Right9")
    room = ck.get_room(client, room_id)
    call, answered = client.calls[-2:]
    assert f"topic={topic!r}" in repr(room)
    assert ck.rooms_frame(room).topic[0] == topic
    assert quote(topic) in repr(call)
    assert quote(topic) in ck.calls_frame(call).url[0]
    assert f"'topic={topic}'" in call.as_curl()
    assert f'"topic": "{topic}"' in call.as_python()
    assert topic in answered.answer
    assert not leaks(f"{room} {client.calls} {call.as_curl()} {call.as_python()} {answered.answer}")


PRINTABLE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(name=st.sampled_from(NAMES), password=PRINTABLE, flag=st.booleans())
@example("password", '\\"', True)
@example("password", "\\", False)
def test_what_is_masked_keeps_its_form(name, password, flag):
    """JSON stays JSON, also in JSON, the repr of a dict, a query and an address stay what they are:
    the same members, the secret one ***, whatever it was."""
    fields, hidden = {"a": 1, name: password, "z": [2]}, {"a": 1, name: MASK, "z": [2]}
    assert json.loads(mask(json.dumps(fields, ensure_ascii=flag))) == hidden
    outer = json.loads(mask(json.dumps({"options": json.dumps(fields), "y": 2})))
    assert json.loads(outer["options"]) == hidden
    assert outer["y"] == 2
    assert ast.literal_eval(mask(repr(fields))) == hidden
    query = urlencode({"a": 1, name: password, "z": "2"}, quote_via=quote_plus if flag else quote)
    url = urlsplit(mask(f"http://h:8080/p?{query}"))
    assert parse_qs(url.query) == {"a": ["1"], name: [MASK], "z": ["2"]}
    login = quote(password, safe="")
    assert mask(f"at rtsp://admin:{login}@host:554/x.") == "at rtsp://admin:***@host:554/x."


@given(text=st.text(max_size=300), value=st.text(max_size=12))
def test_masking_never_fails(text, value):
    """Any text can be masked, with any value named as secret."""
    assert isinstance(mask(text, value), str)


@each("piece", "busy")
def test_masking_takes_time_that_grows_with_the_length_alone(piece):
    """Of a text ten times as long at most thirty times the work, side by side."""
    short, long = piece * (4_000 // len(piece)), piece * (40_000 // len(piece))
    for _ in range(3):  # another process may have been at work meanwhile
        began = time.process_time()
        for _ in range(10):
            mask(short)
        between = time.process_time()
        mask(long)
        if time.process_time() - between < 3 * (between - began) + 0.01:
            return
    pytest.fail(f"{piece!r} keeps masking busy")


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (Secret, "hunter2", "'***'"),
        (Secret, "", "''"),
        (Guarded, "rtsp://admin:hunter2@host:554/x", "'rtsp://admin:***@host:554/x'"),
    ],
)
def test_a_secret_is_a_text_to_code_and_stars_to_people(kind, value, shown):
    """A Secret, and the password in a Guarded address, equals its text and shows only as ***, in
    containers, copies and pickles too."""
    held = kind(value)
    assert {value: 1}[held] == 1
    for one in (held, copy.copy(held), copy.deepcopy(held), pickle.loads(pickle.dumps(held))):
        assert isinstance(one, kind)
        assert one == value
        assert repr([one]) == f"[{shown}]"


LOGIN = {"login_name": "admin", "login_password": "hunter2"}
NESTED = {
    "ret": 0,
    "host_password": "hunter2",
    "data": {"items": [
        {"options": LOGIN},
        {"options": json.dumps(LOGIN), "userAddress": "rtsp://a:hunter2@h/x"},
    ]},
    "digest": ["hunter2"],
    "empty": {"password": "", "token": None},
}  # fmt: skip


def test_guarding_and_masking_keep_the_shape():
    """A guarded answer equals the answer, and its repr holds no secret at any depth; a masked one
    is plain data from which no secret can be read."""
    guarded, shown = guard(NESTED), masked(NESTED)
    assert json.loads(json.dumps(guarded)) == guarded == NESTED
    assert "hunter2" not in repr(guarded) + json.dumps(shown)
    assert "admin" in repr(guarded)
    assert shown["ret"] == 0
    assert shown["host_password"] == MASK
    plain, text = shown["data"]["items"]
    assert plain["options"] == {"login_name": "admin", "login_password": MASK}
    assert text["userAddress"] == "rtsp://a:***@h/x"
    assert shown["empty"] == NESTED["empty"]
    assert type(masked(Guarded("rtsp://a:b@h"))) is str
