"""Many imports: none twice, none half known, and every camera's fate told in one row."""

import gc
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress

import pandas as pd
import pytest

import confkit as ck
from confkit.bulk.imports import OUTCOMES
from confkit.rtsp.report import Snapshot

IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
USERS = "/rtc/room/get_room_info"
LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded
EMPTY = {"ret": 0, "data": {"total": 0, "items": []}}
TYPES = {
    "row": "Int64", "outcome": "category", "verdict": "string", "room_id": "string",
    "user_id": "string", "cause": "string", "advice": "string", "user_name": "string",
    "user_address": "string", "seconds": "float64",
}  # fmt: skip


@pytest.fixture
def room_id(client):
    return ck.create_room(client, "Weekly sync", "ops")


@pytest.fixture
def table(sandbox, room_id):
    """Three cameras that want a login, for one room."""
    return table_of(room_id, [sandbox.camera(**LOGIN, **SMALL) for _ in range(3)])


def table_of(room_id, urls):
    rows = [
        {"room_id": room_id, "user_id": f"cam{i}", "user_name": f"Door {i}", "user_address": url}
        for i, url in enumerate(urls)
    ]
    return pd.DataFrame(rows).assign(**LOGIN)


def listed(client):
    return sorted(device.user_id for device in ck.list_devices(client))


@contextmanager
def no_thread_left():
    before = set(threading.enumerate())
    yield
    assert {one.name for one in set(threading.enumerate()) - before if "confkit" in one.name
            or "ThreadPool" in one.name} == set()  # fmt: skip


def test_cameras_are_tried_and_imported_in_order(client, sandbox, table, tmp_path):
    """Each row of the file is a device of the room afterwards, and a row of the result."""
    path = tmp_path / "cameras.csv"
    table.to_csv(path, index=False)
    with no_thread_left():
        result = ck.import_devices(client, path, verify=True)
    assert [(name, str(kind)) for name, kind in result.dtypes.items()] == [*TYPES.items()]
    assert list(result.row) == [2, 3, 4]
    assert list(result.user_id) == ["cam0", "cam1", "cam2"]
    assert list(result.outcome) == ["imported"] * 3
    assert list(result.verdict) == ["ok"] * 3
    assert set(result.cause) | set(result.advice) == {""}
    assert (result.seconds > 0).all()
    sent = [device.user_id for device in ck.list_devices(client)]
    assert sent == ["cam0", "cam1", "cam2"]
    users = {user.user_id for user in ck.get_room_users(client, table.room_id[0])}
    assert users == set(sent)


def test_no_rows_give_the_same_columns_and_ask_nothing(script, table):
    """An empty table is an empty result, of the same types, and the service hears nothing."""
    service = script()
    result = ck.import_devices(service.client(), table.head(0))
    assert {name: str(kind) for name, kind in result.dtypes.items()} == TYPES
    assert list(result.outcome.cat.categories) == list(OUTCOMES)
    assert (len(result), service.requests) == (0, [])


def test_a_second_call_leaves_alone_what_is_there(client, sandbox, table):
    """The same table again imports only what is missing, and neither asks nor tries the rest."""
    ck.import_devices(client, table.head(2))
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["already there", "already there", "imported"]
    assert list(result.verdict) == ["skipped", "skipped", "ok"]
    assert sandbox.count(IMPORT) == 3


def test_a_camera_that_is_there_as_another_user_is_already_there(client, sandbox, table):
    """Its row names the user; so does one whose rival came while the call was under way."""
    ck.import_devices(client, table.head(1))
    result = ck.import_devices(client, table.head(1).assign(user_id="other"))
    assert list(result.outcome) == ["already there"]
    assert "'cam0'" in result.cause[0]
    sandbox.fault(LIST, body='{"ret": 0, "data": {"total": 0, "items": []}}', times=1)
    result = ck.import_devices(client, table.head(1).assign(user_id="other"), preflight=False)
    assert list(result.outcome) == ["already there"]
    assert sandbox.count(IMPORT) == 2


def test_a_user_id_that_is_taken_is_refused(client, table):
    """A device of this ID elsewhere is not taken for the camera of the row."""
    ck.import_devices(client, table.head(1))
    result = ck.import_devices(client, table.tail(1).assign(user_id="cam0"))
    assert list(result.outcome) == ["refused"]
    assert "423" in result.cause[0]
    assert result.advice[0]


