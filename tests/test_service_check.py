"""The check of a service: what each interface says, without raising and without failed logins."""

import itertools
import json
import socket

import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from confkit.service_check import check_service
from tests.scripted import AUTHENTICATE, GRANTED, VECTOR_TOKEN, Reply

LIST = "/avd/api/outgoing/getOutgoingUsers"
EMPTY = {"ret": 0, "data": {"total": 0, "items": []}}


@pytest.fixture
def nowhere():
    """An address at which nobody listens, and nobody will while the test runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_a_service_that_is_well_is_told_so_in_both_interfaces(client, sandbox):
    """Both are ok, with their addresses, what was found, and no advice."""
    a, b = check_service(client)
    assert (a.interface, a.address, a.ok, a.error, a.advice) == (
        "A", sandbox.base_url, True, None, ""
    )  # fmt: skip
    assert (b.interface, b.address, b.ok, b.error) == ("B", sandbox.outgoing_url, True, None)
    assert b.found == "it answers and accepts the token; no devices are listed"
    assert sandbox.count(AUTHENTICATE) == sandbox.count(LIST) == 1
    assert str(a) == f"✓ A {sandbox.base_url}: it answers and accepts the keys ({a.seconds:.2f} s)"


def test_seconds_are_those_of_the_clock(client):
    """What each check took is told in seconds."""
    ticks = itertools.count(0, 3)
    assert [check.seconds for check in check_service(client, clock=lambda: next(ticks))] == [3, 3]


def test_the_keys_are_tried_even_where_a_token_is_held_and_it_is_used_from_then_on(script):
    """A token from before proves nothing about the keys: one new login, whose token stays."""
    nonces = (str(number) for number in itertools.count())
    service = script({
        AUTHENTICATE: lambda _: {"ret": 0, "random": next(nonces), "key": "k"}, LIST: EMPTY,
    })  # fmt: skip
    client = service.client()
    before = client.token()
    assert [check.ok for check in check_service(client)] == [True, True]
    assert client.token() != before
    assert service.seen[AUTHENTICATE] == 2
    assert service.requests[-1][2]["accessToken"] == client.token()


def test_wrong_keys_cost_one_failed_login_and_b_is_not_tried(script):
    """Without a token B is left alone, and says so: not tried is neither well nor broken."""
    service = script({AUTHENTICATE: {"ret": 401}, LIST: EMPTY})
    a, b = check_service(service.client())
    assert (a.ok, a.found) == (False, "it answers, and refuses: authentication failed (401)")
    assert isinstance(a.error, ck.AuthenticationFailed)
    assert "secret key" in a.advice
    assert (b.ok, b.error, b.seconds) == (None, None, 0.0)
    assert b.found == "not tried: no token, because interface A gave none"
    assert service.seen == {AUTHENTICATE: 1}


def test_when_a_gives_no_token_any_more_b_is_asked_with_the_one_before(script):
    """A that has come to refuse the keys does not hide that B still answers; one login failed."""
    service = script({AUTHENTICATE: [GRANTED, {"ret": 401}], LIST: EMPTY})
    client = service.client()
    client.token()
    a, b = check_service(client)
    assert (a.ok, b.ok) == (False, True)
    assert service.requests[-1][2]["accessToken"] == VECTOR_TOKEN
    assert service.seen == {AUTHENTICATE: 2, LIST: 1}


def test_a_token_that_b_refuses_costs_no_further_login_where_a_had_failed(script):
    """The older token is refused too: that is told, and nobody logs in again."""
    service = script({AUTHENTICATE: [GRANTED, {"ret": 401}], LIST: {"ret": 602}})
    client = service.client()
    client.token()
    a, b = check_service(client)
    assert (a.ok, b.ok) == (False, False)
    assert service.seen == {AUTHENTICATE: 2, LIST: 1}


@pytest.mark.parametrize("down", ["A", "B", "both"])
def test_a_service_that_is_down_is_told_and_never_raised(script, nowhere, down):
    """No connection is told of the interface that has none, with the next step."""
    service = script({LIST: EMPTY})
    urls = (
        service.base_url if down == "B" else nowhere,
        service.base_url if down == "A" else nowhere,
    )
    client = ck.Client(*urls, "demo_access", "demo_secret", sleep=lambda _: None)
    a, b = check_service(client)
    assert (a.ok, b.ok) == ((True, False) if down == "B" else (False, None))
    failed = b if down == "B" else a
    assert (failed.address, failed.found) == (nowhere, "it refused the connection")
    assert failed.advice.startswith("Check that the service runs")
    assert isinstance(failed.error, ck.TransportError)


@pytest.mark.parametrize(
    "reply", [Reply("<html>hello</html>", kind="text/html"), Reply("", status=500), [1]]
)
def test_something_else_that_answers_is_not_taken_for_the_service(script, reply):
    """A web page, an empty answer and other JSON are not the interface."""
    reply = Reply(json.dumps(reply)) if isinstance(reply, list) else reply
    a, _ = check_service(script({AUTHENTICATE: reply}).client())
    assert (a.ok, a.found) == (False, "something answers there, but not as interface A does")
    assert a.advice
    b = check_service(script({LIST: reply}).client())[1]
    assert (b.ok, b.found) == (False, "something answers there, but not as interface B does")


def test_a_device_service_that_is_stopped_is_named(client, sandbox):
    """A's keys are fine then, and B says what is wrong with it."""
    sandbox.device_service("stopped")
    a, b = check_service(client)
    assert (a.ok, b.ok) == (True, False)
    assert b.found.startswith("it answers, and refuses: ")
    assert "304" in b.found
    assert b.advice


def test_a_closed_client_is_told_not_raised():
    """A sandbox that has ended gives a failed check that says how to go on."""
    with Sandbox(seed=1) as sandbox:
        client = sandbox.connect()
    a, b = check_service(client)
    assert (a.ok, a.found, b.ok) == (False, "this sandbox is closed", None)
    assert a.advice == "Connect again"


def test_no_check_shows_a_secret(script):
    """What a service quotes of keys and token is masked in every text and repr."""
    service = script({LIST: {"ret": 401, "msg": f"key demo_secret token {VECTOR_TOKEN}"}})
    told = "".join(f"{check} {check!r} {check.advice}" for check in check_service(service.client()))
    service = script({AUTHENTICATE: {"ret": "odd demo_secret", "msg": "of demo_secret"}})
    told += "".join(f"{check} {check!r}" for check in check_service(service.client()))
    assert "***" in told
    assert VECTOR_TOKEN not in told
    assert "demo_secret" not in told
