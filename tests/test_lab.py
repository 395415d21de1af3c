"""`confkit lab`: which service the notebooks get, which port, and how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

import confkit as ck
from confkit import cli
from confkit.cli import lab
from confkit.connect import save_profile
from tests.ports import quiet_port
from tests.servers import server
from tests.test_notebooks import FOLDER

SERVICE = {
    "base_url": "http://conference.example:8080",
    "outgoing_url": "http://conference.example:8050",
    "access_key": "key",
    "secret_key": "hunter2",
}
REAL = {f"CONFKIT_{name.upper()}": value for name, value in SERVICE.items()}


def test_the_notebooks_get_the_service_that_is_named(monkeypatch, capsys):
    """Nothing named: the sandbox. Addresses in the environment stay, no profile is set, and
    capitals name the service. --profile takes another service's addresses, keys and dialect out of
    the environment; one that does not exist is refused before Jupyter starts."""
    assert lab.service(None, {})["CONFKIT_PROFILE"] == "sandbox"
    assert "sandbox of its own" in capsys.readouterr().out
    save_profile("prod", SERVICE)
    assert lab.service("prod", {**REAL, "CONFKIT_DIALECT": "hash=md5", "HOME": "h"}) == {
        "CONFKIT_PROFILE": "prod",
        "HOME": "h",
    }
    assert "THE REAL SERVICE prod" in capsys.readouterr().out
    with pytest.raises(ck.ConfigError, match="nowhere"):
        lab.service("nowhere", {})
    for name, value in REAL.items():
        monkeypatch.setenv(name, value)
    assert lab.service(None, REAL) == REAL
    told = capsys.readouterr().out
    assert "THE REAL SERVICE conference.example" in told
    assert "hunter2" not in told
    monkeypatch.setenv("CONFKIT_PROFILE", "sandbox")
    with pytest.raises(ck.ConfigError, match="two services"):
        lab.service(None, {**REAL, "CONFKIT_PROFILE": "sandbox"})


# The notebooks that are opened


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder of a user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def notebooks(tmp_path):
    """A folder of notebooks as they come."""
    folder = tmp_path / "originals"
    (folder / "course").mkdir(parents=True)
    for name in (lab.FIRST, "course/lesson.ipynb"):
        (folder / name).write_text("ours")
    return folder


def test_a_copy_is_made_once_and_is_the_users_from_then_on(home, notebooks):
    """It is opened again as it is, whatever notebooks a newer confkit has: what was changed stays,
    and what was deleted does not return. Renamed it stays as well, and a new one is made."""
    made = lab.copy(notebooks)
    assert made == home / "confkit-notebooks"
    (made / lab.FIRST).write_text("mine")
    (made / "course" / "lesson.ipynb").unlink()
    (notebooks / lab.FIRST).write_text("newer")
    assert lab.copy(notebooks) == made
    assert (made / lab.FIRST).read_text() == "mine"
    assert not (made / "course" / "lesson.ipynb").exists()
    made.rename(home / "old")
    assert (lab.copy(notebooks) / lab.FIRST).read_text() == "newer"
    assert (home / "old" / lab.FIRST).read_text() == "mine"
    assert (notebooks / lab.FIRST).read_text() == "newer"


def test_a_copy_that_breaks_off_leaves_nothing(home, notebooks):
    """What cannot be copied whole is an error, and the next try begins anew. What stands in the
    place of the copy and is no folder is left as it is."""
    (notebooks / "broken.png").symlink_to(home / "nowhere")
    with pytest.raises(ck.ConfigError, match="cannot be copied"):
        lab.copy(notebooks)
    assert [path.name for path in home.iterdir()] == ["originals"]
    (home / lab.COPY).symlink_to(home / "nowhere")
    with pytest.raises(ck.ConfigError, match=r"not a folder\. Rename it"):
        lab.copy(notebooks)


def test_an_installed_confkit_has_notebooks_to_copy_and_none_to_open_here(monkeypatch, tmp_path):
    """Without a checkout the packaged notebooks are copied; --here is refused."""
    packaged = tmp_path / "site" / "confkit" / "_notebooks"
    packaged.mkdir(parents=True)
    monkeypatch.setattr(lab, "__file__", str(packaged.parent / "cli" / "lab.py"))
    assert lab.originals() == packaged
    with pytest.raises(ck.ConfigError, match="no checkout"):
        lab.originals(here=True)


# In Jupyter's place, what ends it, and how it is started, shows at once; the real ones are started
# in tests/secrets/test_jupyter.py.
STAND_IN = """
import json, os, signal, socket, sys
from pathlib import Path
given = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
if "JUPYTER_RUNTIME_DIR" in os.environ:
    Path(os.environ["JUPYTER_RUNTIME_DIR"], "server.json").write_text("{}")
