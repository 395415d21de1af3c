"""What is secret never shows: values that hide themselves, and texts from which it is taken."""

import copy
import json
import pickle
from html import escape
from urllib.parse import quote

import pandas as pd
import pytest

import confkit as ck
from confkit.client import base_address
from confkit.secret import Secret, SecretAddress, excerpt, hide, redact, reveal, secrets_in


@pytest.mark.parametrize("kind", [Secret, SecretAddress])
def test_a_secret_shows_nowhere_and_is_revealed_to_who_asks(kind):
    """Not as text, in a format, a container, a copy or a table; JSON refuses it."""
    secret = kind("rtsp://admin:hunter2@192.0.2.7/x")
    device = ck.Device("1", "cam", None, secret, "", {"login_password": secret})
    for value in (secret, copy.deepcopy(secret), pickle.loads(pickle.dumps(secret))):
        assert value == secret == secret.reveal() != Secret("another")
        frame = pd.DataFrame([device]).to_string()
        for text in (str(value), repr(value), f"{value:>40}", f"{[value]}", repr(device), frame):
            assert "***" in text
            assert "hunter2" not in text
        with pytest.raises(TypeError):
            json.dumps(value)


ADDRESSES = {
    "rtsp://admin:hunter2@192.0.2.7:554/x": "rtsp://admin:***@192.0.2.7:554/x",
    "rtsp://admin:hun@ter/2@192.0.2.7/x": "rtsp://admin:***@192.0.2.7/x",
    "rtsp://192.0.2.7/admin:hunter2/ch2": "rtsp://192.0.2.7/admin:***/ch2",
    "rtsp://h/x?authbasic=aHVudGVyMg&ch=2": "rtsp://h/x?authbasic=***&ch=2",
    "rtsp://h/user=a_password=hunter2_ch=1.sdp": "rtsp://h/user=a_password=***_ch=1.sdp",
    "rtsp://u:hunter2@h/a:hunter2/c?pwd=hunter2": "rtsp://u:***@h/a:***/c?pwd=***",
    "rtsp://h/iphone/11?admin:hunter2&": "rtsp://h/iphone/11?admin:***&",
    "rtsp://h/x?user=a:hunter2&streamKey=hunter2": "rtsp://h/x?user=a:***&streamKey=***",
    "rtsp:/admin:hunter2@192.0.2.7/x": "rtsp:/admin:***@192.0.2.7/x",
    "admin:hunter2@192.0.2.7:554/x": "admin:***@192.0.2.7:554/x",
}
NO_PASSWORD = ["rtsp://admin@h/x", "rtsp://h/user=a&password=&ch=1", "rtsp://h:6549/avd:1:2/x"]


def test_an_address_shows_without_its_password():
    """Also in an error that quotes it."""
    for address, masked in (ADDRESSES | {text: text for text in NO_PASSWORD}).items():
        assert str(SecretAddress(address)) == masked
        assert bool(SecretAddress(address).passwords()) == (masked != address)
        if masked != address:
            with pytest.raises(ck.ConfigError) as refused:
                base_address(address, "base_url")
            assert "ter2" not in str(refused.value)


def test_hiding_and_revealing_keep_the_shape():
    """What stands under a secret's name is hidden, at any depth and of any type, and so is an
    address with a login; revealed it is as it was."""
    login = {"login_password": "hunter2", "pin_password": 4711, "a": "rtsp://a:hunter2@h/x"}
    value = [{"ret": 0, "digest": ["hunter2", {"x": 5.5}], "data": {"options": login}}]
    hidden = hide(value)
    assert reveal(hidden) == value
    assert not any(secret in repr(hidden) for secret in ("hunter2", "4711", "5.5"))
    assert "hunter2" not in repr(hide({"password": b"hunter2"}))  # of a type that cannot be sent
    assert {*secrets_in(hidden)} == {"hunter2", "4711", "5.5"}


REDACTED = [
    ('f(login_password="hunter2", x=1)', 'f(login_password="***", x=1)'),
    ('{"login_password": 471147, "a":1}', '{"login_password": ***, "a":1}'),
    ('{"a": "{\\"host_password\\": \\"hunter2\\"}"}', '{"a": "{\\"host_password\\": \\"***\\"}"}'),
    ("GET /p?access_token=hunter2%3D&room_id=1 HTTP", "GET /p?access_token=***&room_id=1 HTTP"),
    ("a=%7B%22password%22%3A%22hunter2%22%7D&b=1", "a=%7B%22password%22%3A%22***%22%7D&b=1"),
    ("wrong password: hunter2 for admin", "wrong password: *** for admin"),
    ('{"a": 1, "host_password": "hunter2', '{"a": 1, "host_password": "***'),
    ('Authorization: Digest username="u", response="hunter2"', "Authorization: ***"),
    ("at rtsp://admin:hun@ter2@192.0.2.7/x.", "at rtsp://admin:***@192.0.2.7/x."),
    ("u=rtsp%3A%2F%2Fa%3Ahunter2%40h%2Fx&b=1", "u=rtsp%3A%2F%2Fa%3A***%40h%2Fx&b=1"),
    ("cut off at rtsp://admin:hunt", "cut off at rtsp://admin:***"),
]
# What an advice says can be run as it is written.
PLAIN = """
http://h:8080/rtc/room/get?room_id=1&user_id=2, it runs at http://192.0.2.7:8080.
{"ret": 0, "topic": "Weekly: sync", "owner_id": "ops@example.org"}
export CONFKIT_TOKEN=$(confkit token)
curl 'access_token='"$CONFKIT_TOKEN"
ck.import_device(client, '1', 'cam', login_name='a', login_password=ck.ask_secret())
"""


def test_a_text_is_shown_without_the_secrets_in_it():
    """By the name in front of them, or as a login; all else stays."""
    for text, masked in (*REDACTED, (PLAIN, PLAIN)):
        assert redact(text) == redact(masked) == masked


@pytest.mark.parametrize("written", [str, json.dumps, quote, escape, repr])
def test_a_known_value_is_hidden_however_it_is_written(written):
    """Of two the longer first, so that nothing of it is left."""
    for odd in (*"\"'\\& <>/=+%@\n", "é密😀", '","', "%22"):
        value = f"Left7{odd}Right9"
        masked = redact(f"before {written(value)} after", [Secret(value), "Left7", "", "be", "f"])
        assert "left7" not in masked.lower(), (odd, masked)
        assert "right9" not in masked.lower(), (odd, masked)
    nested = quote(quote("Left7Right9==", safe=""), safe="")  # in an address within an address
    assert "Left7" not in redact(f"next={nested}", ["Left7Right9=="])


def test_a_response_that_is_cut_anywhere_shows_no_part_of_a_password():
    """Wherever its bytes end, and in other encodings."""
    room = {"ret": 0, "topic": "Weekly sync", "host_password": "Qu8jzPde0Ig", "mode": 1}
    body = json.dumps(room)
    bodies = [body[:end].encode() for end in range(body.index("Qu8") + 1, len(body))]
    bodies += [body.encode(name) for name in ("utf-16", "utf-8-sig")]
    for content in bodies:
        text = excerpt(content, (), 2000)
        assert "Weekly sync" in text
        assert "Qu" not in text


def test_a_known_secret_is_hidden_each_time_that_it_is_quoted():
    """Also where the part that is looked at ends inside it."""
    secret = "Secret" + "0123456789" * 5
    for repeats in (1, 24, 900):
        for more in range(0, 56, 7):
            text = excerpt(b"x" * more + repeats * secret.encode(), (secret,), 2000)
            assert not set(secret) & set(text)
