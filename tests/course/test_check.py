"""`course.check`: right answers are right, and each usual mistake gets its own hint."""

import json

import pytest

import confkit as ck
from confkit import course

EXERCISES = ("digest", "token", "token-in-url", "devices-options", "errors-read", "errors-count")
TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
OPTIONS = "options=%7B%22login_name%22%3A%20%22admin%22%2C%20%22login_password%22%3A%20%22"

TEXTS = [  # exercise, answer, words of what is said
    ("digest", "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg==", "right"),
    ("digest", TOKEN, "this is the access token"),
    ("digest", "MWFj ZjMz", "contains blanks"),
    ("token", TOKEN, "right"),
    ("token", "SLAETk6ytPpbzvflqQsSso6mK3g=", "signature is of the raw bytes"),
    ("token", "MmYxOTA1ZDdjMTZjMjM4OWY5ZGViNWM5MWZkYzhiZWQyMzQ1NDVlZQ==", "trailing newline"),
    ("token", "N2RhOWI0OTAwZTAyZDJiMTRhMGIyOTYwNDQyODlmMWM2MWY5NDBhYg==", "earlier login"),
    ("token", "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg==", "this is the digest"),
    ("token", "0" * 100_000, "No mistake that we know"),  # at once, however long it is
    ("token", "abc", "has 3 characters; 56 are right"),
    ("token-in-url", f"access_token={TOKEN[:-2]}%3D%3D", "right"),
    ("token-in-url", f"{TOKEN[:-2]}%3D%3D", "Begin with the parameter's name"),
    ("token-in-url", f"access_token={TOKEN}", "not encoded"),
    ("token-in-url", f"access_token={TOKEN[:-2]}%253D%253D", "twice"),
    ("token-in-url", f"accessToken={TOKEN[:-2]}%3D%3D", "spelling of B1 and B3"),
    ("token-in-url", "access_token=abc", "not the token"),
    ("devices-options", f"{OPTIONS}50%25%20%26%20more%22%7D", "right"),
    ("devices-options", f"&{OPTIONS.replace('%20', '+')}50%25+%26+more%22%7D", "right"),
    ("devices-options", f"{OPTIONS}50%%20%26%20more%22%7D", "only in part"),
    ("devices-options", f"{OPTIONS}50%25%20%26%20less%22%7D", "not exactly the login"),
    ("devices-options", OPTIONS.removeprefix("options="), "Begin with the parameter's name"),
    ("devices-options", OPTIONS.replace("login_", "login").replace("name", "Name"), "snake_case"),
    ("devices-options", OPTIONS.replace("%22", "%27"), "double quotes"),
    ("devices-options", OPTIONS.replace("%", "%25"), "encoded twice"),
    ("devices-options", "options=%22%7B%5C%22login_name%5C%22%3A", "JSON encoder twice"),
    ("devices-options", 'options={"login_name": "admin", "x": "50% & more"}', "bare & ends"),
    ("devices-options", 'options={"login_name":"a","login_password":"b"}', "not percent-encoded"),
    ("devices-options", "options=admin%3A50%25%20%26%20more", "not a JSON object with the keys"),
]


def reader(fields=("ret", "result"), convert=int, absent=None, cautious=True):
    """A function that reads responses in this way."""

    def read(status, body):
        try:
            response = json.loads(body)
            code = next((response[name] for name in fields if name in response), absent)
            return None if code is None else convert(code)
        except (ValueError, AttributeError, TypeError):
            if cautious:
                return None
            raise

    return read


def counter(*caught, result=0, gone=None):
    """A function that counts users, and returns a result where one of these errors is caught."""

    def count(client, room_id):
        try:
            return len(ck.get_room_users(client, room_id))
        except ck.RoomNotFound:
            return gone
        except caught:
            return result

    return count


FUNCTIONS = [
    ("errors-read", reader(), "right"),
    ("errors-read", reader(convert=str), "success the answer is 0"),
    ("errors-read", reader(convert=lambda code: code), "convert them to int"),
    ("errors-read", reader(fields=("ret",)), "call the field result"),
    ("errors-read", reader(absent=0), "Without a result code nothing is known"),
    ("errors-read", reader(cautious=False), "raised JSONDecodeError"),
    ("errors-read", lambda s, b: reader()(s, b) if s == 200 else None, "whatever the HTTP status"),
    ("errors-read", lambda s, b: reader()(s, b) or None, "0 is a code too"),
    ("errors-read", "my_read", "the function itself"),
    ("errors-count", counter(ck.ConfkitError, result=None), "right"),
    ("errors-count", counter(gone=0), "(404)"),
    ("errors-count", counter(ck.ApiError, result=-1), "(700)"),
    ("errors-count", counter(ck.ProtocolError), "HTML"),
    ("errors-count", counter(ck.TransportError), "dropped connection"),
    ("errors-count", lambda client, room_id: 2, "nobody in it"),
    ("errors-count", lambda c, r: len(ck.get_room_users(c, r)) or None, "it is known"),
]


@pytest.mark.parametrize(("name", "answer", "words"), [*TEXTS, *FUNCTIONS])
def test_each_answer_gets_its_own_words(name, answer, words):
    """A right answer is right; a usual mistake is named, alone, and nothing looks like a secret."""
    feedback = course.check(name, answer)
    assert feedback.right == (words == "right"), feedback
    assert words == "right" or words.lower() in feedback.message.lower()
    for text in ("***", "demo_secret", "; and "):
        assert text not in feedback.message


class Hostile:
    """An answer that raises whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError("hunter2")

    def __call__(self, *_):
        raise SystemExit("login_password=hunter2")


GARBAGE = ["", "\ud800", b"\xff", 0, True, float("nan"), [], {}, object(), Hostile(), Hostile, len]
GARBAGE += [
    lambda: None,
    lambda *_: 1 / 0,
    lambda *_: Hostile(),
    "hunter2" * 1_000,
    ValueError("x"),
]


@pytest.mark.parametrize("name", EXERCISES)
def test_no_answer_of_any_type_raises_and_none_is_quoted(name):
    """Garbage of every type is wrong, in a sentence; None and the dots are no answer yet."""
    for answer in GARBAGE:
        feedback = course.check(name, answer)
        assert feedback.right is False, answer
        assert len(feedback.message) > 20
        assert "hunter2" not in repr(feedback)
    for nothing in (None, ...):
        assert repr(course.check(name, nothing)).startswith("[open] No answer yet")


def test_an_unknown_exercise_names_those_that_there_are():
    """And does not quote it; a password in a message shows as ***."""
    with pytest.raises(ck.ConfigError, match=r"digest, token, .*errors-count") as raised:
        course.check("geheim", "x")
    feedback = course.Feedback("x", False, "rtsp://a:geheim@h/")
    assert "geheim" not in str(raised.value) + repr(feedback)
