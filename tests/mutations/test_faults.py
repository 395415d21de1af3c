"""The table of faults is whole: each can be planted, and the tests that it names are there."""

import ast

import pytest

from . import ROOT, faults, summary, verdict


def test_each_fault_has_its_place_and_its_tests():
    """Its text stands once in its file, what takes its place is Python, its tests exist."""
    table = faults()
    assert len({fault.name for fault in table}) == len(table)
    for fault in table:
        ast.parse(fault.planted(ROOT))
        assert fault.tests, fault.name
        for test in fault.tests:
            path, _, name = test.partition("::")
            assert f"def {name.partition('[')[0]}(" in (ROOT / path).read_text("utf-8"), test


def test_a_fault_without_its_text_has_nowhere_to_stand():
    """A text that is gone, or stands twice, plants nothing in silence."""
    fault = faults()[0]
    for old in ("no such text", "\n"):
        with pytest.raises(LookupError, match="nowhere to stand"):
            fault._replace(old=old).planted(ROOT)


@pytest.mark.parametrize(
    ("status", "output", "found"),
    [
        (1, "FAILED\n1 failed, 2 passed in 0.50s\nkilled", "noticed"),
        (0, "3 passed in 0.50s", "missed"),
        (0, "3 skipped in 0.50s", "error"),
        (1, "1 error in 0.50s", "error"),
        (4, "ERROR: not found", "error"),
        (-9, "its tests did not end", "error"),
    ],
)
def test_a_fault_is_noticed_only_by_a_test_that_fails(status, output, found):
    """What was skipped, or broke before any test, has noticed nothing."""
    assert verdict(status, summary(output)) == found
