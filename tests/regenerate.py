"""Runs every notebook and stores its outputs, cleaned: `python -m tests.regenerate [PATH ...]`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(names: list[str]) -> int:
    """0, once all the notebooks are stored."""
    found = [Path(name) for name in names] or sorted((ROOT / "notebooks").rglob("*.ipynb"))
    for notebook in found:
        run = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute",
               "--inplace", "--log-level=ERROR", str(notebook)]  # fmt: skip
        subprocess.run(run, check=True, cwd=ROOT)
        clean = [sys.executable, "-m", "nbstripout", "--keep-output", "--keep-count", str(notebook)]
        subprocess.run(clean, check=True)
        print(notebook)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
