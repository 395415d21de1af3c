"""RTSP addresses: a URL in, its parts out, and the login that goes with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from .auth import Login
from .errors import RtspError

DEFAULT_PORTS = {"rtsp": 554, "rtsps": 322}

_URL = re.compile(
    r"""(?ix) (?P<scheme> rtsps? ) :// (?: (?P<login> [^/?]* ) @ )?
    (?P<host> \[ [0-9a-f:.]+ (?: % [\w.-]+ )? \] | [^\[\]:/?@]+ ) (?: : (?P<port> [0-9]{0,5} ) )?
    (?P<path> [/?] [^@]* )?"""
)
# Control characters and lone surrogates; some surrogates stand for bytes, and can be sent.
_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]")
_ESCAPE_HINT = "write @ # ? / and % in a login, and @ in a path, as %40 %23 %3F %2F and %25"


@dataclass(frozen=True)
class Address:
    """The parts of an RTSP URL, the login percent-decoded."""

    scheme: str
    host: str
    port: int
    path: str = field(repr=False)  # many cameras take a password in the query
    login_name: str | None = None
    login_password: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The URL for request lines: always with the port, never with the login."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_address(url: str) -> Address:
    """Return the parts of an rtsp or rtsps URL; path and query are not decoded.

    The login ends at the last `@` before the path. ValueError: one sentence, which never quotes the
    URL.
    """
    url = url.strip()
    if not re.match("rtsps?://", url, re.IGNORECASE):
        raise ValueError("The address does not start with rtsp:// or rtsps://.")
    if " " in url or not url.isprintable():
        raise ValueError(
            "The address contains a space or an invisible character: type it again (space: %20)."
        )
    if "#" in url:
        raise ValueError(
            "The part after # is an option of another program, not part of the address: remove it; "
            "write a # in a login or path as %23."
        )
    # An @ in the path usually belongs to a password with an unescaped / or ?: nothing is sent.
    parts = _URL.fullmatch(url)
    if not parts:
        raise ValueError(
            f"The address is not of the form rtsp://[name:password@]host[:port]/path; "
            f"{_ESCAPE_HINT}."
        )
    if re.fullmatch(r"[\d.]*\b0\d[\d.]*", parts["host"]):  # the system reads it as octal
        raise ValueError(
            "The IP address has a number with a leading zero, which is read as octal: remove it."
        )
    scheme, path = parts["scheme"].lower(), parts["path"] or "/"
    port = int(parts["port"] or DEFAULT_PORTS[scheme])
    if not 0 < port < 65536:
        raise ValueError("The port of the address is not between 1 and 65535.")
    name, colon, password = (parts["login"] or "").partition(":")
    return Address(
        scheme,
        parts["host"].strip("[]").replace("%25", "%"),  # of an IPv6 zone
        port,
        sendable(path if path[0] == "/" else "/" + path),
        _decode(name) if parts["login"] else None,
        _decode(password) if colon else None,
    )


def target(url: str, name: str | None, password: str | None) -> tuple[Address, Login | None]:
    """Return the address to connect to, and the login of the URL or of the fields; RtspError."""
    try:
        address = parse_address(url)
    except ValueError as error:
        raise RtspError("url_malformed", str(error)) from None
    login = []
    for argument, in_url in ((name, address.login_name), (password, address.login_password)):
        if argument and in_url and argument != in_url:
            raise RtspError("credentials_conflict")
        if _UNSENDABLE.search(argument or ""):
            raise RtspError("url_malformed", "The login contains a character that cannot be sent.")
        login.append(argument or in_url or None)
    return address, Login(login[0] or "", login[1] or "") if login != [None, None] else None


def sendable(url: str) -> str:
    """Return a URL as it may appear in a request line: only visible ASCII."""
    return re.sub(r"[^!-~]", lambda other: quote(other[0], errors="surrogateescape"), url)


def _decode(part: str) -> str:
    text = unquote(part, errors="surrogateescape")  # some cameras take passwords in Latin-1
    if re.search(r"%(?![0-9A-Fa-f]{2})", part) or _UNSENDABLE.search(text):
        raise ValueError(
            f"The login in the address contains a control character or an unescaped %; "
            f"{_ESCAPE_HINT}."
        )
    return text
