"""What runbooks are made of: steps, needs, the guard, the scene; without any kernel."""

import json

import pytest

import confkit as ck
from confkit import runbook
from confkit.checklist import Checklist
from confkit.runbook.inputs import HEADLESS
from confkit.runbook.report import answered
from confkit.runbook.scenes import SCENES
from confkit.runbook.showing import CHECK, VERDICT, Line

A3, B3 = "/rtc/room/get", "/avd/api/outgoing/getOutgoingUsers"


class Taken:
    """Takes steps, and keeps the checks that they made."""

    def __init__(self, client):
        self.steps, self.checks = runbook.Steps(client), ck.Checklist()

    def __getattr__(self, step):
        def take(*given, **named):
            came = getattr(self.steps, step)(*given, **named)
            if isinstance(came, ck.Check):
                came = iter([came])
            while True:
                try:
                    self.checks = ck.Checklist([*self.checks, next(came)])
                except StopIteration as end:
                    return end.value

        return take


@pytest.fixture
def book(client):
    return Taken(client)


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


def test_a_step_that_goes_well_gives_its_value(book, client):
    """PASS with what was found; the value is there for the next cell."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    room = book.asked(
        "the room is read",
        lambda: ck.get_room(client, room_id),
        found=lambda room: f"topic {room.topic}",
    )
    assert room.room_id == room_id
    assert [str(check) for check in book.checks] == ["PASS    the room is read: topic Lobby"]


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
)
def test_an_error_is_a_fail_only_where_the_service_told_what_is_wrong(
    book, client, sandbox, fault, fails, verdict, found
):
    """What was answered is FAIL; what could not be known is UNKNOWN; `fails` decides otherwise."""
    if fault:
        sandbox.fault(A3, **fault)
    asked = book.asked("the room is read", lambda: ck.get_room(client, "1"), fails=fails)
    [check] = book.checks
    assert asked is None
    assert (check.verdict, bool(check.advice)) == (verdict, True)
    assert found in check.found


@pytest.mark.parametrize(
    ("fault", "own"),
    [
        ({"ret": 700, "after": True}, "mine"),
        ({"ret": 503}, None),
        ({"ret": 503}, "mine"),
        ({"ret": 405, "http": 500}, None),
    ],
    ids=str,
)
def test_a_change_that_may_have_happened_is_unknown(book, client, sandbox, fault, own):
    """Neither FAIL, nor the refusal that was due: a code that leaves it open, or that passes."""
    sandbox.fault("/rtc/room/create", **fault, times=2)
    create = lambda: ck.create_room(client, "Lobby", "ops", room_extend_id=own)  # noqa: E731
    book.asked("a room is made", create)
    assert [(check.verdict, bool(check.advice)) for check in book.checks] == [("UNKNOWN", True)]
    if own is None:
        book.refused("it is refused", create, 407)
        assert book.checks[1].verdict == "UNKNOWN"


def test_the_step_s_advice_goes_before_the_error_s(book, client):
    """`advice` is the next step of a check that failed."""
    book.asked("it is there", lambda: ck.get_room(client, "1"), advice="Ask Ada.")
    assert book.checks[0].advice == "Ask Ada."


def test_a_mistake_in_the_notebook_stays_an_error(book):
    """What is not confkit's is raised, and no check is made."""
    with pytest.raises(ZeroDivisionError):
        book.asked("a sum", lambda: 1 / 0)
    assert book.checks == ()


def test_what_depends_on_a_check_that_failed_is_skipped_with_the_reason(book, client, sandbox):
    """Nothing is asked then, and what depends on the skipped one is skipped too."""
    book.asked("the room is read", lambda: ck.get_room(client, "1"))
    before = sandbox.count()
    book.asked("its users", lambda: ck.get_room_users(client, "1"), needs="the room is read")
    book.refused("its ghost", lambda: ck.get_room(client, "2"), 404, needs="its users")
    assert not book.ready("its people", needs=("the room is read", "its users"))
    assert sandbox.count() == before
    told = [check.found for check in book.checks[1:]]
    assert [check.verdict for check in book.checks] == ["FAIL", "SKIP", "SKIP", "SKIP"]
    assert told == [
        "not tried: 'the room is read' is FAIL",
        "not tried: 'its users' is SKIP",
        "not tried: 'the room is read' is FAIL",
    ]
    with pytest.raises(KeyError, match="nothing such"):
        book.ready("its people", needs="nothing such")


