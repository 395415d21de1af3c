"""DuckDB over samples, those of a folder or of a frame; it reads the folder's files itself."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ..errors import ConfigError
from .files import OvertakenError
from .folder import contents, opened
from .samples import samples_table, schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def samples_database(
    source: str | Path | pd.DataFrame, thorough: bool
) -> Iterator["DuckDBPyConnection"]:
    """A DuckDB in memory with the view `samples`: t (ms since 1970), room_id, users, people,
    and cap, which is 0 where there is none and missing where it is unknown.

    OvertakenError when a file goes while it is read, or is damaged inside: begin again, and
    thoroughly, so that damaged ones are found and left out.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ConfigError(
            "a capacity report needs duckdb", "Run: pip install 'confkit-notebooks[lab]'"
        ) from None

    settings: dict[str, str | bool | int | float | list[str]]
    settings = {"temp_directory": tempfile.gettempdir(), "preserve_insertion_order": "false",
                "autoinstall_known_extensions": "false"}  # fmt: skip
    files = [] if isinstance(source, pd.DataFrame) else _files(Path(source), thorough)
    with duckdb.connect(config=settings) as base:
        if files:
            texts = ", ".join(_quoted(path) for path in files)
            base.execute(
                f"CREATE VIEW given AS FROM read_parquet([{texts}], hive_partitioning = false)"
            )
        else:
            given = samples_table(source) if isinstance(source, pd.DataFrame) else None
            base.register("given", schema().empty_table() if given is None else given)
        base.execute(
            "CREATE VIEW samples AS "
            "SELECT epoch_ms(time) AS t, room_id, users, people, "
            "CASE WHEN attendee_max > 0 THEN attendee_max "
            # Codes of B alone: what is missing then is who is a device.
            "WHEN attendee_max IS NOT NULL OR ret IN (0, 302, 303, 304, 310) THEN 0 END AS cap "
            "FROM given"
        )
        try:
            yield base
        except duckdb.Error:
            if not files or (thorough and all(path.exists() for path in files)):
                raise
            raise OvertakenError from None


def _files(folder: Path, thorough: bool) -> list[Path]:
    found, files = contents(folder), []
    for path in [*found.parts, *found.hot]:
        try:
            with opened(path) as file:
                for _ in file.iter_batches() if thorough else ():
                    pass
            files.append(path)
        except (ValueError, OSError) as error:  # Arrow's are one or the other
            found.strange[path] = str(error)
    found.warn()
    return files


def _quoted(path: Path) -> str:
    """The path as SQL text; what a pattern would mean is taken as it stands."""
    plain = re.sub(r"([*?\[])", r"[\1]", str(path))
    return "'" + plain.replace("'", "''") + "'"
