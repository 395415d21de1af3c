"""What runbooks are made of: checks, needs, the guard, the scene; without any kernel."""

import json

import pytest

import confkit as ck
from confkit import runbook
from confkit.checklist import Checklist
from confkit.runbook.report import answered
from confkit.runbook.showing import VERDICT, Line

A3, B3 = "/rtc/room/get", "/avd/api/outgoing/getOutgoingUsers"


@pytest.fixture
def book(client):
    return runbook.begin("a-runbook", client)


@pytest.fixture
def real(sandbox):
    """A client of the sandbox that takes it for a real service."""
    names = ("base_url", "outgoing_url", "access_key", "secret_key")
    with ck.connect(**{name: getattr(sandbox, name) for name in names}) as connected:
        yield connected


def test_the_first_line_says_which_service_it_is(client, real, capsys):
    """The sandbox in capitals, a real service by its name, and whether changes are possible."""
    runbook.begin("a-runbook", client)
    assert "a-runbook on the SANDBOX" in capsys.readouterr().out
    runbook.begin("a-runbook", real)
    assert "127.0.0.1, a real service; changes are possible" in capsys.readouterr().out
    real.read_only = True
    runbook.begin("a-runbook", real)
    assert "changes are refused, read only" in capsys.readouterr().out


def test_a_check_that_goes_well_gives_its_value_and_shows_at_once(book, client, capsys):
    """PASS with what was found; the value is there for the next cell."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    room = book.check("the room is read", lambda: ck.get_room(client, room_id),
                      found=lambda room: f"topic {room.topic}")  # fmt: skip
    assert room.room_id == room_id
    assert "PASS    the room is read: topic Lobby" in capsys.readouterr().out
    assert book.verdict().verdict == "PASS"


@pytest.mark.parametrize(
    ("fault", "fails", "verdict", "found"),
    [
        ({}, None, "FAIL", "room not found (404)"),
        ({"ret": 407}, None, "FAIL", "parameter error (407)"),
        ({"ret": 700}, None, "UNKNOWN", "database error (700)"),
        ({"ret": 504}, None, "UNKNOWN", "timeout (504)"),
        ({"ret": 602}, None, "UNKNOWN", "access_token incorrect (602)"),
        ({"drop": True}, None, "UNKNOWN", "it closed the connection without an answer"),
        ({"body": "<html>"}, None, "UNKNOWN", "got an HTML or XML page"),
        ({"drop": True}, ck.ConfkitError, "FAIL", "it closed the connection without an answer"),
        ({}, (), "UNKNOWN", "room not found (404)"),
    ],
    ids=str,
)  # fmt: skip
def test_an_error_is_a_fail_only_where_the_service_told_what_is_wrong(
    book, client, sandbox, fault, fails, verdict, found
):
    """What was answered is FAIL; what could not be known is UNKNOWN; `fails` decides otherwise."""
    if fault:
        sandbox.fault(A3, **fault)
    asked = book.check("the room is read", lambda: ck.get_room(client, "1"), fails=fails)
    [check] = book.checks
    assert asked is None
    assert (check.verdict, bool(check.advice)) == (verdict, True)
    assert found in check.found


@pytest.mark.parametrize(
    ("fault", "own"),
    [({"ret": 700, "after": True}, "mine"), ({"ret": 503}, None), ({"ret": 503}, "mine"),
     ({"ret": 405, "http": 500}, None)],
    ids=str,
)  # fmt: skip
def test_a_change_that_may_have_happened_is_unknown(book, client, sandbox, fault, own):
    """Neither FAIL, nor the refusal that was due: a code that leaves it open, or that passes."""
    sandbox.fault("/rtc/room/create", **fault, times=2)
    create = lambda: ck.create_room(client, "Lobby", "ops", room_extend_id=own)  # noqa: E731
    book.check("a room is made", create)
    assert [(check.verdict, bool(check.advice)) for check in book.checks] == [("UNKNOWN", True)]
    if own is None:
        book.refuses("it is refused", create, 407)
        assert book.checks[1].verdict == "UNKNOWN"


def test_the_runbook_s_advice_goes_before_the_error_s(book, client):
    """`advice` is the next step of a check that failed."""
    book.check("it is there", lambda: ck.get_room(client, "1"), advice="Ask Ada.")
    assert book.checks[0].advice == "Ask Ada."


def test_a_mistake_in_the_notebook_stays_an_error(book):
    """What is not confkit's is raised, and nothing is recorded."""
    with pytest.raises(ZeroDivisionError):
        book.check("a sum", lambda: 1 / 0)
    assert book.checks == ()


