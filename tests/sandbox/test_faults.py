"""Faults on demand, and the reasons of refused calls."""

import logging
import socket
import time

import pytest
import requests

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox.operations import FUNCTIONS
from tests.ports import HERE

from .conftest import path


def test_faults_follow_one_another(caller, sandbox):
    """`times` calls of a path or name get a fault, then the next; one without `times` stays until
    another is set, or `clear_faults`; 408 comes first."""
    sandbox.fault("A3", ret=700, times=2)
    sandbox.fault(path("A3"), http=503, times=1)
    assert caller.ret(path("A3"), method="POST") == 408
    assert caller.raw(path("A3")).json() == {"ret": 700, "msg": "database error"}
    assert caller.code("A3", room_id="none") == 700
    assert caller.raw(path("A3")).status_code == 503
    assert caller.code("A3", room_id="none") == 404
    sandbox.fault(path("B3"), ret=424)
    assert [caller.code("B3") for _ in range(3)] == [424] * 3
    sandbox.fault("B3", ret=304)
    assert caller.code("B3") == 304
    sandbox.clear_faults()
    assert caller.code("B3") == 0
    assert sandbox.count("A3") == sandbox.count(path("A3")) == 5


HTML, JSON = "text/html; charset=utf-8", "application/json"


@pytest.mark.parametrize(
    ("fault", "status", "kind", "body"),
    [
        ({"body": "<html>oops"}, 200, HTML, "<html>oops"),
        ({"body": '{"ret":0,"ro'}, 200, JSON, '{"ret":0,"ro'),
        ({"body": b"\x00\xfe"}, 200, JSON, "\x00\xfe"),
        ({"http": 502}, 502, HTML, "<html><body><h1>502</h1></body></html>"),
        ({"http": 500, "ret": 1}, 500, "application/javascript", 'f({"ret":1,"msg":"error 1"})'),
        ({"http": 302, "body": "moved"}, 302, JSON, "moved"),
        ({"http": 204}, 204, JSON, ""),
    ],
)
def test_a_fault_byte_by_byte(caller, sandbox, fault, status, kind, body):
    sandbox.fault(path("A3"), **fault)
    response = caller.raw(path("A3"), {"callback": "f"}, allow_redirects=False)
    assert (response.status_code, response.headers["content-type"]) == (status, kind)
    assert response.content.decode("latin-1") == body


def test_a_delay(caller, sandbox):
    """Alone it delays the normal response, else that of the fault."""
    sandbox.fault(path("A3"), delay=0.15, times=1)
    sandbox.fault(path("A3"), delay=0.15, ret=504, times=1)
    for code in (602, 504):
        began = time.monotonic()
        assert caller.ret(path("A3")) == code
        assert time.monotonic() - began >= 0.15


@pytest.mark.parametrize("after", [True, False])
def test_after_performs_the_operation_first(caller, sandbox, after, caplog, capfd):
    """The response is lost, or another one; drop closes the connection without a byte. No log and
    no output shows a failure."""
    caplog.set_level(logging.DEBUG)
    sandbox.fault(path("A2"), drop=True, after=after, times=1)
    with pytest.raises(requests.ConnectionError):
        caller.create(room_extend_id="e")
    assert caller.code("A3", room_id="e") == (0 if after else 404)
    sandbox.fault(path("A2"), ret=409, after=after, times=1)
    assert caller.create(room_extend_id="f")["ret"] == 409
    assert caller.code("A3", room_id="f") == (0 if after else 404)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert capfd.readouterr() == ("", "")


def test_a_fault_that_makes_no_sense(sandbox):
    for fault in ({}, {"ret": 1, "times": 0}, {"http": 99}):
        with pytest.raises(ValueError, match="A fault needs one of"):
            sandbox.fault(path("A3"), **fault)
    for call in (lambda: sandbox.fault("/rtc/room/gett", ret=1), lambda: sandbox.count("/nope")):
        with pytest.raises(ValueError, match=r"A3 \(/rtc/room/get\), "):
            call()


@pytest.mark.parametrize("explain", [True, False])
def test_refusals_are_logged_on_request(make, caplog, explain):
    caplog.set_level(logging.INFO, "confkit.sandbox")
    caller = make(explain=explain)
    caller.raw(path("B3"), {"access_token": caller.token})
    text = "B3 602: B3 spells it accessToken, not access_token"
    assert [str(refusal) for refusal in caller.sandbox.refusals] == [text]
    lines = [record.message for record in caplog.records if record.name == "confkit.sandbox"]
    assert lines == [f"refused {text}"] * explain


