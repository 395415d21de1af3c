"""Why is it not in the room? Each answer by a real state of the sandbox, with real cameras."""

import json
import shlex
from contextlib import contextmanager

import pytest

import confkit as ck
from confkit.diagnosis.findings import VERDICTS
from confkit.operations import A3, A5, A6, B1, B3
from confkit.rtsp.verdicts import VERDICTS as OF_CAMERAS

from . import door_before, until
from .conftest import LOGIN, PASSWORD, SMALL

OURS = {"room", "device", "users", "listed address", "elsewhere", "media server", "camera"}
NEW = {"login_name": "admin", "login_password": "new-one"}


def outcomes(report):
    """The outcome of each stage, by its name."""
    return {stage.name: stage.outcome for stage in report.stages}


def told(report):
    """The verdict, and the stages that are marked as failed."""
    assert report.ok == (report.verdict == "ok")
    failed = [stage.name for stage in report.stages if stage.outcome == "failed"]
    return report.verdict, *failed


@contextmanager
def away(client, room_id, url, **login):
    """A device that is listed and, as the service says, not in its room, although its camera
    plays."""
    with door_before(url, places=9) as door:
        ck.import_device(client, room_id, "cam", "Door", door.url, **login)
        client.sandbox.fault(A6.path, body='{"ret": 0, "user_list": []}')
        yield door


def listing(url, **options):
    """The answers of a service that lists a device of room 1, in which nobody is."""
    item = {"roomId": "1", "userId": "cam", "userAddress": url, "options": options}
    return {
        A3.path: {"ret": 0, "room_id": "1", "room_status": 1},
        A5.path: {"ret": 0, "addr": "127.0.0.1:1"},
        A6.path: {"ret": 0, "user_list": []},
        B3.path: {"ret": 0, "data": {"items": [item]}},
    }


# The device is in its room


def test_a_device_that_is_in_its_room_is_ok_and_its_camera_is_left_alone(
    sandbox, imported, ask, bring
):
    """While the service plays the camera it is not dialled, and the stage says why. A lock and a
    full room keep others out, not the device that is in it."""
    for name in "ab":
        sandbox.join(imported.room_id, name)
    with door_before(imported.user_address, places=9) as door:
        bring("cam-2", "Yard", door.url, **LOGIN)
        sandbox.lock(imported.room_id)
        knocks = door.knocks
        report = ask("cam-2")
        assert door.knocks == knocks
    assert told(report) == ("ok",)
    assert outcomes(report)["camera"] == "skipped"
    assert "one connection" in report.stages[-1].detail
    assert "'cam-2'" in report.subject
    assert "the service lists it" in report.cause
    assert "force=True (--force)" in report.advice


def test_force_tries_the_camera_all_the_same(imported, ask):
    """The camera's own stages follow, each with a name of its own, and nothing is left to be tried;
    a failure from here keeps its own verdict."""
    report = ask("cam", force=True)
    assert told(report) == ("ok",)
    assert "is in room" in report.cause
    names = [stage.name for stage in report.stages]
    assert names[:5] == ["room", "device", "users", "listed address", "address"]
    assert names[-1] == "picture"
    assert len(set(names)) == len(names)
    assert "--force" not in report.advice
    report = ask("cam", login_name="admin", login_password="wrong", force=True)
    assert told(report)[0] == "auth_rejected"


def test_a_camera_that_the_service_holds_is_busy_and_not_broken(camera, ask, bring):
    """With force, a camera with one connection that closes the second is "busy", held by the
    service, which keeps its stream."""
    with door_before(camera) as door:
        bring("cam", "Door", door.url, **LOGIN)
        report = ask("cam", force=True)
        assert told(report) == ("busy", report.stages[-1].name)
        assert "The service holds the camera" in report.cause
        assert ask("cam").ok


@pytest.mark.parametrize("sandbox", ["127.0.0.1"], indirect=True)
def test_a_device_may_be_named_by_its_address_alone(imported, ask, bring):
    """An address finds the device in B3, with a login in it or the host in capitals, too."""
    address = imported.user_address.reveal()
    inside = address.replace("rtsp://", "rtsp://admin:x@")
    named = address.replace("127.0.0.1", "localhost")
    bring("cam-2", "Door", named, **LOGIN)
    known = {
        imported.user_address: "cam",
        inside: "cam",
        named: "cam-2",
        named.replace("localhost", "LOCALHOST"): "cam-2",
    }
    for address, user_id in known.items():
        report = ask(user_address=address)
        assert told(report) == ("ok",)
        assert f"device '{user_id}'" in report.subject


