"""Pictures, vectors, and what to ask the provider."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import course
from tests.conftest import need

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
