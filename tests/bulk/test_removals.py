"""Many removals, and strays: nothing is removed that was not named, and no room is gone unread."""

import pytest

import confkit as ck
from tests.scripted import GET_ROOM, Reply
from tests.ways import TOKEN

from . import EMPTY, IMPORTED, LIST, REMOVE, SMALL, USERS, table_of, types

SECRET = "1NSIDE"
TYPES = {name: kind for name, kind in IMPORTED.items() if name != "verdict"}
NAMES = ("room_id", "user_id", "user_name", "user_address", "reason", "cause")
STRAY_TYPES = {**dict.fromkeys(NAMES, "string"), "reason": "category"}
SEVERAL = [ck.Device("1", f"cam{i}", "Door", f"rtsp://192.0.2.{i}/s") for i in range(5)]


@pytest.fixture
def devices(client, sandbox, room_id):
    """Three cameras in a room, their logins in their addresses."""
    login = {"login_name": "admin", "login_password": SECRET}
    for i in range(3):
        url = sandbox.camera(**login, **SMALL).replace("rtsp://", f"rtsp://admin:{SECRET}@")
        ck.import_device(client, room_id, f"cam{i}", f"Door {i}", url)
    return ck.list_devices(client)


def test_each_device_has_a_row_with_its_outcome(client, devices):
    result = ck.remove_devices(client, devices)
    assert types(result) == TYPES == types(ck.remove_devices(client, []))
    assert list(result.outcome) == ["removed"] * 3
    assert list(result.row) == [1, 2, 3]
    assert SECRET not in result.to_csv()
    assert ck.list_devices(client) == []
    again = ck.remove_devices(client, devices[0])
    assert list(again.outcome) == ["not there"]
    assert "425" in again.cause[0]


@pytest.mark.parametrize("secrets", [True, False])
def test_a_frame_or_its_file_names_devices_too(client, sandbox, devices, tmp_path, secrets):
    """One call of B3 completes masked addresses, but never with another device's."""
    frame = ck.devices_frame(devices, secrets=secrets).assign(user_name=[101, 102, 103])
    frame.loc[0, "user_address"] = "rtsp://admin:***@192.0.2.9/s"
    before = sandbox.count(LIST)
    result = ck.remove_devices(client, frame.head(2))
    assert list(result.outcome) == ["not there", "removed"]
    assert result.user_name[0] == "101"
    assert sandbox.count(LIST) - before == 1
    path = tmp_path / "devices.csv"
    frame[["room_id", "user_id"]].to_csv(path, index=False)
    result = ck.remove_devices(client, str(path))
    assert list(result.row) == [2, 3, 4]
    assert list(result.outcome) == ["removed", "not there", "removed"]


@pytest.mark.parametrize(
    ("faults", "outcomes", "first"),
    [
        ([{"ret": 303}, {"drop": True}], ["failed", "unknown", "removed"], "303"),
        # after a code that leaves it open, B3 decides
        ([{"ret": 700}, {"ret": 700, "after": True}], ["failed", "removed", "removed"], "700"),
    ],
)
def test_a_failure_does_not_end_the_removals(client, sandbox, devices, faults, outcomes, first):
    for fault in faults:
        sandbox.fault(REMOVE, **fault, times=1)
    result = ck.remove_devices(client, devices)
    assert list(result.outcome) == outcomes
    assert first in result.cause[0]
    assert result.advice[0]
    assert len(ck.list_devices(client)) == 3 - outcomes.count("removed")


@pytest.mark.parametrize(
    ("answers", "first", "cause"),
    [
        ({REMOVE: Reply(drop=True), LIST: Reply(drop=True)}, "unknown", "closed the connection"),
        ({REMOVE: {"ret": 602}}, "not tried", "602"),
    ],
)
def test_a_service_that_is_gone_ends_the_removals(script, answers, first, cause):
    """The rows of the rest say why, and what to do."""
    service = script(answers)
    client = service.client()
    client._token.value = TOKEN
    result = ck.remove_devices(client, SEVERAL)
    assert list(result.outcome) == [first, *["not tried"] * 4]
    assert all(cause in text for text in result.cause[1:])
    assert all("Call again" in text for text in result.advice[1:])
    assert service.seen[REMOVE] <= 2  # a refused token is renewed once


def test_an_interrupt_gives_the_removals_so_far(script):
    client = script({REMOVE: {"ret": 0}}).client()

    def interrupt(response, *_, **__):
        if "cam1" in response.url:
            raise KeyboardInterrupt

    client.session.hooks["response"].append(interrupt)
    result = ck.remove_devices(client, SEVERAL[:3])
    assert list(result.outcome) == ["removed", "unknown", "not tried"]
    assert "ck.list_devices(client, '1')" in result.advice[1]
    assert "interrupted" in result.cause[2]


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
    assert undone.advice[1].endswith(f"ck.remove_device(client, '{room_id}', 'cam1')")
    assert list(ck.remove_devices(client, undone).outcome) == [*left, "not there", *left[:2]]
    assert len(ck.list_devices(client)) == 3


