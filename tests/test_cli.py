"""The commands as a user types them; those that serve, and what a terminal is, in processes of
their own."""

import os
import pty
import re
import shlex
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import requests

import confkit as ck
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox
from tests.commands import run

CONFKIT = [sys.executable, "-m", "confkit"]
KEYS = {"access_key": "demo_access", "secret_key": "demo_secret"}
ADD = ["--base-url", "http://h:8080", "--outgoing-url", "http://h:8050", "--access-key", "key"]


def reach(base_url, outgoing_url):
    """A client of a service that a command serves."""
    return ck.connect(base_url=base_url, outgoing_url=outgoing_url, **KEYS)


def named(sandbox):
    """The environment in which a command finds this sandbox."""
    known = {"base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url, **KEYS}
    return {f"CONFKIT_{name.upper()}": value for name, value in known.items()}


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def served(tmp_path):
    """Starts `confkit sandbox` on free ports: gives its process and its addresses."""
    running = []

    def start(*arguments):
        log = (tmp_path / f"log-{len(running)}").open("w+")
        process = subprocess.Popen(
            [*CONFKIT, "sandbox", "--port", "0", "--outgoing-port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=tmp_path,
        )
        running.append((process, log))
        told = [process.stdout.readline().split() for _ in range(2)]
        return process, told[0][-1], told[1][-1]

    yield start
    for process, log in running:
        process.kill()
        process.wait()
        process.stdout.close()
        log.close()


def test_version_names_the_interfaces_it_speaks():
    """`confkit --version`, as a process, prints its own version and those of section 9."""
    command = [*CONFKIT, "--version"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert ck.__version__ in told
    assert "A 1.0.5" in told
    assert "B 1.02" in told


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("A2", "room_extend_id"),
        ("b1", "createOutgoingUser"),
        ("errors", "602"),
        ("5", "digest"),
    ],
)
def test_interface_prints_its_part(part, text):
    """`confkit interface PART` prints that part of the reference and no other endpoint's."""
    told = run("interface", part).stdout
    assert text in told
    assert told.startswith("##")
    assert len(told) < len(run("interface").stdout) / 2


def test_an_unknown_part_lists_the_parts():
    """An unknown part is exit status 1 and one line that names those that there are."""
    done = run("interface", "Z9")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "A2. " in done.stderr


@pytest.mark.parametrize(
    "command", ["doctor", "probe", "diagnose 1", "token", "record f --rooms r"]
)
def test_without_a_service_the_command_line_s_ways_to_name_one_are_told(command):
    """One line, without what is written in Python; --sandbox where the command has it."""
    done = run(*command.split())
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "are missing. Name one: --profile NAME (`confkit profile add NAME`" in done.stderr
    assert ("--sandbox" in done.stderr) == (command not in ("token", "record f --rooms r"))
    assert "CONFKIT_BASE_URL, CONFKIT_OUTGOING_URL" in done.stderr
    assert "connect(" not in done.stderr


def test_the_embedded_service_can_be_probed_and_is_no_profile():
    """`probe --sandbox` asks it; what would be saved of it ends with the command."""
    done = run("probe", "--sandbox", "--no-room")
    assert (done.returncode, done.stderr) == (2, "")
    assert "signature of digest and token" in done.stdout
    assert "ends with this command" in run("probe", "--sandbox", "--save", "new").stderr


def test_a_token_goes_into_a_pipe_and_works(sandbox):
    """`confkit token` prints a token that the service takes."""
    done = run("token", **named(sandbox))
    answer = requests.get(
        sandbox.outgoing_url + "/avd/api/outgoing/getOutgoingUsers",
        params={"accessToken": done.stdout.strip()},
        timeout=5,
    )
    assert answer.json()["ret"] == 0
    assert "demo_secret" not in done.stdout + done.stderr


def test_a_token_is_not_shown_in_a_terminal_unless_asked(sandbox):
    """In a terminal `confkit token` refuses, and says how: a pipe, or --show."""
    told = []
    for options in ([], ["--show"]):
        ours, theirs = pty.openpty()
        command, environ = [*CONFKIT, "token", *options], {**os.environ, **named(sandbox)}
        subprocess.run(command, stdout=theirs, stderr=theirs, env=environ, timeout=60)
        os.close(theirs)
        told.append(os.read(ours, 4096).decode())
        os.close(ours)
    assert "CONFKIT_TOKEN=$(confkit token)" in told[0]
    assert re.fullmatch(r"[A-Za-z0-9+/]{54}==\s*", told[1])


def test_a_profile_is_written_read_and_forgotten():
    """`confkit profile add` asks for what is left out, and the profile then serves connect; white
    space around what is typed is removed, and told."""
    given = "--access-key key --max-rate 5 --read-only --dialect hash=sha256"
    typed = "http://conference.example:8080\n hunter2 \n"
    done = run("profile", "add", "prod", *given.split(), *ADD[2:4], typed=typed)
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert "white space around secret_key" in done.stderr
    client = ck.connect("prod")
    assert (client.base_url, client.secret_key) == ("http://conference.example:8080", "hunter2")
    assert (client.read_only, client.dialect) == (True, Dialect(hash="sha256"))
    assert stat.S_IMODE(ck.profiles.path().stat().st_mode) == 0o600
    assert run("profile", "list").stdout.split() == ["sandbox", "prod"]
    assert run("profile", "remove", "prod").returncode == 0
    assert run("profile", "list").stdout.split() == ["sandbox"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["docter"], "doctor"),
        (["interfaces", "A2"], "interface"),
        (["doctor", "--sandbx"], "--sandbox"),
        (["runbook", "--lst"], "--list"),
        (["lab", "--prot", "1"], "--port"),
    ],
)
def test_what_was_almost_typed_is_named(typed, meant):
    """The command or option that is spelled nearly so, also where a command hands on the rest."""
    done = run(*typed)
    assert done.returncode == 2
    assert f"Did you mean {meant}?" in done.stderr


