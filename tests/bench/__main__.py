"""Prints the figures as tables, with the machine that they were measured on.

Each figure is the median of several rounds in which the things compared take turns, so that a noisy
machine is as noisy to one as to the other. Quote the ratios.
"""

import os
import platform
import sys
from collections.abc import Callable

from . import cameras, explorer, imports, occupancy, preflight, risk, sandbox, sweep

FIGURES: dict[str, Callable[[], None]] = {
    "cameras": cameras.main,
    "explorer": explorer.main,
    "imports": imports.main,
    "occupancy": occupancy.main,
    "preflight": preflight.main,
    "risk": risk.main,
    "sandbox": sandbox.main,
    "sweep": sweep.main,
}


def main(names: list[str]) -> int:
    """0, once the figures are printed; all of them when none is named."""
    unknown = sorted(set(names) - set(FIGURES))
    if unknown:
        sys.exit(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}\n"
    )
    for name in names or FIGURES:
        FIGURES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
