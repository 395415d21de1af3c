"""The commands `sandbox`, `token`, `profile` and `interface`: a service, and what names it."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
import time
from typing import Any

from ..connect import (
    ask_secret,
    check_profile_name,
    check_setting,
    client_of,
    load_profile,
    profile_names,
    save_profile,
)
from ..dialect import Dialect
from ..errors import ConfigError
from ..interrupts import until_ended
from ..text import echo
from .options import as_profile, connected, log_here

SPOKEN = "interface A 1.0.5 (2017-05-11) and interface B 1.02 (2017-04-10)"  # section 9
# Each section and each endpoint in it: a heading, up to the next of its level or above.
_PARTS = re.compile(r"(?ms)(?=(^## .*?(?=^##? |\Z)|^### .*?(?=^#{1,3} |\Z)))")
_KEY = "CONFKIT_SECRET_KEY"


def sandbox(host: str, secret_key: str | None, dialect: str, **settings: Any) -> None:
    """Run the embedded service, complete, with both interfaces, until Ctrl-C or SIGTERM.

    It prints the variables by which clients find it, and logs each device's stream as it opens,
    dies and comes back. Beyond loopback (--host) it needs keys of your own.
    """
    from ..sandbox import DEMO_SECRET_KEY, Sandbox
    from ..sandbox.server import resolve

    log_here(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    secret = secret_key or os.environ.get(_KEY) or None
    if secret is not None:
        secret = check_setting("secret_key", secret, f"{_KEY} or --secret-key")
    spoken = Dialect.parse(dialect)
    sandbox = Sandbox(host=host, secret_key=secret, dialect=spoken, **settings)
    if secret in (None, DEMO_SECRET_KEY) and not resolve(host)[1]:
        raise ConfigError(
            "the demo keys are published, so beyond this machine the sandbox needs a secret of its "
            f"own: give it as {_KEY}, or with --secret-key"
        )
    with until_ended(), sandbox:
        shown = {
            "CONFKIT_BASE_URL": sandbox.base_url,
            "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
            "CONFKIT_ACCESS_KEY": shlex.quote(sandbox.access_key),
            _KEY: DEMO_SECRET_KEY if sandbox.secret_key == DEMO_SECRET_KEY else "...",
        }
        if changes := spoken.changes().items():
            shown["CONFKIT_DIALECT"] = ",".join(f"{name}={value}" for name, value in changes)
        echo(f"interface A  {sandbox.base_url}\ninterface B  {sandbox.outgoing_url}")
        echo(f"for clients  export {' '.join(f'{name}={value}' for name, value in shown.items())}")
        echo("Ctrl-C or SIGTERM ends it.")
        while True:
            time.sleep(1)  # bounded, so that Windows sees Ctrl-C as well


def token(profile: str | None, digest: bool, show: bool) -> None:
    """Print an access token into a pipe: CONFKIT_TOKEN=$(confkit token) makes curl lines run.

    In such lines CONFKIT_DIGEST, CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD stand for other
    secrets.
    """
    if sys.stdout.isatty() and not show:
        raise ConfigError(
            "a token is a secret, so it is printed into a pipe only: "
            "CONFKIT_TOKEN=$(confkit token)",
            "--show prints it here all the same.",
        )
    with connected(profile, outside=True) as client:
        keys = (client.access_key, client.secret_key)
        secret = client.dialect.digest(*keys) if digest else client.token()
        echo(secret.reveal())


def add_profile(name: str, dialect: str, **given: Any) -> None:
    """Write a profile, in a file that you alone can read, or change one. Asks for what is missing.

    In a profile that is there what is not given stays. The secret key is never an option: it is
    asked for, or taken from CONFKIT_SECRET_KEY.
    """
    check_profile_name(name)
    there = load_profile(name) if name in profile_names() else {}
    questions = {
        "base_url": "address of interface A (http://host:8080): ",
        "outgoing_url": "address of interface B (http://host:8050): ",
        "access_key": "access key: ",
    }
    given = there | {setting: value for setting, value in given.items() if value is not None}
    given |= {setting: given.get(setting) or _ask(asked) for setting, asked in questions.items()}
    same = given["access_key"] == there.get("access_key")  # else the secret is another one, too
    secret = os.environ.get(_KEY) or (there.get("secret_key") if same else None)
    given["secret_key"] = secret or ask_secret("secret key: ", variable=_KEY)
    if dialect:
        given["dialect"] = Dialect.parse(dialect)
    settings = {setting: (value, "what was typed") for setting, value in given.items()}
    with client_of(settings) as client:  # ConfigError says what is wrong
        echo(f"profile {name} is saved in {save_profile(name, as_profile(client))}")
    echo(f"to see whether it works: confkit doctor --profile {name}")


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        raise ConfigError(
            "nothing was typed", f"Give the values as options, and the secret in {_KEY}."
        ) from None


def interface(part: str | None, openapi: bool) -> None:
    """Print our reference of the interface, or a part of it."""
    if openapi and part:
        raise ConfigError(
            "the OpenAPI description is one whole", "Leave out the part, or --openapi."
        )
    echo(_packaged("openapi.json") if openapi else reference(part), end="")


def reference(part: str | None = None) -> str:
    """Return the text of the reference, whole, or one part of it.

    A part is an endpoint ("A2"), a section's number ("7") or a word of its heading ("errors").
    """
    whole = _packaged("interface.md")
    if part is None:
        return whole
    wanted = part.strip().lower()
    texts = {text.partition("\n")[0].lstrip("# "): text for text in _PARTS.findall(whole)}
    numbered = [name for name in texts if name.lower().startswith(f"{wanted}.")]
    for name in numbered or [name for name in texts if wanted and wanted in name.lower()]:
        return str(texts[name].rstrip()) + "\n"
    raise ConfigError(f"the reference has no part {part!r}", f"It has: {', '.join(texts)}")


def openapi() -> str:
    """Return both interfaces as an OpenAPI 3.1 description: JSON, for tools that read it."""
    return _packaged("openapi.json")


def _packaged(name: str) -> str:
    from importlib import resources  # takes a while to load, and few ask for a text

    return resources.files("confkit").joinpath(name).read_text("utf-8")
