"""Prints the figures as tables, with the machine that they were measured on.

Each figure is the median of several rounds in which the things compared take turns, so that a noisy
machine is as noisy to one as to the other. Quote the ratios.
"""

import os
import platform
import sys
from importlib import import_module

FIGURES = ("client", "occupancy", "preflight", "sweep")


def main(names: list[str]) -> int:
    """0, once the figures are printed; all of them when none is named."""
    if unknown := sorted(set(names) - set(FIGURES)):
        sys.exit(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    for name in names or FIGURES:
        import_module(f"tests.bench.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
