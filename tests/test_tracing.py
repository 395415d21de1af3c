"""Calls show in a trace, each once and masked, and what is not confkit's is traced as ever."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# In a process of its own: what the instrumentations change in requests and http.client stays so.
PROGRAM = """
import json, re, sys
from concurrent.futures import ThreadPoolExecutor
import requests, sentry_sdk
from opentelemetry import trace
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk.trace import SpanProcessor
import confkit as ck
from confkit.sandbox import Sandbox
from tests.secrets.traced import Recorders

recorders, told = Recorders(), {}
sandbox = Sandbox(seed=1).start()
client = sandbox.connect(sleep=lambda _: None)
hook = client.session.hooks["response"]

def seen(name, action):
    recorders.taken()
    before = client.calls
    with trace.get_tracer("theirs").start_as_current_span("theirs") as around:
        try:
            error = None
            action()
        except Exception as raised:
            error = raised
    spans, sent = recorders.taken(error)
    number = f"0x{around.get_span_context().span_id:016x}"
    told[name] = {
        "spans": [
            {"name": span["name"], "kind": span["kind"], "status": span["status"],
             "beneath": span["parent_id"] == number, **span["attributes"]}
            for span in spans if span["name"] != "theirs"
        ],
        "calls": [[call.url, call.status, call.error] for call in client.calls
                  if not any(call is one for one in before)],
        "breadcrumbs": sent[-2]["breadcrumbs"]["values"] if "breadcrumbs" in sent[-2] else [],
        "sentry spans": sent[-1]["spans"],
        "error": error and f"{type(error).__name__}: {error}",
    }

def sweep(**more):
    found = ck.sweep(client, [room_id, "no-such"], progress=False, **more)
    assert found.requests == 5, found

def in_threads():
    hook.append(lambda *_, **__: None)  # has no counterpart in libcurl
    sweep()
    hook.clear()

def renewed():
    sandbox.advance(10**6)
    sweep_of_expired = ck.sweep(client, [room_id], progress=False)
    assert not sweep_of_expired.failures

def unreached():
    with ck.connect(base_url="http://127.0.0.1:9", outgoing_url="http://127.0.0.1:9",
                    access_key="a", secret_key="s", timeout=1) as gone:
        try:
            ck.get_room(gone, "1")
        finally:
            requests.get(sandbox.base_url + "/own?x=1")

def suppressed():
    with suppress_instrumentation():
        ck.get_room(client, room_id)

class Broken(SpanProcessor):
    def on_end(self, span):
        if span.name != "theirs":
            raise RuntimeError("a processor that fails")

def broken():
    recorders.provider.add_span_processor(Broken())
    sentry_sdk.init(**recorders.options, before_breadcrumb=lambda crumb, hint: 1 / 0)
    ck.get_room(client, room_id)

room_id = ck.create_room(client, "Weekly sync", "ops", host_password="Left7Right9")
seen("one", lambda: ck.create_room(client, "Weekly sync", "ops", host_password="Left7Right9"))
seen("refused", lambda: ck.get_room(client, "no-such"))
sandbox.fault("/rtc/room/get", http=503, body="no", times=1)
seen("retried", lambda: ck.get_room(client, room_id))
seen("unreached", unreached)
seen("by libcurl", sweep)
seen("more than are kept", lambda: ck.sweep(client, map(str, range(150)), progress=False))
seen("in threads", in_threads)
seen("on an executor", lambda: sweep(executor=ThreadPoolExecutor(2)))
seen("renewed", renewed)
seen("suppressed", suppressed)
client.session = requests.Session()
seen("their session", lambda: ck.get_room(client, room_id))
seen("their request", lambda: requests.get(sandbox.base_url + "/own?token=Left7Right9"))
snippet = re.search(r"(    import sentry_sdk\\n.*?\\n    \\)\\n)", sys.stdin.read(), re.S)[1]
init = sentry_sdk.init
sentry_sdk.init = lambda dsn, **given: init(**recorders.options, **given)
exec(re.sub("(?m)^    ", "", snippet))
sentry_sdk.init = init
seen("with the hook", lambda: requests.get(sandbox.base_url + "/own?token=Left7Right9"))
seen("broken", broken)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def seen():
    """What was recorded of each case of PROGRAM."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        cwd=ROOT,
        text=True,
        timeout=110,
        input=(ROOT / "SECURITY.md").read_text("utf-8"),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


SINGLE = ("one", "refused", "retried", "their session")
ALL = (*SINGLE, "by libcurl", "in threads", "on an executor", "renewed")


def test_each_call_is_one_masked_span_beneath_the_callers(seen):
    """Alone, tried again, in a sweep by libcurl, in threads or on an executor, after a token was
    renewed, and through a session of somebody's own: each call is one span with its masked URL."""
    for case in ALL:
        calls, spans = seen[case]["calls"], seen[case]["spans"]
        assert calls
        assert sorted(span["url.full"] for span in spans) == sorted(url for url, *_ in calls)
        for span in spans:
            assert span["beneath"], case
            assert span["kind"] == "SpanKind.CLIENT"
            assert "=***" in span["url.full"]
            assert span["name"] == f"GET {re.sub('.*:[0-9]+|[?].*', '', span['url.full'])}"


