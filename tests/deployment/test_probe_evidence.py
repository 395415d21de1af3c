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
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from tests.commands import known, run
from tests.deployment.seeing import EMPTY
from tests.scripted import AUTHENTICATE, GRANTED, VECTOR_TOKEN, Reply

A2, A3, A4, A5, B1, B2, B3 = (
    ENDPOINTS[key].path for key in ("A2", "A3", "A4", "A5", "B1", "B2", "B3")
)
OTHER = "accessToken"


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
    B1: checked(401, name=OTHER),
    B2: checked(425),
    B3: checked(EMPTY, name=OTHER),
}


@pytest.fixture
def asked(script):
    """asked({path: answer}): the rows of a probe of the usual service with these differences."""

    def ask(differences, **bounds):
        service = script({**USUAL, **differences})
        found = probe_client(service.client(sleep=lambda _: None), **bounds)
        return found, {row.question: row for row in found.evidence}

    return ask


def listing(*items, total=None):
    """B3 with these items."""
    total = len(items) if total is None else total
    return checked({"ret": 0, "data": {"total": total, "items": items}}, name=OTHER)


def by_callback(answer):
    """A3 that answers so where a callback is given."""
    return lambda query: answer if "callback" in query else checked(404)(query)


IN_A, IN_B2 = "spelling of the token in A", "spelling of the token in B2"
HOW_B1, KEYS, JSONP = "B1 by GET or POST", "keys of B3's items", "JSONP (callback)"
NAME, B2_NAME, STYLE = "token_parameter", "remove_token_parameter", "item_keys"
BAD = "602 (access_token incorrect), HTTP 401"
BY_HTTP = checked(Reply({"ret": 404}, status=404), Reply({"ret": 602}, status=401))
PAGE = Reply("<html>no</html>", 500, "text/html")
MADE = {A2: {"ret": 0, "room_id": "7007"}}  # under another number than it was given
# What differs from a usual service; the question, its answer, and what a setting is told to be.
SHOWN = {
    "the room before the token": (A3, {"ret": 404}, IN_A, "open: none of", NAME, None),
    "B2 down": (B2, {"ret": 303}, IN_B2, "open: none of", B2_NAME, None),
    "B2 by success": (B2, checked(0, 401, OTHER), IN_B2, "seen: access", B2_NAME, OTHER),
    "success to nothing": (B1, {"ret": 0}, HOW_B1, "open: none of", "create_method", None),
    "any token": (B3, EMPTY, "a bad token in B3", "seen: 0 (success)", "list_method", "GET"),
    "a total as text": (B3, listing(total="0"), "total in B3", "seen: as text", STYLE, None),
    "no device": (B3, listing(), KEYS, "open: no device is listed", STYLE, None),
    "both": (B3, listing({"user_id": "1", "roomId": "2"}), KEYS, "open: the items", STYLE, None),
    "no objects": (B3, listing(1, "x", None), KEYS, "open: the items", STYLE, None),
    "a page": (A3, by_callback(PAGE), JSONP, "open: no answer of the", NAME, "access_token"),
    "no JSONP": (A3, checked(404), JSONP, "seen: ignored: plain JSON", NAME, "access_token"),
    "A's refusal": (A3, BY_HTTP, "a bad token in A3", f"seen: {BAD}", NAME, "access_token"),
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


@pytest.mark.parametrize(
    "refusal", [{"ret": 408}, Reply("<html>no such method</html>", 405, "text/html")]
)
def test_parameters_before_the_token_in_b1_tell_the_method_alone(script, refusal):
    """401 with and without a token by POST, and no GET: the method is reported, the placement
    open."""
    service = script(dict(USUAL))
    service.script[B1] = lambda _: refusal if service.requests[-1][0] == "GET" else {"ret": 401}
    found = probe_client(service.client(sleep=lambda _: None))
    rows = {row.question: row for row in found.evidence}
    assert found.dialect.changes() == {"create_method": "POST"}
    assert "placement" not in found.told
    assert rows["B1 by GET or POST"].answer == "POST; the other one is not served"
    assert rows["placement of a POST"].sure == "open"


@pytest.mark.parametrize("both", [True, False])
def test_a_result_code_in_both_fields_is_open(asked, both):
    """With ret and result in each answer nothing says which is meant; a quoted code is reported."""
    code = {"ret": "0", "result": 0} if both else {"result": "0"}
    refused = dict.fromkeys(code, 602)
    answers = {B1: dict.fromkeys(code, 401), B3: {**code, "data": EMPTY["data"]}}
    in_b2 = checked(dict.fromkeys(code, 425), refused)
    found, rows = asked({B2: in_b2, **{k: checked(v, refused, OTHER) for k, v in answers.items()}})
    row = rows["result code of B"]
    assert row.sure == ("open" if both else "seen")
    assert found.dialect.result_field == ("ret" if both else "result")
    assert both or row.answer.startswith("in result, as ")
    assert rows["result code of A"].answer == "in ret, as a number"


# Its room


def test_a_room_is_deleted_by_the_number_that_it_got(asked):
    """Where room_extend_id does not become the room_id, that is reported. A creation that was lost
    may be under way when the room is not found; what comes of it then is deleted."""
    deleted = []
    delete = lambda query: deleted.append(query["room_id"]) or {"ret": 0}  # noqa: E731
    found, rows = asked({**MADE, A4: delete})
    assert (deleted, found.left) == (["7007"], ())
    assert rows["a room of its own"].answer == "created; its room_id is not its room_extend_id"
    removals = [{"ret": 0}, {"ret": 404}]
    found, _ = asked({A2: Reply(drop=True), A4: lambda _: removals.pop()})
    assert (removals, found.left) == ([], ())


def test_a_token_that_is_let_go_is_made_anew_to_delete_the_room(asked):
    """Within the bound of failed logins; of one without an answer nobody knows whether it failed,
    so with a bound of one it is the last, and the room is named."""
    removals = [{"ret": 0}, {"ret": 602}]
    found, _ = asked({**MADE, A4: lambda _: removals.pop()}, max_failed_logins=1)
    assert (removals, found.left, found.failed_logins) == ([], (), 0)
    logins = [Reply(drop=True), GRANTED, GRANTED]
    refusing = {**MADE, A4: {"ret": 602}, AUTHENTICATE: lambda _: logins.pop()}
    found, _ = asked(refusing, max_failed_logins=1)
    assert (logins, found.failed_logins) == ([], 1)
    assert "room '7007'" in found.left[0]
    assert "1 of 1 logins have failed (max_failed_logins)" in found.left[0]


# Showing and saving


def test_the_result_is_text_html_json_and_a_frame(playing, probe, asked):
    """Each shows the same rows: question, answer, how sure, and the exchange; what comes from the
    service is no HTML of ours."""
    with playing(Dialect(list_method="POST", placement="json")) as sandbox:
        found = probe(sandbox)
    rows = json.loads(found.as_json())
    assert (rows["dialect"]["list_method"], rows["calls"]) == ("POST", found.calls)
    assert [row["question"] for row in rows["evidence"]] == [r.question for r in found.evidence]
    assert rows["evidence"][0]["exchange"]["ret"] == 0
    assert list(found.to_frame().columns) == ["question", "answer", "sure", "exchange"]
    text = str(found)
    assert "seen  B3 by GET or POST: POST" in text
    assert 'B3 POST /avd/api/outgoing/getOutgoingUsers json {"accessToken": "***"' in text
    assert text.endswith(f"{found.calls} calls, 0 failed logins")
    assert found._repr_html_().count("<tr>") == len(found.to_frame()) + 1
    found, _ = asked({A2: {"ret": 411, "msg": "<script>alert(1)</script>"}})
    assert "<script" not in found._repr_html_()
    assert "&lt;script" in found._repr_html_()


def add(name, sandbox, **settings):
    """Makes a profile of this sandbox."""
    service = {name: str(getattr(sandbox, name)) for name in SERVICE}
    profiles.save(name, {**service, **settings})


# The command


def probing(sandbox, *options):
    """How the command ends that probes this sandbox."""
    return run("probe", *options, **known(sandbox))


def test_the_command_says_what_it_found_and_its_status_whether_all(playing):
    """0 where all was found out, 2 where something is open, 1 after an error."""
    with playing(Dialect(signature="raw")) as sandbox:
        status, out, err = probing(sandbox)
        assert (status, err) == (0, "")
        assert out.startswith(f"{sandbox.base_url}: signature=raw\nseen  signature of digest")
        status, out, _ = probing(sandbox, "--no-room", "--json", "--max-failed-logins", "3")
        assert (status, len(json.loads(out)["open"])) == (2, 2)
        status, out, _ = probing(sandbox, "--max-failed-logins", "1")
        assert (status, "as 1 failed logins are the bound" in out) == (2, True)
        sandbox.fault(AUTHENTICATE, body="<html>")
        status, out, err = probing(sandbox)
        assert (status, out) == (1, "")
        assert err.startswith("confkit: authenticate (A1) got an HTML or XML page")
    status, out, _ = run("probe", "--profile", "sandbox", "--wait", "0.01")
    assert re.search(r"open  lifetime of the token: longer than \d+ s, as far as was waited", out)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_removes_the_room_and_is_status_130(playing, name):
    """Ctrl-C, `timeout` or a dropped connection while its room is there: the command ends at once,
    without a traceback or a room."""
    with playing() as sandbox:
        before = sandbox.room_ids()
        sandbox.fault(A3, delay=0.001, times=5)
        sandbox.fault(A3, delay=30)
        running = subprocess.Popen(
            [sys.executable, "-m", "confkit", "probe"],
            env={**os.environ, **known(sandbox)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 30
        while sandbox.count(A3) < 6 and time.monotonic() < until:
            time.sleep(0.02)
        assert len(sandbox.room_ids()) == len(before) + 1
        running.send_signal(getattr(signal, name))
        out, err = running.communicate(timeout=20)
        assert (running.returncode, out, err) == (130, "", "")
        assert sandbox.room_ids() == before


def test_the_command_saves_into_a_profile(playing, monkeypatch):
    """--save writes what was found out into a profile, or makes one from the settings that were
    used; what was not told stays, and connect() goes by it. A name that no profile can have is
    reported before anything is sent; a profile of another service stays as it is."""
    monkeypatch.setenv("CONFKIT_TIMEOUT", "3,4")
    monkeypatch.setenv("CONFKIT_DIALECT", "item_keys=snake_case,hash=md5")
    with playing(Dialect(signature="raw", create_method="POST")) as sandbox:
        with sandbox.connect() as client:
            ck.remove_device(client, ck.list_devices(client)[0])  # nothing shows the items' keys
        status, _, err = probing(sandbox, "--max-failed-logins", "9", "--save", "new")
        assert (status, f"profile new was created in {profiles.path()}" in err) == (2, True)
        assert str(sandbox.secret_key) not in err
        told = {"signature": "raw", "create_method": "POST", "item_keys": "snake_case"}
        service = {name: str(getattr(sandbox, name)) for name in SERVICE}
        assert profiles.load("new") == {**service, "timeout": [3.0, 4.0], "dialect": told}
        assert os.name == "nt" or profiles.path().stat().st_mode & 0o777 == 0o600
        _, _, err = probing(sandbox, "--max-failed-logins", "1", "--save", "none")
        assert err == "profile none was not made, as no login was accepted\n"
        profiles.save("prod", {**service, "max_rate": 100.0})
        probing(sandbox, "--max-failed-logins", "9", "--save", "prod")
        monkeypatch.delenv("CONFKIT_DIALECT")
        assert profiles.load("prod")["max_rate"] == 100.0
        with ck.connect("prod") as client:
            assert ck.get_room(client, sandbox.room_ids()[0]).topic == "Weekly sync"
        profiles.save("else", {**service, "base_url": "http://192.0.2.1:8080"})
        before, counted = profiles.path().read_bytes(), sandbox.count()
        status, _, err = probing(sandbox, "--save", "a b")
        assert (status, "profile name 'a b'" in err, sandbox.count()) == (1, True, counted)
        assert "another base_url" in probing(sandbox, "--save", "else")[2]
        assert profiles.path().read_bytes() == before
