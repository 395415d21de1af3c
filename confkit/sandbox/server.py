"""Two uvicorn servers in one event loop on a background thread."""

import asyncio
import contextlib
import importlib
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeVar

import uvicorn

from ..errors import ConfkitError
from .app import App

URL_BYTES = 64 * 1024  # a longer request line, or longer headers, are refused
LINGER = 2.0  # seconds in which a refused caller may finish sending and read why
KEEP_ALIVE = 75  # seconds; more than clients keep an idle connection

T = TypeVar("T")
# What uvicorn says of malformed requests goes here; nothing is printed unless somebody listens.
_log = logging.getLogger("confkit.sandbox.http")
_log.addHandler(logging.NullHandler())


class Server:
    """The thread that serves; `run` carries a coroutine out in it.

    `opened` is entered in the thread before the first request and left after the last one.
    """

    def __init__(self, opened: AbstractAsyncContextManager[Sequence[App]]) -> None:
        self._opened = opened
        self._ready: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._main, name="confkit sandbox", daemon=True)

    def start(self, sockets: Sequence[socket.socket]) -> None:
        """Serves on these sockets, which are the server's from now on."""
        self._sockets = sockets
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:  # a Ctrl-C of the waiting thread among them
            with suppress(AttributeError):  # it had no loop yet
                self.stop()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives, carried out in the server's thread."""
        if not self._thread.is_alive() or threading.current_thread() is self._thread:
            work.close()
            raise ConfkitError("The sandbox is closed, or was asked from its own thread.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
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

    def stop(self) -> None:
        """Ends the thread, and with it every connection; returns when it has ended."""
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
                _log.error("the sandbox's server ended: %s", type(error).__name__)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            async with self._opened as apps, _serving(apps, self._sockets):
                self._ready.set_result(None)
                await self._stop.wait()
        finally:
            for bound in self._sockets:
                bound.close()


@contextlib.asynccontextmanager
async def _serving(apps: Sequence[App], sockets: Sequence[socket.socket]) -> AsyncIterator[None]:
    servers = [_Uvicorn(_config(app)) for app in apps]
    tasks = [
        asyncio.create_task(server.serve(sockets=[bound]))
        for server, bound in zip(servers, sockets, strict=True)
    ]
    await asyncio.gather(*(server.ready.wait() for server in servers))
    try:
        yield
    finally:
        for app in apps:
            app.closing = True
        for server in servers:
            server.leave()
        await asyncio.gather(*tasks)


class _Uvicorn(uvicorn.Server):
    """A server that says when it is ready, and that closes without waiting for anybody."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._leave = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        """Once a second for the Date header, where uvicorn's own wakes ten times."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._leave.wait()

    def leave(self) -> None:
        """Ends `main_loop`, and with it the server."""
        self.should_exit = True
        self._leave.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        """Closes at once; uvicorn's own lets connections and requests finish, however long."""
        for listener in self.servers:
            listener.close()
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()  # App then drops the connection
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)


def _config(app: App) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=_protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        h11_max_incomplete_event_size=URL_BYTES,
    )
    config.load()
    config.loaded_app = app  # without the wrapper that logs whole requests at uvicorn's trace level
    return config


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        factory: Callable[[], asyncio.AbstractEventLoop]
        factory = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return factory


def _protocol() -> type[asyncio.Protocol]:
    """uvicorn's protocol, the fast one where it is installed, with our limits and our log.

    It logs no access (URLs hold tokens), and gives the app its transport, to drop a connection.
    """
    try:
        base: Any = importlib.import_module("uvicorn.protocols.http.httptools_impl")
        base = base.HttpToolsProtocol
    except ImportError:
        base = importlib.import_module("uvicorn.protocols.http.h11_impl").H11Protocol

    class Protocol(base):  # type: ignore[misc]  # the base is known at run time only
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.logger = _log
            self.access_log = False
            self._size = 0
            self._refused = False

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self.app_state: dict[str, Any] = {**self.app_state, "transport": transport}

        def data_received(self, data: bytes) -> None:
            if not self._refused:  # the rest of a refused request is not looked at
                super().data_received(data)

        def send_400_response(self, _: str) -> None:
            if self._refused:
                return
            self._refused = True
            body = self.app.unreadable(self._size > URL_BYTES)
            head = (
                "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            # Closed at once, a caller that still sends would see a reset instead of the answer.
            self.loop.call_later(LINGER, self.transport.close)

        # httptools has no limits of its own (h11 has). What these raise becomes HTTP 400.
        def on_message_begin(self) -> None:
            self._size = 0
            super().on_message_begin()

        def on_url(self, url: bytes) -> None:
            self._measure(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._measure(len(name) + len(value) + 4)
            super().on_header(name, value)

        def _measure(self, size: int) -> None:
            self._size += size
            if self._size > URL_BYTES:
                raise ValueError("the request line or the headers are too long")

    return Protocol