def test_what_stands_behind_two_hyphens_is_handed_on_as_it_is():
    """However much it looks like an option of lab: lab looks at its own words alone."""
    done = run("lab", "--rooms", "x", "--", "--prot", "1")
    assert (done.returncode, "--rooms is for the app" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "typed",
    [
        ("nonsense",),
        ("token", "hidden"),
        ("token", "--secret=hidden"),
        ("doctor", "1", "hidden"),
        ("sandbox", "--port", "hidden"),
        ("preflight", "u", "--transport", "hidden"),
        ("lab", "--port=x"),
        ("runbook", "--cell-timeout", "-7"),
        ("profile", "add", "x", "--timeout", "pw"),
    ],
)
def test_what_was_typed_wrongly_is_not_repeated(typed):
    """Status 2 and a complaint without the words, as one of them may be a password."""
    done = run(*typed)
    complaint = done.stderr.splitlines()[-1]
    assert (done.returncode, done.stdout) == (2, "")
    for word in ("nonsense", "hidden", "'x'", "-7", "'pw'"):
        assert word not in complaint


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        ("add sandbox", {}),
        ("add a/b", {}),
        ("remove nowhere", {}),
        ("add x --timeout 0", {}),
        ("add x --dialect hash=crc32", {}),
        ("add x --max-rate -1", {}),
        ("add x", {"XDG_CONFIG_HOME": __file__}),
    ],
)
def test_a_wrong_profile_is_refused_and_not_written(words, environ):
    """A reserved or impossible name, a setting that cannot work, or a folder that cannot be made,
    with what to set, is one line and status 1."""
    given = ADD if words.startswith("add") else []
    done = run("profile", *words.split(), *given, typed="hunter2\n", **environ)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (1, 1)
    assert "hunter2" not in done.stderr
    assert all(name in done.stderr for name in environ)
    assert not ck.profiles.path().exists()


