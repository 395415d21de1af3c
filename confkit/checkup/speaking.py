"""Whether what answers at an address is the interface, asked without any token."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..endpoints import A3, B3, Endpoint, Interface
from ..errors import ApiError, ProtocolError, TransportError, TransportTimeout
from ..wire import Request
from .case import SETTINGS, Heard
from .encryption import GLANCE_SECONDS, speaks_tls
from .mending import set_dialect, told
from .reaching import way

if TYPE_CHECKING:
    from ..checklist import Check
    from .case import Case

NO_ROOM = "999999999999999"  # a number that no room should have
_UNKNOWN = 408  # specified: HTTP request not supported
_NO_TOKEN = (602, 407, 401)  # what services say to a call without a token
_TITLE = re.compile(rb"<title[^>]*>\s*(.*?)\s*</title", re.IGNORECASE | re.DOTALL)


def question(interface: Interface) -> Request:
    """A read of an interface, to be sent without a token: what answers it with a result code is
    the interface, and no login is spent on that."""
    endpoint: Endpoint = A3 if interface == "A" else B3
    return Request(endpoint, {"room_id": NO_ROOM} if interface == "A" else {})


def http_of(case: Case, name: str, interface: Interface) -> Check:
    """Whether what answers speaks JSON as the interface does."""
    heard = case.ask(question(interface))
    if heard.ret is not None and heard.ret != _UNKNOWN:
        found = f"it answers as interface {interface} does: JSON with the result code {heard.ret}"
        if heard.ret == 0:
            return case.check(
                name, "PASS", f"{found}, although no token came along",
                "Tell the operator that this service answers without a token.",
            )  # fmt: skip
        why = "as no token came along" if heard.ret in _NO_TOKEN else _meaning(heard)
        return case.check(name, "PASS", f"{found}, {why}")
    if heard.answer is not None and _is_swapped(case, interface):
        return case.check(
            name, "FAIL",
            f"interface {interface} answers at the other address: base_url and outgoing_url have "
            "changed places",
            f"Set base_url to {case.client.outgoing_url} and outgoing_url to "
            f"{case.client.base_url} instead.",
        )  # fmt: skip
    if heard.ret == _UNKNOWN:
        return case.check(name, "FAIL", *_not_supported(case, heard, interface))
    return case.check(name, "FAIL", *_foreign(case, heard, interface))


def _meaning(heard: Heard) -> str:
    return heard.error.meaning if isinstance(heard.error, ApiError) else "success"


def _is_swapped(case: Case, interface: Interface) -> bool:
    if case.client.base_url == case.client.outgoing_url:
        return False
    ret = case.elsewhere().ask(question(interface)).ret
    return ret is not None and ret != _UNKNOWN


def _not_supported(case: Case, heard: Heard, interface: Interface) -> tuple[str, str]:
    if interface == "B":
        used = case.client.dialect.list_method
        other = "POST" if used == "GET" else "GET"
        answer = case.ask(question("B"), dialect=replace(case.client.dialect, list_method=other))
        if answer.ret is not None and answer.ret != _UNKNOWN:
            changed = {"list_method": other}
            return (
                f"it does not take B3 by {used} (408), and takes it by {other} ({told(changed)})",
                set_dialect(case, changed),
            )
    return heard.told, heard.advice


def _foreign(case: Case, heard: Heard, interface: Interface) -> tuple[str, str]:
    """What answers instead of the interface, or why nothing does."""
    setting, url, answer = SETTINGS[interface], case.url(interface), heard.answer
    closed = answer is None and not isinstance(heard.error, TransportTimeout)
    if url.startswith("http:") and (closed or (answer is not None and answer.status == 400)):
        there = way(case, interface)
        if there.proxy is None and speaks_tls(there, case.patience(GLANCE_SECONDS)):
            return (
                "the port speaks TLS, and the address says http",
                f"Write https:// in {setting}.",
            )
    if answer is None:
        if isinstance(heard.error, TransportError) and "HTTP" in heard.told:
            return heard.told, f"Check the port in {setting}: another kind of service listens."
        return heard.told, heard.advice
    if 300 <= answer.status < 400:
        return _redirect(heard, setting)
    for header, who in (("Proxy-Authenticate", "a proxy"), ("WWW-Authenticate", "a web server")):
        if header in heard.headers:
            return (
                f"{who} before the service wants a login of its own (HTTP {answer.status})",
                "Ask the operator for the way around it; proxies stand in the environment's "
                "HTTP_PROXY, HTTPS_PROXY and NO_PROXY.",
            )
    page = _page(heard)
    if page and answer.status >= 500:
        return (
            f"{page} (HTTP {answer.status}): a gateway answers that what is behind it fails",
            "Ask the operator whether the service behind the gateway runs.",
        )
    if page:
        return (
            f"{page} (HTTP {answer.status}): a web server or a proxy answers, not the interface",
            f"Check host, port and path in {setting} (the interface has A on 8080, B on 8050), and "
            "whether a proxy asks for a login first: open the address in a browser.",
        )
    return heard.told, heard.advice


def _redirect(heard: Heard, setting: str) -> tuple[str, str]:
    answer = heard.answer
    status = answer.status if answer else 0
    try:
        target = urlsplit(heard.headers.get("Location", ""))
    except ValueError:  # no address at all
        target = urlsplit("")
    place = f"{target.scheme}://{target.netloc}" if target.netloc else ""
    if not place:
        return (
            f"it redirects (HTTP {status}) to {target.path or 'nowhere'}",
            "A redirect is not followed with a token: ask the operator for the address of the "
            "interface itself.",
        )
    endpoint = A3 if setting == "base_url" else B3
    if target.path.endswith(endpoint.path):
        place += target.path.removesuffix(endpoint.path)
        return (
            f"it redirects (HTTP {status}) to {place}",
            f"Set {setting} to {place}: a redirect is not followed with a token.",
        )
    return (
        f"it redirects (HTTP {status}) to {place}{target.path}, most likely a login page of a "
        "proxy or another site",
        f"Check {setting}; where a proxy wants a login, ask the operator for the way around it.",
    )


def _page(heard: Heard) -> str:
    """What an HTML page is, by its title; empty when it is none."""
    if not isinstance(heard.error, ProtocolError) or heard.answer is None:
        return ""
    body = heard.answer.body[:4096]
    if not body.lstrip().startswith(b"<"):
        return ""
    title = _TITLE.search(body)
    kind = "a login page" if re.search(rb'type=["\']?password', body, re.IGNORECASE) else "a page"
    text = " ".join(unescape(title[1].decode("utf-8", "replace")).split())[:60] if title else ""
    text = "".join(letter for letter in text if letter.isprintable())
    return f"{kind} titled {text!r}" if text else kind
