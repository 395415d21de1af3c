"""The command `confkit`: lab, sandbox, token, interface, and what the modules beside it add."""

import argparse
import logging
import os
import re
import shlex
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import NoReturn

from .. import __version__, signing
from ..connect import Setting, connect, stripped
from ..dialect import Dialect
from ..endpoints import SPOKEN, openapi, reference
from ..errors import ConfigError, ConfkitError
from ..secret import MASK, mask
from ..terminal import handled, log_here, say
from ..text import one_line
from .cameras import add_camera_commands
from .course import add_course_command
from .doctor import add_doctor_command
from .probe import add_probe_command
from .profiles import add_profile_commands
from .record import add_record_command
from .runbook import add_runbook_command

_ENDINGS = (signal.SIGTERM, signal.SIGINT)


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0, or 1 after an error, which is one sentence on standard error."""
    warnings.showwarning = _one_line
    given = sys.argv[1:] if arguments is None else arguments
    options, extra = _parser().parse_known_args(given)
    if extra and options.run is not _lab:
        _parser().error(f"unknown arguments: {' '.join(_named(extra))}")
    options.extra = [part for part in extra if part != "--"]
    try:
        return int(options.run(options))
    except ConfkitError as error:
        say(f"confkit: {mask(str(error))}", aside=True)  # it may quote what was typed
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _named(unknown: list[str]) -> Iterator[str]:
    """What was not understood. What stands behind an option's name may be a password."""
    for before, part in pairwise(["", *unknown]):
        option = re.match("--[^=]*=?|-.?", part)
        name = option[0] if option else "" if before.startswith("-") else part
        yield name if name == part else name + MASK


def _one_line(message: Warning | str, *_: object, **__: object) -> None:
    say(f"confkit: {mask(str(message))}", aside=True)


class _Parser(argparse.ArgumentParser):
    """Quotes what was typed wrongly without the passwords in it."""

    def error(self, message: str) -> NoReturn:
        super().error(one_line(mask(message)))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="confkit", description="Rooms, users and devices of a conferencing service."
    )
    parser.add_argument(
        "--version", action="version", version=f"confkit {__version__}, speaks {SPOKEN}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lab = commands.add_parser(
        "lab",
        help="open JupyterLab on the notebooks",
        description="Opens JupyterLab on the notebooks, or the panels as a page without code. "
        "Without a service of yours (--profile, CONFKIT_*) they use the embedded one. Ctrl-C ends "
        "everything.",
        epilog="Further arguments are JupyterLab's or Voila's, such as --no-browser.",
    )
    lab.add_argument("--profile", help="the service to use; without one, a sandbox")
    lab.add_argument("--port", type=_port, default=8888, help="or the next free one (8888)")
    lab.add_argument(
        "--app", action="store_true", help="open the panels as a page without code (Voila)"
    )
    lab.add_argument("--rooms", metavar="FILE", help="room IDs for the app, a text or CSV file")
    lab.set_defaults(run=_lab)

    sandbox = commands.add_parser(
        "sandbox",
        help="run the embedded service for other clients",
        description="Runs the embedded service, complete, with both interfaces, until Ctrl-C or "
        "SIGTERM, and prints the variables by which clients find it.",
    )
    sandbox.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
    sandbox.add_argument("--port", type=_port, default=8080, help="of interface A")
    sandbox.add_argument("--outgoing-port", type=_port, default=8050, help="of interface B")
    sandbox.add_argument("--db", metavar="FILE", help="keep rooms and devices in this SQLite file")
    sandbox.add_argument("--access-key", help="default: the demo key (on loopback only)")
    sandbox.add_argument(
        "--secret-key",
        help="default: the demo key (on loopback only); also "
        "read from CONFKIT_SECRET_KEY, which other users cannot see",
    )
    sandbox.add_argument(
        "--dialect", default="", metavar="NAME=VALUE,...", help="such as hash=sha256,signature=raw"
    )
    sandbox.add_argument("--token-lifetime", type=float, default=3600.0, metavar="SECONDS")
    sandbox.add_argument(
        "--latency", type=float, default=0.0, metavar="SECONDS", help="let each answer wait so long"
    )
    sandbox.add_argument("--seed", type=int, help="make ids repeat (on loopback only)")
    sandbox.add_argument(
        "--explain",
        action="store_true",
        help="log for each refused call what was wrong with it, and what was odd about others",
    )
    sandbox.set_defaults(run=_sandbox)

    token = commands.add_parser(
        "token",
        help="print an access token into a pipe",
        epilog="CONFKIT_TOKEN=$(confkit token) makes curl lines run.",
    )
    token.add_argument("--profile", help="the service; without one, the environment's")
    token.add_argument("--digest", action="store_true", help="the digest of A1 instead")
    token.add_argument("--show", action="store_true", help="print it into a terminal too")
    token.set_defaults(run=_token)

    add_profile_commands(commands)
    add_camera_commands(commands)
    add_probe_command(commands)
    add_doctor_command(commands)
    add_record_command(commands)
    add_course_command(commands)
    add_runbook_command(commands)

    interface = commands.add_parser("interface", help="print the reference of the interface")
    interface.add_argument("part", nargs="?", help="such as A2, B1, 5, errors; all when left out")
    interface.add_argument(
        "--openapi", action="store_true", help="both interfaces as OpenAPI 3.1 (JSON) instead"
    )
    interface.set_defaults(run=_interface)
    return parser


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number up to 65535")
    return int(text)


