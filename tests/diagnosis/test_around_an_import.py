"""Importing with a preflight, and looking afterwards."""

import json

import pytest

import confkit as ck
from confkit.operations import A6, B1, B3

from . import door_before
from .conftest import LOGIN, PASSWORD

NO_USERS = json.dumps({"ret": 0, "user_list": []})


def test_an_import_with_preflight_and_verification(sandbox, client, camera, bring):
    """A camera that plays is imported, and seen in B3 and A6; a time-out (427) after which the
    device is there is none."""
    asked = {"preflight": True, "verify": True, **LOGIN}
    device = bring("cam", "Door", camera, **asked)
    assert device.user_id == "cam"
    assert sandbox.count(A6.path) == 1
    ck.remove_device(client, device)
    sandbox.fault(B1.path, ret=427, after=True, times=1)
    device = bring("cam", "Door", camera, **asked)
    assert device in ck.list_devices(client)


def test_a_camera_that_does_not_play_is_not_sent_to_the_service(sandbox, camera, bring):
    """PreflightFailed carries the report, and says that nothing was sent."""
    with pytest.raises(ck.PreflightFailed, match="nothing was sent") as raised:
        bring("cam", "Door", camera, preflight=True)
    error = raised.value
    assert error.report.verdict == "auth_required"
    assert error.report.cause in str(error)
    assert error.report.advice in str(error)
    assert sandbox.count(B1.path) == 0


def test_what_a_preflight_says_nothing_of_has_no_report(sandbox, camera, bring):
    """A sip address is left to the service; 310 says that the service hangs: there is nothing to
    find out about room and camera."""
    with pytest.raises(ck.JoinFailed) as raised:
        bring("cam", "Door", "sip://192.0.2.7/x", preflight=True)
    assert (sandbox.count(B1.path), raised.value.report) == (1, None)
    sandbox.fault(B1.path, ret=310, times=1)
    with pytest.raises(ck.ServiceTimeout) as raised:
        bring("cam", "Door", camera, preflight=True, **LOGIN)
    assert raised.value.report is None


def test_a_refusal_after_a_passed_preflight(sandbox, client, room_id, camera, bring):
    """The camera plays from here and nothing else is in the way, not even that it is in another
    room: the service cannot reach it. A locked room is the verdict itself."""
    other = ck.create_room(client, "t", "ops")
    ck.import_device(client, other, "cam-2", "Door", camera, **LOGIN)
    for locked, verdict in ((False, "service_cannot_reach"), (True, "room_locked")):
        if locked:
            sandbox.lock(room_id)
        sandbox.fault(B1.path, ret=427, times=1)
        with pytest.raises(ck.ServiceTimeout, match=verdict) as raised:
            bring("cam", "Door", camera, preflight=True, **LOGIN)
        error = raised.value
        assert error.report.verdict == verdict
        assert PASSWORD not in str(error)
        line = f"confkit preflight {camera} --login-name admin"
        assert (line in str(error)) == (line in error.advice) == (not locked)


def test_a_refusal_without_a_preflight_says_how_to_go_on(sandbox, client, camera, bring):
    """426 and 427 name the diagnosis of this very device, as a line that runs."""
    sandbox.fault(B1.path, ret=426, times=1)
    with pytest.raises(ck.JoinFailed) as one:
        bring("cam", "Door", camera, **LOGIN)
    assert one.value.report is None
    call = one.value.advice.partition("To learn which: ")[2]
    assert str(one.value).endswith(call)
    known = {"ck": ck, "client": client}
    report = eval(call.replace("ck.ask_secret()", repr(str(PASSWORD))), known)
    assert report.verdict == "not_imported"
    assert PASSWORD not in str(one.value)
    assert all("ck.diagnose_device" in ck.explain(ret, "B").advice for ret in (426, 427))


def test_a_report_that_is_there_counts_as_the_preflight(sandbox, camera, bring):
    """The camera is not dialled again, and a refusal is explained as after a preflight."""
    with door_before(camera, places=2) as door:
        report = ck.preflight(door.url, **LOGIN)
        sandbox.fault(B1.path, ret=426, times=1)
        with pytest.raises(ck.JoinFailed) as raised:
            bring("cam", "Door", door.url, preflight=report, **LOGIN)
        assert raised.value.report.verdict == "service_cannot_reach"
        assert raised.value.report.snapshot == report.snapshot
        assert door.knocks == 1
        bring("cam", "Door", door.url, preflight=report, **LOGIN)
        assert door.knocks == 2  # the service's own


def test_a_report_counts_only_for_its_own_camera(sandbox, camera, bring):
    """One that did not pass is PreflightFailed, one of another address a ParameterError; the login
    in an address makes it no other. Nothing is sent of either."""
    failed, passed = ck.preflight(camera), ck.preflight(camera, **LOGIN)
    with pytest.raises(ck.PreflightFailed, match="auth_required"):
        bring("cam", "Door", camera, preflight=failed, **LOGIN)
    with pytest.raises(ck.ParameterError, match=r"The report is of rtsp.* is at rtsp.*/other"):
        other = camera.rpartition("/")[0] + "/other"
        bring("cam", "Door", other, preflight=passed, **LOGIN)
    assert sandbox.count(B1.path) == 0
    address = camera.replace("://", "://admin:geheim%4077%3A%2F%23%25@")
    bring("cam", "Door", address, preflight=passed)
    assert sandbox.count(B1.path) == 1


@pytest.mark.parametrize(
    ("path", "fault", "told"),
    [
        (
            B1.path,
            {"body": '{"ret": 0, "data": {}}'},
            r"does not list it \(B3\).*ck\.diagnose_device",
        ),
        (A6.path, {"body": NO_USERS}, "not among the room's users"),
        (B3.path, {"ret": 304}, "could not be read"),
    ],
)
def test_an_import_that_is_not_seen(sandbox, room_id, camera, path, fault, told, bring):
    """Answered 0, and not in B3, or not among the users, or neither can be read: NotInRoom, with
    the device and the next step."""
    sandbox.fault(path, **fault)
    asked = {"verify": True, "patience": 0.1, **LOGIN}
    with pytest.raises(ck.NotInRoom, match=told) as raised:
        bring("cam", "Door", camera, **asked)
    assert (raised.value.device.user_id, raised.value.device.room_id) == ("cam", room_id)


def test_verification_waits_for_a_service_that_takes_a_moment(sandbox, camera, bring):
    """A device that shows after a while is there."""
    sandbox.fault(A6.path, body=NO_USERS, times=2)
    bring("cam", "Door", camera, verify=True, **LOGIN)
    assert sandbox.count(A6.path) == 3
