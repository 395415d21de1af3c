"""Why is it not in the room? Each answer by a real state of the sandbox, with real cameras."""

import json
import re
import shlex
from contextlib import ExitStack
from functools import partial

import pytest

import confkit as ck
from confkit.operations import A3, A5, A6, B1, B3
from confkit.rtsp.errors import VERDICTS as OF_CAMERAS

from . import door_before, pasted, until
from .conftest import LOGIN, PASSWORD, SMALL

INSIDE = "//admin:geheim%4077%3A%2F%23%25@"
NEW = {"login_name": "admin", "login_password": "new-one"}
OURS = ("room", "device", "users", "listed address", "place", "camera", "media server")
LOGINS = {"login": LOGIN, "new": NEW, "wrong": {**NEW, "login_password": "wrong"}}


class World:
    """A room, and a camera at `url` that wants a login. Its methods are the steps of SITUATIONS."""

    def __init__(self, sandbox, client, room_id, url, doors):
        self.sandbox, self.client, self.room_id, self.url = sandbox, client, room_id, url
        self.camera, self.doors = url, doors
        self.bring = partial(ck.import_device, client, room_id)
        self.answers = {"Password: ": PASSWORD, "user_address: ": url.replace("//", INSIDE)}

    def ask(self, asked):
        """Diagnoses what is asked for: a user ID, an address by its name, a login, `force`."""
        words = asked.split()
        addresses = {
            "url": self.url,
            "url/none": f"{self.url}/none",
            "new-in-url": self.url.replace("//", "//admin:new-one@"),
            "no-url": "192.0.2.7/x",
            "moved": "rtsp://admin:geheim@127.0.0.1:9/door",
            "sip": "sip://alice@pbx.example",
            "h323": "h323://alice:geheim@192.0.2.7",
        }
        more = {"force": True} if "force" in words else {}
        for word in words:
            more |= LOGINS.get(word, {}) | ({"timeout": 2} if word == "quick" else {})
        [url] = [addresses[word] for word in words if word in addresses] or [None]
        known = (*addresses, *LOGINS, "force", "quick")
        [user_id] = [word for word in words if word not in known] or [None]
        if "h323" in words:
            self.answers["user_address: "] = url
        return ck.diagnose_device(self.client, self.room_id, user_id, url, **more)

    def no_room(self):
        self.room_id = "0"

    def lock(self):
        self.sandbox.lock(self.room_id)

    def close(self):
        self.sandbox.close_room(self.room_id)

    def people(self):
        for name in "abc":
            self.sandbox.join(self.room_id, name, user_id=name)

    def no_stream_left(self):
        self.room_id = ck.create_room(self.client, "t", "ops", max_audio=1, max_video=1)
        self.sandbox.join(self.room_id, "Ada")

    def door(self):
        self.guard = self.doors.enter_context(door_before(self.url, places=9))
        self.url = self.guard.url

    def one_place(self):
        self.guard.places = 1

    def open(self):
        self.url = self.camera = self.sandbox.camera("yard", **SMALL)

    def locks_out(self):
        self.url = self.sandbox.camera(fault="locked", **SMALL)

    def secret_in_path(self):
        self.url = self.answers["user_address: "] = self.sandbox.camera("x?pwd=geheim", **SMALL)

    def cam(self):
        self.bring("cam", "Door", self.url, **({} if "yard" in self.url else LOGIN))

    def cam_inside(self):
        self.bring("cam", "Door", self.url.replace("//", INSIDE))

    def three(self):
        for name in "xyz":
            self.bring(name, "Door", self.sandbox.camera(name, **SMALL))

    def unplug(self):
        self.sandbox.unplug(self.camera)
        until(lambda: ck.get_room_users(self.client, self.room_id) == [])

    def unplug_two(self):
        for device in ck.list_devices(self.client)[1:]:
            self.sandbox.unplug(device.user_address)
        until(lambda: len(ck.get_room_users(self.client, self.room_id)) == 1)

    def new_login(self):
        self.sandbox.camera(self.camera.rpartition("/")[2], **NEW, **SMALL)
        self.answers["Password: "] = "new-one"

    def unseen(self):
        self.sandbox.fault(A6.path, body='{"ret": 0, "user_list": []}')

    def elsewhere(self, user_id="cam"):
        room_id = ck.create_room(self.client, "t", "ops")
        ck.import_device(self.client, room_id, user_id, "Door", self.url, **LOGIN)

    def second_elsewhere(self):
        self.elsewhere("second")

    def no_licence(self):
        self.sandbox.licence(seats=0)

    def no_mcu(self):
        self.sandbox.stop_mcu()

    def a5_fails(self):
        self.sandbox.fault(A5.path, ret=504)

    def list_is_cut(self):
        self.sandbox.fault(B3.path, body='{"ret": 0, "data": {"total": 9, "items": []}}', times=1)


