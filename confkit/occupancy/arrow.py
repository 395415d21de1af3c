"""pyarrow, or the error that says how to get it."""

from ..errors import missing_extra

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    raise missing_extra("recordings need", error.name, "recording") from None

__all__ = ["ds", "pa", "pc", "pq"]
