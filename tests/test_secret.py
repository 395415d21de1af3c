"""What is secret never shows: values that hide themselves, and texts from which it is taken."""

import copy
import json
import pickle
import time
from html import escape
from urllib.parse import quote, quote_plus, urlencode

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confkit as ck
from confkit.client import base_address
from confkit.devices import check_address
from confkit.operations import B1
from confkit.secret import Secret, SecretAddress, excerpt, hide, redact, reveal, secrets_in


@pytest.mark.parametrize("kind", [Secret, SecretAddress])
def test_a_secret_shows_nowhere_and_is_revealed_to_who_asks(kind):
    """Not as text, in a format, a container, a copy or a table; JSON refuses it."""
    secret = kind("rtsp://admin:hunter2@192.0.2.7/x")
    device = ck.Device("1", "cam", None, secret, "", {"login_password": secret})
    for value in (secret, copy.deepcopy(secret), pickle.loads(pickle.dumps(secret))):
        assert type(value) is kind
        assert value == secret == secret.reveal() != Secret("another")
        assert {secret.reveal(): 1}[value] == 1
        frame = pd.DataFrame([device]).to_string()
        for text in (str(value), repr(value), f"{value:>40}", f"{[value]}", repr(device), frame):
            assert "***" in text
            assert "hunter2" not in text
        with pytest.raises(TypeError):
            json.dumps(value)
    assert "hunter2" in secret.reveal()
    assert (bool(Secret("")), f"{Secret('')}") == (False, "")


ADDRESSES = {
    "rtsp://admin:hunter2@192.0.2.7:554/x": "rtsp://admin:***@192.0.2.7:554/x",
    "rtsp://:hunter2@192.0.2.7/x": "rtsp://:***@192.0.2.7/x",
    "rtsp://admin:hun@ter/2@192.0.2.7/x": "rtsp://admin:***@192.0.2.7/x",
    "rtsp://192.0.2.7/admin:hunter2/ch2": "rtsp://192.0.2.7/admin:***/ch2",
    "rtsp://h/x?authbasic=aHVudGVyMg&ch=2": "rtsp://h/x?authbasic=***&ch=2",
    "rtsp://h/user=a&pwd=hunter2&ch=1.sdp": "rtsp://h/user=a&pwd=***&ch=1.sdp",
    "rtsp://h/user=a_password=hunter2_ch=1.sdp": "rtsp://h/user=a_password=***_ch=1.sdp",
    "rtsp://u:hunter2@h/a:hunter2/c?pwd=hunter2": "rtsp://u:***@h/a:***/c?pwd=***",
    # Malformed.
    "rtsp:/admin:hunter2@192.0.2.7/x": "rtsp:/admin:***@192.0.2.7/x",
    "rtsp//admin:hunter2@192.0.2.7/x": "rtsp//admin:***@192.0.2.7/x",
    "admin:hunter2@192.0.2.7:554/x": "admin:***@192.0.2.7:554/x",
    "//admin:hun ter2@192.0.2.7/x": "//admin:***@192.0.2.7/x",
    "admin:hunter2@": "admin:***@",
}
NO_PASSWORD = """
rtsp://admin@192.0.2.7/x
rtsp://192.0.2.7:554/h264/ch1/main
rtsp://[::1]:554/x
rtsp://h/user=admin&password=&channel=1
rtsp://192.0.2.7:6549/avd:1:2/x
"""


def test_an_address_shows_without_its_password():
    """And otherwise as it is, as does an error that quotes it."""
    for address, masked in (ADDRESSES | {text: text for text in NO_PASSWORD.split("\n")}).items():
        assert str(SecretAddress(address)) == masked
        assert bool(SecretAddress(address).passwords()) == (masked != address)
        if masked != address:
            with pytest.raises(ck.ConfigError) as refused:
                base_address(address, "base_url")
            assert "ter2" not in str(refused.value)
        if "//" in address and "://" not in address:
            with pytest.raises(ck.ParameterError) as refused:
                check_address(B1, address)
            assert masked in str(refused.value)
    assert SecretAddress("rtsp://a:p%40ss@h/x").passwords() == ["p%40ss", "p@ss"]


