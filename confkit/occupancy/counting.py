"""A recording in DuckDB: its samples, which it reads from the folder's files itself, and the times
at which rooms were sampled."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pandas as pd

from ..errors import missing_extra
from .folder import damaged, reading
from .samples import samples_table, schema

try:
    import duckdb
    from duckdb import DuckDBPyConnection
except ModuleNotFoundError:
    raise missing_extra("a capacity report needs", "duckdb", "recording") from None

_QUIET = """
SET enable_progress_bar = false; -- it would be printed among results
SET preserve_insertion_order = false;
SET autoinstall_known_extensions = false;
"""
# A cap of 0 is none. Codes of B alone: what is missing then is who is a device.
_SAMPLES = """
CREATE VIEW samples AS
SELECT epoch_ms(time) AS t, room_id, users, people,
       CASE WHEN attendee_max > 0 THEN attendee_max
            WHEN attendee_max IS NOT NULL OR ret IN (0, 302, 303, 304, 310) THEN 0 END AS cap
FROM given
"""
# Rooms that were sampled at the same times share a schedule, and one of them stands for it: two
# recorders may fill one folder, each with rooms and an interval of its own. A sweep may come a
# tenth of its interval early; of a single one, nobody knows how long it stands for.
_SCHEDULES = """
CREATE TABLE rooms AS
SELECT room_id, attendee_max, capped, told,
       min(room_id) OVER (PARTITION BY first, last, n, times) AS schedule
FROM (
    SELECT room_id, min(t) AS first, max(t) AS last, count(*) AS n, bit_xor(t) AS times,
           nullif(arg_max(cap, t), 0) AS attendee_max, count(cap) > 0 AS capped,
           count(people) > 0 AS told
    FROM samples GROUP BY room_id
);
CREATE TABLE turns AS
SELECT DISTINCT room_id AS schedule, t FROM samples WHERE room_id IN (SELECT schedule FROM rooms);
CREATE TABLE schedules AS
SELECT schedule, first, interval,
       coalesce(floor((max(last) OVER () - first) / interval + 0.1), 0) + 1 AS due
FROM (
    SELECT schedule, min(t) AS first, max(t) AS last,
           coalesce(median(gap), median(median(gap)) OVER ()) AS interval
    FROM (
        SELECT schedule, t, t - lag(t) OVER (PARTITION BY schedule ORDER BY t) AS gap FROM turns
    )
    GROUP BY schedule
);
"""


@contextmanager
def samples_database(source: str | Path | pd.DataFrame) -> Iterator[DuckDBPyConnection]:
    """A DuckDB in memory with the view `samples`: t (ms since 1970), room_id, users, people,
    and cap, which is 0 where there is none and missing where it is unknown. RecordingError: a file
    is damaged."""
    with ExitStack() as held:
        base = held.enter_context(duckdb.connect(config={"temp_directory": tempfile.gettempdir()}))
        base.execute(_QUIET)
        files: list[Path] = []
        if isinstance(source, pd.DataFrame):
            base.register("given", samples_table(source))
        elif files := held.enter_context(reading(Path(source))).files:
            texts = ", ".join(map(_quoted, files))
            base.execute(
                f"CREATE VIEW given AS FROM read_parquet([{texts}], hive_partitioning = false)"
            )
        else:
            base.register("given", schema().empty_table())
        base.execute(_SAMPLES)
        try:
            yield base
        except duckdb.Error as error:
            raise damaged(files, error) from error


def find_schedules(base: DuckDBPyConnection) -> None:
    """Make the tables `rooms`, `turns`, the times of each schedule, and `schedules`, with the usual
    interval (ms) and how many sweeps were due until the recording's end."""
    base.execute(_SCHEDULES)


def _quoted(path: Path) -> str:
    """The path as SQL text; what a pattern would mean is taken as it stands."""
    plain = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + plain.replace("'", "''") + "'"
