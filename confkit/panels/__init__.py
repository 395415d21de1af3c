"""Widget panels, and the blocks that panels and notebooks are built from.

Every button of `RoomExplorer`, `OccupancyPanel` and `DevicePanel` calls a public function. The
panels run in JupyterLab, Notebook 7 and Voila.
"""

from .device_panel import DevicePanel
from .job import Job, Question
from .occupancy_panel import OccupancyPanel
from .password import PasswordField
from .refresh import Refresh
from .room_explorer import RoomExplorer
from .status import Status
from .table import Column, Table

__all__ = [
    "Column",
    "DevicePanel",
    "Job",
    "OccupancyPanel",
    "PasswordField",
    "Question",
    "Refresh",
    "RoomExplorer",
    "Status",
    "Table",
]
