"""Waits: for a value that is being read, and for what cannot be ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from typing import Any, TypeVar

import traitlets

from ..errors import ConfkitError

T = TypeVar("T")

_GLANCE = 0.1  # seconds between two looks at `cancelled`


def until_cancelled(action: Callable[[], T], cancelled: threading.Event) -> T:
    """What the action gives; CancelledError as soon as `cancelled` is set.

    A request that waits for a service cannot be ended; it is left to its thread then, and what
    comes of it is nobody's any more.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001  # raised by who asks for the result
            future.set_exception(error)

    threading.Thread(target=run, name="confkit panel waits", daemon=True).start()
    while not wait([future], _GLANCE).done and not cancelled.is_set():
        pass
    if cancelled.is_set():
        raise CancelledError
    return future.result()


class Awaited(traitlets.Any):
    """A value that whoever reads it waits for, while the first reading is under way; where that
    failed and left none, its error is raised."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        """The value, once there is one."""
        obj.wait_for_first()
        value, error = super().get(obj, cls), obj.first_error
        if value is None and error is not None:
            raise error.again() if isinstance(error, ConfkitError) else error
        return value
