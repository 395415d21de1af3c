"""Samples over time: the recorder, its folder of Parquet files, and what the samples come to."""

from ..errors import ConfigError

try:
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
except ModuleNotFoundError as error:
    raise ConfigError(
        f"recordings need {error.name}", "Run: pip install 'confkit-notebooks[lab]'"
    ) from None
