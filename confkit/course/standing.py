"""How far a learner has come, as a table."""

from __future__ import annotations

from collections import Counter
from html import escape
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConfigError
from . import kept
from .lessons import EXERCISES

if TYPE_CHECKING:
    import pandas as pd

NOT_YET = "not yet"
_SHADES = {"right": "#d9eedd", "tried": "#fbe9c2", NOT_YET: "#e8e8e8"}
_NOT_KEPT = (
    "Outcomes cannot be kept here: the file cannot be written. "
    "CONFKIT_COURSE names another place for it."
)


class Standing(NamedTuple):
    """How an exercise of a notebook stands: right, tried or not yet."""

    notebook: str
    exercise: str
    outcome: str


class Progress(tuple[Standing, ...]):
    """The exercises in their order, each with its outcome; `print` shows text, a notebook a
    table."""

    __slots__ = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of exercises that are right, tried and not yet tried."""
        found = Counter(standing.outcome for standing in self)
        return {outcome: found[outcome] for outcome in _SHADES}

    def to_frame(self) -> pd.DataFrame:
        """One row an exercise: notebook, exercise, outcome (texts)."""
        import pandas as pd

        return pd.DataFrame(list(self), columns=list(Standing._fields), dtype="str")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [self._all()]
        for notebook, standings in groupby(self, attrgetter("notebook")):
            lines.append(notebook)
            lines += [f"  {standing.outcome:<8} {standing.exercise}" for standing in standings]
        return "\n".join([*lines, *self._trouble()])

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        badge = "color:#1a1a1a;padding:1px 7px;border-radius:3px;white-space:nowrap"
        rows = ""
        for notebook, standings in groupby(self, attrgetter("notebook")):
            badges = " ".join(
                f"<span style='background:{_SHADES[standing.outcome]};{badge}'>"
                f"{escape(standing.exercise)}: {standing.outcome}</span>"
                for standing in standings
            )
            head = f"<th scope='row' {left}>{escape(notebook)}</th>"
            rows += f"<tr>{head}<td {left}>{badges}</td></tr>"
        trouble = "".join(f"<p>{escape(text)}</p>" for text in self._trouble())
        return f"<p><b>{self._all()}</b></p><table><tbody>{rows}</tbody></table>{trouble}"

    def _all(self) -> str:
        counts = self.counts
        told = f"{counts['right']} of {len(self)} right"
        return f"{told}, {counts['tried']} tried" if counts["tried"] else told

    def _trouble(self) -> list[str]:
        return [] if kept.writable() else [_NOT_KEPT]


def progress(notebook: str | None = None) -> Progress:
    """How all exercises stand, or those of one notebook ("02" or its whole name).

    Outcomes are kept over kernels and days, in the user's state folder or in the file that
    CONFKIT_COURSE names. ConfigError for a notebook without exercises.
    """
    outcomes = kept.outcomes()
    found = Progress(
        Standing(exercise.notebook, exercise.name, outcomes.get(exercise.name, NOT_YET))
        for exercise in EXERCISES
        if notebook is None or notebook in (exercise.notebook, exercise.notebook[:2])
    )
    if not found and notebook is not None:
        notebooks = dict.fromkeys(exercise.notebook for exercise in EXERCISES)
        raise ConfigError(
            "no notebook of this name has exercises", f"There are {', '.join(notebooks)}."
        )
    return found
