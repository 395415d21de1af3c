"""Many removals, and strays: nothing is removed that was not named, and no room is gone unread."""

import pytest

import confkit as ck
from tests.scripted import A3, A6, B2, B3, Reply, listed
from tests.ways import TOKEN

from .conftest import SMALL, table_of

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
