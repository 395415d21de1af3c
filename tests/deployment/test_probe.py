"""`probe_dialect`: every dialect of the sandbox, its limits, and services that are unlike it."""

import random
import re
import warnings

import pytest

import confkit as ck
from confkit.connect import SERVICE
from confkit.dialect import CHOICES, Dialect
from confkit.sandbox import Sandbox
from tests.deployment.services import A1, A2, A3, A5, B1, B2, B3, USUAL, checked, dialects, plain
from tests.ports import quiet_port
from tests.scripted import Reply

SIGNATURES = [(name, form) for name in CHOICES["hash"] for form in CHOICES["signature"]]
DIALECTS = dialects(seed=6, count=12)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: str(dialect.changes()))
def test_every_dialect_is_found_from_any_other(dialect):
    """Nothing stays open, nothing is created or removed, and a right guess fails no login. B1 is
    sent a token at most, and B2 no user of this service."""
    guesses = [Dialect(), random.Random(str(dialect)).choice(DIALECTS), dialect]
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Weekly sync", "ops")
        for guess in guesses:
            client.dialect, logins = guess, sandbox.count(A1)
            assert plain(ck.probe_dialect(client)) == dialect
            failed = sandbox.count(A1) - logins - 1
            assert failed <= 7 * (guess.changes() != dialect.changes())
            assert client.dialect == guess
        assert (sandbox.room_ids(), sandbox.count(A2)) == ([room_id], 1)
        for call in client.calls:
            assert call.endpoint != "B1" or set(call.fields) <= {"accessToken"}
            assert call.endpoint != "B2" or call.fields["roomId"] != room_id


@pytest.mark.parametrize(("wanted", "bound"), [(0, 1), (3, 2), (3, 5), (7, 7), (7, 8)])
def test_never_more_logins_fail_than_the_bound_allows(wanted, bound):
    """Where the bound ends the search, the error names what was not tried."""
    name, form = SIGNATURES[wanted]
    right = Dialect(hash=name, signature=form)
    with Sandbox(seed=1, dialect=right) as sandbox, sandbox.connect() as client:
        client.dialect = Dialect()
        if wanted < bound:
            assert ck.probe_dialect(client, max_failed_logins=bound) == right
        else:
            with pytest.raises(ck.AuthenticationFailed, match="max_failed_logins=8") as refusal:
                ck.probe_dialect(client, max_failed_logins=bound)
            assert f"{name} {form}" in str(refusal.value).partition("not tried")[2]
        assert sandbox.count(A1) == min(wanted + 1, bound)


def test_keys_that_no_signature_makes_right(sandbox):
    """All eight were refused, so it is a key; and no login at all is a mistake of the caller."""
    keys = {name: getattr(sandbox, name) for name in SERVICE}
    client = ck.Client(**{**keys, "secret_key": "s0me-0ther"})
    with pytest.raises(ck.AuthenticationFailed, match="a key is probably wrong") as refusal:
        ck.probe_dialect(client)
    assert ("s0me" in str(refusal.value), refusal.value.ret) == (False, 401)
    for bound in (0, 1.5):
        with pytest.raises(ck.ConfigError, match=f"max_failed_logins is {bound}"):
            ck.probe_dialect(client, max_failed_logins=bound)
    assert sandbox.count(A1) == 8