def test_a_room_may_be_named_by_the_id_of_its_application(script):
    """A room_extend_id finds the room: its lists are asked for by its own ID, and a B3 that answers
    with the devices of all rooms is no matter."""
    far = {"roomId": "2", "userId": "cam", "userAddress": "rtsp://192.0.2.8/x"}
    near = {**far, "roomId": "1047", "userAddress": "rtsp://192.0.2.7/x"}
    there = {"ret": 0, "user_list": [{"user_id": "cam"}]}
    answers = {
        A3.path: {"ret": 0, "room_id": "1047", "room_extend_id": "mine"},
        A6.path: lambda asked: there if asked["room_id"] == "1047" else {"ret": 404},
        B3.path: {"ret": 0, "data": {"items": [far, near]}},
    }
    report = ck.diagnose_device(script(answers).client(), "mine", "cam", "rtsp://192.0.2.7/x")
    assert report.ok
    assert "in room '1047'" in report.subject


# The room


def test_a_room_that_nothing_can_join(sandbox, client, room_id, imported, ask, unplugged):
    """A room that the service does not have is reported with the service's name, and nothing else
    is asked; a closed one is the verdict, whatever the camera does; a locked one keeps out what is
    not in it, but a broken camera comes first."""
    report = ck.diagnose_device(client, "0", "cam")
    assert (told(report), len(report.stages)) == (("room_not_found", "room"), 1)
    assert "SANDBOX has no room '0'" in report.cause
    sandbox.lock(room_id)
    other = sandbox.camera("other", **LOGIN, **SMALL)
    report = ask("new", other, **LOGIN)
    assert told(report) == ("room_locked", "room")
    unplugged(imported.user_address)
    assert told(ask("cam"))[0] == "path_not_found"
    sandbox.close_room(room_id)
    report = ask("cam", imported.user_address)
    assert (told(report), report.stages[0].detail) == (("room_closed", "room"), "closed")


@pytest.mark.parametrize(
    ("cap", "sure"),
    [("attendee_max", "."), ("max_video", ", if each of them sends video (assumed).")],
)
def test_a_full_room(sandbox, client, camera, cap, sure):
    """A room whose cap is reached is full, and the cap is named; max_audio keeps no device out, and
    that people have taken the video streams is said to be assumed."""
    full = ck.create_room(client, "t", "ops", max_audio=1, **{cap: 1})
    sandbox.join(full, "Ada")
    report = ck.diagnose_device(client, full, "cam", camera)
    assert told(report) == ("room_full", "users")
    assert f"it holds 1 of 1 (people and devices) by its {cap}{sure}" in report.cause
    assert cap in report.advice


def test_a_room_that_is_full_of_devices_that_are_away(sandbox, gone, ask, bring):
    """The place of a listed device is kept while it is away, so it counts; not for itself."""
    for name in "abc":
        sandbox.join(gone.room_id, name)
    other = sandbox.camera("other", **SMALL)
    with pytest.raises(ck.JoinFailed):
        bring("new", "Door", other)
    assert told(ask("new", other))[0] == "room_full"
    assert told(ask("cam"))[0] == "path_not_found"


# What B3 lists


@pytest.mark.parametrize(
    ("login", "now", "verdict", "advice"),
    [
        (LOGIN, None, "path_not_found", "whether the camera was replaced or reset"),
        (LOGIN, NEW, "auth_rejected", "take the device out first with ck.remove_device(client, "),
        ({}, LOGIN, "auth_required", "no login for it: take the device out with ck.remove_device("),
    ],
)
def test_a_listed_device_that_is_away_gets_its_cameras_verdict(
    sandbox, ask, bring, unplugged, login, now, verdict, advice
):
    """It is judged by its camera with the login of B3, not another; the advice says what follows
    for the service, which goes on dialling. With another login it is the camera's own."""
    url = sandbox.camera("door", **login, **SMALL)
    bring("cam", "Door", url, **login)
    unplugged(url)
    if now is not None:
        sandbox.camera("door", **now, **SMALL)
    report = ask("cam")
    assert told(report)[0] == verdict
    assert report.advice.startswith(OF_CAMERAS[verdict].advice)
    assert advice in report.advice
    [users] = [stage for stage in report.stages if stage.name == "users"]
    assert (users.outcome, users.detail) == ("skipped", "0 in the room; not among them: 'cam'")
    if now is NEW:
        other = ask("cam", login_name="admin", login_password="wrong")
        assert (other.verdict, other.advice) == (verdict, OF_CAMERAS[verdict].advice)


