"""The samples of a recording room by room, as reports count them."""

from pathlib import Path

import numpy as np
import pandas as pd

from .loading import load_occupancy
from .samples import samples_frame, samples_table

# With these codes A3 was read, and a missing cap is none: 0, and codes of interface B alone.
_A3_WAS_READ = (0, 302, 303, 304, 310)


def samples_by_room(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a folder or a frame by room and time, each room and time once.

    `room` (category), `time` (UTC), `gap`, the minutes since the room's sample before; `users`,
    `people` and `cap` as floats, missing where unknown; a cap of 0 is none. `people_known`: people
    could be told apart from devices in this room at some time; `present` is its people then, and
    else all users. Errors as of `load_occupancy`; ValueError: it is no frame of samples.
    """
    if isinstance(source, pd.DataFrame):
        frame = samples_frame(samples_table(source))
    else:
        frame = load_occupancy(source)
    cap = _floats(frame["attendee_max"])
    no_cap = (cap <= 0) | (np.isnan(cap) & frame["ret"].isin(_A3_WAS_READ).to_numpy(bool))
    samples = pd.DataFrame(
        {
            "room": frame["room_id"].astype("category"),
            "time": frame["time"],
            "users": _floats(frame["users"]),
            "people": _floats(frame["people"]),
            "cap": np.where(no_cap, 0, cap),
        }
    ).sort_values("room", kind="stable", ignore_index=True)
    if (_gaps(samples) == 0).any():  # of two at one time, one that was read stays
        samples = samples.sort_values(["room", "time", "users"], ignore_index=True)
        samples = samples[_gaps(samples) != 0].reset_index(drop=True)
    samples["gap"] = _gaps(samples)
    rooms = samples.groupby("room", observed=False)
    samples["people_known"] = rooms["people"].transform("count") > 0
    samples["people"] = samples["people"].mask(samples["users"] == 0, 0)
    samples["present"] = samples["people"].where(samples["people_known"], samples["users"])
    return samples


def _gaps(samples: pd.DataFrame) -> "pd.Series[float]":
    """Return the minutes between each sample and its room's sample before."""
    times = samples.groupby("room", observed=False)["time"]
    gaps: pd.Series[float] = times.diff().dt.total_seconds() / 60
    return gaps


def _floats(column: "pd.Series[int]") -> np.ndarray:
    return column.to_numpy("float64", na_value=np.nan)
