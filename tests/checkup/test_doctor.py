"""The doctor on services that are well, and on those whose keys or dialect do not fit."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confkit as ck
from confkit.checkup import CHECKS
from confkit.dialect import CHOICES
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox
from tests.checkup.seeing import A1, A3, A5, B2, B3, EMPTY, ROOM, WELL, by_name, opens, verdicts
from tests.scripted import GRANTED, VECTOR_TOKEN, Reply

DIALECTS = st.builds(
    ck.Dialect,
    **{name: st.sampled_from(values) for name, values in CHOICES.items()},
    token_parameter=st.sampled_from(["access_token", "access_tocken", "token"]),
    mcu_token_parameter=st.sampled_from([None, "token"]),
    remove_token_parameter=st.sampled_from(["access_token", "accessToken"]),
)
WRITES = [endpoint.path for endpoint in ENDPOINTS.values() if endpoint.write]


def other(sandbox: Sandbox, **options) -> ck.Client:
    """A client of a sandbox with settings of its own."""
    given = {"base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url,
             "access_key": sandbox.access_key, "secret_key": sandbox.secret_key,
             "dialect": sandbox.dialect, **options}  # fmt: skip
    return ck.Client(**given)


@given(dialect=DIALECTS)
@settings(max_examples=12)
def test_a_service_that_is_well(dialect):
    """In each dialect all checks pass or say why they do not apply; the service is as before."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        writes = [sandbox.count(path) for path in WRITES]
        found = ck.doctor(sandbox.connect(), room_id)
        assert tuple(check.check for check in found) == CHECKS
        assert verdicts(found) == "PSPSPSPSPPPPPPPPP"
        assert found.exit_status == 0
        assert by_name(found)["room"].found == f"room {room_id}, was read: 'Weekly sync'"
        asked = [path for path, count in zip(WRITES, writes, strict=True)
                 if sandbox.count(path) != count]  # fmt: skip
        assert asked == [B2]
        assert "B2 425: the room has no device with this userId" in sandbox.refusals
        assert sandbox.room_ids() == [room_id]
        assert sandbox.count(A1) == 2
        listed = ck.doctor(sandbox.connect())
        assert by_name(listed)["room"].found == "no room given; an unknown one is told as 404"
        assert by_name(listed)["media server"].found == "because no room is known, and A5 needs one"
        assert verdicts(listed) == "PSPSPSPSPPPPPPPSS"


def test_b2_is_not_asked_where_the_client_is_read_only(sandbox):
    """B2 is a change, so nothing of it is sent, and that it is not known is said."""
    checks = ck.doctor(sandbox.connect(read_only=True))
    found = by_name(checks)["token in B2"]
    assert (found.verdict, checks.exit_status) == ("UNKNOWN", 2)
    assert "this client is read only" in found.found
    assert "may change something" in found.advice
    assert [sandbox.count(path) for path in WRITES] == [0] * len(WRITES)
    assert verdicts(checks) == "PSPSPSPSPPPPPUPSS"


def test_a_given_room_that_is_not_there_fails(client):
    """404 to a room that somebody means is a failure, and its media server is not asked for."""
    found = by_name(ck.doctor(client, "123"))
    assert found["room"].verdict == "FAIL"
    assert "no room 123 (404)" in found["room"].found
    assert "ck.create_room" in found["room"].advice
    assert found["media server"].found == "because room did not pass"
    assert (found["token in A"].verdict, found["media server"].verdict) == ("PASS", "SKIP")


def test_a_room_that_is_known_is_taken(client, sandbox):
    """Without a room, one that the client has made or that has a device is read."""
    room_id = ck.create_room(client, "Weekly sync", "ops")
    found = by_name(ck.doctor(client))
    assert found["room"].found.startswith(f"room {room_id}, which this client made, was read")
    assert found["TCP to media server"].verdict == "PASS"


