"""What a soak takes for growing, in curves that are made up."""

import random

import pytest

from tests.campaign.soak.flat import grows, growth, swells

HOUR = range(0, 3600, 5)


def noisy(value, seconds=HOUR):
    """A curve of these values, with what an allocator and a load make of it by chance."""
    chance = random.Random(4)
    return [(second, value(second) + chance.uniform(0, 5)) for second in seconds]


@pytest.mark.parametrize("value", [
    lambda second: 70.0,  # flat
    lambda second: 40.0 + min(second, 900) / 30,  # what a process needs to warm up
    lambda second: 70.0 + 20 * (3000 < second < 3050),  # a moment's work
    lambda second: 70.0 + second / 3600,  # a MB an hour
])  # fmt: skip
def test_what_is_flat_is_no_growth(value):
    """Noise, a warming process, a moment's work and a MB an hour do not count as growing."""
    curve = noisy(value)
    assert not swells(curve, 8, 2)
    assert not grows(curve, 3)


@pytest.mark.parametrize("hourly", [15, 40, 400])
def test_a_leak_is_growth(hourly):
    """What rises all the time counts as growing, and the slope in an hour is told."""
    curve = noisy(lambda second: 70 + hourly * second / 3600)
    assert swells(curve, 8, 2)
    assert grows(curve, 3)
    assert growth(curve) == pytest.approx(hourly, rel=0.1)


def test_a_short_curve_says_nothing():
    """Of a curve that is shorter than warming up takes nothing is said."""
    curve = noisy(lambda second: second, range(0, 200, 5))
    assert not swells(curve, 8, 2)
    assert not grows(curve, 3)
    assert not grows([], 3)
