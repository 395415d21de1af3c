"""The token's making: in full where the keys are published, with nothing secret elsewhere."""

import base64
import copy
import hashlib
import hmac
import pickle
import re

import pytest

import confkit as ck
from confkit.panels import WirePanel
from confkit.sandbox import Sandbox
from confkit.signing import digest
from tests.panels.pressing import page
from tests.scripted import AUTHENTICATE, VECTOR_TOKEN

LOGIN = "/rtc/auth/valid"
FAKE = {"ret": 0, "random": "r4nd0m", "key": "k3y-k3y"}
DIALECTS = [
    ck.Dialect(),
    ck.Dialect(signature="raw"),
    ck.Dialect(hash="sha256", token_parameter="token"),
    ck.Dialect(hash="md5"),
    ck.Dialect(hash="sha512", signature="raw"),
]


def token_steps(client):
    """How the client's token is made, as its panel tells it."""
    return WirePanel(client, every=0).token_steps()


def by_name(steps):
    """The steps as a dictionary of their values."""
    return {step.name: step.value for step in steps}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: f"{d.hash} {d.signature}")
def test_on_a_sandbox_with_the_published_keys_every_step_can_be_recomputed(dialect):
    """From the values as they are shown the token comes out that the service takes."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as client:
        steps = by_name(token_steps(client))
        assert steps["access key"] == "demo_access"
        assert steps["message"] == f"{steps['random']}:{steps['key']}"
        mac = hmac.new(
            steps["secret key"].encode(), steps["message"].encode(), getattr(hashlib, dialect.hash)
        )
        assert steps[f"HMAC-{dialect.hash.upper()}"] == mac.hexdigest()
        encoded = mac.hexdigest().encode() if dialect.signature == "hex" else mac.digest()
        assert steps["what is encoded"].split()[0] == str(len(encoded))
        assert steps["token"] == base64.b64encode(encoded).decode() == client.token()
        assert steps["digest"] == digest("demo_access", "demo_secret", dialect)
        travelled = steps["in a request"]
        assert travelled.startswith(f"{dialect.token_parameter}=")
        assert travelled.count("=") == 1
        ck.list_devices(client)  # the token is taken
        assert sandbox.count(LOGIN) == 1


def test_another_spelling_of_b2_is_said():
    """B spells the name as the interface does, but for B2 where the dialect has another."""
    told = []
    for dialect in (ck.Dialect(), ck.Dialect(remove_token_parameter="accessToken")):
        with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as client:
            told.append(token_steps(client)[-1].how.partition("; ")[2])
    usual = "B spells the name as the interface does"
    assert told == [usual, f"{usual}, and B2 as accessToken (dialect)"]


def test_it_costs_no_second_login_and_no_token(client, sandbox):
    """Asked before, between and after calls, it is always one login, and the token in use."""
    first = token_steps(client)
    room_id = ck.create_room(client, "x", owner_id="ops")
    assert token_steps(client) == first
    ck.get_room(client, room_id)
    assert sandbox.count(LOGIN) == 1
    sandbox.advance(4000)  # the token expires
    ck.get_room(client, room_id)
    assert by_name(token_steps(client))["token"] == client.token()
    assert token_steps(client) != first
    assert sandbox.count(LOGIN) == 2


def everything(steps):
    """All ways in which steps show themselves."""
    return "\n".join([str(steps), repr(steps), steps._repr_html_(), str(tuple(steps))])


def assert_masked(client):
    """Asserts that the steps of this client give nothing away, and still read well."""
    token = client.token()
    steps = token_steps(client)
    text = everything(steps)
    mac = base64.b64decode(token)
    signed = digest(client.access_key, client.secret_key, client.dialect)
    for secret in (
        token,
        token[:12],
        mac.decode("latin-1")[:12],
        str(client.secret_key),
        str(token.random),
        str(token.key),
        signed[:12],
    ):
        # Word by word: a short value such as "abc" may be part of a word of ours.
        assert not re.search(rf"\b{re.escape(secret)}\b", text), secret
    assert by_name(steps)["token"] == by_name(steps)["secret key"] == "***"
    assert by_name(steps)["access key"] == client.access_key
    assert [step.name for step in steps] == [
        "access key",
        "secret key",
        "digest",
        "random",
        "key",
        "message",
        "HMAC-SHA1",
        "what is encoded",
        "token",
        "in a request",
    ]
    assert "joined by a colon" in text


@pytest.mark.parametrize(
    "keys",
    [
        {"secret_key": "s3cr3t-key"},
        {"access_key": "mine"},
        # On all interfaces the token opens a door to others.
        {"host": "0.0.0.0", "access_key": "demo_access", "secret_key": "demo_secret"},
    ],
)
def test_of_a_sandbox_that_is_not_this_machines_own_every_secret_is_masked(keys):
    """Keys that are not the published ones are somebody's, and beyond this machine all are."""
    with Sandbox(**keys) as sandbox, sandbox.connect() as client:
        assert not sandbox.published
        assert_masked(client)


def test_of_a_service_that_is_no_sandbox_every_secret_is_masked(script, sandbox):
    """Even with the demo keys on loopback: without a sandbox nobody says that they are public; nor
    does one that was handed to a client with other keys."""
    client = script({AUTHENTICATE: FAKE}).client()
    assert_masked(client)
    panel = WirePanel(client, every=0)
    panel.token_steps()
    text = page(panel)
    assert "Secrets, and what could make one, show as ***" in text
    assert not [one for one in (str(client.token()), "demo_secret", "r4nd0m:k3y") if one in text]
    url = script({AUTHENTICATE: FAKE}).base_url
    assert_masked(ck.Client(url, url, "demo_access", "s3cr3t-key", sandbox=sandbox))


def test_a_shown_form_that_nobody_has_seen_is_called_assumed(client):
    """Base64 and the message are specified, SHA-1 in hex is seen, every other form assumed."""
    sure = {step.name: step.sure for step in token_steps(client)}
    assert (sure["message"], sure["HMAC-SHA1"], sure["digest"]) == ("specified", "seen", "seen")
    other = ck.Dialect(hash="sha256", signature="raw")
    with Sandbox(seed=1, dialect=other) as sandbox, sandbox.connect() as connected:
        sure = {step.name: step.sure for step in token_steps(connected)}
    assert sure["digest"] == sure["HMAC-SHA256"] == sure["what is encoded"] == "assumed"


def test_what_comes_from_the_service_is_escaped(script, sandbox):
    """A `random` that holds markup stays text in a notebook."""
    service = script({AUTHENTICATE: {"ret": 0, "random": "<b>x</b>", "key": "k"}})
    client = ck.Client(
        service.base_url, service.base_url, "demo_access", "demo_secret", sandbox=sandbox
    )
    page = token_steps(client)._repr_html_()
    assert "&lt;b&gt;x" in page
    assert "<b>" not in page


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_token_keeps_what_it_was_made_of_wherever_it_goes(script, again):
    """Copied or sent to another process a token is the same text, and its repr still hides it."""
    token = again(script().client().token())
    assert (token, token.random, token.key) == (VECTOR_TOKEN, "abc", "def")
    assert repr([token, token.random, token.key]) == "['***', '***', '***']"


def test_a_client_tells_whether_it_is_authenticated(script):
    """Not before the first call; afterwards, until a login fails."""
    service = script({AUTHENTICATE: [{"ret": 0, "random": "a", "key": "b"}, {"ret": 401}]})
    client = service.client()
    assert not client.authenticated
    token = client.token()
    assert client.authenticated
    with pytest.raises(ck.AuthenticationFailed):
        client.token(instead_of=token)
    assert not client.authenticated
