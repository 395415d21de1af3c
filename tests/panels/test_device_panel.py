"""The device panel: cameras tried before they are imported, seen afterwards, taken out."""

import base64
import re
import threading
from html import unescape

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import DevicePanel
from tests.diagnosis import door_before, until
from tests.panels.pressing import (
    GET,
    LIST,
    LONG,
    heard,
    named,
    once_asked,
    page,
    press,
)

IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
PASSWORD = "p@:/#%w-geheim"
INSIDE = "://admin:p%40%3A%2F%23%25w-geheim@"  # the login as it stands in an address
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (160, 96), "fps": 5}
DOOR = {"user_id": "cam", "user_name": "Door"}
NOWHERE = "rtsp://127.0.0.1:9/x"


@pytest.fixture
def room_id(client):
    return ck.create_room(client, "Weekly sync", "ops", attendee_max=8)


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, **SMALL)


@pytest.fixture
def panel(client, room_id):
    """A panel of that room, of which no thread is left when the client closes."""
    made = DevicePanel(client, room_id)
    yield made
    assert made.wait(LONG)


@pytest.fixture
def seated(panel, camera):
    """The panel once the camera is imported."""
    panel.import_device(**DOOR, user_address=camera, **LOGIN)
    return panel


def listed(client):
    return [device.user_id for device in ck.list_devices(client)]


# The list


def test_the_value_is_the_frame_of_the_devices_listed(client, room_id, camera):
    """Those of the room, or of all rooms; the next cell waits for the first reading. A room can be
    chosen by its topic."""
    other = ck.create_room(client, "Other", "ops")
    ck.import_device(client, other, "far", "Far", camera, **LOGIN)
    panel = DevicePanel(client, room_id)
    pd.testing.assert_frame_equal(panel.value, ck.devices_frame([]))
    panel.fill(room_id="")
    press(panel, "Refresh")
    assert list(panel.value.user_id) == ["far"]
    press(panel, "Rooms by topic")
    assert sorted(cells[0] for _, cells in panel.topics.rows) == ["Other", "Weekly sync"]
    panel.topics.choose(room_id)
    assert panel.wait(LONG)
    assert (panel.room_id, panel.topics.layout.display, len(panel.value)) == (room_id, "none", 0)


def test_a_list_that_cannot_be_read_is_told_and_never_empty(sandbox, client, seated):
    """Of a panel that has read nothing the value is the error; one that has keeps what it had, also
    after a change, which was made all the same."""
    sandbox.fault(LIST, ret=304, times=2)
    panel = DevicePanel(client, seated.room_id)
    with pytest.raises(ck.ServiceUnavailable):
        _ = panel.value
    assert (panel.frame.tone, "304" in panel.frame.text) == ("bad", True)
    seated.remove("cam")
    told = f"cam was removed from room {panel.room_id}. The list is as it was before: "
    assert seated.frame.text.startswith(told)
    assert "304" in seated.frame.text
    assert len(seated.value) == len(seated.table.rows) == 1
    assert len(seated.refresh()) == 0


def test_a_removal_that_may_have_happened_is_looked_up(sandbox, seated):
    """The list shows what is there, and the panel what the code leaves open."""
    sandbox.fault(REMOVE, ret=700, after=True, times=1)
    with pytest.raises(ck.OutcomeUnknown):
        seated.remove("cam")
    assert "may or may not have happened" in seated.frame.text
    assert list(seated.value.user_id) == []


def test_thumbnails_show_what_the_sandbox_pulls_or_say_why_not(sandbox, seated, camera):
    """A camera that was unplugged has no old picture but a reason, in the list and when it is
    diagnosed there."""
    assert "The newest picture of Door" in seated.pictures.html
    png = base64.b64decode(re.search('base64,([^"]+)', seated.pictures.html)[1])
    assert int.from_bytes(png[16:20], "big") == 160
    assert seated.diagnose("cam").ok
    sandbox.unplug(camera)
    until(lambda: ck.get_room_users(seated.client, seated.room_id) == [])
    seated.refresh()
    assert "<img" not in seated.pictures.html
    assert "its stream has been down" in seated.pictures.html
    press(seated, "Diagnose")
    assert seated.report.verdict == "path_not_found"
    assert seated.report.advice in unescape(seated.found.html)
    assert seated.report.advice not in unescape(seated.view.html)


