"""What a probe makes of services that are unlike the sandbox, and how it shows what it found."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import confkit as ck
from confkit import profiles
from confkit.connect import SERVICE
from confkit.deployment import probe_client
from confkit.deployment.login_signatures import Logins, signatures
from confkit.deployment.questions import TOKEN_IN_A, TOKEN_IN_A5, TOKEN_IN_B2
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.commands import run
from tests.deployment.deployments import combined
from tests.deployment.seeing import EMPTY, url
from tests.ports import quiet_port
from tests.scripted import AUTHENTICATE, VECTOR_TOKEN, Reply

A2, A3, A4, A5, B1, B2, B3 = (
    ENDPOINTS[key].path for key in ("A2", "A3", "A4", "A5", "B1", "B2", "B3")
)


def checked(right, wrong=602, name="access_token"):
    """An operation that answers `right` to the right token, and `wrong` without it."""

    def answer(query):
        code = right if query.get(name) == VECTOR_TOKEN else wrong
        return code if isinstance(code, dict | Reply) else {"ret": code}

    return answer


USUAL = {
    A2: {"ret": 411},
    A3: checked(404),
    A4: {"ret": 404},
    A5: checked(404),
    B1: checked(401, name="accessToken"),
    B2: checked(425),
    B3: checked(EMPTY, name="accessToken"),
}


@pytest.fixture
def asked(script):
    """asked({path: answer}): the rows of a probe of the usual service with these differences."""

    def ask(differences=None, **options):
        service = script({**USUAL, **(differences or {})})
        found = probe_client(service.client(sleep=lambda _: None, **options))
        return found, {row.question: row for row in found.evidence}

    return ask


def listing(*items, total=None):
    """B3 with these items."""
    total = len(items) if total is None else total
    return checked({"ret": 0, "data": {"total": total, "items": items}}, name="accessToken")


def by_callback(answer):
    """A3 that answers so where a callback is given."""
    return lambda query: answer if "callback" in query else checked(404)(query)


IN_A, IN_A5, IN_B2 = (f"spelling of the token in {where}" for where in ("A", "A5", "B2"))
HOW_B1, KEYS, JSONP = "B1 by GET or POST", "keys of B3's items", "JSONP (callback)"
NAME, MCU_NAME, B2_NAME = (one.setting for one in (TOKEN_IN_A, TOKEN_IN_A5, TOKEN_IN_B2))
OTHER, STYLE, UNKNOWN = "accessToken", "item_keys", "an unknown room in {}"
GONE, BAD = "404 (room not found), HTTP 404", "602 (access_token incorrect), HTTP 401"
BY_STATUS = Reply({"ret": 404}, status=404), Reply({"ret": 602}, status=401)
BY_HTTP, B_BY_HTTP = checked(*BY_STATUS), checked(*BY_STATUS, OTHER)
PAGE = Reply("<html>no</html>", 500, "text/html")
SCRIPT = Reply('confkitProbe({"ret":404});', kind="text/javascript")
# What differs from a usual service; the question, its answer, and the setting that is reported by
# it.
SHOWN = {
    "the room before the token": (A3, {"ret": 404}, IN_A, "open: none of", NAME, None),
    "A5 alike, and no room": (A5, {"ret": 407}, IN_A5, "open: an unknown room", MCU_NAME, None),
    "B2 alike": (B2, {"ret": 425}, IN_B2, "open: none of", B2_NAME, None),
    "B2 down": (B2, {"ret": 303}, IN_B2, "open: none of", B2_NAME, None),
    "B2 down in between": (B2, checked(303), IN_B2, "open: none of", B2_NAME, None),
    "B2": (B2, checked(425), IN_B2, "seen: access_token", B2_NAME, "access_token"),
    "B2 by success": (B2, checked(0, 401, OTHER), IN_B2, "seen: access", B2_NAME, OTHER),
    "B2 by 404": (B2, checked(404, 602, OTHER), IN_B2, "seen: access", B2_NAME, OTHER),
    "success to nothing": (B1, {"ret": 0}, HOW_B1, "open: none of", "create_method", None),
    "any token": (B3, EMPTY, "a bad token in B3", "seen: 0 (success)", "list_method", "GET"),
    "a total as text": (B3, listing(total="0"), "total in B3", "seen: as text", STYLE, None),
    "camelCase": (B3, listing({"userId": "1"}), KEYS, "seen: camelCase", STYLE, "camelCase"),
    "snake_case": (B3, listing({"user_id": "1"}, {}), KEYS, "seen: snake", STYLE, "snake_case"),
    "both": (B3, listing({"user_id": "1", "roomId": "2"}), KEYS, "open: the items", STYLE, None),
    "neither": (B3, listing({"USERID": "1"}), KEYS, "open: the items", STYLE, None),
    "no objects": (B3, listing(1, "x", None), KEYS, "open: the items", STYLE, None),
    "no callback": (A3, by_callback({"ret": 404}), JSONP, "seen: ignored", NAME, "access_token"),
    "a page": (A3, by_callback(PAGE), JSONP, "open: no answer of the", NAME, "access_token"),
    "a callback": (A3, by_callback(SCRIPT), JSONP, "seen: honoured", NAME, "access_token"),
    "A by HTTP": (A3, BY_HTTP, UNKNOWN.format("A3"), f"seen: {GONE}", NAME, "access_token"),
    "A's refusal": (A3, BY_HTTP, "a bad token in A3", f"seen: {BAD}", NAME, "access_token"),
    "B by HTTP": (B3, B_BY_HTTP, UNKNOWN.format("B3"), "seen: 404 ", "list_method", "GET"),
}


@pytest.mark.parametrize("row", SHOWN.values(), ids=SHOWN)
def test_what_comes_is_what_is_told(asked, row):
    """Only an answer that differs from the control's settles a setting; what a passing fault or a
    service that does not look at the token could say leaves it open, and as usual."""
    path, answer, question, shown, setting, told = row
    found, rows = asked({path: answer})
    row = rows[question]
    assert f"{row.sure}: {row.answer}".startswith(shown)
    assert (setting in found.told) == (told is not None)
    assert getattr(found.dialect, setting) == (told or getattr(Dialect(), setting))
    assert {"hash", "signature"} <= set(found.told)


def test_a_fault_that_passes_is_no_control(asked):
    """The question without a token fails once (700), then the room is looked for first: what
    changed was the service's health, so no spelling is reported."""
    failures = [{"ret": 700}]
    found, rows = asked({A3: lambda _: failures.pop() if failures else {"ret": 404}})
    assert rows["spelling of the token in A"].sure == "open"
    assert "token_parameter" not in found.told


