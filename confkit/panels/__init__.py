"""Widget panels for rooms, occupancy, devices and the wire; they only arrange functions.

from confkit.panels import RoomExplorer
RoomExplorer(client)
"""

from importlib import import_module

_WHERE = {
    "ConnectPanel": "connecting",
    "DevicePanel": "devices",
    "OccupancyPanel": "occupancy",
    "RoomExplorer": "rooms",
    "WirePanel": "wire",
}


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
