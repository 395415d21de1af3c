"""Checks, and the verdict of a list of them."""

import json

import pandas as pd
import pytest

import confkit as ck

VERDICTS = {
    "PASS SKIP": "PASS",
    "PASS FAIL UNKNOWN": "FAIL",
    "PASS UNKNOWN": "UNKNOWN",
    "": "UNKNOWN",
}


def test_the_verdict_of_a_checklist():
    for outcomes, due in VERDICTS.items():
        checks = ck.Checklist(ck.Check("c", outcome, "d") for outcome in outcomes.split())
        assert checks.verdict == due
        assert checks.exit_status == ["PASS", "FAIL", "UNKNOWN"].index(due)
    with pytest.raises(ValueError, match="FAIL, UNKNOWN, PASS, SKIP"):
        ck.Check("c", "OK", "d")


def test_a_checklist_as_data_text_and_html():
    """Secrets are masked and HTML is escaped in every form, and pandas makes a frame of it."""
    down = ck.Check("camera", "FAIL", "rtsp://a:hunter2@h/x is <down>", "<call> us", 0.0123)
    checks = ck.Checklist([ck.Check("network", "PASS", "fine"), down])
    assert pd.DataFrame(checks).detail[1] == down.detail
    assert json.loads(checks.as_json())["checks"][1]["detail"] == down.detail
    assert f"FAIL    camera: {down.detail} (12.3 ms)\n     -> <call> us" in repr(checks)
    html = checks._repr_html_()
    assert "hunter2" not in down.detail + html
    assert "&lt;call&gt; us" in html
    assert "<down>" not in html
    assert ("next step" in html) > ("next step" in ck.Checklist(checks[:1])._repr_html_())
