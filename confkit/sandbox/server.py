"""Two uvicorn servers in one event loop on a background thread."""

import asyncio
import contextlib
import importlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeVar

import uvicorn

from ..errors import ConfkitError
from .app import App
from .callers import Callers
from .connections import HEAD_BYTES, log, protocol
from .door import Door

KEEP_ALIVE = 75  # seconds; more than clients keep an idle connection

T = TypeVar("T")


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
                log.error("the sandbox's server ended: %s", type(error).__name__)

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
    servers = [_Uvicorn(app) for app in apps]
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

    def __init__(self, app: App) -> None:
        self._callers = Callers()
        super().__init__(_config(app, protocol(self._callers)))
        self.ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._doors: list[Door] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Answers at these sockets, through doors of ours where the loop can have them."""
        self.servers = []
        try:
            self._doors = [Door(each, self._callers, self._connection) for each in sockets or ()]
            self.started = True
        except NotImplementedError:  # the loop of Windows
            await super().startup(sockets)
        self.ready.set()

    def _connection(self) -> asyncio.Protocol:
        made: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return made(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

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
        for door in self._doors:
            door.close()
        for listener in self.servers:
            listener.close()
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()  # App then drops the connection
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)


def _config(app: App, http: type[asyncio.Protocol]) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=http,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        h11_max_incomplete_event_size=HEAD_BYTES,
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
