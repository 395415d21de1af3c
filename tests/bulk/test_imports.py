"""Many imports: none twice, none half known, and a row for each camera."""

import re
import socketserver
import threading
from collections import Counter
from contextlib import contextmanager, suppress

import pandas as pd
import pytest

import confkit as ck
from confkit.bulk.devices import IMPORTS
from tests.diagnosis import pasted

from . import EMPTY, IMPORT, IMPORTED, LIST, LOGIN, REMOVE, SMALL, USERS, table_of, types

PASS = {"delay": 0}  # a fault that changes nothing
NO_USERS = {"body": '{"ret": 0, "user_list": []}'}
CUT_SHORT = {"body": '{"ret": 0, "data": {"total": 3, "items": []}}'}
LOST, LATER_LOST = {"drop": True}, {"drop": True, "after": True}
ALL = ["imported"] * 3


def listed(client):
    return sorted(device.user_id for device in ck.list_devices(client))


@contextmanager
def no_thread_left():
    before = set(threading.enumerate())
    yield
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert [name for name in left if "confkit" in name or "ThreadPool" in name] == []


def test_cameras_are_tried_and_imported_in_order(client, table, tmp_path):
    path = tmp_path / "cameras.csv"
    table.to_csv(path, index=False)
    with no_thread_left():
        result = ck.import_devices(client, path, verify=True)
    assert [*types(result).items()] == [*IMPORTED.items()]
    assert list(result.row) == [2, 3, 4]
    assert list(result.outcome) == ALL
    assert list(result.verdict) == ["ok"] * 3
    assert set(result.cause) | set(result.advice) == {""}
    assert (result.seconds > 0).all()
    sent = [device.user_id for device in ck.list_devices(client)]
    assert sent == list(result.user_id) == ["cam0", "cam1", "cam2"]
    assert {user.user_id for user in ck.get_room_users(client, table.room_id[0])} == set(sent)


def test_what_makes_no_sense_asks_nothing(script, table):
    """A read-only client reads not even the file; if B3 cannot be read, nothing is imported."""
    service = script()
    result = ck.import_devices(service.client(), table.head(0))
    assert (types(result), len(result)) == (IMPORTED, 0)
    assert list(result.outcome.cat.categories) == list(IMPORTS)
    for dry_run in (False, True):
        with pytest.raises(ck.TableError, match="user_id"):
            ck.import_devices(service.client(), table.assign(user_id="twice"), dry_run=dry_run)
    for option in ("threads", "timeout"):
        with pytest.raises(ValueError, match=option):
            ck.import_devices(service.client(), table, **{option: 0})
    with pytest.raises(ck.ReadOnlyError):
        ck.import_devices(service.client(read_only=True), "nowhere.csv")
    assert service.requests == []
    with pytest.raises(ck.ServiceUnavailable):  # what is there already is not known then
        ck.import_devices(script({LIST: {"ret": 304}}).client(), table)


def test_what_is_there_is_left_alone_and_a_dry_run_changes_nothing(client, sandbox, table):
    """A read-only client may make a dry run, which tries the cameras only if that is asked for."""
    ck.import_devices(client, table.head(1))
    table.loc[2, "login_password"] = "wrong"
    sip = table.head(1).assign(user_id="phone", user_address="sip://192.0.2.9:5060/x")
    table = pd.concat([table, sip])
    verdicts = ["skipped", "ok", "auth_rejected", "skipped"]
    with sandbox.connect(read_only=True) as reader:
        dry = ck.import_devices(reader, table, dry_run=True)
        tried = ck.import_devices(reader, table, dry_run=True, preflight=True)
    assert list(dry.outcome) == ["already there", *["ready"] * 3]
    assert set(dry.verdict) == {"skipped"}
    assert set(dry.cause[1:]) == {"Only the table was checked, not the camera."}
    assert list(tried.outcome) == ["already there", "ready", "preflight failed", "ready"]
    assert list(tried.cause[:2]) == ["", ""]
    assert tried.cause[3] == dry.cause[3]
    assert (sandbox.count(IMPORT), sandbox.count(REMOVE)) == (1, 0)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["already there", "imported", "preflight failed", "refused"]
    assert list(result.verdict) == list(tried.verdict) == verdicts
    assert result.cause[2]
    assert result.advice[2]
    assert "Check that the device is on" in result.advice[3]
    assert (listed(client), sandbox.count(IMPORT)) == (["cam0", "cam1"], 3)


