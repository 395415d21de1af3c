"""Checked answers: wrong ones of any kind, and what is told of them."""

import threading
from types import SimpleNamespace

import pytest

import confkit as ck
from confkit import course
from confkit.course.lessons import EXERCISES
from confkit.masking import mask


class Hostile:
    """An answer that raises whatever it is asked."""

    def __getattribute__(self, name):
        raise RuntimeError("hunter2")

    def __call__(self, *_):
        raise SystemExit("hunter2")


GARBAGE = [
    "", "x", "\ud800", b"\xff", 0, -1, True, 1.5, float("nan"), [], {}, set(), (), object(),
    Hostile(), Hostile, len, lambda: None, lambda *_: None, lambda *_: 1 / 0, ["a"] * 3,
    {"address": None}, threading.Lock(), SimpleNamespace(ret=0), range(3), "0" * 10_000,
    ValueError("x"), [[]] * 3,
]  # fmt: skip


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_no_answer_of_any_type_raises_and_none_of_these_is_right(exercise, client):
    """Garbage of every type is told to be wrong in a sentence that quotes nothing of it, with and
    without a client."""
    for answer in GARBAGE:
        finding = course.check(exercise.name, answer, client)
        assert not finding.right
        assert len(finding.told) > 20
        assert "hunter2" not in repr(finding)
        assert "0" * 100 not in repr(finding)
        assert not course.check(exercise.name, answer).right
        assert not course.check(exercise.name, answer, answer).right


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
@pytest.mark.parametrize("nothing", [None, ...])
def test_none_and_the_dots_are_no_answer_yet(exercise, nothing):
    """They are open, as is an exercise of the sandbox without a client, and nothing is kept."""
    finding = course.check(exercise.name, nothing)
    assert finding.right is None
    assert "No answer yet" in finding.told
    if exercise.needs_client:
        assert "client" in course.check(exercise.name, "x").told
        assert course.check(exercise.name, "x").right is None
        assert course.progress().counts["tried"] == 0


def test_an_unknown_exercise_names_those_that_there_are():
    """A wrong name is an error that lists the names, and does not quote what came."""
    with pytest.raises(ck.ConfigError, match=r"first-room, .*token") as raised:
        course.check("geheim", "x")
    assert "geheim" not in str(raised.value)


def test_a_real_service_is_left_alone(script):
    """On a client without a sandbox the exercises of the sandbox send nothing."""
    service = script({})
    finding = course.check("own-number", "1", service.client())
    assert finding.right is None
    assert "sandbox" in finding.told
    assert service.requests == []


def test_a_sandbox_that_is_gone_is_no_wrong_answer(sandbox, client):
    """What could not be looked at is open, and the error says why."""
    room_id = ck.create_room(client, "T", owner_id="o")
    sandbox.close()
    finding = course.check("locked-in", room_id, client)
    assert finding.right is None
    assert "closed" in finding.told


def test_a_finding_says_its_verdict_in_words_and_escapes_what_it_shows():
    """Text and HTML hold the word, not only a colour, and a password in a text shows as ***."""
    finding = course.Finding("<x>", False, "rtsp://a:geheim@h/ <b>")
    assert repr(finding).startswith("[not yet right] <x>\n")
    shown = finding._repr_html_()
    assert "not yet right" in shown
    assert "&lt;x&gt;" in shown
    assert "<b>h" not in shown
    assert "geheim" not in shown + repr(finding)
    with pytest.raises(AttributeError):
        finding.right = True


def test_the_exercises_as_a_table():
    """A row an exercise in the course's order; the questions pass the mask as they are."""
    frame = course.exercises()
    assert list(frame.columns) == ["exercise", "notebook", "question"]
    assert list(frame["notebook"]) == sorted(frame["notebook"])
    assert frame["exercise"].is_unique
    assert [mask(question) for question in frame["question"]] == list(frame["question"])


def test_the_token_of_one_s_own_login_is_right_too(client):
    """With a client its own login counts, and a mistake in it is named; without one it does not."""
    assert course.check("token", str(client.token()), client).right
    assert "newline" in course.check("token", f"{client.token()}\n", client).told
    assert not course.check("token", str(client.token())).right
