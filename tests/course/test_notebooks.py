"""The course's notebooks as a learner works through them: every exercise solved, each once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from confkit.course.lessons import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks" / "course").glob("*.ipynb"))
pytestmark = pytest.mark.timeout(600)  # the first test waits for all notebooks


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """What came of each notebook when its solutions were put in."""
    own = tmp_path_factory.mktemp("course")
    environment = {
        **os.environ,
        "IPYTHONDIR": str(own / "ipython"),
        "MPLBACKEND": "Agg",
    }
    run = [sys.executable, "-m", "tests.course.run_solved"]
    halves = [  # side by side: they wait for cameras and for clients that start
        subprocess.Popen(
            [*run, *map(str, half)],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for half in (NOTEBOOKS[::2], NOTEBOOKS[1::2])
    ]
    found = {}
    try:
        for half in halves:
            shown, trouble = half.communicate()
            assert half.returncode == 0, trouble
            found |= json.loads(shown)
    finally:
        for half in halves:
            half.kill()
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_folded_solutions_are_right(solved, path):
    """With the solutions in place the notebook runs to its end and every check says right; so it
    does for who goes back to an exercise after the last cell."""
    outcome = solved[path.stem]
    assert outcome["error"] is None
    due = [[exercise.name, True] for exercise in EXERCISES if exercise.notebook == path.stem]
    for found in (outcome["findings"], outcome["again"]):
        assert [finding[:2] for finding in found] == due, found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_shipped_unanswered(path):
    """What is stored shows no answer: every finding is open."""
    told = [
        "".join(output.get("data", {}).get("text/plain", []))
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if "course.check(" in "".join(cell["source"]) and cell["cell_type"] == "code"
        for output in cell["outputs"]
    ]
    assert told
    assert all(text.startswith("[open]") for text in told)
