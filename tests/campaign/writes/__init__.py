"""Writes whose answers get lost, and imports that are killed: the state against what was told."""

from ..frame import Part
from .kills import kills_import

PARTS = (
    Part(
        "kills-import",
        "An import of many cameras that is killed (-9) at any moment and run again with the same "
        "table finishes it: every camera once in its room.",
        "kills",
        kills_import,
        pieces=10,
        size=50,
        short=6,
        never=(
            "doubled", "missing", "lists not finished", "failed but there",
            "reported and missing", "importers that failed",
        ),
    ),
)  # fmt: skip
