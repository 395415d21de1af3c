"""authentication-fails, media-server-gone and deployment-acceptance: what is told apart, what it
costs, and that nothing is left behind."""

import json

import pytest

import confkit as ck
from confkit import runbook
from confkit.runbook import service
from tests.runbook.harness import A1, A2, A3, A4, A5, A6, B2, changes, outside, play
from tests.runbook.test_scenes import AFFECTED, GIVEN, MADE

HOLDS, SECOND = (
    "a token holds for several calls",
    "a second login leaves the first one's token alone",
)
ONLINE, ROOMS = "rooms have a media server that is online (A7)", "there are rooms to look at"
REACHED, SEATED = "the media server accepts connections from here", "the camera is imported (B1)"
GONE, BACK = "nothing of this test is left (A4)", "it is read back as it was given (A3)"


# Authentication fails


def test_keys_that_work_pass_and_cost_two_logins(client, sandbox):
    """One of the doctor, one of the client; a second login of the client is tried with apply alone,
    and B2, which is a change, never asked."""
    played = play("authentication-fails", client, "healthy")
    assert (played.verdict, played[HOLDS].found) == ("PASS", "3 calls, 1 login")
    assert (played[SECOND].verdict, sandbox.count(A1)) == ("SKIP", 2)
    tried = play("authentication-fails", client, "healthy", apply=True)
    assert tried[SECOND].found == "both tokens are accepted"
    assert sandbox.count(B2) == 0


def test_a_wrong_signature_costs_one_failed_login(client, sandbox):
    """The doctor goes on with the signature that it found, and what needs the client's own token is
    not tried with keys that are refused."""
    played = play("authentication-fails", client, "signature", apply=True)
    assert played.wrong == {"authentication": "FAIL"}
    assert played["token in B"].verdict == "PASS"
    assert not {HOLDS, SECOND} & {one.check for one in played}
    assert [text[:6] for text in sandbox.refusals].count("A1 401") == 1
    assert sandbox.count(A1) == 2


def test_no_more_logins_fail_than_are_allowed(sandbox):
    """Accounts may lock: with failed_logins=1 one login is tried, and what was left is said."""
    with outside(sandbox, secret_key="wrong") as client:
        played = play("authentication-fails", client, failed_logins=1)
    assert (played.verdict, sandbox.count(A1)) == ("FAIL", 1)
    assert "not tried" in played["authentication"].found


def test_a_service_that_cannot_be_reached_is_not_said_to_refuse(sandbox):
    """The line that fails is the connection's, and no login is judged."""
    with outside(sandbox, base_url="http://127.0.0.1:1") as lost:
        played = play("authentication-fails", lost)
    assert played.wrong == {"TCP to A": "FAIL"}
    assert played["authentication"].verdict == "SKIP"


@pytest.mark.parametrize("name", ["authentication-fails", "deployment-acceptance"])
def test_a_service_of_another_dialect_and_latency_passes_as_well(real, name):
    """Each answer of A1 and A3 comes 50 ms later."""
    sandbox, client = real
    for path in (A1, A3):
        sandbox.fault(path, delay=0.05)
    assert play(name, client, apply=True).verdict == "PASS"


# The media server is gone


@pytest.mark.parametrize(
    ("scene", "wrong", "found"),
    [
        (
            "stopped",
            {ONLINE: "FAIL", GIVEN: "FAIL", AFFECTED: "FAIL"},
            "MCU not online (417): 3 of 3",
        ),
        ("unassigned", {ONLINE: "FAIL", AFFECTED: "FAIL"}, "no MCU found"),
        ("healthy", {}, "none said 417 or 428"),
    ],
)
def test_417_and_428_are_asked_for_with_apply_alone(client, sandbox, scene, wrong, found):
    """They are answers of A7; nobody is removed by asking."""
    played = play("media-server-gone", client, scene, apply=True)
    assert played.wrong == wrong
    assert found in played[ONLINE].found
    if scene == "unassigned":
        assert played[AFFECTED].found == "1 of 3 rooms: Weekly sync (428, users: 2)"
    assert sum(len(sandbox.people(room_id)) for room_id in sandbox.room_ids()) == 3


@pytest.mark.parametrize(
    ("fault", "wrong", "found"),
    [
        ({"ret": 504}, {GIVEN: "UNKNOWN"}, "timeout"),
        ({"drop": True}, {GIVEN: "UNKNOWN"}, "closed the connection"),
        ({"ret": 417}, {GIVEN: "FAIL", AFFECTED: "FAIL"}, "MCU not online (417)"),
        ({"ret": 416}, {}, "none, all are closed"),
    ],
)
def test_only_the_rooms_that_are_given_are_asked(client, sandbox, fault, wrong, found):
    """By topic. No answer of A5 says nothing of the media server, and a closed room has none."""
    sandbox.fault(A5, **fault)
    for topic in ("Attic", "Cellar"):
        ck.create_room(client, topic, owner_id="ops")
    played = play("media-server-gone", client, "healthy", rooms="cellar")
    assert played.wrong == wrong
    assert found in played[GIVEN].found
    assert played[ROOMS].found == "1 room"


def test_an_address_that_takes_no_connection_is_unknown(client, sandbox):
    """Media may run over UDP, so a silent address alone is no FAIL."""
    sandbox.fault(A5, body='{"ret": 0, "addr": "127.0.0.1:1"}')
    assert play("media-server-gone", client, "healthy").wrong == {REACHED: "UNKNOWN"}


