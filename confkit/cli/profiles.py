"""The commands `profile add`, `profile list` and `profile remove`."""

import argparse
import os
from typing import Any

from .. import profiles
from ..connect import SERVICE, Settings, Source, ask_secret
from ..dialect import Dialect
from ..errors import ConfigError
from ..terminal import say


def add_profile_commands(commands: "argparse._SubParsersAction[Any]") -> None:
    """Adds them to the commands of `confkit`."""
    profile = commands.add_parser("profile", help="name a service, so that connect(NAME) finds it")
    actions = profile.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser(
        "add",
        help="write or replace a profile; asks for what is left out",
        description="Writes or replaces a profile. Asks for what is left out; the secret key is "
        "never an option: it is asked for, or taken from CONFKIT_SECRET_KEY.",
    )
    add.add_argument("name", help="of the profile, such as prod")
    add.add_argument("--base-url", help="address of interface A (port 8080)")
    add.add_argument("--outgoing-url", help="address of interface B (port 8050)")
    add.add_argument("--access-key")
    add.add_argument("--dialect", metavar="NAME=VALUE,...")
    add.add_argument("--timeout", type=float, metavar="SECONDS")
    add.add_argument("--ca-bundle", metavar="FILE", help="certificates to trust")
    add.add_argument("--max-rate", type=float, metavar="N", help="at most N requests a second")
    add.add_argument("--read-only", action="store_true", help="refuse every change")
    add.set_defaults(run=_profile_add)
    shown = actions.add_parser("list", help="the names of all profiles")
    shown.set_defaults(run=_profile_list)
    remove = actions.add_parser("remove", help="forget a profile")
    remove.add_argument("name", help="of the profile, such as prod")
    remove.set_defaults(run=_profile_remove)


def _profile_add(options: argparse.Namespace) -> int:
    profiles.check_name(options.name)
    asked = {"base_url": "address of interface A (http://host:8080): ",
             "outgoing_url": "address of interface B (http://host:8050): ",
             "access_key": "access key: "}  # fmt: skip
    given = {name: getattr(options, name) or _ask(question) for name, question in asked.items()}
    given["secret_key"] = os.environ.get("CONFKIT_SECRET_KEY") or ask_secret(
        "secret key: ", variable="CONFKIT_SECRET_KEY"
    )
    settings: dict[str, Any] = dict(given)
    if options.dialect:
        settings["dialect"] = Dialect.parse(options.dialect).changes()
    if options.timeout is not None:
        settings["timeout"] = options.timeout
    if options.ca_bundle:
        settings["verify"] = options.ca_bundle
    if options.max_rate is not None:
        settings["max_rate"] = options.max_rate
    if options.read_only:
        settings["read_only"] = True
    made = Settings.of([Source("what was given", settings)])
    made.client().close()  # says what is wrong with a value before it is written
    settings |= {name: str(getattr(made, name)) for name in SERVICE}
    say(f"profile {options.name} is saved in {profiles.save(options.name, settings)}")
    say(f"to see whether it works: confkit token --profile {options.name} > /dev/null")
    return 0


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        raise ConfigError(
            "nothing was typed", "Give the values as options, and the secret in CONFKIT_SECRET_KEY."
        ) from None


def _profile_list(_: argparse.Namespace) -> int:
    say("\n".join(profiles.names()))
    return 0


def _profile_remove(options: argparse.Namespace) -> int:
    say(f"profile {options.name} is gone from {profiles.remove(options.name)}")
    return 0
