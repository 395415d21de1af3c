"""Samples by room, as NumPy arrays."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .folder import load_occupancy
from .samples import samples_frame, service_of

Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]


class RoomSamples(NamedTuple):
    """The samples of a room by time; NaN is unknown.

    `present` are the users that are not devices; `people_known` is False if the two could never be
    distinguished, and then `present` are all users. A `cap` of 0 or NaN is none; `interval` is the
    usual number of minutes to the next sample, NaN for a single one.
    """

    room_id: Any
    people_known: bool
    time: Times
    users: Floats
    present: Floats
    cap: Floats
    interval: Floats


def read_samples(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a folder or frame; `attrs` has their `service`, if known. ConfigError:
    they are of several services, whose rooms may have the same IDs; TypeError: neither a folder nor
    a frame."""
    samples = load_occupancy(source) if isinstance(source, str | Path) else samples_frame(source)
    service = service_of(samples)
    samples.attrs = {"service": service} if service else {}
    return samples


def by_room(samples: pd.DataFrame) -> Iterator[RoomSamples]:
    """Yield the samples of each room, by ID; of several at one time that with the most users."""
    places = samples.groupby("room_id").indices
    if not places:
        return
    numbers = samples[["users", "people", "attendee_max"]].items()
    columns = [column.to_numpy("float64", na_value=np.nan) for _, column in numbers]
    # A column at a time is faster than a room at a time.
    order, ends = np.concatenate([*places.values()]), np.cumsum([*map(len, places.values())])
    columns = [samples["time"].to_numpy("datetime64[ms]"), *columns]
    arrays = zip(*(np.split(column.take(order), ends[:-1]) for column in columns), strict=True)
    for room_id, (time, users, people, cap) in zip(places, arrays, strict=True):
        if (np.diff(time) <= np.timedelta64(0)).any():
            best = np.lexsort((-people, -users))  # the most users first, NaN last
            best = best[np.unique(time[best], return_index=True)[1]]
            time, users, people, cap = (array[best] for array in (time, users, people, cap))
        people[users == 0] = 0
        in_use = people[users > 0]
        known = not in_use.size or not np.isnan(in_use).all()
        interval = _intervals(np.diff(time).astype("float64") / 60_000)
        yield RoomSamples(room_id, known, time, users, people if known else users, cap, interval)


def _intervals(gaps: Floats) -> Floats:
    """Return the usual gap at each sample, the median of those around it: the interval of a
    recording may change."""
    usual = np.median(gaps) if len(gaps) else np.nan
    others = (gaps > 1.5 * usual) | (gaps < usual / 1.5)
    if np.count_nonzero(others) < 6:  # which change no median of 11
        return np.broadcast_to(usual, len(gaps) + 1)
    around = pd.Series(gaps).rolling(11, center=True, min_periods=1).median().to_numpy()
    return np.append(around, around[-1])
