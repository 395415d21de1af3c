"""Client.call: token, retries, time-outs and rate, against a service with scripted answers."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

import confkit as ck
from tests.commands import interrupted
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, VECTOR_TOKEN, Reply

ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}


def test_the_token_travels_as_the_vector_says_and_is_encoded_once(script):
    """A client is made without a request; the first call authenticates, the next ones do not. The
    token of the published vector stands in the URL with `=` as %3D."""
    service = script({GET_ROOM: ROOM})
    client = service.client()
    assert not service.requests
    for _ in range(2):
        ck.get_room(client, "1")
        _, path, query = service.requests[-1]
        assert query["access_token"] == VECTOR_TOKEN
        assert VECTOR_TOKEN.replace("=", "%3D") in path
    assert service.seen == {AUTHENTICATE: 1, GET_ROOM: 2}


def test_sixty_four_threads_with_an_expired_token_authenticate_once(script):
    """All threads that meet 602 wait for one A1 and repeat their call with its token, although the
    service hands out the same random and key again."""
    service = script()
    client = service.client()
    client.token()
    all_refused, refused = threading.Event(), []

    def room(query):
        if all_refused.is_set():
            return ROOM
        refused.append(query)
        if len(refused) == 64:
            all_refused.set()
        return {"ret": 602}

    def renewed(_):
        all_refused.wait(30)  # until then nobody has another token
        return Reply(GRANTED, delay=0.2)  # in which they come for one

    service.script |= {AUTHENTICATE: renewed, GET_ROOM: room}
    with ThreadPoolExecutor(64) as pool:
        read = pool.map(lambda _: ck.get_room(client, "1").topic, range(64))
        assert list(read) == ["Weekly sync"] * 64
    assert service.seen[AUTHENTICATE] == 2  # the first token, and one renewal
    assert service.seen[GET_ROOM] == 128


def test_sixty_four_threads_share_one_refusal(script):
    """When the keys are wrong, threads that wait together get the error of one A1."""
    service = script({AUTHENTICATE: Reply({"ret": 401}, delay=0.5)})
    client = service.client()
    barrier = threading.Barrier(64)

    def read(_):
        barrier.wait()
        with pytest.raises(ck.AuthenticationFailed):
            ck.get_room(client, "1")

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(read, range(64)))
    assert service.seen[AUTHENTICATE] == 1


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        *(({"ret": ret}, 3) for ret in (504, "503")),
        (Reply("busy", status=503), 3),
        (Reply("slow down", status=429), 3),
        (Reply({"ret": 700}, status=500), 3),
        (Reply(drop=True), 3),
        (Reply('{"ret": 0, "to', length=99), 3),
        ({"ret": 404}, 1),
        (Reply("<html>"), 1),
        (Reply("<html>", status=403), 1),
    ],
)
def test_a_read_is_tried_three_times_where_that_may_help(script, reply, times):
    """Connection faults, 5xx and codes that mean "try again" cost a read two more tries; a result
    code or page that trying again cannot fix is raised at once. Who has seeded `random` gets the
    same numbers."""
    service, seeded = script({GET_ROOM: reply}), random.getstate()
    with pytest.raises(ck.ConfkitError):
        ck.get_room(service.client(), "1")
    assert service.seen[GET_ROOM] == times
    assert random.getstate() == seeded
    service.script[GET_ROOM] = [reply] * (times - 1) + [ROOM]
    assert ck.get_room(service.client(), "1").topic == "Weekly sync"


def test_pauses_between_tries_grow_and_are_jittered(script):
    """Pauses are 0.1 to 0.3 s, then twice that, and differ from client to client."""
    pauses = []
    service = script({GET_ROOM: Reply(drop=True)})
    for _ in range(5):
        with pytest.raises(ck.TransportError):
            ck.get_room(service.client(sleep=pauses.append), "1")
    assert all(0.1 <= pause <= 0.3 for pause in pauses[::2])
    assert all(0.2 <= pause <= 0.6 for pause in pauses[1::2])
    assert len({*pauses}) == 10


def test_what_cannot_be_sent_is_refused(script):
    """A parameter that cannot be written as text or JSON is a ParameterError of ours; after close()
    a call is refused with a sentence, not sent."""
    service = script()
    client = service.client()
    client._token.value = "known"
    for value in ("\ud800", {"a": ["\udfff"]}, object(), float("nan")):
        for ask in (client.call, lambda key, **fields: client.ask_once(key, fields)):
            with pytest.raises(ck.ParameterError, match=r"room_id.*Nothing was sent"):
                ask("A3", room_id=value)
    client.close()
    for ask in (client.call, client.ask_once):
        with pytest.raises(ck.ConfigError, match="closed"):
            ask("A3")
    assert service.seen == {}


def test_an_import_may_take_as_long_as_the_service_dials(script):
    """B1 waits longer than the read time-out, because the service may dial a camera for 30 s."""
    path = "/avd/api/outgoing/createOutgoingUser"
    service = script({path: Reply({"ret": 0, "data": {}}, delay=0.5)})
    client = service.client(timeout=(1, 0.1))
    client._token.value = "known"
    device = ck.import_device(client, "1", "cam", "Door", "rtsp://192.0.2.7/stream1")
    assert device.user_id == "cam"


def test_settings_of_a_client_take_effect_at_any_time(script):
    """timeout, max_rate and read_only are set as in connect(); what is none of them is refused."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.3)})
    client = service.client()
    ck.get_room(client, "1")
    client.timeout = 0.1
    assert client.timeout == (0.1, 0.1)
    with pytest.raises(ck.TransportTimeout, match=r"0\.1 s"):
        ck.get_room(client, "1")
    client.timeout, client.max_rate, client.read_only = (1, 5), 4, True
    began = time.monotonic()
    for _ in range(2):
        ck.get_room(client, "1")
    assert time.monotonic() - began >= 0.6
    with pytest.raises(ck.ReadOnlyError):
        ck.delete_room(client, "1")
    for name, value in (("timeout", 0), ("timeout", "soon"), ("max_rate", 0), ("max_rate", "5")):
        with pytest.raises(ck.ConfigError, match=name):
            setattr(client, name, value)
    client.max_rate = None
    assert client.max_rate is None


