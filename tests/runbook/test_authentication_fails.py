"""The runbook authentication-fails: each of the usual causes is reported as what it is."""

import pytest

import confkit as ck
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox
from tests.runbook.harness import play

LOGIN = "/rtc/auth/valid"
HOLDS = "a token holds for several calls"
SECOND = "a second login leaves the first one's token alone"


@pytest.mark.parametrize(
    ("scene", "check", "found"),
    [
        ("rotated-secret", "authentication", "A1 refuses the keys (401)"),
        ("white-space", "no white space stands around the keys and addresses", "secret_key"),
        ("signature", "authentication", "your secret is right"),
        ("token-refused", "token in A", "A3 does not accept it (602)"),
        ("tokens-end", HOLDS, "3 calls needed 3 logins"),
    ],
)
def test_each_cause_is_the_one_line_that_fails(scene, check, found):
    """One FAIL, with the cause in it and a next step."""
    played = play("authentication-fails", scene=scene)
    failed = [one for one in played.checks if one.verdict == "FAIL"]
    assert [one.check for one in failed] == [check], played
    assert found in failed[0].found
    assert failed[0].advice
    assert "yesterdays-secret" not in played.text
    assert "demo_secret" not in played.text


def test_keys_that_work_pass_and_cost_two_logins():
    """One of the doctor, one of the client that uses its token; none fails."""
    played = play("authentication-fails", scene="healthy")
    assert played.verdict == "PASS"
    assert played[HOLDS].found == "3 calls, 1 login"
    assert played[SECOND].verdict == "SKIP"


def test_a_wrong_signature_costs_one_failed_login_and_no_change(client, sandbox):
    """The doctor goes on with the signature that it found, and what needs the client's own token is
    not tried with keys that are refused; B2, which is a change, is not asked."""
    played = play("authentication-fails", client, scene="signature", apply=True)
    assert played["authentication"].verdict == "FAIL"
    assert played["token in B"].verdict == "PASS"
    for check in (HOLDS, SECOND):
        assert played[check].found == "not tried: 'authentication' is FAIL"
    assert [text[:6] for text in sandbox.refusals].count("A1 401") == 1
    assert sandbox.count(LOGIN) == 2
    assert sandbox.count("/avd/api/outgoing/destroyOutgoingUser") == 0


def test_no_more_logins_fail_than_are_allowed(sandbox):
    """Accounts may lock: with failed_logins=1 one login is tried, and what was left is said."""
    with ck.connect(
        base_url=sandbox.base_url,
        outgoing_url=sandbox.outgoing_url,
        access_key=sandbox.access_key,
        secret_key="wrong",
    ) as client:
        played = play("authentication-fails", client, failed_logins=1)
    assert played.verdict == "FAIL"
    assert sandbox.count(LOGIN) == 1
    assert "not tried" in played["authentication"].found


def test_a_second_login_is_tried_with_apply_alone(client):
    """This service leaves the first token alone."""
    played = play("authentication-fails", client, scene="healthy", apply=True)
    assert played[SECOND].found == "both tokens are accepted"


def test_a_service_that_cannot_be_reached_is_not_said_to_refuse(client):
    """The line that fails is the connection's, and no login is judged."""
    sandbox = client.sandbox
    with ck.connect(
        base_url="http://127.0.0.1:1",
        outgoing_url=sandbox.outgoing_url,
        access_key="k",
        secret_key="s-e-c",
    ) as lost:
        played = play("authentication-fails", lost)
    assert played["TCP to A"].verdict == "FAIL"
    assert played["authentication"].verdict == "SKIP"
    assert played[HOLDS].verdict == "SKIP"


def test_it_says_the_same_of_a_service_with_another_dialect_and_latency():
    """Raw SHA-256 over POST, each answer 50 ms later: still PASS."""
    dialect = Dialect(hash="sha256", signature="raw", list_method="POST", placement="json")
    with Sandbox(seed=3, dialect=dialect) as sandbox, sandbox.connect() as client:
        for path in (LOGIN, "/rtc/room/get"):
            sandbox.fault(path, delay=0.05)
        assert play("authentication-fails", client, scene="healthy", apply=True).verdict == "PASS"
