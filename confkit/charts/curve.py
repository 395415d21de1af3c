"""One room over time: its users as steps, its cap as a dashed line, gaps where nothing is known."""

from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import dates as of_time
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from ..occupancy.zones import zone
from ..text import counted
from .looks import BLUE, FAINT, GREY, INK, SKY, TRACK, VERMILION
from .rooms import needed
from .sheet import Chart, bare, sheet
from .texts import clean, day, lasting, middle, moment, short, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR = 2.5  # a cap so many times the peak would press the curve flat: it is reported, not drawn
_MOST = 1500  # steps that can be told apart in a picture; more samples are taken together
_WIDTHS = {
    "5min": "5 minutes",
    "15min": "quarter of an hour",
    "1h": "hour",
    "6h": "6 hours",
    "1D": "day",
    "7D": "week",
    "28D": "4 weeks",
    "364D": "52 weeks",
}


@dataclass(frozen=True)
class Track:
    """Steps in order of time, each of a `sample` or of what `each` names; one row per step.

    The index is the step's start in local time, `end` its end; where one ends before the next
    starts nothing was sampled. `users` and `people` (the most during the step), `mean` (of the
    users) and `cap` are floats, missing where unknown; a `cap` that is missing is none. `full` is
    for how long the users were at the cap. `capped` is False when no cap was ever read.
    """

    steps: pd.DataFrame
    each: str = "sample"
    capped: bool = True


