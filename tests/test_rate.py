"""RateLimiter: the bound on requests a second, with a clock that moves when somebody waits."""

from bisect import bisect_left
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from confkit.client import RateLimiter


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


def departures(rate, rests):
    """When requests leave whose callers rest so long behind each, and how long they waited."""
    clock = Clock()
    limiter = RateLimiter(rate, clock)
    times = []
    for rest in rests:
        assert limiter.acquire(clock.sleep)
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
    times, slept = departures(5, [*[0.0] * 9, 60, *[0.0] * 10])
    for after in (times[:10], times[10:]):
        gaps = [later - earlier for earlier, later in pairwise(after)]
        assert min(gaps) >= 1 / 5
        assert max(gaps) - min(gaps) < 1e-6
    assert len(slept) == 18
    assert departures(2, [0.6] * 50)[1] == []


@given(
    rate=st.integers(1, 20) | st.floats(0.05, 20),
    rests=st.lists(st.floats(0, 3), min_size=2, max_size=60),
)
@example(rate=100, rests=[0.0] * 300)
@example(rate=2.5, rests=[0.0] * 300)
@example(rate=19.5, rests=[0.0] * 300)
def test_whatever_the_rhythm_of_the_caller_the_bound_holds(rate, rests):
    """Bursts and rests in any order: in any second max_rate requests at most, one if below one."""
    times, _ = departures(rate, rests)
    assert most(times) <= max(1, rate)
    if rate < 1:
        assert most(times, 1 / rate) == 1


def test_who_is_told_to_stop_sends_nothing():
    """Where the wait was cut short, the request may not leave."""
    limiter = RateLimiter(1, Clock())
    assert [limiter.acquire(lambda _: True) for _ in range(3)] == [True, False, False]
