"""Tests of the diagnosis of devices; a door before a camera, through which not everybody comes."""

import socket
import socketserver
import threading
import time
from contextlib import contextmanager, suppress

from confkit.secret import reveal
from tests.ports import HERE


def until(condition, seconds=20.0):
    """Waits for a condition that comes by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


class Door:
    """Stands before a camera: lets so many connections through, and closes all others at once."""

    def __init__(self, url, places):
        self.places, self.inside = places, 0
        self.knocks = 0
        self.open = set()
        parts = reveal(url).removeprefix("rtsp://").partition("/")
        host, port = parts[0].split(":")
        door = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                door.knocks += 1
                if door.inside >= door.places:
                    return
                door.inside += 1
                with socket.create_connection((host, int(port))) as camera:
                    door.open |= {camera, self.request}
                    back = threading.Thread(target=door.pump, args=(camera, self.request))
                    back.start()
                    door.pump(self.request, camera)
                    back.join()
                    door.open -= {camera, self.request}
                door.inside -= 1

        self.server = socketserver.ThreadingTCPServer((HERE, 0), Handler)
        self.server.daemon_threads = False
        self.url = f"rtsp://{HERE}:{self.server.server_address[1]}/{parts[2]}"

    @staticmethod
    def pump(source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Cuts off all who are inside."""
        for end in list(self.open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def door_before(url, places=1):
    door = Door(url, places)
    serving = threading.Thread(target=door.server.serve_forever, args=(0.02,))
    serving.start()
    try:
        yield door
    finally:
        door.server.shutdown()
        serving.join()
        door.cut()
        door.server.server_close()
