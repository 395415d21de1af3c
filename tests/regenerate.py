"""Runs every notebook and stores its outputs, cleaned: `python -m tests.regenerate [PATH ...]`.

`python -m tests.regenerate --pictures` takes the README's pictures of them instead.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def main(names: list[str]) -> int:
    """0, once all the notebooks are stored, or their pictures."""
    if names == ["--pictures"]:
        return pictures()
    found = [Path(name) for name in names] or sorted((ROOT / "notebooks").rglob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:  # not how far this person is in the course
        own = {"CONFKIT_PROFILE": "sandbox", "CONFKIT_COURSE": f"{folder}/course.jsonl"}
        environment = {**os.environ, **own}
        for notebook in found:
            store(notebook, environment)
            print(notebook)
    return 0


def store(notebook: Path, environment: dict[str, str]) -> None:
    """Runs a notebook, and keeps it with its outputs."""
    words = "-m jupyter nbconvert --to notebook --execute --inplace --log-level=ERROR"
    run = [sys.executable, *words.split(), str(notebook)]
    subprocess.run(run, check=True, cwd=ROOT, env=environment)
    join_streams(notebook)
    words = "-m nbstripout --keep-output --keep-count"
    subprocess.run([sys.executable, *words.split(), str(notebook)], check=True)


def join_streams(notebook: Path) -> None:
    """Makes one text of what a cell has printed, however many pieces a busy machine made of it."""
    stored = json.loads(notebook.read_text("utf-8"))
    for cell in stored["cells"]:
        joined: list[dict[str, Any]] = []
        for output in cell.get("outputs", []):
            last = joined[-1] if joined else {}
            if output["output_type"] == "stream" and last.get("name") == output["name"]:
                last["text"] = "".join([*last["text"], *output["text"]]).splitlines(keepends=True)
            else:
                joined.append(output)
        if joined:
            cell["outputs"] = joined
    text = json.dumps(stored, indent=1, ensure_ascii=False)
    notebook.write_text(f"{text}\n", "utf-8")


def pictures() -> int:
    """0, once the notebooks have run in JupyterLab and pictures of them are kept."""
    from tests.browser import chromium, pictures

    if not chromium.found():
        sys.exit(f"Chromium is missing: {chromium.HOW}")
    pictures.take(ROOT / "notebooks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
