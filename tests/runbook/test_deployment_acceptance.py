"""The runbook deployment-acceptance: what differs is found, and nothing is left behind."""

import json

import pytest

import confkit as ck
from confkit import runbook
from confkit.dialect import Dialect
from confkit.runbook import service
from confkit.sandbox import Sandbox
from tests.runbook.harness import play
from tests.scripted import AUTHENTICATE

WHOLE = "the whole interface was tried"
GONE = "nothing of this test is left (B2, A4)"
MADE = "a room is made (A2)"
SEATED = "the camera is imported (B1)"
CHOSEN = "its ID is the one that was chosen"
A, B = "/rtc/room", "/avd/api/outgoing"


def failed(played):
    return [check.check for check in played.checks if check.verdict == "FAIL"]


def test_a_healthy_service_passes_with_a_camera_and_is_left_as_it_was():
    """Every check passes, none is skipped."""
    played = play("deployment-acceptance", apply=True)
    assert {check.verdict for check in played.checks} == {"PASS"}, played
    assert played[WHOLE].found == "with a camera"


def test_without_apply_nothing_changes_and_nothing_is_accepted(client, sandbox):
    """Reads alone are no acceptance test: UNKNOWN, and no change was sent."""
    played = play("deployment-acceptance", client)
    assert played.verdict == "UNKNOWN"
    assert played[WHOLE].verdict == "UNKNOWN"
    assert sandbox.count(f"{A}/create") == sandbox.count(f"{A}/del") == 0


@pytest.mark.parametrize(
    ("scene", "fails"),
    [
        ("no-device-service", ["interface B answers and takes the token (B3)"]),
        ("licence-expired", [MADE]),
    ],
)
def test_each_scene_fails_where_it_should(scene, fails):
    """What is broken is the line that fails; what depends on it is skipped."""
    assert failed(play("deployment-acceptance", scene=scene, apply=True)) == fails


