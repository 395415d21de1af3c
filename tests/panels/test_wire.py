"""The wire's panel: calls newest first and masked, one of them in detail, the token's making."""

import base64
import hashlib
import hmac
import re
import threading

import pandas as pd
import pytest

import confkit as ck
from confkit.frames import calls_frame
from confkit.panels import WirePanel
from confkit.sandbox import Sandbox
from confkit.signing import digest
from tests.panels.pressing import LONG, heard, page, press, says, state
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply


def rows(panel):
    """The texts in the cells of the table's page."""
    return [
        [cell["text"] if isinstance(cell, dict) else cell for cell in cells]
        for _, cells in panel.table.rows
    ]


def numbers(panel):
    """The numbers of the calls in the table, from the top."""
    return [cells[0] for cells in rows(panel)]


@pytest.fixture
def busy(client):
    """A client that has made four calls, the last of which failed."""
    room_id = ck.create_room(client, "<b>Sync</b>", owner_id="ops", host_password="hunter2-pw")
    ck.get_room(client, room_id)
    with pytest.raises(ck.RoomNotFound):
        ck.get_room(client, "999")
    return client


# The calls


def test_the_table_has_the_calls_newest_first_with_code_and_meaning(busy, sandbox):
    """Number, operation, code and meaning of each call; the value is what calls_frame makes of the
    client's record. Of a client that made no call it is empty, and nothing is sent."""
    with sandbox.connect() as quiet:
        pd.testing.assert_frame_equal(WirePanel(quiet).value, calls_frame([]))
    panel = WirePanel(busy)
    assert [(cells[0], *cells[2:5]) for cells in rows(panel)] == [
        ("4", "404", "A3 get room", "room not found"),
        ("3", "0", "A3 get room", "success"),
        ("2", "0", "A2 create room", "success"),
        ("1", "0", "A1 authenticate", "success"),
    ]
    pd.testing.assert_frame_equal(panel.value, calls_frame(busy.calls))
    assert sandbox.count() == 4


def test_it_refreshes_itself_without_sending_anything(busy, sandbox):
    """The browser's clock brings what was called meanwhile; the row that was chosen stays so. The
    calls that failed are shown alone on demand, with their numbers, and of how many they are."""
    panel = WirePanel(busy, every=5)
    assert panel.frame.every == 5
    changed, value = [], panel.value
    panel.table.observe(changed.append)
    assert panel.refresh() is value
    assert changed == [], "nothing is sent to the browser while no call was made"
    panel.choose(3)
    chosen = panel.table.chosen
    ck.list_devices(busy)
    sent = sandbox.count()
    heard(panel, "tick")
    assert numbers(panel) == ["5", "4", "3", "2", "1"]
    assert panel.table.chosen == chosen == panel.table.rows[2][0]
    panel.filter(errors=True)
    assert (numbers(panel), panel.value["ret"].tolist()) == (["4"], ["404"])
    assert panel.table.told.startswith("1 of 5 calls")
    panel.errors.value = False
    assert len(panel.value) == 5
    assert sandbox.count() == sent
    with pytest.raises(ck.ConfigError, match="Give seconds"):
        WirePanel(busy, every="x")


def test_a_chosen_call_is_shown_as_curl_and_as_python_with_its_answer_and_its_meaning(busy):
    """By its number, from the newest or by a click: how to send it again, what came, what the code
    means, escaped; a number that is none is reported with those that there are."""
    panel = WirePanel(busy)
    assert panel.details.layout.display == "none"
    for number, place in ((-1, -1), (-4, 0), (2, 1)):
        assert panel.choose(number) is busy.calls[place] is panel.call
    assert panel.details.layout.display is None
    for told in ("curl -sS --get http", "requests.get(", "${CONFKIT_HOST_PASSWORD:?}", "&lt;b&gt;"):
        assert told in panel.sent.html
    assert "<dt>ret</dt><dd>0: success</dd>" in panel.came.html
    assert "&quot;ret&quot;: 0" in panel.came.html
    says(panel.table, "choose", key=panel.table.rows[0][0])
    assert panel.call is busy.calls[3]
    assert ck.explain(404, "A")._repr_html_() in panel.came.html
    panel.table.choose("")
    assert (panel.call, panel.details.layout.display) == (None, "none")
    for number in (0, 5, -5):
        with pytest.raises(ck.ConfigError, match="There are 1 to 4"):
            panel.choose(number)


def test_a_call_without_an_answer_says_why_and_is_no_zero(script):
    """Neither a code nor an HTTP status stands there, but the reason and what to do; it is one of
    the errors."""
    client = script({GET_ROOM: [Reply(drop=True), Reply("<p>no</p>", status=404)]}).client()
    with pytest.raises(ck.ProtocolError):
        ck.get_room(client, "1")
    panel = WirePanel(client)
    assert [cells[2] for cells in rows(panel)] == ["not of the interface", "no answer", "0"]
    assert rows(panel)[1][4] == "it closed the connection without an answer"
    panel.choose(2)
    assert "closed the connection without an answer. Check that" in panel.came.html
    assert "Its answer" not in panel.came.html
    panel.choose(3)
    assert "&lt;p&gt;no&lt;/p&gt;" in panel.came.html
    panel.filter(errors=True)
    assert panel.value["ret"].isna().tolist() == [True, True]


