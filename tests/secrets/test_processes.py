"""No traceback, assertion, log line, file or argument of a process shows a secret; and Jupyter,
which is started here alone, opens for who has its address, and ends at Ctrl-C."""

import json
import random
import subprocess
import sys

import pytest

from confkit.operations import OPERATIONS
from tests.scripted import Reply
from tests.secrets import processes, worlds

MODES = ("Context", "Verbose")  # the others nightly


@pytest.fixture
def slow(tmp_path):
    """A service in which all is well but for A6, which says back what it hears, and A5 and A7,
    which are late."""
    with worlds.world("good", tmp_path, random.Random(7)) as made:
        late = Reply({"ret": 0}, delay=1.5)
        answers = {"A5": late, "A6": worlds.code, "A7": late}
        made.service.script |= {OPERATIONS[key].path: one for key, one in answers.items()}
        made.client.token()
        yield made


def test_no_traceback_of_a_notebook_or_a_program_shows_a_secret(slow):
    """In IPython with locals and without, after Ctrl-C, in development mode, with the logs of
    urllib3 and http.client, faulthandler's dump and the process's arguments: no marked secret."""
    said = processes.program(slow, MODES)
    assert said.count("KeyboardInterrupt") >= 2 * len(MODES)
    assert "Traceback (most recent call last)" in said
    assert "Current thread" in said
    assert slow.shown(said) == []


def test_no_assertion_of_pytest_shows_a_secret(slow):
    """What pytest says of our things that differ, with all locals, shows no marked secret."""
    said = processes.assertions(slow)
    assert "9 failed" in said
    assert slow.shown(said) == []


def test_a_sandbox_of_its_own_process_shows_no_secret(slow):
    """What `confkit sandbox --explain` says of refused calls, and its arguments, hold no secret."""
    said = processes.served(slow)
    assert "interface A" in said
    assert "signature" in said or "token" in said
    assert slow.shown(said) == []


@pytest.mark.nightly
def test_no_log_file_or_argument_of_jupyter_shows_a_secret(tmp_path):
    """With --debug and the panels opened as a page: of all marked secrets, a proxy's password among
    them, none is in a log, a file or an argument."""
    with worlds.world("sandbox", tmp_path, random.Random(7)) as made:
        shown, kept, stranger, status = processes.opened(made)
        assert ": Rooms, Occupancy, Cameras" in shown
        assert "ipykernel_launcher" in kept
        assert made.shown(shown) == []
        assert made.shown(kept) == []
        assert "/login" in stranger
        assert status == 0


@pytest.mark.timeout(300)
def test_nothing_that_a_trace_or_report_holds_shows_a_secret(tmp_path):
    """With OpenTelemetry's instrumentations of requests and urllib3 and with Sentry, its reports of
    failures with their locals among it, nothing that is recorded holds a marked secret; a request
    that is not confkit's shows its own as ever."""
    words = [sys.executable, "-W", "error", "-m", "tests.secrets.traced", str(tmp_path)]
    done = subprocess.run(words, cwd=processes.ROOT, text=True, timeout=280, capture_output=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == {}
    assert any(told.startswith("token") for told in found["control"])
    assert found["locals"] > 60
