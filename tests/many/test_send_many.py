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
from confkit.attempt import Attempt
from confkit.endpoints import A1, A3, A6, B3, ENDPOINTS
from confkit.many.libcurl import options_of
from confkit.secret import Secret
from confkit.wire import Request
from tests.deployment.seeing import deaf
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, Reply, scripted
from tests.ways import (
    ANSWERS,
    ROOM,
    TOKEN,
    alone,
    by,
    connected,
    rooms,
    threads_during,
)

GET_USERS = ENDPOINTS["A6"].path
LIST = ENDPOINTS["B3"].path
USERS = {"ret": 0, "user_list": [{"user_name": "Ada", "user_id": "u1"}]}

pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS")


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


def same(make, request, way):
    """The outcome of a request among many, once it is the same as that of `send`."""
    with make("send") as client:
        expected = alone(client, request)
    with make(way) as client:
        (outcome,) = found = client.send_many([request])
        assert found.complete
    assert told(outcome) == told(expected)
    return outcome


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_means_the_same_alone_and_among_many(script, answer, way):
    """Each thing that a service can answer gives the same members, or the same error after as many
    tries, with the same words, as from `send`."""
    reply, kind = ANSWERS[answer]
    seen = []

    def make(each):
        service = script({GET_ROOM: reply})
        seen.append(service.seen)
        # Short only where a time-out is what comes: a busy machine needs its time for the others.
        seconds = 0.3 if kind is ck.TransportTimeout else 5.0
        return connected(service, each, timeout=(seconds, seconds))

    outcome = same(make, rooms(1)[0], way)
    assert type(outcome) is kind
    assert seen[0] == seen[1]


@pytest.fixture
def silent():
    """The address of a service that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def full():
    """The address of a service that takes no more connections."""
    with deaf() as port:
        yield f"127.0.0.1:{port}"


def client_of(address, way, **options):
    made = ck.Client(
        address,
        address,
        "a",
        "demo_secret",
        sleep=lambda _: None,
        chance=lambda: -0.45,
        **{"timeout": (0.3, 0.3), **options},
    )
    made._token.held = TOKEN
    return by(made, way)


@pytest.mark.parametrize(
    ("address", "what", "sent"),
    [
        ("http://127.0.0.1:9", "refused the connection", False),
        ("http://nosuch.invalid", "host name is not known", False),
        ("http://{silent}", "did not answer within 0.3 s", True),
        ("https://{silent}", "did not answer within 0.3 s", True),
        ("http://{full}", "did not accept a connection within 0.3 s", False),
    ],
)
def test_who_does_not_answer_is_told_in_the_same_words(address, what, sent, way, silent, full):
    """A refused, unknown, silent or crowded address is the same TransportError in either way."""
    address = address.format(silent=silent, full=full)
    error = same(lambda each: client_of(address, each), rooms(1)[0], way)
    assert isinstance(error, ck.TransportError)
    assert what in str(error)
    assert error.sent is sent


# TLS


def context(certificate, callers=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*certificate)
    if callers:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(callers)
    return made


@pytest.fixture
def bundles(certificate, tmp_path):
    """What `verify` may be: a file and a folder that hold the certificate, one that does not."""
    digest = subprocess.check_output(
        ["openssl", "x509", "-hash", "-noout", "-in", certificate[0]], text=True
    ).strip()
    (tmp_path / f"{digest}.0").write_bytes(certificate[0].read_bytes())
    found = {"file": str(certificate[0]), "folder": str(tmp_path), "others": certifi.where()}
    return {**found, "environment": True, "none": True, "any": False}


@pytest.mark.parametrize(
    ("verify", "trusted", "host"),
    [
        ("file", True, "127.0.0.1"),
        ("folder", True, "127.0.0.1"),
        ("environment", True, "127.0.0.1"),
        ("any", True, "127.0.0.1"),
        ("none", False, "127.0.0.1"),
        ("others", False, "127.0.0.1"),
        ("file", False, "127.0.0.2"),
    ],
)
def test_a_certificate_is_trusted_in_either_way(
    certificate, bundles, monkeypatch, way, verify, trusted, host
):
    """verify=FILE, FOLDER and False let a service in, and REQUESTS_CA_BUNDLE where trust_env is on.
    What libcurl or the system would trust does not count beside it, nor another host's certificate:
    nothing is sent then, and nothing tried again."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", bundles["file"])

    def make(each):
        client = connected(service, each, verify=bundles[verify])
        client.session.trust_env = verify == "environment"
        return client

    with scripted({GET_ROOM: ROOM}, context(certificate), host=host) as service:
        found = same(make, rooms(1)[0], way)
        if trusted:
            assert found == ROOM
            return
        assert "certificate is refused" in str(found)
        assert (found.sent, found.retry, service.requests) == (False, False, [])


