"""Many imports: none twice, none half known, and every camera's fate in one row."""

import gc
import re
import socket
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress

import pandas as pd
import pytest

import confkit as ck
from confkit.bulk.imports import OUTCOMES
from confkit.rtsp.report import Snapshot

from . import (
    EMPTY,
    IMPORT,
    IMPORTED,
    LIST,
    LOGIN,
    REMOVE,
    SMALL,
    USERS,
    interrupt,
    table_of,
    types,
    when,
)

PASS = {"delay": 0}  # a fault that is none
NOBODY = {"body": '{"ret": 0, "data": {"total": 0, "items": []}}'}
NO_USERS = {"body": '{"ret": 0, "user_list": []}'}
LOST, LATER_LOST = {"drop": True}, {"drop": True, "after": True}
ALL = ["imported"] * 3


def listed(client):
    return sorted(device.user_id for device in ck.list_devices(client))


@contextmanager
def no_thread_left():
    before = set(threading.enumerate())
    yield
    left = {one.name for one in set(threading.enumerate()) - before}
    assert [name for name in left if "confkit" in name or "ThreadPool" in name] == []


def test_cameras_are_tried_and_imported_in_order(client, table, tmp_path):
    """Each row of the file is a device of the room afterwards, and a row of the result."""
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
    """No rows give the same columns; a table with mistakes is refused as a whole, a dry run's too;
    no threads or no time are a ValueError; a read-only client reads not even the file."""
    service = script()
    result = ck.import_devices(service.client(), table.head(0))
    assert (types(result), len(result)) == (IMPORTED, 0)
    assert list(result.outcome.cat.categories) == list(OUTCOMES)
    for dry_run in (False, True):
        with pytest.raises(ck.TableError, match="user_id"):
            ck.import_devices(service.client(), table.assign(user_id="twice"), dry_run=dry_run)
    for option in ("threads", "timeout"):
        with pytest.raises(ValueError, match=option):
            ck.import_devices(service.client(), table, **{option: 0})
    with pytest.raises(ck.ReadOnlyError):
        ck.import_devices(service.client(read_only=True), "nowhere.csv")
    assert service.requests == []


def test_a_second_call_leaves_alone_what_is_there(client, sandbox, table):
    """It imports only what is missing, and neither asks for the rest nor tries it; a camera that is
    there as another user is there, and one whose rival came meanwhile, too. A user ID that is a
    person's or another camera's is refused."""
    ck.import_devices(client, table.head(2))
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["already there", "already there", "imported"]
    assert list(result.verdict) == ["skipped", "skipped", "ok"]
    assert sandbox.count(IMPORT) == 3
    other = {"table": table.head(1).assign(user_id="other"), "preflight": False}
    for asked in (3, 4):
        result = ck.import_devices(client, **other)
        assert (list(result.outcome), sandbox.count(IMPORT)) == (["already there"], asked)
        assert "'cam0'" in result.cause[0]
        sandbox.fault(LIST, **NOBODY, times=1)
    sandbox.clear_faults()
    sandbox.join(table.room_id[0], "Ada", user_id="ada")
    more = table.assign(user_id=["x", "ada", "cam0"])
    more.loc[1:, "user_address"] = [sandbox.camera(**SMALL) for _ in range(2)]
    result = ck.import_devices(client, more, preflight=False)
    assert list(result.outcome) == ["already there", "refused", "refused"]
    assert all("423" in cause for cause in result.cause[1:])
    assert result.advice[2]


def test_a_camera_that_does_not_play_is_not_imported(sandbox, client, table):
    """Its row has the verdict, cause and advice of the preflight; what has none is not tried, and
    the service alone says what it thinks of it. A dry run, for which even a read-only client may
    ask, says before what an import would begin with, and changes nothing."""
    ck.import_devices(client, table.head(1))
    table.loc[2, "login_password"] = "wrong"
    sip = table.head(1).assign(user_id="phone", user_address="sip://192.0.2.9:5060/x")
    table = pd.concat([table, sip])
    with sandbox.connect(read_only=True) as reader:
        dry = ck.import_devices(reader, table, dry_run=True)
    assert list(dry.outcome) == ["already there", "ready", "preflight failed", "ready"]
    assert (sandbox.count(IMPORT), sandbox.count(REMOVE)) == (1, 0)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["already there", "imported", "preflight failed", "refused"]
    assert (
        list(result.verdict) == list(dry.verdict) == ["skipped", "ok", "auth_rejected", "skipped"]
    )
    assert result.cause[2]
    assert result.advice[2]
    assert (listed(client), sandbox.count(IMPORT)) == (["cam0", "cam1"], 3)


