"""Client.call: token, retries, timeouts and rate, against a service with scripted responses."""

from bisect import bisect_left

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.client import RateLimiter
from tests.scripted import AUTHENTICATE, GET_ROOM, VECTOR_TOKEN, Reply

ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}


def test_the_token_travels_as_the_vector_says_and_is_encoded_once(script, monkeypatch):
    """The first call authenticates, the next ones do not; no proxy reaches this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    service = script({GET_ROOM: ROOM})
    client = service.client()
    assert not service.requests
    for _ in range(2):
        ck.get_room(client, "1")
        assert VECTOR_TOKEN.replace("=", "%3D") in service.requests[-1][1]
    assert service.seen == {AUTHENTICATE: 1, GET_ROOM: 2}


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
    client.read_only = True
    with pytest.raises(ck.ReadOnlyError):
        ck.delete_room(client, "1")
    for seconds in (0, 1e10):
        with pytest.raises(ck.ConfigError, match="timeout"):
            client.timeout = seconds
    with pytest.raises(ck.ConfigError, match=r"'a3'.*A1, A2"):
        client.call("a3")


@given(
    rate=st.integers(1, 20) | st.floats(0.05, 20),
    rests=st.lists(st.floats(0, 3), min_size=2, max_size=60),
)
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