def test_the_sandbox_serves_other_clients_and_loses_no_room_by_kill_9(served, tmp_path):
    """`confkit sandbox` answers on its ports; rooms whose creation was answered are there after the
    process was killed, and SIGTERM ends it cleanly."""
    process, *urls = served("--db", "rooms.sqlite")
    with reach(*urls) as client:
        rooms = {ck.create_room(client, f"Room {n}", "ops"): f"Room {n}" for n in range(50)}
        assert client.sandbox is None
        process.kill()
        process.wait()
    process, *urls = served("--db", "rooms.sqlite")
    with reach(*urls) as client:
        assert {room: ck.get_room(client, room).topic for room in rooms} == rooms
        assert ck.list_devices(client) == []
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    assert stat.S_IMODE((tmp_path / "rooms.sqlite").stat().st_mode) == 0o600
    with sqlite3.connect(tmp_path / "rooms.sqlite") as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    file.close()


def test_the_line_for_clients_is_all_that_a_client_needs(served, monkeypatch):
    """The variables that `confkit sandbox` prints name it, its dialect included; with --latency
    each answer waits."""
    process, *_ = served("--dialect", "signature=raw,result_field=result", "--latency", "0.2")
    line = process.stdout.readline().partition("export ")[2]
    for variable in shlex.split(line):
        monkeypatch.setenv(*variable.split("=", 1))
    with ck.connect() as client:
        client.token()
        began = time.monotonic()
        assert ck.list_devices(client) == []
        assert time.monotonic() - began >= 0.2


def test_explain_logs_what_was_wrong_without_secrets(served, tmp_path):
    """With --explain each refused call is one line that says what was wrong with it."""
    _, *urls = served("--explain", "--dialect", "signature=raw")
    with reach(*urls) as client, pytest.raises(ck.AuthenticationFailed):
        client.token()
    deadline = time.monotonic() + 5
    while "hex" not in (log := (tmp_path / "log-0").read_text()):
        assert time.monotonic() < deadline, log
        time.sleep(0.02)
    assert "raw" in log
    assert "demo_secret" not in log
    assert ck.signing.digest(*KEYS.values(), Dialect()) not in log


def test_a_sandbox_that_cannot_be_is_one_line(served):
    """A port that is taken, and, for others, tokens that can be guessed: status 1 and a sentence,
    not a traceback."""
    port = served()[1].rpartition(":")[2]
    for words, told in ((f"--port {port}", port), ("--seed 1 --host 0.0.0.0 --port 0", "loopback")):
        done = run("sandbox", "--outgoing-port", "0", *words.split())
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert told in done.stderr


@pytest.mark.parametrize("late", [0, 1, 10_000])
def test_signals_end_the_sandbox(served, late):
    """SIGINT as cleanly as SIGTERM; both on top of each other, however late one comes: none can
    hang it."""
    process, base_url, _ = served()
    urllib.request.urlopen(base_url + "/rtc/auth/valid").close()
    process.send_signal(signal.SIGTERM if late else signal.SIGINT)
    for number in (signal.SIGINT, signal.SIGTERM) * late:
        if process.poll() is None:
            process.send_signal(number)
            time.sleep(0.001 * (late > 1))
    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(os.name != "posix", reason="signals that are held back")
def test_two_signals_in_the_same_moment_say_nothing():
    """The second of them is not reported as an error, with a traceback."""
    code = """
import os, signal
from confkit.many.interrupts import until_ended
both = (signal.SIGTERM, signal.SIGINT)
with until_ended():
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    for number in both:
        os.kill(os.getpid(), number)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
    except SystemExit:
        print("closing")  # and meanwhile the other one comes
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "closing\n", "")


def test_a_sandbox_beyond_loopback_says_so(caplog):
    """Listening for others is logged as a warning, and the demo keys do not open it."""
    with Sandbox(host="0.0.0.0") as sandbox:
        assert "beyond this machine" in caplog.text
        assert sandbox.secret_key != "demo_secret"
        assert sandbox.secret_key not in caplog.text
