"""How far a learner has come, in a small file: names of exercises and outcomes, never answers.

A line of JSON for each outcome, added at the end: two kernels that write at the same time lose
nothing, and a damaged line spoils no other.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConfigError
from .lessons import EXERCISES

if TYPE_CHECKING:
    import pandas as pd

_LINE = re.compile(r'^\{"exercise": "([^"\\]+)", "outcome": "(tried|right)"\}$', re.MULTILINE)
_SHADES = {
    "right": "#d9eedd",
    "tried": "#fbe9c2",
    "not yet": "#e8e8e8",
    "open": "#e8e8e8",
    "not yet right": "#f9d9d4",
}
_NOT_KEPT = (
    "Outcomes cannot be kept here: the file cannot be written. "
    "CONFKIT_COURSE names another place for it."
)


def path() -> Path:
    """Return the file: CONFKIT_COURSE, else one in the user's state folder."""
    named = os.environ.get("CONFKIT_COURSE", "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_state_dir("confkit", appauthor=False)) / "course.jsonl"


def outcomes() -> Mapping[str, str]:
    """Return "right" or "tried" by exercise; what was right once stays right."""
    try:
        lines = _LINE.findall(path().read_text("utf-8", "replace"))
    except (OSError, RuntimeError, ValueError):  # no file, no home, no path
        return {}
    return dict(sorted(lines, key=lambda line: line[1] == "right"))


def keep(name: str, right: bool) -> bool:
    """Keep an outcome; False where the file cannot be written, which stops nobody."""
    outcome = "right" if right else "tried"
    if outcomes().get(name) in (outcome, "right"):
        return True
    # A line end first: what a cut-off write left behind then stays on a line of its own.
    return _appended("\n" + json.dumps({"exercise": name, "outcome": outcome}) + "\n")


def _appended(text: str) -> bool:
    """Whether a text could be added to the file, for its owner alone."""
    try:
        where = path()
        where.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(text.encode())
    except (OSError, RuntimeError, ValueError):
        return False
    return True


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
        return {outcome: found[outcome] for outcome in ("right", "tried", "not yet")}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per exercise: notebook, exercise, outcome (texts)."""
        import pandas as pd

        return pd.DataFrame(list(self), columns=list(Standing._fields), dtype="str")

    def __repr__(self) -> str:
        lines = [self._all()]
        for notebook, standings in self._by_notebook():
            lines.append(notebook)
            lines += [f"  {standing.outcome:<8} {standing.exercise}" for standing in standings]
        return "\n".join(lines if _appended("") else [*lines, _NOT_KEPT])

    def _repr_html_(self) -> str:
        left = "style='text-align:left'"
        lines = [f"<p><b>{self._all()}</b></p><table><tbody>"]
        for notebook, standings in self._by_notebook():
            shown = (badge(one.outcome, f"{one.exercise}: {one.outcome}") for one in standings)
            name = f"<th scope='row' {left}>{escape(notebook)}</th>"
            lines.append(f"<tr>{name}<td {left}>{' '.join(shown)}</td></tr>")
        trouble = "" if _appended("") else f"<p>{_NOT_KEPT}</p>"
        return "".join([*lines, "</tbody></table>", trouble])

    def _by_notebook(self) -> Iterator[tuple[str, Iterator[Standing]]]:
        return groupby(self, lambda standing: standing.notebook)

    def _all(self) -> str:
        right, tried, _ = self.counts.values()
        return f"{right} of {len(self)} right" + (f", {tried} tried" if tried else "")


def progress(notebook: str | None = None) -> Progress:
    """Return how all exercises stand, or those of one notebook ("2", "02" or its whole name).

    Outcomes are kept over kernels and days, in the user's state folder or in the file that
    CONFKIT_COURSE names. ConfigError for a notebook without exercises.
    """
    reached = outcomes()
    notebooks = dict.fromkeys(exercise.notebook for exercise in EXERCISES)
    wanted = [
        name for name in notebooks if notebook in (None, name, name[:2], name[:2].lstrip("0"))
    ]
    if not wanted:
        raise ConfigError(
            "no notebook of this name has exercises", f"There are {', '.join(notebooks)}."
        )
    return Progress(
        Standing(exercise.notebook, exercise.name, reached.get(exercise.name, "not yet"))
        for exercise in EXERCISES
        if exercise.notebook in wanted
    )


def badge(word: str, shown: str = "") -> str:
    """Return an outcome as HTML: a word on its colour."""
    style = "color:#1a1a1a;padding:1px 7px;border-radius:3px;white-space:nowrap"
    return f"<span style='background:{_SHADES[word]};{style}'>{escape(shown or word)}</span>"
