"""What a notebook, a page and a file get of a chart."""

import base64
import io
import re
from functools import partial
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.core.pylabtools import select_figure_formats
from matplotlib.colors import to_rgb
from PIL import Image

from confkit.charts import (
    capacity_chart,
    figure,
    occupancy_chart,
    occupancy_curve,
    occupancy_heatmap,
)

from .looking import frame, hovers, report, samples, words

ROOMS = frame(("Board room", 5, 5), ("Lost", None, 5))
SEEN = samples((2, 5), None, (5, 5))
CAPS = report(("Hall", 5, 3, 3, 0.0, "peak 3"))
curve = partial(occupancy_curve, room_id="101", tz="UTC")
# The function, a frame for it, what errors call that, and the columns that it needs.
KINDS = [
    (occupancy_chart, ROOMS, "the frame", ["room_id", "users", "attendee_max"]),
    (curve, SEEN, "the samples", ["time", "room_id", "users"]),
    (partial(occupancy_heatmap, tz="UTC"), SEEN, "the samples", ["time", "room_id", "people"]),
    (capacity_chart, CAPS, "the report", ["room_id", "attendee_max", "suggested"]),
]
EVERY = pytest.mark.parametrize(("draw", "source"), [row[:2] for row in KINDS])


@EVERY
def test_a_notebook_gets_html_a_picture_and_a_text(draw, source):
    """An untrusted notebook removes SVG and style, and then shows the image; it is saved small."""
    data, metadata = (chart := draw(source))._repr_mimebundle_()
    page = data["text/html"]
    name = re.match(r'<div class="confkit-chart (confkit-\w{12})"><style>', page)[1]
    style, rest = page.split("</style>")
    rules = f".{name} > [hidden] {{ display: block }} .{name} > img {{ display: none }}"
    assert style.endswith(f"<style>{rules}")
    assert rest.startswith(f'<div hidden="hidden">{chart.html()}</div><img width="720" alt="')
    image = base64.b64decode(re.search(r'src="data:image/svg\+xml;base64,([^"]+)', rest)[1])
    assert (image[:4], b"background: white" in image, b"<title>" in image) == (b"<svg", True, False)
    with Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) as picture:
        assert picture.width == 2 * metadata["image/png"]["width"] == 1440
    assert data["text/plain"] == chart.summary() == metadata["image/png"]["alt"]
    assert len(page) < 80_000


@EVERY
def test_the_svg_needs_and_changes_nothing_else(draw, source):
    """It has the theme's colours, no ID or rule that touches others, and is the same each time."""
    html = draw(source).html()
    assert html.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox=')
    assert "fill: var(--jp-content-font-color1, currentColor)" in html
    for part in (" id=", "url(", "href", "<style", "<defs", "DejaVu", "#222222", "#606060"):
        assert part not in html
    with mpl.rc_context({"font.size": 30, "text.color": "red"}):
        before = dict(mpl.rcParams)
        assert draw(source).html() == html
        assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(("draw", "source", "what", "columns"), KINDS)
def test_a_missing_column_is_named_and_the_frame_left_alone(draw, source, what, columns):
    before = source.copy()
    draw(source)
    pd.testing.assert_frame_equal(source, before)
    for name in columns:
        kept = [column for column in source.columns if column != name]
        message = f"{what} has no column {name}; .* {', '.join(kept)}\\. Pass the result"
        with pytest.raises(ValueError, match=message):
            draw(source[kept])
    with pytest.raises(TypeError, match=r"expected a DataFrame.* got list"):
        draw([1, 2])


def test_other_peoples_texts_stay_texts():
    topic = '<b>"x"</b> $x^2$ & id="1" : #222222\n\x07end'
    chart = occupancy_chart(frame((topic, 3, 5), service="$s$"))
    assert words(chart)[1:3] == ["$s$", '<b>"x"</b> $x^2$ & id="1" : #222…']
    assert hovers(chart) == ['<b>"x"</b> $x^2$ & id="1" : #222222  end (room-0): 3 of 5']
    assert 'class="tex2jax_ignore mathjax_ignore"' in chart.html()
    assert "\x07" not in chart.summary()


LETTERS = (
    "日本語の会議 العربية עברית हिन्दी ไทย 한국어 Привет 😀 \u202eabc a\u0301 $$ \\frac{ --> ]]>"
)


@pytest.mark.parametrize("topic", LETTERS.split())
def test_a_text_of_any_letters_is_drawn_without_a_warning(topic, caplog):
    for chart in (occupancy_chart(frame((topic, 1, 2), service=topic)), curve(SEEN, topic=topic)):
        chart._repr_mimebundle_()
        if topic.isprintable():
            assert any(topic in word for word in words(chart))
    assert caplog.records == []


@pytest.mark.parametrize("colour", ["BLUE", "AMBER", "ORANGE", "NEUTRAL"])
def test_a_colour_has_contrast_on_white_and_on_black(colour):
    rgb = np.array(to_rgb(getattr(figure, colour)))
    linear = np.where(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = linear @ (0.2126, 0.7152, 0.0722)
    assert min(1.05 / (light + 0.05), (light + 0.05) / 0.05) >= 4.4


def test_a_chart_is_saved_like_any_figure(tmp_path):
    """Black on white."""
    occupancy_chart(ROOMS).savefig(path := tmp_path / "chart.png", bbox_inches="tight")
    with Image.open(path) as picture:
        assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
        assert picture.convert("L").getextrema()[0] < 50


def test_ipython_shows_the_same_whether_pyplot_is_loaded_or_not():
    shell, chart = SimpleNamespace(display_formatter=DisplayFormatter()), occupancy_chart(ROOMS)
    for formats in ((), ("png",)):
        select_figure_formats(shell, formats)
        assert shell.display_formatter.format(chart)[0] == chart._repr_mimebundle_()[0]
