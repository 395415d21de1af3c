"""The commands as a user types them; those that serve, in processes of their own."""

import os
import re
import shlex
import signal
import stat
import subprocess
import threading

import pytest
import requests

import confkit as ck
from confkit.cli import as_interrupts, commands
from confkit.cli.services import SPOKEN, reference
from confkit.connect import profiles_path
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox
from tests.commands import CONFKIT, known, on_a_terminal, run
from tests.ports import HERE
from tests.scripted import Reply

COMMANDS = [*commands.commands, "profile add"]
ADD = "--base-url http://h:8080 --outgoing-url http://h:8050"
NAME_ONE = "Name one: --profile NAME"
WRONG_PROFILES = ("sandbox", "a/b", "x --timeout 0", "x --max-rate -1", "x --dialect hash=crc32")
# What is typed, the status, a part of standard output and of standard error. REFUSED is a sandbox
# that takes other keys, OTHER one of another dialect, PORT that of a server.
ROWS = [
    ("--version", 0, f"confkit {ck.__version__}, speaks {SPOKEN}", ""),
    ("--help", 0, "diagnose", ""),
    *((f"{name} --help", 0, "Usage: confkit", "") for name in COMMANDS),
    ("interface A2", 0, reference("A2"), ""),
    ("interface Z9", 1, "", "the reference has no part 'Z9'"),
    ("interface --openapi A2", 1, "", "Leave out the part"),
    ("docter", 2, "", "No such command 'docter'. Did you mean 'doctor'? See `confkit --help`"),
    ("profile ad", 2, "", "Did you mean 'add'?"),
    ("doctor --sandbx", 2, "", "'--sandbx'. Did you mean '--sandbox'? See `confkit doctor --help`"),
    ("doctor rtsp://a:geheim@h/ b", 2, "", "extra argument (b). See"),
    ("rtsp://a:geheim@h/", 2, "", "No such command 'rtsp://a:***@h/'"),
    ("sandbox --port 65536", 2, "", "65536 is not in the range"),
    ("preflight u --transport tpc", 2, "", "no choice 'tpc'. Did you mean 'tcp'?"),
    ("preflight u --transport x", 2, "", "no choice 'x'. There are: auto, tcp, udp."),
    ("runbook media-server --sandbox", 2, "", "Did you mean 'media-server-gone'?"),
    ("runbook", 2, "nobody-can-join", ""),
    ("runbook --list", 0, "-p room=... [-p apply=False]", ""),
    ("runbook nobody-can-join", 2, "", NAME_ONE),
    ("runbook nobody-can-join --profile sandbox", 2, "", "only the embedded sandbox is named"),
    ("runbook nobody-can-join --sandbox", 2, "Overall: UNKNOWN", "nobody-can-join on SANDBOX"),
    ("runbook nobody-can-join --sandbox -p room=1", 1, "FAIL    Room: ", ""),
    ("runbook nobody-can-join --sandbox -p rom=1", 2, "", "'rom'. The inputs are: room, apply"),
    ("runbook nobody-can-join --sandbox -p room", 2, "", "Write -p KEY=VALUE"),
    ("runbook nobody-can-join --sandbox -p apply=perhaps", 2, "", "Give True or False"),
    ("runbook capacity-review --sandbox -p days=soon", 2, "", "Give a whole number"),
    ("runbook deployment-acceptance --sandbox -p apply=true", 0, "Overall: PASS", ""),
    ("runbook authentication-fails --sandbox --json", 0, '"service": "SANDBOX (', ""),
    ("doctor --sandbox", 0, "Overall: PASS - no problem found", "Checking SANDBOX"),
    ("doctor --sandbox --json", 0, '"verdict": "PASS"', ""),
    ("doctor", 1, "", "--sandbox for the embedded one, or CONFKIT_BASE_URL, CONFKIT_OUTGOING_URL"),
    ("doctor --sandbox --profile x", 1, "", "two services are named"),
    ("REFUSED doctor", 1, "Overall: FAIL - keys: A1 refuses the keys (401)", ""),
    ("probe --sandbox", 0, "The dialect is the usual one: set nothing", ""),
    ("OTHER probe", 0, "Set CONFKIT_DIALECT=hash=sha256 (or: confkit profile add NAME", ""),
    ("record f --rooms nowhere", 1, "", "there is no file nowhere. Give --rooms"),
    (f"record f --rooms {__file__}", 1, "", NAME_ONE),
    ("token", 1, "", NAME_ONE),
    ("token --profile sandbox", 1, "", "ends with this command"),
    ("sandbox --outgoing-port 0 --host HOST --port PORT", 1, "", "PORT"),
    ("sandbox --outgoing-port 0 --host 0.0.0.0 --port 0", 1, "", "Set CONFKIT_SECRET_KEY to one"),
    (f"profile add x {ADD}", 1, "access key: ", "Set CONFKIT_SECRET_KEY in"),
    *((f"profile add {words} {ADD} --access-key k", 1, "", "") for words in WRONG_PROFILES),
]


