"""The command `runbook`: run one, print its checks, and write its report."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import click

from ..checks import Checklist
from ..errors import ConfkitError
from ..secret import SecretAddress, redact
from ..text import echo, write_atomically
from .options import connected, explain_python, print_checks, profile_option, sandbox_option

_PAGE = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><title>{0}</title>"
    "<style>body{{font:15px sans-serif;margin:2em}}td,th{{padding:3px 9px}}</style>"
    "<h1>{0}</h1>{1}<p>Inputs: {2}</p><p>{3:%Y-%m-%d %H:%M} UTC, {4:.1f} s</p></html>\n"
)


@click.command(epilog="Exit status: 0 PASS, 1 FAIL, 2 UNKNOWN or wrong usage, 130 interrupted.")
@click.argument("name", required=False)
@click.option("-p", "pairs", multiple=True, metavar="KEY=VALUE", help="An input; see --list.")
@profile_option
@sandbox_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write inputs, checks and duration to this HTML file, for you alone.",
)
@click.option("--list", "listing", is_flag=True, help="List the runbooks with their inputs.")
def runbook(
    name: str | None,
    pairs: tuple[str, ...],
    profile: str | None,
    sandbox: bool,
    as_json: bool,
    report: Path | None,
    listing: bool,
) -> int:
    """Run the runbook NAME, and print each check as it is made.

    Nothing is changed on the service without `-p apply=True`.
    """
    from ..runbook import RUNBOOKS

    if listing or not name:
        for key, function in RUNBOOKS.items():
            purpose = str(inspect.getdoc(function)).partition("\n")[0]
            echo(f"{key}\n    {purpose}\n    {_usage(function)}")
        return 0
    if name not in RUNBOOKS:
        raise click.UsageError(f"there is no runbook {name!r}; there are: {', '.join(RUNBOOKS)}")
    function, start = RUNBOOKS[name], datetime.now(UTC)
    inputs = _read_inputs(function, pairs)
    try:
        if report:
            report.touch(0o600)  # an error here comes before a change
        with connected(profile, sandbox) as client:
            service = f"{client.name} ({client.base_url})"
            title = f"{name} on {service}"
            echo(title, err=True)
            steps = function(client, **inputs)
            checks = Checklist(steps) if as_json else print_checks(steps)
        if as_json:
            echo(checks.as_json(runbook=name, service=service))
        else:
            explain_python("".join(check.advice for check in checks), profile, sandbox)
        if report:
            # Any input may be an address, whose login is hidden even if its beginning is malformed.
            typed = ", ".join(
                f"{key}={redact(str(SecretAddress(str(value))))}" for key, value in inputs.items()
            )
            seconds = (datetime.now(UTC) - start).total_seconds()
            facts = escape(typed or "none")
            page = _PAGE.format(escape(title), checks._repr_html_(), facts, start, seconds)
            write_atomically(report, page.encode(), private=True)
            echo(f"report: {report}", err=True)
    except BrokenPipeError:
        raise
    except (ConfkitError, ValueError, OSError) as error:  # status 1 would say that a check failed
        raise click.UsageError(str(error)) from None
    return checks.exit_status


def _inputs(function: Callable[..., object]) -> dict[str, Any]:
    """Return the inputs of a runbook with their defaults, or None."""
    _, *parameters = inspect.signature(function).parameters.values()  # the client comes first
    return {each.name: None if each.default is each.empty else each.default for each in parameters}


def _usage(function: Callable[..., object]) -> str:
    """Return how the inputs are typed; those in brackets have a default."""
    pairs = [
        f"-p {name}=..." if default is None else f"[-p {name}={default}]"
        for name, default in _inputs(function).items()
    ]
    return " ".join(pairs) or "no inputs"


def _read_inputs(function: Callable[..., object], pairs: Iterable[str]) -> dict[str, Any]:
    """Return the inputs as typed, each as its default's type, and "" for one without either."""
    known = _inputs(function)
    inputs = {name: "" for name, default in known.items() if default is None}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in known:
            raise click.UsageError(
                f"-p {SecretAddress(pair)}: write KEY=VALUE; "
                f"the inputs are: {', '.join(known) or 'none'}"
            )
        kind = click.types.convert_type(None, known[name])
        try:
            inputs[name] = kind.convert(text, None, None)
        except click.BadParameter as error:
            error.param_hint = f"-p {name}"
            raise
    return inputs
