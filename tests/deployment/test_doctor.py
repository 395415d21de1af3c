"""`doctor`: what is broken, which check says so, in which words and with which next step."""

import socket
import ssl
import time
from contextlib import ExitStack
from dataclasses import astuple
from email.utils import formatdate

import pytest

import confkit as ck
from confkit.connect import SERVICE
from confkit.deployment import CHECKS, checkup
from confkit.sandbox import Sandbox
from tests.deployment.services import A1, A2, A3, A5, B1, B2, B3, USUAL, checked, deaf, dialects
from tests.ports import HERE, quiet_port
from tests.scripted import Reply, scripted

KEYS = {"access_key": "demo_access", "secret_key": "demo_secret"}
A, B = "Interface A", "Interface B"


def examine(client, *arguments, **options):
    """The rows of a doctor by their names: outcome, detail and advice."""
    rows = [astuple(check)[:4] for check in ck.doctor(client, *arguments, **options)]
    assert tuple(row[0] for row in rows) == CHECKS
    return {name: rest for name, *rest in rows}


def outcomes(rows):
    """The first letters of the outcomes of the nine checks."""
    return "".join(outcome[0] for outcome, _, _ in rows.values())[:9]


def holds(row, outcome, detail="", advice=""):
    assert row[0] == outcome, row
    assert detail in row[1]
    assert advice in row[2]


def client_of(a, b="", **options):
    """A client of two addresses, or of one for both interfaces."""
    return ck.Client(a, b or a, **{**KEYS, "timeout": (5.0, 5.0), **options})


def other(sandbox, **options):
    """A client of a sandbox with settings of its own."""
    settings = {name: getattr(sandbox, name) for name in (*SERVICE, "dialect")}
    return ck.Client(**{**settings, **options})


@pytest.mark.parametrize("dialect", dialects(seed=3, count=4)[-5:], ids=str)
def test_a_service_that_is_well_passes_and_stays_as_it_is(dialect):
    """Without a room what needs one is left out; B1 is not asked, and of B2 nothing is sent that
    could work; a client that is read only does not send that."""
    with Sandbox(seed=1, dialect=dialect) as sandbox, sandbox.connect() as maker:
        room_id = ck.create_room(maker, "Weekly sync", "ops")
        client = sandbox.connect()
        before = client.session, client.timeout, dict(client.session.hooks)
        rows = examine(client, room_id)
        assert outcomes(rows) == "PPPPPPPPP"
        holds(rows["Finding"], "PASS", "no problem found")
        holds(rows["Room"], "PASS", f"room {room_id} was read: 'Weekly sync'")
        holds(rows["Media server"], "PASS", "accepts connections from here")
        assert (client.session, client.timeout, dict(client.session.hooks)) == before
        assert not client.authenticated
        assert "B2 425: the room has no device with this userId" in map(str, sandbox.refusals)
        assert (sandbox.room_ids(), sandbox.count(A2), sandbox.count(B1)) == ([room_id], 1, 0)
        removals = sandbox.count(B2)
        rows = examine(sandbox.connect(read_only=True))
        assert outcomes(rows) == "PPPPPPPSS"
        holds(rows["Token in B"], "PASS", "B2 was skipped, as this client is read only")
        assert sandbox.count(B2) == removals


OLD = {"token_parameter": "access_tocken", "mcu_token_parameter": "token"}
# The client's dialect, the service's, and which check names which settings.
WRONG = [
    (
        {"remove_token_parameter": "accessToken", "token_parameter": "token"},
        {"signature": "raw", "hash": "md5", "list_method": "POST", "placement": "json"}
        | {"token_parameter": "token"},
        {
            "Keys": "hash=md5,signature=raw",
            "Token in B": "list_method=POST,placement=json; B2 expects the token in another form",
        },
    ),
    (
        {},
        {"hash": "sha256", "list_method": "POST", "remove_token_parameter": "accessToken", **OLD},
        {
            "Keys": "hash=sha256",
            "Token in A": "token_parameter=access_tocken",
            "Token in B": "remove_token_parameter=accessToken",
            "Media server": "mcu_token_parameter=token",
        },
    ),
    ({"hash": "sha256"}, {}, {"Keys": "hash=sha1"}),
    ({"mcu_token_parameter": "token"}, {}, {"Media server": "mcu_token_parameter=None"}),
]


