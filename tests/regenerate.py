"""Runs every notebook and stores its outputs, cleaned: `python -m tests.regenerate [PATH ...]`, or
takes README's picture of a panel, and renders the course's drawings: `--pictures`."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a cell has printed is one text, however many pieces a busy machine made of it.
RUN = "jupyter nbconvert --to notebook --execute --inplace --coalesce-streams --log-level=ERROR"
CLEAN = "nbstripout --keep-output --keep-count"


def main(names):
    if names == ["--pictures"]:
        return pictures()
    found = [Path(name) for name in names] or sorted((ROOT / "notebooks").rglob("*.ipynb"))
    environment = {**os.environ, "CONFKIT_PROFILE": "sandbox"}
    for notebook in found:
        for words in (RUN, CLEAN):
            run = [sys.executable, "-m", *words.split(), str(notebook)]
            subprocess.run(run, check=True, cwd=ROOT, env=environment)
        print(notebook)
    return 0


def pictures():
    from tests.browser import chromium, pictures

    if not chromium.found():
        sys.exit(f"Chromium is missing: {chromium.HOW}")
    pictures.draw(ROOT / "confkit" / "course" / "drawings")
    pictures.take(ROOT / "notebooks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
