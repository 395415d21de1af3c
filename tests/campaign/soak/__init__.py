"""Promises about an hour of work: what is taken is given back."""

from ..frame import Part
from . import panel, sandbox

PARTS = (
    Part(
        "soak-sandbox",
        "After an hour of mixed load with 20 held cameras a sandbox, and the clients at it, hold "
        "no more memory, descriptors and threads than before.",
        "seconds", sandbox.run, pieces=1, size=3600, short=2, never=sandbox.NEVER,
        beside=("most MB an hour that the sandbox grew", "most MB an hour that the load grew"),
    ),
    Part(
        "soak-panel",
        "After an hour of reading its rooms every second a panel's kernel holds no more "
        "descriptors and threads than before, and of memory what a panel keeps of its readings.",
        "seconds", panel.run, pieces=1, size=3600, short=2, never=panel.NEVER,
        beside=("most MB an hour that the kernel grew",),
    ),
)  # fmt: skip
