"""The inputs of a runbook: their types, where they come from, and what may not be one."""

from __future__ import annotations

import base64
import binascii
import math
import os
import re
from typing import TypeVar

from ..connect import CAMERA_PASSWORD, ask_secret
from ..errors import ConfigError
from ..secret import Secret, holds, mask_address

Value = TypeVar("Value", bool, int, float, str)

_SECRET = re.compile(r"(?i)passw|passphrase|secret|token|tocken|digest|psw|pwd|credential")
_KEY = re.compile(r"(?i)(^|_)(key|keys|pass)(_|$)")
_TRUTHS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_BASE64 = re.compile(r"[A-Za-z0-9+/]{43,172}={0,2}")
_HEX = re.compile(rb"[0-9a-f]+\Z")
_SIZES = (32, 40, 64, 128)  # hex digits of md5, sha1, sha256, sha512
_LONG = 8  # characters of a secret that is looked for inside a text; a shorter one is half of any
# What the environment holds for us that nobody may see.
KEPT = ("CONFKIT_SECRET_KEY", "CONFKIT_CAMERA_PASSWORD", "CONFKIT_HOST_PASSWORD", "CONFKIT_TOKEN")


HEADLESS = "CONFKIT_HEADLESS"  # set where `confkit runbook` runs a notebook


def to_set(name: str, value: object) -> str:
    """How to run this again with another input: by its cell, or with -p from a command line."""
    if os.environ.get(HEADLESS):
        return f"Run this again with -p {name}={str(value).lower()}"
    return f"Set {name}={value!r}"


def variable(name: str) -> str:
    """The environment's variable for an input: CONFKIT_RUNBOOK_ROOM for `room`."""
    return f"CONFKIT_RUNBOOK_{name.upper()}"


def given(name: str, default: Value) -> Value:
    """An input: what CONFKIT_RUNBOOK_NAME holds, read as the default's type, else the default.

    ConfigError: it is no such value, or it is a secret by its name or by what it holds."""
    refuse_name(name)
    if variable(name) not in os.environ:
        return default
    return typed(name, Secret(os.environ[variable(name)]), default, variable(name))


def typed(name: str, text: str, default: Value, origin: str) -> Value:
    """The value in a text, of the default's type: yes or no, a number, or the text itself.

    ConfigError: it is no such value. No input of a runbook is below 0, and none is endless."""
    text = Secret(text)  # to tracebacks: that it is none is found out here
    refuse_value(name, text)
    plain = text.strip()
    try:
        if isinstance(default, bool):
            return _TRUTHS[plain.lower()]
        if isinstance(default, str):
            return str(text)
        number = int(plain) if isinstance(default, int) else float(plain)
        if not 0 <= number < math.inf:
            raise ValueError(plain)
        return number
    except (KeyError, ValueError):
        kind = {bool: "true or false", int: "a whole number, 0 or more"}.get(
            type(default), "a number, 0 or more"
        )
        raise ConfigError(f"{name} (from {origin}) is {text!r}", f"Give {kind}.") from None


def refuse_name(name: str) -> None:
    """Raise ConfigError if an input of this name would be a secret."""
    if _SECRET.search(name) or _KEY.search(name):
        raise ConfigError(
            f"{name} would be a secret, and inputs stand in reports: it is never one",
            "Keys come "
            "from the profile or CONFKIT_SECRET_KEY; a camera's password is asked for, or taken "
            "from CONFKIT_CAMERA_PASSWORD.",
        )


def refuse_value(name: str, text: str, *secrets: str) -> None:
    """Raise ConfigError, without quoting it, if an input's text holds a secret, such as these."""
    text = Secret(text)
    if mask_address(text, broken="://" not in text) != text:
        raise ConfigError(
            f"{name} holds a password, and inputs stand in reports",
            "Give an address without login and the password in CONFKIT_CAMERA_PASSWORD.",
        )
    if _holds(str(text), secrets) or signed(text):
        raise ConfigError(
            f"{name} holds a key, a password or a token, and inputs stand in reports: leave it out",
            "Secrets come from the profile or the environment.",
        )


def _holds(text: str, secrets: tuple[str, ...]) -> bool:
    """Whether it is one of these secrets or of the environment's, or a longer one stands in it."""
    kept = {*secrets, *(os.environ.get(name, "") for name in KEPT)} - {""}
    return text.strip() in kept or holds(text, *(one for one in kept if len(one) >= _LONG))


def camera_password(login_name: str) -> Secret | None:
    """The camera's password of CONFKIT_CAMERA_PASSWORD, or asked for; None without a login name.

    ConfigError where nobody can be asked, as headless."""
    if not login_name:
        return None
    return Secret(os.environ.get(CAMERA_PASSWORD) or ask_secret(f"password of {login_name}: "))


def signed(text: str) -> list[str]:
    """The tokens and digests in a text: base64 of the hex text of a hash, the usual form (seen)."""
    return [word for word in _BASE64.findall(text) if _is_signature(word)]


def _is_signature(word: str) -> bool:
    try:
        plain = base64.b64decode(word)
    except binascii.Error:
        return False
    return len(plain) in _SIZES and _HEX.match(plain) is not None