def ends(verdict):
    """The camera's own advice, and nothing after it."""
    return re.escape(OF_CAMERAS[verdict].advice) + "$"


# The steps before, what is asked for, the verdict, the stages that fail but for the camera's own,
# words of cause and advice in their order, and what comes of the calls in the advice.
OUT = "NoneType PreflightFailed"  # removed, and then not imported, as the camera does not play
SITUATIONS = [
    # It is in its room: a lock and a full room keep others out.
    ("cam people lock", "cam", "ok", "", r"the service lists it.*force=True \(--force\)", ""),
    ("cam", "cam force", "ok", "", "is in room(?!.*force)", ""),
    ("cam", "cam wrong force", "auth_rejected", "", "^(?!.*The service lists)", ""),
    ("door cam one_place", "cam force", "busy", "", "has this camera as device 'cam'", "NoneType"),
    ("three", "", "ok", "", "Each device is in room.*force=True", ""),
    ("cam", "force", "ok", "", "Each device is in room(?!.*force)", ""),
    ("three unplug_two", "", "path_not_found", "users", "404.*'y'", OUT),
    # The room: a broken camera comes before a lock, and the place of a device that is away is kept.
    ("no_room", "cam", "room_not_found", "room", "SANDBOX has no room '0'", ""),
    ("cam close", "cam url", "room_closed", "room", "", ""),
    ("lock", "cam url login", "room_locked", "device place", "", ""),
    ("door cam unseen lock", "cam", "room_locked", "users place", "", ""),
    ("cam lock unplug", "cam", "path_not_found", "users", "", OUT),
    ("cam unplug people", "cam", "path_not_found", "users", "", OUT),
    ("cam unplug people open", "x url", "room_full", "device place", "4 of 4.*attendee_max[.]", ""),
    ("no_stream_left", "x url", "room_full", "device place", "1 of 1.*max_video.*assumed", ""),
    # The service lists it, and it is away.
    ("cam unplug", "cam", "path_not_found", "users", "replaced or reset.*keeps dialling", OUT),
    ("cam unplug new_login", "cam", "auth_rejected", "users", "with the new one: ck.remove",
     "NoneType Device"),
    ("cam unplug new_login", "cam wrong", "auth_rejected", "users", "^(?!.*service lists)", ""),
    ("open cam unplug new_login", "cam", "auth_required", "users", "", OUT),
    ("cam unplug new_login", "cam new-in-url", "service_cannot_reach", "users",
     "present login", "NoneType Device ok"),
    ("cam_inside unplug new_login", "cam new", "service_cannot_reach", "users", "",
     "NoneType Device ok"),
    ("door cam unseen", "cam", "service_cannot_reach", "users", "own host.* --login-name admin$",
     "NoneType NotInRoom ok"),
    ("door cam unseen second_elsewhere one_place", "cam", "busy", "users",
     "device 'second' in room.*rtsp_silent.*remove it first", "NoneType"),
    # The service does not list it. What may not be shown is asked for as the call runs.
    ("", "", "not_imported", "device", "any device", "Device"),
    ("", "cam", "not_imported", "device", "Import it: ck.*preflight=True, verify=True.$", "Device"),
    ("", "cam url login", "not_imported", "device", "426 or 427.*name admin$", "Device ok"),
    ("secret_in_path", "cam url", "not_imported", "device", "", "Device ok"),
    ("", "cam url", "auth_required", "device", ends("auth_required"), ""),
    ("", "url/none login", "path_not_found", "device", "", ""),
    ("", "cam no-url", "url_malformed", "device", "", ""),
    ("locks_out", "cam url quick", "auth_locked", "device", ends("auth_locked"), ""),
    ("", "s sip", "not_imported", "device", "only the service can dial a sip", "JoinFailed"),
    ("", "s h323", "not_imported", "device", "only the service can dial", "JoinFailed"),
    # Addresses and IDs that are elsewhere, or others'.
    ("cam", "cam moved", "address_differs", "listed address",
     "rtsp://127.*, not rtsp://127.0.0.1:9/door", OUT),
    ("cam", "x url login", "duplicate_address", "device", "device 'cam'", "NoneType Device"),
    ("cam", "x url", "duplicate_address", "device", "login_name='admin'", "NoneType Device"),
    ("cam second_elsewhere", "second url", "user_id_elsewhere", "device", "another user ID",
     "NoneType"),
    ("people", "a url", "user_id_taken", "device users", "", ""),
    ("elsewhere", "cam", "in_another_room", "device", "it is device 'cam'", "NoneType Device"),
    ("elsewhere lock", "cam url login", "in_another_room", "device", "", "NoneType JoinFailed"),
    ("elsewhere open", "cam url", "user_id_elsewhere", "device", "device: rtsp.*room", "NoneType"),
    # The service itself: what says nothing about the device stops nothing.
    ("no_licence", "cam url", "auth_required", "device", "", ""),
    ("no_licence", "cam url login", "service_error", "device media server", "411", ""),
    ("no_mcu", "cam url login", "service_error", "device media server", "410", ""),
    ("a5_fails", "cam", "not_imported", "device", "", "Device"),
    ("list_is_cut", "cam", "not_imported", "device", "", "Device"),
]  # fmt: skip


