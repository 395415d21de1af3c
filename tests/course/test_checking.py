"""Checked answers: wrong ones of any kind, and what is said of them."""

import threading
from types import SimpleNamespace

import pytest

import confkit as ck
from confkit import course
from confkit.course.lessons import EXERCISES


class Hostile:
    """An answer that raises whatever it is asked."""

    def __getattribute__(self, name):
        raise RuntimeError("hunter2")

    def __call__(self, *_):
        raise SystemExit("login_password=hunter2")


GARBAGE = [
    "", "x", "\ud800", b"\xff", 0, -1, True, 1.5, float("nan"), [], {}, set(), (), object(),
    Hostile(), Hostile, len, lambda: None, lambda *_: None, lambda *_: 1 / 0, ["a"] * 3,
    {"address": None}, threading.Lock(), SimpleNamespace(ret=0), range(3), "0" * 1_000,
    ValueError("x"), [[]] * 3,
]  # fmt: skip


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_no_answer_of_any_type_raises_and_none_of_these_is_right(exercise, client):
    """Garbage of every type is said to be wrong in a sentence that quotes nothing of it (but what a
    function raises, masked), with and without a client. None and the dots are open, as is an
    exercise of the sandbox without a client."""
    for nothing in (None, ...):
        finding = course.check(exercise.name, nothing)
        assert (finding.right, finding.told[:13]) == (None, "No answer yet")
    if exercise.needs_client:
        finding = course.check(exercise.name, "x", GARBAGE)
        assert (finding.right, "client" in finding.told) == (None, True)
    for answer in GARBAGE:
        finding = course.check(exercise.name, answer, client)
        assert not finding.right
        if type(answer) in (int, float):
            assert "Error" not in finding.told
            assert exercise.takes != "list" or finding.told.startswith("Hand in a list; this is of")
        assert len(finding.told) > 20
        assert "hunter2" not in repr(finding)
        assert "0" * 100 not in repr(finding)
        assert not course.check(exercise.name, answer).right


def broken(*_):
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


@pytest.mark.parametrize(
    ("name", "function", "due"),
    [
        ("topic-cut", broken, "UnicodeDecodeError"),
        ("put-off", lambda *_: None, "It gave None: is a `return` missing?"),
        ("many-report", lambda a, b: 1, "does not take them: missing a required argument"),
        ("errors-count", lambda: 1, "does not take them: too many positional arguments"),
        ("signature", lambda *a, key: 1, "does not take them: missing a required"),
    ],
)
def test_a_function_that_cannot_do_it_at_all_is_told_why(name, function, due, client):
    """Whatever it is asked for: the error that it raises, a missing return and wrong arguments are
    reported as such."""
    finding = course.check(name, function, client)
    assert finding.right is False
    assert due in finding.told
    assert "cannot be read as an answer" not in finding.told


def test_what_a_function_raises_is_told_with_its_text_and_no_secret(client):
    """The text of the error is there, cut where it is long; token and secret key are not in it."""

    def leaky(*_):
        raise KeyError(
            f"{client.token().reveal()} {client.secret_key.reveal()} password=geheim "
            + "long " * 200
        )

    told = course.check("topic-cut", broken).told
    assert told.startswith("Your function raised UnicodeDecodeError: 'utf-8' codec can't decode")
    told = course.check("topic-cut", leaky, client).told
    assert "KeyError" in told
    assert told.endswith(" [...].")
    assert len(told) < 400
    for secret in (client.token().reveal(), client.secret_key.reveal(), "geheim"):
        assert secret not in told


def test_what_a_function_gives_and_nobody_can_read_is_told_by_its_type(client):
    """An object in the place of three numbers is that, and no error of the check."""
    finding = course.check("many-report", lambda read: client)
    assert (finding.right, finding.told[:51]) == (
        False,
        "Your function gave something of the type Client, wh",
    )


def test_an_error_of_the_learner_s_function_is_no_failure_of_the_check(client, sandbox):
    """A7 with a name in the place of the id answers 429, and the function is not yet right; a
    service that cannot be asked leaves the exercise open."""

    def by_name(client, room_id, user_name):
        return [ck.force_offline(client, room_id, user_name)]

    finding = course.check("put-off", by_name, client)
    assert finding.right is False
    assert "raised UserNotFound" in finding.told
    assert "429" in finding.told
    sandbox.fault("/rtc/room/create", ret=700)
    finding = course.check("put-off", by_name, client)
    assert finding.right is None
    assert "could not be checked" in finding.told


def test_an_unknown_exercise_names_those_that_there_are():
    """A wrong name is an error that lists the names, and does not quote what came."""
    with pytest.raises(ck.ConfigError, match=r"first-room, .*token") as raised:
        course.check("geheim", "x")
    assert "geheim" not in str(raised.value)


def test_what_cannot_be_looked_at_stays_open(sandbox, client, script):
    """On a client without a sandbox the exercises of the sandbox send nothing; a client or a
    sandbox that was closed makes no answer wrong, and the next step is named."""
    service = script({})
    finding = course.check("own-number", "1", service.client())
    assert (finding.right, service.requests) == (None, [])
    assert "sandbox" in finding.told
    room_id = ck.create_room(client, "My first room", owner_id="o", attendee_max=5)
    with sandbox.connect() as other:
        pass
    for name, answer in (("first-room", room_id), ("errors-count", lambda room_id: 2)):
        finding = course.check(name, answer, other)
        assert finding.right is None
        assert "Connect again" in finding.told
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


def test_the_token_of_one_s_own_login_is_right_too(client):
    """With a client its own login counts, and a mistake in it is named; without one it does not."""
    assert course.check("token", client.token().reveal(), client).right
    assert "newline" in course.check("token", f"{client.token().reveal()}\n", client).told
    assert not course.check("token", client.token().reveal()).right