def test_what_depends_on_a_check_that_failed_is_skipped_with_the_reason(book, client, sandbox):
    """Nothing is asked then, and what depends on the skipped one is skipped too."""
    book.check("the room is read", lambda: ck.get_room(client, "1"))
    before = sandbox.count()
    book.check("its users", lambda: ck.get_room_users(client, "1"), needs="the room is read")
    book.refuses("its ghost", lambda: ck.get_room(client, "2"), 404, needs="its users")
    assert not book.ready("its people", needs=("the room is read", "its users"))
    assert sandbox.count() == before
    told = [check.found for check in book.checks[1:]]
    assert [check.verdict for check in book.checks] == ["FAIL", "SKIP", "SKIP", "SKIP"]
    assert told == ["not tried: 'the room is read' is FAIL", "not tried: 'its users' is SKIP",
                    "not tried: 'the room is read' is FAIL"]  # fmt: skip
    with pytest.raises(ValueError, match="needs 'nothing such'"):
        book.ready("its people", needs="nothing such")


def test_a_refusal_that_is_due_passes_and_another_answer_fails(book, client, sandbox):
    """PASS for the code, FAIL for another one and for success, UNKNOWN without an answer."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    book.refuses("an unknown room", lambda: ck.get_room(client, "1"), 404, 612)
    book.refuses("another code", lambda: ck.get_room(client, "1"), 407)
    book.refuses("a success", lambda: ck.get_room(client, room_id), 404)
    sandbox.fault(A3, drop=True)
    book.refuses("no answer", lambda: ck.get_room(client, "1"), 404)
    assert [check.verdict for check in book.checks] == ["PASS", "FAIL", "FAIL", "UNKNOWN"]
    assert book.checks[1].found == "room not found (404) where 407 is due"
    assert book.checks[2].found == "it succeeded, where 404 is due"


def test_a_change_needs_apply_and_a_client_that_may(book, client):
    """Without apply=True, and with a read only client, the change is a SKIP that says so."""
    assert book.may_change(True, "delete it")
    assert book.checks == ()
    assert not book.may_change(False, "delete it")
    with pytest.raises(ck.ConfigError, match="Give True or False"):
        book.may_change("False", "delete it")
    client.read_only = True
    assert not book.may_change(True, "delete it")
    book.check("delete it", lambda: ck.delete_room(client, "1"))
    assert [check.verdict for check in book.checks] == ["SKIP"] * 3
    assert book.checks[0].advice == "Set apply=True to do it."
    assert all("read only" in check.found for check in book.checks[1:])


def test_a_scene_is_built_on_the_sandbox_alone(book, real, sandbox):
    """The sandbox is handed over for it; a real service says SKIP; a wrong scene is refused."""
    assert book.scene("broken", "broken", "healthy") is sandbox
    assert book.checks == ()
    other = runbook.begin("a-runbook", real)
    assert other.scene("broken", "broken", "healthy") is None
    assert other.checks[0].verdict == "SKIP"
    with pytest.raises(ck.ConfigError, match="There are broken, healthy"):
        book.scene("burning", "broken", "healthy")


def test_the_verdict_is_in_the_last_output_as_data(book):
    """FAIL over UNKNOWN over PASS; the output holds table, text and JSON."""
    book.passed("one", "well")
    book.unknown("two", "who knows", "Ask.")
    assert book.verdict().verdict == "UNKNOWN"
    book.add(ck.Check("three", "FAIL", "<b>", "Mend it."))
    outputs = book.verdict()._repr_mimebundle_()
    assert json.loads(outputs[VERDICT])["verdict"] == "FAIL"
    assert "<table" in outputs["text/html"]
    line = Line(book.checks[2])._repr_mimebundle_()
    assert "&lt;b&gt;" in line["text/html"]
    assert line["text/plain"].startswith("FAIL    three: <b>")


def test_a_room_is_found_by_its_id_or_its_whole_topic(client):
    """The ID first, then a topic in any case of its letters; of several none is taken."""
    made = [ck.create_room(client, topic, owner_id="ops")
            for topic in ("Sync", "Weekly sync", "Lobby", "lobby")]  # fmt: skip
    assert runbook.find_room(client, f" {made[1]} ") == made[1]
    assert runbook.find_room(client, "SYNC") == made[0]
    with pytest.raises(ck.ConfigError, match="2 known rooms fit 'Lobby'") as ambiguous:
        runbook.find_room(client, "Lobby")
    assert all(room_id in ambiguous.value.advice for room_id in made[2:])
    with pytest.raises(ck.ConfigError, match="no room is given"):
        runbook.find_room(client, " ")


def test_a_part_of_a_topic_is_never_taken_for_the_room(book, client, real):
    """A room "Front desk" without a camera is not known, and "Front desk 2" is another: UNKNOWN,
    with the candidate and the ways out."""
    ck.create_room(real, "Front desk", owner_id="ops")
    near = ck.create_room(client, "Front desk 2", owner_id="ops")
    assert book.check("it is found", lambda: runbook.find_room(client, "Front desk")) is None
    [check] = book.checks
    assert check.verdict == "UNKNOWN"
    assert check.found == "no known room has the ID or topic 'Front desk'"
    assert f"Is one of these meant: {near} (Front desk 2)?" in check.advice
    assert "CONFKIT_RUNBOOK_KNOWN" in check.advice


def test_a_topic_that_nobody_can_look_up_is_unknown_an_id_that_is_not_there_fails(book, client):
    """The interface lists no rooms; of a number or a UUID the service itself said 404."""
    made = ck.create_room(client, "Lobby", owner_id="ops")
    for room in ("Attic", "000", "1b4e28ba-2fa1-41d2-883f-0016d3cca427"):
        book.check(f"{room} is found", lambda room=room: runbook.find_room(client, room))
    assert [check.verdict for check in book.checks] == ["UNKNOWN", "FAIL", "FAIL"]
    assert book.checks[1].found == "the service has no room with the ID '000' (404)"
    assert all(f"{made} (Lobby)" in check.advice for check in book.checks)


def test_a_known_room_that_could_not_be_read_may_be_the_one(book, client, sandbox):
    """It may have the same topic: nothing is claimed; a room that is gone has none."""
    made = [ck.create_room(client, "Lobby", owner_id="ops") for _ in range(2)]
    for room in ("Lobby", "Hall", "000"):
        sandbox.fault(A3, ret=404, times=1)  # no such ID; of the two known rooms one is not told
        sandbox.fault(A3, ret=407, times=1)
        book.check(f"{room} is found", lambda room=room: runbook.find_room(client, room))
        unread = book.checks[-1].advice.partition("Could not be read: ")[2]
        assert unread in [f"{room_id}." for room_id in made]
    assert [check.verdict for check in book.checks] == ["UNKNOWN"] * 3
    assert "may have this topic too" in book.checks[0].found
    assert all(room_id in book.checks[0].advice for room_id in made)
    with sandbox.connect() as other:
        ck.delete_room(other, made[1])
    assert runbook.find_room(client, "Lobby") == made[0]


def test_a_room_that_was_found_shows_its_topic(book, client):
    """Whoever mistyped an ID sees it in the line; the value is the ID as it is."""
    made = ck.create_room(client, "Lobby", owner_id="ops")
    found = book.check("it is found", lambda: runbook.find_room(client, made), found=str)
    assert book.checks[0].found == f"{made} (topic 'Lobby')"
    assert (str(found), f"{found}", json.dumps(found)) == (made, made, f'"{made}"')


def test_what_to_do_about_a_setting_stands_behind_the_arrow(book, client, tmp_path):
    """Once, and not in what was found; the notebook's own advice goes before it."""
    missing = str(tmp_path / "no.txt")
    book.check("no room", lambda: runbook.find_room(client, ""))
    book.check("no rooms", lambda: runbook.find_rooms(client))
    book.check("no file", lambda: runbook.find_rooms(client, missing))
    book.check("no recording", lambda: ck.load_occupancy(missing), advice="Set recording.")
    book.check("no recording here", lambda: ck.load_occupancy(missing))
    assert {check.verdict for check in book.checks} == {"UNKNOWN"}
    found, advice = zip(*((check.found, check.advice) for check in book.checks), strict=True)
    assert (found[0], advice[0]) == ("no room is given", "Set room to its ID or its topic.")
    assert advice[1].startswith("Set rooms to their IDs")
    assert "Set rooms" not in found[1]
    assert advice[2].startswith("Look at the path")
    assert found[2] == f"There is no file {missing!r}, and a lone text is taken for a path"
    assert found[3] == found[4] == f"there is no recording at {missing}"
    assert advice[3] == "Set recording."
    assert "confkit record" in advice[4]


