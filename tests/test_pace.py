"""Pace: the bound on requests a second, with a clock that only moves when somebody waits."""

import threading
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

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


def departures(rate, pauses):
    """When requests leave, if the caller works for `pauses` seconds between them."""
    clock = Clock()
    pace = Pace(rate, clock, clock.sleep)
    times = []
    for pause in pauses:
        pace()
        times.append(clock.now)
        clock.now += pause
    return times


def most(times, seconds=1.0):
    """The most requests in any window of this length that begins with a request."""
    ordered = sorted(times)
    return max(
        bisect_left(ordered, start + seconds) - bisect_left(ordered, start) for start in ordered
    )


@pytest.mark.parametrize("rate", [0.5, 1, 2, 10, 100])
def test_the_rate_is_nearly_reached(rate):
    """A caller that never rests is not held back much more than the rate asks for."""
    times = departures(rate, [0.0] * 400)
    assert (len(times) - 1) / (times[-1] - times[0]) >= 0.9 * rate


def test_who_is_slow_anyway_never_waits():
    """A caller slower than the rate is not held back at all."""
    clock = Clock()
    pace = Pace(2, clock, clock.sleep)
    for _ in range(50):
        pace()
        clock.now += 0.6
    assert clock.slept == []


def test_requests_leave_evenly_and_the_first_at_once():
    """The first request does not wait; after a rest too, the others follow at even distances."""
    clock = Clock()
    pace = Pace(5, clock, clock.sleep)
    for _ in range(2):
        times = []
        for _ in range(10):
            pace()
            times.append(clock.now)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert min(gaps) >= 1 / 5
        assert max(gaps) - min(gaps) < 1e-6
        clock.now += 60
    assert len(clock.slept) == 18


@given(
    rate=st.integers(1, 20) | st.floats(0.05, 20),
    pauses=st.lists(st.floats(0, 3), min_size=2, max_size=60),
)
@example(rate=100, pauses=[0.0] * 300)
@example(rate=2.5, pauses=[0.0] * 300)
@example(rate=19.5, pauses=[0.0] * 300)
def test_whatever_the_rhythm_of_the_caller_the_bound_holds(rate, pauses):
    """Bursts and rests in any order: in any second max_rate requests at most, one if below one."""
    times = departures(rate, pauses)
    assert most(times) <= max(1, rate)
    if rate < 1:
        assert most(times, 1 / rate) == 1


def test_threads_share_the_bound():
    """Requests of many threads are spaced as those of one are, each at a time of its own."""
    clock = Clock()
    due, lock = [], threading.Lock()

    def sleep(seconds):  # the clock stands still, so that a wait says when its request leaves
        with lock:
            due.append(seconds)

    pace = Pace(4, clock, sleep)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: pace(), range(80)))
    times = sorted([0.0] * (80 - len(due)) + due)
    assert len(set(times)) == 80
    assert most(times) <= 4
    assert times[-1] >= 79 / 4


def leaving(rates, waits):
    """When requests leave that ask `take`, and wait as long as it says and `waits` longer."""
    clock = Clock()
    paces = [Pace(rate, clock, clock.sleep) for rate in rates]
    times = []
    for late in waits:
        while wait := take(paces):
            clock.now += wait + late
        times.append(clock.now)
    return times


@given(
    rates=st.lists(st.integers(1, 30) | st.floats(0.1, 30), min_size=1, max_size=3),
    late=st.floats(0, 0.05),
)
def test_who_takes_keeps_to_every_rate(rates, late):
    """Whoever asks `take` leaves at most as often in any second as each of the rates allows."""
    times = leaving(rates, [late] * 60)
    assert most(times) <= max(1, min(rates))


@pytest.mark.parametrize("rate", [5, 100, 500, 1000, 2000])
@pytest.mark.parametrize("late", [0.0, 0.0004, 0.001])
def test_waits_that_are_a_little_too_long_do_not_lower_the_rate(rate, late):
    """A selector waits in whole milliseconds: what it oversleeps is caught up, within the bound."""
    times = leaving([rate], [late] * (3 * rate))
    assert most(times) <= rate
    assert (len(times) - 1) / (times[-1] - times[0]) >= 0.9 * rate


def test_what_was_long_ago_is_not_caught_up():
    """After a rest requests leave as evenly as before it: no burst makes up for it."""
    clock = Clock()
    pace = Pace(10, clock, clock.sleep)
    assert take([pace]) == 0
    clock.now += 60
    assert take([pace]) == 0
    assert take([pace]) == pytest.approx(0.102, abs=0.006)


def test_what_may_not_leave_takes_nothing():
    """Where one of two rates says wait, the other has not counted a request."""
    clock = Clock()
    slow, quick = Pace(1, clock, clock.sleep), Pace(10, clock, clock.sleep)
    assert take([slow, quick]) == 0
    clock.now += 0.5
    assert take([slow, quick]) == pytest.approx(0.52, abs=0.006)
    assert take([quick]) == 0
    assert take([]) == 0


def test_takers_and_sleepers_share_a_rate():
    """`take` keeps its distance from those who wait by calling the pace, and they from it."""
    clock = Clock()
    pace = Pace(5, clock, clock.sleep)
    times = []
    for n in range(40):
        if n % 3:
            pace()
        else:
            while wait := take([pace]):
                clock.now += wait
        times.append(clock.now)
    assert most(times) <= 5