def test_hiding_and_revealing_keep_the_shape():
    """What stands under a secret's name is hidden, at any depth and of any type, and so is an
    address with a login; revealed it is as it was."""
    login = {"login_name": "admin", "login_password": "hunter2", "pin_password": 4711}
    address = {"userAddress": "rtsp://a:hunter2@h/x", "assist_address": "a:hunter2@h"}
    plain = {"password": "", "token": None, "topic": "http://h/x", "on_password": True}
    value = [{"ret": 0, "digest": ["hunter2", {"x": 5.5}], "data": {"options": login}}, address]
    hidden = hide([*value, plain])
    assert reveal(hidden) == [*value, plain]
    assert not any(secret in repr(hidden) for secret in ("hunter2", "4711", "5.5"))
    assert not any(isinstance(item, Secret) for item in hidden[-1].values())
    assert {*secrets_in(hidden)} == {"hunter2", "4711", "5.5"}


REDACTED = [
    # Behind a name: in code, JSON, a query, HTML, and JSON or a query in these.
    ('f(login_password="hunter2", x=1)', 'f(login_password="***", x=1)'),
    ("{'hostPassword': 'hunter2', 'a': 1}", "{'hostPassword': '***', 'a': 1}"),
    ('{"login_password": 471147, "a":1}', '{"login_password": ***, "a":1}'),
    (
        '{"a": "{\\"host_password\\": \\"hun\\\\\\"ter2\\", \\"b\\": 1}"}',
        '{"a": "{\\"host_password\\": \\"***\\", \\"b\\": 1}"}',
    ),
    ("GET /p?access_token=hunter2%3D&room_id=1 HTTP", "GET /p?access_token=***&room_id=1 HTTP"),
    (
        "options=%7B%22login_password%22%3A%22hunter2%22%7D&a=1",
        "options=%7B%22login_password%22%3A%22***%22%7D&a=1",
    ),
    ("{&quot;password&quot;: &quot;hunter2&quot;}", "{&quot;password&quot;: &quot;***&quot;}"),
    ("client_secret=hunter2, passphrase: hunter2", "client_secret=***, passphrase: ***"),
    ("b'token': b'hunter2'", "b'token': b'***'"),
    ("wrong password: hunter2 for admin", "wrong password: *** for admin"),
    ("pass=hunter2&a=1", "pass=***&a=1"),
    # A structure behind it ends nowhere; nor does a text that is cut off.
    ('{"a": 1, "host_password": {"value": "hunter2"}, "b": 2}', '{"a": 1, "host_password": ***'),
    ('{"a": 1, "host_password": "hunter2', '{"a": 1, "host_password": "***'),
    ('{"host_password\ufffd": "hunter2", "a": 1}', '{"host_password\ufffd": "***", "a": 1}'),
    # Headers.
    ("Authorization: Basic hunter2\r\nHost: h", "Authorization: ***\r\nHost: h"),
    ("{'Proxy-Authorization': 'Basic hunter2', 'a': 1}", "{'Proxy-Authorization': '***', 'a': 1}"),
    ('Authorization: Digest username="u", response="hunter2"', "Authorization: ***"),
    # Logins in addresses.
    ("at rtsp://admin:hunter2@192.0.2.7/x.", "at rtsp://admin:***@192.0.2.7/x."),
    ("at rtsp://admin:hun@ter2@192.0.2.7/x.", "at rtsp://admin:***@192.0.2.7/x."),
    (
        "userAddress=rtsp%3A%2F%2Fadmin%3Ahunter%25402%40192.0.2.7%2Fx&roomId=1",
        "userAddress=rtsp%3A%2F%2Fadmin%3A***%40192.0.2.7%2Fx&roomId=1",
    ),
    ('{"x": "rtsp:\\/\\/admin:hunter2@h\\/x"}', '{"x": "rtsp:\\/\\/admin:***@h\\/x"}'),
    ("rtsp://h/admin:hunter2/ch1 and ch2", "rtsp://h/admin:***/ch1 and ch2"),
    ("cut off at rtsp://admin:hunt", "cut off at rtsp://admin:***"),
]
# What an advice says can be run as it is written.
PLAIN = """
Room 5: 10:30
tokenizer=5, a=b:c, 100 % of 5 = 5, %3A%2F%2F
the digestion: fine
http://h:8080/rtc/room/get?room_id=1&user_id=2, it runs at http://192.0.2.7:8080.
(at rtsp://host:554) rtsp://192.0.2.7:6549/avd:1:2/x
{"ret": 0, "topic": "Weekly: sync", "owner_id": "ops@example.org"}
<b>password</b> <password_hint>x</password_hint>
PASS: 1 of 2 checks passed.
export CONFKIT_TOKEN=$(confkit token)
curl 'access_token='"$CONFKIT_TOKEN"
ck.import_device(client, '1', 'cam', login_name='a', login_password=ck.ask_secret())
"""


def test_a_text_is_shown_without_the_secrets_in_it():
    """By the name in front of them, or as a login; all else stays."""
    for text, masked in (*REDACTED, *((text, text) for text in (PLAIN, *PLAIN.splitlines()))):
        assert redact(text) == redact(masked) == masked


