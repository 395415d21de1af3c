"""The doctor on the way to a service: settings, names, ports, TLS, and what else may answer."""

import socket
import ssl
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import requests
from requests.adapters import HTTPAdapter

import confkit as ck
from confkit.deployment import checkup
from tests.deployment.seeing import A1, A3, B3, WELL, Looked, deaf, looked, says, url
from tests.ports import HERE, quiet_port
from tests.scripted import GRANTED, Reply, scripted

KEYS = {"access_key": "demo_access", "secret_key": "demo_secret"}


def client_of(a: str, b: str = "", **options) -> ck.Client:
    """A client of two addresses, or of one for both interfaces."""
    return ck.Client(a, b or a, **{**KEYS, "timeout": (5.0, 5.0), **options})


class Refusing(HTTPAdapter):
    """An adapter of one's own, on which every request ends with this error of TLS."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def send(self, *_, **__):
        raise requests.exceptions.SSLError(self.error)


# Settings


def test_the_settings_say_where_they_come_from(script, monkeypatch):
    """Each setting is reported with its origin, and no key with its value."""
    service = script(WELL)
    monkeypatch.setenv("CONFKIT_BASE_URL", service.base_url)
    check = looked(ck.connect(outgoing_url=service.base_url + "/b", **KEYS))["settings"]
    says(check, "PASS", f"base_url {service.base_url} (CONFKIT_BASE_URL)")
    says(check, "PASS", f"outgoing_url {service.base_url}/b (argument)")
    assert "demo_" not in check.found


def test_settings_that_look_wrong_are_named():
    """Paths that stand there twice fail, and nothing is asked; http beyond this machine is only
    remarked on."""
    checks = ck.doctor(client_of("http://h:8080", "http://h:8050/avd/api"))
    says(checks[0], "FAIL", advice="outgoing_url to http://h:8050 instead")
    assert {check.found for check in checks[1:]} == {"because settings did not pass"}
    first = next(checkup(client_of("https://h:8080", "http://h:8050")))
    says(first, "PASS", advice="on the way: http in outgoing_url")


# What stands in the way

PLACES = {"Location": "https://portal.example/x?token=geheim99"}
MOVED = {"Location": "https://conference.example:8443/rtc/room/get?access_token=geheim99"}
# What answers in place of an interface.
OTHERS = {
    "page": Reply("<title>Guest access</title>", kind="text/html"),
    "portal": Reply("", status=302, headers=PLACES),
    "moved": Reply("", status=301, headers=MOVED),
    "smtp": Reply(raw=lambda peer: peer.sendall(b"220 smtp\r\n")),
    "unknown": Reply({"ret": 408}),
}


class World(dict[str, str]):
    """Addresses by their names, each of something that is there from when it is first named; A and
    B are one interface of a service that is well, alone."""

    def __init__(self, enter, certificate, sandbox):
        self.enter, self.services = enter, []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*certificate)
        self |= {"bundle": str(certificate[0]), "code": __file__}
        self["plain"] = sandbox.base_url.replace("http:", "https:")

    def served(self, script, *how):
        """The address of a service that answers so."""
        self.services.append(self.enter(scripted(dict(script), *how)))
        return self.services[-1].base_url

    def __missing__(self, name):
        if name in OTHERS:
            self[name] = self.served(dict.fromkeys((A3, B3), OTHERS[name]))
        elif name in ("A", "B"):
            paths = [path for path in WELL if (path == A3) == (name == "A")]
            self[name] = self.served({path: WELL[path] for path in paths})
        elif name == "secure":
            self[name] = self["tls"].replace("https:", "http:")
        elif name.startswith("tls"):
            self[name] = self.served(WELL, self.context, f"127.0.0.{name[3:] or 1}")
        else:
            self[name] = url(self.enter(deaf()) if name == "deaf" else quiet_port())
        return self[name]


@pytest.fixture
def world(certificate, sandbox):
    """What a client meets, a service that is well and one behind TLS among it."""
    with ExitStack() as ending:
        yield World(ending.enter_context, certificate, sandbox)


# An address, settings of the client, the check that fails, what it found and the next step.
IN_THE_WAY = [
    ("http://no-such-host.invalid:8080", {}, "name of A", "has no address", "base_url"),
    ("http://255.255.255.255:9", {}, "TCP to A", "cannot be reached", "network (VPN)"),
    ("http://h:1", {"proxy": "{closed}"}, "TCP to A", "the proxy of this machine's", "NO_PROXY"),
    ("{closed}", {}, "TCP to A", "nothing listens at this port", "port in base_url"),
    ("{closed}", {}, "TCP to B", "nothing listens at this port", "port in outgoing_url"),
    ("{deaf}", {"wait": 0.2}, "TCP to A", "did not accept a connection within 0.2 s", "firewall"),
    ("{tls}", {}, "TLS of A", "self-signed certificate", "CONFKIT_CA_BUNDLE"),
    ("{tls2}", {"verify": "{bundle}"}, "TLS of A", "not valid for '127.0.0.2'", "a name that the"),
    ("{tls}", {"verify": "{code}"}, "TLS of A", "no certificate", f"it is {__file__!r}"),
    ("{plain}", {}, "TLS of A", "no TLS came about", "plain HTTP, write http:// in base_url"),
    ("{secure}", {}, "HTTP of A", "speaks TLS, and the address", "Write https:// in base_url."),
    ("{secure}", {}, "HTTP of B", "speaks TLS, and the address", "Write https:// in outgoing_url."),
    ("{page}", {}, "HTTP of A", "Guest access", "no proxy answers in its place."),
    ("{page}", {}, "HTTP of B", "Guest access", "no proxy answers in its place."),
    ("{portal}", {}, "HTTP of A", "(HTTP 302)", "set the address that it leads to."),
    ("{moved}", {}, "HTTP of A", "(HTTP 301) to https://conf", "Set base_url to https://conf"),
    ("{smtp}", {}, "HTTP of A", "is not HTTP", "host and port are right"),
    ("{unknown}", {}, "HTTP of A", "408: HTTP request not supported", "."),
]


@pytest.mark.parametrize("row", IN_THE_WAY, ids=lambda row: f"{row[0]} {row[2]}")
def test_what_stands_in_the_way_is_told_by_its_check(world, row):
    """With the setting to change and no secret; what comes after it is left out for that interface
    alone, and no login is spent on what may be another service."""
    address, options, check, told, step = row
    address, proxy = (text.format_map(world) for text in (address, options.get("proxy", "")))
    verify = options.get("verify", "").format_map(world) or True
    bad, good = check[-1], {"A": "B", "B": "A"}[check[-1]]
    urls = {bad: address, good: world[good]}
    client = client_of(urls["A"], urls["B"], verify=verify, timeout=(options.get("wait", 5.0), 5.0))
    client.session.proxies = {"http://h": proxy} if proxy else {}
    found = looked(client)
    says(found[check], "FAIL", told, step)
    assert found["token in B"].found == f"because {check} did not pass"
    assert (found[f"HTTP of {good}"].verdict, found["clock"].verdict) == ("PASS", "PASS")
    assert sum(service.seen[A1] for service in world.services) == (bad == "B")
    assert "geheim99" not in str(found)


def test_an_address_of_version_six_and_a_name(version_six):
    """The brackets of an address are where they belong; of a name the address is reported."""
    with scripted(dict(WELL), host=version_six) as service:
        found = looked(client_of(service.base_url))
        assert found["TCP to A"].found.startswith("[::1]:")
        assert found["name of A"].verdict == "SKIP"
    with scripted(dict(WELL), host="127.0.0.1") as service:
        found = looked(client_of(service.base_url.replace("127.0.0.1", "localhost")))
    assert found["name of A"].found == "localhost has an address: 127.0.0.1"


def test_swapped_addresses_are_found_by_asking(sandbox):
    """Whatever the ports are: when each interface answers at the other's address, that is
    reported, and no login is spent."""
    found = looked(client_of(sandbox.outgoing_url, sandbox.base_url))
    for name in ("HTTP of A", "HTTP of B"):
        says(found[name], "FAIL", "have changed places", f"base_url to {sandbox.base_url}")
    assert sandbox.count(A1) == 0


def test_without_an_answer_the_clocks_are_not_known_either():
    """Nothing listens at both addresses: that is told for each."""
    found = looked(client_of(url(quiet_port())))
    assert found.letters == "PSFSSSFSSSSSSSSSS"
    assert found["clock"].found == "because neither interface answered"


def test_a_service_that_hangs_costs_no_more_than_the_time_allowed():
    """Ports that accept and never answer: a failure after the client's own time-outs, and unknown
    where the time for all checks ends before."""
    with socket.create_server((HERE, 0)) as listener:
        hung = url(listener.getsockname()[1])
        found = looked(client_of(hung, timeout=(0.2, 0.2)))
        assert found.letters == "PSPSFSPSFSSSSSSSS"
        assert found["HTTP of A"].found == "it did not answer within 0.2 s"
        found = looked(client_of(hung, timeout=(300, 300)), timeout=0.8)
        says(found["HTTP of A"], "UNKNOWN", "no more was left of the 0.8 s")
        assert found.exit_status == 2
        found = looked(client_of(hung.replace("http:", "https:"), timeout=(0.2, 0.2)))
        says(found["TLS of A"], "FAIL", "through it: it did not answer within 0.2 s", CHECK_PORT)


def test_what_the_time_did_not_allow_is_unknown(script):
    """Checks for which no time is left are UNKNOWN, and never PASS."""
    now = 0.0
    made = checkup(script(WELL).client(), clock=lambda: now)
    checks = [next(made) for _ in range(6)]
    now = 61.0
    found = Looked(ck.Checklist([*checks, *made]))
    assert found["TCP to B"].found == "not made: the 60 s for all checks are over"
    assert (found.letters, found.exit_status) == ("PSPSPSUSSUUSSSSSS", 2)


# TLS


def test_tls_that_is_well(world):
    """The version and the end of the certificate are reported, and a near end is said; where it is
    not looked at, what that costs."""
    client = client_of(world["tls"], verify=world["bundle"])
    found = looked(client)
    accepted = "TLSv1.3, and the certificate is accepted until 20"
    says(found["TLS of A"], "PASS", accepted, "renew")  # it was made for two days
    assert found.exit_status == 0
    assert looked(client, now=lambda: 0)["TLS of A"].advice == ""
    with pytest.warns(Warning, match="Unverified HTTPS"):
        check = looked(client_of(world["tls"], verify=False))["TLS of A"]
    says(check, "PASS", "not looked at (verify=False)", "pose as the service")


CHECK_PORT = "Check the port in base_url"
TROUBLE = {
    "certificate has expired": (ssl.SSLCertVerificationError, "clock is right"),
    "Missing Authority Key Identifier": (ssl.SSLCertVerificationError, "newer Pythons"),
    "EOF occurred in violation of protocol": (ssl.SSLEOFError, CHECK_PORT),
    "[SSL: RECORD_LAYER_FAILURE] record layer failure": (ssl.SSLError, "speaks plain HTTP, write"),
}


@pytest.mark.parametrize(("why", "row"), TROUBLE.items(), ids=TROUBLE)
def test_what_is_wrong_with_tls_is_told_by_its_words(why, row):
    """By an exchange through the client's session. A port that closes is not taken for a plain one:
    whoever was told to write http:// would send keys and token in clear."""
    kind, step = row
    client = client_of("https://conference.example")
    client.session.mount("https://", Refusing(kind(1, why)))
    found = looked(client)["TLS of A"]
    says(found, "FAIL", why, step)
    assert ("http://" in found.advice) == ("RECORD" in why)


