"""Faults on demand, and what is said of refused calls."""

import logging
import time
from urllib.parse import urlencode

import pytest
import requests

from .conftest import A, B


def test_faults_follow_one_another(stranger, sandbox):
    """`times` calls of a path get a fault, whatever they carry, then the next one's turn comes.
    One without `times` stays until another is set, or `clear_faults`; 408 comes before any."""
    room_id = stranger.room()
    sandbox.fault(A["get"], ret=700, times=2)
    sandbox.fault(A["get"], http=503, times=1)
    assert stranger.raw(A["get"], method="POST").json()["ret"] == 408
    assert stranger.raw(A["get"]).json() == {"ret": 700, "msg": "database error"}
    assert stranger.code("get", room_id=room_id) == 700
    assert stranger.raw(A["get"]).status_code == 503
    assert stranger.code("get", room_id=room_id) == 0
    sandbox.fault(B["list"], ret=424)
    assert [stranger.code("list") for _ in range(3)] == [424] * 3
    sandbox.fault(B["list"], ret=304)
    assert stranger.code("list") == 304
    sandbox.clear_faults()
    assert stranger.code("list") == 0


@pytest.mark.parametrize(
    ("fault", "status", "kind", "body"),
    [
        ({"body": "<html>oops"}, 200, "text/html; charset=utf-8", "<html>oops"),
        ({"body": '{"ret":0,"ro'}, 200, "application/json", '{"ret":0,"ro'),
        ({"body": b"\x00\xfe"}, 200, "application/json", "\x00\xfe"),
        ({"body": ""}, 200, "application/json", ""),
        ({"http": 502}, 502, "text/html; charset=utf-8", "<html><body><h1>502</h1></body></html>"),
        ({"http": 500, "ret": 1}, 500, "application/javascript", 'f({"ret":1,"msg":"error 1"})'),
        ({"http": 302, "body": "moved"}, 302, "application/json", "moved"),
    ],
)
def test_what_a_fault_answers(stranger, sandbox, fault, status, kind, body):
    """body is sent byte by byte, JSONP or not; http alone as an HTML page."""
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
    calls = [
        (lambda: late.raw(A["get"]), 602),
        (lambda: late.raw(A["get"]), 504),
        (lambda: slow.raw(A["get"]), 602),
        (lambda: slow.raw("/none"), 408),
        (lambda: slow.raw(B["list"], port="B"), 304),
    ]
    for call, code in calls:
        began = time.monotonic()
        assert call().json()["ret"] == code
        assert time.monotonic() - began >= 0.15


def test_a_drop_closes_the_connection_and_logs_nothing(stranger, sandbox, caplog, capfd):
    """drop ends the connection without a byte, and no log and no output shows a failure."""
    caplog.set_level(logging.DEBUG)
    sandbox.fault(A["get"], drop=True, times=1)
    with pytest.raises(requests.ConnectionError):
        stranger.raw(A["get"])
    assert stranger.raw(A["get"]).json()["ret"] == 602
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("after", [True, False])
def test_after_carries_the_operation_out_first(stranger, sandbox, after):
    """With after=True the answer is lost when the write has happened."""
    sandbox.fault(A["create"], drop=True, after=after, times=1)
    with pytest.raises(requests.ConnectionError):
        stranger.create(room_extend_id="e")
    assert stranger.code("get", room_id="e") == (0 if after else 404)
    room_id = stranger.room()
    sandbox.fault(A["del"], ret=409, after=after, times=1)
    assert stranger.code("del", room_id=room_id) == 409
    assert stranger.code("get", room_id=room_id) == (404 if after else 0)


@pytest.mark.parametrize(
    ("path", "fault", "text"),
    [
        ("/rtc/room/gett", {"ret": 1}, "/rtc/room/get,"),
        (A["get"], {}, "needs one"),
        (A["get"], {"ret": 1, "times": 0}, "times"),
        (A["get"], {"http": 99}, "200 and 599"),
        (A["get"], {"delay": -1}, "seconds"),
        (A["get"], {"drop": True, "ret": 1}, "dropped"),
        (A["get"], {"ret": 1, "body": "x"}, "not both"),
    ],
)
def test_a_fault_that_makes_no_sense(sandbox, path, fault, text):
    """An unknown path is a ValueError that lists the paths; so are settings that make no fault."""
    with pytest.raises(ValueError, match=text):
        sandbox.fault(path, **fault)


