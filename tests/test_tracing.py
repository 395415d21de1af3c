"""OpenTelemetry records nothing of confkit's calls, and all else as ever; SECURITY.md's hook masks
what other tools record."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# In a process of its own: what the instrumentations change in requests and urllib3 stays so.
PROGRAM = """
import json
import requests
from opentelemetry import trace
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import confkit as ck
from confkit.sandbox import Sandbox

provider, exporter, spans = TracerProvider(), InMemorySpanExporter(), {}
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
RequestsInstrumentor().instrument()
URLLib3Instrumentor().instrument()
sandbox = Sandbox(seed=1).start()
client = sandbox.connect(sleep=lambda _: None)
hook = client.session.hooks["response"]

def record(name, action):
    try:
        action()
    except ck.ConfkitError:
        pass
    spans[name] = [dict(span.attributes) for span in exporter.get_finished_spans()]
    exporter.clear()

def by_the_session():
    hook.append(lambda *_, **__: None)  # has no counterpart in libcurl
    ck.sweep(client, [room_id])
    hook.clear()

def unreached():
    address = "http://127.0.0.1:9"
    try:
        ck.get_room(ck.Client(address, address, "a", "s", timeout=1), "1")
    finally:
        requests.get(sandbox.base_url + "/own?x=1")

room_id = ck.create_room(client, "Weekly sync", "ops")
record("change", lambda: ck.create_room(client, "Weekly sync", "ops"))
record("libcurl", lambda: ck.sweep(client, [room_id]))
record("session", by_the_session)
record("their own", unreached)
print(json.dumps(spans))
"""


def test_opentelemetry_records_no_call_of_confkits():
    """Whichever way it was sent; a request of one's own, also right after a call that failed, has
    its span."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, cwd=ROOT, text=True, timeout=110, capture_output=True)
    assert done.returncode == 0, done.stderr
    spans = json.loads(done.stdout.splitlines()[-1])
    [span] = spans.pop("their own")
    assert "/own?" in span["http.url"]
    assert spans == {"change": [], "libcurl": [], "session": []}
