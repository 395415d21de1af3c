# Each public name and its module. Type checkers and editors read this stub, and `__init__.py` finds
# here what to import when a name is first used.

from .bulk.device_table import TableError
from .bulk.imports import import_devices
from .bulk.removals import remove_devices, stray_devices
from .calls import Call
from .charts import (
    capacity_chart,
    occupancy_chart,
    occupancy_curve,
    occupancy_heatmap,
)
from .checklist import Check, Checklist
from .client import Client
from .connect import ask_secret, connect
from .deployment.doctor import doctor
from .deployment.probe import Evidence, Probe, probe_dialect
from .devices import (
    NotInRoom,
    PreflightFailed,
    import_device,
    list_devices,
    remove_device,
)
from .diagnosis import diagnose_device
from .dialect import Dialect
from .errors import (
    ApiError,
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    Explanation,
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
    explain,
)
from .frames import calls_frame, devices_frame, rooms_frame, users_frame
from .many.sweeps import Failure, Sweep, occupancy_frame, sweep
from .occupancy.capacity import capacity_report
from .occupancy.folder import RecordingError, save_occupancy
from .occupancy.known import known_rooms
from .occupancy.loading import load_occupancy, recorded_rooms
from .occupancy.meeting_times import meetings
from .occupancy.recorder import Recorded, Recorder
from .records import Device, Room, RoomUser
from .rooms import create_room, delete_room, force_offline, get_mcu, get_room, get_room_users
from .rtsp.preflight import preflight
from .rtsp.report import Report
from .wire import Request

__version__: str

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
    "recorded_rooms",
    "remove_device",
    "remove_devices",
    "rooms_frame",
    "save_occupancy",
    "stray_devices",
    "sweep",
    "users_frame",
]
