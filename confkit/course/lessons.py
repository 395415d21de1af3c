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


def _judged(row: Row, answer: Any, _: Any) -> Hints:
    """Judge an answer by its row: at each place one word is right, and the others have hints."""
    right, is_function = row["right"], isinstance(answer, Function)
    hints = {
        word: hint for words, hint in row.get("hints", {}).items() for word in words.split(" | ")
    }
    found = {} if is_function else _places(answer, row)
    if not is_function and found.keys() != right.keys():
        yield f"{row['form']}: {len(found)} came."
    count = sum(found.get(place) == due for place, (due, *_) in right.items())
    for place, (due, why, *call) in right.items():
        if is_function:
            try:
                word = _gives(answer, json.loads(call[0]), row)
            except Raised as raised:
                yield f"For {place} your function {raised}. {why}"
            why = f"{json.loads(due)!r} is right. {why}".strip()
        else:
            word = found[place]
            why = why if word in row.get("words", [word]) else row["unknown"]
        if word != due:
            why = hints.get(f"{place} {word}", hints.get(word, why))
            yield row.get("says", "For {place}: {why}").format(count=count, place=place, why=why)
    return str(row["well"])


def _gives(function: Function, given: list[Any], row: Row) -> str:
    """Return what a function gives for these arguments, as JSON."""
    if row.get("bytes"):
        given[-1] = given[-1].encode()
    found = function(*given)
    made = list(found.values()) if isinstance(found, Mapping) else found
    return json.dumps(made, default=int)  # numbers of pandas are numbers too


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


def _exercise(name: str, row: Row) -> Exercise:
    judge: Judge = partial(_judged, row)
    for module in (by_hand, in_sandbox):
        judge = getattr(module, name.replace("-", "_"), judge)
    return Exercise(name, row["notebook"], row["takes"], judge, row.get("sandbox", False))


_ROWS = tomllib.loads(files(__package__).joinpath("lessons.toml").read_text("utf-8"))
EXERCISES = tuple(_exercise(name, row) for name, row in _ROWS.items())
