"""send_many gives what send gives: over libcurl and over the session in threads."""

import re
import socket
import ssl
import subprocess
import time

import certifi
import pytest
import requests

import confkit as ck
from confkit.endpoints import A1, B3, ENDPOINTS
from confkit.wire import Request
from tests.deployment.seeing import deaf
from tests.ports import HERE
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply, scripted
from tests.ways import ANSWERS, ROOM, WAYS, client_of, connected, rooms, threads_during

pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS")
FAR = "http://rooms.example"


def told(outcome):
    """What matters of an outcome: members, or everything that an error says, addresses aside.

    Why a connection broke is reported in parentheses, in the words of whoever met it."""
    if not isinstance(outcome, Exception):
        return outcome
    text = re.sub(r":\d{4,5}/", "/", str(outcome))
    if isinstance(outcome, ck.TransportError):
        text = re.sub(r" \(.*\)(?=\. Check)", "", text)
    facts = [getattr(outcome, name, None) for name in ("sent", "status", "ret", "interface")]
    return type(outcome), text, outcome.retry, outcome.advice, *facts


def same(make):
    """The outcome of a request, once it is the same alone and among many, in either way."""
    [request] = rooms(1)
    with make("libcurl") as client:
        try:
            alone = client.send(request)
        except ck.ConfkitError as error:
            alone = error
    for way in WAYS:
        with make(way) as client:
            [outcome] = found = client.send_many([request])
        assert found.complete
        assert told(outcome) == told(alone)
    return outcome


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_means_the_same_alone_and_among_many(script, answer):
    """Each thing that a service can answer gives the same members, or the same error after as many
    tries, with the same words, as from `send`. An answer that hangs costs the read time-out a try,
    however long a connection may take."""
    reply, kind = ANSWERS[answer]
    seen = []

    def make(way):
        service = script({GET_ROOM: reply})
        seen.append(service.seen)
        # Short only where a time-out is what comes: a busy machine needs its time for the others.
        return connected(service, way, timeout=(100, 0.3 if kind is ck.TransportTimeout else 5))

    assert type(same(make)) is kind
    assert seen[0] == seen[1] == seen[2]


@pytest.fixture
def places(script):
    """Addresses of a service that says nothing, of one that takes no more connections, and of one
    that answers without TLS, and refuses to be a proxy."""
    with socket.create_server((HERE, 0)) as silent, deaf() as full:
        plain = script().base_url.removeprefix("http://")
        port = silent.getsockname()[1]
        yield {"silent": f"{HERE}:{port}", "full": f"{HERE}:{full}", "plain": plain}


@pytest.mark.parametrize(
    ("address", "proxy", "what", "sent"),
    [
        ("http://127.0.0.1:9", "", "refused the connection", False),
        ("http://nosuch.invalid", "", "host name is not known", False),
        ("http://{silent}", "", "did not answer within 0.3 s", True),
        ("https://{silent}", "", "did not answer within 0.3 s", True),
        ("http://{full}", "", "did not accept a connection within 0.3 s", False),
        ("https://{plain}", "", "TLS failed", True),
        (FAR, "http://127.0.0.1:9", "the proxy did not pass it on", False),
        (FAR, "http://nosuch.invalid:3128", "the proxy did not pass it on", False),
        ("https://rooms.example", "http://{plain}", "the proxy did not pass it on", False),
        # requests needs a package for it, so it is not done otherwise among many
        (FAR, "socks5://127.0.0.1:9", "(InvalidSchema)", True),
    ],
)
def test_who_does_not_answer_is_told_in_the_same_words(address, proxy, what, sent, places):
    """A refused, unknown, silent or crowded address, and a proxy that is not there or refuses, are
    the same TransportError in either way."""

    def make(way):
        client = client_of(address.format(**places), way, timeout=(0.3, 0.3))
        if proxy:
            client.session.proxies = dict.fromkeys(("http", "https"), proxy.format(**places))
        return client

    error = same(make)
    assert what in str(error)
    assert error.sent is sent


# TLS


