"""Both interfaces over HTTP: one endpoint for all requests, and uvicorn in its own thread."""

import asyncio
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import uvicorn

from ..operations import OPERATIONS
from .devices import Refused
from .operations import FAILURES, FUNCTIONS
from .parameters import Parameters, Route, pairs, with_setting
from .state import Fault, Service, close_listener

MAX_BODY = 2**20  # bytes
BODY_SECONDS = 10.0
UVICORN: dict[str, Any] = {
    "http": "h11",
    "loop": "asyncio",
    "lifespan": "off",
    "ws": "none",
    "log_config": None,
    "access_log": False,
    "proxy_headers": False,
    "server_header": False,
    "limit_concurrency": 2_500,  # connections or requests at once; 503 beyond
    "timeout_keep_alive": 75,  # seconds; more than clients keep an idle connection
    "timeout_graceful_shutdown": 0,
    "h11_max_incomplete_event_size": 64 * 1024,  # bytes of a head
}
UNREADABLE = (
    "a request could not be read as HTTP: percent-encode spaces and letters outside ASCII in the "
    "address, send one Host header, and speak plain HTTP to these ports"
)
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
_CALLBACK = re.compile(r"[A-Za-z_$][\w$.]*", re.ASCII)

log = logging.getLogger("confkit.sandbox")

