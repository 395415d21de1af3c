"""One room over time: its users as steps, its cap as a dashed line, gaps where nothing is known."""

from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from .course import finding, summary
from .looks import BLUE, FAINT, GREY, INK, SKY, TRACK, VERMILION
from .names import clean, middle, short
from .sheet import bare, finished, nothing, sheet
from .times import moment, span, zone
from .track import Track, local, readable, track, unread

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .figure import Chart

_FAR = 2.5  # a cap so many times the peak would press the curve flat: it is told, not drawn


def occupancy_curve(
    samples: "pd.DataFrame",
    room_id: Any,
    *,
    topic: str | None = None,
    service: str | None = None,
    tz: str | tzinfo | None = None,
) -> "Chart":
    """A Figure of one room over time: its users, its `attendee_max` dashed, and where it was full.

    `samples` are those of `load_occupancy`: `time`, `room_id`, `users` and, where there are such,
    `people`, `attendee_max` and `ret`. A sample that failed and a sweep that is missing are gaps,
    marked as not read. Of more than 1,500 samples each step is the peak of an hour, a day, ... .
    `topic` names the room, `service` (or the samples' `attrs`) stands in the title; `tz` defaults
    to local time.
    """
    import numpy as np

    here, zone_name = zone(tz)
    every = track(samples, room_id)
    name = short(clean(topic)) if topic else middle(clean(room_id), 36)
    head = [service or samples.attrs.get("service", ""), f"room {room_id}" if topic else ""]
    told = summary(every, name, here, zone_name)
    if not len(every.start):
        figure = sheet(finding(every, name), head, height=0.7, told=told)
        return nothing(figure, "The samples hold no row of this room.")
    found = readable(every, here)
    head += [f"{span(local(every.start[0], here), local(every.end[-1], here))} ({zone_name})"]
    figure = sheet(finding(every, name), head, height=3.5, told=told)
    axes = figure.add_subplot()
    top = np.nanmax(np.append(found.users, 1.0))
    _steps(axes, found)
    _cap(axes, found, float(top))
    _gaps(axes, found)
    _peak(axes, every, here)
    _dress(axes, here)
    return finished(figure)


def curve_summary(
    samples: "pd.DataFrame", room_id: Any, *, topic: str | None = None,
    tz: str | tzinfo | None = None,
) -> str:  # fmt: skip
    """The same finding as `occupancy_curve` as plain text, and the ten fullest days.

    The days are sorted by how long the room was at its cap, then by their peak.
    """
    here, zone_name = zone(tz)
    name = short(clean(topic)) if topic else clean(room_id)
    return summary(track(samples, room_id), name, here, zone_name)


def _steps(axes: "Axes", found: Track) -> None:
    import numpy as np

    raw = found.each == "sample"
    time, users = _path(found, found.users)
    inner = found.people if raw else found.mean
    twofold = bool(np.nansum(np.abs(found.users - inner)))
    outer = "external devices" if raw and twofold else ""
    axes.fill_between(time, users, color=SKY, alpha=0.35, linewidth=0, label=outer)
    if twofold:
        what = "people" if raw else "their mean"
        axes.fill_between(time, _path(found, inner)[1], color=BLUE, alpha=0.55, lw=0, label=what)
    line = "users" if raw else f"users, peak of each {found.each}"
    axes.plot(time, users, color=BLUE, linewidth=1.1 if raw else 0.8, label=line)
    if found.full.any():
        _, full = _path(found, np.where(found.full > 0, found.users, np.nan))
        if raw:  # a day in which a room was full for an hour is not a full day
            axes.fill_between(time, full, facecolor=VERMILION, hatch="xx", edgecolor="white", lw=0)
        axes.plot(time, full, color=VERMILION, linewidth=4, solid_capstyle="butt")
        begins = np.flatnonzero(np.diff(found.full > 0, prepend=False))[::2]
        axes.plot(
            _days(found.start[begins]), found.users[begins], linestyle="", marker=7, markersize=7,
            color=VERMILION, markeredgewidth=0, clip_on=False, label="at the cap",
        )  # fmt: skip


