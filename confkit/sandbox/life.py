"""How a sandbox begins and ends, and how its owner's threads reach it."""

import atexit
import logging
import os
import sqlite3
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..dialect import Dialect
from ..errors import ConfigError, ConfkitError
from ..secret import Secret
from . import identity, sockets
from .app import App
from .devices import Devices
from .faults import Faults
from .machinery import MediaServer
from .server import Server
from .service import Service
from .store import Store

if TYPE_CHECKING:
    from ..rtsp.camera import CameraServer

DEMO_ACCESS_KEY = "demo_access"  # published: for loopback only
DEMO_SECRET_KEY = "demo_secret"  # noqa: S105  # see above
REFUSALS = 200

T = TypeVar("T")
log = logging.getLogger("confkit.sandbox")


class Life:
    """The part of `Sandbox` that starts and ends it."""

    def __init__(
        self,
        *,
        seed: int | str | None = None,
        dialect: Dialect | None = None,
        path: str | os.PathLike[str] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        outgoing_port: int = 0,
        access_key: str | None = None,
        secret_key: str | None = None,
        token_lifetime: float = 3600.0,
        dial_timeout: float | None = None,
        latency: float = 0.0,
        request_timeout: float = 20.0,
        clock: Callable[[], float] | None = None,
        explain: bool = False,
    ) -> None:
        secret_key = None if secret_key is None else Secret(secret_key)
        self._address, self._loopback = sockets.resolve(host)
        if seed is not None and not self._loopback:
            raise ConfigError(
                f"A seeded sandbox has predictable ids and keys, so it answers on loopback only, "
                f"not on {host!r}",
                "Leave out seed, or use host='127.0.0.1'.",
            )
        positive = {"token_lifetime": token_lifetime, "request_timeout": request_timeout}
        if dial_timeout is not None:
            positive["dial_timeout"] = dial_timeout
        for name, seconds in positive.items():
            if not seconds > 0:
                raise ConfigError(f"{name} is {seconds!r}", "It is a number of seconds above 0.")
        if not 0 <= latency < 3600:
            raise ConfigError(f"latency is {latency!r}", "It is in seconds, from 0 to an hour.")
        for name, value in (("access_key", access_key), ("secret_key", secret_key)):
            if value == "":
                raise ConfigError(f"{name} is empty", "Give a text, or leave it out.")
        demo = DEMO_ACCESS_KEY, DEMO_SECRET_KEY
        own = demo if self._loopback else identity.random_keys()
        self.seed = seed
        self.dialect = dialect or Dialect()
        self.access_key = own[0] if access_key is None else access_key
        self.secret_key = Secret(own[1] if secret_key is None else secret_key)
        self._refusals: deque[str] = deque(maxlen=REFUSALS)
        self._remarks: deque[str] = deque(maxlen=REFUSALS)
        self._path = path
        self._ports = port, outgoing_port
        self._token_lifetime = token_lifetime
        self._dial_timeout = dial_timeout
        self._latency = latency
        self._request_timeout = request_timeout
        fixed = None if seed is None else lambda: identity.SEEDED_MOMENT
        self._clock = identity.Clock(clock or fixed or time.time)
        self._explain = explain
        self._faults = Faults()
        self._counts: Counter[str] = Counter()
        self._urls: tuple[str, str] | None = None
        self._server: Server | None = None
        self._service: Service
        self._cameras: CameraServer | None = None
        self._closed = False
        self._process = os.getpid()

    # Life

    def start(self) -> Self:
        """The sandbox itself, answering on both ports; a port or file that fails is an error."""
        if self._closed:
            raise ConfkitError("This sandbox is closed; make a new one with Sandbox(...).")
        if self._server:
            return self
        both = [sockets.bind(self._address, self._ports[0])]
        try:
            both.append(sockets.bind(self._address, self._ports[1]))
            started = Server(self._opened())
            urls = sockets.url(both[0]), sockets.url(both[1])
            started.start(both)
        except BaseException:
            for bound in both:
                bound.close()
            raise
        self._urls = urls
        self._server = started
        self._process = os.getpid()
        atexit.register(self.close)
        if not self._loopback:
            published = " with the published demo keys" * (self.secret_key == DEMO_SECRET_KEY)
            log.warning(
                "The sandbox answers beyond this machine%s, without encryption: %s and %s",
                published, *self._urls,
            )  # fmt: skip
        return self

    def close(self) -> None:
        """Ends the service, its cameras, streams, sockets and file; a second call does nothing."""
        started, self._server, self._closed = self._server, None, True
        if started and os.getpid() == self._process:  # a forked child has no such thread
            atexit.unregister(self.close)
            started.stop()

    @property
    def published(self) -> bool:
        """Whether its keys are the published demo keys and it answers on this machine alone: then
        they are no secret, and what they make may be shown."""
        demo = DEMO_ACCESS_KEY, DEMO_SECRET_KEY
        return self._loopback and (self.access_key, self.secret_key) == demo

    @property
    def closed(self) -> bool:
        """Whether the sandbox has been closed."""
        return self._closed

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not hasattr(self, "_process"):  # in a traceback out of __init__
            return "<Sandbox, not yet made>"
        state = "closed" if self._closed else "running" if self._server else "not started"
        where = " and ".join(self._urls or ()) or self._address
        return f"<Sandbox {where}, {state}>"

    @property
    def refusals(self) -> list[str]:
        """What was wrong with the last calls that were refused, the newest at the end."""
        return list(self._refusals)

    @property
    def remarks(self) -> list[str]:
        """What was odd about the last calls that were taken all the same (an optional parameter
        that came empty, an address that was cut at an &), the newest at the end. Another service
        may refuse these."""
        return list(self._remarks)

    @property
    def base_url(self) -> str:
        """The address of interface A."""
        return self._started_urls()[0]

    @property
    def outgoing_url(self) -> str:
        """The address of interface B."""
        return self._started_urls()[1]

    def _started_urls(self) -> tuple[str, str]:
        if self._urls is None:
            raise ConfkitError("The sandbox has no address yet: use `with Sandbox()` or start().")
        return self._urls

    def _running(self) -> Service:
        if self._closed:
            raise ConfkitError("This sandbox is closed; make a new one with Sandbox(...).")
        if self._server is None:
            raise ConfkitError("The sandbox is not started: use `with Sandbox()` or start().")
        if os.getpid() != self._process:
            raise ConfkitError("This sandbox runs in the process that started it, not in this one.")
        return self._service

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._server is None:
            work.close()
            raise ConfkitError("The sandbox was closed meanwhile.")
        try:
            return self._server.run(work)
        except sqlite3.Error as error:
            raise ConfkitError(
                f"The sandbox's file {self._path} failed ({error}), and nothing has changed. Free "
                "space, see to the rights of its folder, and ask again."
            ) from None

    def _do(self, function: Callable[..., T], *values: Any) -> T:
        service = self._running()

        async def call() -> T:
            return function(service, *values)

        return self._run(call())

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Sequence[App]]:
        """The two applications; runs in the server's thread, around all requests."""
        async with AsyncExitStack() as stack:
            store = Store(self._path)
            stack.callback(store.close)
            ids = identity.Ids(self.seed)
            self._service = service = Service(
                dialect=self.dialect,
                access_key=self.access_key,
                secret_key=self.secret_key,
                clock=self._clock,
                ids=ids,
                tokens=identity.Tokens(
                    self.secret_key, self.dialect, self._token_lifetime, self._clock, ids
                ),
                store=store,
                devices=Devices(self._dial_timeout, ids.chance),
                mcu=MediaServer(self._address),
                refusals=self._refusals,
                remarks=self._remarks,
                explain=self._explain,
            )
            stack.push_async_callback(self._close_cameras)
            stack.push_async_callback(service.close)
            await service.open()
            waits = self._latency, self._request_timeout
            yield [App(interface, service, self._faults, self._counts, *waits)
                   for interface in ("A", "B")]  # fmt: skip

    async def _close_cameras(self) -> None:
        if self._cameras:
            await self._cameras.close()
