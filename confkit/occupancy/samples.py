"""Samples: the number of users in a room at one time, as rows of a frame."""

import pandas as pd

from ..errors import ConfigError

NUMBERS = ("users", "people", "devices", "attendee_max", "ret")
COLUMNS = ("time", "room_id", *NUMBERS)
TYPES = {
    "time": "datetime64[ms, UTC]",
    "room_id": "string",
    **dict.fromkeys(NUMBERS, "Int64"),
    "service": "string",
}


def samples_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a frame, in their types and without further columns. ValueError: not a
    frame of samples; TypeError: no frame."""
    require_columns(frame, *COLUMNS)
    if frame[["time", "room_id"]].isna().any(axis=None):
        raise ValueError("a sample needs a time and a room_id; drop the rows without")
    types = {name: dtype for name, dtype in TYPES.items() if name in frame.columns}
    try:
        return frame[[*types]].astype(types)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{', '.join(NUMBERS)} of the samples must be whole numbers or missing"
        ) from None


def require_columns(frame: pd.DataFrame, *names: str) -> None:
    """Raise ValueError unless the frame has the columns, TypeError if it is none."""
    if not isinstance(frame, pd.DataFrame):
        kind = type(frame).__name__
        raise TypeError(f"expected a DataFrame, such as occupancy_frame(sweep), got {kind}")
    present = [*map(str, frame.columns)]
    if missing := [name for name in names if name not in present]:
        raise ValueError(
            f"the frame has no column {', '.join(missing)}; its columns are {', '.join(present)}. "
            "Pass the result of occupancy_frame, load_occupancy or capacity_report"
        )
    if "time" in names and not isinstance(frame["time"].dtype, pd.DatetimeTZDtype):
        raise ValueError(
            "the column time has no time zone; convert it: "
            "frame['time'] = pd.to_datetime(frame['time'], utc=True)"
        )
    if len(frame) and pd.api.types.is_float_dtype(frame["room_id"]):
        raise ValueError(
            "room_id is a column of numbers such as 1001.0; read it as text, or leading zeros and "
            "digits are lost"
        )


def service_of(samples: pd.DataFrame) -> str | None:
    """Return the service of the samples, None if unknown. ConfigError: they are of several, whose
    rooms may have the same IDs."""
    if "service" not in samples.columns:
        return samples.attrs.get("service")
    services = sorted(filter(pd.notna, samples["service"].unique()))
    if len(services) > 1:
        raise ConfigError(
            f"the samples are of several services: {', '.join(services)}",
            f"Load them, and pass those of one: samples[samples['service'] == {services[0]!r}].",
        )
    return services[0] if services else None
