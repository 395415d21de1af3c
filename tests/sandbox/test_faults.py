"""Faults on demand, and what is said of refused calls."""

import logging
import time
from urllib.parse import urlencode

import pytest
import requests

from confkit.sandbox.service.operations import HANDLERS

from .conftest import A, B


def test_faults_follow_one_another(stranger, sandbox):
    """`times` calls of a path get a fault, whatever they carry, then the next one's turn comes.
    One without `times` stays until another is set, or `clear_faults`; 408 comes before any."""
    sandbox.fault(A["get"], ret=700, times=2)
    sandbox.fault(A["get"], http=503, times=1)
    assert stranger.ret(A["get"], method="POST") == 408
    assert stranger.raw(A["get"]).json() == {"ret": 700, "msg": "database error"}
    assert stranger.code("get", room_id="none") == 700
    assert stranger.raw(A["get"]).status_code == 503
    assert stranger.code("get", room_id="none") == 404
    sandbox.fault(B["list"], ret=424)
    assert [stranger.code("list") for _ in range(3)] == [424] * 3
    sandbox.fault(B["list"], ret=304)
    assert stranger.code("list") == 304
    sandbox.clear_faults()
    assert stranger.code("list") == 0


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
    for stranger, path, code in (
        (late, A["get"], 602),
        (late, A["get"], 504),
        (slow, "/none", 408),
        (slow, B["list"], 304),
    ):
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


@pytest.mark.parametrize(
    "fault",
    [
        {},
        {"ret": 1, "times": 0},
        {"http": 99},
        {"delay": -1},
        {"drop": True, "ret": 1},
        {"ret": 1, "body": "x"},
    ],
)
def test_a_fault_that_makes_no_sense(sandbox, fault):
    """An unknown path is a ValueError that lists the paths; so are settings that make no fault."""
    with pytest.raises(ValueError, match="A fault needs one of"):
        sandbox.fault(A["get"], **fault)
    with pytest.raises(ValueError, match="/rtc/room/get,"):
        sandbox.fault("/rtc/room/gett", ret=1)


def test_what_was_wrong_is_logged_when_asked_for(make, caplog):
    """explain=True logs one line for each refused call; refusals keeps the same texts anyway. An
    optional parameter without a value counts as not given."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    told = "B3 602: B3 spells it accessToken, not access_token"
    for explain in (True, False):
        caplog.clear()
        stranger = make(explain=explain)
        stranger.raw(B["list"], {"access_token": stranger.token})
        stranger.room(attendee_max="")
        assert stranger.sandbox.refusals == [told]
        lines = [record.message for record in caplog.records if record.name == "confkit.sandbox"]
        assert lines == [f"refused {told}"] * explain


def test_each_refusal_says_what_was_wrong(stranger, sandbox):
    """Route, method, port, spelling, value and state are named, each in its own words."""
    room_id = stranger.room()
    sandbox.join(room_id, "Ada", user_id="ada")
    digest, get = stranger.sign(sandbox.access_key), A["get"]
    random = stranger.login()["random"]
    calls = [
        (lambda: stranger.raw("/rtc/room/gett"), "unknown path; interface A has /rtc/auth/valid, "),
        (lambda: stranger.raw(B["list"], port="A"), "B3 is served on the port of interface B"),
        (lambda: stranger.raw(B["import"], method="POST"), "B1 is GET here, not POST"),
        (lambda: stranger.ask("get", roomId="x"), "A3 spells it room_id, not roomId"),
        (lambda: stranger.ask("get", room="x"), "room_id is missing"),
        (lambda: stranger.create(topic="é" * 80), "160 bytes"),
        (lambda: stranger.bring(room_id, "rtsp://h/", "ada"), "userId is taken"),
        (lambda: stranger.raw(get, {"access_token": digest}), "the digest of A1"),
        (lambda: stranger.raw(get, {"access_token": random}), "this is random or key of A1"),
        (lambda: stranger.raw(get, {"access_token": "x"}), "the token is unknown"),
        (lambda: stranger.raw(A["valid"], {"access_key": "x", "digest": "x"}), "access_key"),
    ]
    for call, text in calls:
        call()
        assert text in sandbox.refusals[-1]


def test_a_failure_of_the_sandbox_itself_is_told(stranger, sandbox, monkeypatch, caplog):
    """Whatever an operation raises is answered: 700 in A, that what it does has failed in B. The
    reason and the log name its kind, and nothing of its text."""

    async def fails(service, values):
        raise KeyError("hunter2")

    room_id = stranger.room()
    for key in ("A3", "B1", "B2", "B3"):
        monkeypatch.setitem(HANDLERS, key, fails)
    assert stranger.code("get", room_id=room_id) == 700
    assert stranger.bring(room_id, "rtsp://h/") == 302
    device = {"roomId": room_id, "userId": "cam", "userAddress": "rtsp://h/"}
    assert [stranger.code("remove", **device), stranger.code("list")] == [303, 304]
    assert sandbox.refusals[0] == "A3 700: the sandbox failed: KeyError"
    assert "A3 failed: KeyError" in caplog.text
    assert "hunter2" not in caplog.text + "".join(sandbox.refusals)


BEHIND = (
    "an unknown parameter came right behind userAddress: if it belongs to the address, an & there "
    "has to be percent-encoded"
)


@pytest.mark.parametrize(
    ("rest", "part"),
    [  # what stands unencoded behind a camera's address, and whether it may be a part of it
        ("&subtype=0&unicast=true", True),
        ("&hunter2", True),
        ("&callback=f&_=1", False),
        ("&_=1&app=web", False),
    ],
)
def test_an_address_that_was_not_encoded_is_told(stranger, sandbox, rest, part):
    """What an & has cut off a camera's address is reported with the refused call; nothing of it is
    quoted, and a library's own parameters are no part of it, nor a client's own behind an address
    that was encoded."""
    room_id, url = stranger.room(), sandbox.camera("/cam?channel=1", size=(128, 96))
    query = {"accessToken": stranger.token, "roomId": room_id, "userId": "c", "userName": "n"}
    for address, code in ((url + "0", 426), (url, 0), ("rtsp://ada:hunter2", 401)):
        bare = f"{B['import']}?{urlencode(query)}&userAddress={address}{rest}"
        assert f'"ret":{code}' in stranger.raw(bare).text
    told = sandbox.refusals
    assert [text.endswith(BEHIND) for text in told] == [part] * len(told)
    assert "hunter2" not in str(told)
    assert stranger.bring(room_id, url, app="web") == 423
    assert not sandbox.refusals[-1].endswith(BEHIND)
