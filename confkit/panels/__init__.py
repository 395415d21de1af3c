"""Widget panels, and the blocks that they and notebooks are made of.

`RoomExplorer`, `OccupancyPanel` and `DevicePanel` arrange functions; whatever a button does is a
public function. JupyterLab, Notebook 7 and Voila show them.
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
