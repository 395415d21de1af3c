"""The device panel: cameras tried before they are imported, seen afterwards, and removed."""

from urllib.parse import quote

import pytest

import confkit as ck
from confkit.panels import DevicePanel
from tests.diagnosis import door_before
from tests.panels import pressing as ui

LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}


@pytest.fixture
def camera(sandbox):
    return sandbox.camera("door", **LOGIN, size=(160, 96), fps=5)


@pytest.fixture
def panel(open_panel, client, camera):
    """The panel of a room, with this camera in its form."""
    room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=8)
    panel = open_panel(DevicePanel, room_id)
    panel.fill(user_id="cam", user_name="Door", user_address=camera, **LOGIN)
    return panel


@pytest.fixture
def imported(panel):
    """The panel once the camera is imported, and picked."""
    panel.import_device()
    panel.select("cam")
    return panel


def unplug(sandbox, camera, panel):
    """Unplug a camera, and wait until it has left the panel's room."""
    sandbox.unplug(camera)
    ui.until(lambda: ck.get_room_users(panel.client, panel.room_id) == [])


def test_the_devices_of_a_room_or_of_all_are_listed(client, camera, panel):
    other = ck.create_room(client, "Other", "ops")
    ck.import_device(client, other, "far", "Far", camera, **LOGIN)
    assert len(panel.refresh()) == 0
    ui.named(panel, "Room").value = ""
    ui.press(panel, "List devices")
    assert ui.rows(panel.table) == [["Far", "far", other, camera, ""]]


def test_a_list_that_cannot_be_read_is_never_empty(sandbox, imported):
    """What was read stays, also after a change, which was made all the same."""
    sandbox.fault("B3", ret=304)
    for read in (imported.refresh, imported.check_health):
        with pytest.raises(ck.ServiceUnavailable):
            read()
    imported.remove("cam")
    assert list(imported.value["user_id"]) == ["cam"]
    assert "304" in imported.devices.outage
    sandbox.clear_faults()
    assert len(imported.refresh()) == 0


def test_health_is_looked_at_by_a_button(sandbox, imported, camera):
    """What could not be looked at is not known."""
    assert ui.press(imported, "Check health") == "In their rooms: 1 of 1 device."
    assert ui.rows(imported.table)[0][-1].startswith("plays at ")
    unplug(sandbox, camera, imported)
    [down] = imported.check_health()["health"]
    assert down.startswith("down since ")
    sandbox.fault("A3", ret=504)
    assert ui.press(imported, "Check health") == "In their rooms: 0 of 1 device; 1 not known."


def test_buttons_import_and_remove_what_they_asked_about(client, panel, camera):
    """All fields are imported; what is typed while a question stands changes nothing."""
    room = f'room "Weekly sync" ({panel.room_id})'
    panel.fill(user_data="floor 2")
    assert ui.press(panel, "Import") == f'Import "Door" (cam) at {camera} into {room}?'
    assert ck.list_devices(client) == []
    panel.fill(user_id="another", user_address="rtsp://127.0.0.1:9/x")
    assert ui.confirm(panel) == 'Imported "Door" (cam).'
    [device] = ck.list_devices(client)
    assert (device.user_data, device.options) == ("floor 2", LOGIN)
    assert panel.select("cam") == panel.selected == device
    assert ui.press(panel, "Remove") == f'Remove "Door" (cam) from {room}?'
    assert ui.confirm(panel) == 'Removed "Door" (cam).'
    assert (ck.list_devices(client), len(panel.value), panel.selected) == ([], 0, None)


def test_a_login_in_the_address_moves_to_its_own_fields(panel, camera):
    address = camera.replace("://", f"://admin:{quote(LOGIN['login_password'], '')}@")
    panel.fill(user_address=address, login_name=None, login_password=None)
    assert panel.preflight().ok
    names = ("user_address", "login_name", "login_password")
    assert [panel.fields[name].text for name in names] == [camera, *LOGIN.values()]


def test_a_camera_is_tried_before_its_import_or_on_purpose_not_at_all(panel, camera):
    """One connection is the preflight's, the next the service's: what it did before is past."""
    with door_before(camera, places=9) as door:
        panel.import_device(user_address=door.url)
        assert door.knocks == 2
        panel.remove("cam")
        with pytest.raises(ck.PreflightFailed, match="auth_rejected"):
            panel.import_device(login_password="wrong")
        assert door.knocks == 3
        panel.try_first.value = False
        assert ui.press(panel, "Import").endswith("? The camera is not tried first.")
        ui.confirm(panel)
        assert door.knocks == 4


def test_a_device_is_diagnosed_with_the_login_that_the_service_has(sandbox, imported, camera):
    ui.named(imported, "Clear").click()
    assert not any(field.text for field in imported.fields.values())
    unplug(sandbox, camera, imported)
    imported.select("cam")
    text, report = ui.press(imported, "Diagnose"), imported.report
    assert (report.verdict, text) == ("path_not_found", f"{report.cause} {report.advice}")


def test_a_form_that_is_not_right_is_refused_before_anything_is_sent(panel, sandbox):
    before = sandbox.count()
    panel.fill(user_name=None, room_id="")
    message = "Enter Room, Name. (Nothing was sent.)"
    assert ui.press(panel, "Import") == message
    with pytest.raises(ck.ParameterError):
        panel.import_device()
    assert (sandbox.count(), panel.report) == (before, None)
