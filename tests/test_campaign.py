"""The campaign: a short piece of each part, and the frame that runs and publishes them."""

import json

import pytest

from tests.campaign.frame import Part, Piece, broken, named, parts, total
from tests.campaign.journal import Journal
from tests.campaign.statement import MEASURED, PROMISES, README, table, with_table

PARTS = parts()


@pytest.mark.parametrize("name", PARTS)
def test_a_short_piece_of_the_campaign_breaks_nothing(name, tmp_path):
    """What a promise forbids is not counted in a short, seeded piece of its part."""
    part = PARTS[name]
    counts = part.run(Piece(name, 7, 0, part.short, tmp_path))
    assert broken(part, counts) == {}


def test_the_readme_holds_the_figures_last_measured():
    """The README's table is the one that measured.json gives, in which every part stands."""
    measured = json.loads(MEASURED.read_text("utf-8"))
    assert set(measured) == set(PARTS)
    text = README.read_text("utf-8")
    assert with_table(text, table(measured)) == text
    assert not any(broken(PARTS[name], one["counts"]) for name, one in measured.items())


def test_every_part_attacks_one_promise():
    """No part stands in two rows of the table, and none in no row."""
    rows = [part.name for row in PROMISES for name in row.attacks for part in named(name, PARTS)]
    assert sorted(rows) == sorted(PARTS)


def test_a_piece_is_run_once_for_the_same_sources(tmp_path):
    """The journal gives what a piece counted, and nothing for other sources, seeds or sizes."""
    path = tmp_path / "new" / "journal.jsonl"
    journal, piece = Journal(path, "abc"), Piece("reads", 7, 0, 10, tmp_path)
    assert journal.counts(piece) is None
    journal.keep(piece, {"calls": 10}, 0.1)
    with path.open("a") as file:
        file.write('{"piece": ["abc", "rea')  # a kill cut this line off
    assert journal.counts(piece) == {"calls": 10}
    assert Journal(path, "def").counts(piece) is None
    assert journal.counts(Piece("reads", 8, 0, 10, tmp_path)) is None
    assert journal.counts(Piece("reads", 7, 0, 11, tmp_path)) is None


def test_counts_add_up_and_what_must_never_be_counted_breaks_a_part():
    """Counts are added, of "most" the highest stays; a part that did nothing broke."""
    part = Part("p", "It holds.", "calls", lambda piece: {}, 1, 1, 1, ("wrong values",))
    both = total([{"calls": 2, "most seconds": 3}, {"calls": 1, "most seconds": 2}])
    assert both == {"calls": 3, "most seconds": 3}
    assert broken(part, both) == {}
    assert broken(part, {"calls": 3, "wrong values": 1}) == {"wrong values": 1}
    assert broken(part, {}) == {"no calls": 1}
