"""A few failed tests are run once more, alone; many, and what holds a promise, stay failures."""

import subprocess
import sys

from tests import rerun
from tests.nightly.piece import ROOT

ONCE = """
from pathlib import Path
import pytest

@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("value", ["a@b", "c"])
def test_once(value):
    seen = Path(__file__).with_name(value)
    before = seen.exists()
    seen.touch()
    assert before
"""
BESIDE = ("-p", "xdist", "-n", "2", "--dist", "loadgroup", ".")


def test_a_few_failed_tests_run_once_more(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a second each
    (tmp_path / "test_a.py").write_text(ONCE)

    def call(command):
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    command = [sys.executable, "-m", "pytest"]
    again = rerun.once_more(rerun.run([*command, *BESIDE], call), command, call)
    assert again == (0, (), ("test_a.py::test_once[a@b]", "test_a.py::test_once[c]"))


def test_what_is_never_repeated():
    """Many failures, and a promise, nor what failed beside it; these files exist."""
    assert rerun.repeatable([f"tests/test_text.py::test_{n}" for n in range(4)]) == []
    for path in rerun.NEVER:
        assert [*ROOT.glob(f"{path}*")]
        assert rerun.repeatable(["tests/test_text.py::test_a", f"{path}::test_b"]) == []
