"""What a notebook gets of a chart: the picture, and the same finding as text beside it."""

import base64
import subprocess
import sys

from confkit.charts import occupancy_chart
from confkit.charts.sheet import Chart

from .looking import frame

GIVEN = frame(("Board room", 5, 5), ("Lost", None, 5))


def test_a_notebook_gets_picture_and_summary():
    """The bundle holds a PNG, the summary as plain text, and the title in place of the picture."""
    chart = occupancy_chart(GIVEN, service="SANDBOX", time="2026-01-01T00:00Z", tz="UTC")
    data, metadata = chart._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == chart.summary()
    assert metadata["image/png"]["alt"] == (
        "1 of 2 rooms full, 0 nearly, 1 could not be read · SANDBOX · Thu 1 Jan 2026, 00:00 (UTC)"
    )


def test_ipython_shows_both_whether_pyplot_is_loaded_or_not():
    """In IPython's own display the text is the summary, also with the inline backend at work."""
    code = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from tests.charts.test_figure import GIVEN
from confkit.charts import occupancy_chart
shell = InteractiveShell.instance()
if sys.argv[1] == "inline":
    from IPython.core.pylabtools import select_figure_formats
    select_figure_formats(shell, {"png"})
data, _ = shell.display_formatter.format(chart := occupancy_chart(GIVEN))
assert data["text/plain"] == chart.summary(), data["text/plain"]
assert len(data["image/png"]) > 1000
"""
    for way in ("plain", "inline"):
        done = subprocess.run(
            [sys.executable, "-c", code, way], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_chart_without_a_summary_is_a_figure_like_any():
    """Chart() takes what Figure takes."""
    assert Chart(figsize=(2, 1)).summary() == ""
