"""The nightly attacks: a short piece of some of them, what they must notice, and their report."""

import re
import socket
from functools import partial
from pathlib import Path

import pytest

import confkit as ck
from tests.nightly import reads, soak
from tests.nightly.__main__ import arguments_of, main
from tests.nightly.parts import PARTS
from tests.nightly.piece import ROOT, Part, Piece
from tests.nightly.writes import Told, judged
from tests.ports import quiet_port


def piece_of(name: str, size: int, folder: Path) -> Piece:
    return Piece(name, 7, 0, size, folder)


@pytest.mark.parametrize("name", [name for name, part in PARTS.items() if part.short])
def test_a_short_piece_breaks_nothing(name, tmp_path):
    """What each part promises holds in a short, seeded piece."""
    piece = PARTS[name].run(piece_of(name, PARTS[name].short, tmp_path))
    assert piece.broken == {}


def dead(base_url: str, outgoing_url: str, *keys: str, **options: object) -> ck.Client:
    """A client all of whose calls are a TransportError: nobody listens where it asks."""
    nowhere = f"http://127.0.0.1:{quiet_port()}"
    return ck.Client(nowhere, nowhere, *keys, **options)


@pytest.mark.parametrize("attack", [reads.single, partial(reads.single, threads=8), reads.sweeps])
def test_a_client_whose_reads_all_fail_does_not_pass(attack, tmp_path):
    """Errors with a name are not enough: below the floor of true values a piece is broken."""
    piece = piece_of("reads", 48, tmp_path)
    attack(piece, make=dead)
    assert set(piece.broken) == {"too few true calls", "too few true benign calls"}


def test_one_failure_under_benign_faults_is_too_many(tmp_path):
    """Of calls that met nothing but what HTTP allows, all have to be true."""
    piece = piece_of("reads", 1, tmp_path)
    piece.counts.update({"benign calls": 1000, "true benign calls": 999, "calls": 10})
    for kind, (least, _, _) in reads.KINDS.items():
        piece.floor(f"true {kind}", kind, least)
    assert piece.broken == {"too few true calls": 1, "too few true benign calls": 1}


@pytest.mark.parametrize(
    ("told", "brings", "times", "broken"),
    [
        ("done", True, 1, None),
        ("done", True, 0, "told done and missing"),
        ("done", True, 2, "doubled"),
        ("done", False, 1, "told done and still there"),
        ("failed", True, 1, "told failed but there"),
        ("failed", True, 0, None),
        ("failed", False, 0, "told failed but gone"),
        ("failed", False, 1, None),
        ("exists", True, 0, "told done and missing"),
        ("uncertain", True, 1, None),
        ("uncertain", False, 0, None),
        ("foreign", True, 1, "foreign exceptions"),
    ],
)
def test_what_is_told_of_a_change_is_judged_by_what_is_there(told, brings, times, broken, tmp_path):
    """One that was reported as done is there once, one that failed is not; the uncertain may be."""
    piece = piece_of("writes", 1, tmp_path)
    judged(piece, "a room", brings, Told(told), times)
    assert list(piece.broken) == [broken] * bool(broken)


def leaking(what, kept):
    """A load that keeps something with each of its calls."""

    def load(sandbox, client):
        room_id = ck.create_room(client, "Weekly sync", "ops")

        def carried_out(number):
            ck.get_room(client, room_id)
            kept.append(what())
            return 0

        return carried_out

    return load


@pytest.mark.nightly  # what other tests of the process take and give back meanwhile counts, too
@pytest.mark.parametrize(
    ("what", "grows"),
    [
        (lambda: None, set()),
        (lambda: bytearray(9000), {"growing held"}),
        (socket.socketpair, {"growing descriptors"}),
    ],
)
def test_a_leak_with_each_call_is_noticed(what, grows, tmp_path):
    """Descriptors or bytes that stay with each call break a soak; a call that keeps nothing does
    not."""
    piece, kept = piece_of("soak", 1, tmp_path), []
    soak.soak(piece, leaking(what, kept), patience=0.5)
    for pair in kept if what is socket.socketpair else ():
        for line in pair:
            line.close()
    assert grows <= set(piece.broken)
    assert grows or not piece.broken


def test_the_report_says_what_was_run_on_which_sources(tmp_path, capsys):
    """It names the commit, the seed, each part's size, and what does a broken piece again."""
    folder = tmp_path / "kept"
    words = ["--part", "fuzz-answers", "--size", "20", "--minutes", "0", "--folder", str(folder)]
    assert main([*words, "--seed", "3"]) == 0
    report = (folder / "report.md").read_text("utf-8")
    assert re.search(r"Commit (\w{40}(-dirty)?|unknown), seed 3, 0 minutes", report)
    assert "| fuzz-answers | 1 | 20 examples | 0 |" in report


def test_what_broke_is_told_with_the_command_that_does_it_again(tmp_path, monkeypatch, capsys):
    """A part that raises or does nothing is broken, and the others are run all the same."""
    broken = Part("It holds.", lambda piece: 1 / 0, "calls", 5)
    monkeypatch.setitem(PARTS, "broken", broken)
    monkeypatch.setitem(PARTS, "idle", broken._replace(attack=lambda piece: None))
    words = ["--part", "broken", "--part", "idle", "--minutes", "0", "--folder", str(tmp_path)]
    assert main(words) == 1
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "| broken | 1 | 0 | 1 pieces that raised |" in report
    assert "| idle | 1 | 0 | 1 no calls |" in report
    assert "python -m tests.nightly --part broken --seed 7 --piece 0 --size 5" in report
    assert "ZeroDivisionError" in (tmp_path / "broken" / "0" / "broken.txt").read_text("utf-8")


def test_a_size_at_which_nothing_is_done_is_refused(capsys):
    """It is said which, and what to give."""
    with pytest.raises(SystemExit):
        arguments_of(["--size", "0"])
    assert "give 1 or more" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    """Where nothing can be kept, the folder is named with a next step."""
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="name another with --folder"):
        main(["--part", "fuzz-answers", "--size", "1", "--folder", str(tmp_path / "file")])


def test_the_promises_name_tests_and_parts_that_there_are():
    """Each promise has a test or a part that holds it, by a name that exists."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+\.) \| (.+) \|$", text, re.MULTILINE)
    assert len(rows) >= 10
    for promise, holds in rows:
        names = re.findall(r"`([^`]+)`", holds)
        assert names, promise
        for name in names:
            assert name in PARTS or (ROOT / name).exists(), name
