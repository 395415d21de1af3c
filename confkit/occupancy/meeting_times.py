"""Meetings: when people were in a room, from the samples of a recording."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..errors import ConfigError
from .counting import DamagedError, samples_database
from .folder import whose

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_GAP = 5  # usual intervals without any sample: who was there meanwhile is not known

# `n` numbers the samples of a room, those that failed too. Of a room whose people could never be
# told from its devices all users count; where that failed at times only, the sample has failed.
_MEETINGS = """
WITH told AS (
    SELECT room_id, bool_or(people IS NOT NULL) AS told FROM samples GROUP BY room_id
), numbered AS (
    SELECT room_id, t, row_number() OVER room AS n, t - lag(t) OVER room AS gap,
           CASE WHEN users = 0 THEN 0 WHEN told THEN people ELSE users END AS people
    FROM samples JOIN told USING (room_id) WINDOW room AS (PARTITION BY room_id ORDER BY t)
), usual AS (
    SELECT room_id, ? * median(gap) AS most FROM numbered GROUP BY room_id
), pieces AS (
    SELECT room_id, t, n, people, count(*) FILTER (gap > most) OVER (
        PARTITION BY room_id ORDER BY t ROWS UNBOUNDED PRECEDING
    ) AS piece
    FROM numbered JOIN usual USING (room_id)
), known AS (
    SELECT *, lag(t) OVER piece AS before, lead(t) OVER piece AS after,
           coalesce(lag(people) OVER piece, 0) = 0 AS first, n - lag(n) OVER piece - 1 AS failed
    FROM pieces WHERE people IS NOT NULL
    WINDOW piece AS (PARTITION BY room_id, piece ORDER BY t)
), numbers AS (
    SELECT *, count(*) FILTER (first) OVER (
        PARTITION BY room_id ORDER BY t ROWS UNBOUNDED PRECEDING
    ) AS meeting
    FROM known WHERE people > 0
)
SELECT room_id, arg_min(coalesce(before, -1), t) AS start_from, min(t) AS start_to,
       max(t) AS end_from, arg_max(coalesce(after, -1), t) AS end_to, max(people) AS peak,
       sum(people * (coalesce(after, t) - coalesce(before, t))) / 120000 AS person_minutes,
       coalesce(sum(failed) FILTER (NOT first), 0) AS bridged
FROM numbers GROUP BY room_id, meeting ORDER BY start_to, room_id
"""
_EDGES = ("start_from", "start_to", "end_from", "end_to")


def meetings(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """One row per meeting, a time in which people were in a room, sorted by time and room.

    `source` is a recording's folder, which is not loaded whole, or what `load_occupancy` gives.
    `start` and `end` (UTC) lie in the middle of the two samples between which somebody came first
    and left last: `start_from` and `start_to`, `end_from` and `end_to`. Where the record begins or
    ends while people are there, the outer one is missing and `open` says which: "start", "end" or
    "both"; a time without any sample, five usual intervals or more, is such an edge, too. `peak` is
    the most people at once, `person_minutes` are added up, both of people without devices.
    `bridged` samples within it failed: a meeting goes on meanwhile. Meetings that follow each other
    between two samples cannot be told apart, and are one.

    ConfigError: there is no such folder, or the samples are of two services.
    """
    service = whose(source)
    if service is not None and ", " in service:
        raise ConfigError(f"These are samples of {service}", "Give those of one service.")
    try:
        with samples_database(source) as base:
            found = _found(base)
    except DamagedError:  # DuckDB cannot tell which file: all are read
        with samples_database(source, thorough=True) as base:
            found = _found(base)
    if service is not None:
        found.attrs["service"] = service
    return found


def _found(base: "DuckDBPyConnection") -> pd.DataFrame:
    found = base.execute(_MEETINGS, [_GAP]).df()
    lacks_start, lacks_end = found["start_from"] < 0, found["end_to"] < 0
    edges = found[[*_EDGES]].astype("float64")
    edges = edges.where(edges >= 0)
    start = edges[["start_from", "start_to"]].mean(axis=1)
    end = edges[["end_from", "end_to"]].mean(axis=1)
    table = {"room_id": found["room_id"].astype("string"), "start": _time(start), "end": _time(end)}
    table["peak"] = found["peak"].astype("Int64")
    table["person_minutes"] = found["person_minutes"].astype("Float64")
    table |= {name: _time(edges[name]) for name in _EDGES}
    table["bridged"] = found["bridged"].astype("Int64")
    words = lacks_start.map({True: "start", False: ""}).mask(lacks_start & lacks_end, "both")
    table["open"] = words.mask(lacks_end & ~lacks_start, "end").astype("string")
    return pd.DataFrame(table)


def _time(milliseconds: "pd.Series[float]") -> "pd.Series[pd.Timestamp]":
    return pd.to_datetime(milliseconds, unit="ms", utc=True).dt.as_unit("ms")
