"""From an address to an open connection, with what each failure on the way means."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .address import Address
from .refusal import PullRefused, connection_refusal
from .steps import Steps
from .wire import Wire

# One of several addresses of a name gets so many seconds before the next is tried.
_PATIENCE = 4.0
_FAREWELL = 0.5  # seconds for a TLS peer to say goodbye
# The more a failure tells about the camera, the sooner it is the one to report.
_TELLING = ("dns_failed", "unreachable", "connect_timeout", "refused", "rtsp_silent")

Target = tuple[socket.AddressFamily, tuple[Any, ...]]


async def connect(
    address: Address,
    make_wire: Callable[[], Wire],
    steps: Steps,
    verify: bool | str,
    found_at: Callable[[tuple[str, ...]], None],
) -> Wire:
    """Return an open connection, encrypted for rtsps; raises PullRefused.

    `verify` is as in requests: True, False or the path of certificates to trust. `found_at` is
    told the host's addresses before one of them is connected to.
    """
    steps.begin("name")
    found = await _look_up(address.host, address.port)
    addresses = tuple(dict.fromkeys(str(target[0]) for _, target in found))
    steps.detail = ", ".join(addresses)
    found_at(addresses)
    steps.begin("TCP")
    opened = await _open(found)
    context = None
    wire = make_wire()
    try:
        if address.scheme == "rtsps":
            steps.begin("TLS")
            context = _trusted(verify)
        await asyncio.get_running_loop().create_connection(
            lambda: wire,
            sock=opened,
            ssl=context,
            server_hostname=address.host.partition("%")[0] if context else None,
            ssl_shutdown_timeout=_FAREWELL if context else None,
        )
    except OSError as error:
        raise connection_refusal(error, encrypted=context is not None) from None
    except BaseException:
        opened.close()
        raise
    return wire


async def speaks_tls(address: Address, seconds: float) -> bool:
    """Return whether something at this address answers an encrypted greeting."""
    wire = Wire(lambda _frame: None)
    with suppress(PullRefused, ConnectionError, TimeoutError):
        async with asyncio.timeout(seconds):
            found = await _look_up(address.host, address.port)
            opened = await _open(found)
            try:
                await asyncio.get_running_loop().create_connection(
                    lambda: wire,
                    sock=opened,
                    ssl=_trust(False),
                    server_hostname=address.host.partition("%")[0],
                    ssl_shutdown_timeout=_FAREWELL,
                )
            except ssl.SSLError as error:
                # An alert is an answer too; plain text is what a plain port sends.
                return "ALERT" in (error.reason or "").upper()
            finally:
                if not hasattr(wire, "closed"):
                    opened.close()
            wire.release()
            await asyncio.wait({wire.closed})
            return True
    return False


def _trusted(verify: bool | str) -> ssl.SSLContext:
    try:
        return _trust(verify)
    except OSError:
        raise PullRefused("tls_failed", "The certificates to trust cannot be read.") from None


def _trust(verify: bool | str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    if verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def _look_up(host: str, port: int) -> list[Target]:
    """Return the addresses of a host; a lookup that hangs is left to its thread, not waited for."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[Target] | OSError | UnicodeError] = loop.create_future()

    def tell(result: list[Target] | OSError | UnicodeError) -> None:
        if not found.done():
            found.set_result(result)

    def look_up() -> None:
        result = _addresses(host, port, 0)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, result)

    result = _addresses(host, port, socket.AI_NUMERICHOST)
    if not isinstance(result, list):
        threading.Thread(target=look_up, name=f"look up {host}", daemon=True).start()
        result = await found
    if not isinstance(result, list):
        raise PullRefused("dns_failed", f"The host name {host} has no address.")
    return result


def _addresses(host: str, port: int, flags: int) -> list[Target] | OSError | UnicodeError:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError) as error:  # Unicode: a host name that IDNA cannot encode
        return error
    return [(family, target) for family, _, _, _, target in found]


async def _open(found: list[Target]) -> socket.socket:
    """Return a connected socket; asyncio's own attempt hides why each address failed."""
    loop = asyncio.get_running_loop()
    refusals = []
    for number, (family, target) in enumerate(found, 1):
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            opened.setblocking(False)
            async with asyncio.timeout(_PATIENCE if number < len(found) else None):
                await loop.sock_connect(opened, target)
        except BaseException as error:
            opened.close()
            if isinstance(error, TimeoutError):
                reason = "The camera's host does not answer."
                refusals.append(PullRefused("connect_timeout", reason, timed_out=True))
            elif isinstance(error, OSError):
                refusals.append(connection_refusal(error, encrypted=False))
            else:
                raise
        else:
            return opened
    raise max(refusals, key=lambda refusal: _TELLING.index(refusal.verdict))
