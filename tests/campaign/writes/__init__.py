"""Writes whose answers get lost, and imports that are killed: the state against what was told."""

from ..frame import Part
from .bulk import writes_bulk
from .devices import writes_devices
from .kills import kills_import
from .rooms import writes_rooms

WRONG = (
    "doubled", "told failed but there", "told done and missing", "told failed but gone",
    "told done and still there", "foreign exceptions", "hangs",
)  # fmt: skip

PARTS = (
    Part(
        "writes-rooms",
        "A room is made, deleted or left by a user once at most, and no change is told to have "
        "failed that happened, however many calls and answers get lost.",
        "writes",
        writes_rooms,
        pieces=10,
        size=500,
        short=60,
        never=(*WRONG, "sent though read only"),
    ),
    Part(
        "writes-devices",
        "A device is imported once at most, and no import or removal is told to have failed that "
        "happened, however many calls and answers get lost.",
        "writes",
        writes_devices,
        pieces=10,
        size=400,
        short=40,
        never=(*WRONG, "sent though read only"),
    ),
    Part(
        "writes-bulk",
        "Each row that a bulk import or removal reports is what became of its device, and the same "
        "table again finishes it, however many calls and answers get lost.",
        "rows",
        writes_bulk,
        pieces=10,
        size=120,
        short=24,
        never=(*WRONG, "tables not finished", "tables called uncertain"),
    ),
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
