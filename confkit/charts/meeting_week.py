"""A week of a room: its meetings as bars, a row for each day."""

from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

import pandas as pd

from ..occupancy.zones import Moment, zone
from ..text import counted
from .looks import BLUE, GREY, INK, SKY
from .rooms import needed
from .sheet import Chart, bare, finished, nothing, sheet
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
    meeting; hours are those of `tz` (local time by default). A meeting is hatched whose
    edge is open. `topic` and `service` stand in the title. `summary()` is the
    same as plain text, one line per meeting.
    """
    needed(meetings, "the meetings", "room_id", "start", "end", "peak", "bridged", "open")
    here, zone_name = zone(tz)
    rows = meetings[meetings["room_id"] == room_id]
    name = called(clean(topic), room_id) if topic else f"Room {room_id}"
    head = [service or meetings.attrs.get("service", "")]
    if week is None and rows.empty:
        said = f"{name}: no meeting"
        return nothing(sheet(said, head, height=0.7, told=said), "No meeting was recorded.")
    day = pd.Timestamp(rows["start"].max().tz_convert(here) if week is None else week)
    day = day.tz_localize(here) if day.tzinfo is None else day.tz_convert(here)
    monday = day.tz_localize(None).normalize() - day.day_of_week * _DAY
    local = rows.assign(
        start=rows["start"].dt.tz_convert(here).dt.tz_localize(None),
        end=rows["end"].dt.tz_convert(here).dt.tz_localize(None),
    )
    local = local[(local["end"] > monday) & (local["start"] < monday + 7 * _DAY)]
    finding = f"{name}: {_finding(local)}"
    head.append(f"week of {monday.day} {monday:%B %Y} ({zone_name})")
    note = "The number is the most people at once; hatched: its begin or its end was not seen."
    figure = sheet(finding, head, height=2.9, told="\n".join([finding, *_lines(local)]), note=note)
    _bars(figure.add_subplot(), local, monday)
    return finished(figure)


def _finding(local: pd.DataFrame) -> str:
    if local.empty:
        return "no meeting this week"
    minutes = (local["end"] - local["start"]).sum() / timedelta(minutes=1)
    most = counted(int(local["peak"].max()), "person").replace("persons", "people")
    return f"{counted(len(local), 'meeting')}, {lasting(minutes)} in use, at most {most}"


def _lines(local: pd.DataFrame) -> list[str]:
    said = []
    for row in local.itertuples():
        unsure = [f"open at its {row.open}" if row.open != "both" else "open at both ends"]
        unsure = unsure * bool(row.open) + [f"{counted(int(row.bridged), 'sample')} failed"] * bool(row.bridged)
        people = counted(int(row.peak), "person").replace("persons", "people")
        times = f"{DAYS[row.start.day_of_week]} {row.start:%H:%M} to {row.end:%H:%M}"
        said.append(", ".join([f"{times}: {people}", *unsure]))
    return said


def _bars(axes: "Axes", local: pd.DataFrame, monday: datetime) -> None:
    for row in local.itertuples():
        for place in range(7):
            midnight = monday + place * _DAY
            begin, end = (
                min(max((edge - midnight) / timedelta(hours=1), 0), 24)
                for edge in (row.start, row.end)
            )
            if end <= begin:
                continue
            axes.barh(
                place,
                end - begin,
                left=begin,
                height=0.62,
                color=SKY,
                edgecolor=BLUE,
                linewidth=0.6,
                hatch="////" if row.open else "",
            )
            axes.text(
                (begin + end) / 2, place, f"{row.peak:,}", ha="center", va="center", fontsize=8.5,
                color=INK, clip_on=True,
            )  # fmt: skip
    days = [monday + place * _DAY for place in range(7)]
    axes.set_yticks(range(7), [f"{DAYS[day.weekday()][:3]} {day.day}" for day in days])
    axes.set_ylim(6.5, -0.5)
    axes.set_xlim(0, 24)
    axes.set_xticks(range(0, 25, 2), [f"{hour:02}:00" for hour in range(0, 25, 2)])
    axes.grid(axis="x", color="#ededed", linewidth=0.8)
    axes.set_axisbelow(True)
    bare(axes)
    axes.tick_params(axis="y", labelcolor=INK, labelsize=9)
    axes.tick_params(axis="x", labelcolor=GREY)
