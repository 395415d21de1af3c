"""Where to connect, and with which login: an address and the fields beside it."""

from __future__ import annotations

import re

from .address import Address, parse_address
from .auth import Login
from .refusal import PullRefused


def target(url: str, name: str | None, password: str | None) -> tuple[Address, Login | None]:
    """Return where to connect, and the login of the URL or of the fields; raises PullRefused."""
    try:
        address = parse_address(url)
    except ValueError as error:
        raise PullRefused("url_malformed", str(error)) from None
    inside = (address.login_name, address.login_password)
    for given, known in zip((name, password), inside, strict=True):
        if given is not None and known is not None and given != known:
            reason = "The login in the address is not the one in the fields."
            raise PullRefused("credentials_conflict", reason)
    if not all(_sendable(given) for given in (name, password) if given):
        raise PullRefused("url_malformed", "The login holds a letter that cannot be sent.")
    name = inside[0] if name is None else name
    password = inside[1] if password is None else password
    login = None if name is None and password is None else Login(name or "", password or "")
    return address, login


def _sendable(text: str) -> bool:
    """Return whether a text holds neither control characters nor half letters."""
    try:
        text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return not re.search(r"[\x00-\x1f\x7f]", text)
