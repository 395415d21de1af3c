"""Many imports: none twice, none half known, and a row for each camera. Many removals, and strays:
nothing is removed that was not named, and no room is gone unread."""

import re
import socket
import threading

import pandas as pd
import pytest

import confkit as ck
from tests.ports import HERE, quiet_port
from tests.rtsp.scripted import DIGEST, instead, scripted, wanting
from tests.scripted import A3, A6, B1, B2, B3, Reply, listed
from tests.ways import TOKEN

LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded


def table_of(room_id, urls):
    """A table of cameras cam0, cam1, ... in a room, with the login of all of them."""
    rows = [
        {"room_id": room_id, "user_id": f"cam{i}", "user_name": f"Door {i}", "user_address": url}
        for i, url in enumerate(urls)
    ]
    return pd.DataFrame(rows).assign(**LOGIN)


@pytest.fixture
def room_id(client):
    return ck.create_room(client, "Weekly sync", "ops")


@pytest.fixture
def table(sandbox, room_id):
    """Three cameras that want a login, for one room."""
    return table_of(room_id, [sandbox.camera(**LOGIN, **SMALL) for _ in range(3)])


PASS = {"delay": 0}  # a fault that changes nothing
NO_USERS = {"body": '{"ret": 0, "user_list": []}'}
LOST, LATER_LOST = {"drop": True}, {"drop": True, "after": True}


def users_of(client):
    return sorted(device.user_id for device in ck.list_devices(client))


def test_what_makes_no_sense_asks_nothing(script, table):
    service = script()
    assert len(ck.import_devices(service.client(), table.head(0))) == 0
    with pytest.raises(ck.ReadOnlyError):
        ck.import_devices(service.client(read_only=True), "nowhere.csv")
    assert service.requests == []
    with pytest.raises(ck.ServiceUnavailable):  # what is there already is not known then
        ck.import_devices(script({B3: {"ret": 304}}).client(), table)


def test_what_is_there_is_left_alone_and_a_dry_run_changes_nothing(client, sandbox, table):
    """A read-only client may make a dry run, which tries the cameras only if that is asked for."""
    ck.import_devices(client, table.head(1))
    table.loc[2, "login_password"] = "wrong"
    with sandbox.connect(read_only=True) as reader:
        dry = ck.import_devices(reader, table, dry_run=True)
        tried = ck.import_devices(reader, table, dry_run=True, preflight=True)
    assert list(dry.outcome) == ["already there", "ready", "ready"]
    assert list(tried.outcome) == ["already there", "ready", "preflight failed"]
    assert (sandbox.count("B1"), sandbox.count("B2")) == (1, 0)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["already there", "imported", "preflight failed"]
    assert (users_of(client), sandbox.count("B1")) == (["cam0", "cam1"], 2)
    again = ck.import_devices(client, table.head(1).assign(user_id="other"))
    assert list(again.outcome) == ["already there"]  # the camera, as another user


def test_a_login_that_a_recorder_rejects_is_tried_at_one_of_its_channels(client, room_id):
    """It locks out who tries it again."""
    with scripted(wanting(instead("DESCRIBE", 401, WWW_Authenticate=DIGEST))) as recorder:
        result = ck.import_devices(client, table_of(room_id, [f"{recorder.url}{n}" for n in "123"]))
    assert list(result.verdict) == ["auth_rejected"] * 3
    assert len(recorder.logins) == 1


def test_a_file_without_passwords_gets_the_one_that_is_given(client, sandbox, table, tmp_path):
    """Cameras are tried and imported in order, and rows are those of the file."""
    table.loc[1, ["login_name", "login_password"]] = None
    table.loc[1, "user_address"] = sandbox.camera(**SMALL)
    table.loc[2, "login_password"] = ""
    table.to_csv(tmp_path / "cameras.csv", index=False)
    password = LOGIN["login_password"]
    result = ck.import_devices(
        client, tmp_path / "cameras.csv", verify=True, login_password=password
    )
    assert list(result.row) == [2, 3, 4]
    assert {*zip(result.outcome, result.verdict, strict=True)} == {("imported", "ok")}
    logins = [(device.user_id, dict(device.options)) for device in ck.list_devices(client)]
    assert logins == [("cam0", LOGIN), ("cam1", {}), ("cam2", LOGIN)]


