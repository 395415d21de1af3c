"""Samples counted by room and value, by DuckDB: few rows, from which all that a report says comes.

DuckDB reads the files of a folder itself.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import missing_extra
from .arrow import pa
from .folder import damaged, reading
from .samples import samples_table, schema

try:
    import duckdb
    from duckdb import DuckDBPyConnection
except ModuleNotFoundError:
    raise missing_extra("a capacity report needs", "duckdb", "recording") from None

# A cap of 0 is none. Codes of B alone: what is missing then is who is a device.
_SAMPLES = """
CREATE VIEW samples AS
SELECT epoch_ms(time) AS t, room_id, users, people,
       CASE WHEN attendee_max > 0 THEN attendee_max
            WHEN attendee_max IS NOT NULL OR ret IN (0, 302, 303, 304, 310) THEN 0 END AS cap
FROM given
"""
_EARLY = 0.1  # of an interval: so much before its time a sweep may come

# Rooms that were sampled at the same times share a schedule, and one of them stands for it: two
# recorders may fill one folder, each with rooms and an interval of its own.
_ROOMS = """
CREATE TABLE rooms AS
SELECT room_id, first, n, attendee_max, capped, told,
       min(room_id) OVER (PARTITION BY first, last, n, times) AS schedule
FROM (
    SELECT room_id, min(t) AS first, max(t) AS last, count(*) AS n, bit_xor(t) AS times,
           nullif(arg_max(cap, t), 0) AS attendee_max, count(cap) > 0 AS capped,
           count(people) > 0 AS told
    FROM samples GROUP BY room_id
)
"""
_TURNS = """
CREATE TABLE turns AS
SELECT DISTINCT room_id AS schedule, t FROM samples WHERE room_id IN (SELECT schedule FROM rooms)
"""
_INTERVALS = """
SELECT schedule, min(t) AS first, median(gap) AS interval
FROM (SELECT schedule, t, t - lag(t) OVER (PARTITION BY schedule ORDER BY t) AS gap FROM turns)
GROUP BY schedule
"""
# The one pass over everything; few rows come of it, so whatever follows is quick.
_COUNTS = """
CREATE TABLE counts AS
SELECT room_id, cap, users, people, hour, count(*) AS n
FROM samples JOIN hours USING (t) GROUP BY ALL
"""
# A room whose people could never be `told` from its devices is judged by all its users; where that
# failed at times only, those samples are neither in use nor idle.
_SEEN = """
CREATE VIEW seen AS
SELECT room_id, users, counts.n, hour, nullif(cap, 0) AS cap, if(told, people, users) AS people
FROM counts JOIN rooms USING (room_id) WHERE users IS NOT NULL
"""
_FIGURES = """
SELECT room_id, samples, due, interval / 60000 AS minutes, attendee_max, capped, told, peak,
       used, near, at_cap, busiest_hour