def test_a_room_with_a_device_is_taken_and_one_that_is_gone_is_not(script):
    """B3 tells of rooms; one that has gone meanwhile is left for the next."""
    item = {"userId": "c", "userName": "Door", "userAddress": "rtsp://192.0.2.7:554/s"}
    data = {"total": 2, "items": [{**item, "roomId": room_id} for room_id in ("6", "7")]}
    service = script({
        B3: opens({"ret": 0, "data": data}),
        A3: lambda query: opens(ROOM if query["room_id"] == "7" else {"ret": 404})(query),
        A5: {"ret": 410},
    })  # fmt: skip
    found = by_name(ck.doctor(service.client()))
    assert found["token in B"].found == "B3 accepts the token; 2 devices are listed"
    assert found["room"].found == "room 7, which has a device (B3), was read: 'Weekly sync'"
    assert found["media server"].found == "room 7: it answers 410: no MCU available"
    assert found["TCP to media server"].verdict == "SKIP"


@pytest.mark.parametrize("answer", [
    {"ret": 700}, {"ret": 0, "topic": {"a": 1}}, {"ret": 602}, {"ret": "odd"},
])  # fmt: skip
def test_a_room_that_cannot_be_read_fails(script, answer):
    """A failed read is a failure, with what came."""
    service = script({**WELL, A3: [{"ret": 602}, {"ret": 404}, answer]})
    found = by_name(ck.doctor(service.client(), "7"))
    assert (found["token in A"].verdict, found["room"].verdict) == ("PASS", "FAIL")
    assert found["media server"].verdict == "SKIP"


@pytest.mark.parametrize(("used", "wanted", "told"), [
    ({}, {"signature": "raw"}, "signature=raw"),
    ({"signature": "raw"}, {}, "signature=hex"),
    ({"hash": "md5"}, {}, "hash=sha1"),
    ({}, {"hash": "sha256"}, "hash=sha256"),
    ({"hash": "sha256"}, {"hash": "md5", "signature": "raw"}, "hash=md5,signature=raw"),
])  # fmt: skip
def test_a_wrong_signature_is_told_by_the_right_one(used, wanted, told):
    """The secret is right, and the verdict names the setting of the dialect that this service
    wants; with that the doctor finds nothing."""
    with Sandbox(seed=1, dialect=ck.Dialect(**wanted)) as sandbox:
        client = other(sandbox, dialect=ck.Dialect(**used))
        found = by_name(ck.doctor(client, max_failed_logins=8))
        assert found["authentication"].verdict == "FAIL"
        assert "your secret is right" in found["authentication"].found
        assert f"(dialect {told})" in found["authentication"].found
        arguments = ", ".join(f"{k}={v!r}" for k, v in (p.split("=") for p in told.split(",")))
        assert f"ck.Dialect({arguments})" in found["authentication"].advice
        assert f"--dialect {told})" in found["authentication"].advice
        assert "CONFKIT_DIALECT" not in found["authentication"].advice
        assert (found["token in A"].verdict, found["token in B"].verdict) == ("PASS", "PASS")
        assert client.dialect == ck.Dialect(**used)
        assert ck.doctor(other(sandbox)).ok


def test_the_settings_that_are_right_stay_in_the_advice():
    """What to set holds the rest of the client's dialect too."""
    wanted = ck.Dialect(signature="raw", token_parameter="token")
    with Sandbox(seed=1, dialect=wanted) as sandbox:
        client = other(sandbox, dialect=ck.Dialect(token_parameter="token"))
        check = by_name(ck.doctor(client))["authentication"]
    assert "(dialect signature=raw)" in check.found
    assert "ck.Dialect(token_parameter='token', signature='raw')" in check.advice


