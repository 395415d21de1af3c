"""What several commands share: their options, the service that these name, and plain complaints."""

from __future__ import annotations

import argparse
import inspect
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

from .. import profiles
from ..client import Client
from ..connect import OWN, SETTINGS, connect
from ..errors import ConfigError
from ..secret import MASK, mask
from ..text import one_line, printable

Commands: TypeAlias = "argparse._SubParsersAction[Any]"  # argparse has no public name for it
Option: TypeAlias = argparse.ArgumentParser  # a parent of the parsers of commands


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    purpose: str,
    *options: Option,
    **texts: Any,
) -> argparse.ArgumentParser:
    """Add a command with these options that `run` carries out, and return its parser.

    `purpose` is its line in the list of commands; --help shows the docstring of `run`."""
    shown = {"description": inspect.getdoc(run), "formatter_class": Help, **texts}
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=purpose, parents=options, **shown
    )
    made.set_defaults(run=run, parser=made)
    return made


def option(*names: str, **settings: Any) -> Option:
    """An option or a parameter, as `add_argument` takes it; without a help a name has to do."""
    parent = argparse.ArgumentParser(add_help=False)
    parent.add_argument(*names, **settings)
    return parent


def switch(name: str, text: str) -> Option:
    """An option without a value."""
    return option(name, action="store_true", help=text)


def seconds(name: str, default: float | None, text: str) -> Option:
    """An option that takes seconds; the help ends with its default."""
    ends = f"{text} ({default:g})" if default else text
    return option(name, type=float, default=default, metavar="S", help=ends)


PROFILE = option("--profile", help="the service; without one, the environment's")
SANDBOX = switch("--sandbox", "the embedded service instead of yours")
JSON = switch("--json", "print the result as one JSON object")
FAILED_LOGINS = option(
    "--max-failed-logins",
    type=int,
    default=2,
    metavar="N",
    help="at most N logins that fail, as accounts may lock (2); 0 makes no login",
)
MAX_RATE = option("--max-rate", type=float, metavar="N", help="at most N requests a second")


def named(options: argparse.Namespace) -> str | None:
    """The profile that --profile or --sandbox name; ConfigError where both name one."""
    profile: str | None = options.profile
    if not options.sandbox:
        return profile
    if profile not in (None, profiles.EMBEDDED):
        raise ConfigError(f"two services are named: --sandbox and --profile {profile}")
    return profiles.EMBEDDED


def connect_outside(profile: str | None) -> Client:
    """Connect to a service that runs outside this process; ConfigError for the embedded one."""
    client = connect(profile)
    if client.sandbox is None:
        return client
    client.close()
    raise ConfigError(
        "the embedded sandbox lives in the process that uses it, so it ends with this command",
        "Run `confkit sandbox` and set CONFKIT_BASE_URL and CONFKIT_OUTGOING_URL to it, or "
        "name another profile.",
    )


def environment_of(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process whose `ck.connect()` finds this profile: one that is named on
    the command line is meant as it is, without another service's addresses, keys and dialect."""
    if not profile:
        return dict(environment)
    variables = [SETTINGS[name].variable for name in OWN]
    kept = {name: value for name, value in environment.items() if name not in variables}
    return {**kept, "CONFKIT_PROFILE": profile}


def port(text: str) -> int:
    """The port in a text, which an argument of a command is."""
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError("give a port, a number up to 65535")
    return int(text)


def log_here(level: int) -> None:
    """From now on, write what is logged at this level or above to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(asctime)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])


class Help(argparse.HelpFormatter):
    """Keeps the paragraphs of a description, and the lines of an indented one."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = text.split("\n\n")
        return "\n\n".join(
            part if part.startswith(" ") else fill(part, width, indent) for part in paragraphs
        )


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the words that were typed, and repeats none but names of options:
    what is in the wrong place may be a password."""

    typed: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but it keeps the words for what `error` has to hide."""
        self.typed = list(args or ())
        return super().parse_known_args(args, namespace)

    def meant(self, word: str, alike: float = 0.6) -> str:
        """The option of this command that is spelled almost like a word; "" where there is none."""
        known = re.findall(r"--[\w-]+", self.format_usage())
        return next(iter(get_close_matches(option_in(word).rstrip("="), known, 1, alike)), "")

    def error(self, message: str) -> NoReturn:
        """End the command with status 2, and with this message without what was typed; it names the
        choice that is spelled almost like that."""
        choices = re.findall(r"[\w-]+", message.partition("(choose from ")[2])
        near = [one for word in self.typed for one in get_close_matches(word, choices, 1)]
        values = [word.removeprefix(option_in(word)) for word in self.typed]
        for value in values:  # a short one could be part of any text, so it is hidden in quotes
            message = message.replace(repr(value), repr(MASK))
        hint = f" Did you mean {near[0]}?" if near else ""
        super().error(one_line(mask(message, *values)) + hint)


class OneLine(logging.Formatter):
    """Writes each record on a line of its own; a traceback, if any, on lines below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name
        """The record's line."""
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """All of it."""
        return printable(super().format(record))


def option_in(word: str) -> str:
    """The option's name with which a word begins; what is behind it may be a password."""
    found = re.match("--[^=]*=?|-.?", word)
    return found[0] if found else ""
