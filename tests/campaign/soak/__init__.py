"""Promises about an hour of work: what is taken is given back."""

from ..frame import Part
from . import sandbox

PARTS = (
    Part(
        "soak-sandbox",
        "After an hour of mixed load with 20 held cameras a sandbox, and the clients at it, hold "
        "no more memory, descriptors and threads than before.",
        "seconds", sandbox.run, pieces=1, size=3600, short=4, never=sandbox.NEVER,
    ),
)  # fmt: skip
