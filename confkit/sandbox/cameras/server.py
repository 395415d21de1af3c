"""An RTSP server that plays test cameras: any number of them, on one port."""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Self

from ...rtsp.address import Address, parse_address
from ...rtsp.udp import PortPair, open_ports
from .camera import Camera, Settings
from .faults import CameraFault, find_fault
from .picture import encode_loop
from .ports import Listener
from .session import Connection

# Encoding takes most of the time that a new camera needs; the same arguments give the same bytes,
# of which there are about 1 MB.
_loop = lru_cache(maxsize=16)(encode_loop)


def _made(path: str, wanted: Settings, started: float) -> Camera:
    """Return a healthy camera; takes a while."""
    name = path.strip("/") if wanted.name is None else wanted.name
    shape = {"codec": wanted.codec, "size": tuple(wanted.size), "fps": wanted.fps}
    loop = _loop(name, keyframe_every=wanted.keyframe_every, **shape)
    return Camera(wanted, name, loop, started)


class CameraServer:
    """Test cameras over RTSP, by interleaved TCP or by UDP; use it inside one event loop."""

    def __init__(self, host: str = "127.0.0.1", *, session_timeout: float = 60.0) -> None:
        """Prepare a server; `session_timeout` is in seconds."""
        self._host = host
        self._timeout = session_timeout
        self._listeners: list[Listener] = []  # one, and one more for each camera with TLS
        self._numbers = itertools.count(1)
        self._cameras: dict[str, Camera | None] = {}  # None while its picture is being encoded
        self._removals: dict[str, Callable[[], Awaitable[None]]] = {}  # by the address given out

    _ports: PortPair

    async def start(self) -> None:
        """Listen."""
        self._ports = await open_ports(self._host)
        await self._listen()

    async def close(self) -> None:
        """End all connections, forget all cameras, and stop listening."""
        for url in list(self._removals):
            await self.remove(url)
        for listener in self._listeners:
            await listener.stop()
        self._ports.close()
        await asyncio.sleep(0)  # transports give their sockets back a moment later

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
        setting that makes no sense.
        """
        wanted, faulty = Settings(**settings), find_fault(fault)
        wanted.check()
        wanted = faulty.settings(wanted)
        address, opened = self._address(path), AsyncExitStack()
        if faulty.port:
            address = replace(address, port=await faulty.port(self._host, opened))
        else:
            await self._play(address.path, wanted, faulty)
            opened.push_async_callback(self._end, address.path)
            if wanted.tls:
                address = replace(address, scheme="rtsps", port=await self._listen(wanted.tls))
        url = faulty.address(address).url
        self._removals[url] = opened.aclose
        return url

    async def remove(self, url: str) -> None:
        """End a camera's connections, and answer 404 from now on; raises LookupError if unknown."""
        await self._removals.pop(parse_address(url).url)()

    def viewers(self, url: str) -> int:
        """Return how many viewers a camera plays to; raises LookupError if unknown."""
        camera = self._cameras[parse_address(url).path]
        return len(camera.viewers) if camera else 0

    def _address(self, path: str | None) -> Address:
        """Return where a new camera will be; raises ValueError when that place is taken."""
        if path is None:
            paths = (f"/camera-{number}" for number in self._numbers)
            path = next(free for free in paths if free not in self._cameras)
        if not isinstance(path, str):
            raise ValueError("The path is not a text such as /hall, nor None.")
        path = path if path[:1] == "/" else "/" + path
        address = Address("rtsp", self._host, self._listeners[0].port, path)
        address = parse_address(address.url)
        if address.path in self._cameras:
            raise ValueError("Another camera has this path already.")
        return address

    async def _play(self, path: str, wanted: Settings, faulty: CameraFault) -> None:
        """Play a camera at a path that is free."""
        self._cameras[path] = None
        # All cameras count from a whole second: those in step share their wake-ups.
        second = asyncio.get_running_loop().time() // 1
        try:
            camera = await asyncio.to_thread(_made, path, wanted, second)
            faulty.camera(camera)
            self._cameras[path] = camera
        except BaseException:
            del self._cameras[path]
            raise

    async def _end(self, path: str) -> None:
        camera = self._cameras.pop(path)
        if camera:
            camera.close()

    async def _listen(self, tls: ssl.SSLContext | None = None) -> int:
        """Return the port at which the cameras answer from now on, by TLS where that is given."""
        make = partial(Connection, self._cameras, self._ports, self._timeout)
        self._listeners.append(Listener(self._host, make, tls))
        await self._listeners[-1].start()
        return self._listeners[-1].port
