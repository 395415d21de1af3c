"""One room over time: its users as steps, its cap as a dashed line, gaps where nothing was read."""

from collections.abc import Iterator
from datetime import tzinfo
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import dates
from matplotlib.ticker import MaxNLocator

from ..occupancy.samples import require_columns, service_of
from ..occupancy.times import duration, format_moment, format_span, time_zone
from ..text import counted
from .figure import BLUE, INK, LINE, NEUTRAL, ORANGE, SOFT, Chart, shorten, text_width
from .rooms import clean, room_state

_MAX_CAP_RATIO = 2.5  # to the peak: a higher cap would flatten the curve, and is not drawn
_MAX_STEPS = 300  # that can be distinguished, and pointed at
_MAX_PERIOD = pd.Timedelta("8D")  # over longer periods samples look like a bar code
_TOP, _BOTTOM = 26, 208  # pixels: the area of the steps
# Too many steps are aggregated into the first of these bins of which there are few enough.
_BINS = {"1min": "minute", "5min": "5 minutes", "15min": "15 minutes", "1h": "hour", "1D": "day"}


def occupancy_curve(
    samples: pd.DataFrame,
    room_id: Any,
    *,
    topic: str | None = None,
    tz: str | tzinfo | None = None,
    width: float | None = None,
) -> Chart:
    """Return a Figure of one room over time: its users, and its `attendee_max` as a dashed line.

    `samples` are those of `load_occupancy`: `time`, `room_id`, `users`, optionally `attendee_max`.
    Failed samples and missing sweeps are gaps, marked as not read. With more than 300 changes or 8
    days each step is the peak of an hour, a day, ... . `topic` names the room, the title has the
    service of the samples; `tz` defaults to local time, `width` to 720 pixels. `summary()` is the
    title as plain text. ValueError: a column is missing, the time has no time zone, no such time
    zone, or several services.
    """
    zone, zone_name = time_zone(tz)
    steps = track(samples, room_id, zone)
    name = shorten(clean(topic) or clean(room_id))
    finding = f"{name}: {_finding(steps)}"
    details = [service_of(samples) or "", f"room {room_id}" if topic else ""]
    if steps.empty:
        return Chart(finding, details, width=width)
    details.append(f"{format_span(steps.index[0], steps.index[-1])} ({zone_name})")
    if steps["users"].max() > 0:
        details.append(f"peak on {format_moment(steps.index[int(steps['users'].argmax())])}")
    if unread := steps["lasts"][steps["users"].isna()].sum():
        details.append(f"not read for {duration(unread)}")
    chart = Chart(finding, details, _BOTTOM + 24, details, width)
    _draw(chart, name, *readable(steps))
    return chart


def track(samples: pd.DataFrame, room_id: Any, zone: tzinfo) -> pd.DataFrame:
    """Return the room's steps in order of time: each lasts to the next, the last row is the end.

    The index is local time. `users` and `cap` are floats, missing if unknown; a `cap` of 0 means no
    cap. A sample `lasts` for the usual interval, the median of those around it; if the next one is
    later, a step of unknown values follows. `full` is the number of minutes with the users at the
    cap. Of two samples at the same time the last counts.
    """
    require_columns(samples, "time", "room_id", "users")
    rows = samples[samples["room_id"].astype("string") == str(room_id)]
    rows = rows.reindex(columns=["time", "users", "attendee_max"])
    rows = rows.set_axis(["time", "users", "cap"], axis="columns")
    rows["time"] = rows["time"].dt.tz_convert(zone)
    rows = rows.drop_duplicates("time", keep="last").set_index("time").sort_index()
    rows = rows.astype("float64")
    gaps = rows.index.to_series().diff().shift(-1).dt.total_seconds()
    # The interval of a recording may change; of two recorders at once, each second is short.
    around = gaps.rolling(11, center=True, min_periods=1).quantile(0.5, interpolation="higher")
    usual = around.rolling(3, center=True, min_periods=1).max().fillna(60)
    late = ~(gaps <= 1.5 * usual)
    ends = rows.index[late] + pd.to_timedelta(usual[late].to_numpy(), unit="s")
    steps: pd.DataFrame = rows.reindex(rows.index.union(ends))
    # With users a missing cap was read, and is none; otherwise its last value counts.
    steps["cap"] = steps["cap"].mask(steps["cap"].isna() & steps["users"].notna(), 0).ffill()
    steps["lasts"] = steps.index.to_series().diff().shift(-1).dt.total_seconds() / 60
    full = (steps["users"] >= steps["cap"]) & (steps["cap"] > 0)
    return steps.assign(full=steps["lasts"].where(full, 0))


