"""`doctor`: what is broken, which check says so, in which words and with which next step; and
`probe_dialect`: every dialect of the sandbox, its limits, and services that are unlike it."""

import re
import socket
import time
import warnings
from dataclasses import astuple
from email.utils import formatdate

import pytest

import confkit as ck
from confkit.deployment import CHECKS
from confkit.dialect import Dialect
from confkit.sandbox import Sandbox
from tests.deployment.services import USUAL, checked, dialects, plain
from tests.ports import HERE, quiet_port
from tests.scripted import A1, A2, A3, A5, B1, B2, B3, Reply

KEYS = {"access_key": "demo_access", "secret_key": "demo_secret"}
A, B = "Interface A", "Interface B"
OLD = ck.Dialect(
    hash="sha256",
    list_method="POST",
    token_parameter="access_tocken",
    mcu_token_parameter="token",
    remove_token_parameter="accessToken",
)


def examine(client, *arguments, **options):
    """The rows of a doctor by their names: outcome, detail and advice."""
    rows = [astuple(check)[:4] for check in ck.doctor(client, *arguments, **options)]
    assert tuple(row[0] for row in rows) == CHECKS
    return {name: rest for name, *rest in rows}


def outcomes(rows):
    """The first letters of the outcomes of the nine checks."""
    return "".join(outcome[0] for outcome, _, _ in rows.values())[:9]


def holds(row, outcome, detail="", advice=""):
    assert row[0] == outcome, row
    assert detail in row[1]
    assert advice in row[2]


@pytest.mark.parametrize("dialect", [ck.Dialect(), OLD], ids=str)
def test_a_service_that_is_well_passes_and_stays_as_it_is(dialect):
    """B1 is not asked, and of B2 nothing is sent that could work; a client that is read only does
    not send that."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        client = sandbox.connect()
        token, rows = client.token(), examine(client, room_id)
        assert (outcomes(rows), client.token() is token) == ("PPPPPPPPP", True)
        holds(rows["Finding"], "PASS", "no problem found")
        assert (sandbox.room_ids(), sandbox.count(A2), sandbox.count(B1)) == ([room_id], 1, 0)
        removals = sandbox.count(B2)
        rows = examine(sandbox.connect(read_only=True))
        assert (outcomes(rows), sandbox.count(B2)) == ("PPPPPPPSS", removals)


def test_one_run_names_all_wrong_settings_of_the_dialect():
    """The finding's advice holds all of them, as a line that can be used."""
    named = {
        "Keys": "hash=sha256",
        "Token in A": "token_parameter=access_tocken",
        "Token in B": "remove_token_parameter=accessToken",
        "Media server": "mcu_token_parameter=token",
    }
    with Sandbox(seed=1, dialect=OLD) as sandbox:
        room_id = ck.create_room(sandbox.connect(), "t", "ops")
        client = sandbox.connect()
        client.dialect = ck.Dialect()
        rows = examine(client, room_id, max_failed_logins=8)
    for name, settings in named.items():
        holds(rows[name], "FAIL", settings)
    advice = rows["Finding"][2]
    assert ck.Dialect.of(advice.partition("CONFKIT_DIALECT=")[2]) == OLD


def test_refused_keys_are_looked_into_within_the_bound(sandbox):
    """At most two logins fail, and the secret is in no request."""
    client = sandbox.connect()
    client.secret_key = ck.Secret("s0me-0ther")
    rows = examine(client)
    holds(rows["Finding"], "FAIL", "Keys: A1 refuses the keys (401); refused: sha1 hex, sha1 raw;")
    holds(rows["Finding"], "FAIL", "not tried (max_failed_logins=2): sha256 hex", "confkit probe")
    assert (sandbox.count(A1), outcomes(rows)) == (2, "PPPPFSSSS")
    assert "s0me-0ther" not in str(rows) + str(client.calls)


