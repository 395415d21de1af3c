"""What the session's settings are in libcurl's terms, and libcurl's outcomes in ours."""

from __future__ import annotations

import errno
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH, select_proxy

from .deadline import DeadlineAdapter
from .masking import mask
from .transport import LARGEST, headers_of, no_answer
from .wire import Answer

if TYPE_CHECKING:
    from .errors import TransportError
    from .wire import Written

try:
    pycurl: Any = import_module("pycurl")
except ImportError:  # a machine without it: the session in threads does the same
    pycurl = None


class Settings(NamedTuple):
    """What the session says about one address."""

    headers: dict[str, str]
    proxy: str
    verify: bool | str
    cert: str | tuple[str, str] | None


def settings_of(session: requests.Session, written: Written) -> Settings | None:
    """The session's settings for an address, or None where libcurl cannot stand in for it."""
    plain = type(session) is requests.Session and type(session.auth) in (type(None), tuple)
    changed = {"send", "request", "prepare_request", "get_adapter"} & set(vars(session))
    if pycurl is None or not plain or changed or any(session.hooks.values()) or session.params:
        return None
    if type(session.get_adapter(written.address)) is not DeadlineAdapter:
        return None
    request = requests.Request(written.method, written.address, headers=headers_of(written))
    prepared = session.prepare_request(request)  # login and cookies of the session are in it
    merged = session.merge_environment_settings(
        written.address, {}, True, session.verify, session.cert
    )
    proxy = select_proxy(written.address, merged["proxies"]) or ""
    if "://" in proxy and not proxy.lower().startswith(("http://", "https://")):
        return None  # SOCKS, for which requests wants a package of its own
    return Settings(
        headers={name: _plain(value) for name, value in prepared.headers.items()},
        proxy=proxy,
        verify=merged["verify"] is not False and (merged["verify"] or True),
        cert=merged["cert"],
    )


def _plain(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


class Ended(NamedTuple):
    """A transfer that has ended: libcurl's code, 0 when all went well, and its words."""

    curl: Any
    code: int
    told: str
    body: bytes
    proxy: str


def handle(settings: Settings, timeout: tuple[float, float], method: str) -> Any:
    """A new easy handle with these settings."""
    curl = pycurl.Curl()
    headers = {name.lower(): value for name, value in settings.headers.items()}
    encodings = headers.pop("accept-encoding", "identity").replace(",", " ").split()
    headers.pop("content-length", None)
    headers.setdefault("expect", "")  # libcurl's own wait before a large body
    headers.setdefault("content-type", "")  # libcurl's own for a POST
    lines = [f"{name}: {value}" if value else f"{name}:" for name, value in headers.items()]
    values = {
        pycurl.HTTPHEADER: lines,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.NOSIGNAL: 1,
        pycurl.PROXY: settings.proxy,  # empty: none, whatever the environment says
        pycurl.NOPROXY: "",  # the session knows who needs none
        pycurl.CONNECTTIMEOUT_MS: max(1, round(1000 * timeout[0])),
        pycurl.TIMEOUT_MS: max(1, round(1000 * sum(timeout))),
        pycurl.SSL_VERIFYPEER: 1 if settings.verify else 0,
        pycurl.SSL_VERIFYHOST: 2 if settings.verify else 0,
        # Of what the session can unpack, with the packages that are there, libcurl surely can this.
        pycurl.ACCEPT_ENCODING: ", ".join(name for name in encodings if name not in ("br", "zstd")),
    }
    for option, value in values.items():
        curl.setopt(option, value)
    if settings.verify:
        _trust(curl, settings.verify, settings.proxy.startswith("https:"))
    if settings.cert:
        pair = (settings.cert, None) if isinstance(settings.cert, str) else settings.cert
        curl.setopt(pycurl.SSLCERT, pair[0])
        if pair[1]:
            curl.setopt(pycurl.SSLKEY, pair[1])
    if method == "POST":
        curl.setopt(pycurl.POSTFIELDS, "")
    return curl


def _trust(curl: Any, verify: bool | str, proxy: bool) -> None:
    """Trusts what is in this file or folder, and not what libcurl would trust by itself."""
    bundle = verify if isinstance(verify, str) else DEFAULT_CA_BUNDLE_PATH
    file, folder = (None, bundle) if Path(bundle).is_dir() else (bundle, None)
    options = [(pycurl.CAINFO, file), (pycurl.CAPATH, folder)]
    if proxy:
        options += [(pycurl.PROXY_CAINFO, file), (pycurl.PROXY_CAPATH, folder)]
    for option, value in options:
        if value is None:
            curl.unsetopt(option)
        else:
            curl.setopt(option, value)


# Codes of libcurl by the obstacle that they tell of; names that older versions of pycurl lack are
# written as numbers.
_OBSTACLES = {
    1: "foreign", 5: "proxy", 6: "name", 7: "unreachable", 8: "broken", 18: "closed",
    35: "tls", 51: "certificate", 52: "closed", 58: "tls", 59: "tls", 60: "certificate",
    77: "tls", 97: "proxy",
}  # fmt: skip
_CUT = (18, 23, 56, 61)  # after the head: the body ends early, or cannot be unpacked
_LATE, _CONNECT, _SEND, _RECEIVE = 28, 7, 55, 56


def outcome(
    ended: Ended, address: str, timeout: tuple[float, float], secrets: tuple[str, ...]
) -> Answer | TransportError:
    """What a transfer that has ended comes to: the answer, cut off or not, or why there is none."""
    curl, code = ended.curl, ended.code
    status = curl.getinfo(pycurl.RESPONSE_CODE)
    large = len(ended.body) > LARGEST
    if code and (large or not (status and code in _CUT)):
        obstacle = "large" if large else _obstacle(ended, status)
        number = curl.getinfo(pycurl.OS_ERRNO)
        why = os.strerror(number) if number else mask(ended.told, *secrets)
        return no_answer(obstacle, address, timeout, secrets, why or f"libcurl: {code}")
    return Answer(status, "", ended.body, 0.0, secrets, whole=not code)


def _obstacle(ended: Ended, status: int) -> str:
    curl, code = ended.curl, ended.code
    if code == _LATE and status:
        return "unfinished"
    if code == _LATE:
        connected = curl.getinfo(pycurl.NUM_CONNECTS) or curl.getinfo(pycurl.REQUEST_SIZE)
        return "unanswered" if connected else "unreached"
    if curl.getinfo(pycurl.HTTP_CONNECTCODE) >= 300 or (ended.proxy and code == _CONNECT):
        return "proxy"
    number = curl.getinfo(pycurl.OS_ERRNO)
    if code == _CONNECT and number == errno.ECONNREFUSED:
        return "refused"
    if code in (_SEND, _RECEIVE) and number in (errno.ECONNRESET, errno.EPIPE):
        return "reset"
    if code in (_SEND, _RECEIVE) and "SSL" in ended.told:
        return "tls"
    return _OBSTACLES.get(code, "broken")
