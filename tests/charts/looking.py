"""What a chart shows, read from the SVG that a page gets and from the figure after it was drawn."""

import io
from itertools import combinations
from xml.etree import ElementTree

import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from tests.occupancy import made


def words(chart):
    """The texts of the page, from the finding on."""
    return [text.text for text in ElementTree.fromstring(chart.html()).iterfind(".//{*}text")]


def hovers(chart):
    """The tooltips of the page, from left to right or from top to bottom."""
    return [title.text for title in ElementTree.fromstring(chart.html()).iterfind(".//{*}title")]


def widths(chart, colour):
    boxes = [box for box in chart.findobj(Rectangle) if to_hex(box.get_facecolor()) == colour]
    return [box.get_width() for box in boxes]


def assert_legible(chart):
    """No text leaves the picture, and none covers another."""
    chart.savefig(io.BytesIO(), format="png")
    texts = [text for text in chart.findobj(Text) if text.get_text()]
    spots = [(text.get_text(), text.get_window_extent()) for text in texts]
    for text, spot in spots:
        assert chart.bbox.x0 - 1 <= spot.x0 <= spot.x1 <= chart.bbox.x1 + 1, text
        assert chart.bbox.y0 - 1 <= spot.y0 <= spot.y1 <= chart.bbox.y1 + 1, text
    for (first, a), (second, b) in combinations(spots, 2):
        across, down = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        # The box of a text has air above and below its letters.
        assert across <= 1 or down <= 0.35 * min(a.height, b.height), (first, second)


def rooms(columns, *rows, **attrs):
    """A frame with a row for each room, from room-0: its topic, and these columns."""
    frame = pd.DataFrame(rows, columns=["topic", *columns.split()]).convert_dtypes()
    frame.insert(0, "room_id", [f"room-{place}" for place in range(len(rows))])
    frame.attrs = attrs
    return frame


def samples(*steps, start="2026-03-02T08:00", every=60, room_id="101"):
    """Samples of one room, one for each (people, cap), or None for one that failed."""
    times = pd.date_range(start, periods=len(steps), freq=f"{every}s", tz="UTC")
    return made.samples(
        {"time": time, "room_id": room_id}
        | ({"ret": 504} if step is None else {"users": step[0], "attendee_max": step[1]})
        for time, step in zip(times, steps, strict=True)
    )
