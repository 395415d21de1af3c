"""`confkit preflight`, `confkit diagnose` and `ask_secret`, as somebody types them."""

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from jupyter_client.manager import run_kernel

import confkit as ck
from tests.commands import CONFKIT, known, run

PASSWORD = "geheim@77:/#%"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
KNOWN = {"CONFKIT_CAMERA_PASSWORD": PASSWORD}
NOBODY = "rtsp://127.0.0.1:9/x"


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
    forms = {
        "CAMERA": camera,
        "INSIDE": camera.replace("rtsp://", "rtsp://admin:geheim%4077%3A%2F%23%25@"),
        "NAMED": camera.replace("rtsp://", "rtsp://admin@"),
    }
    forms["BROKEN"] = forms["INSIDE"].replace("rtsp", "rtp", 1)
    return [forms.get(word, word) for word in words.split()]


@pytest.mark.parametrize(
    ("words", "password", "expected"),
    [
        ("CAMERA --login-name admin", PASSWORD, "ok"),
        ("CAMERA", PASSWORD, "auth_required"),
        ("INSIDE --login-name admin", "other", "ok"),
        ("BROKEN --login-name admin", "other", "url_malformed"),
        ("NAMED", PASSWORD, "ok"),
        ("NAMED --login-name admin", PASSWORD, "ok"),
        ("NAMED --login-name eve", PASSWORD, "credentials_conflict"),
        (NOBODY, PASSWORD, "refused"),
    ],
)
def test_a_camera_that_plays_is_status_0_and_any_other_1(camera, words, password, expected):
    """The login is the address's, or a name with the environment's password; it shows nowhere."""
    done = run("preflight", *typed(words, camera), CONFKIT_CAMERA_PASSWORD=password)
    assert (done.returncode, verdict(done)) == (int(expected != "ok"), expected), done.stdout
    assert done.stderr == ""


