"""Disks that are full, folders that may not be written, folders that go."""

import json
import os
import shutil
import subprocess
import sys

from ..frame import Counts, Piece
from ..journal import ROOT


def failing(piece: Piece) -> Counts:
    """What was counted in a process that can mount disks of its own, where the system lets it."""
    inside = _mounting()
    seed = f"{piece.seed}/{piece.part}/{piece.number}"
    done = subprocess.run(
        [*inside, sys.executable, "-m", f"{__package__}.attempting", str(piece.folder), seed,
         str(piece.size), "mounts" if inside else "none"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    told = json.loads(done.stdout.splitlines()[-1])
    for note in told["notes"]:
        piece.broke(note)
    counts: Counts = told["counts"]
    return counts


def _mounting() -> list[str]:
    """What runs a command where it may mount; nothing where that cannot be."""
    program = shutil.which("unshare")
    if program is None:
        return []
    command = [program, "--mount"] if os.geteuid() == 0 else [program, "-Urm"]
    tried = [*command, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    works = subprocess.run(tried, check=False, capture_output=True).returncode == 0
    return command if works else []
