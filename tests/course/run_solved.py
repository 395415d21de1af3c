"""Runs a notebook as a learner who has solved it, twice in one kernel.

`python -m tests.course.run_solved NOTEBOOK` prints a JSON object for each code cell: its `source`,
whether it is an `exercise`, and of both runs what it `prints` (or the error that it raises).
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

UNANSWERED = re.compile(r"^my_\w+ = None$", re.MULTILINE)
SOLUTION = re.compile(r"<details>.*?```python\n(.*?)```.*?</details>", re.DOTALL)


def solved(path: Path) -> list[dict[str, Any]]:
    """Return the code cells, with the solution that stands below an exercise in place of
    `my_name = None`."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    results = []
    for cell, text, below in zip(cells, texts, [*texts[1:], ""], strict=True):
        if cell["cell_type"] == "code":
            solution = SOLUTION.search(below)
            answer = solution.group(1) if solution else "raise LookupError('no solution below')"
            source, count = UNANSWERED.subn(lambda _, answer=answer: answer, text)
            results.append({"source": source, "exercise": count > 0, "prints": []})
    return results


def main(path: Path) -> None:
    """Print what comes of each cell."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("colors", "NoColor")
    cells = solved(path)
    for _ in range(2):
        for cell in cells:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                result = shell.run_cell(cell["source"])
            error = result.error_before_exec or result.error_in_exec
            cell["prints"].append(repr(error) if error else printed.getvalue())
    print(json.dumps(cells))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
