"""Runs every notebook and stores its outputs, cleaned: `python -m tests.regenerate [PATH ...]`.

`python -m tests.regenerate --pictures` takes the README's pictures of them instead.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(names: list[str]) -> int:
    """0, once all the notebooks are stored, or their pictures."""
    if names == ["--pictures"]:
        return pictures()
    found = [Path(name) for name in names] or sorted((ROOT / "notebooks").rglob("*.ipynb"))
    service = {**os.environ, "CONFKIT_PROFILE": "sandbox"}  # that of connect() in the runbooks
    for notebook in found:
        run = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "notebook", "--execute",
               "--inplace", "--log-level=ERROR", str(notebook)]  # fmt: skip
        subprocess.run(run, check=True, cwd=ROOT, env=service)
        clean = [sys.executable, "-m", "nbstripout", "--keep-output", "--keep-count", str(notebook)]
        subprocess.run(clean, check=True)
        print(notebook)
    return 0


def pictures() -> int:
    """0, once the browser tests have run the notebooks and kept pictures of them."""
    run = [sys.executable, "-m", "pytest", "-q", "tests/browser/test_pictures.py"]
    environment = {**os.environ, "CI": "true", "PICTURES": str(ROOT / "notebooks")}
    return subprocess.run(run, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
