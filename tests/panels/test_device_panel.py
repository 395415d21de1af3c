"""The device panel: cameras tried before they are imported, seen afterwards, and removed."""

import re
import threading
from html import unescape

import pytest

import confkit as ck
from confkit.panels import DevicePanel
from tests.diagnosis import door_before
from tests.panels import pressing as ui

PASSWORD = "p@:/#%w-geheim"
INSIDE = "://admin:p%40%3A%2F%23%25w-geheim@"  # the login as it stands in an address
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (160, 96), "fps": 5}
DOOR = {"user_id": "cam", "user_name": "Door"}
NOWHERE = "rtsp://127.0.0.1:9/x"
CALLED = "rtsp://user:geheim@h/x"  # as some people call a camera


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, **SMALL)


@pytest.fixture
def panel(open_panel, client):
    return open_panel(DevicePanel, ck.create_room(client, "Weekly sync", "ops", attendee_max=8))


@pytest.fixture
def imported(panel, camera):
    """The panel once the camera is imported."""
    panel.import_device(**DOOR, user_address=camera, **LOGIN)
    return panel


def listed(panel):
    """The devices that the panel shows, which are those that the service has."""
    shown = panel.value["user_id"].tolist()
    assert shown == [device.user_id for device in ck.list_devices(panel.client)]
    return shown


def unplug(sandbox, camera, panel):
    """Unplug a camera, and wait until it has left the panel's room."""
    sandbox.unplug(camera)
    ui.until(lambda: ck.get_room_users(panel.client, panel.room_id) == [])


# The list


def test_the_value_is_the_frame_of_the_devices_listed(client, camera, panel):
    """Those of the room, or of all rooms; a room can be picked by its topic."""
    room_id = panel.room_id
    other = ck.create_room(client, "Other", "ops")
    ck.import_device(client, other, "far", "Far", camera, **LOGIN)
    assert list(panel.value.columns) == [*ck.devices_frame([]).columns, "health"]
    assert len(panel.value) == 0
    ui.named(panel, "Room").value = ""
    ui.press(panel, "List devices")
    assert ui.rows(panel.table) == [["Far", "far", other, camera, ""]]
    assert ui.press(panel, "Find a room by topic") == "Pick one of 2 known rooms."
    assert sorted(row[0] for row in ui.rows(panel.topics)) == ["Other", "Weekly sync"]
    assert ui.press(panel, "Use this room") == "Pick a room first."
    panel.topics.picked = room_id
    assert ui.press(panel, "Use this room") == f"Selected room {room_id}."
    assert (panel.room_id, panel.topics.layout.display) == (room_id, "none")
    assert len(panel.refresh()) == 0


def test_a_list_that_cannot_be_read_is_never_empty(sandbox, client, imported):
    """What was read stays, also after a change, which was made all the same."""
    sandbox.fault("B3", ret=304)
    with pytest.raises(ck.ServiceUnavailable):
        DevicePanel(client)
    for read in (imported.refresh, imported.check_health):
        with pytest.raises(ck.ServiceUnavailable):
            read()
    imported.remove("cam")
    assert list(imported.value["user_id"]) == ["cam"]
    assert "304" in imported.devices.outage
    sandbox.clear_faults()
    assert len(imported.refresh()) == 0


def test_health_is_looked_at_by_a_button(sandbox, client, imported, camera):
    """Down since when it was first seen so; what could not be looked at is not known."""
    assert ui.press(imported, "Check health") == "1 of 1 device in their rooms."
    assert imported.value["health"].str.fullmatch(r"plays at \d\d:\d\d:\d\d").all()
    unplug(sandbox, camera, imported)
    [down] = imported.check_health()["health"]
    assert down.startswith("down since ")
    assert imported.check_health()["health"].tolist() == [down]
    assert ui.press(imported, "Check health") == "0 of 1 device in their rooms."
    sandbox.fault("A3", delay=0.5, times=1)
    before = sandbox.count("A3")
    ui.named(imported, "Check health").click()
    ui.until(lambda: sandbox.count("A3") > before)
    ck.import_device(client, imported.room_id, "new", "New", sandbox.camera(**SMALL))
    imported.refresh()
    assert imported.job.wait(ui.LONG)
    assert imported.value["health"].tolist() == [down, ""]
    sandbox.fault("A3", ret=504)
    assert imported.check_health()["health"].tolist() == ["not known"] * 2


