"""Where a sandbox answers: its sockets, and uvicorn for both of them on a background thread."""

import asyncio
import importlib
import ipaddress
import logging
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, TypeVar

import uvicorn

from ...errors import ConfigError, ConfkitError
from .app import App

KEEP_ALIVE = 75  # seconds; more than clients keep an idle connection
MOST = 2_500  # connections or requests at once; uvicorn answers 503 beyond
HEAD_BYTES = 64 * 1024  # what h11 takes; httptools, which loopback gets, has no such limit

T = TypeVar("T")
log = logging.getLogger("confkit.sandbox")


def resolve(host: str) -> tuple[str, bool]:
    """Return the IP address of a host, and whether it is loopback; unknown: ConfigError."""
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"The sandbox's host {host!r} is not known here ({error}).") from None
    # "localhost" is 127.0.0.1 to most people.
    address = str(min(found, key=lambda item: item[0] != socket.AF_INET)[4][0])
    return address, ipaddress.ip_address(address.partition("%")[0]).is_loopback


def bind(address: str, port: int) -> socket.socket:
    """Return a socket bound to address and port; ConfkitError where the port is taken."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
        bound.listen(2048)
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or error
        raise ConfkitError(
            f"The sandbox cannot listen on {address}, port {port}: {reason}. "
            "Give another port, or 0 for any that is free."
        ) from None
    return bound


def url(bound: socket.socket) -> str:
    """Return the base URL under which a bound socket is reached from this machine."""
    host, port = bound.getsockname()[:2]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


class Server:
    """The thread that serves; `run` carries a coroutine out in it.

    `opened` is entered in the thread before the first request and left after the last one. On
    loopback uvicorn's fastest protocol is taken, elsewhere the one that limits heads.
    """

    def __init__(self, opened: AbstractAsyncContextManager[Sequence[App]], loopback: bool) -> None:
        self._opened = opened
        self._http = "auto" if loopback else "h11"
        self._ready: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._main, name="confkit sandbox", daemon=True)

    def start(self, sockets: Sequence[socket.socket]) -> None:
        """Serve on these sockets, which are the server's from now on."""
        self._sockets = sockets
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:  # a Ctrl-C of the waiting thread among them
            with suppress(AttributeError):  # it had no loop yet
                self.stop()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the coroutine gives, carried out in the server's thread."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise ConfkitError("The sandbox was closed meanwhile.") from None
        try:
            while True:
                try:
                    return future.result(1.0)
                except CancelledError:
                    raise ConfkitError("The sandbox was closed meanwhile.") from None
                except TimeoutError:
                    if future.done():
                        raise
                    if not self._thread.is_alive():
                        raise ConfkitError("The sandbox was closed meanwhile.") from None
        except (KeyboardInterrupt, SystemExit):
            future.cancel()  # nobody waits for it any more
            raise

    def stop(self) -> None:
        """End the thread, and with it every connection; return when it has ended."""
        if self._thread.is_alive():
            with suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5)

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001  # carried to the thread that waits
            if not self._ready.done():
                self._ready.set_exception(error)
            else:
                log.error("the sandbox's server ended: %s", type(error).__name__)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            async with self._opened as apps, _serving(apps, self._sockets, self._http):
                self._ready.set_result(None)
                await self._stop.wait()
        finally:
            for bound in self._sockets:
                bound.close()


@asynccontextmanager
async def _serving(
    apps: Sequence[App], sockets: Sequence[socket.socket], http: str
) -> AsyncIterator[None]:
    servers = [uvicorn.Server(_config(app, http)) for app in apps]
    for server, bound in zip(servers, sockets, strict=True):
        server.lifespan = server.config.lifespan_class(server.config)
        await server.startup(sockets=[bound])
    dates = asyncio.create_task(_keep_dates(servers))
    try:
        yield
    finally:
        # Not uvicorn's own end, which waits for callers to finish.
        dates.cancel()
        tasks = [task for server in servers for task in server.server_state.tasks]
        for server in servers:
            for listener in server.servers:
                listener.close()
            for task in server.server_state.tasks:
                task.cancel()  # App then drops the connection
            for connection in list(server.server_state.connections):
                connection.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _keep_dates(servers: Sequence[uvicorn.Server]) -> None:
    """Renew the Date of answers once a second; uvicorn's own loop wakes ten times as often."""
    while True:
        for server in servers:
            await server.on_tick(0)
        await asyncio.sleep(1.0)


def _config(app: App, http: Any) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=http,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,  # URLs hold tokens
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST,
        timeout_keep_alive=KEEP_ALIVE,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
    config.load()
    config.loaded_app = app  # without the wrapper that logs whole requests at uvicorn's trace level
    config.http_protocol_class = _telling_its_transport(config.http_protocol_class)
    return config


def _telling_its_transport(base: Any) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol, from which the app gets the transport of a call that it drops."""

    class Protocol(base):  # type: ignore[misc]  # the base is known at run time only
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self.app_state: dict[str, Any] = {**self.app_state, "transport": transport}

    return Protocol


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        factory: Callable[[], asyncio.AbstractEventLoop]
        factory = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return factory
