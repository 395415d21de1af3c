"""The doctor on services that are well, and on those whose keys or dialect do not fit."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confkit as ck
from confkit.connect import SERVICE
from confkit.deployment import CHECKS
from confkit.dialect import CHOICES
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox
from tests.deployment.seeing import A1, A3, A5, B2, B3, EMPTY, ROOM, WELL, by_name, opens, verdicts
from tests.scripted import Reply

DIALECTS = st.builds(
    ck.Dialect,
    **{name: st.sampled_from(values) for name, values in CHOICES.items()},
    token_parameter=st.sampled_from(["access_token", "access_tocken", "token"]),
    mcu_token_parameter=st.sampled_from([None, "token"]),
    remove_token_parameter=st.sampled_from(["access_token", "accessToken"]),
)
CAMEL = {"remove_token_parameter": "accessToken"}
KEPT = {"token_parameter": "token"}  # of the client's dialect, and right
AT_FIRST = [{"ret": 602}, {"ret": 404}]  # A3 without a token, and with it
CUT = {"ret": 0, "data": {"total": 9, "items": []}}
WRITES = [endpoint.path for endpoint in ENDPOINTS.values() if endpoint.write]


def other(sandbox: Sandbox, **options) -> ck.Client:
    """A client of a sandbox with settings of its own."""
    given = {name: getattr(sandbox, name) for name in (*SERVICE, "dialect")}
    return ck.Client(**{**given, **options})


@given(dialect=DIALECTS)
@settings(max_examples=12)
def test_a_service_that_is_well(dialect):
    """In each dialect all checks pass or say why they do not apply; the service is as before."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        writes = {path: sandbox.count(path) for path in WRITES}
        found = ck.doctor(sandbox.connect(), room_id)
        assert tuple(check.check for check in found) == CHECKS
        assert verdicts(found) == "PSPSPSPSPPPPPPPPP"
        assert found.exit_status == 0
        assert by_name(found)["room"].found == f"room {room_id}, was read: 'Weekly sync'"
        assert [path for path in WRITES if sandbox.count(path) != writes[path]] == [B2]
        assert "B2 425: the room has no device with this userId" in sandbox.refusals
        assert sandbox.room_ids() == [room_id]
        assert sandbox.count(A1) == 2
        listed = ck.doctor(sandbox.connect())
        assert by_name(listed)["room"].found == "no room given; an unknown one gives 404"
        assert by_name(listed)["media server"].found == "because no room is known, and A5 needs one"
        assert verdicts(listed) == "PSPSPSPSPPPPPPPSS"


def test_b2_is_not_asked_where_the_client_is_read_only(sandbox):
    """B2 is a change, so nothing of it is sent, and that it is not known is said."""
    checks = ck.doctor(sandbox.connect(read_only=True))
    found = by_name(checks)["token in B2"]
    assert (found.verdict, checks.exit_status) == ("UNKNOWN", 2)
    assert "this client is read only" in found.found
    assert [sandbox.count(path) for path in WRITES] == [0] * len(WRITES)


def test_a_room_with_a_device_is_taken_and_one_that_is_gone_is_not(script):
    """B3 names rooms; one that has gone meanwhile is left for the next."""
    item = {"userId": "c", "userName": "Door", "userAddress": "rtsp://192.0.2.7:554/s"}
    data = {"total": 2, "items": [{**item, "roomId": room_id} for room_id in ("6", "7")]}

    def room(query):
        return opens(ROOM if query["room_id"] == "7" else {"ret": 404})(query)

    service = script({B3: opens({"ret": 0, "data": data}), A3: room, A5: {"ret": 410}})
    found = by_name(ck.doctor(service.client()))
    assert found["token in B"].found == "B3 accepts the token; 2 devices are listed"
    assert found["room"].found == "room 7, which has a device (B3), was read: 'Weekly sync'"
    assert found["media server"].found == "room 7: it answers 410: no MCU available"
    assert found["TCP to media server"].verdict == "SKIP"