def test_a_refusal_that_is_due_passes_and_another_answer_fails(book, client, sandbox):
    """PASS for the code, FAIL for another one and for success, UNKNOWN without an answer."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    book.refused("an unknown room", lambda: ck.get_room(client, "1"), 404, 612)
    book.refused("another code", lambda: ck.get_room(client, "1"), 407)
    book.refused("a success", lambda: ck.get_room(client, room_id), 404)
    sandbox.fault(A3, drop=True)
    book.refused("no answer", lambda: ck.get_room(client, "1"), 404)
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
    book.asked("delete it", lambda: ck.delete_room(client, "1"))
    assert [check.verdict for check in book.checks] == ["SKIP"] * 3
    assert book.checks[0].advice == "Set apply=True to do it."
    assert all("read only" in check.found for check in book.checks[1:])


def test_what_to_do_names_the_input_as_it_was_given(book, monkeypatch):
    """In a notebook it is set in a cell, from a command line with -p."""
    book.may_change(False, "delete it")
    monkeypatch.setenv(HEADLESS, "1")
    book.may_change(False, "delete it")
    assert [check.advice for check in book.checks] == [
        "Set apply=True to do it.",
        "Run this again with -p apply=true to do it.",
    ]


def test_a_scene_is_built_on_the_sandbox_alone(client, real, sandbox):
    """Its inputs take the place of empty ones; a real service says SKIP; a wrong one is refused."""
    book = runbook.begin("nobody-can-join", client)
    made = book.scene("full", room="", seconds=0.0)
    assert made == {"room": sandbox.room_ids()[0], "seconds": 0.0}
    assert book.scene("healthy", room="mine")["room"] == "mine"
    assert book.checks == ()
    other = runbook.begin("nobody-can-join", real)
    assert other.scene("full", room="") == {"room": ""}
    assert other.checks[0].verdict == "SKIP"
    with pytest.raises(ck.ConfigError, match="There are full, full-of-video"):
        book.scene("burning")


@pytest.mark.parametrize("name", SCENES)
def test_each_runbook_is_a_function_whose_checks_say_what_to_do(name, client):
    """Nothing is shown or changed by a function itself; who calls it takes the checks."""
    book = runbook.begin(name, client)
    made = {"client": client, **book.scene(SCENES[name][1].split()[0])}
    checks = ck.Checklist(getattr(runbook, name.replace("-", "_"))(**made))
    assert all(check.advice for check in checks if check.verdict in ("FAIL", "UNKNOWN"))
    assert book.checks == ()


def test_checks_show_as_they_come_and_the_verdict_is_the_last_output_as_data(client, capsys):
    """FAIL over UNKNOWN over PASS; an output holds text, HTML and JSON."""
    book = runbook.begin("nobody-can-join", client)

    def checks():
        yield ck.Check("one", "PASS", "well")
        assert "PASS    one: well" in capsys.readouterr().out
        yield ck.Check("two", "UNKNOWN", "who knows", "Ask.")

    book.show(checks())
    assert book.verdict().verdict == "UNKNOWN"
    assert (book.passed("one"), book.passed("two"), book.passed("three")) == (True, False, False)
    book.add(ck.Check("three", "FAIL", "<b>", "Fix it."))
    outputs = book.verdict()._repr_mimebundle_()
    assert json.loads(outputs[VERDICT])["verdict"] == "FAIL"
    assert "<table" in outputs["text/html"]
    line = Line(book.checks[2])._repr_mimebundle_()
    assert json.loads(line[CHECK])["check"] == "three"
    assert "&lt;b&gt;" in line["text/html"]
    assert line["text/plain"].startswith("FAIL    three: <b>")


def test_ctrl_c_while_a_check_shows_reaches_the_function_which_undoes(client, monkeypatch):
    """What it undoes is a check too, and the interruption goes on afterwards."""
    book, shown = runbook.begin("nobody-can-join", client), []

    def checks():
        try:
            yield ck.Check("made", "PASS", "well")
        finally:
            yield ck.Check("undone", "PASS", "well")

    def show(line):
        shown.append(line)
        if len(shown) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("confkit.runbook.book.show", show)
    with pytest.raises(KeyboardInterrupt):
        book.show(checks())
    assert [check.check for check in book.checks] == ["made", "undone"]


def test_a_room_is_found_by_its_id_or_its_whole_topic(client):
    """The ID first, then a topic in any case of its letters; of several none is taken."""
    made = [
        ck.create_room(client, topic, owner_id="ops")
        for topic in ("Sync", "Weekly sync", "Lobby", "lobby")
    ]
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
    assert book.asked("it is found", lambda: runbook.find_room(client, "Front desk")) is None
    [check] = book.checks
    assert check.verdict == "UNKNOWN"
    assert check.found == "no known room has the ID or topic 'Front desk'"
    assert f"Is one of these meant: {near} (Front desk 2)?" in check.advice
    assert "CONFKIT_RUNBOOK_KNOWN" in check.advice


def test_a_topic_that_nobody_can_look_up_is_unknown_an_id_that_is_not_there_fails(book, client):
    """The interface lists no rooms; of a number or a UUID the service itself said 404."""
    made = ck.create_room(client, "Lobby", owner_id="ops")
    for room in ("Attic", "000", "1b4e28ba-2fa1-41d2-883f-0016d3cca427"):
        book.asked(f"{room} is found", lambda room=room: runbook.find_room(client, room))
    assert [check.verdict for check in book.checks] == ["UNKNOWN", "FAIL", "FAIL"]
    assert book.checks[1].found == "the service has no room with the ID '000' (404)"
    assert all(f"{made} (Lobby)" in check.advice for check in book.checks)


def test_a_known_room_that_could_not_be_read_may_be_the_one(book, client, sandbox):
    """It may have the same topic: nothing is claimed; a room that is gone has none."""
    made = [ck.create_room(client, "Lobby", owner_id="ops") for _ in range(2)]
    for room in ("Lobby", "Hall", "000"):
        sandbox.fault(A3, ret=404, times=1)  # no such ID; of the two known rooms one is not told
        sandbox.fault(A3, ret=407, times=1)
        book.asked(f"{room} is found", lambda room=room: runbook.find_room(client, room))
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
    found = book.asked("it is found", lambda: runbook.find_room(client, made), found=str)
    assert book.checks[0].found == f"{made} (topic 'Lobby')"
    assert (str(found), f"{found}", json.dumps(found)) == (made, made, f'"{made}"')


def test_what_to_do_about_a_setting_stands_behind_the_arrow(book, client, tmp_path):
    """Once, and not in what was found; the notebook's own advice goes before it."""
    missing = str(tmp_path / "no.txt")
    book.asked("no room", lambda: runbook.find_room(client, ""))
    book.asked("no rooms", lambda: runbook.find_rooms(client))
    book.asked("no file", lambda: runbook.find_rooms(client, missing))
    book.asked("no recording", lambda: ck.load_occupancy(missing), advice="Set recording.")
    book.asked("no recording here", lambda: ck.load_occupancy(missing))
    assert {check.verdict for check in book.checks} == {"UNKNOWN"}
    found, advice = zip(*((check.found, check.advice) for check in book.checks), strict=True)
    assert (found[0], advice[0]) == (
        "no room is given",
        "Set room (-p room=... in a terminal) to its ID or its topic.",
    )
    assert advice[1].startswith("Set rooms (-p rooms=... in a terminal) to their IDs")
    assert "Set rooms" not in found[1]
    assert advice[2].startswith("Look at the path")
    assert found[2] == f"There is no file {missing!r}, and a lone text is taken for a path"
    assert found[3] == found[4] == f"there is no recording at {missing}"
    assert advice[3] == "Set recording."
    assert "confkit record" in advice[4]


