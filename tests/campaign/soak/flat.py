"""Whether a curve is flat: what is taken is given back."""

from collections.abc import Sequence
from statistics import median

Points = Sequence[tuple[float, float]]

# A leak of one descriptor or thread a minute is 20 in a third of an hour; what comes and goes with
# the load is not in the least value of a third.
SPARE = 3
# An allocator gives freed memory back when it likes, so that a process that leaks nothing still
# moves by some MB. What counts is what keeps growing: 100 bytes a call that leaks, at a hundred
# calls a second, are 36 MB an hour, far above this.
MEMORY = 8.0  # MB in an hour
JUDGED = 240.0  # seconds of a curve below which its memory says nothing


def rising(points: Points) -> float:
    """By how much the least value of the last third lies above that of the middle third."""
    _, middle, last = thirds(points)
    return min(last, default=0) - min(middle, default=0)


def growth(points: Points) -> float:
    """By how much an hour would raise the values, as the last two thirds of them rise: the median
    of the slopes between any two (Theil and Sen), which no single leap moves."""
    late = [point for point in points if point[0] >= points[0][0] + _third(points)]
    late = late[:: max(1, len(late) // 300)]
    slopes = [
        (b - a) / (until - since)
        for number, (since, a) in enumerate(late)
        for until, b in late[number + 1 :]
        if until > since
    ]
    return 3600 * median(slopes) if slopes else 0.0


def step(points: Points) -> float:
    """By how much the median of the last third lies above that of the middle third."""
    _, middle, last = thirds(points)
    return median(last) - median(middle) if middle and last else 0.0


def grows(points: Points) -> bool:
    """Whether a process's descriptors or threads become more and more."""
    return rising(points) > SPARE and step(points) > SPARE


def swells(points: Points) -> bool:
    """Whether its memory (in MB) does; False where the curve is too short to say.

    Both must say so: a slope that lasts, and thirds that differ by what such a slope makes.
    """
    if not points or points[-1][0] - points[0][0] < JUDGED:
        return False
    least = MEMORY * _third(points) / 3600
    return growth(points) > MEMORY and step(points) > least


def thirds(points: Points) -> tuple[list[float], list[float], list[float]]:
    """The values of the first, the middle and the last third of the time."""
    parts: tuple[list[float], list[float], list[float]] = [], [], []
    for seconds, value in points:
        parts[min(2, int((seconds - points[0][0]) / max(_third(points), 1e-9)))].append(value)
    return parts


def _third(points: Points) -> float:
    return (points[-1][0] - points[0][0]) / 3 if points else 0.0
