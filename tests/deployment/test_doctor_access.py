"""The doctor on services that are well, and on those whose keys or dialect do not fit."""

import json

import pytest

import confkit as ck
from confkit.connect import SERVICE
from confkit.deployment import CHECKS
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox
from tests.commands import known, run
from tests.deployment.deployments import combined
from tests.deployment.seeing import A1, A3, A5, B2, B3, EMPTY, ROOM, WELL, looked, opens, says
from tests.ports import HERE
from tests.scripted import Reply

AT_FIRST = [{"ret": 602}, {"ret": 404}]  # A3 without a token, and with it
CUT = {"ret": 0, "data": {"total": 9, "items": []}}
WRITES = [endpoint.path for endpoint in ENDPOINTS.values() if endpoint.write]


def other(sandbox: Sandbox, **options) -> ck.Client:
    """A client of a sandbox with settings of its own."""
    given = {name: getattr(sandbox, name) for name in (*SERVICE, "dialect")}
    return ck.Client(**{**given, **options})


@pytest.mark.parametrize("dialect", [ck.Dialect(), *combined(5, seed=3)], ids=str)
def test_a_service_that_is_well(dialect):
    """In each dialect all checks pass or say why they do not apply; the service is as before."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        writes = {path: sandbox.count(path) for path in WRITES}
        found = looked(sandbox.connect(), room_id)
        assert tuple(found) == CHECKS
        assert (found.letters, found.exit_status) == ("PSPSPSPSPPPPPPPPP", 0)
        says(found["room"], "PASS", f"room {room_id}, was read: 'Weekly sync'")
        assert [path for path in WRITES if sandbox.count(path) != writes[path]] == [B2]
        assert "B2 425: the room has no device with this userId" in sandbox.refusals
        assert (sandbox.room_ids(), sandbox.count(A1)) == ([room_id], 2)
        found = looked(sandbox.connect())
        says(found["room"], "PASS", "no room given; an unknown one gives 404")
        assert found.letters == "PSPSPSPSPPPPPPPSS"


def test_b2_is_not_asked_where_the_client_is_read_only(sandbox):
    """B2 is a change, so nothing of it is sent, and that it is not known is said."""
    found = looked(sandbox.connect(read_only=True))
    says(found["token in B2"], "UNKNOWN", "this client is read only")
    assert found.exit_status == 2
    assert [sandbox.count(path) for path in WRITES] == [0] * len(WRITES)


def test_a_room_with_a_device_is_taken_and_one_that_is_gone_is_not(script):
    """B3 names rooms; one that has gone meanwhile is left for the next."""
    item = {"userId": "c", "userName": "Door", "userAddress": "rtsp://192.0.2.7:554/s"}
    data = {"total": 2, "items": [{**item, "roomId": room_id} for room_id in ("6", "7")]}
    there = lambda query: opens(ROOM if query["room_id"] == "7" else {"ret": 404})(query)  # noqa: E731
    service = script({B3: opens({"ret": 0, "data": data}), A3: there, A5: {"ret": 410}})
    found = looked(service.client())
    assert found["token in B"].found == "B3 accepts the token; 2 devices are listed"
    assert found["room"].found == "room 7, which has a device (B3), was read: 'Weekly sync'"
    assert found["media server"].found == "room 7: it answers 410: no MCU available"


OLD = {"token_parameter": "access_tocken", "mcu_token_parameter": "token"}
CAMEL, KEPT = {"remove_token_parameter": "accessToken"}, {"token_parameter": "token"}
# The client's dialect, the service's, and what the checks tell.
WRONG = {
    "what is right stays": (
        {**CAMEL, **KEPT},
        {"signature": "raw", "hash": "md5", "list_method": "POST", "placement": "json", **KEPT},
        {
            "authentication": "hash=md5,signature=raw",
            "token in B": "list_method=POST,placement=json",
            "token in B2": "remove_token_parameter=access_token",
        },
    ),
    "all": (
        {},
        {"hash": "sha256", "list_method": "POST", **CAMEL, **OLD},
        {
            "authentication": "hash=sha256",
            "token in A": "token_parameter=access_tocken",
            "token in B": "list_method=POST",
            "token in B2": "remove_token_parameter=accessToken",
            "media server": "mcu_token_parameter=token",
        },
    ),
}


@pytest.mark.parametrize(("used", "wanted", "told"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_of_the_dialect_is_told_by_the_right_one(used, wanted, told):
    """The verdict names the setting that this service wants, the last advice all of them, also what
    is right in the client's; the checks after it go on with that, and with it all is well."""
    wanted = ck.Dialect(**wanted)
    with Sandbox(seed=1, dialect=wanted) as sandbox:
        room_id = ck.create_room(sandbox.connect(), "t", "ops")
        client = other(sandbox, dialect=ck.Dialect(**used))
        failed = looked(client, room_id, max_failed_logins=8).failed
        assert [one.check for one in failed] == list(told)
        for check in failed:
            says(check, "FAIL", f"(dialect {told[check.check]})")
        line = failed[-1].advice.partition("CONFKIT_DIALECT=")[2].partition(")")[0]
        assert ck.Dialect.parse(line) == wanted
        settings = dict(one.split("=") for one in line.split(","))
        arguments = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        says(failed[-1], "FAIL", advice=f"ck.Dialect({arguments})")
        says(failed[-1], "FAIL", advice=f"--dialect {line})")
        assert client.dialect == ck.Dialect(**used)