@pytest.fixture(scope="module")
def services():
    """What stands for the words in capitals: a service's environment, or a text."""
    with Sandbox(host=HERE, dialect=Dialect(hash="sha256")) as other:
        refused = {**known(other), "CONFKIT_SECRET_KEY": "geheim", "CONFKIT_DIALECT": "hash=sha256"}
        port = other.base_url.rpartition(":")[2]
        yield {"OTHER": known(other), "REFUSED": refused, "HOST": HERE, "PORT": port}


@pytest.mark.parametrize(("words", "status", "out", "err"), ROWS)
def test_what_is_typed(services, words, status, out, err):
    """Its status, and what it prints; what begins with "Overall" is its last line. An error is one
    line, and no Python; a help fits a terminal."""
    first, _, rest = words.partition(" ")
    environ = services.get(first, {})
    arguments = [services.get(word, word) for word in (rest if environ else words).split()]
    done = run(*arguments, typed="geheim\n", **environ)
    assert done.returncode == status, done
    assert (out in done.stdout) if out else done.stdout == "", done
    assert services.get(err, err) in done.stderr, done
    assert "geheim" not in done.stdout + done.stderr
    if out.startswith("Overall"):
        assert done.stdout.splitlines()[-1].startswith(out)
    if words.endswith("--help"):
        assert max(map(len, done.stdout.splitlines())) <= 80
    if not out:
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("confkit: ")
        assert "connect(" not in done.stderr
    assert not profiles_path().exists()


def test_an_outcome_has_a_colour_on_a_terminal_without_no_color(services):
    """doctor's last line as an example; a pipe never gets one."""
    assert "Overall: \x1b[31m\x1b[1mFAIL\x1b[0m - keys" in on_a_terminal(
        "doctor", **services["REFUSED"]
    )
    assert "\x1b" not in on_a_terminal("doctor", NO_COLOR="1", **services["REFUSED"])
    assert "\x1b" not in run("doctor", **services["REFUSED"]).stdout


def test_a_report_is_one_table_with_inputs_and_duration(sandbox, tmp_path):
    """For its owner alone, without what an input hides; a place that cannot be written is named."""
    file = tmp_path / "out.html"
    words = "runbook media-server-gone -p rooms=rtsp://admin:hunter2@host/1 --report"
    done = run(*words.split(), str(file), **known(sandbox))
    page = file.read_text()
    assert (done.returncode, stat.S_IMODE(file.stat().st_mode)) == (2, 0o600)
    assert "hunter2" not in page + done.stdout + done.stderr
    assert page.count("<table>") == 1
    inputs = "Inputs: rooms=rtsp://admin:***@host/1"
    for text in ("Overall: ", "media-server-gone on ", inputs, " UTC, "):
        assert text in page
    done = run(*words.split(), str(tmp_path / "no" / "out.html"), **known(sandbox))
    assert (done.returncode, "cannot be written" in done.stderr) == (2, True)


def test_a_token_goes_into_a_pipe_and_into_a_terminal_only_when_asked(sandbox):
    """A token that the service takes; a terminal gets it with --show alone."""
    done = run("token", **known(sandbox))
    assert "demo_secret" not in done.stdout + done.stderr
    url = sandbox.outgoing_url + "/avd/api/outgoing/getOutgoingUsers"
    answer = requests.get(url, params={"accessToken": done.stdout.strip()}, timeout=5)
    assert answer.json()["ret"] == 0
    assert "CONFKIT_TOKEN=$(confkit token)" in on_a_terminal("token", **known(sandbox))
    shown = on_a_terminal("token", "--show", **known(sandbox))
    assert re.fullmatch(r"[A-Za-z0-9+/]{54}==\s*", shown)
    assert on_a_terminal("token", "--show", "--digest", **known(sandbox)) != shown