@pytest.mark.parametrize(
    ("path", "fault", "fails"),
    [
        (f"{A}/get", {"ret": 612, "times": 1}, ["an unknown room gives 404 (A3)"]),
        (
            f"{A}/get_room_info",
            {"ret": 0, "body": '{"ret":0,"user_list":[]}', "times": 1},
            ["an unknown room has no users: 404 (A6)"],
        ),
        (
            f"{B}/destroyOutgoingUser",
            {"ret": 425, "times": 1},
            ["a missing parameter gives 401 in B (B2)"],
        ),
        (f"{A}/create", {"ret": 700}, [MADE]),
        (f"{A}/del", {"ret": 700}, [GONE]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_service_that_answers_otherwise_fails(client, sandbox, path, fault, fails):
    """A wrong code, a success where an error is due, a change that does not work."""
    if "body" in fault:
        fault = {name: value for name, value in fault.items() if name != "ret"}
    sandbox.fault(path, **fault)
    assert failed(play("deployment-acceptance", client, apply=True)) == fails
    sandbox.clear_faults()
    assert bool(sandbox.room_ids()) == (fails == [GONE])


def test_a_room_whose_creation_was_not_answered_is_removed_all_the_same(client, sandbox):
    """The answer is lost after the room was made: it is looked up by the ID chosen here."""
    sandbox.fault(f"{A}/create", drop=True, after=True, times=1)
    played = play("deployment-acceptance", client, apply=True)
    assert played[MADE].verdict == "PASS"
    assert sandbox.room_ids() == []


def test_no_answer_is_unknown(client, sandbox):
    """Silence may be the network's: the creation and what hangs on it are UNKNOWN, none a FAIL."""
    sandbox.fault(f"{A}/create", drop=True)
    played = play("deployment-acceptance", client, apply=True)
    assert (played.verdict, played[MADE].verdict) == ("UNKNOWN", "UNKNOWN")
    sandbox.clear_faults()
    sandbox.fault(f"{A}/del", drop=True)
    played = play("deployment-acceptance", client, apply=True)
    assert (played.verdict, played[GONE].verdict) == ("UNKNOWN", "UNKNOWN")
    [left] = sandbox.room_ids()
    assert left in played[GONE].advice


def test_a_service_that_cannot_be_reached_is_unknown(client, sandbox):
    """Neither interface is said to fail where nothing answers."""
    sandbox.fault(f"{B}/getOutgoingUsers", drop=True)
    played = play("deployment-acceptance", client)
    assert played["interface B answers and takes the token (B3)"].verdict == "UNKNOWN"
    sandbox.fault(AUTHENTICATE, drop=True)
    played = play("deployment-acceptance", client)
    assert played["interface A answers and takes the keys (A1)"].verdict == "UNKNOWN"
    assert played.verdict == "UNKNOWN"


def test_a_service_that_gives_the_room_another_id_fails_in_that_line_only(client, sandbox):
    """The test goes on with the room that was made, and removes that one."""
    topic = "confkit acceptance test, may be deleted"
    made = ck.create_room(client, topic, "confkit-acceptance", attendee_max=5)
    sandbox.fault(f"{A}/create", body=json.dumps({"ret": 0, "room_id": made}))
    played = play("deployment-acceptance", client, apply=True, camera=sandbox.camera())
    assert failed(played) == [CHOSEN]
    assert made in played[CHOSEN].found
    assert played[WHOLE].verdict == "PASS"
    assert sandbox.room_ids() == []


def test_the_whole_interface_is_not_said_to_be_tried_where_lines_were_skipped(client, sandbox):
    """What a line that failed left untried is named."""
    sandbox.fault("/sdk/get_mcu", ret=410)
    played = play("deployment-acceptance", client, apply=True)
    assert played[WHOLE].verdict == "UNKNOWN"
    assert "the media server accepts connections from here" in played[WHOLE].found


def test_what_breaks_in_the_middle_leaves_nothing_behind(client, sandbox, monkeypatch):
    """Ctrl-C while the room is there: it is deleted before the notebook ends."""

    def ended(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(service, "get_mcu", ended)
    with pytest.raises(KeyboardInterrupt):
        play("deployment-acceptance", client, apply=True)
    assert sandbox.room_ids() == []


def test_a_camera_that_does_not_open_fails_and_leaves_nothing_behind(client, sandbox):
    """The import fails with its reason, and the rest of the test goes on."""
    camera = sandbox.camera(fault="wrong_path")
    played = play("deployment-acceptance", client, apply=True, camera=camera)
    assert failed(played) == [SEATED]
    assert played[GONE].verdict == "PASS"
    assert sandbox.room_ids() == []


def test_a_camera_with_a_password_takes_it_from_the_environment(client, sandbox, monkeypatch):
    """The password is no input, and shows nowhere."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "hunter2-camera")
    camera = sandbox.camera(login_name="admin", login_password="hunter2-camera")
    login = {"login_name": "admin", "login_password": runbook.camera_password("admin")}
    played = play("deployment-acceptance", client, apply=True, camera=camera, **login)
    assert played[SEATED].verdict == "PASS", played
    assert "hunter2-camera" not in played.text


def test_a_read_only_client_changes_nothing(client, sandbox):
    """It is refused before anything is sent, apply or not."""
    client.read_only = True
    played = play("deployment-acceptance", client, apply=True)
    assert (played.verdict, played[MADE].verdict) == ("UNKNOWN", "SKIP")
    assert sandbox.count(f"{A}/create") == 0


def test_a_service_of_another_dialect_passes_as_well():
    """Raw SHA-512, POST with JSON, result, snake_case, the old spelling of the token, and B2's."""
    dialect = Dialect(
        hash="sha512",
        signature="raw",
        token_parameter="access_tocken",
        result_field="result",
        item_keys="snake_case",
        create_method="POST",
        list_method="POST",
        placement="json",
        remove_token_parameter="accessToken",
    )
    with Sandbox(seed=5, dialect=dialect) as sandbox, sandbox.connect() as client:
        sandbox.fault(f"{A}/get", delay=0.05)
        assert play("deployment-acceptance", client, apply=True).verdict == "PASS"
