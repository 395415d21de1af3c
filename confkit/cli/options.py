"""What several commands share: their options, the service that these name, and plain complaints."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from .. import profiles
from ..connect import OF_A_SERVICE
from ..errors import ConfigError
from ..secret import MASK, mask
from ..text import one_line

Commands: TypeAlias = "argparse._SubParsersAction[Any]"  # argparse has no public name for it


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    purpose: str,
    *shared: argparse.ArgumentParser,
    **texts: Any,
) -> argparse.ArgumentParser:
    """Add a command that `run` carries out, with these shared options, and return its parser."""
    made: argparse.ArgumentParser = commands.add_parser(name, help=purpose, parents=shared, **texts)
    made.set_defaults(run=run)
    return made


def option(*names: str, **settings: Any) -> argparse.ArgumentParser:
    """Options or a parameter for more than one command."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(*names, **settings)
    return parent


PROFILE = option("--profile", help="the service; without one, the environment's")
SANDBOX = option("--sandbox", action="store_true", help="the embedded service instead of yours")
JSON = option("--json", action="store_true", help="print the result as one JSON object")
FAILED_LOGINS = option(
    "--max-failed-logins",
    type=int,
    default=2,
    metavar="N",
    help="at most N logins that fail, as accounts may lock (2); 0 makes no login",
)
MAX_RATE = option("--max-rate", type=float, metavar="N", help="at most N requests a second")


def timeout(seconds: float, what: str) -> argparse.ArgumentParser:
    """The option --timeout with its default, and what it bounds."""
    return option(
        "--timeout", type=float, default=seconds, metavar="S", help=f"{what} ({seconds:g})"
    )


def named(options: argparse.Namespace) -> str | None:
    """The profile that --profile or --sandbox name; ConfigError where both name one."""
    profile: str | None = options.profile
    if not options.sandbox:
        return profile
    if profile not in (None, profiles.EMBEDDED):
        raise ConfigError(f"two services are named: --sandbox and --profile {profile}")
    return profiles.EMBEDDED


def environment_of(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process whose `ck.connect()` finds this profile: one that is named on
    the command line is meant as it is, without another service's addresses, keys and dialect."""
    if not profile:
        return dict(environment)
    kept = {name: value for name, value in environment.items() if name not in OF_A_SERVICE}
    return {**kept, "CONFKIT_PROFILE": profile}


def port(text: str) -> int:
    """The port in a text, which an argument of a command is."""
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError("give a port, a number up to 65535")
    return int(text)


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the words that were typed, and repeats none but names of options:
    what stands in the wrong place may be a password."""

    typed: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but it keeps the words for what `error` has to hide."""
        self.typed = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End the command with status 2, and with this message without what was typed."""
        values = [word.removeprefix(option_in(word)) for word in self.typed]
        for (
            value
        ) in values:  # a short one, which could stand in any text, is hidden as it is quoted
            message = message.replace(repr(value), repr(MASK))
        super().error(one_line(mask(message, *values)))


def option_in(word: str) -> str:
    """The option's name with which a word begins; what stands behind it may be a password."""
    found = re.match("--[^=]*=?|-.?", word)
    return found[0] if found else ""
