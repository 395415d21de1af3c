"""What a sample is: one row per room and sweep, as a DataFrame and as an Arrow table."""

from functools import cache
from typing import Any

import pandas as pd

from .arrow import pa

NUMBERS = ("users", "people", "devices", "attendee_max", "ret")
COLUMNS = ("time", "room_id", *NUMBERS)


@cache
def schema() -> Any:
    """Return the Arrow schema of samples, which tells pandas and Dask the types of a frame."""
    types = {"time": pa.timestamp("ms", "UTC"), "room_id": pa.string()}
    fields = pa.schema([(name, types.get(name, pa.int64())) for name in COLUMNS])
    plain = pa.Table.from_pandas(_typed(fields.empty_table()), preserve_index=False)
    return fields.with_metadata(plain.schema.metadata)


def samples_frame(table: Any) -> pd.DataFrame:
    """Return the samples of an Arrow table by time and room: `time` datetime64[ms, UTC],
    `room_id` string, the others Int64."""
    return _typed(table.select(COLUMNS).sort_by([("time", "ascending"), ("room_id", "ascending")]))


def _typed(table: Any) -> pd.DataFrame:
    types = {pa.string(): pd.StringDtype(), pa.int64(): pd.Int64Dtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=types.get, ignore_metadata=True)
    return frame


def samples_table(frame: pd.DataFrame) -> Any:
    """Return the samples of a DataFrame as an Arrow table, in its order, without further columns.
    ValueError: it is no frame of samples."""
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise ValueError(
            f"samples need the columns {', '.join(COLUMNS)}; {', '.join(missing)} is not there"
        )
    if not isinstance(frame["time"].dtype, pd.DatetimeTZDtype):
        raise ValueError(
            "the samples' time has no time zone; say which: time.dt.tz_localize('UTC')"
        )
    if frame[["time", "room_id"]].isna().any(axis=None):
        raise ValueError("a sample needs its time and its room_id; leave out the rows without")
    types = {"time": "datetime64[ms, UTC]", "room_id": "string", **dict.fromkeys(NUMBERS, "Int64")}
    try:
        plain = frame[list(COLUMNS)].astype(types)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{', '.join(NUMBERS)} of the samples have to be whole numbers or missing"
        ) from None
    return pa.Table.from_pandas(plain, schema=schema(), preserve_index=False)
