"""Charts of rooms, a row each: how full they are now, and which cap they should have."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from ..text import counted
from .looks import FAINT, GREY, INK, KINDS, PAPER, STATES, TRACK, Look
from .rooms import TOP, Room, RoomCap, RoomNow, caps, decisions, fullness, rooms, seats
from .rooms import summary as summed
from .sheet import Chart, key, sheet
from .sheet import rows as named_rows
from .texts import at, listed, moment, span

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.3  # inches
_WIDEST = 1.35  # utilisation at which a bar is cut off; the number beside it is not
_LOUD = ("over", "full", "near", "raise", "reached")
# What rooms are counted by, the emptiest first.
_SPREAD = {
    "empty": STATES["empty"],
    **{
        f"{low} to {low + 19} %": STATES["near" if low == 80 else "free"]
        for low in range(0, 99, 20)
    },
    **{STATES[state].word: STATES[state] for state in ("full", "over", "no cap", "unread")},
}


def occupancy_chart(
    frame: "pd.DataFrame",
    *,
    service: str | None = None,
    time: str | datetime | None = None,
    tz: str | tzinfo | None = None,
) -> Chart:
    """A Figure of rooms against their `attendee_max`, the most utilised on top.

    The frame is that of `occupancy_frame(sweep)`, or any with `room_id`, `users` and `attendee_max`
    and, where there is one, `topic`. The 20 fullest rooms have a bar each; where there are more,
    the spread of all stands above them. A room whose users could not be read (missing) is named as
    such, never drawn as empty; one without a cap (missing or 0) has no utilisation. `service` and
    `time` (a datetime or ISO text) stand in the title and default to the frame's `attrs`; `tz`
    defaults to local time. `summary()` is the same finding as plain text: counts by state, then the
    rooms named, sorted as in the chart; nothing in it depends on the time of the sample.
    """
    found = rooms(frame)
    finding = fullness(found)
    told = summed(found, STATES, f"the {TOP} fullest:", finding)
    lost = [room.name for room in found[TOP:] if room.state == "unread"]
    note = f"Could not be read: {listed(lost, 8)}" if lost else ""
    return _ranking(
        found,
        _SPREAD,
        _bars,
        "by users per attendee_max",
        f"The {TOP} fullest",
        finding=finding,
        under=[service or frame.attrs.get("service", ""), at(time or frame.attrs.get("time"), tz)],
        told="\n".join(filter(None, (told, note))),
        note=note,
    )


def capacity_chart(report: "pd.DataFrame", *, service: str | None = None) -> Chart:
    """A Figure of each room's `attendee_max` today and the suggested one, the largest raise on top.

    The frame is that of `capacity_report`: `room_id`, `attendee_max`, `suggested`, and where there
    are such `topic`, `peak`, `minutes_in_use`, `minutes_full`, `refused_minutes` and `reason`.
    Rooms to raise come first, then those that reached their cap, so that their true demand is not
    known, then those to lower, and the others. The first 20 rooms have a row each; where there are
    more, the counts of all stand above them. `service` (or the frame's `attrs`) stands in the
    title. `summary()` is the same finding as plain text, with the reason for each suggestion.
    """
    found = caps(report)
    finding, together = decisions(found), seats(found)
    service = service or report.attrs.get("service", "")
    return _ranking(
        found,
        {look.word: look for look in KINDS.values()},
        _lines,
        "by what to do with attendee_max",
        f"The first {TOP}: raises, then rooms that reached their cap, then the rest",
        finding=finding,
        under=[service, _window(report), together, _basis(report, found)],
        told=summed(found, KINDS, f"the first {TOP}:", finding, together),
        note=_licences(report),
    )


def _ranking(
    found: Sequence[Room],
    groups: Mapping[str, Look],
    draw: Callable[["Axes", Sequence[Any]], None],
    above: str,
    below: str,
    **texts: Any,
) -> Chart:
    """The chart of these rooms: a row for each of the first, and where there are more a column for
    each group of all above them."""
    shown = found[:TOP]
    lower = len(shown) * _ROW + 1.2

    def drawn(figure: Chart) -> None:
        if len(shown) == len(found):
            draw(figure.add_subplot(), shown)
            return
        parts: Any = figure.subfigures(2, 1, height_ratios=[2.2, lower])
        for part, title in zip(parts, (f"All {len(found):,} rooms, {above}", below), strict=True):
            part.suptitle(f"\n{title}", x=0, ha="left", fontsize=9.5, fontweight="bold")
        _columns(parts[0].add_subplot(), groups, Counter(room.group for room in found))
        draw(parts[1].add_subplot(), shown)

    if not found:
        return sheet(draw="There is no row.", **texts)
    return sheet(draw=drawn, height=lower + 2.2 * (len(shown) < len(found)), **texts)


def _columns(axes: "Axes", groups: Mapping[str, Look], count: Counter[str]) -> None:
    """A column for each group, with its number on top."""
    bars = axes.bar(
        list(groups),
        [count[name] for name in groups],
        color=[look.colour for look in groups.values()],
        hatch=[look.hatch for look in groups.values()],
        edgecolor=[GREY if look.colour in (TRACK, PAPER) else PAPER for look in groups.values()],
        linewidth=0.6,
    )
    axes.bar_label(bars, fmt="{:,.0f}", padding=2)
    axes.set_yticks([])
    axes.margins(x=0.01, y=0.16)


def _rows(axes: "Axes", shown: Sequence[Room]) -> None:
    """The names on the left, numbers and words on the right: bold where something is to be done."""
    named_rows(axes, [room.name for room in shown], pad=6)
    axes.spines.bottom.set_visible(False)
    longest = max(len(room.numbers) for room in shown)
    # A figure space is as wide as a digit.
    told = [f"{room.numbers.rjust(longest, chr(0x2007))}   {room.word}" for room in shown]
    right = axes.secondary_yaxis("right")
    right.set_yticks(range(len(shown)), told)
    right.spines.right.set_visible(False)
    for room, text in zip(shown, right.get_yticklabels(), strict=True):
        text.set_fontweight("bold" if room.state in _LOUD else "normal")


def _bars(axes: "Axes", shown: Sequence[RoomNow]) -> None:
    """A bar for each room: its users of its cap."""
    for place, room in enumerate(shown):
        look, share = STATES[room.state], room.share
        if room.users is None:  # a frame without a filling: nothing is known
            axes.barh(place, 1, 0.62, fill=False, edgecolor=FAINT, linestyle=(0, (3, 3)))
        elif share is not None:
            axes.barh(place, 1, 0.62, color=TRACK)
            axes.barh(
                place, share, 0.62, color=look.colour, hatch=look.hatch, edgecolor=PAPER, lw=0
            )
    axes.axvline(1, color=INK)
    _rows(axes, shown)
    axes.set_xlim(0, min(_WIDEST, max(1.0, *(room.share or 0 for room in shown), 1)) + 0.004)
    axes.set_xticks([0, 0.5, 0.8, 1], ["0", "50 %", "80 %", "100 %"])
    axes.set_xlabel("users per attendee_max")


def _lines(axes: "Axes", shown: Sequence[RoomCap]) -> None:
    """A line for each room from its cap of today to the suggested one."""

    def mark(word: str, sizes: Sequence[int | None], marker: str, **look: Any) -> None:
        """A mark in each row that has a size, and a word in the key."""
        found = [(size, place) for place, size in enumerate(sizes) if size]
        if found:
            axes.plot(*zip(*found, strict=True), marker, label=word, **look)

    ring = {"markerfacecolor": PAPER, "markeredgecolor": GREY, "markersize": 11, "mew": 1.6}
    mark("attendee_max today", [room.cap for room in shown], "o", **ring)
    for kind, look in KINDS.items():
        sizes = [room.suggested if room.state == kind else None for room in shown]
        mark(look.word, sizes, look.marker, color=look.colour, markersize=7)
    peaks = [None if room.peak == room.suggested else room.peak for room in shown]
    mark("peak", peaks, "|", color=INK, markersize=12, markeredgewidth=1.8)
    for place, room in enumerate(shown):
        if room.cap and room.suggested:
            axes.hlines(place, room.cap, room.suggested, KINDS[room.state].colour, lw=2.5, zorder=1)
    _rows(axes, shown)
    axes.grid(axis="y")
    axes.set_xscale("log")  # small rooms stand beside large ones
    axes.set_xticks([step * 10**power for power in range(7) for step in (1, 2, 5)])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("users, logarithmic scale")
    known = [size for room in shown for size in (room.cap, room.suggested, room.peak) if size]
    if known:
        axes.set_xlim(min(known) / 1.6, max(known) * 1.6)
        key(axes, columns=4)


def _window(report: "pd.DataFrame") -> str:
    """From when to when the samples are, and in which time zone."""
    totals, name = report.attrs.get("totals") or {}, report.attrs.get("timezone", "")
    if not totals.get("since"):
        return ""
    edges = (datetime.fromisoformat(totals[edge]) for edge in ("since", "until"))
    return f"{span(*edges)} ({name})"


def _basis(report: "pd.DataFrame", found: Sequence[RoomCap]) -> str:
    """What the suggestions rest on, and what they promise."""
    quantile, risk = report.attrs.get("quantile"), report.attrs.get("risk")
    if risk:
        weeks = counted(report.attrs["weeks_ahead"], "week")
        return f"at most {100 * risk:g} % of such rooms exceed theirs in {weeks}, on average"
    refused = sum(room.refused or 0 for room in found)
    rests = f"{100 * (quantile or 0):g} % of use fits, {refused:,} user-minutes do not"
    return f"{rests if quantile else 'the most that was seen'}; nothing is promised"


def _licences(report: "pd.DataFrame") -> str:
    """The most people in all rooms at once, which is what licences are bought by."""
    totals = report.attrs.get("totals") or {}
    peak, when = totals.get("people_peak"), totals.get("people_peak_at")
    if peak is None or not when or totals.get("rooms", len(report)) != len(report):
        return ""  # of a part of the rooms nobody has added it up
    told = moment(datetime.fromisoformat(when))
    return f"In all rooms at once: at least {peak:,} people, {told}."
