"""Overload: thousands of connections, callers who drip, requests of any size."""

from ..frame import Part
from .connecting import connections
from .dripping import dripped
from .sending import huge

_NEVER = (
    "unanswered calls", "memory beyond bound", "descriptors not given back",
    "notebook without descriptors",
)  # fmt: skip

PARTS = (
    Part(
        "overload-connections",
        "While thousands hold connections to the sandbox, idle, with half a request or with whole "
        "ones, it answers others on both interfaces, and leaves the notebook its descriptors.",
        "connections", connections, 6, 2_000, 150, (*_NEVER, "unanswered requests"),
    ),
    Part(
        "overload-slow-loris",
        "Callers who send a byte at a time, or never read their answers, are let go in time, and "
        "keep nobody else from an answer.",
        "slow callers", dripped, 6, 600, 60, (*_NEVER, "never let go", "answers that are no JSON"),
    ),
    Part(
        "overload-huge-requests",
        "A request of whatever size is refused with a result code, in bounded memory, and others "
        "are answered meanwhile.",
        "huge requests", huge, 6, 60, 14, (*_NEVER, "refused without a code"),
    ),
)  # fmt: skip
