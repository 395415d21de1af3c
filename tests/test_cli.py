"""The commands as a user types them; those that serve, in processes of their own."""

import json
import os
import shlex
import signal
import stat
import subprocess

import pytest
import requests

import confkit as ck
from confkit.cli import commands
from confkit.cli.services import SPOKEN, reference
from confkit.dialect import Dialect
from confkit.operations import B3
from tests.commands import CONFKIT, known, on_a_terminal, run, server
from tests.scripted import AUTHENTICATE, Reply

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
