"""A week of a room: its meetings as bars, a row for each day."""

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..occupancy.zones import Moment, zone
from ..text import counted
from .looks import BLUE, SKY
from .rooms import needed
from .sheet import Chart, rows, sheet
from .texts import called, clean, lasting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


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
    of_room = meetings[meetings["room_id"] == room_id]
    name = called(clean(topic), room_id) if topic else f"Room {room_id}"
    head = [service or meetings.attrs.get("service", "")]
    if week is None and of_room.empty:
        said = f"{name}: no meeting"
        return sheet(said, head, "No meeting was recorded.", told=said)
    day = pd.Timestamp(of_room["start"].max() if week is None else week)
    day = day.tz_localize(here) if day.tzinfo is None else day.tz_convert(here)
    monday = day.tz_localize(None).normalize() - day.day_of_week * _DAY
    lasts = (of_room["end"] - of_room["start"]).dt.total_seconds() / 60
    local = of_room.assign(lasts=lasts)
    for edge in ("start", "end"):
        local[edge] = local[edge].dt.tz_convert(here).dt.tz_localize(None)
    local = local[(local["end"] > monday) & (local["start"] < monday + 7 * _DAY)]
    finding = f"{name}: no meeting this week"
    if len(local):
        in_use = lasting(local["lasts"].sum())
        most = _people(local["peak"].max())
        finding = f"{name}: {counted(len(local), 'meeting')}, {in_use} in use, at most {most}"
    head.append(f"week of {monday.day} {monday:%B %Y} ({zone_name})")
    found = local.to_dict("records")

    def draw(figure: Chart) -> None:
        axes, days = figure.add_subplot(), [monday + place * _DAY for place in range(7)]
        for place, midnight in enumerate(days):
            for one in found:
                _bar(axes, one, midnight, place)
        rows(axes, [f"{midnight:%a} {midnight.day}" for midnight in days])
        axes.set_xlim(0, 24)
        axes.set_xticks(range(0, 25, 2), [f"{hour:02}:00" for hour in range(0, 25, 2)])
        axes.grid(axis="x")

    note = "The number is the most people at once; hatched: its begin or its end was not seen."
    told = "\n".join([finding, *map(_line, found)])
    return sheet(finding, head, draw, height=2.9, told=told, note=note)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _line(meeting: Mapping[Any, Any]) -> str:
    start, end, edges = meeting["start"], meeting["end"], meeting["open"]
    said = [f"{start:%A %H:%M} to {end:%H:%M}: {_people(meeting['peak'])}"]
    if edges:
        said.append("open at both ends" if edges == "both" else f"open at its {edges}")
    if meeting["bridged"]:
        said.append(f"{counted(meeting['bridged'], 'sample')} failed")
    return ", ".join(said)


def _bar(axes: "Axes", meeting: Mapping[Any, Any], midnight: pd.Timestamp, place: int) -> None:
    """The part of a meeting that lies in one day of the week."""
    begin, end = (min(max((meeting[edge] - midnight) / _HOUR, 0), 24) for edge in ("start", "end"))
    if end > begin:
        look: dict[str, Any] = {
            "color": SKY,
            "edgecolor": BLUE,
            "hatch": "////" if meeting["open"] else "",
        }
        bar = axes.barh(place, end - begin, 0.62, left=begin, **look)
        axes.bar_label(bar, [f"{meeting['peak']:,}"], label_type="center")
