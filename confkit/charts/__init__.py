"""Charts: a DataFrame in, a matplotlib Figure out, no I/O; each also as plain text."""

from .capacity import capacity_chart, capacity_summary
from .curve import curve_summary, occupancy_curve
from .heatmap import heatmap_summary, occupancy_heatmap
from .occupancy import occupancy_chart, occupancy_summary

__all__ = [
    "capacity_chart",
    "capacity_summary",
    "curve_summary",
    "heatmap_summary",
    "occupancy_chart",
    "occupancy_curve",
    "occupancy_heatmap",
    "occupancy_summary",
]
