"""Faults on demand, and the reasons of refused calls: a wrong digest or token is made by a mistake,
and the mistake is named."""

import base64
import hmac
import math

import pytest
import requests

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox
from confkit.sandbox.operations import FUNCTIONS
from confkit.sandbox.signatures import Parts, mistakes
from tests.scripted import A1, A3, B1, B3


def test_faults_follow_one_another(caller, sandbox):
    """`times` calls of a path or name get a fault, then the next; one without `times` stays until
    another is set, or `clear_faults`."""
    sandbox.fault("A3", ret=700, times=2)
    sandbox.fault(A3, http=503, times=1)
    assert caller.raw(A3).json() == {"ret": 700, "msg": "database error"}
    assert caller.code("A3", room_id="none") == 700
    assert caller.raw(A3).status_code == 503
    sandbox.fault("B3", ret=424)
    assert caller.code("B3") == caller.code("B3") == 424
    sandbox.clear_faults()
    assert caller.code("B3") == 0
    assert sandbox.count("A3") == sandbox.count(A3) == 3


def test_a_fault_byte_by_byte(caller, sandbox):
    for fault, status, kind, body in (
        ({"http": 502, "body": b"\x00\xfe"}, 502, "application/json", "\x00\xfe"),
        ({"body": {"ret": 0}}, 200, "application/json", '{"ret": 0}'),
        ({"http": 500, "ret": 1}, 500, "application/javascript", 'f({"ret":1,"msg":"error 1"})'),
    ):
        sandbox.fault("A3", **fault)
        response = caller.raw(A3, {"callback": "f"})
        assert (response.status_code, response.headers["content-type"]) == (status, kind)
        assert response.content.decode("latin-1") == body


@pytest.mark.parametrize("after", [True, False])
def test_after_performs_the_operation_first(caller, sandbox, after):
    """The response is lost, or another one; drop closes the connection without a byte."""
    sandbox.fault("A2", drop=True, after=after, times=1)
    with pytest.raises(requests.ConnectionError):
        caller.create(room_extend_id="e")
    sandbox.fault("A2", ret=409, after=after, times=1)
    assert caller.create(room_extend_id="f")["ret"] == 409
    for number in "ef":
        assert caller.code("A3", room_id=number) == (0 if after else 404)


def test_a_fault_that_makes_no_sense(sandbox):
    with pytest.raises(ValueError, match=r"A3 \(/rtc/room/get\), "):
        sandbox.fault("/rtc/room/gett", ret=1)
    for wrong in (
        {"body": 5},
        {"http": "503"},
        {"http": 99},
        {"delay": math.nan},
        {"ret": 7, "drop": True},
    ):
        with pytest.raises(ValueError, match=r"fault needs|delay is"):
            sandbox.fault("A3", **wrong)
    with pytest.raises(ck.ConfigError, match="seconds is nan"):
        sandbox.advance(math.nan)
    with pytest.raises(ck.ConfigError):
        Sandbox(item_keys="kebab")


def test_each_refusal_names_its_reason(caller, sandbox):
    digest = caller.sign(sandbox.access_key)
    for call, text in (
        (lambda: caller.raw("/rtc/room/gett"), "unknown path; interface A has /rtc/auth/valid, "),
        (lambda: caller.raw(B3, port="A"), "B3 is served on the port of interface B"),
        (lambda: caller.raw(B1, method="POST"), "B1 is GET here, not POST: Dialect(create"),
        (lambda: caller.raw(A3, data={"access_token": "x"}), "not in the form body"),
        (  # asked as a proxy is
            lambda: caller.http.get(f"http://h{A3}", proxies={"http": sandbox.base_url}),
            "access_token is missing",
        ),
        (lambda: caller.call("A3", roomId="x"), "A3 spells it room_id, not roomId"),
        (lambda: caller.raw(A3, {"access_token": digest}), "the digest of A1"),
    ):
        call()
        assert text in sandbox.refusals[-1].why


@pytest.mark.parametrize(
    ("theirs", "ours", "key", "setting"),
    [
        ({"hash": "sha256"}, {}, "A1", "hash='sha256'"),
        ({}, {"signature": "raw"}, "A1", "signature='hex'"),
        ({"mcu_token_parameter": "token"}, {}, "A5", "mcu_token_parameter='token'"),
        ({"list_method": "POST"}, {}, "B3", "list_method='POST'"),
        ({"list_method": "POST"}, {"list_method": "POST", "placement": "form"}, "B3", "'query'"),
    ],
)
def test_a_refusal_names_the_setting_that_cures_it(make, theirs, ours, key, setting):
    sandbox = make(theirs).sandbox
    with sandbox.connect() as client, pytest.raises(ck.ApiError):
        client.dialect = ck.Dialect(**ours)
        operation = OPERATIONS["A3" if key == "A1" else key]
        client.call(operation, **dict.fromkeys(operation.required, "1"))
    assert sandbox.refusals[-1].why.endswith(f"{setting})")


def test_a_failure_of_the_sandbox_itself(caller, sandbox, monkeypatch, caplog):
    """It is answered; reason and log name its kind, and nothing of its text."""
    monkeypatch.setitem(FUNCTIONS, "A3", lambda *_: {}["hunter2"])
    assert caller.code("A3", room_id="1") == 700
    assert str(sandbox.refusals[0]) == "A3 700: the sandbox failed: KeyError"
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("text", ["+" * 900 + "x", "%0a" * 300 + "x"])
def test_no_hostile_text_keeps_the_others_waiting(caller, text):
    """Explaining some of them took minutes."""
    url = f"{caller.sandbox.base_url}{A1}?access_key=demo_access&digest={text}"
    assert caller.http.get(url, timeout=20).json()["ret"] == 401


PARTS = Parts("demo_access", "demo_secret", "abc", "def")


def b64(data):
    return base64.b64encode(data).decode()


def mac(name="sha1", key=b"demo_secret", message=b"abc:def"):
    return hmac.new(key, message, name)


def signed(**options):
    return b64(mac(**options).hexdigest().encode())


RIGHT = signed()
# A signature, and what each mistake's text contains: None if no known mistakes explain it.
ROWS = [
    (RIGHT, ()),
    (b64(mac().digest()), ["signature is of the raw bytes"]),
    (signed(name="sha256"), ["the hash is sha256"]),
    (signed(key=b"abc:def", message=b"demo_secret"), ["swapped"]),
    (signed(key=b"demo_access"), ["access key was used"]),
    (signed(message=b"abcdef"), ["colon is missing between random and key"]),
    (signed(message=b"demo_access"), ["this is the digest"]),
    (mac().hexdigest(), ["not base64-encoded"]),
    (RIGHT.rstrip("="), ["too few or too many ="]),
    (RIGHT[:-1], ["too few or too many ="]),
    (b64(mac("sha256").digest()), ["the hash is sha256", "signature is of the raw bytes"]),
    (b64(mac("sha256", b"demo_secret\n").digest()), None),  # three at once
    *((text, None) for text in ("", "é", "\ud800", "0" * 100_000)),
]


@pytest.mark.parametrize(("signature", "expected"), ROWS)
def test_mistakes_are_named_and_none_is_made_up(signature, expected):
    reasons = mistakes("token", signature, PARTS, ck.Dialect(), travelled=True)
    assert (reasons is None) == (expected is None)
    for part, text in zip(expected or [], sorted(reasons or []), strict=True):
        assert part in text
