"""The nightly attacks: a short piece of some of them, what they must notice, and their report; and
which failures of a day are run once more."""

import re

import pytest

from tests import rerun
from tests.nightly.__main__ import main
from tests.nightly.parts import PARTS
from tests.nightly.piece import ROOT, Part, Piece


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name, part in PARTS.items() if part.short])
def test_a_short_piece_breaks_nothing(name, tmp_path):
    piece = Piece(name, 7, 0, PARTS[name].short, tmp_path)
    assert PARTS[name].run(piece).broken == {}


def test_the_report_says_what_was_run_and_what_broke(tmp_path, monkeypatch):
    """A part that raises or does nothing is broken, and the others are run all the same."""
    broken = Part("It holds.", lambda piece: 1 / 0, "calls", 5)
    monkeypatch.setitem(PARTS, "broken", broken)
    monkeypatch.setitem(PARTS, "idle", broken._replace(attack=lambda piece: None))
    parts = "--part broken --part idle --part fuzz-answers --size 20 --minutes 0"
    assert main([*parts.split(), "--folder", str(tmp_path)]) == 1
    rows = (tmp_path / "report.md").read_text("utf-8").split("\n")
    assert "| fuzz-answers | 1 | 20 examples | 0 |" in rows
    assert "| broken | 1 | 0 | 1 pieces that raised |" in rows
    assert "| idle | 1 | 0 | 1 no calls |" in rows


def test_the_promises_name_tests_and_parts_that_there_are():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+\.) \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) >= 10
    for promise, holds in rows:
        names = re.findall(r"`([^`]+)`", holds)
        assert names, promise
        assert all(name in PARTS or (ROOT / name).exists() for name in names), promise


def test_a_few_failures_are_repeated_but_no_promise():
    """Nor what failed beside it, nor many; a name is that of the test alone. These files exist."""
    few = [f"tests/test_text.py::test_{n}" for n in range(3)]
    assert rerun.repeatable(few) == few
    assert rerun.repeatable([*few, "tests/test_text.py::test_3"]) == []
    assert rerun.GROUP.sub("", "test_a.py::test_once[a@b]@browser") == "test_a.py::test_once[a@b]"
    for path in rerun.NEVER:
        assert [*ROOT.glob(f"{path}*")]
        assert rerun.repeatable([few[0], f"{path}::test_b"]) == []
