"""A week of a building: people at once by hour and weekday."""

import calendar
from collections.abc import Iterable
from datetime import tzinfo
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from ..occupancy.zones import zone
from ..text import counted
from .looks import BLACK, FAINT, PAPER, WHITE
from .rooms import needed
from .sheet import Chart, rows, sheet
from .texts import span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALE = ("#f4f8fb", "#b9d7ea", "#5fa5d0", "#0072b2", "#003b63")  # light to dark: grey will do too
_DARK = 0.45  # of the scale: from here on numbers are white
_ENOUGH = 0.5  # of an hour's samples have to be read for a mean that is worth a number

Hours = np.ndarray[Any, Any]  # 7 weekdays by 24 hours, nan where not known


def occupancy_heatmap(
    samples: pd.DataFrame,
    *,
    rooms: str | int | Iterable[Any] | None = None,
    service: str | None = None,
    tz: str | tzinfo | None = None,
) -> Chart:
    """A Figure of the week, a cell an hour: how many people are there at once, on average.

    `samples` are those of `load_occupancy`: `time`, `room_id` and `people`. `rooms` is one ID or
    several; all by default, added up. External devices are not counted. Hours are those of `tz`
    (local time by default). An hour of which less than half could be read is hatched, not zero.
    `service` (or the samples' `attrs`) stands in the title. `summary()` is the same as plain text,
    one line per weekday.
    """
    here, zone_name = zone(tz)
    needed(samples, "the samples", "time", "room_id", "people")
    head, taken = [service or samples.attrs.get("service", "")], samples
    if rooms is not None:
        wanted = [rooms] if isinstance(rooms, str | int) else list(rooms)
        taken = samples[samples["room_id"].astype("string").isin([str(room) for room in wanted])]
    if taken.empty:
        return sheet("No samples", head, "The samples hold no row.", told="No samples")
    week, finding = mean_week(taken, here), "Nobody was there"
    if np.isnan(week).all():
        finding = "No hour could be read"
    elif np.nanmax(week):
        day, hour = divmod(int(np.nanargmax(week)), 24)
        mean = written(week[day, hour])
        who = "person" if mean == "1" else "people"
        finding = f"Busiest: {calendar.day_name[day]} {hour:02}:00, {mean} {who} on average"
    failed = taken["people"].isna()
    lost = taken["room_id"].nunique() - taken["room_id"][~failed].nunique()
    of_rooms = counted(taken["room_id"].nunique(), "room")
    of_rooms += f", of which {lost:,} never read" if lost else ""
    edges = pd.to_datetime(taken["time"].agg(["min", "max"]), utc=True).dt.tz_convert(here)
    head += [of_rooms, f"{span(*edges)} ({zone_name})"]
    if failed.any():
        head.append(f"{max(0.1, 100 * failed.mean()):.1f} % not read")
    lines = [finding, f"people at once in {of_rooms}, by hour in {zone_name}"]
    lines += [
        f"{name}: {_told(hours)}" for name, hours in zip(calendar.day_name, week, strict=True)
    ]
    return sheet(
        finding,
        head,
        lambda figure: _cells(figure.add_subplot(), week),
        height=3.1,
        told="\n".join(lines),
        note="A cell is the mean number of people at once in that hour; hatched: not known.",
    )


def mean_week(samples: pd.DataFrame, here: tzinfo) -> Hours:
    """The mean number of people at once in all these rooms, by weekday and hour of local time.

    A sample that was not read counts as the mean of its room in the same hour of the week, never
    as nobody; an hour of which less than half was read is not known. A room of which nothing was
    read in an hour is not in that hour's mean.
    """
    sweep, times = pd.factorize(pd.to_datetime(samples["time"], utc=True))
    local = pd.DatetimeIndex(times).tz_convert(here)
    cell = (local.day_of_week * 24 + local.hour).to_numpy()
    people = pd.Series(pd.to_numeric(samples["people"]).to_numpy("float64", na_value=np.nan))
    room, _ = pd.factorize(samples["room_id"])
    of_rooms = people.groupby([cell[sweep], room]).agg(["size", "count", "mean"])
    # The mean of a sum is the sum of the rooms' means: so a failed call takes nobody away.
    of_rooms["sum"] = of_rooms["mean"] * of_rooms["size"]
    hours = of_rooms.groupby(level=0)[["size", "count", "sum"]].sum()
    mean = hours["sum"] / np.bincount(cell, minlength=168)[hours.index]
    known = mean.where(hours["count"] >= _ENOUGH * hours["size"])
    return known.reindex(range(168)).to_numpy().reshape(7, 24)


def written(mean: float) -> str:
    """A mean with as many digits as are of use: 0.4, 7.5, 32, 1.2k."""
    if mean >= 999.5:
        return f"{mean / 1000:.{0 if mean >= 9995 else 1}f}k"
    if mean >= 9.95:
        return f"{mean:.0f}"
    return "<.1" if 0 < mean < 0.05 else f"{mean:.1f}".removesuffix(".0")


def _told(hours: Hours) -> str:
    """A day's hours in which somebody was there, and those not known."""
    busy = [f"{hour:02}:00 {written(mean)}" for hour, mean in enumerate(hours) if mean > 0]
    runs = [[*run] for _, run in groupby(range(24), lambda hour: np.isnan(hours[hour]))]
    lost = [f"{run[0]:02}:00 to {run[-1] + 1:02}:00" for run in runs if np.isnan(hours[run[0]])]
    if np.isnan(hours).all():
        return "not known"
    text = ", ".join(busy) or "nobody"
    return f"{text}; not known: {', '.join(lost)}" if lost else text


def _cells(axes: "Axes", week: Hours) -> None:
    top = max(0.1, np.nan_to_num(week).max())
    colours = LinearSegmentedColormap.from_list("people", _SCALE)
    edges = (np.arange(25) - 0.5, np.arange(8) - 0.5)
    look: dict[str, Any] = {"cmap": colours, "vmin": 0, "vmax": top, "edgecolor": PAPER, "lw": 1.5}
    axes.pcolormesh(*edges, np.ma.masked_invalid(week), **look)
    axes.patch.set(facecolor="#e0e0e0", edgecolor=PAPER, hatch="////")  # where no cell is
    for day, hour in np.argwhere(~np.isnan(week)):
        mean, best = week[day, hour], week[day, hour] == np.nanmax(week) > 0
        colour = FAINT if not mean else WHITE if mean > _DARK * top else BLACK
        look = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
        axes.text(hour, day, written(mean), fontweight="bold" if best else "normal", **look)
    rows(axes, [*calendar.day_abbr])
    axes.spines.bottom.set_visible(False)
    axes.set_xticks(range(24), [f"{hour:02}" for hour in range(24)])
    axes.xaxis.tick_top()