def test_a_client_certificate_is_shown_in_either_way(certificate, way):
    """session.cert opens a service that asks for one; without it there is no answer."""
    with scripted({GET_ROOM: ROOM}, context(certificate, certificate[0])) as service:
        trusted = str(certificate[0])
        client = connected(service, way, verify=trusted)
        client.session.cert = tuple(map(str, certificate))
        assert client.send_many(rooms(1, 2)) == [ROOM, ROOM]
        client.session.close()
        client.session.cert = None
        (error,) = client.send_many(rooms(1))
    assert isinstance(error, ck.TransportError)


def test_a_plain_port_asked_for_tls_is_named_in_either_way(script, way):
    """https against an http port is an error of TLS."""
    address = script({GET_ROOM: ROOM}).base_url.replace("http:", "https:")
    error = same(lambda each: client_of(address, each), rooms(1)[0], way)
    assert "TLS failed" in str(error)


# Proxies

FAR = "http://rooms.example"


def test_a_proxy_of_the_session_is_used_in_either_way(script, way):
    """The request goes to the proxy with its whole address, and with the proxy's login."""
    proxy = script({GET_ROOM: ROOM})
    client = client_of(FAR, way)
    login = proxy.base_url.replace("http://", "http://me:p%40ss@")
    for url in (proxy.base_url, proxy.base_url.removeprefix("http://"), login):
        client.session.proxies["http"] = url
        assert client.send_many(rooms(1)) == [ROOM]
        assert proxy.requests[-1][1].startswith(FAR + GET_ROOM + "?")
    assert proxy.headers[-1]["Proxy-Authorization"] == requests.auth._basic_auth_str("me", "p@ss")


@pytest.mark.parametrize(
    ("address", "proxy"),
    [
        (FAR, "http://127.0.0.1:9"),
        ("https://rooms.example", "http://127.0.0.1:9"),
        (FAR, "http://nosuch.invalid:3128"),
        ("https://rooms.example", "{refusing}"),
    ],
)
def test_a_proxy_that_does_not_pass_it_on_is_named_in_either_way(script, address, proxy, way):
    """A proxy that is not there, or refuses, is the same TransportError, and nothing was sent."""
    proxy = proxy.format(refusing=script().base_url)

    def make(each):
        client = client_of(address, each)
        client.session.proxies = {"http": proxy, "https": proxy}
        return client

    error = same(make, rooms(1)[0], way)
    assert "the proxy did not pass it on" in str(error)
    assert error.sent is False


def test_proxies_of_the_environment_count_as_the_session_says(script, monkeypatch, way):
    """HTTP_PROXY and NO_PROXY count for a distant service; with trust_env off neither does."""
    proxy = script({GET_ROOM: ROOM}).base_url
    monkeypatch.setenv("http_proxy", proxy)
    assert client_of(FAR, way).send_many(rooms(1)) == [ROOM]
    monkeypatch.setenv("no_proxy", "nosuch.invalid")
    (error,) = client_of("http://nosuch.invalid", way).send_many(rooms(1))
    assert "host name is not known" in str(error)
    client = client_of("http://nosuch.invalid", way)
    client.session.trust_env = False
    client.session.proxies["http"] = proxy  # its own, whatever no_proxy says
    assert client.send_many(rooms(1)) == [ROOM]
    del client.session.proxies["http"]
    (error,) = client.send_many(rooms(1))
    assert "host name is not known" in str(error)


# Settings of the session


def test_headers_login_and_cookies_of_the_session_travel_in_either_way(script, way):
    """A header, a login as a tuple and a cookie of the session arrive as `send` brings them."""
    service = script({GET_ROOM: ROOM})
    client = connected(service, way)
    client.session.headers["X-Site"] = "north"
    client.session.headers["User-Agent"] = "ours/1"
    client.session.auth = ("me", "hunter2")
    client.session.cookies.set("node", "7")
    client.send(rooms(1)[0])
    client.send_many(rooms(1))
    alone, many = service.headers[-2:]
    names = ("X-Site", "User-Agent", "Authorization", "Cookie", "Accept", "Accept-Encoding", "Host")
    assert [many[name] for name in names] == [alone[name] for name in names]
    assert alone["Authorization"].startswith("Basic ")
    assert alone["Cookie"] == "node=7"
    assert not {"Expect", "Content-Type"} & set(many)


