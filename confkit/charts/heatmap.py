"""A week of a building: people at once by hour and weekday."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from ..occupancy.zones import zone
from ..text import counted
from .looks import FAINT, INK, VERMILION
from .rooms import needed
from .sheet import Chart, sheet
from .sheet import rows as named_rows
from .texts import DAYS, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALE = ("#f4f8fb", "#b9d7ea", "#5fa5d0", "#0072b2", "#003b63")  # light to dark: grey will do too
_DARK = 0.45  # of the scale: from here on numbers are white
_ENOUGH = 0.5  # of an hour's samples have to be read for a mean that is worth a number


@dataclass(frozen=True)
class Week:
    """`people`: the mean number at once in all rooms, 7 days by 24 hours, nan where not known.

    `first` and `last` are local times, None without samples; `read` is the share of samples that
    were read, of `rooms` rooms, of which `lost` were not read a single time.
    """

    people: "np.ndarray[Any, Any]"
    first: datetime | None
    last: datetime | None
    rooms: int
    lost: int
    read: float

    @property
    def busiest(self) -> tuple[int, int] | None:
        """Weekday (Monday is 0) and hour of the highest mean, None where there is nobody."""
        if not np.nan_to_num(self.people).any():
            return None
        day, hour = divmod(int(np.nanargmax(self.people)), 24)
        return day, hour

    @property
    def of_rooms(self) -> str:
        """How many rooms there are, and how many of them were never read."""
        lost = f", of which {self.lost:,} never read" if self.lost else ""
        return counted(self.rooms, "room") + lost


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
    found = week(samples, here, rooms)
    head, told = [service or samples.attrs.get("service", "")], summary(found, zone_name)
    if found.first is None or found.last is None:
        return sheet(finding(found), head, "The samples hold no row.", told=told)
    head += [found.of_rooms, f"{span(found.first, found.last)} ({zone_name})"]
    if found.read < 1:
        head.append(f"{max(0.1, 100 - 100 * found.read):.1f} % not read")
    return sheet(
        finding(found),
        head,
        lambda figure: _cells(figure.add_subplot(), found),
        height=3.1,
        told=told,
        note="A cell is the mean number of people at once in that hour; hatched: not known.",
    )


def week(
    samples: pd.DataFrame, here: tzinfo, rooms: str | int | Iterable[Any] | None = None
) -> Week:
    """The samples of these rooms, of all by default, as a week of local time.

    A sample that was not read counts as the mean of its room in the same hour of the week, never
    as nobody; an hour of which less than half was read is not known. A room of which nothing was
    read in an hour is not in that hour's mean.
    """
    needed(samples, "the samples", "time", "room_id", "people")
    rows = samples[["time", "room_id", "people"]]
    if rooms is not None:
        wanted = [rooms] if isinstance(rooms, str | int) else list(rooms)
        rows = rows[rows["room_id"].astype("string").isin([str(room) for room in wanted])]
    sweep, times = pd.factorize(pd.to_datetime(rows["time"], utc=True))
    room, names = pd.factorize(rows["room_id"])
    local = pd.DatetimeIndex(times).tz_convert(here)
    cell = (local.day_of_week * 24 + local.hour).to_numpy()
    people = pd.Series(pd.to_numeric(rows["people"]).to_numpy("float64", na_value=np.nan))

    of_rooms = people.groupby([cell[sweep], room]).agg(["size", "count", "mean"])
    # The mean of a sum is the sum of the rooms' means: so a failed call takes nobody away.
    of_rooms["sum"] = of_rooms["mean"] * of_rooms["size"]
    hours = of_rooms.groupby(level=0)[["size", "count", "sum"]].sum()
    mean = hours["sum"] / np.bincount(cell, minlength=168)[hours.index]
    at_once = mean.where(hours["count"] >= _ENOUGH * hours["size"]).reindex(range(168))
    return Week(
        at_once.to_numpy().reshape(7, 24),
        local.min().to_pydatetime() if len(local) else None,
        local.max().to_pydatetime() if len(local) else None,
        len(names),
        int((people.groupby(room).count() == 0).sum()),
        float(people.notna().mean()) if len(people) else 1.0,
    )


def finding(found: Week) -> str:
    """The busiest hour in one line."""
    if found.first is None:
        return "No samples"
    if np.isnan(found.people).all():
        return "No hour could be read"
    if found.busiest is None:
        return "Nobody was there"
    day, hour = found.busiest
    mean = written(found.people[day, hour])
    who = "person" if mean == "1" else "people"
    return f"Busiest: {DAYS[day]} {hour:02}:00, {mean} {who} on average"


def summary(found: Week, zone_name: str) -> str:
    """The finding, then each weekday's hours in which somebody was there, and those not known."""
    lines = [finding(found)]
    if found.first is None:
        return lines[0]
    lines.append(f"people at once in {found.of_rooms}, by hour in {zone_name}")
    for name, hours in zip(DAYS, found.people, strict=True):
        busy = [f"{hour:02}:00 {written(mean)}" for hour, mean in enumerate(hours) if mean > 0]
        lost = np.isnan(hours)
        told = ["not known"] if lost.all() else [", ".join(busy) or "nobody"]
        if lost.any() and not lost.all():
            edges = np.flatnonzero(np.diff(lost, prepend=False, append=False)).reshape(-1, 2)
            spans = [f"{begin:02}:00 to {end:02}:00" for begin, end in edges]
            told.append(f"not known: {', '.join(spans)}")
        lines.append(f"{name}: {'; '.join(told)}")
    return "\n".join(lines)


def written(mean: float) -> str:
    """A mean with as many digits as are of use: 0.4, 7.5, 32, 1.2k."""
    if mean >= 999.5:
        return f"{mean / 1000:.{0 if mean >= 9995 else 1}f}k"
    if mean >= 9.95:
        return f"{mean:.0f}"
    text = f"{mean:.1f}".removesuffix(".0")
    return "<.1" if text == "0" and mean > 0 else text


def _cells(axes: "Axes", found: Week) -> None:
    top = max(float(np.nanmax(np.append(found.people, 0.0))), 0.1)
    axes.pcolormesh(
        np.arange(25) - 0.5,
        np.arange(8) - 0.5,
        np.ma.masked_invalid(found.people),
        vmin=0,
        vmax=top,
        cmap=LinearSegmentedColormap.from_list("people", _SCALE),
        edgecolor="white",
        linewidth=1.5,
    )

    def frame(**look: Any) -> None:
        axes.add_patch(Rectangle((hour - 0.5, day - 0.5), 1, 1, **look))

    for day, hour in np.ndindex(7, 24):
        mean, best = float(found.people[day, hour]), (day, hour) == found.busiest
        if np.isnan(mean):
            frame(facecolor="#e0e0e0", edgecolor="white", linewidth=1.5, hatch="////")
            continue
        if best:
            frame(fill=False, edgecolor=VERMILION, linewidth=2.5, zorder=3)
        axes.text(
            hour,
            day,
            written(mean),
            ha="center",
            va="center",
            fontsize=8,
            color=FAINT if mean == 0 else "white" if mean > _DARK * top else INK,
            fontweight="bold" if best else "normal",
        )
    named_rows(axes, [name[:3] for name in DAYS], keep="")
    axes.set_xlim(-0.52, 23.52)
    axes.set_xticks(range(24), [f"{hour:02}" for hour in range(24)])
    axes.xaxis.tick_top()