@pytest.mark.parametrize("bound", [0, 1, 2, 8])
def test_never_more_logins_fail_than_the_bound(sandbox, bound):
    """With a wrong secret the service sees as many logins as are allowed, and no more; what was
    not tried is said."""
    found = by_name(ck.doctor(other(sandbox, secret_key="s0me-0ther"), max_failed_logins=bound))
    check = found["authentication"]
    assert sandbox.count(A1) == bound
    assert found["token in A"].verdict == "SKIP"
    if bound == 0:
        assert check.verdict == "UNKNOWN"
        assert "max_failed_logins is 0" in check.found
        return
    assert check.verdict == "FAIL"
    assert "have changed places" in check.advice
    open_ones = 8 - bound
    assert check.found.count("HMAC-") == 7
    if open_ones:
        left = check.found.partition("not tried, as ")[2]
        assert left.startswith(f"{bound} failed logins are the bound: ")
        assert left.count("HMAC-") == open_ones
        assert "--max-failed-logins" in check.advice
    else:
        assert "so most likely a key is wrong" in check.found


@pytest.mark.parametrize(("slip", "told"), [
    (lambda key: key[:4] + " " + key[4:], "white space inside a key"),
    (lambda key: f" {key}\n", "white space around a key"),
    (lambda key: f'"{key}"', "quotes around a key"),
])  # fmt: skip
def test_a_slip_in_the_secret_is_told(sandbox, slip, told):
    """White space and quotes in a secret are found by one more login, and named."""
    client = other(sandbox, secret_key=slip(sandbox.secret_key), origins={"secret_key": "CK_X"})
    check = by_name(ck.doctor(client))["authentication"]
    assert check.verdict == "FAIL"
    assert told in check.found
    assert check.advice == "Set secret_key again, without it (CK_X)."
    assert sandbox.count(A1) == 2


@pytest.mark.parametrize("ret", [504, 405, 407, 408, 700, 4711])
def test_an_answer_that_says_nothing_of_the_keys_is_explained(script, ret):
    """A time-out or an expired licence is no wrong key: one login, and the code's own advice."""
    service = script({**WELL, A1: {"ret": ret}})
    check = by_name(ck.doctor(service.client(), max_failed_logins=8))["authentication"]
    assert check.verdict == "FAIL"
    assert check.found == f"A1 says nothing of the keys: it answers {ret}: " + (
        ck.explain(ret, "A").meaning
    )
    assert check.advice == ck.explain(ret, "A").advice
    assert service.seen[A1] == 1


def test_a_login_without_an_answer_is_not_known(sandbox):
    """Where A1 closes the connection nobody knows what it thinks of the keys: UNKNOWN, and what
    needs a token is skipped."""
    sandbox.fault(A1, drop=True)
    checks = by_name(ck.doctor(sandbox.connect()))
    assert checks["authentication"].verdict == "UNKNOWN"
    assert checks["token in A"].verdict == "SKIP"


def test_a_slip_that_is_not_the_fault_is_told_with_what_was_tried(sandbox):
    """White space in a secret that is wrong anyway, and letters that nobody typed."""
    client = other(sandbox, secret_key="s0me 0ther\u200b")
    check = by_name(ck.doctor(client))["authentication"]
    assert "refused as well: the keys mended, as there is white space inside a key" in check.found
    assert "secret_key holds letters beyond ASCII" in check.found


def test_an_account_that_locks_meanwhile_ends_the_logins(script):
    """When the service changes its answer after a refusal, no further login is made."""
    service = script({**WELL, A1: [{"ret": 401}, {"ret": 4711}]})
    check = by_name(ck.doctor(service.client(), max_failed_logins=8))["authentication"]
    assert check.verdict == "FAIL"
    assert check.found.startswith(
        "A1 refused the keys as they are; asked then with the raw bytes of"
    )
    assert service.seen[A1] == 2


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
    """When nothing tells whether the held token is accepted, it stays, and that is UNKNOWN."""
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
    hooks = dict(client.session.hooks)
    assert ck.doctor(client).ok
    assert (client.timeout, client.authenticated, client.calls) == ((3, 4), False, [])
    assert client.session.hooks == hooks


