"""Samples as a week: people by weekday and hour, before anything is drawn."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from .rooms import needed
from .times import DAYS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

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
        import numpy as np

        if not np.nan_to_num(self.people).any():
            return None
        day, hour = divmod(int(np.nanargmax(self.people)), 24)
        return day, hour


def week(
    samples: "pd.DataFrame", zone: tzinfo, rooms: str | int | Iterable[Any] | None = None
) -> Week:
    """The samples of these rooms, of all by default, as a week of local time.

    A sample that was not read counts as the mean of its room in the same hour of the week, never
    as nobody; an hour of which less than half was read is not known. A room of which nothing was
    read in an hour is not in that hour's mean.
    """
    import numpy as np
    import pandas as pd

    needed(samples, "the samples", "time", "room_id", "people")
    rows = samples[["time", "room_id", "people"]]
    if rooms is not None:
        wanted = [rooms] if isinstance(rooms, str | int) else list(rooms)
        rows = rows[rows["room_id"].astype("string").isin([str(room) for room in wanted])]
    sweep, times = pd.factorize(pd.to_datetime(rows["time"], utc=True))
    room, names = pd.factorize(rows["room_id"])
    local = pd.DatetimeIndex(times).tz_convert(zone)
    cell_of_sweep = (local.day_of_week * 24 + local.hour).to_numpy()
    people = pd.to_numeric(rows["people"]).to_numpy("float64", na_value=np.nan)
    known = ~np.isnan(people)

    # The mean of a sum is the sum of the rooms' means: so a failed call takes nobody away.
    place, shape = room * 168 + cell_of_sweep[sweep], (len(names), 168)
    due, read, total = (
        np.bincount(place, weights, minlength=len(names) * 168).reshape(shape)
        for weights in (None, known.astype(float), np.where(known, people, 0.0))
    )
    sweeps = np.bincount(cell_of_sweep, minlength=168)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(read > 0, total / read, 0.0) * due / sweeps
        people_at_once = mean.sum(axis=0)
    lost = (sweeps == 0) | (read.sum(axis=0) < _ENOUGH * due.sum(axis=0))
    people_at_once[lost] = np.nan
    return Week(
        people_at_once.reshape(7, 24),
        local.min().to_pydatetime() if len(local) else None,
        local.max().to_pydatetime() if len(local) else None,
        len(names), int((read.sum(axis=1) == 0).sum()), float(known.mean()) if len(known) else 1.0,
    )  # fmt: skip


def finding(found: Week) -> str:
    """The busiest hour in one line."""
    import numpy as np

    if found.first is None:
        return "No samples"
    if np.isnan(found.people).all():
        return "No hour could be read"
    if found.busiest is None:
        return "Nobody was there"
    day, hour = found.busiest
    mean = written(found.people[day, hour])
    one = mean == "1"
    return f"Busiest: {DAYS[day]} {hour:02}:00, {mean} {'person' if one else 'people'} on average"


def summary(found: Week, zone_name: str) -> str:
    """The finding, then each weekday's hours in which somebody was there, and those not known."""
    import numpy as np

    lines = [finding(found)]
    if found.first is None:
        return lines[0]
    lines.append(f"people at once in {counted(found)}, by hour in {zone_name}")
    for name, hours in zip(DAYS, found.people, strict=True):
        busy = [f"{hour:02}:00 {written(mean)}" for hour, mean in enumerate(hours) if mean > 0]
        lost = _spans([hour for hour, mean in enumerate(hours) if np.isnan(mean)])
        told = ["not known"] if np.isnan(hours).all() else [", ".join(busy) or "nobody"]
        if lost and not np.isnan(hours).all():
            told.append(f"not known: {', '.join(lost)}")
        lines.append(f"{name}: {'; '.join(told)}")
    return "\n".join(lines)


def _spans(hours: list[int]) -> list[str]:
    """The hours, those that follow one another as one: "00:00 to 08:00"."""
    spans: list[list[int]] = []
    for hour in hours:
        if spans and spans[-1][1] == hour:
            spans[-1][1] = hour + 1
        else:
            spans.append([hour, hour + 1])
    return [f"{first:02}:00 to {last:02}:00" for first, last in spans]


def counted(found: Week) -> str:
    """How many rooms there are, and how many of them were never read."""
    rooms = f"{found.rooms:,} room{'s' * (found.rooms != 1)}"
    return f"{rooms}, of which {found.lost:,} never read" if found.lost else rooms


def written(mean: float) -> str:
    """A mean with as many digits as are of use: 0.4, 7.5, 32, 1.2k."""
    if mean >= 9995:
        return f"{mean / 1000:.0f}k"
    if mean >= 999.5:
        return f"{mean / 1000:.1f}k"
    if mean >= 9.95:
        return f"{mean:.0f}"
    text = f"{mean:.1f}".removesuffix(".0")
    return "<.1" if text == "0" and mean > 0 else text
