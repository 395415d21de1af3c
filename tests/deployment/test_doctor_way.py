"""The doctor on the way to a service: settings, names, ports, TLS, and what else may answer."""

import socket
import ssl
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest
from requests.adapters import HTTPAdapter

import confkit as ck
from confkit.deployment import checkup
from tests.deployment.seeing import (
    A1,
    A3,
    B3,
    WELL,
    by_name,
    date,
    deaf,
    secure,
    url,
    verdicts,
)
from tests.ports import quiet_port
from tests.scripted import Reply, scripted
from tests.ways import reset

HTML = "text/html"
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
    client = ck.connect(outgoing_url=service.base_url + "/b", **KEYS)
    check = ck.doctor(client)[0]
    assert (check.check, check.verdict) == ("settings", "PASS")
    assert f"base_url {service.base_url} (CONFKIT_BASE_URL)" in check.found
    assert f"outgoing_url {service.base_url}/b (argument)" in check.found
    assert "outgoing_url has a path" in check.advice
    assert "come from different places" in check.advice
    assert "demo_" not in check.found
    monkeypatch.setenv("CONFKIT_OUTGOING_URL", service.base_url + "/b")
    assert "different places" not in ck.doctor(ck.connect(**KEYS))[0].advice  # two variables


@pytest.mark.parametrize(
    ("a", "b", "verdict", "told"),
    [
        ("http://h:8050", "http://h:8080", "FAIL", "base_url to http://h:8080"),
        ("http://h:8080/rtc", "http://h:8050", "FAIL", "base_url to http://h:8080 instead"),
        ("http://h:8080", "http://h:8050/avd/api", "FAIL", "outgoing_url to http"),
        ("http://h:8080/x", "http://h:8050", "PASS", "base_url has a path"),
        ("http://h", "http://h:8050", "PASS", "so it is 80"),
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


def test_a_name_that_nobody_knows(script):
    """A name without an address fails, and what comes after it is left out, for that interface."""
    service = script(WELL)
    found = by_name(ck.doctor(client_of("http://no-such-host.invalid:8080", service.base_url)))
    assert found["name of A"].verdict == "FAIL"
    assert found["name of A"].found == "the name no-such-host.invalid has no address here"
    assert "base_url" in found["name of A"].advice
    assert found["HTTP of A"].found == "because name of A did not pass"
    assert found["token in B"].found == "because name of A did not pass"
    assert found["HTTP of B"].verdict == "PASS"


def test_a_name_that_is_known(script):
    """A name's addresses are reported."""
    address = script(WELL).base_url.replace("127.0.0.1", "localhost")
    found = by_name(ck.doctor(client_of(address, address)))
    assert found["name of A"].verdict == "PASS"
    assert found["name of A"].found == "localhost has an address: 127.0.0.1"
    assert found["token in B"].verdict == "PASS"


def test_closed_ports(script):
    """A port at which nobody listens is told apart for A and for B."""
    service, closed = script(WELL), url(quiet_port())
    checks = ck.doctor(client_of(closed, service.base_url))
    assert by_name(checks)["TCP to A"].found.endswith("nothing listens at this port")
    assert by_name(checks)["clock"].verdict == "PASS"  # B has said it
    assert checks.exit_status == 1
    checks = ck.doctor(client_of(service.base_url, closed))
    assert "outgoing_url" in by_name(checks)["TCP to B"].advice
    assert by_name(checks)["token in A"].verdict == "PASS"
    assert by_name(checks)["token in B"].found == "because TCP to B did not pass"
    checks = ck.doctor(client_of(closed, closed))
    assert by_name(checks)["clock"].found == "because TCP to A did not pass"
    assert "PASS" not in [check.verdict for check in checks[2:]]


def test_a_port_behind_a_firewall():
    """A port that drops what comes: no answer in time is another thing than a refusal."""
    with deaf() as port:
        address = url(port)
        found = by_name(ck.doctor(client_of(address, address, timeout=(0.2, 0.2))))
    assert found["TCP to A"].verdict == "FAIL"
    assert "did not accept a connection within 0.2 s" in found["TCP to A"].found
    assert "firewall" in found["TCP to A"].advice


@pytest.mark.parametrize(
    ("host", "proxy", "told", "step"),
    [
        ("255.255.255.255", None, "it cannot be reached", "this machine's network"),
        ("127.0.0.1", "127.0.0.1:{port}", "the proxy of this machine's settings", "NO_PROXY"),
    ],
)
def test_a_way_that_leads_nowhere(host, proxy, told, step):
    """A network that is not there, and a proxy that is not: each is reported with its next step."""
    client = client_of(*[f"http://{host}:9"] * 2)
    if proxy:
        client.session.trust_env = True
        client.session.proxies = {"http": "http://" + proxy.format(port=quiet_port())}
    check = by_name(ck.doctor(client))["TCP to A"]
    assert (check.verdict, told in check.found) == ("FAIL", True)
    assert step in check.advice


def test_an_address_of_the_sixth_version():
    """Its brackets are where they belong."""
    with scripted(dict(WELL), host="::1") as service:
        checks = ck.doctor(service.client())
    assert checks.ok
    assert by_name(checks)["TCP to A"].found.startswith("[::1]:")


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
    with pytest.warns(Warning, match="Unverified HTTPS"):
        check = by_name(ck.doctor(behind_tls.client(verify=False)))["TLS of A"]
    assert check.verdict == "PASS"
    assert "not looked at (verify=False)" in check.found
    assert "pose as the service" in check.advice


@pytest.fixture(scope="module")
def issued(tmp_path_factory, certificate):
    """issued(begin, end): a certificate of the house's own authority, valid between two years, and
    the certificate of the authority."""
    folder = tmp_path_factory.mktemp("house")
    (folder / "index").touch()
    (folder / "ca").write_text(
        "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nunique_subject=no\nnew_certs_dir=.\nrand_serial=yes\n"
        "default_md=sha256\npolicy=p\nx509_extensions=e\n[p]\ncommonName=supplied\n"
        "[e]\nsubjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=keyid\n"  # wanted since 3.13
    )

    def openssl(line: str) -> None:
        subprocess.run(["openssl", *line.split()], cwd=folder, check=True, capture_output=True)

    openssl(f"req -new -key {certificate[1]} -subj /CN=localhost -out asked")
    openssl(
        "req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=House -keyout ca.key -out ca.pem "
        "-addext keyUsage=critical,keyCertSign"
    )

    def make(begin: int, end: int):
        openssl(
            "ca -batch -notext -config ca -keyfile ca.key -cert ca.pem -in asked "
            f"-out made{begin} -startdate {begin}0101000000Z -enddate {end}0101000000Z"
        )
        return (folder / f"made{begin}", certificate[1]), str(folder / "ca.pem")

    return make


@pytest.mark.parametrize(
    ("years", "trusted", "told", "step"),
    [
        ((2020, 2021), True, "certificate has expired", "clock is right"),
        ((2044, 2045), True, "certificate is not yet valid", "clock is right"),
        ((2022, 2045), False, "unable to get local issuer certificate", "CONFKIT_CA_BUNDLE"),
        ((2022, 2045), True, None, ""),
    ],
)
def test_a_certificate_is_told_by_what_is_wrong_with_it(issued, years, trusted, told, step):
    """Out of its time, and of an authority that is not known: with the words of OpenSSL and a next
    step; one that is well for long needs none."""
    made, authority = issued(*years)
    with scripted(dict(WELL), tls(made)) as service:
        checks = ck.doctor(service.client(verify=authority if trusted else True))
    check = by_name(checks)["TLS of A"]
    assert (check.verdict, checks.ok) == (("FAIL", False) if told else ("PASS", True))
    assert (told or "the certificate is accepted until 2045-01-01") in check.found
    assert check.advice.find(step) >= (0 if told else -1)
    assert bool(check.advice) == bool(told)


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


def test_a_bundle_that_cannot_be_read(behind_tls, tmp_path):
    """A file that holds no certificate, or is gone, is a failure of the setting; nothing else is
    claimed."""
    broken = tmp_path / "ca.pem"
    broken.write_text("nothing")
    for path in (broken, tmp_path / "gone.pem"):
        found = by_name(ck.doctor(behind_tls.client(verify=str(path))))
        assert (found["TCP to A"].verdict, found["TLS of A"].verdict) == ("SKIP", "FAIL")
        assert str(path) in found["TLS of A"].found
        assert "CONFKIT_CA_BUNDLE" in found["TLS of A"].advice


def test_plain_http_to_a_port_of_tls(behind_tls):
    """The way round that is wrong is named with the setting to change."""
    plain = behind_tls.base_url.replace("https:", "http:")
    found = by_name(ck.doctor(client_of(plain, plain)))
    assert found["TLS of A"].verdict == "SKIP"
    for name, setting in (("HTTP of A", "base_url"), ("HTTP of B", "outgoing_url")):
        assert found[name].verdict == "FAIL"
        assert found[name].found == "the port speaks TLS, and the address says http"
        assert found[name].advice == f"Write https:// in {setting}."


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


def test_an_adapter_of_ones_own_is_judged_by_what_it_does(behind_tls, certificate):
    """All stages are reported by an exchange through the client's own session."""
    client = behind_tls.client(verify=str(certificate[0]))
    client.session.mount("https://", HTTPAdapter())
    assert ck.doctor(client).ok
    client.session.mount("https://", HTTPAdapter())
    client.session.verify = True
    assert by_name(ck.doctor(client))["TLS of A"].verdict == "FAIL"


# What else may answer


def plain(status: int, header: str, value: str) -> Reply:
    """An answer without a body."""
    return Reply("", status=status, headers={header: value})


LOGIN = "<html><title>Guest  access</title><form><input type='password'></form></html>"
FOREIGN = {
    "a login page": (Reply(LOGIN, kind=HTML), "a login page titled 'Guest access' (HTTP 200)"),
    "a page": (Reply("<h1>It works</h1>", kind=HTML), "a page (HTTP 200): a web server"),
    "not found": (
        Reply("<title>404</title>", kind=HTML, status=404),
        "a page titled '404' (HTTP 404)",
    ),
    "a gateway": (Reply("<h1>Bad</h1>", kind=HTML, status=502), "a gateway answers"),
    "a login of a proxy": (plain(407, "Proxy-Authenticate", "Basic"), "a proxy before"),
    "a login of a server": (plain(401, "WWW-Authenticate", "Basic"), "a web server before"),
    "a redirect to a login": (
        plain(302, "Location", "https://portal.example/login?token=geheim99"),
        "redirects (HTTP 302) to https://portal.example/login, most likely a login",
    ),
    "a redirect to itself": (plain(302, "Location", "/elsewhere"), "(HTTP 302) to /elsewhere"),
    "a redirect to nowhere": (Reply("", status=302), "to nowhere"),
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
        if told == "is not HTTP":
            assert "another kind of service listens" in by_name(checks)[name].advice
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
    hosts = [f"http://service.invalid:{port}" for port in (8080, 8050)]
    proxy = script({host + path: answer for host in hosts for path, answer in WELL.items()})
    proxy.script["http://service.invalid:8080" + A1] = {"ret": 0, "random": "abc", "key": "def"}
    client = client_of("http://service.invalid:8080", "http://service.invalid:8050")
    client.session.proxies = {"http": proxy.base_url.replace("//", "//me:geheim99@")}
    checks = ck.doctor(client)
    assert urlsplit(proxy.base_url).netloc in by_name(checks)["TCP to A"].found
    assert "the proxy of this machine's settings, accepts" in by_name(checks)["TCP to A"].found
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
    service = script({**WELL, A1: {"ret": 401}})
    found = by_name(ck.doctor(service.client(), now=lambda: time.time() - seconds))
    assert found["clock"].verdict == verdict
    assert told in found["clock"].found
    assert ("assumed" in found["clock"].found) == (verdict == "FAIL")
    apart = "apart, which should not matter" in found["authentication"].found
    assert apart == (verdict == "FAIL")


@pytest.mark.parametrize(
    ("header", "verdict"),
    [(-3600, "FAIL"), (0, "PASS"), ("Date: soon\r\n", "UNKNOWN"), ("", "UNKNOWN")],
)
def test_the_date_header_is_what_tells(script, header, verdict):
    """A wrong header is a skew; none, or one that cannot be read, leaves it unknown."""
    if not isinstance(header, str):
        header = f"Date: {date(header)}\r\n"
    body = b'{"ret": 602}'
    head = f"HTTP/1.1 200 OK\r\n{header}Content-Length: {len(body)}\r\n\r\n".encode()
    odd = Reply(raw=lambda peer: peer.sendall(head + body))
    assert by_name(ck.doctor(script({A3: odd, B3: odd}).client()))["clock"].verdict == verdict
