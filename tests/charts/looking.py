"""What a chart shows, read from the figure after it was really drawn."""

import io
from itertools import combinations

import pandas as pd
from matplotlib.text import Text

from tests.occupancy import made


def drawn(figure):
    """The figure, after it was drawn as a picture."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    assert picture.getvalue().startswith(b"\x89PNG")
    return figure


def only(figure):
    """The axes of a chart that has no others, after it was drawn."""
    (axes,) = drawn(figure).axes
    return axes


def head(figure):
    """The finding and the line below it, each without its line ends."""
    return [text.get_text().replace("\n", " ") for text in figure.texts][:2]


def shown(part):
    """All texts of a figure or of axes, ticks among them."""
    return [text.get_text() for text in part.findobj(Text) if text.get_visible()]


def legible(figure):
    """Asserts that no text leaves the picture, none lies on another, and none is below 11 px."""
    drawn(figure)
    canvas = figure.bbox
    boxes = [(text.get_text(), text.get_window_extent()) for text in _visible(figure)]
    assert min(text.get_fontsize() for text in _visible(figure)) * figure.dpi / 72 >= 11
    for text, box in boxes:
        assert box.x0 >= canvas.x0 - 1, text
        assert box.x1 <= canvas.x1 + 1, text
        assert box.y0 >= canvas.y0 - 1, text
        assert box.y1 <= canvas.y1 + 1, text
    for (one, a), (other, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        # The box of a text has air above and below its letters.
        assert across <= 1 or down <= 0.35 * min(a.height, b.height), (one, other)


def rows(axes):
    """What each row says, from top to bottom: the room's name, then its numbers and its word."""
    left, *right = (
        [tick.get_text() for tick in part.get_yticklabels()] for part in (axes, *axes.child_axes)
    )
    return dict(zip(left, zip(*right, strict=True), strict=True))


def frame(*given):
    """An occupancy frame with a row for each (topic, users, attendee_max)."""
    table = pd.DataFrame(given, columns=["topic", "users", "attendee_max"])
    table.insert(0, "room_id", [f"room-{place}" for place in range(len(given))])
    types = {"room_id": "string", "topic": "string", "users": "Int64", "attendee_max": "Int64"}
    return table.astype(types)


def samples(*given, start="2026-03-02T08:00", every=60, room_id="101"):
    """Samples of one room, one for each (people, devices, cap) or None for one that failed."""
    times = pd.date_range(start, periods=len(given), freq=f"{every}s", tz="UTC")
    names = ("people", "devices", "attendee_max")
    return made.samples(
        {"time": time, "room_id": room_id}
        | (
            {"ret": 504}
            if row is None
            else {"users": row[0] + row[1]} | dict(zip(names, row, strict=True))
        )
        for time, row in zip(times, given, strict=True)
    )


def _visible(figure):
    unseen = {
        id(label)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not sorted(axis.get_view_interval())[0]
        <= tick.get_loc()
        <= sorted(axis.get_view_interval())[1]
    }
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in unseen
    ]
