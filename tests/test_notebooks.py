"""The notebooks as stored: run, small, clean, compared; those of the course as a learner who has
solved them works through them. That their outputs repeat, nbval tests."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
_SWITCHES = "NBVAL_SKIP|NBVAL_IGNORE_OUTPUT|NBVAL_RAISES_EXCEPTION|PYTEST_VALIDATE_IGNORE_OUTPUT"
SWITCHES = re.compile(rf"^\s*#+\s*({_SWITCHES})\s*$", re.MULTILINE)
TAGS = {"raises-exception", *_SWITCHES.lower().replace("_", "-").split("|")}


def test_a_notebook_is_small_clean_and_holds_its_run():
    """Each code cell has run, in order, and none shows an error that it does not announce. No
    notebook is over 300 kB, holds widget state, or a folder of the machine that ran it."""
    assert "first-look" in [path.stem for path in NOTEBOOKS]
    for path in NOTEBOOKS:
        cells = code_cells(path)
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), path
        for cell in cells:
            expected = "raises-exception" in cell["metadata"].get("tags", [])
            failed = any(output["output_type"] == "error" for output in cell["outputs"])
            assert failed == expected, source(cell)
        text = path.read_text("utf-8")
        assert len(text) < 300_000, path
        assert "widgets" not in json.loads(text)["metadata"], path
        assert str(ROOT) not in text, path
        assert str(Path.home()) not in text, path


def test_nbval_compares_every_cell():
    for path in NOTEBOOKS:
        for cell in code_cells(path):
            assert not TAGS & set(cell["metadata"].get("tags", ())), path
            assert not SWITCHES.search(source(cell)), path


def code_cells(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


UNANSWERED = re.compile(r"^my_\w+ = None$", re.MULTILINE)
SOLUTION = re.compile(r"<details>.*?```python\n(.*?)```.*?</details>", re.DOTALL)


def run_solved(path):
    """With the solution that stands below an exercise in place of `my_name = None`."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell, exercises = InteractiveShell(), 0
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = [source(cell) for cell in cells]
    for cell, text, below in zip(cells, texts, [*texts[1:], ""], strict=True):
        if cell["cell_type"] == "code":
            exercise = UNANSWERED.search(text)
            solved = UNANSWERED.sub(lambda _, below=below: SOLUTION.search(below)[1], text)
            with capture_output() as captured:
                result = shell.run_cell(solved)
            result.raise_error()
            printed = captured.stdout
            assert not exercise or re.search(r"^right$|\[right\]", printed, re.MULTILINE), printed
            exercises += exercise is not None
    assert exercises


COURSE = [path for path in NOTEBOOKS if path.parent.name == "course"]


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_the_solutions_are_right(path, tmp_path):
    """In a process of its own each exercise says right, and no cell fails."""
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "MPLBACKEND": "Agg"}
    run = [sys.executable, "-m", "tests.test_notebooks", path]
    completed = subprocess.run(run, cwd=ROOT, env=environment, text=True, capture_output=True)
    assert completed.returncode == 0, completed.stderr


if __name__ == "__main__":
    run_solved(Path(sys.argv[1]))