def test_a_camera_or_a_user_id_that_is_taken(client, sandbox, table):
    """A camera that is there as another user is there. The call of the advice runs."""
    ck.import_devices(client, table.head(1), preflight=False)
    result = ck.import_devices(client, table.head(1).assign(user_id="other"), preflight=False)
    assert (list(result.outcome), sandbox.count(IMPORT)) == (["already there"], 1)
    assert "'cam0'" in result.cause[0]
    sandbox.join(table.room_id[0], "Ada", user_id="ada")
    taken = table.tail(2).assign(user_id=["ada", "cam0"])
    result = ck.import_devices(client, taken, preflight=False)
    assert list(result.outcome) == ["refused"] * 2
    assert all("423" in cause for cause in result.cause)
    sandbox.fault(IMPORT, ret=426, times=1)
    result = ck.import_devices(client, table.tail(1), preflight=False)
    answers = {"Password: ": LOGIN["login_password"]}
    assert pasted(result.advice[0], client, answers) == ["not_imported"]


def test_a_file_without_passwords_gets_the_one_that_is_given(client, sandbox, table):
    table.loc[1, ["login_name", "login_password"]] = None
    table.loc[1, "user_address"] = sandbox.camera(**SMALL)
    table.loc[2, "login_password"] = ""
    result = ck.import_devices(client, table.head(2), login_password="wrong")
    assert list(result.outcome) == ["imported", "imported"]
    result = ck.import_devices(client, table.tail(1), login_password=LOGIN["login_password"])
    assert list(result.outcome) == ["imported"]
    assert LOGIN["login_password"] not in result.to_csv()
    logins = {device.user_id: dict(device.options) for device in ck.list_devices(client)}
    assert logins == {"cam0": LOGIN, "cam1": {}, "cam2": LOGIN}


