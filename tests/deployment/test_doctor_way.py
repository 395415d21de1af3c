"""The doctor on the way to a service: settings, names, ports, TLS, and what else may answer."""

import socket
import ssl
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest
import requests
from requests.adapters import HTTPAdapter

import confkit as ck
from confkit.deployment import checkup
from tests.deployment.seeing import (
    A1,
    A3,
    B3,
    WELL,
    by_name,
    deaf,
    secure,
    url,
    verdicts,
)
from tests.ports import quiet_port
from tests.scripted import GRANTED, Reply, scripted
from tests.ways import reset

KEYS = {"access_key": "demo_access", "secret_key": "demo_secret"}


def client_of(a: str, b: str, **options) -> ck.Client:
    """A client of two addresses."""
    return ck.Client(a, b, **{**KEYS, "timeout": (5.0, 5.0), **options})


def tls(certificate) -> ssl.SSLContext:
    """A server's side of TLS with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@contextmanager
def accepting(closes=False):
    """The address of a port that accepts connections, says nothing, and holds or closes them."""
    with ExitStack() as held, socket.create_server(("127.0.0.1", 0)) as listener:

        def accept():
            with suppress(OSError):
                while True:
                    peer = held.enter_context(listener.accept()[0])
                    peer.close() if closes else None

        threading.Thread(target=accept, daemon=True).start()
        yield url(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)


# Settings


def test_the_settings_say_where_they_come_from(script, monkeypatch):
    """Each setting is reported with its origin, and no key with its value."""
    service = script(WELL)
    monkeypatch.setenv("CONFKIT_BASE_URL", service.base_url)
    check = ck.doctor(ck.connect(outgoing_url=service.base_url + "/b", **KEYS))[0]
    assert (check.check, check.verdict) == ("settings", "PASS")
    assert f"base_url {service.base_url} (CONFKIT_BASE_URL)" in check.found
    assert f"outgoing_url {service.base_url}/b (argument)" in check.found
    assert "demo_" not in check.found


@pytest.mark.parametrize(
    ("a", "b", "verdict", "told"),
    [
        ("http://h:8050", "http://h:8080", "FAIL", "base_url to http://h:8080"),
        ("http://h:8080/rtc", "http://h:8050", "FAIL", "base_url to http://h:8080 instead"),
        ("http://h:8080", "http://h:8050/avd/api", "FAIL", "outgoing_url to http"),
        ("http://h:8080/x", "http://h:8050", "PASS", "base_url has a path or no port"),
        ("http://h", "http://h:8050", "PASS", "base_url has a path or no port"),
        ("http://h:8080", "http://i:8050", "PASS", "different hosts"),
        ("https://h:8080", "http://h:8050", "PASS", "on the way: http in outgoing_url"),
        ("https://h:8080", "https://h:8080", "PASS", "one address"),
    ],
)
def test_settings_that_look_wrong_are_named(a, b, verdict, told):
    """Swapped ports and paths that stand there twice fail; what may be meant is only said."""
    check = next(checkup(client_of(a, b)))
    assert check.verdict == verdict
    assert told in check.advice


# Names and ports

NOWHERE = {
    "no name": ("http://no-such-host.invalid:8080", "", "name of A", "has no address", "base_url"),
    "no route": ("http://255.255.255.255:9", "", "TCP to A", "cannot be reached", "network (VPN)"),
    "no proxy": ("http://h:1", "{closed}", "TCP to A", "the proxy of this machine's", "NO_PROXY"),
    "closed": ("{closed}", "", "TCP to A", "nothing listens at this port", "port in base_url"),
    "silent": ("{deaf}", "", "TCP to A", "did not accept a connection within 0.2 s", "firewall"),
}


@pytest.mark.parametrize("row", NOWHERE.values(), ids=NOWHERE)
def test_a_way_that_leads_nowhere(script, row):
    """What is in the way is told by its own check with the next step; what comes after it is left
    out, for that interface alone."""
    service, closed = script(WELL), url(quiet_port())
    with deaf() as port:
        address, proxy = (text.format(closed=closed, deaf=url(port)) for text in row[:2])
        client = client_of(address, service.base_url, timeout=(0.2, 5))
        if proxy:
            client.session.proxies = {"http://h": proxy}
        checks = ck.doctor(client)
    found, (name, told, step) = by_name(checks), row[2:]
    assert (found[name].verdict, told in found[name].found) == ("FAIL", True)
    assert step in found[name].advice
    assert found["HTTP of A"].found == found["token in B"].found == f"because {name} did not pass"
    assert (found["HTTP of B"].verdict, found["clock"].verdict) == ("PASS", "PASS")
    assert checks.exit_status == 1


@pytest.mark.parametrize(("host", "shown"), [("localhost", "localhost"), ("::1", "[::1]")])
def test_a_name_or_an_address_that_is_known(host, shown):
    """A name's address is reported; the brackets of version six are where they belong."""
    with scripted(dict(WELL), host="::1" if host == "::1" else "127.0.0.1") as service:
        address = service.base_url.replace("127.0.0.1", host)
        checks = ck.doctor(client_of(address, address))
    found = by_name(checks)
    assert checks.ok
    assert found["TCP to A"].found.startswith(f"{shown}:")
    assert host != "localhost" or found["name of A"].found == "localhost has an address: 127.0.0.1"