def test_each_refusal_names_its_reason(caller, sandbox):
    room_id, get = caller.room(), path("A3")
    sandbox.join(room_id, "Ada", user_id="ada")
    digest, random = caller.sign(sandbox.access_key), caller.login()["random"]
    unknown = caller.token[:-2] + "x="
    calls = [
        (lambda: caller.raw("/rtc/room/gett"), "unknown path; interface A has /rtc/auth/valid, "),
        (lambda: caller.raw(path("B3"), port="A"), "B3 is served on the port of interface B"),
        (lambda: caller.raw(path("B1"), method="POST"), "B1 is GET here, not POST: Dialect(create"),
        (lambda: caller.call("A3", roomId="x"), "A3 spells it room_id, not roomId"),
        (lambda: caller.call("A3", room="x"), "room_id is missing"),
        (lambda: caller.create(topic="é" * 80), "160 bytes"),
        (lambda: caller.add(room_id, "rtsp://h/", "ada"), "userId is taken"),
        (lambda: caller.raw(get, {"access_token": digest}), "the digest of A1"),
        (lambda: caller.raw(get, {"access_token": random}), "this is random or key of A1"),
        (lambda: caller.raw(get, {"access_token": unknown}), "the token is unknown"),
        (lambda: caller.raw(path("A1"), {"access_key": "x", "digest": "x"}), "access_key"),
    ]
    for call, text in calls:
        call()
        assert text in sandbox.refusals[-1].why


POSTED = {"list_method": "POST"}


@pytest.mark.parametrize(
    ("theirs", "ours", "key", "setting"),
    [
        ({"hash": "sha256"}, {}, "A1", "hash='sha256'"),
        ({}, {"signature": "raw"}, "A1", "signature='hex'"),
        (POSTED, {}, "B3", "list_method='POST'"),
        ({**POSTED, "placement": "json"}, POSTED, "B3", "placement='json'"),
        ({"token_parameter": "access_tocken"}, {}, "A3", "token_parameter='access_tocken'"),
        ({"mcu_token_parameter": "token"}, {}, "A5", "mcu_token_parameter='token'"),
        ({}, {"remove_token_parameter": "token"}, "B2", "remove_token_parameter='access_token'"),
    ],
)
def test_a_refusal_names_the_setting_that_cures_it(make, theirs, ours, key, setting):
    sandbox = make(theirs).sandbox
    values = {"room_id": "1", "roomId": "1", "userId": "u", "userAddress": "rtsp://h/"}
    keys = (sandbox.base_url, sandbox.outgoing_url, sandbox.access_key, sandbox.secret_key)
    with ck.Client(*keys, dialect=ck.Dialect(**ours)) as client, pytest.raises(ck.ApiError):
        operation = OPERATIONS["A3" if key == "A1" else key]
        client.call(operation, **{name: values[name] for name in operation.required})
    refusal = sandbox.refusals[-1]
    assert refusal.call in (key, key[0])
    assert refusal.why.endswith(f"Dialect({setting})")


def test_a_request_that_is_not_http_is_explained(make, caplog):
    """A letter outside ASCII in the address and a TLS greeting are HTTP 400 on both ports; no log
    of uvicorn's is written."""
    caplog.set_level(logging.INFO)
    sandbox = make(explain=True).sandbox
    for url in (sandbox.base_url, sandbox.outgoing_url):
        for line in (f"GET {path('A2')}?topic=会议 HTTP/1.1", "\x16\x03\x01\x02"):
            with socket.create_connection((HERE, int(url.rpartition(":")[2])), 5) as connection:
                connection.sendall(line.encode() + b"\r\nHost: h\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 400")
    assert [refusal.call for refusal in sandbox.refusals] == ["HTTP"] * 4
    assert "HTTP: a request could not be read as HTTP: percent-encode spaces" in caplog.text
    assert {record.name for record in caplog.records} <= {"confkit.sandbox", "asyncio"}


def test_a_failure_of_the_sandbox_itself(caller, sandbox, monkeypatch, caplog):
    """It is answered: 700 in A, that the operation has failed in B; reason and log name its kind,
    and nothing of its text."""

    def fails(service, values):
        raise KeyError("hunter2")

    for key in ("A3", "B1", "B2", "B3"):
        monkeypatch.setitem(FUNCTIONS, key, fails)
    assert caller.code("A3", room_id="1") == 700
    assert caller.add("1", "rtsp://h/") == 302
    device = {"roomId": "1", "userId": "cam", "userAddress": "rtsp://h/"}
    assert [caller.code("B2", **device), caller.code("B3")] == [303, 304]
    assert str(sandbox.refusals[0]) == "A3 700: the sandbox failed: KeyError"
    assert "A3: the sandbox failed: KeyError" in caplog.text
    assert "hunter2" not in caplog.text + str(sandbox.refusals)


@pytest.mark.parametrize(
    ("key", "name", "text"),
    [
        ("A1", "digest", "+" * 900 + "x"),
        ("A1", "digest", "%0a" * 300 + "x"),
        ("A3", "access_token", "+" * 900),
        ("A3", "x", "a&" * 25_000),
    ],
)
def test_no_hostile_text_keeps_the_others_waiting(caller, key, name, text):
    """Explaining some of them took minutes."""
    url = f"{caller.sandbox.base_url}{path(key)}?access_key=demo_access&{name}={text}"
    began = time.monotonic()
    assert caller.http.get(url, timeout=60).json()["ret"] in (401, 407, 602)
    assert time.monotonic() - began < 5
