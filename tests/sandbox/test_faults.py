"""Faults on demand, and what is said of refused calls."""

import logging
import socket
import time
from urllib.parse import urlencode

import pytest
import requests

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox.operations import FUNCTIONS
from tests.ports import HERE

from .conftest import A, B


def test_faults_follow_one_another(stranger, sandbox):
    """`times` calls of a path or name get a fault, whatever they carry, then the next one's turn
    comes. One without `times` stays until another is set, or `clear_faults`; 408 comes first."""
    sandbox.fault("A3", ret=700, times=2)
    sandbox.fault(A["get"], http=503, times=1)
    assert stranger.ret(A["get"], method="POST") == 408
    assert stranger.raw(A["get"]).json() == {"ret": 700, "msg": "database error"}
    assert stranger.code("get", room_id="none") == 700
    assert stranger.raw(A["get"]).status_code == 503
    assert stranger.code("get", room_id="none") == 404
    sandbox.fault(B["list"], ret=424)
    assert [stranger.code("list") for _ in range(3)] == [424] * 3
    sandbox.fault("B3", ret=304)
    assert stranger.code("list") == 304
    sandbox.clear_faults()
    assert stranger.code("list") == 0
    assert sandbox.count("A3") == sandbox.count(A["get"]) == 5


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
def test_what_a_fault_answers(stranger, sandbox, fault, status, kind, body):
    """body is sent byte by byte, JSONP or not; http alone as an HTML page, where there may be
    one."""
    sandbox.fault(A["get"], **fault)
    answer = stranger.raw(A["get"], {"callback": "f"}, allow_redirects=False)
    assert (answer.status_code, answer.headers["content-type"]) == (status, kind)
    assert answer.content.decode("latin-1") == body


def test_delay_and_latency(make):
    """delay alone answers as usual, later; with latency each answer of both interfaces waits so
    long, refusals and faults too."""
    late, slow = make(), make(latency=0.15)
    late.sandbox.fault(A["get"], delay=0.15, times=1)
    late.sandbox.fault(A["get"], delay=0.15, ret=504, times=1)
    slow.sandbox.fault(B["list"], ret=304, times=1)
    rows = [
        (late, A["get"], 602),
        (late, A["get"], 504),
        (slow, "/none", 408),
        (slow, B["list"], 304),
    ]
    for stranger, path, code in rows:
        began = time.monotonic()
        assert stranger.ret(path) == code
        assert time.monotonic() - began >= 0.15


@pytest.mark.parametrize("after", [True, False])
def test_after_carries_the_operation_out_first(stranger, sandbox, after, caplog, capfd):
    """With after=True the answer is lost, or another one, when the write has happened. drop ends
    the connection without a byte, and no log and no output shows a failure."""
    caplog.set_level(logging.DEBUG)
    sandbox.fault(A["create"], drop=True, after=after, times=1)
    with pytest.raises(requests.ConnectionError):
        stranger.create(room_extend_id="e")
    assert stranger.code("get", room_id="e") == (0 if after else 404)
    sandbox.fault(A["create"], ret=409, after=after, times=1)
    assert stranger.create(room_extend_id="f")["ret"] == 409
    assert stranger.code("get", room_id="f") == (0 if after else 404)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert capfd.readouterr() == ("", "")


WRONG = [{}, {"ret": 1, "times": 0}, {"http": 99}, {"delay": -1}, {"drop": True, "ret": 1}]
WRONG += [{"ret": 1, "body": "x"}, {"ret": "x"}, {"body": 5}, {"ret": 1, "times": 1.5}]


def test_a_fault_that_makes_no_sense(sandbox):
    """An unknown path is a ValueError that lists names and paths, to `count` too; so are settings
    that make no fault."""
    for fault in WRONG:
        with pytest.raises(ValueError, match="A fault needs one of"):
            sandbox.fault(A["get"], **fault)
    for call in (lambda: sandbox.fault("/rtc/room/gett", ret=1), lambda: sandbox.count("/nope")):
        with pytest.raises(ValueError, match=r"A3 \(/rtc/room/get\), "):
            call()