def test_closed_ports(script):
    """Without B what asks A is made all the same; without both the clocks are not known either."""
    closed = url(quiet_port())
    found = by_name(ck.doctor(client_of(script(WELL).base_url, closed)))
    assert "outgoing_url" in found["TCP to B"].advice
    assert found["token in A"].verdict == "PASS"
    assert found["token in B"].found == "because TCP to B did not pass"
    checks = ck.doctor(client_of(closed, closed))
    assert by_name(checks)["clock"].found == "because TCP to A did not pass"
    assert "PASS" not in [check.verdict for check in checks[2:]]


def test_swapped_addresses_are_found_by_asking(sandbox):
    """Whatever the ports are: when each interface answers at the other's address, that is
    reported."""
    client = client_of(sandbox.outgoing_url, sandbox.base_url)
    found = by_name(ck.doctor(client))
    for name in ("HTTP of A", "HTTP of B"):
        assert found[name].verdict == "FAIL"
        assert "have changed places" in found[name].found
        assert f"base_url to {sandbox.base_url}" in found[name].advice
    assert sandbox.count(A1) == 0


def test_a_service_that_hangs_costs_no_more_than_the_time_allowed():
    """Ports that accept and never answer: a failure after the client's own time-outs, and unknown
    where the time for all checks ends before."""
    with accepting() as hung:
        checks = ck.doctor(client_of(hung, hung, timeout=(0.2, 0.2)))
        assert by_name(checks)["TCP to A"].verdict == "PASS"
        assert by_name(checks)["HTTP of A"].verdict == "FAIL"
        assert by_name(checks)["HTTP of A"].found == "it did not answer within 0.2 s"
        assert by_name(checks)["token in A"].verdict == "SKIP"
        checks = ck.doctor(client_of(hung, hung, timeout=(300, 300)), timeout=0.8)
    assert by_name(checks)["HTTP of A"].verdict == "UNKNOWN"
    assert "no more was left of the 0.8 s" in by_name(checks)["HTTP of A"].found
    assert checks.exit_status == 2


def test_what_the_time_did_not_allow_is_unknown(script):
    """Checks for which no time is left are UNKNOWN, and never PASS."""
    now = 0.0
    made = checkup(script(WELL).client(), clock=lambda: now)
    checks = [next(made) for _ in range(6)]
    now = 61.0
    checks = ck.Checklist([*checks, *made])
    assert checks.verdict == "UNKNOWN"
    assert by_name(checks)["TCP to B"].found == "not made: the 60 s for all checks are over"
    assert verdicts(checks) == "PSPSPSUSSUUSSSSSS"


# TLS


@pytest.fixture
def behind_tls(certificate):
    """A service that is well, behind TLS."""
    with scripted(dict(WELL), tls(certificate)) as service:
        yield service


def test_tls_that_is_well(behind_tls, certificate):
    """The version and the end of the certificate are reported, and a near end is said; where it is
    not looked at, what that costs."""
    checks = ck.doctor(behind_tls.client(verify=str(certificate[0])))
    assert checks.ok
    check = by_name(checks)["TLS of A"]
    assert "TLSv1.3, and the certificate is accepted until 20" in check.found
    assert "renew" in check.advice  # it was made for two days
    before = ck.doctor(behind_tls.client(verify=str(certificate[0])), now=lambda: 0)
    assert by_name(before)["TLS of A"].advice == ""
    with pytest.warns(Warning, match="Unverified HTTPS"):
        check = by_name(ck.doctor(behind_tls.client(verify=False)))["TLS of A"]
    assert check.verdict == "PASS"
    assert "not looked at (verify=False)" in check.found
    assert "pose as the service" in check.advice


