"""A doctor's checks on the way to an interface: settings, name, TCP, TLS, and what answers."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from ..client import on_loopback
from ..endpoints import A3, B3, ENDPOINTS, Interface
from ..errors import ApiError, ProtocolError, TransportError, TransportTimeout
from ..transport import DeadlineAdapter
from ..wire import Request
from . import network
from .case import Case, Said, fails, passes, says, skips
from .inquiry import NOT_SUPPORTED

if TYPE_CHECKING:
    from ..attempt import Attempt
    from .network import Way

SETTINGS: dict[Interface, Literal["base_url", "outgoing_url"]] = {
    "A": "base_url",
    "B": "outgoing_url",
}
PORTS: dict[Interface, int] = {"A": 8080, "B": 8050}  # specified: the head of the interface
_THE_PORTS = "(the interface has A on 8080, B on 8050)"
NAME_SECONDS = 5.0
GLANCE_SECONDS = 2.0  # to find out what a port speaks
_SOON = 14  # days
_NO_TOKEN = (602, 407, 401)  # what services say to a call without a token
_TITLE = re.compile(rb"<title[^>]*>\s*(.*?)\s*</title", re.IGNORECASE | re.DOTALL)


def settings(case: Case) -> Said:
    """Whether the two addresses can be right, and where each setting came from."""
    a, b = urls = case.client.base_url, case.client.outgoing_url
    given = {"base_url": a, "outgoing_url": b, "access_key": "is given", "secret_key": "is given"}
    shown = "; ".join(f"{name} {value}{case.origin(name)}" for name, value in given.items())
    paths = [endpoint.path + "/" for endpoint in ENDPOINTS.values()]
    for setting, url in zip(SETTINGS.values(), urls, strict=True):
        path = urlsplit(url).path
        if path and any(one.startswith(path + "/") for one in paths):
            return fails(
                f"{shown}. {setting} ends with {path}, which the client adds itself.",
                f"Set {setting} to {url.removesuffix(path)} instead.",
            )
    if (_port(a), _port(b)) == (PORTS["B"], PORTS["A"]):
        return fails(
            f"{shown}. The ports have changed places: the interface has A on {PORTS['A']} and B on "
            f"{PORTS['B']} (specified).",
            f"Set base_url to {b} and outgoing_url to {a} instead.",
        )
    return passes(f"{shown}.", " ".join(_notes(case, a, b)))


def _port(url: str) -> int | None:
    parts = urlsplit(url)
    return parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _notes(case: Case, a: str, b: str) -> list[str]:
    """What is unusual, and may be meant."""
    notes, plain, kinds = [], [], []
    if a == b:
        notes.append("Both interfaces have one address, which is right only behind a proxy.")
    elif urlsplit(a).hostname != urlsplit(b).hostname:
        notes.append("The two interfaces are on different hosts.")
    for setting, url in (("base_url", a), ("outgoing_url", b)):
        parts = urlsplit(url)
        if parts.path:
            notes.append(f"{setting} has a path, which is right only behind a proxy.")
        if parts.port is None:
            notes.append(f"{setting} names no port, so it is {_port(url)}, that of {parts.scheme}.")
        if parts.scheme == "http" and not on_loopback(url):
            plain.append(setting)
        origin = case.client.origins.get(setting, "")
        kinds.append("a variable" if origin.startswith("CONFKIT_") else origin)
    if kinds[0] != kinds[1]:
        notes.append("The two addresses come from different places: see that they belong together.")
    if plain:
        notes.append(f"Tokens can be read on the way: http in {' and '.join(plain)}.")
    return notes


def name_of(case: Case, interface: Interface) -> Said:
    """Whether the host's name has an address."""
    there, seconds = case.way(interface), case.waits(NAME_SECONDS)
    with suppress(ValueError):
        ipaddress.ip_address(there.host)
        return skips(f"{there.place} is an address, so there is no name")
    try:
        found = network.in_time(lambda: network.addresses(there), seconds)
    except TimeoutError:
        case.timed_out = True
        return fails(
            f"nobody said within {seconds:g} s what {there.host} is",
            "Check this machine's name server and its network (VPN), then the spelling.",
        )
    except (OSError, UnicodeError):
        return fails(
            f"the name {there.host} has no address here",
            f"Check the spelling in {SETTINGS[interface]}, and whether this machine is in the "
            "network (VPN) that knows the name.",
        )
    return passes(f"{there.host} is {', '.join(found)}")


