"""How full the rooms are at one moment: a bar each, or of many the fullest and the spread."""

from collections import Counter
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from .looks import FAINT, GREY, INK, STATES, TRACK
from .panels import MOST, ROW, TOP, columns, rows
from .rooms import RoomNow, finding, rooms, summary, unread
from .sheet import finished, heading, nothing, parts, sheet
from .times import moment, parsed, zone

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .figure import Chart

_UPPER = 2.3  # inches
_WIDEST = 1.35  # utilisation at which a bar is cut off; the number beside it is not


def occupancy_chart(
    frame: "pd.DataFrame",
    *,
    service: str | None = None,
    time: str | datetime | None = None,
    tz: str | tzinfo | None = None,
) -> "Chart":
    """A Figure of rooms against their `attendee_max`, the most utilised on top.

    The frame is that of `occupancy_frame(sweep)`, or any with `room_id`, `users` and `attendee_max`
    and, where there is one, `topic`. Up to 30 rooms have a bar each; of more, the 20 fullest do,
    below the spread of all. A room whose users could not be read (missing) is named as such, never
    drawn as empty; one without a cap (missing or 0) has no utilisation. `service` and `time` (a
    datetime or ISO text) stand in the title and default to the frame's `attrs`; `tz` defaults to
    local time.
    """
    found = rooms(frame)
    many = len(found) > MOST
    shown = found[:TOP] if many else found
    head = [service or frame.attrs.get("service", ""), _when(time or frame.attrs.get("time"), tz)]
    bars = max(1, len(shown)) * ROW + (0.9 if many else 0.5)
    figure = sheet(
        finding(found), head, height=bars + (_UPPER if many else 0),
        note=unread(found[TOP:]) if many else "", told=summary(found),
    )  # fmt: skip
    if not found:
        return nothing(figure, "The frame has no rows: no room was asked for.")
    if many:
        upper, part = parts(figure, _UPPER, bars)
        heading(upper, f"All {len(found):,} rooms, by users per attendee_max")
        heading(part, f"The {TOP} fullest")
        _spread(upper.add_subplot(), found)
        lower = part.add_subplot()
    else:
        lower = figure.add_subplot()
    _bars(lower, shown)
    return finished(figure)


def occupancy_summary(frame: "pd.DataFrame") -> str:
    """The same finding as `occupancy_chart` as plain text: counts by state, then the rooms named.

    Sorted as in the chart. Nothing in it depends on the time of the sample.
    """
    return summary(rooms(frame))


def _when(time: str | datetime | None, tz: str | tzinfo | None) -> str:
    if not time:
        return ""
    here, name = zone(tz)
    return f"{moment(parsed(time).astimezone(here))} ({name})"


def _bars(axes: "Axes", shown: list[RoomNow]) -> None:
    shares = [room.share or 0.0 for room in shown]
    capped = [place for place, room in enumerate(shown) if room.share is not None]
    axes.barh(capped, 1.0, height=0.62, color=TRACK, label="free", zorder=1)
    for state, look in STATES.items():
        places = [place for place in capped if shown[place].state == state]
        if places:
            axes.barh(
                places, [min(shares[place], _WIDEST) for place in places], height=0.62,
                color=look.colour, hatch=look.hatch, linewidth=0, edgecolor="white",
                label=look.word, zorder=2,
            )  # fmt: skip
    if capped:
        for colour, thick in (("white", 3.6), (INK, 1.4)):
            axes.vlines(1.0, capped[0] - 0.42, capped[-1] + 0.42, colour, lw=thick, zorder=3)
    for place, room in enumerate(shown):
        if room.users is None:  # a frame without a filling: nothing is known
            axes.barh(place, 1.0, height=0.62, fill=False, edgecolor=FAINT, linestyle=(0, (3, 3)))
        if room.share is None:
            axes.text(0.012, place, room.word, va="center", color=GREY, size=8.5, style="italic")
        elif room.share > _WIDEST:
            axes.text(_WIDEST, place, "» ", ha="right", va="center", color="white", fontsize=11)
    rows(axes, [room.name for room in shown], [
        (room.numbers, "" if room.share is None or room.state == "free" else room.word,
         room.state in ("over", "full", "near"))
        for room in shown
    ])  # fmt: skip
    axes.set_xlim(0, min(_WIDEST, max([1.0, *shares])) + 0.004)
    axes.set_xticks([0, 0.5, 0.8, 1.0], ["0", "50 %", "80 %", "100 %"])
    axes.set_xlabel("users per attendee_max", fontsize=8.5, color=GREY, loc="left")


def _spread(axes: "Axes", found: list[RoomNow]) -> None:
    fifths = ("under 20 %", "20 to 39 %", "40 to 59 %", "60 to 79 %")
    count = Counter(
        fifths[5 * room.users // room.cap]
        if room.state == "free" and room.users and room.cap
        else room.state
        for room in found
    )
    groups = [("empty", "empty"), *((text, "free") for text in fifths), ("80 to 99 %", "near"),
              ("full", "full"), ("over", "over"), ("no cap", "no cap"),
              ("not read", "unread")]  # fmt: skip
    columns(
        axes, [(text, count[text if state == "free" else state], STATES[state])
               for text, state in groups], apart=8,
    )  # fmt: skip
