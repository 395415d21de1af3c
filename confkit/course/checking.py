"""Checks the answers whose diagnosis teaches; what is right, and each hint, stand in answers.toml.

A judge returns the hint for a wrong answer, and None for a right one. No hint quotes an answer: it
may be a secret.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from textwrap import fill
from typing import Any
from urllib.parse import unquote_plus

from ..dialect import Dialect
from ..errors import ConfigError
from ..operations import A6
from ..rooms import create_room
from ..sandbox import Sandbox
from ..sandbox.signatures import Kind, Parts, mistakes
from ..secret import redact
from ..text import counted

Row = Mapping[str, Any]
Call = tuple[Row, tuple[Any, ...]]  # a row of answers.toml, and the arguments that it stands for

# Published with the interface's vectors: nobody's secret.
_EXAMPLE = Parts(
    "demo_access", "demo_secret", random="abc", key="def", earlier=(("123", "456"), ("uvw", "xyz"))
)
_EXERCISES: Mapping[str, Row] = tomllib.loads(
    files(__package__).joinpath("answers.toml").read_text("utf-8")
)


@dataclass(frozen=True, slots=True)
class Feedback:
    """What `check` says of an answer to an `exercise`: whether it is `right` (None where there is
    no answer yet), and a `message`, in which no secret stands."""

    exercise: str
    right: bool | None
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", redact(self.message))

    def __repr__(self) -> str:
        verdict = {True: "right", False: "not yet right", None: "open"}[self.right]
        return fill(f"[{verdict}] {self.message}", 88)


def check(name: str, answer: object) -> Feedback:
    """Return whether the answer to an exercise is right, and for a usual mistake which one it was.

    None and `...` are no answer yet. A wrong answer of any type raises nothing, and is not quoted.
    ConfigError for an unknown name.
    """
    if name not in _EXERCISES:
        raise ConfigError("there is no such exercise", f"There are {', '.join(_EXERCISES)}.")
    row = _EXERCISES[name]
    if answer is None or answer is ...:
        return Feedback(name, None, "No answer yet: replace None with yours and run the cell.")
    # What is no plain text may raise when it is looked at.
    has_type = callable(answer) if "calls" in row else type(answer) is str
    hint = _JUDGES[name](row, answer) if has_type else row["asks"]
    return Feedback(name, hint is None, hint or row["confirms"])


def _judge_signature(kind: Kind, row: Row, answer: str) -> str | None:
    reasons = mistakes(kind, answer, _EXAMPLE, Dialect())
    if reasons:
        text = "; and ".join(reasons)
        return f"{text[:1].upper()}{text[1:]}."
    if reasons == ():
        return None
    if len(answer.split()) > 1:
        return str(row["blanks"])
    size = f" It has {counted(len(answer), 'character')}; 56 are right."
    return str(row["otherwise"]) + size * (len(answer) != 56)


def _judge_parameter(row: Row, answer: str) -> str | None:
    """Take the first hint whose pattern fits; then what the parameter brings has to be right."""
    for hint in row["hints"]:
        if re.search(hint["pattern"], answer):
            return str(hint["hint"])
    value: Any = unquote_plus(answer.partition(f"{row['parameter']}=")[2].partition("&")[0])
    if isinstance(row["value"], dict):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(row["otherwise"])
    return None if value == row["value"] else str(row["otherwise"])


def _judge_reading(row: Row, answer: Any) -> str | None:
    calls = ((call, (call["status"], call["body"].encode())) for call in row["calls"])
    return _first_mistake(row, answer, calls)


def _judge_counting(row: Row, answer: Any) -> str | None:
    """Call the function with rooms of a sandbox of its own, which fails as each row says."""
    with Sandbox() as sandbox, sandbox.connect(sleep=lambda _: None) as client:
        rooms = {"unknown": "0000000000"}
        for name in ("two", "empty"):
            rooms[name] = create_room(client, name, owner_id="course")
        for person in ("Ada", "Grace"):
            sandbox.join(rooms["two"], person)

        def calls() -> Iterator[Call]:
            for call in row["calls"]:
                sandbox.clear_faults()
                if "fault" in call:
                    sandbox.fault(A6.path, **call["fault"])
                yield call, (client, rooms[call["room"]])

        return _first_mistake(row, answer, calls())


def _first_mistake(row: Row, function: Any, calls: Iterable[Call]) -> str | None:
    """Return the hint for the first call that gives another number than the row's `right`, or none
    where that has none; to raise is to give none where the exercise says so (`may_raise`)."""
    for call, arguments in calls:
        right = call.get("right")
        try:
            is_right = _is_right(function(*arguments), right)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an answer does not end the check
            if right is None and row["may_raise"]:
                continue
            return f"For {call['case']} your function raised {type(error).__name__}. {call['hint']}"
        if not is_right:
            return f"For {call['case']} the answer is {right}. {call['hint']}"
    return None


def _is_right(result: Any, right: int | None) -> bool:
    import pandas as pd

    if right is None:  # NaN and NA are pandas' None
        return pd.isna(result) is True
    return type(result) is not bool and bool(result == right)


_JUDGES: dict[str, Callable[[Row, Any], str | None]] = {
    "digest": lambda row, answer: _judge_signature("digest", row, answer),
    "token": lambda row, answer: _judge_signature("token", row, answer),
    "token-in-url": _judge_parameter,
    "devices-options": _judge_parameter,
    "errors-read": _judge_reading,
    "errors-count": _judge_counting,
}
