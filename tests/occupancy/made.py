"""Samples made up for tests."""

from pathlib import Path

import pandas as pd

from confkit.occupancy.folder import DayFiles
from confkit.occupancy.samples import COLUMNS, NUMBERS


def samples(rows):
    """A frame of samples; what a row leaves out is missing, `ret` is 0, and people are users."""
    rows = [{"people": row.get("users"), "ret": 0, **row} for row in rows]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame["time"] = pd.to_datetime(frame["time"], utc=True).dt.as_unit("ms")
    return frame.astype({"room_id": "string", **dict.fromkeys(NUMBERS, "Int64")})


def sweep(time, rooms=("a", "b"), users=1):
    """The samples of one sweep."""
    return samples({"time": time, "room_id": room, "users": users} for room in rooms)


def record(folder, *sweeps, service=None):
    """Write the sweeps as a start of a recorder does, or as the one that has begun."""
    files = DayFiles(folder) if isinstance(folder, Path) else folder
    for frame in sweeps:
        files.append(frame.assign(service=service))
    return files


def steady(users, *, start="2026-06-01T00:00Z", every="1min", room="a", **others):
    """A room whose samples follow each other, with these users."""
    users = list(users)
    times = pd.date_range(start, periods=len(users), freq=every)
    return samples(
        {"time": time, "room_id": room, "users": count, **others}
        for time, count in zip(times, users, strict=True)
    )
