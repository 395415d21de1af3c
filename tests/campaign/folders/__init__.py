"""Folders and clocks: full disks, rights, folders that go, two processes, time that steps."""

from ..frame import Part
from .clocks import clocks
from .failing import failing
from .together import together

_LOST = ("lost values", "doubled samples", "unreadable files", "foreign exceptions")

PARTS = (
    Part(
        "folders-failing",
        "With a full disk, a read-only folder, or a folder that goes, whatever confkit told as "
        "written is there and whole, and what failed says why and what to do.",
        "writes", failing, 6, 300, 20, (*_LOST, "half-written files", "errors without a next step"),
        ("writes on a full disk", "writes into a read-only folder"),
    ),
    Part(
        "folders-shared",
        "Several processes that write one folder at once lose and double nothing, and one that "
        "has to be alone says who is there already.",
        "writes", together, 6, 120, 12, _LOST,
    ),
    Part(
        "folders-clocks",
        "A clock that steps back, a change of daylight saving time, a leap day or the end of a "
        "year loses no sample, doubles no hour and ends no login.",
        "sweeps", clocks, 6, 200, 20,
        ("lost samples", "doubled samples", "hours off", "unanswered calls", "sweeps off time"),
    ),
)  # fmt: skip