def test_a_login_of_netrc_is_used_in_either_way(script, tmp_path, monkeypatch, way):
    """What ~/.netrc holds for the host travels where trust_env is on."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    service = script({GET_ROOM: ROOM})
    client = connected(service, way)
    for trusting in (True, False):
        client.session.trust_env = trusting
        client.send_many(rooms(1))
        assert ("Authorization" in service.headers[-1]) is trusting


@pytest.mark.parametrize("coding", ["identity", "gzip", None])
def test_an_encoding_that_the_session_asks_for_is_asked_for(script, coding, way):
    """Accept-Encoding is the session's; what comes packed all the same is unpacked."""
    reply, _ = ANSWERS["gzip"]
    service = script({GET_ROOM: reply})
    client = connected(service, way)
    client.session.headers["Accept-Encoding"] = coding
    assert client.send_many(rooms(1)) == [ROOM]
    assert service.headers[-1]["Accept-Encoding"] == (coding or "identity")


@pytest.mark.parametrize("placement", ["query", "form", "json"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_dialects_of_b3_travel_alike(script, method, placement, way):
    """B3 as GET or POST, its parameters in the query, a form or JSON: as `send` writes it."""
    service = script({LIST: {"ret": 0, "data": {"items": []}}})
    dialect = ck.Dialect(list_method=method, placement=placement)
    client = connected(service, way, dialect=dialect)
    for parameters in ({}, {"roomId": "ü 1"}):
        client.send(Request(B3, parameters))
        found = client.send_many([Request(B3, parameters)] * 3)
        assert [outcome["ret"] for outcome in found] == [0] * 3
        alone, *many = service.requests[-4:]
        assert many == [alone] * 3
        kinds = [headers["Content-Type"] for headers in service.headers[-4:]]
        assert len(set(kinds)) == 1
        assert (kinds[0] is None) is (method == "GET" or placement == "query")
        assert len({headers["Content-Length"] for headers in service.headers[-4:]}) == 1


def test_room_numbers_of_any_letters_travel_alike(script, way):
    """Spaces, slashes, signs and letters from anywhere arrive as they were given."""
    service = script({GET_ROOM: lambda query: {"ret": 0, "room_id": query["room_id"]}})
    ids = ["00123", "a b", "a/b", "ü", "部屋", "a&b=c", "%41", "+", "#", "=", "'\"", "\u200d"]
    ids += ["Room 1", " 7", "100%", "%2F", "a&b=c#d?e", "u\u0308", "🏢", "a;b,c", "."]
    found = connected(service, way).send_many(rooms(*ids))
    assert [outcome["room_id"] for outcome in found] == ids


def test_the_loopback_of_ip_version_six_works(version_six, way):
    """An address in brackets is reached in either way."""
    with scripted({GET_ROOM: ROOM}, host=version_six) as running:
        assert connected(running, way).send_many(rooms(1, 2)) == [ROOM, ROOM]


def test_operations_of_both_interfaces_travel_together(script, way):
    """Requests for rooms, users and devices come back each at its place, whatever came first."""
    service = script(
        {
            GET_ROOM: lambda query: Reply(
                {"ret": 0, "room_id": query["room_id"]}, delay=0.05 * (query["room_id"] == "0")
            ),
            GET_USERS: USERS,
            LIST: {"ret": 0, "data": {"items": []}},
        }
    )
    asked = [Request(B3, {})]
    for n in range(50):
        asked += [Request(A3, {"room_id": str(n)}), Request(A6, {"room_id": str(n)})]
    found = connected(service, way).send_many(asked)
    assert [outcome["room_id"] for outcome in found[1::2]] == [str(n) for n in range(50)]
    assert found[2::2] == [USERS] * 50
    assert (found.complete, found.sent, len(found)) == (True, 101, 101)


# Who goes which way


def hooked(client):
    client.session.hooks["response"].append(lambda response, **_: None)


def called(client):
    client.session.auth = lambda request: request


def asked_along(client):
    client.session.params = {"site": "north"}


def subclassed(client):
    class Ours(requests.Session):
        pass

    plain = client.session
    client.session = Ours()
    client.session.adapters = plain.adapters
    client.session.trust_env = False


def digest(client):
    client.session.auth = requests.auth.HTTPDigestAuth("me", "hunter2")


FALLS_BACK = [hooked, called, asked_along, subclassed, digest, lambda client: by(client, "threads")]


@pytest.mark.parametrize("change", FALLS_BACK)
def test_what_libcurl_has_no_like_of_takes_the_session(script, change):
    """An adapter, a callable login, a hook, parameters or a session of one's own: in threads."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.05)})
    client = connected(service, "libcurl")
    change(client)
    found = []
    assert threads_during(lambda: found.extend(client.send_many(rooms(*range(16))))) >= 8
    assert found == [ROOM] * 16
    if change is asked_along:
        assert all(query["site"] == "north" for _, _, query in service.requests)


def test_a_proxy_that_speaks_socks_takes_the_session(script):
    """What requests needs a package for is not done otherwise among many."""

    def make(each):
        client = client_of(FAR, each)
        client.session.proxies["http"] = "socks5://127.0.0.1:9"
        return client

    assert "(InvalidSchema)" in str(same(make, rooms(1)[0], "libcurl"))


def test_the_usual_session_takes_libcurl(script):
    """Headers, a login, cookies, proxies and certificates need no threads; the User-Agent stays."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.05)})
    client = connected(service, "libcurl")
    client.session.auth = ("me", "hunter2")
    client.session.headers["X-Site"] = "north"
    client.session.cookies.set("node", "7")
    assert threads_during(lambda: client.send_many(rooms(*range(16)))) == 0
    assert {head["User-Agent"] for head in service.headers} == {requests.utils.default_user_agent()}


# What is refused, and small things


OPTIONS = [("concurrency", value) for value in (0, -1, True, False, 1.0, 8.5, "8", None)]
OPTIONS += [("max_rate", value) for value in (0, -1, True, float("inf"), "5")]


@pytest.mark.parametrize(("option", "value"), OPTIONS)
def test_an_option_that_makes_no_sense_is_refused(script, option, value):
    """A concurrency is a whole number from 1, a rate one above 0; all else sends nothing."""
    service = script()
    with pytest.raises(ck.ConfigError, match=option):
        service.client().send_many(rooms(1), **{option: value})
    assert not service.requests


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS.values() if e.write or e is A1])
def test_changes_and_logins_are_not_sent_together(script, endpoint):
    """A change among many requests is a ParameterError, and none of them is sent."""
    service = script({GET_ROOM: ROOM})
    with pytest.raises(ck.ParameterError, match="Nothing was sent"):
        service.client().send_many([*rooms(1), Request(endpoint, {})])
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


