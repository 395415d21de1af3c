"""Whether both interfaces answer: said without raising, and at the cost of one failed login."""

import pytest

import confkit as ck
from confkit.deployment import service_answers
from confkit.sandbox import Sandbox
from tests.deployment.seeing import A1, B3, EMPTY, url, verdicts
from tests.ports import quiet_port
from tests.scripted import GRANTED, Reply

PAGE, NOTHING, ARRAY = Reply("<p>", kind="text/html"), Reply("", status=500), Reply("[1]")
OTHER = "something answers there, but not as interface {} does"
# What a service answers to A1 and to B3; the verdicts, and what is found of the first that fails.
SICK = {
    "wrong keys": ({"ret": 401}, EMPTY, "FS", "and refuses: authentication failed (401)"),
    "a page in A": (PAGE, EMPTY, "FS", OTHER.format("A")),
    "nothing in A": (NOTHING, EMPTY, "FS", OTHER.format("A")),
    "an array in A": (ARRAY, EMPTY, "FS", OTHER.format("A")),
    "a page in B": (GRANTED, PAGE, "PF", OTHER.format("B")),
    "nothing in B": (GRANTED, NOTHING, "PF", OTHER.format("B")),
    "an array in B": (GRANTED, ARRAY, "PF", OTHER.format("B")),
    "a service that is stopped": (GRANTED, {"ret": 304}, "PF", "it answers, and refuses: get fail"),
}


def test_a_service_that_is_well_is_told_so_in_both_interfaces(client, sandbox):
    """Both pass with what was found and no advice, by one call each; once it has ended that is
    reported, too."""
    a, b = service_answers(client)
    assert a == ck.Check("interface A", "PASS", "it answers and accepts the keys")
    listed = "it answers and accepts the token; no devices are listed"
    assert b == ck.Check("interface B", "PASS", listed)
    assert sandbox.count(A1) == sandbox.count(B3) == 1
    with Sandbox(seed=1) as ended:
        client = ended.connect()
    a, b = service_answers(client)
    assert (a.found, a.advice, b.verdict) == ("this sandbox is closed", "Connect again.", "SKIP")


@pytest.mark.parametrize(("login", "listing", "told", "found"), SICK.values(), ids=SICK)
def test_a_service_that_is_sick_is_told_with_the_next_step(script, login, listing, told, found):
    """One login at most; without a token B is left alone, and says so: not tried is neither well
    nor broken."""
    service = script({A1: login, B3: listing})
    checks = service_answers(service.client(sleep=lambda _: None))
    assert verdicts(checks) == told
    failed = checks[told.index("F")]
    assert found in failed.found
    assert failed.advice
    if told == "FS":
        assert checks[1].found == "not tried: no token, because interface A gave none"
        assert service.seen[B3] == 0
        assert service.seen[A1] == 1 or login is NOTHING  # a read is tried again under HTTP 500


@pytest.mark.parametrize(
    ("login", "listing", "told"),
    [
        ({**GRANTED, "key": "new"}, EMPTY, "PP"),
        ({"ret": 401}, EMPTY, "FP"),
        ({"ret": 401}, {"ret": 602}, "FF"),
    ],
)
def test_the_keys_are_tried_even_where_a_token_is_held(script, login, listing, told):
    """A token from before proves nothing about the keys: one new login, whose token stays; without
    one B is asked with the token from before, and nobody logs in again."""
    service = script({A1: [GRANTED, login], B3: listing})
    client = service.client()
    before = client.token()
    assert verdicts(service_answers(client)) == told
    used = service.requests[-1][2]["accessToken"]
    assert used == (client.token() if told == "PP" else before)
    assert (used == before, service.seen) == (told != "PP", {A1: 2, B3: 1})


@pytest.mark.parametrize(("down", "verdict"), [("A", "US"), ("B", "PU"), ("both", "US")])
def test_a_service_that_is_down_is_told_and_never_raised(script, down, verdict):
    """No connection is reported of the interface that has none, with the next step."""
    up, nowhere = script({B3: EMPTY}).base_url, url(quiet_port())
    urls = (up if down == "B" else nowhere, up if down == "A" else nowhere)
    checks = service_answers(ck.Client(*urls, "a", "s", sleep=lambda _: None))
    assert verdicts(checks) == verdict
    failed = checks[down == "B"]
    assert failed.found == "it refused the connection"
    assert failed.advice.startswith("Check that the service runs")