def test_rooms_of_a_file_are_known_by_their_topics_too(client, real, monkeypatch, tmp_path):
    """CONFKIT_RUNBOOK_KNOWN names a file of IDs: the interface itself lists no rooms."""
    room_id = ck.create_room(client, "Lobby", owner_id="ops")
    with pytest.raises(ck.ConfigError, match="known: none"):
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
            [
                ("PASS", "yes", ""),
                ("FAIL", "the room is full (2 of 2)", "Remove somebody."),
                ("UNKNOWN", "no answer", "Wait."),
                ("FAIL", "it is locked", ""),
            ],
            ["FAIL: The room is full (2 of 2). Remove somebody.", "FAIL: It is locked."],
        ),
        ([("UNKNOWN", "no answer!", "Wait.")], ["UNKNOWN: No answer! Wait."]),
        ([], ["UNKNOWN: 0 of 0 checks passed."]),
    ],
)
def test_a_report_begins_with_the_answer(checks, lines):
    """What failed with its next step, else what could not be known, else how many passed."""
    made = Checklist(ck.Check("a check", *one) for one in checks)
    assert answered(made) == lines


def test_advice_says_how_an_input_is_given_here(monkeypatch):
    """In a notebook by its cell, from a command line by -p."""
    assert runbook.to_set("apply", True) == "Set apply=True"
    monkeypatch.setenv("CONFKIT_HEADLESS", "1")
    assert runbook.to_set("apply", True) == "Run this again with -p apply=true"
