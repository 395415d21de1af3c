"""Promises about what is told as done: it stays done, whenever the process is killed."""

from ..frame import Part
from . import recorder, sandbox

PARTS = (
    Part(
        "kills-sandbox",
        "A sandbox with a file that is killed at any moment loses no change that it has answered, "
        "doubles none, and starts again.",
        "kills", sandbox.run, pieces=4, size=25, short=1, never=sandbox.NEVER,
    ),
    Part(
        "kills-recorder",
        "A recorder that is killed at any moment loses no sweep that it has told, doubles none, "
        "and leaves no half of one.",
        "kills", recorder.run, pieces=4, size=25, short=1, never=recorder.NEVER,
    ),
)  # fmt: skip
