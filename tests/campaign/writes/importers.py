"""A process of its own that imports tables in children, each of which may be killed: `Importers`.

The children are forked from a process that has loaded everything and has no thread, so that a kill
costs milliseconds and lands in the import, not in Python's start.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Self

from ..journal import ROOT


class Importers:
    """Imports tables in processes that end by themselves or are killed with -9."""

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.importing"],
            cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def begin(self, job: Mapping[str, Any]) -> None:
        """Begins an import."""
        self._tell(json.dumps(job))

    def end(self, kill: bool) -> str:
        """How the import has ended, killed or by itself: "killed", "finished", or how else."""
        self._tell("kill" if kill else "wait")
        return self._process.stdout.readline().strip()

    def _tell(self, line: str) -> None:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
