"""Rooms, users and devices of a conferencing service, as functions, DataFrames and notebooks.

import confkit as ck
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=25)
ck.rooms_frame([ck.get_room(client, room_id)])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .calls import Call
from .checks import Check, Checklist
from .client import Client
from .connect import ask_secret, connect
from .devices import NotInRoom, PreflightFailed, import_device, list_devices, remove_device
from .dialect import Dialect
from .errors import (
    ApiError,
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    JoinFailed,
    LicenceError,
    MediaServerUnavailable,
    OutcomeUnknown,
    ParameterError,
    ProtocolError,
    ReadOnlyError,
    RoomClosed,
    RoomNotFound,
    ServiceTimeout,
    ServiceUnavailable,
    TokenRejected,
    TransportError,
    TransportTimeout,
    UserExists,
    UserNotFound,
    explain,
)
from .frames import calls_frame, devices_frame, rooms_frame, users_frame
from .records import Device, Room, RoomUser
from .rooms import create_room, delete_room, force_offline, get_mcu, get_room, get_room_users
from .secret import Secret
from .sweep import Failure, Sweep, changes, occupancy_frame, sweep

if TYPE_CHECKING:
    from .bulk.devices import import_devices, remove_devices, stray_devices
    from .bulk.table import TableError
    from .charts import capacity_chart, occupancy_chart, occupancy_curve, occupancy_heatmap
    from .deployment.doctor import doctor
    from .deployment.probe import probe_dialect
    from .diagnosis import diagnose_device
    from .occupancy.capacity import capacity_report
    from .occupancy.folder import RecordingError, load_occupancy, save_occupancy
    from .occupancy.known import known_rooms
    from .occupancy.meetings import meetings
    from .occupancy.recorder import Recorded, Recorder
    from .rtsp.preflight import preflight
    from .rtsp.report import Report

__version__ = "0.1.0"

# The folders are extras: each is loaded when one of its names is first used.
_EXTRAS = {
    ".bulk.devices": "import_devices remove_devices stray_devices",
    ".bulk.table": "TableError",
    ".charts": "capacity_chart occupancy_chart occupancy_curve occupancy_heatmap",
    ".deployment.doctor": "doctor",
    ".deployment.probe": "probe_dialect",
    ".diagnosis": "diagnose_device",
    ".occupancy.capacity": "capacity_report",
    ".occupancy.folder": "RecordingError load_occupancy save_occupancy",
    ".occupancy.known": "known_rooms",
    ".occupancy.meetings": "meetings",
    ".occupancy.recorder": "Recorded Recorder",
    ".rtsp.preflight": "preflight",
    ".rtsp.report": "Report",
}
_FOLDERS = ("course", "panels", "runbook", "sandbox")
_MODULES = {name: module for module, names in _EXTRAS.items() for name in names.split()}

__all__ = [
    "ApiError",
    "AuthenticationFailed",
    "Call",
    "Check",
    "Checklist",
    "Client",
    "ConfigError",
    "ConfkitError",
    "Device",
    "Dialect",
    "Failure",
    "JoinFailed",
    "LicenceError",
    "MediaServerUnavailable",
    "NotInRoom",
    "OutcomeUnknown",
    "ParameterError",
    "PreflightFailed",
    "ProtocolError",
    "ReadOnlyError",
    "Recorded",
    "Recorder",
    "RecordingError",
    "Report",
    "Room",
    "RoomClosed",
    "RoomNotFound",
    "RoomUser",
    "Secret",
    "ServiceTimeout",
    "ServiceUnavailable",
    "Sweep",
    "TableError",
    "TokenRejected",
    "TransportError",
    "TransportTimeout",
    "UserExists",
    "UserNotFound",
    "ask_secret",
    "calls_frame",
    "capacity_chart",
    "capacity_report",
    "changes",
    "connect",
    "create_room",
    "delete_room",
    "devices_frame",
    "diagnose_device",
    "doctor",
    "explain",
    "force_offline",
    "get_mcu",
    "get_room",
    "get_room_users",
    "import_device",
    "import_devices",
    "known_rooms",
    "list_devices",
    "load_occupancy",
    "meetings",
    "occupancy_chart",
    "occupancy_curve",
    "occupancy_frame",
    "occupancy_heatmap",
    "preflight",
    "probe_dialect",
    "remove_device",
    "remove_devices",
    "rooms_frame",
    "save_occupancy",
    "stray_devices",
    "sweep",
    "users_frame",
]


def __getattr__(name: str) -> object:
    """Return a name of an extra, or a folder such as `panels`, which is loaded now."""
    if name in _FOLDERS:
        return import_module(f".{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *_FOLDERS, "__version__"]
