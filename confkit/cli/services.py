"""The commands `sandbox`, `token`, `profile` and `interface`: a service, and what names it."""

from __future__ import annotations

import argparse
import logging
import os
import re
import shlex
import sys
import time
from functools import partial
from typing import Any

from .. import profiles, signing
from ..connect import SERVICE, Source, ask_secret, checked, client_of
from ..dialect import Dialect
from ..errors import ConfigError
from ..many.interrupts import until_ended
from ..text import say
from .options import connected, log_here

SPOKEN = "interface A 1.0.5 (2017-05-11) and interface B 1.02 (2017-04-10)"  # section 9
# Each section and each endpoint in it: a heading, up to the next of its level or above.
_PARTS = re.compile(r"(?ms)(?=(^## .*?(?=^##? |\Z)|^### .*?(?=^#{1,3} |\Z)))")
_KEY = "CONFKIT_SECRET_KEY"


def sandbox(options: argparse.Namespace) -> int:
    """Run the embedded service, complete, with both interfaces, until Ctrl-C or SIGTERM.

    It prints the variables by which clients find it, and logs each device's stream as it opens,
    dies and comes back. Beyond loopback (--host) it needs keys of your own.
    """
    from ..sandbox import DEMO_SECRET_KEY, Sandbox
    from ..sandbox.service.server import resolve

    log_here(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    secret = options.secret_key or os.environ.get(_KEY) or None
    if secret is not None:
        secret = checked("secret_key", secret, f"{_KEY} or --secret-key")
    sandbox = Sandbox(
        seed=options.seed,
        dialect=Dialect.parse(options.dialect),
        path=options.db,
        host=options.host,
        port=options.port,
        outgoing_port=options.outgoing_port,
        access_key=options.access_key,
        secret_key=secret,
        token_lifetime=options.token_lifetime,
        latency=options.latency,
        explain=options.explain,
    )
    if secret in (None, DEMO_SECRET_KEY) and not resolve(options.host)[1]:
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
        changes = sandbox.dialect.changes().items()
        if changes:
            shown["CONFKIT_DIALECT"] = ",".join(f"{name}={value}" for name, value in changes)
        say(f"interface A  {sandbox.base_url}\ninterface B  {sandbox.outgoing_url}")
        say(f"for clients  export {' '.join(f'{name}={value}' for name, value in shown.items())}")
        say("Ctrl-C or SIGTERM ends it.")
        while True:
            time.sleep(1)  # bounded, so that Windows sees Ctrl-C as well


def token(options: argparse.Namespace) -> int:
    """Print an access token into a pipe: CONFKIT_TOKEN=$(confkit token) makes curl lines run.

    In such lines CONFKIT_DIGEST, CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD stand for other
    secrets.
    """
    if sys.stdout.isatty() and not options.show:
        raise ConfigError(
            "a token is a secret, so it is printed into a pipe only: "
            "CONFKIT_TOKEN=$(confkit token)",
            "--show prints it here all the same.",
        )
    with connected(options, outside=True) as client:
        digest = partial(signing.digest, client.access_key, client.secret_key, client.dialect)
        say(str(digest() if options.digest else client.token()))
    return 0


def add_profile(options: argparse.Namespace) -> int:
    """Write or replace a profile, in a file that you alone can read. Asks for what is left out.

    The secret key is never an option: it is asked for, or taken from CONFKIT_SECRET_KEY.
    """
    profiles.check_name(options.name)
    settings: dict[str, Any] = {
        "base_url": options.base_url or _ask("address of interface A (http://host:8080): "),
        "outgoing_url": options.outgoing_url or _ask("address of interface B (http://host:8050): "),
        "access_key": options.access_key or _ask("access key: "),
        "secret_key": os.environ.get(_KEY) or ask_secret("secret key: ", variable=_KEY),
    }
    if options.dialect:
        settings["dialect"] = Dialect.parse(options.dialect).changes()
    for name in ("timeout", "verify", "max_rate", "read_only"):
        if (value := getattr(options, name)) not in (None, ""):
            settings[name] = value
    with client_of([Source("what was given", settings)]) as made:  # says what is wrong with a value
        settings |= {name: str(getattr(made, name)) for name in SERVICE}
    say(f"profile {options.name} is saved in {profiles.save(options.name, settings)}")
    say(f"to see whether it works: confkit token --profile {options.name} > /dev/null")
    return 0


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        raise ConfigError(
            "nothing was typed", f"Give the values as options, and the secret in {_KEY}."
        ) from None


def list_profiles(_: argparse.Namespace) -> int:
    """Print the names of all profiles; "sandbox" is always there."""
    say("\n".join(profiles.names()))
    return 0


def remove_profile(options: argparse.Namespace) -> int:
    """Forget a profile, its secret key included."""
    say(f"profile {options.name} is gone from {profiles.remove(options.name)}")
    return 0


def interface(options: argparse.Namespace) -> int:
    """Print our reference of the interface, or a part of it."""
    if options.openapi and options.part:
        raise ConfigError(
            "the OpenAPI description is one whole", "Leave out the part, or --openapi."
        )
    say(openapi() if options.openapi else reference(options.part), end="")
    return 0


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