def test_a_sweep_of_more_calls_than_are_kept_has_a_span_of_each(seen):
    """Of a sweep with more calls than `client.calls` keeps none is missing in the trace."""
    assert len(seen["more than are kept"]["calls"]) <= 200
    assert len(seen["more than are kept"]["spans"]) == 2 * 150 + 1


def test_a_span_says_what_came_of_its_call(seen):
    """A span holds method, server, status and result code; a call that failed is an error with its
    text, and one that got no answer has no status."""
    (made,), (refused,) = seen["one"]["spans"], seen["refused"]["spans"]
    assert (made["http.request.method"], made["server.address"]) == ("GET", "127.0.0.1")
    assert (made["http.response.status_code"], made["confkit.ret"]) == (200, "0")
    assert (made["confkit.call"], made["status"]) == ("A2", {"status_code": "UNSET"})
    assert refused["confkit.ret"] == "404"
    assert refused["status"]["status_code"] == "ERROR"
    assert refused["status"]["description"] == seen["refused"]["calls"][0][2]
    assert len(seen["retried"]["spans"]) == 2
    unreached = [span for span in seen["unreached"]["spans"] if "url.full" in span]
    assert len(unreached) == 3
    assert all("http.response.status_code" not in span for span in unreached)


def test_what_is_not_confkits_is_traced_as_ever(seen):
    """A request of one's own, also right after a call that failed, has its instrumentation's span
    and Sentry's breadcrumb."""
    for case in ("unreached", "their request"):
        own = [span for span in seen[case]["spans"] if "/own?" in span.get("http.url", "")]
        assert len(own) == 1, case
        assert "httplib" in [crumb["category"] for crumb in seen[case]["breadcrumbs"]]


def test_who_suppresses_instrumentation_gets_no_span(seen):
    """Around a call that its caller keeps out of traces there is none of confkit's either."""
    assert seen["suppressed"]["calls"]
    assert seen["suppressed"]["spans"] == []


def test_sentry_gets_one_masked_breadcrumb_and_span_of_a_single_call(seen):
    """A single call is one breadcrumb and one span in Sentry, with its masked URL; a sweep pushes
    no other breadcrumbs out."""
    for case in SINGLE:
        urls = [url for url, *_ in seen[case]["calls"]]
        crumbs, spans = seen[case]["breadcrumbs"], seen[case]["sentry spans"]
        assert [crumb["data"]["url"] for crumb in crumbs] == urls
        assert [span["data"]["url"] for span in spans] == urls
        assert {crumb["category"] for crumb in crumbs} == {"confkit"}
    assert [crumb["level"] for crumb in seen["one"]["breadcrumbs"]] == ["info"]
    assert [crumb["level"] for crumb in seen["retried"]["breadcrumbs"]] == ["error", "info"]
    assert seen["refused"]["breadcrumbs"][0]["message"] == seen["refused"]["calls"][0][2]
    for case in ("by libcurl", "in threads", "on an executor"):
        assert seen[case]["breadcrumbs"] == []


def test_the_hook_of_security_md_masks_what_is_not_confkits(seen):
    """With the hook that SECURITY.md shows, a token in a request of one's own is masked in Sentry's
    breadcrumbs and spans; without it, it shows."""
    for case, shows in (("their request", True), ("with the hook", False)):
        found = seen[case]["breadcrumbs"], seen[case]["sentry spans"]
        assert all(found)
        assert ("Left7Right9" in json.dumps(found)) is shows


def test_a_recorder_that_fails_is_no_failure_of_the_call(seen):
    """A span processor or a hook of Sentry's that raises leaves the call as it was."""
    assert seen["broken"]["error"] is None
    assert [status for _, status, _ in seen["broken"]["calls"]] == [200]


def test_neither_library_is_loaded_by_confkit():
    """Calls, alone and many at once, load neither OpenTelemetry nor Sentry."""
    code = (
        "import sys, confkit as ck\n"
        "with ck.connect('sandbox') as client:\n"
        "    ck.sweep(client, [ck.create_room(client, 't', 'ops')], progress=False)\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'sentry'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
