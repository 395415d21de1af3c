"""The command `runbook`: run one, print its checks, and write its report."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import click

from ..checks import Check, Checklist
from ..errors import ConfigError, ConfkitError
from ..secret import redact
from ..text import echo, one_line, write_atomically
from .options import (
    coloured,
    connected,
    json_option,
    print_check,
    profile_option,
    sandbox_option,
    suggest,
)

_HIDDEN = ("client", "login_password")  # no inputs: a password is never on a command line
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@click.command(
    epilog="Exit status: 0 PASS, 1 FAIL, 2 UNKNOWN; 2 also after wrong usage or an interruption."
)
@click.argument("name", required=False)
@click.option("-p", "pairs", multiple=True, metavar="KEY=VALUE", help="An input; see --list.")
@profile_option
@sandbox_option
@json_option
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

    if listing or name is None:
        for key, function in RUNBOOKS.items():
            echo(f"{key}\n    {_purpose(function)}\n    {_usage(function)}")
        if not listing:
            echo("confkit: give the NAME of one of these runbooks", err=True)
        return 0 if listing else 2
    if name not in RUNBOOKS:
        raise click.UsageError(suggest("runbook", name, RUNBOOKS))
    function, start = RUNBOOKS[name], datetime.now(UTC)
    try:
        if report is not None and not report.parent.is_dir():
            raise ConfigError(f"{report} cannot be written: no such folder", "Make the folder.")
        inputs = _read_inputs(function, pairs)
        with connected(profile, sandbox, explicit=True) as client:
            service = f"{client.name} ({client.base_url})"
            echo(f"{name} on {service}", err=True)
            checks = _run(function(client, **inputs), quiet=as_json)
    except ConfkitError as error:  # status 1 would say that a check failed
        echo(f"confkit: {redact(str(error))}", err=True)
        return 2
    if as_json:
        echo(checks.as_json(runbook=name, service=service))
    else:
        echo(f"Overall: {checks.verdict}", style=coloured(checks.verdict))
    if report is not None:
        page = _page(_purpose(function), f"{name} on {service}", inputs, start, checks)
        try:
            write_atomically(report, page.encode(), private=True)
        except OSError as error:
            echo(f"confkit: {report} cannot be written: {error.strerror}", err=True)
            return 2
        echo(f"report: {report}", err=True)
    return checks.exit_status


def _run(steps: Any, *, quiet: bool) -> Checklist:
    """Return the checks, which are printed as they come; an interruption is one, too."""
    checks: list[Check] = []
    try:
        with closing(steps):
            for check in steps:
                checks.append(check)
                if not quiet:
                    print_check(check)
    except KeyboardInterrupt as interrupt:
        detail = "; ".join(["interrupted", *getattr(interrupt, "__notes__", ())])
        checks.append(Check("Runbook", "UNKNOWN", detail, "Run it again."))
        if not quiet:
            print_check(checks[-1])
    return Checklist(checks)


def _purpose(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _parameters(function: Callable[..., object]) -> dict[str, Any]:
    """Return the inputs of a runbook with their defaults; one without a default is a text."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: "" if parameter.default is parameter.empty else parameter.default
        for parameter in parameters
        if parameter.name not in _HIDDEN
    }


def _usage(function: Callable[..., object]) -> str:
    """Return how the inputs are typed; those in brackets have a default."""
    parameters = inspect.signature(function).parameters
    pairs = [
        f"[-p {name}={value}]" if parameters[name].default == value else f"-p {name}=..."
        for name, value in _parameters(function).items()
    ]
    return " ".join(pairs) or "no inputs"


def _read_inputs(function: Callable[..., object], pairs: Iterable[str]) -> dict[str, Any]:
    """Return the inputs as typed, each as its default's type, and "" where none is typed."""
    known = _parameters(function)
    inputs = {name: value for name, value in known.items() if value == ""}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ConfigError(f"-p {redact(pair)} has no value", "Write -p KEY=VALUE.")
        if name not in known:
            advice = f"The inputs are: {', '.join(known) or 'none'}."
            raise ConfigError(f"there is no input {name!r}", advice)
        inputs[name] = _convert(name, text, type(known[name]))
    return inputs


def _convert(name: str, text: str, kind: type) -> bool | float | str:
    if kind is str:
        return text
    try:
        return _BOOLEANS[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        expected = {bool: "True or False", int: "a whole number"}.get(kind, "a number")
        raise ConfigError(f"{name} is {text!r}", f"Give {expected}: -p {name}=...") from None


def _page(
    purpose: str, title: str, inputs: dict[str, Any], start: datetime, checks: Checklist
) -> str:
    seconds = (datetime.now(UTC) - start).total_seconds()
    typed = ", ".join(f"{name}={one_line(redact(str(value)))}" for name, value in inputs.items())
    lines = (title, f"Inputs: {typed or 'none'}", f"{start:%Y-%m-%d %H:%M} UTC, {seconds:.1f} s")
    facts = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>{checks.verdict}: {escape(title)}</title>"
        "<style>body{font:15px sans-serif;margin:2em;max-width:70em}td,th{padding:3px 9px}</style>"
        f"<h1>{escape(purpose)}</h1>{checks._repr_html_()}{facts}</html>\n"
    )
