"""Asks pip-audit whether what is installed here has a known weakness, where that can be asked."""

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import distributions
from typing import Any

from .frame import Counts, Part, Piece

SECONDS = 240  # for all packages together
ALONE = "No advisory service could be reached, so nothing was audited."


def run(piece: Piece) -> Counts:
    """Every installed package, and what is known of it; with size 0 nobody is asked.

    pip-audit says "No known vulnerabilities found" also where no service has answered: so what was
    answered for is counted by itself, and a service that cannot be reached is said plainly.
    """
    installed = {one.metadata["Name"] for one in distributions()}
    counts = {"installed packages": len(installed), "packages answered for": 0}
    if not piece.size:
        return counts
    answered, weak = told(audited())
    lines = [f"{name}: {', '.join(found)}" for name, found in weak.items()]
    lines.append(f"{len(answered)} of {len(installed)} packages were answered for.")
    if not answered:
        lines.append(ALONE)
    (piece.folder / "audit.txt").write_text("\n".join(lines), "utf-8")
    print("  " + "\n  ".join(lines), flush=True)
    counts["packages answered for"] = len(answered)
    counts["known weaknesses"] = len(weak)
    return counts


def audited() -> str:
    """What pip-audit tells, as JSON; nothing where it cannot run or gets no answer."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def told(text: str) -> tuple[set[str], Mapping[str, list[str]]]:
    """The packages that an advisory service knew, and those of them with weaknesses, by name."""
    try:
        packages: list[dict[str, Any]] = json.loads(text)["dependencies"]
    except (ValueError, KeyError):
        return set(), {}
    answered = {one["name"] for one in packages if "skip_reason" not in one}
    weak = {one["name"]: [weakness["id"] for weakness in one["vulns"]]
            for one in packages if one.get("vulns")}  # fmt: skip
    return answered, weak


PARTS = (
    Part(
        "audit",
        "No installed package has a weakness known to pip-audit, as far as an advisory service "
        "answered when this was measured (the campaign says for how many packages).",
        "installed packages", run, pieces=1, size=1, short=0, never=("known weaknesses",),
        beside=("packages answered for",),
    ),
)  # fmt: skip
