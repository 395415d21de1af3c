"""What the checker says of clients: of those that are right, those that make a mistake, and of
commands that are no clients at all, which it ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import confkit as ck
from confkit import course
from confkit.course.clients.rows import ROWS
from tests.course.clients import MISTAKES, client, mistaken, python
from tests.sandbox.conftest import until

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.nightly  # a process for each row of each client
POSIX = pytest.mark.skipif(os.name == "nt", reason="there are no sessions on Windows")


@pytest.mark.parametrize(
    ("mistake", "row"),
    [(name, row) for name, texts in MISTAKES.items() for row in texts if row not in ("old", "new")],
)
def test_a_mistake_is_named(mistake, row):
    """The row in which a mistake shows is wrong, and the reason names the mistake."""
    (found,) = course.check_client(mistaken(mistake), only=[row])
    assert found.verdict == "FAIL"
    assert MISTAKES[mistake][row] in f"{found.found} {found.advice}"
    assert "demo_secret" not in str(found)


def test_a_client_in_python_is_right_in_every_row():
    """The small client of these tests meets the whole contract."""
    found = course.check_client(client())
    assert [str(check) for check in found if check.verdict != "PASS"] == []
    assert len(found) == len(ROWS)


def test_ascii_is_as_good_as_utf_8():
    """JSON with escapes for what is beyond ASCII is right, too."""
    assert course.check_client(client("ensure_ascii=False", "ensure_ascii=True"), only=["A6"]).ok


def test_what_a_client_does_not_know_is_missing_and_not_wrong():
    """Exit status 64 makes a row UNKNOWN; the exit status of the check is then 2."""
    found = course.check_client(client('"get_mcu"', '"none"'), only=["A1", "A5", "416"])
    assert [check.verdict for check in found] == ["PASS", "UNKNOWN", "UNKNOWN"]
    assert found[2].found == "it does not know get_mcu"
    assert found.exit_status == 2


@pytest.mark.parametrize("ret", [0, 404])
def test_a_client_that_sends_nothing_has_no_row_right(ret):
    """One that prints the same answer to everything passes no row by chance."""
    line = json.dumps({"ret": ret, "error": "authentication failed, wrong parameters"})
    found = course.check_client(["printf", line.replace("%", "%%"), "%.0s"])
    assert {check.verdict for check in found} == {"FAIL"}


def test_a_row_is_told_when_all_services_have_tried_it():
    """`each` is called once a row, with what stands in the table in the end; here with a mistake
    that shows in one of the services alone."""
    rows = []
    found = course.check_client(mistaken("usual token name"), only=["A3", "416"], each=rows.append)
    assert "2 of 3 services right" in found[0].found
    assert sorted(rows, key=str) == sorted(found, key=str)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("", "it printed nothing"),
        ("print('hello')", 'it printed "hello", which is no JSON object'),
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
    (check,) = course.check_client(python(code), only=["401-A"])
    assert told in check.found
    assert check.found.isprintable()
    assert len(check.found) < 400


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        ([str(ROOT)], {}, r"cannot be started.*confkit course check --"),
        (["\0"], {}, r"cannot be started.*confkit course check --"),
        ("java Client", {}, "a list of words"),
        ([], {}, "a list of words"),
        (["true"], {"only": ["A9"]}, r"no row is called A9\. There are A1, A2"),
        (["true"], {"limit": 0}, "above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(command, options, told):
    """A command that cannot be started, as one text or none at all, an unknown row, a limit of 0:
    one sentence says what to give."""
    with pytest.raises(ck.ConfigError, match=told):
        course.check_client(command, **options)


@POSIX
def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    """A run over its limit is ended, and so is what it started; after three no further is made."""
    pids = tmp_path / "pids"
    found = course.check_client(
        ["sh", "-c", f"sleep 600 & echo $! >> {pids}; sleep 600"], limit=0.7
    )
    assert {check.verdict for check in found} == {"FAIL"}
    assert "did not end within 0.7 seconds" in found[0].found
    assert "3 runs before it had to be ended" in found[-1].found
    assert_gone(pids)


@POSIX
def test_what_a_command_leaves_running_behind_it_is_ended(tmp_path):
    """A child that holds the output open after its parent has ended does not hold up the check."""
    pids = tmp_path / "pids"
    course.check_client(["sh", "-c", f"sleep 600 & echo $! > {pids}"], only=["401-A"])
    assert_gone(pids)


@POSIX
def test_an_end_of_the_check_ends_what_it_started(tmp_path):
    """After SIGTERM, as after Ctrl-C, the command ends with status 130, and no client goes on."""
    pids = tmp_path / "pids"
    hanging = ["sh", "-c", f"echo $$ >> {pids}; sleep 600"]
    process = subprocess.Popen(
        [sys.executable, "-m", "confkit", "course", "check", "--limit", "60", "--", *hanging],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    until(lambda: pids.exists() and pids.read_text().strip())
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert_gone(pids)


def assert_gone(file):
    """None of the processes in the file is there any more, some time after it was ended."""
    pids = file.read_text().split()
    assert pids

    def gone():
        line = ["ps", "-o", "stat=", "-p", ",".join(pids)]
        states = subprocess.run(line, capture_output=True, text=True).stdout.split()
        return all(state.startswith("Z") for state in states)

    until(gone)
