"""Deployments to probe: dialects combined at random."""

import random
from collections.abc import Iterator
from dataclasses import replace

from confkit.dialect import CHOICES, Dialect

SIGNATURES = [(name, form) for name in CHOICES["hash"] for form in CHOICES["signature"]]


def single() -> Iterator[Dialect]:
    """The usual dialect, and each that differs from it in one setting."""
    yield Dialect()
    for name, choices in CHOICES.items():
        yield from (Dialect(**{name: choice}) for choice in choices[1:])
    yield Dialect(token_parameter="access_tocken")
    yield Dialect(token_parameter="token")
    yield Dialect(mcu_token_parameter="token")
    yield Dialect(remove_token_parameter="accessToken")


def combined(count: int, seed: int) -> Iterator[Dialect]:
    """So many dialects in which every setting is drawn."""
    chance = random.Random(seed)
    for _ in range(count):
        drawn = {name: chance.choice(choices) for name, choices in CHOICES.items()}
        spelling = chance.choice(["access_token", "access_tocken", "token"])
        others = {None, "access_token", "token"} - {spelling}
        mcu = chance.choice(sorted(others, key=str))
        remove = chance.choice(["access_token", "accessToken"])
        yield Dialect(
            **drawn,
            token_parameter=spelling,
            mcu_token_parameter=mcu,
            remove_token_parameter=remove,
        )


def tellable(dialect: Dialect, guess: Dialect) -> Dialect:
    """The dialect as it can be told from outside: where nothing is a POST, nothing shows where a
    POST would carry its parameters, and the guess stays."""
    if (dialect.create_method, dialect.list_method) == ("GET", "GET"):
        return replace(dialect, placement=guess.placement)
    return dialect