@pytest.mark.parametrize("spelling", ["access_tocken", "token"])
def test_another_name_of_the_token_is_found(spelling):
    """A token that A3 takes under another name only: the verdict names the setting."""
    with Sandbox(seed=1, dialect=ck.Dialect(token_parameter=spelling)) as sandbox:
        found = by_name(ck.doctor(other(sandbox, dialect=ck.Dialect())))
    assert found["authentication"].verdict == "PASS"
    assert found["token in A"].verdict == "FAIL"
    assert f"(dialect token_parameter={spelling})" in found["token in A"].found
    assert found["room"].verdict == "PASS"


def test_another_name_of_the_token_in_a5_is_found():
    """One SDK calls the token otherwise in A5 alone: that is named too."""
    with Sandbox(seed=1, dialect=ck.Dialect(mcu_token_parameter="token")) as sandbox:
        client = other(sandbox, dialect=ck.Dialect())
        found = by_name(ck.doctor(client, ck.create_room(sandbox.connect(), "t", "ops")))
    assert found["room"].verdict == "PASS"
    assert "(dialect mcu_token_parameter=token)" in found["media server"].found
    assert found["TCP to media server"].verdict == "PASS"


def test_another_name_of_the_token_in_b2_is_found():
    """A client sends accessToken to B2 too: named, and with it the doctor finds nothing."""
    wanted = ck.Dialect(remove_token_parameter="accessToken")
    for one, wrong in ((wanted, ck.Dialect()), (ck.Dialect(), wanted)):
        with Sandbox(seed=1, dialect=one) as sandbox:
            found = by_name(ck.doctor(other(sandbox, dialect=wrong)))["token in B2"]
            assert found.verdict == "FAIL"
            setting = f"remove_token_parameter={one.remove_token_parameter}"
            assert f"(dialect {setting})" in found.found
            assert f"--dialect {setting})" in found.advice
            with pytest.raises(ck.TokenRejected):
                ck.remove_device(other(sandbox, dialect=wrong), "1", "u", "rtsp://192.0.2.1/")
            assert ck.doctor(other(sandbox)).ok


@pytest.mark.parametrize(("answer", "verdict", "told"), [
    ({"ret": 425}, "UNKNOWN", "confkit probe"), ({"ret": 602}, "FAIL", "remove_token_parameter"),
    (opens({"ret": 303}), "UNKNOWN", "background service"), (opens({"ret": 0}), "PASS", ""),
    (Reply("<html>"), "FAIL", ""),
])  # fmt: skip
def test_b2_that_does_not_tell(script, answer, verdict, told):
    """What comes with a token and without one is the same: then nothing shows that it was read."""
    check = by_name(ck.doctor(script({**WELL, B2: answer}).client()))["token in B2"]
    assert check.verdict == verdict
    assert told in check.advice


def test_all_wrong_settings_are_found_in_one_run(monkeypatch):
    """Each is a FAIL that names it, and those after it are asked with what was found; the last
    says all of them, for the environment too where settings came from there."""
    wanted = ck.Dialect(
        hash="sha256", token_parameter="access_tocken", mcu_token_parameter="token",
        list_method="POST", remove_token_parameter="accessToken",
    )  # fmt: skip
    with Sandbox(seed=1, dialect=wanted) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        for name in ("base_url", "outgoing_url", "access_key", "secret_key"):
            monkeypatch.setenv(f"CONFKIT_{name.upper()}", str(getattr(sandbox, name)))
        client = ck.connect()
        found = ck.doctor(client, room_id, max_failed_logins=8)
        wrong = {check.check: check for check in found if check.verdict == "FAIL"}
        assert list(wrong) == [
            "HTTP of B", "authentication", "token in A", "token in B2", "media server"
        ]  # fmt: skip
        assert {check.verdict for check in found} == {"FAIL", "PASS", "SKIP"}
        assert [check.check for check in found if check.verdict == "SKIP"] == [
            f"{what} {one}" for one in "AB" for what in ("name of", "TLS of")
        ]
        told = wrong["media server"].advice.partition("CONFKIT_DIALECT=")[2].partition(", or ")[0]
        assert ck.Dialect.parse(told) == wanted
        assert f"--dialect {told})" in wrong["media server"].advice
        assert client.dialect == ck.Dialect()
        monkeypatch.setenv("CONFKIT_DIALECT", told)
        assert ck.doctor(ck.connect(), room_id).ok
        argued = ck.connect(dialect=ck.Dialect())
        assert "CONFKIT_DIALECT" not in str(ck.doctor(argued, room_id, max_failed_logins=8))


