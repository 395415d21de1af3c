"""Both ways of a read, by libcurl and by the session, bring the same, and obstacles are named."""

import json
import multiprocessing
import re
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

import confkit as ck
from confkit.operations import A2
from tests.ports import HERE
from tests.scripted import GET_ROOM, Reply, scripted
from tests.ways import ANSWERS, ROOM, WAYS, client_of, connected, outcome

pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS")
FAR = "http://rooms.example"


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def facts(outcome):
    """The members, or what an error says, without ports and the operating system's words."""
    if not isinstance(outcome, Exception):
        return outcome
    text = re.sub(r":\d{4,5}/", "/", str(outcome))
    if isinstance(outcome, ck.TransportError):
        text = re.sub(r" \(.*?\)(?=\. )", "", text)
    return type(outcome), text, outcome.retry, getattr(outcome, "sent", None)


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


def test_a_careless_service_is_read(script, way):
    """A charset in place of an encoding, and the charset that its type names."""
    body = json.dumps({"ret": 0, "room_id": "1", "topic": "周会"}, ensure_ascii=False).encode("gbk")
    kind, headers = "application/json;charset=GBK; by=ü", {"Content-Encoding": "UTF-8"}
    service = script({GET_ROOM: Reply(body, kind=kind, headers=headers)})
    client = connected(service, way)
    assert [outcome(client)["topic"] for _ in range(4)] == ["周会"] * 4
    assert service.seen[GET_ROOM] <= 5  # what libcurl cannot read, it asks for once


def test_seconds_of_a_service_count_as_it_names_them(script, way):
    """For connecting and reading apart, and as long as it asks to wait."""
    client = connected(script({GET_ROOM: Reply(ROOM, delay=5)}), way, timeout=(30, 1))
    assert "no response within 1 s" in str(client.ask_once("A3", {"room_id": "1"})[1])
    busy = Reply({"ret": 503}, status=503, headers={"Retry-After": "86400"})
    error = outcome(connected(script({GET_ROOM: busy}), way))
    assert (error.retry_after, "Wait 86,400 s" in str(error)) == (86_400, True)


def test_a_forked_child_reads_its_own_responses(script, way):
    service = script({GET_ROOM: lambda query: {"ret": 0, "room_id": query["room_id"]}})
    client = connected(service, way)
    outcome(client, thread=False)

    def read(name, results):
        results.put([client.call("A3", room_id=f"{name}{n}")["room_id"] for n in range(50)])

    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    children = [fork.Process(target=read, args=(name, results)) for name in "ab"]
    for child in children:
        child.start()
    mine = [client.call("A3", room_id=f"c{n}")["room_id"] for n in range(50)]
    found = {read[0]: read for read in (mine, results.get(), results.get())}
    assert found == {f"{name}0": [f"{name}{n}" for n in range(50)] for name in "abc"}
    for child in children:
        child.join()


@pytest.fixture
def places(script):
    """Services that say nothing, and answer without TLS; a proxy that wants a login."""
    login = Reply("", status=407)
    proxy = script(dict.fromkeys((GET_ROOM, "/rtc/room/create"), login)).base_url
    with socket.create_server((HERE, 0)) as silent:
        plain = script().base_url.removeprefix("http://")
        yield {"silent": f"{HERE}:{silent.getsockname()[1]}", "plain": plain, "login": proxy}


