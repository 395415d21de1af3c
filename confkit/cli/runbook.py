"""The command `runbook`: runs one headless, prints its checks, writes its report."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..connect import connect
from ..errors import ConfigError, ConfkitError
from ..interrupts import held_off
from ..secret import redact
from ..text import echo
from .options import environment_of, named, names_no_service, need


def runbook(**given: Any) -> int:
    """Run a runbook of the folder notebooks/runbooks without anybody before it, print each check as
    it comes, and write the report.

    Nothing is changed on the service unless -p apply=true is given. With --sandbox it is played
    with its scene.
    """
    try:
        return _run(**given)
    except (ConfkitError, ValueError) as error:  # 1 would say that a check failed
        _write(f"confkit: {redact(str(error))}", err=True)
    except KeyboardInterrupt:  # while no cell ran; later it is a check, and the report holds it
        _write("confkit: it was interrupted, and no report was written", err=True)
    return 2


def _run(
    name: str | None,
    profile: str | None,
    sandbox: bool,
    inputs: list[str],
    report: Path | None,
    cell_timeout: float,
    listing: bool,
) -> int:
    from ..runbook import library
    from ..runbook.inputs import variable

    if listing or not name:
        echo(library.listing(library.stored()))
        return 0 if listing else 2
    stored = library.find(name)
    environment, service, secrets = _service(named(profile, sandbox), sandbox)
    given = _inputs(stored, inputs, secrets)
    for one in stored.inputs:  # they are given in a cell, where the report shows them
        environment.pop(variable(one), None)
    need("runbooks need", "ipykernel", "nbclient", "nbconvert", "nbformat")
    if report:
        from ..runbook.report import check_place

        check_place(report)
    from ..runbook.running import run

    _write(f"{stored.name} on {service}")
    when = datetime.now(UTC)
    done = run(stored.path, given, environment, cell_timeout, _write)
    with held_off():  # what was found is reported and written whole
        _write(f"{done.checks.verdict:<7} overall")
        if report:
            from ..runbook.report import write_report

            write_report(report, done, stored.name, service, when, secrets)
            _write(f"report: {report}")
    return done.checks.exit_status


def _write(text: object, err: bool = False) -> None:
    """Prints it at once. A reader who has gone away (`| head`, a terminal that is closed) is no
    reason to end the run, whose report and exit status count."""
    try:
        echo(text, err=err)
    except OSError:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _service(profile: str | None, sandbox: bool) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """The environment in which `ck.connect()` finds the service, what it is called, and the
    secrets that no report may hold."""
    from ..runbook.inputs import KEPT

    environment = environment_of(profile, os.environ)
    secrets = tuple(os.environ[name] for name in KEPT if os.environ.get(name))
    if sandbox:
        return environment, "the SANDBOX", secrets
    if names_no_service(environment):
        raise ConfigError(
            "no service is named, and a verdict of the sandbox says nothing of a real one",
            "Name one (--profile NAME, or CONFKIT_BASE_URL and the others in "
            "the environment), or play the runbook on the embedded one with --sandbox.",
        )
    with connect(profile) as client:
        service = f"{client.name} ({client.base_url})"
        return environment, service, (*secrets, client.secret_key.reveal())


def _inputs(
    stored: Any, given: list[str], secrets: tuple[str, ...]
) -> dict[str, bool | int | float | str]:
    """The inputs that were typed, or else stand in the environment, each of its default's type."""
    from ..runbook.inputs import refuse_secret, typed, variable

    left_out = {*stored.inputs} - {"apply", *(part.partition("=")[0] for part in given)}
    there = {name: variable(name) for name in sorted(left_out) if variable(name) in os.environ}
    parts = [(f"{name}={os.environ[origin]}", origin) for name, origin in there.items()]
    found = {}
    for part, origin in [*((part, "-p") for part in given), *parts]:
        name, equals, text = part.partition("=")
        if not equals:
            raise ConfigError(f"-p {redact(part)} has no value", f"Give -p {redact(part)}=VALUE.")
        refuse_secret(name, text, *secrets)
        if name not in stored.inputs:
            raise ConfigError(
                f"{stored.name} has no input {redact(name)!r}",
                f"It has {', '.join(stored.inputs)}.",
            )
        found[name] = typed(name, text, stored.inputs[name], origin)
    return found
