"""OpenTelemetry records nothing of confkit's calls, and all else as ever."""

import subprocess
import sys

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