# One device


def test_stages_are_shown_as_they_happen_then_the_picture_or_the_advice(panel, camera):
    """Each stage comes with its mark and time while the next one runs; the report stays."""
    seen = []
    panel.view.observe(lambda change: seen.append(change["new"]), "html")
    report = panel.preflight(user_address=camera, **LOGIN)
    assert report is panel.report
    shown = [re.findall("scope='row'[^>]*>([^<]+)", html) for html in seen]
    names = [stage.name for stage in report.stages]
    assert (shown[0], shown[-2]) == (names[:1], names)
    assert ">running<" in seen[0]
    assert "The first picture of" in panel.view.html
    assert panel.view.html.count(">PASS<") == len(names)
    assert (panel.frame.tone, "160 x 96" in panel.frame.text) == ("good", True)
    report = panel.preflight(login_name=None, login_password=None)
    assert report.verdict == "auth_required"
    for told in (report.cause, report.advice):
        assert told in unescape(panel.view.html)
        assert told in panel.frame.text


def test_a_login_inside_an_address_moves_into_its_own_fields(panel, camera):
    """With its characters decoded; where a login is given already the address stays as it is."""
    inside = camera.replace("://", INSIDE)
    assert panel.preflight(user_address=inside).ok
    typed = {name: panel.inputs[name].text.reveal() for name in ("user_address", *LOGIN)}
    assert typed == {"user_address": camera, **LOGIN}
    panel.fill(user_address=inside, login_name="other")
    panel.preflight()
    assert panel.inputs["user_address"].text.reveal() == inside


def test_a_click_does_what_a_call_does(client, panel, camera, sandbox):
    """Preflight, Import, its question and the removal by mouse, as by the methods. All fields go
    into the import, and what is typed or ticked while the question stands changes nothing."""
    room, more = f'room "Weekly sync" ({panel.room_id})', {"assist_address": "x"}
    panel.fill(**DOOR, user_address=camera, **LOGIN, user_data="floor 2", options=more)
    press(panel, "Preflight")
    for answer, left in (("no", []), ("yes", ["cam"])):
        press(panel, "Import")
        assert panel.frame.question == f'Import "Door" (cam) at {camera} into {room}?'
        assert not panel.frame.grave
        panel.fill(user_id="another", user_address=NOWHERE)
        panel.verify.value = False
        heard(panel, answer)
        assert listed(client) == list(panel.value.user_id) == left
        panel.fill(user_id="cam", user_address=camera)
        panel.verify.value = True
    assert (panel.frame.tone, "seen in it" in panel.frame.text) == ("good", True)
    assert panel.report.advice == panel.frame.text in unescape(panel.view.html)  # not: import it
    [device] = ck.list_devices(client)
    assert (device.user_data, device.options) == ("floor 2", {**more, **LOGIN})
    panel.select("cam")
    for answer, left in (("no", ["cam"]), ("yes", [])):
        press(panel, "Remove")
        assert panel.frame.grave
        assert panel.frame.question.startswith(f'Remove "Door" (cam) from {room}?')
        heard(panel, answer)
        assert listed(client) == list(panel.value.user_id) == left
    press(panel, "Clear")
    assert [name for name, one in panel.inputs.items() if one.text] == ["room_id"]


def test_a_camera_is_tried_once_before_its_import_or_on_purpose_not_at_all(client, panel, camera):
    """One connection is the preflight's, the next the service's; another login is tried anew. The
    question says what is done."""
    with door_before(camera, places=9) as door:
        panel.preflight(**DOOR, user_address=door.url, **LOGIN)
        panel.import_device()
        assert door.knocks == 2
        panel.remove("cam")
        with pytest.raises(ck.PreflightFailed, match="auth_rejected"):
            panel.import_device(login_password="wrong")
        assert door.knocks == 3
        panel.fill(login_password=PASSWORD)
        for untried, told in (
            (False, "is tried from here first"),
            (True, "is not tried from here"),
        ):
            panel.untried.value = untried
            press(panel, "Import")
            assert told in panel.frame.question
        heard(panel, "yes")
        assert (listed(client), door.knocks) == (["cam"], 4)


