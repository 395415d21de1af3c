"""An RTSP server of test cameras: any number of them, on one port."""

from __future__ import annotations

import itertools
import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from socketserver import ThreadingTCPServer
from typing import Any, Self

from ...errors import ConfkitError
from ...rtsp.address import Address, parse_address
from .camera import Camera, make_camera
from .connection import Connection
from .faults import HEALTHY, CameraFault, find_fault


class CameraServer(ThreadingTCPServer):
    """Test cameras over RTSP, by interleaved TCP or by UDP, with a thread for each connection.

    `session_timeout` is in seconds. `with` or `start()` starts it, `close()` ends it.
    """

    request_queue_size = 128

    def __init__(self, host: str = "127.0.0.1", session_timeout: float = 60.0) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), Connection)
        self.session_timeout = session_timeout
        self.cameras: dict[str, Camera | None] = {}  # by path; None while being created
        self._host = host
        self._closed = False
        self._numbers = itertools.count(1)
        self._ends: dict[str, ExitStack] = {}  # by URL: the clean-up of a camera
        self._threads_by_client: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()  # of all the others
        self._thread = threading.Thread(target=self.serve_forever, name="cameras", daemon=True)

    def start(self) -> Self:
        """Start serving."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening, and end all cameras, connections and threads."""
        with self._lock:
            self._closed = True
        with suppress(OSError):  # wakes the thread, and stops a forked child from listening
            self.socket.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        self.server_close()
        for ends in list(self._ends.values()):
            ends.close()
        for client, thread in list(self._threads_by_client.items()):
            self._end_connection(client)
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def add(
        self,
        path: str | None = None,
        *,
        fault: str | CameraFault | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> str:
        """Return the URL of a new camera, without its login; the path is /camera-1 and so on.

        `name` is shown in the picture instead of the path; `settings` are those of `make_camera`;
        `fault` is a name of `FAULTS`, or a row like those. ValueError: a path that is taken, or an
        invalid setting.
        """
        row = HEALTHY if fault is None else find_fault(fault)
        with ExitStack() as ends:
            address = self._take_path(path)
            ends.callback(self._end_camera, address.path)
            title = address.path.strip("/") if name is None else name
            camera = row.camera(make_camera(title, scrambled=row.scrambled, **settings))
            self.cameras[address.path] = camera
            if row.port:
                address = replace(address, port=row.port(self._host, ends))
            url = row.address(address).url
            with self._lock:
                if self._closed:
                    raise ConfkitError("The cameras were closed meanwhile.")
                self._ends[url] = ends.pop_all()
        return url

    def remove(self, url: str) -> None:
        """End a camera's connections, and answer 404 from now on; LookupError: unknown."""
        self._ends.pop(parse_address(url).url).close()

    def viewers(self, url: str) -> int:
        """Return the number of viewers of a camera; LookupError: unknown."""
        camera = self.cameras[parse_address(url).path]
        return len(camera.viewers) if camera else 0

    def _take_path(self, path: str | None) -> Address:
        """Reserve a path, and return the new camera's address; ValueError: invalid, or taken."""
        if not isinstance(path, str | None):
            raise ValueError("path must be text such as /hall, or None")
        with self._lock:
            if path is None:
                paths = (f"camera-{number}" for number in self._numbers)
                path = next(free for free in paths if "/" + free not in self.cameras)
            port = self.socket.getsockname()[1]
            wanted = Address("rtsp", self._host, port, "/" + path.strip("/"))
            address = parse_address(wanted.url)
            if address.path in self.cameras:
                raise ValueError("another camera has this path already")
            self.cameras[address.path] = None
        return address

    def _end_camera(self, path: str) -> None:
        if camera := self.cameras.pop(path):
            camera.unplugged.set()
            for viewer in list(camera.viewers):
                self._end_connection(viewer)

    def _end_connection(self, client: socket.socket) -> None:
        with self._lock, suppress(OSError):
            if client in self._threads_by_client:  # otherwise its descriptor may have been reused
                client.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a client in a daemon thread, which `close` joins."""
        arguments = request, client_address
        thread = threading.Thread(target=self.process_request_thread, args=arguments, daemon=True)
        with self._lock:
            thread.start()
            self._threads_by_client[request] = thread

    def shutdown_request(self, request: Any) -> None:
        """Close a client's connection."""
        with self._lock:
            self._threads_by_client.pop(request, None)
            request.close()