FROM rooms JOIN schedules USING (schedule)
LEFT JOIN (
    SELECT room_id, sum(n) AS samples, max(users) AS peak, sum(n) FILTER (people > 0) AS used,
           sum(n) FILTER (users >= 0.8 * cap) AS near, sum(n) FILTER (users >= cap) AS at_cap
    FROM seen GROUP BY room_id
) USING (room_id)
LEFT JOIN (
    SELECT room_id, first(hour ORDER BY mean DESC, hour) AS busiest_hour
    FROM (
        SELECT room_id, hour, sum(n * people) / sum(n) AS mean
        FROM seen WHERE people IS NOT NULL GROUP BY ALL HAVING sum(people) > 0
    )
    GROUP BY room_id
) USING (room_id)
ORDER BY room_id
"""
# The smallest value that at least this share of the samples does not exceed.
_QUANTILES = """
WITH running AS (
    SELECT room_id, users, sum(n) OVER (PARTITION BY room_id ORDER BY users) AS up_to,
           sum(n) OVER (PARTITION BY room_id) AS n
    FROM (SELECT room_id, users, sum(n) AS n FROM seen WHERE {where} GROUP BY ALL)
)
SELECT room_id, {columns} FROM running GROUP BY ALL
"""
_REFUSED = """
SELECT room_id, sum(n * (users - suggested)) AS refused
FROM seen JOIN suggestions USING (room_id) WHERE users > suggested GROUP BY ALL
"""
# All rooms at once: within one interval every schedule has its turn.
_TOGETHER = """
SELECT min(t) AS t, sum(users) AS users, sum(people) AS people
FROM (
    SELECT turn, schedule, min(t) AS t, max(users) AS users, max(people) AS people
    FROM (
        SELECT t, round((t - {origin}) / {interval}) AS turn, schedule, sum(users) AS users,
               sum(people) AS people
        FROM samples JOIN (SELECT room_id, schedule FROM rooms) USING (room_id) GROUP BY ALL
    )
    GROUP BY ALL
)
GROUP BY turn ORDER BY t
"""


@contextmanager
def samples_database(source: str | Path | pd.DataFrame) -> Iterator[DuckDBPyConnection]:
    """A DuckDB in memory with the view `samples`: t (ms since 1970), room_id, users, people,
    and cap, which is 0 where there is none and missing where it is unknown. RecordingError: a file
    is damaged."""
    settings: dict[str, Any] = {
        "temp_directory": tempfile.gettempdir(),
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
    }
    with ExitStack() as held:
        base = held.enter_context(duckdb.connect(config=settings))
        base.execute("SET enable_progress_bar = false")  # it would be printed among results
        files: list[Path] = []
        if not isinstance(source, pd.DataFrame):
            files = held.enter_context(reading(Path(source))).files
        if files:
            texts = ", ".join(_quoted(path) for path in files)
            base.execute(
                f"CREATE VIEW given AS FROM read_parquet([{texts}], hive_partitioning = false)"
            )
        elif isinstance(source, pd.DataFrame):
            base.register("given", samples_table(source))
        else:
            base.register("given", schema().empty_table())
        base.execute(_SAMPLES)
        try:
            yield base
        except duckdb.Error as error:
            raise damaged(files, error) from error


def _quoted(path: Path) -> str:
    """The path as SQL text; what a pattern would mean is taken as it stands."""
    plain = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + plain.replace("'", "''") + "'"


def find_schedules(base: DuckDBPyConnection) -> pd.DataFrame:
    """The schedules by which rooms were sampled, with their first time and usual interval (ms); the
    tables `rooms` and `turns` are there then."""
    base.execute(_ROOMS)
    base.execute(_TURNS)
    return base.execute(_INTERVALS).df()


def count_samples(base: DuckDBPyConnection, tz: tzinfo) -> None:
    """Counts them: the tables `rooms`, `schedules` and `counts` and the view `seen` are there
    then."""
    schedules = find_schedules(base)
    times = np.sort(base.execute("SELECT DISTINCT t FROM turns").fetchnumpy()["t"])
    local = pd.DatetimeIndex(times.astype("datetime64[ms]"), tz="UTC").tz_convert(tz)
    register(base, "hours", pd.DataFrame({"t": times, "hour": local.hour}))
    schedules["interval"] = schedules["interval"].fillna(schedules["interval"].median())
    schedules["due"] = [
        _due(times, first, interval)
        for first, interval in zip(schedules["first"], schedules["interval"], strict=True)
    ]
    register(base, "schedules", schedules[["schedule", "interval", "due"]])
    base.execute(_COUNTS)
    base.execute(_SEEN)


def room_figures(base: DuckDBPyConnection) -> pd.DataFrame:
    """One row per room: numbers of samples read, due, in use, near the cap and at it; the peak; the
    minutes that a sample stands for."""
    return base.execute(_FIGURES).df().set_index("room_id")


def room_quantiles(
    base: DuckDBPyConnection, shares: Mapping[str, float], *, in_use: bool
) -> pd.DataFrame:
    """One row per room: users at these shares of its samples, or of those in use."""
    columns = ", ".join(
        f"min(users) FILTER (up_to >= {share!r} * n - 1e-6) AS {name}"
        for name, share in shares.items()
    )
    query = _QUANTILES.format(where="people > 0" if in_use else "true", columns=columns)
    return base.execute(query).df().set_index("room_id")


def room_refusals(base: DuckDBPyConnection, suggested: pd.Series) -> pd.Series:
    """For each room the number of users, summed over samples, above what is suggested."""
    register(base, "suggestions", suggested.rename("suggested").dropna().reset_index())
    return base.execute(_REFUSED).df().set_index("room_id")["refused"]


def together(base: DuckDBPyConnection) -> pd.DataFrame:
    """Users and people of all rooms at once, as far as they were read, one row per interval."""
    row = base.execute(
        "SELECT min(first), median(interval) FROM rooms JOIN schedules USING (schedule)"
    ).fetchone()
    origin, interval = row or (None, None)
    return base.execute(_TOGETHER.format(origin=origin or 0, interval=interval or 1)).df()


def register(base: DuckDBPyConnection, name: str, frame: pd.DataFrame) -> None:
    """Make a table of it."""
    base.register(name, pa.Table.from_pandas(frame, preserve_index=False))  # any DuckDB knows it


def _due(times: NDArray[np.int64], first: int, interval: float) -> int:
    """How many sweeps of this schedule there should be from `first` to the recording's end, those
    among them that nobody made."""
    return int((times[-1] - first) / interval + _EARLY) + 1 if interval > 0 else 1