@pytest.mark.parametrize(("used", "wanted", "named"), WRONG)
def test_one_run_names_all_wrong_settings_of_the_dialect(used, wanted, named):
    """The finding's advice holds all of them, as arguments and as a line that can be used."""
    used, wanted = ck.Dialect(**used), ck.Dialect(**wanted)
    with Sandbox(seed=1, dialect=wanted) as sandbox:
        room_id = ck.create_room(sandbox.connect(), "t", "ops")
        client = other(sandbox, dialect=used)
        rows = examine(client, room_id, max_failed_logins=8)
        failed = [name for name, row in rows.items() if row[0] == "FAIL"]
        assert failed == [*named, "Finding"]
        for name, settings in named.items():
            holds(rows[name], "FAIL", settings)
        advice = rows["Finding"][2]
        line = advice.partition("CONFKIT_DIALECT=")[2]
        assert ck.Dialect.parse(line) == wanted
        arguments = advice.partition("dialect=ck.")[2].partition(", or set")[0]
        assert eval(arguments, {"Dialect": ck.Dialect}) == wanted
        assert client.dialect == used


def test_refused_keys_are_looked_into_within_the_bound(sandbox):
    """At most two logins fail, and the secret is in no request."""
    client = other(sandbox, secret_key="s0me-0ther")
    rows = examine(client)
    holds(rows["Finding"], "FAIL", "Keys: A1 refuses the keys (401); refused: sha1 hex, sha1 raw;")
    holds(rows["Finding"], "FAIL", "not tried (max_failed_logins=2): sha256 hex", "confkit probe")
    assert (sandbox.count(A1), outcomes(rows)) == (2, "PPPPFSSSS")
    assert "s0me-0ther" not in str(rows) + str(client.calls)
    rows = examine(other(sandbox, secret_key="s0me-0ther"), max_failed_logins=8)
    holds(rows["Keys"], "FAIL", "so a key is probably wrong")
    assert "max_failed_logins" not in rows["Keys"][2]
    assert sandbox.count(A1) == 10


def test_a_token_that_is_held_is_not_put_at_risk(client, sandbox, script):
    """While it is accepted, or nothing says that it is not, nobody logs in; a refused one stays in
    the client, which renews it at the next call."""
    held = client.token()
    rows = examine(client)
    holds(rows["Keys"], "SKIP", "this client has a token")
    assert (outcomes(rows), sandbox.count(A1)) == ("PPPPSPPSS", 1)
    sandbox.advance(7200)
    assert examine(client)["Keys"][0] == "PASS"
    assert (sandbox.count(A1), client.token() is held) == (2, True)
    service = script(USUAL)
    client = service.client()
    client.token()
    for unclear in ({"ret": 504}, Reply(drop=True), Reply("<html>", 502)):
        service.script[A3] = [{"ret": 602}, unclear]
        assert examine(client)["Keys"][0] in ("SKIP", "UNKNOWN")
    assert service.seen[A1] == 1


ROOM = {"ret": 0, "room_id": "7", "topic": "Weekly sync", "owner_id": "ops"}
READ, SHUT = checked(ROOM), checked({**ROOM, "room_status": 3})
NO_PORT = checked({"ret": 0, "addr": f"{HERE}:1"})
LOST = Reply(drop=True)
# What answers otherwise, the check, its outcome, what it says and the next step.
FAULTS = [
    ({A3: {"ret": 700}}, A, "PASS", "answers with result code 700", ""),
    ({B3: {"ret": 0}}, B, "PASS", "result code 0, as no token", "operator"),
    ({A1: LOST}, "Keys", "FAIL", "keys could not be checked: the", "service is running"),
    ({A1: {"ret": 504}}, "Keys", "FAIL", "504: timeout", ""),
    ({A1: [{"ret": 401}, {"ret": 4711}]}, "Keys", "FAIL", "checked: authenticate", ""),
    ({A3: [{"ret": 602}, LOST]}, "Token in A", "FAIL", "closed the connection", ""),
    ({A3: {"ret": 407}}, "Token in A", "UNKNOWN", "407: parameter error", "Name a"),
    ({A3: {"ret": 602}}, "Token in A", "FAIL", "every known form: 602", "balanc"),
    ({A3: {"ret": 0}}, "Token in A", "UNKNOWN", "success, with the token", ""),
    ({B3: {"ret": 602}}, "Token in B", "FAIL", "form: 602", "that outgoing_url"),
    ({B2: {"ret": 602}}, "Token in B", "FAIL", "B2 refused the token", "provider"),
    ({B2: {"ret": 425}}, "Token in B", "UNKNOWN", "425: user does not exist, with", ""),
    ({A3: checked(404)}, "Room", "FAIL", "room 7: get room (A3)", "room"),
    ({A3: SHUT}, "Room", "PASS", "it is closed", ""),
    ({A3: READ, A5: {"ret": 410}}, "Media server", "FAIL", "410: no MCU", ""),
    ({A3: READ, A5: checked({"ret": 0})}, "Media server", "FAIL", "addr", ""),
    ({A3: READ, A5: NO_PORT}, "Media server", "FAIL", ":1 does not accept", "UDP"),
]


