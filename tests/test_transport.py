"""Both ways of a read, by libcurl and by the session, bring the same, and obstacles are named."""

import re
import socket
import ssl
import subprocess
import time

import certifi
import pytest
import requests

import confkit as ck
from tests.deployment.services import deaf
from tests.ports import HERE
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply, scripted
from tests.ways import ANSWERS, ROOM, WAYS, by, client_of, connected, outcome

pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS")
DEVICES = "/avd/api/outgoing/getOutgoingUsers"
FAR = "http://rooms.example"


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def facts(outcome):
    """The members, or all fields of an error, without addresses and the operating system's words
    in parentheses."""
    if not isinstance(outcome, Exception):
        return outcome
    text = re.sub(r":\d{4,5}/", "/", str(outcome))
    if isinstance(outcome, ck.TransportError):
        text = re.sub(r" \(.*?\)(?=\. )", "", text)
    fields = [getattr(outcome, name, None) for name in ("sent", "status", "ret", "retry_after")]
    return type(outcome), text, outcome.retry, outcome.advice, *fields


def same(make):
    """The outcome of a read, the same by libcurl, by the session, and in the main thread."""
    outcomes = []
    for way, thread in (("libcurl", True), ("session", True), ("libcurl", False)):
        with make(way) as client:
            outcomes.append(outcome(client, thread=thread))
    assert facts(outcomes[0]) == facts(outcomes[1]) == facts(outcomes[2])
    return outcomes[0]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_response_means_the_same_in_either_way(script, answer):
    """The same members, or the same error after as many tries."""
    reply, kind = ANSWERS[answer]
    seen = []

    def make(way):
        service = script({GET_ROOM: reply})
        seen.append(service.seen)
        # Short only where a time-out is what comes: a busy machine needs its time for the others.
        return connected(service, way, timeout=(0.2, 0.3) if kind is ck.TransportTimeout else 5)

    assert type(same(make)) is kind
    assert seen[0] == seen[1] == seen[2]


@pytest.fixture
def places(script):
    """Services that say nothing, take no more connections, and answer without TLS; a proxy."""
    login = Reply("", status=407)
    proxy = script(dict.fromkeys((GET_ROOM, "/rtc/room/create", "443"), login)).base_url
    with socket.create_server((HERE, 0)) as silent, deaf() as full:
        port = silent.getsockname()[1]
        plain = script({"443": Reply("", status=501)}).base_url.removeprefix("http://")
        yield {"silent": f"{HERE}:{port}", "full": f"{HERE}:{full}", "plain": plain, "login": proxy}


REFUSED, NO_PROXY = "http://127.0.0.1:9", "the proxy did not forward the request"


@pytest.mark.parametrize(
    ("address", "proxy", "words", "sent"),
    [
        (REFUSED, "", "connection refused", False),
        ("http://nosuch.invalid", "", "could not resolve the host name", False),
        ("http://{silent}", "", "no response within 0.3 s", True),
        ("http://{full}", "", "no connection within 0.3 s", False),
        ("https://{plain}", "", "does not speak TLS on this port. Use http://", False),
        (FAR, REFUSED, NO_PROXY, False),
        (FAR, "http://nosuch.invalid:3128", NO_PROXY, False),
        ("https://rooms.example", "http://{plain}", NO_PROXY, False),
        ("https://rooms.example", "{login}", "user:password@proxy", False),
        (FAR, "{login}", "user:password@proxy", None),
        (FAR, "socks5://127.0.0.1:9", "PySocks.* Run: pip install 'requests\\[socks\\]'", False),
    ],
)
def test_what_keeps_a_request_from_the_service_is_named(address, proxy, words, sent, places):
    """It says whether anything was sent: a change that was not sent has not happened."""

    def make(way):
        client = client_of(address.format(**places), way, timeout=(0.3, 0.3))
        if proxy:
            client.session.proxies = dict.fromkeys(("http", "https"), proxy.format(**places))
        return client

    error = same(make)
    assert re.search(words, str(error))
    assert getattr(error, "sent", None) is sent
    if not sent:
        with pytest.raises(ck.ConfkitError, match=words) as caught:
            ck.create_room(make("session"), "Weekly sync", owner_id="ops")
        assert not isinstance(caught.value, ck.OutcomeUnknown)


# TLS


