"""The campaign: a short piece of each part, and the frame that runs and publishes them."""

import json

import pytest

from tests.campaign.__main__ import arguments_of, main, whole
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
    other = Piece("reads", 7, 1, 10, tmp_path)
    journal.keep(other, {"calls": 9}, 0.1)
    with path.open("ab") as file:
        file.write(b"\xff\0\n[]\n{}\n")  # a disk that broke
    assert journal.counts(piece) == {"calls": 10}
    assert journal.counts(other) == {"calls": 9}
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


def test_a_piece_that_was_stopped_begins_again_with_an_empty_folder(tmp_path, capsys):
    """What a stopped run left is not taken for the next one's; it stands beside it."""
    begun = []

    def run(piece):
        assert not list(piece.folder.iterdir())
        (piece.folder / "samples").touch()
        if not begun.append(1) and len(begun) == 1:
            raise KeyboardInterrupt
        return {"calls": 1}

    part = Part("p", "It holds.", "calls", run, 1, 1, 1, ())
    asked = arguments_of(["--folder", str(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        whole(part, Journal(tmp_path / "journal.jsonl", "abc"), asked)
    assert whole(part, Journal(tmp_path / "journal.jsonl", "abc"), asked) == {"calls": 1}
    assert (tmp_path / "p" / "0.before" / "samples").exists()


@pytest.mark.parametrize("words", ["--publish --piece 1", "--size 0", "--pieces -1"])
def test_what_makes_no_figure_is_refused(words, capsys):
    """A single piece is not published, and no size is one at which nothing is done."""
    with pytest.raises(SystemExit):
        arguments_of(words.split())
    assert words.split()[-2] in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    """Where nothing can be kept, the campaign ends with the folder's name and a next step."""
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="name another with --folder"):
        main(["audit", "--folder", str(tmp_path / "file")])


def test_a_row_tells_when_it_was_measured_and_what_broke():
    """A row has its oldest figure's date; breaks stand by name, many kinds of none by number."""
    known = parts()
    measured = {
        name: {"date": f"2026-11-{10 + at}", "counts": {part.unit: 1000}}
        for at, (name, part) in enumerate(sorted(known.items()))
    }
    rows = table(measured).splitlines()
    (kills,) = [row for row in rows if "kill -9" in row]
    assert "0 breaks, of " in kills
    assert f"({measured['folders-clocks']['date']})" in kills
    assert "0 requests sent, 0 changes that were not refused" in table(measured)
    measured["kills-sandbox"]["counts"]["lost writes"] = 2
    assert ": BROKEN, 2 lost writes (" in table(measured)
    assert "not measured yet" in table({})
