"""The times at which sweeps are due."""

import threading

import pytest

from confkit.occupancy.grid import Grid


class Clock:
    """Seconds that pass when somebody waits, and when they are added."""

    def __init__(self) -> None:
        self.now = 100.0

    def ticks(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def grid(clock: Clock, every: float = 60) -> Grid:
    return Grid(every, clock.ticks, clock.sleep, threading.Event())


def test_the_first_turn_is_now_and_the_others_do_not_drift(clock):
    """The first turn is due at once, the others exactly on the grid however long each took."""
    turns, due = grid(clock), []
    for taken in (0.3, 59.9, 0.0, 12.5):
        turns.wait()
        due.append(clock.now - 100)
        clock.now += taken
        turns.advance()
    assert due == pytest.approx([0, 60, 120, 180])
    assert turns.skipped == 0


def test_a_turn_slept_through_is_skipped(clock):
    """When the machine was suspended while it waited, the turns of that time are left out."""
    suspended = iter([500.0])

    def sleep(seconds: float) -> None:
        clock.now += next(suspended, seconds)

    turns = Grid(60, clock.ticks, sleep, threading.Event())
    turns.wait()
    turns.advance()
    turns.wait()
    assert (turns.at, turns.skipped, clock.now) == (540, 8, pytest.approx(640))