def _lab(options: argparse.Namespace) -> int:
    from .lab import lab

    if options.rooms and not options.app:
        raise ConfigError("--rooms is for the app: confkit lab --app --rooms FILE")
    return lab(options.profile, options.port, options.extra, options.app, options.rooms)


def _sandbox(options: argparse.Namespace) -> int:
    try:
        from ..sandbox import DEMO_SECRET_KEY, Sandbox
        from ..sandbox.service.server import resolve
    except ModuleNotFoundError as error:
        raise ConfigError(str(error)) from None
    log_here(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    secret = options.secret_key or os.environ.get("CONFKIT_SECRET_KEY") or None
    if secret is not None:
        secret = stripped("secret_key", Setting(secret, "CONFKIT_SECRET_KEY or --secret-key"))
    sandbox = Sandbox(
        seed=options.seed, dialect=Dialect.parse(options.dialect), path=options.db,
        host=options.host, port=options.port, outgoing_port=options.outgoing_port,
        access_key=options.access_key, secret_key=secret,
        token_lifetime=options.token_lifetime, latency=options.latency, explain=options.explain,
    )  # fmt: skip
    published = sandbox.secret_key == DEMO_SECRET_KEY
    if secret in (None, DEMO_SECRET_KEY) and not resolve(options.host)[1]:
        raise ConfigError(
            "the demo keys are published, so beyond this machine the sandbox needs a secret of its "
            "own: give it as CONFKIT_SECRET_KEY, or with --secret-key"
        )
    with handled(_ENDINGS, _end, ignored_too=True), sandbox:
        say(f"interface A  {sandbox.base_url}\ninterface B  {sandbox.outgoing_url}")
        say(
            f"for clients  export CONFKIT_BASE_URL={sandbox.base_url}"
            f" CONFKIT_OUTGOING_URL={sandbox.outgoing_url}"
            f" CONFKIT_ACCESS_KEY={shlex.quote(sandbox.access_key)}"
            f" CONFKIT_SECRET_KEY={DEMO_SECRET_KEY if published else '...'}"
            f"{_dialect_variable(sandbox.dialect)}"
        )
        say("Ctrl-C or SIGTERM ends it.")
        while True:
            time.sleep(1)  # bounded, so that Windows sees Ctrl-C as well


def _dialect_variable(dialect: Dialect) -> str:
    changes = ",".join(f"{name}={value}" for name, value in dialect.changes().items())
    return f" CONFKIT_DIALECT={changes}" if changes else ""


def _end(*_: object) -> None:
    """Leaves the command at once, and once: what is being closed then is closed in peace."""
    for number in _ENDINGS:
        signal.signal(number, _nothing)  # to ignore one that has come already is told as an error
    raise SystemExit(0)


def _nothing(*_: object) -> None:
    pass


def _token(options: argparse.Namespace) -> int:
    if sys.stdout.isatty() and not options.show:
        raise ConfigError(
            "a token is a secret, so it is printed into a pipe only: "
            "CONFKIT_TOKEN=$(confkit token)",
            "--show prints it here all the same.",
        )
    with connect(options.profile) as client:
        if client.sandbox is not None:
            raise ConfigError(
                "the embedded sandbox ends with this command, and its token with it",
                "Run `confkit sandbox` and set CONFKIT_BASE_URL and CONFKIT_OUTGOING_URL to it.",
            )
        if options.digest:
            say(str(signing.digest(client.access_key, client.secret_key, client.dialect)))
        else:
            say(str(client.token()))
    return 0


def _interface(options: argparse.Namespace) -> int:
    if options.openapi and options.part:
        raise ConfigError(
            "the OpenAPI description is one whole", "Leave out the part, or --openapi."
        )
    if options.openapi:
        say(openapi(), end="")
        return 0
    say(reference(options.part), end="")
    return 0
