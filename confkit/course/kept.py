"""How far a learner has come, in a small file: names of exercises and outcomes, never answers.

A line of JSON for each outcome, added at the end: two kernels that write at the same time lose
nothing, and a damaged line spoils no other.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

TRIED, RIGHT = "tried", "right"
_MOST = 1_000_000  # bytes: a larger file is none of ours


def path() -> Path:
    """The file: CONFKIT_COURSE, else one in the user's state folder."""
    named = os.environ.get("CONFKIT_COURSE", "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_state_dir("confkit", appauthor=False)) / "course.jsonl"


def outcomes() -> Mapping[str, str]:
    """ "right" or "tried" by exercise; what was right once stays right. Empty without a file."""
    found: dict[str, str] = {}
    for line in _lines():
        with suppress(ValueError, RecursionError):
            outcome = json.loads(line)
            if isinstance(outcome, dict) and isinstance(outcome.get("exercise"), str):
                name = outcome["exercise"]
                known = outcome.get("outcome") in (TRIED, RIGHT)
                if known and found.get(name) != RIGHT:
                    found[name] = outcome["outcome"]
    return found


def keep(name: str, right: bool) -> bool:
    """Whether the outcome is kept; False where the file cannot be written, which stops nobody."""
    outcome = RIGHT if right else TRIED
    if outcomes().get(name) in (outcome, RIGHT):
        return True
    line = json.dumps({"exercise": name, "outcome": outcome})
    try:
        where = path()
        where.parent.mkdir(parents=True, exist_ok=True)
        # A line end first: what a cut-off write left behind then stays on a line of its own.
        handle = os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(f"\n{line}\n".encode())
    except (OSError, RuntimeError, ValueError):
        return False
    return True


def writable() -> bool:
    """Whether outcomes can be kept: the file, or the nearest folder above it, can be written."""
    try:
        where = path()
        while not where.exists() and where != where.parent:
            where = where.parent
        return os.access(where, os.W_OK) and where.is_dir() == (where != path())
    except (OSError, RuntimeError, ValueError):
        return False


def _lines() -> list[bytes]:
    try:
        with path().open("rb") as file:
            return file.read(_MOST).splitlines()
    except (OSError, RuntimeError, ValueError):
        return []
