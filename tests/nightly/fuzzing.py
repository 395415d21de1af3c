"""Hypothesis as an attack: a property tried on seeded examples, and what broke it kept as text."""

import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import SearchStrategy

from .piece import Piece


def bounded(examples: int, shrink: bool = True, **more: Any) -> settings:
    """Settings under which nothing but the property fails: no database, no deadline, no check of
    how fast a busy machine makes its examples."""
    return settings(
        max_examples=max(1, examples),
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate, *[Phase.shrink] * shrink),
        **more,
    )


def explore(
    piece: Piece,
    examples: int,
    check: Callable[..., object],
    kept: Iterable[dict[str, Any]] = (),
    **strategies: SearchStrategy[Any],
) -> None:
    """Tries a property, first on the cases that broke it once; the smallest example that breaks it
    now is written down."""

    def prop(**values: Any) -> None:
        piece.count("examples")
        try:
            check(**values)
        except Exception as error:
            error.add_note("".join(f"\n{k} = {repr(one)[:5000]}" for k, one in values.items()))
            raise

    name = prop.__qualname__ = check.__name__
    tried = hypothesis.given(**strategies)(prop)
    for case in kept:
        tried = hypothesis.example(**case)(tried)
    seeded = hypothesis.seed(piece.chance(name).getrandbits(64))
    watched(piece, name, seeded(bounded(examples)(tried)))


def watched(piece: Piece, name: str, test: Callable[[], object]) -> None:
    """Keeps what breaks in a test that Hypothesis runs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # of a long example: it is kept
            test()
    except Exception as error:  # noqa: BLE001  # which it is stands in the text
        kind = "disagreements" if isinstance(error, AssertionError) else "foreign exceptions"
        piece.broke(kind, name, "".join(traceback.format_exception(error))[-8000:])
