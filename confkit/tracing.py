"""What OpenTelemetry and Sentry record of a call, where they are loaded: its masked `Call`.

Their instrumentations of requests, urllib3 and http.client record whole URLs, and a URL holds the
token. They are told to look away while a request is sent, and given its `Call` afterwards. Neither
library is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from .calls import Call

_SUPPRESSING = ("suppress_instrumentation", "suppress_http_instrumentation")
_FAILED = 500  # HTTP: from here on the service's own failures


@contextmanager
def unobserved() -> Iterator[None]:
    """Within it, in this thread, no instrumentation of HTTP records or changes what is sent."""
    with ExitStack() as ending:
        utils = sys.modules.get("opentelemetry.instrumentation.utils")
        for name in _SUPPRESSING:
            if hasattr(utils, name):
                ending.enter_context(getattr(utils, name)())
        if (sentry := _sentry()) is not None:
            scope = ending.enter_context(sentry.new_scope())
            # Not `set_client`, which would write this one's settings into the global scope.
            scope.client = _without_integrations(sentry)
        yield


def traced() -> bool:
    """Whether OpenTelemetry is loaded, is set up, and takes spans of HTTP calls here."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return False
    utils = sys.modules.get("opentelemetry.instrumentation.utils")
    wanted = getattr(utils, "is_http_instrumentation_enabled", None)
    unset = (trace.ProxyTracerProvider, trace.NoOpTracerProvider)
    return not isinstance(trace.get_tracer_provider(), unset) and (wanted is None or wanted())


def to_opentelemetry(call: Call) -> None:
    """Give OpenTelemetry a finished span of the call, beneath the span that is current here."""
    if not traced():
        return
    trace: Any = sys.modules["opentelemetry.trace"]
    there = urlsplit(call.address)
    attributes = {
        "http.request.method": call.method, "url.full": call.url, "server.address": there.hostname,
        "server.port": there.port, "http.response.status_code": call.status,
        "confkit.call": call.endpoint, "confkit.ret": None if call.ret is None else str(call.ret),
    }  # fmt: skip
    began = int(1e9 * call.time.timestamp())
    with suppress(Exception):  # a processor that fails is no failure of the call
        span = trace.get_tracer("confkit").start_span(
            f"{call.method} {there.path}", kind=trace.SpanKind.CLIENT, start_time=began,
            attributes={name: value for name, value in attributes.items() if value is not None},
        )  # fmt: skip
        if call.error:
            span.set_status(trace.StatusCode.ERROR, call.error)
        span.end(began + int(1e9 * call.seconds))


def reported() -> bool:
    """Whether Sentry takes what is told here."""
    return _sentry() is not None


def to_sentry(call: Call) -> None:
    """Give Sentry a breadcrumb of the call, and a span where one is open."""
    sentry: Any = sys.modules["sentry_sdk"]
    name = f"{call.method} {urlsplit(call.address).path}"
    data = {"url": call.url, "method": call.method, "status_code": call.status, "ret": call.ret}
    level = "info"
    if call.error:
        level = "warning" if call.status is not None and call.status < _FAILED else "error"
    with suppress(Exception):  # a hook that fails is no failure of the call
        sentry.add_breadcrumb(
            type="http", category="confkit", message=call.error or name, level=level, data=data,
            timestamp=call.time,
        )  # fmt: skip
        if hasattr(around := sentry.get_current_span(), "start_child"):
            span = around.start_child(op="http.client", name=name, start_timestamp=call.time)
            for key, value in data.items():
                span.set_data(key, value)
            if call.status is not None:
                span.set_http_status(call.status)
            span.finish(end_timestamp=call.time + timedelta(seconds=call.seconds))


def _sentry() -> ModuleType | None:
    """Sentry's SDK where it is loaded, knows scopes (from 2.0 on) and is set up."""
    sentry = sys.modules.get("sentry_sdk")
    if sentry is None or not hasattr(sentry, "new_scope"):
        return None
    return sentry if sentry.get_client().is_active() else None


def _without_integrations(sentry: ModuleType) -> Any:
    """A client that passes for one that is set up and has no integration, so that none records."""
    kind = type("Unobserving", (sentry.client.NonRecordingClient,), {"is_active": lambda _: True})
    return kind()