def test_a_setting_of_the_session_is_taken_anew_with_a_new_token(script):
    """Where the service sets a cookie with the token, what follows carries the new one."""
    given = []

    def authenticate(_):
        given.append(len(given))
        return Reply(GRANTED, headers={"Set-Cookie": f"node={len(given)}; Path=/"})

    def room(query):
        fresh = service.headers[-1]["Cookie"] == "node=2"
        return ROOM if fresh else {"ret": 602}

    service = script({AUTHENTICATE: authenticate, GET_ROOM: room})
    client = service.client()
    assert client.send_many(rooms(*range(9)), concurrency=1) == [ROOM] * 9
    assert len(given) == 2
    context = client._context()
    assert options_of(context, context.written(rooms(1)[0], None))


def test_many_answers_of_many_sizes_stay_apart(script):
    """Bodies of up to a megabyte come whole and each at its place."""
    service = script(
        {
            GET_ROOM: lambda query: {
                "ret": 0,
                "room_id": query["room_id"],
                "topic": query["room_id"] * int(query["room_id"]),
            }
        }
    )
    ids = [1, 7, 1000, 10_000, 250_000] * 4
    found = connected(service, "libcurl").send_many(rooms(*ids))
    assert [len(outcome["topic"]) for outcome in found] == [n * len(str(n)) for n in ids]


def test_an_answer_is_waited_for_as_long_as_the_read_time_out(script, way):
    """However long a connection may take: an answer that hangs costs the read time-out a try."""
    service = script({GET_ROOM: Reply({"ret": 0}, delay=100)})
    client = by(service.client(timeout=(100, 0.4)), way)
    [failure] = client.send_many([Request(A3, {"room_id": "1"})])
    assert "did not answer within 0.4 s" in str(failure)


def test_an_attempt_shows_no_token(script):
    """In the locals of a traceback a request on its way hides its token."""
    attempt = Attempt(Request(A3, {"room_id": "1"}), script().client()._context())
    attempt.begin(Secret("hunter2"))
    for shown in (repr(attempt), str(attempt), f"{attempt.__dict__}"):
        assert "hunter2" not in shown
        assert "demo_secret" not in shown


@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_an_answer_behind_an_answer_is_not_that_of_the_next_room(script, way, pause):
    """Where the head came by itself, too: what lies behind an answer is nobody's, and its
    connection not used again."""

    def answered(room_id):
        return b'{"ret": 0, "room_id": "%b"}' % room_id.encode()

    def twice(query):
        body = answered(query["room_id"])
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)

        def do(peer):
            parts = [head, body + head + answered("9")]
            for part in parts if pause else [b"".join(parts)]:
                peer.sendall(part)
                time.sleep(pause)

        return Reply(raw=do, keeps=True)

    service = script({GET_ROOM: twice})
    client = connected(service, way)
    found = client.send_many(rooms(*range(5)), concurrency=1)
    assert [room["room_id"] for room in found] == list("01234")
    assert service.connections == 5
