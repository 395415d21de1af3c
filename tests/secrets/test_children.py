"""No traceback, assertion, log line or argument of a process shows a secret."""

import random

import pytest

from confkit.endpoints import ENDPOINTS
from tests.scripted import Reply
from tests.secrets import children
from tests.secrets.worlds import _code, world

MODES = ("Context", "Verbose")  # the others nightly


@pytest.fixture
def slow(tmp_path):
    """A service in which all is well but for A6, which says back what it hears, and A5 and A7,
    which are late."""
    with world("good", tmp_path, random.Random(7)) as made:
        made.client.token()
        made.script[ENDPOINTS["A6"].path] = _code
        for key in ("A5", "A7"):
            made.script[ENDPOINTS[key].path] = Reply({"ret": 0}, delay=1.5)
        yield made


def test_no_traceback_of_a_notebook_or_a_program_shows_a_secret(slow):
    """In IPython with locals and without, after Ctrl-C, in development mode, with the logs of
    urllib3 and http.client, faulthandler's dump and the process's arguments: no marked secret."""
    said = children.program(slow, MODES)
    assert said.count("KeyboardInterrupt") >= 2 * len(MODES)
    assert "Traceback (most recent call last)" in said
    assert "Current thread" in said
    assert slow.all_marks().found(said) == []


def test_no_assertion_of_pytest_shows_a_secret(slow):
    """What pytest says of our things that differ, with all locals, shows no marked secret."""
    said = children.assertions(slow)
    assert "9 failed" in said
    assert slow.all_marks().found(said) == []
