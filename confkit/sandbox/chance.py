"""What the plan of a building is drawn from: uniform numbers, and what is made of them.

Only PCG64's uniform numbers are drawn, whose sequence numpy keeps from release to release.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from . import habits

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_HOURS = np.array(list(habits.HOURS))
_SHARES_OF_HOURS = tuple(habits.HOURS.values())


def source(key: bytes, number: int) -> np.random.Generator:
    """Uniform numbers that repeat for the same key and number."""
    return np.random.Generator(np.random.PCG64([*key, number]))


def clock(chance: np.random.Generator, count: int) -> Ints:
    """The minutes of the day at which meetings begin."""
    hour = _HOURS[one_of(chance.random(count), _SHARES_OF_HOURS)]
    return hour * 60 + np.where(chance.random(count) < habits.ON_THE_HOUR, 0, 30)


def sizes(chance: np.random.Generator, count: int, low: int, high: int) -> Ints:
    """Sizes of meetings between these two."""
    classes = [(max(a, low), min(b, high), share) for a, b, share in habits.SIZES]
    least, most, shares = zip(*(row for row in classes if row[0] <= row[1]), strict=True)
    kind = one_of(chance.random(count), shares)
    begin: Ints = np.array(least)[kind]
    end: Ints = np.array(most)[kind]
    return begin + (chance.random(count) * (end - begin + 1)).astype(np.int64)


def one_of(uniform: Floats, shares: Iterable[float]) -> Ints:
    """For each uniform number a place among the shares, drawn as often as its share says."""
    bounds = np.cumsum(list(shares))
    place: Ints = np.searchsorted(bounds, uniform * bounds[-1], side="right").astype(np.int64)
    return place


def exponential(chance: np.random.Generator, count: int) -> Floats:
    """Numbers of the exponential distribution with mean 1."""
    return -np.log1p(-chance.random(count))
