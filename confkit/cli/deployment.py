"""The commands `doctor` and `probe`: is a service well, and where is it not as specified?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..connect import check_profile_name, load_profile, profile_names, save_profile
from ..errors import ConfigError
from ..text import echo
from .options import as_profile, connected

if TYPE_CHECKING:
    from ..checks import Check
    from ..client import Client


def doctor(
    room_id: str | None, profile: str | None, sandbox: bool, as_json: bool, **bounds: Any
) -> int:
    """Try one thing after another, from the settings to a room's media server.

    Each is PASS, FAIL, SKIP or UNKNOWN, with its cause and the next step; the last line names the
    step to take first. Settings that are wrong are all named in one run. It changes nothing: B2 is
    asked to remove a user who does not exist, unless the client is read only. `confkit doctor
    --sandbox` shows what a service looks like that is well.

    Exit status 0 when all is well, 1 when something is wrong, 2 when that is not known.
    """
    from ..checks import Checklist
    from ..deployment import checkup

    with connected(profile, sandbox) as client:
        found = checkup(client, room_id, **bounds)
        bound = "at most {max_failed_logins} failed logins and {timeout:g} s".format(**bounds)
        echo(f"{client.name}: changes nothing, {bound}", err=True)
        checks = []
        for check in _awaited(found):
            checks.append(check)
            if not as_json:
                echo(check)
    made = Checklist(checks)
    echo(made.as_json() if as_json else str(made).rpartition("\n")[2])
    return made.exit_status


def _awaited(checks: Iterator[Check]) -> Iterator[Check]:
    """The checks as they come; a terminal shows meanwhile which one is waited for."""
    from ..deployment import CHECKS

    for name in CHECKS:
        if sys.stderr.isatty():
            echo(f"        {name} ...", err=True, end="\r")
        yield next(checks)


def probe(
    profile: str | None, sandbox: bool, save: str | None, as_json: bool, max_failed_logins: int
) -> int:
    """Ask a service for its dialect, and print it as the settings to connect with.

    It creates and changes nothing: it asks for rooms and users that do not exist. --save writes
    the dialect into the profile of this name, or makes one from the settings that were used;
    `connect(PROFILE)` then speaks it.

    Exit status 0 when all was found out, 1 after an error, 2 when something is open.
    """
    from ..deployment import investigate

    if save is not None:  # a wrong name is an error before anything is sent
        check_profile_name(save)
    # A profile can name what is outside alone.
    with connected(profile, sandbox, outside=save is not None) as client:
        settings = _stored(save, client) if save is not None else {}
        dialect, unknown = investigate(client, max_failed_logins=max_failed_logins)
    changes = dialect.changes()
    if as_json:
        echo(json.dumps({"dialect": asdict(dialect), "open": unknown}, ensure_ascii=False))
    else:
        line = ",".join(f"{name}={value}" for name, value in changes.items())
        echo(f"CONFKIT_DIALECT={line}" if line else "the usual dialect: nothing is to be set")
        for text in unknown:
            echo(f"open: {text}")
    if save is not None:
        path = save_profile(save, {**settings, "dialect": changes})
        echo(f"saved as profile {save} in {path}", err=True)
    return 2 if unknown else 0


def _stored(name: str, client: Client) -> dict[str, Any]:
    """Return the settings of the profile that is to be written, which has to be of this service;
    where there is none, those that the client was made with."""
    if name not in profile_names():
        return as_profile(client)
    settings = load_profile(name)
    for setting in ("base_url", "outgoing_url"):
        if str(settings.get(setting, "")).strip().rstrip("/") != getattr(client, setting):
            raise ConfigError(
                f"profile {name!r} has another {setting} than the service that was probed",
                "Save it under another name.",
            )
    return settings
