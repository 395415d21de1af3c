"""Charts of rooms, a row each: how full they are now, and which cap they should have."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from ..text import counted
from .looks import FAINT, GREY, INK, KINDS, PAPER, STATES, TRACK, Look
from .rooms import Row, caps, rooms
from .sheet import Chart, key, sheet
from .sheet import rows as named_rows
from .texts import at, called, listed, moment, span

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TOP = 20  # so many rooms have a row each
_ROW = 0.3  # inches
_WIDEST = 1.35  # utilisation at which a bar is cut off; the number beside it is not
_LOUD = ("over", "full", "near", "raise", "reached")
# What rooms are counted by, the emptiest first.
_SPREAD = {
    "empty": STATES["empty"],
    **{
        f"{low} to {low + 19} %": STATES["near" if low == 80 else "in use"]
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
    count = Counter(row.state for row in found)
    over, unread = count["over"], count["unread"]
    finding = f"{count['full'] + over:,} of {counted(len(found), 'room')} full"
    finding += f" ({over:,} over the cap)" if over else ""
    finding += f", {count['near']:,} nearly"
    finding += f", {unread:,} could not be read" if unread else ""
    lost = [row.name for row in found[TOP:] if row.state == "unread"]
    note = f"Could not be read: {listed(lost, 8)}" if lost else ""
    return _ranking(
        found,
        _bars,
        (STATES, _SPREAD),
        ("by users per attendee_max", f"the {TOP} fullest", ""),
        finding,
        [service or frame.attrs.get("service", ""), at(time or frame.attrs.get("time"), tz)],
        note=note,
        last=note,
    )


def capacity_chart(report: "pd.DataFrame", *, service: str | None = None) -> Chart:
    """A Figure of each room's `attendee_max` today and the suggested one, the largest raise on top.

    The frame is that of `capacity_report`: `room_id`, `attendee_max`, `suggested`, and where there
    are such `topic`, `peak`, `minutes_in_use`, `minutes_full` and `reason`.
    Rooms to raise come first, then those that reached their cap, so that their true demand is not
    known, then those to lower, and the others. The first 20 rooms have a row each; where there are
    more, the counts of all stand above them. `service` (or the frame's `attrs`) stands in the
    title. `summary()` is the same finding as plain text, with the reason for each suggestion.
    """
    found, attrs = caps(report), report.attrs
    count = Counter(row.state for row in found)
    parts = [f"{count[kind]:,} {look.counted}" for kind, look in KINDS.items() if count[kind]]
    both = [row.sizes[:2] for row in found if all(row.sizes[:2])]
    old, new = (sum(pair[side] or 0 for pair in both) for side in (0, 1))
    together = f"caps together {old:,} today, {new:,} as suggested" if both else ""
    totals = attrs.get("totals") or {}
    when, note = totals.get("since") or "", ""
    if when:
        edges = (datetime.fromisoformat(totals[edge]) for edge in ("since", "until"))
        when = f"{span(*edges)} ({attrs.get('timezone', '')})"
    # Of a part of the rooms nobody has added up the people.
    if totals.get("people_peak_at") and totals.get("rooms", len(report)) == len(report):
        at_once = moment(datetime.fromisoformat(totals["people_peak_at"]))
        note = f"In all rooms at once: at least {totals['people_peak']:,} people, {at_once}."
    return _ranking(
        found,
        _lines,
        (KINDS, {look.word: look for look in KINDS.values()}),
        (
            "by what to do with attendee_max",
            f"the first {TOP}",
            ": raises, then rooms that reached their cap, then the rest",
        ),
        f"Caps of {counted(len(found), 'room')}: {', '.join(parts)}",
        [service or attrs.get("service", ""), when, together, _basis(attrs)],
        told=together,
        note=note,
    )


def _basis(attrs: Mapping[Any, Any]) -> str:
    """What the suggestions rest on, and what they promise."""
    if risk := attrs.get("risk"):
        share, ahead = f"at most {100 * risk:g} % of such caps", attrs["ahead"]
        return f"{share} are expected to be exceeded in the next {ahead}"
    return "each room's peak; nothing is promised"


def _ranking(
    found: Sequence[Row],
    draw: Callable[["Axes", Sequence[Row]], None],
    looks: tuple[Mapping[str, Look], Mapping[str, Look]],
    titles: tuple[str, str, str],
    finding: str,
    under: Sequence[str],
    *,
    told: str = "",
    note: str = "",
    last: str = "",
) -> Chart:
    """The chart of these rooms: a row for each of the first, and where there are more a column for
    each group of all above them. `looks` are those of states and of groups; `titles` say by what
    rooms are counted, which are named, and in which order."""
    states, groups = looks
    by, first, order = titles
    shown, more = found[:TOP], len(found) > TOP
    lower = len(shown) * _ROW + 1.2
    count = Counter(row.state for row in found)
    lines = [finding if found else "No rooms", told]
    lines += [f"{look.word}: {count[state]:,}" for state, look in states.items() if count[state]]
    lines += [f"{first}:"] * more
    lines += [f"  {called(row.name, row.room_id)}: {row.text}" for row in shown]

    def drawn(figure: Chart) -> None:
        if not more:
            draw(figure.add_subplot(), shown)
            return
        parts: Any = figure.subfigures(2, 1, height_ratios=[2.2, lower])
        texts = (f"All {len(found):,} rooms, {by}", first.capitalize() + order)
        for part, title in zip(parts, texts, strict=True):
            part.suptitle(f"\n{title}", x=0, ha="left", fontsize=9.5, fontweight="bold")
        _columns(parts[0].add_subplot(), groups, Counter(row.group for row in found))
        draw(parts[1].add_subplot(), shown)

    return sheet(
        lines[0],
        under,
        drawn if found else "There is no row.",
        height=lower + 2.2 * more if found else 0.7,
        told="\n".join(filter(None, [*lines, last])),
        note=note,
    )


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


def _rows(axes: "Axes", shown: Sequence[Row]) -> None:
    """The names on the left, numbers and words on the right: bold where something is to be done."""
    named_rows(axes, [row.name for row in shown], pad=6)
    axes.spines.bottom.set_visible(False)
    pad = 6.0  # points from the axes to where the texts of a column end, or begin
    for told, side in (
        ([row.numbers for row in shown], "right"),
        ([row.word for row in shown], "left"),
    ):
        column = axes.secondary_yaxis("right")
        column.set_yticks(range(len(shown)), told, ha=side)
        column.spines.right.set_visible(False)
        labels = column.get_yticklabels()
        for row, label in zip(shown, labels, strict=True):
            label.set_fontweight("bold" if row.state in _LOUD else "normal")
        if side == "right":
            widest = max(label.get_window_extent().width for label in labels)
            pad += widest * 72 / axes.figure.dpi
        column.tick_params(axis="y", pad=pad)
        pad += 9


def _bars(axes: "Axes", shown: Sequence[Row]) -> None:
    """A bar for each room: its users of its cap."""
    widest = 1.0
    for place, row in enumerate(shown):
        look, (users, cap) = STATES[row.state], row.sizes
        if users is None:  # a frame without a filling: nothing is known
            axes.barh(place, 1, 0.62, fill=False, edgecolor=FAINT, linestyle=(0, (3, 3)))
        elif cap:
            share = users / cap
            axes.barh(place, 1, 0.62, color=TRACK)
            bar: dict[str, Any] = {"color": look.colour, "hatch": look.hatch, "edgecolor": PAPER}
            axes.barh(place, share, 0.62, lw=0, **bar)
            widest = max(widest, share)
    axes.axvline(1, color=INK)
    _rows(axes, shown)
    axes.set_xlim(0, min(_WIDEST, widest) + 0.004)
    axes.set_xticks([0, 0.5, 0.8, 1], ["0", "50 %", "80 %", "100 %"])
    axes.set_xlabel("users per attendee_max")


def _lines(axes: "Axes", shown: Sequence[Row]) -> None:
    """A line for each room from its cap of today to the suggested one."""

    def mark(word: str, sizes: Sequence[int | None], marker: str, **look: Any) -> None:
        """A mark in each row that has a size, and a word in the key."""
        found = [(size, place) for place, size in enumerate(sizes) if size]
        if found:
            axes.plot(*zip(*found, strict=True), marker, label=word, **look)

    ring = {"markerfacecolor": PAPER, "markeredgecolor": GREY, "markersize": 11, "mew": 1.6}
    mark("attendee_max today", [row.sizes[0] for row in shown], "o", **ring)
    for kind, look in KINDS.items():
        sizes = [row.sizes[1] if row.state == kind else None for row in shown]
        mark(look.word, sizes, look.marker, color=look.colour, markersize=7)
    peaks = [None if row.sizes[2] == row.sizes[1] else row.sizes[2] for row in shown]
    mark("peak", peaks, "|", color=INK, markersize=12, markeredgewidth=1.8)
    for place, row in enumerate(shown):
        today, new, _ = row.sizes
        if today and new:
            axes.hlines(place, today, new, KINDS[row.state].colour, lw=2.5, zorder=1)
    _rows(axes, shown)
    axes.grid(axis="y")
    axes.set_xscale("log")  # small rooms stand beside large ones
    axes.set_xticks([step * 10**power for power in range(7) for step in (1, 2, 5)])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("users, logarithmic scale")
    if known := [size for row in shown for size in row.sizes if size]:
        axes.set_xlim(min(known) / 1.6, max(known) * 1.6)
        key(axes, columns=4)
