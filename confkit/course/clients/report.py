"""What a client gets right, wrong or does not know: a row each, and a table of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Literal, get_args

from ...checklist import verdict_table
from ...text import as_it_is, as_json, one_line

if TYPE_CHECKING:
    import pandas as pd

RowVerdict = Literal["right", "wrong", "missing"]


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
        return {verdict: counted[verdict] for verdict in get_args(RowVerdict)}

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
        rows = [(row.row, row.title, row.verdict, row.why) for row in self.rows]
        table = verdict_table(("row", "", "verdict", "why"), rows, verdict=2, name=0)
        return as_it_is(f"<p><b>{escape(self.told)}</b></p>{table}")
