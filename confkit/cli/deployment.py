"""The commands `doctor` and `probe`: is a service well, and where is it not as specified?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import profiles
from ..text import say
from .options import as_profile, connected

if TYPE_CHECKING:
    from ..checklist import Check
    from ..deployment.probe import Probe


def doctor(
    room_id: str | None, profile: str | None, sandbox: bool, as_json: bool, **bounds: Any
) -> int:
    """Try one thing after another, from the settings to a room's media server.

    Each is PASS, FAIL, SKIP or UNKNOWN, with its cause and the next step. Settings of the dialect
    that are wrong are all named in one run. It changes nothing: it reads, and asks B2 to remove a
    user who is not there, unless the client is read only. `confkit doctor --sandbox` shows what a
    service looks like that is well.

    Exit status 0 when all is well, 1 when something is wrong, 2 when that is not known.
    """
    from ..checklist import Checklist
    from ..deployment import checkup

    with connected(profile, sandbox) as client:
        found = checkup(client, room_id, **bounds)
        bound = "at most {max_failed_logins} failed logins and {timeout:g} s".format(**bounds)
        say(f"{client.name}: changes nothing, {bound}", aside=True)
        checks = []
        for check in _awaited(found):
            checks.append(check)
            if not as_json:
                say(check)
    made = Checklist(checks)
    say(made.as_json() if as_json else str(made).rpartition("\n")[2])
    return made.exit_status


def _awaited(checks: Iterator[Check]) -> Iterator[Check]:
    """The checks as they come; a terminal shows meanwhile which one is waited for."""
    from ..deployment import CHECKS

    for name in CHECKS:
        if sys.stderr.isatty():
            say(f"        {name} ...", aside=True, end="\r")
        yield next(checks)


def probe(profile: str | None, sandbox: bool, save: str | None, as_json: bool, **how: Any) -> int:
    """Ask a service for its dialect: signature, spelling of the token, GET or POST, forms of
    answers.

    It sends at most 60 requests, some of them with a wrong token on purpose (assumed to be no
    failed logins), imports nothing, asks to remove a user who is not there, and creates one room,
    which it deletes again. --save makes the profile from the settings that were used, where there
    is none of this name; `connect(PROFILE)` then speaks the dialect.

    Exit status 0 when all was found out, 1 after an error, 2 when something is open.
    """
    from ..deployment import probe_client

    if save is not None:  # a wrong name is an error before anything is sent
        profiles.check_name(save)
        if save in profiles.names():
            profiles.load(save)
    # A profile can name what is outside alone.
    with connected(profile, sandbox, outside=save is not None) as client:
        used = as_profile(client)
        found = probe_client(client, **how)
    say(found.as_json() if as_json else found)
    if save is not None:
        _save(found, save, used)
    return found.exit_status


def _save(found: Probe, name: str, used: dict[str, Any]) -> None:
    """Write what was found out into the profile of this name, a new one where there is none."""
    if name in profiles.names():
        text = f"saved in {found.save(name)}"
    elif found.told:
        text = f"profile {name} was created in {found.save(name, used)}"
    else:
        text = f"profile {name} was not made, as no login was accepted"
    say(text, aside=True)
