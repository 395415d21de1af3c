"""Samples: the number of users in a room at one time; as rows of a frame, and by room."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import ConfigError

NUMBERS = ("users", "people", "devices", "attendee_max", "ret")
COLUMNS = ("time", "room_id", *NUMBERS)
TYPES = {
    "time": "datetime64[ms, UTC]",
    "room_id": "string",
    **dict.fromkeys(NUMBERS, "Int64"),
    "service": "string",
}
Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]


def samples_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a frame, in their types and without further columns. ValueError: not a
    frame of samples."""
    if missing := [name for name in COLUMNS if name not in frame.columns]:
        raise ValueError(
            f"samples need the columns {', '.join(COLUMNS)}; missing: {', '.join(missing)}"
        )
    if not isinstance(frame["time"].dtype, pd.DatetimeTZDtype):
        raise ValueError("the samples' time has no time zone; add it: time.dt.tz_localize('UTC')")
    if frame["time"].isna().any() or frame["room_id"].isna().any():
        raise ValueError("a sample needs a time and a room_id; drop the rows without")
    types = {name: dtype for name, dtype in TYPES.items() if name in frame.columns}
    try:
        return frame[[*types]].astype(types)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{', '.join(NUMBERS)} of the samples must be whole numbers or missing"
        ) from None


def without_duplicates(samples: pd.DataFrame, *key: str) -> pd.DataFrame:
    """Return the samples by time and room; of two with the same key, prefer one that was read."""
    samples = samples.sort_values(["time", "room_id", "users"])
    return samples.drop_duplicates([*key], ignore_index=True)


def service_of(samples: pd.DataFrame) -> str | None:
    """Return the service of the samples, from their column or `attrs`; None if unknown.
    ConfigError: they are of several services, whose rooms may have the same IDs."""
    if "service" not in samples.columns:
        return samples.attrs.get("service")
    services = sorted(samples["service"].dropna().unique())
    if len(services) > 1:
        raise ConfigError(
            f"the samples are of several services: {', '.join(services)}",
            f"Load them, and pass those of one: samples[samples['service'] == {services[0]!r}].",
        )
    return services[0] if services else None


class RoomSamples(NamedTuple):
    """The samples of a room by time; users and people are NaN if unknown.

    `people` are the users that are not devices, and `people_known` is False if the two could never
    be distinguished; `cap` is 0 for no cap, or if it was not read; `interval` is the usual number
    of minutes between two samples, NaN for a single one.
    """

    room_id: str
    people_known: bool
    time: Times
    users: Floats
    people: Floats
    cap: Floats
    interval: float

    @property
    def present(self) -> Floats:
        """The people, or all users if people are never known."""
        return self.people if self.people_known else self.users


def by_room(samples: pd.DataFrame) -> list[RoomSamples]:
    """Return the samples of a frame, of one service, by room."""
    codes, room_ids = pd.factorize(samples["room_id"], sort=True)
    ends = np.cumsum(np.bincount(codes))
    if len(room_ids) < 2**16:
        codes = codes.astype(np.uint16)  # which NumPy sorts much faster
    order = np.argsort(codes, kind="stable")  # keeps the order of the frame within a room
    columns = {
        "time": samples["time"].to_numpy("datetime64[ms]"),
        "users": samples["users"].to_numpy("float64", na_value=np.nan),
        "people": samples["people"].to_numpy("float64", na_value=np.nan),
        "cap": samples["attendee_max"].to_numpy("float64", na_value=0),
    }
    rooms = []
    # np.split returns one part even for no samples.
    for room_id, rows in zip(room_ids, np.split(order, ends[:-1]), strict=False):
        time, users, people, cap = (values[rows] for values in columns.values())
        gaps = np.diff(time) / np.timedelta64(1, "m")
        if (gaps <= 0).any():
            return by_room(without_duplicates(samples, "time", "room_id"))
        people[users == 0] = 0
        known = not (users > 0).any() or not np.isnan(people[users > 0]).all()
        interval = float(np.median(gaps)) if len(gaps) else np.nan
        rooms.append(RoomSamples(room_id, known, time, users, people, cap, interval))
    return rooms