def tcp_to(case: Case, interface: Interface) -> Said:
    """Whether host and port accept a connection."""
    there, seconds = case.way(interface), case.waits()
    try:
        with network.opened(there, seconds) as reached:
            address = reached.getpeername()[0]
    except ConnectionRefusedError:
        return fails(
            f"{there.place} refuses connections: nothing listens at this port",
            f"Check that the service runs, and the port in {SETTINGS[interface]} {_THE_PORTS}.",
        )
    except TimeoutError:
        case.timed_out = True
        return fails(
            f"{there.place} did not accept a connection within {seconds:g} s",
            "Check host and port, and whether a firewall lies between this machine and the "
            "service: it drops what it does not let through.",
        )
    except OSError as error:
        return fails(
            f"{there.place} cannot be reached ({error.strerror or type(error).__name__})",
            "Check this machine's network (VPN) and its way to the service's host.",
        )
    at = "" if address == there.host else f" (at {address})"
    return passes(f"{there.place} accepts connections{at}")


def tls_of(case: Case, interface: Interface) -> Said:
    """Whether the port speaks TLS with a certificate that this client accepts."""
    url, session = case.url(interface), case.client.session
    if url.startswith("http:"):
        return skips("the address says http, so there is no TLS")
    there, seconds = case.way(interface), case.waits()
    if there.proxy or type(session.get_adapter(url)) is not DeadlineAdapter:
        through = "a proxy" if there.proxy else "an adapter of your own"
        return skips(f"the way leads through {through}: HTTP tells")
    merged = session.merge_environment_settings(url, {}, None, session.verify, None)
    verify = True if merged["verify"] is None else merged["verify"]
    try:
        context = network.context(verify, session.cert)
    except OSError as error:  # ssl.SSLError too
        return fails(
            f"the certificates to trust, or this client's own, cannot be read from {verify!r}"
            f" ({error.strerror or type(error).__name__})",
            "Set verify (CONFKIT_CA_BUNDLE) to a readable file of PEM certificates.",
        )
    try:
        version, certificate = network.greeted(there, context, seconds)
    except ssl.SSLCertVerificationError as error:
        return fails(*network.certificate_refused(error, there, context, seconds, verify))
    except OSError as error:
        return _no_tls(case, error, there, interface)
    if verify is False:
        return passes(
            f"{version}; the certificate was not looked at (verify=False)",
            "Set verify to the file of the authority that signed it: without that anybody on the "
            "way can pose as the service.",
        )
    until, soon = certificate.get("notAfter", ""), ""
    with suppress(ValueError):
        moment = ssl.cert_time_to_seconds(until)
        until = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
        if moment - case.now() < _SOON * 86400:
            soon = f"Ask the operator to renew the certificate: it ends on {until}."
    return passes(f"{version}, and the certificate is accepted until {until}", soon)


def _no_tls(case: Case, error: OSError, there: Way, interface: Interface) -> Said:
    setting = SETTINGS[interface]
    case.timed_out |= isinstance(error, TimeoutError)
    if network.speaks_http(there, case.waits(GLANCE_SECONDS)):
        return fails(
            f"{there.place} speaks plain HTTP, and the address says https",
            f"Write http:// in {setting}, or ask the operator for the port that speaks TLS.",
        )
    if isinstance(error, TimeoutError):
        return fails(
            f"{there.place} accepted a connection and then said nothing",
            "Ask the operator whether this port speaks TLS, and whether the service hangs.",
        )
    reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
    return fails(
        f"no TLS came about at {there.place} ({reason or type(error).__name__})",
        f"Check the port in {setting}, and ask the operator which versions of TLS it speaks and "
        "whether it wants a certificate of the client.",
    )


