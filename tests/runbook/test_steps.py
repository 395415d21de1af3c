"""What runbooks are made of: a question and its check, the guard, a room by its topic, the book."""

import json

import pytest

import confkit as ck
from confkit import runbook
from confkit.operations import OPERATIONS
from confkit.runbook.book import CHECK
from confkit.runbook.inputs import HEADLESS
from tests.ports import HERE
from tests.runbook.harness import outside

A2, A3 = OPERATIONS["A2"].path, OPERATIONS["A3"].path


@pytest.fixture
def book(client):
    """Takes what a step makes, and gives its value; the checks are in `checks`."""

    class Book(runbook.Runbook):
        def take(self, steps):
            value = yield from steps
            self.value = value

        def asked(self, *given, **named):
            self.show(self.take(runbook.asked(*given, **named)))
            return self.value

        def may_change(self, *given):
            self.show(self.take(runbook.may_change(client, *given)))
            return self.value

    return Book("a-runbook", client)


def test_the_first_line_says_which_service_it_is(client, sandbox, capsys):
    """The sandbox in capitals, a real service by its name, and whether changes are possible."""
    runbook.begin("a-runbook", client)
    assert "a-runbook on the SANDBOX" in capsys.readouterr().out
    for read_only, told in ((False, "possible"), (True, "refused, read only")):
        with outside(sandbox, read_only=read_only) as real:
            runbook.begin("a-runbook", real)
        assert f"{HERE}, a real service; changes are {told}" in capsys.readouterr().out


def test_a_step_that_goes_well_gives_its_value(book):
    """PASS with what was found, or the verdict that it says, and then there is no value; a mistake
    in the notebook stays an error, and no check is made."""
    assert book.asked("a sum", lambda: 2, lambda sum_: f"it is {sum_}") == 2
    assert book.asked("another", lambda: 3, lambda _: ("FAIL", "it is odd", "Add 1.")) is None
    with pytest.raises(ZeroDivisionError):
        book.asked("a third", lambda: 1 / 0)
    assert [str(check) for check in book.checks] == [
        "PASS    a sum: it is 2",
        "FAIL    another: it is odd\n     -> Add 1.",
    ]


@pytest.mark.parametrize(
    ("path", "fault", "fails", "verdict", "found"),
    [
        (A3, {}, None, "FAIL", "room not found (404)"),
        (A3, {"ret": 700}, None, "UNKNOWN", "database error (700)"),
        (A3, {}, (), "UNKNOWN", "room not found (404)"),
        (A2, {"ret": 405, "http": 500}, None, "UNKNOWN", "405"),
        (A2, {"ret": 405}, None, "FAIL", "405"),
    ],
    ids=str,
)
def test_an_error_is_a_fail_only_where_the_service_told_what_is_wrong(
    book, client, sandbox, path, fault, fails, verdict, found
):
    """What was answered is FAIL; what could not be known, and a change that may have happened, is
    UNKNOWN; `fails` decides otherwise."""
    if fault:
        sandbox.fault(path, **fault)
    ask = {A3: lambda: ck.get_room(client, "1"), A2: lambda: ck.create_room(client, "Hall", "ops")}
    asked = book.asked("it is asked", ask[path], fails=fails)
    [check] = book.checks
    assert asked is None
    assert (check.outcome, bool(check.advice)) == (verdict, True)
    assert found in check.detail


def test_a_change_needs_apply_and_a_client_that_may(book, client, monkeypatch):
    """Without apply=True, and with a read only client, the change is a SKIP, or UNKNOWN where that
    is said. The next step names the input as it was given: in a cell, or with -p."""
    assert book.may_change(True, "delete it")
    assert book.checks == ()
    assert not book.may_change(False, "delete it")
    monkeypatch.setenv(HEADLESS, "1")
    assert not book.may_change(False, "delete it", "UNKNOWN")
    with pytest.raises(ck.ConfigError, match="Give True or False"):
        book.may_change("False", "delete it")
    client.read_only = True
    assert not book.may_change(True, "delete it")
    assert [(check.outcome, check.advice) for check in book.checks] == [
        ("SKIP", "Set apply=True to do it."),
        ("UNKNOWN", "Run this again with -p apply=true to do it."),
        ("SKIP", ""),
    ]
    assert "read only" in book.checks[-1].detail


def test_a_scene_is_built_on_the_sandbox_alone(client, sandbox):
    """Its inputs take the place of empty ones; a real service says SKIP; a wrong one is refused."""
    book = runbook.begin("nobody-can-join", client)
    made = book.scene("full", room="", seconds=0.0)
    assert made == {"room": sandbox.room_ids()[0], "seconds": 0.0}
    assert book.scene("healthy", room="mine")["room"] == "mine"
    with outside(sandbox) as real:
        other = runbook.begin("nobody-can-join", real)
        assert other.scene("full", room="") == {"room": ""}
        assert other.checks[0].outcome == "SKIP"
    with pytest.raises(ck.ConfigError, match="There are full, full-of-video"):
        book.scene("burning")


