"""One room over time: its users as steps, its cap as a dashed line, gaps where nothing is known."""

from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib import dates as of_time
from matplotlib.ticker import MaxNLocator

from ..occupancy.zones import zone
from ..text import counted
from .looks import BLUE, FAINT, INK, PAPER, SKY, TRACK, VERMILION
from .rooms import needed
from .sheet import Chart, key, sheet
from .texts import clean, day, lasting, moment, short, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR = 2.5  # a cap so many times the peak would press the curve flat: the title alone names it
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
    steps = track(samples, room_id, here)
    finding = _finding(steps, short(clean(topic)) if topic else clean(room_id))
    head = [service or samples.attrs.get("service", ""), f"room {room_id}" if topic else ""]
    if steps.empty:
        why = "The samples hold no row of this room."
        return sheet(finding, head, why, told=finding, width=width)
    head.append(f"{span(steps.index[0], steps.index[-1])} ({zone_name})")
    if steps["users"].max() > 0:
        head.append(f"peak on {moment(steps.index[int(steps['users'].argmax())])}")

    def draw(figure: Chart) -> None:
        _draw(figure.add_subplot(), *readable(steps), here)

    text = "\n".join([finding, *_details(steps, zone_name)])
    return sheet(finding, head, draw, height=3.5, told=text, width=width)


def track(samples: pd.DataFrame, room_id: Any, here: tzinfo) -> pd.DataFrame:
    """The room's steps in order of time: each lasts to the next, the last row is the end.

    The index is local time. `users`, `people`, `mean` (of the users) and `cap` are floats, missing
    where unknown; a `cap` of 0 is none. A sample `lasts` for the usual interval, the median, and
    where the next is later than that a step follows of which nothing is known. `full` is for how
    many minutes the users were at the cap. `ret` is missing where there was no sample. Of two
    samples of one time the last counts.
    """
    needed(samples, "the samples", "time", "room_id", "users")
    rows = samples[samples["room_id"].astype("string") == str(room_id)]
    rows = rows.reindex(columns=["time", "users", "people", "attendee_max", "ret"])
    rows["time"] = pd.to_datetime(rows["time"], utc=True).dt.tz_convert(here)
    rows = rows.drop_duplicates("time", keep="last").set_index("time").sort_index()
    rows = rows.apply(pd.to_numeric).astype("float64").fillna({"ret": 0})
    apart = rows.index.to_series().diff().shift(-1)
    usual = apart.median() if len(rows) > 1 else pd.Timedelta(minutes=1)
    late = rows.index[~(apart <= 1.5 * usual)] + usual
    steps: pd.DataFrame = rows.reindex(rows.index.union(late)).rename(
        columns={"attendee_max": "cap"}
    )
    # A cap that was not read is what it was before; one that was read as missing is none.
    steps["cap"] = steps["cap"].mask(steps["cap"].isna() & (steps["ret"] == 0), 0).ffill()
    steps["lasts"] = steps.index.to_series().diff().shift(-1).dt.total_seconds() / 60
    full = (steps["users"] >= steps["cap"]) & (steps["cap"] > 0)
    return steps.assign(mean=steps["users"], full=steps["lasts"].where(full, 0))