def tls(certificate, asks=False):
    """A server's side of TLS with this certificate, which `asks` the client for the same."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.load_verify_locations(certificate[0])
    context.verify_mode = ssl.CERT_REQUIRED if asks else ssl.CERT_NONE
    return context


CERTIFICATES = {  # verify, the host, and what is said where it is not trusted
    "file": ("{cert}", "127.0.0.1", ""),
    "folder": ("{folder}", "127.0.0.1", ""),
    "environment": (True, "127.0.0.1", ""),
    "off": (False, "127.0.0.1", ""),
    "a client's": ("{cert}", "127.0.0.1", ""),
    "another CA": (certifi.where(), "127.0.0.1", "certificate not trusted.* connect"),
    "another host": ("{cert}", "127.0.0.2", "certificate not trusted.* connect"),
    "default": (True, "127.0.0.1", "certificate not trusted.* connect"),
    "no such file": ("{folder}/gone.pem", "127.0.0.1", "CA bundle cannot be read.*verify="),
    "no certificate": ("{folder}/empty.pem", "127.0.0.1", "CA bundle cannot be read.*verify="),
}


@pytest.mark.parametrize("case", CERTIFICATES)
def test_a_certificate_is_trusted_in_either_way(certificate, tmp_path, monkeypatch, case):
    """By verify=, or REQUESTS_CA_BUNDLE with trust_env, and by nothing that libcurl or the system
    would trust besides. Otherwise nothing is sent, and nothing tried again."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate[0]))
    command = ["openssl", "x509", "-hash", "-noout", "-in", certificate[0]]
    name = subprocess.check_output(command, text=True).strip()
    (tmp_path / f"{name}.0").write_bytes(certificate[0].read_bytes())
    (tmp_path / "empty.pem").write_text("no certificate")
    verify, host, refused = CERTIFICATES[case]
    if isinstance(verify, str):
        verify = verify.format(cert=certificate[0], folder=tmp_path)

    def make(way):
        client = connected(service, way, verify=verify)
        client.session.trust_env = case == "environment"
        if asks:
            client.session.cert = tuple(map(str, certificate))
        return client

    asks = case == "a client's"
    with scripted({GET_ROOM: ROOM}, tls(certificate, asks), host=host) as service:
        result = same(make)
        if not refused:
            assert result == ROOM
            return
        assert re.search(refused, str(result))
        assert (result.sent, result.retry, service.requests) == (False, False, [])


# Settings of the session


def test_proxies_of_the_environment_count_as_the_session_says(script, monkeypatch, way):
    """With trust_env off they do not; a proxy of the session is used whatever NO_PROXY says."""
    proxy = script({GET_ROOM: ROOM}).base_url
    monkeypatch.setenv("http_proxy", proxy)
    assert outcome(client_of(FAR, way)) == ROOM
    monkeypatch.setenv("no_proxy", "nosuch.invalid")
    client = client_of("http://nosuch.invalid", way)
    for client.session.trust_env in (True, False):
        assert "could not resolve the host name" in str(outcome(client))
    client.session.proxies["http"] = proxy
    assert outcome(client) == ROOM


LETTERS = ["00123", "a b", "a/b", "部屋", "%41", "+", "\u200d", " 7", "a&b=c#d?e;f", "u\u0308", "."]


@pytest.mark.parametrize(
    ("method", "placement"),
    [("GET", "query"), ("POST", "query"), ("POST", "form"), ("POST", "json")],
)
def test_any_letters_travel_alike_in_any_dialect(script, method, placement):
    service = script({DEVICES: {"ret": 0, "data": {"items": []}}})
    dialect = ck.Dialect(list_method=method, placement=placement)
    clients = [connected(service, way, dialect=dialect) for way in WAYS]
    for letters in LETTERS:
        assert [outcome(client, "B3", roomId=letters)["ret"] for client in clients] == [0, 0]
        first, second = service.requests[-2:]
        assert first == second
        assert placement == "json" or second[2]["roomId"] == letters
        [kind] = {headers["Content-Type"] for headers in service.headers[-2:]}
        assert (kind is None) is (placement == "query")


ME = requests.auth._basic_auth_str("me", "p@ss")
SETTINGS = [  # and what arrives of it
    ("headers", {"Site": "north"}, {"site": "north"}),
    ("auth", ("me", "p@ss"), {"authorization": ME}),
    ("cookies", {"node": "7"}, {"cookie": "node=7"}),
    ("proxies", "http://{}", {}),
    ("proxies", "{}", {}),
    ("proxies", "http://me:p%40ss@{}", {"proxy-authorization": ME}),
    ("hooks", {"response": [lambda _, **__: None]}, {}),
    ("auth", lambda request: request, {}),
    ("params", {"site": "north"}, {}),
    ("__class__", type("Own", (requests.Session,), {}), {}),
]


