"""Masking: no secret survives in a text that people read, and nothing else is lost."""

import ast
import copy
import json
import pickle
import re
import time
import tomllib
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.client import base_address
from confkit.devices import address_checked
from confkit.operations import B1
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


def form(fields, quoting=quote_plus):
    """An address with these fields in its query."""
    return "http://h:8080/p?" + urlencode(fields, safe="*", quote_via=quoting)


percent = partial(form, quoting=quote)
compact = partial(json.dumps, separators=(",", ":"), ensure_ascii=False)


def percent_twice(fields):
    return percent({name: quote(str(value), safe="") for name, value in fields.items()})


def named_first(fields):
    return form({name: value for name, value in fields.items() if name != "first"})


def bytes_repr(fields):
    return repr(compact(fields).encode())


# How a member and its value are written down: each text stands inside the next one.
LAYERS = [
    [json.dumps],
    [compact],
    [json.dumps, json.dumps],
    [repr],
    [json.dumps, repr],
    [bytes_repr],
    [form],
    [percent],
    [percent_twice],
    [percent, form],
    [named_first, form],
    [compact, percent],
    [json.dumps, form],
    [compact, percent, form],
]


def write(layers, name, value):
    """The member, among others, as these layers write it."""
    for layer in layers:
        name, value = "options", layer({"first": 1, name: value, "kept": "here"})
    return value


written = pytest.mark.parametrize("written", [partial(write, layers) for layers in LAYERS])
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
    unsure = written.args[0] in ([json.dumps, repr], [bytes_repr])
    sure = [one for one in PASSWORDS if one != AMBIGUOUS or not unsure]
    show = lambda password: mask(written("login_password", password))  # noqa: E731
    assert not leaking(show, "here", "login_password", passwords=sure)
    for name in NAMES:
        shown = mask(written(name, "Left7Right9"))
        assert not leaks(shown)
        assert MASK in shown
        assert name in shown


@pytest.mark.parametrize("encoded", [True, False], ids=["percent-encoded", "raw"])
@written
def test_a_login_in_an_address_is_found_wherever_the_address_is_written(written, encoded):
    """The password inside rtsp://user:password@host shows as ***, and its host is still there."""

    def show(password):
        login = quote(password, safe="") if encoded else password
        return mask(written("userAddress", f"rtsp://admin:{login}@192.0.2.7:554/stream1"))

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
        for shown in (repr(guard({"data": {name: value}})), repr(masked({"data": {name: value}}))):
            hidden = [MASK, MASK] if isinstance(value, list) and "[" in shown else MASK
            assert shown == repr({"data": {name: hidden}})


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


# As which a text of people's, or a secret that is known, may be written down.
SAID = [
    str,
    lambda text: f"<td>{escape(text)}</td>",
    lambda text: f"the topic '{text}' is taken: choose another",
    # The repr of bytes tears letters beyond ASCII.
    *(partial(write, layers, "topic") for layers in LAYERS if layers != [bytes_repr]),
]
KNOWN = [
    *SAID,
    quote,
    lambda text: re.sub("%..", _small, quote(text, safe="")),
    lambda text: json.dumps(text).replace("/", "\\/"),
]


def _small(found):
    return found[0].lower()


@pytest.mark.parametrize("known", KNOWN)
def test_a_known_value_is_hidden_in_each_of_its_usual_encodings(known):
    """A value that is named as secret shows nowhere, although no secret's name stands beside it."""
    assert not leaking(lambda password: mask(known(password), password), MASK)


