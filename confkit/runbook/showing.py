"""How a check and a verdict show: a line or a table to people, data to the command."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from ..checklist import Check, Checklist
from ..text import as_json, say

CHECK = "application/vnd.confkit.check+json"
VERDICT = "application/vnd.confkit.verdict+json"


class Line:
    """A check as its own output: text, a coloured line in a notebook, data for the command."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def __repr__(self) -> str:
        return str(self.check)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """All three, by their kinds."""
        return {
            "text/plain": str(self.check),
            "text/html": self.check._repr_html_(),
            CHECK: as_json(asdict(self.check)),
        }


class Outcome(Checklist):
    """The checks of a runbook and its verdict; its output holds them as data too."""

    __slots__ = ()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_(), VERDICT: self.as_json()}


def show(what: object) -> None:
    """Shows it at once: as an output of the cell, or as text outside a notebook."""
    if "IPython" in sys.modules:
        from IPython.display import display

        display(what)
    else:
        say(what)
