"""pyarrow, or the error that says how to get it."""

from ..errors import ConfigError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    raise ConfigError(
        f"recordings need {error.name}", "Run: pip install 'confkit-notebooks[lab]'"
    ) from None

__all__ = ["pa", "pc", "pq"]
