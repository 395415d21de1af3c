"""A building's week: people present by hour and weekday."""

import calendar
from datetime import tzinfo
from typing import Any

import numpy as np
import pandas as pd

from ..occupancy.samples import require_columns, service_of
from ..occupancy.times import format_span, time_zone
from ..text import counted
from .figure import BLUE, SOFT, Chart

_ENOUGH = 0.5  # of an hour's samples must have been read for a meaningful mean
_LEFT, _TOP, _WIDE, _HIGH = 40, 20, 28, 28  # pixels: the grid's origin, and a cell's size
_DEEPEST = 0.75  # the highest opacity at which text is readable on the colour

Hours = np.ndarray[Any, Any]  # 7 weekdays by 24 hours, nan where not known


def occupancy_heatmap(
    samples: pd.DataFrame,
    *,
    tz: str | tzinfo | None = None,
) -> Chart:
    """Return a Figure of the week, one cell per hour: the mean number of people present at once.

    `samples` are those of `load_occupancy`: `time`, `room_id` and `people`, which are summed over
    the rooms sampled in an hour; a cell is the mean over the dates. A failed sample counts as the
    mean of its room. External devices are not counted. Hours are those of `tz` (default: local
    time). An empty hour has no number; an hour of which less than half was read has a question
    mark. The title has the service of the samples. `summary()` is the chart as plain text, one line
    per weekday. ValueError: a column is missing, the time has no time zone, no such time zone, or
    several services.
    """
    zone, zone_name = time_zone(tz)
    require_columns(samples, "time", "room_id", "people")
    details = [service_of(samples) or ""]
    if samples.empty:
        return Chart("No samples", details)
    week = mean_week(samples, zone)
    unread, in_rooms = samples["people"].isna(), counted(samples["room_id"].nunique(), "room")
    edges = samples["time"].agg(["min", "max"]).dt.tz_convert(zone)
    details += [in_rooms, f"{format_span(*edges)} ({zone_name})"]
    if unread.any():
        details.append(f"{max(0.1, 100 * unread.mean()):.1f} % not read")
    details.append("?: not known" if np.isnan(week).any() else "")
    finding = _finding(week)
    lines = [f"people at once in {in_rooms}, by hour in {zone_name}"]
    days = zip(calendar.day_name, week, strict=True)
    lines += [f"{name}: {_describe_day(hours)}" for name, hours in days]
    chart = Chart(finding, details, _TOP + 7 * _HIGH + 4, lines)
    _draw(chart, week)
    return chart


def mean_week(samples: pd.DataFrame, zone: tzinfo) -> Hours:
    """Return the mean number of people at once in all these rooms, by weekday and local hour: the
    mean over the dates of the sum of the rooms' means. Recorders that share a folder read their
    rooms at different times.

    A sample that failed counts with its room's mean at that weekday and hour; an hour of which less
    than half was read is unknown.
    """
    local = samples["time"].dt.tz_convert(zone).dt.tz_localize(None)
    date, hour = local.dt.floor("h"), local.dt.day_of_week * 24 + local.dt.hour
    people, room = samples["people"].astype("float64"), samples["room_id"]
    usual = people.groupby([hour, room]).transform("mean")
    ever = people.groupby(room).transform("count") > 0  # a deleted room makes no hour unknown
    read = people.groupby(hour).count() / ever.groupby(hour).sum()
    rooms = people.fillna(usual).groupby([hour, date, room]).mean()
    mean = rooms.groupby(level=[0, 1]).sum(min_count=1).groupby(level=0).mean()
    return mean.where(read >= _ENOUGH).reindex(range(168)).to_numpy().reshape(7, 24)


def format_mean(mean: float) -> str:
    """Return a mean with as many digits as are useful and fit into a cell: 0.4, 7.0, 32, 12k."""
    if mean >= 9999.5:
        return f"{mean / 1000:.0f}k"
    return "<.1" if 0 < mean < 0.05 else f"{mean:.{0 if mean >= 9.95 else 1}f}"


def _finding(week: Hours) -> str:
    if np.isnan(week).all():
        return "Never read"
    if not np.nanmax(week):
        return "Empty in all samples"
    day, hour = divmod(int(np.nanargmax(week)), 24)
    mean = format_mean(week[day, hour])
    return f"Busiest: {calendar.day_name[day]} {hour:02}:00, {mean} people on average"


def _describe_day(hours: Hours) -> str:
    """Return the hours of a day with people, and the number of unknown ones."""
    busy = [f"{hour:02}:00 {format_mean(mean)}" for hour, mean in enumerate(hours) if mean > 0]
    if np.isnan(hours).all():
        return "not known"
    text, unknown = ", ".join(busy) or "nobody", int(np.isnan(hours).sum())
    return f"{text}; not known: {counted(unknown, 'hour')}" if unknown else text


def _draw(chart: Chart, week: Hours) -> None:
    top = max(0.1, np.nan_to_num(week).max())
    for hour in range(24):
        chart.write(_LEFT + (hour + 0.5) * _WIDE, 14, f"{hour:02}", ha="center", color=SOFT)
    for (day, hour), mean in np.ndenumerate(week):
        x, y, name = _LEFT + hour * _WIDE, _TOP + day * _HIGH, calendar.day_name[day]
        word, text = ("?", "not known") if np.isnan(mean) else ("", "nobody")
        if mean > 0:
            word, text = format_mean(mean), f"{format_mean(mean)} people on average"
        if mean >= 0:
            depth = 0.06 + (_DEEPEST - 0.06) * mean / top
            chart.box(x + 1, y + 1, _WIDE - 2, _HIGH - 2, BLUE, depth)
        if word:
            chart.write(x + _WIDE / 2, y + 18, word, ha="center")
        if hour == 0:
            chart.write(_LEFT - 8, y + 18, name[:3], ha="right")
        chart.hover(x, y, _WIDE, _HIGH, f"{name} {hour:02}:00 to {hour + 1:02}:00: {text}")