def test_users_that_cannot_be_read_are_missing_never_none(client, sandbox):
    """The rooms are named all the same, and how many of them were not read."""
    sandbox.fault(A6, ret=700)
    found = play("media-server-gone", client)[AFFECTED].found
    assert found.startswith("3 of 3 rooms: Weekly sync (410, users: not known)")


def test_keys_that_are_refused_are_not_the_media_server(sandbox):
    """Nothing else is asked, and the advice leads to the other runbook."""
    with outside(sandbox, secret_key="wrong") as client:
        played = play("media-server-gone", client, apply=True)
    assert played.wrong == {"interface A takes the keys": "UNKNOWN"}
    assert "authentication-fails" in played["interface A takes the keys"].advice
    assert sandbox.count() == sandbox.count(A1) == 1


def test_a_room_that_is_not_there_is_unknown(client):
    """A wrong topic says nothing of the media server; the known rooms are named."""
    played = play("media-server-gone", client, "healthy", rooms="Attic")
    assert played.wrong == {ROOMS: "UNKNOWN"}
    assert "(Lobby)" in played[ROOMS].advice


# Deployment acceptance


def test_a_healthy_service_passes_with_a_camera_and_is_left_as_it_was(client, sandbox):
    """Every check passes; without apply, or read only, nothing is changed."""
    for read_only in (True, False):
        with outside(sandbox, read_only=read_only) as other, changes(sandbox):
            played = play("deployment-acceptance", other, apply=read_only)
            assert played.wrong == {MADE: "UNKNOWN"}
    played = play("deployment-acceptance", client, apply=True)
    assert (played.verdict, played[SEATED].verdict) == ("PASS", "PASS"), played
    assert sandbox.room_ids() == []


@pytest.mark.parametrize(
    ("path", "fault", "wrong"),
    [
        (
            A6,
            {"body": '{"ret":0,"user_list":[]}', "times": 1},
            {"an unknown room has no users: 404 (A6)": "FAIL"},
        ),
        (
            B2,
            {"ret": 425},
            {"token in B2": "UNKNOWN", "a missing parameter gives 401 in B (B2)": "FAIL"},
        ),
        (A2, {"ret": 405}, {MADE: "FAIL"}),
        (A2, {"drop": True}, {MADE: "UNKNOWN"}),
        (A2, {"drop": True, "after": True, "times": 1}, {}),
        (A5, {"ret": 410}, {"media server": "FAIL"}),
        (A4, {"ret": 407}, {GONE: "FAIL"}),
        (A4, {"drop": True}, {GONE: "UNKNOWN"}),
    ],
    ids=str,
)
def test_what_a_service_does_otherwise_is_the_line_that_fails(sandbox, path, fault, wrong):
    """A wrong code, a success where an error is due, a change that does not work; no answer may be
    the network's, so that is UNKNOWN. A room whose creation was not answered is found by the ID
    chosen here; one that could not be deleted is named."""
    sandbox.fault(path, **fault)
    with outside(sandbox) as client:
        played = play("deployment-acceptance", client, apply=True)
    assert played.wrong == wrong
    left = sandbox.room_ids()
    assert bool(left) == (GONE in wrong)
    assert all(room_id in played[GONE].advice for room_id in left)


def test_a_service_that_gives_the_room_another_id_fails_in_that_line_only(client, sandbox):
    """The test goes on with the room that was made, and removes that one."""
    made = ck.create_room(client, service.TOPIC, service.OWN, attendee_max=5)
    sandbox.fault(A2, body=json.dumps({"ret": 0, "room_id": made}))
    played = play("deployment-acceptance", client, apply=True)
    assert played.wrong == {BACK: "FAIL"}
    assert made in played[BACK].found
    assert sandbox.room_ids() == []


@pytest.mark.parametrize("step", ["get_room_users", "import_device"])
def test_what_breaks_in_the_middle_leaves_nothing_behind(client, sandbox, monkeypatch, step):
    """Ctrl-C while the room is there: camera and room are gone before the notebook ends."""
    whole = getattr(ck, step)

    def ended(*given, **named):
        whole(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(service, step, ended)
    with pytest.raises(KeyboardInterrupt):
        play("deployment-acceptance", client, apply=True)
    assert (sandbox.room_ids(), ck.list_devices(client)) == ([], [])


def test_a_camera_that_does_not_open_fails_and_leaves_nothing_behind(client, sandbox):
    """The import fails with its reason, and the rest of the test goes on."""
    camera = sandbox.camera(fault="wrong_path")
    played = play("deployment-acceptance", client, apply=True, camera=camera)
    assert played.wrong == {SEATED: "FAIL"}
    assert sandbox.room_ids() == []


def test_a_camera_with_a_password_takes_it_from_the_environment(client, sandbox, monkeypatch):
    """The password is no input, and shows nowhere."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "hunter2-camera")
    camera = sandbox.camera(login_name="admin", login_password="hunter2-camera")
    login = {"login_name": "admin", "login_password": runbook.camera_password("admin")}
    played = play("deployment-acceptance", client, apply=True, camera=camera, **login)
    assert played[SEATED].verdict == "PASS", played
    assert "hunter2-camera" not in played.text