Members = dict[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Reply = tuple[int, bytes, bytes]  # HTTP status, content type, body


class Server:
    """Both interfaces as an ASGI application, on a bound socket each or both on one: uvicorn in a
    thread with its own event loop, until `close`.

    Log records of uvicorn in this thread are dropped, as tracebacks and URLs may contain secrets;
    but unreadable requests are recorded as refusals. (No generator: the end of a forked child would
    run it to its end, and shut the parent's sockets down.)
    """

    def __init__(self, service: Service, sockets: list[socket.socket]) -> None:
        self._service, self._sockets = service, sockets
        ports = [listener.getsockname()[1] for listener in sockets]
        self._interfaces = dict(zip(ports, ("A", "B") if len(ports) > 1 else ("AB",), strict=True))
        self._routes = {op.path: Route.of(op, service.dialect) for op in OPERATIONS.values()}
        self._uvicorn = uvicorn.Server(uvicorn.Config(self, **UVICORN))
        self._thread = threading.Thread(target=self._run, name="confkit sandbox", daemon=True)
        self._thread.start()
        while self._thread.is_alive() and not self._uvicorn.started:
            time.sleep(0.002)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or close its connection without a byte."""
        reply = None
        with suppress(asyncio.CancelledError):  # the sandbox is closing
            reply = await self._reply(scope, receive)
        if reply is None:  # 0 is not a status, so uvicorn closes the connection
            await send({"type": "http.response.start", "status": 0})
            return
        status, content_type, body = reply
        length = str(len(body)).encode()
        headers = [(b"content-type", content_type), (b"content-length", length), NO_SNIFFING]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _reply(self, scope: Scope, receive: Receive) -> Reply | None:
        service, method, path = self._service, scope["method"], scope["path"]
        served, route = self._interfaces[scope["server"][1]], self._routes.get(path)
        known = route is not None and route.operation.interface in served
        interface = route.operation.interface if route and known else served[0]
        body = await self._read_body(receive, interface)
        if body is None:
            return None
        query = pairs(scope["query_string"])
        # The last one counts, as browser libraries append theirs (seen).
        callback = dict(query).get("callback")
        with service.lock:
            service.counts[path if route else ""] += 1
            if route is None or not known or method != route.method:
                service.note_refusal(interface, 408, self._explain_route(path, method, served))
                return _write(service.error(interface, 408), callback)
            fault = service.take_fault(path)
        content_type = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
        parameters, members = Parameters(route, query, body, content_type), None
        if fault.after:
            members = await self._operate(route, parameters, callback)
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if (fault.ret, fault.http, fault.body, fault.drop) == (None, None, None, False):
            members = members or await self._operate(route, parameters, callback)
            return _write(members, callback)
        service.note_refusal(route.operation.key, fault.ret, "a fault on demand")
        if fault.ret is not None:
            return _write(service.error(interface, fault.ret), callback, fault.http or 200)
        return None if fault.drop else _page(fault)

    async def _read_body(self, receive: Receive, interface: str) -> bytes | None:
        """Return the body; None if it is too large or too slow, or its sender has disconnected."""
        body, more = bytearray(), True
        with suppress(TimeoutError):
            async with asyncio.timeout(BODY_SECONDS):
                while more and len(body) <= MAX_BODY:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message["body"]
                    more = message["more_body"]
        if not more and len(body) <= MAX_BODY:
            return bytes(body)
        why = f"the body is larger than {MAX_BODY:,} bytes, or took longer than {BODY_SECONDS:g} s"
        self._service.note_refusal(interface, None, f"{why}: the connection was closed")
        return None

    def _explain_route(self, path: str, method: str, served: str) -> str:
        route = self._routes.get(path)
        if route is None:
            paths = [each.path for each in OPERATIONS.values() if each.interface in served]
            return f"unknown path; interface {' and '.join(served)} has {', '.join(paths)}"
        key, interface = route.operation.key, route.operation.interface
        if interface not in served:
            return f"{key} is served on the port of interface {interface}, this is that of {served}"
        why = f"{key} is {route.method} here, not {method if method.isalpha() else 'another'}"
        return with_setting(why, route.method_setting, route.method)

    async def _operate(self, route: Route, parameters: Parameters, callback: str | None) -> Members:
        service, key = self._service, route.operation.key
        try:
            with service.lock:
                if route.token_name:
                    service.check_token(parameters.value(route.token_name, 602))
                if callback is not None and not _CALLBACK.fullmatch(callback):
                    raise Refused(route.error_code, "callback is not the name of a function")
                members = FUNCTIONS[key](service, parameters.read())
            if not isinstance(members, dict):  # streams begin or end
                members = await members
            return {**service.error(route.operation.interface, 0), **members}
        except Refused as refused:
            ret, why = refused.args
        except Exception as error:  # noqa: BLE001  # the caller always gets a response
            # Its text could quote a parameter, so only its type is logged.
            ret, why = FAILURES.get(key, 700), f"the sandbox failed: {type(error).__name__}"
            log.error("%s: %s", key, why)
        service.note_refusal(key, ret, why)
        return service.error(route.operation.interface, ret)

    def close(self) -> None:
        """Drop all callers, and stop listening."""
        self._uvicorn.should_exit = True
        self._thread.join()

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep only log records of other uvicorn servers; called as a logging filter."""
        if threading.current_thread() is not self._thread:
            return True
        if record.msg == "Invalid HTTP request received.":
            self._service.note_refusal("HTTP", None, UNREADABLE)
        return False

    def _run(self) -> None:
        logger = logging.getLogger("uvicorn.error")
        logger.addFilter(self)
        copies = [listener.dup() for listener in self._sockets]
        try:
            self._uvicorn.run(self._sockets)
        finally:
            for listener in copies:
                close_listener(listener)
            logger.removeFilter(self)


def _write(members: Members, callback: str | None, status: int = 200) -> Reply:
    text = json.dumps(members, separators=(",", ":"))  # ASCII, so JavaScript takes it too
    if callback is None or not _CALLBACK.fullmatch(callback):
        return status, b"application/json", text.encode()
    return status, b"application/javascript", f"{callback}({text})".encode()


def _page(fault: Fault) -> Reply:
    """Return the raw response of a fault, by default an HTML page."""
    status = fault.http or 200
    page = f"<html><body><h1>{status}</h1></body></html>"
    body = page if fault.body is None else fault.body
    body = body if status not in (204, 304) else ""  # which have none (RFC 9110)
    content = body.encode() if isinstance(body, str) else body
    kind = b"text/html; charset=utf-8" if content.lstrip()[:1] == b"<" else b"application/json"
    return status, kind, content
