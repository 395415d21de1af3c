"""Faults on demand, and what is said of refused calls."""

import logging
import time
from urllib.parse import urlencode

import pytest
import requests

from .conftest import A, B


def test_a_result_code_for_some_calls(stranger, sandbox):
    """ret answers the next `times` calls, whatever they carry, then all is as before."""
    room_id = stranger.room()
    sandbox.fault(A["get"], ret=700, times=2)
    assert stranger.raw(A["get"]).json() == {"ret": 700, "msg": "database error"}
    assert stranger.a("get", room_id=room_id)["ret"] == 700
    assert stranger.a("get", room_id=room_id)["ret"] == 0
    assert stranger.a("info", room_id=room_id)["ret"] == 0


def test_a_fault_until_it_is_cleared(stranger, sandbox):
    """Without times a fault stays, is replaced by the next one, and goes with clear_faults."""
    sandbox.fault(B["list"], ret=424)
    assert stranger.b("list")["ret"] == 424
    sandbox.fault(B["list"], ret=304)
    assert stranger.b("list")["ret"] == 304
    sandbox.clear_faults()
    assert stranger.b("list")["ret"] == 0


def test_faults_follow_one_another(stranger, sandbox):
    """Several faults of one path are played in the order in which they were set."""
    sandbox.fault(B["list"], ret=304, times=1)
    sandbox.fault(B["list"], http=503, times=1)
    assert stranger.b("list")["ret"] == 304
    assert stranger.raw(B["list"], port="B").status_code == 503
    assert stranger.b("list")["ret"] == 0


def test_latency_lets_every_answer_wait(make):
    """With latency each answer of both interfaces waits so long, refusals and faults too."""
    stranger = make(latency=0.15)
    stranger.sandbox.fault(B["list"], ret=304, times=1)
    calls = [
        lambda: stranger.login(),
        lambda: stranger.raw(A["get"]),
        lambda: stranger.raw("/none"),
        lambda: stranger.raw(B["list"], port="B"),
        lambda: stranger.raw(B["list"], port="B"),
    ]
    for call in calls:
        began = time.monotonic()
        call()
        assert time.monotonic() - began >= 0.15


def test_a_wrong_method_does_not_use_up_a_fault(stranger, sandbox):
    """408 comes before the fault."""
    sandbox.fault(A["get"], ret=409, times=1)
    assert stranger.raw(A["get"], method="POST").json()["ret"] == 408
    assert stranger.raw(A["get"]).json()["ret"] == 409


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<html>oops", "text/html"),
        ('{"ret":0,"ro', "application/json"),
        (b"\x00\xff", None),
        ("", None),
    ],
)
def test_a_body_is_sent_as_it_is(stranger, sandbox, body, kind):
    """body is sent byte by byte, JSONP or not."""
    sandbox.fault(A["get"], body=body)
    answer = stranger.raw(A["get"], {"callback": "f"})
    assert answer.status_code == 200
    assert answer.content == (body.encode() if isinstance(body, str) else body)
    assert kind is None or answer.headers["content-type"].startswith(kind)


def test_an_http_status(stranger, sandbox):
    """http answers with that status, alone as an HTML page, or with a code or body."""
    sandbox.fault(A["get"], http=502, times=1)
    sandbox.fault(A["get"], http=500, ret=700, times=1)
    sandbox.fault(A["get"], http=302, body="moved", times=1)
    first = stranger.raw(A["get"])
    assert (first.status_code, first.headers["content-type"][:9]) == (502, "text/html")
    second = stranger.raw(A["get"])
    assert (second.status_code, second.json()["ret"]) == (500, 700)
    third = stranger.raw(A["get"], allow_redirects=False)
    assert (third.status_code, third.text) == (302, "moved")


def test_a_delay_alone_answers_as_usual(stranger, sandbox):
    """delay makes a call wait, and others do not wait with it."""
    sandbox.fault(A["get"], delay=0.3, times=1)
    began = time.monotonic()
    assert stranger.a("get", room_id="x")["ret"] == 404
    assert time.monotonic() - began >= 0.3
    sandbox.fault(A["get"], delay=0.2, ret=504, times=1)
    began = time.monotonic()
    assert stranger.a("get", room_id="x")["ret"] == 504
    assert time.monotonic() - began >= 0.2


def test_a_drop_closes_the_connection_and_logs_nothing(stranger, sandbox, caplog, capfd):
    """drop ends the connection without a byte, and no log and no output shows a failure."""
    caplog.set_level(logging.DEBUG)
    sandbox.fault(A["get"], drop=True, times=1)
    with pytest.raises(requests.ConnectionError):
        stranger.raw(A["get"])
    assert stranger.raw(A["get"]).json()["ret"] == 602
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert capfd.readouterr() == ("", "")