@pytest.mark.parametrize(
    ("verify", "host", "trusted"),
    [
        ("file", "127.0.0.1", True),
        ("folder", "127.0.0.1", True),
        ("environment", "127.0.0.1", True),
        (False, "127.0.0.1", True),
        (True, "127.0.0.1", False),
        (certifi.where(), "127.0.0.1", False),
        ("file", "127.0.0.2", False),
    ],
)
def test_a_certificate_is_trusted_in_either_way(
    certificate, tmp_path, monkeypatch, verify, host, trusted
):
    """verify=FILE, FOLDER and False let a service in, and REQUESTS_CA_BUNDLE where trust_env is on.
    What libcurl or the system would trust does not count beside it, nor another host's certificate:
    nothing is sent then, and nothing tried again. The service wants to see session.cert."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate[0]))
    command = ["openssl", "x509", "-hash", "-noout", "-in", certificate[0]]
    name = subprocess.check_output(command, text=True).strip()
    (tmp_path / f"{name}.0").write_bytes(certificate[0].read_bytes())
    given = {"file": str(certificate[0]), "folder": str(tmp_path), "environment": True}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.load_verify_locations(certificate[0])
    context.verify_mode = ssl.CERT_REQUIRED

    def make(way):
        client = connected(service, way, verify=given.get(verify, verify))
        client.session.trust_env = verify == "environment"
        client.session.cert = tuple(map(str, certificate))
        return client

    with scripted({GET_ROOM: ROOM}, context, host=host) as service:
        found = same(make)
        if trusted:
            assert found == ROOM
            return
        assert "certificate is refused" in str(found)
        assert (found.sent, found.retry, service.requests) == (False, False, [])


# Settings of the session


def test_proxies_of_the_environment_count_as_the_session_says(script, monkeypatch, way):
    """HTTP_PROXY and NO_PROXY count for a distant service; with trust_env off neither does, and a
    proxy of the session is used whatever NO_PROXY says."""
    proxy = script({GET_ROOM: ROOM}).base_url
    monkeypatch.setenv("http_proxy", proxy)
    assert client_of(FAR, way).send_many(rooms(1)) == [ROOM]
    monkeypatch.setenv("no_proxy", "nosuch.invalid")
    client = client_of("http://nosuch.invalid", way)
    for client.session.trust_env in (True, False):
        [error] = client.send_many(rooms(1))
        assert "host name is not known" in str(error)
    client.session.proxies["http"] = proxy
    assert client.send_many(rooms(1)) == [ROOM]


LETTERS = ["00123", "a b", "a/b", "部屋", "%41", "+", "\u200d", " 7", "a&b=c#d?e;f", "u\u0308", "."]


@pytest.mark.parametrize(
    ("method", "placement"),
    [("GET", "query"), ("POST", "query"), ("POST", "form"), ("POST", "json")],
)
def test_any_letters_travel_alike_in_any_dialect(script, method, placement, way):
    """B3 as GET or POST, its parameters in the query, a form or JSON, and in them spaces, slashes,
    signs and letters from anywhere: as `send` writes it."""
    service = script({B3.path: {"ret": 0, "data": {"items": []}}})
    dialect = ck.Dialect(list_method=method, placement=placement)
    client = connected(service, way, dialect=dialect)
    for parameters in ({}, *({"roomId": one} for one in LETTERS)):
        client.send(Request(B3, parameters))
        assert client.send_many([Request(B3, parameters)])[0]["ret"] == 0
        alone, many = service.requests[-2:]
        assert many == alone
        assert placement == "json" or many[2].get("roomId") == parameters.get("roomId")
        [kind] = {headers["Content-Type"] for headers in service.headers[-2:]}
        assert (kind is None) is (placement == "query")
        assert len({headers["Content-Length"] for headers in service.headers[-2:]}) == 1


ME = requests.auth._basic_auth_str("me", "p@ss")
SETTINGS = [  # whether it takes threads, and what arrives of it
    ("headers", {"Site": "north"}, False, {"site": "north"}),
    ("auth", ("me", "p@ss"), False, {"authorization": ME}),
    ("cookies", {"node": "7"}, False, {"cookie": "node=7"}),
    ("proxies", "http://{}", False, {}),
    ("proxies", "{}", False, {}),
    ("proxies", "http://me:p%40ss@{}", False, {"proxy-authorization": ME}),
    ("hooks", {"response": [lambda _, **__: None]}, True, {}),
    ("auth", lambda request: request, True, {}),
    ("params", {"site": "north"}, True, {}),
    ("__class__", type("Own", (requests.Session,), {}), True, {}),
]


@pytest.mark.parametrize(("name", "value", "takes_threads", "arrives"), SETTINGS)
def test_a_setting_of_the_session_counts(script, way, name, value, takes_threads, arrives):
    """What arrives is what `send` sends, to a proxy the whole address; what libcurl has nothing
    like goes through the session in threads, and nothing else does."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.05)})
    through = name == "proxies"
    client, found = client_of(FAR if through else service.base_url, way), []
    if through:
        client.session.proxies["http"] = value.format(service.base_url.removeprefix("http://"))
    elif isinstance(value, dict):
        getattr(client.session, name).update(value)
    else:
        setattr(client.session, name, value)
    client.send(rooms(1)[0])
    threads = threads_during(lambda: found.extend(client.send_many(rooms(*[1] * 16))))
    assert found == [ROOM] * 16
    assert threads >= 8 if takes_threads or way == "threads" else threads == 0
    alone, *_, many = [
        {name.lower(): one[name] for name in one if not name.endswith("Connection")}
        for one in service.headers
    ]
    assert service.requests[-1] == service.requests[0]
    assert service.requests[0][1].startswith(FAR) is through
    assert many == alone
    assert many["user-agent"] == requests.utils.default_user_agent()
    assert many | arrives == many


