"""The way to a service: names, TCP connections, TLS; and whether a media server accepts one."""

from __future__ import annotations

import queue
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy
from urllib3.util.ssl_ import create_urllib3_context

from ..secret import mask_address
from ..transport import finite

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

_PEM = "from the operator as a PEM file and set verify to it (CONFKIT_CA_BUNDLE)."
_SIGNER = (
    "the certificate is signed by an authority that is not among {trusted}",
    f"Get the authority's certificate, with those between, {_PEM}",
)
_NAME = (
    "the certificate is for another name than {host}",
    "Set the address to a name that the certificate holds, or ask the operator for one that holds "
    "this name.",
)
# What OpenSSL says of a certificate, by its X509_V_ERR codes: what that means, and the next step.
_REFUSALS = {
    9: (
        "the certificate is not valid yet",
        "See that this machine's clock is right; then ask the operator.",
    ),
    10: (
        "the certificate has expired",
        "Ask the operator to renew it; and see that this machine's clock is right.",
    ),
    18: (
        "the certificate is self-signed, and not among {trusted}",
        f"Get the certificate {_PEM}",
    ),
    **dict.fromkeys((19, 20, 21), _SIGNER),
    **dict.fromkeys((62, 64), _NAME),
}
_OTHERWISE = (
    "the certificate is refused: {message}",
    "Ask the operator for one without this fault; newer Pythons insist on more than older.",
)


class Way(NamedTuple):
    """The host and the port to connect to, which are a proxy's where one is set (`proxy`)."""

    host: str
    port: int
    proxy: str | None = None

    @property
    def place(self) -> str:
        """host:port, as it is written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        through = ", the proxy of this machine's settings" if self.proxy else ""
        return f"{host}:{self.port}{through}"


@dataclass(frozen=True, slots=True)
class McuAnswer:
    """Whether a media server accepts TCP connections from here: true as a condition when it does.

    `reason` says it in one sentence."""

    address: str
    ok: bool
    reason: str

    def __bool__(self) -> bool:
        return self.ok


def mcu_answers(address: str, timeout: float = 2.0) -> McuAnswer:
    """Try whether something accepts a TCP connection at a media server's `host:port` (A5), in at
    most `timeout` seconds.

    Nothing is sent, and nothing raised for a server that does not answer: `reason` says why. A
    server that takes media over UDP alone may do well without accepting any connection, and what
    accepts one need not be a media server. ValueError: the timeout is no number above 0.
    """
    if not finite(timeout):
        raise ValueError(f"timeout is {timeout!r}; give seconds, above 0 and finite")
    shown = mask_address(str(address), broken=True)
    target = _host_and_port(str(address))
    if target is None:
        return McuAnswer(shown, False, f"{shown!r} is not host:port, so nothing was tried")
    try:
        in_time(lambda: socket.create_connection(target, timeout).close(), timeout)
    except (OSError, UnicodeError) as error:
        why = f"it cannot be reached ({getattr(error, 'strerror', '') or type(error).__name__})"
        if isinstance(error, ConnectionRefusedError):
            why = "it refuses them"
        elif isinstance(error, TimeoutError):
            why = f"no answer within {timeout:g} s"
        elif isinstance(error, socket.gaierror | UnicodeError):
            why = "its host name is not known here"
        told = f"{shown} does not accept TCP connections from here: {why}"
        return McuAnswer(shown, False, f"{told}; the media itself may still run over UDP")
    return McuAnswer(shown, True, f"{shown} accepts connections from here")


def _host_and_port(address: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(f"//{address.strip()}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    bare = parts.netloc == address.strip() and "@" not in address
    return (host, port) if host and port and bare else None


def in_time(action: Callable[[], T], seconds: float) -> T:
    """What the action returns or raises; TimeoutError where that takes longer. It runs in a thread,
    as looking up a name has no time-out."""
    outcome: queue.SimpleQueue[tuple[T | None, Exception | None]] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            outcome.put((action(), None))
        except (OSError, UnicodeError) as error:  # Unicode: a name that IDNA cannot encode
            outcome.put((None, error))

    threading.Thread(target=attempt, name="confkit tries an address", daemon=True).start()
    try:
        found, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return found  # type: ignore[return-value]  # None only where the action returned it


def way(session: requests.Session, url: str) -> Way:
    """Where the session connects to for an address."""
    proxies = session.merge_environment_settings(url, {}, None, session.verify, None)["proxies"]
    proxy = select_proxy(url, proxies)
    found = proxy if proxy is None or "://" in proxy else f"http://{proxy}"
    parts = urlsplit(found or url)
    usual = {"https": 443, "http": 80}.get(parts.scheme, 1080)
    shown = mask_address(found, broken=True) if found else None
    return Way(parts.hostname or "", parts.port or usual, shown)


def addresses(there: Way) -> list[str]:
    """The addresses of the host's name."""
    found = socket.getaddrinfo(there.host, there.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(target[0]) for *_, target in found))