def test_what_was_wrong_is_logged_when_asked_for(make, caplog):
    """explain=True logs one line for each refused call; refusals keeps the same texts anyway. An
    optional parameter without a value counts as not given."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    text = "B3 602: B3 spells it accessToken, not access_token"
    for explain in (True, False):
        caplog.clear()
        stranger = make(explain=explain)
        stranger.raw(B["list"], {"access_token": stranger.token})
        stranger.room(attendee_max="")
        assert [str(refusal) for refusal in stranger.sandbox.refusals] == [text]
        lines = [record.message for record in caplog.records if record.name == "confkit.sandbox"]
        assert lines == [f"refused {text}"] * explain


def test_each_refusal_says_what_was_wrong(stranger, sandbox):
    """Route, method, port, spelling, value and state are named, each in its own words."""
    room_id = stranger.room()
    sandbox.join(room_id, "Ada", user_id="ada")
    digest, get = stranger.sign(sandbox.access_key), A["get"]
    random = stranger.login()["random"]
    sha = stranger.token[:-2] + "x="
    calls = [
        (
            lambda: stranger.raw("/rtc/room/gett"),
            "unknown path; interface A has /rtc/auth/valid, ",
        ),
        (lambda: stranger.raw(B["list"], port="A"), "B3 is served on the port of interface B"),
        (
            lambda: stranger.raw(B["import"], method="POST"),
            "B1 is GET here, not POST: Dialect(create_method='GET')",
        ),
        (lambda: stranger.ask("get", roomId="x"), "A3 spells it room_id, not roomId"),
        (lambda: stranger.ask("get", room="x"), "room_id is missing"),
        (lambda: stranger.create(topic="é" * 80), "160 bytes"),
        (lambda: stranger.bring(room_id, "rtsp://h/", "ada"), "userId is taken"),
        (lambda: stranger.raw(get, {"access_token": digest}), "the digest of A1"),
        (lambda: stranger.raw(get, {"access_token": random}), "this is random or key of A1"),
        (lambda: stranger.raw(get, {"access_token": sha}), "the token is unknown"),
        (lambda: stranger.raw(A["valid"], {"access_key": "x", "digest": "x"}), "access_key"),
    ]
    for call, text in calls:
        call()
        assert text in sandbox.refusals[-1].why


POSTED = {"list_method": "POST"}
CURES = [
    ({"hash": "sha256"}, {}, "A1", "hash='sha256'"),
    ({}, {"signature": "raw"}, "A1", "signature='hex'"),
    (POSTED, {}, "B3", "list_method='POST'"),
    ({**POSTED, "placement": "json"}, POSTED, "B3", "placement='json'"),
    ({"token_parameter": "access_tocken"}, {}, "A3", "token_parameter='access_tocken'"),
    ({"mcu_token_parameter": "token"}, {}, "A5", "mcu_token_parameter='token'"),
    ({}, {"remove_token_parameter": "token"}, "B2", "remove_token_parameter='access_token'"),
]


@pytest.mark.parametrize(("theirs", "ours", "call", "setting"), CURES)
def test_a_refusal_names_the_setting_that_cures_it(make, theirs, ours, call, setting):
    """What another dialect of the client would cure names its setting, with its value."""
    sandbox = make(theirs).sandbox
    values = {"room_id": "1", "roomId": "1", "userId": "u", "userAddress": "rtsp://h/"}
    keys = (sandbox.base_url, sandbox.outgoing_url, sandbox.access_key, sandbox.secret_key)
    with ck.Client(*keys, dialect=ck.Dialect(**ours)) as client, pytest.raises(ck.ApiError):
        operation = OPERATIONS["A3" if call == "A1" else call]
        client.call(operation, **{name: values[name] for name in operation.required})
    refusal = sandbox.refusals[-1]
    assert refusal.call in (call, call[0])
    assert refusal.why.endswith(f"Dialect({setting})")


def test_a_request_that_is_not_http_is_explained(make, caplog):
    """A space or a letter outside ASCII in the address, and a TLS greeting, are HTTP 400 on both
    ports, and the refusal says what to do; no log of uvicorn's is written."""
    caplog.set_level(logging.INFO)
    sandbox = make(explain=True).sandbox
    lines = ["GET /a b HTTP/1.1", f"GET {A['create']}?topic=会议 HTTP/1.1", "\x16\x03\x01\x02"]
    for url in (sandbox.base_url, sandbox.outgoing_url):
        for line in lines:
            with socket.create_connection((HERE, int(url.rpartition(":")[2])), 5) as connection:
                connection.sendall(line.encode() + b"\r\nHost: h\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 400")
    assert [refusal.call for refusal in sandbox.refusals] == ["HTTP"] * 6
    assert "HTTP: a request could not be read as HTTP: percent-encode spaces" in caplog.text
    assert {record.name for record in caplog.records} <= {"confkit.sandbox", "asyncio"}


