"""What a notebook gets of a chart: the picture, and the same finding as text beside it."""

import base64
import re
import subprocess
import sys
from xml.etree import ElementTree

import pandas as pd
import pytest

from confkit.charts import capacity_chart, occupancy_chart, occupancy_curve, occupancy_heatmap
from confkit.charts.sheet import Chart

from .looking import frame, samples

GIVEN = frame(("Board room", 5, 5), ("Lost", None, 5))
SEEN = samples((2, 0, 5), None)
CAPS = pd.DataFrame({"room_id": ["b", "a"], "attendee_max": [5, None], "suggested": [3, 4]})
# What draws, what it draws, what it calls that, and the columns that it needs.
KINDS = [
    (occupancy_chart, GIVEN, "the frame", ["room_id", "users", "attendee_max"]),
    (
        lambda given: occupancy_curve(given, "101"),
        SEEN,
        "the samples",
        ["time", "room_id", "users"],
    ),
    (occupancy_heatmap, SEEN, "the samples", ["time", "room_id", "people"]),
    (capacity_chart, CAPS, "the report", ["room_id", "attendee_max", "suggested"]),
]


def test_a_notebook_gets_picture_and_summary():
    """The bundle holds a PNG, the summary as plain text, and the title in place of the picture."""
    chart = occupancy_chart(GIVEN, service="SANDBOX", time="2026-01-01T00:00Z", tz="UTC")
    data, metadata = chart._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == chart.summary()
    assert metadata["image/png"]["alt"] == (
        "1 of 2 rooms full, 0 nearly, 1 could not be read · SANDBOX · Thu 1 Jan 2026, 00:00 (UTC)"
    )


SHELL = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from tests.charts.test_figure import GIVEN
from confkit.charts import occupancy_chart
shell, chart = InteractiveShell.instance(), occupancy_chart(GIVEN)
for way in (lambda: None, lambda: select_figure_formats(shell, {"png"})):
    way()
    data, _ = shell.display_formatter.format(chart)
    assert data["text/plain"] == chart.summary(), data["text/plain"]
    assert len(data["image/png"]) > 1000
"""


def test_ipython_shows_both_whether_pyplot_is_loaded_or_not():
    """In IPython's own display the text is the summary, also with the inline backend at work."""
    done = subprocess.run([sys.executable, "-c", SHELL], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_a_chart_without_a_summary_is_a_figure_like_any():
    """Chart() takes what Figure takes."""
    assert Chart(figsize=(2, 1)).summary() == ""


def test_a_page_gets_an_svg_in_its_theme_and_size():
    """Its texts are texts, escaped and at least 11 pixels high, in the theme's colours; it is as
    wide as was asked, and says its finding to who does not see it."""
    given = samples((1, 0, 2), (2, 0, 2), None, (1, 0, 2))
    chart = occupancy_curve(given, "101", topic="<b>$a$", tz="UTC", width=500)
    drawn = ElementTree.fromstring(chart.svg())
    assert drawn.get("role") == "img"
    assert drawn.get("aria-label") == chart.summary().partition("\n")[0]
    assert "width:500px" in drawn.get("style")
    scale = 500 / float(drawn.get("viewBox").split()[2])
    texts = drawn.findall(".//{*}text")
    assert "<b>$a$" in " ".join(text.text for text in texts)
    for text in texts:
        size = re.search(r"([\d.]+)px", text.get("style"))
        assert float(size[1]) * scale >= 11
        assert "var(--jp-content-font-color" in text.get("style")


@pytest.mark.parametrize(("draw", "given", "what", "needed"), KINDS)
def test_a_chart_needs_some_columns_and_leaves_the_frame_and_pyplot_alone(
    draw, given, what, needed
):
    """A missing column is a ValueError that names it and those that are there. No figure stays open
    behind the caller's back, and the frame is not changed."""
    import matplotlib.pyplot as plt  # not above: a process that imports this module is to have none

    before, figures = given.copy(), plt.get_fignums()
    draw(given)
    assert plt.get_fignums() == figures
    pd.testing.assert_frame_equal(given, before)
    for name in needed:
        kept = [column for column in given.columns if column != name]
        with pytest.raises(
            ValueError, match=f"{what} has no column {name}; .* {', '.join(kept)}\\. "
        ):
            draw(given[kept])
    with pytest.raises(ValueError, match="has no column"):
        draw([1, 2])