@pytest.mark.parametrize(
    ("host", "trusted", "told", "step"),
    [
        ("127.0.0.1", False, "self-signed certificate", "CONFKIT_CA_BUNDLE"),
        ("127.0.0.2", True, "certificate is not valid for '127.0.0.2'", "a name that the"),
    ],
)
def test_a_certificate_that_is_not_this_hosts(certificate, host, trusted, told, step):
    """A self-signed one without a bundle that holds it, and one of another name; what comes after
    is left out."""
    with scripted(dict(WELL), tls(certificate), host=host) as service:
        found = by_name(ck.doctor(service.client(verify=str(certificate[0]) if trusted else True)))
    assert found["TLS of A"].verdict == "FAIL"
    assert told in found["TLS of A"].found
    assert step in found["TLS of A"].advice
    assert found["HTTP of A"].found == "because TLS of A did not pass"
    assert not service.requests


def test_plain_http_to_a_port_of_tls(behind_tls):
    """The way round that is wrong is named with the setting to change."""
    plain = behind_tls.base_url.replace("https:", "http:")
    found = by_name(ck.doctor(client_of(plain, plain)))
    assert found["TLS of A"].verdict == "SKIP"
    for name, setting in (("HTTP of A", "base_url"), ("HTTP of B", "outgoing_url")):
        assert found[name].verdict == "FAIL"
        assert found[name].found == "the port speaks TLS, and the address says http"
        assert found[name].advice == f"Write https:// in {setting}."


class Refusing(HTTPAdapter):
    """An adapter of one's own, which finds a certificate wrong."""

    def __init__(self, why):
        super().__init__()
        self.why = why

    def send(self, *_, **__):
        raise requests.exceptions.SSLError(ssl.SSLCertVerificationError(1, self.why))


@pytest.mark.parametrize(
    ("why", "step"),
    [
        ("certificate has expired", "clock is right"),
        ("certificate is not yet valid", "clock is right"),
        ("unable to get local issuer certificate", "CONFKIT_CA_BUNDLE"),
        ("Missing Authority Key Identifier", "newer Pythons"),
    ],
)
def test_a_certificate_is_told_by_what_is_wrong_with_it(behind_tls, why, step):
    """With the words of OpenSSL and a next step, by an exchange through the client's session."""
    client = behind_tls.client()
    client.session.mount("https://", Refusing(why))
    check = by_name(ck.doctor(client))["TLS of A"]
    assert (check.verdict, why in check.found, step in check.advice) == ("FAIL", True, True)


def test_a_bundle_that_cannot_be_read(behind_tls, tmp_path):
    """It is a failure of the setting; nothing else is claimed."""
    path = tmp_path / "ca.pem"
    path.write_text("nothing")
    found = by_name(ck.doctor(behind_tls.client(verify=str(path))))
    assert (found["TCP to A"].verdict, found["TLS of A"].verdict) == ("SKIP", "FAIL")
    assert str(path) in found["TLS of A"].found
    assert "CONFKIT_CA_BUNDLE" in found["TLS of A"].advice


