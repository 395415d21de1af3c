"""Meetings: when people were in a room, from the samples of a recording."""

from pathlib import Path

import pandas as pd

from ..errors import ConfigError
from .by_room import samples_by_room
from .folder import whose

_TYPES = {
    "room_id": "string",
    "start": "datetime64[ms, UTC]",
    "end": "datetime64[ms, UTC]",
    "peak": "Int64",
    "person_minutes": "Float64",
    "start_from": "datetime64[ms, UTC]",
    "start_to": "datetime64[ms, UTC]",
    "end_from": "datetime64[ms, UTC]",
    "end_to": "datetime64[ms, UTC]",
    "bridged": "Int64",
    "open": "string",
}


def meetings(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return one row per meeting, a time in which people were in a room, by time and room.

    `source` is a recording's folder, which is loaded whole, or what `load_occupancy` gives. `start`
    and `end` (UTC) lie in the middle of the two samples between which somebody came first and left
    last: `start_from` and `start_to`, `end_from` and `end_to`. Where the record begins or ends
    while people are there, the outer one is missing and `open` says which: "start", "end" or
    "both"; a time without any sample of the room, longer than five of its usual intervals, is such
    an edge, too. `peak` is the most people at once, `person_minutes` are added up, both of people
    without devices. `bridged` samples within it failed: a meeting goes on meanwhile. Meetings that
    follow each other between two samples cannot be told apart, and are one.

    ConfigError: there is no such folder, or the samples are of two services.
    """
    service = whose(source)
    if service is not None and ", " in service:
        raise ConfigError(f"These are samples of {service}", "Give those of one service.")
    table = _meetings(samples_by_room(source))
    table["start"] = _middle(table["start_from"].fillna(table["start_to"]), table["start_to"])
    table["end"] = _middle(table["end_from"], table["end_to"].fillna(table["end_from"]))
    edges = table["start_from"].isna() + 2 * table["end_to"].isna()
    table["open"] = edges.map({0: "", 1: "start", 2: "end", 3: "both"})
    table = table.sort_values(["start_to", "room_id"], ignore_index=True)[list(_TYPES)]
    table = table.astype(_TYPES)
    if service is not None:
        table.attrs["service"] = service
    return table


def _meetings(samples: pd.DataFrame) -> pd.DataFrame:
    """Return a row per meeting: its room, edges, peak, person-minutes and failed samples.

    A run is a room's samples in which people were or that failed, one after the other; it is a
    meeting if anybody was seen in it.
    """
    usual = samples.groupby("room", observed=False)["gap"].transform("median")
    # The first and the last sample of a room have a gap beside them, too.
    after_gap = ~(samples["gap"] <= 5 * usual)
    before_gap = after_gap.shift(-1, fill_value=True)
    busy = ~(samples["present"] == 0)  # or failed
    begins = busy & (after_gap | ~busy.shift(fill_value=False))
    ends = busy & (before_gap | ~busy.shift(-1, fill_value=False))
    time, run = samples["time"], begins.cumsum()
    start_from = time.shift().mask(after_gap)[begins]
    end_to = time.shift(-1).mask(before_gap)[ends]
    edges = pd.DataFrame({"start_from": start_from.array, "end_to": end_to.array}, run[begins])
    seen = samples.assign(run=run, place=samples.index)[samples["present"].notna() & busy]
    seen = seen.join(edges, on="run")
    times = seen.groupby("run")["time"]
    # Each sample stands for half the time to the one before and after it.
    former = times.shift().fillna(seen["start_from"]).fillna(seen["time"])
    later = times.shift(-1).fillna(seen["end_to"]).fillna(seen["time"])
    seen["person_minutes"] = seen["present"] * (later - former).dt.total_seconds() / 120
    table = seen.groupby("run").agg(
        room_id=("room", "first"),
        peak=("present", "max"),
        person_minutes=("person_minutes", "sum"),
        start_from=("start_from", "first"),
        start_to=("time", "first"),
        end_from=("time", "last"),
        end_to=("end_to", "first"),
        first=("place", "first"),
        last=("place", "last"),
        seen=("place", "size"),
    )
    table["bridged"] = table["last"] - table["first"] + 1 - table["seen"]
    return table


def _middle(first: "pd.Series[pd.Timestamp]", last: "pd.Series[pd.Timestamp]") -> pd.Series:
    return first + (last - first) // 2
