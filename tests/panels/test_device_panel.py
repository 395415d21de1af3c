"""The device panel: cameras tried before they are imported, seen afterwards, taken out."""

import base64
import io
import logging
import re
import threading
from concurrent.futures import CancelledError
from html import unescape

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import DevicePanel
from confkit.panels.camera_views import thumbnails_html
from confkit.records import Device
from tests.diagnosis import door_before, until
from tests.panels.pressing import LONG, downloads, heard, named, page, press

IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
ROOM = "/rtc/room/get"
PASSWORD = "p@:/#%w-geheim"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (160, 96), "fps": 5}
DOOR = {"user_id": "cam", "user_name": "Door"}


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
    """Those of the room, or of all rooms; the next cell waits for the first reading."""
    other = ck.create_room(client, "Other", "ops")
    ck.import_device(client, other, "far", "Far", camera, **LOGIN)
    assert list(DevicePanel(client).value.user_id) == ["far"]
    panel = DevicePanel(client, room_id)
    pd.testing.assert_frame_equal(panel.value, ck.devices_frame([]))
    for typed, found in ((f" {other} ", other), ("", None)):
        panel.fill(room_id=typed)
        assert panel.room_id == found
        press(panel, "Refresh")
        assert list(panel.value.user_id) == ["far"]


def test_a_list_that_cannot_be_read_is_told_and_never_empty(sandbox, client, room_id, camera):
    """Of a panel that has read nothing the value is the error; one that has keeps what it had."""
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    sandbox.fault(LIST, ret=304, times=1)
    panel = DevicePanel(client, room_id)
    with pytest.raises(ck.ServiceUnavailable):
        _ = panel.value
    assert (panel.frame.tone, "304" in panel.frame.text) == ("bad", True)
    assert len(panel.refresh()) == 1
    sandbox.fault(LIST, ret=304, times=1)
    with pytest.raises(ck.ServiceUnavailable):
        panel.refresh()
    assert len(panel.value) == len(panel.table.rows) == 1


def test_a_change_that_was_made_is_told_though_the_list_cannot_be_read(sandbox, seated):
    """The device is out of its room; only the list is as it was, and that is said."""
    sandbox.fault(LIST, ret=304, times=1)
    seated.remove("cam")
    told = f"cam was removed from room {seated.room_id}. The list is as it was before: "
    assert seated.frame.text.startswith(told)
    assert "304" in seated.frame.text
    assert len(seated.refresh()) == 0


def test_thumbnails_show_what_the_sandbox_pulls_or_say_why_not(sandbox, seated, camera):
    """A camera that was unplugged has no old picture but a reason; without a sandbox there are no
    pictures, and the rest is the same."""
    shown = seated.pictures.html
    assert "The newest picture of Door" in shown
    png = base64.b64decode(re.search('base64,([^"]+)', shown)[1])
    assert int.from_bytes(png[16:20], "big") == 160
    sandbox.unplug(camera)
    until(lambda: sandbox.streams()[0].state != "playing")
    seated.refresh()
    assert "<img" not in seated.pictures.html
    assert "its stream has been down" in seated.pictures.html
    names = ("base_url", "outgoing_url", "access_key", "secret_key")
    with ck.connect(**{name: getattr(sandbox, name) for name in names}) as stranger:
        other = DevicePanel(stranger)
        assert list(other.value.user_id) == ["cam"]
        assert (other.pictures.html, other.frame.sandbox) == ("", False)


def test_a_room_is_chosen_by_its_topic(client, panel, room_id):
    """The known rooms with their topics; the one that is picked is that of the form and list."""
    ck.create_room(client, "Town hall", "ops")
    panel.fill(room_id=None)
    press(panel, "Rooms by topic")
    assert sorted(cells[0] for _, cells in panel.topics.rows) == ["Town hall", "Weekly sync"]
    panel.topics.choose(room_id)
    assert panel.wait(LONG)
    assert (panel.room_id, panel.topics.layout.display) == (room_id, "none")