ROOM = {"ret": 0, "room_id": "7", "topic": "Weekly sync", "owner_id": "ops"}
READ = checked(ROOM)
LOGIN = checked({"ret": 0, "addr": "user:geheim@host:9000"})
NO_PORT = checked({"ret": 0, "addr": f"{HERE}:1"})
# What answers otherwise, the check that fails, what it says and the next step.
FAULTS = [
    ({A1: Reply(drop=True)}, "Keys", "keys could not be checked", "service is running"),
    ({A3: {"ret": 602}}, "Token in A", "that it answered: 602", "balanc"),
    ({B2: {"ret": 602}}, "Token in B", "B2 refused the token", "provider"),
    ({A3: checked(404)}, "Room", "room 7: get room (A3)", "room"),
    ({A3: READ, A5: NO_PORT}, "Media server", ":1 does not accept", "UDP"),
    ({A3: READ, A5: LOGIN}, "Media server", "is not host:port, so nothing was tried", ""),
]


@pytest.mark.parametrize(("answers", "name", "detail", "advice"), FAULTS)
def test_a_fault_is_named_by_its_check(script, answers, name, detail, advice):
    """With its next step, and the finding repeats the first failure."""
    room_id = "7" if name in ("Room", "Media server") else None
    rows = examine(script({**USUAL, **answers}).client(), room_id)
    holds(rows[name], "FAIL", detail, advice)
    assert "geheim" not in str(rows)
    holds(rows["Finding"], "FAIL", f"{name}: ", rows[name][2])
    assert rows["Finding"][2]


GOAL = "https://conference.example:8443"
MOVED = Reply("", status=301, headers={"Location": f"{GOAL}{A3}?access_token=geheim99"})
# What there is at base_url, what is wrong with it and the next step.
IN_THE_WAY = [
    (None, "connection refused", "The setting is base_url."),
    (
        Reply("<title>Guest access</title>"),
        "got HTML or XML (HTTP 200): body begins '<",
        "no proxy",
    ),
    (MOVED, "(HTTP 301)", f"configure the target address ({GOAL})"),
]


@pytest.mark.parametrize(("reply", "detail", "advice"), IN_THE_WAY)
def test_what_stands_in_the_way_is_named_with_the_setting(script, reply, detail, advice):
    """The other interface is looked at all the same, and no login is spent on what may be another
    service."""
    address = script({A3: reply}).base_url if reply else f"http://{HERE}:{quiet_port()}"
    service = script({**USUAL, A3: {"ret": 408}, A5: {"ret": 408}})
    client = ck.Client(address, service.base_url, **KEYS)
    rows = examine(client)
    holds(rows[A], "FAIL", detail, advice)
    holds(rows["Finding"], "FAIL", f"{A}: ", rows[A][2])
    assert outcomes(rows) == "PFPPSSSSS"
    assert not any(call.endpoint == "A1" for call in client.calls)
    assert "geheim99" not in str(rows)


def test_swapped_addresses_are_corrected_for_the_other_checks(sandbox):
    a, b = sandbox.base_url, sandbox.outgoing_url
    rows = examine(ck.Client(b, a, **KEYS))
    assert outcomes(rows) == "PFFPPPPSS"
    holds(rows[A], "FAIL", "but the other address is", f"Set base_url to {a}.")
    holds(rows[B], "FAIL", "but the other address is", f"Set outgoing_url to {b}.")


def test_the_clock_is_behind(script):
    def send(peer):
        header = f"Date: {formatdate(time.time() + 3600)}\r\n"
        peer.sendall(
            f'HTTP/1.1 200 OK\r\n{header}Content-Length: 12\r\n\r\n{{"ret": 602}}'.encode()
        )

    rows = examine(script(dict.fromkeys((A3, B3, A1), Reply(raw=send))).client())
    holds(rows["Clock"], "FAIL", "(h:mm:ss) behind ")


def test_a_service_that_hangs_costs_no_more_than_the_time_outs_of_the_client():
    with socket.create_server((HERE, 0)) as listener:
        url = f"http://{HERE}:{listener.getsockname()[1]}"
        rows = examine(ck.Client(url, url, **KEYS, timeout=(0.2, 0.2)))
        holds(rows[A], "FAIL", "no response within 0.2 s")


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