@contextmanager
def speaking_tls_alone(certificate):
    """The address of a TLS port that closes after the handshake, and says 400 to plain HTTP."""
    context = tls(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with suppress(OSError):
                while True:
                    answer(listener.accept()[0])

        def answer(peer):
            with suppress(OSError), peer:
                if peer.recv(1, socket.MSG_PEEK) == b"\x16":
                    context.wrap_socket(peer, server_side=True).close()
                else:
                    peer.recv(4096)
                    told = b"<html>The plain HTTP request was sent to HTTPS port"
                    peer.sendall(
                        b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%s"
                        % (len(told), told)
                    )

        threading.Thread(target=serve, daemon=True).start()
        yield secure(url(listener.getsockname()[1]))
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS")
def test_a_port_of_tls_that_refuses_plain_http_is_no_port_of_plain_http(certificate):
    """Whoever was told to write http:// would send keys and token in clear."""
    with speaking_tls_alone(certificate) as address:
        found = by_name(ck.doctor(client_of(address, address, verify=False)))
    failed = next(check for check in found.values() if check.verdict == "FAIL")
    assert failed.check == "TLS of A"
    assert "plain HTTP" not in failed.found
    assert "http://" not in failed.advice


def test_tls_to_a_port_of_plain_http(script):
    """And the other way round."""
    found = by_name(ck.doctor(client_of(*[secure(script(WELL).base_url)] * 2)))
    assert found["TLS of A"].verdict == "FAIL"
    assert found["TLS of A"].found.endswith("speaks plain HTTP, and the address says https")
    assert "http:// in base_url" in found["TLS of A"].advice
    assert found["HTTP of A"].verdict == "SKIP"


@pytest.mark.parametrize(
    ("closes", "told"), [(False, "it did not answer within 0.3 s"), (True, "TLS failed")]
)
def test_tls_to_a_port_that_says_nothing(closes, told):
    """A port that accepts and is silent, or closes, is not taken for a plain one."""
    with accepting(closes) as address:
        check = by_name(ck.doctor(client_of(*[secure(address)] * 2, timeout=(0.3, 0.3))))[
            "TLS of A"
        ]
    assert check.verdict == "FAIL"
    assert check.found.startswith("no TLS came about, or nothing through it: ")
    assert told in check.found


# What else may answer

FOREIGN = {
    "a page": (Reply("<title>Guest access</title>", kind="text/html"), "Guest access"),
    "a gateway": (Reply("<h1>Bad</h1>", kind="text/html", status=502), "(HTTP 502)"),
    "a redirect": (
        Reply("", status=302, headers={"Location": "https://portal.example/x?token=geheim99"}),
        "(HTTP 302)",
    ),
    "a redirect to nowhere": (Reply("", status=302), "(HTTP 302)"),
    "JSON of another kind": (Reply({"status": "up"}), "JSON without a result code"),
    "an empty answer": (Reply(""), "an empty answer"),
    "a connection that is reset": (Reply(raw=reset), "reset the connection"),
    "another protocol": (Reply(raw=lambda peer: peer.sendall(b"220 smtp\r\n")), "is not HTTP"),
    "a request that it does not know": (Reply({"ret": 408}), "408: HTTP request not supported"),
}


@pytest.mark.parametrize(("reply", "told"), FOREIGN.values(), ids=FOREIGN)
def test_something_else_that_answers(script, reply, told):
    """A proxy, a page or another service is reported as what it is, for A and for B, and no login
    is spent on it."""
    service = script({A3: reply, B3: reply})
    checks = ck.doctor(client_of(service.base_url, service.base_url))
    for name in ("HTTP of A", "HTTP of B"):
        assert by_name(checks)[name].verdict == "FAIL"
        assert told in by_name(checks)[name].found
        assert by_name(checks)[name].advice.endswith(".")
    assert by_name(checks)["authentication"].found == "because HTTP of A did not pass"
    assert service.seen[A1] == 0
    assert "geheim99" not in str(checks)


def test_a_redirect_to_the_service_itself_names_the_address(script):
    """A redirect that keeps the path says what to set."""
    target = "https://conference.example:8443"
    headers = {"Location": f"{target}/rtc/room/get?access_token=x"}
    service = script({**WELL, A3: Reply("", status=301, headers=headers)})
    found = by_name(ck.doctor(service.client()))
    assert found["HTTP of A"].found == f"it redirects (HTTP 301) to {target}"
    assert found["HTTP of A"].advice.startswith(f"Set base_url to {target}: ")
    assert found["HTTP of B"].verdict == "PASS"


def test_a_proxy_is_where_the_connection_goes(script):
    """With a proxy set, name and port are the proxy's, and its login shows nowhere."""
    host = "http://service.invalid"
    proxy = script({host + path: answer for path, answer in {**WELL, A1: GRANTED}.items()})
    client = client_of(host, host)
    client.session.proxies = {"http": proxy.base_url.replace("//", "//me:geheim99@")}
    checks = ck.doctor(client)
    told = f"{urlsplit(proxy.base_url).netloc}, the proxy of this machine's settings, accepts"
    assert told in by_name(checks)["TCP to A"].found
    assert "geheim99" not in str(checks) + checks.as_json()


# Clocks


@pytest.mark.parametrize(
    ("seconds", "verdict", "told"),
    [
        (0, "PASS", "agree within 5 s"),
        (3, "PASS", "agree within 5 s"),
        (90, "FAIL", "90 s behind the service"),
        (-3 * 3600, "FAIL", "3 h ahead of the service"),
        (40 * 86400, "FAIL", "40 days behind"),
    ],
)
def test_the_clock(script, seconds, verdict, told):
    """A skew is reported with its direction, and what it is assumed to matter for."""
    found = by_name(ck.doctor(script(WELL).client(), now=lambda: time.time() - seconds))
    assert found["clock"].verdict == verdict
    assert told in found["clock"].found
    assert ("assumed" in found["clock"].found) == (verdict == "FAIL")


@pytest.mark.parametrize("header", ["Date: soon\r\n", ""])
def test_without_a_date_the_clocks_are_unknown(script, header):
    """A Date header that cannot be read, or none, says nothing."""
    body = b'{"ret": 602}'
    head = f"HTTP/1.1 200 OK\r\n{header}Content-Length: {len(body)}\r\n\r\n".encode()
    odd = Reply(raw=lambda peer: peer.sendall(head + body))
    assert by_name(ck.doctor(script({A3: odd, B3: odd}).client()))["clock"].verdict == "UNKNOWN"
