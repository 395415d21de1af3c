"""One room over time: what a recording has of it, and what was read since."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import ConfigError
from ..occupancy.loading import load_occupancy
from ..occupancy.samples import samples_frame, schema
from .recorded import of_a_recording, placed

if TYPE_CHECKING:
    from ..charts.sheet import Chart
    from .readings import Reading

_CLOSE = 0.6  # of the usual interval: less lies between two that count for one


def recorded_samples(folder: str, room_id: str, service: str) -> pd.DataFrame | None:
    """The samples that a recording has of the room; None where there is no such folder.

    ConfigError where there can be no such folder, where it holds something else, and where they are
    another service's: its rooms may have the same IDs.
    """
    if not folder or not (path := placed(folder)).is_dir():
        return None
    found = load_occupancy(of_a_recording(path), room_id)
    whose = found.attrs.get("service")
    if whose is not None and service not in whose.split(", "):
        raise ConfigError(
            f"{folder} holds a recording of {whose}, and this panel shows {service}",
            "Give the folder of this service, or none.",
        )
    return found


def read_samples(reading: Reading | None, room_id: str) -> pd.DataFrame:
    """The samples of one room that were read, by time."""
    if reading is None:
        return samples_frame(schema().empty_table())
    return pd.concat([piece[piece["room_id"] == room_id] for piece in reading.samples])


def joined(recorded: pd.DataFrame | None, read: pd.DataFrame, every: float = 0) -> pd.DataFrame:
    """One room's recorded samples, and those that were read while nothing was recorded.

    These come no closer to others than the recorded ones to each other, or, without such, than
    `every` seconds: a curve takes the usual interval for how long a sample lasts, and would show
    gaps between the others.
    """
    if recorded is None:
        recorded = read.iloc[:0]
    times = recorded["time"].to_numpy()
    usual = (
        np.median(np.diff(times)) if len(times) > 1 else np.timedelta64(round(1000 * every), "ms")
    )
    apart, last, kept = usual * _CLOSE, None, []
    for row, time in enumerate(read["time"].to_numpy()):
        place = int(np.searchsorted(times, time))
        around = [*times[max(0, place - 1) : place + 1], *([] if last is None else [last])]
        if all(abs(time - other) > apart for other in around):
            kept.append(row)
            last = time
    both = pd.concat([recorded, read.iloc[kept]]).sort_values("time", ignore_index=True)
    both.attrs = recorded.attrs
    return both


def picture(chart: Chart) -> str:
    """The chart as HTML, with its finding in place of a picture that is not seen."""
    data = base64.b64encode(chart._repr_png_()).decode("ascii")
    alt = escape(chart.summary().partition("\n")[0])
    return f'<img class="confkit-chart" alt="{alt}" src="data:image/png;base64,{data}">'
