"""Checks with a verdict each, and the verdict of all of them: what doctor and runbooks say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Literal, get_args

from .secret import mask
from .text import as_it_is, as_json, one_line

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["PASS", "FAIL", "UNKNOWN", "SKIP"]
_EXIT = {"PASS": 0, "FAIL": 1, "UNKNOWN": 2}
_SHADES = {
    "PASS": "#d9eedd",
    "FAIL": "#f9d9d4",
    "UNKNOWN": "#fbe9c2",
    "SKIP": "#e8e8e8",
    "seen": "#d9eedd",
    "open": "#fbe9c2",
    "running": "#fbe9c2",
}


def verdict_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, verdict: int, name: int
) -> str:
    """Return an HTML table of these rows of text; `verdict` and `name` are the places of the column
    that is coloured and of that which names the row."""
    left = "style='text-align:left;vertical-align:top'"

    def shown(place: int, cell: str) -> str:
        written = _badge(cell) if place == verdict else escape(cell)
        if place == name:
            return f"<th scope='row' {left}>{written}</th>"
        return f"<td {left}>{written}</td>"

    top = "".join(f"<th scope='col' {left}>{head}</th>" for head in heads)
    lines = ("".join(shown(place, cell) for place, cell in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def checks_table(checks: Iterable[Check]) -> str:
    """Return an HTML table of checks."""
    rows = [(check.verdict, check.check, check.found, check.advice) for check in checks]
    return verdict_table(("verdict", "check", "found", "next"), rows, verdict=0, name=1)


def _badge(verdict: str) -> str:
    return (
        f"<b style='background:{_SHADES[verdict]};color:#1a1a1a;padding:1px 7px;"
        f"border-radius:3px'>{verdict}</b>"
    )


@dataclass(frozen=True, slots=True)
class Check:
    """One `check` by its name, its `verdict`, what was `found`, and the next step (`advice`, empty
    where there is none). Secrets in the texts show as ***, each is one line."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Verdict):
            known = ", ".join(get_args(Verdict))
            raise ValueError(f"a verdict is one of {known}, not {self.verdict!r}")
        for name in ("check", "found", "advice"):
            object.__setattr__(self, name, one_line(mask(getattr(self, name))))

    def __str__(self) -> str:
        text = f"{self.verdict:<7} {self.check}: {self.found}"
        return f"{text}\n     -> {self.advice}" if self.advice else text

    def _repr_html_(self) -> str:
        text = f"{_badge(self.verdict)} <b>{escape(self.check)}</b>: {escape(self.found)}"
        next_step = f"<br>&rarr; {escape(self.advice)}" if self.advice else ""
        return as_it_is(f"<div>{text}{next_step}</div>")


class Checklist(tuple[Check, ...]):
    """Checks in their order, with one verdict; `print` shows text, a notebook a table."""

    __slots__ = ()

    @property
    def verdict(self) -> Verdict:
        """FAIL where a check failed, else UNKNOWN where one could not be known or none passed, else
        PASS; what was skipped does not count."""
        verdicts = {check.verdict for check in self}
        if "FAIL" in verdicts:
            return "FAIL"
        return "PASS" if "PASS" in verdicts and "UNKNOWN" not in verdicts else "UNKNOWN"

    @property
    def ok(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict == "PASS"

    @property
    def exit_status(self) -> int:
        """0 for PASS, 1 for FAIL, 2 for UNKNOWN."""
        return _EXIT[self.verdict]

    def to_frame(self) -> pd.DataFrame:
        """One row per check: check, verdict, found, advice (texts)."""
        import pandas as pd

        names = ["check", "verdict", "found", "advice"]
        return pd.DataFrame([asdict(check) for check in self], columns=names, dtype="str")

    def as_json(self) -> str:
        """The verdict and the checks as one JSON object."""
        checks = [asdict(check) for check in self]
        return as_json({"verdict": self.verdict, "checks": checks})

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join([*map(str, self), f"{self.verdict:<7} over all"])

    def _repr_html_(self) -> str:
        return as_it_is(f"<p><b>{_badge(self.verdict)} over all</b></p>{checks_table(self)}")