# What the service answers: its faults in their order, the outcomes, what cause and advice of a row
# say, and who is listed afterwards. The first list is asked for before anything is imported.
ANSWERS = {
    "a lost answer is looked up and never sent again": (
        [(IMPORT, LATER_LOST, 1), (IMPORT, LOST, 1)],
        ["imported", "unknown", "imported"], {1: "list_devices"}, "02"),
    "after a code that leaves it open the list decides": (
        [(IMPORT, {"ret": 700, "after": True}, 1), (IMPORT, {"ret": 700}, 1)],
        ["imported", "refused", "imported"], {1: "700"}, "02"),
    "a service that is gone ends the run": (
        [(LIST, PASS, 1), (LIST, LOST, None), (IMPORT, LOST, None)],
        ["unknown", "not tried", "not tried"], {2: "closed the connection.*same table"}, ""),
    "a list that is cut short is asked for by room": ([(LIST, CUT_SHORT, 1)], ALL, {}, "012"),
    "a user ID that exists is refused": (
        [(IMPORT, {"ret": 423}, 1)], ["refused", "imported", "imported"], {0: "423"}, "12"),
    "a camera that was late may be there where nobody can look": (
        [(LIST, PASS, 1), (LIST, {"ret": 700}, 1), (IMPORT, {"ret": 427, "after": True}, 1)],
        ["unknown", "imported", "imported"], {0: "427"}, "012"),
    "what is not seen among the users afterwards says so": (
        [(USERS, NO_USERS, None)], ["not seen"] * 3, {0: "A6"}, "012"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_what_the_service_answers_decides_on_a_device(client, sandbox, table, name):
    """None is requested twice. Its result undoes the import, and nothing else is removed."""
    faults, outcomes, texts, there = ANSWERS[name]
    for path, how, times in faults:
        sandbox.fault(path, **how, times=times)
    verify = {"verify": USERS in dict.fromkeys(path for path, _, _ in faults), "patience": 0.1}
    result = ck.import_devices(client, table, preflight=False, **verify)
    assert list(result.outcome) == outcomes
    for row, pattern in texts.items():
        assert re.search(pattern, f"{result.cause[row]} {result.advice[row]}")
        assert result.advice[row]
    sent = [call.fields["userId"] for call in client.calls if call.endpoint == "B1"]
    assert len(sent) == len(set(sent)) == 3 - outcomes.count("not tried")
    sandbox.clear_faults()
    assert listed(client) == [f"cam{at}" for at in there]
    undone = ck.remove_devices(client, result)
    perhaps = result.outcome.isin(["imported", "not seen", "unknown"])
    assert list(undone.outcome == "left alone") == list(~perhaps)
    assert listed(client) == []


@pytest.mark.parametrize("how", ["interrupted", "cancelled"])
def test_an_interrupt_between_imports_gives_what_is_done(client, table, how):
    """The next call imports the rest, which the result of the first does not remove again."""
    cancelled = threading.Event()

    def progress(done, total):
        if done == 4 and how == "cancelled":
            cancelled.set()
        elif done == 4:
            raise KeyboardInterrupt

    result = ck.import_devices(client, table, progress=progress, cancelled=cancelled)
    assert list(result.outcome) == ["imported", "not tried", "not tried"]
    assert list(result.verdict) == ["ok"] * 3
    assert how in result.cause[2]
    assert listed(client) == ["cam0"]
    rest = ck.import_devices(client, table)
    assert list(rest.outcome) == ["already there", "imported", "imported"]
    undone = ck.remove_devices(client, result)
    assert list(undone.outcome) == ["removed", "left alone", "left alone"]
    assert listed(client) == ["cam1", "cam2"]


class Recorder(socketserver.ThreadingTCPServer):
    """A host of cameras without a stream, at every address of the loopback: it answers 404 after
    some seconds. `most` is the most requests at a time, by address and, under None, of all."""

    daemon_threads, block_on_close, request_queue_size = True, False, 100

    def __init__(self, seconds):
        super().__init__(("", 0), None)
        self.now, self.most = Counter(), Counter()
        self.over, self.lock, self.seconds = threading.Event(), threading.Lock(), seconds
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def finish_request(self, connection, _):
        host = connection.getsockname()[0]
        with suppress(OSError):
            while request := re.search(rb"CSeq: *([0-9]+)", connection.recv(4096)):
                self.count(host, 1)
                self.over.wait(self.seconds)
                self.count(host, -1)  # before the answer, after which another may ask
                connection.send(b"RTSP/1.0 404 Not Found\r\nCSeq: " + request[1] + b"\r\n\r\n")

    def count(self, host, step):
        with self.lock:
            for key in (host, None):
                self.now[key] += step
                self.most[key] = max(self.most[key], self.now[key])

    def urls(self, hosts, each):
        port = self.server_address[1]
        return [f"rtsp://127.0.0.{2 + host}:{port}/{i}" for host in hosts for i in range(each)]


@pytest.fixture
def recorder():
    """Starts a Recorder: recorder(seconds until it answers)."""
    started = []
    yield lambda seconds: started.append(Recorder(seconds)) or started[-1]
    for host in started:
        host.shutdown()
        host.server_close()
        host.over.set()


def test_hosts_are_tried_side_by_side_and_each_one_camera_at_a_time(script, recorder):
    host = recorder(0.1)
    with no_thread_left():
        table = table_of("1", host.urls(range(5), each=3))
        result = ck.import_devices(script({LIST: EMPTY}).client(), table, threads=3)
    assert list(result.verdict) == ["path_not_found"] * 15
    assert host.most.pop(None) == 3
    assert set(host.most.values()) == {1}


@pytest.mark.parametrize("how", ["interrupted", "cancelled"])
def test_an_interrupt_while_cameras_are_tried_starts_no_more(script, recorder, how):
    """It ends running preflights, and leaves no thread."""
    slow, quick, service = recorder(300), recorder(0), script({LIST: EMPTY})
    cancelled = threading.Event()

    def progress(done, total):
        if how == "interrupted":
            raise KeyboardInterrupt
        cancelled.set()

    table = table_of("1", [*slow.urls(range(6), each=2), *quick.urls([9], each=1)])
    with no_thread_left():
        how_long = {"threads": 7, "timeout": 300, "progress": progress, "cancelled": cancelled}
        result = ck.import_devices(service.client(), table, **how_long)
    assert list(result.outcome) == [*["not tried"] * 12, "preflight failed"]
    assert set(result.cause[:12]) == {f"The call was {how}."}
    assert (slow.most[None] <= 6, service.seen[IMPORT]) == (True, 0)


def test_progress_is_reported(client, table, capfd):
    """A camera has two steps, its preflight and its import."""
    steps = []
    ck.import_devices(client, table, progress=lambda *step: steps.append(step))
    assert steps == [(done, 6) for done in range(1, 7)]
    assert capfd.readouterr() == ("", "")
