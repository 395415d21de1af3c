"""The course's notebooks as a learner works through them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.course.run_solved import UNANSWERED

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks" / "course").glob("*.ipynb"))
# Addresses, times, and what is random or numbered: rooms, people, tokens, cells.
VARIES = re.compile(
    r"127\.0\.0\.1\S*|0x\w+|\b\d{5,}\b|[\w/+-]{30,}\S*|\bid'?[:=] ?\d+|\.\.\. \S+%\S+|\d+\.\d+ s\b"
)


def cells(kind):
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == kind:
                yield path, cell, "".join(cell["source"])


@pytest.mark.timeout(300)  # lessons wait for cameras
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_solutions_are_right_and_a_second_run_prints_the_same(path, tmp_path):
    """With the folded solutions in place each exercise says right, and no cell fails; so it is when
    all cells run once more in the same kernel, and what they print means the same."""
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "MPLBACKEND": "Agg"}
    run = [sys.executable, "-m", "tests.course.run_solved", str(path)]
    completed = subprocess.run(
        run, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=280, check=True
    )
    results = json.loads(completed.stdout)
    assert any(result["exercise"] for result in results)
    for result in results:
        for printed in result["prints"] if result["exercise"] else ():
            assert re.search(r"^right$|\[right\]", printed, re.MULTILINE), printed
        first, second = (VARIES.sub("-", printed) for printed in result["prints"])
        assert first == second, result["source"]


def test_a_lesson_is_short():
    """All seven have at most 7,000 words of text, and no code cell has more than 20 lines."""
    assert len(NOTEBOOKS) == 7
    assert sum(len(text.split()) for _, _, text in cells("markdown")) <= 7_000
    for path, _, text in cells("code"):
        assert len(text.splitlines()) <= 20, f"{path.stem}: {text}"


def test_the_notebooks_are_shipped_unanswered():
    """No stored output shows an answer: an exercise is open, or prints nothing."""
    exercises = [cell for _, cell, text in cells("code") if UNANSWERED.search(text)]
    assert len(exercises) > 20
    for cell in exercises:
        for output in cell["outputs"]:
            assert "".join(output["data"]["text/plain"]).startswith("[open]")
