"""A runbook in a notebook: it shows each check as it comes, and the verdict of all."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..checks import Check, Checklist
from ..text import as_json, echo
from .scenes import build

if TYPE_CHECKING:
    from ..client import Client

CHECK = "application/vnd.confkit.check+json"  # what the command reads of a check


def begin(name: str, client: Client) -> Runbook:
    """The runbook of this name on this service, which it shows in a line: nobody shall take one
    service for another."""
    if client.sandbox is not None:
        where = "the SANDBOX: nothing real is asked"
    else:
        access = "refused, read only" if client.read_only else "possible where a cell says so"
        where = f"{client.name}, a real service; changes are {access}"
    show(f"{name} on {where}")
    return Runbook(name, client)


def show(text: object, **kinds: str) -> None:
    """Shows it at once: an output of the cell, of further `kinds` too, or text elsewhere."""
    if "IPython" in sys.modules:
        from IPython.display import display

        display({"text/plain": str(text), **kinds}, raw=True)
    else:
        echo(text)


class Runbook:
    """The checks of one run, in `checks`."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.client = client
        self.checks = Checklist()

    def show(self, checks: Iterator[Check]) -> None:
        """Record and show each check at once, as it comes from a function such as
        `runbook.nobody_can_join`. Ctrl-C reaches the function, which undoes what it has to."""
        try:
            for check in checks:
                self.add(check)
        except KeyboardInterrupt as ended:
            if isinstance(checks, Generator):  # nothing comes of one that has ended by it itself
                self.add(checks.throw(ended))
                self.show(checks)
            raise

    def add(self, *checks: Check) -> None:
        """Record checks that were made elsewhere, such as those of `ck.doctor`, and show them."""
        for check in checks:
            self.checks = Checklist([*self.checks, check])
            show(check, **{"text/html": check._repr_html_(), CHECK: as_json(asdict(check))})

    def passed(self, check: str) -> bool:
        """Whether this check was made, and passed."""
        return any(one.name == check and one.outcome == "PASS" for one in self.checks)

    def scene(self, wanted: str, **inputs: Any) -> dict[str, Any]:
        """Return the inputs. On a sandbox a scene is built first, whose inputs take the place of
        those that are empty; a real service is used as it is, which is a SKIP.

        ConfigError: there is no such scene."""
        sandbox = self.client.sandbox
        if sandbox is None:
            self.add(Check("a scene to look at", "SKIP", f"{self.client.name} is used as it is"))
            return inputs
        show(f"the sandbox's scene: {wanted}")
        made = build(self.name, sandbox, wanted, inputs.get("tz", "UTC"))
        return {**inputs, **{k: v for k, v in made.items() if not inputs.get(k)}}

    def verdict(self) -> Checklist:
        """All checks with their verdict, the last output of a runbook."""
        return self.checks
