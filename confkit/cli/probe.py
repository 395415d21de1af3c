"""The command `probe`: how does this deployment differ from the paper?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .. import profiles
from ..connect import SERVICE, connect
from ..errors import ConfigError, ConfkitError
from ..terminal import as_interrupts, say

if TYPE_CHECKING:
    from ..client import Client
    from ..deployment.evidence import Probe


def add_probe_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Adds it to the commands of `confkit`."""
    probe = commands.add_parser(
        "probe",
        help="find out how a service fills what the interface leaves open",
        description="Asks a service for its dialect: signature, spelling of the token, GET or "
        "POST, names and forms of what it answers. It sends at most 60 requests, some of them with "
        "a wrong token on purpose (assumed to be no failed logins), imports nothing, asks to "
        "remove a user who is not there, and creates one room, which it deletes again. Exit status "
        "0 when all was told, 1 after an error, 2 when something is open.",
    )
    probe.add_argument("--profile", help="the service; without one, the environment's")
    probe.add_argument(
        "--max-failed-logins",
        type=int,
        default=2,
        metavar="N",
        help="accounts may lock: never more (2)",
    )
    probe.add_argument(
        "--wait", type=float, metavar="SECONDS", help="wait so long for the token to end"
    )
    probe.add_argument(
        "--no-room", action="store_true", help="create no room; what needs one stays open"
    )
    probe.add_argument("--json", action="store_true", help="print the result as JSON")
    probe.add_argument(
        "--save",
        metavar="PROFILE",
        help="write what was told into this profile, "
        "which is made from the settings that were used where there is none of this name",
    )
    probe.set_defaults(run=_probe)


def _probe(options: argparse.Namespace) -> int:
    from ..deployment import probe_client

    if options.save is not None:  # wrong names are told before anything is sent
        profiles.check_name(options.save)
        if options.save in profiles.names():
            profiles.load(options.save)
    try:  # whatever ends it, its room is removed
        with as_interrupts(), connect(options.profile) as client:
            used = _settings(client)
            if options.save is not None and client.sandbox is not None:
                raise ConfigError(
                    "the embedded sandbox ends with this command, so no profile can name it",
                    "Run "
                    "`confkit sandbox`, and set CONFKIT_BASE_URL and CONFKIT_OUTGOING_URL to it.",
                )
            found = probe_client(
                client,
                max_failed_logins=options.max_failed_logins,
                wait=options.wait,
                own_room=not options.no_room,
            )
    except (ConfkitError, KeyboardInterrupt) as error:
        for note in getattr(error, "__notes__", ()):  # what could not be removed
            say(f"confkit: {note}", aside=True)
        raise
    say(found.as_json() if options.json else found)
    if options.save is not None:
        _save(found, options.save, used)
    return found.exit_status


def _save(found: Probe, name: str, used: dict[str, Any]) -> None:
    """Writes what was told into the profile of this name, a new one where there is none."""
    if name in profiles.names():
        say(f"saved in {found.save(name)}", aside=True)
    elif found.told:
        say(f"profile {name} was created in {found.save(name, used)}", aside=True)
    else:
        say(f"profile {name} was not made, as no login was accepted", aside=True)


def _settings(client: Client) -> dict[str, Any]:
    """The settings of this client as a profile holds them."""
    settings: dict[str, Any] = {name: getattr(client, name) for name in SERVICE}
    if "timeout" in client.origins:
        settings["timeout"] = list(client.timeout)
    if "verify" in client.origins:
        settings["verify"] = client.session.verify
    for name in ("max_rate", "read_only"):
        if name in client.origins:
            settings[name] = getattr(client, name)
    return {**settings, "dialect": client.dialect.changes()}