@pytest.mark.parametrize(
    ("used", "wanted", "check", "told"),
    [
        ({}, {"signature": "raw"}, "authentication", "signature=raw"),
        ({"signature": "raw"}, {}, "authentication", "signature=hex"),
        ({"hash": "md5"}, {}, "authentication", "hash=sha1"),
        ({}, {"hash": "sha256"}, "authentication", "hash=sha256"),
        (
            {"hash": "sha256"},
            {"hash": "md5", "signature": "raw"},
            "authentication",
            "hash=md5,signature=raw",
        ),
        (KEPT, {"signature": "raw", **KEPT}, "authentication", "signature=raw"),
        ({}, {"token_parameter": "access_tocken"}, "token in A", "token_parameter=access_tocken"),
        ({}, KEPT, "token in A", "token_parameter=token"),
        ({}, {"mcu_token_parameter": "token"}, "media server", "mcu_token_parameter=token"),
        ({}, CAMEL, "token in B2", "remove_token_parameter=accessToken"),
        (CAMEL, {}, "token in B2", "remove_token_parameter=access_token"),
    ],
)
def test_a_wrong_setting_of_the_dialect_is_told_by_the_right_one(used, wanted, check, told):
    """The verdict names the setting that this service wants, the advice also what is right in the
    client's; the checks after it go on with that, and with it the doctor finds nothing."""
    with Sandbox(seed=1, dialect=ck.Dialect(**wanted)) as sandbox:
        room_id = ck.create_room(sandbox.connect(), "t", "ops")
        client = other(sandbox, dialect=ck.Dialect(**used))
        checks = ck.doctor(client, room_id, max_failed_logins=8)
        [found] = [one for one in checks if one.verdict == "FAIL"]
        assert (found.check, f"(dialect {told})" in found.found) == (check, True)
        every = f"token_parameter=token,{told}" if used is KEPT else told
        arguments = ", ".join(f"{k}={v!r}" for k, v in (p.split("=") for p in every.split(",")))
        assert f"ck.Dialect({arguments})" in found.advice
        assert f"--dialect {every})" in found.advice
        assert f"(CONFKIT_DIALECT={every})" in found.advice
        assert client.dialect == ck.Dialect(**used)
        assert ck.doctor(other(sandbox), room_id).ok


def test_all_wrong_settings_are_found_in_one_run(monkeypatch):
    """The last FAIL says all of them."""
    wanted = ck.Dialect(
        hash="sha256",
        token_parameter="access_tocken",
        mcu_token_parameter="token",
        list_method="POST",
        remove_token_parameter="accessToken",
    )
    with Sandbox(seed=1, dialect=wanted) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        for name in SERVICE:
            monkeypatch.setenv(f"CONFKIT_{name.upper()}", str(getattr(sandbox, name)))
        checks = ck.doctor(ck.connect(), room_id, max_failed_logins=8)
        assert verdicts(checks) == "PSPSPSPSFPFFPFPFP"
        told = by_name(checks)["media server"].advice.partition("CONFKIT_DIALECT=")[2]
        told = told.partition(")")[0]
        assert ck.Dialect.parse(told) == wanted
        monkeypatch.setenv("CONFKIT_DIALECT", told)
        assert ck.doctor(ck.connect(), room_id).ok


@pytest.mark.parametrize("bound", [0, 1, 2, 8])
def test_never_more_logins_fail_than_the_bound(sandbox, bound):
    """With a wrong secret the service sees as many logins as are allowed, and no more; what was
    not tried is said."""
    slip = ("\u200b", " x", '"', "'")[bound % 4]
    client = other(sandbox, secret_key=f"s0me-0ther{slip}")
    found = by_name(ck.doctor(client, max_failed_logins=bound))
    check = found["authentication"]
    assert (sandbox.count(A1), found["token in A"].verdict) == (bound, "SKIP")
    if bound == 0:
        assert (check.verdict, "max_failed_logins is 0" in check.found) == ("UNKNOWN", True)
        return
    assert check.verdict == "FAIL"
    assert "have changed places" in check.advice
    assert "secret_key holds white space, quotes or letters beyond ASCII" in check.found
    assert "access_key holds" not in check.found
    assert check.found.count("HMAC-") == 7
    left = check.found.partition(f"not tried, as {bound} failed logins are the bound: ")[2]
    assert left.count("HMAC-") == 8 - bound
    assert ("--max-failed-logins" in check.advice) == (bound < 8)
    assert ("so most likely a key is wrong" in check.found) == (bound == 8)


