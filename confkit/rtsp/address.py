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
    """The parts of an RTSP URL, percent-decoded where they are a login."""

    scheme: str
    host: str
    port: int
    path: str = field(repr=False)  # many cameras take a password in the query
    login_name: str | None = None
    login_password: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The URL for request lines: the port always, the login never."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_address(url: str) -> Address:
    """Return the parts of an rtsp or rtsps URL; path and query stay as they are.

    The login ends at the last `@` before the path.  Raises ValueError with one sentence that
    never quotes the URL.
    """
    url = url.strip()
    if not re.match("rtsps?://", url, re.IGNORECASE):
        raise ValueError("The address does not start with rtsp:// or rtsps://.")
    if re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("The address holds a space or a control character.")
    _, hash_sign, tail = url.partition("#")
    if "@" in tail:
        raise ValueError(f"The address holds a bare #; {_ESCAPE_HINT}.")
    if hash_sign:
        raise ValueError(
            "What follows # is an option of another program and no part of an address: leave it "
            "out; a # in a path is written as %23."
        )
    parts = _PARTS.fullmatch(url)
    if not parts:
        # Nearly always a password with a bare / or ?, whose tail must not go out as a path.
        raise ValueError(f"The address holds an @ after its host; {_ESCAPE_HINT}.")
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
    """Return where to connect, and the login of the URL or of the fields; raises RtspError."""
    try:
        address = parse_address(url)
    except ValueError as error:
        raise RtspError("url_malformed", str(error)) from None
    login = []
    for given, known in ((name, address.login_name), (password, address.login_password)):
        if given is not None and known is not None and given != known:
            raise RtspError("credentials_conflict")
        # Neither half a letter nor a control character can be sent.
        if re.search(r"[\x00-\x1f\x7f\ud800-\udc7f\udd00-\udfff]", given or ""):
            raise RtspError("url_malformed", "The login holds a letter that cannot be sent.")
        login.append(known if given is None else given)
    return address, Login(login[0] or "", login[1] or "") if login != [None, None] else None


def sendable(url: str) -> str:
    """Return a URL as a request line can hold it: nothing but visible ASCII."""
    return re.sub(r"[^!-~]", lambda other: quote(other[0], errors="surrogateescape"), url)


def _decode(part: str) -> str:
    if re.search(r"%(?![0-9A-Fa-f]{2})", part):
        raise ValueError(f"The login in the address holds a bare %; {_ESCAPE_HINT}.")
    text = unquote(part)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("The login in the address holds a control character.")
    return text