def opened(there: Way, seconds: float) -> socket.socket:
    """A connection to the first of the host's addresses that accepts one, in so many seconds
    altogether; the last error where none does."""
    targets = addresses(there)
    failure: OSError = OSError("no address")
    for target in targets:
        try:
            return socket.create_connection((target, there.port), seconds / len(targets))
        except OSError as error:
            failure = error
    raise failure


def context(verify: bool | str, cert: Any) -> ssl.SSLContext:
    """TLS as a session with these settings does it; OSError where a file cannot be read."""
    trusted = verify if isinstance(verify, str) else DEFAULT_CA_BUNDLE_PATH
    folder = Path(trusted).is_dir()
    made = create_urllib3_context()  # with the options of the calls themselves
    made.load_verify_locations(None if folder else trusted, trusted if folder else None)
    if verify is False:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if cert:
        made.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
    return made


def greeted(there: Way, made: ssl.SSLContext, seconds: float) -> tuple[str, dict[str, Any]]:
    """The version of TLS and the certificate, as far as it was looked at."""
    with opened(there, seconds) as plain:
        plain.settimeout(seconds)
        with made.wrap_socket(plain, server_hostname=there.host) as secure:
            return secure.version() or "TLS", secure.getpeercert() or {}


def speaks_http(there: Way, seconds: float) -> bool:
    """Whether a port answers a plain question of HTTP."""
    with suppress(OSError), opened(there, seconds) as plain:
        plain.settimeout(seconds)
        ask = f"HEAD / HTTP/1.1\r\nHost: {there.host}\r\nConnection: close\r\n\r\n"
        plain.sendall(ask.encode())
        return plain.recv(5) == b"HTTP/"
    return False


def speaks_tls(there: Way, seconds: float) -> bool:
    """Whether a port answers a greeting of TLS."""
    try:
        greeted(there, context(False, None), seconds)
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "").upper()  # an alert is an answer, too
    except OSError:
        return False
    return True


def certificate_refused(
    error: ssl.SSLCertVerificationError,
    there: Way,
    made: ssl.SSLContext,
    seconds: float,
    verify: bool | str,
) -> tuple[str, str]:
    """Why a certificate is refused, and the next step."""
    found, advice = _REFUSALS.get(error.verify_code, _OTHERWISE)
    trusted = f"the bundle {verify!r}" if isinstance(verify, str) else "the public authorities"
    told = found.format(trusted=trusted, host=there.host, message=error.verify_message)
    names = _names(there, made, seconds) if found is _NAME[0] else []
    return f"{told}: {', '.join(names)}" if names else told, advice


def _names(there: Way, made: ssl.SSLContext, seconds: float) -> list[str]:
    """The names that a certificate holds which is fine but for its name."""
    made.check_hostname = False
    try:
        certificate = greeted(there, made, seconds)[1]
    except OSError:
        return []
    return [str(value) for _, value in certificate.get("subjectAltName", ())]
