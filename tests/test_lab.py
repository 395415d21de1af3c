"""`confkit lab`: which service the notebooks get, their copy, and how it ends."""

import json
import os
import signal
import socket
import subprocess
from importlib import import_module

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output

from confkit.connect import save_profile
from tests.commands import CONFKIT, server
from tests.ports import quiet_port
from tests.test_connect import SERVICE
from tests.test_notebooks import FOLDER

lab = import_module("confkit.cli.lab")  # the package has the command by this name
NAMES = (lab.FIRST, "runbooks/lesson.ipynb")
SANDBOX, PROD = {"CONFKIT_PROFILE": "sandbox"}, {"CONFKIT_PROFILE": "prod"}
REAL = {f"CONFKIT_{name.upper()}": value for name, value in SERVICE.items()}


def test_the_notebooks_get_the_service_that_is_named(monkeypatch, capsys):
    """Nothing named: the sandbox. --profile takes another one's addresses and keys out of the
    environment."""
    save_profile("prod", SERVICE)
    for profile, chosen in ((None, SANDBOX), (None, REAL), ("prod", PROD)):
        environment = lab.service(profile)
        found = {name: environment[name] for name in environment if "CONFKIT" in name}
        assert found == chosen
        for name, value in REAL.items():
            monkeypatch.setenv(name, value)
    printed = capsys.readouterr().out
    assert printed.count("THE REAL SERVICE") == 2
    assert "hunter2" not in printed


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder of a user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return tmp_path


@pytest.fixture
def notebooks(tmp_path):
    """A folder of notebooks as they come, with stored outputs."""
    (tmp_path / "originals" / "runbooks").mkdir(parents=True)
    for name in NAMES:
        contents = ({"text/html": "<b>FAIL</b>"}, {"application/vnd.jupyter.widget-view+json": {}})
        outputs = [new_output("display_data", content) for content in contents]
        cells = [new_code_cell("ours", execution_count=1, outputs=[each]) for each in outputs]
        nbformat.write(new_notebook(cells=cells), tmp_path / "originals" / name)
    return tmp_path / "originals"


def test_a_copy_is_made_once_and_is_the_users_from_then_on(home, notebooks):
    """It is trusted, and what was changed stays. A runbook shows no verdict that nobody has run;
    the outputs of others stay, but for panels, which need their kernel."""
    made = lab.copy(notebooks)
    assert made == home / "confkit-notebooks"
    first, runbook = (nbformat.read(made / name, as_version=4) for name in NAMES)
    assert NotebookNotary().check_signature(first)
    assert [len(cell.outputs) for cell in first.cells] == [1, 0]
    assert runbook.cells[0].outputs == []
    (made / lab.FIRST).write_text("mine")
    assert lab.copy(notebooks) == made
    assert (made / lab.FIRST).read_text() == "mine"


# What is started: in Jupyter's place a module that says how.
STAND_IN = """
import json, os, signal, socket, sys
options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with socket.create_server(("127.0.0.1", int(options["port"]))):
    print(json.dumps({**options, **os.environ, "words": sys.argv[1:]}), flush=True)
    while True:
        signal.pause()
"""


@pytest.mark.parametrize(
    ("options", "number"), [("", signal.SIGINT), (f"--app --rooms {__file__}", signal.SIGTERM)]
)
def test_whatever_ends_the_command_ends_jupyter_too(tmp_path, home, monkeypatch, options, number):
    """Ctrl-C, which a terminal sends to all, and a supervisor that ends the command alone leave no
    server behind. What the command does not know it hands on."""
    for name in ("jupyterlab", "voila"):
        (module := tmp_path / "modules" / name).mkdir(parents=True)
        (module / "__init__.py").touch()
        (module / "__main__.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'modules'}{os.pathsep}{FOLDER.parent}")
    words = f"lab --port={quiet_port()} --no-browser {options}"
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with server([*CONFKIT, *words.split()], cwd=home, **streams) as process:
        started = json.loads([process.stdout.readline() for _ in range(3)][-1])
        assert started["CONFKIT_PROFILE"] == "sandbox"
        assert "--no-browser" in started["words"]
        if options:
            assert (started["Voila.ip"], started["CONFKIT_ROOMS"]) == ("127.0.0.1", __file__)
        else:
            assert started["ServerApp.root_dir"] == str(home / "confkit-notebooks")
        (os.kill if options else os.killpg)(process.pid, number)
        process.communicate(timeout=60)
        assert process.returncode == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(started["port"])), timeout=5)
