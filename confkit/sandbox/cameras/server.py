"""An RTSP server that plays test cameras: any number of them, on one port."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Self

from ...rtsp.address import Address, parse_address
from ...rtsp.udp import PortPair, open_ports
from .camera import ALGORITHMS, Camera, Settings, describe_loop, packetise_loop
from .faults import CameraFault, find_fault
from .picture import encode_loop
from .ports import bound_socket, stop_accepting
from .serving import Guard
from .session import Connection

_REALM = "camera"
_TLS_SECONDS = 5.0  # for a handshake, on which closing may have to wait

# Encoding takes most of the time that a new camera needs; the same arguments give the same bytes,
# of which there are about 1 MB.
_loop = lru_cache(maxsize=16)(encode_loop)


class CameraServer:
    """Test cameras over RTSP, by interleaved TCP or by UDP; use it inside one event loop."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, *, session_timeout: float = 60.0
    ) -> None:
        """Prepare a server; port 0 takes a free one, `session_timeout` is in seconds."""
        self._host = host
        self._port = port
        self._session_timeout = session_timeout
        self._servers: list[asyncio.Server] = []
        self._ports: PortPair | None = None
        self._key = secrets.token_bytes(16)
        self._numbers = itertools.count(1)
        self._cameras: dict[str, Camera | None] = {}  # None while its picture is being encoded
        self._odd: dict[str, Callable[[], None]] = {}  # what removes them, by their odd addresses
        self._connections: dict[Connection, None] = {}
        self._listeners: list[socket.socket] = []  # for TLS
        self._greetings: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen; raises OSError when the port is taken."""
        self._ports = await open_ports(self._host)
        try:
            self._port = await self._listen(self._port)
        except OSError:
            self._ports.close()
            raise

    async def close(self) -> None:
        """Kick all viewers, forget all cameras, and stop listening."""
        for remove in self._odd.values():
            remove()
        for path in list(self._cameras):
            self._remove(path)
        for listener in self._listeners:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        for greeting in self._greetings:
            greeting.cancel()
        await asyncio.gather(*self._greetings, return_exceptions=True)
        for server in self._servers:
            await stop_accepting(server)
        gone = [connection.closed for connection in self._connections]
        for connection in list(self._connections):
            connection.kick()
        await asyncio.gather(*gone)
        for server in self._servers:
            server.close()
            await server.wait_closed()
        if self._ports:
            self._ports.close()
        await asyncio.sleep(0)  # transports give their sockets back a moment later
        self._servers, self._ports, self._odd = [], None, {}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()

    async def add(
        self, path: str | None = None, *, fault: str | CameraFault | None = None, **settings: Any
    ) -> str:
        """Return the URL of a new camera, without its login; the path is /camera-1 and so on.

        `settings` are those of `Settings`; `fault` is a name of `camera_faults`, or a row like
        those.  The picture is encoded in a thread.  Raises ValueError for a path that is taken or a
        setting that makes no sense, and RuntimeError before `start`.
        """
        wanted, faulty = Settings(**settings), find_fault(fault)
        wanted.check()
        wanted = faulty.settings(wanted)
        address = self._address(path)
        if faulty.port:
            port = await faulty.port(self._host)
            url = replace(address, port=port.number).url
            self._odd[url] = port.close
            return url
        self._cameras[address.path] = None
        try:
            if wanted.tls:
                address = replace(address, scheme="rtsps", port=await self._listen(0, wanted.tls))
            # All cameras count from a whole second: those in step share their wake-ups.
            second = asyncio.get_running_loop().time() // 1
            camera = await asyncio.to_thread(self._made, address, wanted, second)
            self._cameras[address.path] = faulty.camera(camera)
        finally:
            if self._cameras[address.path] is None:
                del self._cameras[address.path]
        url = faulty.address(address).url
        if url != address.url:
            self._odd[url] = partial(self._remove, address.path)
        return url

    def remove(self, url: str) -> None:
        """Kick a camera's viewers and answer 404 from now on; raises LookupError if unknown."""
        odd = self._odd.pop(url, None)
        if odd:
            odd()
        else:
            self._remove(self._path(url))

    def viewers(self, url: str) -> int:
        """Return how many viewers a camera plays to; raises LookupError if unknown."""
        camera = self._cameras[self._path(url)]
        return len(camera.viewers) if camera else 0

    def _path(self, url: str) -> str:
        path = parse_address(url).path
        if not self._cameras.get(path):
            raise LookupError("No camera has this address.")
        return path

    def _remove(self, path: str) -> None:
        camera = self._cameras.pop(path, None)
        if camera:
            camera.close()

    def _address(self, path: str | None) -> Address:
        """Return where a new camera will be; raises ValueError when that place is taken."""
        if not self._servers:
            raise RuntimeError("The camera server is not running.")
        if path is None:
            paths = (f"/camera-{number}" for number in self._numbers)
            path = next(free for free in paths if free not in self._cameras)
        if not isinstance(path, str):
            raise ValueError("The path is not a text such as /hall, nor None.")
        everywhere = self._host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
        host = "localhost" if everywhere else self._host
        address = Address("rtsp", host, self._port, path if path[:1] == "/" else "/" + path)
        address = parse_address(address.url)
        if address.path in self._cameras:
            raise ValueError("Another camera has this path already.")
        return address

    def _made(self, address: Address, wanted: Settings, started: float) -> Camera:
        """Return a healthy camera; takes a while."""
        name = address.path.strip("/") if wanted.name is None else wanted.name
        loop = _loop(
            name,
            codec=wanted.codec,
            size=tuple(wanted.size),
            fps=wanted.fps,
            keyframe_every=wanted.keyframe_every,
        )
        login, algorithms = wanted.login, ALGORITHMS[wanted.auth]
        return Camera(
            address.url,
            loop,
            describe_loop(name, loop),
            packetise_loop(loop),
            Guard(login, _REALM, algorithms, self._key) if login else None,
            frozenset(wanted.transports),
            started,
            wanted.max_viewers,
        )

    async def _listen(self, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Return the port at which the cameras answer from now on, by TLS where that is given."""
        ports = self._ports
        if not ports:
            raise RuntimeError("The camera server is not running.")

        def connection() -> Connection:
            return Connection(self._cameras, self._connections, ports, self._session_timeout)

        if tls:
            return self._listen_tls(connection, tls)
        server = await asyncio.get_running_loop().create_server(connection, self._host, port)
        self._servers.append(server)
        bound: int = server.sockets[0].getsockname()[1]
        return bound

    def _listen_tls(self, connection: Callable[[], Connection], tls: ssl.SSLContext) -> int:
        """Return a port for TLS.

        A server of asyncio does not let go of a client that is still shaking hands when it closes.
        """
        loop = asyncio.get_running_loop()
        listener = bound_socket(self._host)
        listener.listen()
        listener.setblocking(False)

        async def greet(accepted: socket.socket) -> None:
            with suppress(OSError):
                await loop.connect_accepted_socket(
                    connection, accepted, ssl=tls, ssl_handshake_timeout=_TLS_SECONDS
                )

        def accept() -> None:
            with suppress(BlockingIOError, ConnectionError):
                accepted, _ = listener.accept()
                accepted.setblocking(False)
                greeting = loop.create_task(greet(accepted))
                self._greetings.add(greeting)
                greeting.add_done_callback(self._greetings.discard)
                # One that is cancelled before it begins has not taken the socket over.
                greeting.add_done_callback(partial(_close_if_cancelled, accepted))

        # No task that waits for the next one: cancelled at the wrong moment, it would lose it.
        loop.add_reader(listener, accept)
        self._listeners.append(listener)
        bound: int = listener.getsockname()[1]
        return bound


def _close_if_cancelled(accepted: socket.socket, greeting: asyncio.Task[None]) -> None:
    if greeting.cancelled():
        accepted.close()
