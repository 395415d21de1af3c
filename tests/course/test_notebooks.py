"""The course's notebooks as a learner who has solved them works through them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks" / "course").glob("*.ipynb"))
UNANSWERED = re.compile(r"^my_\w+ = None$", re.MULTILINE)
SOLUTION = re.compile(r"<details>.*?```python\n(.*?)```.*?</details>", re.DOTALL)


def run_solved(path):
    """With the solution that stands below an exercise in place of `my_name = None`."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell, exercises = InteractiveShell(), 0
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    for cell, text, below in zip(cells, texts, [*texts[1:], ""], strict=True):
        if cell["cell_type"] == "code":
            exercise = UNANSWERED.search(text)
            source = UNANSWERED.sub(lambda _, below=below: SOLUTION.search(below)[1], text)
            with capture_output() as captured:
                result = shell.run_cell(source)
            result.raise_error()
            printed = captured.stdout
            assert not exercise or re.search(r"^right$|\[right\]", printed, re.MULTILINE), printed
            exercises += exercise is not None
    assert exercises


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_solutions_are_right(path, tmp_path):
    """In a process of its own each exercise says right, and no cell fails."""
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "MPLBACKEND": "Agg"}
    run = [sys.executable, __file__, path]
    completed = subprocess.run(run, cwd=ROOT, env=environment, text=True, capture_output=True)
    assert completed.returncode == 0, completed.stderr


if __name__ == "__main__":
    run_solved(Path(sys.argv[1]))