def test_ids_with_slashes_are_not_mixed_up(panel):
    """Room a/b with user c, and room a with user b/c, are two rows."""
    devices = [Device("a/b", "c", "One"), Device("a", "b/c", "Two")]
    panel.wait(LONG)
    panel._listed(devices)
    for device in devices:
        assert panel.select(device.user_id) is panel.picked is device


# One device


def test_stages_are_shown_as_they_happen_then_the_picture(panel, camera):
    """Each stage comes with its mark and time while the next one runs; the report stays."""
    seen = []
    panel.view.observe(lambda change: seen.append(change["new"]), "html")
    report = panel.preflight(user_address=camera, **LOGIN)
    assert report.ok
    assert panel.report is report
    shown = [re.findall("scope='row'[^>]*>([^<]+)", html) for html in seen]
    names = [stage.name for stage in report.stages]
    assert (shown[0], shown[-2]) == (names[:1], names)
    assert ">running<" in seen[0]
    assert "The first picture of" in panel.view.html
    assert panel.view.html.count(">PASS<") == len(names)
    assert (panel.frame.tone, "160 x 96" in panel.frame.text) == ("good", True)


def test_a_preflight_that_fails_gives_its_advice(panel, camera):
    """The verdict, its cause and the next step."""
    report = panel.preflight(user_address=camera)
    assert report.verdict == "auth_required"
    for told in (report.cause, report.advice):
        assert told in unescape(panel.view.html)
        assert told in panel.frame.text


def test_a_login_inside_an_address_moves_into_its_own_fields(panel, camera):
    """With its characters decoded; where a login is given already the address stays as it is."""
    inside = camera.replace("://", "://admin:p%40%3A%2F%23%25w-geheim@")
    assert panel.preflight(user_address=inside).ok
    typed = {name: str(panel.inputs[name].text) for name in ("user_address", *LOGIN)}
    assert typed == {"user_address": camera, **LOGIN}
    panel.fill(user_address=inside, login_name="other")
    panel.preflight()
    assert str(panel.inputs["user_address"].text) == inside


def test_a_click_does_what_a_call_does(client, panel, camera):
    """Preflight, Import, its question and the removal by mouse, as by the methods."""
    room = f'room "Weekly sync" ({panel.room_id})'
    panel.fill(**DOOR, user_address=camera, **LOGIN)
    press(panel, "Preflight")
    assert panel.report.ok
    for answer, left in (("no", []), ("yes", ["cam"])):
        press(panel, "Import")
        assert panel.frame.question == f'Import "Door" (cam) at {camera} into {room}?'
        assert not panel.frame.grave
        heard(panel, answer)
        assert listed(client) == list(panel.value.user_id) == left
    assert (panel.frame.tone, "seen in it" in panel.frame.text) == ("good", True)
    panel.select("cam")
    for answer, left in (("no", ["cam"]), ("yes", [])):
        press(panel, "Remove")
        assert panel.frame.grave
        assert panel.frame.question.startswith(f'Remove "Door" (cam) from {room}?')
        heard(panel, answer)
        assert listed(client) == list(panel.value.user_id) == left
    assert panel.import_device().user_address == camera
    panel.remove("cam")
    assert listed(client) == []


def test_a_removal_that_may_have_happened_is_looked_up(sandbox, seated):
    """The list shows what is there, and the panel what the code leaves open."""
    sandbox.fault(REMOVE, ret=700, after=True, times=1)
    with pytest.raises(ck.Unsettled):
        seated.remove("cam")
    assert "may or may not have happened" in seated.frame.text
    assert list(seated.value.user_id) == []


def test_the_import_after_a_preflight_does_not_dial_the_camera_again(panel, camera):
    """One connection is the preflight's, the next the service's; another login is tried anew."""
    with door_before(camera, places=9) as door:
        panel.preflight(**DOOR, user_address=door.url, **LOGIN)
        panel.import_device()
        assert door.knocks == 2
        panel.remove("cam")
        with pytest.raises(ck.PreflightFailed, match="auth_rejected"):
            panel.import_device(login_password="wrong")
        assert door.knocks == 3
        panel.fill(login_password=PASSWORD)
        press(panel, "Import")
        assert "It is tried from here first" in panel.frame.question


