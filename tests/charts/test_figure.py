"""What a notebook and a page get of a chart."""

import base64
import io
import re
from functools import partial

import pandas as pd
import pytest
from matplotlib import style
from PIL import Image

from confkit.charts import capacity_chart, occupancy_chart, occupancy_curve, occupancy_heatmap

from .looking import rooms, samples

ROOMS = rooms("users attendee_max", ("Board room", 5, 5), ("Lost", None, 5))
SEEN = samples((2, 5), None, (5, 5))
CAPS = rooms("attendee_max suggested", ("Hall", 5, 3))
# The function, a frame for it, and a column that it needs.
KINDS = [
    (occupancy_chart, ROOMS, "users"),
    (partial(occupancy_curve, room_id="101", tz="UTC"), SEEN, "time"),
    (partial(occupancy_heatmap, tz="UTC"), SEEN, "people"),
    (capacity_chart, CAPS, "suggested"),
]


@pytest.mark.parametrize(("draw", "source", "column"), KINDS)
def test_a_notebook_gets_html_a_picture_and_a_text(draw, source, column):
    """An untrusted notebook removes SVG and style, and then shows the image."""
    with style.context("dark_background"):  # which changes nothing
        data, metadata = (chart := draw(source))._repr_mimebundle_()
    rules, rest = data["text/html"].split("</style>")
    assert re.search(r"\.(confkit-\w{12}) > \[hidden\] .*\.\1 > img { display: none }$", rules)
    assert rest.startswith(f'<div hidden="hidden">{chart.html()}</div><img width="720" alt="')
    image = base64.b64decode(re.search(r'src="data:image/svg\+xml;base64,([^"]+)', rest)[1])
    assert b"background: white" in image
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("L")
    darkest, lightest = picture.crop((8, 8, 200, 40)).getextrema()  # of the title
    assert darkest < 0x40
    assert lightest == 0xFF
    assert data["text/plain"] == chart.summary() == metadata["image/png"]["alt"]


@pytest.mark.parametrize(("draw", "source", "column"), KINDS)
def test_the_svg_needs_and_changes_nothing_else(draw, source, column):
    """It has the theme's colours, no ID or rule that touches others."""
    before, html = source.copy(), draw(source).html()
    assert "fill: var(--jp-content-font-color1, currentColor)" in html
    for part in (" id=", "url(", "href", "<style", "<defs", "#222222"):
        assert part not in html
    pd.testing.assert_frame_equal(source, before)
    with pytest.raises(ValueError, match=f"the frame has no column {column}; .* Pass the result"):
        draw(source.drop(columns=column))
    with pytest.raises(TypeError, match=r"expected a DataFrame.* got list"):
        draw([1, 2])
