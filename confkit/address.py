"""The address of an interface: checked once, then only joined to paths."""

import ipaddress
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from .errors import ConfigError
from .masking import mask_address


class Address(NamedTuple):
    """The base of an interface without a slash at its end, and its host."""

    url: str
    host: str

    @classmethod
    def parse(cls, text: str, setting: str) -> Self:
        """The address in a text; one that is no http(s) base is a ConfigError that says why."""
        url = str(text).strip().rstrip("/")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), 0
        example = "http://conference.example:8080"
        problem = None
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            problem = "is no address"
        elif parts.username is not None or parts.password is not None:
            problem = "holds a login, which would show wherever the address does"
        elif parts.query or parts.fragment:
            problem = "holds a query or a fragment"
        elif any(letter.isspace() for letter in url):
            problem = "holds white space"
        if problem:
            # What has no scheme may be a key that went into the wrong field.
            told = f": {mask_address(url, broken=True)!r}" if "://" in url else ""
            raise ConfigError(
                f"{setting} {problem}{told}. Write it as scheme://host:port, such as {example}"
            )
        return cls(url, parts.hostname or "")

    @property
    def loopback(self) -> bool:
        """Whether the address is this very machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