def test_a_slip_in_a_key_hides_no_other_wrong_setting():
    """The checks go on with the login that worked."""
    wanted = ck.Dialect(token_parameter="access_tocken")
    with Sandbox(seed=1, dialect=wanted) as sandbox:
        client = other(sandbox, secret_key=f" {sandbox.secret_key}", dialect=ck.Dialect())
        found = by_name(ck.doctor(client))
    assert (found["authentication"].verdict, found["token in A"].verdict) == ("FAIL", "FAIL")
    assert found["token in B"].verdict == "PASS"


def test_a_token_that_nothing_takes(script):
    """A1 grants and A3 refuses under every name: no login is spent on that."""
    service = script({**WELL, A3: {"ret": 602}})
    found = by_name(ck.doctor(service.client()))
    assert found["token in A"].verdict == "FAIL"
    assert "under any known name" in found["token in A"].found
    assert service.seen[A1] == 1


def test_the_method_of_b3_is_found():
    """A deployment that takes B3 by POST alone says 408 to GET: the verdict names the setting."""
    with Sandbox(seed=1, dialect=ck.Dialect(list_method="POST")) as sandbox:
        found = by_name(ck.doctor(other(sandbox, dialect=ck.Dialect())))
    assert found["HTTP of B"].verdict == "FAIL"
    assert "list_method=POST" in found["HTTP of B"].advice
    assert (found["token in A"].verdict, found["token in B"].verdict) == ("PASS", "PASS")


@pytest.mark.parametrize(("answer", "told"), [
    ({"ret": 304}, "304: get failed"),
    ({"ret": 401}, "401: wrong parameters"),
    ({"ret": 0, "data": []}, "cannot be read"),
    ({"ret": 0, "data": {"total": 9, "items": []}}, "cannot be read"),
])  # fmt: skip
def test_b_that_does_not_list(script, answer, told):
    """What B3 says to the token is told in the words of interface B, and A goes on."""
    service = script({**WELL, B3: [{"ret": 602}, answer]})
    found = by_name(ck.doctor(service.client()))
    assert found["token in B"].verdict == "FAIL"
    assert told in found["token in B"].found
    assert found["token in B"].advice
    assert found["room"].verdict == "PASS"


def test_a_that_falls_silent_after_the_login(script):
    """No answer is no verdict on the token, and is a failure all the same."""
    service = script({**WELL, A3: [{"ret": 602}, Reply(drop=True)]})
    check = by_name(ck.doctor(service.client()))["token in A"]
    assert (check.verdict, check.found) == ("FAIL", "it closed the connection without an answer")


def test_an_answer_that_does_not_tell_of_the_token(script):
    """A code that may come before the token is looked at leaves it unknown."""
    service = script({**WELL, A3: [{"ret": 602}, {"ret": 407}]})
    check = by_name(ck.doctor(service.client()))["token in A"]
    assert check.verdict == "UNKNOWN"
    assert "407: parameter error" in check.found


@pytest.mark.parametrize(("answer", "verdict", "told"), [
    (ROOM, "UNKNOWN", "under the made-up number"), ({"ret": 700}, "FAIL", "700: database error"),
])  # fmt: skip
def test_an_unknown_room_that_is_not_told_as_404(script, answer, verdict, told):
    """Without a room, only a 404 shows that A3 works."""
    service = script({**WELL, A3: [{"ret": 602}, {"ret": 404}, answer]})
    check = by_name(ck.doctor(service.client()))["room"]
    assert check.verdict == verdict
    assert told in check.found


