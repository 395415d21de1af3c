"""`confkit lab`: which service the notebooks get, their copy, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
from importlib import import_module
from pathlib import Path

import nbformat
import pytest
import requests
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output

import confkit as ck
from confkit.connect import save_profile
from tests.commands import CONFKIT
from tests.ports import quiet_port
from tests.servers import page, server
from tests.test_notebooks import FOLDER

lab = import_module("confkit.cli.lab")  # the package has the command by this name
SERVICE = {
    "base_url": "http://conference.example:8080",
    "outgoing_url": "http://conference.example:8050",
    "access_key": "key",
    "secret_key": "hunter2",
}
REAL = {f"CONFKIT_{name.upper()}": value for name, value in SERVICE.items()}
MIXED = {**REAL, "CONFKIT_DIALECT": "hash=md5"}


@pytest.mark.parametrize(
    ("profile", "environ", "chosen", "message"),
    [
        (None, {}, {"CONFKIT_PROFILE": "sandbox"}, "sandbox of its own"),
        (None, REAL, REAL, "THE REAL SERVICE conference.example"),
        ("prod", MIXED, {"CONFKIT_PROFILE": "prod"}, "THE REAL SERVICE prod"),
        ("nowhere", {}, None, "no profile 'nowhere'"),
        (None, {**REAL, "CONFKIT_PROFILE": "sandbox"}, None, "two services"),
    ],
)
def test_the_notebooks_get_the_service_that_is_named(
    monkeypatch, capsys, profile, environ, chosen, message
):
    """Nothing named: the sandbox. A real one is named in capitals; --profile takes another one's
    addresses, keys and dialect out of the environment."""
    save_profile("prod", SERVICE)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    if chosen is None:
        with pytest.raises(ck.ConfigError, match=message):
            lab.service(profile)
        return
    environment = lab.service(profile)
    assert {name: environment[name] for name in environment if "CONFKIT" in name} == chosen
    printed = capsys.readouterr().out
    assert (message in printed, "hunter2" in printed) == (True, False)


# The copy of the notebooks


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder of a user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return tmp_path


@pytest.fixture
def notebooks(tmp_path):
    """A folder of notebooks as they come, with stored outputs."""
    folder = tmp_path / "originals"
    (folder / "runbooks").mkdir(parents=True)
    for name in (lab.FIRST, "runbooks/lesson.ipynb"):
        write(folder / name, "ours")
    return folder


def write(path, text, kind="text/html"):
    """Write a notebook with a stored output."""
    output = new_output("display_data", {kind: "<b>FAIL</b>"})
    cell = new_code_cell(text, execution_count=1, outputs=[output])
    nbformat.write(new_notebook(cells=[cell]), path)


def test_a_copy_is_made_once_and_is_the_users_from_then_on(home, notebooks):
    """What was changed stays, and what was deleted does not return. Renamed it stays as well, and a
    new one is made."""
    made = lab.copy(notebooks)
    assert made == home / "confkit-notebooks"
    (made / lab.FIRST).write_text("mine")
    (made / "runbooks" / "lesson.ipynb").unlink()
    write(notebooks / lab.FIRST, "newer")
    assert lab.copy(notebooks) == made
    assert (made / lab.FIRST).read_text() == "mine"
    assert not (made / "runbooks" / "lesson.ipynb").exists()
    made.rename(home / "old")
    assert "newer" in (lab.copy(notebooks) / lab.FIRST).read_text()
    assert (home / "old" / lab.FIRST).read_text() == "mine"


def test_a_copy_is_trusted_and_shows_no_verdict_that_nobody_has_run(home, notebooks):
    """The outputs of runbooks are cleared, and panels, which would be an error message; those of
    others stay."""
    write(notebooks / "panel.ipynb", "ours", "application/vnd.jupyter.widget-view+json")
    made = lab.copy(notebooks)
    names = (lab.FIRST, "runbooks/lesson.ipynb", "panel.ipynb")
    first, runbook, panel = (nbformat.read(made / name, as_version=4) for name in names)
    assert NotebookNotary().check_signature(first)
    assert first.cells[0].outputs
    assert panel.cells[0].outputs == []
    assert (runbook.cells[0].outputs, runbook.cells[0].execution_count) == ([], None)


def test_a_copy_that_breaks_off_leaves_nothing(home, notebooks):
    """What stands in the place of the copy and is no folder is left as it is."""
    (notebooks / "broken.png").symlink_to(home / "nowhere")
    with pytest.raises(ck.ConfigError, match="cannot be copied"):
        lab.copy(notebooks)
    assert [path.name for path in home.iterdir()] == ["originals"]
    (home / lab.COPY).symlink_to(home / "nowhere")
    with pytest.raises(ck.ConfigError, match=r"not a folder\. Rename it"):
        lab.copy(notebooks)


# What is started: in Jupyter's place a module that says how.
STAND_IN = """
import json, os, signal, socket, sys
options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with socket.create_server(("127.0.0.1", int(options["port"]))):
    names = ("CONFKIT_PROFILE", "CONFKIT_ROOMS", "JUPYTER_CONFIG_PATH")
    environ = {name: os.environ.get(name) for name in names}
    print(json.dumps({**options, **environ, "words": sys.argv[1:]}), flush=True)
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


