"""A real HTTP server whose answers a test writes down, for what no well-behaved service sends."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import confkit as ck
from confkit.operations import OPERATIONS
from tests.ports import HERE


@dataclass
class Reply:
    """One answer as it goes out: `body` bytes, text or JSON; `drop` closes without an answer, and
    `raw` does what it likes with the connection, which is open for more where it `keeps` it."""

    body: Any = None
    status: int = 200
    kind: str = "application/json"
    delay: float = 0.0
    drop: bool = False
    headers: dict = field(default_factory=dict)
    raw: Callable | None = None
    keeps: bool = False


@dataclass
class Scripted:
    """The service: `script` maps a path to an answer, or to a function of its parameters."""

    base_url: str
    script: dict
    seen: Counter = field(default_factory=Counter)
    requests: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    connections: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self, **options):
        options = {"sleep": lambda _: None, **options}
        return ck.Client(self.base_url, self.base_url, "demo_access", "demo_secret", **options)


A1, A2, A3, A4, A5, A6, A7, B1, B2, B3 = (operation.path for operation in OPERATIONS.values())
AUTHENTICATE, GET_ROOM = A1, A3
GRANTED = {"ret": 0, "random": "abc", "key": "def"}
VECTOR_TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="


def listed(*items):
    """A response of B3 with these external users."""
    return {"ret": 0, "data": {"total": len(items), "items": list(items)}}


@contextmanager
def scripted(script, tls=None, host=HERE):
    """A running scripted service on a free port of the loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet an answer

        def setup(self):
            super().setup()
            with service.lock:
                service.connections += 1

        def log_message(self, *_):
            pass

        def do_GET(self):
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            fields = parse_qs(parts.query or body, keep_blank_values=True)
            query = {name: values[0] for name, values in fields.items()}
            with service.lock:
                service.seen[parts.path] += 1
                service.requests.append((self.command, self.path, query))
                service.headers.append(self.headers)
                planned = service.script.get(parts.path)
                if isinstance(planned, list):
                    planned = planned.pop(0) if len(planned) > 1 else planned[0]
            if isinstance(planned, Callable):
                planned = planned(query)
            if planned is None and parts.path == AUTHENTICATE:
                planned = GRANTED
            reply = planned if isinstance(planned, Reply) else Reply(planned)
            time.sleep(reply.delay)
            if reply.raw is not None or reply.drop:
                self.close_connection = not reply.keeps
                with suppress(OSError):
                    (reply.raw or socket.socket.close)(self.connection)
                return
            data = reply.body
            if not isinstance(data, bytes):
                data = (data if isinstance(data, str) else json.dumps(data)).encode()
            closing, self.close_connection = self.close_connection, True
            with suppress(OSError):  # the client has given up, as some tests want
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.kind)
                self.send_header("Content-Length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = closing

        do_POST = do_CONNECT = do_GET

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_):
            pass

    server = Server((host, 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "https" if tls else "http"
    service = Scripted(f"{scheme}://{host}:{server.server_address[1]}", script)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