@pytest.mark.parametrize(
    ("address", "proxy", "words", "sent"),
    [
        ("http://127.0.0.1:9", "", "connection refused", False),
        ("http://{silent}", "", "no response within 0.3 s", True),
        ("https://{silent}", "", "no response within 0.3 s", False),
        ("https://{plain}", "", "does not speak TLS on this port. Use http://", False),
        (FAR, "http://127.0.0.1:9", "the proxy did not forward the request", False),
        (FAR, "{login}", "user:password@proxy", None),
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
        with make("session") as client, pytest.raises(ck.ConfkitError, match=words) as caught:
            ck.create_room(client, "Weekly sync", owner_id="ops")
        assert (type(caught.value) is ck.OutcomeUnknown, len(client.calls)) == (False, 1)


def tls(certificate):
    """A server's side of TLS with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


CERTIFICATES = {  # verify, the host, and what is said where it is not trusted
    "file": ("ours", "127.0.0.1", ""),
    "environment": (True, "127.0.0.1", ""),
    "off": (False, "127.0.0.1", ""),
    "another host": ("ours", "127.0.0.2", "certificate not trusted.* host name"),
    "default": (True, "127.0.0.1", "certificate not trusted.* connect"),
}


@pytest.mark.parametrize("case", CERTIFICATES)
def test_a_certificate_is_trusted_in_either_way(certificate, monkeypatch, case):
    """By verify=, or REQUESTS_CA_BUNDLE with trust_env. Otherwise nothing is sent."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate[0]))
    verify, host, refused = CERTIFICATES[case]
    if verify == "ours":
        verify = str(certificate[0])

    def make(way):
        client = connected(service, way, verify=verify)
        client.session.trust_env = case == "environment"
        return client

    with scripted({GET_ROOM: ROOM}, tls(certificate), host=host) as service:
        result = same(make)
        if not refused:
            assert result == ROOM
            return
        assert re.search(refused, str(result))
        assert (result.sent, result.retry, service.requests) == (False, False, [])


def test_a_setting_of_the_session_counts(script, way):
    """Also if it is set after the first call, in a thread that has a connection."""
    service = script({GET_ROOM: ROOM})
    client = connected(service, way)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(ck.get_room, client, "1").result().room_id == "1"
        client.session.headers.update({"Site": "Zürich", "Room": "Süd".encode("latin-1")})
        client.session.auth = ("me", "p@ss")
        assert thread.submit(ck.get_room, client, "1").result().room_id == "1"
    sent = service.headers[-1]
    login = requests.auth._basic_auth_str("me", "p@ss")
    assert (sent["Site"], sent["Room"], sent["Authorization"]) == ("Zürich", "Süd", login)


@pytest.mark.parametrize("secure", [False, True])
def test_a_change_begins_on_a_new_connection(certificate, secure):
    """An idle one may be dead, and then nobody knows what became of the change."""
    created = Reply(raw=lambda peer: peer.sendall(b"".join(answer("1"))), keeps=True)
    with scripted(
        {A2.path: created, GET_ROOM: ROOM}, tls(certificate) if secure else None
    ) as service:
        client = connected(service, "session", verify=str(certificate[0]))
        assert ck.get_room(client, "1").room_id == "1"  # on a connection that stays open
        assert ck.create_room(client, "Weekly sync", "ops") == "1"
        assert service.connections == 2


def test_nothing_follows_on_a_connection_whose_response_may_still_come(script, way):
    """As behind "internal HTTP timeout"; it would be taken for that of the next call."""
    service = script({GET_ROOM: [{"ret": 409}, ROOM]})
    assert outcome(connected(service, way)) == ROOM
    assert service.connections == 2


def answer(room_id, topic=""):
    """The head and the body of a response about a room."""
    body = json.dumps({"ret": 0, "room_id": room_id, "topic": topic}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body


@pytest.mark.parametrize("secure", [False, True])
def test_a_response_behind_a_response_is_not_that_of_the_next_room(certificate, way, secure):
    """Also if the head comes by itself, or TLS has decrypted what no socket shows."""

    def twice(query):
        head, body = answer(query["room_id"], "x" * 9000 * secure)
        body += b"".join(answer("9"))

        def do(peer):
            for part in [head + body] if secure else [head, body]:
                peer.sendall(part)
                time.sleep(0.02)

        return Reply(raw=do, keeps=True)

    with scripted({GET_ROOM: ROOM}, tls(certificate) if secure else None) as service:
        client = connected(service, way, verify=str(certificate[0]))
        sweep = ck.sweep(client, ["1"] * 3, users=False, concurrency=1)
        assert (len(sweep.rooms), service.connections) == (1, 1)
        service.script[GET_ROOM] = twice
        sweep = ck.sweep(client, list("12345"), users=False, concurrency=1)
        assert [room.room_id for room in sweep.rooms] == list("12345")
