"""Today's caps against the suggested ones: a line a room from one to the other."""

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .caps import KINDS, RoomCap, caps, finding, seats, summary
from .looks import GREY, INK, TRACK
from .panels import MOST, ROW, TOP, columns, rows
from .sheet import finished, heading, nothing, parts, sheet
from .times import moment, plain, span

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from .figure import Chart

_UPPER = 1.8  # inches
_WIDE = 20  # times the smallest: from here on small rooms need a scale of their own
_WORDS = {"raise": "raise to", "reached": "reached: perhaps too low", "lower": "lower to",
          "set": "a first cap", "keep": "keep"}  # fmt: skip
_MARKS = {"raise": ">", "reached": "s", "lower": "<", "set": "D", "keep": "o"}


def capacity_chart(report: "pd.DataFrame", *, service: str | None = None) -> "Chart":
    """A Figure of each room's `attendee_max` today and the suggested one, the largest raise on top.

    The frame is that of `capacity_report`: `room_id`, `attendee_max`, `suggested`, and where there
    are such `topic`, `peak`, `minutes_full`, `refused_minutes` and `reason`. Rooms to raise come
    first, then those that reached their cap, so that their true demand is not known, then those to
    lower, and the others. Up to 30 rooms have a row each; of more, the first 20 do, below the
    counts of all. `service` (or the frame's `attrs`) stands in the title.
    """
    found = caps(report)
    many = len(found) > MOST
    shown = found[:TOP] if many else found
    head = [
        service or report.attrs.get("service", ""), _window(report), seats(found),
        _basis(report, found),
    ]  # fmt: skip
    body = max(1, len(shown)) * ROW + (1.2 if many else 0.8)
    figure = sheet(
        finding(found), head, height=body + (_UPPER if many else 0), note=_licences(report),
        told=summary(found),
    )  # fmt: skip
    if not found:
        return nothing(figure, "The report has no rows.")
    *upper, part = parts(figure, _UPPER, body) if many else parts(figure, body)
    if upper:
        heading(upper[0], f"All {len(found):,} rooms, by what to do with attendee_max")
        heading(part, f"The first {TOP}: raises, then rooms that reached their cap, then the rest")
        count = Counter(room.kind for room in found)
        groups = [(look.word, count[kind], look) for kind, look in KINDS.items()]
        columns(upper[0].add_subplot(), groups, apart=5)
    axes = part.add_subplot()
    _lines(axes, shown)
    _key(axes, part, shown)
    return finished(figure)


def capacity_summary(report: "pd.DataFrame") -> str:
    """The same finding as `capacity_chart` as plain text, with the reason for each suggestion."""
    return summary(caps(report))


def _window(report: "pd.DataFrame") -> str:
    """From when to when the samples are, and in which time zone."""
    totals, name = report.attrs.get("totals") or {}, plain(report.attrs.get("timezone", ""))
    since, until = (totals.get(edge) for edge in ("since", "until"))
    if not since or not until:
        return ""
    return f"{span(datetime.fromisoformat(since), datetime.fromisoformat(until))} ({name})"


def _basis(report: "pd.DataFrame", found: list[RoomCap]) -> str:
    """What the suggestions rest on, where that is not the peak."""
    quantile = report.attrs.get("quantile")
    refused = sum(room.refused for room in found)
    return f"{100 * quantile:g} % of use fits, {refused:,} user-minutes do not" if quantile else ""


def _licences(report: "pd.DataFrame") -> str:
    """The most people in all rooms at once, which is what licences are bought by."""
    totals = report.attrs.get("totals") or {}
    peak, at = totals.get("people_peak"), totals.get("people_peak_at")
    if peak is None or not at or totals.get("rooms", len(report)) != len(report):
        return ""  # of a part of the rooms nobody has added it up
    return f"In all rooms at once: at least {peak:,} people, {moment(datetime.fromisoformat(at))}."


def _lines(axes: "Axes", shown: list[RoomCap]) -> None:
    sizes = [value for room in shown for value in (room.cap, room.suggested, room.peak) if value]
    for place, room in enumerate(shown):
        look = KINDS[room.kind]
        axes.axhline(place, color=TRACK, linewidth=0.8, zorder=0)
        if room.peak and room.peak != room.suggested:
            axes.plot(room.peak, place, "|", color=INK, markersize=13, markeredgewidth=1.8)
        if room.cap and room.suggested:
            axes.plot([room.cap, room.suggested], [place] * 2, color=look.colour, lw=2.5, zorder=1)
        if room.cap:
            axes.plot(
                room.cap, place, "o", markersize=9, markerfacecolor="white", zorder=2,
                markeredgecolor=GREY, markeredgewidth=1.6,
            )  # fmt: skip
        if room.suggested:
            axes.plot(
                room.suggested, place, _MARKS[room.kind], color=look.colour, zorder=3,
                markersize=5 if room.suggested == room.cap else 8.5, markeredgecolor="white",
                markeredgewidth=0.6,
            )  # fmt: skip
    rows(
        axes, [room.name for room in shown],
        [(room.numbers, room.word, room.kind in ("raise", "reached")) for room in shown],
    )  # fmt: skip
    _scale(axes, sizes or [1])


def _scale(axes: "Axes", sizes: list[int]) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = min(sizes) / 1.15, max(sizes) * 1.15
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


def _key(axes: "Axes", part: "SubFigure", shown: list[RoomCap]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.transforms import blended_transform_factory

    def mark(shape: str, text: str, **look: Any) -> Line2D:
        return Line2D([], [], linestyle="", marker=shape, label=text, **look)

    kinds = {room.kind for room in shown}
    marks = [mark("o", "attendee_max today", markersize=9, markerfacecolor="white",
                  markeredgecolor=GREY, markeredgewidth=1.6)]  # fmt: skip
    marks += [
        mark(shape, _WORDS[kind], markersize=8, color=KINDS[kind].colour, markeredgecolor="white")
        for kind, shape in _MARKS.items() if kind in kinds
    ]  # fmt: skip
    if any(room.peak and room.peak != room.suggested for room in shown):
        marks.append(mark("|", "peak", markersize=13, color=INK, markeredgewidth=1.8))
    axes.set_title(" ", fontsize=8.5, pad=9)  # keeps the place of the key, which is wider
    axes.legend(
        handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(marks), frameon=False,
        bbox_transform=blended_transform_factory(part.transSubfigure, axes.transAxes),
        fontsize=8.5, labelcolor=GREY, handletextpad=0.2, columnspacing=1.2, borderaxespad=0.5,
        borderpad=0, handlelength=1.4,
    ).set_in_layout(False)  # fmt: skip
