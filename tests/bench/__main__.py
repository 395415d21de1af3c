"""Prints the figures beside their aims as one table: `python -m tests.bench [client sweep ...]`.

Each figure is a ratio in one run, or seconds; medians of several rounds in which the things that
are compared take turns.
"""

import os
import platform
import subprocess
import sys
from importlib import import_module

SUBJECTS = ("client", "sweep", "service", "cameras", "occupancy")


def main(names: list[str]) -> int:
    """0, once the table is printed; all subjects when none is named."""
    if unknown := sorted(set(names) - set(SUBJECTS)):
        sys.exit(f"there is no {', '.join(unknown)}; there are {', '.join(SUBJECTS)}")
    describe = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, capture_output=True, text=True).stdout.strip()
    system = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"Commit {commit}; {system}\n\n| figure | aim | measured | met |\n|---|---|---|---|")
    for name in names or SUBJECTS:
        for figure in import_module(f"tests.bench.{name}").figures():
            print(figure.row(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
