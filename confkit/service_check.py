"""Whether both interfaces of a service answer, and accept the keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .devices import list_devices
from .errors import ApiError, ConfkitError, ProtocolError, TransportError

if TYPE_CHECKING:
    from .client import Client


class InterfaceCheck(NamedTuple):
    """What became of one interface: `ok` is None where it was not tried; `found` says in one
    sentence what was found in `seconds`; `error` is what was raised, `advice` the next step."""

    interface: str
    address: str
    ok: bool | None
    seconds: float
    found: str
    error: ConfkitError | None = None

    @property
    def advice(self) -> str:
        """The next step; empty where all is well."""
        return self.error.advice if self.error else ""

    def __str__(self) -> str:
        mark = {True: "✓", False: "✗", None: "-"}[self.ok]
        told = f"{mark} {self.interface} {self.address}: {self.found} ({self.seconds:.2f} s)"
        return f"{told}\n  -> {self.advice}" if self.advice else told


def check_service(
    client: Client, *, clock: Callable[[], float] = time.monotonic
) -> tuple[InterfaceCheck, InterfaceCheck]:
    """What interface A says to the keys (A1) and interface B to the token (B3), one after another.

    Nothing is raised for a service that is down, is another one, or refuses: that is what the
    checks tell. A new token is made, which the client uses from then on. When A gives none, B is
    asked with the token that the client held before, or not at all: at most one login fails.
    Sections 4 and 5 of the interface.
    """
    before = client.lent() if client.authenticated else None

    def login() -> str:
        client.token(instead_of=before.token() if before else None)
        return "it answers and accepts the keys"

    def listing(asks: Client) -> str:
        listed = len(list_devices(asks))
        devices = "device is" if listed == 1 else "devices are"
        return f"it answers and accepts the token; {listed or 'no'} {devices} listed"

    a = _checked("A", client.base_url, clock, login)
    asks = client if a.ok else before
    if asks is None:
        why = "not tried: no token, because interface A gave none"
        return a, InterfaceCheck("B", client.outgoing_url, None, 0.0, why)
    return a, _checked("B", client.outgoing_url, clock, lambda: listing(asks))


def _checked(
    interface: str, address: str, clock: Callable[[], float], ask: Callable[[], str]
) -> InterfaceCheck:
    began = clock()
    failure = None
    try:
        found = ask()
    except ConfkitError as error:
        found, failure = _told(error, interface), error.with_traceback(None)
    return InterfaceCheck(interface, address, failure is None, clock() - began, found, failure)


def _told(error: ConfkitError, interface: str) -> str:
    """What an error tells of the service, in one sentence without the next step."""
    if isinstance(error, ApiError) and error.ret is not None:
        return f"it answers, and refuses: {error.meaning} ({error.ret})"
    if isinstance(error, ProtocolError):
        return f"something answers there, but not as interface {interface} does"
    return (isinstance(error, TransportError) and error.cause) or error.said