OTHER = "accessToken"
PAGE = Reply("<html>no such method</html>", 405, "text/html")
ZERO = {path: {"ret": 0} for path in (A3, A5, B1, B2, B3)}
TWO = {A3: checked(404, 407, "access_tocken"), A5: checked(410, 602, "token")}
IN_A, IN_A5, IN_B2 = "token_parameter", "mcu_token_parameter", "remove_token_parameter"
# What differs from a usual service, which settings stay open, one of the reasons, and what differs
# from the usual dialect.
UNLIKE = {
    "usual": ({}, "", "", {}),
    "expired": ({A3: {"ret": 602}}, IN_A, "A3 refused the token in every known form: 602", {}),
    "the room before the token": ({A3: {"ret": 404}}, IN_A, "404: room not found, with the", {}),
    "success to all": (ZERO, f"{IN_A} {IN_A5} {IN_B2} create_method", "A3: success, with", {}),
    "a passing fault": ({A3: [{"ret": 504}, {"ret": 602}]}, IN_A, "504", {}),
    "no device service": ({B3: checked(304, 602, OTHER)}, "list_method", "304: get failed", {}),
    "B2 by success": ({B2: checked(0, 401, OTHER)}, "", "", {IN_B2: OTHER}),
    "two names in A": (TWO, "", "", {IN_A: "access_tocken", IN_A5: "token"}),
    "B1 looks at parameters first": ({B1: {"ret": 401}}, "create_method", "401: wrong param", {}),
    "B3 drops": ({B3: Reply(drop=True)}, "list_method", "closed the connection", {}),
    "a page for A5": ({A5: PAGE}, IN_A5, "expected JSON, got HTML", {}),
}


@pytest.mark.parametrize("row", UNLIKE.values(), ids=UNLIKE)
def test_only_an_answer_that_differs_without_a_token_settles_a_setting(script, row):
    """The rest stays as it is, and a warning names it with the reason."""
    differences, unknown, reason, changes = row
    client = script({**USUAL, **differences}).client()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert ck.probe_dialect(client).changes() == changes
    text = "".join(str(warning.message) for warning in caught)
    assert re.findall(r"[:;] (\w+) \(", text) == unknown.split()
    assert reason in text


def test_a_room_settles_what_no_room_does(script):
    """Of a service that looks for the room first, a room that is there shows the name."""
    room = checked({"ret": 0, "room_id": "7"}, 602, "token")
    there = lambda query: room(query) if query["room_id"] == "7" else {"ret": 404}  # noqa: E731
    client = script({**USUAL, A3: there, A5: there}).client()
    assert ck.probe_dialect(client, "7").changes() == {"token_parameter": "token"}


def test_a_client_that_is_read_only_sends_no_change(sandbox):
    """B1 and B2 stay open."""
    why = r"\(this client is read only\)"
    with pytest.warns(UserWarning, match=rf"determined: remove_\w+ {why}; create_\w+ {why}$"):
        assert ck.probe_dialect(sandbox.connect(read_only=True)) == Dialect()
    assert (sandbox.count(B1), sandbox.count(B2)) == (0, 0)


NEITHER = {
    "unknown code": ({"ret": 12345}, ck.ApiError),
    "page": ({"body": "<html>Bad gateway</html>", "http": 502}, ck.ProtocolError),
    "no random and key": ({"body": '{"ret": 0}'}, ck.ProtocolError),
}


@pytest.mark.parametrize(("fault", "kind"), NEITHER.values(), ids=NEITHER)
def test_a_login_that_gets_neither_yes_nor_no_is_an_error(sandbox, fault, kind):
    """It says nothing of the signature, so no other one is tried."""
    sandbox.fault(A1, **fault)
    with pytest.raises(kind) as caught:
        ck.probe_dialect(sandbox.connect())
    assert (sandbox.count(A1), bool(caught.value.advice)) == (1, True)


def test_an_interface_that_cannot_be_reached(sandbox):
    """Of B each question stays open after one request; of A it is an error."""
    closed = f"http://127.0.0.1:{quiet_port()}"
    keys = ("demo_access", "demo_secret")
    with pytest.warns(UserWarning, match=r"list_method \(B3: .*: connection refused\)"):
        ck.probe_dialect(client := ck.Client(sandbox.base_url, closed, *keys))
    assert sum(call.endpoint.startswith("B") for call in client.calls) == 3
    with pytest.raises(ck.TransportError, match="connection refused"):
        ck.probe_dialect(ck.Client(closed, closed, *keys))