# A camera


def test_stages_are_shown_as_they_happen_then_the_picture_or_the_advice(panel, camera):
    """Each stage comes with its mark while the next one runs; the report stays."""
    views = []
    panel.view.observe(lambda change: views.append(change.new), "value")
    report = panel.preflight(user_address=camera, **LOGIN)
    assert report is panel.report
    stages = [re.findall("scope='row'[^>]*>([^<]+)", html) for html in views]
    names = [stage.name for stage in report.stages]
    assert (stages[0], stages[-2]) == (names[:1], names)
    assert ">running<" in views[0]
    assert "<img" in panel.view.value
    assert ui.press(panel, "Preflight") == report.cause
    report = panel.preflight(login_name=None, login_password=None)
    assert report.verdict == "auth_required"
    text = ui.press(panel, "Preflight")
    assert text == f"{report.cause} {report.advice}"
    assert report.advice in unescape(panel.view.value)


def test_buttons_do_what_calls_do(client, panel, camera):
    """All fields are imported; what is typed while a question stands changes nothing."""
    room, options = f'room "Weekly sync" ({panel.room_id})', {"assist_address": "x"}
    panel.fill(**DOOR, user_address=camera, **LOGIN, user_data="floor 2", options=options)
    assert ui.press(panel, "Import") == f'Import "Door" (cam) at {camera} into {room}?'
    assert listed(panel) == []
    panel.fill(user_id="another", user_address=NOWHERE)
    panel.try_first.value = False
    assert ui.confirm(panel) == 'Imported "Door" (cam).'
    assert panel.report.advice == "Imported."
    assert panel.report.advice in panel.view.value
    [device] = ck.list_devices(client)
    assert (device.user_data, device.options) == ("floor 2", {**options, **LOGIN})
    assert "Remove" not in ui.buttons(panel)
    panel.select("cam")
    assert ui.press(panel, "Remove") == f'Remove "Door" (cam) from {room}?'
    assert ui.confirm(panel) == 'Removed "Door" (cam).'
    assert listed(panel) == []
    ui.named(panel, "Clear").click()
    assert not any(field.text for field in panel.fields.values())


def test_a_camera_is_tried_once_before_its_import_or_on_purpose_not_at_all(panel, camera):
    """One connection is the preflight's, the next the service's; another login is tried anew."""
    with door_before(camera, places=9) as door:
        panel.preflight(**DOOR, user_address=door.url, **LOGIN)
        panel.import_device()
        assert door.knocks == 2
        panel.remove("cam")
        with pytest.raises(ck.PreflightFailed, match="auth_rejected"):
            panel.import_device(login_password="wrong")
        assert (door.knocks, panel.report.verdict) == (3, "auth_rejected")
        assert panel.report.advice in unescape(panel.view.value)
        panel.import_device(login_password=PASSWORD)
        assert door.knocks == 5
        panel.remove("cam")
        panel.try_first.value = False
        assert ui.press(panel, "Import").endswith("? The camera is not tried first.")
        ui.confirm(panel)
        assert (listed(panel), door.knocks) == (["cam"], 6)


def test_a_refusal_shows_what_stood_in_the_way(panel, sandbox, camera):
    """After a preflight 426 comes with its explanation; without one it has its own words."""
    sandbox.lock(panel.room_id)
    panel.fill(**DOOR, user_address=camera, **LOGIN)
    for preflight in (False, True):
        with pytest.raises(ck.JoinFailed, match="426"):
            panel.import_device(preflight)
        assert (panel.report is None) == (not preflight)
    assert panel.report.verdict == "room_locked"
    assert panel.report.advice in unescape(panel.view.value)


def test_a_device_is_diagnosed_and_a_removal_that_may_have_happened_looked_up(
    sandbox, imported, camera
):
    """With the login that the service has, whatever stands in the form."""
    ui.named(imported, "Clear").click()
    assert imported.diagnose("cam").ok
    assert "cam" in imported.view.value
    imported.table.picked = None
    assert imported.view.value == ""  # what was found out goes with its device
    unplug(sandbox, camera, imported)
    imported.select("cam")
    text = ui.press(imported, "Diagnose")
    assert imported.report.verdict == "path_not_found"
    assert text == f"{imported.report.cause} {imported.report.advice}"
    ui.press(imported, "Remove")
    sandbox.fault("B2", ret=424, after=True, times=1)
    assert "Removed" in ui.confirm(imported)
    assert listed(imported) == []
    with pytest.raises(ck.ConfigError, match="'cam' is not listed"):
        imported.remove("cam")