def test_a_user_id_of_a_person_in_the_room_is_refused(client, sandbox, table):
    """Nothing is under way there: the ID is taken by somebody whom A6 shows."""
    sandbox.join(table.room_id[0], "Ada", user_id="cam0")
    result = ck.import_devices(client, table, preflight=False)
    assert list(result.outcome) == ["refused", "imported", "imported"]
    assert "423" in result.cause[0]


def test_what_exists_and_is_nowhere_to_be_seen_is_unknown(client, sandbox, table):
    """An import whose caller is gone may be under way: not refused, and no business of a rollback;
    the same holds when nobody can be asked."""
    for look, said in (({"delay": 0}, "may be joining"), ({"ret": 304}, "could not be read")):
        sandbox.fault(IMPORT, ret=423, times=1)
        sandbox.fault(LIST, delay=0, times=2)
        sandbox.fault(LIST, **look, times=1)
        result = ck.import_devices(client, table.head(1), preflight=False, rollback=True)
        assert list(result.outcome) == ["unknown"]
        assert "423" in result.cause[0]
        assert said in result.cause[0]
        assert "same table" in result.advice[0]
    assert sandbox.count(REMOVE) == 0


def test_a_camera_that_does_not_play_is_not_imported(client, sandbox, table):
    """Its row has the verdict, cause and advice of the preflight; the others are imported."""
    table.loc[1, "login_password"] = "wrong"
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["imported", "preflight failed", "imported"]
    assert result.verdict[1] == "auth_rejected"
    assert result.cause[1]
    assert result.advice[1]
    assert listed(client) == ["cam0", "cam2"]
    assert sandbox.count(IMPORT) == 2


def test_a_dry_run_tries_the_cameras_and_changes_nothing(sandbox, client, table):
    """Even a read-only client may ask; each row says what an import would begin with."""
    ck.import_devices(client, table.head(1))
    table.loc[2, "login_password"] = "wrong"
    sip = table.head(1).assign(user_id="phone", user_address="sip://192.0.2.9:5060/x")
    with sandbox.connect(read_only=True) as reader:
        result = ck.import_devices(reader, pd.concat([table, sip]), dry_run=True, rollback=True)
    assert list(result.outcome) == ["already there", "ready", "preflight failed", "ready"]
    assert list(result.verdict) == ["skipped", "ok", "auth_rejected", "skipped"]
    assert list(result.outcome.cat.categories) == list(OUTCOMES)
    assert (sandbox.count(IMPORT), sandbox.count(REMOVE)) == (1, 0)
    assert listed(client) == ["cam0"]


def test_a_dry_run_refuses_a_table_with_mistakes(script, table):
    """The table is checked as a whole, as for an import, before anything is asked."""
    service = script()
    with pytest.raises(ck.TableError, match="user_id"):
        ck.import_devices(service.client(), table.assign(user_id="twice"), dry_run=True)
    assert not service.requests


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


def test_what_is_no_camera_is_not_tried(client, table):
    """A sip address has no preflight; the service alone says what it thinks of it."""
    result = ck.import_devices(client, table.head(1).assign(user_address="sip://192.0.2.9:5060/x"))
    assert list(result.verdict) == ["skipped"]
    assert list(result.outcome) == ["refused"]


def test_a_refusal_is_explained_by_the_room_or_by_the_way_to_the_camera(client, sandbox, table):
    """426 for a closed room names the room; for a room that is fine, the service's own network."""
    sandbox.fault(IMPORT, ret=426, times=1)
    closed = ck.create_room(client, "Over", "ops")
    sandbox.close_room(closed)
    table.loc[1, "room_id"] = closed
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["refused", "refused", "imported"]
    assert list(result.verdict) == ["service_cannot_reach", "room_closed", "ok"]
    assert closed in result.cause[1]


def test_a_lost_answer_is_looked_up_and_never_sent_again(client, sandbox, table):
    """What B3 lists is imported; what it does not list is unknown; the others go on."""
    sandbox.fault(IMPORT, drop=True, after=True, times=1)
    sandbox.fault(IMPORT, drop=True, times=1)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["imported", "unknown", "imported"]
    assert "list_devices" in result.advice[1]
    assert sandbox.count(IMPORT) == 3
    again = ck.import_devices(client, table)
    assert list(again.outcome) == ["already there", "imported", "already there"]


