"""A week of a building: people at once by hour and weekday."""

from collections.abc import Iterable
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

from .looks import FAINT, GREY, INK, VERMILION
from .sheet import bare, finished, nothing, sheet
from .times import DAYS, span, zone
from .week import Week, counted, finding, summary, week, written

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .figure import Chart

_SCALE = ("#f4f8fb", "#b9d7ea", "#5fa5d0", "#0072b2", "#003b63")  # light to dark: grey will do too
_DARK = 0.45  # of the scale: from here on numbers are white


def occupancy_heatmap(
    samples: "pd.DataFrame",
    *,
    rooms: str | int | Iterable[Any] | None = None,
    service: str | None = None,
    tz: str | tzinfo | None = None,
) -> "Chart":
    """A Figure of the week, a cell an hour: how many people are there at once, on average.

    `samples` are those of `load_occupancy`: `time`, `room_id` and `people`. `rooms` is one ID or
    several; all by default, added up. External devices are not counted. Hours are those of `tz`
    (local time by default). An hour of which less than half could be read is hatched, not zero.
    `service` (or the samples' `attrs`) stands in the title.
    """
    here, zone_name = zone(tz)
    found = week(samples, here, rooms)
    head = [service or samples.attrs.get("service", "")]
    told = summary(found, zone_name)
    if found.first is None or found.last is None:
        return nothing(
            sheet(finding(found), head, height=0.7, told=told), "The samples hold no row."
        )
    head += [counted(found), f"{span(found.first, found.last)} ({zone_name})"]
    if found.read < 1:
        head.append(f"{max(0.1, 100 - 100 * found.read):.1f} % not read")
    figure = sheet(
        finding(found), head, height=3.1, told=told,
        note="A cell is the mean number of people at once in that hour; hatched: not known.",
    )  # fmt: skip
    _cells(figure.add_subplot(), found)
    return finished(figure)


def heatmap_summary(
    samples: "pd.DataFrame", *, rooms: str | int | Iterable[Any] | None = None,
    tz: str | tzinfo | None = None,
) -> str:  # fmt: skip
    """The same finding as `occupancy_heatmap` as plain text: a line a weekday, an entry an hour."""
    here, zone_name = zone(tz)
    return summary(week(samples, here, rooms), zone_name)


def _cells(axes: "Axes", found: Week) -> None:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    top = max(float(np.nanmax(np.append(found.people, 0.0))), 0.1)
    axes.pcolormesh(
        np.arange(25) - 0.5, np.arange(8) - 0.5, np.ma.masked_invalid(found.people), vmin=0,
        vmax=top, cmap=LinearSegmentedColormap.from_list("people", _SCALE), edgecolor="white",
        linewidth=1.5,
    )  # fmt: skip
    for day, hour in np.ndindex(7, 24):
        mean = float(found.people[day, hour])
        if np.isnan(mean):
            axes.add_patch(Rectangle(
                (hour - 0.5, day - 0.5), 1, 1, facecolor="#e0e0e0", edgecolor="white",
                linewidth=1.5, hatch="////",
            ))  # fmt: skip
            continue
        colour = FAINT if mean == 0 else "white" if mean > _DARK * top else INK
        best = (day, hour) == found.busiest
        axes.text(
            hour, day, written(mean), ha="center", va="center", fontsize=8, color=colour,
            fontweight="bold" if best else "normal",
        )  # fmt: skip
        if best:
            axes.add_patch(Rectangle(
                (hour - 0.5, day - 0.5), 1, 1, fill=False, edgecolor=VERMILION, linewidth=2.5,
                zorder=3,
            ))  # fmt: skip
    axes.set_yticks(range(7), [name[:3] for name in DAYS])
    axes.set_ylim(6.5, -0.5)
    axes.set_xlim(-0.52, 23.52)
    axes.set_xticks(range(24), [f"{hour:02}" for hour in range(24)])
    axes.xaxis.tick_top()
    bare(axes, keep="")
    axes.tick_params(axis="y", labelcolor=INK, labelsize=9)
    axes.tick_params(axis="x", labelcolor=GREY)
