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
    frame of samples."""
    types = {name: dtype for name, dtype in TYPES.items() if name in (*frame.columns, *COLUMNS)}
    try:
        samples = frame[[*types]].astype(types)
        has_zone = isinstance(frame["time"].dtype, pd.DatetimeTZDtype)
        if has_zone and not samples[["time", "room_id"]].isna().any(axis=None):
            return samples
        problem: object = "a time zone, a time or a room_id is missing"
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        problem = error
    raise ValueError(
        "samples need a room_id, a time with a time zone (pd.to_datetime(..., utc=True)), and "
        f"{', '.join(NUMBERS)}, whole numbers or missing: {problem}"
    )


def service_of(samples: pd.DataFrame) -> str | None:
    """Return the service of the samples, None if unknown. ConfigError: they are of several, whose
    rooms may have the same IDs."""
    if "service" not in samples.columns:
        return samples.attrs.get("service")
    services = sorted(samples["service"].dropna().unique())
    if len(services) > 1:
        raise ConfigError(
            f"the samples are of several services: {', '.join(services)}",
            f"Load them, and pass those of one: samples[samples['service'] == {services[0]!r}].",
        )
    return services[0] if services else None


def without_duplicates(samples: pd.DataFrame, *key: str) -> pd.DataFrame:
    """Return the samples by time and room; of two with the same key, prefer one that was read."""
    samples = samples.sort_values(["time", "room_id", "users"])
    return samples.drop_duplicates([*key], ignore_index=True)