if "--show-config" in sys.argv:
    sys.exit()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with socket.create_server(("127.0.0.1", int(given["port"]))):
    print(json.dumps({**given, "profile": os.environ.get("CONFKIT_PROFILE")}), flush=True)
    while True:
        signal.pause()
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A module that is started as JupyterLab, or as Voila."""
    for name in ("jupyterlab", "voila"):
        module = tmp_path / "modules" / name
        module.mkdir(parents=True)
        (module / "__init__.py").touch()
        (module / "__main__.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'modules'}{os.pathsep}{FOLDER.parent}")


@pytest.mark.parametrize(("options", "number"), [((), signal.SIGINT), (("--app",), signal.SIGTERM)])
def test_whatever_ends_the_command_ends_jupyter_too(stand_in, home, options, number):
    """Ctrl-C, which a terminal sends to all, and a supervisor that ends the command alone leave no
    server behind. The command asks for nothing, and says which notebooks are opened."""
    command = [sys.executable, "-m", "confkit", "lab", "--port", str(quiet_port()), *options]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with server(command, cwd=home, **streams) as process:
        service, opened, last = (process.stdout.readline().decode() for _ in range(3))
        told = json.loads(last)
        assert "sandbox of its own" in service
        assert told["profile"] == "sandbox"
        folder = home / "confkit-notebooks"
        if options:
            assert told["Voila.ip"] == "127.0.0.1"
        else:
            assert f"the notebooks are in {folder};" in opened
            assert told["ServerApp.root_dir"] == str(folder)
            assert told["LabApp.default_url"] == f"/lab/tree/{lab.FIRST}"
            assert (folder / lab.FIRST).is_file()
        (os.kill if options else os.killpg)(process.pid, number)
        process.communicate(timeout=60)
        assert process.returncode == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(told["port"])), timeout=5)


def test_a_file_of_rooms_is_for_the_app_and_has_to_be_there(capsys):
    """Without --app, or without such a file, the command says what to give."""
    assert cli.main(["lab", "--rooms", "rooms.csv"]) == 1
    assert "confkit lab --app --rooms" in capsys.readouterr().err
    assert cli.main(["lab", "--app", "--rooms", "nowhere.csv"]) == 1
    assert "no such file" in capsys.readouterr().err


def test_a_home_that_cannot_be_written_is_replaced_for_a_while(
    capfd, monkeypatch, stand_in, tmp_path
):
    """Where Jupyter could not keep its settings it gets a folder that it can write, which is said,
    and once it has ended nothing is left of that; the copy is made where the command runs. With
    --here the checkout's notebooks are opened, and none are copied."""
    temporary, here = tmp_path / "temporary", tmp_path / "here"
    temporary.mkdir()
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    monkeypatch.delenv("JUPYTER_RUNTIME_DIR", raising=False)
    monkeypatch.chdir(here)
    for options, folder in ((["--here"], FOLDER), ([], here / "confkit-notebooks")):
        assert list(here.iterdir()) == []
        assert cli.main(["lab", "--port", str(quiet_port()), *options, "--show-config"]) == 0
        told = capfd.readouterr().out
        assert f"keeps its settings in {temporary}" in told
        assert f"the notebooks are in {folder};" in told
    assert list(temporary.iterdir()) == []
