"""OpenTelemetry and Sentry as people set them up, and all that they record.

To be used in a process of its own: what these libraries change in others stays changed.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

import sentry_sdk
from opentelemetry import trace
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

from tests.secrets import drives
from tests.secrets.given import driven
from tests.secrets.worlds import world


class Kept(Transport):
    """Keeps what would be sent to Sentry."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[Any] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        """Keeps what an envelope holds, as it would be sent."""
        self.items += [json.loads(item.get_bytes()) for item in envelope.items]


class Recorders:
    """Both libraries, set up once in this process, and what they have recorded."""

    def __init__(self) -> None:
        self.provider, self._spans = TracerProvider(), InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._spans))
        trace.set_tracer_provider(self.provider)
        RequestsInstrumentor().instrument()
        URLLib3Instrumentor().instrument()
        self.sent = Kept()
        self.options = {
            "dsn": "http://key@127.0.0.1:9/1",
            "transport": self.sent,
            "traces_sample_rate": 1.0,
        }
        sentry_sdk.init(**self.options)
        self.begin()

    def begin(self) -> None:
        """Opens a transaction of Sentry's, without breadcrumbs."""
        self._transaction = sentry_sdk.start_transaction(name="drive")
        self._transaction.__enter__()

    def taken(self, failure: BaseException | None = None) -> tuple[list[Any], list[Any]]:
        """The spans of OpenTelemetry and what was sent to Sentry since this was asked before, with
        a report of this failure, and one that brings the breadcrumbs along."""
        if failure is not None:
            sentry_sdk.capture_exception(failure)
        sentry_sdk.capture_message("breadcrumbs")
        self._transaction.__exit__(None, None, None)
        spans = [json.loads(span.to_json()) for span in self._spans.get_finished_spans()]
        sent = list(self.sent.items)
        self._spans.clear()
        self.sent.items.clear()
        sentry_sdk.get_isolation_scope().clear_breadcrumbs()
        self.begin()
        return spans, sent


def main(folder: str) -> None:
    """Prints what was wrong, by the name of the drive, what shows of a request that is not
    confkit's, and of how many frames the locals were recorded."""
    recorders, texts = Recorders(), list[str]()
    wrong: dict[str, Any] = {}
    control: list[str] = []

    def recorded(failure: BaseException | None) -> str:
        texts.append(json.dumps(recorders.taken(failure)))
        return texts[-1]

    asked = {kind.__name__: drives.CONFKIT[kind.__name__] for kind in drives.ERRORS}
    asked |= drives.HOSTILE_DRIVES
    few = {name: drives.CONFKIT[name] for name in ("get_room", "import_device", "sweep")}
    for name, chosen in {"sandbox": asked, "code": few, "redirect": few, "cut": few}.items():
        own = Path(folder, name)
        own.mkdir()
        with world(name, own, random.Random(7)) as made:
            wrong |= driven(made, chosen, also=recorded)
            if made.sandbox:
                made.client.session.get(
                    f"{made.client.base_url}/x?token={made.client.token().reveal()}"
                )
                control += made.shown(recorded(None))
    frames = sum(text.count('"vars": {') for text in texts)
    print(json.dumps({"wrong": wrong, "control": control, "locals": frames}))


if __name__ == "__main__":
    main(sys.argv[1])