def test_a_room_that_is_closed_is_told(client, sandbox):
    """It can be read, and nobody can join it."""
    room_id = ck.create_room(client, "t", "ops")
    sandbox.close_room(room_id)
    found = by_name(ck.doctor(client, room_id))
    assert found["room"].verdict == "PASS"
    assert "it is closed (room_status 3, seen in deployments)" in found["room"].found


@pytest.mark.parametrize("answer", [{"ret": 0}, {"ret": 0, "addr": ""}, {"ret": 417}])
def test_no_address_of_a_media_server(script, answer):
    """A5 that names none is a failure, and nothing is connected to."""
    service = script({A3: opens(ROOM), B3: opens(EMPTY), A5: answer})
    found = by_name(ck.doctor(service.client(), "7"))
    assert (found["media server"].verdict, found["TCP to media server"].verdict) == ("FAIL", "SKIP")


@pytest.mark.parametrize("address", ["nowhere", "http://127.0.0.1:9", "127.0.0.1"])
def test_a_media_server_that_is_no_host_and_port(script, address):
    """What cannot be connected to fails, with the text that came."""
    service = script({A3: opens(ROOM), B3: opens(EMPTY), A5: {"ret": 0, "addr": address}})
    check = by_name(ck.doctor(service.client(), "7"))["TCP to media server"]
    assert check.verdict == "FAIL"
    assert "is not host:port" in check.found


def test_the_media_server(client, sandbox):
    """One that is stopped is told by A5; one that does not accept connections by that."""
    room_id = ck.create_room(client, "t", "ops")
    sandbox.fault(A5, body=json.dumps({"ret": 0, "addr": "127.0.0.1:1"}), times=1)
    found = by_name(ck.doctor(client, room_id))
    assert (found["media server"].verdict, found["TCP to media server"].verdict) == ("PASS", "FAIL")
    assert "it refuses them" in found["TCP to media server"].found
    assert "UDP" in found["TCP to media server"].advice
    sandbox.stop_mcu()
    found = by_name(ck.doctor(client, room_id))
    assert found["media server"].found.endswith("410: no MCU available")


def test_no_text_holds_a_secret(script):
    """What a service quotes of key, digest and token is masked in every form of the checks."""
    quoted = f"demo_secret {VECTOR_TOKEN}"
    for answers in (
        {A1: {"ret": 700, "msg": quoted}},
        {A1: GRANTED, A3: opens({"ret": f"odd {quoted}"}), B3: {"ret": 401, "err": quoted}},
        {A3: opens({"ret": 0, "topic": quoted}), B3: opens(EMPTY)},
        {A3: {"ret": 602}, B3: lambda query: {"ret": 700, "err": str(query)}},
    ):
        checks = ck.doctor(script({**WELL, **answers}).client(), "7")
        for text in (str(checks), checks.as_json(), checks._repr_html_(), str(checks.to_frame())):
            assert "demo_secret" not in text
            assert VECTOR_TOKEN not in text


def test_no_text_steers_a_terminal(script):
    """What a service sends cannot colour or overwrite what a terminal shows."""
    odd = "\x1b[2J\r\n\u202e"
    service = script({A3: opens(ROOM | {"topic": odd}), B3: opens(EMPTY),
                      A5: {"ret": 0, "addr": f"127.0.0.1:9{odd}"}})  # fmt: skip
    checks = ck.doctor(service.client(), "7")
    assert all(letter.isprintable() for check in checks for letter in check.found + check.advice)


@pytest.mark.parametrize(("arguments", "error"), [
    ({"room_id": ""}, ck.ParameterError), ({"room_id": 1.5}, ck.ParameterError),
    ({"room_id": "\ud800"}, ck.ParameterError), ({"max_failed_logins": -1}, ValueError),
    ({"max_failed_logins": 1.5}, ValueError), ({"timeout": 0}, ValueError),
    ({"timeout": float("nan")}, ValueError),
])  # fmt: skip
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
    assert checks[0].found == "this sandbox is closed. Connect again."