def test_a_failure_of_the_sandbox_itself_is_told(stranger, sandbox, monkeypatch, caplog):
    """Whatever an operation raises is answered: 700 in A, that what it does has failed in B. The
    reason and the log name its kind, and nothing of its text."""

    def fails(service, values):
        raise KeyError("hunter2")

    room_id = stranger.room()
    for key in ("A3", "B1", "B2", "B3"):
        monkeypatch.setitem(FUNCTIONS, key, fails)
    assert stranger.code("get", room_id=room_id) == 700
    assert stranger.bring(room_id, "rtsp://h/") == 302
    device = {"roomId": room_id, "userId": "cam", "userAddress": "rtsp://h/"}
    assert [stranger.code("remove", **device), stranger.code("list")] == [303, 304]
    assert str(sandbox.refusals[0]) == "A3 700: the sandbox failed: KeyError"
    assert "A3: the sandbox failed: KeyError" in caplog.text
    assert "hunter2" not in caplog.text + str(sandbox.refusals)


@pytest.mark.parametrize(
    ("rest", "is_cut"),
    [  # what stands unencoded behind a camera's address, and whether it may be a part of it
        ("&subtype=0&unicast=true", True),
        ("&hunter2", True),
        ("&callback=f&_=1", False),
        ("&_=1&app=web", False),
    ],
)
def test_an_address_that_was_not_encoded_is_told(stranger, sandbox, rest, is_cut):
    """What an & has cut off a camera's address is reported with the refused call; nothing of it is
    quoted, and a library's own parameters are no part of it, nor a client's own behind an address
    that was encoded."""
    room_id, url = stranger.room(), sandbox.camera("/cam?channel=1", size=(128, 96))
    query = {"accessToken": stranger.token, "roomId": room_id, "userId": "c", "userName": "n"}
    for address, code in ((url + "0", 426), (url, 0), ("rtsp://ada:hunter2", 401)):
        bare = f"{B['import']}?{urlencode(query)}&userAddress={address}{rest}"
        assert f'"ret":{code}' in stranger.raw(bare).text
    behind = "follows userAddress: if it belongs to the address, percent-encode the & before it"
    assert [behind in refusal.why for refusal in sandbox.refusals] == [is_cut] * 2
    assert "hunter2" not in str(sandbox.refusals)
    assert stranger.bring(room_id, url, app="web") == 423
    assert behind not in sandbox.refusals[-1].why


@pytest.mark.parametrize(
    ("path", "name", "text"),
    [
        ("/rtc/auth/valid?access_key=demo_access&", "digest", "+" * 900 + "x"),
        ("/rtc/auth/valid?access_key=demo_access&", "digest", "%0a" * 300 + "x"),
        ("/rtc/room/get?room_id=1&", "access_token", "+" * 900),
        ("/rtc/room/get?room_id=1&", "userAddress", ":" * 50_000),
        ("/rtc/room/get?room_id=1&", "userAddress", "rtsp://" * 8_000),
        ("/rtc/room/get?room_id=1&", "x", "a&" * 25_000),
    ],
)
def test_no_text_of_a_stranger_keeps_the_others_waiting(stranger, path, name, text):
    """What is looked for in a wrong digest or a cut address takes no longer for hostile texts: some
    of them took minutes."""
    began = time.monotonic()
    answer = stranger.http.get(f"{stranger.sandbox.base_url}{path}{name}={text}", timeout=60)
    assert answer.json()["ret"] in (401, 407, 602)
    assert time.monotonic() - began < 5