def test_a_refusal_shows_what_stood_in_the_way_or_it_is_found_out(panel, sandbox, camera):
    """After a preflight 426 comes with its explanation; without one it is a click away."""
    address = sandbox.camera(fault="wrong_path")
    with pytest.raises(ck.JoinFailed, match="426"):
        panel.import_device(preflight=False, **DOOR, user_address=address)
    press(panel, "Find out why")
    assert panel.report.verdict == "path_not_found"
    panel.preflight(user_address=camera, **LOGIN)
    sandbox.lock(panel.room_id)
    with pytest.raises(ck.JoinFailed):
        panel.import_device()
    assert panel.report.verdict == "room_locked"
    assert panel.report.cause in panel.frame.text
    assert panel.report.advice in unescape(panel.view.html)


def test_work_can_be_cancelled_and_leaves_what_was_there(seated, sandbox):
    """A silent camera does not keep the panel, which shows the stages that ended. The list keeps
    what it had; a question whose reading was cancelled is not asked."""
    silent = threading.Event()
    seated.view.observe(lambda change: "first packet" in change["new"] and silent.set(), "html")
    seated.fill(user_address=sandbox.camera(fault="no_media"))
    named(seated, "Preflight").click()
    assert silent.wait(LONG)
    heard(seated, "cancel")
    assert (seated.frame.text, seated.frame.busy) == ("Cancelled.", "")
    assert "PLAY" in seated.view.html
    assert ">running<" not in seated.view.html
    seated.select("cam")
    for path, text in ((LIST, "Refresh"), (GET, "Import"), (GET, "Remove")):
        sandbox.fault(path, delay=LONG / 2, times=1)
        once_asked(sandbox, path, named(seated, text).click)
        heard(seated, "cancel")
        assert (seated.frame.text, seated.frame.question) == ("Cancelled.", ""), text
    assert list(seated.value.user_id) == ["cam"]


def test_a_form_that_is_not_right_is_told_before_anything_happens(panel, camera):
    """Each field that is missing or wrong has its cause and what to do; nothing was sent. So does a
    device or a field that is none; what the head said before is no longer true."""
    right = {**DOOR, "user_address": camera, **LOGIN, "room_id": panel.room_id, "options": None}
    for fields, told in (
        ({"user_address": ""}, "user_address is ''"),
        ({"user_id": " "}, "user_id"),
        ({"user_name": None}, "user_name"),
        ({"room_id": ""}, "room_id"),
        ({"options": "[1]"}, "options is not a JSON object"),
        ({"options": '{"a"'}, "options is not a JSON object"),
        ({"options": '{"login_name": "other"}'}, "login_name is given twice"),
        ({"adress": "x"}, "a device has no adress"),
    ):
        panel.frame.tell("Well done.", "good")
        with pytest.raises(ValueError, match=re.escape(told)):
            panel.import_device(**{**right, **fields})
        assert (panel.frame.tone, told in panel.frame.text) == ("bad", True)
    assert panel.report is None
    for act in (panel.remove, panel.diagnose):
        with pytest.raises(ck.ConfigError, match="'nobody' is not in the list"):
            act("nobody")


# Secrets


def test_a_camera_that_is_called_by_its_address_tells_no_password(panel, sandbox, camera, room_id):
    """As name and as ID: asked about, imported, refused or removed by clicks; nor does the camera's
    own login."""
    told = []
    names = dict.fromkeys(("user_id", "user_name"), "rtsp://user:geheim@h/x")
    camera = camera.replace("://", INSIDE)
    panel.frame.observe(lambda change: told.append(change["new"]), ["question", "busy"])
    panel.fill(**names, user_address=camera)
    for text in ("Preflight", "Import", "Remove"):
        press(panel, text)
        told.append(page(panel))
        if panel.frame.question:
            heard(panel, "yes")
            panel.table.choose("1")
    assert panel.report.ok
    assert listed(panel.client) == []
    sandbox.fault(IMPORT, ret=426, times=1)
    with pytest.raises(ck.JoinFailed):
        panel.import_device(preflight=False)
    told.append(page(panel))
    for one in told:
        assert "geheim" not in one