def test_a_creation_that_was_lost_is_looked_for_twice(asked):
    """It may be under way still when the room is not found; what came of it then is deleted."""
    removals = [{"ret": 0}, {"ret": 404}]
    found, _ = asked({A2: Reply(drop=True), A4: lambda _: removals.pop()})
    assert (removals, found.left) == ([], ())


def test_a_media_server_question_that_says_407_to_both_is_asked_of_an_own_room(asked):
    """A5's codes name no unknown room, so 407 with and without a token is likely; a room that is
    there tells them apart."""
    here = []

    def create(query):
        here.append(query["room_extend_id"])
        return {"ret": 0, "room_id": here[0]}

    def mcu(query):
        known = query.get("token") == VECTOR_TOKEN and query["room_id"] in here
        return {"ret": 0, "addr": "h:1"} if known else {"ret": 407}

    found, rows = asked({A2: create, A5: mcu, A4: lambda _: here.clear() or {"ret": 0}})
    assert found.dialect.mcu_token_parameter == "token"
    assert rows["spelling of the token in A5"].exchange.ret == 0
    assert (here, found.left) == ([], ())


@pytest.mark.parametrize(
    "refusal", [{"ret": 408}, Reply("<html>no such method</html>", 405, "text/html")]
)
def test_parameters_before_the_token_in_b1_tell_the_method_alone(script, refusal):
    """401 with and without a token by POST, and no GET: the method is reported, the placement
    open."""
    service = script({**USUAL, B1: {"ret": 401}})
    found = probe_client(service.client(sleep=lambda _: None))
    assert "create_method" not in found.told  # both methods are served alike

    def by_post(query):
        return refusal if service.requests[-1][0] == "GET" else {"ret": 401}

    service.script[B1] = by_post
    found = probe_client(service.client(sleep=lambda _: None))
    rows = {row.question: row for row in found.evidence}
    assert (found.dialect.create_method, found.dialect.placement) == ("POST", "query")
    assert "placement" not in found.told
    assert rows["B1 by GET or POST"].answer == "POST; the other one is not served"
    assert rows["placement of a POST"].sure == "open"


@pytest.mark.parametrize("both", [True, False])
def test_a_result_code_in_both_fields_is_open(asked, both):
    """With ret and result in each answer nothing says which is meant; a quoted code is reported."""
    code = {"ret": "0", "result": 0} if both else {"result": "0"}
    refused = dict.fromkeys(code, 602)
    listed = {**code, "data": EMPTY["data"]}
    in_b1 = checked(dict.fromkeys(code, 401), refused, "accessToken")
    in_b2 = checked(dict.fromkeys(code, 425), refused)
    found, rows = asked({B1: in_b1, B2: in_b2, B3: checked(listed, refused, "accessToken")})
    row = rows["result code of B"]
    assert row.sure == ("open" if both else "seen")
    assert found.dialect.result_field == ("ret" if both else "result")
    if not both:
        assert row.answer.startswith("in result, as ")
        assert rows["result code of A"].answer == "in ret, as a number"