def test_a_service_that_cannot_be_used_ends_the_run(client, sandbox, table):
    """With a token that is refused for good the rest is not tried, and the rows say why."""
    extra = table_of(table.room_id[0], [sandbox.camera(**LOGIN, **SMALL)]).assign(user_id="last")
    sandbox.fault(IMPORT, delay=0, times=1)
    sandbox.fault(IMPORT, ret=302, times=1)
    sandbox.fault(IMPORT, ret=602)
    result = ck.import_devices(client, pd.concat([table, extra]))
    assert list(result.outcome) == ["imported", "refused", "not tried", "not tried"]
    assert listed(client) == ["cam0"]
    assert "302" in result.cause[1]
    assert "602" in result.cause[2]
    assert "602" in result.cause[3]
    assert "same table" in result.advice[3]
    assert sandbox.count(IMPORT) == 4


def test_a_service_that_is_gone_ends_the_run(client, sandbox, table):
    """An answer that is lost, and nobody there to look it up: the rest is not tried."""
    sandbox.fault(LIST, delay=0, times=1)
    sandbox.fault(LIST, drop=True)
    sandbox.fault(IMPORT, drop=True)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["unknown", "not tried", "not tried"]
    assert "closed the connection" in result.cause[2]
    assert sandbox.count(IMPORT) == 1


def test_a_code_that_leaves_it_open_is_unknown_or_refused(client, sandbox, table):
    """What B3 lists after such a code may have been there before; what it does not is refused."""
    sandbox.fault(IMPORT, ret=700, after=True, times=1)
    sandbox.fault(IMPORT, ret=700, times=1)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["unknown", "refused", "imported"]
    assert "lists 'cam0' with this address. It may have been there before" in result.advice[0]
    assert "700" in result.cause[0]
    assert "list" not in result.cause[0]
    assert listed(client) == ["cam0", "cam2"]


def test_when_b3_cannot_be_read_nothing_is_imported(client, sandbox, table):
    """What is there already is not known then, so the error of B3 is raised."""
    sandbox.fault(LIST, ret=304)
    with pytest.raises(ck.ServiceUnavailable):
        ck.import_devices(client, table)
    assert sandbox.count(IMPORT) == 0


def test_a_list_that_is_cut_short_is_asked_for_by_room(client, sandbox, table):
    """A service whose list of all rooms is not whole is asked for each room of the table."""
    sandbox.fault(LIST, body='{"ret": 0, "data": {"total": 3, "items": []}}', times=1)
    assert list(ck.import_devices(client, table).outcome) == ["imported"] * 3
    assert sandbox.count(LIST) == 2


def test_read_only_refuses_before_anything_is_read(script):
    """A read-only client says so first: neither the file nor the service is touched."""
    service = script()
    with pytest.raises(ck.ReadOnlyError):
        ck.import_devices(service.client(read_only=True), "nowhere.csv")
    assert not service.requests


# Rollback


def test_a_rollback_removes_what_this_call_imported_and_nothing_else(client, sandbox, table):
    """The last comes off first, what was there stays, and each row says what became of it."""
    extra = table_of(table.room_id[0], [sandbox.camera(**LOGIN, **SMALL)]).assign(user_id="late")
    ck.import_devices(client, table.head(1))
    sandbox.fault(IMPORT, delay=0, times=2)
    sandbox.fault(IMPORT, ret=426, times=1)
    tail = extra.assign(user_id="last", user_address=sandbox.camera(**LOGIN, **SMALL))
    result = ck.import_devices(client, pd.concat([table, extra, tail]), rollback=True)
    assert list(result.outcome) == [
        "already there", "rolled back", "rolled back", "refused", "not tried",
    ]  # fmt: skip
    assert "Row 4" in result.cause[1]
    assert listed(client) == ["cam0"]
    gone = [call.fields["userId"] for call in client.calls if call.endpoint == "B2"]
    assert gone == ["cam2", "cam1"]


def test_with_rollback_a_failed_preflight_lets_nothing_in(client, sandbox, table):
    """All or none: one camera that does not play is known before the first import."""
    table.loc[2, "login_password"] = "wrong"
    result = ck.import_devices(client, table, rollback=True)
    assert list(result.outcome) == ["not tried", "not tried", "preflight failed"]
    assert list(result.verdict) == ["ok", "ok", "auth_rejected"]
    assert sandbox.count(IMPORT) == 0