def readable(steps: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The steps in at most some 1,500: each is the peak of what is named, such as an "hour" or a
    "day" of local time; as they are, and "", where they are not more.

    Nothing at a cap is lost by that: a step in which the room was full says for how long.
    """
    if len(steps) <= _MOST:
        return steps, ""
    end, whole = steps.index[-1:], steps.index[-1] - steps.index[0]
    width = next((w for w in _WIDTHS if whole / pd.Timedelta(w) <= 1000), [*_WIDTHS][-1])
    bins = steps.iloc[:-1].resample(width)
    found = bins[["users", "people", "cap"]].max()
    found = found.assign(mean=bins["mean"].mean(), full=bins["full"].sum())
    found = found.reindex(found.index.union(end))
    return found.assign(cap=found["cap"].ffill()), _WIDTHS[width]


def _finding(steps: pd.DataFrame, name: str) -> str:
    """The room's peak, and for how long it was full, in one line."""
    if steps.empty:
        return f"{name}: no samples"
    peak, full = steps["users"].max(), steps["full"].sum()
    if pd.isna(peak):
        return f"{name}: no sample could be read"
    if not peak:
        return f"{name}: empty whenever it was read"
    cap = steps["cap"].iloc[int(steps["users"].argmax())]
    text = f"{name}: peak {counted(int(peak), 'user')}"
    text += ", attendee_max not read" if pd.isna(cap) else ", no cap"
    if cap > 0:
        text = f"{name}: peak {peak:,.0f} of {cap:,.0f} users"
    return f"{text}, at the cap for {lasting(full)}" if full else text


def _details(steps: pd.DataFrame, zone_name: str) -> list[str]:
    """What was read, and the ten fullest days."""
    sampled, unread = steps["ret"].notna(), steps["users"].isna()
    lines = [
        f"from {moment(steps.index[0])} to {moment(steps.index[-1])} ({zone_name})",
        f"samples: {sampled.sum():,}, of which could not be read: {(sampled & unread).sum():,}",
    ]
    if lost := steps["lasts"][unread].sum():
        lines.append(f"not known for {lasting(lost)}")
    if steps["full"].sum():
        lines.append("while a room is at its cap, how many wanted to come in is not known")
    days = steps.groupby(pd.DatetimeIndex(steps.index).date).agg({"users": "max", "full": "sum"})
    days = days[days["users"] > 0].sort_values(["full", "users"], ascending=False, kind="stable")
    lines += ["the fullest days:"] * (len(days) > 0)
    for date, peak, full in days.head(10).itertuples():
        at_cap = f", at the cap for {lasting(full)}" if full else ""
        lines.append(f"  {day(date)}: peak {peak:,.0f}{at_cap}")
    return lines


def _draw(axes: "Axes", steps: pd.DataFrame, each: str, here: tzinfo) -> None:
    dates: Any = of_time  # which has no types
    edges = dates.date2num(steps.index)

    def stairs(values: "pd.Series[float]", **look: Any) -> None:
        """A step for each value, to the time of the next; a hole where it is missing."""
        if values[:-1].notna().any():
            axes.stairs(values.to_numpy()[:-1], edges, **look)

    users, people = steps["users"], steps["mean" if each else "people"]
    cap = steps["cap"].where(steps["cap"].between(1, _FAR * max(4.0, users.max())))
    full, gaps = steps["full"] > 0, users.isna().astype(float).replace(0, float("nan"))
    line = {"fill": True, "facecolor": f"{SKY}60", "edgecolor": BLUE, "linewidth": 0.8}
    stairs(users, label=f"users, peak of each {each}" if each else "users", **line)
    if not people.equals(users):
        stairs(people, label="their mean" if each else "people", fill=True, color=f"{BLUE}90")
    if not each:  # a day in which a room was full for an hour is not a full day
        look: dict[str, Any] = {"facecolor": VERMILION, "edgecolor": PAPER, "linewidth": 0}
        stairs(users.where(full), fill=True, hatch="xx", **look)
    if full.any():
        begins = full & ~full.shift(fill_value=False)
        look = {"marker": 7, "color": VERMILION, "label": "at the cap", "zorder": 3}
        axes.scatter(edges[begins], users[begins], **look)
    look = {"color": INK, "linewidth": 1.3, "linestyle": (0, (5, 3)), "baseline": None}
    stairs(cap, label="attendee_max", **look)
    look = {"facecolor": TRACK, "edgecolor": FAINT, "linewidth": 0, "hatch": "//", "zorder": 0}
    stairs(gaps, fill=True, label="not read", transform=axes.get_xaxis_transform(), **look)
    # No more times than stand beside each other at this width.
    most = min(9, round(axes.figure.bbox.width / 95))
    locator = dates.AutoDateLocator(tz=here, minticks=min(4, most), maxticks=most)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=here, show_offset=False))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.16 * max(1.0, users.max(), cap.max()))
    axes.grid(axis="y")
    key(axes, columns=int(axes.figure.bbox.width // 140))
