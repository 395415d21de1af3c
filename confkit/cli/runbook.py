"""The command `runbook`: run one, print its checks, and write its report."""

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import click

from ..checks import Checklist
from ..connect import connect
from ..errors import ConfkitError
from ..runbook import RUNBOOKS
from ..secret import SecretAddress, redact
from ..text import echo, write_atomically
from .options import explain_python, print_checks, profile_option

_PAGE = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><title>{0}</title>"
    "<style>body{{font:15px sans-serif;margin:2em}}td,th{{padding:3px 9px}}</style>"
    "<h1>{0}</h1>{1}<p>Inputs: {2}</p><p>{3:%Y-%m-%d %H:%M} UTC, {4:.1f} s</p></html>\n"
)


@click.command(epilog="Exit status: 0 PASS, 1 FAIL, 2 UNKNOWN or wrong usage, 130 interrupted.")
@click.argument("name", type=click.Choice(RUNBOOKS), required=False, metavar="[NAME]")
@click.option("-p", "pairs", multiple=True, metavar="KEY=VALUE", help="An input; see --list.")
@profile_option
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
    as_json: bool,
    report: Path | None,
    listing: bool,
) -> int:
    """Run the runbook NAME, and print each check as it is made.

    Nothing is changed on the service without `-p apply=True`.
    """
    if listing or not name:
        for key, function in RUNBOOKS.items():
            purpose = str(inspect.getdoc(function)).partition("\n")[0]
            typed = " ".join(f"-p {pair}" for pair in _pairs(_defaults(function)))
            echo(f"{key}\n    {purpose}\n    {typed or 'no inputs'}")
        return 0
    start, inputs = datetime.now(UTC), _read_inputs(RUNBOOKS[name], pairs)
    try:
        if report:
            report.touch(0o600)  # an error here comes before a change
        with connect(profile) as client:
            service = f"{client.name} ({client.base_url})"
            title = f"{name} on {service}"
            echo(title, err=True)
            steps = RUNBOOKS[name](client, **inputs)
            checks = Checklist(steps) if as_json else print_checks(steps)
        if as_json:
            echo(checks.as_json(runbook=name, service=service))
        else:
            explain_python("".join(check.advice for check in checks), profile)
        if report:
            facts = escape(redact(", ".join(_pairs(inputs))) or "none")
            seconds = (datetime.now(UTC) - start).total_seconds()
            page = _PAGE.format(escape(title), checks._repr_html_(), facts, start, seconds)
            write_atomically(report, page.encode(), private=True)
            echo(f"report: {report}", err=True)
    except BrokenPipeError:
        raise
    except (ConfkitError, ValueError, OSError) as error:  # status 1 would say that a check failed
        raise click.UsageError(str(error)) from None
    return checks.exit_status


def _defaults(function: Callable[..., object]) -> dict[str, Any]:
    """Return the inputs of a runbook with their defaults; "..." is for one that has none."""
    _, *parameters = inspect.signature(function).parameters.values()  # the client comes first
    return {each.name: "..." if each.default is each.empty else each.default for each in parameters}


def _read_inputs(function: Callable[..., object], pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return the inputs: each as typed and of its default's type, or its default."""
    inputs = _defaults(function)
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in inputs:
            raise click.UsageError(
                f"-p {SecretAddress(pair)}: write KEY=VALUE; "
                f"the inputs are: {', '.join(inputs) or 'none'}"
            )
        option = click.Option([name, f"-p {name}"], default=inputs[name])
        inputs[name] = option.type(text, option)
    if missing := [f"-p {name}=..." for name, value in inputs.items() if value == "..."]:
        raise click.UsageError(f"an input is missing: {' '.join(missing)}")
    return inputs


def _pairs(inputs: dict[str, Any]) -> list[str]:
    """Return inputs as they are typed. Any may be an address, whose login is hidden even if its
    beginning is malformed."""
    return [f"{name}={SecretAddress(str(value))}" for name, value in inputs.items()]
