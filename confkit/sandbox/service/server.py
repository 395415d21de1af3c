"""Where a sandbox answers: its sockets, and uvicorn's protocol on each of them."""

import asyncio
import importlib
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from ...errors import ConfigError, ConfkitError
from .app import App

KEEP_ALIVE = 75  # seconds; more than clients keep an idle connection
MOST = 2_500  # connections or requests at once; uvicorn answers 503 beyond
HEAD_BYTES = 64 * 1024  # what h11 takes; httptools, which loopback gets, has no such limit


def resolve(host: str) -> tuple[str, bool]:
    """Return the IP address of a host, and whether it is loopback; unknown: ConfigError."""
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"The sandbox's host {host!r} is not known here ({error}).") from None
    # "localhost" is 127.0.0.1 to most people.
    address = str(min(found, key=lambda item: item[0] != socket.AF_INET)[4][0])
    return address, ipaddress.ip_address(address).is_loopback


def bind(address: str, port: int) -> socket.socket:
    """Return a socket bound to address and port; ConfkitError where the port is taken."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfkitError(
            f"The sandbox cannot listen on {address}, port {port}: {reason}. "
            "Give another port, or 0 for any that is free."
        ) from None


def url(bound: socket.socket) -> str:
    """Return the base URL under which a bound socket is reached from this machine."""
    host, port = bound.getsockname()[:2]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


@asynccontextmanager
async def serving(app: App, bound: socket.socket, loopback: bool) -> AsyncIterator[None]:
    """Answer at a bound socket; at the end callers are dropped, and not waited for.

    On loopback uvicorn's fastest protocol is taken, elsewhere the one that limits heads."""
    config = uvicorn.Config(
        app,
        http="auto" if loopback else "h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # who sends what is no HTTP would fill a notebook with warnings
        access_log=False,  # URLs hold tokens
        proxy_headers=False,
        limit_concurrency=MOST,
        timeout_keep_alive=KEEP_ALIVE,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
    config.load()
    config.loaded_app = app  # without the wrapper that logs whole requests at uvicorn's trace level
    make: Any = config.http_protocol_class
    state = ServerState()

    def protocol() -> asyncio.Protocol:
        known: dict[str, asyncio.Protocol] = {}
        known["protocol"] = make(config=config, server_state=state, app_state=known)
        return known["protocol"]

    listener = await asyncio.get_running_loop().create_server(protocol, sock=bound)
    try:
        yield
    finally:
        listener.close()
        tasks = list(state.tasks)
        for task in tasks:
            task.cancel()  # App then drops the connection
        for connection in list(state.connections):
            connection.transport.abort()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)


def new_loop() -> asyncio.AbstractEventLoop:
    """Return uvloop's event loop where that is installed, else asyncio's."""
    try:
        loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
    except ImportError:
        loop = asyncio.new_event_loop()
    return loop