def test_work_can_be_cancelled_and_leaves_what_was_there(imported, sandbox):
    """A question whose reading was cancelled is not asked, and nothing was imported."""
    silent = threading.Event()
    imported.view.observe(lambda change: "first packet" in change.new and silent.set(), "value")
    imported.fill(user_address=sandbox.camera(fault="no_media"))
    imported.select("cam")
    assert ui.cancel(imported, "Preflight", silent.is_set) == "Cancelled."
    for text, operation in (("List devices", "B3"), ("Import", "A3"), ("Remove", "A3")):
        before = sandbox.count(operation)
        sandbox.fault(operation, delay=1, times=1)
        begun = lambda: sandbox.count(operation) > before  # noqa: B023, E731
        assert ui.cancel(imported, text, begun) == "Cancelled.", text
    assert listed(imported) == ["cam"]


WRONG = [
    ({"user_address": ""}, "Enter Address. (Nothing was sent.)", "user_address is ''"),
    ({"user_id": " "}, "Enter User ID. (Nothing was sent.)", "user_id"),
    ({"user_name": None, "room_id": ""}, "Enter Room and Name. (Nothing was sent.)", "room_id"),
    ({"user_address": "camera 7"}, "ser_address is 'camera 7', not a valid", "address"),
    ({"options": '{"a"'}, "ptions is not a JSON object.", "options is not a JSON object"),
    ({"options": {"login_name": "other"}}, "ogin_name is given twice", "is given twice"),
]


@pytest.mark.parametrize(("fields", "text", "why"), WRONG)
def test_a_form_that_is_not_right_is_refused_before_anything_is_sent(
    panel, sandbox, fields, text, why
):
    """Each field that is missing or wrong, by the button and by the method."""
    panel.fill(**DOOR, user_address=NOWHERE, **LOGIN)
    panel.fill(**fields)
    before = sandbox.count()
    assert text in ui.press(panel, "Import")
    with pytest.raises(ValueError, match=re.escape(why)):
        panel.import_device()
    assert (sandbox.count(), panel.report) == (before, None)


# Secrets


def test_no_password_shows(panel, sandbox, camera):
    """In what the page gets, nor in a traceback, where a camera is called by its address too."""
    page = ui.page_of(panel)
    panel.fill(user_id=CALLED, user_name=CALLED, user_address=camera.replace("://", INSIDE))
    ui.receive(panel.fields["options"], {"typed": '{"assist_address": "rtsp://u:geheim@h/y"}'})
    for text in ("Preflight", "Import"):
        ui.press(panel, text)
        assert "geheim" not in page()
    panel.fill(**DOOR, options=None)
    panel.import_device()
    sandbox.fault("B1", ret=426, times=1)
    for fields in ({"preflight": False}, {"user_address": f"rtsp:/admin:{PASSWORD}@h"}):
        with pytest.raises((ck.JoinFailed, ck.ParameterError)) as raised:
            panel.import_device(**fields, login_password=PASSWORD, options={"password": PASSWORD})
        assert "geheim" not in ui.locals_of(raised.value) + page()
    with pytest.raises(ck.ConfigError, match="a device has no adress") as raised:
        panel.fill(adress=CALLED)
    assert "geheim" not in ui.locals_of(raised.value)


def test_a_read_only_client_imports_and_removes_nothing(sandbox, open_panel, camera, imported):
    """A preflight works, for it changes nothing."""
    with sandbox.connect(read_only=True) as other:
        panel = open_panel(DevicePanel, client=other)
        panel.select("cam")
        for text in ("Import", "Remove"):
            assert ui.named(panel, text).disabled
        assert panel.preflight(user_address=camera, **LOGIN).ok
        with pytest.raises(ck.ReadOnlyError):
            panel.import_device(**DOOR, room_id=imported.room_id)
        assert listed(panel) == ["cam"]