def test_what_the_question_named_is_what_is_imported(client, panel, sandbox, camera):
    """What is typed and ticked while the question stands changes nothing about the answer."""
    panel.preflight(**DOOR, user_address=camera, **LOGIN)
    press(panel, "Import")
    panel.fill(user_id="another", user_address=sandbox.camera(**SMALL))
    panel.verify.value = False
    heard(panel, "yes")
    [device] = ck.list_devices(client)
    assert (device.user_id, device.user_address) == ("cam", camera)
    assert "seen in it" in panel.frame.text


def test_an_import_without_a_preflight_is_on_purpose(client, panel, camera):
    """The question says what it means, and no camera is tried from here."""
    panel.fill(**DOOR, user_address=camera, **LOGIN)
    panel.untried.value = True
    press(panel, "Import")
    assert "It is not tried from here first" in panel.frame.question
    heard(panel, "yes")
    assert (listed(client), panel.report) == (["cam"], None)


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


def test_a_device_that_is_not_seen_afterwards_is_listed_and_told(panel, sandbox, camera):
    """With the box ticked the import is looked for; without, the service's word counts."""
    sandbox.fault("/rtc/room/get_room_info", body='{"ret": 0, "user_list": []}')
    panel.verify.value = False
    panel.import_device(**DOOR, user_address=camera, **LOGIN)
    assert "seen" not in panel.frame.text
    panel.remove("cam")
    panel.verify.value = True
    with pytest.raises(ck.NotInRoom):
        panel.import_device()
    assert "not among the room's users" in panel.frame.text
    assert list(panel.value.user_id) == ["cam"]


def test_a_device_of_the_list_can_be_diagnosed(seated, sandbox, camera):
    """Why it is not in its room, by its ID or by a click on its row: shown beside the list."""
    assert seated.diagnose("cam").ok
    sandbox.unplug(camera)
    until(lambda: ck.get_room_users(seated.client, seated.room_id) == [])
    press(seated, "Diagnose")
    assert seated.report.verdict == "path_not_found"
    assert seated.report.advice in unescape(seated.found.html)
    assert seated.report.advice not in unescape(seated.view.html)


def test_a_preflight_can_be_cancelled_and_leaves_the_stages_that_ended(panel, sandbox):
    """A silent camera does not keep the panel."""
    silent = threading.Event()
    panel.view.observe(lambda change: "first packet" in change["new"] and silent.set(), "html")
    panel.fill(user_address=sandbox.camera(fault="no_media"))
    named(panel, "Preflight").click()
    assert silent.wait(LONG)
    heard(panel, "cancel")
    assert (panel.frame.text, panel.frame.busy) == ("Cancelled.", "")
    assert "PLAY" in panel.view.html
    assert ">running<" not in panel.view.html
    panel.view.observe(lambda _: panel.cancel(), "html")
    with pytest.raises(CancelledError):
        panel.preflight()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"user_address": ""}, "user_address is ''"),
        ({"user_address": "192.0.2.7"}, "scheme://host"),
        ({"user_id": " "}, "user_id"),
        ({"user_name": None}, "user_name"),
        ({"room_id": ""}, "room_id"),
        ({"options": "[1]"}, "options is not a JSON object"),
        ({"options": '{"a"'}, "options is not a JSON object"),
        ({"options": '{"login_name": "other"}'}, "login_name is given twice"),
    ],
)
def test_a_form_that_is_not_right_is_told_before_anything_happens(panel, camera, fields, told):
    """Each field that is missing or wrong has its cause and what to do; nothing was sent."""
    with pytest.raises(ck.ParameterError, match=re.escape(told)):
        panel.import_device(**{**DOOR, "user_address": camera, **LOGIN, **fields})
    assert told in panel.frame.text
    assert panel.report is None


