"""One room's samples over time, as steps: what a curve tells, before anything is drawn."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from .rooms import needed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_MOST = 1500  # steps that can be told apart in a picture; more samples are taken together
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000  # milliseconds
_WIDTHS = {
    5 * _MINUTE: "5 minutes", 15 * _MINUTE: "quarter of an hour", _HOUR: "hour",
    6 * _HOUR: "6 hours", _DAY: "day", 7 * _DAY: "week", 28 * _DAY: "4 weeks",
    364 * _DAY: "52 weeks",
}  # fmt: skip
_MONDAY = 4 * _DAY  # the first one after 1970-01-01, a Thursday


@dataclass(frozen=True)
class Track:
    """Steps in order of time, as arrays of one length.

    `start` and `end` are milliseconds since 1970, UTC; where one ends before the next starts
    nothing was sampled. `users` and `people` (the most during the step), `mean` (of the users) and
    `cap` are floats, missing (nan) where unknown; a `cap` of nan is none. `full` is for how long
    the users were at the cap, in milliseconds, `read` for how long they were known. `capped` is
    False when no cap was ever read.
    """

    start: "np.ndarray[Any, Any]"
    end: "np.ndarray[Any, Any]"
    users: "np.ndarray[Any, Any]"
    people: "np.ndarray[Any, Any]"
    mean: "np.ndarray[Any, Any]"
    cap: "np.ndarray[Any, Any]"
    full: "np.ndarray[Any, Any]"
    read: "np.ndarray[Any, Any]"
    each: str = "sample"
    capped: bool = True


def track(samples: "pd.DataFrame", room_id: Any) -> Track:
    """The room's samples, one step each: it lasts to the next one, or for the usual interval.

    Of two samples of one time the last counts. The usual interval is the median between samples.
    """
    import numpy as np
    import pandas as pd

    needed(samples, "the samples", "time", "room_id", "users")
    rows = samples[samples["room_id"].astype("string") == str(room_id)]
    time = pd.to_datetime(rows["time"], utc=True).to_numpy("datetime64[ms]").astype("int64")
    order = np.argsort(time, kind="stable")
    order = order[np.append(time[order][1:] != time[order][:-1], True)[: len(order)]]
    start = time[order]

    def column(name: str) -> Any:
        if name not in rows.columns:
            return np.full(len(start), np.nan)
        return pd.to_numeric(rows[name]).to_numpy("float64", na_value=np.nan)[order]

    users, people, cap = column("users"), column("people"), column("attendee_max")
    # A cap that was not read is what it was before; one that was read as missing is none.
    known = pd.Series(np.nan_to_num(cap)).mask(np.isnan(cap) & (np.nan_to_num(column("ret")) != 0))
    capped = bool(known.notna().any()) or not len(known)
    cap = known.ffill().to_numpy("float64")
    cap = np.where(cap > 0, cap, np.nan)

    step = np.diff(start)
    usual = int(np.median(step)) if len(step) else _MINUTE
    lasts = np.append(np.where(step <= 1.5 * usual, step, usual), usual)[: len(start)]
    return Track(
        start, start + lasts, users, people, users, cap,
        full=np.where(users >= cap, lasts, 0), read=np.where(np.isnan(users), 0, lasts),
        capped=capped,
    )  # fmt: skip


def readable(found: Track, zone: tzinfo) -> Track:
    """The track in at most some 1,500 steps: each is the peak of an hour, a day, ... of local time.

    Nothing at a cap is lost by that: a step in which the room was full says for how long.
    """
    import numpy as np

    if len(found.start) <= _MOST:
        return found
    whole = int(found.end[-1] - found.start[0])
    width = next((w for w in _WIDTHS if whole / w <= 1000), max(_WIDTHS))
    wall = _wall(found.start, zone)
    number = (wall - _MONDAY) // width
    order, first = _together(number)
    known = ~np.isnan(found.users[order])
    counted = np.add.reduceat(known.astype(float), first)
    total = np.add.reduceat(np.where(known, found.users[order], 0.0), first)
    opens = number[order][first] * width + _MONDAY
    return Track(
        np.maximum(_instant(opens, zone), found.start[0]),
        np.minimum(_instant(opens + width, zone), found.end[-1]),
        np.fmax.reduceat(found.users[order], first),
        np.fmax.reduceat(found.people[order], first),
        np.divide(total, counted, out=np.full(len(first), np.nan), where=counted > 0),
        np.fmax.reduceat(found.cap[order], first),
        np.add.reduceat(found.full[order], first),
        np.add.reduceat(found.read[order], first),
        each=_WIDTHS[width],
        capped=found.capped,
    )


def unread(found: Track) -> list[tuple[int, int]]:
    """From when to when nothing is known between the first and the last sample, in order."""
    import numpy as np

    lost = np.isnan(found.users)
    edges = [
        (int(start), int(end))
        for start, end in [
            *zip(found.start[lost], found.end[lost], strict=True),
            *((a, b) for a, b in zip(found.end[:-1], found.start[1:], strict=True) if a < b),
        ]
    ]
    runs: list[tuple[int, int]] = []
    for start, end in sorted(edges):
        if runs and start <= runs[-1][1]:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def by_day(found: Track, zone: tzinfo) -> list[tuple[datetime, float, int]]:
    """Of each local day that was read: its midnight, its peak, and its milliseconds at the cap."""
    import numpy as np

    kept = ~np.isnan(found.users)
    if not kept.any():
        return []
    number = _wall(found.start[kept], zone) // _DAY
    order, first = _together(number)
    return [
        (datetime(1970, 1, 1) + timedelta(days=int(day)), float(peak), int(full))
        for day, peak, full in zip(
            number[order][first], np.maximum.reduceat(found.users[kept][order], first),
            np.add.reduceat(found.full[kept][order], first), strict=True,
        )
    ]  # fmt: skip


def _together(number: Any) -> tuple[Any, Any]:
    """An order in which equal numbers are neighbours, and where in it each begins.

    The wall's clock may be turned back: an hour that it shows twice is one step.
    """
    import numpy as np

    order = np.argsort(number, kind="stable")
    return order, np.flatnonzero(np.append(True, np.diff(number[order]) > 0))


def local(instant: float, zone: tzinfo) -> datetime:
    """Milliseconds since 1970 as a time there."""
    return (datetime.fromtimestamp(0, tz=UTC) + timedelta(milliseconds=int(instant))).astimezone(
        zone
    )


def _wall(instants: Any, zone: tzinfo) -> Any:
    """What the clock on the wall shows, as milliseconds since its own 1970."""
    import pandas as pd

    index = pd.DatetimeIndex(instants.astype("datetime64[ms]")).tz_localize("UTC")
    return index.tz_convert(zone).tz_localize(None).to_numpy("datetime64[ms]").astype("int64")


def _instant(wall: Any, zone: tzinfo) -> Any:
    import numpy as np
    import pandas as pd

    index = pd.DatetimeIndex(wall.astype("datetime64[ms]")).tz_localize(
        zone, ambiguous=np.ones(len(wall), bool), nonexistent="shift_forward"
    )
    return index.tz_convert("UTC").tz_localize(None).to_numpy("datetime64[ms]").astype("int64")
