"""Pictures, vectors, and what to ask the provider."""

import base64
import io
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image

import confkit as ck
from confkit import course
from tests.conftest import need

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks/course/07-your-own-client.ipynb"
VECTORS = course.vectors()["vectors"]


@pytest.mark.parametrize("name", ["service", "calls", "token", "room-life", "rtsp"])
def test_a_picture_shows_in_every_notebook(name):
    """It is words, a drawing in the theme's colours, and an image on a light card, which is what an
    untrusted notebook shows: readable on any paper, as large as the drawing and its margins."""
    data, _ = course.picture(name)._repr_mimebundle_()
    assert len(data["text/plain"]) > 100
    assert re.search('<svg[^>]* role="img".*<title>', data["text/html"], re.DOTALL)
    assert "#fff" not in re.sub(r"var\([^()]*\)", "", data["text/html"]), "colours are the theme's"
    assert f'src="data:image/png;base64,{data["image/png"]}"' in data["text/html"]
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as file:
        image = file.convert("RGBA")
    assert (image.getpixel((0, 0))[3], image.getpixel((30, 30))) == (0, (255, 255, 255, 255))
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', data["text/html"]).groups()
    assert image.size == tuple(2 * (int(pixels) + 26) for pixels in size)


def test_another_picture_is_an_error_with_the_names():
    with pytest.raises(ck.ConfigError, match="room-life"):
        course.picture("x")


def test_openssl_signs_as_the_vectors_do():
    """By the function that lesson 7 shows in shell. Each hash and form stands there three times,
    with easy and awkward keys, and what they make holds all that has to be percent-encoded."""
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
    pairs = Counter((vector["hash"], vector["signature"]) for vector in VECTORS)
    assert [*pairs.values()] == [3] * 8
    assert {"+", "/", "="} <= set("".join(vector["token"] for vector in VECTORS))
    assert any(not vector["secret_key"].isascii() for vector in VECTORS)


def test_what_is_asked_of_the_provider_covers_the_dialect():
    """Each setting of a dialect is behind a question, and each question says how sure we are."""
    frame = course.open_questions()
    settings = {name for names in frame["setting"] for name in names.split(", ")} - {""}
    assert settings == set(ck.Dialect.__dataclass_fields__)
    assert set(frame["sure"]) == {"seen", "assumed"}
    assert frame["question"].str.endswith("?").all()
    assert frame["question"].is_unique
