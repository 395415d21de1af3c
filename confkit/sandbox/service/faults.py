"""Faults on demand: what a service, a proxy or a network does wrong, when a test asks for it."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from ...endpoints import ENDPOINTS

PATHS = tuple(endpoint.path for endpoint in ENDPOINTS.values())


@dataclass(frozen=True)
class Fault:
    """What a call gets instead of its answer, or with `after` in place of it.

    ValueError where the settings make no fault."""

    ret: int | None = None
    http: int | None = None
    body: str | bytes | None = field(default=None, repr=False)
    delay: float | None = None
    drop: bool = False
    after: bool = False

    def __post_init__(self) -> None:
        if self.waits_only and self.delay is None:
            raise ValueError("A fault needs one of ret, http, body, delay and drop.")
        if self.drop and not (self.ret is None and self.http is None and self.body is None):
            raise ValueError("A connection that is dropped carries no ret, http or body.")
        if self.ret is not None and self.body is not None:
            raise ValueError("A fault has a result code or a body, not both.")
        if self.http is not None and not 200 <= self.http <= 599:
            raise ValueError(f"http is {self.http}; an HTTP status lies between 200 and 599.")
        if self.delay is not None and not 0 <= self.delay < 86400:
            raise ValueError(f"delay is {self.delay}; it is in seconds, from 0 to a day.")

    @property
    def waits_only(self) -> bool:
        """Whether the call is answered as usual, only later."""
        return self.ret is None and self.http is None and self.body is None and not self.drop


class Faults:
    """The faults that wait for their calls, path by path, in the order in which they were set."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[Fault, float]]] = defaultdict(list)

    def add(self, path: str, fault: Fault, times: int | None) -> None:
        """Set a fault for the next `times` calls of a path, or until `clear`.

        Faults of one path follow one another; one without `times` that is set again is replaced.
        """
        if path not in PATHS:
            raise ValueError(f"No operation has the path {path!r}; there are {', '.join(PATHS)}.")
        if times is not None and times < 1:
            raise ValueError(f"times is {times}; a fault happens once or more often.")
        queue = self._waiting[path]
        if queue and queue[-1][1] == math.inf:
            queue.pop()
        queue.append((fault, times or math.inf))

    def take(self, path: str) -> Fault | None:
        """Return the fault of this call, which is then used up by one."""
        queue = self._waiting[path]
        if not queue:
            return None
        fault, times = queue.pop(0)
        if times > 1:
            queue.insert(0, (fault, times - 1))
        return fault

    def clear(self) -> None:
        """Remove every fault."""
        self._waiting.clear()