@pytest.mark.parametrize(
    ("first", "ret"), [([], ret) for ret in (504, 405, 407, 408, 700)] + [([{"ret": 401}], 4711)]
)
def test_an_answer_that_says_nothing_of_the_keys_is_explained(script, first, ret):
    """A time-out or an expired licence is no wrong key, also when it comes after a refusal: no
    further login, and the code's own advice."""
    service = script({**WELL, A1: [*first, {"ret": ret}]})
    check = by_name(ck.doctor(service.client(), max_failed_logins=8))["authentication"]
    explained = ck.explain(ret, "A")
    assert (check.verdict, check.advice) == ("FAIL", explained.advice)
    assert check.found.endswith(f"it answers {ret}: {explained.meaning}")
    assert ("as they are; asked then with the raw bytes of" in check.found) == bool(first)
    assert service.seen[A1] == len(first) + 1


def test_a_token_that_is_held_stays(client, sandbox):
    """A service may keep one token a key: while the client's token is accepted, nobody logs in."""
    before = client.token()
    found = by_name(ck.doctor(client))
    assert found["authentication"].verdict == "SKIP"
    assert "holds a token that is still accepted" in found["authentication"].found
    assert (found["token in A"].verdict, found["token in B"].verdict) == ("PASS", "PASS")
    assert client.token() is before
    assert sandbox.count(A1) == 1
    sandbox.advance(7200)
    found = by_name(ck.doctor(client))
    assert (found["authentication"].verdict, found["token in B"].verdict) == ("PASS", "PASS")
    assert sandbox.count(A1) == 2
    assert client.token() is before  # it renews it by itself at the next call


def test_a_held_token_of_which_nothing_is_known_is_not_risked(script):
    """When nothing says whether the held token is accepted, it stays, and that is UNKNOWN."""
    service = script(WELL)
    client = service.client()
    client.token()
    service.script[A3] = [{"ret": 602}, {"ret": 504}]
    checks = ck.doctor(client)
    assert by_name(checks)["authentication"].verdict == "UNKNOWN"
    assert (checks.exit_status, service.seen[A1]) == (2, 1)


def test_the_client_is_left_as_it_is(script):
    """Its session, time-outs, cookies and token are its own."""
    service = script(WELL)
    client = service.client(timeout=(3, 4))
    hooks = {name: list(found) for name, found in client.session.hooks.items()}
    assert ck.doctor(client).ok
    assert (client.timeout, client.authenticated, client.calls) == ((3, 4), False, [])
    assert client.session.hooks == hooks


LOST = Reply(drop=True)
ONE_THING = {
    "A in trouble": (A3, {"ret": 700}, "HTTP of A", "PASS", "the result code 700, database error"),
    "B without token": (B3, EMPTY, "HTTP of B", "PASS", "although no token came along"),
    "A1 that falls silent": (A1, LOST, "authentication", "UNKNOWN", "it closed the connection"),
    "A3 that falls silent": (A3, [{"ret": 602}, LOST], "token in A", "FAIL", "it closed the conn"),
    "A3 that refuses": (A3, {"ret": 602}, "token in A", "FAIL", "under any known name"),
    "A3 that says nothing": (A3, {"ret": 407}, "token in A", "UNKNOWN", "407: parameter error"),
    "B3 not running": (B3, [{"ret": 602}, {"ret": 304}], "token in B", "FAIL", "304: get failed"),
    "B3 that refuses": (B3, [{"ret": 602}, {"ret": 401}], "token in B", "FAIL", "401: wrong param"),
    "no data": (B3, [{"ret": 602}, {"ret": 0, "data": []}], "token in B", "FAIL", "cannot be read"),
    "a listing that is cut": (B3, opens(CUT), "token in B", "FAIL", "cannot be read"),
    "B2 alike": (B2, {"ret": 425}, "token in B2", "UNKNOWN", "cannot be known"),
    "B2 that refuses": (B2, {"ret": 602}, "token in B2", "FAIL", "under any known name"),
    "B2 not running": (B2, opens({"ret": 303}), "token in B2", "UNKNOWN", "303: delete failed"),
    "B2 that says yes": (B2, opens({"ret": 0}), "token in B2", "PASS", "as access_token"),
    "B2 that is a page": (B2, Reply("<html>"), "token in B2", "FAIL", "HTML"),
    "any room": (A3, [*AT_FIRST, ROOM], "room", "UNKNOWN", "under the made-up number"),
    "no room by 700": (A3, [*AT_FIRST, {"ret": 700}], "room", "FAIL", "700: database error"),
}


