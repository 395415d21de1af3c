"""`confkit lab`: which service the notebooks get, which port, and how it ends."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

import pytest

import confkit as ck
from confkit import cli, lab, profiles
from tests.ports import quiet_port
from tests.servers import page

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
    monkeypatch.setattr(lab, "__file__", str(package / "lab.py"))
    monkeypatch.chdir(tmp_path)
    copy = lab.notebooks() / "01-first-look.ipynb"
    assert copy.read_text() == "packaged"
    copy.write_text("mine")
    assert (lab.notebooks() / "01-first-look.ipynb").read_text() == "mine"


@pytest.fixture
def started(tmp_path):
    """Starts the real command with these arguments; whatever it started is ended afterwards."""
    processes = []

    def start(*arguments):
        of_lab = ["--IdentityProvider.token=", f"--LabApp.app_settings_dir={tmp_path}"]
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "confkit", "lab", "--no-browser", *arguments,
                 *([] if "--app" in arguments else of_lab)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
                start_new_session=True,
                env={**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path), "PYTHONUNBUFFERED": "1",
                     "JUPYTER_RUNTIME_DIR": str(tmp_path)},
            )
        )  # fmt: skip
        return processes[-1]

    yield start
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def lab_page(started):
    """JupyterLab, up, started for a port that is taken: its process, its port, what was said."""
    wanted = quiet_port()
    with socket.create_server(("127.0.0.1", wanted)):
        process = started("--port", str(wanted))
        said = "".join(process.stdout.readline() for _ in range(3))
        assert f"port {wanted} is taken" in said
        port = int(said.partition("is taken, so ")[2].split()[0])
        page(f"http://127.0.0.1:{port}/lab/tree/01-first-look.ipynb", process)
        yield process, port, said


def assert_gone(port):
    """Nothing answers on the port any more."""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_jupyterlab_opens_and_ctrl_c_ends_all(lab_page):
    """The real command says what is used, the first notebook's page is there, Ctrl-C ends it."""
    process, port, said = lab_page
    assert "sandbox of its own" in said
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert_gone(port)


def test_sigterm_to_the_command_ends_jupyterlab_too(lab_page):
    """A supervisor that ends the command alone leaves no JupyterLab behind."""
    process, port, _ = lab_page
    process.terminate()
    process.communicate(timeout=20)
    assert_gone(port)


def test_the_app_is_a_page_for_who_has_its_address(started):
    """`--app` serves the panels to who opens the address that it prints, and to nobody else on the
    machine; Ctrl-C ends it."""
    process = started("--app", "--port", str(quiet_port()))
    for line in process.stdout:
        if "?token=" in line:
            break
    address = line.strip()
    with urllib.request.urlopen(address.partition("?")[0], timeout=20) as stranger:
        assert "/login" in stranger.url
    assert "SANDBOX: Rooms, Occupancy, Cameras, Calls" in page(address, process)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=20)
    assert_gone(int(address.partition("127.0.0.1:")[2].partition("/")[0]))


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


def test_the_folder_that_replaces_a_home_is_deleted_again(capfd, monkeypatch, tmp_path):
    """Once Jupyter has ended nothing is left of the folder in which it kept its settings."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    monkeypatch.delenv("JUPYTER_RUNTIME_DIR", raising=False)
    assert cli.main(["lab", "--port", str(quiet_port()), "--show-config"]) == 0
    assert f"keeps its settings in {temporary}" in capfd.readouterr().out
    assert list(temporary.iterdir()) == []
