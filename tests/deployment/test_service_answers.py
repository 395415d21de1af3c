"""Whether both interfaces answer: told without raising, and at the cost of one failed login."""

import itertools
import json
import socket

import pytest

import confkit as ck
from confkit.deployment import service_answers
from confkit.sandbox import Sandbox
from tests.deployment.seeing import A1, B3, EMPTY, verdicts
from tests.scripted import GRANTED, VECTOR_TOKEN, Reply


@pytest.fixture
def nowhere():
    """An address at which nobody listens, and nobody will while the test runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_a_service_that_is_well_is_told_so_in_both_interfaces(client, sandbox):
    """Both pass with what was found and no advice, by one call each."""
    a, b = service_answers(client)
    assert a == ck.Check("interface A", "PASS", "it answers and accepts the keys")
    listed = "it answers and accepts the token; no devices are listed"
    assert b == ck.Check("interface B", "PASS", listed)
    assert sandbox.count(A1) == sandbox.count(B3) == 1


def test_the_keys_are_tried_even_where_a_token_is_held_and_it_is_used_from_then_on(script):
    """A token from before proves nothing about the keys: one new login, whose token stays."""
    nonces = (str(number) for number in itertools.count())
    service = script({A1: lambda _: {"ret": 0, "random": next(nonces), "key": "k"}, B3: EMPTY})
    client = service.client()
    before = client.token()
    assert service_answers(client).ok
    assert client.token() != before
    assert service.seen[A1] == 2
    assert service.requests[-1][2]["accessToken"] == client.token()


def test_wrong_keys_cost_one_failed_login_and_b_is_not_tried(script):
    """Without a token B is left alone, and says so: not tried is neither well nor broken."""
    service = script({A1: {"ret": 401}, B3: EMPTY})
    checks = service_answers(service.client())
    assert verdicts(checks) == "FS"
    assert checks[0].found == "it answers, and refuses: authentication failed (401)"
    assert "secret key" in checks[0].advice
    assert checks[1].found == "not tried: no token, because interface A gave none"
    assert service.seen == {A1: 1}


@pytest.mark.parametrize(("listing", "told"), [(EMPTY, "FP"), ({"ret": 602}, "FF")])
def test_when_a_gives_no_token_any_more_b_is_asked_with_the_one_before(script, listing, told):
    """A that has come to refuse the keys does not hide that B answers; nobody logs in again."""
    service = script({A1: [GRANTED, {"ret": 401}], B3: listing})
    client = service.client()
    client.token()
    assert verdicts(service_answers(client)) == told
    assert service.requests[-1][2]["accessToken"] == VECTOR_TOKEN
    assert service.seen == {A1: 2, B3: 1}


@pytest.mark.parametrize(("down", "verdict"), [("A", "US"), ("B", "PU"), ("both", "US")])
def test_a_service_that_is_down_is_told_and_never_raised(script, nowhere, down, verdict):
    """No connection is told of the interface that has none, with the next step."""
    url = script({B3: EMPTY}).base_url
    urls = (url if down == "B" else nowhere, url if down == "A" else nowhere)
    client = ck.Client(*urls, "demo_access", "demo_secret", sleep=lambda _: None)
    checks = service_answers(client)
    assert verdicts(checks) == verdict
    failed = checks[down == "B"]
    assert failed.found == "it refused the connection"
    assert failed.advice.startswith("Check that the service runs")


@pytest.mark.parametrize("reply", [Reply("<p>", kind="text/html"), Reply("", status=500), [1]])
def test_something_else_that_answers_is_not_taken_for_the_service(script, reply):
    """A web page, an empty answer and other JSON are not the interface."""
    reply = Reply(json.dumps(reply)) if isinstance(reply, list) else reply
    for script_of, place in (({A1: reply}, 0), ({B3: reply}, 1)):
        check = service_answers(script(script_of).client())[place]
        assert check.verdict == "FAIL"
        assert check.found == f"something answers there, but not as interface {'AB'[place]} does"
        assert check.advice


def test_a_device_service_that_is_stopped_is_named(client, sandbox):
    """A's keys are fine then, and B says what is wrong with it."""
    sandbox.device_service("stopped")
    checks = service_answers(client)
    assert verdicts(checks) == "PF"
    assert checks[1].found.startswith("it answers, and refuses: ")
    assert "304" in checks[1].found


def test_a_closed_client_is_told_not_raised():
    """A sandbox that has ended gives a failed check that says how to go on."""
    with Sandbox(seed=1) as sandbox:
        client = sandbox.connect()
    a, b = service_answers(client)
    assert (a.found, a.advice, b.verdict) == ("this sandbox is closed", "Connect again.", "SKIP")


def test_no_check_shows_a_secret(script):
    """What a service quotes of keys and token is masked in every text and repr."""
    service = script({B3: {"ret": 401, "msg": f"key demo_secret token {VECTOR_TOKEN}"}})
    shown = repr(service_answers(service.client()))
    service = script({A1: {"ret": "odd demo_secret", "msg": "of demo_secret"}})
    shown += repr(service_answers(service.client()))
    assert "***" in shown
    assert VECTOR_TOKEN not in shown
    assert "demo_secret" not in shown
