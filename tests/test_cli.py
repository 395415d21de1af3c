"""The commands as a user types them; those that serve, in processes of their own."""

import contextlib
import os
import pty
import re
import shlex
import signal
import stat
import subprocess
import sys
import time

import pytest
import requests

import confkit as ck
from confkit import cli
from confkit.cli.services import SPOKEN, reference
from confkit.connect import profiles_path
from confkit.dialect import Dialect
from tests.commands import known, run
from tests.ports import HERE

CONFKIT = [sys.executable, "-m", "confkit"]
ADD = ["--base-url", "http://h:8080", "--outgoing-url", "http://h:8050", "--access-key", "key"]


def test_version_and_interface_say_what_is_spoken():
    """`confkit --version`, as a process, prints its own version and those of section 9; `confkit
    interface PART` that part of the reference, and one line of those that there are for another."""
    command = [*CONFKIT, "--version"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert told.split() == f"confkit {ck.__version__}, speaks {SPOKEN}".split()
    assert run("interface", "A2").stdout == reference("A2")
    done = run("interface", "Z9")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "A2. " in done.stderr


def test_without_a_service_the_command_line_s_ways_to_name_one_are_told():
    """One line, without what is written in Python; --sandbox where the command has it."""
    for command, has_sandbox in (("doctor", True), ("record f --rooms r", False)):
        done = run(*command.split())
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
        assert "secret_key. Name one: --profile NAME (`confkit profile add NAME`" in done.stderr
        assert ("--sandbox" in done.stderr) == has_sandbox
        assert "CONFKIT_BASE_URL, CONFKIT_OUTGOING_URL" in done.stderr
        assert "connect(" not in done.stderr


def test_the_embedded_service_can_be_probed_and_is_no_profile():
    """`probe --sandbox` asks it; what would be saved of it ends with the command."""
    done = run("probe", "--sandbox")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "the usual dialect: nothing is to be set\n"
    assert "ends with this command" in run("probe", "--sandbox", "--save", "new").stderr
    assert "two services are named" in run("probe", "--sandbox", "--profile", "x").stderr


def test_a_token_goes_into_a_pipe_and_into_a_terminal_only_when_asked(sandbox, monkeypatch):
    """`confkit token` prints a token that the service takes; in a terminal it refuses, and says
    how: a pipe, or --show."""
    done = run("token", **known(sandbox))
    assert "demo_secret" not in done.stdout + done.stderr
    url = sandbox.outgoing_url + "/avd/api/outgoing/getOutgoingUsers"
    answer = requests.get(url, params={"accessToken": done.stdout.strip()}, timeout=5)
    assert answer.json()["ret"] == 0
    for name, value in known(sandbox).items():
        monkeypatch.setenv(name, value)
    told = []
    for words in (["token"], ["token", "--show"], ["token", "--show", "--digest"]):
        ours, theirs = pty.openpty()
        with os.fdopen(theirs, "w") as terminal, contextlib.redirect_stdout(terminal):
            with contextlib.redirect_stderr(terminal):
                cli.main(words)
            terminal.flush()
            told.append(os.read(ours, 4096).decode())
        os.close(ours)
    assert "CONFKIT_TOKEN=$(confkit token)" in told[0]
    assert re.fullmatch(r"[A-Za-z0-9+/]{54}==\s*", told[1])
    assert told[2] not in told[:2]


def test_a_profile_is_written_read_and_changed():
    """`confkit profile add` asks for what is missing, and the profile then serves connect; white
    space around what is typed is removed. Once more it changes what is given, and nothing
    else; another access key has another secret."""
    given = "--access-key key --max-rate 5 --read-only --dialect hash=sha256"
    typed = "http://conference.example:8080\n hunter2 \n"
    done = run("profile", "add", "prod", *given.split(), *ADD[2:4], typed=typed)
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert "white space around secret_key" in done.stderr
    client = ck.connect("prod")
    assert (client.base_url, client.secret_key) == ("http://conference.example:8080", "hunter2")
    assert (client.read_only, client.dialect) == (True, Dialect(hash="sha256"))
    assert client.max_rate == 5
    done = run("profile", "add", "prod", "--dialect", "hash=sha1", "--timeout", "3")
    assert done.returncode == 0, done.stderr
    changed = ck.connect("prod")  # what was not given stays, the protection above all
    assert (changed.read_only, changed.max_rate, changed.secret_key) == (True, 5, "hunter2")
    assert (changed.dialect, changed.timeout) == (Dialect(), (3, 3))
    run("profile", "add", "prod", "--access-key", "another", typed="its-secret\n")
    assert (ck.connect("prod").secret_key, ck.connect("prod").read_only) == ("its-secret", True)
    assert stat.S_IMODE(profiles_path().stat().st_mode) == 0o600


def test_a_wrong_profile_is_refused_and_not_written():
    """A reserved or impossible name, a setting that cannot work, a value that nobody types, or a
    folder that cannot be made, with what to set, is one line and status 1."""
    for words in ("sandbox", "a/b", "x --timeout 0", "x --max-rate -1", "x --dialect hash=crc32"):
        done = run("profile", "add", *words.split(), *ADD, typed="hunter2\n")
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), words
        assert "hunter2" not in done.stderr
    assert "CONFKIT_SECRET_KEY" in run("profile", "add", "x", *ADD[:4]).stderr
    done = run("profile", "add", "x", *ADD, typed="hunter2\n", XDG_CONFIG_HOME=__file__)
    assert (done.returncode, "XDG_CONFIG_HOME" in done.stderr) == (1, True)
    assert not profiles_path().exists()


