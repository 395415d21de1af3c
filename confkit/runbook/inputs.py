"""The inputs of a runbook: their types, where they come from, and what may not be one."""

from __future__ import annotations

import math
import os
import re
from typing import TypeVar

from ..connect import CAMERA_PASSWORD, ask_secret
from ..errors import ConfigError
from ..secret import Secret, SecretAddress, is_secret, redact

Value = TypeVar("Value", bool, int, float, str)

_TRUTHS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_KINDS = {bool: "true or false", int: "a whole number, 0 or more", float: "a number, 0 or more"}
# Tokens and digests: base64 of the hex text of a hash, the usual form (seen).
_SIGNED = re.compile(r"(?:[MNOYZ][A-Za-z0-9]{3}){10,42}[A-Za-z0-9]{0,3}={0,2}")
_LONG = 8  # characters of a secret that is looked for inside a text; a shorter one is half of any
# What the environment holds for us that nobody may see.
KEPT = ("CONFKIT_SECRET_KEY", CAMERA_PASSWORD, "CONFKIT_HOST_PASSWORD", "CONFKIT_TOKEN")
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
    text = Secret(os.environ.get(variable(name), ""))  # a traceback shows the locals
    refuse_secret(name, text)
    if variable(name) not in os.environ:
        return default
    return typed(name, text.reveal(), default, variable(name))


def typed(name: str, text: str, default: Value, origin: str) -> Value:
    """The value in a text, of the default's type: yes or no, a number, or the text itself.

    ConfigError: it is no such value. No input of a runbook is below 0, and none is endless."""
    if isinstance(default, str):
        return str(text)
    plain = text.strip().lower()
    try:
        if isinstance(default, bool):
            return _TRUTHS[plain]
        number = type(default)(plain)
        if not 0 <= number < math.inf:
            raise ValueError(plain)
        return number
    except (KeyError, ValueError):
        kind = _KINDS[type(default)]
        raise ConfigError(f"{name} (from {origin}) is {text!r}", f"Give {kind}.") from None


def refuse_secret(name: str, text: str | Secret, *secrets: str) -> None:
    """Raise ConfigError, without quoting it, if an input is a secret by its name, or its text holds
    one: a login, a token, one of these `secrets` or of the environment's."""
    hidden = Secret(text)
    del text  # a traceback shows the locals
    if is_secret(name) or _holds_secret(hidden.reveal(), secrets):
        raise ConfigError(
            f"{name} is a secret or holds one, and inputs stand in reports: it is never one",
            "Keys come from the profile or CONFKIT_SECRET_KEY; a camera's password is asked for, "
            "or taken from CONFKIT_CAMERA_PASSWORD; an address is given without its login.",
        )


def _holds_secret(text: str, secrets: tuple[str, ...]) -> bool:
    """Whether there is a secret in a text: by its name, a login, a token or digest, or one of these
    secrets or of the environment's; of these a short one counts as the whole text alone."""
    kept = {*secrets, *(os.environ.get(name, "") for name in KEPT)} - {""}
    long = [value for value in kept if len(value) >= _LONG]
    shown = redact(text, long)
    return (
        shown != text
        or str(SecretAddress(text)) != text
        or text.strip() in kept
        or bool(signed(text))
    )


def camera_password(login_name: str) -> Secret | None:
    """The camera's password of CONFKIT_CAMERA_PASSWORD, or asked for; None without a login name.

    ConfigError where nobody can be asked, as headless."""
    if not login_name:
        return None
    return Secret(os.environ.get(CAMERA_PASSWORD) or ask_secret(f"password of {login_name}: "))


def signed(text: str) -> list[str]:
    """The tokens and digests in a text."""
    return _SIGNED.findall(text)
