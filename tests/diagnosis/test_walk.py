"""Why is it not in the room? Each answer by a real state of the sandbox, with real cameras; and
imports with a preflight before, and a look afterwards."""

import re
import shlex
import time
from contextlib import ExitStack
from functools import partial

import pytest

import confkit as ck

from . import door_before, pasted

PASSWORD = "geheim@77:/#%"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (128, 96), "fps": 10}


@pytest.fixture
def room_id(client):
    client._sleep = lambda _: None  # what is retried is retried at once
    return ck.create_room(client, "t", "ops", attendee_max=4)


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, **SMALL)


@pytest.fixture
def bring(client, room_id):
    """Imports a device into the room."""
    return partial(ck.import_device, client, room_id)


INSIDE = "//admin:geheim%4077%3A%2F%23%25@"
NEW = {"login_name": "admin", "login_password": "new-one"}
OURS = ("room", "device", "users", "listed address", "place", "camera", "media server")
MOVED = "rtsp://admin:geheim@127.0.0.1:9/door"


class World:
    """A room, and a camera at `url` that wants a login."""

    def __init__(self, sandbox, client, room_id, url, doors):
        self.sandbox, self.client, self.room_id, self.url = sandbox, client, room_id, url
        self.camera, self.doors = url, doors
        self.answers = {"Password: ": PASSWORD, "user_address: ": url.replace("//", INSIDE)}

    def ask(self, words):
        """Diagnose a user ID, an address by its name, a login."""
        words = words.split()
        user_id = next((word for word in words if word in ("cam", "x")), None)
        url = MOVED if "moved" in words else self.url if "url" in words else None
        login = LOGIN if "login" in words else {}
        return ck.diagnose_device(self.client, self.room_id, user_id, url, **login)

    def open_door(self):
        self.guard = self.doors.enter_context(door_before(self.url, places=9))
        self.url = self.guard.url

    def bring(self, room_id):
        ck.import_device(self.client, room_id, "cam", "Door", self.url, **LOGIN)

    def unplug(self):
        left = len(ck.get_room_users(self.client, self.room_id)) - 1
        self.sandbox.unplug(self.camera)
        while len(ck.get_room_users(self.client, self.room_id)) > left:
            time.sleep(0.02)

    def new_login(self):
        self.sandbox.camera(self.camera.rpartition("/")[2], **NEW, **SMALL)
        self.answers["Password: "] = "new-one"


