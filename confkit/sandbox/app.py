"""The web application of one port: routes, faults, token and parameters, and how answers look."""

import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .. import codes
from ..endpoints import ENDPOINTS, Endpoint
from . import explain, parameters
from .faults import Fault, Faults
from .identity import same
from .operations import OPERATIONS, broken
from .service import LOCAL, Refused, Service

BODY_BYTES = 256 * 1024
RECENT_TOKENS = 8  # against so many a wrong token is held, to say what is wrong with it
_CALLBACK = re.compile(r"[A-Za-z_$][\w$.]*", re.ASCII)

_HEADERS = {"x-content-type-options": "nosniff"}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

log = logging.getLogger("confkit.sandbox")


class Reply(NamedTuple):
    """What goes out: HTTP status, content type, body."""

    status: int
    content_type: str
    body: bytes


class App:
    """The ASGI application of interface A or B; what it cannot answer it drops."""

    def __init__(
        self,
        interface: str,
        service: Service,
        faults: Faults,
        counts: Counter[str],
        latency: float,
        patience: float,
    ) -> None:
        self._interface = interface
        self._service = service
        self._faults = faults
        self._counts = counts
        self._latency = latency
        self.patience = patience  # seconds in which a head, or a body, has to come
        self._endpoints = {
            endpoint.path: (
                endpoint,
                parameters.method(endpoint, service.dialect),
                parameters.token_name(endpoint, service.dialect),
            )
            for endpoint in ENDPOINTS.values()
            if endpoint.interface == interface
        }
        in_b = interface == "B"
        self.wrong = 401 if in_b else 407  # the code of wrong parameters
        self._code = service.dialect.result_field if in_b else "ret"
        self._text = "err" if in_b else "msg"
        self.closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            return
        try:
            reply = None if self.closing else await self._reply(Request(scope, receive))
        except (asyncio.CancelledError, ClientDisconnect):
            reply = None  # the sandbox closes, or the caller is gone
        if reply is None:
            scope["state"]["transport"].abort()
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await Response(reply.body, reply.status, _HEADERS, reply.content_type)(scope, receive, send)

    def unreadable(self, ret: int, why: str) -> bytes:
        """The answer to a caller of whom no request was read."""
        return self._written(self._refusal("", Refused(ret, why)), None).body

    async def _reply(self, request: Request) -> Reply | None:
        path = request.scope["path"]
        if self._latency:
            await asyncio.sleep(self._latency)
        found = self._endpoints.get(path)
        self._counts["" if found is None else path] += 1
        try:
            pairs = parameters.query(request.scope["query_string"])
        except ValueError:
            why = f"there are more than {parameters.PARAMETERS:,} parameters"
            return self._written(self._refusal("", Refused(self.wrong, why)), None)
        callback = parameters.callback(pairs)
        if found is None or request.method != found[1]:
            methods = {known: method for known, (_, method, _) in self._endpoints.items()}
            why = explain.wrong_route(path, request.method, self._interface, methods)
            return self._written(self._refusal("", Refused(408, why)), callback)
        endpoint = found[0]
        fault = self._faults.take(path)
        if fault is None:
            return self._written(await self._answer(request, pairs, *found), callback)
        members = None
        if fault.after:
            members = await self._answer(request, pairs, *found)
        await asyncio.sleep(fault.delay)
        if fault.waits_only:
            return self._written(members or await self._answer(request, pairs, *found), callback)
        self._service.note(f"{endpoint.key}: a fault on demand")
        return self._faulty(fault, callback)

    async def _answer(
        self,
        request: Request,
        pairs: list[tuple[str, str]],
        endpoint: Endpoint,
        method: str,
        token_name: str | None,
    ) -> dict[str, Any]:
        rest = ""
        try:
            place, body, content_type = "query", b"", ""
            if method == "POST":
                place = self._service.dialect.placement
                body = await _body(request, self.patience)
                content_type = request.headers.get("content-type", "")
            given = parameters.find(pairs, body, content_type, place)
            if token_name:
                self._check_token(endpoint, token_name, given)
            raw = request.scope["query_string"] if place == "query" else body
            rest = parameters.rest_of_address(endpoint, given, raw)
            callback = parameters.callback(pairs)
            if callback is not None and not _CALLBACK.fullmatch(callback):
                raise Refused(self.wrong, "callback is no name of a function")
            values = parameters.check(endpoint, given)
            for name in parameters.empty(endpoint, given):
                self._service.remark(f"{endpoint.key}: {name} came empty")
            values[LOCAL] = request.scope["server"][0]
            members = await OPERATIONS[endpoint.key](self._service, values)
        except Refused as refused:
            why = f"{refused.why}; {rest}" if rest else refused.why
            return self._refusal(endpoint.key, Refused(refused.ret, why))
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the caller gets an answer
            # Its text could quote a parameter: the kind of failure is all that is logged.
            log.error("%s failed: %s", endpoint.key, type(error).__name__)
            return self._refusal(endpoint.key, broken(endpoint.key, error))
        if rest:
            self._service.remark(f"{endpoint.key}: {rest}")
        return {self._code: 0, **members}

    def _check_token(self, endpoint: Endpoint, name: str, given: parameters.Given) -> None:
        token = given.values.get(name)
        if name in given.twice:
            raise Refused(602, f"{name} is given twice")
        if token is None:
            raise Refused(602, parameters.absent_token(endpoint, name, given))
        if not isinstance(token, str) or not token:
            raise Refused(602, f"{name} is empty" if token == "" else f"{name} is not a text")
        tokens = self._service.tokens
        issued = tokens.find(token)
        if issued is None:
            raise Refused(602, self._wrong_token(token))
        late = tokens.late(issued)
        if late >= 0:
            raise Refused(602, f"token expired {late:.0f} s ago")

    def _wrong_token(self, token: str) -> str:
        service = self._service
        for issued in service.tokens.recent(RECENT_TOKENS):
            parts = (issued.random, issued.key)
            if sum(same(token, part) for part in parts):  # each, in the same time
                return "this is random or key of A1, not the token that they make"
            why = explain.wrong_signature(token, service.secret_key, parts, service.dialect)
            if why:
                return f"token: {why}"
        key = (service.access_key,)
        if explain.is_signature(token, service.secret_key, key, service.dialect):
            return "this is the digest of A1, not the access token"
        return "the token is unknown: another secret key, or the service has started anew"

    def _refusal(self, key: str, refused: Refused) -> dict[str, Any]:
        self._service.note(f"{key or self._interface} {refused.ret}: {refused.why}")
        return self._error(refused.ret)

    def _error(self, ret: int) -> dict[str, Any]:
        if ret == 0:
            return {self._code: 0}
        known = codes.lookup(ret, self._interface)
        return {self._code: ret, self._text: known[0].meaning if known else f"error {ret}"}

    def _written(
        self, members: Mapping[str, Any], callback: str | None, status: int = 200
    ) -> Reply:
        text = _encode(members)
        if callback is not None and _CALLBACK.fullmatch(callback):
            # These two end a line in older JavaScript, inside a text too.
            text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
            return Reply(status, "application/javascript", f"{callback}({text})".encode())
        return Reply(status, "application/json", text.encode())

    def _faulty(self, fault: Fault, callback: str | None) -> Reply | None:
        if fault.drop:
            return None
        status = fault.http or 200
        if fault.ret is not None:
            return self._written(self._error(fault.ret), callback, status)
        body = fault.body
        if body is None:
            body = b"<html><body><h1>%d</h1></body></html>" % status
        if status in (204, 304):
            body = b""
        html = body.lstrip().startswith(b"<")
        return Reply(status, "text/html" if html else "application/json", body)


async def _body(request: Request, seconds: float) -> bytes:
    body = b""
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_BYTES:
                    raise Refused(401, f"the body is larger than {BODY_BYTES} bytes")
    except TimeoutError:
        raise Refused(401, f"the body did not come within {seconds:g} s") from None
    return body
