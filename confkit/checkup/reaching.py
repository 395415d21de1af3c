"""The way to an interface: its host's name, TCP, TLS; each in a bounded time."""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from requests.utils import select_proxy

from ..masking import mask_address
from .case import SETTINGS

if TYPE_CHECKING:
    from ..checklist import Check
    from ..endpoints import Interface
    from .case import Case

NAME_SECONDS = 5.0


class Way(NamedTuple):
    """The host and the port to connect to, which are a proxy's where one is set (`proxy`)."""

    host: str
    port: int
    scheme: str
    proxy: str | None = None

    @property
    def place(self) -> str:
        """host:port, as it is written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        through = ", the proxy of this machine's settings" if self.proxy else ""
        return f"{host}:{self.port}{through}"


def way(case: Case, interface: Interface) -> Way:
    """Where the session connects to for an interface."""
    url = case.url(interface)
    session = case.client.session
    proxies = session.merge_environment_settings(url, {}, None, session.verify, None)["proxies"]
    proxy = select_proxy(url, proxies)
    found = proxy if proxy is None or "://" in proxy else f"http://{proxy}"
    parts = urlsplit(found or url)
    usual = {"https": 443, "http": 80}.get(parts.scheme, 1080)
    shown = mask_address(found, broken=True) if found else None
    return Way(parts.hostname or "", parts.port or usual, urlsplit(url).scheme, shown)


def name_of(case: Case, name: str, interface: Interface) -> Check:
    """Whether the host's name has an address."""
    there = way(case, interface)
    try:
        ipaddress.ip_address(there.host)
    except ValueError:
        pass
    else:
        return case.check(name, "SKIP", f"{there.place} is an address, so there is no name")
    seconds = case.patience(NAME_SECONDS)
    found = _look_up(there, seconds)
    if isinstance(found, list):
        return case.check(name, "PASS", f"{there.host} is {', '.join(found)}")
    if isinstance(found, TimeoutError):
        case.gave_up()
        return case.check(
            name, "FAIL", f"nobody said within {seconds:g} s what {there.host} is",
            "Check this machine's name server and its network (VPN), then the spelling.",
        )  # fmt: skip
    return case.check(
        name, "FAIL", f"the name {there.host} has no address here",
        f"Check the spelling in {SETTINGS[interface]}, and whether this machine is in the network "
        "(VPN) that knows the name.",
    )  # fmt: skip


def _look_up(there: Way, seconds: float) -> list[str] | Exception:
    outcome: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            found = socket.getaddrinfo(there.host, there.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # Unicode: a name that IDNA cannot encode
            outcome.put(error)
        else:
            outcome.put(list(dict.fromkeys(str(target[0]) for *_, target in found)))

    # In a thread, because looking up a name heeds no time-out.
    threading.Thread(target=attempt, name=f"look up {there.host}", daemon=True).start()
    try:
        return outcome.get(timeout=seconds)
    except queue.Empty:
        return TimeoutError()


def tcp_to(case: Case, name: str, interface: Interface) -> Check:
    """Whether host and port accept a connection."""
    there = way(case, interface)
    seconds = case.patience()
    try:
        with opened(there, seconds) as reached:
            address = reached.getpeername()[0]
    except OSError as error:
        if isinstance(error, TimeoutError):
            case.gave_up()
        found, advice = _refused(error, there, seconds, interface)
        return case.check(name, "FAIL", found, advice)
    at = "" if address == there.host else f" (at {address})"
    return case.check(name, "PASS", f"{there.place} accepts connections{at}")


def opened(there: Way, seconds: float) -> socket.socket:
    """A connection to the first of the host's addresses that accepts one, in so many seconds
    altogether; the last error where none does."""
    targets = socket.getaddrinfo(there.host, there.port, type=socket.SOCK_STREAM)
    failure: OSError = OSError("no address")
    for *_, target in targets:
        try:
            place = str(target[0]), there.port
            return socket.create_connection(place, timeout=seconds / len(targets))
        except OSError as error:
            failure = error
    raise failure


def _refused(error: OSError, there: Way, seconds: float, interface: Interface) -> tuple[str, str]:
    if isinstance(error, ConnectionRefusedError):
        return (
            f"{there.place} refuses connections: nothing listens at this port",
            f"Check that the service runs, and the port in {SETTINGS[interface]} (the interface "
            f"has A on 8080, B on 8050).",
        )
    if isinstance(error, TimeoutError):
        return (
            f"{there.place} did not accept a connection within {seconds:g} s",
            "Check host and port, and whether a firewall lies between this machine and the "
            "service: it drops what it does not let through.",
        )
    return (
        f"{there.place} cannot be reached ({error.strerror or type(error).__name__})",
        "Check this machine's network (VPN) and its way to the service's host.",
    )