def test_a_setting_of_the_session_is_taken_anew_with_a_new_token(script):
    """Where the service sets a cookie with the token, what follows carries the new one."""
    granted = [Reply(GRANTED, headers={"Set-Cookie": f"node={n}; Path=/"}) for n in (1, 2)]

    def room(_):
        return ROOM if service.headers[-1]["Cookie"] == "node=2" else {"ret": 602}

    service = script({AUTHENTICATE: granted, GET_ROOM: room})
    client, found = service.client(), []
    asked = rooms(*range(9))
    assert threads_during(lambda: found.extend(client.send_many(asked, concurrency=1))) == 0
    assert found == [ROOM] * 9
    assert service.seen[AUTHENTICATE] == 2


# What is refused, and what is nobody's


@pytest.mark.parametrize(
    ("asked", "options", "error", "match"),
    [
        *((rooms(1), {"concurrency": n}, ck.ConfigError, "conc") for n in (0, True, 8.5, None)),
        *((rooms(1), {"max_rate": n}, ck.ConfigError, "rate") for n in (0, float("inf"), "5")),
        *(
            ([*rooms(1), Request(change, {})], {}, ck.ParameterError, "Nothing was sent")
            for change in (A1, ENDPOINTS["A2"])
        ),
    ],
)
def test_what_makes_no_sense_sends_nothing(script, asked, options, error, match):
    """A concurrency is a whole number from 1, a rate one above 0, and changes and logins are not
    sent together."""
    service = script()
    with pytest.raises(error, match=match):
        service.client().send_many(asked, **options)
    assert not service.requests


@pytest.mark.parametrize("fails", ["read", "step"])
def test_an_error_of_the_callers_own_is_raised(script, fails, way):
    """An exception out of `read` or `step` ends the call and reaches the caller; nothing hangs."""
    calls = []

    def broken(*_):
        calls.append(1)
        if len(calls) == 5:
            raise RuntimeError("mine")

    client = connected(script({GET_ROOM: ROOM}), way)
    with pytest.raises(RuntimeError, match="mine"):
        client.send_many(rooms(*range(30)), **{fails: broken})
    assert client.send_many(rooms(1)) == [ROOM]


@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_an_answer_behind_an_answer_is_not_that_of_the_next_room(script, way, pause):
    """Where the head came by itself, too: what lies behind an answer is nobody's, and its
    connection not used again."""

    def twice(query):
        body = b'{"ret": 0, "room_id": "%b"}' % query["room_id"].encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        behind = head + b'{"ret": 0, "room_id": "9"}'

        def do(peer):
            for part in [head, body + behind] if pause else [head + body + behind]:
                peer.sendall(part)
                time.sleep(pause)

        return Reply(raw=do, keeps=True)

    service = script({GET_ROOM: twice})
    found = connected(service, way).send_many(rooms(*range(5)), concurrency=1)
    assert [room["room_id"] for room in found] == list("01234")
    assert service.connections == 5