@pytest.mark.parametrize(("answers", "name", "outcome", "detail", "advice"), FAULTS)
def test_a_fault_is_named_by_its_check(script, answers, name, outcome, detail, advice):
    """With its next step, and the finding repeats the first failure."""
    room_id = "7" if name in ("Room", "Media server") else None
    rows = examine(script({**USUAL, **answers}).client(), room_id)
    holds(rows[name], outcome, detail, advice)
    if outcome == "FAIL":
        holds(rows["Finding"], "FAIL", f"{name}: ", rows[name][2])
        assert rows["Finding"][2]


GOAL = "https://conference.example:8443"
MOVED = Reply("", status=301, headers={"Location": f"{GOAL}{A3}?access_token=geheim99"})
GUEST = Reply("<title>Guest access</title>", kind="text/html")
SMTP = Reply(raw=lambda peer: peer.sendall(b"220 smtp\r\n"))
# The address, settings of the client, the interface, what is wrong with it and the next step.
IN_THE_WAY = [
    ("http://no-such-host.invalid:8080", {}, A, "could not resolve", "DNS or VPN"),
    ("http://h:1", {"proxy": "{closed}"}, A, "the proxy did not forward the request", "NO_PROXY"),
    ("{closed}", {}, A, "connection refused", "The setting is base_url."),
    ("{deaf}", {"wait": 0.2}, A, "no connection within 0.2 s", "longer timeout"),
    ("{tls}", {}, A, "certificate not trusted", "CONFKIT_CA_BUNDLE=ca.pem"),
    ("{tls2}", {"verify": "{bundle}"}, A, "not valid for '127.0.0.2'", ""),
    ("{tls}", {"verify": "{code}"}, A, "the CA bundle cannot be read", "CONFKIT_CA_BUNDLE"),
    ("{plain}", {}, A, "does not speak TLS on this port", "http:// instead of https://"),
    ("{guest}", {}, B, "got HTML or XML (HTTP 200): body begins '<title>Guest", "no proxy"),
    ("{moved}", {}, A, f" leads to {GOAL}{A3}: get", "configure the target address"),
    ("{smtp}", {}, A, "HTTP", "host and port are correct"),
    ("{unknown}", {}, A, "408: HTTP request not supported", ""),
]


@pytest.fixture
def world(certificate, sandbox):
    """Addresses by name, each of something that is there from when it is first named."""
    replies = {"guest": GUEST, "moved": MOVED, "smtp": SMTP, "unknown": {"ret": 408}}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    class World(dict):
        def __missing__(self, name):
            if name in replies:
                answers = dict.fromkeys((A3, B3), replies[name])
                return ending.enter_context(scripted(answers)).base_url
            if name in (A, B):
                own = (A3, A5) if name == A else (B1, B2, B3)
                answers = {path: USUAL[path] if path in own else {"ret": 408} for path in USUAL}
                return ending.enter_context(scripted(answers)).base_url
            if name.startswith("tls"):
                host = f"127.0.0.{name[3:] or 1}"
                return ending.enter_context(scripted(dict(USUAL), context, host)).base_url
            port = ending.enter_context(deaf()) if name == "deaf" else quiet_port()
            return f"http://{HERE}:{port}"

    with ExitStack() as ending:
        plain = sandbox.base_url.replace("http:", "https:")
        yield World({"bundle": str(certificate[0]), "code": __file__, "plain": plain})