@pytest.mark.parametrize(
    ("options", "number"), [("", signal.SIGINT), (f"--app --rooms {__file__}", signal.SIGTERM)]
)
def test_whatever_ends_the_command_ends_jupyter_too(stand_in, home, options, number):
    """Ctrl-C, which a terminal sends to all, and a supervisor that ends the command alone leave no
    server behind. The command says which notebooks are opened, and asks nothing about news; what
    it does not know is handed on."""
    words = f"lab --port {quiet_port()} --no-browser {options}"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with server([*CONFKIT, *words.split()], cwd=home, **streams) as process:
        _, place, last = (process.stdout.readline().decode() for _ in range(3))
        started = json.loads(last)
        assert started["CONFKIT_PROFILE"] == "sandbox"
        assert "--no-browser" in started["words"]
        config = Path(started["JUPYTER_CONFIG_PATH"], "labconfig", "page_config.json")
        assert "announcements" in config.read_text()
        if options:
            assert (started["Voila.ip"], started["CONFKIT_ROOMS"]) == ("127.0.0.1", __file__)
        else:
            folder = home / "confkit-notebooks"
            assert f"the notebooks are in {folder};" in place
            assert started["ServerApp.root_dir"] == str(folder)
            assert started["LabApp.default_url"] == f"/lab/tree/{lab.FIRST}"
            assert (folder / lab.FIRST).is_file()
        (os.kill if options else os.killpg)(process.pid, number)
        process.communicate(timeout=60)
        assert process.returncode == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(started["port"])), timeout=5)


@pytest.mark.nightly
def test_jupyterlab_prints_its_address_and_no_warning(home):
    """The real one, until a kernel runs."""
    port = quiet_port()
    words = f"lab --port {port} --no-browser"
    url = f"http://127.0.0.1:{port}"
    with (
        (home / "log").open("w") as log,
        server([*CONFKIT, *words.split()], cwd=home, stdout=log, stderr=log) as process,
    ):
        page(f"{url}/api", process)
        while not (token := re.search(r"\?(token=\w+)", (home / "log").read_text())):
            assert process.poll() is None
        requests.post(f"{url}/api/kernels?{token[1]}", timeout=60).raise_for_status()
        while requests.get(f"{url}/api/status?{token[1]}", timeout=60).json()["kernels"] == 0:
            assert process.poll() is None
    lines = (home / "log").read_text().splitlines()
    assert [line[:9] for line in lines[:2]] == ["confkit: ", "confkit: "]
    assert any(f"{url}/lab/tree/{lab.FIRST}?token=" in line for line in lines)
    assert not [line for line in lines if "warning" in line.lower() or line.startswith("[W")]
