"""How a sandbox begins and ends, and where it listens."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import confkit as ck
from confkit.errors import ConfkitError
from confkit.sandbox import Sandbox
from tests.ports import HERE
from tests.rtsp.scripted import until
from tests.scripted import A3


def test_a_seed_makes_ids_reproducible(make):
    """One login more does not change the rooms."""

    def play(seed, logins=1):
        caller = make(seed=seed)
        first, *_ = (caller.login() for _ in range(logins))
        return first, caller.room()

    assert play(7) == play(7, logins=3)
    assert play(None)[1] != play(None)[1]


def test_closing_is_quick_whatever_is_open(make):
    """Waiting requests and dials hold nothing up, and sockets and threads go."""
    before = set(threading.enumerate())
    caller = make()
    sandbox, room_id = caller.sandbox, caller.room()
    place = HERE, int(sandbox.base_url.rpartition(":")[2])
    caller.add(room_id, sandbox.camera(size=(128, 96)))
    sandbox.fault("A3", delay=60)
    with (
        socket.create_server((HERE, 0)) as silent,
        socket.create_connection(place) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        client.sendall(f"GET {A3} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        address = f"rtsp://{HERE}:{silent.getsockname()[1]}/x"
        dialling = pool.submit(caller.add, room_id, address, "b")
        dialled, _ = silent.accept()
        began = time.monotonic()
        sandbox.close()
        assert time.monotonic() - began < 5  # 0.3 on a machine that has nothing else to do
        assert isinstance(dialling.exception(), OSError)
        assert client.recv(10) == b""
        dialled.close()
    until(lambda: set(threading.enumerate()) <= before)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place, 5)


def test_a_sandbox_that_is_not_started_or_closed_says_so():
    closed = Sandbox()
    closed.close()
    for sandbox, state in ((Sandbox(), "not started"), (closed, "closed")):
        again = (closed.start,) if sandbox is closed else ()
        for call in (sandbox.connect, sandbox.camera, sandbox.simulate, sandbox.room_ids, *again):
            with pytest.raises(ConfkitError, match=state):
                call()


def test_the_ports_may_be_chosen(make):
    """The same for both; a port in use, or out of range, is a clear error."""
    with socket.create_server((HERE, 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(ConfkitError, match=f"port {port}"):
            Sandbox(outgoing_port=port).start()
    with pytest.raises(ck.ConfigError, match="ports are 70000 and 0"):
        Sandbox(port=70_000)
    caller = make(port=port, outgoing_port=port)
    assert caller.sandbox.base_url == caller.sandbox.outgoing_url == f"http://{HERE}:{port}"
    assert caller.status(caller.room()) == caller.code("B3") == 0


def test_a_sandbox_listens_on_loopback_alone(monkeypatch):
    """Both interfaces, the media server and the cameras: its keys are published."""
    bind, places = socket.socket.bind, []

    def noted(self, address):
        places.append(address[0])
        bind(self, address)

    monkeypatch.setattr(socket.socket, "bind", noted)
    with Sandbox() as sandbox, sandbox.connect() as client:
        assert (sandbox.access_key, sandbox.secret_key) == ("demo_access", "demo_secret")
        sandbox.camera(size=(128, 96), fps=5)
        ck.get_mcu(client, ck.create_room(client, "Lab", "ops"))
    assert places == [HERE] * 3 + ["127.0.0.1"]
