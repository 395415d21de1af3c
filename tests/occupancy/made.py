"""Samples made up for tests."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from confkit.occupancy.folder import DayFiles
from confkit.occupancy.samples import COLUMNS, NUMBERS

MONDAY = pd.Timestamp("2026-06-01T08:00Z")


def samples(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A frame of samples; what a row leaves out is missing, `ret` is 0, and people are users."""
    full = [{"people": row.get("users"), "ret": 0, **row} for row in rows]
    frame = pd.DataFrame(full, columns=COLUMNS)
    frame["time"] = pd.to_datetime(frame["time"], utc=True).dt.as_unit("ms")
    return frame.astype({"room_id": "string", **dict.fromkeys(NUMBERS, "Int64")})


def sweep(time: str, rooms: Iterable[str] = ("a", "b"), users: int = 1) -> pd.DataFrame:
    """The samples of one sweep."""
    return samples({"time": time, "room_id": room, "users": users} for room in rooms)


def record(into: Path | DayFiles, *sweeps: pd.DataFrame, service: str | None = None) -> DayFiles:
    """Puts each into the folder as one start of a recorder does, or one that has begun."""
    files = DayFiles(into) if isinstance(into, Path) else into
    for frame in sweeps:
        files.append(frame.assign(service=service))
    return files


def steady(
    users: Iterable[int | None],
    *,
    start: str = "2026-06-01T00:00Z",
    every: str = "1min",
    room: str = "a",
    **others: Any,
) -> pd.DataFrame:
    """A room whose samples follow each other, with these users."""
    users = list(users)
    times = pd.date_range(start, periods=len(users), freq=every)
    return samples(
        {"time": time, "room_id": room, "users": count, **others}
        for time, count in zip(times, users, strict=True)
    )


def attended(people, every=60, room_id="r1", devices=0, begin=MONDAY):
    """A sample each `every` seconds; None where it failed."""
    users = [None if number is None else number + devices for number in people]
    options = {"start": begin, "every": f"{every}s", "room": room_id, "devices": devices}
    frame = steady(users, attendee_max=20, **options)
    frame["people"] = pd.array(people, "Int64")
    return frame
