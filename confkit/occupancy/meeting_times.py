"""Meetings: when people were in a room, from the samples of a recording."""

from pathlib import Path

import pandas as pd

from ..errors import ConfigError
from .counting import find_schedules, samples_database
from .folder import whose

# A sample's neighbours, those of its schedule; none across five usual intervals without any sample:
# who was there meanwhile is not known.
_TIMES = """
CREATE TABLE times AS
SELECT schedule, t, n, if(t - before <= 5 * interval, before, NULL) AS before,
       if(after - t <= 5 * interval, after, NULL) AS after
FROM (
    SELECT schedule, t, row_number() OVER turn AS n, lag(t) OVER turn AS before,
           lead(t) OVER turn AS after
    FROM turns WINDOW turn AS (PARTITION BY schedule ORDER BY t)
) JOIN schedules USING (schedule)
"""
# Few samples have people in them or failed: a run of these is a meeting, if anybody was seen in it.
# Of a room whose people could never be told from its devices all users count; where that failed at
# times only, the sample has failed.
_MEETINGS = """
WITH busy AS (
    SELECT room_id, times.t, times.n, before, after, people,
           lag(times.n) OVER (PARTITION BY room_id ORDER BY times.t) AS last
    FROM (
        SELECT room_id, schedule, t,
               CASE WHEN users = 0 THEN 0 WHEN told THEN people ELSE users END AS people
        FROM samples JOIN rooms USING (room_id)
    ) JOIN times USING (schedule, t)
    WHERE people IS NULL OR people > 0
), runs AS (
    SELECT *, count(*) FILTER (before IS NULL OR n - last IS DISTINCT FROM 1) OVER (
        PARTITION BY room_id ORDER BY t ROWS UNBOUNDED PRECEDING
    ) AS run
    FROM busy
), edges AS (
    SELECT *, first(before) OVER run AS since, last(after) OVER run AS until
    FROM runs WINDOW run AS (
        PARTITION BY room_id, run ORDER BY t
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    )
), known AS (
    SELECT *, coalesce(lag(t) OVER run, since, t) AS former,
           coalesce(lead(t) OVER run, until, t) AS next
    FROM edges WHERE people IS NOT NULL WINDOW run AS (PARTITION BY room_id, run ORDER BY t)
), meetings AS (
    SELECT room_id, first(since) AS start_from, min(t) AS start_to, max(t) AS end_from,
           first(until) AS end_to, max(people) AS peak,
           sum(people * (next - former)) / 120000 AS person_minutes,
           max(n) - min(n) + 1 - count(*) AS bridged
    FROM known GROUP BY room_id, run
)
SELECT room_id, coalesce((start_from + start_to) // 2, start_to) AS start,
       coalesce((end_from + end_to) // 2, end_from) AS end, peak, person_minutes,
       start_from, start_to, end_from, end_to, bridged,
       CASE WHEN start_from IS NOT NULL THEN if(end_to IS NULL, 'end', '')
            WHEN end_to IS NULL THEN 'both' ELSE 'start' END AS open
FROM meetings ORDER BY start_to, room_id
"""
_TYPES = {"room_id": "string", "peak": "Int64", "person_minutes": "Float64", "bridged": "Int64"}
_TIMES_OF = ("start", "end", "start_from", "start_to", "end_from", "end_to")


def meetings(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Return one row per meeting, a time in which people were in a room, by time and room.

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
    with samples_database(source) as base:
        find_schedules(base)
        base.execute(_TIMES)
        found: pd.DataFrame = base.execute(_MEETINGS).df().astype({**_TYPES, "open": "string"})
    for name in _TIMES_OF:
        found[name] = pd.to_datetime(found[name], unit="ms", utc=True).dt.as_unit("ms")
    if service is not None:
        found.attrs["service"] = service
    return found
