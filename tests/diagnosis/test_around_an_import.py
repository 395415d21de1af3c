"""Importing with a preflight, and looking afterwards."""

import pytest

import confkit as ck

from . import door_before, pasted
from .conftest import LOGIN, PASSWORD

NO_USERS = {"body": '{"ret": 0, "user_list": []}'}


def test_an_import_with_preflight_and_verification(sandbox, client, camera, bring):
    """A device may be seen after a moment; a time-out (427) after which it is there is none."""
    sandbox.fault("B1", ret=427, after=True, times=1)
    sandbox.fault("A6", **NO_USERS, times=2)
    device = bring("cam", "Door", camera, preflight=True, verify=True, **LOGIN)
    assert device in ck.list_devices(client)
    assert sandbox.count("A6") == 3


ENDS, DIAGNOSE = "Check that the device is on", "To find out which: ck.diagnose_device("
# The address, whether there is a preflight, whether the room is locked, the verdict of the report
# ("" is none), words of the error, and what comes of the calls in its advice.
REFUSALS = [
    ("camera", True, False, "service_cannot_reach", "The camera plays", "Device ok"),
    ("camera", True, True, "room_locked", "room_locked: Room", ""),
    ("secret", False, False, "", DIAGNOSE, "not_imported"),
    ("h323://alice:geheim@192.0.2.7/x", True, False, "", ENDS, ""),
]


@pytest.mark.parametrize(("url", "preflight", "locked", "verdict", "words", "calls"), REFUSALS)
def test_a_refused_import_says_how_to_go_on(
    sandbox, client, room_id, camera, bring, url, preflight, locked, verdict, words, calls
):
    """After a preflight the error has a report; without one it names the call of a diagnosis, but
    for a terminal. The camera is tried once, no secret shows, each call runs as it is pasted."""
    if locked:
        sandbox.lock(room_id)
    sandbox.fault("B1", ret=427, times=1)
    with door_before(camera, places=9) as door:
        addresses = {"camera": door.url, "secret": sandbox.camera("ch1?password=geheim", **LOGIN)}
        address = addresses.get(url, url)
        with pytest.raises(ck.ServiceTimeout) as raised:
            bring("cam", "Door", address, preflight=preflight, **({} if "h323" in url else LOGIN))
        assert door.knocks == (url == "camera")
        error = raised.value
        assert (error.report.verdict if error.report else "") == verdict
        assert words in str(error)
        assert not any(secret in str(error) for secret in ("geheim", "***"))
        answers = {"Password: ": PASSWORD, "user_address: ": address}
        assert pasted(error.advice, client, answers) == calls.split()


def test_a_report_counts_only_for_its_own_camera(sandbox, camera, bring):
    failed, passed = ck.preflight(camera), ck.preflight(camera, **LOGIN)
    with pytest.raises(ck.PreflightFailed, match="auth_required"):
        bring("cam", "Door", camera, preflight=failed, **LOGIN)
    with pytest.raises(ck.ParameterError, match=r"The report is of rtsp.* is at rtsp.*/other"):
        bring("cam", "Door", camera.rpartition("/")[0] + "/other", preflight=passed, **LOGIN)
    assert sandbox.count("B1") == 0


def test_an_import_that_is_not_seen(sandbox, client, room_id, camera, bring):
    """NotInRoom has the device and the next step."""
    sandbox.fault("B1", body='{"ret": 0, "data": {}}')
    with pytest.raises(ck.NotInRoom, match=r"does not list it \(B3\)") as raised:
        bring("cam", "Door", camera, verify=True, patience=0.1, **LOGIN)
    error = raised.value
    assert (error.device.user_id, error.device.room_id) == ("cam", room_id)
    assert pasted(error.advice, client, {}) == ["not_imported"]
