"""The web application of one port: routes, faults, token and parameters, and how answers look."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from email.utils import formatdate
from typing import Any, NamedTuple

from ...endpoints import ENDPOINTS
from ...errors import lookup
from ...signing import sign
from . import parameters
from .faults import Fault
from .identity import same
from .operations import LOCAL, OPERATIONS, broken
from .parameters import Route
from .signatures import Parts, mistakes
from .state import Refusal, Refused, Service

RECENT_TOKENS = 8  # against so many a wrong token is held, to say what is wrong with it
_CALLBACK = re.compile(r"[A-Za-z_$][\w$.]*", re.ASCII)

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

log = logging.getLogger("confkit.sandbox")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Reply(NamedTuple):
    """What goes out: HTTP status, content type, body."""

    status: int
    content_type: str
    body: bytes


class App:
    """The ASGI application of interface A or B; what it cannot answer it drops."""

    def __init__(self, interface: str, service: Service, latency: float) -> None:
        self._interface = interface
        self._service = service
        self._latency = latency  # seconds that each answer waits
        self._routes = {
            endpoint.path: parameters.route(endpoint, service.dialect)
            for endpoint in ENDPOINTS.values()
            if endpoint.interface == interface
        }
        in_b = interface == "B"
        self._code = service.dialect.result_field if in_b else "ret"
        self._text = "err" if in_b else "msg"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body, more = b"", scope["method"] == "POST"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        try:
            reply = await self._reply(scope, body)
        except asyncio.CancelledError:
            reply = None  # the sandbox closes
        if reply is None:
            scope["state"]["protocol"].transport.abort()
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        headers = [
            (b"date", formatdate(usegmt=True).encode()),
            (b"content-type", reply.content_type.encode()),
            (b"content-length", str(len(reply.body)).encode()),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    async def _reply(self, scope: Scope, body: bytes) -> Reply | None:
        path, method = scope["path"], scope["method"]
        callback = parameters.callback(parameters.query(scope["query_string"]))
        if self._latency:
            await asyncio.sleep(self._latency)
        route = self._routes.get(path)
        self._service.counts["" if route is None else path] += 1
        if route is None or method != route.method:
            methods = {known: other.method for known, other in self._routes.items()}
            why = parameters.wrong_route(path, method, self._interface, methods)
            return self._written(self._refusal("", Refused(408, why)), callback)
        fault = self._service.faults.take(path)
        members = None
        if fault is None or fault.after:
            members = await self._answer(scope, body, route, callback)
        if fault:
            await asyncio.sleep(fault.delay or 0)
        if fault is None or fault.waits_only:
            members = members or await self._answer(scope, body, route, callback)
            return self._written(members, callback)
        self._service.note(Refusal(route.endpoint.key, None, "a fault on demand"))
        return self._faulty(fault, callback)

    async def _answer(
        self, scope: Scope, body: bytes, route: Route, callback: str | None
    ) -> dict[str, Any]:
        key, rest = route.endpoint.key, ""
        content_type = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
        try:
            given = parameters.find(route, scope["query_string"], body, content_type)
            if route.token:
                self._check_token(route.token, given)
            rest = given.rest_of_address()
            if callback is not None and not _CALLBACK.fullmatch(callback):
                raise Refused(route.wrong, "callback is no name of a function")
            values = given.check()
            for name in given.empty():
                self._service.note(f"{key}: {name} came empty")
            values[LOCAL] = scope["server"][0]
            members = await OPERATIONS[key](self._service, values)
        except Refused as refused:
            why = f"{refused.why}; {rest}" if rest else refused.why
            return self._refusal(key, Refused(refused.ret, why))
        except Exception as error:  # noqa: BLE001  # whatever it is, the caller gets an answer
            # Its text could quote a parameter: the kind of failure is all that is logged.
            log.error("%s failed: %s", key, type(error).__name__)
            return self._refusal(key, broken(key, error))
        if rest:
            self._service.note(f"{key}: {rest}")
        return {self._code: 0, **members}

    def _check_token(self, name: str, given: parameters.Given) -> None:
        token, tokens = given.values.get(name), self._service.tokens
        if name in given.twice:
            raise Refused(602, f"{name} is given twice")
        if token is None:
            raise Refused(602, given.absent(name))
        if not isinstance(token, str) or not token:
            raise Refused(602, f"{name} is empty" if token == "" else f"{name} is not a text")
        issued = tokens.find(token)
        if issued is None:
            raise Refused(602, self._wrong_token(token))
        late = tokens.late(issued)
        if late >= 0:
            raise Refused(602, f"token expired {late:.0f} s ago")

    def _wrong_token(self, token: str) -> str:
        service = self._service
        for issued in service.tokens.recent(RECENT_TOKENS):
            if same(token, issued.random) or same(token, issued.key):
                return "this is random or key of A1, not the token that they make"
            parts = Parts(service.access_key, service.secret_key, issued.random, issued.key)
            found = mistakes("token", token, parts, service.dialect, travelled=True)
            if found:
                return f"token: {'; '.join(found)}"
        if same(token, sign(service.secret_key, service.access_key, service.dialect)):
            return "token: this is the digest of A1, not the access token"
        return "the token is unknown: another secret key, or the service has started anew"

    def _refusal(self, key: str, refused: Refused) -> dict[str, Any]:
        self._service.note(Refusal(key or self._interface, refused.ret, refused.why))
        return self._error(refused.ret)

    def _error(self, ret: int) -> dict[str, Any]:
        if ret == 0:
            return {self._code: 0}
        known = lookup(ret, self._interface)
        return {self._code: ret, self._text: known[0].meaning if known else f"error {ret}"}

    def _written(
        self, members: Mapping[str, Any], callback: str | None, status: int = 200
    ) -> Reply:
        text = _encode(members)
        if callback is not None and _CALLBACK.fullmatch(callback):
            # These two end a line in older JavaScript, inside a text too.
            text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
            script = f"{callback}({text})".encode()
            return Reply(status, "application/javascript", script)
        return Reply(status, "application/json", text.encode())

    def _faulty(self, fault: Fault, callback: str | None) -> Reply | None:
        if fault.drop:
            return None
        status = fault.http or 200
        if fault.ret is not None:
            return self._written(self._error(fault.ret), callback, status)
        body = fault.body.encode() if isinstance(fault.body, str) else fault.body
        if body is None:
            body = b"<html><body><h1>%d</h1></body></html>" % status
        if status in (204, 304):
            body = b""
        html = body.lstrip().startswith(b"<")
        return Reply(status, "text/html; charset=utf-8" if html else "application/json", body)