def test_a_room_that_gets_another_number_is_deleted_by_that(asked):
    """Where room_extend_id does not become the room_id, that is reported, and the room removed."""
    deleted = []
    delete = lambda query: deleted.append(query["room_id"]) or {"ret": 0}  # noqa: E731
    found, rows = asked({A2: {"ret": 0, "room_id": "7007"}, A4: delete})
    assert deleted == ["7007"]
    assert rows["a room of its own"].answer == "created; its room_id is not its room_extend_id"
    assert found.left == ()


@pytest.mark.parametrize("lost", [True, False])
def test_a_login_without_an_answer_counts_and_one_that_never_left_does_not(script, lost):
    """Whether a lost login failed nobody knows; where nobody listens none can have failed. One that
    Ctrl-C ends is counted too."""
    service = script({AUTHENTICATE: Reply(drop=True)})
    address = service.base_url if lost else url(quiet_port())
    client = ck.Client(address, address, "demo_access", "demo_secret")
    logins = Logins(client.ask_once, 2)
    tried = logins.first(signatures("demo_access", "demo_secret"))
    assert [login.came for login in tried.logins] == ["unclear"]
    assert (logins.failed, len(tried.open)) == (lost, 7)
    logins = Logins(lambda *_, **__: signal.default_int_handler(2, None), 1)
    with pytest.raises(KeyboardInterrupt):
        logins.first(signatures("demo_access", "demo_secret"))
    with pytest.raises(ck.ConfigError, match="1 of 1"):
        logins.login(tried.open[0])


# Showing and saving


def test_the_result_is_text_html_json_and_a_frame(playing, probe, asked):
    """Each shows the same rows: question, answer, how sure, and the exchange; what comes from the
    service is no HTML of ours."""
    with playing(Dialect(list_method="POST", placement="json")) as sandbox:
        found = probe(sandbox)
    rows = json.loads(found.as_json())
    assert rows["dialect"]["list_method"] == "POST"
    assert [row["question"] for row in rows["evidence"]] == [r.question for r in found.evidence]
    assert rows["evidence"][0]["exchange"]["ret"] == 0
    assert (rows["calls"], rows["failed_logins"]) == (found.calls, 0)
    frame = found.to_frame()
    assert list(frame.columns) == ["question", "answer", "sure", "exchange"]
    assert len(frame) == len(found.evidence)
    text = str(found)
    assert "seen  B3 by GET or POST: POST" in text
    assert 'B3 POST /avd/api/outgoing/getOutgoingUsers json {"accessToken": "***"' in text
    assert '-> HTTP 200 confkitProbe({"ret":404,"msg":"room not found"})\n' in text
    assert text.endswith(f"{found.calls} calls, 0 failed logins")
    html = found._repr_html_()
    assert html.count("<tr>") == len(found.evidence) + 1
    found, _ = asked({A2: {"ret": 411, "msg": "<script>alert(1)</script>"}})
    assert "<script" not in html + found._repr_html_()
    assert "&lt;script" in found._repr_html_()


def add(name, sandbox, **settings):
    service = {name: str(getattr(sandbox, name)) for name in SERVICE}
    profiles.save(name, {**service, **settings})


@pytest.mark.parametrize("dialect", list(combined(3, seed=21)), ids=str)
def test_a_saved_dialect_is_what_connect_uses_from_then_on(playing, probe, dialect):
    """After save() the profile logs in, lists and reads; its other settings are as before."""
    with playing(dialect) as sandbox:
        add("prod", sandbox, timeout=3.0, max_rate=100.0)
        probe(sandbox, max_failed_logins=8).save("prod")
        assert (profiles.load("prod")["timeout"], profiles.load("prod")["max_rate"]) == (3.0, 100.0)
        with ck.connect("prod") as client:
            assert client.dialect == sandbox.dialect or client.dialect.placement == "query"
            assert [device.user_id for device in ck.list_devices(client)] == ["cam"]
            assert ck.get_room(client, sandbox.room_ids()[0]).topic == "Weekly sync"


def test_a_success_without_random_and_key_is_an_error(script):
    """It was no failed login, and nothing can be asked with it."""
    service = script({AUTHENTICATE: {"ret": 0}})
    with pytest.raises(ck.ProtocolError, match="holds no random and key"):
        probe_client(service.client())
    assert service.seen == {AUTHENTICATE: 1}


# The command


