"""Whether a curve is flat: what is taken is given back."""

from collections.abc import Sequence
from statistics import median

Points = Sequence[tuple[float, float]]

JUDGED = 240.0  # seconds below which a curve shows how a process warms up, and nothing else


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


def long(points: Points) -> bool:
    """Whether the curve is long enough to say anything."""
    return bool(points) and points[-1][0] - points[0][0] >= JUDGED


def grows(points: Points, spare: float) -> bool:
    """Whether a process's descriptors or threads become more and more, by more than `spare`.

    The least value must rise too: what comes and goes with the load is not in it.
    """
    return long(points) and rising(points) > spare and step(points) > spare


def swells(points: Points, hourly: float, spare: float) -> bool:
    """Whether memory (in MB) does: by more than `hourly` in an hour, and by more than `spare` from
    the middle third to the last.

    Both must say so: an allocator gives freed memory back when it likes, so that a process that
    leaks nothing still moves, and a short curve has a steep slope of such a leap.
    """
    return long(points) and growth(points) > hourly and step(points) > spare


def thirds(points: Points) -> tuple[list[float], list[float], list[float]]:
    """The values of the first, the middle and the last third of the time."""
    parts: tuple[list[float], list[float], list[float]] = [], [], []
    for seconds, value in points:
        parts[min(2, int((seconds - points[0][0]) / max(_third(points), 1e-9)))].append(value)
    return parts


def _third(points: Points) -> float:
    return (points[-1][0] - points[0][0]) / 3 if points else 0.0
