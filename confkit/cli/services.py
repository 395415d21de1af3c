"""The commands `sandbox`, `token`, `profile add` and `interface`: a service, and what names it."""

import logging
import os
import re
import sys
import time
from contextlib import suppress
from importlib.resources import files
from typing import Any

import click

from ..connect import (
    SERVICE,
    VARIABLES,
    ask_secret,
    check_setting,
    connect,
    load_profiles,
    save_profile,
)
from ..dialect import Dialect
from ..errors import ConfigError
from ..secret import Secret
from ..text import echo
from .options import dialect_option, infile, log_to_stderr, port, profile_option

SPOKEN = "interface A 1.0.5 (2017-05-11) and interface B 1.02 (2017-04-10)"  # section 9
_KEY = "CONFKIT_SECRET_KEY"
_QUESTIONS = {
    "base_url": "address of interface A (http://host:8080): ",
    "outgoing_url": "address of interface B (http://host:8050): ",
    "access_key": "access key: ",
}


@click.command()
@click.option("--port", type=port, default=8080, metavar="PORT", help="Of interface A.")
@click.option("--outgoing-port", type=port, default=8050, metavar="PORT", help="Of interface B.")
@dialect_option
@click.option("--explain", is_flag=True, help="Log why a call was refused.")
def sandbox(dialect: str | None, **settings: Any) -> None:
    """Run the embedded service on this machine until Ctrl-C or SIGTERM.

    It prints the variables by which clients find it, and logs what becomes of each device's stream.
    Its host, people, cameras, faults and time are Python's: a few lines with
    confkit.sandbox.Sandbox start it for a client in any language, too.
    """
    from ..sandbox import Sandbox

    log_to_stderr(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    spoken = Dialect.of(dialect or "")
    with Sandbox(dialect=spoken, **settings) as service, suppress(KeyboardInterrupt):
        # With the demo key, which is published.
        variables = {VARIABLES[setting]: getattr(service, setting) for setting in SERVICE}
        if dialect:
            variables[VARIABLES["dialect"]] = dialect.replace(" ", "")
        words = " ".join(f"{name}={value}" for name, value in variables.items())
        echo(f"interface A  {service.base_url}\ninterface B  {service.outgoing_url}")
        echo(f"for clients  export {words}\nCtrl-C or SIGTERM ends it.")
        while True:
            time.sleep(1)  # bounded, so that Windows sees Ctrl-C as well


@click.command()
@profile_option
@click.option("--digest", is_flag=True, help="The digest of A1 instead.")
def token(profile: str | None, digest: bool) -> None:
    """Print an access token into a pipe.

    `export CONFKIT_TOKEN=$(confkit token)` makes the curl lines run that confkit shows; in these
    CONFKIT_DIGEST, CONFKIT_HOST_PASSWORD and CONFKIT_CAMERA_PASSWORD stand for other secrets.
    """
    if not sys.stdout or sys.stdout.isatty():
        advice = "Use CONFKIT_TOKEN=$(confkit token)."
        raise ConfigError("a token is a secret, so it goes into a pipe only", advice)
    with connect(profile) as client:
        keys = (client.access_key, client.secret_key)
        echo((client.dialect.digest(*keys) if digest else client.token()).reveal())


@click.command("add")
@click.argument("name")
@click.option("--base-url", metavar="URL", help="Of interface A.")
@click.option("--outgoing-url", metavar="URL", help="Of interface B.")
@click.option("--access-key", metavar="KEY", help="From the service's provider.")
@click.option("--ca-bundle", "verify", type=infile, metavar="FILE", help="Certificates to trust.")
@click.option("--read-only/--no-read-only", default=None, help="Refuse every change.")
@click.option("--max-rate", type=float, help="At most so many requests a second.")
@dialect_option
def add_profile(name: str, **options: Any) -> None:
    """Write the profile NAME, which you alone can read, or change it.

    It asks for what is missing; in a profile that exists, what is not typed stays. The secret key
    is never an option: it is taken from CONFKIT_SECRET_KEY, or asked for where there is none, and
    to replace it where no option is given.
    """
    stored = load_profiles().get(name, {})
    typed = {key: value for key, value in options.items() if value is not None}
    settings = stored | typed
    for key, question in _QUESTIONS.items():  # each is checked before the next question
        settings[key] = check_setting(key, settings.get(key) or _ask(question), "what was typed")
    # Another access key has another secret.
    old = stored.get("secret_key") if settings["access_key"] == stored.get("access_key") else None
    secret = Secret(os.environ.get(_KEY, ""))
    if not secret and (old is None or not typed):
        question = "secret key: " if old is None else "secret key (Enter keeps the present one): "
        secret = ask_secret(question, variable=_KEY)
    settings["secret_key"] = secret or old or ""
    settings = {key: check_setting(key, settings[key], "what was typed") for key in settings}
    settings["dialect"] = settings.get("dialect", Dialect()).changes()
    echo(f"profile {name} is saved in {save_profile(name, settings)}")
    echo(f"to see whether it works: confkit doctor --profile {name}")


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        advice = f"Give the values as options, and the secret in {_KEY}."
        raise ConfigError("nothing was typed", advice) from None


@click.command()
@click.argument("part", required=False)
@click.option("--openapi", is_flag=True, help="Both interfaces as OpenAPI 3.1 (JSON).")
def interface(part: str | None, openapi: bool) -> None:
    """Print our reference of the interface, or a PART: A2, or section 5."""
    echo(packaged("openapi.json") if openapi else reference(part), end="")


def reference(part: str | None = None) -> str:
    """Return the text of the reference, or one part: an endpoint ("A2") or a section ("7")."""
    text = packaged("interface.md")
    if part is None:
        return text
    name = re.escape(part.upper())  # in a heading; the part ends at the next of its level or above
    if match := re.search(rf"(?ms)^(###?) {name}\. .*?(?=^\1 |^## |\Z)", text):
        return match[0].rstrip() + "\n"
    names = ", ".join(re.findall(r"(?m)^###? (\w+\. .*)$", text))
    raise ConfigError(f"the reference has no part {part!r}", f"It has: {names}")


def packaged(name: str) -> str:
    """Return a text of the package: our reference, or both interfaces as OpenAPI 3.1 (JSON)."""
    return files("confkit").joinpath(name).read_text("utf-8")
