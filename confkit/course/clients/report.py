"""What a client gets right, wrong or does not know: a row each, and a table of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

from ...markup import as_it_is
from ...printable import as_json, one_line

if TYPE_CHECKING:
    import pandas as pd

RowVerdict = Literal["right", "wrong", "missing"]
_SHADES = {"right": "#d9eedd", "wrong": "#f9d9d4", "missing": "#e8e8e8"}


@dataclass(frozen=True, slots=True)
class ClientRow:
    """A `row` of the contract with its `title`, the `verdict` of all its runs and, where that is
    not right, `why`, with the service and the operation in which it showed; what it quotes of the
    client is masked."""

    row: str
    title: str
    verdict: RowVerdict
    why: str = ""

    def __str__(self) -> str:
        told = one_line(f"{self.verdict:<8}{self.row:<12}{self.title}")
        return f"{told}\n{'':8}-> {one_line(self.why)}" if self.why else told


@dataclass(frozen=True, slots=True)
class ClientCheck:
    """All `rows`, in the contract's order; `print` shows text, a notebook a table."""

    rows: tuple[ClientRow, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows are right, wrong and missing."""
        counted = Counter(row.verdict for row in self.rows)
        return {verdict: counted[verdict] for verdict in _SHADES}  # type: ignore[index]

    @property
    def ok(self) -> bool:
        """Whether every row is right."""
        return self.exit_status == 0

    @property
    def exit_status(self) -> int:
        """0 where all is right, 1 where a row is wrong, 2 where rows are only missing."""
        counts = self.counts
        return 1 if counts["wrong"] else 2 if counts["missing"] else 0

    @property
    def told(self) -> str:
        """The counts in words."""
        return ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items())

    def to_frame(self) -> pd.DataFrame:
        """One row a row of the contract: row, title, verdict, why (texts)."""
        import pandas as pd

        names = ["row", "title", "verdict", "why"]
        return pd.DataFrame([asdict(row) for row in self.rows], columns=names, dtype="str")

    def as_json(self) -> str:
        """The counts and the rows as one JSON object."""
        rows = [asdict(row) for row in self.rows]
        return as_json({"counts": self.counts, "rows": rows})

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rows), self.told])

    def _repr_html_(self) -> str:
        left = "style='text-align:left;vertical-align:top'"
        heads = "".join(
            f"<th scope='col' {left}>{name}</th>" for name in ("row", "", "verdict", "why")
        )
        rows = "".join(
            f"<tr><th scope='row' {left}>{escape(row.row)}</th><td {left}>{escape(row.title)}</td>"
            f"<td {left}>{_badge(row.verdict)}</td><td {left}>{escape(row.why)}</td></tr>"
            for row in self.rows
        )
        return as_it_is(
            f"<p><b>{escape(self.told)}</b></p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        )


def _badge(verdict: str) -> str:
    return (
        f"<b style='background:{_SHADES[verdict]};color:#1a1a1a;padding:1px 7px;"
        f"border-radius:3px'>{verdict}</b>"
    )