STEPS = {
    "no_room": lambda w: setattr(w, "room_id", "0"),
    "lock": lambda w: w.sandbox.lock(w.room_id),
    "close": lambda w: w.sandbox.close_room(w.room_id),
    "people": lambda w: [w.sandbox.join(w.room_id, name, user_id=name) for name in "abc"],
    "door": World.open_door,
    "one_place": lambda w: setattr(w.guard, "places", 1),
    "open": lambda w: setattr(w, "url", w.sandbox.camera("yard", **SMALL)),
    "cam": lambda w: w.bring(w.room_id),
    "unplug": World.unplug,
    "new_login": World.new_login,
    "unseen": lambda w: w.sandbox.fault("A6", body='{"ret": 0, "user_list": []}'),
    "elsewhere": lambda w: w.bring(ck.create_room(w.client, "t", "ops")),
    "no_licence": lambda w: w.sandbox.licence(seats=0),
    "a6_is_html": lambda w: w.sandbox.fault("A6", body="<html>"),
    "b3_drops": lambda w: w.sandbox.fault("B3", drop=True),
}
# The steps before, what is asked for, the verdict, the stages that fail but for the camera's own,
# words of cause and advice in their order, and what comes of the calls in the advice.
OUT = "NoneType PreflightFailed"  # removed, and then not imported, as the camera does not play
SITUATIONS = [
    # It is in its room: a lock and a full room keep others out.
    ("cam people lock", "cam", "ok", "", "the service lists it", ""),
    ("door elsewhere one_place", "x url login", "busy", "device", "has this camera as device 'cam'",
     "NoneType"),
    # The room: a broken camera comes before a lock, and the place of a device that is away is kept.
    ("no_room", "cam", "room_not_found", "room", "SANDBOX has no room '0'", ""),
    ("cam close", "cam url", "room_closed", "room", "", ""),
    ("lock", "cam url login", "room_locked", "device place", "", ""),
    ("cam unplug people open", "x url", "room_full", "device place", "4 of 4.*attendee_max[.]", ""),
    # The service lists it, and it is away.
    ("cam unplug", "", "path_not_found", "users", "replaced or reset.*keeps dialling", OUT),
    ("cam unplug new_login", "cam", "auth_rejected", "users", "with the new one: ck.remove",
     "NoneType Device"),
    ("cam unseen", "cam", "service_cannot_reach", "users", "own host.* --login-name admin$",
     "NoneType NotInRoom ok"),
    # The service does not list it. What may not be shown is asked for as the call runs.
    ("", "", "not_imported", "device", "any device", "Device"),
    ("", "cam url login", "not_imported", "device", "426 or 427.*name admin$", "Device ok"),
    ("", "cam url", "auth_required", "device", "", ""),
    # Addresses and IDs that are elsewhere, or others'.
    ("cam", "cam moved", "address_differs", "listed address",
     "rtsp://127.*, not rtsp://127.0.0.1:9/door", OUT),
    ("cam", "x url", "duplicate_address", "device", "login_name='admin'", "NoneType Device"),
    ("elsewhere", "cam", "in_another_room", "device", "it is device 'cam'", "NoneType Device"),
    ("elsewhere open", "cam url", "in_another_room", "device", "If that is", "NoneType Device"),
    # The service itself: what cannot be read is no empty room.
    ("cam b3_drops", "cam", "service_error", "device", "closed the connection", ""),
    ("cam a6_is_html", "cam", "service_error", "users", "A6", ""),
    ("no_licence", "cam url login", "service_error", "device media server", "411", ""),
]  # fmt: skip


@pytest.fixture
def world(sandbox, client, room_id, camera):
    with ExitStack() as doors:
        yield World(sandbox, client, room_id, camera, doors)


def failed(report):
    return [stage.name for stage in report.stages if stage.outcome == "failed"]


@pytest.mark.parametrize(
    ("steps", "asked", "verdict", "stages", "words", "calls"),
    [pytest.param(*row, id=f"{row[0]} -> {row[1]}") for row in SITUATIONS],
)
def test_a_situation_has_its_verdict_and_an_advice_that_runs(
    world, steps, asked, verdict, stages, words, calls
):
    """No password shows, and the calls of the advice run as they are pasted."""
    for step in steps.split():
        STEPS[step](world)
    report = world.ask(asked)
    assert (report.verdict, report.ok) == (verdict, verdict == "ok"), str(report)
    assert " ".join(name for name in failed(report) if name in OURS) == stages
    assert bool(failed(report)) == (not report.ok)
    assert re.search(words, f"{report.cause} {report.advice}"), str(report)
    assert report.advice
    assert not any(secret in f"{report!r}{report}" for secret in ("geheim", "new-one", "***@"))
    assert pasted(report.advice, world.client, world.answers) == calls.split(), report.advice


def test_what_a_stage_says(world):
    """A camera is not dialled while the service plays it."""
    world.open_door()
    world.bring(world.room_id)
    knocks = world.guard.knocks
    left_out = world.ask("cam").stages[-1]
    assert (left_out.name, left_out.outcome) == ("camera", "skipped")
    assert world.guard.knocks == knocks


def test_the_line_to_run_is_quoted_for_a_shell(sandbox, client, room_id):
    url = sandbox.camera("cam?channel=1&subtype=0", **SMALL)
    report = ck.diagnose_device(client, room_id, "cam", url, login_name="it's me; rm")
    words = shlex.split(report.advice.partition("own host: ")[2])
    assert words == ["confkit", "preflight", url, "--login-name", "it's me; rm"]


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
