"""Checks an answer to an exercise."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from html import escape
from typing import Any

from ..client import Client
from ..errors import ConfigError, ConfkitError
from ..secret import redact
from ..text import without_maths
from .judged import Function, Misfit, Raised, read
from .lessons import EXERCISES

_SHADES = {"right": "#d9eedd", "not yet right": "#f9d9d4", "open": "#e8e8e8"}
_ELSEWHERE = (
    "This exercise looks at the sandbox alone: give its client as the third argument, "
    'client = ck.connect("sandbox"). Nothing was looked at and nothing was changed.'
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of an answer to an `exercise`: whether it is `right` (None: there is no answer
    yet, or it could not be looked at) and what is `told`. Nothing secret stands in it."""

    exercise: str
    right: bool | None
    told: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "told", redact(self.told))

    @property
    def word(self) -> str:
        """right, not yet right, or open."""
        return {True: "right", False: "not yet right", None: "open"}[self.right]

    def __repr__(self) -> str:
        return f"[{self.word}] {self.exercise}\n{self.told}"

    def _repr_html_(self) -> str:
        style = "color:#1a1a1a;padding:1px 7px;border-radius:3px;white-space:nowrap"
        badge = f"<span style='background:{_SHADES[self.word]};{style}'>{self.word}</span>"
        return without_maths(
            f"<p><b>{badge} {escape(self.exercise)}</b></p>"
            f"<p style='max-width:46em'>{escape(self.told)}</p>"
        )


def check(name: str, answer: object, client: Client | None = None) -> Finding:
    """Return what is found of an answer: right or not, and for the usual mistakes which one it was.

    None and `...` are no answer yet. A wrong answer of whatever type raises nothing, and what a
    function that is handed in raises is shown, masked. `client`, one of the sandbox, is needed
    where the exercise looks at what was done there; where it was closed the answer stays open. The
    answer is neither kept nor quoted. ConfigError for an unknown name.
    """
    known = {exercise.name: exercise for exercise in EXERCISES}
    if name not in known:
        raise ConfigError("there is no exercise of this name", f"There are {', '.join(known)}.")
    exercise = known[name]
    if answer is None or answer is ...:
        return Finding(name, None, "No answer yet: put yours in the place of None and run again.")
    # Of whatever type it is: some raise where they are asked for their attributes.
    sandboxed = issubclass(type(client), Client) and client is not None and client.sandbox
    if exercise.needs_client and not sandboxed:
        return Finding(name, None, _ELSEWHERE)
    given: Any = None
    try:
        given = read(exercise.takes, answer, client)
        with closing(exercise.judge(given, client)) as hints:
            right, text = False, next(hints)
    except StopIteration as end:
        right, text = True, end.value
    except Misfit as misfit:
        right, text = False, str(misfit)
    except Raised as raised:
        right, text = False, f"Your function {raised}."
    except ConfkitError as error:
        return Finding(name, None, f"It could not be checked: {error}")
    except Exception:  # noqa: BLE001  # an answer is no reason to stop
        called = isinstance(given, Function) and given.gave
        kind = given.gave[-1] if called else type(answer).__name__
        text = f"{'Your function gave' if called else 'This is'} something of the type {kind}, "
        right, text = False, text + "which cannot be read. The question says what is asked for."
    if not right and isinstance(given, Function) and set(given.gave) == {"NoneType"}:
        text = f"It gave None: is a `return` missing? {text}"
    return Finding(name, right, text)
