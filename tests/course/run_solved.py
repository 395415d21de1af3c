"""Runs notebooks with their folded solutions in the place of the unanswered cells.

`python -m tests.course.run_solved NOTEBOOK ...` prints one JSON object: by notebook, the findings
as [exercise, right, told], those of the exercises' cells when they are run once more after the last
cell, and the error that ended it, or null. One process runs them all, each in names of its own, as
IPython runs cells; each has a sandbox of its own.
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

UNANSWERED = re.compile(r"^(my_\w+) = None$", re.MULTILINE)
SOLUTION = re.compile(r"<details>.*?```python\n(.*?)```.*?</details>", re.DOTALL)


def solved(path):
    """The source of each code cell, with the solution in the place of `my_name = None`."""
    cells = json.loads(Path(path).read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    for cell, text, below in zip(cells, texts, [*texts[1:], ""], strict=True):
        if cell["cell_type"] != "code":
            continue
        if UNANSWERED.search(text):
            solution = SOLUTION.search(below)
            assert solution, f"no solution stands below: {text}"
            text = UNANSWERED.sub(lambda _, found=solution: found.group(1), text)
        yield text


def run(path):
    """The findings of a notebook, in order, those of its exercises run again at its end, and the
    error that ended it, or None."""
    from IPython.core.interactiveshell import InteractiveShell

    from confkit.course import Finding

    found = {"findings": [], "again": [], "error": None}
    shell = InteractiveShell()
    texts = list(solved(path))
    runs = [("findings", text) for text in texts]
    runs += [("again", text) for text in texts if "course.check(" in text]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for kind, text in runs:
            done = shell.run_cell(text)
            if isinstance(done.result, Finding):
                found[kind].append([done.result.exercise, done.result.right, done.result.told])
            if not done.success:
                error = done.error_before_exec or done.error_in_exec
                found["error"] = f"{type(error).__name__}: {error}"
                return found
    client = shell.user_ns.get("client")
    if client is not None:
        client.close()
    return found


if __name__ == "__main__":
    print(json.dumps({Path(path).stem: run(path) for path in sys.argv[1:]}))