def test_wrong_arguments_remove_nothing(script):
    """A row with an unrecognised outcome is left alone."""
    service = script({LIST: EMPTY})
    client = service.client()
    frame = ck.devices_frame(SEVERAL, secrets=True)
    for table in (frame.assign(user_id=""), frame.drop(columns="room_id")):
        with pytest.raises(ck.TableError):
            ck.remove_devices(client, table)
    with pytest.raises(TypeError, match="Device records"):
        ck.remove_devices(client, ["cam0"])
    result = ck.remove_devices(client, frame.assign(outcome="done"))
    assert list(result.outcome) == ["left alone"] * 5
    assert "'done'" in result.cause[0]
    with pytest.raises(ck.ReadOnlyError):
        ck.remove_devices(service.client(read_only=True), SEVERAL)
    assert not service.requests


def test_an_address_in_place_of_an_id_shows_no_password(script):
    url = f"rtsp://admin:{SECRET}@192.0.2.7/s"
    client = script({REMOVE: {"ret": 425}}).client()
    result = ck.remove_devices(client, ck.Device("1", url, url, url))
    assert list(result.outcome) == ["not there"]
    assert SECRET not in result.to_csv()


# Room 1 is open, 2 closed, 3 gone, 4 unreadable, and 5 is gone when its users are read.
ITEMS = [
    {
        "roomId": room_id,
        "userId": user_id,
        "userName": "D",
        "userAddress": f"rtsp://admin:{SECRET}@192.0.2.7/{user_id}",
    }
    for room_id, user_id in zip(
        "1142352", ["seen", "lost", "riddle", "shut", "orphan", "late", "shut2"], strict=True
    )
]
OPEN, PEOPLE = {"ret": 0, "room_status": 1}, [{"user_id": "seen"}, {"user_id": "ada"}]
ROOMS = {"1": OPEN, "2": {**OPEN, "room_status": 3}, "3": {"ret": 404}, "5": OPEN}
USERS_OF = {"5": {"ret": 404}}


@pytest.fixture
def service(script):
    return script(
        {
            LIST: {"ret": 0, "data": {"total": len(ITEMS), "items": ITEMS}},
            GET_ROOM: lambda query: ROOMS.get(query["room_id"], {"ret": 700}),
            USERS: lambda query: USERS_OF.get(query["room_id"], {"ret": 0, "user_list": PEOPLE}),
            REMOVE: {"ret": 0},
        }
    )


def rooms_read(service):
    return {query["room_id"] for _, path, query in service.requests if GET_ROOM + "?" in path}


def test_strays_have_a_reason_and_only_certain_ones_are_removed(service):
    """A room that could not be read is neither closed nor gone. The frame can be removed."""
    client = service.client()
    frame = ck.stray_devices(client)
    assert types(frame) == STRAY_TYPES
    assert list(zip(frame.room_id, frame.user_id, frame.reason, strict=True)) == [
        ("1", "lost", "not among the users"),
        ("4", "riddle", "not known"),
        ("2", "shut", "room closed"),
        ("2", "shut2", "room closed"),
        ("3", "orphan", "room gone"),
        ("5", "late", "room gone"),
    ]
    assert "700" in frame.cause[1]
    assert SECRET not in frame.to_csv()
    assert (service.seen[LIST], service.seen[USERS]) == (1, 2)  # a closed room has no users
    result = ck.remove_devices(client, frame)
    assert list(result.outcome) == ["removed", "left alone", *["removed"] * 4]
    sent = [query["userAddress"] for _, path, query in service.requests if REMOVE in path]
    assert [SECRET in address for address in sent] == [True] * 5


def test_strays_of_some_rooms_only(service):
    client = service.client()
    assert list(ck.stray_devices(client, ["2", "1", "9"]).user_id) == ["shut", "shut2", "lost"]
    assert list(ck.stray_devices(client, "3").user_id) == ["orphan"]
    assert types(ck.stray_devices(client, [])) == STRAY_TYPES
    assert rooms_read(service) == {"1", "2", "3"}
    with pytest.raises(ck.ParameterError):
        ck.stray_devices(client, [1.5])


@pytest.mark.parametrize(
    ("path", "reply"),
    [(GET_ROOM, Reply(drop=True)), (USERS, Reply(drop=True)), (GET_ROOM, {"ret": 602})],
)
def test_a_service_that_is_gone_ends_the_search_for_strays(service, path, reply):
    """The devices of the remaining rooms are not known; a list that fails is raised."""
    service.script[path] = reply
    client = service.client()
    client._token.value = TOKEN
    frame = ck.stray_devices(client)
    assert list(frame.reason) == ["not known"] * len(ITEMS)
    assert len(set(frame.cause)) == 1
    assert rooms_read(service) == {"1"}
    service.script[LIST] = {"ret": 304}
    with pytest.raises(ck.ConfkitError):
        ck.stray_devices(client)
