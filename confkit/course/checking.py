"""Checks an answer, and lists the exercises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from ..errors import ConfigError, ConfkitError
from . import kept
from .handed import completed, failed, handed
from .lessons import EXERCISES
from .records import Exercise, Finding, sandbox_of

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

_CLOSED = (
    "It could not be checked, as this {} is closed. Connect again "
    '(client = ck.connect("sandbox")), do the exercise there, and check it then.'
)


def check(name: str, answer: object, client: Client | None = None) -> Finding:
    """What is found of an answer: right or not, and for the usual mistakes which one it was.

    None and `...` are no answer yet. A wrong answer of whatever type raises nothing, and what a
    function that is handed in raises is told, masked. `client`, one of the sandbox, is needed where
    the exercise looks at what was done there. The outcome counts in `progress`; the answer itself
    is neither kept nor quoted. Where the client or its sandbox was closed meanwhile, another one is
    used, and what that cannot show stays open. ConfigError for an unknown name.
    """
    exercise = _named(name)
    if answer is None or answer is ...:
        return Finding(name, None, "No answer yet: put yours in the place of None and run again.")
    obstacle = sandbox_of(client) if exercise.needs_client else None
    if obstacle:
        return Finding(name, None, obstacle)
    given, calls = handed(answer)
    closed = _closed(client) if exercise.needs_client else ""
    with _open(client, closed) as through:
        try:
            judged = completed(exercise.judge(given, through), calls, client)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an answer is no reason to stop
            if isinstance(error, ConfkitError) and (calls is None or error is not calls.last):
                return Finding(name, None, f"It could not be checked. {error}")
            judged = failed(answer, calls, error, client)
    # What was done in a sandbox went with it, and a function may ask through what was closed.
    if not judged.right and (closed == "sandbox" or (closed and calls is not None)):
        return Finding(name, None, _CLOSED.format(closed))
    kept.keep(name, judged.right)
    return Finding(name, judged.right, judged.told)


def exercises() -> pd.DataFrame:
    """One row an exercise, in the course's order: exercise, notebook, question (texts)."""
    import pandas as pd

    rows = [(exercise.name, exercise.notebook, exercise.question) for exercise in EXERCISES]
    return pd.DataFrame(rows, columns=["exercise", "notebook", "question"], dtype="str")


def _closed(client: Client | None) -> Literal["", "client", "sandbox"]:
    """What of a sandbox's client was closed: the sandbox, the client alone, or nothing."""
    if client is None or client.sandbox is None:
        return ""
    if client.sandbox.closed:
        return "sandbox"
    try:
        client._is_open()
    except ConfigError:
        return "client"
    return ""


@contextmanager
def _open(client: Client | None, closed: str) -> Iterator[Client | None]:
    """The client to judge with: another one of the same sandbox where it was closed, and one of a
    new sandbox where that was, in which a function can still show that it is right."""
    if not closed or client is None or client.sandbox is None:
        yield client
    elif closed == "client":
        with client.sandbox.connect() as other:
            yield other
    else:
        from ..sandbox import Sandbox

        with Sandbox() as sandbox, sandbox.connect() as other:
            yield other


def _named(name: str) -> Exercise:
    for exercise in EXERCISES:
        if exercise.name == name:
            return exercise
    raise ConfigError(
        "there is no exercise of this name",
        f"There are {', '.join(exercise.name for exercise in EXERCISES)}.",
    )
