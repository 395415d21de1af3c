"""`probe_dialect`: every dialect of the sandbox, its limits, and services that are unlike it."""

import re
import warnings

import pytest

import confkit as ck
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox
from tests.deployment.services import USUAL, checked, dialects, plain
from tests.scripted import A1, A2, A3, A5, B1, B2, B3, Reply

DIALECTS = dialects(seed=6, count=4)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: str(dialect.changes()))
def test_every_dialect_is_found_from_any_other(dialect):
    """Nothing stays open, nothing is created or removed, and a right guess fails no login. B1 is
    sent a token at most, and B2 no user of this service."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, "Weekly sync", "ops")
        for guess in (Dialect(), dialect):
            client.dialect, logins = guess, sandbox.count(A1)
            assert plain(ck.probe_dialect(client)) == dialect
            assert sandbox.count(A1) - logins <= (8 if guess != dialect else 1)
        assert (sandbox.room_ids(), sandbox.count(A2)) == ([room_id], 1)
        for call in client.calls:
            assert call.endpoint != "B1" or set(call.fields) <= {"accessToken"}
            assert call.endpoint != "B2" or call.fields["roomId"] != room_id


def test_never_more_logins_fail_than_the_bound_allows():
    """Where the bound ends the search, the error names what was not tried."""
    right = Dialect(hash="sha256", signature="raw")
    with Sandbox(seed=1, dialect=right) as sandbox, sandbox.connect() as client:
        client.dialect = Dialect()
        with pytest.raises(ck.AuthenticationFailed, match=r"not tried.*sha256 raw"):
            ck.probe_dialect(client, max_failed_logins=2)
        assert sandbox.count(A1) == 2


OTHER = "accessToken"
ZERO = {path: {"ret": 0} for path in (A3, A5, B1, B2, B3)}
IN_A, IN_A5, IN_B2 = "token_parameter", "mcu_token_parameter", "remove_token_parameter"
# What differs from a usual service, which settings stay open, one of the reasons, and what differs
# from the usual dialect.
SHA256 = Dialect(hash="sha256").access_token("abc", "def", "demo_secret").reveal()
UNLIKE = [
    (  # its A1 accepts any digest
        {A3: checked(404, token=SHA256), B2: checked(425, token=SHA256)},
        f"{IN_A5} list_method create_method",
        "A5 refused the token",
        {"hash": "sha256"},
    ),
    ({A3: {"ret": 404}}, IN_A, "404: room not found, with the", {}),
    (ZERO, f"{IN_A} {IN_A5} {IN_B2} create_method", "A3: success, with", {}),
    ({B2: checked(0, 401, OTHER)}, "", "", {IN_B2: OTHER}),
    ({B3: Reply(drop=True)}, "list_method", "closed the connection", {}),
    ({A3: [Reply("", status=502), checked(404)]}, IN_A, "form that it answered", {}),  # a gateway
]


@pytest.mark.parametrize(("differences", "unknown", "reason", "changes"), UNLIKE)
def test_only_an_answer_that_differs_without_a_token_settles_a_setting(
    script, differences, unknown, reason, changes
):
    """The rest stays as it is, and a warning names it with the reason."""
    client = script({**USUAL, **differences}).client()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert ck.probe_dialect(client).changes() == changes
    text = "".join(str(warning.message) for warning in caught)
    assert re.findall(r"[:;] (\w+) \(", text) == unknown.split()
    assert reason in text


def test_a_client_that_is_read_only_sends_no_change(sandbox):
    """B1 and B2 stay open."""
    why = r"\(this client is read only\)"
    with pytest.warns(UserWarning, match=rf"determined: remove_\w+ {why}; create_\w+ {why}$"):
        assert ck.probe_dialect(sandbox.connect(read_only=True)) == Dialect()
    assert (sandbox.count(B1), sandbox.count(B2)) == (0, 0)


def test_a_login_that_gets_neither_yes_nor_no_is_an_error(sandbox):
    """It says nothing of the signature, so no other one is tried."""
    sandbox.fault(A1, body="<html>Bad gateway</html>", http=502)
    with pytest.raises(ck.ProtocolError) as caught:
        ck.probe_dialect(sandbox.connect())
    assert (sandbox.count(A1), bool(caught.value.advice)) == (1, True)