# How the token is made


@pytest.mark.parametrize(
    ("dialect", "sure", "b2"),
    [
        (ck.Dialect(), "seen seen seen", ""),
        (ck.Dialect(signature="raw"), "assumed seen assumed", ""),
        (
            ck.Dialect(
                hash="sha256", token_parameter="token", remove_token_parameter="accessToken"
            ),
            "assumed assumed seen",
            ", and B2 as accessToken (dialect)",
        ),
    ],
)
def test_on_a_sandbox_with_the_published_keys_every_step_can_be_recomputed(dialect, sure, b2):
    """From the values as they are shown the token comes out that the service takes; a form that
    nobody has seen is called assumed, and another spelling of B2 is said. It costs no second login;
    the state that a notebook saves holds none of it."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as client:
        panel = WirePanel(client, every=0)
        found = panel.token_steps()
        steps, function = {step.name: step for step in found}, f"HMAC-{dialect.hash.upper()}"
        value = {name: step.value for name, step in steps.items()}
        assert value["message"] == f"{value['random']}:{value['key']}"
        secret, message = value["secret key"].encode(), value["message"].encode()
        mac = hmac.new(secret, message, getattr(hashlib, dialect.hash))
        assert value[function] == mac.hexdigest()
        encoded = mac.hexdigest().encode() if dialect.signature == "hex" else mac.digest()
        assert value["what is encoded"].split()[0] == str(len(encoded))
        assert value["token"] == base64.b64encode(encoded).decode() == client.token()
        assert value["digest"] == digest("demo_access", "demo_secret", dialect)
        assert re.match(rf"{dialect.token_parameter}=[^=]+$", value["in a request"])
        assert [steps[one].sure for one in ("digest", function, "what is encoded")] == sure.split()
        assert found[-1].how.endswith(f"B spells the name as the interface does{b2}")
        ck.list_devices(client)  # the token is taken
        assert panel.token_steps() == found
        assert sandbox.count(AUTHENTICATE) == 1
        secrets = value["token"], str(found), "demo_secret"
        assert [one for one in secrets if one in state(panel)] == []
        for button, display in (("Hide the token", "none"), ("How the token is made", None)):
            press(panel, button)
            assert panel.made.layout.display == display
            assert (value["token"] in panel.made.html) == (display is None)


def test_elsewhere_every_secret_is_masked(script, sandbox):
    """Keys that are not the published ones are somebody's; beyond this machine, and without a
    sandbox, nobody says that they are public."""
    fake = script({AUTHENTICATE: {"ret": 0, "random": "r4nd0m", "key": "k3y-k3y"}}).base_url
    # On all interfaces the token opens a door to others.
    open_to_all = {"host": "0.0.0.0", "access_key": "demo_access", "secret_key": "demo_secret"}
    with Sandbox(secret_key="s3cr3t-key") as own, Sandbox(**open_to_all) as public:
        for client in (
            own.connect(),
            public.connect(),
            ck.Client(fake, fake, "demo_access", "demo_secret"),
            ck.Client(fake, fake, "demo_access", "s3cr3t-key", sandbox=sandbox),
        ):
            token, panel = client.token(), WirePanel(client, every=0)
            steps = panel.token_steps()
            text = f"{steps!r} {steps._repr_html_()} {tuple(steps)} {page(panel)}"
            signed = digest(client.access_key, client.secret_key, client.dialect)
            mac = base64.b64decode(token).decode("latin-1")
            for secret in (token, mac, signed, client.secret_key, token.random, token.key):
                # Word by word: a short value such as "abc" may be part of a word of ours.
                assert not re.search(rf"\b{re.escape(str(secret)[:12])}\b", text)
            value = {step.name: step.value for step in steps}
            assert value.pop("access key") == client.access_key
            assert value.pop("what is encoded") == "40 characters"
            assert value.pop("in a request") == f"{client.dialect.token_parameter}=***"
            assert {*value.values()} == {"***"}
            assert "Secrets, and what could make one, show as ***" in text
            client.close()


def test_a_login_that_fails_or_is_cancelled_is_told_and_leaves_no_steps(script):
    """Keys that are refused: the cause and the next step, also raised to code. A service that does
    not answer keeps nobody waiting who has had enough."""
    service = script({AUTHENTICATE: {"ret": 401}})
    panel = WirePanel(service.client())
    with pytest.raises(ck.AuthenticationFailed):
        panel.token_steps()
    assert (panel.frame.tone, "Check the access key" in panel.frame.text) == ("bad", True)
    held = threading.Event()
    silent = WirePanel(script({AUTHENTICATE: lambda _: held.wait(LONG) and GRANTED}).client())
    silent.steps_button.click()
    while not silent.frame.busy:
        assert not silent.wait(0)
    heard(silent, "cancel")
    held.set()
    assert (silent.frame.text, silent.made.html, panel.made.html) == ("Cancelled.", "", "")
