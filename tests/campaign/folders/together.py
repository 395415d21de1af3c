"""Several processes that write one folder at once."""

import json
import subprocess
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path

from confkit import profiles
from confkit.course import kept
from confkit.errors import ConfkitError
from confkit.occupancy.loading import load_occupancy
from confkit.sandbox import Sandbox

from ..frame import Counts, Piece
from ..journal import ROOT
from .home import at_home

_PROCESSES = 3


def together(piece: Piece) -> Counts:
    """What is there, when each process has written its share, of what they told."""
    counts: dict[str, float] = {}

    def wrong(name: str, why: str) -> None:
        counts[name] = counts.get(name, 0) + 1
        piece.broke(f"{name}: {why}")

    share = piece.size // _PROCESSES
    with ExitStack() as around:
        stored = piece.folder / "rooms.sqlite"
        around.enter_context(Sandbox(path=stored))
        try:
            Sandbox(path=stored).start().close()
            wrong("doubled samples", "two sandboxes had one file")
        except ConfkitError as error:
            if "in use by another sandbox" not in str(error):
                wrong("foreign exceptions", str(error))
        running = [
            around.enter_context(subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.sharing", str(piece.folder), str(number),
                 str(share)], cwd=ROOT, text=True, stdout=subprocess.PIPE,
            )) for number in range(_PROCESSES)
        ]  # fmt: skip
        told = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
    for one in told:
        for why in one["wrong"]:
            wrong("foreign exceptions", why)
    done = {kind: {name for one in told for name in one[kind]} for kind in ("p", "c", "t")}
    counts["writes"] = sum(map(len, done.values()))
    found = _found(piece.folder)
    for kind, names in done.items():
        lost = names - set(found[kind])
        if lost:
            counts["lost values"] = counts.get("lost values", 0) + len(lost)
            piece.broke(f"lost values: {sorted(lost)}")
        if len(found[kind]) != len(set(found[kind])):
            wrong("doubled samples", kind)
    return counts


def _found(folder: Path) -> dict[str, list[str]]:
    with at_home(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = load_occupancy(folder / "samples")
        return {
            "p": [name for name in profiles.names() if name != profiles.EMBEDDED],
            "c": list(kept.outcomes()),
            "t": [f"{room} {time.isoformat()}" for room, time in
                  zip(frame["room_id"], frame["time"], strict=True)],
        }  # fmt: skip