def test_a_rollback_finds_the_device_whose_answer_was_lost(client, sandbox, table):
    """What was imported unknown to all is found in B3 and removed; what is not there is unknown."""
    sandbox.fault(LIST, delay=0, times=1)
    sandbox.fault(LIST, drop=True, times=3)  # the look-up of the import, with its two retries
    sandbox.fault(IMPORT, drop=True, after=True, times=1)
    result = ck.import_devices(client, table, rollback=True)
    assert list(result.outcome) == ["rolled back", "not tried", "not tried"]
    assert listed(client) == []
    sandbox.fault(IMPORT, drop=True, times=1)
    result = ck.import_devices(client, table, rollback=True)
    assert list(result.outcome) == ["unknown", "not tried", "not tried"]


def test_a_camera_that_was_late_may_be_in_the_room_where_nobody_can_look(client, sandbox, table):
    """427, and B3 cannot be read: unknown, and taken out by a rollback."""
    for rollback, outcome in ((False, "unknown"), (True, "rolled back")):
        sandbox.fault(LIST, delay=0, times=1)
        sandbox.fault(LIST, ret=700, times=1)  # the look-up of the import
        sandbox.fault(IMPORT, ret=427, after=True, times=1)
        result = ck.import_devices(client, table.head(1), rollback=rollback)
        assert list(result.outcome) == [outcome]
        assert "427" in result.cause[0]
        assert "could not be read" in result.advice[0]
        assert listed(client) == ([] if rollback else ["cam0"])
        ck.remove_devices(client, ck.list_devices(client))


def test_a_rollback_that_fails_says_so(client, sandbox, table):
    """A device that could not be removed again is named, and the others are removed."""
    sandbox.fault(IMPORT, delay=0, times=2)
    sandbox.fault(IMPORT, ret=426, times=1)
    sandbox.fault(REMOVE, ret=303, times=1)
    result = ck.import_devices(client, table, rollback=True)
    assert list(result.outcome) == ["rolled back", "rollback failed", "refused"]
    assert "303" in result.cause[1]
    assert listed(client) == ["cam1"]


def test_a_device_that_is_not_seen_is_a_failure(client, sandbox, table):
    """With verify a device that A6 does not show is "not seen", and a rollback removes it."""
    sandbox.fault(USERS, body='{"ret": 0, "user_list": []}')
    result = ck.import_devices(client, table.head(1), verify=True, patience=0.1, rollback=True)
    assert list(result.outcome) == ["rolled back"]
    assert "A6" in result.cause[0]
    assert listed(client) == []


# Ctrl-C