def test_what_was_almost_typed_is_named():
    """The command or option that is spelled nearly so, also where a command hands on the rest; but
    lab looks at nothing behind two hyphens."""
    for typed, meant in (
        ("docter", "doctor"),
        ("doctor --sandbx", "--sandbox"),
        ("lab --prot 1", "--port"),
    ):
        done = run(*typed.split())
        assert (done.returncode, f"Did you mean {meant}?" in done.stderr) == (2, True)
    assert "Did you mean" not in run("course").stderr
    done = run("lab", "--rooms", "x", "--", "--prot", "1")
    assert (done.returncode, "--rooms is for the app" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "typed",
    [
        *("hidden", "token hidden", "token --secret=hidden", "sandbox --port hidden"),
        *("sandbox --port 65536", "preflight u --transport hidden", "runbook --cell-timeout -7"),
        "profile add x --timeout hidden",
    ],
)
def test_what_was_typed_wrongly_is_not_repeated(typed):
    """Status 2 and a complaint without the words, as one of them may be a password."""
    done = run(*typed.split())
    complaint = done.stderr.splitlines()[-1]
    assert (done.returncode, done.stdout) == (2, "")
    for word in ("hidden", "-7", "'65536'"):
        assert word not in complaint


# What serves


@pytest.fixture
def served(tmp_path):
    """Starts `confkit sandbox` on free ports: gives its process, and the environment that it
    prints."""
    running = []

    def start(*arguments):
        command = [*CONFKIT, "sandbox", "--port", "0", "--outgoing-port", "0", *arguments]
        log = (tmp_path / f"log-{len(running)}").open("w")
        streams = {"stdout": subprocess.PIPE, "stderr": log, "text": True}
        running.append((subprocess.Popen(command, cwd=tmp_path, **streams), log))
        process = running[-1][0]
        line = [process.stdout.readline() for _ in range(3)][-1].partition("export ")[2]
        return process, dict(word.split("=", 1) for word in shlex.split(line))

    yield start
    for process, log in running:
        process.kill()
        process.communicate()
        log.close()


def test_the_sandbox_serves_other_clients(served, monkeypatch):
    """The variables that `confkit sandbox` prints are all that a client needs, its dialect
    included; with --latency each answer waits. SIGINT ends it cleanly."""
    spoken = "--dialect signature=raw --result-field result --latency 0.2"
    process, variables = served(*spoken.split())
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with ck.connect() as client:
        client.token()
        began = time.monotonic()
        room_id = ck.create_room(client, "Weekly sync", "ops")
        assert time.monotonic() - began >= 0.2
        assert client.sandbox is None
        assert ck.get_room(client, room_id).topic == "Weekly sync"
        assert ck.list_devices(client) == []
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0


def test_a_sandbox_that_cannot_be_is_one_line(sandbox):
    """A port that is taken, and, for others, tokens that can be guessed or published keys: status 1
    and a sentence, not a traceback."""
    port = sandbox.base_url.rpartition(":")[2]
    for words, told in (
        (f"--host {HERE} --port {port}", port),
        ("--seed 1 --host 0.0.0.0 --port 0", "loopback"),
        ("--secret-key demo_secret --host 0.0.0.0 --port 0", "needs a secret of its own"),
    ):
        done = run("sandbox", "--outgoing-port", "0", *words.split())
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
        assert told in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals that are held back")
def test_two_signals_in_the_same_moment_say_nothing():
    """The second of them is not reported as an error, with a traceback."""
    code = """
import os, signal
from confkit.interrupts import until_ended
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "closing\n", "")
