"""Client.call: token, retries, timeouts and rate, against a service with scripted responses."""

import threading
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.client import RateLimiter
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, VECTOR_TOKEN, Reply

ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}


def test_the_token_travels_as_the_vector_says_and_is_encoded_once(script):
    """The first call authenticates, the next ones do not."""
    service = script({GET_ROOM: ROOM})
    client = service.client()
    assert not service.requests
    for _ in range(2):
        ck.get_room(client, "1")
        assert VECTOR_TOKEN.replace("=", "%3D") in service.requests[-1][1]
    assert service.seen == {AUTHENTICATE: 1, GET_ROOM: 2}


def test_sixty_four_threads_with_an_expired_token_authenticate_once(script):
    """Although the service returns the same random and key again."""
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
        topics = pool.map(lambda _: ck.get_room(client, "1").topic, range(64))
        assert list(topics) == ["Weekly sync"] * 64
    assert service.seen == {AUTHENTICATE: 2, GET_ROOM: 128}


READS = [lambda client: ck.get_room(client, "1"), lambda client: ck.sweep(client, ["1", "2"])]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("answer", [{"ret": 602}, {"ret": 0}], ids=str)
def test_whatever_a1_answers_an_error_comes(script, read, answer):
    """602 too, which of any other call says that its token has expired: nothing hangs."""
    client = script({AUTHENTICATE: answer}).client()
    with ThreadPoolExecutor(1) as caller:
        failure = caller.submit(read, client).exception(timeout=20)
    assert isinstance(failure, ck.ConfkitError)
    assert "A1" in str(failure)


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        ({"ret": 504}, 3),
        (Reply(drop=True), 3),
        (Reply('{"ret": 0, "to', length=99), 3),
        ({"ret": 404}, 1),
    ],
)
def test_a_read_is_tried_three_times_where_that_may_help(script, reply, times):
    """After 0.1 to 0.3 s, then twice that."""
    service, pauses = script({GET_ROOM: reply}), []
    with pytest.raises(ck.ConfkitError):
        ck.get_room(service.client(sleep=pauses.append), "1")
    assert service.seen[GET_ROOM] == times
    assert all(0.1 * n <= pause <= 0.3 * n for n, pause in enumerate(pauses, 1))
    assert len({*pauses}) == times - 1
    service.script[GET_ROOM] = [reply] * (times - 1) + [ROOM]
    assert ck.get_room(service.client(), "1").topic == "Weekly sync"


def http_date(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (lambda: "2", 2, 3),
        (lambda: http_date(9), 3, 10),
        (lambda: "soon", 0, 1),
        (lambda: "3600", 3590, None),
    ],
)
def test_a_read_waits_as_long_as_the_service_asks(script, header, least, most):
    """A Retry-After beyond the read timeout is raised at once, and named."""
    waited = []
    service = script({GET_ROOM: lambda _: Reply("busy", 503, headers={"Retry-After": header()})})
    with pytest.raises(ck.ProtocolError) as caught:
        ck.get_room(service.client(sleep=waited.append), "1")
    assert service.seen[GET_ROOM] == (3 if most else 1)
    assert all(least <= seconds <= most for seconds in waited)
    if not most:
        assert caught.value.retry_after >= least
        assert "s (Retry-After)" in str(caught.value)


def test_settings_of_a_client_take_effect_at_any_time(script):
    """B1 waits longer than the read timeout, as the service may dial a camera for 30 s."""
    importing = "/avd/api/outgoing/createOutgoingUser"
    slow = Reply(ROOM, delay=0.3)
    service = script({GET_ROOM: slow, importing: slow})
    client = service.client()
    ck.get_room(client, "1")
    client.timeout = 0.1
    with pytest.raises(ck.TransportTimeout, match=r"0\.1 s"):
        ck.get_room(client, "1")
    assert ck.import_device(client, "1", "cam", "Door", "rtsp://192.0.2.7/x").user_id == "cam"
    client.timeout, client.read_only = (1, 5), True
    ck.get_room(client, "1")
    with pytest.raises(ck.ReadOnlyError):
        ck.delete_room(client, "1")
    with pytest.raises(ck.ConfigError, match="timeout"):
        client.timeout = 0


@given(
    rate=st.integers(1, 20) | st.floats(0.05, 20),
    rests=st.lists(st.floats(0, 3), min_size=2, max_size=60),
)
@example(rate=100, rests=[0.0] * 300)
@example(rate=5, rests=[*[0.0] * 9, 60, *[0.0] * 10])
def test_in_any_second_max_rate_requests_leave_at_most(rate, rests):
    """Whatever the rhythm of the caller; no burst makes up for a rest."""
    now, times = [1000.0], []  # a clock that stands still until somebody sleeps
    limiter = RateLimiter(rate, lambda: sum(now))
    for rest in rests:
        assert limiter.acquire(now.append)
        times.append(sum(now))
        now.append(rest)
    assert times[0] == 1000
    for seconds, most in ((1.0, max(1, rate)), (min(1, 1 / rate), 1)):
        for start in times:
            assert bisect_left(times, start + seconds) - bisect_left(times, start) <= most