def test_refused_keys_are_looked_into_within_the_bound(sandbox):
    """What was not tried is said, and what in the keys is never typed; nothing is sent that holds
    the secret itself."""
    found = looked(other(sandbox, secret_key="s0me-0ther\u200b"))
    odd = "secret_key holds white space, quotes or letters beyond ASCII"
    says(found["authentication"], "FAIL", odd, "have changed places")
    assert "access_key holds" not in found["authentication"].found
    left = found["authentication"].found.partition("as 2 failed logins are the bound: ")[2]
    assert (left.count("HMAC-"), sandbox.count(A1), found["token in A"].verdict) == (6, 2, "SKIP")
    assert "--max-failed-logins" in found["authentication"].advice
    check = looked(other(sandbox, secret_key="s0me-0ther"), max_failed_logins=8)["authentication"]
    assert "so most likely a key is wrong" in check.found
    assert "--max-failed-logins" not in check.advice


def test_a_token_that_is_held_stays(client, sandbox):
    """A service may keep one token a key: while the client's token is accepted, nobody logs in."""
    before = client.token()
    found = looked(client)
    says(found["authentication"], "SKIP", "holds a token that is still accepted")
    assert (found["token in A"].verdict, found["token in B"].verdict) == ("PASS", "PASS")
    assert (client.token() is before, sandbox.count(A1)) == (True, 1)
    sandbox.advance(7200)
    assert looked(client)["authentication"].verdict == "PASS"
    assert sandbox.count(A1) == 2
    assert client.token() is before  # it renews it by itself at the next call


def test_a_held_token_of_which_nothing_is_known_is_not_risked(script):
    """When nothing says whether the held token is accepted, it stays, and that is UNKNOWN."""
    service = script(WELL)
    client = service.client()
    client.token()
    service.script[A3] = [{"ret": 602}, {"ret": 504}]
    found = looked(client)
    assert found["authentication"].verdict == "UNKNOWN"
    assert (found.exit_status, service.seen[A1]) == (2, 1)


def test_the_client_is_left_as_it_is(script):
    """Its session, time-outs, cookies and token are its own."""
    client = script(WELL).client(timeout=(3, 4))
    hooks = {name: list(found) for name, found in client.session.hooks.items()}
    assert ck.doctor(client).ok
    assert (client.timeout, client.authenticated, client.calls) == ((3, 4), False, [])
    assert client.session.hooks == hooks


LOST = Reply(drop=True)
UNCLEAR = "the raw bytes of HMAC-SHA1, says nothing of the keys: it answers 4711: not a code"
ONE_THING = {
    "A in trouble": (A3, {"ret": 700}, "HTTP of A", "PASS", "the result code 700, database error"),
    "B without token": (B3, EMPTY, "HTTP of B", "PASS", "although no token came along"),
    "A1 that falls silent": (A1, LOST, "authentication", "UNKNOWN", "it closed the connection"),
    "A1 in trouble": (A1, {"ret": 504}, "authentication", "FAIL", "of the keys: it answers 504"),
    "A1 at last": (A1, [{"ret": 401}, {"ret": 4711}], "authentication", "FAIL", UNCLEAR),
    "A3 that falls silent": (A3, [{"ret": 602}, LOST], "token in A", "FAIL", "it closed the conn"),
    "A3 that says nothing": (A3, {"ret": 407}, "token in A", "UNKNOWN", "407: parameter error"),
    "A3 of another": (A3, {"ret": 602}, "token in A", "FAIL", "not accept it (602) under any"),
    "B3 of another": (B3, {"ret": 602}, "token in B", "FAIL", "(B3): it answers 602"),
    "B3 not running": (B3, [{"ret": 602}, {"ret": 304}], "token in B", "FAIL", "304: get failed"),
    "a listing that is cut": (B3, opens(CUT), "token in B", "FAIL", "cannot be read"),
    "B2 of another": (B2, {"ret": 602}, "token in B2", "FAIL", "B2 does not (602) under any"),
    "B2 alike": (B2, {"ret": 425}, "token in B2", "UNKNOWN", "cannot be known"),
    "any room": (A3, [*AT_FIRST, ROOM], "room", "UNKNOWN", "under the made-up number"),
    "no room by 700": (A3, [*AT_FIRST, {"ret": 700}], "room", "FAIL", "700: database error"),
}
OF_A_ROOM = {
    "gone": (A3, [*AT_FIRST, {"ret": 404}], "room", "room 7: it answers 404"),
    "odd": (A3, [*AT_FIRST, {"ret": 0, "topic": {"a": 1}}], "room", "cannot be read"),
    "no address": (A5, {"ret": 0, "addr": ""}, "media server", "has no addr"),
    "no media server": (A5, {"ret": 417}, "media server", "417: MCU not online"),
    "another form": (A5, {"ret": 0, "addr": "nowhere"}, "TCP to media server", "not host:port"),
}


