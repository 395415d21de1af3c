"""A week of a room: its meetings as bars, a row for each day."""

from datetime import tzinfo
from typing import Any

import numpy as np
import pandas as pd

from ..occupancy.zones import Moment, zone
from ..text import counted
from .looks import BLACK, BLUE, SKY
from .rooms import needed
from .sheet import Chart, rows, sheet
from .texts import called, clean, lasting


def meetings_chart(
    meetings: pd.DataFrame,
    room_id: str,
    *,
    week: Moment | None = None,
    topic: str | None = None,
    service: str | None = None,
    tz: str | tzinfo | None = None,
) -> Chart:
    """A Figure of a room's week, Monday to Sunday: a bar for each meeting, with its most people.

    `meetings` are those of `ck.meetings`. `week` is a day in it, by default that of the room's last
    meeting; hours are those of `tz` (local time by default). A meeting whose start or end was not
    seen is hatched. `topic` and `service` stand in the title. `summary()` is the same as plain
    text, one line per meeting.
    """
    needed(meetings, "the meetings", "room_id", "start", "end", "peak", "bridged", "open")
    here, zone_name = zone(tz)
    found = meetings[meetings["room_id"] == room_id]
    name = called(clean(topic), room_id) if topic else f"Room {room_id}"
    head = [service or meetings.attrs.get("service", "")]
    if week is None and found.empty:
        said = f"{name}: no meeting"
        return sheet(said, head, "No meeting was recorded.", told=said)
    day = pd.Timestamp(found["start"].max() if week is None else week)
    day = day.tz_convert(here).tz_localize(None) if day.tzinfo else day
    days = pd.date_range(day.normalize() - pd.Timedelta(days=day.day_of_week), periods=8)
    found = found.assign(minutes=(found["end"] - found["start"]).dt.total_seconds() / 60)
    for edge in ("start", "end"):
        found[edge] = found[edge].dt.tz_convert(here).dt.tz_localize(None)
    found = found[(found["end"] > days[0]) & (found["start"] < days[7])]
    finding = f"{name}: no meeting this week"
    if len(found):
        in_use, most = lasting(found["minutes"].sum()), _people(found["peak"].max())
        finding = f"{name}: {counted(len(found), 'meeting')}, {in_use} in use, at most {most}"
    head.append(f"week of {days[0].day} {days[0]:%B %Y} ({zone_name})")

    def draw(figure: Chart) -> None:
        axes = figure.add_subplot()
        for place, midnight in enumerate(days[:7]):
            start, end = (
                (found[edge] - midnight) / pd.Timedelta("1h") for edge in ("start", "end")
            )
            today = found.assign(start=start.clip(0, 24), end=end.clip(0, 24))
            today = today[today["end"] > today["start"]]
            look: dict[str, Any] = {"color": SKY, "edgecolor": BLUE}
            look["hatch"] = [*np.where(today["open"] == "", "", "////")]
            lasts = today["end"] - today["start"]
            bars = axes.barh([place] * len(today), lasts, 0.62, left=today["start"], **look)
            peaks = [f"{peak:,}" for peak in today["peak"]]
            axes.bar_label(bars, peaks, label_type="center", color=BLACK)
        rows(axes, [f"{midnight:%a} {midnight.day}" for midnight in days[:7]])
        axes.set_xlim(0, 24)
        axes.set_xticks(range(0, 25, 2), [f"{hour:02}:00" for hour in range(0, 25, 2)])
        axes.grid(axis="x")

    note = "The number is the most people at once; hatched: its begin or its end was not seen."
    text = "\n".join([finding, *map(_line, found.itertuples())])
    return sheet(finding, head, draw, height=2.9, told=text, note=note)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _line(meeting: Any) -> str:
    edges = {"": "", "both": "open at both ends"}.get(meeting.open, f"open at its {meeting.open}")
    failed = f"{counted(int(meeting.bridged), 'sample')} failed" if meeting.bridged else ""
    said = f"{meeting.start:%A %H:%M} to {meeting.end:%H:%M}: {_people(meeting.peak)}"
    return ", ".join(filter(None, (said, edges, failed)))
