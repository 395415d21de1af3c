"""Many imports: none twice, none half known, and a row for each camera."""

import re
import socket
import threading

import pytest

import confkit as ck
from tests.ports import HERE, quiet_port
from tests.scripted import B1, B3, listed

from .conftest import LOGIN, SMALL, table_of

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