def _cap(axes: "Axes", found: Track, top: float) -> None:
    import numpy as np

    drawn = np.where(found.cap <= _FAR * max(top, 4.0), found.cap, np.nan)
    highest = np.nanmax(np.append(drawn, top))
    axes.set_ylim(0, 1.16 * highest)
    last = found.cap[-1]
    if not np.isnan(drawn).all():
        time, cap = _path(found, drawn, bridged=True)
        axes.plot(time, cap, color=INK, linewidth=1.3, linestyle=(0, (5, 3)), label="attendee_max")
    if not np.isnan(drawn[-1]):
        axes.annotate(
            f"cap {last:,.0f}", (1, last), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize=9, color=INK,
        )  # fmt: skip
    elif not np.isnan(last):
        axes.annotate(
            f"cap {last:,.0f} ↑", (1, 1), xycoords="axes fraction", xytext=(6, 0),
            textcoords="offset points", va="top", fontsize=9, color=INK,
        )  # fmt: skip


def _gaps(axes: "Axes", found: Track) -> None:
    import numpy as np

    gaps = unread(found)
    if gaps:
        spans = [(_days(start), (end - start) / 86_400_000) for start, end in gaps]
        axes.broken_barh(
            spans, (0, 1), transform=axes.get_xaxis_transform(), facecolor=TRACK, zorder=0,
            edgecolor=FAINT, hatch="....", linewidth=0, label="not read",
        )  # fmt: skip
    axes.set_xlim(*_days(np.array([found.start[0], found.end[-1]])))


def _peak(axes: "Axes", every: Track, here: tzinfo) -> None:
    import numpy as np
    from matplotlib.patheffects import withStroke

    if not np.nan_to_num(every.users).any():
        return
    place = int(np.nanargmax(every.users))
    time, users = every.start[place], every.users[place]
    across = (time - every.start[0]) / (every.end[-1] - every.start[0])
    axes.annotate(
        f"{users:,.0f} on {moment(local(time, here))}", (_days(time), users), xytext=(0, 9),
        textcoords="offset points", fontsize=8.5, color=INK, va="bottom",
        ha="left" if across < 0.2 else "right" if across > 0.8 else "center",
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def _dress(axes: "Axes", here: tzinfo) -> None:
    from matplotlib import dates as of_time
    from matplotlib.ticker import MaxNLocator

    untyped: Any = of_time
    locator = untyped.AutoDateLocator(tz=here, minticks=4, maxticks=9)
    dates = untyped.ConciseDateFormatter(locator, tz=here, show_offset=False)
    dates.formats = ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"]
    dates.zero_formats = ["", "%b %Y", "%d %b", "%d %b", "%H:%M", "%H:%M"]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.grid(axis="y", color=TRACK, linewidth=0.8)
    axes.set_axisbelow(True)
    bare(axes)
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.006, 1.02), ncols=6, frameon=False, fontsize=8.5,
        labelcolor=GREY, borderaxespad=0.2, handlelength=1.6, columnspacing=1.4, borderpad=0,
    )  # fmt: skip


def _path(found: Track, values: Any, *, bridged: bool = False) -> tuple[Any, Any]:
    """Start and end of each step at its value, and a hole where the next does not follow."""
    import numpy as np

    apart = np.append(found.end[:-1] < found.start[1:], False)
    end = np.append(found.start[1:], found.end[-1:]) if bridged else found.end
    hole = values if bridged else np.where(apart, np.nan, values)
    time = np.stack([found.start, end, end], axis=1).ravel()
    return _days(time), np.stack([values, values, hole], axis=1).ravel()


def _days(instant: Any) -> Any:
    return instant / 86_400_000  # what matplotlib counts dates in, from 1970