def test_a_file_without_passwords_gets_the_one_that_is_given(client, sandbox, table):
    """It counts for rows with a name and no password, and shows nowhere."""
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
    "a code that leaves it open is unknown or refused": (
        [(IMPORT, {"ret": 700, "after": True}, 1), (IMPORT, {"ret": 700}, 1)],
        ["unknown", "refused", "imported"],
        {0: r"700.*lists 'cam0' with this address. It may have been there before", 1: "700"}, "02"),
    "a service that is gone ends the run": (
        [(LIST, PASS, 1), (LIST, LOST, 3), (IMPORT, LOST, None)],
        ["unknown", "not tried", "not tried"], {2: "closed the connection"}, ""),
    "a list that is cut short is asked for by room": (
        [(LIST, {"body": '{"ret": 0, "data": {"total": 3, "items": []}}'}, 1)], ALL, {}, "012"),
    "what exists and is nowhere to be seen may be under way": (
        [(IMPORT, {"ret": 423}, 1)],
        ["unknown", "imported", "imported"], {0: "423.*may be joining.*same table"}, "12"),
    "what exists where nobody can look is unknown": (
        [(IMPORT, {"ret": 423}, 1), (LIST, PASS, 2), (LIST, {"ret": 304}, 1)],
        ["unknown", "imported", "imported"], {0: "423.*could not be read.*same table"}, "12"),
    "a camera that was late may be there where nobody can look": (
        [(LIST, PASS, 1), (LIST, {"ret": 700}, 1), (IMPORT, {"ret": 427, "after": True}, 1)],
        ["unknown", "imported", "imported"], {0: "427.*could not be read"}, "012"),
    "what is not seen among the users afterwards says so": (
        [(USERS, NO_USERS, None)], ["not seen"] * 3, {0: "A6"}, "012"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_what_the_service_answers_decides_on_a_device(client, sandbox, table, name):
    """And on those after it; none of them is asked for twice. What came in is taken out again by
    the result, and nothing else is tried."""
    faults, outcomes, says, there = ANSWERS[name]
    for path, how, times in faults:
        sandbox.fault(path, **how, times=times)
    verify = {"verify": USERS in dict.fromkeys(path for path, _, _ in faults), "patience": 0.1}
    result = ck.import_devices(client, table, preflight=False, **verify)
    assert list(result.outcome) == outcomes
    for row, pattern in says.items():
        assert re.search(pattern, f"{result.cause[row]} {result.advice[row]}")
    if name.startswith("a code"):
        assert "list" not in result.cause[0]
    asked = [call.fields["userId"] for call in client.calls if call.endpoint == "B1"]
    assert len(asked) == len(set(asked))
    assert not set(asked) & set(result.user_id[result.outcome == "not tried"][1:])
    sandbox.clear_faults()
    assert listed(client) == [f"cam{at}" for at in there]
    undone = ck.remove_devices(client, result)
    came_in = result.outcome.isin(["imported", "not seen", "unknown"])
    assert list(undone.outcome == "left alone") == list(~came_in)
    assert listed(client) == []


def test_when_b3_cannot_be_read_nothing_is_imported(client, sandbox, table):
    """What is there already is not known then, so the error of B3 is raised."""
    sandbox.fault(LIST, ret=304)
    with pytest.raises(ck.ServiceUnavailable):
        ck.import_devices(client, table)
    assert sandbox.count(IMPORT) == 0


# Ctrl-C, and an event for those who cannot press it


@pytest.mark.parametrize("by_event", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_an_end_between_imports_gives_what_is_done(client, table, by_event):
    """The rest is not tried, and nothing is removed; the next call brings in the rest, which the
    result of the first does not take out again."""
    cancelled = threading.Event()

    def progress(done, total):
        if done == 4:
            cancelled.set()
            if not by_event:
                raise KeyboardInterrupt

    options = {"progress": progress, "cancelled": cancelled}
    result = ck.import_devices(client, table, **options)
    assert list(result.outcome) == ["imported", "not tried", "not tried"]
    assert list(result.verdict) == ["ok"] * 3
    assert "interrupted" in result.cause[2]
    assert listed(client) == ["cam0"]
    rest = ck.import_devices(client, table, cancelled=threading.Event())
    assert list(rest.outcome) == ["already there", "imported", "imported"]
    undone = ck.remove_devices(client, result)
    assert list(undone.outcome) == ["removed", "left alone", "left alone"]
    assert listed(client) == ["cam1", "cam2"]


class Recorder:
    """A host of cameras that have no stream: it answers 404 after a while, or never.

    Reached at every address of the loopback; `most` is the most requests at a time, by address and,
    under None, of all.
    """

    def __init__(self, seconds):
        self.seconds = seconds
        self.now, self.most = Counter(), Counter()
        self.met = threading.Event()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with suppress(OSError):  # closed at the end of the test
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        host = connection.getsockname()[0]
        with connection, suppress(OSError):
            while asked := re.search(rb"CSeq: *([0-9]+)", connection.recv(4096)):
                self.count(host, 1)
                ended = self.met.wait(self.seconds)
                self.count(host, -1)  # before the answer, after which another may ask
                if ended:
                    break
                connection.send(b"RTSP/1.0 404 Not Found\r\nCSeq: " + asked[1] + b"\r\n\r\n")

    def count(self, host, step):
        with self.lock:
            for key in (host, None):
                self.now[key] += step
                self.most[key] = max(self.most[key], self.now[key])

    def table(self, hosts, each):
        addresses = [f"rtsp://127.0.0.{2 + host}:{self.port}" for host in range(hosts)]
        return table_of("1", [f"{address}/{i}" for address in addresses for i in range(each)])


@pytest.fixture
def recorder():
    """Starts a Recorder: recorder(seconds until it answers)."""
    with ExitStack() as running:

        def start(seconds):
            started = Recorder(seconds)
            running.callback(started.listener.close)
            running.callback(started.met.set)
            return started

        yield start


def test_hosts_are_tried_side_by_side_and_each_one_camera_at_a_time(script, recorder):
    """With three threads three hosts are tried at once, and no host is asked by two."""
    host = recorder(0.1)
    with no_thread_left():
        table = host.table(hosts=5, each=3)
        result = ck.import_devices(script({LIST: EMPTY}).client(), table, threads=3)
    assert list(result.verdict) == ["path_not_found"] * 15
    assert host.most.pop(None) == 3
    assert set(host.most.values()) == {1}


@pytest.mark.parametrize("by_event", [False, True])
def test_an_end_while_cameras_are_tried_starts_no_more(script, recorder, by_event):
    """Ctrl-C, or the event, ends the cameras under way, leaves no thread, and says that none was
    imported."""
    host, service, cancelled = recorder(300), script({LIST: EMPTY}), threading.Event()
    act = cancelled.set if by_event else interrupt
    opened = threading.Thread(target=when, args=[lambda: host.most[None] == 2, act])
    opened.start()
    with no_thread_left():
        table = host.table(hosts=6, each=2)
        options = {"threads": 2, "timeout": 300, "cancelled": cancelled}
        result = ck.import_devices(service.client(), table, **options)
    opened.join()
    assert list(result.outcome) == ["not tried"] * 12
    assert set(result.cause) == {"The call was interrupted."}
    assert (host.most[None], service.seen[IMPORT]) == (2, 0)


# What is reported meanwhile and afterwards


def test_progress_is_told_and_no_picture_is_kept(client, table, capfd):
    """A function gets each step and their number: a camera has two, its preflight and its import;
    nothing is written anywhere. A thousand snapshots would fill the memory."""

    def snapshots():
        gc.collect()
        return sum(type(thing) is Snapshot for thing in gc.get_objects())

    steps, held, before = [], [], snapshots()

    def progress(done, total):
        steps.append((done, total))
        if done == total:  # only then: to look through all objects takes seconds
            held.append(snapshots() - before)

    ck.import_devices(client, table, progress=progress)
    assert steps == [(done, 6) for done in range(1, 7)]
    assert held == [0]
    assert capfd.readouterr() == ("", "")