@pytest.mark.parametrize(("name", "value", "arrives"), SETTINGS)
def test_a_setting_of_the_session_counts(script, name, value, arrives):
    """Whenever it is set; a proxy gets the whole address."""
    service, sent = script({GET_ROOM: ROOM}), []
    through = name == "proxies"
    for way in WAYS:
        client = client_of(FAR if through else service.base_url, way)
        assert through or outcome(client) == ROOM
        if through:
            client.session.proxies["http"] = value.format(service.base_url.removeprefix("http://"))
        elif isinstance(value, dict):
            getattr(client.session, name).update(value)
        else:
            setattr(client.session, name, value)
        assert outcome(client) == ROOM
        assert service.requests[-1][1].startswith(FAR) is through
        headers = {name.lower(): value for name, value in service.headers[-1].items()}
        assert headers | arrives == headers
        sent.append((service.requests[-1], {*headers} - {"connection", "proxy-connection"}))
    assert sent[0] == sent[1]
    assert headers["user-agent"] == requests.utils.default_user_agent()


def test_a_cookie_of_the_service_comes_back_to_it(script, way):
    """That of A1, the new one after a new token, and one that a read has set."""
    granted = [Reply(GRANTED, headers={"Set-Cookie": f"node={n}; Path=/"}) for n in (1, 2)]

    def room(query):
        if "node=2" not in (service.headers[-1]["Cookie"] or ""):
            return {"ret": 602}
        answer = {"ret": 0, "room_id": query["room_id"]}
        return Reply(answer, headers={"Set-Cookie": "seen=yes; Path=/"})

    service = script({AUTHENTICATE: granted, GET_ROOM: room})
    sweep = ck.sweep(by(service.client(), way), list("123456789"), users=False, concurrency=1)
    assert sweep.failures == ()
    assert service.seen[AUTHENTICATE] == 2
    assert "seen=yes" in service.headers[-1]["Cookie"]


# Connections


def answer(room_id, topic=b""):
    """The head and the body of a response about a room."""
    body = b'{"ret": 0, "room_id": "%b", "topic": "%b"}' % (room_id, topic)
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body


@pytest.mark.parametrize(("secure", "pause"), [(False, 0.0), (False, 0.02), (True, 0.0)])
def test_a_response_behind_a_response_is_not_that_of_the_next_room(certificate, way, secure, pause):
    """Also if the head comes by itself, and if TLS has decrypted what no socket shows."""

    def twice(query):
        head, body = answer(query["room_id"].encode(), b"x" * 9000 * secure)
        body += b"".join(answer(b"9"))

        def do(peer):
            for part in [head, body] if pause else [head + body]:
                peer.sendall(part)
                time.sleep(pause)

        return Reply(raw=do, keeps=True)

    with scripted({GET_ROOM: ROOM}, tls(certificate) if secure else None) as service:
        client = connected(service, way, verify=str(certificate[0]))
        sweep = ck.sweep(client, ["1"] * 3, users=False, concurrency=1)
        assert (len(sweep.rooms), service.connections) == (1, 1)
        service.script[GET_ROOM] = twice
        sweep = ck.sweep(client, list("12345"), users=False, concurrency=1)
        assert [room.room_id for room in sweep.rooms] == list("12345")


def test_a_connection_is_as_patient_after_a_slow_response_as_before(script):
    """The time that one response took is not taken from the next on the same connection."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.4)})
    client = service.client(timeout=(1, 0.7))
    for _ in range(2):
        ck.get_room(client, "1")
    assert (service.seen[GET_ROOM], service.connections) == (2, 2)  # one for A1


def test_a_bug_in_a_hook_is_raised_as_it_is(script):
    """It is no failure of the network; no frame of its traceback holds the token."""

    def hook(*_, **__):
        raise ValueError("mine")

    service = script({GET_ROOM: ROOM})
    client = connected(service, "session")
    client.session.hooks["response"].append(hook)
    with pytest.raises(ValueError, match="mine") as caught:
        ck.get_room(client, "1")
    assert service.seen[GET_ROOM] == 1
    assert not [entry for entry in caught.traceback if entry.path.name == "wire.py"]
