"""What a chart shows, read from the SVG that a page gets."""

from xml.etree import ElementTree

import pandas as pd

from tests.occupancy import made


def words(chart):
    """The texts of the page, from the finding on."""
    return [text.text for text in ElementTree.fromstring(chart.html()).iterfind(".//{*}text")]


def hovers(chart):
    """The tooltips of the page, from left to right or from top to bottom."""
    return [title.text for title in ElementTree.fromstring(chart.html()).iterfind(".//{*}title")]


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
