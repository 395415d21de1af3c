"""`confkit preflight`, `confkit diagnose` and `ask_secret`, as somebody types them."""

import re
import shlex
import sys

import pytest
from jupyter_client.manager import run_kernel

import confkit as ck
from tests.commands import known, on_a_terminal, run

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