def test_a_picture_is_written_or_said_not_to_be(sandbox, tmp_path):
    """The report stands in any case; one line says what was not written, and why."""
    plays = sandbox.camera(size=(128, 96), fps=10)
    for url, file, status, message in (
        (plays, "door.png", 0, ""),
        (plays, "no/such/folder/door.png", 1, "was not written"),
        (NOBODY, "other.png", 1, "no picture"),
    ):
        done = run("preflight", url, "--snapshot", str(tmp_path / file))
        assert (done.returncode, message in done.stderr) == (status, True)
        assert verdict(done) == ("ok" if url == plays else "refused")
    assert (tmp_path / "door.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "other.png").exists()


def test_a_password_comes_from_a_pipe_or_its_variable_is_named(camera):
    """One line of the standard input; an empty one leaves the camera alone: a wrong login may lock
    it."""
    words = ("preflight", camera, "--login-name", "admin")
    assert verdict(run(*words, typed=PASSWORD + "\n")) == "ok"
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "CONFKIT_CAMERA_PASSWORD" in line


def test_a_password_is_asked_for_without_an_echo(camera):
    """In a terminal the password is asked for, is not shown, and is no argument of the process."""
    command = [*CONFKIT, "preflight", camera, "--login-name", "admin"]
    pid, ours = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    written = b""
    while b"password of admin: " not in written:
        written += os.read(ours, 4096)
    time.sleep(0.1)  # the echo is switched off just after the question
    shown = Path(f"/proc/{pid}/cmdline").read_bytes() if Path("/proc/self").exists() else b""
    os.write(ours, f"{PASSWORD}\n".encode())
    with suppress(OSError):  # Linux says so at the end of a terminal
        while data := os.read(ours, 4096):
            written += data
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert "ok: " in written.decode()
    assert PASSWORD.encode() not in written + shown


@pytest.mark.parametrize("words", ["URL --timeout 0", "URL URL", "URL --transport URL"])
def test_an_address_in_the_wrong_place_is_quoted_without_its_login(words):
    """An error in a sentence, and no camera is dialled."""
    done = run("preflight", *words.replace("URL", "rtsp://admin:geheim@127.0.0.1:9/x").split())
    assert (done.returncode in (1, 2), done.stdout) == (True, "")
    assert "geheim" not in done.stderr
    assert done.stderr.startswith("confkit: ")


def test_a_terminal_without_ticks_gets_the_report_all_the_same():
    """An encoding that knows no tick ends nothing."""
    done = subprocess.run(
        [*CONFKIT, "preflight", NOBODY],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, verdict(done), done.stderr) == (1, "refused", "")


def test_diagnose_says_where_the_fault_is(sandbox, client, camera):
    """In its room: 0; unplugged, or in no room: 1 with the verdict."""
    room_id, environ = ck.create_room(client, "t", "ops"), known(sandbox)
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    for words in ("", "--address CAMERA", "cam --force --timeout 30"):
        done = run("diagnose", room_id, *typed(words, camera), **environ)
        assert (done.returncode, verdict(done)) == (0, "ok"), done.stdout + done.stderr
    sandbox.unplug(camera)
    while ck.get_room_users(client, room_id):
        time.sleep(0.02)
    assert verdict(run("diagnose", room_id, "cam", **environ)) == "path_not_found"
    done = run("diagnose", "0", "--sandbox")
    assert (done.returncode, verdict(done)) == (1, "room_not_found")
    assert shlex.split(done.stdout.splitlines()[-1])[-1].endswith("ck.connect('sandbox')")


def test_diagnose_of_a_camera_that_is_not_imported_says_how_to_go_on(sandbox, client, camera):
    """With its address: how Python is started for the import; without: which option names it."""
    room_id, environ = ck.create_room(client, "t", "ops"), {**known(sandbox), **KNOWN}
    for words in ("--address CAMERA --login-name admin", "--address INSIDE", "--address NAMED"):
        done = run("diagnose", room_id, "cam", *typed(words, camera), **environ)
        assert (done.returncode, verdict(done)) == (1, "not_imported"), done.stdout
        assert f"confkit preflight {camera} --login-name admin" in done.stdout
        assert "ck.import_device(" in done.stdout
    line = shlex.split(done.stdout.splitlines()[-1].partition("start Python so: ")[2])
    assert line == ["python3", "-ic", "import confkit as ck; client = ck.connect()"]
    done = run("diagnose", room_id, "cam", **environ)
    assert f"confkit diagnose {room_id} cam --address rtsp://... [--login-name NAME]" in done.stdout
    assert "ck." not in done.stdout


def test_ask_secret_returns_what_was_typed_or_names_the_variable(monkeypatch, tmp_path):
    """Shown as *** only; without a standard input, or at its end, the variable is named."""
    file = tmp_path / "typed"
    file.write_text(f" {PASSWORD} \r\n")
    with file.open(newline="") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        secret = ck.ask_secret()
        assert (secret, repr(secret)) == (f" {PASSWORD} ", "'***'")
        with pytest.raises(ck.ConfkitError, match=r"cannot prompt.*Password.*CAMERA_PASSWORD"):
            ck.ask_secret()
    for nothing in (None, stream):
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(ck.ConfkitError, match="CONFKIT_SECRET_KEY"):
            ck.ask_secret("secret key: ", variable="CONFKIT_SECRET_KEY")


def test_ask_secret_in_a_notebook():
    """In a kernel the front end asks, without an echo; where it cannot, the variable is named."""
    code = "import confkit as ck; secret = ck.ask_secret(); print(secret == 'typed', repr(secret))"
    outputs, questions = [], []
    with run_kernel(kernel_name="python3") as kernel:

        def answer(message):
            questions.append(message["content"])
            kernel.input("typed")

        for attended in (True, False):
            kernel.execute_interactive(
                code,
                timeout=60,
                allow_stdin=attended,
                stdin_hook=answer,
                stop_on_error=False,
                output_hook=lambda message: outputs.append(str(message["content"])),
            )
    assert [question["password"] for question in questions] == [True]
    assert "True '***'" in "".join(outputs)
    assert "CONFKIT_CAMERA_PASSWORD" in "".join(outputs)