def test_after_carries_the_operation_out_first(stranger, sandbox):
    """With after=True the answer is lost when the write has happened."""
    fields = {"topic": "x", "owner_id": "o", "room_mode": 1, "room_extend_id": "e"}
    sandbox.fault(A["create"], drop=True, after=True, times=1)
    with pytest.raises(requests.ConnectionError):
        stranger.a("create", **fields)
    assert stranger.a("get", room_id="e")["ret"] == 0
    sandbox.fault(A["del"], ret=409, after=True, times=1)
    assert stranger.a("del", room_id="e")["ret"] == 409
    assert stranger.a("get", room_id="e")["ret"] == 404
    sandbox.fault(A["create"], drop=True, times=1)
    with pytest.raises(requests.ConnectionError):
        stranger.a("create", **fields)
    assert stranger.a("get", room_id="e")["ret"] == 404


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
    """explain=True logs one line for each refused call; refusals keeps the same texts anyway."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    loud, quiet = make(explain=True), make()
    for stranger in (loud, quiet):
        stranger.raw(B["list"], {"access_token": stranger.token}, "B")
        assert stranger.sandbox.refusals == ["B3 602: B3 spells it accessToken, not access_token"]
    lines = [record.message for record in caplog.records if record.name == "confkit.sandbox"]
    assert lines == ["refused B3 602: B3 spells it accessToken, not access_token"]


def test_each_refusal_says_what_was_wrong(stranger, sandbox):
    """Route, method, port, spelling, value and state are named, each in its own words."""
    room_id = stranger.room()
    sandbox.join(room_id, "Ada", user_id="ada")
    digest = stranger.sign(sandbox.access_key)
    calls = [
        (lambda: stranger.raw("/rtc/room/gett"), "unknown path; interface A has /rtc/auth/valid, "),
        (lambda: stranger.raw(B["list"]), "B3 is served on the port of interface B"),
        (lambda: stranger.raw(B["import"], port="B", method="POST"), "B1 is GET here, not POST"),
        (lambda: stranger.a("get", roomId="x"), "A3 spells it room_id, not roomId"),
        (lambda: stranger.a("get", room="x", y="1"), "room_id is missing"),
        (lambda: stranger.raw(f"{A['get']}?{stranger.token}"), "access_token is missing"),
        (lambda: stranger.a("create", topic="é" * 80, owner_id="o", room_mode=1), "160 bytes"),
        (lambda: stranger.bring(room_id, "rtsp://h/", "ada"), "userId is taken"),
        (lambda: stranger.raw(A["get"], data={"access_token": "t"}), "access_token is missing"),
        (lambda: stranger.raw(A["get"], {"access_token": digest}), "the digest of A1"),
        (lambda: stranger.raw(A["get"], {"access_token": "x"}), "the token is unknown"),
        (lambda: stranger.raw(A["valid"], {"access_key": "x", "digest": "x"}), "access_key"),
    ]
    for call, text in calls:
        call()
        assert text in sandbox.refusals[-1]


# What stands unencoded behind a camera's address in a query, and whether it may be a part of it.
CUT = {
    "&subtype=0": True,
    "&subtype=0&unicast=true": True,
    "&hunter2": True,
    "&x=hunter2@h": True,
    "&callback=f&_=1": False,
    "&_=1&app=web": False,
}
BEHIND = (
    "an unknown parameter came right behind userAddress: if it belongs to the address, an & there "
    "has to be percent-encoded"
)


@pytest.mark.parametrize("rest", CUT)
@pytest.mark.parametrize("plays", [True, False], ids=["taken", "refused"])
def test_an_address_that_was_not_encoded_is_told(make, caplog, rest, plays):
    """What an & has cut off a camera's address is reported with the call, refused or taken, and in
    the log; nothing of it is quoted, and a library's own parameters are no part of it."""
    caplog.set_level(logging.INFO, "confkit.sandbox")
    stranger = make(explain=True)
    sandbox, room_id = stranger.sandbox, stranger.room()
    cut = sandbox.camera("/cam?channel=1", size=(128, 96)) + ("" if plays else "0")
    query = {"accessToken": stranger.token, "roomId": room_id, "userId": "c", "userName": "n"}
    bare = f"{B['import']}?{urlencode(query)}&userAddress={cut}{rest}"
    assert ('"ret":0' in stranger.raw(bare, port="B").text) == plays
    said = sandbox.remarks if plays else sandbox.refusals
    told = [text for text in said if "userAddress" in text]
    assert [text.endswith(BEHIND) for text in told] == [True] * CUT[rest]
    assert [text in caplog.text for text in told] == [True] * len(told)
    assert "hunter2" not in caplog.text
    if not plays:
        assert sandbox.refusals[-1].startswith("B1 426: the camera was not opened: path_not_found")


def test_only_what_was_not_encoded_is_taken_for_a_part_of_an_address(stranger, sandbox):
    """Behind an encoded address a client's own parameter is its own; B2 names a cut address, too;
    of a login that was cut nothing shows."""
    room_id, url = stranger.room(), sandbox.camera("/cam?channel=1&subtype=0", size=(128, 96))
    assert (
        stranger.b("import", roomId=room_id, userId="c", userName="n", userAddress=url, app="web")[
            "ret"
        ]
        == 0
    )
    assert sandbox.remarks == []
    query = {"access_token": stranger.token, "roomId": room_id, "userId": "c"}
    bare = f"{B['remove']}?{urlencode(query)}&userAddress={url}"
    assert stranger.raw(bare, port="B").json()["ret"] == 425
    assert sandbox.refusals[-1].endswith(BEHIND)
    query = {"accessToken": stranger.token, "roomId": room_id, "userId": "d", "userName": "n"}
    bare = f"{B['import']}?{urlencode(query)}&userAddress=rtsp://ada:hun&ter=2/x"
    assert stranger.raw(bare, port="B").json()["ret"] == 401
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
