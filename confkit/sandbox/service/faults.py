"""Faults on demand: what a service, a proxy or a network does wrong, when a test asks for it."""

import math
from dataclasses import dataclass, field

from ...operations import OPERATIONS

PATHS = tuple(endpoint.path for endpoint in OPERATIONS.values())


@dataclass
class Fault:
    """What the next `times` calls of a path get instead of their answer, or with `after` in place
    of it.

    ValueError where no operation has this path, or the settings make no fault."""

    path: str
    ret: int | None = None
    http: int | None = None
    body: str | bytes | None = field(default=None, repr=False)
    delay: float | None = None
    drop: bool = False
    after: bool = False
    times: float = math.inf

    def __post_init__(self) -> None:
        if self.path not in PATHS:
            known = ", ".join(PATHS)
            raise ValueError(f"No operation has the path {self.path!r}; there are {known}.")
        said = [value for value in (self.ret, self.http, self.body) if value is not None]
        if (
            (self.drop and said)
            or (self.ret is not None and self.body is not None)
            or (self.usual and self.delay is None)
            or not 200 <= (self.http or 200) <= 599
            or not 0 <= (self.delay or 0) < 86400
            or self.times < 1
        ):
            raise ValueError(
                "A fault needs one of ret, http (a status from 200 to 599), body, delay (seconds, "
                "up to a day) and drop; ret or body may have an http status, not both, a dropped "
                "connection carries none, delay goes with all of them, and times is 1 or more."
            )

    @property
    def usual(self) -> bool:
        """Whether the call is answered as usual, only later."""
        return (self.ret, self.http, self.body, self.drop) == (None, None, None, False)


class Faults:
    """The faults that wait for their calls, for each path in the order in which they were set."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Set a fault; one without `times` stays until another of its path is set, or `clear`."""
        endless = (fault.path, math.inf)
        self._waiting = [one for one in self._waiting if (one.path, one.times) != endless]
        self._waiting.append(fault)

    def take(self, path: str) -> Fault | None:
        """Return the fault of this call, which is then used up by one."""
        fault = next((one for one in self._waiting if one.path == path), None)
        if fault:
            fault.times -= 1
            if fault.times < 1:
                self._waiting.remove(fault)
        return fault

    def clear(self) -> None:
        """Remove every fault."""
        self._waiting.clear()