def test_rooms_of_a_file_are_known_by_their_topics_too(client, real, monkeypatch, tmp_path):
    """CONFKIT_RUNBOOK_KNOWN names a file of IDs: the interface itself lists no rooms."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    with pytest.raises(ck.ConfigError, match="None is known"):
        runbook.find_room(real, "Lobby")
    file = tmp_path / "rooms.txt"
    file.write_text(f"{room_id}\n7\n")
    monkeypatch.setenv("CONFKIT_RUNBOOK_KNOWN", str(file))
    assert runbook.find_room(real, "Lobby") == room_id


def test_several_rooms_are_those_named_those_in_a_file_or_all_that_are_known(client, tmp_path):
    """Commas, a file of IDs, or nothing; no room at all is an error, never an empty list."""
    with pytest.raises(ck.ConfigError, match="none are known"):
        runbook.find_rooms(client)
    made = [ck.create_room(client, topic, owner_id="ops") for topic in ("Sync", "Lobby")]
    assert runbook.find_rooms(client) == made
    assert runbook.find_rooms(client, f"lobby, {made[0]}") == made[::-1]
    file = tmp_path / "rooms.txt"
    file.write_text("7\n8\n")
    assert runbook.find_rooms(client, str(file)) == ["7", "8"]


@pytest.mark.parametrize(
    ("checks", "lines"),
    [
        ([("PASS", "yes", ""), ("SKIP", "no", "")], ["PASS: 1 of 2 checks passed."]),
        (
            [("PASS", "yes", ""), ("FAIL", "the room is full (2 of 2)", "Remove somebody."),
             ("UNKNOWN", "no answer", "Wait."), ("FAIL", "it is locked", "")],
            ["FAIL: The room is full (2 of 2). Remove somebody.", "FAIL: It is locked."],
        ),
        ([("UNKNOWN", "no answer!", "Wait.")], ["UNKNOWN: No answer! Wait."]),
        ([], ["UNKNOWN: 0 of 0 checks passed."]),
    ],
)  # fmt: skip
def test_a_report_begins_with_the_answer(checks, lines):
    """What failed with its next step, else what could not be told, else how many passed."""
    made = Checklist(ck.Check("a check", *one) for one in checks)
    assert answered(made) == lines


def test_advice_says_how_an_input_is_given_here(monkeypatch):
    """In a notebook by its cell, from a command line by -p."""
    assert runbook.to_set("apply", True) == "Set apply=True"
    monkeypatch.setenv("CONFKIT_HEADLESS", "1")
    assert runbook.to_set("apply", True) == "Run this again with -p apply=true"
