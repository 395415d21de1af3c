"""The web application of one port: routes, faults, token and parameters, and how answers look."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from email.utils import formatdate
from typing import Any

from ...errors import lookup
from ...operations import OPERATIONS
from . import parameters
from .faults import Fault
from .identity import same
from .operations import HANDLERS, LOCAL, broken
from .signatures import Parts, mistakes
from .state import Refusal, Refused, Service

LARGEST_BODY = 2**20  # bytes of a POST
RECENT_TOKENS = 8  # against so many a wrong token is held, to say what is wrong with it
_CALLBACK = re.compile(r"[A-Za-z_$][\w$.]*", re.ASCII)

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

log = logging.getLogger("confkit.sandbox")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Members = dict[str, Any]
Reply = tuple[int, str, bytes]  # HTTP status, content type, body


class App:
    """The ASGI application of interface A or B; what it cannot answer it drops. Each answer waits
    `latency` seconds."""

    def __init__(self, interface: str, service: Service, latency: float) -> None:
        self._interface = interface
        self._service = service
        self._latency = latency
        self._routes = {
            endpoint.path: parameters.route(endpoint, service.dialect)
            for endpoint in OPERATIONS.values()
            if endpoint.interface == interface
        }
        in_b = interface == "B"
        self._code = service.result_field if in_b else "ret"
        self._text = "err" if in_b else "msg"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body, more, reply = bytearray(), scope["method"] == "POST", None
        while more and len(body) <= LARGEST_BODY:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        if len(body) > LARGEST_BODY:
            why = f"the body is larger than {LARGEST_BODY:,} bytes: the connection was closed"
            self._service.note(Refusal(self._interface, None, why))
        else:
            with suppress(asyncio.CancelledError):  # the sandbox closes
                reply = await self._reply(scope, bytes(body))
        if reply is None:
            scope["state"]["protocol"].transport.abort()
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        status, content_type, content = reply
        headers = [
            (b"date", formatdate(usegmt=True).encode()),
            (b"content-type", content_type.encode()),
            (b"content-length", b"%d" % len(content)),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _reply(self, scope: Scope, body: bytes) -> Reply | None:
        path, method, service = scope["path"], scope["method"], self._service
        # Of several the last one counts, as browsers' libraries append theirs (seen).
        callback = dict(parameters.query(scope["query_string"])).get("callback")
        if self._latency:
            await asyncio.sleep(self._latency)
        route = self._routes.get(path)
        service.counts["" if route is None else path] += 1
        if route is None or method != route.method:
            why = parameters.wrong_route(path, method, self._interface, self._routes)
            return self._written(self._refusal(self._interface, 408, why), callback)
        content_type = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
        given = parameters.Given(route, scope["query_string"], body, content_type)
        host, fault = scope["server"][0], service.faults.take(path)
        members = None
        if fault is None or fault.after:
            members = await self._answer(given, callback, host)
        if fault:
            await asyncio.sleep(fault.delay or 0)
            if not fault.usual:
                service.note(Refusal(route.endpoint.key, None, "a fault on demand"))
                return self._faulty(fault, callback)
        return self._written(members or await self._answer(given, callback, host), callback)

    async def _answer(self, given: parameters.Given, callback: str | None, host: str) -> Members:
        route, service, rest = given.route, self._service, ""
        key = route.endpoint.key
        try:
            if route.token:
                self._check_token(given.value(route.token, 602))
            rest = given.rest_of_address()
            if callback is not None and not _CALLBACK.fullmatch(callback):
                raise Refused(route.wrong, "callback is no name of a function")
            values = given.check()
            members = await HANDLERS[key](service, {**values, LOCAL: host})
        except Refused as refused:
            ret, why = refused.args
            return self._refusal(key, ret, "; ".join(filter(None, (why, rest))))
        except Exception as error:  # noqa: BLE001  # whatever it is, the caller gets an answer
            # Its text could quote a parameter: the kind of failure is all that is logged.
            log.error("%s failed: %s", key, type(error).__name__)
            return self._refusal(key, *broken(key, error))
        return {self._code: 0, **members}

    def _check_token(self, token: str) -> None:
        service = self._service
        issued = service.tokens.get(token)
        if issued is None:
            raise Refused(602, self._wrong_token(token))
        _, expires = issued
        late = service.now() - expires
        if late >= 0:
            raise Refused(602, f"token expired {late:.0f} s ago")

    def _wrong_token(self, token: str) -> str:
        service = self._service
        keys, dialect = (service.access_key, service.secret_key), service.dialect
        for recent, _ in list(service.tokens.values())[: -RECENT_TOKENS - 1 : -1]:
            random, key = recent.random.reveal(), recent.key.reveal()
            if same(token, random) or same(token, key):
                return "this is random or key of A1, not the token that they make"
            parts = Parts(*keys, random, key)
            if found := mistakes("token", token, parts, dialect, travelled=True):
                return f"token: {'; '.join(found)}"
        if same(token, dialect.digest(*keys).reveal()):
            return "token: this is the digest of A1, not the access token"
        return "the token is unknown: another secret key, or the service has started anew"

    def _refusal(self, call: str, ret: int, why: str) -> Members:
        self._service.note(Refusal(call, ret, why))
        return self._error(ret)

    def _error(self, ret: int) -> Members:
        if ret == 0:
            return {self._code: 0}
        known = lookup(ret, self._interface)
        return {self._code: ret, self._text: known[0].meaning if known else f"error {ret}"}

    def _written(self, members: Members, callback: str | None, status: int = 200) -> Reply:
        text = _encode(members)
        if callback is None or not _CALLBACK.fullmatch(callback):
            return status, "application/json", text.encode()
        # These two end a line in older JavaScript, inside a text too.
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        return status, "application/javascript", f"{callback}({text})".encode()

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
        return status, "text/html; charset=utf-8" if html else "application/json", body
