"""What ends a command or a long call before its time: Ctrl-C, SIGTERM, a terminal that hangs up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# `timeout`, a supervisor, a connection that drops
OTHERS = (signal.SIGTERM, *filter(None, [getattr(signal, "SIGHUP", None)]))


@contextmanager
def as_interrupts() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP come as Ctrl-C does, as a KeyboardInterrupt. What this process was
    started to ignore, as by nohup, stays ignored."""
    with handled(OTHERS, signal.default_int_handler):
        yield


@contextmanager
def held_off() -> Iterator[None]:
    """Inside, none of them ends anything: what is short and has to be done whole."""
    with handled((signal.SIGINT, *OTHERS), signal.SIG_IGN):
        yield


@contextmanager
def until_ended() -> Iterator[None]:
    """Inside, SIGTERM and Ctrl-C leave the command at once, with status 0, and only once: what is
    being closed then is closed in peace."""
    endings = (signal.SIGTERM, signal.SIGINT)

    def end(*_: object) -> None:
        for number in endings:  # to ignore one that has come already would be an error
            signal.signal(number, late)
        raise SystemExit(0)

    def late(*_: object) -> None:
        """Let the end go on."""

    try:
        with handled(endings, end, ignored_too=True):
            yield
    finally:
        for number in endings:  # as Python ends, it gives its own handlers up, but not this
            if signal.getsignal(number) is late:
                signal.signal(number, signal.SIG_IGN)


@contextmanager
def handled(
    numbers: Iterable[int],
    handler: Callable[..., Any] | signal.Handlers,
    ignored_too: bool = False,
) -> Iterator[None]:
    """Inside, this handler gets these signals, but for those that are ignored. Afterwards each has
    its former handler, but for one that was given another meanwhile. Outside of the main thread
    nothing changes."""
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():  # no other one may set handlers
            for number in numbers:
                kept = (None,) if ignored_too else (None, signal.SIG_IGN)
                if signal.getsignal(number) not in kept:
                    before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, former in before.items():
            if signal.getsignal(number) == handler:
                signal.signal(number, former)
