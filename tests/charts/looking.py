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


def boxes(chart, colour):
    """The left edge and the width of each box of a colour, in pixels."""
    return [
        (box.get_x(), box.get_width())
        for box in chart.findobj(Rectangle)
        if to_hex(box.get_facecolor()) == colour
    ]


def assert_legible(chart):
    """No text leaves the picture, none covers another, and none is below 11 px."""
    chart.savefig(io.BytesIO(), format="png")
    texts = [text for text in chart.findobj(Text) if text.get_text()]
    spots = [(text.get_text(), text.get_window_extent()) for text in texts]
    for text, spot in spots:
        assert chart.bbox.x0 - 1 <= spot.x0 <= spot.x1 <= chart.bbox.x1 + 1, text
        assert chart.bbox.y0 - 1 <= spot.y0 <= spot.y1 <= chart.bbox.y1 + 1, text
    assert min(text.get_fontsize() for text in texts) * 96 / 72 >= 11
    for (first, a), (second, b) in combinations(spots, 2):
        across, down = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        # The box of a text has air above and below its letters.
        assert across <= 1 or down <= 0.35 * min(a.height, b.height), (first, second)


def frame(*rooms, **attrs):
    """An occupancy frame with a row for each (topic, users, attendee_max)."""
    rows = [(f"room-{place}", *room) for place, room in enumerate(rooms)]
    types = {"room_id": "string", "topic": "string", "users": "Int64", "attendee_max": "Int64"}
    table = pd.DataFrame(rows, columns=[*types]).astype(types)
    table.attrs = attrs
    return table


def report(*rooms, **attrs):
    """A capacity report with a row for each (topic, cap, suggested, peak, minutes full, reason)."""
    types = {"room_id": "string", "topic": "string"}
    types |= dict.fromkeys(("attendee_max", "suggested", "peak"), "Int64")
    types |= {"minutes_full": "Float64", "reason": "string"}
    rows = [(f"room-{place}", *room) for place, room in enumerate(rooms)]
    table = pd.DataFrame(rows, columns=[*types]).astype(types)
    table.attrs = attrs
    return table


def samples(*steps, start="2026-03-02T08:00", every=60, room_id="101"):
    """Samples of one room, one for each (people, cap), or None for one that failed."""
    times = pd.date_range(start, periods=len(steps), freq=f"{every}s", tz="UTC")
    return made.samples(
        {"time": time, "room_id": room_id}
        | ({"ret": 504} if step is None else {"users": step[0], "attendee_max": step[1]})
        for time, step in zip(times, steps, strict=True)
    )