def test_all_fields_go_into_the_import_and_can_be_cleared(client, panel, camera):
    """The room stays."""
    options = {"assist_address": "x"}
    panel.import_device(**DOOR, user_address=camera, **LOGIN, user_data="floor 2", options=options)
    [device] = ck.list_devices(client)
    assert (device.user_data, device.options["assist_address"]) == ("floor 2", "x")
    press(panel, "Clear")
    assert [name for name, one in panel.inputs.items() if one.text] == ["room_id"]


def test_read_only_disables_what_changes_something_and_says_why(sandbox, room_id, camera, client):
    """The preflight works, for it changes nothing; a method is refused by the client itself."""
    ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)
    with sandbox.connect(read_only=True) as looking:
        panel = DevicePanel(looking, room_id)
        assert panel.preflight(**DOOR, user_address=camera, **LOGIN).ok
        for text in ("Import", "Remove", "Import the table"):
            assert named(panel, text).disabled
            assert "read_only=False" in named(panel, text).tooltip
        for change in (
            panel.import_device,
            lambda: panel.remove("cam"),
            lambda: panel.import_table(pd.DataFrame()),
        ):
            with pytest.raises(ck.ReadOnlyError):
                change()
    assert sandbox.count(IMPORT) == 1


# Many devices


@pytest.fixture
def text(room_id, sandbox):
    """A table of three cameras as text: the second has no such login."""
    lines = ["room_id;user_id;user_name;user_address;login_name;login_password"]
    for number in range(3):
        url = sandbox.camera(**LOGIN, **SMALL)
        password = "wrong" if number == 1 else PASSWORD
        lines.append(f"{room_id};cam{number};Door {number};{url};admin;{password}")
    return "\n".join(lines)


def test_a_table_is_imported_and_each_row_tells_what_became_of_it(client, panel, text):
    """Pasted, asked about, imported with progress; cause and advice of a row, and a file of all."""
    panel.pasted.fill(text)
    press(panel, "Check the table")
    assert panel.frame.text == "3 devices, and nothing is wrong with the table."
    panel.ticks["rollback"].value, panel.ticks["preflight"].value = True, False
    press(panel, "Import the table")
    assert panel.frame.question.startswith("Import 3 devices into 1 room of SANDBOX?")
    assert "what it has imported is removed again" in panel.frame.question
    assert "tried first" not in panel.frame.question
    heard(panel, "no")
    assert listed(client) == []
    panel.ticks["rollback"].value, panel.ticks["preflight"].value = False, True
    press(panel, "Import the table")
    assert "Each camera is tried first" in panel.frame.question
    heard(panel, "yes")
    assert list(panel.result.outcome) == ["imported", "preflight failed", "imported"]
    assert listed(client) == list(panel.value.user_id) == ["cam0", "cam2"]
    assert panel.frame.text.startswith("2 imported, 1 preflight failed. Pick a row")
    assert panel.frame.tone == "bad"
    panel.rows.choose("1")
    assert panel.result.advice[1] in unescape(panel.detail.html)
    sent = downloads(panel)
    press(panel, "Download the result")
    assert sent == [panel.result.to_csv(index=False, lineterminator="\r\n")]
    panel.clear_table()
    press(panel, "Try again")
    assert list(panel.result.outcome) == ["already there", "preflight failed", "already there"]


def test_what_failed_is_tried_again_as_often_as_it_takes(panel, sandbox, text):
    """The table as it was, by a click; once all is well it is offered no more."""
    with pytest.raises(ck.ConfigError, match="Import one first"):
        panel.try_again()
    sandbox.fault(IMPORT, ret=426, times=3)
    panel.import_table(io.StringIO(text.replace("wrong", PASSWORD)), preflight=False, verify=False)
    assert list(panel.result.outcome) == ["refused"] * 3
    press(panel, "Try again")
    assert list(panel.result.outcome) == ["imported"] * 3
    assert panel.retry.layout.display == "none"


