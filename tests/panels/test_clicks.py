"""Clicks while a panel does something by itself."""

import threading

import pytest

from confkit.panels.panel import Panel

LONG = 10  # seconds that a test waits at most for what takes none


class Reading(Panel):
    """A panel that reads for as long as it is told to, and notes what was done."""

    def __init__(self):
        super().__init__("Reading", None)
        self.done, self.begun, self.may_end = [], threading.Event(), threading.Event()

    def read(self):
        self.begun.set()
        assert self.may_end.wait(LONG)
        self.done.append("read")
        self.value = list(self.done)


@pytest.mark.parametrize("begin", ["first", "tick"])
def test_clicks_during_what_nobody_clicked_for_take_effect_after_it_in_their_order(begin):
    """The first reading and an automatic one hold clicks up; they do not swallow them."""
    panel = Reading()
    if begin == "first":
        panel.first(panel.read)
    else:
        panel.every(60, panel.read)
        panel.frame._hear(None, {"kind": "tick"}, [])
    assert panel.begun.wait(LONG)
    for word in ("clicked", "clicked again"):
        panel.clicked(lambda word=word: panel.done.append(word))()
    assert panel.done == []
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "clicked", "clicked again"]


def test_the_first_value_is_there_before_what_was_clicked_meanwhile():
    """Whoever waits for the value does not wait for a click's work, too."""
    panel, goes_on = Reading(), threading.Event()
    panel.first(panel.read)
    assert panel.begun.wait(LONG)
    panel.clicked(lambda: goes_on.wait(LONG))()
    panel.may_end.set()
    assert panel.value == ["read"]
    goes_on.set()
    assert panel.wait(LONG)


def test_a_tick_during_a_clicks_work_is_left_out_and_a_click_waits():
    """The clock does not follow a click with a reading; another click has its turn."""
    panel = Reading()
    panel.every(60, lambda: panel.done.append("tick"))
    panel.clicked(panel.read)()
    assert panel.begun.wait(LONG)
    panel.frame._hear(None, {"kind": "tick"}, [])
    panel.clicked(lambda: panel.done.append("clicked"))()
    panel.may_end.set()
    assert panel.wait(LONG)
    assert panel.done == ["read", "clicked"]