def test_max_rate_bounds_what_leaves(script):
    """Each request but the first waits for its time, a login and a try more among them."""
    waited = []
    service = script({GET_ROOM: [Reply("busy", status=503), ROOM]})
    client = service.client(max_rate=0.1, sleep=waited.append)
    ck.get_room(client, "1")
    login, pause, again = waited
    assert 9 < login < 11
    assert 0.1 <= pause <= 0.3
    assert 19 < again < 21


def http_date(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("header", "status", "least", "most"),
    [
        (lambda: "2", 503, 2, 3),
        (lambda: "2", 429, 2, 3),
        (lambda: http_date(9), 503, 3, 10),
        *((lambda text=text: text, 503, 0, 1) for text in ("0", "soon", "-5")),
        (lambda: http_date(-60), 503, 0, 1),
        (lambda: "2", 502, 0, 1),
    ],
)
def test_a_read_waits_as_long_as_the_service_asks(script, header, status, least, most):
    """Retry-After of HTTP 429 and 503, in seconds or as a date, counts beside our own pause; what
    cannot be read, and that of another status, does not count."""
    waited = []
    service = script({GET_ROOM: lambda _: Reply("busy", status, headers={"Retry-After": header()})})
    with pytest.raises(ck.ProtocolError):
        ck.get_room(service.client(sleep=waited.append), "1")
    assert service.seen[GET_ROOM] == 3
    assert all(least <= seconds <= most for seconds in waited)


@pytest.mark.parametrize("header", [lambda: "3600", lambda: http_date(3600)])
def test_a_time_beyond_the_read_time_out_is_raised_at_once(script, header):
    """And the error names it."""
    service = script({GET_ROOM: lambda _: Reply("busy", 429, headers={"Retry-After": header()})})
    with pytest.raises(ck.ProtocolError, match=r"wait [\d,]+ s \(Retry-After\)") as caught:
        ck.get_room(service.client(), "1")
    assert caught.value.retry_after >= 3590
    assert service.seen[GET_ROOM] == 1


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(script, monkeypatch):
    """HTTP_PROXY does not stand between the client and a service on the loopback."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ck.get_room(script({GET_ROOM: ROOM}).client(), "1").topic == "Weekly sync"


def test_a_call_that_was_interrupted_is_on_record(script):
    """Ctrl-C during a call ends it at once, and the record says that it was sent."""
    over = threading.Event()
    service = script({GET_ROOM: lambda _: over.wait(60)})
    code = """
import sys
import confkit as ck
client = ck.Client(sys.argv[1], sys.argv[1], "demo_access", "demo_secret", timeout=90)
try:
    ck.get_room(client, "1")
except KeyboardInterrupt:
    print(client.calls[-1].endpoint, client.calls[-1].error)
"""
    done = interrupted(code, service.base_url, begun=lambda: service.seen[GET_ROOM])
    over.set()
    assert (done.returncode, done.stdout) == (0, "A3 KeyboardInterrupt\n"), done.stderr


def test_an_answer_about_another_room_is_refused(script):
    """A room that was not asked for is a ProtocolError, unless it has the asked ID of its own."""
    service = script({GET_ROOM: {"ret": 0, "room_id": "other"}})
    with pytest.raises(ck.ProtocolError, match="asked for room 'mine'"):
        ck.get_room(service.client(), "mine")
    service.script[GET_ROOM] = {"ret": 0, "room_id": "7", "room_extend_id": "mine"}
    assert ck.get_room(service.client(), "mine").room_id == "7"


def test_threads_keep_their_connections(script):
    """Sixteen threads that call twice at the same moment open sixteen connections, and A1 one."""
    service = script({GET_ROOM: Reply(ROOM, delay=0.2)})
    client = service.client()
    client.token()
    with ThreadPoolExecutor(16) as pool:
        for _ in range(2):
            list(pool.map(lambda _: ck.get_room(client, "1"), range(16)))
    assert service.seen[GET_ROOM] == 32
    assert service.connections <= 17


@pytest.mark.parametrize("ask", ["get_room", "sweep", "threads", "executor"])
@pytest.mark.parametrize(
    "answer",
    [{"ret": 602}, {"ret": 401}, {"ret": 0}, {"ret": 0, "random": "", "key": ""}, Reply("[]")],
    ids=str,
)
def test_whatever_a1_answers_an_error_comes(script, ask, answer):
    """602 too, which says of any other call that its token has expired: nobody waits for ever."""
    client = script({AUTHENTICATE: answer}).client()
    with ThreadPoolExecutor(4) as pool:
        calls = {
            "get_room": lambda: ck.get_room(client, "1"),
            "sweep": lambda: ck.sweep(client, ["1", "2"]),
            "threads": lambda: list(pool.map(lambda n: ck.get_room(client, n), "1234")),
            "executor": lambda: ck.sweep(client, ["1", "2"], executor=pool),
        }
        with ThreadPoolExecutor(1) as caller:
            failure = caller.submit(calls[ask]).exception(timeout=20)
    assert isinstance(failure, ck.ConfkitError)
    assert "A1" in str(failure)
