"""Charts: a DataFrame in, a matplotlib Figure out, no I/O; `summary()` is the chart as text."""

from .curve import occupancy_curve
from .heatmap import occupancy_heatmap
from .rows import capacity_chart, occupancy_chart

__all__ = [
    "capacity_chart",
    "occupancy_chart",
    "occupancy_curve",
    "occupancy_heatmap",
]
