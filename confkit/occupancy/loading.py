"""Load a recording: the samples that are wanted as a DataFrame, or the rooms in it."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pandas as pd

from ..tables import room_ids
from .arrow import pa, pc
from .folder import read, reading, whose
from .samples import samples_frame
from .zones import Moment, moment


def load_occupancy(
    folder: str | Path,
    rooms: str | Iterable[str] | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
) -> pd.DataFrame:
    """Return the samples of a recording, one row per room and sweep, sorted by time and room.

    Columns: `time` (UTC, the sweep's true start), `room_id` (string), `users`, `people` and
    `devices` in the room, `attendee_max`, and `ret`, why a value is missing (all Int64). Of all
    rooms, or of one, or of several; from `since` up to before `until`, which are local time where
    they have no offset. Only these days and rows are read. What is torn or foreign in the folder is
    named in a warning and skipped; `attrs["service"]` names whose samples they are.
    ConfigError where there is no such folder.
    """
    start = None if since is None else moment(since, "since")
    end = None if until is None else moment(until, "until")
    wanted = None if rooms is None else room_ids([rooms] if isinstance(rooms, str) else rooms).ids

    def days(day: date) -> bool:
        return (start is None or day >= start.date()) and (end is None or day <= end.date())

    where = pc.scalar(True)
    if start is not None:
        where &= pc.field("time") >= pa.scalar(start, pa.timestamp("us", "UTC"))
    if end is not None:
        where &= pc.field("time") < pa.scalar(end, pa.timestamp("us", "UTC"))
    if wanted is not None:
        where &= pc.field("room_id").isin(pa.array(wanted, pa.string()))
    with reading(Path(folder), days) as found:
        frame = samples_frame(read(found.files, where=where))
    if (service := whose(folder)) is not None:
        frame.attrs["service"] = service
    return frame


def recorded_rooms(folder: str | Path) -> list[str]:
    """Return the IDs of all rooms in a recording, sorted; ConfigError: there is no such folder."""
    with reading(Path(folder)) as found:
        rooms = read(found.files, ["room_id"]).column("room_id").unique()
    return sorted(rooms.to_pylist())