def interrupt():
    """What Ctrl-C does, from another thread."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_an_interrupt_between_imports_gives_what_is_done(client, sandbox, table):
    """Ctrl-C after the first import leaves one imported and two not tried, even with rollback."""

    def progress(done, total):
        if done == 4:
            raise KeyboardInterrupt

    result = ck.import_devices(client, table, progress=progress, rollback=True)
    assert list(result.outcome) == ["imported", "not tried", "not tried"]
    assert list(result.verdict) == ["ok"] * 3
    assert "interrupted" in result.cause[2]
    assert listed(client) == ["cam0"]


def test_an_interrupt_while_the_service_is_asked_leaves_that_row_unknown(script, table):
    """Whether the import under way happens is not known, so the row says so."""
    waiting = threading.Event()

    def second(query):
        if query["userId"] == "cam1":
            interrupt()
            waiting.wait(5)
        return {"ret": 0, "data": {}}

    service = script({IMPORT: second, LIST: EMPTY})
    result = ck.import_devices(service.client(), table, preflight=False)
    waiting.set()
    assert list(result.outcome) == ["imported", "unknown", "not tried"]
    assert "list_devices" in result.advice[1]


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
        urls = [f"{address}/{i}" for address in addresses for i in range(each)]
        return table_of("1", urls)


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


def test_an_interrupt_while_cameras_are_tried_starts_no_more(script, recorder):
    """Ctrl-C ends the cameras under way, leaves no thread, and says that none was imported."""
    host = recorder(300)
    service = script({LIST: EMPTY})
    table = host.table(hosts=6, each=2)
    opened = threading.Thread(target=when, args=[lambda: host.most[None] == 2, interrupt])
    opened.start()
    with no_thread_left():
        result = ck.import_devices(service.client(), table, threads=2, timeout=300)
    opened.join()
    assert list(result.outcome) == ["not tried"] * 12
    assert set(result.cause) == {"The call was interrupted."}
    assert host.most[None] == 2
    assert service.seen[IMPORT] == 0


# An event, for those who cannot press Ctrl-C


def test_an_event_ends_the_trials_as_ctrl_c_does_and_is_not_touched(script, recorder):
    """Set while cameras are tried it ends them, and nothing is imported; a call that ends by itself
    leaves it as it was."""
    host = recorder(300)
    service = script({LIST: EMPTY})
    cancelled = threading.Event()
    opened = threading.Thread(target=when, args=[lambda: host.most[None] == 2, cancelled.set])
    opened.start()
    with no_thread_left():
        result = ck.import_devices(
            service.client(), host.table(hosts=6, each=2), threads=2, timeout=300,
            cancelled=cancelled,
        )  # fmt: skip
    opened.join()
    assert list(result.outcome) == ["not tried"] * 12
    assert set(result.cause) == {"The call was interrupted."}
    assert host.most[None] == 2
    assert service.seen[IMPORT] == 0
    cancelled.clear()
    quick = recorder(0).table(hosts=1, each=1)
    assert list(
        ck.import_devices(service.client(), quick, cancelled=cancelled).outcome
    ) == ["preflight failed"]  # fmt: skip
    assert not cancelled.is_set()


@pytest.mark.parametrize("rollback", [False, True])
def test_an_event_between_imports_gives_what_is_done(client, sandbox, table, rollback):
    """The import under way ends as it does; the rest is not tried, and nothing is removed."""
    cancelled = threading.Event()

    def progress(done, total):
        if done == 4:
            cancelled.set()

    result = ck.import_devices(
        client, table, progress=progress, rollback=rollback, cancelled=cancelled
    )
    assert list(result.outcome) == ["imported", "not tried", "not tried"]
    assert "interrupted" in result.cause[2]
    assert listed(client) == ["cam0"]
    assert list(ck.import_devices(client, table, cancelled=threading.Event()).outcome) == [
        "already there", "imported", "imported",
    ]  # fmt: skip


def test_an_event_ends_a_rollback(script, table):
    """Set while what was imported is removed again, it leaves the rest as it is."""
    cancelled = threading.Event()

    def asked(query):
        return {"ret": 426} if query["userId"] == "cam2" else {"ret": 0, "data": {}}

    def removed(query):
        cancelled.set()
        return {"ret": 0}

    service = script({IMPORT: asked, REMOVE: removed, LIST: EMPTY})
    result = ck.import_devices(
        service.client(), table, preflight=False, rollback=True, cancelled=cancelled
    )
    assert list(result.outcome) == ["imported", "rolled back", "refused"]


INTERRUPTED = """
import signal, sys, threading, time
import confkit as ck

def tell():
    while "confkit rtsp" not in [one.name for one in threading.enumerate()]:
        time.sleep(0.01)
    print("under way", flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)
base_url, outgoing_url, access_key, secret_key, path = sys.argv[1:]
client = ck.connect(base_url=base_url, outgoing_url=outgoing_url, access_key=access_key,
                    secret_key=secret_key)
