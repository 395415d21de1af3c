"""Judges of answers that are values, and of functions by the values that they give: `answers.toml`
holds the right ones, and hints for others."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..judged import Function, Hints, Judge, Raised


def value(exercise: str, **more: Any) -> Judge:
    """Return the judge of an exercise by its row of `answers.toml`, to which `more` adds."""

    def judge(answer: Any, _: Any) -> Hints:
        row = _row(exercise) | more
        right, given = row["right"], _places(answer, row)
        if given.keys() != right.keys():
            yield row.get("form", "Hand in as many as are asked for") + f": {len(given)} came."
        hints = _by_answer(row["hints"])
        wrong = [place for place, (due, _) in right.items() if given[place] != due]
        for place in wrong:
            word, why = given[place], right[place][1]
            if word not in row.get("words", [word]):
                why = row["unknown"]
            why = hints.get(f"{place} {word}", hints.get(word, why))
            yield row["says"].format(count=len(right) - len(wrong), place=place, why=why)
        well: str = row["well"]
        return well

    return judge


def tried(exercise: str) -> Judge:
    """Return the judge of a function by its row of `answers.toml`: it is called for each case."""

    def judge(function: Function, _: Any) -> Hints:
        row = _row(exercise)
        for case in row["cases"]:
            given = json.loads(case["given"])
            if row.get("bytes"):
                given[-1] = given[-1].encode()
            try:
                found = function(*given)
            except Raised as raised:
                yield f"For {case['what']} your function {raised}. {case.get('why', '')}"
            made = list(found.values()) if isinstance(found, Mapping) else found
            text = json.dumps(made, default=int)  # numbers of pandas are numbers too
            if text != case["due"]:
                hints = _by_answer(row["hints"] | case.get("hints", {}))
                right = f"{json.loads(case['due'])!r} is right. {case.get('why', '')}".strip()
                yield f"For {case['what']}: {hints.get(text, right)}"
        well: str = row["well"]
        return well

    return judge


def _by_answer(hints: dict[str, str]) -> dict[str, str]:
    return {answer: hint for answers, hint in hints.items() for answer in answers.split(" | ")}


def _row(exercise: str) -> dict[str, Any]:
    text = files(__package__).joinpath("answers.toml").read_text("utf-8")
    row: dict[str, Any] = tomllib.loads(text)[exercise]
    return row


def _places(answer: Any, row: Mapping[str, Any]) -> dict[str, str]:
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