@pytest.mark.parametrize(("address", "options", "bad", "detail", "advice"), IN_THE_WAY)
def test_what_stands_in_the_way_is_named_with_the_setting(
    world, address, options, bad, detail, advice
):
    """The other interface is looked at all the same, and no login is spent on what may be another
    service."""
    address, proxy = (text.format_map(world) for text in (address, options.get("proxy", "")))
    verify = options.get("verify", "").format_map(world) or True
    good = B if bad == A else A
    urls = {bad: address, good: world[good]}
    client = client_of(urls[A], urls[B], verify=verify, timeout=(options.get("wait", 5.0), 5.0))
    client.session.proxies = {"http://h": proxy} if proxy else {}
    rows = examine(client)
    holds(rows[bad], "FAIL", detail, advice)
    holds(rows["Finding"], "FAIL", f"{bad}: ", rows[bad][2])
    assert rows["Token in B"][0] == "SKIP"
    assert (rows[good][0], rows["Clock"][0]) == ("PASS", "PASS")
    assert sum(call.endpoint == "A1" for call in client.calls) == (bad == B)
    assert "geheim99" not in str(rows)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_swapped_addresses_and_paths_are_corrected_for_the_other_checks(method):
    """So that one run names all that is wrong."""
    with Sandbox(seed=1, dialect=ck.Dialect(hash="md5", list_method=method)) as sandbox:
        a, b = sandbox.base_url, sandbox.outgoing_url
        rows = examine(other(sandbox, base_url=b, outgoing_url=a))
        assert outcomes(rows) == "PFFPPPPSS"
        holds(rows[A], "FAIL", "but the other address is", f"Set base_url to {a}.")
        holds(rows[B], "FAIL", "but the other address is", f"Set outgoing_url to {b}.")
        client = other(sandbox, base_url=a + "/rtc", dialect=ck.Dialect(list_method=method))
        rows = examine(client, max_failed_logins=8)
        assert outcomes(rows) == "FPPPFPPSS"
        holds(rows["Finding"], "FAIL", "Settings: base_url ends with /rtc", f"Set base_url to {a}.")
        holds(rows["Finding"], "FAIL", "(then: Keys)")
        assert client.base_url.endswith("/rtc")


def test_the_settings_name_their_origins_and_no_key(script, monkeypatch):
    """A client that is closed cannot be asked."""
    url = script(USUAL).base_url
    monkeypatch.setenv("CONFKIT_BASE_URL", url)
    client = ck.connect(outgoing_url=url + "/b", **KEYS)
    row = examine(client)["Settings"]
    holds(row, "PASS", f"base_url (CONFKIT_BASE_URL) {url}; outgoing_url (argument) {url}/b")
    assert "demo_" not in row[1]
    client.close()
    with pytest.raises(ck.ConfigError, match="this client is closed"):
        ck.doctor(client)


CLOCKS = [
    (3, "PASS", "both clocks agree within 5 s"),
    (3600, "FAIL", "(h:mm:ss) behind the service"),
    (-3600, "FAIL", "(h:mm:ss) ahead of the service"),
    ("", "UNKNOWN", "no Date header"),
]


@pytest.mark.parametrize(("date", "outcome", "detail"), CLOCKS)
def test_the_clock(script, date, outcome, detail):
    """By the Date header, which is so many seconds ahead."""

    def send(peer):
        header = date if isinstance(date, str) else f"Date: {formatdate(time.time() + date)}\r\n"
        body = '{"ret": 602}'
        head = f"HTTP/1.1 200 OK\r\n{header}Content-Length: {len(body)}\r\n\r\n"
        peer.sendall((head + body).encode())

    rows = examine(script(dict.fromkeys((A3, B3, A1), Reply(raw=send))).client())
    holds(rows["Clock"], outcome, detail)


def test_a_service_that_hangs_costs_no_more_than_the_time_allowed(script):
    """A failure after the client's own time-outs, UNKNOWN where the time for all checks is over."""
    with socket.create_server((HERE, 0)) as listener:
        url = f"http://{HERE}:{listener.getsockname()[1]}"
        rows = examine(client_of(url, timeout=(0.2, 0.2)))
        assert outcomes(rows) == "PFFSSSSSS"
        holds(rows[A], "FAIL", "no response within 0.2 s")
        rows = examine(client_of(url, timeout=(300, 300)), timeout=0.8)
        holds(rows[A], "UNKNOWN", "no time left for all checks", "timeout=")
        holds(rows["Finding"], "UNKNOWN", "Interface A", "timeout=")
    checks = checkup(script(USUAL).client(), timeout=0.2)
    assert "PASS" in str(next(checks))
    time.sleep(0.2)
    rest = [astuple(check) for check in checks]
    assert {row[1] for row in rest} == {"UNKNOWN"}
    assert "not made: no time left" in rest[0][2]