def test_checks_show_as_they_come_as_text_html_and_data(client, capsys, monkeypatch):
    """FAIL over UNKNOWN over PASS; outside of a notebook they are lines."""
    book = runbook.begin("nobody-can-join", client)
    shown = []

    def checks():
        yield ck.Check("one", "PASS", "well")
        assert "PASS    one: well" in capsys.readouterr().out
        monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
        yield ck.Check("two", "UNKNOWN", "<b>", "Ask.")

    book.show(checks())
    assert book.verdict().verdict == "UNKNOWN"
    assert (book.passed("one"), book.passed("two")) == (True, False)
    assert json.loads(shown[0][CHECK])["name"] == "two"
    assert "&lt;b&gt;" in shown[0]["text/html"]
    assert shown[0]["text/plain"].startswith("UNKNOWN two: <b>")


def test_ctrl_c_while_a_check_shows_reaches_the_function_which_undoes(client, monkeypatch):
    """What it undoes is a check too, and the interruption goes on afterwards."""
    book, shown = runbook.begin("nobody-can-join", client), []

    def checks():
        try:
            yield ck.Check("made", "PASS", "well")
        finally:
            yield ck.Check("undone", "PASS", "well")

    def show(line, **_):
        shown.append(line)
        if len(shown) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("confkit.runbook.book.show", show)
    with pytest.raises(KeyboardInterrupt):
        book.show(checks())
    assert [check.name for check in book.checks] == ["made", "undone"]


# A room by its ID or its topic


def test_a_room_is_found_by_its_id_or_its_whole_topic(client, sandbox):
    """The ID first, then a topic in any case of its letters; of several none is taken, and the
    error names them. Several rooms are those named with commas, or in a file, else all."""
    with pytest.raises(ck.ConfigError, match="none are known"):
        runbook.find_rooms(client)
    topics = ("Sync", "Weekly sync", "Lobby", "lobby")
    with sandbox.connect() as owner:
        made = [ck.create_room(owner, topic, owner_id="ops") for topic in topics]
    assert runbook.find_room(client, f" {made[1]} ") == made[1]
    assert runbook.find_room(client, "SYNC") == made[0]
    with pytest.raises(ck.ConfigError, match="2 known rooms may have the ID or topic 'Lobby'") as e:
        runbook.find_room(client, "Lobby")
    assert f"known: {made[2]} (Lobby), {made[3]} (lobby)." in e.value.advice
    with pytest.raises(ck.ConfigError, match="no room is given"):
        runbook.find_room(client, " ")
    assert runbook.find_rooms(client) == made
    assert runbook.find_rooms(client, f"weekly sync, {made[0]}") == made[1::-1]


@pytest.fixture
def lobby(sandbox):
    """A client that takes the sandbox for a real service, and knows two rooms "Lobby": it made
    them."""
    with outside(sandbox) as real:
        yield real, [ck.create_room(real, "Lobby", owner_id="ops") for _ in range(2)]


def test_a_part_of_a_topic_is_never_taken_for_the_room(book, client, lobby):
    """A room "Front desk" that is not known, and "Front desk 2" is another: UNKNOWN, with the known
    rooms and the ways out. Of a number or a UUID the service itself said 404: FAIL."""
    real, [room_id, _] = lobby
    ck.create_room(client, "Front desk", owner_id="ops")
    ck.create_room(real, "Front desk 2", owner_id="ops")
    for room in ("Front desk", "000", "1b4e28ba-2fa1-41d2-883f-0016d3cca427"):
        book.asked(f"{room} is found", lambda room=room: runbook.find_room(real, room))
    assert [check.outcome for check in book.checks] == ["UNKNOWN", "FAIL", "FAIL"]
    assert book.checks[0].detail == "0 known rooms may have the ID or topic 'Front desk'"
    assert "CONFKIT_RUNBOOK_KNOWN" in book.checks[0].advice
    assert f"{room_id} (Lobby)" in book.checks[0].advice


def test_a_known_room_that_could_not_be_read_may_be_the_one(book, client, sandbox, lobby):
    """It may have the same topic: nothing is claimed; a room that is gone has none."""
    real, made = lobby
    sandbox.fault(A3, ret=404, times=1)  # no such ID; of the two known rooms one is not told
    sandbox.fault(A3, ret=407, times=1)
    book.asked("it is found", lambda: runbook.find_room(real, "Lobby"))
    [check] = book.checks
    unread = check.advice.partition("could not be read: ")[2]
    assert (check.outcome, unread in [f"{room_id}." for room_id in made]) == ("UNKNOWN", True)
    ck.delete_room(client, made[1])
    assert runbook.find_room(real, "Lobby") == made[0]


def test_rooms_of_a_file_are_known_by_their_topics_too(client, sandbox, monkeypatch, tmp_path):
    """CONFKIT_RUNBOOK_KNOWN names a file of IDs, as the interface itself lists no rooms; a file can
    be given in place of rooms, too."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    file = tmp_path / "rooms.txt"
    file.write_text(f"{room_id}\n7\n")
    with outside(sandbox) as real:
        with pytest.raises(ck.ConfigError, match="known: none"):
            runbook.find_room(real, "Lobby")
        monkeypatch.setenv("CONFKIT_RUNBOOK_KNOWN", str(file))
        assert runbook.find_room(real, "Lobby") == room_id
        assert runbook.find_rooms(real, str(file)) == [room_id, "7"]