# What the service answers: its faults in their order, the outcomes, what cause and advice of a row
# say, and who is listed afterwards. The first list is asked for before anything is imported.
ANSWERS = {
    "a lost answer is looked up and never sent again": (
        [("B1", LATER_LOST, 1), ("B1", LOST, 1)],
        ["imported", "unknown", "imported"], {1: "list_devices"}, "02"),
    "after a code that leaves it open the list decides": (
        [("B1", {"ret": 700, "after": True}, 1), ("B1", {"ret": 700}, 1)],
        ["imported", "refused", "imported"], {1: "700"}, "02"),
    "a service that is gone ends the run": (
        [("B3", PASS, 1), ("B3", LOST, None), ("B1", LOST, None)],
        ["unknown", "not tried", "not tried"], {2: "closed the connection.*same table"}, ""),
    "what is not seen among the users afterwards says so": (
        [("A6", NO_USERS, None)], ["not seen"] * 3, {0: "A6"}, "012"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_what_the_service_answers_decides_on_a_device(client, sandbox, table, name):
    """None is requested twice. Its result undoes the import, and nothing else is removed."""
    faults, outcomes, texts, there = ANSWERS[name]
    for key, how, times in faults:
        sandbox.fault(key, **how, times=times)
    verify = {"verify": "not seen" in outcomes, "patience": 0.1}
    result = ck.import_devices(client, table, preflight=False, **verify)
    assert list(result.outcome) == outcomes
    for row, pattern in texts.items():
        assert re.search(pattern, f"{result.cause[row]} {result.advice[row]}")
        assert result.advice[row]
    sent = [call.fields["userId"] for call in client.calls if call.endpoint == "B1"]
    assert len(sent) == len(set(sent)) == 3 - outcomes.count("not tried")
    sandbox.clear_faults()
    assert users_of(client) == [f"cam{at}" for at in there]
    undone = ck.remove_devices(client, result)
    perhaps = result.outcome.isin(["imported", "not seen", "unknown"])
    assert list(undone.outcome == "left alone") == list(~perhaps)
    assert users_of(client) == []


def test_an_interrupt_between_imports_gives_what_is_done(client, table):
    """The next call imports the rest, which the result of the first does not remove again."""

    def progress(done, total):
        if done == 4:
            raise KeyboardInterrupt

    result = ck.import_devices(client, table, progress=progress)
    assert list(result.outcome) == ["imported", "not tried", "not tried"]
    assert "interrupted" in result.cause[2]
    assert users_of(client) == ["cam0"]
    ck.import_devices(client, table)
    ck.remove_devices(client, result)
    assert users_of(client) == ["cam1", "cam2"]


def test_an_interrupt_waits_for_no_camera(script):
    """It ends the running preflights and leaves no thread."""

    def progress(done, total):
        raise KeyboardInterrupt

    service = script({B3: listed()})
    with socket.create_server(("127.0.0.2", 0)) as silent:
        port = silent.getsockname()[1]
        table = table_of("1", [f"rtsp://127.0.0.2:{port}/x", f"rtsp://{HERE}:{quiet_port()}/x"])
        result = ck.import_devices(service.client(), table, timeout=300, progress=progress)
    assert list(result.outcome) == ["not tried", "preflight failed"]
    assert result.cause[0] == "The call was interrupted."
    assert service.seen[B1] == 0
    assert not [it.name for it in threading.enumerate() if "ThreadPool" in it.name]


SECRET = "1NSIDE"
SEVERAL = [ck.Device("1", f"cam{i}", "Door", f"rtsp://192.0.2.{i}/s") for i in range(5)]


@pytest.fixture
def devices(client, sandbox, room_id):
    """Three cameras in a room, their logins in their addresses."""
    login = {"login_name": "admin", "login_password": SECRET}
    for i in range(3):
        url = sandbox.camera(**login, **SMALL).replace("rtsp://", f"rtsp://admin:{SECRET}@")
        ck.import_device(client, room_id, f"cam{i}", f"Door {i}", url)
    return ck.list_devices(client)


def test_a_frame_or_its_file_names_devices_too(client, devices, tmp_path):
    """B3 completes masked addresses, but never with another device's."""
    frame = ck.devices_frame(devices)
    frame.loc[0, "user_address"] = "rtsp://admin:***@192.0.2.9/s"
    result = ck.remove_devices(client, frame.head(2))
    assert list(result.outcome) == ["not there", "removed"]
    path = tmp_path / "devices.csv"
    frame[["room_id", "user_id"]].to_csv(path, index=False)
    result = ck.remove_devices(client, str(path))
    assert list(result.row) == [2, 3, 4]
    assert list(result.outcome) == ["removed", "not there", "removed"]


def test_a_failure_does_not_end_the_removals(client, sandbox, devices):
    """After a code that leaves it open, B3 decides."""
    for fault in ({"ret": 303}, {"drop": True}, {"ret": 700, "after": True}):
        sandbox.fault("B2", **fault, times=1)
    result = ck.remove_devices(client, devices)
    assert list(result.outcome) == ["failed", "unknown", "removed"]
    assert SECRET not in result.to_csv()
    assert result.advice[0]
    assert len(ck.list_devices(client)) == 2


def test_a_service_that_is_gone_ends_the_removals(script):
    """The rows of the rest say why, and what to do; a refused token is renewed once."""
    service = script({B2: {"ret": 602}})
    client = service.client()
    client._token.value = TOKEN
    result = ck.remove_devices(client, SEVERAL)
    assert list(result.outcome) == ["not tried"] * 5
    assert all("602" in text for text in result.cause)
    assert all("Call again" in text for text in result.advice)
    assert service.seen[B2] <= 2


def test_the_result_of_an_import_undoes_it_and_no_more(client, sandbox, devices, room_id, tmp_path):
    """Devices that were there before are left alone, and so is another user of a user ID."""
    sandbox.join(room_id, "Ada", user_id="ada")
    cameras = [sandbox.camera(**SMALL), sandbox.camera(**SMALL), sandbox.camera(fault="wrong_path")]
    table = table_of(room_id, [*(device.user_address for device in devices), *cameras])
    table = table.drop(columns=["login_name", "login_password"])
    table.loc[4, "user_id"] = "ada"
    result = ck.import_devices(client, table)
    there, left = ["already there"] * 3, ["left alone"] * 3
    assert list(result.outcome) == [*there, "imported", "refused", "preflight failed"]
    result.to_csv(tmp_path / "result.csv")
    undone = ck.remove_devices(client, tmp_path / "result.csv")
    assert list(undone.outcome) == [*left, "removed", *left[:2]]
    assert len(ck.list_devices(client)) == 3


def test_wrong_arguments_remove_nothing(script):
    service = script()
    client = service.client()
    frame = ck.devices_frame(SEVERAL, secrets=True)
    with pytest.raises(ck.TableError):
        ck.remove_devices(client, frame.assign(user_id=""))
    result = ck.remove_devices(client, frame.assign(outcome="done"))
    assert list(result.outcome) == ["left alone"] * 5
    with pytest.raises(ck.ReadOnlyError):
        ck.remove_devices(service.client(read_only=True), SEVERAL)
    assert not service.requests


# Room 1 is open, 2 closed, 3 gone, 4 unreadable, and 5 is gone when its users are read.
DEVICES = ["1 seen", "1 lost", "4 riddle", "2 shut", "3 orphan", "5 late"]
ITEMS = [
    {"roomId": room_id, "userId": user_id, "userName": "D"}
    | {"userAddress": f"rtsp://admin:{SECRET}@192.0.2.7/{user_id}"}
    for room_id, user_id in map(str.split, DEVICES)
]
OPEN, PEOPLE = {"ret": 0, "room_status": 1}, [{"user_id": "seen"}, {"user_id": "ada"}]
ROOMS = {"1": OPEN, "2": {**OPEN, "room_status": 3}, "3": {"ret": 404}, "5": OPEN}
USERS_OF = {"5": {"ret": 404}}


@pytest.fixture
def service(script):
    return script(
        {
            B3: listed(*ITEMS),
            A3: lambda query: ROOMS.get(query["room_id"], {"ret": 700}),
            A6: lambda query: USERS_OF.get(query["room_id"], {"ret": 0, "user_list": PEOPLE}),
            B2: {"ret": 0},
        }
    )


def test_strays_have_a_reason_and_only_certain_ones_are_removed(service):
    """A room that could not be read is neither closed nor gone. The frame can be removed."""
    client = service.client()
    frame = ck.stray_devices(client)
    assert list(zip(frame.room_id, frame.user_id, frame.reason, strict=True)) == [
        ("1", "lost", "not among the users"),
        ("4", "riddle", "not known"),
        ("2", "shut", "room closed"),
        ("3", "orphan", "room gone"),
        ("5", "late", "room gone"),
    ]
    assert "700" in frame.cause[1]
    assert list(ck.stray_devices(client, "2").user_id) == ["shut"]
    assert SECRET not in frame.to_csv()
    result = ck.remove_devices(client, frame)
    assert list(result.outcome) == ["removed", "left alone", *["removed"] * 3]
    sent = [query["userAddress"] for _, path, query in service.requests if B2 in path]
    assert [SECRET in address for address in sent] == [True] * 4


@pytest.mark.parametrize("path", [A3, A6])
def test_a_service_that_is_gone_ends_the_search_for_strays(service, path):
    """The devices of the remaining rooms are not known."""
    service.script[path] = Reply(drop=True)
    client = service.client()
    assert list(ck.stray_devices(client).reason) == ["not known"] * len(ITEMS)
    rooms = {query["room_id"] for _, path, query in service.requests if A3 + "?" in path}
    assert rooms == {"1"}
