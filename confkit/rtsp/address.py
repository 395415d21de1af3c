"""RTSP addresses: a URL in, its parts out, and the login that goes with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from .auth import Login
from .errors import RtspError

DEFAULT_PORTS = {"rtsp": 554, "rtsps": 322}

_PARTS = re.compile(r"(rtsps?)://(?:([^/?]*)@)?([^/?@]*)([^@]*)", re.IGNORECASE)
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^\[\]:]+)(?::([0-9]{0,5}))?")
_ESCAPE_HINT = "write @ # ? / and % in a login as %40 %23 %3F %2F and %25"


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
    if re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("The address contains a space or a control character.")
    _, hash_sign, tail = url.partition("#")
    if "@" in tail:
        raise ValueError(f"The address contains an unescaped #; {_ESCAPE_HINT}.")
    if hash_sign:
        raise ValueError(
            "The part after # is an option of another program, not part of the address: remove it; "
            "write a # in a path as %23."
        )
    parts = _PARTS.fullmatch(url)
    if not parts:
        # Usually a password with an unescaped / or ?, whose tail must not be sent as a path.
        raise ValueError(f"The address contains an @ after its host; {_ESCAPE_HINT}.")
    place = _PLACE.fullmatch(parts[3])
    if not place or not place[1].isprintable():
        raise ValueError(f"The address has no valid host and port; {_ESCAPE_HINT}.")
    scheme, path = parts[1].lower(), parts[4]
    port = int(place[2] or DEFAULT_PORTS[scheme])
    if not 0 < port < 65536:
        raise ValueError("The port of the address is not between 1 and 65535.")
    name, colon, password = (parts[2] or "").partition(":")
    return Address(
        scheme,
        place[1].strip("[]"),
        port,
        sendable(path if path[:1] == "/" else "/" + path),
        _decode(name) if parts[2] else None,
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
        if argument is not None and in_url is not None and argument != in_url:
            raise RtspError("credentials_conflict")
        # Lone surrogates and control characters cannot be sent.
        if re.search(r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]", argument or ""):
            raise RtspError("url_malformed", "The login contains a character that cannot be sent.")
        login.append(in_url if argument is None else argument)
    return address, Login(login[0] or "", login[1] or "") if login != [None, None] else None


def sendable(url: str) -> str:
    """Return a URL as it may appear in a request line: only visible ASCII."""
    return re.sub(r"[^!-~]", lambda other: quote(other[0], errors="surrogateescape"), url)


def _decode(part: str) -> str:
    if re.search(r"%(?![0-9A-Fa-f]{2})", part):
        raise ValueError(f"The login in the address contains an unescaped %; {_ESCAPE_HINT}.")
    text = unquote(part)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("The login in the address contains a control character.")
    return text