def test_a_port_of_tls_may_answer_plain_http(script):
    """With 400, as nginx does; a page under another status is a page."""
    for status, told in ((400, "the port speaks TLS"), (403, "got an HTML or XML page")):
        client = script({A3: Reply("<html>", status=status)}).client()
        client.session.mount("https://", Refusing(ssl.SSLCertVerificationError(1, "self-signed")))
        says(looked(client)["HTTP of A"], "FAIL", told)


def test_a_proxy_is_where_the_connection_goes(script):
    """With a proxy set, name and port are the proxy's, and its login shows nowhere."""
    host = "http://service.invalid"
    proxy = script({host + path: answer for path, answer in {**WELL, A1: GRANTED}.items()})
    client = client_of(host)
    client.session.proxies = {"http": proxy.base_url.replace("//", "//me:geheim99@")}
    found = looked(client)
    told = f"{urlsplit(proxy.base_url).netloc}, the proxy of this machine's settings, accepts"
    says(found["TCP to A"], "PASS", told)
    assert "geheim99" not in str(found)


# Clocks


@pytest.mark.parametrize(("seconds", "side"), [(3, ""), (3600, "behind"), (-3600, "ahead of")])
def test_the_clock(script, seconds, side):
    """A skew is reported with its direction, and what it is assumed to matter for."""
    check = looked(script(WELL).client(), now=lambda: time.time() - seconds)["clock"]
    says(check, "FAIL" if side else "PASS", f"{side} the service" if side else "within 5 s")
    assert ("assumed" in check.found, "(h:mm:ss)" in check.found) == (bool(side), bool(side))


@pytest.mark.parametrize("header", ["Date: soon\r\n", ""])
def test_without_a_date_the_clocks_are_unknown(script, header):
    """A Date header that cannot be read, or none, says nothing."""
    body = b'{"ret": 602}'
    head = f"HTTP/1.1 200 OK\r\n{header}Content-Length: {len(body)}\r\n\r\n".encode()
    odd = Reply(raw=lambda peer: peer.sendall(head + body))
    says(looked(script({A3: odd, B3: odd}).client())["clock"], "UNKNOWN")
