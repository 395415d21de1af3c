"""A week of a room: its meetings as bars, a row for each day."""

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..occupancy.zones import Moment, zone
from ..text import counted
from .looks import BLUE, INK, SKY, TRACK
from .rooms import needed
from .sheet import Chart, sheet
from .sheet import rows as named_rows
from .texts import DAYS, called, clean, lasting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DAY = timedelta(days=1)


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
    rows = meetings[meetings["room_id"] == room_id]
    name = called(clean(topic), room_id) if topic else f"Room {room_id}"
    head = [service or meetings.attrs.get("service", "")]
    if week is None and rows.empty:
        said = f"{name}: no meeting"
        return sheet(said, head, "No meeting was recorded.", told=said)
    day = pd.Timestamp(rows["start"].max().tz_convert(here) if week is None else week)
    day = day.tz_localize(here) if day.tzinfo is None else day.tz_convert(here)
    monday = day.tz_localize(None).normalize() - day.day_of_week * _DAY
    local = rows.assign(minutes=(rows["end"] - rows["start"]).dt.total_seconds() / 60)
    for edge in ("start", "end"):
        local[edge] = rows[edge].dt.tz_convert(here).dt.tz_localize(None)
    local = local[(local["end"] > monday) & (local["start"] < monday + 7 * _DAY)]
    found = local.to_dict("records")
    finding = f"{name}: no meeting this week"
    if found:
        in_use = lasting(sum(one["minutes"] for one in found))
        most = _people(max(one["peak"] for one in found))
        finding = f"{name}: {counted(len(found), 'meeting')}, {in_use} in use, at most {most}"
    head.append(f"week of {monday.day} {monday:%B %Y} ({zone_name})")
    note = "The number is the most people at once; hatched: its begin or its end was not seen."
    told = "\n".join([finding, *map(_line, found)])

    def draw(figure: Chart) -> None:
        axes = figure.add_subplot()
        days = [monday + place * _DAY for place in range(7)]
        for place, midnight in enumerate(days):
            for one in found:
                _bar(axes, one, midnight, place)
        named_rows(axes, [f"{DAYS[day.weekday()][:3]} {day.day}" for day in days])
        axes.set_xlim(0, 24)
        axes.set_xticks(range(0, 25, 2), [f"{hour:02}:00" for hour in range(0, 25, 2)])
        axes.grid(axis="x", color=TRACK, linewidth=0.8)
        axes.set_axisbelow(True)

    return sheet(finding, head, draw, height=2.9, told=told, note=note)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _line(meeting: Mapping[Any, Any]) -> str:
    start, end, edges = meeting["start"], meeting["end"], meeting["open"]
    said = [f"{DAYS[start.weekday()]} {start:%H:%M} to {end:%H:%M}: {_people(meeting['peak'])}"]
    if edges:
        said.append("open at both ends" if edges == "both" else f"open at its {edges}")
    if meeting["bridged"]:
        said.append(f"{counted(meeting['bridged'], 'sample')} failed")
    return ", ".join(said)


def _bar(axes: "Axes", meeting: Mapping[Any, Any], midnight: pd.Timestamp, place: int) -> None:
    """The part of a meeting that lies in one day of the week."""
    begin, end = (
        min(max((meeting[edge] - midnight) / timedelta(hours=1), 0), 24)
        for edge in ("start", "end")
    )
    if end <= begin:
        return
    hatch = "////" if meeting["open"] else ""
    look: dict[str, Any] = {"height": 0.62, "color": SKY, "edgecolor": BLUE, "linewidth": 0.6}
    axes.barh(place, end - begin, left=begin, hatch=hatch, **look)
    middle, said = (begin + end) / 2, f"{meeting['peak']:,}"
    axes.text(middle, place, said, ha="center", va="center", fontsize=8.5, color=INK, clip_on=True)