@pytest.mark.parametrize(("listed_inside", "given_inside"), [(False, True), (True, False)])
def test_a_login_that_the_service_does_not_have(
    sandbox, client, room_id, camera, listed_inside, given_inside, ask, bring, unplugged
):
    """The camera plays with the login that is given here, in fields or in the address, and the
    service has an older one, in either: what is to be done is to import the device with this."""
    old = camera.replace("//", "//admin:geheim%4077%3A%2F%23%25@")
    given = {"user_address": camera.replace("//", "//admin:new-one@")} if given_inside else NEW
    login = {} if listed_inside else LOGIN
    bring("cam", "Door", old if listed_inside else camera, **login)
    unplugged(camera)
    sandbox.camera("door", **NEW, **SMALL)
    report = ask("cam", **given)
    assert told(report) == ("login_differs", "users")
    call = f"ck.remove_device(client, '{room_id}', 'cam'), then ck.import_device("
    assert call in report.advice
    assert "'Door'" in report.advice
    assert "new-one" not in f"{report!r}{report}"


def test_a_camera_that_plays_here_and_not_in_the_room(sandbox, client, camera, ask):
    """Listed, away, and it plays from here: the service cannot reach it, and the line to run on
    the service's own host is printed, without a password. The place that is kept for it in a small
    room does not make the room full; a lock is the cause."""
    room_id = ck.create_room(client, "t", "ops", attendee_max=1)
    with away(client, room_id, camera, **LOGIN) as door:
        report = ck.diagnose_device(client, room_id, "cam")
        line = f"confkit preflight {door.url} --login-name admin"
        sandbox.lock(room_id)
        assert told(ck.diagnose_device(client, room_id, "cam"))[0] == "room_locked"
    assert told(report) == ("service_cannot_reach", "users")
    assert report.advice.endswith(line)
    assert PASSWORD not in report.advice


# What B3 does not list


def test_a_device_that_was_never_imported(client, room_id, camera, ask):
    """Without an address there is nothing to try; the next step is to say which camera it is, and
    what was not found has no tick. A camera that plays is to be imported, and what 426 and 427 mean
    then is said; one that does not has its own verdict."""
    report = ask("cam")
    assert told(report) == ("not_imported", "device")
    assert f"ck.diagnose_device(client, '{room_id}', 'cam', 'rtsp://...'" in report.advice
    assert outcomes(report)["camera"] == outcomes(report)["users"] == "skipped"
    assert report.stages[0].detail == "open (the service says 'scheduled')"
    report = ask("cam", camera, **LOGIN)
    assert (told(report)[0], outcomes(report)["picture"]) == ("not_imported", "ok")
    assert f"'{camera}', login_name='admin', login_password=ck.ask_secret()" in report.advice
    assert "426 or 427" in report.advice
    assert report.advice.endswith(f"confkit preflight {camera} --login-name admin")
    assert told(ask("cam", camera))[0] == "auth_required"
    nowhere = ask(user_address=camera + "/none", **LOGIN)
    assert told(nowhere)[0] == "path_not_found"
    assert camera in nowhere.subject
    none = ask("cam", "192.0.2.7/x")
    assert told(none)[0] == "url_malformed"


def test_a_verdict_of_a_camera_is_told_as_it_is(sandbox, ask):
    """A camera that cannot be imported as it is keeps its verdict, its cause and its advice."""
    url = sandbox.camera(fault="locked", **SMALL)
    report = ask("cam", url, timeout=2)
    verdict, *failed = told(report)
    assert verdict == "auth_locked"
    assert not OURS & set(failed)
    assert report.advice == ck.preflight(url, timeout=2).advice


def test_sip_and_h323_are_not_tried(script):
    """Only rtsp and rtsps can be tried: for others the camera's stage says that it was left out."""
    client = script(listing("sip://192.0.2.7:5060/door")).client()
    for device, verdict in ((["cam"], "not_joined"), (["new", "h323://h/yard"], "not_imported")):
        report = ck.diagnose_device(client, "1", *device)
        assert told(report)[0] == verdict
        assert outcomes(report)["camera"] == "skipped"
        assert "only rtsp and rtsps" in report.stages[-1].detail


# Addresses and IDs that are elsewhere, or others'