def test_a_profile_is_written_read_and_changed():
    """It asks for what is missing, and removes white space around what is typed. Once more it
    changes what is typed, and nothing else; another access key has another secret."""
    words = "--outgoing-url http://h:8050 --access-key key --max-rate 5 --read-only"
    typed = "http://conference.example:8080\n hunter2 \n"
    done = run("profile", "add", "prod", *words.split(), "--dialect", "hash=sha256", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    client = ck.connect("prod")
    assert (client.base_url, client.secret_key) == ("http://conference.example:8080", "hunter2")
    assert (client.read_only, client.dialect) == (True, Dialect(hash="sha256"))
    assert client.max_rate == 5
    done = run("profile", "add", "prod", "--dialect", "hash=sha1", "--timeout", "3")
    assert done.returncode == 0, done.stderr
    changed = ck.connect("prod")  # what was not typed stays, the protection above all
    assert (changed.read_only, changed.max_rate, changed.secret_key) == (True, 5, "hunter2")
    assert (changed.dialect, changed.timeout) == (Dialect(), (3, 3))
    run("profile", "add", "prod", "--access-key", "another", typed="its-secret\n")
    assert (ck.connect("prod").secret_key, ck.connect("prod").read_only) == ("its-secret", True)
    assert stat.S_IMODE(profiles_path().stat().st_mode) == 0o600
    done = run("profile", "add", "x", typed="127.0.0.1:1\nhttp://h:8050\nk\ns\n")
    assert (done.returncode, done.stdout.count("address of")) == (1, 1)  # before the next question
    words = f"profile add x {ADD} --access-key k"
    done = run(*words.split(), typed="s\n", XDG_CONFIG_HOME=__file__)
    assert (done.returncode, "XDG_CONFIG_HOME" in done.stderr) == (1, True)


def test_the_sandbox_serves_other_clients(monkeypatch, tmp_path):
    """The variables that it prints are all that a client needs, its dialect included; the log says
    why a call was refused. SIGINT ends it cleanly."""
    words = "sandbox --port 0 --outgoing-port 0 --dialect signature=raw --explain"
    with (
        (tmp_path / "log").open("w+") as log,
        subprocess.Popen(
            [*CONFKIT, *words.split()], stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            line = [process.stdout.readline() for _ in range(3)][-1].partition("export ")[2]
            for variable in shlex.split(line):
                monkeypatch.setenv(*variable.split("=", 1))
            with ck.connect() as client:
                room_id = ck.create_room(client, "Weekly sync", "ops")
                assert client.sandbox is None
                assert ck.get_room(client, room_id).topic == "Weekly sync"
                assert ck.list_devices(client) == []
                with pytest.raises(ck.RoomNotFound):
                    ck.get_room(client, "7")
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
        log.seek(0)
        assert re.fullmatch(r"[\d:, -]+ .*A3.*404.*\n", log.read())


# How a command ends


def test_a_closed_pipe_is_no_error():
    """As of `| head`: nothing is said, and the status is 0."""
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([*CONFKIT, "interface"], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_is_130_and_silent(script, number):
    """Ctrl-C, SIGTERM or a terminal that hangs up while a service does not answer."""
    main = threading.get_ident()
    reply = Reply(raw=lambda _: signal.pthread_kill(main, number))
    service = script({"/rtc/auth/valid": reply})
    environ = {"CONFKIT_BASE_URL": service.base_url, "CONFKIT_OUTGOING_URL": service.base_url}
    keys = {"CONFKIT_ACCESS_KEY": "k", "CONFKIT_SECRET_KEY": "s"}
    assert run("token", **environ, **keys) == (130, "", "")


@pytest.mark.parametrize(("handler", "ends"), [(signal.SIG_IGN, False), (signal.SIG_DFL, True)])
def test_what_nohup_ignores_stays_ignored(handler, ends):
    """SIGHUP ends nothing where it was ignored when the command began; else it is Ctrl-C."""
    before, interrupted = signal.signal(signal.SIGHUP, handler), False
    try:
        with as_interrupts():
            signal.raise_signal(signal.SIGHUP)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGHUP, before)
    assert interrupted is ends