def test_what_was_wrong_is_logged_when_asked_for(make, caplog):
    """explain=True logs one line for each refused call; refusals keeps the same texts anyway. An
    optional parameter without a value counts as not given, and stands in `remarks`."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    told, odd = "B3 602: B3 spells it accessToken, not access_token", "A2: attendee_max came empty"
    for stranger in (make(explain=True), make()):
        stranger.raw(B["list"], {"access_token": stranger.token}, "B")
        stranger.room()
        assert (stranger.sandbox.refusals, stranger.sandbox.remarks) == ([told], [])
        stranger.room(attendee_max="")
        assert stranger.sandbox.remarks == [odd]
    lines = [record.message for record in caplog.records if record.name == "confkit.sandbox"]
    assert lines == [f"refused {told}", f"taken, but odd: {odd}"]


def test_each_refusal_says_what_was_wrong(stranger, sandbox):
    """Route, method, port, spelling, value and state are named, each in its own words."""
    room_id = stranger.room()
    sandbox.join(room_id, "Ada", user_id="ada")
    digest, get = stranger.sign(sandbox.access_key), A["get"]
    calls = [
        (lambda: stranger.raw("/rtc/room/gett"), "unknown path; interface A has /rtc/auth/valid, "),
        (lambda: stranger.raw(B["list"]), "B3 is served on the port of interface B"),
        (lambda: stranger.raw(B["import"], port="B", method="POST"), "B1 is GET here, not POST"),
        (lambda: stranger.a("get", roomId="x"), "A3 spells it room_id, not roomId"),
        (lambda: stranger.a("get", room="x"), "room_id is missing"),
        (lambda: stranger.raw(f"{get}?{stranger.token}"), "access_token is missing"),
        (lambda: stranger.create(topic="é" * 80), "160 bytes"),
        (lambda: stranger.bring(room_id, "rtsp://h/", "ada"), "userId is taken"),
        (lambda: stranger.raw(get, {"access_token": digest}), "the digest of A1"),
        (lambda: stranger.raw(get, {"access_token": "x"}), "the token is unknown"),
        (lambda: stranger.raw(A["valid"], {"access_key": "x", "digest": "x"}), "access_key"),
    ]
    for call, text in calls:
        call()
        assert text in sandbox.refusals[-1]


BEHIND = (
    "an unknown parameter came right behind userAddress: if it belongs to the address, an & there "
    "has to be percent-encoded"
)


@pytest.mark.parametrize(
    ("rest", "part"),
    [  # what stands unencoded behind a camera's address, and whether it may be a part of it
        ("&subtype=0", True),
        ("&subtype=0&unicast=true", True),
        ("&hunter2", True),
        ("&x=hunter2@h", True),
        ("&callback=f&_=1", False),
        ("&_=1&app=web", False),
    ],
)
def test_an_address_that_was_not_encoded_is_told(make, caplog, rest, part):
    """What an & has cut off a camera's address is reported with the call, refused or taken, and in
    the log; nothing of it is quoted, and a library's own parameters are no part of it."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    stranger = make(explain=True)
    sandbox, room_id = stranger.sandbox, stranger.room()
    url = sandbox.camera("/cam?channel=1", size=(128, 96))
    query = {"accessToken": stranger.token, "roomId": room_id, "userId": "c", "userName": "n"}
    for cut, code in ((url + "0", 426), (url, 0)):
        bare = f"{B['import']}?{urlencode(query)}&userAddress={cut}{rest}"
        assert f'"ret":{code}' in stranger.raw(bare, port="B").text
    assert sandbox.refusals[-1].startswith("B1 426: the camera was not opened: path_not_found")
    told = [text for text in (sandbox.refusals[-1], *sandbox.remarks) if text.endswith(BEHIND)]
    assert len(told) == 2 * part
    assert all(text in caplog.text for text in told)
    assert "hunter2" not in caplog.text


def test_only_what_was_not_encoded_is_taken_for_a_part_of_an_address(stranger, sandbox):
    """Behind an encoded address a client's own parameter is its own; B2 names a cut address, too;
    of a login that was cut nothing shows."""
    room_id, url = stranger.room(), sandbox.camera("/cam?channel=1&subtype=0", size=(128, 96))
    assert stranger.bring(room_id, url, app="web") == 0
    assert sandbox.remarks == []
    query = {"roomId": room_id, "userId": "c", "userName": "n"}
    for name, token, address, code in (
        ("remove", "access_token", url, 425),
        ("import", "accessToken", "rtsp://ada:hun&ter=2/x", 401),
    ):
        bare = f"{B[name]}?{urlencode({token: stranger.token, **query})}&userAddress={address}"
        assert stranger.raw(bare, port="B").json()["ret"] == code
        assert sandbox.refusals[-1].endswith(BEHIND)
        assert "hun" not in sandbox.refusals[-1]


def test_no_secret_in_what_is_said(make, caplog):
    """Neither key, token, digest nor password is in logs, refusals, or the sandbox's repr."""
    caplog.set_level(logging.DEBUG)
    stranger = make(secret_key="top-secret-key", explain=True)
    sandbox = stranger.sandbox
    token, digest = stranger.token, stranger.sign(sandbox.access_key)
    url = sandbox.camera(login_name="admin", login_password="camera-password")
    inside = url.replace("rtsp://", "rtsp://admin:wrong-password@")
    stranger.bring(stranger.room(), inside)
    stranger.bring("r", f"{inside} x")
    stranger.raw(f"{A['get']}&access_token={token}")
    stranger.raw(A["get"], {"access_token": token + "%"})
    stranger.raw(A["valid"], {"access_key": sandbox.access_key, "digest": digest + "\n"})
    ours = [record.getMessage() for record in caplog.records if "urllib3" not in record.name]
    said = "\n".join([*ours, *sandbox.refusals, repr(sandbox), repr(vars(sandbox))])
    for secret in (token, digest, "top-secret-key", "camera-password", "wrong-password"):
        assert secret not in said