@pytest.mark.parametrize("row", ONE_THING.values(), ids=ONE_THING)
def test_one_thing_that_differs_is_told_by_its_check(script, row):
    """A service that is well but for one operation: its check says what came and the next step,
    never that all is well, and no login is spent on it."""
    path, answer, name, verdict, told = row
    service = script({**WELL, path: answer})
    check = by_name(ck.doctor(service.client()))[name]
    assert (check.verdict, told in check.found) == (verdict, True)
    assert check.advice or verdict == "PASS"
    assert service.seen[A1] <= 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"ret": 404}, "no room 7 (404)"),
        ({"ret": 700}, "room 7: it answers 700"),
        ({"ret": 0, "topic": {"a": 1}}, "cannot be read"),
        ({"ret": "odd"}, "odd"),
    ],
)
def test_a_given_room_that_cannot_be_read_fails(script, answer, told):
    """A failed read is a failure, and its media server is not asked for."""
    found = by_name(ck.doctor(script({**WELL, A3: [*AT_FIRST, answer]}).client(), "7"))
    assert (found["room"].verdict, told in found["room"].found) == ("FAIL", True)
    assert found["room"].advice
    assert found["media server"].found == "because room did not pass"
    assert (found["token in A"].verdict, found["media server"].verdict) == ("PASS", "SKIP")


def test_the_media_server(client, sandbox):
    """One that is stopped is reported by A5; one that does not accept connections by that. A room
    that is closed is reported before."""
    room_id = ck.create_room(client, "t", "ops")
    found = by_name(ck.doctor(client))
    assert found["room"].found.startswith(f"room {room_id}, which this client made, was read")
    assert found["TCP to media server"].verdict == "PASS"
    sandbox.fault(A5, body=json.dumps({"ret": 0, "addr": "127.0.0.1:1"}), times=1)
    found = by_name(ck.doctor(client, room_id))
    assert (found["media server"].verdict, found["TCP to media server"].verdict) == ("PASS", "FAIL")
    assert "it refuses them" in found["TCP to media server"].found
    assert "UDP" in found["TCP to media server"].advice
    sandbox.stop_mcu()
    found = by_name(ck.doctor(client, room_id))
    assert found["media server"].found.endswith("410: no MCU available")
    sandbox.close_room(room_id)
    found = by_name(ck.doctor(client, room_id))["room"]
    assert found.verdict == "PASS"
    assert "it is closed (room_status 3, seen in deployments)" in found.found


@pytest.mark.parametrize(
    ("answer", "verdicts_of_both", "told"),
    [
        ({"ret": 0}, "FS", "has no addr"),
        ({"ret": 0, "addr": ""}, "FS", "has no addr"),
        ({"ret": 417}, "FS", "417: MCU not online"),
        ({"ret": 0, "addr": "nowhere"}, "PF", "is not host:port"),
        ({"ret": 0, "addr": "http://127.0.0.1:9"}, "PF", "is not host:port"),
    ],
)
def test_no_address_of_a_media_server(script, answer, verdicts_of_both, told):
    """A5 that names none, or no host and port, is a failure, and nothing is connected to."""
    service = script({A3: opens(ROOM), B3: opens(EMPTY), A5: answer})
    checks = ck.doctor(service.client(), "7")[-2:]
    assert verdicts(checks) == verdicts_of_both
    assert told in next(one.found for one in checks if one.verdict == "FAIL")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"room_id": ""}, ck.ParameterError),
        ({"room_id": 1.5}, ck.ParameterError),
        ({"room_id": "\ud800"}, ck.ParameterError),
        ({"max_failed_logins": -1}, ValueError),
        ({"max_failed_logins": 1.5}, ValueError),
        ({"timeout": 0}, ValueError),
        ({"timeout": float("nan")}, ValueError),
    ],
)
def test_wrong_arguments_raise_at_once(script, arguments, error):
    """Nothing is sent for arguments that make no sense."""
    service = script(WELL)
    with pytest.raises(error):
        ck.doctor(service.client(), **arguments)
    assert not service.requests


def test_a_closed_client_is_told_not_raised():
    """A sandbox that has ended: one failure that says how to go on, and the rest is left out."""
    with Sandbox(seed=1) as sandbox:
        client = sandbox.connect()
    checks = ck.doctor(client)
    assert verdicts(checks) == "F" + "S" * (len(CHECKS) - 1)
    assert checks[0].found == "this sandbox is closed"
