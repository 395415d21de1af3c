"""Hypothesis as a campaign: a property tried on many examples, and what broke it kept as text."""

import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import SearchStrategy

from ..frame import Piece

Tried = Callable[[], None]


def bounded(examples: int, shrink: bool = True, **more: Any) -> settings:
    """Settings under which nothing but the property fails: no database, no deadline, no check of
    how fast a busy machine makes its examples."""
    return settings(
        max_examples=max(1, examples), database=None, deadline=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, *[Phase.shrink] * shrink),
        print_blob=False, report_multiple_bugs=False, **more,
    )  # fmt: skip


def explore(
    piece: Piece,
    name: str,
    examples: int,
    check: Callable[..., object],
    /,
    **strategies: SearchStrategy[Any],
) -> Counter[str]:
    """How many examples were tried, and what broke: an assertion is a disagreement, anything else
    a foreign exception. The smallest example that does so is kept in the piece's folder."""
    tried: Counter[str] = Counter()

    def prop(**values: Any) -> None:
        tried["examples"] += 1
        try:
            check(**values)
        except Exception as error:
            error.add_note(
                "".join(f"\n{name} = {repr(value)[:5000]}" for name, value in values.items())
            )
            raise

    prop.__name__ = prop.__qualname__ = name.replace(" ", "_")
    seeded = hypothesis.seed(piece.chance(name).getrandbits(64))
    test = seeded(bounded(examples)(hypothesis.given(**strategies)(prop)))
    return tried + watched(piece, name, test)


def watched(piece: Piece, name: str, test: Tried) -> Counter[str]:
    """What broke in a test that Hypothesis runs: nothing, or one count, with its text kept."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HypothesisWarning)  # of a long example: it is kept
            test()
    except AssertionError as error:
        kind, broke = "disagreements", error
    except Exception as error:  # noqa: BLE001  # which it is stands in the text
        kind, broke = "foreign exceptions", error
    else:
        return Counter()
    keep(piece, name, kind, broke)
    return Counter({kind: 1})


def keep(piece: Piece, name: str, kind: str, error: BaseException) -> None:
    """Writes down what was expected, what came, and the example that shows it."""
    told = "".join(traceback.format_exception(error))
    path = piece.folder / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.txt"
    path.write_text(f"{kind} in {name}, seed {piece.seed}, piece {piece.number}\n\n{told}", "utf-8",
                    errors="backslashreplace")  # fmt: skip
