"""The exercises of `lessons.toml`, in the course's order, and the judges of those whose answers
stand there: values, and functions by the values that they give."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

from . import by_hand, in_sandbox
from .judged import Function, Hints, Judge, Raised

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: its `name`, the stem of its `notebook`, the kind of answer that it `takes`, and
    the `judge` of such answers. With `needs_client` the judge looks at the sandbox through a
    client."""

    name: str
    notebook: str
    takes: str
    judge: Judge = field(repr=False)
    needs_client: bool = False


def _value(row: Row, answer: Any, _: Any) -> Hints:
    """Judge an answer by the values in a row."""
    right, given = row["right"], _places(answer, row)
    if given.keys() != right.keys():
        yield f"{row['form']}: {len(given)} came."
    hints = _by_answer(row["hints"])
    wrong = [place for place, (due, _) in right.items() if given[place] != due]
    for place in wrong:
        word, why = given[place], right[place][1]
        if word not in row.get("words", [word]):
            why = row["unknown"]
        why = hints.get(f"{place} {word}", hints.get(word, why))
        yield row["says"].format(count=len(right) - len(wrong), place=place, why=why)
    return str(row["well"])


def _places(answer: Any, row: Row) -> dict[str, str]:
    """Return the words of an answer by their places: of a list where places are numbers, of a dict
    by name, as JSON; of a list that is one answer, and of a single value, by an empty name."""
    if isinstance(answer, Mapping):
        quotes = '" ' if row.get("quoted") else ""
        return {
            str(name): json.dumps(one, default=lambda _: "").strip(quotes or None)
            for name, one in answer.items()
        }
    if not isinstance(answer, list):
        return {"": str(answer)}
    words = [str(word).strip().lower() for word in answer]
    if "" in row["right"]:
        return {"": " ".join(sorted(set(words)) if row.get("sorted") else words)}
    return {str(number): word for number, word in enumerate(words, start=1)}


def _tried(row: Row, function: Function, _: Any) -> Hints:
    """Judge a function by what it gives in each case of a row."""
    for case in row["cases"]:
        given = json.loads(case["given"])
        if row.get("bytes"):
            given[-1] = given[-1].encode()
        why = case.get("why", "")
        try:
            found = function(*given)
        except Raised as raised:
            yield f"For {case['what']} your function {raised}. {why}"
        made = list(found.values()) if isinstance(found, Mapping) else found
        text = json.dumps(made, default=int)  # numbers of pandas are numbers too
        if text != case["due"]:
            hints = _by_answer(row["hints"] | case.get("hints", {}))
            right = f"{json.loads(case['due'])!r} is right. {why}".strip()
            yield f"For {case['what']}: {hints.get(text, right)}"
    return str(row["well"])


def _by_answer(hints: Mapping[str, str]) -> dict[str, str]:
    return {answer: hint for answers, hint in hints.items() for answer in answers.split(" | ")}


def _exercise(name: str, row: Row) -> Exercise:
    judge: Judge = partial(_tried if row["takes"] == "function" else _value, row)
    for module in (by_hand, in_sandbox):
        judge = getattr(module, name.replace("-", "_"), judge)
    return Exercise(name, row["notebook"], row["takes"], judge, row.get("sandbox", False))


_ROWS = tomllib.loads(files(__package__).joinpath("lessons.toml").read_text("utf-8"))
EXERCISES = tuple(_exercise(name, row) for name, row in _ROWS.items())
