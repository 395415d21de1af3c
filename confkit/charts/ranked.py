"""Charts of rooms, a row each: how full they are now, and which cap they should have."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import blended_transform_factory

from ..text import counted
from .looks import FAINT, GREY, INK, KINDS, STATES, TRACK, Look
from .rooms import (
    TOP,
    RoomCap,
    RoomNow,
    caps,
    decisions,
    first,
    fullness,
    rooms,
    seats,
    summary,
    unread,
)
from .sheet import Chart, bare, heading, sheet
from .sheet import rows as named_rows
from .texts import at, moment, span

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

Room = RoomNow | RoomCap
Groups = Sequence[tuple[str, int, Look]]  # what a column is called, its number and its look

_ROW = 0.3  # inches
_WIDEST = 1.35  # utilisation at which a bar is cut off; the number beside it is not
_WIDE = 20  # times the smallest cap: from here on small rooms need a scale of their own
_FIFTHS = ("under 20 %", "20 to 39 %", "40 to 59 %", "60 to 79 %")
# Of a suggestion: its mark and the size of that, and what the key says of it.
_MARKS = {
    "raise": (">", 8.5, "raise to"),
    "reached": ("s", 5, "reached: perhaps too low"),
    "lower": ("<", 8.5, "lower to"),
    "set": ("D", 8.5, "a first cap"),
    "keep": ("o", 5, "keep"),
}
_TODAY: dict[str, Any] = {
    "marker": "o",
    "markersize": 9,
    "markerfacecolor": "white",
    "markeredgecolor": GREY,
    "markeredgewidth": 1.6,
}
_PEAK: dict[str, Any] = {"marker": "|", "markersize": 13, "markeredgewidth": 1.8, "color": INK}


def occupancy_chart(
    frame: "pd.DataFrame",
    *,
    service: str | None = None,
    time: str | datetime | None = None,
    tz: str | tzinfo | None = None,
) -> Chart:
    """A Figure of rooms against their `attendee_max`, the most utilised on top.

    The frame is that of `occupancy_frame(sweep)`, or any with `room_id`, `users` and `attendee_max`
    and, where there is one, `topic`. Up to 30 rooms have a bar each; of more, the 20 fullest do,
    below the spread of all. A room whose users could not be read (missing) is named as such, never
    drawn as empty; one without a cap (missing or 0) has no utilisation. `service` and `time` (a
    datetime or ISO text) stand in the title and default to the frame's `attrs`; `tz` defaults to
    local time. `summary()` is the same finding as plain text: counts by state, then the rooms
    named, sorted as in the chart; nothing in it depends on the time of the sample.
    """
    found = rooms(frame)
    finding, lost = fullness(found), unread(found[first(found) :])
    told = summary(found, STATES, f"the {TOP} fullest:", finding)
    return _ranking(
        found,
        finding,
        f"{told}\n{lost}" if lost else told,
        _spread(found),
        _bars,
        under=[service or frame.attrs.get("service", ""), at(time or frame.attrs.get("time"), tz)],
        titles=(f"All {len(found):,} rooms, by users per attendee_max", f"The {TOP} fullest"),
        heights=(2.3, 0.9 if first(found) < len(found) else 0.5),
        apart=8,
        note=lost,
        none="The frame has no rows: no room was asked for.",
    )


def capacity_chart(report: "pd.DataFrame", *, service: str | None = None) -> Chart:
    """A Figure of each room's `attendee_max` today and the suggested one, the largest raise on top.

    The frame is that of `capacity_report`: `room_id`, `attendee_max`, `suggested`, and where there
    are such `topic`, `peak`, `minutes_in_use`, `minutes_full`, `refused_minutes` and `reason`.
    Rooms to raise come first, then those that reached their cap, so that their true demand is not
    known, then those to lower, and the others. Up to 30 rooms have a row each; of more, the first
    20 do, below the counts of all. `service` (or the frame's `attrs`) stands in the title.
    `summary()` is the same finding as plain text, with the reason for each suggestion.
    """
    found = caps(report)
    finding, count = decisions(found), Counter(room.state for room in found)
    return _ranking(
        found,
        finding,
        summary(found, KINDS, f"the first {TOP}:", finding, seats(found)),
        [
            (look.word, count[kind], look)
            for kind, look in KINDS.items()
            if count[kind] or kind != "open"
        ],
        _lines,
        under=[
            service or report.attrs.get("service", ""),
            _window(report),
            seats(found),
            _basis(report, found),
        ],
        titles=(
            f"All {len(found):,} rooms, by what to do with attendee_max",
            f"The first {TOP}: raises, then rooms that reached their cap, then the rest",
        ),
        heights=(1.8, 1.2 if first(found) < len(found) else 0.8),
        apart=5,
        note=_licences(report),
        none="The report has no rows.",
    )


def _ranking(
    found: Sequence[Room],
    finding: str,
    told: str,
    groups: Groups,
    draw: Callable[["SubFigure", Sequence[Any]], None],
    *,
    under: list[str],
    titles: tuple[str, str],
    heights: tuple[float, float],
    apart: int,
    note: str,
    none: str,
) -> Chart:
    """The chart of these rooms: a row for each of the first, and where there are more a column for
    each group of all above them. `heights` are those of the columns, and of what the rows need
    beside themselves."""
    shown = found[: first(found)]
    upper, lower = heights[0] * (len(shown) < len(found)), max(1, len(shown)) * _ROW + heights[1]

    def drawn(figure: Chart) -> None:
        ratios = [height for height in (upper, lower) if height]
        *above, below = figure.subfigures(len(ratios), 1, squeeze=False, height_ratios=ratios).flat
        for part in above:
            heading(part, titles[0])
            heading(below, titles[1])
            _columns(part.add_subplot(), groups, apart)
        draw(below, shown)

    height = upper + lower
    return sheet(finding, under, drawn if found else none, height=height, note=note, told=told)


def _columns(axes: "Axes", groups: Groups, apart: int) -> None:
    """A column a group, with its number on top; those from the place `apart` on stand apart."""
    places = [place + 0.35 * (place >= apart) for place in range(len(groups))]
    for place, (_, number, look) in zip(places, groups, strict=True):
        light = look.colour > "#e8"  # would not stand out from the paper
        axes.bar(
            place,
            number,
            width=0.82,
            color=look.colour,
            hatch=look.hatch,
            linewidth=0.6,
            edgecolor=GREY if light else "white",
            zorder=2,
        )
        axes.annotate(
            f"{number:,}",
            (place, number),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=INK if number else FAINT,
        )
    axes.set_xticks(places, [text for text, _, _ in groups])
    axes.set_yticks([])
    axes.set_ylim(0, 1.16 * max([1, *(number for _, number, _ in groups)]))
    axes.margins(x=0.01)
    bare(axes)
    axes.tick_params(axis="x", labelcolor=INK)


def _rows(axes: "Axes", shown: Sequence[Room], loud: set[str], quiet: set[str]) -> None:
    """The names on the left; on the right of each row its numbers and its word: bold in a `loud`
    state, and left out in a `quiet` one."""
    reach = 5.1 * max(len(room.numbers) for room in shown)  # points
    for place, room in enumerate(shown):
        bold, word = room.state in loud, "" if room.state in quiet else room.word
        for text, offset, side, weight in (
            (room.numbers, 10 + reach, "right", "normal"),
            (word, 18 + reach, "left", "bold" if bold else "normal"),
        ):
            axes.annotate(
                text,
                (1, place),
                xycoords=("axes fraction", "data"),
                xytext=(offset, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=9,
                fontweight=weight,
                color=INK if bold or side == "right" else GREY,
            )
    named_rows(axes, [room.name for room in shown], keep="", pad=6)


def _bars(part: "SubFigure", shown: Sequence[RoomNow]) -> None:
    """A bar for each room: its users of its cap."""
    axes = part.add_subplot()
    shares = [room.share or 0.0 for room in shown]
    capped = [place for place, room in enumerate(shown) if room.share is not None]
    axes.barh(capped, 1.0, height=0.62, color=TRACK, label="free", zorder=1)
    for state, look in STATES.items():
        places = [place for place in capped if shown[place].state == state]
        if places:
            axes.barh(
                places,
                [min(shares[place], _WIDEST) for place in places],
                height=0.62,
                color=look.colour,
                hatch=look.hatch,
                linewidth=0,
                edgecolor="white",
                label=look.word,
                zorder=2,
            )
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
    _rows(axes, shown, loud={"over", "full", "near"}, quiet={"free", "no cap", "unread"})
    axes.set_xlim(0, min(_WIDEST, max([1.0, *shares])) + 0.004)
    axes.set_xticks([0, 0.5, 0.8, 1.0], ["0", "50 %", "80 %", "100 %"])
    axes.set_xlabel("users per attendee_max", fontsize=8.5, color=GREY, loc="left")


def _spread(found: Sequence[RoomNow]) -> Groups:
    """How many rooms are how full: those in use by the fifth of their cap."""
    count = Counter(
        _FIFTHS[5 * room.users // room.cap]
        if room.state == "free" and room.users and room.cap
        else room.state
        for room in found
    )
    groups = [
        ("empty", "empty"),
        *((text, "free") for text in _FIFTHS),
        ("80 to 99 %", "near"),
        ("full", "full"),
        ("over", "over"),
        ("no cap", "no cap"),
        ("not read", "unread"),
    ]
    return [
        (text, count[text if state == "free" else state], STATES[state]) for text, state in groups
    ]


def _lines(part: "SubFigure", shown: Sequence[RoomCap]) -> None:
    """A line for each room from its cap of today to the suggested one."""
    axes = part.add_subplot()
    axes.grid(axis="y", color=TRACK, linewidth=0.8)
    axes.set_axisbelow(True)

    def mark(sizes: Sequence[int | None], word: str, **look: Any) -> None:
        """A mark in each row that has a size, and a word in the key."""
        places = [place for place, size in enumerate(sizes) if size]
        if places:
            axes.plot([size for size in sizes if size], places, linestyle="", label=word, **look)

    mark([room.cap for room in shown], "attendee_max today", zorder=2, **_TODAY)
    for state, (shape, wide, word) in _MARKS.items():
        sizes = [room.suggested if room.state == state else None for room in shown]
        look = {"color": KINDS[state].colour, "marker": shape, "markersize": wide}
        mark(sizes, word, zorder=3, markeredgecolor="white", markeredgewidth=0.6, **look)
    for place, room in enumerate(shown):
        if room.cap and room.suggested:
            colour = KINDS[room.state].colour
            axes.hlines(place, room.cap, room.suggested, colour, lw=2.5, zorder=1)
    mark([room.peak if room.peak != room.suggested else None for room in shown], "peak", **_PEAK)
    _rows(axes, shown, loud={"raise", "reached"}, quiet=set())
    _scale(axes, [size for room in shown for size in (room.cap, room.suggested, room.peak) if size])
    if axes.lines:
        _key(axes, part)


def _scale(axes: "Axes", sizes: list[int]) -> None:
    """Numbers of users from left to right, by their multiples where small rooms are beside large
    ones."""
    low, high = min(sizes, default=1) / 1.15, max(sizes, default=1) * 1.15
    if wide := high > _WIDE * low:
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        steps = (step * 10**power for power in range(10) for step in (1, 2, 5))
        axes.set_xticks([step for step in steps if low <= step <= high])
        axes.set_xticks([], minor=True)
    else:
        axes.set_xlim(0, high)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    scale = "users, logarithmic scale" if wide else "users"
    axes.set_xlabel(scale, fontsize=8.5, color=GREY, loc="left")


def _key(axes: "Axes", part: "SubFigure") -> None:
    axes.set_title(" ", fontsize=8.5, pad=9)  # keeps the place of the key, which is wider
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(_MARKS) + 2,
        frameon=False,
        bbox_transform=blended_transform_factory(part.transSubfigure, axes.transAxes),
        fontsize=8.5,
        labelcolor=GREY,
        handletextpad=0.2,
        columnspacing=1.2,
        borderaxespad=0.5,
        borderpad=0,
        handlelength=1.4,
    ).set_in_layout(False)


def _window(report: "pd.DataFrame") -> str:
    """From when to when the samples are, and in which time zone."""
    totals, name = report.attrs.get("totals") or {}, report.attrs.get("timezone", "")
    since, until = (totals.get(edge) for edge in ("since", "until"))
    if not since or not until:
        return ""
    return f"{span(datetime.fromisoformat(since), datetime.fromisoformat(until))} ({name})"


def _basis(report: "pd.DataFrame", found: Sequence[RoomCap]) -> str:
    """What the suggestions rest on, and what they promise."""
    quantile, risk = report.attrs.get("quantile"), report.attrs.get("risk")
    refused = sum(room.refused for room in found)
    if risk:
        weeks = counted(report.attrs["weeks_ahead"], "week")
        return f"at most {100 * risk:g} % of such rooms exceed theirs in {weeks}, on average"
    if quantile:
        rests = f"{100 * quantile:g} % of use fits, {refused:,} user-minutes do not"
    else:
        rests = "the most that was seen"
    return f"{rests}; nothing is promised"


def _licences(report: "pd.DataFrame") -> str:
    """The most people in all rooms at once, which is what licences are bought by."""
    totals = report.attrs.get("totals") or {}
    peak, when = totals.get("people_peak"), totals.get("people_peak_at")
    if peak is None or not when or totals.get("rooms", len(report)) != len(report):
        return ""  # of a part of the rooms nobody has added it up
    told = moment(datetime.fromisoformat(when))
    return f"In all rooms at once: at least {peak:,} people, {told}."
