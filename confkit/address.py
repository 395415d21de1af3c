"""The address of an interface: checked once, then only joined to paths."""

import ipaddress
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from .errors import ConfigError
from .secret import Guarded, hidden_address, mask_address

_EXAMPLE = "http://conference.example:8080"


def _read(text: str) -> tuple[str | None, str, str]:
    """What is wrong with an address, its base, and its host. Not raised here, where a traceback
    would show the parts of the address, a login among them."""
    url = hidden_address(text.strip().rstrip("/"))
    try:
        parts = urlsplit(str(url))
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), 0
    problem = None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        problem = "is no address"
    elif parts.username is not None or parts.password is not None:
        problem = "holds a login, which would show wherever the address does"
    elif parts.query or parts.fragment:
        problem = "holds a query or a fragment"
    elif any(letter.isspace() for letter in url):
        problem = "holds white space"
    return problem, url, "" if problem else parts.hostname or ""


class Address(NamedTuple):
    """The base of an interface without a slash at its end, and its host."""

    url: str
    host: str

    @classmethod
    def parse(cls, text: str, setting: str) -> Self:
        """The address in a text; one that is no http(s) base is a ConfigError that says why."""
        text = hidden_address(str(text))
        problem, url, host = _read(text)
        if problem:
            told = f": {mask_address(url, broken=True)!r}" if isinstance(text, Guarded) else ""
            raise ConfigError(
                f"{setting} {problem}{told}", f"Write it as scheme://host:port, such as {_EXAMPLE}"
            )
        return cls(str(url), host)

    @property
    def loopback(self) -> bool:
        """Whether the address is this very machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