def http_of(case: Case, interface: Interface) -> Said:
    """Whether what answers speaks JSON as the interface does: a read without a token is answered
    with a result code, and no login is spent on that."""
    read = Request(A3, {"room_id": case.some_room}) if interface == "A" else Request(B3, {})
    asked = case.ask(read)
    headers, ret = case.headers, asked.call.ret
    if ret is not None and ret != NOT_SUPPORTED:
        found = f"it answers as interface {interface} does: JSON with the result code {ret}"
        if ret == 0:
            return passes(
                f"{found}, although no token came along",
                "Tell the operator that this service answers without a token.",
            )
        meaning = asked.error.meaning if isinstance(asked.error, ApiError) else ""
        return passes(f"{found}, {'as no token came along' if ret in _NO_TOKEN else meaning}")
    a, b = case.client.base_url, case.client.outgoing_url
    if asked.answer is not None and a != b and _is_served(case.elsewhere(read)):
        return fails(
            f"interface {interface} answers at the other address: base_url and outgoing_url have "
            "changed places",
            f"Set base_url to {b} and outgoing_url to {a} instead.",
        )
    if ret is None:
        return _foreign(case, asked, headers, interface)
    used = case.client.dialect.list_method
    other = "POST" if used == "GET" else "GET"
    posted = replace(case.client.dialect, list_method=other)
    if interface == "B" and _is_served(case.ask(read, dialect=posted)):
        found = f"it does not take B3 by {used} (408), and takes it by {other}"
        return case.wrong(found, list_method=other)
    return fails(*says(asked))


def _is_served(asked: Attempt) -> bool:
    return asked.call.ret is not None and asked.call.ret != NOT_SUPPORTED


def _foreign(case: Case, asked: Attempt, headers: Mapping[str, str], interface: Interface) -> Said:
    """What answers instead of the interface, or why nothing does."""
    setting, answer = SETTINGS[interface], asked.answer
    closed = answer is None and not isinstance(asked.error, TransportTimeout)
    if case.url(interface).startswith("http:") and (closed or (answer and answer.status == 400)):
        there = case.way(interface)
        if there.proxy is None and network.speaks_tls(there, case.waits(GLANCE_SECONDS)):
            tls = "the port speaks TLS, and the address says http"
            return fails(tls, f"Write https:// in {setting}.")
    said, step = says(asked)
    if answer is None and isinstance(asked.error, TransportError) and "HTTP" in said:
        step = f"Check the port in {setting}: another kind of service listens."
    if answer is None:
        return fails(said, step)
    status = f"(HTTP {answer.status})"
    if 300 <= answer.status < 400:
        return _redirect(status, headers.get("Location", ""), setting)
    for header, who in (("Proxy-Authenticate", "a proxy"), ("WWW-Authenticate", "a web server")):
        if header in headers:
            return fails(
                f"{who} before the service wants a login of its own {status}",
                "Ask the operator for the way around it; proxies stand in the environment's "
                "HTTP_PROXY, HTTPS_PROXY and NO_PROXY.",
            )
    page = _page(answer.body) if isinstance(asked.error, ProtocolError) else ""
    if page and answer.status >= 500:
        return fails(
            f"{page} {status}: a gateway answers that what is behind it fails",
            "Ask the operator whether the service behind the gateway runs.",
        )
    if page:
        return fails(
            f"{page} {status}: a web server or a proxy answers, not the interface",
            f"Check host, port and path in {setting} {_THE_PORTS}, and whether a proxy asks for a "
            "login first: open the address in a browser.",
        )
    return fails(said, step)


def _redirect(status: str, location: str, setting: str) -> Said:
    try:
        target = urlsplit(location)
    except ValueError:  # no address at all
        target = urlsplit("")
    found = f"it redirects {status} to"
    if not target.netloc:
        return fails(
            f"{found} {target.path or 'nowhere'}",
            "A redirect is not followed with a token: ask the operator for the address of the "
            "interface itself.",
        )
    place = f"{target.scheme}://{target.netloc}"
    path = (A3 if setting == "base_url" else B3).path
    if target.path.endswith(path):
        place += target.path.removesuffix(path)
        why = "a redirect is not followed with a token."
        return fails(f"{found} {place}", f"Set {setting} to {place}: {why}")
    return fails(
        f"{found} {place}{target.path}, most likely a login page of a proxy or another site",
        f"Check {setting}; where a proxy wants a login, ask the operator for the way around it.",
    )


def _page(whole: bytes) -> str:
    """What an HTML page is, by its title; empty when it is none."""
    body = whole[:4096]
    if not body.lstrip().startswith(b"<"):
        return ""
    title = _TITLE.search(body)
    kind = "a login page" if re.search(rb'type=["\']?password', body, re.IGNORECASE) else "a page"
    text = " ".join(unescape(title[1].decode("utf-8", "replace")).split())[:60] if title else ""
    text = "".join(letter for letter in text if letter.isprintable())
    return f"{kind} titled {text!r}" if text else kind
