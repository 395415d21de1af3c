"""Widget panels for rooms, occupancy and devices; they only arrange functions.

from confkit.panels import RoomExplorer
RoomExplorer(client)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .devices import DevicePanel
    from .model import RoomsModel
    from .occupancy import OccupancyPanel
    from .rooms import RoomExplorer

__all__ = ["DevicePanel", "OccupancyPanel", "RoomExplorer", "RoomsModel"]

_WHERE = {
    "DevicePanel": "devices",
    "OccupancyPanel": "occupancy",
    "RoomExplorer": "rooms",
    "RoomsModel": "model",
}

if not TYPE_CHECKING:  # a type checker reads the imports above

    def __getattr__(name: str) -> object:
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)

    def __dir__() -> list[str]:
        return __all__
