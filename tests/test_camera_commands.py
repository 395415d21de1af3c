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
from jupyter_client.manager import KernelManager

import confkit as ck
from tests.commands import known, run

PASSWORD = "geheim@77:/#%"
IN_ADDRESS = "geheim%4077%3A%2F%23%25"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
ADMIN = ("--login-name", "admin")
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


@pytest.fixture
def inside(camera):
    """The same with its login in it."""
    return camera.replace("rtsp://", f"rtsp://admin:{IN_ADDRESS}@")


# preflight


def test_a_camera_that_plays_is_status_0_and_any_other_1(camera, tmp_path):
    """With the password of the environment the camera plays, and its picture is written; without a
    login name nothing is asked, and another verdict comes with its advice."""
    file = tmp_path / "door.png"
    done = run("preflight", camera, *ADMIN, "--snapshot", str(file), **KNOWN)
    assert (done.returncode, verdict(done)) == (0, "ok"), done.stderr
    assert "128 x 96" in done.stdout
    assert file.read_bytes().startswith(b"\x89PNG")
    done = run("preflight", camera)
    assert (done.returncode, verdict(done), done.stderr) == (1, "auth_required", "")
    assert "name and password" in done.stdout


def test_a_login_in_the_address_works_and_shows_nowhere(camera, inside):
    """A URL with a login is taken as it is, and masked in all that is written; a name alone takes
    the password of the environment, unless it is another one than was given."""
    named = camera.replace("rtsp://", "rtsp://admin@")
    for url, password, options, said in (
        (inside, "other", ADMIN, "ok"),
        (inside.replace("rtsp", "rtp", 1), "other", ADMIN, "url_malformed"),
        (named, PASSWORD, (), "ok"),
        (named, PASSWORD, ADMIN, "ok"),
        (named, PASSWORD, ("--login-name", "eve"), "credentials_conflict"),
    ):
        done = run("preflight", url, *options, CONFKIT_CAMERA_PASSWORD=password)
        assert (done.returncode, verdict(done)) == (int(said != "ok"), said), done.stdout


def test_a_password_comes_from_a_pipe_or_its_variable_is_named(camera):
    """Without a terminal one line of the standard input is the password. An empty input is one line
    that names CONFKIT_CAMERA_PASSWORD, and the camera is left alone: a wrong login may lock it."""
    assert verdict(run("preflight", camera, *ADMIN, typed=PASSWORD + "\n")) == "ok"
    done = run("preflight", camera, *ADMIN)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "CONFKIT_CAMERA_PASSWORD" in line


def test_a_password_is_asked_for_without_an_echo(camera):
    """In a terminal the password is asked for, is not shown, and is no argument of the process."""
    command = [sys.executable, "-m", "confkit", "preflight", camera, *ADMIN]
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


def test_what_makes_no_sense_is_refused_and_quoted_without_its_password():
    """It is reported in a sentence, not in a traceback, and no camera is dialled; an address in the
    wrong place is masked in the complaint about it."""
    url = "rtsp://admin:geheim@127.0.0.1:9/x"
    for options in (("--timeout", "0"), (url,), ("--transport", url)):
        done = run("preflight", url, *options)
        assert done.returncode in (1, 2)
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert "geheim" not in done.stderr


def test_a_picture_that_is_not_written_is_status_1(sandbox, tmp_path):
    """The report stands, and one line says what was not written, and why."""
    plays = sandbox.camera(size=(128, 96), fps=10)
    for url, file, report, said in (
        (plays, "no/such/folder/door.png", "ok", "was not written"),
        (NOBODY, "door.png", "refused", "no picture"),
    ):
        done = run("preflight", url, "--snapshot", str(tmp_path / file))
        assert (done.returncode, verdict(done)) == (1, report)
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_terminal_without_ticks_gets_the_report_all_the_same():
    """An encoding that knows no tick ends nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "confkit", "preflight", NOBODY],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, verdict(done), done.stderr) == (1, "refused", "")


# diagnose


@pytest.fixture
def diagnosed(sandbox, client):
    """Diagnoses in a room of a sandbox that the environment names: gives its ID and the command."""
    room_id = ck.create_room(client, "t", "ops")
    return room_id, lambda *words, **more: run(
        "diagnose", room_id, *words, **known(sandbox), **more
    )


def test_diagnose_tells_the_room_and_the_camera(sandbox, client, diagnosed, camera):
    """The device is in its room: 0. Its camera is gone: 1, with the camera's verdict."""
    room_id, diagnose = diagnosed
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    for words in ((), ("--address", camera), ("cam", "--force", "--timeout", "30")):
        done = diagnose(*words)
        assert (done.returncode, verdict(done)) == (0, "ok"), done.stdout + done.stderr
    sandbox.unplug(camera)
    while ck.get_room_users(client, room_id):
        time.sleep(0.02)
    done = diagnose("cam")
    assert (done.returncode, verdict(done)) == (1, "path_not_found")