WRITTEN = {
    "plain": str,
    "JSON": json.dumps,
    "JSON of JavaScript": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON with letters": lambda text: json.dumps(text, ensure_ascii=False),
    "a query": lambda text: urlencode({"q": text}),
    "a path": quote,
    "a query with +": quote_plus,
    "small hexadecimals": lambda text: quote(text, safe="").lower(),
    "HTML": escape,
    "Python": repr,
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_known_value_is_hidden_however_it_is_written(written):
    """Of two the longer first, so that nothing of it is left. What is very short is not looked
    for."""
    for odd in (*"\"'\\& <>/=+%@\n", "é密😀", '","', "%22"):
        value = f"Left7{odd}Right9"
        masked = redact(f"before {written(value)} after", [Secret(value), "Left7", "", "be", "f"])
        assert "left7" not in masked.lower(), (odd, masked)
        assert "right9" not in masked.lower(), (odd, masked)
        assert (masked[:7], masked[-6:]) == ("before ", " after")


@given(text=st.text(max_size=300), value=st.text(max_size=12))
def test_redacting_never_fails(text, value):
    assert isinstance(redact(text, [value]), str)
    assert isinstance(str(SecretAddress(text)), str)


PIECES = """
a|rtsp://a:|token=|"token":"|\\\\|%3A//|%3A%2F%2F|"password\\|a://:|authorization: a |token={
authorization:'a|token%22%3A%22|"a://:|a://:@'|://a/b:|token=,,,| token = |&quot;|%3A%2F%2Fa%3A
"""


@pytest.mark.nightly  # how fast the machine is counts
@pytest.mark.parametrize("piece", [*PIECES.replace("\n", "|").strip("|").split("|"), "://a/b/"])
def test_redacting_takes_time_that_grows_with_the_length_alone(piece):
    """Of a text ten times as long at most thirty times the work, side by side."""
    for _ in range(3):  # another process may have been at work meanwhile
        began = time.process_time()
        for _ in range(10):
            redact(piece * (4_000 // len(piece)))
        between = time.process_time()
        redact(piece * (40_000 // len(piece)))
        if time.process_time() - between < 3 * (between - began) + 0.01:
            return
    pytest.fail(f"{piece!r} keeps redacting busy")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"ret": 602, "msg": "no such room",}',) * 2,
        ('{"ret":0}<html>Bad</html>',) * 2,
        ('{"ret":0}{"ret":0,"host_passwo',) * 2,
        ('$.a_1({"host_password":"x9"});\n', '$.a_1({"host_password":"***"}); '),
        ('{"ret": 0, "host_password": "Qu8jz', '{"ret": 0, "host_password": "***'),
        ('\ufeff {"ret": 0}', '  {"ret": 0}'),
        ("[" * 5000, "[" * 120),
    ],
)
def test_what_is_wrong_with_a_response_is_seen(body, shown):
    """It shows as it is, complete or cut off, on one line."""
    assert excerpt(body.encode()) == shown


def test_a_response_that_is_cut_anywhere_shows_no_part_of_a_password():
    """Wherever its bytes end, with a page behind it or not, and in other encodings."""
    room = {"ret": 0, "topic": "Weekly sync", "host_password": "Qu8jzPde0Ig", "mode": 1}
    body = json.dumps(room)
    cuts = range(body.index("Qu8") + 1, len(body))
    bodies = [
        (body[:end] + behind).encode()
        for end in cuts
        for behind in ("", "\r\n0\r\n", "<html>", "\ufffd")
    ]
    bodies += [body.encode(name) for name in ("utf-16", "utf-16-le", "utf-32-be", "utf-8-sig")]
    for content in bodies:
        text = excerpt(content, (), 2000)
        assert "Weekly sync" in text
        assert "Qu" not in text


@pytest.mark.parametrize(("length", "size"), [(30, 120), (56, 2000), (172, 120)])
def test_a_known_secret_is_hidden_each_time_that_it_is_quoted(length, size):
    """Also where the part that is looked at ends inside it; a long response's beginning shows."""
    secret = ("Secret" + "0123456789" * 20)[:length]
    for repeats in (1, 24, 900):
        for more in range(0, length, 7):
            text = excerpt(b"x" * more + repeats * secret.encode(), (secret,), size)
            assert not set(secret) & set(text)
    body = json.dumps({"ret": 500, "cause": secret, "message": "NullPointer " * 2000})
    assert excerpt(body.encode(), (secret,), size) == body.replace(secret, "***")[:size]