def test_an_id_or_address_that_the_room_has_already(sandbox, room_id, imported, ask, bring):
    """Another address than the one that is listed: both are shown. The same address under another
    ID, or the ID of a person: an import would answer 423."""
    meant = "rtsp://admin:hidden@192.0.2.7/door"
    report = ask("cam", meant)
    assert told(report) == ("address_differs", "listed address")
    assert imported.user_address.reveal() in report.cause
    assert "rtsp://192.0.2.7:554/door" in report.cause
    assert "hidden" not in repr(report)
    sandbox.join(room_id, "Ada", user_id="ada")
    other = sandbox.camera("other", **SMALL)
    for user_id, address, *expected in (
        ("new", imported.user_address, "duplicate_address", "device"),
        ("ada", other, "user_id_taken", "users"),
    ):
        report = ask(user_id, address)
        assert told(report) == tuple(expected)
        assert ("as device 'cam'" in report.cause) == (user_id == "new")
        with pytest.raises(ck.UserExists):
            bring(user_id, "Door", address, **LOGIN)


def test_an_id_that_is_in_another_room(sandbox, client, imported, ask, bring):
    """It is this device, which is named there; or it belongs to another one, and an import answers
    423, in a full or locked room too, and its text leads to that room."""
    full = ck.create_room(client, "t", "ops", attendee_max=1)
    sandbox.join(full, "Ada")
    locked = ck.create_room(client, "t", "ops")
    sandbox.lock(locked)
    other = sandbox.camera("other", **SMALL)
    for address in (imported.user_address, None):
        report = ck.diagnose_device(client, locked, "cam", address)
        assert told(report) == ("in_another_room", "elsewhere")
        assert f"in room '{imported.room_id}', as 'cam'" in report.cause
        assert f"ck.remove_device(client, '{imported.room_id}', 'cam')" in report.advice
    for room_id in (ck.create_room(client, "t", "ops"), full, locked):
        report = ck.diagnose_device(client, room_id, "cam", other)
        assert told(report) == ("user_id_elsewhere", "elsewhere")
        assert f"{imported.user_address} in room '{imported.room_id}'" in report.cause
        assert f"ck.remove_device(client, '{imported.room_id}', 'cam')" in report.advice
        with pytest.raises(ck.UserExists, match=r"list_devices\(client\), which lists all rooms"):
            ck.import_device(client, room_id, "cam", "Door", other)


def test_a_camera_that_another_room_holds(client, room_id, camera, ask):
    """Imported into two rooms, with one connection: the other room is reported as what holds it."""
    other = ck.create_room(client, "t", "ops")
    with away(client, room_id, camera, **LOGIN) as door:
        ck.import_device(client, other, "cam-2", "Door", door.url, **LOGIN)
        door.places = 1
        report = ask("cam")
    assert told(report)[0] == "rtsp_silent"
    assert f"in room '{other}' as device 'cam-2', which may take its only place" in report.cause
    assert "elsewhere" in [notice.key for notice in report.warnings]


# Everything in the room


def test_all_devices_of_a_room(sandbox, client, room_id, camera, ask, bring):
    """Without a name all devices are looked at: the first with a problem, and how many have one."""
    report = ask()
    assert told(report)[0] == "not_imported"
    assert "does not list any device" in report.cause
    assert outcomes(report)["users"] == "ok"
    urls = [sandbox.camera(name, **SMALL) for name in "abc"]
    for at, url in enumerate(urls):
        bring(f"cam-{at}", "Door", url)
        many = f"Each of its {at + 1} devices" if at else "Its device"
        report = ask()
        assert (told(report), report.cause.startswith(f"{many} is in room")) == (("ok",), True)
    forced = ask(force=True)
    assert (forced.ok, outcomes(forced)["picture"]) == (True, "ok")
    for url in urls[1:]:
        sandbox.unplug(url)
    until(lambda: len(ck.get_room_users(client, room_id)) == 1)
    report = ask()
    assert told(report)[0] == "path_not_found"
    assert report.cause.startswith("2 of the room's 3 devices are not in it; the first is 'cam-1'")
    assert "'cam-1'" in report.subject


# The service itself


def test_no_media_server_or_licence(sandbox, camera, ask):
    """A camera that plays and a room that is open, but nothing takes anybody up: A5 says why."""
    sandbox.licence(seats=0)
    report = ask("cam", camera, **LOGIN)
    assert told(report) == ("service_error", "media server")
    assert "411" in report.cause
    sandbox.stop_mcu()
    assert "410" in ask("cam", camera, **LOGIN).cause
    assert told(ask("cam", camera))[0] == "auth_required"