@pytest.fixture
def world(sandbox, client, room_id, camera):
    with ExitStack() as doors:
        yield World(sandbox, client, room_id, camera, doors)


def failed(report):
    """The stages that are marked as failed."""
    return [stage.name for stage in report.stages if stage.outcome == "failed"]


@pytest.mark.parametrize(
    ("steps", "asked", "verdict", "stages", "words", "calls"),
    [pytest.param(*row, id=f"{row[0]} -> {row[1]}") for row in SITUATIONS],
)
def test_a_situation_has_its_verdict_and_an_advice_that_runs(
    world, steps, asked, verdict, stages, words, calls
):
    """The verdict, the stages that fail, and words; no password shows, and the calls of the advice
    run as they are pasted."""
    for step in steps.split():
        getattr(world, step)()
    report = world.ask(asked)
    assert (report.verdict, report.ok) == (verdict, verdict == "ok"), str(report)
    assert " ".join(name for name in failed(report) if name in OURS) == stages
    assert bool(failed(report)) == (not report.ok)
    assert re.search(words, f"{report.cause} {report.advice}"), str(report)
    assert report.cause[:1].isupper()
    assert len(report.advice) > 20
    shown = f"{report!r}{report}"
    assert not any(secret in shown for secret in ("geheim", "new-one", "***@"))
    assert pasted(report.advice, world.client, world.answers) == calls.split(), report.advice


@pytest.mark.parametrize(
    ("endpoint", "stage", "how"),
    [
        (A3, "room", {"ret": 805}),
        (B3, "device", {"drop": True}),
        (A6, "users", {"body": "<html>"}),
    ],
)
def test_a_service_that_fails_is_never_an_empty_room(world, endpoint, stage, how):
    """An error of the service is the verdict, at its stage, with its own text and next step."""
    world.cam()
    world.sandbox.fault(endpoint.path, **how)
    report = world.ask("cam")
    assert (report.verdict, failed(report)) == ("service_error", [stage])
    assert report.stages[-1].name == stage
    assert endpoint.key in report.cause or world.sandbox.outgoing_url in report.cause
    assert len(report.advice) > 20


def test_an_error_has_a_cause_and_a_next_step(sandbox, room_id):
    """No answer at all is a report too; where an error does not say its next step, the report has
    one all the same."""
    nowhere = ck.Client("http://127.0.0.1:9", "http://127.0.0.1:9", "a", "s", sleep=lambda _: None)
    client = sandbox.connect()
    client.token()
    sandbox.advance(4000)  # its token expires
    sandbox.fault("/rtc/auth/valid", ret=401)
    off, refused = (ck.diagnose_device(caller, room_id) for caller in (nowhere, client))
    assert off.verdict == refused.verdict == "service_error"
    assert off.cause.startswith("The service could not be reached: http://127.0.0.1:9/")
    assert off.cause.endswith("connection refused.")
    assert off.advice.startswith("Check that the service is running ")
    assert "A1" in refused.cause
    assert len(refused.advice) > 20


