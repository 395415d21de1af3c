"""An RTSP server that plays test cameras: any number of them, on one port."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from typing import Literal, Self

from .address import Address, parse_address
from .auth import Guard, Login
from .picture import encode_loop
from .session import Connection
from .udp import PortPair, open_ports
from .viewer import Camera, describe_loop, packetise_loop

_REALM = "camera"
# Strongest first: FFmpeg answers the last digest that it is offered, and knows MD5 only.
_ALGORITHMS = {"digest": ("SHA-256", "MD5"), "sha-256": ("SHA-256",), "basic": ()}


class CameraServer:
    """Test cameras over RTSP, by interleaved TCP or by UDP; use it inside one event loop."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, *, session_timeout: float = 60.0
    ) -> None:
        """Prepare a server; port 0 takes a free one, `session_timeout` is in seconds."""
        self._host = host
        self._port = port
        self._session_timeout = session_timeout
        self._server: asyncio.Server | None = None
        self._ports: PortPair | None = None
        self._key = secrets.token_bytes(16)
        self._numbers = itertools.count(1)
        self._cameras: dict[str, Camera | None] = {}  # None while its picture is being encoded
        self._connections: set[Connection] = set()

    async def start(self) -> None:
        """Listen; raises OSError when the port is taken."""
        ports = await open_ports(self._host)
        try:
            self._server = await asyncio.get_running_loop().create_server(
                lambda: Connection(self._cameras, self._connections, ports, self._session_timeout),
                self._host,
                self._port,
            )
        except OSError:
            ports.close()
            raise
        self._ports = ports
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Kick all viewers, forget all cameras, and stop listening."""
        for url in [self._url(path) for path, camera in self._cameras.items() if camera]:
            self.remove(url)
        closing = [connection.closed for connection in self._connections]
        for connection in list(self._connections):
            connection.kick()
        await asyncio.gather(*closing)
        if self._server:
            self._server.close()
            await self._server.wait_closed()
        if self._ports:
            self._ports.close()
            await asyncio.sleep(0)  # transports give their sockets back a moment later
        self._server = self._ports = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()

    async def add(
        self,
        path: str | None = None,
        *,
        name: str | None = None,
        login_name: str | None = None,
        login_password: str | None = None,
        codec: str = "h264",
        size: tuple[int, int] = (640, 360),
        fps: int = 15,
        keyframe_every: float = 1.0,
        auth: Literal["digest", "sha-256", "basic"] = "digest",
        transports: tuple[str, ...] = ("tcp", "udp"),
    ) -> str:
        """Return the URL of a new camera, without its login; the path is /camera-1 and so on.

        `name` stands in the picture, `size` is in pixels, `keyframe_every` in seconds; without a
        login the camera is open.  "digest" offers SHA-256 and MD5.  The picture is encoded in a
        thread.  Raises ValueError for a path that is taken or a setting that makes no sense, and
        RuntimeError before `start`.
        """
        if auth not in _ALGORITHMS:
            raise ValueError(f"The authentication is none of {', '.join(_ALGORITHMS)}.")
        if path is None:
            paths = (f"/camera-{number}" for number in self._numbers)
            path = next(free for free in paths if free not in self._cameras)
        path = parse_address(self._url(path if path.startswith("/") else "/" + path)).path
        if path in self._cameras:
            raise ValueError("Another camera has this path already.")
        login = None
        if login_name is not None or login_password is not None:
            login = Login(login_name or "", login_password or "")
        shown = path.strip("/") if name is None else name
        self._cameras[path] = None
        try:
            loop = await asyncio.to_thread(
                encode_loop, shown, codec=codec, size=size, fps=fps, keyframe_every=keyframe_every
            )
            self._cameras[path] = Camera(
                path,
                loop,
                describe_loop(shown, loop),
                packetise_loop(loop),
                Guard(login, _REALM, _ALGORITHMS[auth], self._key) if login else None,
                frozenset(transports),
                asyncio.get_running_loop().time(),
            )
        finally:
            if self._cameras[path] is None:
                del self._cameras[path]
        return self._url(path)

    def remove(self, url: str) -> None:
        """Kick a camera's viewers and answer 404 from now on; raises LookupError if unknown."""
        camera = self._find(url)
        del self._cameras[camera.path]
        camera.close()

    def viewers(self, url: str) -> int:
        """Return how many viewers a camera plays to; raises LookupError if unknown."""
        return len(self._find(url).viewers)

    def _find(self, url: str) -> Camera:
        camera = self._cameras.get(parse_address(url).path)
        if camera is None:
            raise LookupError("No camera has this address.")
        return camera

    def _url(self, path: str) -> str:
        if not self._server:
            raise RuntimeError("The camera server is not running.")
        everywhere = self._host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
        host = "localhost" if everywhere else self._host
        return Address("rtsp", host, self._port, path).url
