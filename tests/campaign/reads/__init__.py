"""Reads under chaos: what is not true has failed with a name, whatever happens on the way."""

from ..frame import Part
from .judge import NEVER
from .many import recordings, sweeps
from .single import from_threads, one_by_one

_PROMISE = (
    "Whatever a network, a proxy or a broken service does, {what} gives what is so, or an error "
    "that names its cause and the next step, in time."
)

PARTS = (
    Part("reads-single", _PROMISE.format(what="a reading call"), "calls", one_by_one,
         pieces=40, size=2500, short=150, never=NEVER),
    Part("reads-threads", _PROMISE.format(what="a call from one of many threads"), "calls",
         from_threads, pieces=40, size=2512, short=200, never=NEVER),  # 16 threads share it
    Part("reads-sweep", _PROMISE.format(what="a row of a sweep"), "calls", sweeps,
         pieces=40, size=2500, short=240, never=NEVER),
    Part("reads-recorder", _PROMISE.format(what="a recorded sample"), "calls", recordings,
         pieces=40, size=2500, short=360, never=NEVER),
)  # fmt: skip
