"""Samples by room, as NumPy arrays."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .folder import load_occupancy
from .samples import samples_frame, service_of, without_duplicates

Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]


class RoomSamples(NamedTuple):
    """The samples of a room by time; users, people and cap are NaN if unknown.

    `people` are the users that are not devices, and `people_known` is False if the two could never
    be distinguished; a `cap` of 0 or NaN is none; `interval` is the usual number of minutes to the
    next sample, NaN for a single one.
    """

    room_id: str
    people_known: bool
    time: Times
    users: Floats
    people: Floats
    cap: Floats
    interval: Floats

    @property
    def present(self) -> Floats:
        """The people, or all users if people are never known."""
        return self.people if self.people_known else self.users


def read_samples(source: str | Path | pd.DataFrame) -> tuple[list[RoomSamples], dict[Any, Any]]:
    """Return the samples of a folder or frame by room, and as `attrs` their `service`, if known.
    ConfigError: they are of several services, whose rooms may have the same IDs; TypeError: neither
    a folder nor a frame."""
    samples = load_occupancy(source) if isinstance(source, str | Path) else samples_frame(source)
    service = service_of(samples)
    return by_room(samples), {"service": service} if service else {}


def by_room(samples: pd.DataFrame) -> list[RoomSamples]:
    """Return the samples of a frame, of one service, by room."""
    codes, room_ids = samples["room_id"].array.factorize()
    ends = np.cumsum(np.bincount(codes))
    if len(room_ids) < 2**16:
        codes = codes.astype(np.uint16)  # which NumPy sorts much faster
    order = np.argsort(codes, kind="stable")  # keeps the order of the frame within a room
    columns = [samples["time"].to_numpy("datetime64[ms]").take(order)]
    columns += [
        samples[name].to_numpy("float64", na_value=np.nan).take(order)
        for name in ("users", "people", "attendee_max")
    ]
    rooms = []
    for room_id, start, end in zip(room_ids, [0, *ends], ends, strict=False):
        time, users, people, cap = (values[start:end] for values in columns)
        gaps = np.diff(time) / np.timedelta64(1, "m")
        if (gaps <= 0).any():
            return by_room(without_duplicates(samples, "time", "room_id"))
        people[users == 0] = 0
        in_use = people[users > 0]
        known = not len(in_use) or not np.isnan(in_use).all()
        rooms.append(RoomSamples(room_id, known, time, users, people, cap, _intervals(gaps)))
    return sorted(rooms, key=lambda room: room.room_id)


def _intervals(gaps: Floats) -> Floats:
    """Return the usual gap at each sample: the median, or, if other gaps make up more than a tenth
    of the time, as after a change of the interval, the median of those around it."""
    usual = np.median(gaps) if len(gaps) else np.nan
    same = (gaps <= 1.5 * usual) & (gaps >= usual / 1.5)
    if not len(gaps) or gaps[same].sum() > 0.9 * gaps.sum():
        return np.broadcast_to(usual, len(gaps) + 1)
    around = pd.Series(gaps).rolling(11, center=True, min_periods=1).median().to_numpy()
    return np.append(around, around[-1])
