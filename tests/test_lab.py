"""`confkit lab`: which service the notebooks get, which port, and how it ends."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

import confkit as ck
from confkit import cli, profiles
from confkit.cli import lab
from tests.ports import quiet_port
from tests.test_notebooks import FOLDER

SERVICE = {"base_url": "http://conference.example:8080",
           "outgoing_url": "http://conference.example:8050",
           "access_key": "key", "secret_key": "hunter2"}  # fmt: skip
REAL = {f"CONFKIT_{name.upper()}": value for name, value in SERVICE.items()}


def test_without_a_service_each_notebook_gets_a_sandbox(capsys):
    """With nothing named, CONFKIT_PROFILE is set to the sandbox."""
    assert lab.service(None, {})["CONFKIT_PROFILE"] == "sandbox"
    assert "sandbox of its own" in capsys.readouterr().out


def test_a_real_service_of_the_environment_is_used_and_announced(monkeypatch, capsys):
    """Addresses in the environment stay, no profile is set, and capitals name the service."""
    for name, value in REAL.items():
        monkeypatch.setenv(name, value)
    chosen = lab.service(None, dict(os.environ))
    assert "CONFKIT_PROFILE" not in chosen
    assert chosen["CONFKIT_BASE_URL"] == SERVICE["base_url"]
    told = capsys.readouterr().out
    assert "THE REAL SERVICE conference.example" in told
    assert "hunter2" not in told


def test_a_profile_is_used_and_announced(monkeypatch, capsys):
    """--profile sets the profile, takes another service's addresses, keys and dialect out of the
    environment, and is announced."""
    profiles.save("prod", SERVICE)
    chosen = lab.service("prod", {**REAL, "CONFKIT_DIALECT": "hash=md5"})
    assert chosen == {"CONFKIT_PROFILE": "prod"}
    assert "THE REAL SERVICE prod" in capsys.readouterr().out


def test_an_unknown_profile_is_refused_before_jupyter_starts():
    """A profile that does not exist ends the command with the list of those that do."""
    with pytest.raises(ck.ConfigError, match="nowhere"):
        lab.service("nowhere", {})


def test_two_services_are_refused(monkeypatch):
    """A profile and an address in the environment name two services."""
    both = {"CONFKIT_PROFILE": "sandbox", "CONFKIT_BASE_URL": "http://other.example:8080"}
    for name, value in both.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ck.ConfigError, match="two services"):
        lab.service(None, both)


def test_a_taken_port_gives_the_next_one():
    """When the wanted port is taken another one is found."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert lab.free_port(port) > port
    assert lab.free_port(port) == port


def test_the_notebooks_are_those_of_the_checkout():
    """In a checkout the notebooks are opened where they are."""
    assert (lab.notebooks() / "01-first-look.ipynb").is_file()


def test_an_installed_confkit_copies_its_notebooks_and_keeps_what_was_changed(
    monkeypatch, tmp_path
):
    """Without a checkout the packaged notebooks are copied here once; edits stay."""
    package = tmp_path / "site" / "confkit"
    (package / "_notebooks").mkdir(parents=True)
    (package / "_notebooks" / "01-first-look.ipynb").write_text("packaged")
    monkeypatch.setattr(lab, "__file__", str(package / "cli" / "lab.py"))
    monkeypatch.chdir(tmp_path)
    copy = lab.notebooks() / "01-first-look.ipynb"
    assert copy.read_text() == "packaged"
    copy.write_text("mine")
    assert (lab.notebooks() / "01-first-look.ipynb").read_text() == "mine"


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


@pytest.fixture
def started(stand_in, tmp_path):
    """Starts the command with these arguments; whatever it started is ended afterwards."""
    processes = []

    def start(*arguments):
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "confkit", "lab", *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
                start_new_session=True,
            )
        )  # fmt: skip
        return processes[-1]

    yield start
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def assert_gone(port):
    """Nothing answers on the port any more."""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.mark.parametrize("app", [(), ("--app",)], ids=["lab", "app"])
@pytest.mark.parametrize(
    ("number", "whole", "status"),
    [(signal.SIGINT, True, 0), (signal.SIGTERM, False, 143)], ids=["Ctrl-C", "supervisor"],
)  # fmt: skip
def test_whatever_ends_the_command_ends_jupyter_too(started, app, number, whole, status):
    """Ctrl-C, which a terminal sends to all, and a supervisor that ends the command alone leave no
    server behind; for a port that is taken it was the next free one, and that was said."""
    wanted = quiet_port()
    with socket.create_server(("127.0.0.1", wanted)):
        process = started("--port", str(wanted), *app)
        said = [process.stdout.readline() for _ in range(4)]
    assert "sandbox of its own" in said[0]
    assert f"port {wanted} is taken" in said[1]
    port = int(said[1].partition("is taken, so ")[2].split()[0])
    told = json.loads(said[3])
    assert (int(told["port"]), told["profile"]) == (port, "sandbox")
    assert app or told["LabApp.default_url"] == "/lab/tree/01-first-look.ipynb"
    (os.killpg if whole else os.kill)(process.pid, number)
    process.communicate(timeout=60)
    assert process.returncode == status
    assert_gone(port)


def test_a_file_of_rooms_is_for_the_app_and_has_to_be_there(capsys):
    """Without --app, or without such a file, the command says what to give."""
    assert cli.main(["lab", "--rooms", "rooms.csv"]) == 1
    assert "confkit lab --app --rooms" in capsys.readouterr().err
    assert cli.main(["lab", "--app", "--rooms", "nowhere.csv"]) == 1
    assert "no file 'nowhere.csv'" in capsys.readouterr().err


def test_a_home_that_cannot_be_written_is_said_and_replaced(capsys, tmp_path):
    """Where Jupyter could not keep its settings it gets a folder that it can write."""
    with lab._writable_home({"HOME": str(tmp_path)}) as given:
        assert given == {}
    with lab._writable_home({"HOME": str(tmp_path / "nowhere")}) as given:
        assert set(given) >= {"JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"}
        assert all(os.access(folder, os.W_OK) for folder in given.values())
    assert "cannot be written" in capsys.readouterr().out


def test_the_folder_that_replaces_a_home_is_deleted_again(capfd, monkeypatch, stand_in, tmp_path):
    """Once Jupyter has ended nothing is left of the folder in which it kept its settings."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    monkeypatch.delenv("JUPYTER_RUNTIME_DIR", raising=False)
    assert cli.main(["lab", "--port", str(quiet_port()), "--show-config"]) == 0
    assert f"keeps its settings in {temporary}" in capfd.readouterr().out
    assert list(temporary.iterdir()) == []