EXACTLY = [
    # Of two secrets, one of them the beginning of the other, nothing is left over.
    *(("it said hunter2secret and hunter", "it said *** and ***", values)
      for values in (("hunter", "hunter2secret"), ("hunter2secret", "hunter"))),
    # A value of one or two letters is not searched for, and is still hidden by its name.
    ("a cat, login_password=ca", "a cat, login_password=***", ("ca", "", "a")),
    # What a shell puts in place of the token may be reported; what stands behind it is looked at.
    ("export CONFKIT_TOKEN=$(confkit token) access_token=abcd",
     "export CONFKIT_TOKEN=$(confkit token) access_token=***", ()),
    # Our own words are no secret: the code that asks for one, and a verdict.
    *((words, words, ()) for words in (
        "ck.import_device(client, '1', 'cam', login_name='a', login_password=ck.ask_secret())",
        "PASS: 1 of 2 checks passed.")),
    # What stands behind a secret is not lost with it.
    ("f(login_password=ask(), more=1)", "f(login_password=***, more=1)", ()),
    ("secret_key=Left7Right9, and", "secret_key=***, and", ()),
    # Of an authorization header only the name is left.
    *((f"{name}: Basic dXNlcjpwdw==\r\nHost: h", f"{name}: ***\r\nHost: h", ())
      for name in ("Authorization", "authorization", "Proxy-Authorization")),
    (repr({"Authorization": "Basic dXNlcjpwdw=="}), "{'Authorization': '***'}", ()),
    # Of several fields none can be told apart.
    ('Authorization: Digest username="u", response="0123abcd"', "Authorization: ***", ()),
    # Behind a password that is an object or a list nothing shows: where it ends is not clear.
    *((json.dumps({"a": 1, "host_password": value, "z": 2}), '{"a": 1, "host_password": ***', ())
      for value in ({"value": "Left7Right9", "more": ["Left7"]}, ["Left7", {"x": "Right9"}])),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown", "values"), EXACTLY)
def test_a_secret_goes_and_all_else_stays(text, shown, values):
    """What is masked, and what stands around it."""
    assert mask(text, *values) == shown
    assert not leaks(mask(text[:-30], *values))


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


@each("text", "headings")
def test_a_heading_that_somebody_wrote_stays_as_it_is(text):
    """A word that is also a secret's name, with a colon and words behind it, is a text of people's
    and is not spoilt, however it is written down."""
    for written in (say(text) for say in SAID):
        assert mask(written) == written


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


PRINTABLE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(name=st.sampled_from(NAMES), password=PRINTABLE)
@example("password", '\\"')
@example("password", "\\")
def test_what_is_masked_keeps_its_form(name, password):
    """JSON stays JSON, also in JSON, a query, the repr of a dict and an address stay what they are:
    the same members, the secret one ***, whatever it was."""
    for layers in ([json.dumps], [compact], [json.dumps, json.dumps], [form], [percent]):
        assert mask(write(layers, name, password)) == write(layers, name, MASK)
    shown = mask(write([repr], name, password))
    assert repr(ast.literal_eval(shown)) == write([repr], name, MASK)
    login = quote(password, safe="")
    assert mask(f"at rtsp://admin:{login}@host:554/x.") == "at rtsp://admin:***@host:554/x."


@given(text=st.text(max_size=300), value=st.text(max_size=12))
def test_masking_never_fails(text, value):
    """Any text can be masked, with any value named as secret."""
    assert isinstance(mask(text, value), str)


@pytest.mark.nightly  # how fast the machine is counts
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


def test_guarding_and_masking_keep_the_shape():
    """A guarded answer equals the answer, and its repr holds no secret at any depth; a masked one
    is plain data from which no secret can be read."""
    login = {"login_name": "admin", "login_password": "hunter2"}
    address = {"options": json.dumps(login), "userAddress": "rtsp://a:hunter2@h/x"}
    nothing = {"password": "", "token": None}
    answer = {"ret": 0, "digest": ["hunter2"], "data": [{"options": login}, address, nothing]}
    hidden = login | {"login_password": MASK}
    masked_address = {"options": json.dumps(hidden), "userAddress": "rtsp://a:***@h/x"}
    shown = {"ret": 0, "digest": [MASK], "data": [{"options": hidden}, masked_address, nothing]}
    guarded = guard(answer)
    assert json.loads(json.dumps(guarded)) == guarded == answer
    assert repr(guarded) == repr(shown)
    assert masked(answer) == shown
    assert type(masked(Guarded("rtsp://a:b@h"))) is str
