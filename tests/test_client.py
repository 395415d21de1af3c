"""What a client sends: token, timeouts, rate; and what is known of it afterwards: the record of the
last calls holds no secret, its curl line repeats the call, and OpenTelemetry records nothing."""

import json
import os
import shutil
import subprocess
import sys
from bisect import bisect_left
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import confkit as ck
from confkit.client import RateLimiter
from confkit.secret import MASK
from tests.conftest import need
from tests.scripted import A1, A2, A3, A5, B1, VECTOR_TOKEN, Reply
from tests.ways import ROOM


def test_the_token_travels_as_the_vector_says_and_is_encoded_once(script, monkeypatch):
    """The first call authenticates, the next ones do not; no proxy reaches this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    service = script({A3: ROOM})
    client = service.client()
    assert not service.requests
    for _ in range(2):
        ck.get_room(client, "1")
        assert VECTOR_TOKEN.replace("=", "%3D") in service.requests[-1][1]
    assert service.seen == {A1: 1, A3: 2}


def test_settings_of_a_client_take_effect_at_any_time(script):
    """B1 waits longer than the read timeout, as the service may dial a camera for 30 s."""
    slow = Reply(ROOM, delay=0.3)
    service = script({A3: slow, B1: slow})
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


DONE = {"ret": 0, "room_id": "1", "addr": "h:1", "data": {"total": 0, "items": []}}
ALL = dict.fromkeys([A2, A3, A5, B1], DONE)
TOPICS = [
    *("it's", 'say "hi"', "`id` $(id) $HOME ${HOME} !!", "back\\slash\\", "100 % + more", "@file"),
    *("日本語 😀", "#1; ls | cat > x", "{a,b}[1-3]", "two\nlines\r\n\t", "%41%2541", "***"),
]
HOST, PASSWORD = "host $`'\"\\ &%é", "qu\"o'te\\back`c $HOME 日本語"
NAMED = ("1", "cam-1", "it's \"Door\" {x} \\ '' + $HOME `id`\n")
FORM, JSON = ({"create_method": "POST", "placement": name} for name in ("form", "json"))
SHELLS = {
    "curl": (["bash", "-euo", "pipefail", "-c"], ck.Call.as_curl),
    "python": ([sys.executable, "-W", "error", "-c"], ck.Call.as_python),
}


def parsed(request):
    """Method, path and parameters, in their order; the service reads a body of JSON as a form."""
    method, path, fields = request
    body = "&".join(f"{name}={value}" if value else name for name, value in fields.items())
    values = json.loads(body) if body.startswith("{") else [*fields.items()]
    return method, urlsplit(path).path, values


@pytest.mark.parametrize("shell", SHELLS)
def test_the_lines_of_a_call_send_it_again(script, shell):
    """The same method, path and parameters, whatever a topic holds, in every dialect."""
    need("curl", shutil.which("curl") and shutil.which("bash"), "install curl and bash")
    service = script(ALL)
    client, calls = service.client(), []
    client.token()
    topics = {f"topic_{n}": topic for n, topic in enumerate(TOPICS)}
    client.call("A2", **topics, host_password=HOST, attendee_max=25, room_extend_id="007")
    calls.append((client.calls[-1], ""))
    for settings in ({}, FORM, JSON):
        client.dialect = ck.Dialect(**settings)
        login = {"login_name": "admin", "login_password": PASSWORD}
        ck.import_device(client, *NAMED, "rtsp://192.0.2.7/a?b=c&d", **login)
        calls.append((client.calls[-1], PASSWORD))
    first = [parsed(request) for request in service.requests[1:]]

    command, line_of = SHELLS[shell]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    environment |= {"CONFKIT_TOKEN": VECTOR_TOKEN, "CONFKIT_HOST_PASSWORD": HOST}
    for call, password in calls:  # the password as JSON writes it
        environment["CONFKIT_CAMERA_PASSWORD"] = json.dumps(password, ensure_ascii=False)[1:-1]
        subprocess.run([*command, line_of(call)], check=True, timeout=60, env=environment)
    assert [parsed(request) for request in service.requests[1 + len(first) :]] == first


def test_a_call_records_what_was_sent_and_the_response(script):
    """The URL is the one that travelled but for its masks, percent-encoded once."""
    service = script({A2: DONE, A3: {"ret": 404, "msg": "gone"}})
    client = service.client()
    ck.create_room(client, "a b+c%20d&e=ü", "ops")
    with pytest.raises(ck.RoomNotFound) as raised:
        ck.get_room(client, "1")
    call, failed = client.calls[-2:]
    assert (call.endpoint, call.ret) == ("A2", 0)
    assert (failed.ret, failed.error) == (404, str(raised.value))
    sent = service.requests[-2][1]
    assert "topic=a%20b%2Bc%2520d%26e%3D%C3%BC&" in sent
    assert call.url == service.base_url + sent.replace(VECTOR_TOKEN.replace("=", "%3D"), MASK)


def test_the_record_of_a_bug_in_a_hook_holds_no_secret(script):
    """The bug is raised as it is, the record of the call masks what it quotes."""
    client = script(ALL).client()
    client.token()

    def broken(response, **_):
        raise KeyError(response.url)

    client.session.hooks["response"].append(broken)
    with pytest.raises(KeyError):
        ck.get_room(client, "1")
    assert f"access_token={MASK}" in client.calls[-1].error


# In a process of its own: what the instrumentations change in requests and urllib3 stays so.
PROGRAM = """
import requests
from opentelemetry import trace
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import confkit as ck
from confkit.sandbox import Sandbox

provider, exporter = TracerProvider(), InMemorySpanExporter()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
RequestsInstrumentor().instrument()
URLLib3Instrumentor().instrument()
with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
    room_id = ck.create_room(client, "Weekly sync", "ops")
    ck.sweep(client, [room_id])
    client.session.hooks["response"].append(lambda *_, **__: None)  # has no counterpart in libcurl
    ck.sweep(client, [room_id])
    requests.get(sandbox.base_url + "/own")
print([span.attributes["http.url"][-4:] for span in exporter.get_finished_spans()])
"""


def test_opentelemetry_records_no_call_of_confkits():
    """Whichever way it was sent; a request of one's own has its span."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, text=True, timeout=110, capture_output=True)
    assert (done.returncode, done.stdout) == (0, "['/own']\n"), done.stderr
