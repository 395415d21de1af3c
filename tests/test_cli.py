"""The commands as a user types them; those that serve, in processes of their own."""

import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
from importlib import import_module

import nbformat
import pytest
import requests
from jupyter_client.manager import run_kernel
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output

import confkit as ck
from confkit.cli import commands
from confkit.cli.services import SPOKEN, reference
from confkit.connect import save_profile
from confkit.dialect import Dialect
from confkit.operations import B3
from tests.commands import CONFKIT, known, on_a_terminal, run
from tests.ports import quiet_port
from tests.scripted import AUTHENTICATE, Reply
from tests.servers import server
from tests.test_connect import SERVICE
from tests.test_notebooks import FOLDER

COMMANDS = [*commands.commands, "profile add"]
# What is typed, the status, a part of standard output and of standard error.
ROWS = [
    ("--version", 0, f"confkit {ck.__version__}, speaks {SPOKEN}", ""),
    *((f"{name} --help", 0, "Usage: confkit", "") for name in COMMANDS),
    ("interface A2", 0, reference("A2"), ""),
    ("docter", 2, "", "No such command 'docter'. Did you mean 'doctor'? See `confkit --help`"),
    ("rtsp://a:geheim@h/", 2, "", "No such command 'rtsp://a:***@h/'"),
    ("runbook nobody-can-join --profile sandbox -p room=1", 1, "FAIL    Room: ", ""),
    ("runbook nobody-can-join --profile sandbox -p rom=1", 2, "", "the inputs are: room, apply"),
    ("runbook /etc/passwd", 2, "", "'/etc/passwd' is not one of 'authentication-fails'"),
    ("interface /etc/passwd", 1, "", "no part '/etc/passwd'. It has: 1. What"),
    ("token --profile /etc/passwd", 1, "", "no profile '/etc/passwd' in "),
    ("runbook nobody-can-join", 2, "", "an input is missing: -p room=..."),
    ("runbook nobody-can-join -p apply=maybe", 2, "", "Invalid value for '-p apply': 'maybe'"),
    ("doctor --profile sandbox", 0, "Overall: PASS", "Checking SANDBOX (at most 2 failed logins"),
    ("doctor", 1, "", "a profile, `confkit profile add NAME`"),
    ("probe --profile sandbox", 0, "The dialect is the usual one: set nothing", ""),
]


@pytest.mark.parametrize(("words", "status", "out", "err"), ROWS)
def test_what_is_typed(words, status, out, err):
    """Its status, and what it prints; an error is one line."""
    done = run(*words.split(), typed="geheim\n")
    assert done.returncode == status, done
    assert (out in done.stdout) if out else done.stdout == "", done
    assert err in done.stderr, done
    assert "geheim" not in done.stdout + done.stderr
    assert out or len(done.stderr.splitlines()) == 1


def test_checks_are_a_page_for_its_owner_and_an_object_for_programs(sandbox, tmp_path):
    """A login in an input is on neither, also where the scheme was forgotten."""
    words = ("runbook", "deployment-acceptance", "-p", "camera=admin:geh'eim9@h/x")
    file = tmp_path / "out.html"
    done, page = run(*words, "--report", str(file), **known(sandbox)), file.read_text()
    assert (done.returncode, stat.S_IMODE(file.stat().st_mode)) == (2, 0o600)
    assert (page.count("<table>"), "eim9" in page) == (1, False)
    assert json.loads(run(*words, "--json", **known(sandbox)).stdout)["verdict"] == "UNKNOWN"


def test_a_token_goes_into_a_pipe_only(sandbox):
    """A token that the service takes; a terminal gets none."""
    token = run("token", **known(sandbox)).stdout.strip()
    url = sandbox.outgoing_url + B3.path
    assert requests.get(url, params={"accessToken": token}, timeout=5).json()["ret"] == 0
    written = on_a_terminal("token", **known(sandbox))
    assert written.startswith("confkit: a token is a secret")
    assert len(written.splitlines()) == 1


def test_a_profile_is_written_read_and_changed():
    """It asks for what is missing. Once more it changes what is typed, and nothing else."""
    words = "--outgoing-url http://h:8050 --access-key key --max-rate 5 --read-only"
    typed = "http://conference.example:8080\n hunter2 \n"
    done = run("profile", "add", "prod", *words.split(), "--dialect", "hash=sha256", typed=typed)
    assert (done.returncode, "hunter2" in str(done)) == (0, False)
    assert run("profile", "add", "prod", "--dialect", "hash=sha1").returncode == 0
    client = ck.connect("prod")  # what was not typed stays, the protection above all
    assert (client.base_url, client.secret_key) == ("http://conference.example:8080", "hunter2")
    assert (client.read_only, client.max_rate, client.dialect) == (True, 5, Dialect())
    assert run("profile", "add", "prod", "--access-key", "other").returncode == 1  # its secret?
    assert run("profile", "add", "prod", typed="anew\n").returncode == 0
    assert ck.connect("prod").secret_key == "anew"


