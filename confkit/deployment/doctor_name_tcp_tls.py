"""The doctor's checks of the way to a service: its settings, name, TCP, TLS, and whether what
answers by HTTP is the interface.

One exchange with each interface settles all stages of its way: what kept it from being answered is
known to the libraries that moved it, and stands in the error as its `obstacle`.
"""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from requests.utils import select_proxy

from ..client import on_loopback
from ..endpoints import ENDPOINTS, Interface
from ..errors import ApiError, TransportError, TransportTimeout
from .doctor_case import SAYS, SETTINGS, Case, Said, answered, say
from .questions import NOT_SUPPORTED

if TYPE_CHECKING:
    from ..attempt import Attempt

Stage = Literal["name", "TCP", "TLS", "HTTP"]

_SOON = 14  # days
_NO_TOKEN = (602, 407, 401)  # what services say to a call without a token
# The stage at which an obstacle of a TransportError stands; the others stand behind TLS.
_STAGES: dict[str, Stage] = {
    "name": "name",
    "refused": "TCP",
    "unreached": "TCP",
    "unreachable": "TCP",
    "proxy": "TCP",
    "certificate": "TLS",
    "tls": "TLS",
}


def settings(case: Case) -> Said:
    """Whether the two addresses can be right, and where each setting came from."""
    a, b = urls = case.client.base_url, case.client.outgoing_url
    given = {"base_url": a, "outgoing_url": b, "access_key": "is given", "secret_key": "is given"}
    shown = "; ".join(f"{name} {value}{case.origins(name)}" for name, value in given.items())
    paths = [endpoint.path + "/" for endpoint in ENDPOINTS.values()]
    for setting, url in zip(SETTINGS.values(), urls, strict=True):
        path = urlsplit(url).path
        if path and any(one.startswith(path + "/") for one in paths):
            right = url.removesuffix(path)
            return say("settings.path", shown=shown, setting=setting, path=path, right=right)
    if (urlsplit(a).port, urlsplit(b).port) == (8050, 8080):
        return say("settings.ports", shown=shown, a=a, b=b)
    return say("settings.well", shown=shown, notes=" ".join(_notes(a, b)))


def _notes(a: str, b: str) -> Iterator[str]:
    """What is unusual, and may be meant."""
    if a == b:
        yield "Both interfaces have one address, which is right only behind a proxy."
    elif urlsplit(a).hostname != urlsplit(b).hostname:
        yield "The two interfaces are on different hosts."
    plain = []
    for setting, url in (("base_url", a), ("outgoing_url", b)):
        parts = urlsplit(url)
        if parts.path or parts.port is None:
            yield f"{setting} has a path or no port, which is right only behind a proxy."
        if parts.scheme == "http" and not on_loopback(url):
            plain.append(setting)
    if plain:
        yield f"Tokens can be read on the way: http in {' and '.join(plain)}."


def stage(case: Case, interface: Interface, name: Stage) -> Said:
    """Whether one stage of the way to an interface is well, by the first exchange with it."""
    url, session = case.url(interface), case.client.session
    merged = session.merge_environment_settings(url, {}, None, session.verify, None)
    parts, verify = urlsplit(url), merged["verify"]
    proxied = select_proxy(url, merged["proxies"])
    known = {"host": parts.hostname, "place": parts.netloc, "setting": SETTINGS[interface]}
    known["proxy"] = urlsplit(proxied or "").netloc.rpartition("@")[2] or proxied
    if name == "name" and proxied:
        return say("name.proxied")
    if name == "name" and _is_address(str(parts.hostname)):
        return say("name.none", **known)
    if name == "TLS" and url.startswith("http:"):
        return say("TLS.none")
    if isinstance(verify, str) and url.startswith("https:") and not _readable(verify):
        return say(f"bundle.{'unread' if name == 'TLS' else 'unasked'}", bundle=verify)
    asked, seen = case.first(interface)
    error = asked.error
    if isinstance(error, TransportError):
        behind: Stage = "TLS" if url.startswith("https:") else "HTTP"
        if name == _STAGES.get(error.obstacle, behind):
            case.timed_out |= isinstance(error, TransportTimeout)
            return _stopped(case, asked, error, url, known)
    if name == "name":
        at = f": {seen.address}" if seen.address else ""
        return say("name.well", at=at, **known)
    if name == "TCP":
        return say("TCP.proxied" if proxied else "TCP.well", **known)
    if name == "TLS" and verify is False:
        return say("TLS.unverified", tls=seen.tls or "TLS")
    if name == "TLS":
        return _valid(case, seen.tls, seen.certificate)
    return _answer(case, asked, seen.headers, interface)


