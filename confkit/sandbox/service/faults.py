"""Faults on demand: what a service, a proxy or a network does wrong, when a test asks for it."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from ...endpoints import ENDPOINTS

PATHS = tuple(endpoint.path for endpoint in ENDPOINTS.values())


@dataclass
class Fault:
    """What the next `times` calls get instead of their answer, or with `after` in place of it.

    ValueError where the settings make no fault."""

    ret: int | None = None
    http: int | None = None
    body: str | bytes | None = field(default=None, repr=False)
    delay: float | None = None
    drop: bool = False
    after: bool = False
    times: float = math.inf

    def __post_init__(self) -> None:
        said = [value is not None for value in (self.ret, self.http, self.body)]
        if (
            (said[0] and said[2])
            or (self.drop and any(said))
            or (self.usual and self.delay is None)
        ):
            raise ValueError(
                "A fault needs one of ret, http, body, delay and drop; ret or body may have an "
                "http status, not both, a connection that is dropped carries none, and delay goes "
                "with all of them."
            )
        if not (200 <= (self.http or 200) <= 599 and 0 <= (self.delay or 0) < 86400):
            raise ValueError(
                f"http is {self.http} and delay {self.delay}: an HTTP status lies between 200 and "
                "599, a delay is in seconds, up to a day."
            )
        if self.times < 1:
            raise ValueError(f"times is {self.times}; a fault happens once or more often.")

    @property
    def usual(self) -> bool:
        """Whether the call is answered as usual, only later."""
        return self.ret is None and self.http is None and self.body is None and not self.drop


class Faults:
    """The faults that wait for their calls, path by path, in the order in which they were set."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Fault]] = defaultdict(list)

    def add(self, path: str, fault: Fault) -> None:
        """Set a fault of a path; one without `times` stays until another one is set, or `clear`."""
        if path not in PATHS:
            raise ValueError(f"No operation has the path {path!r}; there are {', '.join(PATHS)}.")
        queue = self._waiting[path]
        if queue and queue[-1].times == math.inf:
            queue.pop()
        queue.append(fault)

    def take(self, path: str) -> Fault | None:
        """Return the fault of this call, which is then used up by one."""
        queue = self._waiting[path]
        if not queue:
            return None
        fault = queue[0]
        fault.times -= 1
        if fault.times < 1:
            queue.pop(0)
        return fault

    def clear(self) -> None:
        """Remove every fault."""
        self._waiting.clear()