def test_diagnose_takes_the_login_of_a_camera_that_is_not_imported(diagnosed, camera, inside):
    """A login name, and a password of the environment or of the address. What has no command says
    how Python is started for it; what has one is said as a command."""
    room_id, diagnose = diagnosed
    for address in ((camera, *ADMIN), (inside,)):
        done = diagnose("cam", "--address", *address, **KNOWN)
        assert (done.returncode, verdict(done)) == (1, "not_imported"), done.stdout
        assert f"confkit preflight {camera} --login-name admin" in done.stdout
    assert "ck.import_device(" in done.stdout
    line = shlex.split(done.stdout.splitlines()[-1].partition("start Python so: ")[2])
    assert line == ["python3", "-ic", "import confkit as ck; client = ck.connect()"]
    done = diagnose("cam")
    assert f"confkit diagnose {room_id} cam --address rtsp://... [--login-name NAME]" in done.stdout
    assert "ck." not in done.stdout


def test_diagnose_of_no_room_is_status_1():
    """It is said of which service; Python is started with the same one."""
    done = run("diagnose", "0", "--sandbox")
    assert (done.returncode, verdict(done)) == (1, "room_not_found")
    assert "SANDBOX has no room" in done.stdout
    line = shlex.split(done.stdout.splitlines()[-1].partition("python3 ")[2])
    assert line[-1].endswith("ck.connect('sandbox')")


# ask_secret


def test_ask_secret_gives_what_was_typed_or_says_how_else(monkeypatch, tmp_path):
    """What was typed is for code to use, and shows as *** only. At its end, and without a standard
    input, or with a closed one, the variable is named."""
    file = tmp_path / "typed"
    file.write_text(f" {PASSWORD} \r\n")
    with file.open(newline="") as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        secret = ck.ask_secret()
        assert (secret, repr(secret)) == (f" {PASSWORD} ", "'***'")
        with pytest.raises(ck.ConfkitError, match=r"cannot prompt.*Password.*CAMERA_PASSWORD"):
            ck.ask_secret()
    for stream in (None, typed):
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(ck.ConfkitError, match="CONFKIT_SECRET_KEY"):
            ck.ask_secret("secret key: ", variable="CONFKIT_SECRET_KEY")


def test_ask_secret_in_a_notebook(tmp_path):
    """In a kernel the front end asks, without an echo; where it cannot, the variable is named."""
    code = "import confkit as ck; secret = ck.ask_secret(); print(secret == 'typed', repr(secret))"
    ipc = {"transport": "ipc", "connection_file": str(tmp_path / "kernel.json")}
    manager = KernelManager(kernel_name="python3", **(ipc if os.name == "posix" else {}))
    manager.start_kernel()
    kernel = manager.client()
    kernel.start_channels()
    asked, told = [], []

    def answer(message):
        asked.append(message["content"]["password"])
        kernel.input("typed")

    try:
        kernel.wait_for_ready(timeout=60)
        for attended in (True, False):
            kernel.execute_interactive(
                code,
                timeout=60,
                allow_stdin=attended,
                stdin_hook=answer,
                stop_on_error=False,
                output_hook=lambda message: told.append(str(message["content"])),
            )
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert asked == [True]
    assert "True '***'" in "".join(told)
    assert "CONFKIT_CAMERA_PASSWORD" in "".join(told)
