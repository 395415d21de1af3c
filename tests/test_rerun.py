"""A few failed tests are run once more, alone; what fails again, fails in many or holds a promise
stays a failure."""

import subprocess
import sys

import pytest

from tests import rerun
from tests.nightly.piece import ROOT

ALWAYS = "def test_always():\n    assert False\n"
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
FOUR = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_of_four(number, tmp_path_factory):
    assert "popen" not in str(tmp_path_factory.getbasetemp())  # where a worker of pytest-xdist is
"""
BROKEN = "import there_is_no_such_module\n"
BESIDE = ("-p", "xdist", "-n", "2", "--dist", "loadgroup")
ONCE_NAMES = ["test_a.py::test_once[a@b]", "test_a.py::test_once[c]"]


@pytest.mark.parametrize(
    ("files", "options", "status", "flaky", "repeated"),
    [
        ({"test_a.py": ALWAYS}, (), 1, [], 1),
        ({"test_a.py": ONCE}, BESIDE, 0, ONCE_NAMES, 2),
        ({"test_a.py": FOUR}, BESIDE, 1, [], 0),
        ({"test_a.py": BROKEN, "test_b.py": ONCE}, BESIDE, 1, [], 0),
        ({"tests/secrets/test_a.py": ONCE}, (), 1, [], 0),
    ],
    ids=["always", "once", "four", "collection", "secret"],
)
def test_a_few_failed_tests_run_once_more(
    tmp_path, monkeypatch, files, options, status, flaky, repeated
):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a second each
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    calls = []

    def call(command):
        calls.append(command)
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    command = [sys.executable, "-m", "pytest"]
    first = rerun.run([*command, *options, "."], call)
    again = rerun.once_more(first, command, call)
    assert (again.status, list(again.flaky)) == (status, flaky)
    assert len(calls) == 1 + repeated


@pytest.mark.parametrize("path", rerun.NEVER)
def test_a_promise_is_never_repeated(path):
    """Nor is what failed beside it; these files exist."""
    assert (ROOT / path).exists()
    assert rerun.repeatable(["tests/test_text.py::test_a", f"{path}::test_b"]) == []


def test_a_notebook_is_repeated_whole():
    """A cell that failed needs the cells before it."""
    cells = [f"notebooks/{book}.ipynb::Cell {n}" for book in "abc" for n in range(3)]
    assert rerun.repeatable(cells) == [f"notebooks/{book}.ipynb" for book in "abc"]
    assert rerun.repeatable([*cells, "notebooks/d.ipynb::Cell 0"]) == []
