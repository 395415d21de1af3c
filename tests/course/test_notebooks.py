"""The course's notebooks as a learner works through them: every exercise solved, each once."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from confkit.course.lessons import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks" / "course").glob("*.ipynb"))
pytestmark = pytest.mark.timeout(600)  # the first test waits for all notebooks
CHECKED = re.compile(r'course\.check\("([^"]+)"')


def cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def source(cell):
    return "".join(cell["source"])


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """What came of each notebook when its solutions were put in."""
    own = tmp_path_factory.mktemp("course")
    environment = {
        **os.environ,
        "CONFKIT_COURSE": str(own / "course.jsonl"),
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
    """With the solutions in place the notebook runs to its end and every check says right."""
    outcome = solved[path.stem]
    assert outcome["error"] is None
    assert [finding for finding in outcome["findings"] if finding[1] is not True] == []
    due = [exercise.name for exercise in EXERCISES if exercise.notebook == path.stem]
    assert [finding[0] for finding in outcome["findings"]] == due


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_exercise_can_be_solved_after_the_notebook_has_run_to_its_end(solved, path):
    """Who runs all cells first, then goes back to an exercise and solves it, is told that it is
    right, and so is who runs a solved one again."""
    outcome = solved[path.stem]
    assert outcome["error"] is None
    assert outcome["again"]
    assert [finding for finding in outcome["again"] if finding[1] is not True] == []
    assert [finding[0] for finding in outcome["again"]] == [
        finding[0] for finding in outcome["findings"]
    ]


def test_every_exercise_stands_in_one_notebook_in_the_course_s_order():
    """The checks of all notebooks, in order, are the exercises of the registry, each once."""
    found = [
        (path.stem, name)
        for path in NOTEBOOKS
        for cell in cells(path)
        if cell["cell_type"] == "code"
        for name in CHECKED.findall(source(cell))
    ]
    assert found == [(exercise.notebook, exercise.name) for exercise in EXERCISES]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_shipped_unanswered(path):
    """What is stored shows no answer: every finding is open."""
    told = [
        "".join(output.get("data", {}).get("text/plain", []))
        for cell in cells(path)
        if cell["cell_type"] == "code" and CHECKED.search(source(cell))
        for output in cell["outputs"]
    ]
    assert told
    assert all(text.startswith("[open]") for text in told)
