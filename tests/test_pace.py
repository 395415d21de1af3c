"""Pace: the bound on requests a second, with a clock that only moves when somebody waits."""

from bisect import bisect_left
from itertools import cycle, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confkit.client import Pace, take


class Clock:
    """A clock that stands still until somebody sleeps."""

    def __init__(self):
        self.now = 1000.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.slept.append(seconds)
        self.now += seconds


def departures(rates, rests, late=0.0, ways="c"):
    """When requests leave whose callers rest so long behind each: they call the pace ("c"), or ask
    `take` ("t") and wait as long as it says and `late` longer, in turn."""
    clock = Clock()
    paces = [Pace(rate, clock, clock.sleep) for rate in rates]
    times = []
    for rest, way in zip(rests, cycle(ways), strict=False):
        if way == "c":
            paces[0]()
        while way == "t" and (wait := take(paces)):
            clock.now += wait + late
        times.append(clock.now)
        clock.now += rest
    return times, clock.slept


def most(times, seconds=1.0):
    """The most requests in any window of this length that begins with a request."""
    ordered = sorted(times)
    return max(
        bisect_left(ordered, start + seconds) - bisect_left(ordered, start) for start in ordered
    )


def test_requests_leave_evenly_and_the_first_at_once():
    """The first request does not wait; after a rest too, the others follow at even distances, and
    no burst makes up for it. A caller slower than the rate is not held back at all."""
    times, slept = departures([5], [*[0.0] * 9, 60, *[0.0] * 10])
    for after in (times[:10], times[10:]):
        gaps = [later - earlier for earlier, later in pairwise(after)]
        assert min(gaps) >= 1 / 5
        assert max(gaps) - min(gaps) < 1e-6
    assert len(slept) == 18
    assert departures([2], [0.6] * 50)[1] == []
    times, _ = departures([10], [60, 60, 0, 0], ways="t")
    assert times[3] - times[2] == pytest.approx(0.102, abs=0.006)


@given(
    rate=st.integers(1, 20) | st.floats(0.05, 20),
    rests=st.lists(st.floats(0, 3), min_size=2, max_size=60),
)
@example(rate=100, rests=[0.0] * 300)
@example(rate=2.5, rests=[0.0] * 300)
@example(rate=19.5, rests=[0.0] * 300)
def test_whatever_the_rhythm_of_the_caller_the_bound_holds(rate, rests):
    """Bursts and rests in any order: in any second max_rate requests at most, one if below one;
    those who take and those who call share it."""
    for ways in ("c", "tcc"):
        times, _ = departures([rate], rests, ways=ways)
        assert most(times) <= max(1, rate)
        if rate < 1:
            assert most(times, 1 / rate) == 1


@given(
    rates=st.lists(st.integers(1, 30) | st.floats(0.1, 30), min_size=1, max_size=3),
    late=st.floats(0, 0.05),
)
def test_who_takes_keeps_to_every_rate(rates, late):
    """Whoever asks `take` leaves at most as often in any second as each of the rates allows."""
    times, _ = departures(rates, [0.0] * 60, late, "t")
    assert most(times) <= max(1, min(rates))


def test_what_may_not_leave_takes_nothing():
    """Where one of two rates says wait, the other has not counted a request."""
    clock = Clock()
    slow, quick = Pace(1, clock, clock.sleep), Pace(10, clock, clock.sleep)
    assert take([slow, quick]) == 0
    clock.now += 0.5
    assert take([slow, quick]) == pytest.approx(0.52, abs=0.006)
    assert take([quick]) == take([]) == 0
