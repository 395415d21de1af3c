"""`Check` and `Checklist`: the results of preflight, doctor and runbooks, as one table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Literal, get_args

from .secret import redact
from .text import one_line, without_maths

Outcome = Literal["FAIL", "UNKNOWN", "PASS", "SKIP"]  # what is wrong comes first
_COLOURS = {"PASS": "#d9eedd", "FAIL": "#f9d9d4", "SKIP": "#e8e8e8", "seen": "#d9eedd"}
_PENDING = "#fbe9c2"  # of UNKNOWN, and of checks that are pending
_LEFT = "style='text-align:left;vertical-align:top'"


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check, its detail, and the next step.

    `outcome` is PASS, FAIL, UNKNOWN or SKIP; `advice`, the next step, may be empty, and `seconds`
    None. Secrets in the texts are masked, and each text is one line. ValueError: another outcome.
    """

    name: str
    outcome: Outcome
    detail: str
    advice: str = ""
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.outcome not in get_args(Outcome):
            outcomes = ", ".join(get_args(Outcome))
            raise ValueError(f"an outcome is one of {outcomes}, not {self.outcome!r}")
        for field in ("name", "detail", "advice"):
            object.__setattr__(self, field, one_line(redact(str(getattr(self, field)))))

    def __str__(self) -> str:
        time = f" ({_milliseconds(self.seconds)})" if self.seconds is not None else ""
        detail = f": {self.detail}" if self.detail else ""
        text = f"{self.outcome:<7} {self.name}{detail}{time}"
        return f"{text}\n     -> {self.advice}" if self.advice else text


class Checklist(tuple[Check, ...]):
    """Checks in order, with one verdict; `print` shows text, a notebook a table."""

    __slots__ = ()

    @property
    def verdict(self) -> Outcome:
        """FAIL if a check failed, else UNKNOWN if one is unknown or none passed, else PASS.

        Skipped checks do not count."""
        outcomes = {check.outcome for check in self}
        if "FAIL" in outcomes:
            return "FAIL"
        return "PASS" if "PASS" in outcomes and "UNKNOWN" not in outcomes else "UNKNOWN"

    @property
    def exit_status(self) -> int:
        """0 for PASS, 1 for FAIL, 2 for UNKNOWN."""
        return ("PASS", "FAIL", "UNKNOWN").index(self.verdict)

    def as_json(self, **fields: str) -> str:
        """Return these fields, the verdict and the checks as one JSON object."""
        checks = [asdict(check) for check in self]
        return json.dumps({**fields, "verdict": self.verdict, "checks": checks})

    def __repr__(self) -> str:
        return "\n".join([*map(str, self), f"Overall: {self.verdict}"])

    def _repr_html_(self) -> str:
        # What is wrong comes first: sorting keeps the order of what is equal.
        order = sorted(self, key=lambda check: get_args(Outcome).index(check.outcome))
        overall = f"<p><b>Overall: {_badge(self.verdict)}</b></p>"
        return without_maths(overall + checks_table(order))


def checks_table(checks: Iterable[Check]) -> str:
    """Return an HTML table of checks; next steps and times are columns where a check has one."""
    headings = ("outcome", "check", "detail", "next step", "time")
    rows = [
        (check.outcome, check.name, check.detail, check.advice, _milliseconds(check.seconds))
        for check in checks
    ]
    columns = list(zip(headings, *rows, strict=True))
    columns = columns[:3] + [column for column in columns[3:] if any(column[1:])]
    names, *table = zip(*columns, strict=True)
    return outcome_table(names, table)


def outcome_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of texts; the first column is an outcome, the second names the row."""
    head = "".join(f"<th scope='col' {_LEFT}>{heading}</th>" for heading in headings)
    body = ""
    for outcome, name, *texts in rows:
        cells = "".join(f"<td {_LEFT}>{escape(text)}</td>" for text in texts)
        body += (
            f"<tr><td {_LEFT}>{_badge(outcome)}</td>"
            f"<th scope='row' {_LEFT}>{escape(name)}</th>{cells}</tr>"
        )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:,.1f} ms"


def _badge(outcome: str) -> str:
    colour = _COLOURS.get(outcome, _PENDING)
    return (
        f"<b style='background:{colour};color:#1a1a1a;padding:1px 7px;border-radius:3px'>"
        f"{outcome}</b>"
    )