def _readable(bundle: str) -> bool:
    try:
        ssl.create_default_context().load_verify_locations(bundle)
    except IsADirectoryError:  # a folder of certificates
        return True
    except OSError:  # ssl.SSLError too
        return False
    return True


def _valid(case: Case, tls: str, certificate: Mapping[str, str]) -> Said:
    until, row = "", "TLS.well"
    with suppress(KeyError, ValueError):
        moment = ssl.cert_time_to_seconds(certificate["notAfter"])
        until = datetime.fromtimestamp(moment, UTC).strftime(" until %Y-%m-%d")
        row = "TLS.soon" if moment - case.now() < _SOON * 86400 else row
    return say(row, tls=tls or "TLS", until=until)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _stopped(
    case: Case, asked: Attempt, error: TransportError, url: str, known: dict[str, str | None]
) -> Said:
    """What kept the first exchange from being answered."""
    obstacle, known = error.obstacle, {**known, "cause": error.cause}
    if obstacle == "certificate":
        steps = SAYS["certificate"].items()
        step = next(step for said, step in steps if re.search(said, error.cause))
        return say("obstacle.certificate", cause=error.cause, step=step)
    if url.startswith("https:") and obstacle not in SAYS["obstacle"].keys() - {"tls", "foreign"}:
        plain = case.ask_at(url.replace("https:", "http:", 1), asked.request)
        # A TLS port may say in plain HTTP that it is none: 400, and no answer of the interface.
        refused = plain.answer is not None and plain.answer.status == 400 and plain.call.ret is None
        secure = plain.answer is None or refused
        return say("obstacle.tls" if secure else "other.plain", **known)
    if obstacle in SAYS["obstacle"].keys() - {"foreign"}:
        return say(f"obstacle.{obstacle}", **known)
    if not isinstance(error, TransportTimeout) and _speaks_tls(case, url, asked):
        return say("other.secure", **known)
    return say("obstacle.foreign", **known) if obstacle == "foreign" else answered("FAIL", asked)


def _speaks_tls(case: Case, url: str, asked: Attempt) -> bool:
    secure = case.ask_at(url.replace("http:", "https:", 1), asked.request)
    return secure.answer is not None or getattr(secure.error, "obstacle", "") == "certificate"


def _answer(case: Case, asked: Attempt, headers: Mapping[str, str], interface: Interface) -> Said:
    """Whether what answers speaks JSON as the interface does."""
    ret, answer, said = asked.call.ret, asked.answer, answered("FAIL", asked)
    if _is_served(asked):
        meaning = asked.error.meaning if isinstance(asked.error, ApiError) else ""
        why = "as no token came along" if ret in _NO_TOKEN else meaning
        row = "HTTP.open" if ret == 0 else "HTTP.well"
        return say(row, interface=interface, ret=ret, why=why)
    a, b = case.client.base_url, case.client.outgoing_url
    if a != b and _is_served(case.ask_at(b if interface == "A" else a, asked.request)):
        return say("settings.swapped", interface=interface, a=a, b=b)
    if ret is None and answer is not None:
        url, setting = case.url(interface), SETTINGS[interface]
        if url.startswith("http:") and answer.status == 400 and _speaks_tls(case, url, asked):
            return say("other.secure", setting=setting)
        goal = headers.get("Location", "").partition("?")[0]
        base = goal.removesuffix(asked.request.endpoint.path)
        moved = answer.status in range(300, 400) and base != goal
        status = answer.status
        return say("other.moved", status=status, setting=setting, goal=base) if moved else said
    used = case.client.dialect.list_method
    other = "POST" if used == "GET" else "GET"
    posted = replace(case.client.dialect, list_method=other)
    if interface == "B" and _is_served(case.ask(asked.request, dialect=posted)):
        found = f"it does not take B3 by {used} (408), and takes it by {other}"
        return case.wrong(found, list_method=other)
    return said


def _is_served(asked: Attempt) -> bool:
    return asked.call.ret not in (None, NOT_SUPPORTED)
