"""Importing with a preflight, and looking afterwards."""

import pytest

import confkit as ck
from confkit.operations import A6, B1

from . import door_before, pasted
from .conftest import LOGIN, PASSWORD

NO_USERS = {"body": '{"ret": 0, "user_list": []}'}


def test_an_import_with_preflight_and_verification(sandbox, client, camera, bring):
    """A device may be seen after a moment; a time-out (427) after which it is there is none."""
    sandbox.fault(B1.path, ret=427, after=True, times=1)
    sandbox.fault(A6.path, **NO_USERS, times=2)
    device = bring("cam", "Door", camera, preflight=True, verify=True, **LOGIN)
    assert device in ck.list_devices(client)
    assert sandbox.count(A6.path) == 3


def test_a_camera_that_does_not_play_is_not_sent_to_the_service(sandbox, camera, bring):
    with pytest.raises(ck.PreflightFailed, match="nothing was sent") as raised:
        bring("cam", "Door", camera, preflight=True)
    error = raised.value
    assert error.report.verdict == "auth_required"
    assert error.report.advice in str(error)
    assert sandbox.count(B1.path) == 0


ENDS, DIAGNOSE = "Check that the device is on", "To find out which: ck.diagnose_device("
# The address, whether there is a preflight, the code, whether the room is locked, the verdict of
# the report ("" is none), words of the error, and what comes of the calls in its advice.
REFUSALS = [
    ("camera", True, 427, False, "service_cannot_reach", "The camera plays", "Device ok"),
    ("camera", True, 427, True, "room_locked", "room_locked: Room", ""),
    ("secret", False, 427, False, "", DIAGNOSE, "not_imported"),
    ("h323://alice:geheim@192.0.2.7/x", True, None, False, "", ENDS, ""),
]


@pytest.mark.parametrize(
    ("url", "preflight", "ret", "locked", "verdict", "words", "calls"), REFUSALS
)
def test_a_refused_import_says_how_to_go_on(
    sandbox, client, room_id, camera, bring, url, preflight, ret, locked, verdict, words, calls
):
    """After a preflight the error has a report; without one it names the call of a diagnosis, but
    for a terminal. No secret shows, and each call runs as it is pasted."""
    if locked:
        sandbox.lock(room_id)
    addresses = {"camera": camera, "secret": sandbox.camera("ch1?password=geheim", **LOGIN)}
    address = addresses.get(url, url)
    if ret:
        sandbox.fault(B1.path, ret=ret, times=1)
    with pytest.raises((ck.JoinFailed, ck.ServiceTimeout)) as raised:
        bring("cam", "Door", address, preflight=preflight, **({} if "h323" in url else LOGIN))
    error = raised.value
    assert (error.report.verdict if error.report else "") == verdict
    assert words in str(error)
    assert not any(secret in str(error) for secret in ("geheim", "***"))
    answers = {"Password: ": PASSWORD, "user_address: ": address}
    assert pasted(error.advice, client, answers) == calls.split()


def test_a_refused_import_has_tried_the_camera_once(sandbox, camera, bring):
    sandbox.fault(B1.path, ret=427, times=1)
    with door_before(camera, places=9) as door, pytest.raises(ck.ServiceTimeout):
        bring("cam", "Door", door.url, preflight=True, **LOGIN)
    assert door.knocks == 1


def test_a_report_counts_only_for_its_own_camera(sandbox, camera, bring):
    failed, passed = ck.preflight(camera), ck.preflight(camera, **LOGIN)
    with pytest.raises(ck.PreflightFailed, match="auth_required"):
        bring("cam", "Door", camera, preflight=failed, **LOGIN)
    with pytest.raises(ck.ParameterError, match=r"The report is of rtsp.* is at rtsp.*/other"):
        bring("cam", "Door", camera.rpartition("/")[0] + "/other", preflight=passed, **LOGIN)
    assert sandbox.count(B1.path) == 0


def test_an_import_that_is_not_seen(sandbox, client, room_id, camera, bring):
    """NotInRoom has the device and the next step."""
    sandbox.fault(B1.path, body='{"ret": 0, "data": {}}')
    with pytest.raises(ck.NotInRoom, match=r"does not list it \(B3\)") as raised:
        bring("cam", "Door", camera, verify=True, patience=0.1, **LOGIN)
    error = raised.value
    assert (error.device.user_id, error.device.room_id) == ("cam", room_id)
    assert pasted(error.advice, client, {}) == ["not_imported"]
