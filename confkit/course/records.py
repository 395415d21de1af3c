"""What an exercise is, and what is found of an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ..secret import mask
from ..text import as_it_is

if TYPE_CHECKING:
    from ..client import Client

_WORDS = {True: "right", False: "not yet right", None: "open"}
_SHADES = {True: "#d9eedd", False: "#f9d9d4", None: "#e8e8e8"}


class Judged(NamedTuple):
    """Whether an answer is right, and what is said of it."""

    right: bool
    told: str


def yes(told: str) -> Judged:
    """The answer is right; `told` says what is good about it."""
    return Judged(True, told)


def no(told: str) -> Judged:
    """The answer is wrong; `told` says which mistake it was and what to do."""
    return Judged(False, told)


Judge = Callable[[Any, Any], Judged]


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: its `name`, the stem of its `notebook`, the `question`, the `judge` of answers
    and a `solution`, the Python text that gives a right one. With `needs_client` the judge looks at
    the sandbox through a client."""

    name: str
    notebook: str
    question: str
    judge: Judge = field(repr=False)
    solution: str = field(repr=False)
    needs_client: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of an answer to an `exercise`: whether it is `right` (None: there is no answer
    yet, or it could not be looked at) and what is `told`. Nothing secret stands in it."""

    exercise: str
    right: bool | None
    told: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "told", mask(self.told))

    @property
    def word(self) -> str:
        """right, not yet right, or open."""
        return _WORDS[self.right]

    def __repr__(self) -> str:
        return f"[{self.word}] {self.exercise}\n{self.told}"

    def _repr_html_(self) -> str:
        return as_it_is(
            f"<p><b style='background:{_SHADES[self.right]};color:#1a1a1a;padding:1px 7px;"
            f"border-radius:3px'>{self.word}</b> <b>{escape(self.exercise)}</b></p>"
            f"<p style='max-width:46em'>{escape(self.told)}</p>"
        )


def sandbox_of(client: Client | None) -> str | None:
    """Why an exercise cannot look at a sandbox through this client; None when it can."""
    from ..client import Client

    if client is None:
        return "This exercise looks at the sandbox: give your client as the third argument."
    if not issubclass(type(client), Client):
        return "The third argument is the client that ck.connect gave you, and this is none."
    if client.sandbox is None:
        return (
            'The course checks on the sandbox only: client = ck.connect("sandbox"). '
            "On this service nothing was looked at and nothing was changed."
        )
    return None