@pytest.mark.parametrize(
    ("endpoint", "ret", "stage"), [(A5, 504, "media server"), (B3, 304, "elsewhere")]
)
def test_what_cannot_be_asked_for_stops_nothing(sandbox, endpoint, ret, stage, ask):
    """Another error of A5, or of B3 of all rooms, says nothing about the device: that is said, and
    the rest is found out all the same."""
    if endpoint is B3:
        sandbox.fault(B3.path, delay=0.0, times=1)
    sandbox.fault(endpoint.path, ret=ret)
    report = ask("cam")
    assert told(report)[0] == "not_imported"
    assert outcomes(report)[stage] == "skipped"


@pytest.mark.parametrize(
    ("endpoint", "stage", "how"),
    [
        (A3, "room", {"ret": 805}),
        (B3, "device", {"drop": True}),
        (A6, "users", {"body": "<html>"}),
    ],
)
def test_a_service_that_fails_is_never_an_empty_room(sandbox, imported, endpoint, stage, how, ask):
    """An error of the service is the verdict, at its stage, with its own text and next step."""
    sandbox.fault(endpoint.path, **how)
    report = ask("cam")
    assert told(report) == ("service_error", stage)
    assert report.stages[-1].name == stage
    assert endpoint.key in report.cause or sandbox.outgoing_url in report.cause
    assert len(report.advice) > 20


def test_an_error_has_a_cause_and_a_next_step(sandbox, room_id):
    """No answer at all is a report too; where an error does not say its next step, the report has
    one all the same."""
    nowhere = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "s", sleep=lambda _: None)
    client = sandbox.connect()
    client.token()
    sandbox.advance(4000)  # its token expires
    sandbox.fault("/rtc/auth/valid", ret=401)
    off, refused = (ck.diagnose_device(one, room_id) for one in (nowhere, client))
    assert off.verdict == refused.verdict == "service_error"
    assert off.cause.startswith("The service could not be asked: http://127.0.0.1:9/")
    assert off.cause.endswith("connection refused.")
    assert off.advice.startswith("Check that the service runs, ")
    assert "A1" in refused.cause
    assert len(refused.advice) > 20


@pytest.mark.parametrize(
    "wrong",
    [
        ("", "cam"),
        (None, "cam"),
        ("1", ""),
        ("1", "cam", "rtsp://u:***@192.0.2.7/x"),
        ("1", "cam", ...),
        ("1", "cam", ""),
    ],
)
def test_a_wrong_argument_is_raised(client, wrong):
    """What can name no room and no device is the caller's mistake, not a finding."""
    with pytest.raises(ck.ParameterError):
        ck.diagnose_device(client, *wrong)


# Logins as B3 holds them


@pytest.mark.parametrize(
    ("name", "password", "verdict"),
    [
        ("admin", 2468.5, "service_cannot_reach"),
        ("admin", {"hash": ["2468.5", 2468.5]}, "auth_rejected"),
        (True, False, "auth_required"),
    ],
)
def test_a_login_of_any_type_in_the_list_ends_no_diagnosis_and_no_import(
    sandbox, script, name, password, verdict
):
    """A login that B3 gives as something else than text is used where it is a number, counts as
    none otherwise, and is shown nowhere."""
    url = sandbox.camera(login_name="admin", login_password="2468.5", **SMALL)
    answers = listing(url, login_name=name, login_password=password, assist_address=2.5)
    answers[B1.path] = {"ret": 426, "err": f"no login {json.dumps(password)}"}
    client = script(answers).client()
    report = ck.diagnose_device(client, "1", "cam")
    assert told(report)[0] == verdict
    [listed] = ck.list_devices(client, "1")
    with pytest.raises(ck.JoinFailed) as raised:
        ck.import_device(client, listed, user_name="Door")
    said = [report, listed, listed.login_password, raised.value, client.calls]
    assert "2468.5" not in f"{said!r} {report}"
    # A word of the language is no secret.
    assert ("no login false" in str(raised.value)) == (password is False)


# What is reported


def test_the_line_to_run_is_quoted_for_a_shell(sandbox, ask):
    """A path or a name with odd letters comes as one word each."""
    url = sandbox.camera("cam?channel=1&subtype=0", **SMALL)
    report = ask("cam", url, login_name="it's me; rm")
    words = shlex.split(report.advice.partition("own host: ")[2])
    assert words == ["confkit", "preflight", url, "--login-name", "it's me; rm"]


def test_every_verdict_has_its_sentences():
    """Each verdict of the diagnosis shows at a stage, and has a cause and a next step."""
    for name, row in VERDICTS.items():
        assert (row.get("stage", "") in OURS) == (name != "ok")
        assert row["cause"]
        assert row["advice"]
