"""The answers of the ten operations, field by field (sections 2 and 4)."""

from typing import Any

from .result_codes import NUMBER, SUCCESS, coded, error, tables
from .values import NUMBER as A_NUMBER
from .values import OPTIONS, ROOM_MODE, ROOM_STATUS, Schema, open_list, said

_ROOM = "0012345678"
_USER = {"user_name": "Ada", "user_id": "4f8b1c2d-9e3a-4b5c-8d7e-6f5a4b3c2d1e"}
_DEVICE = {
    "roomId": _ROOM, "userId": "cam-desk", "userName": "Front desk camera",
    "userAddress": "rtsp://192.0.2.7:554/stream1", "userData": "", "options": {},
}  # fmt: skip
_SNAKE = {"roomId": "room_id", "userId": "user_id", "userName": "user_name",
          "userAddress": "user_address", "userData": "user_data", "options": "options"}  # fmt: skip


def _text(description: str, sure: str = "specified", **more: Any) -> Schema:
    return said({"type": "string", **more}, description, sure)


def _cap(what: str) -> Schema:
    quoted = {"type": "string", "pattern": "^[0-9]{0,19}$"}
    return said(
        {"oneOf": [{"type": "integer", "minimum": 0}, quoted]},
        f"Most {what}, shown quoted; empty or absent where the room has no such bound (assumed).",
    )


_ROOM_FIELDS: dict[str, Schema] = {
    "id": said(A_NUMBER, "Internal record number."),
    "room_id": _text("The room's ID; equals room_extend_id where that was given."),
    "topic": _text("Subject of the room."),
    "room_status": said(
        open_list(ROOM_STATUS, A_NUMBER),
        "Status; its values are not shown by the interface, those listed were seen.",
    ),
    "owner_id": _text("ID of the creator."),
    "host_password": _text("Password of the host role; empty where there is none (assumed)."),
    "attendee_max": _cap("people in the room"),
    "max_audio": _cap("audio streams"),
    "max_video": _cap("video streams"),
    "room_extend_id": _text("The caller's own ID; empty where none was given (assumed)."),
    "room_mode": said(
        open_list(ROOM_MODE, {"type": ["integer", "string"]}),
        "Mode; its values are not shown by the interface, those listed were seen.",
    ),
}
_OPTIONAL = {"host_password", "attendee_max", "max_audio", "max_video", "room_extend_id"}
_DEVICE_FIELDS: dict[str, Schema] = {
    "roomId": _text("ID of the room."),
    "userId": _text("Unique user ID of the device."),
    "userName": _text("The device's name."),
    "userAddress": _text("The device's address as a URL."),
    "userData": _text("Free text, may be empty."),
    "options": said({"$ref": "#/components/schemas/Options"}, "Extra parameters, with the login."),
}
_ECHO = {name: _DEVICE_FIELDS[name] for name in ("roomId", "userId")}


def _object(fields: dict[str, Schema], optional: set[str], example: object, what: str) -> Schema:
    return {
        "type": "object",
        "description": what,
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "examples": [example],
        "x-sure": "specified",
    }


def _answer(interface: str, what: str, fields: dict[str, Schema], example: dict[str, Any],
            optional: frozenset[str] = frozenset()) -> Schema:  # fmt: skip
    code = coded(interface, {"$ref": "#/components/schemas/Success"})
    schema = _object(fields, set(optional), {"ret": 0, **example}, what)
    return {
        **code,
        **schema,
        "properties": {**code["properties"], **schema["properties"]},
        "required": [*code.get("required", ()), *schema["required"]],
    }


def _data(fields: dict[str, Schema], example: object) -> dict[str, Schema]:
    return {"data": _object(fields, set(), example, "What the call is about.")}


def _list(items: Schema, what: str) -> Schema:
    return said({"type": "array", "items": items}, what)


def schemas() -> dict[str, Schema]:
    """All schemas by name: the ten answers, what they hold, result codes, error answers."""
    snake = {_SNAKE[name]: said(field, field["description"], "seen")
             for name, field in _DEVICE_FIELDS.items()}  # fmt: skip
    either = {"anyOf": [{"$ref": f"#/components/schemas/{name}"}
                        for name in ("Device", "DeviceInSnakeCase")]}  # fmt: skip
    echo = {"roomId": _ROOM, "userId": "cam-desk"}
    users = _list({"$ref": "#/components/schemas/RoomUser"}, "The room's users, devices too.")
    page = {"total": said(A_NUMBER, "How many there are."), "items": _list(either, "The devices.")}
    room = {"id": 1, "room_id": _ROOM, "topic": "Weekly sync", "room_status": 0, "owner_id": "ops",
            "host_password": "", "attendee_max": "25", "max_audio": "", "max_video": "",
            "room_extend_id": "", "room_mode": 1}  # fmt: skip
    return {
        "Authenticated": _answer(
            "A", "What the token is made from: base64(hash_hmac(random:key, secret_key)).",
            {"random": _text("The random value."), "key": _text("The key value.")},
            {"random": "abc", "key": "def"},
        ),
        "RoomCreated": _answer("A", "The new room.", {"room_id": _ROOM_FIELDS["room_id"]},
                               {"room_id": _ROOM}),
        "Room": _answer("A", "A room with all its fields.", _ROOM_FIELDS, room,
                        frozenset(_OPTIONAL)),
        "RoomDeleted": _answer("A", "The room is gone.", {"room_id": _text("The room's ID.")},
                               {"room_id": _ROOM}),
        "MediaServer": _answer(
            "A", "The media server (MCU) of a room.",
            {"addr": _text("Its address; seen: host:port.")}, {"addr": "192.0.2.10:6601"},
        ),
        "RoomUsers": _answer("A", "Who is in a room.", {"user_list": users},
                             {"user_list": [_USER]}),
        "ForcedOffline": _answer("A", "The user has been put off.",
                                 {"msg": _text("A success text.")}, {"msg": "success"}),
        "DeviceCreated": _answer("B", "The device has joined the room.", _data(_ECHO, echo),
                                 {"data": echo}),
        "DeviceDeleted": _answer("B", "The device has left the room.", _data(_ECHO, echo),
                                 {"data": echo}),
        "DeviceList": _answer(
            "B", "External devices.", _data(page, {"total": 1, "items": [_DEVICE]}),
            {"data": {"total": 1, "items": [_DEVICE]}},
        ),
        "RoomUser": _object(
            {"user_name": _text("Name."), "user_id": _text("ID: a UUID, or a device's userId.")},
            set(), _USER, "A user in a room: a person, or a device.",
        ),
        "Device": _object(_DEVICE_FIELDS, {"userData", "options"}, _DEVICE,
                          "An external device as a user of a room."),
        "DeviceInSnakeCase": {
            **_object(snake, {"user_data", "options"},
                      {_SNAKE[name]: value for name, value in _DEVICE.items()},
                      "The same, as some deployments spell its fields."),
            "x-sure": "seen",
        },
        "Options": OPTIONS,
        "Number": NUMBER,
        "Success": SUCCESS,
        **tables(),
        "ErrorA": error("A"),
        "ErrorB": error("B"),
    }  # fmt: skip