def command(sandbox, *arguments):
    """Exit status, output and errors of `confkit probe ...`."""
    named = SERVICE if sandbox is not None else ()
    environ = {f"CONFKIT_{name.upper()}": str(getattr(sandbox, name)) for name in named}
    return run("probe", *arguments, **environ)


def test_the_command_says_what_it_found_and_its_status_whether_all(playing):
    """0 where all was found out, 2 where something is open, 1 after an error."""
    with playing(Dialect(signature="raw")) as sandbox:
        status, out, err = command(sandbox)
        assert (status, err) == (0, "")
        assert out.startswith(f"{sandbox.base_url}: signature=raw\nseen  signature of digest")
        status, out, _ = command(sandbox, "--no-room", "--json")
        why = "a room of its own: not created, so A2 and A4 were not asked"
        assert (status, json.loads(out)["open"]) == (2, [why])
        status, out, _ = command(sandbox, "--max-failed-logins", "1")
        assert (status, "as 1 failed logins are the bound" in out) == (2, True)
        sandbox.fault(AUTHENTICATE, body="<html>")
        status, out, err = command(sandbox)
        assert (status, out) == (1, "")
        assert err.startswith("confkit: authenticate (A1) got an HTML or XML page")
    status, out, _ = command(None, "--profile", "sandbox", "--wait", "0.01")
    keys, lifetime = re.findall("^open .*", out, re.MULTILINE)
    assert (status, keys.endswith("no device is listed, so nothing shows them")) == (2, True)
    assert re.search(r"lifetime of the token: longer than \d+ s, as far as was waited", lifetime)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_removes_the_room_and_is_status_130(playing, name):
    """Ctrl-C, `timeout` or a dropped connection while its room is there: the command ends at once,
    without a traceback or a room."""
    with playing() as sandbox:
        before = sandbox.room_ids()
        sandbox.fault(A3, delay=0.001, times=4)
        sandbox.fault(A3, delay=30)
        environ = {f"CONFKIT_{name.upper()}": str(getattr(sandbox, name)) for name in SERVICE}
        running = subprocess.Popen(
            [sys.executable, "-m", "confkit", "probe"],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 30
        while sandbox.count(A3) < 5 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(sandbox.room_ids()) == len(before) + 1
        running.send_signal(getattr(signal, name))
        out, err = running.communicate(timeout=20)
        assert (running.returncode, out, err) == (130, "", "")
        assert sandbox.room_ids() == before


def test_the_command_saves_into_a_profile(playing, monkeypatch):
    """--save writes what was found out into a profile, or makes one from the settings that were
    used; what was not told stays. A name that no profile can have is reported before anything is
    sent; so is a profile of another service, and the embedded sandbox, which ends with the
    command."""
    monkeypatch.setenv("CONFKIT_TIMEOUT", "3,4")
    monkeypatch.setenv("CONFKIT_DIALECT", "item_keys=snake_case,hash=md5")
    with playing(Dialect(signature="raw", create_method="POST")) as sandbox:
        with sandbox.connect() as client:
            ck.remove_device(client, ck.list_devices(client)[0])  # nothing shows the items' keys
        status, _, err = command(sandbox, "--max-failed-logins", "9", "--save", "new")
        assert (status, f"profile new was created in {profiles.path()}" in err) == (2, True)
        assert str(sandbox.secret_key) not in err
        told = {"signature": "raw", "create_method": "POST", "item_keys": "snake_case"}
        service = {name: str(getattr(sandbox, name)) for name in SERVICE}
        assert profiles.load("new") == {**service, "timeout": [3.0, 4.0], "dialect": told}
        assert os.name == "nt" or profiles.path().stat().st_mode & 0o777 == 0o600
        add("prod", sandbox, dialect={"item_keys": "snake_case", "hash": "md5"})
        monkeypatch.setenv("CONFKIT_DIALECT", "")
        _, _, err = command(None, "--profile", "new", "--save", "prod")
        assert f"saved in {profiles.path()}" in err
        assert profiles.load("prod")["dialect"] == told
        _, _, err = command(sandbox, "--max-failed-logins", "1", "--save", "none")
        assert err == "profile none was not made, as no login was accepted\n"
        add("else", sandbox, base_url="http://192.0.2.1:8080")
        before, counted = profiles.path().read_bytes(), sandbox.count()
        for name, says in (("sandbox", "built in"), ("a b", "profile name 'a b'")):
            status, _, err = command(sandbox, "--save", name)
            assert (status, says in err) == (1, True)
        assert sandbox.count() == counted
        assert "another base_url" in command(sandbox, "--save", "else")[2]
        assert profiles.path().read_bytes() == before
    status, out, err = command(None, "--profile", "sandbox", "--save", "other")
    assert (status, out, "ends with this command" in err) == (1, "", True)
