"""`confkit preflight`, `confkit diagnose` and `ask_secret`, as somebody types them."""

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

import confkit as ck
from tests.commands import run
from tests.test_extras import BARE

CONFKIT = [sys.executable, "-m", "confkit"]
PASSWORD = "geheim@77:/#%"
IN_ADDRESS = "geheim%4077%3A%2F%23%25"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (128, 96), "fps": 10}


def child(*command, **environ):
    """The end of a process of its own: its status, and what it wrote."""
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environ},
        check=False,
    )


def verdict(done):
    """The verdict in the first line of a report."""
    return re.match(r". ([a-z0-9_]+): ", done.stdout)[1]


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, **SMALL)


@pytest.fixture
def service(sandbox):
    """The environment in which a command finds the sandbox of this process."""
    return {
        "CONFKIT_BASE_URL": sandbox.base_url,
        "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
        "CONFKIT_ACCESS_KEY": "demo_access",
        "CONFKIT_SECRET_KEY": "demo_secret",
    }


# preflight


def test_a_camera_that_plays_is_status_0(camera, tmp_path):
    """With the password of the environment the camera plays, and its picture is written."""
    file = tmp_path / "door.png"
    done = run(
        "preflight",
        camera,
        "--login-name",
        "admin",
        "--snapshot",
        str(file),
        CONFKIT_CAMERA_PASSWORD=PASSWORD,
    )
    assert (done.returncode, verdict(done)) == (0, "ok"), done.stderr
    assert "128 x 96" in done.stdout
    assert file.read_bytes().startswith(b"\x89PNG")
    assert PASSWORD not in done.stdout + done.stderr


def test_a_camera_that_does_not_play_is_status_1(camera):
    """Another verdict is status 1, with the advice; without a login name nothing is asked."""
    done = run("preflight", camera)
    assert (done.returncode, verdict(done)) == (1, "auth_required")
    assert "name and password" in done.stdout
    assert done.stderr == ""


def test_a_password_in_the_address_works_and_shows_nowhere(camera):
    """A URL with a login is taken as it is, and masked in all that is written."""
    inside = camera.replace("rtsp://", f"rtsp://admin:{IN_ADDRESS}@")
    for url, status in ((inside, 0), (inside + "-none", 1), (inside.replace("rtsp", "rtp", 1), 1)):
        done = run("preflight", url, "--login-name", "admin", CONFKIT_CAMERA_PASSWORD="other")
        assert done.returncode == status, done.stdout
        for secret in (PASSWORD, IN_ADDRESS, "geheim"):
            assert secret not in done.stdout + done.stderr


def test_a_name_in_the_address_takes_the_password_of_the_environment(camera):
    """rtsp://admin@host and CONFKIT_CAMERA_PASSWORD make one login."""
    url = camera.replace("rtsp://", "rtsp://admin@")
    for options in ((), ("--login-name", "admin")):
        done = run("preflight", url, *options, CONFKIT_CAMERA_PASSWORD=PASSWORD)
        assert verdict(done) == "ok"
    assert verdict(run("preflight", url, "--login-name", "eve", CONFKIT_CAMERA_PASSWORD="x")) == (
        "credentials_conflict"
    )


def test_a_password_comes_from_a_pipe(camera):
    """Without a terminal one line of the standard input is the password."""
    done = run("preflight", camera, "--login-name", "admin", typed=PASSWORD + "\n")
    assert verdict(done) == "ok"


def test_where_nobody_can_be_asked_the_variable_is_named(camera):
    """An empty input is one line that names CONFKIT_CAMERA_PASSWORD, and the camera is left
    alone: a wrong login may lock it."""
    done = run("preflight", camera, "--login-name", "admin")
    assert (done.returncode, done.stdout) == (1, "")
    assert "CONFKIT_CAMERA_PASSWORD" in done.stderr
    assert len(done.stderr.splitlines()) == 1


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
    try:
        while data := os.read(ours, 4096):
            written += data
    except OSError:
        pass  # Linux says so at the end of a terminal
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert "ok: " in written.decode()
    assert PASSWORD.encode() not in written + shown


