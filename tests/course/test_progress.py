"""How far a learner has come is kept in a file, whatever happens to it."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import confkit as ck
from confkit import course
from confkit.course import kept

RIGHT = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "course.jsonl"
    monkeypatch.setenv("CONFKIT_COURSE", str(path))
    return path


def outcome(name):
    return {standing.exercise: standing.outcome for standing in course.progress()}[name]


def test_outcomes_are_kept_and_answers_are_not(file):
    """Tried becomes right, right stays right, and the file holds names and outcomes alone."""
    assert outcome("token") == "not yet"
    course.check("token", "my-own-secret-key")
    assert outcome("token") == "tried"
    course.check("token", RIGHT)
    course.check("token", "wrong again")
    assert outcome("token") == "right"
    lines = [json.loads(line) for line in file.read_text().split("\n") if line]
    assert lines == [
        {"exercise": "token", "outcome": "tried"},
        {"exercise": "token", "outcome": "right"},
    ]


def test_progress_as_text_and_as_a_table(file):
    """Counts stand above, each exercise below with its word; one notebook can be asked for."""
    course.check("digest", "x")
    course.check("token", RIGHT)
    shown = course.progress("02")
    assert shown.counts["right"] == shown.counts["tried"] == 1
    assert str(shown).startswith(f"1 of {len(shown)} right, 1 tried\n02-the-token\n")
    assert "  tried    digest" in repr(shown)
    assert "digest: tried" in shown._repr_html_()
    assert list(shown.to_frame().columns) == ["notebook", "exercise", "outcome"]
    assert shown == course.progress("02-the-token")
    assert len(course.progress()) == len(course.exercises())
    with pytest.raises(ck.ConfigError, match="02-the-token"):
        course.progress("99")


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff\xfe\x00",
        b'{"exercise": "token", "outc',
        b"[]\n3\nnull\n" + b"[" * 9999,
        b'{"exercise": ["token"], "outcome": "right"}',
        b'{"exercise": "token", "outcome": "x"}',
    ],
)
def test_a_damaged_file_costs_its_damaged_lines_alone(file, damage):
    """What cannot be read is not counted, and what is kept later is read."""
    file.parent.mkdir()
    file.write_bytes(b'{"exercise": "first-room", "outcome": "right"}\n' + damage)
    assert outcome("token") == "not yet"
    course.check("token", RIGHT)
    assert outcome("token") == outcome("first-room") == "right"


def test_where_nothing_can_be_kept_the_check_works_and_progress_says_so(tmp_path, monkeypatch):
    """A home that cannot be written costs the memory, not the answer."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "course.jsonl", tmp_path):  # below a file; a folder
        monkeypatch.setenv("CONFKIT_COURSE", str(place))
        assert course.check("token", RIGHT).right
        assert outcome("token") == "not yet"
        assert "CONFKIT_COURSE names another place" in str(course.progress())


def test_a_try_that_is_written_late_takes_nothing_back(file):
    """Right stays right, in whatever order two kernels wrote."""
    file.parent.mkdir()
    lines = [json.dumps({"exercise": "token", "outcome": kind}) for kind in ("right", "tried")]
    file.write_text("\n".join(lines))
    assert outcome("token") == "right"


def test_two_that_write_at_once_lose_nothing(file):
    """Many outcomes kept side by side are all there."""
    names = [f"exercise-{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda name: kept.keep(name, True), names))
    assert set(kept.outcomes()) == set(names)


def test_without_a_setting_the_file_lies_in_the_user_s_state_folder(monkeypatch, tmp_path):
    """The place is the platform's own for what a program remembers."""
    monkeypatch.delenv("CONFKIT_COURSE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    place = kept.path()
    assert place.name == "course.jsonl"
    assert place.parent.name == "confkit"
    assert place.is_relative_to(tmp_path) or sys.platform != "linux"
    monkeypatch.setenv("CONFKIT_COURSE", "~/c.jsonl")
    assert kept.path() == Path.home() / "c.jsonl"