threading.Thread(target=tell, daemon=True).start()
result = ck.import_devices(client, path, timeout=100)
print(*result.outcome, sep=",")
print(*[one.name for one in threading.enumerate()], sep=",")
"""


def test_ctrl_c_ends_a_script_whose_cameras_are_silent(client, sandbox, room_id, tmp_path):
    """It goes on within seconds, though each camera could take a hundred, and has its result."""
    silent = [sandbox.camera(fault="rtsp_silent") for _ in range(3)]
    silent[1] = silent[1].replace("127.0.0.1", "localhost")  # another host: tried at the same time
    path = tmp_path / "cameras.csv"
    table_of(room_id, silent).to_csv(path, index=False)
    service = [sandbox.base_url, sandbox.outgoing_url, sandbox.access_key, sandbox.secret_key]
    run = [sys.executable, "-c", INTERRUPTED, *service, str(path)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as script:
        assert script.stdout.readline() == "under way\n"
        script.send_signal(signal.SIGINT)
        told, _ = script.communicate(timeout=60)
    assert told.splitlines() == ["not tried,not tried,not tried", "MainThread"]
    assert script.returncode == 0
    assert sandbox.count(IMPORT) == 0


def when(true, act):
    """Acts as soon as something is true, if that is within ten seconds."""
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    if true():
        act()


def test_an_option_that_makes_no_sense_is_an_error(client, table):
    """No threads, or no time, is a ValueError, and nothing is imported."""
    for option in ("threads", "timeout"):
        with pytest.raises(ValueError, match=option):
            ck.import_devices(client, table, **{option: 0})
    assert listed(client) == []


# Progress


def test_progress_is_told_every_step(client, table, capfd):
    """A function gets each step and their number: a camera has two, its preflight and its import;
    and nothing is written anywhere."""
    steps = []
    ck.import_devices(client, table, progress=lambda *step: steps.append(step))
    assert steps == [(done, 6) for done in range(1, 7)]
    assert capfd.readouterr() == ("", "")


def test_progress_is_a_line_where_it_is_wanted(client, table, capfd):
    """True writes a line that is wiped in the end; without a terminal None writes nothing; and no
    thread of its library stays."""
    ck.import_devices(client, table, preflight=False, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(r"importing: +0%.* 0/3 ", err)
    assert err.endswith("\r")
    assert [one for one in threading.enumerate() if type(one).__module__.startswith("tqdm")] == []
    ck.import_devices(client, table)
    ck.import_devices(client, table, progress=False)
    assert capfd.readouterr() == ("", "")


def shown_by_a_kernel(*before):
    """The messages of a kernel in which two steps were done, after these lines."""
    from jupyter_client.manager import start_new_kernel

    code = """
from confkit.many.progress import progress_shown
with progress_shown(None, 2, "importing") as step:
    step()
    step()
"""
    manager, kernel = start_new_kernel()
    seen = []
    try:
        code = "\n".join([*before, code])
        reply = kernel.execute_interactive(code, timeout=60, output_hook=seen.append)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply["content"]
    return [(message["msg_type"], message["content"].get("data", {})) for message in seen]


def test_progress_is_a_bar_in_a_notebook():
    """In a kernel a bar is shown and closed; nothing is printed, and what is stored is the same in
    every run."""
    seen = shown_by_a_kernel()
    kinds = Counter(kind for kind, _ in seen)
    assert (kinds["display_data"], kinds["stream"]) == (1, 0)
    [stored] = [data["text/plain"] for kind, data in seen if kind == "display_data"]
    assert stored == "importing:   0%|          | 0/2 [00:00<?, ?it/s]"
    assert 2 in [data["state"].get("value") for _, data in seen if "state" in data]
    assert kinds["comm_close"] > 0


def test_a_notebook_without_widgets_shows_no_progress():
    """Nothing is printed, no warning either."""
    seen = shown_by_a_kernel("import sys", "sys.modules['ipywidgets'] = None")
    assert {kind for kind, _ in seen} == {"status", "execute_input"}


# Memory and secrets


def test_the_pictures_of_the_preflights_are_not_kept(client, table):
    """While devices are imported no snapshot is held: a thousand would fill the memory."""

    def snapshots():
        gc.collect()
        return sum(type(thing) is Snapshot for thing in gc.get_objects())

    held, before = [], snapshots()

    def progress(done, total):
        if done == total:  # only then: to look through all objects takes seconds
            held.append(snapshots() - before)

    ck.import_devices(client, table, progress=progress)
    assert held == [0]


def test_no_password_shows_in_a_result(client, sandbox, table, tmp_path):
    """Not in the frame, its file, or its HTML, whether the login stood in fields or addresses."""
    secret = "1NSIDE"
    url = sandbox.camera(login_name="admin", login_password=secret, **SMALL)
    inside = url.replace("rtsp://", f"rtsp://admin:{secret}@")
    table.loc[1, "user_address"] = inside
    table.loc[1, ["login_name", "login_password"]] = None
    table.loc[2, "user_address"] = inside + "/nowhere"
    table.loc[2, ["login_name", "login_password"]] = None
    sandbox.fault(IMPORT, drop=True, times=1)
    result = ck.import_devices(client, table)
    assert list(result.outcome) == ["unknown", "imported", "preflight failed"]
    shown = result.to_csv() + result.to_html() + repr(result.to_dict())
    assert "***@" in shown
    assert secret not in shown
    assert LOGIN["login_password"] not in shown