def test_the_template_is_a_table_that_lacks_only_its_devices(panel):
    """One click saves it; filled in it is taken as it is."""
    sent = downloads(panel)
    press(panel, "Download a template")
    line = f"{panel.room_id},a,A,rtsp://h/1,,,,\r\n"
    assert panel.check_table(io.StringIO(sent[0] + line)) == 1


def test_a_chosen_file_is_a_table_too_but_not_both(panel, text):
    """A file is read as it stands; a file and a text at once are one too many."""
    panel.file._hear(None, {"kind": "file", "name": "x.csv"}, [text.encode("utf-8-sig")])
    assert panel.check_table() == 3
    panel.pasted.fill(text)
    with pytest.raises(ck.ConfigError, match="give one of them"):
        panel.check_table()
    panel.clear_table()
    with pytest.raises(ck.ConfigError, match="No table is there"):
        panel.check_table()


def test_the_problems_of_a_table_are_rows_and_nothing_is_sent(panel, sandbox, text):
    """Row, column and problem; a table that was fixed shows them no more."""
    panel.pasted.fill(text.replace("cam1", "cam0").replace("Door 2", ""))
    for importing in (lambda: press(panel, "Import the table"), panel.import_table):
        try:
            importing()
        except ck.TableError:
            assert importing == panel.import_table
        assert panel.frame.text.startswith("The table has 2 problems. Nothing was sent.")
        rows = [cells[:2] for _, cells in panel.rows.rows]
        assert rows == [["3", "user_id"], ["4", "user_name"]]
        assert panel.rows.layout.display is None
    assert (panel.frame.question, sandbox.count(IMPORT)) == ("", 0)
    panel.pasted.fill(text)
    press(panel, "Check the table")
    assert panel.rows.layout.display == "none"


def test_a_table_is_cancelled_as_by_ctrl_c(client, panel, text):
    """What was done is reported, the rest was not tried, and nothing is removed."""
    frame = pd.read_csv(io.StringIO(text.replace("wrong", PASSWORD)), sep=";", dtype=str)
    panel.frame.observe(lambda change: change["new"] == 1 and panel.cancel(), "done")
    result = panel.import_table(frame, preflight=False, verify=False)
    assert list(result.outcome) == ["imported", "not tried", "not tried"]
    assert panel.frame.text.startswith("1 imported, 2 not tried.")
    assert listed(client) == ["cam0"]


def test_a_table_is_imported_as_its_question_said(panel, room_id):
    """What is ticked while the question stands is of the next import: cameras are still tried."""
    panel.pasted.fill(
        "room_id,user_id,user_name,user_address\n"
        f"{room_id},good,Good,rtsp://127.0.0.1:9/x\n{room_id},bad,Bad,rtsp://127.0.0.1:9/y"
    )
    press(panel, "Import the table")
    for name, ticked in {"preflight": False, "rollback": True, "verify": False}.items():
        panel.ticks[name].value = ticked
    heard(panel, "yes")
    assert list(panel.result.outcome) == ["preflight failed", "preflight failed"]


def test_what_is_read_for_the_panel_can_be_cancelled(sandbox, seated):
    """The list keeps what it had; a question that was cancelled is not asked; both are reported."""
    assert seated.wait(LONG)
    seated.select("cam")
    for path, text in ((LIST, "Refresh"), (ROOM, "Import"), (ROOM, "Remove")):
        sandbox.fault(path, delay=LONG / 2, times=1)
        before = sandbox.count(path)
        named(seated, text).click()
        until(lambda path=path, before=before: sandbox.count(path) > before)
        heard(seated, "cancel")
        assert (seated.frame.text, seated.frame.question) == ("Cancelled.", ""), text
    assert list(seated.value.user_id) == ["cam"]