@pytest.mark.parametrize(
    "options",
    [
        ("--timeout", "0"),
        ("--timeout", "soon"),
        ("--observe", "-1"),
        ("--transport", "smoke"),
        ("--no-such-option",),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options):
    """It is reported in a sentence, not in a traceback, and no camera is dialled."""
    done = run("preflight", "rtsp://127.0.0.1:9/x", *options)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_what_is_typed_wrongly_is_quoted_without_its_password():
    """An address in the wrong place is masked in the complaint about it."""
    url = "rtsp://admin:hidden@127.0.0.1:9/x"
    for wrong in ((url, url), (url, "--timeout", url), (url, "--transport", url)):
        done = run("preflight", *wrong)
        assert done.returncode == 2
        assert "hidden" not in done.stderr


@pytest.mark.parametrize("file", ["", "no/such/folder/door.png"])
def test_a_picture_that_cannot_be_written_is_status_1(sandbox, tmp_path, file):
    """The report stands, and one line says what was not written."""
    url = sandbox.camera(**SMALL)
    done = run("preflight", url, "--snapshot", str(tmp_path / file))
    assert (done.returncode, verdict(done)) == (1, "ok")
    assert "was not written" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_picture_is_told():
    """A camera that does not play gives no picture, and that is said."""
    done = run("preflight", "rtsp://127.0.0.1:9/x", "--snapshot", "door.png")
    assert (done.returncode, verdict(done)) == (1, "refused")
    assert "no picture" in done.stderr


def test_a_terminal_without_ticks_gets_the_report_all_the_same():
    """An encoding that knows no tick ends nothing."""
    command = ("-m", "confkit", "preflight", "rtsp://127.0.0.1:9/x")
    done = child(*command, PYTHONIOENCODING="ascii")
    assert (done.returncode, verdict(done)) == (1, "refused")
    assert done.stderr == ""


def test_a_plain_install_does_everything_but_the_picture(camera):
    """There the preflight passes, and says what the picture needs."""
    program = BARE + "from confkit.cli import main; sys.exit(main())"
    command = ("-c", program, "preflight", camera, "--login-name", "admin")
    done = child(*command, CONFKIT_CAMERA_PASSWORD=PASSWORD)
    assert (done.returncode, verdict(done)) == (0, "ok"), done.stderr
    assert "keyframe" in done.stdout
    assert "av (PyAV) is not installed" in done.stdout
    assert "pip install 'confkit-notebooks[cameras]'" in " ".join(done.stdout.split())


# diagnose


def test_diagnose_tells_the_room_and_the_camera(sandbox, client, camera, service):
    """The device is in its room: 0. Its camera is gone: 1, with the camera's verdict."""
    room_id = ck.create_room(client, "t", "ops")
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    for arguments in (
        (room_id,),
        (room_id, "cam"),
        (room_id, "--address", camera),
        (room_id, "cam", "--force", "--timeout", "30"),
    ):
        done = run("diagnose", *arguments, **service)
        assert (done.returncode, verdict(done)) == (0, "ok"), done.stdout + done.stderr
    sandbox.unplug(camera)
    while ck.get_room_users(client, room_id):
        time.sleep(0.02)
    done = run("diagnose", room_id, "cam", **service)
    assert (done.returncode, verdict(done)) == (1, "path_not_found")
    assert PASSWORD not in done.stdout + done.stderr


def test_diagnose_takes_the_login_of_a_camera_that_is_not_imported(client, camera, service):
    """A login name, and a password of the environment or of the address."""
    room_id = ck.create_room(client, "t", "ops")
    inside = camera.replace("rtsp://", f"rtsp://admin:{IN_ADDRESS}@")
    for address, options in ((camera, ("--login-name", "admin")), (inside, ())):
        done = run(
            "diagnose",
            room_id,
            "cam",
            "--address",
            address,
            *options,
            CONFKIT_CAMERA_PASSWORD=PASSWORD,
            **service,
        )
        assert (done.returncode, verdict(done)) == (1, "not_imported"), done.stdout
        assert f"confkit preflight {camera} --login-name admin" in done.stdout
        assert "geheim" not in done.stdout + done.stderr


def test_diagnose_of_no_room_is_status_1(service):
    """In a real service and in the embedded one."""
    assert verdict(run("diagnose", "0", "cam", **service)) == "room_not_found"
    done = run("diagnose", "0", "--sandbox", **service)
    assert (done.returncode, verdict(done)) == (1, "room_not_found")
    assert "SANDBOX has no room" in done.stdout
    line = shlex.split(done.stdout.splitlines()[-1].partition("python3 ")[2])
    assert line[-1].endswith("ck.connect('sandbox')")


def test_diagnose_speaks_as_a_command(client, camera, service):
    """A device that is not listed is asked for by the command itself; what has no command says how
    Python is started for it."""
    room_id = ck.create_room(client, "t", "ops")
    done = run("diagnose", room_id, "cam", **service)
    assert f"confkit diagnose {room_id} cam --address rtsp://... [--login-name NAME]" in done.stdout
    assert "ck." not in done.stdout
    known = run(
        "diagnose",
        room_id,
        "cam",
        "--address",
        camera,
        "--login-name",
        "admin",
        CONFKIT_CAMERA_PASSWORD=PASSWORD,
        **service,
    ).stdout
    line = known.splitlines()[-1]
    assert "ck.import_device(" in known
    program = shlex.split(line.partition("python3 -ic ")[2])[0]
    room = f"; print(ck.get_room(client, {room_id!r}).room_id)"
    assert child("-c", program + room, **service).stdout == f"{room_id}\n"


# ask_secret


def test_ask_secret_gives_a_secret(monkeypatch, tmp_path):
    """What was typed is for code to use, and shows as *** only."""
    (tmp_path / "typed").write_text(PASSWORD + "\n")
    with (tmp_path / "typed").open() as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        secret = ck.ask_secret()
        assert (secret, repr(secret)) == (PASSWORD, "'***'")
        with pytest.raises(ck.ConfkitError, match="CONFKIT_CAMERA_PASSWORD"):
            ck.ask_secret()


@pytest.mark.parametrize("closed", [None, "closed"])
def test_ask_secret_without_an_input_says_how_else(monkeypatch, tmp_path, closed):
    """Without a standard input, or with a closed one, the variable is named."""
    stream = None
    if closed:
        stream = (tmp_path / "typed").open("w+")
        stream.close()
    monkeypatch.setattr(sys, "stdin", stream)
    with pytest.raises(ck.ConfkitError, match="CONFKIT_SECRET"):
        ck.ask_secret("secret key: ", variable="CONFKIT_SECRET_KEY")


@pytest.fixture(scope="module")
def kernel():
    """A running Jupyter kernel."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("answers", [True, False])
def test_ask_secret_in_a_notebook(kernel, answers):
    """In a kernel the front end asks, without an echo; where it cannot, the variable is named."""
    code = "import confkit as ck; secret = ck.ask_secret(); print(secret == 'typed', repr(secret))"
    sent, told = [], []

    def answer(message):
        sent.append(message["content"])
        kernel.input("typed")

    kernel.execute_interactive(
        code,
        timeout=60,
        allow_stdin=answers,
        stdin_hook=answer,
        stop_on_error=False,
        output_hook=lambda message: told.append(str(message["content"])),
    )
    if answers:
        assert [question["password"] for question in sent] == [True]
        assert "True '***'" in "".join(told)
    else:
        assert "CONFKIT_CAMERA_PASSWORD" in "".join(told)
