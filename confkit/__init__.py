"""Rooms, users and devices of a conferencing service, as functions, DataFrames and notebooks.

import confkit as ck
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=25)
ck.rooms_frame([ck.get_room(client, room_id)])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .calls import Call
from .client import Client
from .connect import connect
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
    Unsettled,
    UnsettledTimeout,
    UserExists,
    UserNotFound,
)
from .wire import Request

if TYPE_CHECKING:
    from .asking import ask_secret
    from .bulk.device_table import TableError
    from .bulk.imports import import_devices
    from .bulk.removals import remove_devices
    from .bulk.strays import stray_devices
    from .charts import (
        capacity_chart,
        capacity_summary,
        curve_summary,
        heatmap_summary,
        occupancy_chart,
        occupancy_curve,
        occupancy_heatmap,
        occupancy_summary,
    )
    from .checklist import Check, Checklist
    from .deployment.evidence import Evidence, Probe
    from .deployment.health import doctor
    from .deployment.probe import probe_dialect
    from .devices import (
        NotInRoom,
        PreflightFailed,
        ReimportFailed,
        ReimportUnknown,
        import_device,
        list_devices,
        reimport_device,
        remove_device,
    )
    from .diagnosis import diagnose_device, preflight_device
    from .dialect import Dialect
    from .explanations import Explanation, explain
    from .frames import calls_frame, devices_frame, rooms_frame, users_frame
    from .many.result import Failure, Sweep, occupancy_frame
    from .many.sweeps import sweep
    from .occupancy.capacity import capacity_report
    from .occupancy.compaction import save_occupancy
    from .occupancy.files import RecordingError
    from .occupancy.known import known_rooms
    from .occupancy.loading import load_occupancy, recorded_rooms
    from .occupancy.recorder import Recorded, Recorder
    from .records import Device, Room, RoomUser
    from .rooms import create_room, delete_room, get_mcu, get_room
    from .rtsp.preflight import preflight
    from .rtsp.report import Report
    from .token_making import TokenSteps, token_steps
    from .users import force_offline, get_room_users

__version__ = "0.1.0"

# Loaded when first used. A name that is also a module's (`connect`) cannot be among them: importing
# that module would put the module in the name's place.
_LATER = {
    "asking": ("ask_secret",),
    "bulk.device_table": ("TableError",),
    "bulk.imports": ("import_devices",),
    "bulk.removals": ("remove_devices",),
    "bulk.strays": ("stray_devices",),
    "charts": (
        "capacity_chart", "capacity_summary", "curve_summary", "heatmap_summary",
        "occupancy_chart", "occupancy_curve", "occupancy_heatmap", "occupancy_summary",
    ),
    "checklist": ("Check", "Checklist"),
    "deployment.evidence": ("Evidence", "Probe"),
    "deployment.health": ("doctor",),
    "deployment.probe": ("probe_dialect",),
    "devices": (
        "NotInRoom", "PreflightFailed", "ReimportFailed", "ReimportUnknown", "import_device",
        "list_devices", "reimport_device", "remove_device",
    ),
    "diagnosis": ("diagnose_device", "preflight_device"),
    "dialect": ("Dialect",),
    "explanations": ("Explanation", "explain"),
    "frames": ("calls_frame", "devices_frame", "rooms_frame", "users_frame"),
    "occupancy.known": ("known_rooms",),
    "occupancy.capacity": ("capacity_report",),
    "occupancy.files": ("RecordingError",),
    "occupancy.loading": ("load_occupancy", "recorded_rooms"),
    "occupancy.recorder": ("Recorded", "Recorder"),
    "occupancy.compaction": ("save_occupancy",),
    "records": ("Device", "Room", "RoomUser"),
    "rooms": ("create_room", "delete_room", "get_mcu", "get_room"),
    "rtsp.preflight": ("preflight",),
    "rtsp.report": ("Report",),
    "many.result": ("Failure", "Sweep", "occupancy_frame"),
    "many.sweeps": ("sweep",),
    "token_making": ("TokenSteps", "token_steps"),
    "users": ("force_offline", "get_room_users"),
}  # fmt: skip

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
    "Evidence",
    "Explanation",
    "Failure",
    "JoinFailed",
    "LicenceError",
    "MediaServerUnavailable",
    "NotInRoom",
    "OutcomeUnknown",
    "ParameterError",
    "PreflightFailed",
    "Probe",
    "ProtocolError",
    "ReadOnlyError",
    "Recorded",
    "Recorder",
    "RecordingError",
    "ReimportFailed",
    "ReimportUnknown",
    "Report",
    "Request",
    "Room",
    "RoomClosed",
    "RoomNotFound",
    "RoomUser",
    "ServiceTimeout",
    "ServiceUnavailable",
    "Sweep",
    "TableError",
    "TokenRejected",
    "TokenSteps",
    "TransportError",
    "TransportTimeout",
    "Unsettled",
    "UnsettledTimeout",
    "UserExists",
    "UserNotFound",
    "ask_secret",
    "calls_frame",
    "capacity_chart",
    "capacity_report",
    "capacity_summary",
    "connect",
    "create_room",
    "curve_summary",
    "delete_room",
    "devices_frame",
    "diagnose_device",
    "doctor",
    "explain",
    "force_offline",
    "get_mcu",
    "get_room",
    "get_room_users",
    "heatmap_summary",
    "import_device",
    "import_devices",
    "known_rooms",
    "list_devices",
    "load_occupancy",
    "occupancy_chart",
    "occupancy_curve",
    "occupancy_frame",
    "occupancy_heatmap",
    "occupancy_summary",
    "preflight",
    "preflight_device",
    "probe_dialect",
    "recorded_rooms",
    "reimport_device",
    "remove_device",
    "remove_devices",
    "rooms_frame",
    "save_occupancy",
    "stray_devices",
    "sweep",
    "token_steps",
    "users_frame",
]


if not TYPE_CHECKING:  # a type checker reads the imports above

    def __getattr__(name: str) -> object:
        for module, names in _LATER.items():
            if name in names:
                found = globals()[name] = getattr(import_module(f".{module}", __name__), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]