def test_what_is_not_there_is_told_in_the_panel_too(panel):
    """A device, a field or a table that is none; what the head said before is no longer true."""
    for change, told in (
        (lambda: panel.select("nobody"), "'nobody' is not in the list"),
        (lambda: panel.diagnose("nobody"), "Refresh it"),
        (lambda: panel.remove("nobody"), "'nobody' is not in the list"),
        (lambda: panel.fill(adress="x"), "a device has no adress"),
        (lambda: panel.import_table(5), "the table is int"),
        (lambda: panel.check_table([1]), "the table is list"),
    ):
        panel.frame.tell("Well done.", "good")
        with pytest.raises(ck.ConfigError, match=told):
            change()
        assert told in panel.frame.text
        assert panel.frame.tone == "bad"
    with pytest.raises(ck.ConfigError, match="client is of type NoneType"):
        DevicePanel(None)


# Secrets, and what comes from a camera or a service


def test_a_camera_that_is_called_by_its_address_tells_no_password(panel, sandbox, camera, room_id):
    """As name or as ID, typed, asked about, imported, refused, removed or of a table."""
    called = "rtsp://user:geheim@h/x"
    told = []
    names = {"user_id": called, "user_name": called}
    panel.frame.observe(lambda change: told.append(change["new"]), ["question", "busy"])
    panel.preflight(**names, user_address=camera, **LOGIN)
    press(panel, "Import")
    heard(panel, "yes")
    assert panel.value.user_id[0] == "rtsp://user:***@h/x"
    assert panel.select(called).user_id == called
    press(panel, "Remove")
    told.append(page(panel))
    heard(panel, "yes")
    assert listed(panel.client) == []
    sandbox.fault(IMPORT, ret=426, times=1)
    with pytest.raises(ck.JoinFailed):
        panel.import_device(preflight=False)
    told.append(page(panel))
    with pytest.raises(ck.ConfigError):
        panel.select(called)
    panel.import_table(
        pd.DataFrame([{"room_id": room_id, **names, "user_address": camera}]), preflight=False
    )
    panel.rows.choose("0")
    sent = downloads(panel)
    press(panel, "Download the result")
    assert "***" in panel.detail.html
    for one in [*told, page(panel), *sent]:
        assert "geheim" not in one


def test_no_secret_is_in_what_a_notebook_may_save_or_a_page_shows(panel, sandbox, camera, text):
    """Typed, filled in, refused, imported or in a table: it is in no state and no HTML."""
    where = camera.replace("://", "://admin:p%40%3A%2F%23%25w-geheim@")
    panel.inputs["login_password"]._hear(None, {"kind": "typed", "text": PASSWORD}, [])
    panel.preflight(
        **DOOR, user_address=where, login_name="admin", options={"login_password": PASSWORD}
    )
    press(panel, "Import")
    told = [page(panel)]
    heard(panel, "yes")
    told += [page(panel), repr(panel.value), repr(panel.__dict__)]
    sandbox.fault(IMPORT, ret=426, times=1)
    with pytest.raises(ck.JoinFailed):
        panel.import_device(
            user_id="other", user_address=where.replace("door", "door2"), preflight=False
        )
    panel.pasted.fill(text)
    panel.import_table()
    panel.rows.choose("1")
    for one in [*told, page(panel)]:
        assert "geheim" not in one


def test_what_a_service_or_a_camera_says_is_no_html(sandbox):
    """A name is shown as it is, whatever is in it."""
    name = "<img src=x onerror=alert(1)>"
    shown = thumbnails_html(sandbox, [Device("1", "nobody", name)])
    assert "<img src=x" not in shown
    assert "&lt;img" in shown


def test_no_click_ends_in_a_log(panel, caplog, sandbox):
    """Whatever goes wrong is reported in the panel: the service that is gone, too."""
    sandbox.close()
    with caplog.at_level(logging.WARNING):
        panel.wait(LONG)
        panel.untried.value = True
        panel.fill(**DOOR, user_address="rtsp://127.0.0.1:9/x")
        for text in ("Refresh", "Import", "Import the table", "Find out why", "Diagnose"):
            press(panel, text)
            assert panel.frame.tone == "bad" or panel.frame.question, text
    assert [one.getMessage() for one in caplog.records if one.name == "confkit.panels"] == []