def test_what_a_stage_says(world):
    """The words of the service, what is missed, and why the camera was left out; it is not dialled
    while the service plays it, and with force its own stages follow."""
    details = [stage.detail for stage in world.ask("cam").stages]
    assert details[0] == "open (the service says 'scheduled')"
    assert "no address is known" in details[4]
    world.door()
    world.cam()
    knocks = world.guard.knocks
    left_out = world.ask("cam").stages[-1]
    assert (left_out.name, left_out.outcome) == ("camera", "skipped")
    assert "one connection" in left_out.detail
    assert world.guard.knocks == knocks
    names = [stage.name for stage in world.ask("cam force").stages]
    assert names[:5] == ["room", "device", "users", "listed address", "address"]
    assert (names[-1], len(set(names))) == ("picture", len(names))
    world.unseen()
    report = world.ask("")
    assert report.stages[2].detail == "0 in the room; not among them: 'cam'"
    assert "device 'cam'" in report.subject


@pytest.mark.parametrize("sandbox", ["127.0.0.1"], indirect=True)
def test_a_device_may_be_named_by_its_address_alone(world):
    """An address finds the device in B3, with a login in it or the host in capitals, too."""
    named = world.url.replace("127.0.0.1", "localhost")
    world.cam()
    world.bring("cam-2", "Door", named, **LOGIN)
    for address, user_id in {
        world.url: "cam",
        world.url.replace("rtsp://", "rtsp://admin:x@"): "cam",
        named: "cam-2",
        named.replace("localhost", "LOCALHOST"): "cam-2",
    }.items():
        report = ck.diagnose_device(world.client, world.room_id, user_address=address)
        assert (report.ok, f"device '{user_id}'" in report.subject) == (True, True)


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


def test_the_line_to_run_is_quoted_for_a_shell(sandbox, client, room_id):
    """A path or a name with odd letters comes as one word each."""
    url = sandbox.camera("cam?channel=1&subtype=0", **SMALL)
    report = ck.diagnose_device(client, room_id, "cam", url, login_name="it's me; rm")
    words = shlex.split(report.advice.partition("own host: ")[2])
    assert words == ["confkit", "preflight", url, "--login-name", "it's me; rm"]


# What a service lists that the sandbox does not


def listing(url, **options):
    """The answers of a service that lists a device of room 1, in which nobody is."""
    item = {"roomId": "1", "userId": "cam", "userAddress": url, "options": options}
    return {
        A3.path: {"ret": 0, "room_id": "1", "room_status": 1},
        A5.path: {"ret": 0, "addr": "127.0.0.1:1"},
        A6.path: {"ret": 0, "user_list": []},
        B3.path: {"ret": 0, "data": {"items": [item]}},
    }


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


@pytest.mark.parametrize("url", ["sip://alice@192.0.2.7:5060", "h323://alice:geheim@h/yard"])
def test_a_terminal_that_is_listed_and_away_gets_an_advice_that_ends(script, url):
    """Only the service can dial it: what is to be checked is said, and nothing is to be pasted."""
    report = ck.diagnose_device(script(listing(url)).client(), "1", "cam")
    assert (report.verdict, failed(report)) == ("not_joined", ["users"])
    assert "Only the service can dial" in report.cause
    assert "Check that the device is on" in report.advice
    assert "ck." not in report.advice
    assert "geheim" not in str(report)


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
    answers = listing(url, login_name=name, login_password=password)
    answers[B1.path] = {"ret": 426, "err": f"no login {json.dumps(password)}"}
    client = script(answers).client()
    report = ck.diagnose_device(client, "1", "cam")
    assert report.verdict == verdict
    [listed] = ck.list_devices(client, "1")
    with pytest.raises(ck.JoinFailed) as raised:
        ck.import_device(client, listed, user_name="Door")
    shown = [report, listed, listed.login_password, raised.value, client.calls]
    assert "2468.5" not in f"{shown!r} {report}"
    # A word of the language is no secret.
    assert ("no login false" in str(raised.value)) == (password is False)
