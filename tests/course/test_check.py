"""`course.check`: right answers are right, and each usual mistake gets its own hint; pictures,
vectors, and what to ask the provider."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit import course
from tests.conftest import need
from tests.scripted import VECTOR_TOKEN

OPTIONS = "options=%7B%22login_name%22%3A%20%22admin%22%2C%20%22login_password%22%3A%20%22"


def read(status, body):
    try:
        response = json.loads(body)
        code = response.get("ret", response.get("result"))
        return None if code is None else int(code)
    except (ValueError, AttributeError, TypeError):
        return None


def counter(*caught, result=0):
    """A function that counts users, and returns a result where one of these errors is caught."""

    def count(client, room_id):
        try:
            return len(ck.get_room_users(client, room_id))
        except caught:
            return result

    return count


ANSWERS = [  # exercise, answer, words of what is said
    ("digest", "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg==", "right"),
    ("digest", VECTOR_TOKEN, "this is the access token"),
    (
        "digest",
        "U0hBMShzdGRpbik9IDFhY2YzMzVlNzRmZDA5NWYwYjRhODZjNmFlZThkYTgwZmY4OTNkZTYK",
        "openssl's whole line",
    ),
    ("token", VECTOR_TOKEN, "right"),
    ("token", "SLAETk6ytPpbzvflqQsSso6mK3g=", "signature is of the raw bytes"),
    ("token-in-url", f"access_token={VECTOR_TOKEN[:-2]}%3D%3D", "right"),
    ("token-in-url", f"access_token={VECTOR_TOKEN[:-2]}%253D%253D", "twice"),
    ("devices-options", f"{OPTIONS}50%25%20%26%20more%22%7D", "right"),
    ("errors-read", read, "right"),
    ("errors-read", lambda status, body: read(status, body) or None, "0 here, not none"),
    ("errors-read", lambda status, body: int(json.loads(body)["ret"]), "raised KeyError"),
    ("errors-count", counter(ck.ConfkitError, result=None), "right"),
    ("errors-count", lambda *asked: np.int64(counter()(*asked)), "right"),
    ("errors-count", counter(ck.ConfkitError, result=pd.NA), "right"),
    ("errors-count", counter(ck.ConfkitError), "(404)"),
    ("errors-count", lambda client, room_id: 2, "nobody in it"),
    ("errors-count", lambda *asked: counter()(*asked) or False, "nobody in it"),
]


@pytest.mark.parametrize(("name", "answer", "words"), ANSWERS)
def test_each_answer_gets_its_own_words(name, answer, words):
    """A right answer is right; a usual mistake is named, and nothing looks like a secret."""
    feedback = course.check(name, answer)
    assert feedback.right == (words == "right"), feedback
    assert words == "right" or words.lower() in feedback.message.lower()
    assert "***" not in feedback.message
    assert "demo_secret" not in feedback.message


class Hostile:
    """An answer that raises whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError("hunter2")

    def __call__(self, *_):
        raise SystemExit("login_password=hunter2")


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in ANSWERS))
def test_no_answer_of_any_type_raises_and_none_is_quoted(name):
    """Garbage of every type is wrong, in a sentence; None is no answer yet."""
    for answer in ("\ud800", b"\xff", float("nan"), {}, Hostile(), len, lambda *_: Hostile()):
        feedback = course.check(name, answer)
        assert feedback.right is False, answer
        assert len(feedback.message) > 20
        assert "hunter2" not in repr(feedback)
    assert repr(course.check(name, None)).startswith("[open] No answer yet")
    with pytest.raises(ck.ConfigError):
        course.check(f"../{name}", None)


NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks/course/07-your-own-client.ipynb"
VECTORS = course.vectors()["vectors"]


@pytest.mark.parametrize("name", ["service", "calls", "token", "room-life", "rtsp"])
def test_a_picture_shows_in_every_notebook(name):
    """As words, as a drawing in the theme's colours, and as an image where a notebook is not
    trusted."""
    data, _ = course.picture(name)._repr_mimebundle_()
    assert len(data["text/plain"]) > 100
    assert "#fff" not in re.sub(r"var\([^()]*\)", "", data["text/html"]), "colours are the theme's"
    assert f'src="data:image/png;base64,{data["image/png"]}"' in data["text/html"]


def test_openssl_signs_as_the_vectors_do():
    """By the function that lesson 7 shows in shell."""
    need("openssl", shutil.which("openssl"), "apt-get install openssl")
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells)
    [function] = re.findall(r"```sh\n(signature\(\).*?)```", text, re.DOTALL)
    for vector in VECTORS:
        environ = {"HASH": vector["hash"], "FORM": vector["signature"]}
        environ |= {**os.environ, "SECRET_KEY": vector["secret_key"]}
        messages = {"digest": vector["access_key"], "token": f"{vector['random']}:{vector['key']}"}
        for name, message in messages.items():
            command = ["sh", "-c", f'{function}\nsignature "$0"', message]
            shell = subprocess.run(command, env=environ, capture_output=True, check=True)
            assert shell.stdout.decode().strip() == vector[name], vector
            assert vector[f"{name}_encoded"] == quote(vector[name], safe="")


def test_what_is_asked_of_the_provider_covers_the_dialect():
    frame = course.open_questions()
    settings = {name for names in frame["setting"] for name in names.split(", ")} - {""}
    assert settings == set(ck.Dialect.__dataclass_fields__)
    assert set(frame["sure"]) == {"seen", "assumed"}
