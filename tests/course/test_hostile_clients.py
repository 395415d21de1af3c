"""Commands that are no clients at all: the checker ends them, says so, and goes on."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import confkit as ck
from confkit import course

ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(os.name == "nt", reason="there are no sessions on Windows")


def python(code):
    return [sys.executable, "-S", "-c", code]


def why(command, row="401-A", **options):
    return course.check_client(command, only=[row], **options)[0].found


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("", "it printed nothing"),
        ("print('hello')", 'it printed "hello", which is no JSON object'),
        ("print('[1]')", "is no JSON object"),
        ("print('NaN')", "is no JSON object"),
        ("print('[' * 100000)", "is no JSON object"),
        ("print('{}')", 'ret is ""'),
        ("print('{\"ret\": true}')", "ret is true"),
        ("print('1\\n2')", "it printed 2 lines"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", "no JSON object in UTF-8"),
        ("import os; os.abort()", "exit status -6"),
        ("1 / 0", 'with exit status 1, and says "ZeroDivisionError: division by zero"'),
        ("while True: print('y' * 1000)", "more than 256 kB"),
        ("import sys\nwhile True: sys.stderr.write('y' * 1000)", "more than 256 kB"),
        ("print('\\x1b[31m{\\x07}')", "is no JSON object"),
    ],
)
def test_what_is_no_answer_is_told(code, told):
    """Garbage, two lines, a crash or a flood of output are reasons, not errors of the checker."""
    found = why(python(code))
    assert told in found
    assert found.isprintable()
    assert len(found) < 400


@pytest.mark.parametrize(
    "command", [["/nowhere/client"], [str(ROOT)], ["\0"], [str(ROOT / "README.md")]]
)
def test_a_command_that_cannot_be_started_is_an_error(command):
    """The one sentence says that it cannot be started and how a command is given."""
    with pytest.raises(ck.ConfigError, match=r"cannot be started.*confkit course check --"):
        course.check_client(command)


def test_arguments_that_make_no_sense_are_refused():
    """A command as one text, none at all, an unknown row and a limit of 0 are each an error."""
    with pytest.raises(ck.ConfigError, match="a list of words"):
        course.check_client("java Client")
    with pytest.raises(ck.ConfigError, match="a list of words"):
        course.check_client([])
    with pytest.raises(ck.ConfigError, match=r"no row is called A9\. There are A1, A2"):
        course.check_client(["true"], only=["A9"])
    with pytest.raises(ck.ConfigError, match="above 0"):
        course.check_client(["true"], limit=0)


@POSIX
def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    """A run over its limit is ended, and so is what it started; after three no further is made."""
    pids = tmp_path / "pids"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'a').write(f'{{child.pid}}\\n')\n"
        "time.sleep(600)"
    )
    found = course.check_client(python(code), limit=0.7)
    assert {check.verdict for check in found} == {"FAIL"}
    assert "did not end within 0.7 seconds" in found[0].found
    assert "3 runs before it had to be ended" in found[-1].found
    children = pids.read_text().split()
    assert children
    assert [pid for pid in children if alive(int(pid))] == []


@POSIX
def test_what_a_command_leaves_running_behind_it_is_ended(tmp_path):
    """A child that holds the output open after its parent has ended does not hold up the check."""
    pid = tmp_path / "pid"
    why(["sh", "-c", f"sleep 600 & echo $! > {pid}"])
    assert not alive(int(pid.read_text()))


def alive(pid):
    """Whether the process is there; one that has ended and is not yet collected is not."""
    for _ in range(50):
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True
        )
        if not state.stdout.strip() or state.stdout.startswith("Z"):
            return False
        time.sleep(0.05)
    return True


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_check_and_what_it_started(tmp_path, number):
    """After Ctrl-C or SIGTERM the command ends with status 130, and no client goes on."""
    pids = tmp_path / "pids"
    client = ["sh", "-c", f"echo $$ >> {pids}; sleep 600"]
    process = subprocess.Popen(
        [sys.executable, "-m", "confkit", "course", "check", "--limit", "60", "--", *client],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    ended = threading.Timer(60, process.kill)
    ended.start()
    while not (pids.exists() and pids.read_text().strip()):
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate()
    ended.cancel()
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert [pid for pid in pids.read_text().split() if alive(int(pid))] == []
