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
from .records import Device, Room, RoomUser
from .rooms import create_room, delete_room, get_mcu, get_room
from .users import force_offline, get_room_users
from .wire import Request

if TYPE_CHECKING:
    from .charts import occupancy_chart
    from .frames import devices_frame, rooms_frame, users_frame

__version__ = "0.1.0"

_LATER = {  # loaded when first used
    "occupancy_chart": "charts",
    "devices_frame": "frames",
    "rooms_frame": "frames",
    "users_frame": "frames",
}

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


if not TYPE_CHECKING:  # a type checker reads the imports above

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{_LATER[name]}", __name__), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