def occupancy_curve(
    samples: pd.DataFrame,
    room_id: Any,
    *,
    topic: str | None = None,
    service: str | None = None,
    tz: str | tzinfo | None = None,
    width: float | None = None,
) -> Chart:
    """A Figure of one room over time: its users, its `attendee_max` dashed, and where it was full.

    `samples` are those of `load_occupancy`: `time`, `room_id`, `users` and, where there are such,
    `people`, `attendee_max` and `ret`. A sample that failed and a sweep that is missing are gaps,
    marked as not read. Of more than 1,500 samples each step is the peak of an hour, a day, ... .
    `topic` names the room, `service` (or the samples' `attrs`) stands in the title; `tz` defaults
    to local time, `width` to 880 pixels. `summary()` is the same finding as plain text, and the ten
    fullest days: by how long the room was at its cap, then by their peak.
    """
    here, zone_name = zone(tz)
    every = track(samples, room_id, here)
    name = short(clean(topic)) if topic else middle(clean(room_id), 36)
    head = [service or samples.attrs.get("service", ""), f"room {room_id}" if topic else ""]
    told = summary(every, name if topic else clean(room_id), zone_name)
    if every.steps.empty:
        why = "The samples hold no row of this room."
        return sheet(finding(every, name), head, why, told=told, width=width)

    def draw(figure: Chart) -> None:
        axes, found = figure.add_subplot(), readable(every)
        _steps(axes, found)
        _cap(axes, found.steps)
        _gaps(axes, found)
        _peak(axes, every)
        _dress(axes, here, entries=int(figure.bbox.width // 140))

    head.append(f"{span(*_edges(every))} ({zone_name})")
    return sheet(finding(every, name), head, draw, height=3.5, told=told, width=width)


def track(samples: pd.DataFrame, room_id: Any, here: tzinfo) -> Track:
    """The room's samples, one step each: it lasts to the next one, or for the usual interval.

    Of two samples of one time the last counts. The usual interval is the median between samples.
    """
    needed(samples, "the samples", "time", "room_id", "users")
    rows = samples[samples["room_id"].astype("string") == str(room_id)]
    rows = rows.assign(time=pd.to_datetime(rows["time"], utc=True))
    rows = rows.drop_duplicates("time", keep="last").sort_values("time")
    start = pd.DatetimeIndex(rows["time"]).as_unit("ms").tz_convert(here)
    users, people, cap, ret = (
        pd.to_numeric(rows[name]).to_numpy("float64", na_value=np.nan)
        if name in rows.columns
        else np.full(len(rows), np.nan)
        for name in ("users", "people", "attendee_max", "ret")
    )
    # A cap that was not read is what it was before; one that was read as missing is none.
    known = pd.Series(np.nan_to_num(cap)).mask(np.isnan(cap) & (np.nan_to_num(ret) != 0))
    cap = known.ffill().where(lambda caps: caps > 0).to_numpy("float64")

    apart = np.diff(start.asi8)
    usual = int(np.median(apart)) if len(apart) else 60_000
    lasts = np.append(np.where(apart <= 1.5 * usual, apart, usual), [usual] * (len(start) > 0))
    lasting = pd.to_timedelta(lasts, unit="ms")
    steps = pd.DataFrame(
        {
            "end": start + lasting,
            "users": users,
            "people": people,
            "mean": users,
            "cap": cap,
            "full": lasting.where(users >= cap, pd.Timedelta(0)),
        },
        index=start,
    )
    return Track(steps, capped=bool(known.notna().any()) or known.empty)


def readable(every: Track) -> Track:
    """The track in at most some 1,500 steps: each is the peak of an hour, a day, ... of local time.

    Nothing at a cap is lost by that: a step in which the room was full says for how long.
    """
    steps = every.steps
    if len(steps) <= _MOST:
        return every
    whole = steps["end"].iloc[-1] - steps.index[0]
    width = next((w for w in _WIDTHS if whole / pd.Timedelta(w) <= 1000), [*_WIDTHS][-1])
    bins = steps.resample(width)
    found = bins[["users", "people", "mean", "cap"]].max()
    found["mean"], found["full"] = bins["mean"].mean(), bins["full"].sum()
    found["end"] = [*found.index[1:], steps["end"].iloc[-1]]
    found.index = found.index.where(found.index > steps.index[0], steps.index[0])
    return replace(every, steps=found[bins.size().to_numpy() > 0], each=_WIDTHS[width])


def unread(found: Track) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
    """From when to when nothing is known between the first and the last sample, in order."""
    steps = found.steps
    known = steps[steps["users"].notna()]
    begins = [steps.index[0], *known["end"]]
    ends = [*known.index, steps["end"].iloc[-1]]
    return [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]


def finding(every: Track, name: str) -> str:
    """The room's peak, and for how long it was full, in one line."""
    steps = every.steps
    if steps.empty:
        return f"{name}: no samples"
    peak = steps["users"].max()
    if np.isnan(peak):
        return f"{name}: no sample could be read"
    if not peak:
        return f"{name}: empty whenever it was read"
    cap, full = steps["cap"].iloc[int(steps["users"].argmax())], steps["full"].sum()
    told = f"{name}: peak {counted(int(peak), 'user')}"
    told += ", no cap" if every.capped else ", attendee_max not read"
    if not np.isnan(cap):
        told = f"{name}: peak {peak:,.0f} of {cap:,.0f} users"
    return f"{told}, at the cap for {_long(full)}" if full else told


def summary(every: Track, name: str, zone_name: str) -> str:
    """The finding, what was read, and the ten fullest days."""
    steps, lines = every.steps, [finding(every, name)]
    if steps.empty:
        return lines[0]
    first, last = _edges(every)
    lines += [
        f"from {moment(first)} to {moment(last)} ({zone_name})",
        f"samples: {len(steps):,}, of which could not be read: {steps['users'].isna().sum():,}",
    ]
    if gaps := unread(every):
        lost = sum((end - begin for begin, end in gaps), pd.Timedelta(0))
        lines.append(f"not known for {_long(lost)}")
    if steps["full"].sum():
        lines.append("while a room is at its cap, how many wanted to come in is not known")
    of_day = steps.groupby(pd.DatetimeIndex(steps.index).date)
    days = of_day.agg({"users": "max", "full": "sum"}).query("users > 0")
    days = days.sort_values(["full", "users"], ascending=False, kind="stable")
    if not days.empty:
        lines.append("the fullest days:")
    for midnight, peak, full in days.head(10).itertuples():
        at_cap = f", at the cap for {_long(full)}" if full else ""
        lines.append(f"  {day(midnight)}: peak {peak:,.0f}{at_cap}")
    return "\n".join(lines)


def _edges(found: Track) -> tuple[pd.Timestamp, pd.Timestamp]:
    return found.steps.index[0], found.steps["end"].iloc[-1]


def _long(time: Any) -> str:
    return lasting(time.total_seconds() / 60)


def _steps(axes: "Axes", found: Track) -> None:
    steps, raw = found.steps, found.each == "sample"
    inner = steps["people"] if raw else steps["mean"]
    twofold = bool((steps["users"] - inner).abs().sum())
    time, users = _path(steps, steps["users"])
    outer = "external devices" if raw and twofold else ""
    axes.fill_between(time, users, color=SKY, alpha=0.35, linewidth=0, label=outer)
    if twofold:
        what = "people" if raw else "their mean"
        axes.fill_between(time, _path(steps, inner)[1], color=BLUE, alpha=0.55, lw=0, label=what)
    line = "users" if raw else f"users, peak of each {found.each}"
    axes.plot(time, users, color=BLUE, linewidth=1.1 if raw else 0.8, label=line)
    at_cap = (steps["full"] > pd.Timedelta(0)).to_numpy()
    if at_cap.any():
        _, full = _path(steps, steps["users"].where(at_cap))
        if raw:  # a day in which a room was full for an hour is not a full day
            axes.fill_between(time, full, facecolor=VERMILION, hatch="xx", edgecolor="white", lw=0)
        axes.plot(time, full, color=VERMILION, linewidth=4, solid_capstyle="butt")
        begins = steps[at_cap & ~np.append(False, at_cap[:-1])]
        axes.plot(
            begins.index,
            begins["users"],
            linestyle="",
            marker=7,
            markersize=7,
            color=VERMILION,
            markeredgewidth=0,
            clip_on=False,
            label="at the cap",
        )


def _cap(axes: "Axes", steps: pd.DataFrame) -> None:
    top = max(1.0, np.nan_to_num(steps["users"].max()))
    drawn, last = steps["cap"].where(steps["cap"] <= _FAR * max(top, 4.0)), steps["cap"].iloc[-1]
    axes.set_ylim(0, 1.16 * max(top, np.nan_to_num(drawn.max())))
    if drawn.notna().any():
        time, cap = _path(steps, drawn, bridged=True)
        axes.plot(time, cap, color=INK, linewidth=1.3, linestyle=(0, (5, 3)), label="attendee_max")
    if not np.isnan(last):
        far = bool(np.isnan(drawn.iloc[-1]))
        axes.annotate(
            f"cap {last:,.0f}{' ↑' * far}",
            (1, 1 if far else last),
            xycoords=("axes fraction", "axes fraction" if far else "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="top" if far else "center",
            fontsize=9,
            color=INK,
        )


def _gaps(axes: "Axes", found: Track) -> None:
    gaps = [_number(gap) for gap in unread(found)]
    if gaps:
        axes.broken_barh(
            [(begin, end - begin) for begin, end in gaps],
            (0, 1),
            facecolor=TRACK,
            zorder=0,
            transform=axes.get_xaxis_transform(),
            edgecolor=FAINT,
            hatch="//",
            linewidth=0,
            label="not read",
        )
    axes.set_xlim(*_number(_edges(found)))


def _peak(axes: "Axes", every: Track) -> None:
    users, (first, last) = every.steps["users"], _edges(every)
    if not users.max() > 0:
        return
    time = users.index[int(users.argmax())]
    across = (time - first) / (last - first)
    axes.annotate(
        f"{users.max():,.0f} on {moment(time)}",
        (time, users.max()),
        xytext=(0, 9),
        textcoords="offset points",
        fontsize=8.5,
        color=INK,
        va="bottom",
        ha="left" if across < 0.2 else "right" if across > 0.8 else "center",
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )


def _dress(axes: "Axes", here: tzinfo, entries: int) -> None:
    untyped: Any = of_time
    # No more than stand beside each other at this width, with seconds.
    most = min(9, round(axes.figure.bbox.width / 95))
    locator = untyped.AutoDateLocator(tz=here, minticks=min(4, most), maxticks=most)
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
        loc="lower left",
        bbox_to_anchor=(-0.006, 1.02),
        ncols=entries,
        frameon=False,
        fontsize=8.5,
        labelcolor=GREY,
        borderaxespad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
        borderpad=0,
    )


def _path(steps: pd.DataFrame, values: Any, *, bridged: bool = False) -> tuple[Any, Any]:
    """Start and end of each step at its value, and a hole where the next does not follow."""
    start, end, value = _number(steps.index), _number(steps["end"]), np.asarray(values)
    apart = np.append(end[:-1] < start[1:], False)
    if bridged:
        end = np.append(start[1:], end[-1:])
    hole = value if bridged else np.where(apart, np.nan, value)
    time = np.stack([start, end, end], axis=1).ravel()
    return time, np.stack([value, value, hole], axis=1).ravel()


def _number(times: Any) -> Any:
    """What matplotlib counts times in."""
    untyped: Any = of_time
    return untyped.date2num(times)