def readable(steps: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the steps, equal neighbours merged, and ""; or, of too many or too long a time, the
    peak and the minutes at the cap per "hour", "day", ... of local time, and that name."""
    values = steps[["users", "cap"]].fillna(-1)
    new = values.ne(values.shift()).any(axis=1)
    new.iloc[-1] = True
    period = steps.index[-1] - steps.index[0]
    if new.sum() <= _MAX_STEPS and period <= _MAX_PERIOD:
        return steps.assign(full=steps.groupby(new.cumsum())["full"].transform("sum"))[new], ""
    longest = pd.Timedelta(steps["lasts"][steps["users"].notna()].max(), "min")  # of a sample
    least = max(period / _MAX_STEPS, longest)
    size = next((size for size in _BINS if pd.Timedelta(size) >= least), "7D")
    rows = steps.iloc[:-1]
    try:
        bins = rows.resample(size)
    except ValueError:  # a recording begins or ends on a day without, or with two, midnights
        bins = rows.tz_convert("UTC").resample(size)
    peaks = bins[["users", "cap"]].max().assign(full=bins["full"].sum())
    peaks = peaks.tz_convert(steps.index[-1].tz)
    peaks = peaks.reindex(peaks.index.union(steps.index[-1:]))
    return peaks.assign(cap=peaks["cap"].ffill()), _BINS.get(size, "week")


def _finding(steps: pd.DataFrame) -> str:
    """Return the room's peak, and how long it was full, in one line."""
    if steps.empty:
        return "no samples"
    if steps["users"].isna().all():
        return "never read"
    fullest = steps.iloc[int(steps["users"].argmax())]
    peak, cap, full = fullest["users"], fullest["cap"], steps["full"].sum()
    if not peak:
        return "empty in all samples"
    text = f"peak {counted(int(peak), 'user')}, no cap"
    if cap > 0:
        text = f"peak {peak:,.0f} of {cap:,.0f} users"
    return f"{text}, at the cap for {duration(full)}" if full else text


def _draw(chart: Chart, name: str, steps: pd.DataFrame, bin_name: str) -> None:
    """Draw the steps, each the peak of a bin if `bin_name` is not empty."""
    users, full = steps["users"], steps["full"] > 0
    cap = steps["cap"].where(steps["cap"].between(1, _MAX_CAP_RATIO * max(4.0, users.max())))
    most = 1.16 * np.nanmax([1.0, users.max(), cap.max()])
    values = [value for value in MaxNLocator(4, integer=True).tick_values(0, most) if value <= most]
    first, last = steps.index[0], steps.index[-1]
    left, right = max(36, 12 + text_width(f"{values[-1]:,.0f}")), chart.width_px - 8
    scale = (right - left) / (last - first).total_seconds()
    edges = left + scale * (steps.index - first).total_seconds().to_numpy()

    def y_of(value: Any) -> Any:
        return _BOTTOM - (_BOTTOM - _TOP) * value / most

    for value in values:
        chart.box(left, y_of(value), right - left, 0.7, LINE)
        chart.write(left - 6, y_of(value) + 4, f"{value:,.0f}", ha="right", color=SOFT)
    free = 0.0  # the x from which there is space for a label
    for moment, word in _ticks(first, last, max(5, round(chart.width_px / 95))):
        x, half = left + scale * (moment - first).total_seconds(), text_width(word) / 2
        chart.box(x, _BOTTOM, 1, 4, LINE)
        if free <= x - half and x + half <= chart.width_px:
            chart.write(x, _BOTTOM + 17, word, ha="center", color=SOFT)
            free = x + half + 6
    for part, colour in ((~full, BLUE), (full, ORANGE)):
        chart.steps(edges, y_of(users.where(part).to_numpy()[:-1]), colour, _BOTTOM)
    chart.steps(edges, y_of(cap.to_numpy()[:-1]), INK)
    if cap.iloc[-2] > 0:
        chart.write(right, y_of(cap.iloc[-2]) - 5, f"attendee_max {cap.iloc[-2]:,.0f}", ha="right")
    legend = [
        (f"peak of each {bin_name}" if bin_name else "users", BLUE, 0.5, users.notna().any()),
        ("full at times" if bin_name else "full", ORANGE, 0.5, full.any()),
        ("not read", NEUTRAL, 0.15, users[:-1].isna().any()),
    ]
    x = left
    for word, colour, alpha, present in legend:
        if present:
            chart.box(x, 2, 11, 11, colour, alpha)
            chart.write(x + 16, 12, word, color=SOFT)
            x += 34 + text_width(word)
    rows: Any = steps.iloc[:-1].itertuples()
    for step, end, (x, edge) in zip(rows, steps.index[1:], pairwise(edges), strict=True):
        area = x, _TOP, edge - x, _BOTTOM - _TOP
        state = room_state(step.users, step.cap)
        text = f"peak {state.text}" if bin_name else state.text
        if state.state == "not read":
            text = state.text
            chart.box(*area, NEUTRAL, 0.15)
        if step.full:
            text += f", at the cap for {duration(step.full)}"
        chart.hover(*area, f"{name}, {_format_step(step.Index, end)}: {text}")


def _format_step(start: Any, end: Any) -> str:
    short = end - start < pd.Timedelta("1D")
    return f"{format_moment(start)} to {f'{end:%H:%M}' if short else format_moment(end)}"


def _ticks(first: Any, last: Any, most: int) -> Iterator[tuple[Any, str]]:
    """Yield at most `most` round local times, each with its label."""
    library: Any = dates  # without types
    locator = library.AutoDateLocator(tz=first.tz, minticks=2, maxticks=most)
    for tick in locator.tick_values(first, last):
        if first <= (moment := library.num2date(tick, first.tz)) <= last:
            day, clock = f"{moment:%a} {moment.day} {moment:%b}", f"{moment:%H:%M:%S}"
            yield moment, day if clock == "00:00:00" else clock.removesuffix(":00")
