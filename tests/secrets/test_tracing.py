"""No secret stands in what tracing and error reporting record of a call."""

import json
import subprocess
import sys

import pytest

from tests.secrets.children import ROOT

WORLDS = ("sandbox", "code", "redirect", "cut")  # all others find what these find


@pytest.mark.timeout(300)
def test_no_span_breadcrumb_or_report_shows_a_secret(tmp_path):
    """With OpenTelemetry's instrumentations of requests and urllib3 and with Sentry, its reports of
    failures with their locals among it, nothing that is recorded holds a marked secret; a request
    that is not confkit's shows its own as ever."""
    words = [sys.executable, "-W", "error", "-m", "tests.secrets.traced", str(tmp_path), *WORLDS]
    done = subprocess.run(words, cwd=ROOT, text=True, timeout=280, capture_output=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == {}
    assert any(told.startswith("token") for told in found["control"])
    assert found["spans"] > 300
    assert found["breadcrumbs"] > 200
    assert found["locals"] > 200