@pytest.mark.parametrize("row", ONE_THING.values(), ids=ONE_THING)
def test_one_thing_that_differs_is_told_by_its_check(script, row):
    """A service that is well but for one operation: its check says what came and the next step,
    never that all is well, and no login is spent on it."""
    path, answer, name, verdict, told = row
    service = script({**WELL, path: answer})
    check = looked(service.client())[name]
    says(check, verdict, told)
    assert check.advice or verdict == "PASS"
    assert service.seen[A1] <= 1 + (told == UNCLEAR)


@pytest.mark.parametrize("row", OF_A_ROOM.values(), ids=OF_A_ROOM)
def test_a_room_or_its_media_server_that_is_not_well_fails(script, row):
    """A failed read is a failure with its next step, and what depends on it is left out."""
    path, answer, name, told = row
    found = looked(script({**WELL, A3: opens(ROOM), path: answer}).client(), "7")
    [failed] = found.failed
    assert (failed.check, told in failed.found, bool(failed.advice)) == (name, True, True)
    assert set(found.letters[CHECKS.index(name) + 1 :]) <= {"S"}


def test_a_closed_client_is_told_not_raised():
    """A sandbox that has ended: one failure that says how to go on, and the rest is left out."""
    with Sandbox(seed=1) as sandbox:
        client = sandbox.connect()
    found = looked(client)
    assert found.letters == "F" + "S" * (len(CHECKS) - 1)
    assert found["settings"].found == "this sandbox is closed"


# The command


def test_a_line_a_check_and_the_exit_status_of_the_verdict(sandbox):
    """0 for PASS, 1 where something is wrong, 2 where that is not known; logins stay within the
    bound. --json prints one object, with the verdict and all checks."""
    room_id, service = ck.create_room(sandbox.connect(), "Weekly sync", "ops"), known(sandbox)
    status, out, err = run("doctor", room_id, **service)
    lines = [line for line in out.splitlines() if not line.startswith("     ->")]
    assert (status, lines[-1]) == (0, "PASS    over all")
    assert [line[8:].partition(":")[0] for line in lines[:-1]] == list(CHECKS)
    assert err == f"{HERE}: changes nothing, at most 2 failed logins and 60 s\n"
    counted = sandbox.count(A1)
    status, out, _ = run("doctor", "--json", **{**service, "CONFKIT_SECRET_KEY": "some0ther"})
    found = json.loads(out)
    assert (status, found["verdict"], sandbox.count(A1)) == (1, "FAIL", counted + 2)
    assert [check["check"] for check in found["checks"]] == list(CHECKS)
    status, out, _ = run("doctor", "--max-failed-logins", "0", **service)
    assert (status, sandbox.count(A1)) == (2, counted + 2)
    assert out.endswith("UNKNOWN over all\n")


def test_the_embedded_service_and_wrong_options():
    """--sandbox looks at the service of this process, whatever the environment names; a wrong
    option is exit status 1 and one line."""
    status, out, err = run("doctor", "--sandbox", CONFKIT_BASE_URL="http://192.0.2.1:8080")
    assert (status, out.splitlines()[-1]) == (0, "PASS    over all")
    assert err.startswith("SANDBOX: changes nothing")
    wrong = {
        "--max-failed-logins=-1": "max_failed_logins",
        " ": "room_id",
        "--timeout=nan": "timeout",
    }
    for option, told in wrong.items():
        status, out, err = run("doctor", "--sandbox", option)
        assert (status, out, told in err, err.count("\n")) == (1, "", True, 1)
