"""OpenTelemetry and Sentry see nothing of confkit's calls, and all else as ever."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# In a process of its own: what the instrumentations change in requests and http.client stays so.
PROGRAM = """
import json, re, sys
import requests, sentry_sdk
from opentelemetry import trace
import confkit as ck
from confkit.sandbox import Sandbox
from tests.secrets.traced import Recorders

recorders, seen = Recorders(), {}
sandbox = Sandbox(seed=1).start()
client = sandbox.connect(sleep=lambda _: None)
hook = client.session.hooks["response"]

def record(name, action):
    recorders.taken()
    asked = sandbox.count()
    error = None
    with trace.get_tracer("theirs").start_as_current_span("theirs"):
        try:
            action()
        except Exception as raised:
            error = raised
    spans, sent = recorders.taken(error)
    seen[name] = {
        "asked": sandbox.count() - asked,
        "spans": [span["attributes"] for span in spans if span["name"] != "theirs"],
        "breadcrumbs": sent[-2]["breadcrumbs"]["values"] if "breadcrumbs" in sent[-2] else [],
        "sentry spans": sent[-1]["spans"],
    }

def sweep():
    assert not ck.sweep(client, [room_id], progress=False).failures

def in_threads():
    hook.append(lambda *_, **__: None)  # has no counterpart in libcurl
    sweep()
    hook.clear()

def unreached():
    with ck.connect(base_url="http://127.0.0.1:9", outgoing_url="http://127.0.0.1:9",
                    access_key="a", secret_key="s", timeout=1) as gone:
        try:
            ck.get_room(gone, "1")
        finally:
            requests.get(sandbox.base_url + "/own?x=1")

room_id = ck.create_room(client, "Weekly sync", "ops", host_password="Left7Right9")
record("one", lambda: ck.create_room(client, "Weekly sync", "ops", host_password="Left7Right9"))
record("refused", lambda: ck.get_room(client, "no-such"))
sandbox.fault("/rtc/room/get", http=503, body="no", times=1)
record("retried", lambda: ck.get_room(client, room_id))
record("by libcurl", sweep)
record("in threads", in_threads)
record("unreached", unreached)
client.session = requests.Session()
record("their session", lambda: ck.get_room(client, room_id))
record("their request", lambda: requests.get(sandbox.base_url + "/own?token=Left7Right9"))
snippet = re.search(r"(    import sentry_sdk\\n.*?\\n    \\)\\n)", sys.stdin.read(), re.S)[1]
init = sentry_sdk.init
sentry_sdk.init = lambda dsn, **given: init(**recorders.options, **given)
exec(re.sub("(?m)^    ", "", snippet))
record("with the hook", lambda: requests.get(sandbox.base_url + "/own?token=Left7Right9"))
print(json.dumps(seen))
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


@pytest.mark.parametrize(
    "case",
    ["one", "refused", "retried", "by libcurl", "in threads", "their session"],
)
def test_nothing_records_a_call_of_confkits(seen, case):
    """Neither OpenTelemetry's instrumentations of requests and urllib3 nor Sentry's of http.client,
    whichever way it was sent, also through a session of somebody's own."""
    assert seen[case]["asked"] > 0
    assert not any(seen[case][kind] for kind in ("spans", "breadcrumbs", "sentry spans"))


@pytest.mark.parametrize("case", ["unreached", "their request"])
def test_what_is_not_confkits_is_recorded_as_ever(seen, case):
    """A request of one's own, also right after a call that failed, has its instrumentation's span
    and Sentry's breadcrumb."""
    [span] = seen[case]["spans"]
    assert "/own?" in span["http.url"]
    assert [crumb["category"] for crumb in seen[case]["breadcrumbs"]] == ["httplib"]


def test_the_hook_of_security_md_masks_what_is_not_confkits(seen):
    """With the hook that SECURITY.md shows, a token in a request of one's own is masked in Sentry's
    breadcrumbs and spans; without it, it shows."""
    for case, shows in (("their request", True), ("with the hook", False)):
        recorded = seen[case]["breadcrumbs"], seen[case]["sentry spans"]
        assert all(recorded)
        assert ("Left7Right9" in json.dumps(recorded)) is shows
