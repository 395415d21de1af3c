"""Checks an answer, and lists the exercises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigError, ConfkitError
from . import kept
from .handed import completed, failed, handed
from .lessons import EXERCISES
from .records import Exercise, Finding, sandbox_of

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client


def check(name: str, answer: object, client: Client | None = None) -> Finding:
    """What is found of an answer: right or not, and for the usual mistakes which one it was.

    None and `...` are no answer yet. A wrong answer of whatever type raises nothing, and what a
    function that is handed in raises is told, masked. `client`, one of the sandbox, is needed where
    the exercise looks at what was done there. The outcome counts in `progress`; the answer itself
    is neither kept nor quoted. ConfigError for an unknown name.
    """
    exercise = _named(name)
    if answer is None or answer is ...:
        return Finding(name, None, "No answer yet: put yours in the place of None and run again.")
    obstacle = sandbox_of(client) if exercise.needs_client else None
    if obstacle:
        return Finding(name, None, obstacle)
    given, calls = handed(answer)
    try:
        judged = completed(exercise.judge(given, client), calls, client)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # an answer is no reason to stop
        if isinstance(error, ConfkitError) and (calls is None or error is not calls.last):
            return Finding(name, None, f"It could not be checked. {error}")
        judged = failed(answer, calls, error, client)
    kept.keep(name, judged.right)
    return Finding(name, judged.right, judged.told)


def exercises() -> pd.DataFrame:
    """One row an exercise, in the course's order: exercise, notebook, question (texts)."""
    import pandas as pd

    rows = [(exercise.name, exercise.notebook, exercise.question) for exercise in EXERCISES]
    return pd.DataFrame(rows, columns=["exercise", "notebook", "question"], dtype="str")


def _named(name: str) -> Exercise:
    for exercise in EXERCISES:
        if exercise.name == name:
            return exercise
    raise ConfigError(
        f"there is no exercise of this name; there are "
        f"{', '.join(exercise.name for exercise in EXERCISES)}."
    )