def test_the_sandbox_serves_other_clients(monkeypatch):
    """The variables that it prints are all that a client needs; the log says why a call was
    refused. SIGINT ends it cleanly."""
    words = "sandbox --port 0 --outgoing-port 0 --dialect signature=raw --explain"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with server([*CONFKIT, *words.split()], **pipes) as process, process.stdout:
        log = "".join(process.stdout.readline() for _ in range(3))
        for variable in shlex.split(log.partition("export ")[2]):
            monkeypatch.setenv(*variable.split("=", 1))
        with ck.connect() as client:
            room_id = ck.create_room(client, "Weekly sync", "ops")
            assert ck.list_devices(client, room_id) == []
            client.ask_once("A3", {"room_id": "7"}, client.dialect.sign("wrong", "x"))
        process.send_signal(signal.SIGINT)
        log += process.stdout.read()
        assert process.wait(timeout=60) == 0
    assert "A3 602" in log


@pytest.mark.parametrize(
    ("number", "prefix", "status", "message"),
    [(signal.SIGTERM, [], 130, ""), (signal.SIGHUP, ["nohup"], 1, "confkit: ")],
)
def test_an_interruption_is_130_and_silent(script, number, prefix, status, message):
    """While a service does not respond; what nohup ignores stays ignored."""
    processes = []
    reply = Reply(raw=lambda _: processes[0].send_signal(number))
    keys = {**known(script({AUTHENTICATE: reply}).client()), "CONFKIT_SECRET_KEY": "geheim"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    line = [*prefix, *CONFKIT, "token"]
    with subprocess.Popen(line, env={**os.environ, **keys}, **streams) as process:
        processes.append(process)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err[:9]) == (status, "", message)


PASSWORD = "geheim@77:/#%"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
INSIDE = "admin:geheim%4077%3A%2F%23%25"


def verdict(done):
    """The verdict in the first line of a report, once no secret is in any."""
    assert "geheim" not in done.stdout + done.stderr
    return re.match(r". ([a-z0-9_]+): ", done.stdout)[1]


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, size=(128, 96), fps=10)


def typed(words, camera):
    """The words, with the camera's address in them: plain, with its login, or with its name."""
    named, inside = (camera.replace("//", f"//{login}@") for login in ("admin", INSIDE))
    return words.format(camera=camera, named=named, inside=inside).split()


@pytest.mark.parametrize(
    ("words", "password", "expected"),
    [
        ("{camera} --login-name admin", PASSWORD, "ok"),
        ("{camera}", PASSWORD, "auth_required"),
        ("{inside} --login-name admin", "other", "ok"),
        ("{named} --login-name eve", PASSWORD, "credentials_conflict"),
    ],
)
def test_a_camera_that_plays_is_status_0_and_any_other_1(camera, words, password, expected):
    """The login is the address's, or a name with the environment's password; it shows nowhere."""
    done = run("preflight", *typed(words, camera), CONFKIT_CAMERA_PASSWORD=password)
    assert (done.returncode, verdict(done)) == (int(expected != "ok"), expected), done.stdout
    assert done.stderr == ""


def test_a_password_is_asked_for_without_an_echo(camera):
    """In a terminal; or it comes from a pipe. An empty line leaves the camera alone: a wrong login
    may lock it."""
    words = ("preflight", camera, "--login-name", "admin")
    written = on_a_terminal(*words, typed=PASSWORD + "\n")
    assert "password of admin: " in written
    assert ("ok: " in written, "geheim" in written) == (True, False)
    assert verdict(run(*words, typed=PASSWORD + "\n")) == "ok"
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert "CONFKIT_CAMERA_PASSWORD" in done.stderr


def test_diagnose_says_where_the_fault_is_and_how_to_go_on(sandbox, client, camera):
    """In its room: 0; else 1 with the verdict, and how Python is started for an import."""
    room_id = ck.create_room(client, "t", "ops")
    words = ("diagnose", room_id, "cam", "--address", *typed("{inside}", camera))
    done = run(*words, **known(sandbox))
    assert (done.returncode, verdict(done)) == (1, "not_imported"), done.stdout
    line = shlex.split(done.stdout.splitlines()[-1].partition("start Python so: ")[2])
    assert line == [sys.executable, "-ic", "import confkit as ck; client = ck.connect()"]
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    done = run("diagnose", room_id, **known(sandbox))
    assert (done.returncode, verdict(done)) == (0, "ok"), done.stdout + done.stderr


def test_ask_secret_in_a_notebook():
    """In a kernel the front end asks, without an echo; where it cannot, the variable is named."""
    code = "import confkit as ck; secret = ck.ask_secret(); print(secret == 'typed', repr(secret))"
    outputs, questions = [], []
    with run_kernel(kernel_name="python3") as kernel:

        def answer(message):
            questions.append(message["content"]["password"])
            kernel.input("typed")

        options = {"timeout": 60, "stop_on_error": False, "stdin_hook": answer}
        for attended in (True, False):
            options["allow_stdin"] = attended
            kernel.execute_interactive(code, output_hook=outputs.append, **options)
    assert questions == [True]
    assert "True '***'" in str(outputs)
    assert "CONFKIT_CAMERA_PASSWORD" in str(outputs)


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
