"""Rooms, users and devices of a conferencing service, as functions, DataFrames and notebooks.

import confkit as ck
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops", attendee_max=25)
ck.rooms_frame([ck.get_room(client, room_id)])
"""

from .calls import Call
from .charts import occupancy_chart
from .client import Client
from .connect import connect
from .devices import ReimportFailed, import_device, list_devices, reimport_device, remove_device
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
    UserExists,
    UserNotFound,
    explain,
)
from .frames import devices_frame, rooms_frame, users_frame
from .records import Device, Room, RoomUser
from .rooms import create_room, delete_room, get_mcu, get_room
from .users import force_offline, get_room_users
from .wire import Request

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AuthenticationFailed",
    "Call",
    "Client",
    "ConfigError",
    "ConfkitError",
    "Device",
    "Dialect",
    "Explanation",
    "JoinFailed",
    "LicenceError",
    "MediaServerUnavailable",
    "OutcomeUnknown",
    "ParameterError",
    "ProtocolError",
    "ReadOnlyError",
    "ReimportFailed",
    "Request",
    "Room",
    "RoomClosed",
    "RoomNotFound",
    "RoomUser",
    "ServiceTimeout",
    "ServiceUnavailable",
    "TokenRejected",
    "TransportError",
    "TransportTimeout",
    "UserExists",
    "UserNotFound",
    "connect",
    "create_room",
    "delete_room",
    "devices_frame",
    "explain",
    "force_offline",
    "get_mcu",
    "get_room",
    "get_room_users",
    "import_device",
    "list_devices",
    "occupancy_chart",
    "reimport_device",
    "remove_device",
    "rooms_frame",
    "users_frame",
]
